// Hyperbolic functions and their inverses. Start with `Tanh`.
#include <cmath>
#include <limits>

#include "ops/constants.h"
#include "ops/unit_circle.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

struct Sinh {
  using kind = Elementwise;
  static constexpr const char* name = "sinh";
  static constexpr double ulps = 2;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::sinh(x); }
  Tensor partial(const Tensor& x, const Tensor&) const { return cosh(x); }
  static double reference(double x) { return std::sinh(x); }
};

struct Cosh {
  using kind = Elementwise;
  static constexpr const char* name = "cosh";
  static constexpr double ulps = 2;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::cosh(x); }
  Tensor partial(const Tensor& x, const Tensor&) const { return sinh(x); }
  static double reference(double x) { return std::cosh(x); }
};

/// t (1 - y^2): what tanh, with value y, does to a tangent, in one pass.
struct TanhSlope {
  using kind = Elementwise;
  static constexpr const char* name = "tanh_slope";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 2;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T t, T y) const { return t * scalar::fma(-y, y, T(1)); }
  /// y is a tanh, so |y| <= 1; beyond that nothing is promised.
  template <class T> static T unit(T, T y) {
    return scalar::select(scalar::less_equal(scalar::abs(y), T(1)), T(0), T(infinity));
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(TanhSlope{}, t, x[1]) : mul(mul(t, x[0]), mul(x[1], -2));
  }
  static double reference(double t, double y) { return t * (1 - y * y); }
};

struct Tanh {
  using kind = Elementwise;
  static constexpr const char* name = "tanh";
  static constexpr double ulps = 2.6;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = output(0);
  template <class T> auto formula(T x) const { return scalar::tanh(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor& y) const { return apply(TanhSlope{}, t, y); }
  static double reference(double x) { return std::tanh(x); }
};

struct Asinh {
  using kind = Elementwise;
  static constexpr const char* name = "asinh";
  static constexpr double ulps = 1.6;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::asinh(x); }
  /// Of a real x by hypot: its square may overflow.
  Tensor partial(const Tensor& x, const Tensor&) const {
    return x.is_complex() ? rsqrt(add(square(x), 1)) : reciprocal(hypot(x, 1));
  }
  static double reference(double x) { return std::asinh(x); }
};

struct Acosh {
  using kind = Elementwise;
  static constexpr const char* name = "acosh";
  static constexpr double ulps = 1.6;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {1.25, 4};
  template <class T> auto formula(T x) const { return scalar::acosh(x); }
  /// Two roots, not one of x^2 - 1: that one would have another branch for complex x.
  Tensor partial(const Tensor& x, const Tensor&) const { return mul(rsqrt(sub(x, 1)), rsqrt(add(x, 1))); }
  static double reference(double x) { return std::acosh(x); }
};

struct Atanh {
  using kind = Elementwise;
  static constexpr const char* name = "atanh";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {-0.9, 0.9};
  template <class T> auto formula(T x) const { return scalar::atanh(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return div(t, one_minus_square(x)); }
  static double reference(double x) { return std::atanh(x); }
};

}  // namespace

namespace ops {

Tensor sinh(const Tensor& x) { return apply(Sinh{}, x); }
Tensor cosh(const Tensor& x) { return apply(Cosh{}, x); }
Tensor tanh(const Tensor& x) { return apply(Tanh{}, x); }
Tensor asinh(const Tensor& x) { return apply(Asinh{}, x); }
Tensor acosh(const Tensor& x) { return apply(Acosh{}, x); }
Tensor atanh(const Tensor& x) { return apply(Atanh{}, x); }

const Tensor& Tensor::tanh_() const { return apply_into(*this, Tanh{}, *this); }
const Tensor& Tensor::sinh_() const { return apply_into(*this, Sinh{}, *this); }
const Tensor& Tensor::cosh_() const { return apply_into(*this, Cosh{}, *this); }
const Tensor& Tensor::asinh_() const { return apply_into(*this, Asinh{}, *this); }
const Tensor& Tensor::acosh_() const { return apply_into(*this, Acosh{}, *this); }
const Tensor& Tensor::atanh_() const { return apply_into(*this, Atanh{}, *this); }
const Tensor& tanh_(const Tensor& x) { return x.tanh_(); }

}  // namespace ops
}  // namespace ricci
