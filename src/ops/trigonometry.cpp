// The circle: sine, cosine, tangent and their inverses, in radians. Start with `Sin`.
#include <cmath>
#include <numbers>

#include "ops/constants.h"
#include "ops/unit_circle.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

Tensor sin_slope(const Tensor& t, const Tensor& x);
Tensor cos_slope(const Tensor& t, const Tensor& x);

/// t cos x: what sine does to a tangent, in one pass.
struct SinSlope {
  using kind = Elementwise;
  static constexpr const char* name = "sin_slope";
  static constexpr unsigned linear_in = input(0);
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
  static constexpr unsigned linear_in = input(0);
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

struct OneMinusSquare {
  using kind = Elementwise;
  static constexpr const char* name = "one_minus_square";
  static constexpr double ulps = 1.5;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return (T(1) - x) * (T(1) + x); }
  Tensor partial(const Tensor& x, const Tensor&) const { return mul(x, -2); }
  static double reference(double x) { return 1 - x * x; }
};

struct Asin {
  using kind = Elementwise;
  static constexpr const char* name = "asin";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {-0.9, 0.9};
  template <class T> auto formula(T x) const { return scalar::asin(x); }
  Tensor partial(const Tensor& x, const Tensor&) const { return rsqrt(one_minus_square(x)); }
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
  Tensor partial(const Tensor& x, const Tensor&) const { return neg(rsqrt(one_minus_square(x))); }
  static double reference(double x) { return std::acos(x); }
};

/// a / (a^2 + b^2), and 0 at the origin and at infinity: the derivative of an angle. Divided by the greater of the two
/// first, so that squares neither overflow nor vanish.
struct CircleSlope {
  using kind = Elementwise;
  static constexpr const char* name = "circle_slope";
  static constexpr double ulps = 4;
  static constexpr unsigned keeps = input(0) | input(1) | output(0);
  static constexpr Interval domain = {0.25, 2};
  template <class T> auto formula(T a, T b) const {
    const T size = scalar::max(scalar::abs(a), scalar::abs(b)), u = a / size, v = b / size;
    const auto ends = scalar::equal(size, T(0)) || scalar::isinf(size);
    return scalar::select(ends, T(0), u / (u * u + v * v) / size);
  }
  /// A quotient a / b that is subnormal has few digits.
  template <class T> static T unit(T a, T b) {
    return T::smallest_normal() / scalar::max(scalar::abs(a), scalar::abs(b));
  }
  /// With p and q, the slopes by both: (q - p) (q + p) and -2 p q.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor& p) const {
    const Tensor q = apply(CircleSlope{}, x[1], x[0]);
    return i == 0 ? mul(sub(q, p), add(q, p)) : mul(mul(p, -2), q);
  }
  static double reference(double a, double b) { return a / (a * a + b * b); }
};

struct Atan {
  using kind = Elementwise;
  static constexpr const char* name = "atan";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::atan(x); }
  /// Of a real x as of atan2(x, 1): its square may overflow.
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const {
    return x.is_complex() ? div(t, add(square(x), 1)) : mul(t, apply(CircleSlope{}, Tensor(1), x));
  }
  static double reference(double x) { return std::atan(x); }
};

struct Atan2 {
  using kind = Elementwise;
  static constexpr const char* name = "atan2";
  static constexpr double ulps = scalar::machine::fuses ? 1.01 : 2.1;
  static constexpr unsigned keeps = input(0) | input(1);
  static constexpr Interval domain = {0.25, 2};
  template <class T> auto formula(T y, T x) const { return scalar::atan2(y, x); }
  /// 0 at the origin.
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? mul(t, apply(CircleSlope{}, x[1], x[0])) : neg(mul(t, apply(CircleSlope{}, x[0], x[1])));
  }
  static double reference(double y, double x) { return std::atan2(y, x); }
};

struct Deg2rad {
  using kind = Elementwise;
  static constexpr const char* name = "deg2rad";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 1;
  template <class T> auto formula(T x) const { return x * T(std::numbers::pi / 180); }
  template <class T> static T exact(T x) { return x * T(std::numbers::pi_v<long double>) / T(180); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor&) const { return deg2rad(t); }
  static double reference(double x) { return x / 180 * std::numbers::pi; }
};

struct Rad2deg {
  using kind = Elementwise;
  static constexpr const char* name = "rad2deg";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 1;
  template <class T> auto formula(T x) const { return x * T(180 / std::numbers::pi); }
  template <class T> static T exact(T x) { return x * T(180) / T(std::numbers::pi_v<long double>); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor&) const { return rad2deg(t); }
  static double reference(double x) { return x / std::numbers::pi * 180; }
};

}  // namespace

Tensor one_minus_square(const Tensor& x) { return apply(OneMinusSquare{}, x); }

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
const Tensor& Tensor::tan_() const { return apply_into(*this, Tan{}, *this); }
const Tensor& Tensor::asin_() const { return apply_into(*this, Asin{}, *this); }
const Tensor& Tensor::acos_() const { return apply_into(*this, Acos{}, *this); }
const Tensor& Tensor::atan_() const { return apply_into(*this, Atan{}, *this); }
const Tensor& Tensor::atan2_(const Tensor& x) const { return apply_into(*this, Atan2{}, *this, x); }
const Tensor& Tensor::deg2rad_() const { return apply_into(*this, Deg2rad{}, *this); }
const Tensor& Tensor::rad2deg_() const { return apply_into(*this, Rad2deg{}, *this); }
const Tensor& sin_(const Tensor& x) { return x.sin_(); }
const Tensor& cos_(const Tensor& x) { return x.cos_(); }

}  // namespace ops
}  // namespace ricci
