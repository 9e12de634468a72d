// The incomplete gamma function: the density at the limit times an integral over the nearer tail. So it and its
// derivatives by both arguments keep their digits in either tail. For small concentrations the lower tail is nearly
// all; there both functions follow from a power series. Start with `IncompleteGamma`.

#include "ops/bounded_number.h"
#include "ops/constants.h"
#include "ops/incomplete.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/incomplete.h"

namespace ricci {
namespace {

template <class T>
auto is_lower(T a, T x) {
  return scalar::less(x, a + T(0.5));
}

/// The integral of gamma_tail_moment. Its scale follows the slope of the logarithm of the integrand at 0 and its
/// curvature.
template <class T>
T tail_moment(std::int64_t n, T a, T x) {
  const T zero(0), one(1);
  const T below = -one / (scalar::max(a - x, zero) + a / scalar::sqrt(one + a));
  const T above = one / (scalar::max(x - a, zero) + scalar::sqrt(one + x));
  const T scale = scalar::select(is_lower(a, x), below, above);
  T sum(0);
  for (const Node& node : half_line_nodes<121>()) {
    const T w = scale * T(node.s);
    sum = sum + T(node.weight) * scalar::exp(a * w - x * scalar::expm1(w)) * power(w, n);
  }
  return sum * scalar::abs(scale);
}

/// Below it, 1 - P is small where the lower tail is the nearer one.
constexpr double small_concentration = 0.5;

/// log(xᵃ / Γ(1 + a)); of 1/2 where a is greater.
template <class T>
T log_of_power(T a, T x) {
  const T small = scalar::min(a, T(small_concentration));
  return small * scalar::log(x) - lgamma_of_one_and(small);
}

/// Σ (-x)ᵏ / (k! (a + k)ⁿ⁺¹) over 1 <= k <= terms: with n = 0, what P(a, x) Γ(1 + a) / xᵃ is beyond 1, over a (DLMF
/// 8.7.1). Requires: a >= 0, 0 <= x <= 1.
template <class T>
T power_series(std::int64_t n, T a, T x, int terms = 18) {
  T term(1), sum(0);
  for (int k = 1; k <= terms; ++k) {
    const T count(static_cast<double>(k)), over = T(1) / (a + count);
    term = term * -x / count;
    sum = sum + term * over * power(over, n);
  }
  return sum;
}

struct GammaSeries {
  using kind = Elementwise;
  static constexpr const char* name = "gamma_series";
  static constexpr double ulps = 12;  // a sum of terms of both signs
  static constexpr unsigned keeps = input(0) | input(1);
  BoundedNumber<0, 170> n;

  template <class T> auto formula(T a, T x) const { return power_series(n, a, x); }
  template <class T> T exact(T a, T x) const { return is_claimed(a, x) ? power_series(n, a, x, 36) : T(1); }
  template <class T> T unit(T a, T x) const { return is_claimed(a, x) ? T(0) : uncounted<T>(); }
  template <class T> static bool is_claimed(T a, T x) {
    return is_within(a, 0, small_concentration) && is_within(x, 0x1p-30, 1);
  }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    const auto order = static_cast<double>(n + 1);
    if (i == 0) return mul(apply(GammaSeries{n + 1}, x[0], x[1]), -order);
    const Tensor above = add(x[0], 1);
    return neg(add(pow(above, -order), apply(GammaSeries{n}, above, x[1])));
  }
  /// ∫ tᵃ⁻¹ (exp(-x t) - 1) dt over 0 < t < 1 and its derivatives by a, by Simpson's rule over -log t.
  double reference(double a, double x) const {
    double factor = 1;
    for (std::int64_t k = 1; k <= n; ++k) factor /= static_cast<double>(k);
    const auto f = [&](double s) {
      return std::pow(s, static_cast<double>(n)) * std::exp(-a * s) * std::expm1(-x * std::exp(-s));
    };
    constexpr int intervals = 20000;
    constexpr double end = 60;
    double sum = f(0) + f(end);
    for (int i = 1; i < intervals; ++i) sum += (i % 2 ? 4 : 2) * f(end * i / intervals);
    return factor * sum * end / intervals / 3;
  }
  static std::vector<Sample<GammaSeries>> samples() {
    std::vector<Sample<GammaSeries>> all;
    for (std::int64_t n : {0, 1, 2}) all.push_back({{n}, {rand({2, 3}) * 0.5, rand({3}) * 0.9 + 0.1}});
    return all;
  }
};

struct GammaTailMoment {
  using kind = Elementwise;
  static constexpr const char* name = "gamma_tail_moment";
  static constexpr double ulps = 400;  // a sum of a hundred exponentials
  static constexpr unsigned keeps[] = {input(0) | input(1), input(0) | input(1) | output(0)};
  static constexpr double tolerance_factor = 64;  // a sum of a hundred terms whose exponents are differences
  BoundedNumber<0, 170> n;

