// The circle: sine, cosine, tangent and their inverses, in radians. Start with `Sin`.
#include <cmath>
#include <numbers>

#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

constexpr DTypes fields = DTypes::floating | DTypes::complex;

Tensor sin_slope(const Tensor& t, const Tensor& x);
Tensor cos_slope(const Tensor& t, const Tensor& x);

/// t cos x: what sine does to a tangent, in one pass.
struct SinSlope {
  using kind = Elementwise;
  static constexpr const char* name = "sin_slope";
  static constexpr double ulps = 2.8;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T t, T x) const { return t * scalar::cos(x); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? sin_slope(t, x[1]) : cos_slope(mul(t, x[0]), x[1]);
  }
  static double reference(double t, double x) { return t * std::cos(x); }
};

/// -t sin x: what cosine does to a tangent.
struct CosSlope {
  using kind = Elementwise;
  static constexpr const char* name = "cos_slope";
  static constexpr double ulps = 2.8;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T t, T x) const { return -(t * scalar::sin(x)); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? cos_slope(t, x[1]) : neg(sin_slope(mul(t, x[0]), x[1]));
  }
  static double reference(double t, double x) { return -t * std::sin(x); }
};

Tensor sin_slope(const Tensor& t, const Tensor& x) { return apply(SinSlope{}, t, x); }
Tensor cos_slope(const Tensor& t, const Tensor& x) { return apply(CosSlope{}, t, x); }

struct Sin {
  using kind = Elementwise;
  static constexpr const char* name = "sin";
  static constexpr double ulps = 2.3;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::sin(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return sin_slope(t, x); }
  static double reference(double x) { return std::sin(x); }
};

struct Cos {
  using kind = Elementwise;
  static constexpr const char* name = "cos";
  static constexpr double ulps = 2.3;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::cos(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return cos_slope(t, x); }
  static double reference(double x) { return std::cos(x); }
};

struct Tan {
  using kind = Elementwise;
  static constexpr const char* name = "tan";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = output(0);
  static constexpr Interval domain = {-1.2, 1.2};
  template <class T> auto formula(T x) const { return scalar::tan(x); }
  Tensor partial(const Tensor&, const Tensor& y) const { return add(square(y), 1); }
  static double reference(double x) { return std::tan(x); }
};

struct Asin {
  using kind = Elementwise;
  static constexpr const char* name = "asin";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {-0.9, 0.9};
  template <class T> auto formula(T x) const { return scalar::asin(x); }
  Tensor partial(const Tensor& x, const Tensor&) const { return rsqrt(sub(1, square(x))); }
  static double reference(double x) { return std::asin(x); }
};

struct Acos {
  using kind = Elementwise;
  static constexpr const char* name = "acos";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {-0.9, 0.9};
  template <class T> auto formula(T x) const { return scalar::acos(x); }
  Tensor partial(const Tensor& x, const Tensor&) const { return neg(rsqrt(sub(1, square(x)))); }
  static double reference(double x) { return std::acos(x); }
};

struct Atan {
  using kind = Elementwise;
  static constexpr const char* name = "atan";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::atan(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return div(t, add(square(x), 1)); }
  static double reference(double x) { return std::atan(x); }
};

struct Atan2 {
  using kind = Elementwise;
  static constexpr const char* name = "atan2";
  static constexpr double ulps = 1.01;
  static constexpr unsigned keeps = input(0) | input(1);
  static constexpr Interval domain = {0.25, 2};
  template <class T> auto formula(T y, T x) const { return scalar::atan2(y, x); }
  /// 0 at the origin.
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    const Tensor size = add(square(x[0]), square(x[1]));
    const Tensor scaled = div(mul(t, x[i == 0 ? 1 : 0]), where(eq(size, 0), 1, size));
    return i == 0 ? scaled : neg(scaled);
  }
  static double reference(double y, double x) { return std::atan2(y, x); }
};

struct Deg2rad {
  using kind = Elementwise;
  static constexpr const char* name = "deg2rad";
  static constexpr double ulps = 1;
  template <class T> auto formula(T x) const { return x * T(std::numbers::pi / 180); }
  template <class T> static T exact(T x) { return x * T(std::numbers::pi_v<long double>) / T(180); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor&) const { return deg2rad(t); }
  static double reference(double x) { return x / 180 * std::numbers::pi; }
};

struct Rad2deg {
  using kind = Elementwise;
  static constexpr const char* name = "rad2deg";
  static constexpr double ulps = 1;
  template <class T> auto formula(T x) const { return x * T(180 / std::numbers::pi); }
  template <class T> static T exact(T x) { return x * T(180) / T(std::numbers::pi_v<long double>); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor&) const { return rad2deg(t); }
  static double reference(double x) { return x / std::numbers::pi * 180; }
};

}  // namespace

namespace ops {

Tensor sin(const Tensor& x) { return apply(Sin{}, x); }
Tensor cos(const Tensor& x) { return apply(Cos{}, x); }
Tensor tan(const Tensor& x) { return apply(Tan{}, x); }
Tensor asin(const Tensor& x) { return apply(Asin{}, x); }
Tensor acos(const Tensor& x) { return apply(Acos{}, x); }
Tensor atan(const Tensor& x) { return apply(Atan{}, x); }
Tensor atan2(const Tensor& y, const Tensor& x) { return apply(Atan2{}, y, x); }
Tensor deg2rad(const Tensor& x) { return apply(Deg2rad{}, x); }
Tensor rad2deg(const Tensor& x) { return apply(Rad2deg{}, x); }

const Tensor& Tensor::sin_() const { return apply_into(*this, Sin{}, *this); }
const Tensor& Tensor::cos_() const { return apply_into(*this, Cos{}, *this); }
const Tensor& sin_(const Tensor& x) { return x.sin_(); }
const Tensor& cos_(const Tensor& x) { return x.cos_(); }

}  // namespace ops
}  // namespace ricci
