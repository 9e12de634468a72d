// Sizes and shapes. A Size is a number, or, inside a program that is being recorded, an expression over the sizes of
// the program's inputs. Knows nothing of tensors. Start with `Shape`.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

#include "ricci/small_vector.h"

namespace ricci {

/// Integers that may stand for an axis or a size; `bool` may not.
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

/// An index or axis as an int64; a number that is too great for one is out of every range.
template <Integer I>
constexpr std::int64_t host_index(I i) {
  return i > 0 && static_cast<std::uint64_t>(i) > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(i);
}

/// One extent, or a place along an axis. Arithmetic on symbols builds expressions; a comparison answers for the values
/// they have in this recording, and leaves a guard in the recorded program where other values could answer otherwise.
/// Reading one as a number (`host()`, or the implicit conversion) fixes it to the value it has, under a guard.
class Size {
 public:
  constexpr Size() = default;
  /// A number below -2⁶², which no size can be, becomes that.
  template <class I>
    requires(Integer<I> || (std::is_enum_v<I> && std::convertible_to<I, std::int64_t>))
  constexpr Size(I value) : raw_(static_cast<std::int64_t>(value)) {
    if (raw_ < first_number) raw_ = first_number;
  }

  constexpr bool is_symbol() const { return raw_ < first_number; }
  /// The number, guarded if this is a symbol.
  std::int64_t host() const { return is_symbol() ? guarded_value() : raw_; }
  operator std::int64_t() const { return host(); }
  /// The number this recording has seen, without a guard: for messages and printing only.
  std::int64_t hint() const { return is_symbol() ? symbol_hint() : raw_; }

  static Size symbol(std::int64_t index) {
    Size s;
    s.raw_ = INT64_MIN + index;
    return s;
  }
  static Size from_raw(std::int64_t raw) {
    Size s;
    s.raw_ = raw;
    return s;
  }
  std::int64_t symbol_index() const { return raw_ - INT64_MIN; }
  constexpr std::int64_t raw() const { return raw_; }

 private:
  static constexpr std::int64_t first_number = INT64_MIN / 2;
  std::int64_t guarded_value() const;
  std::int64_t symbol_hint() const;
  std::int64_t raw_ = 0;
};

/// What may stand for a number of elements: an integer, or a size.
template <class T>
concept WholeNumber = Integer<T> || std::same_as<T, Size>;

namespace symbols {  // the slow paths of Size arithmetic, where an operand is a symbol
Size combine(char op, Size a, Size b);
bool equal(Size a, Size b);
bool less(Size a, Size b);
}  // namespace symbols

inline constexpr Size overflowed_size = INT64_MAX;  ///< of sums, differences and products that no number can hold
inline bool any_symbol(Size a, Size b) { return a.is_symbol() || b.is_symbol(); }
inline Size operator+(Size a, Size b) {
  std::int64_t sum = 0;
  if (any_symbol(a, b)) return symbols::combine('+', a, b);
  return __builtin_add_overflow(a.raw(), b.raw(), &sum) ? overflowed_size : Size(sum);
}
inline Size operator-(Size a, Size b) {
  std::int64_t difference = 0;
  if (any_symbol(a, b)) return symbols::combine('-', a, b);
  return __builtin_sub_overflow(a.raw(), b.raw(), &difference) ? overflowed_size : Size(difference);
}
inline Size operator*(Size a, Size b) {
  std::int64_t product = 0;
  if (any_symbol(a, b)) return symbols::combine('*', a, b);
  return __builtin_mul_overflow(a.raw(), b.raw(), &product) ? overflowed_size : Size(product);
}
inline Size operator/(Size a, Size b) {
  return any_symbol(a, b) ? symbols::combine('/', a, b) : Size(a.raw() / b.raw());
}
inline bool operator==(Size a, Size b) { return a.raw() == b.raw() || (any_symbol(a, b) && symbols::equal(a, b)); }
inline bool operator<(Size a, Size b) { return any_symbol(a, b) ? symbols::less(a, b) : a.raw() < b.raw(); }
inline bool operator>(Size a, Size b) { return b < a; }
inline bool operator<=(Size a, Size b) { return !(b < a); }
inline bool operator>=(Size a, Size b) { return !(a < b); }
template <Integer I> Size operator+(Size a, I b) { return a + Size(b); }
template <Integer I> Size operator-(Size a, I b) { return a - Size(b); }
template <Integer I> Size operator*(Size a, I b) { return a * Size(b); }
template <Integer I> Size operator/(Size a, I b) { return a / Size(b); }
template <Integer I> Size operator+(I a, Size b) { return Size(a) + b; }
template <Integer I> Size operator-(I a, Size b) { return Size(a) - b; }
template <Integer I> Size operator*(I a, Size b) { return Size(a) * b; }
template <Integer I> Size operator/(I a, Size b) { return Size(a) / b; }
template <Integer I> bool operator==(Size a, I b) { return a == Size(b); }
template <Integer I> bool operator<(Size a, I b) { return a < Size(b); }
template <Integer I> bool operator>(Size a, I b) { return a > Size(b); }
template <Integer I> bool operator<=(Size a, I b) { return a <= Size(b); }
template <Integer I> bool operator>=(Size a, I b) { return a >= Size(b); }
template <Integer I> bool operator<(I a, Size b) { return Size(a) < b; }
template <Integer I> bool operator>(I a, Size b) { return Size(a) > b; }
template <Integer I> bool operator<=(I a, Size b) { return Size(a) <= b; }
template <Integer I> bool operator>=(I a, Size b) { return Size(a) >= b; }

/// A bound of numbers that are drawn: any number of 64 bits, or a size. A Size holds no number below -2⁶².
class Bound {
 public:
  template <Integer I>
  Bound(I number) : number_(static_cast<std::int64_t>(number)) {}
  template <std::same_as<Size> S>
  Bound(S size) : number_(size.raw()), is_symbol_(size.is_symbol()) {}

