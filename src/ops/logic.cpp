// Logic on truth values (anything but 0 is true) and on the bits of integers. No derivatives.
#include <cstdint>

#include "program/structure.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

constexpr DTypes bits = DTypes::integral | DTypes::boolean;

template <class T>
scalar::Mask<T> truth(T x) {
  return scalar::not_equal(x, T(0));
}

#define RICCI_LOGIC(Op, text, of_truths, of_numbers)  \
  struct Op {                                         \
    using kind = Elementwise;                         \
    using result = Boolean;                           \
    static constexpr const char* name = text;         \
    static constexpr DTypes dtypes = DTypes::all;     \
    static constexpr bool locally_constant = true;    \
    template <class T> auto formula(T x, T y) const { \
      const auto a = truth(x), b = truth(y);          \
      return of_truths;                               \
    }                                                 \
    static double reference(double x, double y) {     \
      const bool a = x != 0, b = y != 0;              \
      return of_numbers;                              \
    }                                                 \
  };

RICCI_LOGIC(LogicalAnd, "logical_and", a&& b, a&& b)
RICCI_LOGIC(LogicalOr, "logical_or", a || b, a || b)
RICCI_LOGIC(LogicalXor, "logical_xor", scalar::logical_xor(a, b), a != b)
#undef RICCI_LOGIC

struct LogicalNot {
  using kind = Elementwise;
  using result = Boolean;
  static constexpr const char* name = "logical_not";
  static constexpr DTypes dtypes = DTypes::all;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T x) const { return !truth(x); }
  static double reference(double x) { return x == 0; }
};

#define RICCI_BITWISE(Op, text, word, of)                                          \
  struct Op {                                                                      \
    using kind = Elementwise;                                                      \
    static constexpr const char* name = text;                                      \
    static constexpr DTypes dtypes = of;                                           \
    static constexpr bool locally_constant = true;                                 \
    template <class T> auto formula(T a, T b) const { return scalar::word(a, b); } \
  };

RICCI_BITWISE(BitwiseAnd, "bitwise_and", bit_and, bits)
RICCI_BITWISE(BitwiseOr, "bitwise_or", bit_or, bits)
RICCI_BITWISE(BitwiseXor, "bitwise_xor", bit_xor, bits)
RICCI_BITWISE(BitwiseLeftShift, "bitwise_left_shift", left_shift, DTypes::integral)
RICCI_BITWISE(BitwiseRightShift, "bitwise_right_shift", right_shift, DTypes::integral)
#undef RICCI_BITWISE

struct BitwiseNot {
  using kind = Elementwise;
  static constexpr const char* name = "bitwise_not";
  static constexpr DTypes dtypes = bits;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T x) const { return scalar::bit_not(x); }
  Structure structure() const { return UndoesItself{}; }
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