  template <class T> auto formula(T a, T y) const { return tail_moment(n, a, scalar::exp(y)); }
  template <class T> T exact(T a, T y) const {
    if (!is_claimed(a, y)) return T(1);
    const T x = scalar::exp(y), side(scalar::less(x, a + T(0.5)) ? -1 : 1);
    const T scale = T(1) / (scalar::abs(x - a) + scalar::sqrt(a) * T(0.5));
    return scale * exact_half_line<T>([&](T s) {
             const T w = side * scale * s;
             return scalar::exp(a * w - x * scalar::expm1(w)) * power(w, n);
           });
  }
  template <class T> T unit(T a, T y) const { return is_claimed(a, y) ? T(0) : uncounted<T>(); }
  /// By a, the next moment; by y, by parts.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor& moment) const {
    if (i == 0) return apply(GammaTailMoment{n + 1}, x[0], x[1]);
    const Tensor slope = mul(sub(exp(x[1]), x[0]), moment);
    if (n > 0) return sub(slope, mul(apply(GammaTailMoment{n - 1}, x[0], x[1]), n.value));
    return add(slope, where(gamma_tail_is_lower(x[0], x[1]), 1, -1));
  }
  /// By Simpson's rule, up to where the integrand is below an ulp.
  double reference(double a, double y) const {
    const double x = std::exp(y), side = x < a + 0.5 ? -1 : 1;
    const auto f = [&](double s) {
      return std::pow(side * s, static_cast<double>(n)) * std::exp(a * side * s - x * std::expm1(side * s));
    };
    double end = 1;
    while (a * side * end - x * std::expm1(side * end) + static_cast<double>(n) * std::log(end) > -45) end *= 2;
    constexpr int intervals = 20000;
    double sum = f(0) + f(end);
    for (int i = 1; i < intervals; ++i) sum += (i % 2 ? 4 : 2) * f(end * i / intervals);
    return sum * end / intervals / 3;
  }
  /// Not where rounding decides which tail is the nearer one.
  template <class T> static bool is_claimed(T a, T y) {
    return is_within(a, 0.25, 64) && is_within(y, -4, 5) && !is_within(scalar::exp(y) - a, 0.499, 0.501);
  }
  static std::vector<Sample<GammaTailMoment>> samples() {
    std::vector<Sample<GammaTailMoment>> all;
    for (std::int64_t n : {0, 1, 2}) {
      all.push_back({{n}, {rand({2, 3}) * 3 + 0.5, rand({3}) - 3}});
      if (n == 0) all.push_back({{n}, {rand({4}) + 0.5, rand({4}) + 2}});
    }
    return all;
  }
};

/// xᵃ exp(-x) / Γ(a), times `by`: the logarithm of x / a is taken of what x is above a where that is little. Half of
/// the exponential comes at last, so that the product underflows where the result does. Small a have Γ(1 + a) / a.
template <class T>
T log_density(T a, T x, T by) {
  const T above = x - a, share = above / a;
  const auto near = scalar::less(scalar::abs(share), T(0.5));
  const T ratio = scalar::select(near, scalar::log1p(share), scalar::log(x / a));
  const T factor = scalar::sqrt(a * T(0.5 / std::numbers::pi)) * by;
  const T half = scalar::exp(((a * ratio - above) - stirling_rest(a)) * T(0.5));
  const T of_small = scalar::exp(log_of_power(a, x) - x) * a * by;
  const auto is_small = scalar::less_equal(T(0), a) && scalar::less(a, T(small_concentration));
  return scalar::select(is_small, of_small, factor * half * half);
}

/// Where the laws hold the errors of the two functions below.
template <class T>
bool is_claimed(T a, T x) {
  return is_within(a, 0x1p-30, 0x1p10) && is_within(x, 0x1p-30, 0x1p10);
}

/// xᵃ exp(-x) / Γ(a) in more digits.
template <class T>
T exact_log_density(T a, T x) {
  return scalar::exp(a * scalar::log(x) - x - scalar::lgamma(a));
}

