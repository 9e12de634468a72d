// The incomplete beta function: the density at the limit times an integral over the tail on the far side of the mode.
// So it and its derivatives by all arguments keep their digits in either tail. Start with `IncompleteBeta`.
#include "ops/bounded_number.h"
#include "ops/incomplete.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/incomplete.h"

namespace ricci {
namespace {

/// Whether x is below the mode of the density of the log odds.
template <class T>
auto is_lower(T a, T b, T x) {
  return scalar::less(b * x, a * (T(1) - x));
}

/// ∫ Lⁿ Rᵐ exp(a L + b R) du over the tail that starts at x, where u is what the log odds are beyond those of x, and L
/// and R the logarithms of the probability and of what it lacks to 1, less those at x. The integrand falls on both
/// sides alike: the upper tail is the lower one of the probability's complement. Its scale follows the slope of the
/// logarithm of the integrand at 0 and its curvature.
template <class T>
T tail_moment(std::int64_t n, std::int64_t m, T a, T b, T x) {
  const auto lower = is_lower(a, b, x);
  const T one(1), rest = one - x;
  const T falling = scalar::select(lower, a, b), rising = scalar::select(lower, b, a);
  const T inner = scalar::select(lower, x, rest), outer = scalar::select(lower, rest, x);
  const T curvature = (a + b) * x * rest;
  const T scale = one / (scalar::abs(a * rest - b * x) + scalar::min(scalar::sqrt(curvature), falling));
  T sum(0);
  for (const Node& node : half_line_nodes<169>()) {
    const T u = scale * T(node.s);
    const T grows = -scalar::log1p(inner * scalar::expm1(-u));
    const T falls = scalar::select(scalar::greater(u, T(30)), grows - u, -scalar::log1p(outer * scalar::expm1(u)));
    const T density = T(node.weight) * scalar::exp(falling * falls + rising * grows);
    const T left = scalar::select(lower, falls, grows), right = scalar::select(lower, grows, falls);
    sum = sum + density * power(left, n) * power(right, m);
  }
  const T zero(0);
  const auto defined = scalar::less(zero, a) && scalar::less(zero, b) && scalar::less(zero, x) && scalar::less(x, one);
  return scalar::select(defined, sum * scale, zero / zero);
}

struct BetaTailMoment {
  using kind = Elementwise;
  static constexpr const char* name = "beta_tail_moment";
  static constexpr double ulps = 100;  // a sum of more than a hundred exponentials
  static constexpr unsigned operands = input(0) | input(1) | input(2);
  static constexpr unsigned keeps[] = {operands, operands, operands | output(0)};
  static constexpr double tolerance_factor = 64;  // a sum of more than a hundred terms
  BoundedNumber<0, 170> n, m;

  template <class T> auto formula(T a, T b, T x) const { return tail_moment(n, m, a, b, x); }
  template <class T> T exact(T a, T b, T x) const {
    if (!is_claimed(a, b, x)) return T(1);
    const T one(1), rest = one - x;
    const bool lower = scalar::less(b * x, a * rest);
    const T falling = lower ? a : b, rising = lower ? b : a, inner = lower ? x : rest, outer = lower ? rest : x;
    const T width = scalar::min(scalar::sqrt((a + b) * x * rest), falling);
    const T scale = one / (scalar::abs(a * rest - b * x) + width);
    return scale * exact_half_line<T>([&](T s) {
             const T u = scale * s, grows = -scalar::log1p(inner * scalar::expm1(-u));
             const T falls = scalar::less(T(90), u) ? grows - u : -scalar::log1p(outer * scalar::expm1(u));
             const T left = lower ? falls : grows, right = lower ? grows : falls;
             return scalar::exp(falling * falls + rising * grows) * power(left, n) * power(right, m);
           });
  }
  template <class T> T unit(T a, T b, T x) const { return is_claimed(a, b, x) ? T(0) : uncounted<T>(); }
  /// By a and b, the next moments; by the log odds, by parts.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor& y) const {
    const Tensor &a = x[0], &b = x[1], &p = x[2], q = sub(1, p);
    const auto moment = [&](std::int64_t k, std::int64_t l) { return apply(BetaTailMoment{{k}, {l}}, a, b, p); };
    if (i == 0) return moment(n + 1, m);
    if (i == 1) return moment(n, m + 1);
    Tensor slope = mul(sub(mul(b, p), mul(a, q)), y);
    if (n > 0) slope = sub(slope, mul(mul(q, n.value), moment(n - 1, m)));
    if (m > 0) slope = add(slope, mul(mul(p, m.value), moment(n, m - 1)));
    if (n == 0 && m == 0) slope = add(slope, where(lt(mul(b, p), mul(a, q)), 1, -1));
    return div(slope, mul(p, q));
  }
  /// By Simpson's rule over the log odds, up to where the integrand is below an ulp.
  double reference(double a, double b, double x) const {
    const double side = b * x < a * (1 - x) ? -1 : 1, from = std::log(x / (1 - x));
    const auto log_of = [](double odds) { return -std::log1p(std::exp(-odds)); };
    const auto f = [&](double s) {
      const double left = log_of(from + side * s) - log_of(from), right = log_of(-from - side * s) - log_of(-from);
      return std::pow(left, static_cast<double>(n)) * std::pow(right, static_cast<double>(m)) *
             std::exp(a * left + b * right);
    };
    const double end = 60 / (side < 0 ? a : b) + 20;
    constexpr int intervals = 40000;
    double sum = f(0) + f(end);
    for (int i = 1; i < intervals; ++i) sum += (i % 2 ? 4 : 2) * f(end * i / intervals);
    return sum * end / intervals / 3;
  }
  /// Not where rounding decides which tail is the far one.
  template <class T> static bool is_claimed(T a, T b, T x) {
    return is_within(a, 0.25, 32) && is_within(b, 0.25, 32) && is_within(x, 0x1p-5, 1 - 0x1p-5) &&
           !is_within(b * x / (a * (T(1) - x)), 0.999, 1.001);
  }
  static std::vector<Sample<BetaTailMoment>> samples() {
    std::vector<Sample<BetaTailMoment>> all;
    for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {1, 0}, {0, 1}, {1, 1}})
      all.push_back({{{n}, {m}}, {rand({2, 3}) * 3 + 0.5, rand({3}) * 3 + 0.5, rand({2, 1}) * 0.9 + 0.05}});
    return all;
  }
};

