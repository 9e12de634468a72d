// A vector that keeps its first N elements inside itself: shapes, strides, operands and outputs live in it.
// Knows nothing of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

namespace ricci {

template <class T, unsigned N>
class SmallVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  // Each delegates to the empty one, so that what it has appended is destroyed where a later element throws.
  SmallVector(std::initializer_list<T> values) : SmallVector() { append(values.begin(), values.end()); }
  template <class It>
    requires requires(It it) {
      *it;
      ++it;
    }
  SmallVector(It first, It last) : SmallVector() {
    append(first, last);
  }
  explicit SmallVector(std::size_t count, const T& value = T()) : SmallVector() { resize(count, value); }
  SmallVector(const SmallVector& other) : SmallVector() {
    if (std::is_trivially_copyable_v<T> && other.size_ <= N) copy_inline(other);
    else append(other.begin(), other.end());
  }
  SmallVector(SmallVector&& other) noexcept { steal(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      append(other.begin(), other.end());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      clear();
      release();
      steal(other);
    }
    return *this;
  }
  ~SmallVector() {
    clear();
    release();
  }

  T* data() { return heap_ ? heap_ : inline_data(); }
  const T* data() const { return heap_ ? heap_ : inline_data(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    new (data() + size_) T(std::move(value));
    ++size_;
  }
  void pop_back() { data()[--size_].~T(); }
  void clear() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (T& value : *this) value.~T();
    size_ = 0;
  }
  void reserve(std::size_t count) {
    if (count > capacity_) grow(count);
  }
  void resize(std::size_t count, const T& value = T()) {
    reserve(count);
    while (size_ > count) pop_back();
    for (; size_ < count; ++size_) new (data() + size_) T(value);  // counted once it is made
  }
  void insert(std::size_t at, T value) {
    push_back(std::move(value));
    for (std::size_t i = size_ - 1; i > at; --i) std::swap(data()[i], data()[i - 1]);
  }
  void erase(std::size_t at) {
    for (std::size_t i = at; i + 1 < size_; ++i) data()[i] = std::move(data()[i + 1]);
    pop_back();
  }
  template <class It>
  void append(It first, It last) {
    for (; first != last; ++first) push_back(static_cast<T>(*first));
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(inline_); }
  const T* inline_data() const { return reinterpret_cast<const T*>(inline_); }
  void release() {
    if (heap_) ::operator delete(heap_);
    heap_ = nullptr;
    capacity_ = N;
  }
  void steal(SmallVector& other) {
    if (other.heap_) {
      heap_ = std::exchange(other.heap_, nullptr);
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, N);
      return;
    }
    if constexpr (std::is_trivially_copyable_v<T>) {
      copy_inline(other);
      other.size_ = 0;
    } else {
      size_ = other.size_;
      for (unsigned i = 0; i < size_; ++i) new (inline_data() + i) T(std::move(other.inline_data()[i]));
      other.clear();
    }
  }
  /// Requires: trivially copyable elements, at most N of them. A few registers copy all places at once, those that hold
  /// no element too, where a loop or a call would have to look how many do.
  void copy_inline(const SmallVector& other) {
    size_ = other.size_;
    if (sizeof(inline_) <= 64 && !other.heap_) __builtin_memcpy(inline_, other.inline_, sizeof(inline_));
    else __builtin_memcpy(inline_, other.data(), size_ * sizeof(T));
  }
  [[gnu::noinline]] void grow(std::size_t count) {
    const auto wanted = static_cast<unsigned>(count < 2U * capacity_ ? 2U * capacity_ : count);
    T* bigger = static_cast<T*>(::operator new(wanted * sizeof(T)));
    for (unsigned i = 0; i < size_; ++i) {
      new (bigger + i) T(std::move(data()[i]));
      data()[i].~T();
    }
    if (heap_) ::operator delete(heap_);
    heap_ = bigger;
    capacity_ = wanted;
  }

  T* heap_ = nullptr;
  unsigned size_ = 0;
  unsigned capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

template <class T, unsigned N>
bool operator==(const SmallVector<T, N>& a, const SmallVector<T, N>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i])) return false;
  return true;
}

}  // namespace ricci
