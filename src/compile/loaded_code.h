// Code in memory.
#pragma once

#include <functional>
#include <utility>

#include "compile/code.h"

namespace ricci::compiled {

using AddressOf = std::function<const void*(const Callee& callee)>;

/// An image in memory of its own, with the addresses of what it calls.
class LoadedCode {
 public:
  LoadedCode() = default;
  /// Throws std::bad_alloc, and std::runtime_error where the system does not let memory be executed. Requires: the
  /// image has code.
  LoadedCode(const Image& image, const AddressOf& address_of);
  LoadedCode(LoadedCode&& other) noexcept { *this = std::move(other); }
  LoadedCode& operator=(LoadedCode&& other) noexcept {
    std::swap(memory_, other.memory_), std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~LoadedCode();

  /// The function at this offset; null for -1.
  template <class F>
  F function(std::int64_t offset) const {
    return offset < 0 ? nullptr : reinterpret_cast<F>(static_cast<std::byte*>(memory_) + offset);
  }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A function that is not needed is null.
struct StageCode {
  OnceFunction once = nullptr;
  LaneFunction lane = nullptr;
  JoinFunction join = nullptr;
};

/// Of a lane plan.
struct Code {
  std::vector<StageCode> stages;
  LoadedCode memory;
};

}  // namespace ricci::compiled