/// P or 1 - P in more digits: the power series (DLMF 8.11.4) below the mean, the continued fraction (DLMF 8.9.2) above.
template <class T>
T exact_share(T a, T x, bool upper) {
  const T density = exact_log_density(a, x), little(0x1p-85);
  if (scalar::less(x, a + T(1))) {
    T term = T(1) / a, sum(0);
    for (int k = 1; k == 1 || scalar::less(sum * little, term); ++k) {
      sum = sum + term;
      term = term * x / (a + T(static_cast<double>(k)));
    }
    return upper ? T(1) - density * sum : density * sum;
  }
  T b = x + T(1) - a, c = T(0x1p900), d = T(1) / b, fraction = d, change(2);  // by Lentz's method
  for (int k = 1; k < 20000 && scalar::less(little, scalar::abs(change - T(1))); ++k) {
    const T count(static_cast<double>(k)), numerator = count * (a - count);
    b = b + T(2);
    d = T(1) / (numerator * d + b);
    c = b + numerator / c;
    change = c * d;
    fraction = fraction * change;
  }
  return upper ? density * fraction : T(1) - density * fraction;
}

/// The density of a gamma number of concentration a at x.
struct GammaDensity {
  using kind = Elementwise;
  static constexpr const char* name = "gamma_density";
  static constexpr double ulps = 40;  // an exponential of large terms that cancel
  static constexpr unsigned keeps = input(0) | input(1) | output(0);
  static constexpr Interval domain = {0.25, 4};
  static constexpr double tolerance_factor = 16;  // an exponential of a sum of logarithms

  template <class T> auto formula(T a, T x) const {
    const T one(1), zero(0);
    const T at_zero =
        scalar::select(scalar::less(a, one), one / zero, scalar::select(scalar::equal(a, one), one, zero));
    const T y = scalar::select(scalar::equal(x, zero), at_zero, log_density(a, x, one / x));
    return scalar::select(scalar::equal(a, zero), zero, y);  // all is at 0
  }
  template <class T> T exact(T a, T x) const { return is_claimed(a, x) ? exact_log_density(a, x) / x : T(1); }
  template <class T> T unit(T a, T x) const {
    return is_claimed(a, x) ? unit_of_exponential(exact(a, x)) : uncounted<T>();
  }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor& y) const {
    if (i == 0) return mul(y, sub(log(where(gt(x[1], 0), x[1], 1)), digamma(x[0])));
    const Tensor& a = x[0];
    const Tensor is_zero = eq(x[1], 0);
    const Tensor from_one = where(lt(a, 2), infinity, where(eq(a, 2), 1, 0));
    const Tensor at_zero = where(eq(a, 0), 0, where(lt(a, 1), -infinity, where(eq(a, 1), -1, from_one)));
    return where(is_zero, at_zero, mul(y, sub(div(sub(a, 1), where(is_zero, 1, x[1])), 1)));
  }
  static double reference(double a, double x) { return std::exp((a - 1) * std::log(x) - x - std::lgamma(a)); }
};

/// P(a, x), or 1 - P(a, x).
struct IncompleteGamma {
  using kind = Elementwise;
  static constexpr const char* name = "incomplete_gamma";
  static constexpr double ulps = 60;  // a sum of a hundred exponentials, times another
  static constexpr unsigned keeps = input(0) | input(1);
  static constexpr double tolerance_factor = 64;  // a sum of a hundred terms whose exponents are differences
  bool upper;

