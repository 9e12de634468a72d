// Working memory for kernels. Knows nothing of what is kept in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ricci/primitive/pool.h"

namespace ricci::kernels {

/// Uninitialised, 64-byte aligned memory for `count` elements of T, for the life of this object.
template <class T>
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(std::int64_t count) { allocate(count); }
  ~Scratch() {
    if (data_ != nullptr) pool::release(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Requires: nothing has been allocated yet.
  void allocate(std::int64_t count) {
    bytes_ = static_cast<std::size_t>(count) * sizeof(T);
    if (bytes_ > 0) data_ = static_cast<T*>(pool::allocate(bytes_));
  }

  T* data() const { return data_; }  // null if there is nothing

 private:
  T* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace ricci::kernels
