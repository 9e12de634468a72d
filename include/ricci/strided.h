// A raw strided view: what every kernel reads and writes. Knows nothing of tensors or ownership.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ricci/dtype.h"

namespace ricci {

/// `data` points at element (0, …, 0); strides count elements, are never negative, and are 0 along broadcast axes.
struct Strided {
  void* data;
  DType dtype;
  int rank;
  const std::int64_t* shape;
  const std::int64_t* strides;
};

/// The address `elements` elements of this type further on.
inline void* advance(void* data, DType dtype, std::int64_t elements) {
  return static_cast<std::byte*>(data) + elements * static_cast<std::int64_t>(element_size(dtype));
}

}  // namespace ricci