  template <class T> auto formula(T a, T x) const {
    const T zero(0), one(1), inf = one / zero;
    const T tail = log_density(a, x, tail_moment(0, a, x));
    const auto holds_tail = is_lower(a, x);
    T lower = scalar::select(holds_tail, tail, one - tail), rest = scalar::select(holds_tail, one - tail, tail);
    const T log = log_of_power(a, x), power = scalar::exp(log),
            beyond = a * power * power_series(0, a, scalar::min(x, one));
    const auto of_series = holds_tail && scalar::less(a, T(small_concentration));
    lower = scalar::select(of_series, power + beyond, lower);
    rest = scalar::select(of_series, -scalar::expm1(log) - beyond, rest);
    const auto all = scalar::equal(x, inf) || scalar::equal(a, zero), none = scalar::equal(x, zero);
    const auto nothing_below = none || scalar::equal(a, inf);
    const T y =
        scalar::select(all, T(upper ? 0 : 1), scalar::select(nothing_below, T(upper ? 1 : 0), upper ? rest : lower));
    const auto undefined = scalar::less(a, zero) || scalar::less(x, zero) || scalar::isnan(a) || scalar::isnan(x) ||
                           (scalar::equal(a, zero) && none) || (scalar::isinf(a) && scalar::isinf(x));
    return scalar::select(undefined, zero / zero, y);
  }
  template <class T> T exact(T a, T x) const { return is_claimed(a, x) ? exact_share(a, x, upper) : T(1); }
  template <class T> T unit(T a, T x) const {
    return is_claimed(a, x) ? unit_of_exponential(exact(a, x)) : uncounted<T>();
  }
  /// By x, the density; by a, that of the logarithm times what follows from the derivative of its own logarithm.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    const double side = upper ? -1 : 1;
    if (i == 1) return mul(apply(GammaDensity{}, x[0], x[1]), side);
    const Tensor inside = logical_and(gt(x[1], 0), lt(x[1], infinity));
    const Tensor at = where(inside, x[1], 1), y = log(at), lower = gamma_tail_is_lower(x[0], y);
    const Tensor is_small = logical_and(ge(x[0], 0), lt(x[0], small_concentration));
    const Tensor of_series = logical_and(is_small, lower), a = where(is_small, 1, x[0]);
    const Tensor of_tail = where(of_series, 1, x[0]), moment = gamma_tail_moment(0, of_tail, y);
    const Tensor next = gamma_tail_moment(1, of_tail, y);
    const Tensor whole = mul(mul(apply(GammaDensity{}, a, at), at), add(mul(sub(y, digamma(a)), moment), next));
    const Tensor of_small = slope_of_small(where(is_small, x[0], 0), at, y, of_series, moment, next);
    const Tensor at_the_ends = where(logical_and(ge(x[0], 0), ge(x[1], 0)), 0, std::nan(""));
    return where(inside, mul(where(lower, side, -side), where(is_small, of_small, whole)), at_the_ends);
  }
  /// Of the nearer tail by a small a: xᵃ / Γ(1 + a) is the exponential of l, whose slope is d.
  static Tensor slope_of_small(const Tensor& a, const Tensor& x, const Tensor& log_x, const Tensor& of_series,
                               const Tensor& moment, const Tensor& next) {
    const Tensor below = where(of_series, x, 0.5), above = add(a, 1);
    const Tensor series = apply(GammaSeries{0}, a, below), second = apply(GammaSeries{1}, a, below);
    const Tensor l = sub(mul(a, log_x), lgamma(above)), d = sub(log_x, digamma(above));
    const Tensor lower = add(mul(d, add(mul(a, series), 1)), sub(series, mul(a, second)));
    const Tensor upper = add(mul(add(mul(a, d), 1), moment), mul(a, next));
    return mul(exp(where(of_series, l, sub(l, x))), where(of_series, lower, upper));
  }
  /// By the power series (DLMF 8.11.4).
  double reference(double a, double x) const {
    double term = std::exp(a * std::log(x) - x - std::lgamma(a + 1)), sum = 0;
    for (int k = 1; k < 1000; ++k) {
      sum += term;
      term *= x / (a + k);
    }
    return upper ? 1 - sum : sum;
  }
  static std::vector<Sample<IncompleteGamma>> samples() {
    std::vector<Sample<IncompleteGamma>> all;
    for (const bool upper : {false, true}) {
      all.push_back({{upper}, {rand({2, 3}) * 3 + 0.5, rand({3}) * 4 + 0.1}});
      all.push_back({{upper}, {rand({4}) * 10 + 20, rand({4}) * 30 + 10}});
    }
    return all;
  }
};

Tensor incomplete_gamma(const char* op, bool upper, const Tensor& a, const Tensor& x) {
  const Called as(op, a, x);
  require_order(op, a);
  require_order(op, x);
  const DType dtype = floating_dtype_of(a, x);
  return to(apply(IncompleteGamma{upper}, to(a, DType::float64), to(x, DType::float64)), dtype);
}

}  // namespace

Tensor gamma_tail_moment(std::int64_t n, const Tensor& a, const Tensor& y) { return apply(GammaTailMoment{n}, a, y); }
Tensor gamma_tail_is_lower(const Tensor& a, const Tensor& y) { return lt(exp(y), add(a, 0.5)); }

namespace ops {

Tensor igamma(const Tensor& a, const Tensor& x) { return incomplete_gamma("igamma", false, a, x); }
Tensor igammac(const Tensor& a, const Tensor& x) { return incomplete_gamma("igammac", true, a, x); }

}  // namespace ops
}  // namespace ricci
