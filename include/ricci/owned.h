// Pointers that own what only compiled code knows the inside of: they are copied, moved and destroyed where the type is
// incomplete. Not std's: unique_ptr wants the whole type where it is destroyed, shared_ptr is two words, and <memory>
// costs a file that knows tensors alone 0.15 s of compile time. Knows nothing of tensors.
#pragma once

#include <cstdint>
#include <utility>

#include "ricci/ref_count.h"

namespace ricci {

/// The sole owner of a T.
template <class T>
class Owned {
 public:
  Owned() = default;
  /// Takes over `value`. Implicit, so that what a call is given with `new` is owned before the call begins.
  Owned(T* value) : value_(value), destroy_([](T* v) { delete v; }) {}
  Owned(Owned&& other) noexcept : value_(other.release()), destroy_(other.destroy_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(value_, other.value_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~Owned() {
    if (value_) destroy_(value_);
  }

  T* get() const { return value_; }
  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }
  T* release() { return std::exchange(value_, nullptr); }

 private:
  T* value_ = nullptr;
  void (*destroy_)(T*) = nullptr;
};

/// One of the owners of a T, never of nothing until it is moved from; the last one destroys it, on whatever thread.
template <class T>
class Shared {
 public:
  explicit Shared(Owned<T> value) : box_(new Box{std::move(value)}) {}
  Shared(const Shared& other) : box_(other.box_) {
    if (box_) box_->owners.add();
  }
  Shared(Shared&& other) noexcept : box_(std::exchange(other.box_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(box_, other.box_);
    return *this;
  }
  ~Shared() {
    if (box_ && box_->owners.drop()) delete box_;
  }

  T* operator->() const { return box_->value.get(); }
  T& operator*() const { return *box_->value; }

 private:
  struct Box {
    Owned<T> value;
    RefCount owners = {};
  };
  Box* box_ = nullptr;
};

}  // namespace ricci