Tensor tail_moment_of(std::int64_t n, std::int64_t m, std::span<const Tensor> x) {
  return apply(BetaTailMoment{{n}, {m}}, x[0], x[1], x[2]);
}

/// xᵃ (1 - x)ᵇ / B(a, b), times `by`: the logarithms of x and 1 - x are taken of what they are beyond their means where
/// that is little. Half of the exponential comes at last, so that the product underflows where the result does.
template <class T>
T log_density(T a, T b, T x, T by) {
  const T rest = T(1) - x, both = a + b, above = b * x - a * rest, of_left = above / a, of_right = -above / b;
  const auto near = [](T share) { return scalar::less(scalar::abs(share), T(0.5)); };
  const T left = scalar::select(near(of_left), scalar::log1p(of_left), scalar::log(x) + scalar::log(both / a));
  const T right = scalar::select(near(of_right), scalar::log1p(of_right), scalar::log1p(-x) + scalar::log(both / b));
  const T factor = scalar::sqrt(a / both * b * T(0.5 / std::numbers::pi)) * by;
  const T exponent = (a * left + b * right) + (stirling_rest(both) - stirling_rest(a) - stirling_rest(b));
  const T half = scalar::exp(exponent * T(0.5));
  return factor * half * half;
}

/// Where the laws hold the errors of the two functions below.
template <class T>
bool is_claimed(T a, T b, T x) {
  return is_within(a, 0x1p-30, 0x1p10) && is_within(b, 0x1p-30, 0x1p10) && is_within(x, 0x1p-10, 1 - 0x1p-10);
}

/// xᵃ (1 - x)ᵇ / B(a, b) in more digits.
template <class T>
T exact_log_density(T a, T b, T x) {
  return scalar::exp(a * scalar::log(x) + b * scalar::log1p(-x) + scalar::lgamma(a + b) - scalar::lgamma(a) -
                     scalar::lgamma(b));
}

/// In more digits: the continued fraction (DLMF 8.17.22) by Lentz's method, for x below the mean, else by symmetry.
template <class T>
T exact_share(T a, T b, T x) {
  const T one(1), little(0x1p-85);
  if (scalar::less((a + one) / (a + b + T(2)), x)) return one - exact_share(b, a, one - x);
  T c = one, d = one / (one - (a + b) * x / (a + one)), fraction = d, change(2);
  for (int k = 1; k < 20000 && scalar::less(little, scalar::abs(change - one)); ++k) {
    const T m(static_cast<double>(k)), twice = m + m;
    const T even = m * (b - m) * x / ((a + twice - one) * (a + twice));
    d = one / (one + even * d);
    c = one + even / c;
    fraction = fraction * c * d;
    const T odd = -((a + m) * (a + b + m) * x) / ((a + twice) * (a + twice + one));
    d = one / (one + odd * d);
    c = one + odd / c;
    change = c * d;
    fraction = fraction * change;
  }
  return exact_log_density(a, b, x) / a * fraction;
}

