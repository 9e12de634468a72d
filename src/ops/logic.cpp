// Logic on truth values (anything but 0 is true) and on the bits of integers. No derivatives.
#include <cstdint>

#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

constexpr DTypes bits = DTypes::integral | DTypes::boolean;

template <class T>
scalar::Mask<T> truth(T x) {
  return scalar::not_equal(x, T(0));
}

struct LogicalAnd {
  using kind = Elementwise;
  using result = Boolean;
  static constexpr const char* name = "logical_and";
  static constexpr DTypes dtypes = DTypes::all;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T a, T b) const { return truth(a) && truth(b); }
  static double reference(double a, double b) { return a != 0 && b != 0; }
};

struct LogicalOr {
  using kind = Elementwise;
  using result = Boolean;
  static constexpr const char* name = "logical_or";
  static constexpr DTypes dtypes = DTypes::all;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T a, T b) const { return truth(a) || truth(b); }
  static double reference(double a, double b) { return a != 0 || b != 0; }
};

struct LogicalXor {
  using kind = Elementwise;
  using result = Boolean;
  static constexpr const char* name = "logical_xor";
  static constexpr DTypes dtypes = DTypes::all;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T a, T b) const { return scalar::logical_xor(truth(a), truth(b)); }
  static double reference(double a, double b) { return (a != 0) != (b != 0); }
};

struct LogicalNot {
  using kind = Elementwise;
  using result = Boolean;
  static constexpr const char* name = "logical_not";
  static constexpr DTypes dtypes = DTypes::all;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T x) const { return !truth(x); }
  static double reference(double x) { return x == 0; }
};

struct BitwiseAnd {
  using kind = Elementwise;
  static constexpr const char* name = "bitwise_and";
  static constexpr DTypes dtypes = bits;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T a, T b) const { return scalar::bit_and(a, b); }
};

struct BitwiseOr {
  using kind = Elementwise;
  static constexpr const char* name = "bitwise_or";
  static constexpr DTypes dtypes = bits;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T a, T b) const { return scalar::bit_or(a, b); }
};

struct BitwiseXor {
  using kind = Elementwise;
  static constexpr const char* name = "bitwise_xor";
  static constexpr DTypes dtypes = bits;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T a, T b) const { return scalar::bit_xor(a, b); }
};

struct BitwiseNot {
  using kind = Elementwise;
  static constexpr const char* name = "bitwise_not";
  static constexpr bool undoes_itself = true;
  static constexpr DTypes dtypes = bits;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T x) const { return scalar::bit_not(x); }
};

struct BitwiseLeftShift {
  using kind = Elementwise;
  static constexpr const char* name = "bitwise_left_shift";
  static constexpr DTypes dtypes = DTypes::integral;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T x, T count) const { return scalar::left_shift(x, count); }
};

struct BitwiseRightShift {
  using kind = Elementwise;
  static constexpr const char* name = "bitwise_right_shift";
  static constexpr DTypes dtypes = DTypes::integral;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T x, T count) const { return scalar::right_shift(x, count); }
};

}  // namespace

namespace ops {

Tensor logical_and(const Tensor& a, const Tensor& b) { return apply(LogicalAnd{}, a, b); }
Tensor logical_or(const Tensor& a, const Tensor& b) { return apply(LogicalOr{}, a, b); }
Tensor logical_xor(const Tensor& a, const Tensor& b) { return apply(LogicalXor{}, a, b); }
Tensor logical_not(const Tensor& x) { return apply(LogicalNot{}, x); }
Tensor bitwise_and(const Tensor& a, const Tensor& b) { return apply(BitwiseAnd{}, a, b); }
Tensor bitwise_or(const Tensor& a, const Tensor& b) { return apply(BitwiseOr{}, a, b); }
Tensor bitwise_xor(const Tensor& a, const Tensor& b) { return apply(BitwiseXor{}, a, b); }
Tensor bitwise_not(const Tensor& x) { return apply(BitwiseNot{}, x); }
Tensor bitwise_left_shift(const Tensor& a, const Tensor& b) { return apply(BitwiseLeftShift{}, a, b); }
Tensor bitwise_right_shift(const Tensor& a, const Tensor& b) { return apply(BitwiseRightShift{}, a, b); }

const Tensor& Tensor::logical_and_(const Tensor& other) const { return apply_into(*this, LogicalAnd{}, *this, other); }
const Tensor& Tensor::logical_or_(const Tensor& other) const { return apply_into(*this, LogicalOr{}, *this, other); }
const Tensor& Tensor::logical_xor_(const Tensor& other) const { return apply_into(*this, LogicalXor{}, *this, other); }
const Tensor& Tensor::logical_not_() const { return apply_into(*this, LogicalNot{}, *this); }
const Tensor& Tensor::bitwise_and_(const Tensor& other) const { return apply_into(*this, BitwiseAnd{}, *this, other); }
const Tensor& Tensor::bitwise_or_(const Tensor& other) const { return apply_into(*this, BitwiseOr{}, *this, other); }
const Tensor& Tensor::bitwise_xor_(const Tensor& other) const { return apply_into(*this, BitwiseXor{}, *this, other); }
const Tensor& Tensor::bitwise_not_() const { return apply_into(*this, BitwiseNot{}, *this); }
const Tensor& Tensor::bitwise_left_shift_(const Tensor& other) const {
  return apply_into(*this, BitwiseLeftShift{}, *this, other);
}
const Tensor& Tensor::bitwise_right_shift_(const Tensor& other) const {
  return apply_into(*this, BitwiseRightShift{}, *this, other);
}

}  // namespace ops
}  // namespace ricci
