// Exponentials and logarithms. Start with `Exp`.
#include <cmath>
#include <numbers>

#include "ops/constants.h"
#include "primitive/called.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

struct Exp {
  using kind = Elementwise;
  static constexpr const char* name = "exp";
  static constexpr double ulps = scalar::machine::fuses ? 1.01 : 3;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = output(0);
  template <class T> auto formula(T x) const { return scalar::exp(x); }
  Tensor partial(const Tensor&, const Tensor& y) const { return y; }
  static double reference(double x) { return std::exp(x); }
};

struct Exp2 {
  using kind = Elementwise;
  static constexpr const char* name = "exp2";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = output(0);
  template <class T> auto formula(T x) const { return scalar::exp2(x); }
  Tensor partial(const Tensor&, const Tensor& y) const { return mul(y, std::numbers::ln2); }
  static double reference(double x) { return std::exp2(x); }
};

struct Expm1 {
  using kind = Elementwise;
  static constexpr const char* name = "expm1";
  static constexpr double ulps = 2;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::expm1(x); }
  Tensor partial(const Tensor& x, const Tensor&) const { return exp(x); }  // y + 1 has lost what is far below 1
  static double reference(double x) { return std::expm1(x); }
};

struct Log {
  using kind = Elementwise;
  static constexpr const char* name = "log";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {0.25, 4};
  template <class T> auto formula(T x) const { return scalar::log(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return div(t, x); }
  static double reference(double x) { return std::log(x); }
};

struct Log2 {
  using kind = Elementwise;
  static constexpr const char* name = "log2";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {0.25, 4};
  template <class T> auto formula(T x) const { return scalar::log2(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return div(mul(t, std::numbers::log2e), x); }
  static double reference(double x) { return std::log2(x); }
};

struct Log10 {
  using kind = Elementwise;
  static constexpr const char* name = "log10";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {0.25, 4};
  template <class T> auto formula(T x) const { return scalar::log10(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return div(mul(t, std::numbers::log10e), x); }
  static double reference(double x) { return std::log10(x); }
};

struct Log1p {
  using kind = Elementwise;
  static constexpr const char* name = "log1p";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {-0.75, 3};
  template <class T> auto formula(T x) const { return scalar::log1p(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return div(t, add(x, 1)); }
  static double reference(double x) { return std::log1p(x); }
};

/// exp(a) / (exp(a) + exp(b)); a half where both are the same infinity.
struct ExpShare {
  using kind = Elementwise;
  static constexpr const char* name = "exp_share";
  static constexpr double ulps = 3;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T a, T b) const {
    const T one(1), apart = a - b, taken = apart - a, off = (a - (apart - taken)) - (b + taken);
    const T ahead = scalar::select(scalar::equal(a, b), T(0), apart), size = scalar::abs(ahead);
    const auto behind = scalar::less(ahead, T(0));
    const T e = scalar::exp(-size), change = e * scalar::select(behind, off, -off);
    const T less = scalar::select(scalar::isfinite(off), e + change, e);  // apart + off is a - b exactly
    return scalar::select(behind, less, one) / (one + less);
  }
  template <class T> T exact(T a, T b) const { return scalar::reciprocal(T(1) + scalar::exp(b - a)); }
  /// The product of both shares: 1 - y has lost what is far below 1.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    const Tensor change = mul(apply(ExpShare{}, x[0], x[1]), apply(ExpShare{}, x[1], x[0]));
    return i == 0 ? change : neg(change);
  }
  static double reference(double a, double b) { return 1 / (1 + std::exp(b - a)); }
};

struct Logaddexp {
  using kind = Elementwise;
  static constexpr const char* name = "logaddexp";
  static constexpr double ulps = 2;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T a, T b) const {
    const T apart = scalar::select(scalar::equal(a, b), T(0), scalar::abs(a - b));
    return scalar::max(a, b) + scalar::log1p(scalar::exp(-apart));
  }
  /// 0 on the curve exp a + exp b = 1, where the two terms cancel.
  template <class T> static T unit(T a, T b) { return scalar::max(scalar::max(scalar::abs(a), scalar::abs(b)), T(1)); }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(ExpShare{}, x[0], x[1]) : apply(ExpShare{}, x[1], x[0]);
  }
  static double reference(double a, double b) { return std::log(std::exp(a) + std::exp(b)); }
};

struct Xlogy {
  using kind = Elementwise;
  static constexpr const char* name = "xlogy";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 2;
  static constexpr unsigned keeps[] = {input(0) | input(1)};
  static constexpr Interval domain = {0.25, 4};
  template <class T> auto formula(T x, T y) const {
    const auto skipped = scalar::equal(x, T(0)) && !scalar::isnan(y);
    return scalar::select(skipped, T(0), x * scalar::log(y));
  }
  /// 0 where x is 0 and log y is not finite; y is replaced by 1 there, so that nothing becomes NaN on the way.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    const Tensor flat = logical_and(eq(x[0], 0), le(x[1], 0)), y = where(flat, 1, x[1]);
    return i == 0 ? log(y) : where(flat, 0, div(x[0], y));
  }
  static double reference(double x, double y) { return x == 0 ? 0 : x * std::log(y); }
};

}  // namespace

namespace ops {

Tensor exp(const Tensor& x) { return apply(Exp{}, x); }
Tensor exp2(const Tensor& x) { return apply(Exp2{}, x); }
Tensor expm1(const Tensor& x) { return apply(Expm1{}, x); }
Tensor log(const Tensor& x) { return apply(Log{}, x); }
Tensor log2(const Tensor& x) { return apply(Log2{}, x); }
Tensor log10(const Tensor& x) { return apply(Log10{}, x); }
Tensor log1p(const Tensor& x) { return apply(Log1p{}, x); }
Tensor logaddexp(const Tensor& a, const Tensor& b) {
  const Called as("logaddexp", a, b);
  if (!a.is_complex() && !b.is_complex()) return apply(Logaddexp{}, a, b);
  const Tensor most = detach(maximum(real(a), real(b))), shift = where(isfinite(most), most, 0);
  return log(exp(a - shift) + exp(b - shift)) + shift;
}
Tensor xlogy(const Tensor& x, const Tensor& y) { return apply(Xlogy{}, x, y); }

const Tensor& Tensor::exp_() const { return apply_into(*this, Exp{}, *this); }
const Tensor& Tensor::log_() const { return apply_into(*this, Log{}, *this); }
const Tensor& Tensor::exp2_() const { return apply_into(*this, Exp2{}, *this); }
const Tensor& Tensor::expm1_() const { return apply_into(*this, Expm1{}, *this); }
const Tensor& Tensor::log2_() const { return apply_into(*this, Log2{}, *this); }
const Tensor& Tensor::log10_() const { return apply_into(*this, Log10{}, *this); }
const Tensor& Tensor::log1p_() const { return apply_into(*this, Log1p{}, *this); }
const Tensor& Tensor::xlogy_(const Tensor& y) const { return apply_into(*this, Xlogy{}, *this, y); }
const Tensor& exp_(const Tensor& x) { return x.exp_(); }

}  // namespace ops
}  // namespace ricci
