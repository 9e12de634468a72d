// Sums, products, quotients and what is made of them. Start with `Mul`.
#include <cmath>
#include <limits>

#include "ops/axes.h"
#include "ops/constants.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "program/structure.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

struct Add {
  using kind = Elementwise;
  static constexpr const char* name = "add";
  static constexpr unsigned linear_in = input(0) | input(1);
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = DTypes::all;
  template <class T> auto formula(T a, T b) const { return a + b; }
  Tensor scale(int, const Tensor& t, std::span<const Tensor>, const Tensor&) const { return t; }
  static double reference(double a, double b) { return a + b; }
};

struct Sub {
  using kind = Elementwise;
  static constexpr const char* name = "sub";
  static constexpr unsigned linear_in = input(0) | input(1);
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = DTypes::floating | DTypes::integral | DTypes::complex;
  template <class T> auto formula(T a, T b) const { return a - b; }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor>, const Tensor&) const { return i == 0 ? t : neg(t); }
  static double reference(double a, double b) { return a - b; }
};

struct Mul {
  using kind = Elementwise;
  static constexpr const char* name = "mul";
  static constexpr unsigned linear_in_each = input(0) | input(1);
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = DTypes::all;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T a, T b) const { return a * b; }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return mul(t, x[i == 0 ? 1 : 0]);
  }
  static double reference(double a, double b) { return a * b; }
};

/// -(t / b) a: what a denominator b with quotient a does to a tangent. Where t / b is about to overflow or to vanish, t
/// a comes first: the result may be neither. Its own derivatives are such products again.
struct QuotientSlope {
  using kind = Elementwise;
  static constexpr const char* name = "quotient_slope";
  static constexpr unsigned linear_in_each = input(0) | input(1);
  static constexpr double ulps =
      std::numeric_limits<double>::infinity();  // of three, two may meet in a subnormal number
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps[] = {input(1) | input(2), input(0) | input(2), input(2) | output(0)};
  static constexpr Interval domain = {0.5, 2};
  template <class T> auto formula(T t, T a, T b) const {
    const T share = t / b;
    const auto size = scalar::abs(share);
    using R = std::remove_const_t<decltype(size)>;
    const auto extreme = scalar::less(size, R(1e-37)) || scalar::greater(size, R(1e37));
    return -scalar::select(extreme, t * a / b, share * a);
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) const {
    return i == 2 ? apply(*this, t, y, x[2]) : apply(*this, t, x[i == 0 ? 1 : 0], x[2]);
  }
  static double reference(double t, double a, double b) { return -t * a / b; }
};

struct Div {
  using kind = Elementwise;
  static constexpr const char* name = "div";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(1) | output(0);
  static constexpr Interval domain = {0.5, 2};
  template <class T> auto formula(T a, T b) const { return a / b; }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) const {
    return i == 0 ? div(t, x[1]) : apply(QuotientSlope{}, t, y, x[1]);
  }
  static double reference(double a, double b) { return a / b; }
};

struct Neg {
  using kind = Elementwise;
  static constexpr const char* name = "neg";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = DTypes::floating | DTypes::integral | DTypes::complex;
  template <class T> auto formula(T x) const { return -x; }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor&) const { return neg(t); }
  Structure structure() const { return UndoesItself{}; }
  static double reference(double x) { return -x; }
};

struct Addcmul {
  using kind = Elementwise;
  static constexpr const char* name = "addcmul";
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = DTypes::floating | DTypes::integral | DTypes::complex;
  static constexpr unsigned keeps[] = {nothing, input(2), input(1)};
  template <class T> auto formula(T x, T a, T b) const { return scalar::fma(a, b, x); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? t : mul(t, x[i == 1 ? 2 : 1]);
  }
  static double reference(double x, double a, double b) { return x + a * b; }
};

struct Addcdiv {
  using kind = Elementwise;
  static constexpr const char* name = "addcdiv";
  static constexpr double ulps = 1.5;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps[] = {nothing, input(2), input(1) | input(2)};
  static constexpr Interval domain = {0.5, 2};
  template <class T> auto formula(T x, T a, T b) const { return x + a / b; }
  /// Two terms, which may cancel.
  template <class T> static T unit(T x, T a, T b) { return scalar::max(scalar::abs(x), scalar::abs(a / b)); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    if (i == 0) return t;
    return i == 1 ? div(t, x[2]) : apply(QuotientSlope{}, t, div(x[1], x[2]), x[2]);
  }
  static double reference(double x, double a, double b) { return x + a / b; }
};

/// From the nearer end, so that weights 0 and 1 give exactly start and end.
struct Lerp {
  using kind = Elementwise;
  static constexpr const char* name = "lerp";
  static constexpr double ulps = 3;
  static constexpr unsigned keeps[] = {input(2), input(2), input(0) | input(1)};
  template <class T> auto formula(T start, T end, T weight) const {
    const T way = end - start;
    return scalar::select(scalar::less(weight, T(0.5)), start + weight * way, end - way * (T(1) - weight));
  }
  /// Between numbers of different sign the terms cancel; where they lie too far apart, their difference overflows.
  template <class T> static T unit(T start, T end, T weight) {
    const T way = scalar::abs(end - start), part = scalar::max(weight, T(1) - weight) * way;
    return scalar::max(scalar::max(scalar::abs(start), scalar::abs(end)), scalar::max(way, part));
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    if (i == 2) return mul(t, sub(x[1], x[0]));
    return mul(t, i == 0 ? sub(1, x[2]) : x[2]);
  }
  static double reference(double start, double end, double weight) { return start + weight * (end - start); }
};

}  // namespace