/// log(Γ(c + s) / Γ(c)) for 0 < s <= 1/2, with all digits where that is nearly 0: the integral of the digamma function
/// from 1 + c on by Gauss and Legendre's rule, and the step from c to 1 + c.
template <class T>
T log_of_gamma_ratio(T c, T s) {
  constexpr double places[] = {0.1834346424956498, 0.525532409916329, 0.7966664774136267, 0.9602898564975362};
  constexpr double weights[] = {0.362683783378362, 0.31370664587788727, 0.22238103445337448, 0.10122853629037626};
  const T half = s * T(0.5), middle = T(1) + c + half;
  T sum(0);
  for (int i = 0; i < 4; ++i)
    sum = sum + T(weights[i]) *
                    (scalar::digamma(middle - half * T(places[i])) + scalar::digamma(middle + half * T(places[i])));
  return half * sum - scalar::log1p(s / c);
}

/// The probabilities below and above x.
template <class T>
struct Sides {
  T lower, upper;
};

/// For a small a and a small x, where the lower one is nearly all: with the power xᵃ / (a B(a, b)), the lower one is
/// the power times 1 + a Σ (1 - b)ₖ xᵏ / (k! (a + k)) over k >= 1 (DLMF 8.17.7), and what the power lacks to 1 has
/// digits of its own.
template <class T>
auto has_small(T a, T b, T x) {
  return scalar::less(a, T(0.5)) && scalar::less(a * T(4), b) && scalar::less(b * x, T(1)) && scalar::less(x, T(0.25));
}
/// Requires: `has_small`.
template <class T>
Sides<T> sides_of_small(T a, T b, T x) {
  T term(1), series(0);
  for (int k = 1; k <= 24; ++k) {
    const T count(static_cast<double>(k));
    term = term * ((count - b) * x) * T(1. / k);
    series = series + term / (a + count);
  }
  const T log = a * scalar::log(x) - lgamma_of_one_and(a) + log_of_gamma_ratio(b, a);
  const T power = scalar::exp(log), beyond = a * power * series;
  return {power + beyond, -scalar::expm1(log) - beyond};
}

/// The density of a beta number at x.
struct BetaDensity {
  using kind = Elementwise;
  static constexpr const char* name = "beta_density";
  static constexpr double ulps = 80;  // an exponential of large terms that cancel
  static constexpr unsigned keeps = input(0) | input(1) | input(2) | output(0);
  static constexpr Interval domain = {0.1, 0.9};
  static constexpr double tolerance_factor = 16;  // an exponential of a sum of logarithms

  template <class T> auto formula(T a, T b, T x) const {
    const T one(1), zero(0);
    const auto at_end = [&](T own, T other) {
      return scalar::select(scalar::less(own, one), one / zero, scalar::select(scalar::equal(own, one), other, zero));
    };
    const T y = log_density(a, b, x, one / (x * (one - x)));
    return scalar::select(scalar::equal(x, zero), at_end(a, b), scalar::select(scalar::equal(x, one), at_end(b, a), y));
  }
  template <class T> T exact(T a, T b, T x) const {
    return is_claimed(a, b, x) ? exact_log_density(a, b, x) / (x * (T(1) - x)) : T(1);
  }
  template <class T> T unit(T a, T b, T x) const {
    return is_claimed(a, b, x) ? unit_of_exponential(exact(a, b, x)) : uncounted<T>();
  }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor& y) const {
    const Tensor &a = x[0], &b = x[1], &p = x[2];
    if (i == 0) return mul(y, add(log(p), sub(digamma(add(a, b)), digamma(a))));
    if (i == 1) return mul(y, add(log1p(neg(p)), sub(digamma(add(a, b)), digamma(b))));
    return mul(y, sub(div(sub(a, 1), p), div(sub(b, 1), sub(1, p))));
  }
  static double reference(double a, double b, double x) {
    return std::exp((a - 1) * std::log(x) + (b - 1) * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) -
                    std::lgamma(b));
  }
};

/// P(x), the probability below x, or 1 - P(x).
struct IncompleteBeta {
  using kind = Elementwise;
  static constexpr const char* name = "incomplete_beta";
  static constexpr double ulps = 60;  // a sum of more than a hundred exponentials, times another
  static constexpr unsigned keeps = input(0) | input(1) | input(2);
  static constexpr double tolerance_factor = 64;  // a sum of more than a hundred terms
  bool upper;