  bool is_symbol() const { return is_symbol_; }
  /// Requires: no symbol.
  std::int64_t number() const { return number_; }
  /// A number that no size can be becomes the nearest one.
  Size size() const { return is_symbol_ ? Size::symbol(number_ - Size::symbol(0).raw()) : Size(number_); }

 private:
  std::int64_t number_;
  bool is_symbol_ = false;
};

using Strides = SmallVector<std::int64_t, 6>;

/// The extents of a tensor, outermost axis first. `zeros({2, 3})`, `zeros(Shape(n, m))`, `Shape(vector)`.
class Shape : public SmallVector<Size, 6> {
 public:
  Shape() = default;
  Shape(std::initializer_list<Size> sizes) : SmallVector(sizes) {}
  template <WholeNumber... I>
    requires(sizeof...(I) > 0)
  explicit Shape(I... sizes) : SmallVector{Size(sizes)...} {}
  template <WholeNumber I>
  Shape(const std::vector<I>& sizes) : SmallVector(sizes.begin(), sizes.end()) {}
  template <class It>
    requires requires(It it) {
      *it;
      ++it;
    }
  Shape(It first, It last) : SmallVector(first, last) {}
  static Shape filled(std::size_t rank, Size size) {
    Shape s;
    s.resize(rank, size);
    return s;
  }

  int rank() const { return static_cast<int>(size()); }
  Size numel() const {
    Size n = 1;
    for (Size s : *this) n = n * s;
    return n;
  }
  /// The sizes as raw numbers. Requires: no symbol among them (always so for values that exist).
  const std::int64_t* host() const { return reinterpret_cast<const std::int64_t*>(data()); }
  std::vector<std::int64_t> to_vector() const { return {begin(), end()}; }
};

inline bool operator==(const Shape& a, const Shape& b) {
  return static_cast<const SmallVector<Size, 6>&>(a) == static_cast<const SmallVector<Size, 6>&>(b);
}

std::string to_string(const Shape& shape);  ///< `[2,3]`
std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace ricci