/// Integers stay integers where the factor is whole.
Tensor times(double factor, const Tensor& x) {
  const bool is_whole = is_integral(x.dtype()) && factor == std::nearbyint(factor);
  return mul(x, is_whole ? Tensor(static_cast<std::int64_t>(factor)) : Tensor(factor));
}

namespace ops {

Tensor add(const Tensor& a, const Tensor& b) { return apply(Add{}, a, b); }
Tensor sub(const Tensor& a, const Tensor& b) { return apply(Sub{}, a, b); }
Tensor mul(const Tensor& a, const Tensor& b) { return apply(Mul{}, a, b); }
Tensor div(const Tensor& a, const Tensor& b) { return apply(Div{}, a, b); }
Tensor neg(const Tensor& x) { return apply(Neg{}, x); }
Tensor positive(const Tensor& x) { return x; }
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b) { return apply(Addcmul{}, x, a, b); }
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b) { return apply(Addcdiv{}, x, a, b); }
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight) {
  const Called as("lerp", start, end, weight);
  if (!start.is_complex() && !end.is_complex() && !weight.is_complex()) return apply(Lerp{}, start, end, weight);
  const Tensor way = end - start;
  const Tensor from_end = end - way * (1 - weight);  // first, or compilers differ in what they refuse
  return where(abs(weight) < 0.5, start + weight * way, from_end);
}

const Tensor& add_out(const Tensor& out, const Tensor& a, const Tensor& b) { return apply_into(out, Add{}, a, b); }
const Tensor& sub_out(const Tensor& out, const Tensor& a, const Tensor& b) { return apply_into(out, Sub{}, a, b); }
const Tensor& mul_out(const Tensor& out, const Tensor& a, const Tensor& b) { return apply_into(out, Mul{}, a, b); }
const Tensor& div_out(const Tensor& out, const Tensor& a, const Tensor& b) { return apply_into(out, Div{}, a, b); }

const Tensor& Tensor::add_(const Tensor& other) const { return apply_into(*this, Add{}, *this, other); }
const Tensor& Tensor::sub_(const Tensor& other) const { return apply_into(*this, Sub{}, *this, other); }
const Tensor& Tensor::mul_(const Tensor& other) const { return apply_into(*this, Mul{}, *this, other); }
const Tensor& Tensor::div_(const Tensor& other) const { return apply_into(*this, Div{}, *this, other); }
const Tensor& Tensor::neg_() const { return apply_into(*this, Neg{}, *this); }
const Tensor& Tensor::addcmul_(const Tensor& a, const Tensor& b) const {
  return apply_into(*this, Addcmul{}, *this, a, b);
}
const Tensor& Tensor::addcdiv_(const Tensor& a, const Tensor& b) const {
  return apply_into(*this, Addcdiv{}, *this, a, b);
}
const Tensor& Tensor::lerp_(const Tensor& end, const Tensor& weight) const {
  return apply_into(*this, Lerp{}, *this, end, weight);
}

const Tensor& add_(const Tensor& x, const Tensor& y) { return x.add_(y); }
const Tensor& sub_(const Tensor& x, const Tensor& y) { return x.sub_(y); }
const Tensor& mul_(const Tensor& x, const Tensor& y) { return x.mul_(y); }
const Tensor& div_(const Tensor& x, const Tensor& y) { return x.div_(y); }
const Tensor& neg_(const Tensor& x) { return x.neg_(); }

// Factors and rounding are arguments of methods alone: the functions are passed on by their names.

Tensor Tensor::add(const Tensor& other, double alpha) const {
  const Called as("add", *this, other);
  return ops::add(*this, times(alpha, other));
}
Tensor Tensor::sub(const Tensor& other, double alpha) const {
  const Called as("sub", *this, other);
  return ops::sub(*this, times(alpha, other));
}
Tensor Tensor::addcmul(const Tensor& a, const Tensor& b, double value) const {
  const Called as("addcmul", *this, a, b);
  return ops::addcmul(*this, times(value, a), b);
}
Tensor Tensor::addcdiv(const Tensor& a, const Tensor& b, double value) const {
  const Called as("addcdiv", *this, a, b);
  return ops::addcdiv(*this, times(value, a), b);
}
Tensor Tensor::div(const Tensor& other, std::string_view rounding_mode) const {
  const Called as("div", *this, other);
  const bool is_floor = word_among("div", "the rounding mode", rounding_mode, {"trunc", "floor"}) == 1;
  if (is_floor) return ops::floor_divide(*this, other);
  const bool are_whole = is_integral(dtype()) && is_integral(other.dtype());
  return are_whole ? ops::floor_divide(ops::sub(*this, ops::fmod(*this, other)), other)
                   : ops::trunc(ops::div(*this, other));
}

}  // namespace ops
}  // namespace ricci