  template <class T> auto formula(T a, T b, T x) const {
    const T zero(0), one(1), below(upper ? 1 : 0), above(upper ? 0 : 1);
    const T tail = log_density(a, b, x, tail_moment(0, 0, a, b, x));
    const auto small_a = has_small(a, b, x), small_b = has_small(b, a, one - x);
    const auto one_of = [&](T of_a, T of_b, double otherwise) {
      return scalar::select(small_a, of_a, scalar::select(small_b, of_b, T(otherwise)));
    };
    const Sides<T> small = sides_of_small(one_of(a, b, 0.25), one_of(b, a, 1), one_of(x, one - x, 0.125));
    const auto holds_tail = is_lower(a, b, x);
    const T lower = scalar::select(holds_tail, tail, one - tail), rest = scalar::select(holds_tail, one - tail, tail);
    const T below_x = scalar::select(small_a, small.lower, scalar::select(small_b, small.upper, lower));
    const T above_x = scalar::select(small_a, small.upper, scalar::select(small_b, small.lower, rest));
    const T inside = upper ? above_x : below_x;
    const T y = scalar::select(scalar::equal(x, zero), below, scalar::select(scalar::equal(x, one), above, inside));
    const auto defined = scalar::greater(a, zero) && scalar::greater(b, zero) && scalar::less_equal(zero, x) &&
                         scalar::less_equal(x, one);
    return scalar::select(defined, y, zero / zero);
  }
  template <class T> T exact(T a, T b, T x) const {
    if (!is_claimed(a, b, x)) return T(1);
    return upper ? exact_share(b, a, T(1) - x) : exact_share(a, b, x);
  }
  template <class T> T unit(T a, T b, T x) const {
    return is_claimed(a, b, x) ? unit_of_exponential(exact(a, b, x)) : uncounted<T>();
  }
  /// By x, the density; by a and b, that of the log odds times what follows from the derivative of its own logarithm.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    const Tensor &a = x[0], &b = x[1];
    const double side = upper ? -1 : 1;
    if (i == 2) return mul(apply(BetaDensity{}, a, b, x[2]), side);
    const Tensor inside = logical_and(gt(x[2], 0), lt(x[2], 1)), p = where(inside, x[2], 0.5), q = sub(1, p);
    const Tensor at[] = {a, b, p};
    const Tensor own = i == 0 ? sub(log(p), digamma(a)) : sub(log1p(neg(p)), digamma(b));
    const Tensor slope = add(mul(add(own, digamma(add(a, b))), tail_moment_of(0, 0, at)),
                             i == 0 ? tail_moment_of(1, 0, at) : tail_moment_of(0, 1, at));
    const Tensor whole = mul(mul(apply(BetaDensity{}, a, b, p), mul(p, q)), slope);
    return where(inside, mul(whole, where(lt(mul(b, p), mul(a, q)), side, -side)), 0);
  }
  /// By Simpson's rule after x = t³² up to 1/2, and for the rest by symmetry: no end is singular.
  double reference(double a, double b, double x) const {
    const auto lower = [](double p, double q, double end) {
      const double scale = 32 * std::exp(std::lgamma(p + q) - std::lgamma(p) - std::lgamma(q));
      const double last = std::pow(end, 1.0 / 32);
      const auto f = [&](double t) {
        return t > 0 ? std::pow(t, 32 * p - 1) * std::pow(1 - std::pow(t, 32), q - 1) : 0;
      };
      constexpr int intervals = 20000;
      double sum = f(last);
      for (int i = 1; i < intervals; ++i) sum += (i % 2 ? 4 : 2) * f(last * i / intervals);
      return scale * sum * last / intervals / 3;
    };
    const double below = x < 0.5 ? lower(a, b, x) : 1 - lower(b, a, 1 - x);
    return upper ? 1 - below : below;
  }
  static std::vector<Sample<IncompleteBeta>> samples() {
    std::vector<Sample<IncompleteBeta>> all;
    for (const bool upper : {false, true})
      all.push_back({{upper}, {rand({2, 3}) * 3 + 0.5, rand({3}) * 3 + 0.5, rand({2, 1}) * 0.9 + 0.05}});
    return all;
  }
};

Tensor incomplete_beta(bool upper, const Tensor& a, const Tensor& b, const Tensor& x) {
  const Called as("betainc", a, b, x);
  for (const Tensor* operand : {&a, &b, &x}) require_order("betainc", *operand);
  const DType f64 = DType::float64;
  return to(apply(IncompleteBeta{upper}, to(a, f64), to(b, f64), to(x, f64)), floating_dtype_of(a, b, x));
}

}  // namespace

Tensor betainc_upper(const Tensor& a, const Tensor& b, const Tensor& x) { return incomplete_beta(true, a, b, x); }

namespace ops {

Tensor betainc(const Tensor& a, const Tensor& b, const Tensor& x) { return incomplete_beta(false, a, b, x); }

}  // namespace ops
}  // namespace ricci
