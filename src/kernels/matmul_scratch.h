// Working memory for kernels that pack their operands. Knows nothing of what is kept in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/pool.h"

namespace ricci::kernels {

/// Uninitialised, 64-byte aligned memory for `count` elements of T, for the life of this object.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count)
      : bytes_(static_cast<std::size_t>(count) * sizeof(T)),
        data_(bytes_ == 0 ? nullptr : static_cast<T*>(pool::allocate(bytes_))) {}
  ~Scratch() {
    if (data_ != nullptr) pool::release(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* data() const { return data_; }

 private:
  std::size_t bytes_;
  T* data_;
};

}  // namespace ricci::kernels
