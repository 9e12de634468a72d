// sin(w x) / (w x) for w = pi and for w = 1, sinh(x) / x, and their derivatives, which are right at 0.
#include <cmath>
#include <numbers>

#include "ops/bounded_number.h"
#include "ops/series.h"
#include "ricci/ops/bessel.h"
#include "ricci/ops/special.h"

namespace ricci {
namespace {

template <class T>
T number(long double x) {
  if constexpr (std::is_same_v<T, long double>) return x;
  else return T(static_cast<double>(x));
}

template <class T>
struct Circle {
  T sine, cosine;
};
/// Of sin(w x) / (w x). `border`: up to which w x the k-th derivative is the series, with so many `terms`.
struct SincWaves {
  static constexpr double ulps = 4;
  static constexpr bool is_hyperbolic = false;
  static double border(double k) { return std::numbers::pi * (0.5 + 0.1 * k); }
  static std::int64_t terms(std::int64_t k) { return 14 + k / 2; }
};
/// w, and the sine and cosine of w x, of which whole turns are taken off x where w is pi.
struct HalfTurn : SincWaves {
  static constexpr const char* name = "sinc";
  static constexpr long double w = std::numbers::pi_v<long double>;
  template <class T>
  static Circle<T> circle(T x) {
    const T whole = scalar::round(x), odd = whole - T(2) * scalar::round(whole * T(0.5));
    const T sign = T(1) - T(2) * odd * odd, angle = (x - whole) * number<T>(w);
    return {sign * scalar::sin(angle), sign * scalar::cos(angle)};
  }
};
struct Radian : SincWaves {
  static constexpr const char* name = "spherical_bessel_j0";
  static constexpr long double w = 1;
  template <class T>
  static Circle<T> circle(T x) {
    const T turned = scalar::select(scalar::isinf(x), T(0), x);
    return {scalar::sin(turned), scalar::cos(turned)};
  }
};
/// sinh and cosh over exp(|x| / 2): sinh and cosh themselves overflow before sinh(x) / x does.
struct Hyperbola {
  static constexpr const char* name = "sinhc";
  static constexpr long double w = 1;
  static constexpr double ulps = 6;
  static constexpr bool is_hyperbolic = true;
  static double border(double k) { return 4 + k / 2; }
  static std::int64_t terms(std::int64_t k) { return 18 + k; }
  template <class T>
  static Circle<T> circle(T x) {
    const T grows = scalar::exp(scalar::abs(x) * T(0.5)) * T(0.5);
    const T falls = scalar::exp(scalar::abs(x) * T(-1.5)) * T(0.5);
    const T sine = grows - falls;
    return {scalar::select(scalar::less(x, T(0)), -sine, sine), grows + falls};
  }
};

/// The derivative of some order. Near 0 it is the series of Σ (∓1)^m (w x)^(2m) / (2m + 1)!, differentiated term by
/// term; farther away x f⁽ᵏ⁾ + k f⁽ᵏ⁻¹⁾ = w^(k-1) sin(w x + k pi / 2), which is the k-th derivative of
/// x f = sin(w x) / w. For sinh it is sinh(x) or cosh(x) in turn. The border lies where neither loses more than three
/// digits.
template <class Unit>
struct SincDerivative {
  using kind = Elementwise;
  static constexpr const char* name = Unit::name;
  static constexpr long double w = Unit::w;
  static constexpr double ulps = Unit::ulps;
  static constexpr unsigned keeps = input(0);
  static constexpr double tolerance_factor = 64;
  static constexpr std::int64_t most = 16;
  BoundedNumber<0, most> order;

  template <class T> auto formula(T x) const {
    const double border = Unit::border(static_cast<double>(order)) / static_cast<double>(w);
    const auto is_near = scalar::less(scalar::abs(x), T(border));
    return scalar::select(is_near, series(scalar::select(is_near, x, T(0)), Unit::terms(order)),
                          recurrence(scalar::select(is_near, T(1), x)));
  }
  /// What a rounding of w x, or of a term of the recurrence, may change: a wave's terms cancel.
  template <class T> T unit(T x) const
    requires(!Unit::is_hyperbolic)
  {
    return number<T>(std::pow(w, static_cast<double>(order))) / scalar::max(T(1), scalar::abs(x) * number<T>(w));
  }
  Tensor partial(const Tensor& x, const Tensor&) const {
    return order < most ? apply(SincDerivative{{order + 1}}, x) : full_like(x, std::nan(""));
  }
  double reference(double x) const { return static_cast<double>(series(static_cast<long double>(x), 60)); }
  static std::vector<Sample<SincDerivative>> samples() {
    return {{{{0}}, {mul(sub(rand({2, 3}), 0.5), 4)}}, {{{1}}, {tensor({0., 0.25, -0.5, 3.})}}, {{{2}}, {rand({3})}}};
  }

 private:
  template <class T>
  T series(T x, std::int64_t terms) const {
    const std::int64_t k = order, first = (k + 1) / 2;
    const T square = x * x;
    T sum(1);
    for (std::int64_t m = first + terms; m-- > first;) sum = sum * square * number<T>(quotient(m)) + T(1);
    const T start = number<T>(coefficient(first));
    return 2 * first > k ? sum * start * x : sum * start;
  }
  /// Of the series: what x^(2m-k) is multiplied by, and that of the next term over it.
  long double coefficient(std::int64_t m) const {
    const auto n = static_cast<long double>(2 * m), k = static_cast<long double>(order);
    return (m % 2 == 0 || Unit::is_hyperbolic ? 1 : -1) * std::pow(w, n) / ((n + 1) * std::tgamma(n - k + 1));
  }
  long double quotient(std::int64_t m) const {
    const auto n = static_cast<long double>(2 * m), k = static_cast<long double>(order);
    return (Unit::is_hyperbolic ? 1 : -1) * w * w * (n + 1) / ((n + 3) * (n + 2 - k) * (n + 1 - k));
  }
  template <class T>
  T recurrence(T x) const {
    const auto [sine, cosine] = Unit::circle(x);
    T y = sine / (x * number<T>(w));
    long double power = 1;  // w^(k - 1)
    for (std::int64_t k = 1; k <= order; ++k, power *= w) {
      const bool is_negative = !Unit::is_hyperbolic && (k % 4 == 2 || k % 4 == 3);
      const long double factor = is_negative ? -power : power;
      y = ((k % 2 == 1 ? cosine : sine) * number<T>(factor) - T(static_cast<double>(k)) * y) / x;
    }
    if constexpr (!Unit::is_hyperbolic) return y;
    const T half = scalar::exp(scalar::abs(x) * T(0.5));
    return scalar::select(scalar::isinf(half), (order % 2 == 1 ? x : scalar::abs(x)) * half, y * half);
  }
};

}  // namespace

namespace ops {

Tensor sinc(const Tensor& x) { return apply(SincDerivative<HalfTurn>{{0}}, x); }
Tensor sinhc(const Tensor& x) { return apply(SincDerivative<Hyperbola>{{0}}, x); }
Tensor spherical_bessel_j0(const Tensor& x) { return of_real(SincDerivative<Radian>{{0}}, "spherical_bessel_j0", x); }

}  // namespace ops
}  // namespace ricci
