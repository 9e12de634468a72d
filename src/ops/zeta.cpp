// The Hurwitz zeta function and its derivatives by both arguments. Start with `sum_of_powers`.
#include <array>
#include <cmath>

#include "ops/bounded_number.h"
#include "ops/series.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/special.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

constexpr std::int64_t most_orders = 8;

/// f(t) = logⁿ(t) t^-s and its derivatives at some t > 0: the i-th is `power` times a polynomial in log t, whose
/// coefficients `step` takes to those of the next.
template <class T>
class Powers {
 public:
  Powers(std::int64_t n, T s, T t) : n_(n), s_(s), over_(T(1) / t), log_(scalar::log(t)) { c_[index(n)] = T(1); }
  T value() const {
    T y = c_[index(n_)];
    for (std::int64_t m = n_; m-- > 0;) y = y * log_ + c_[index(m)];
    return y;
  }
  void step(int i) {
    for (std::int64_t m = 0; m <= n_; ++m) {
      const T next = -((s_ + T(i)) * over_) * c_[index(m)];
      c_[index(m)] = m == n_ ? next : next + T(static_cast<double>(m + 1)) * over_ * c_[index(m + 1)];
    }
  }
  const T& logarithm() const { return log_; }

 private:
  static std::size_t index(std::int64_t m) { return static_cast<std::size_t>(m); }

  std::int64_t n_;
  T s_, over_, log_;
  std::array<T, most_orders + 1> c_{T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0)};
};

/// The sum of logⁿ(q + k) (q + k)^-s over k = 0, 1, … for s > 1 and q > 0: so many terms, and for the rest the
/// Euler-Maclaurin formula (DLMF 2.10.1) with twelve derivatives, whose error is below an ulp of the sum for 16 terms
/// or more, whatever s and q are. Where s is far greater than q + terms the rest is nothing beside the sum; there its
/// factors are kept from overflowing. What rounding takes from q + k is given back as a change of the power.
template <class T>
T sum_of_powers(std::int64_t n, T s, T q, int terms) {
  constexpr double bernoulli_over_factorial[] = {1. / 12,
                                                 -1. / 720,
                                                 1. / 30240,
                                                 -1. / 1209600,
                                                 1. / 47900160,
                                                 -691. / 1307674368000,
                                                 1. / 74724249600,
                                                 -3617. / 10670622842880000,
                                                 43867. / 5109094217170944000,
                                                 -174611. / 802857662698291200000.,
                                                 77683. / 14101100039391805440000.,
                                                 -236364091. / 1693824136731743669452800000.};
  const auto at = [&](int k, T& off) {
    const T count(static_cast<double>(k)), base = q + count;
    const T big = scalar::max(q, count), small = scalar::min(q, count);
    off = small - (base - big);
    return base;
  };
  T off(0);
  const T first = at(terms, off), half = scalar::pow(first, s * T(-0.5)), lost = s * (off / first);
  Powers<T> f(n, scalar::min(s, T(8) * first), first);
  const T less_one = s - T(1);
  T integral(0), factor = T(1) / less_one;  // over `first`
  for (std::int64_t m = 0; m <= n; ++m) {
    integral = integral + factor * power(f.logarithm(), n - m);
    factor = factor * T(static_cast<double>(n - m)) / less_one;
  }
  T rest = f.value() * T(0.5);
  f.step(0);
  for (int j = 0; j < 12; ++j) {
    rest = rest - T(bernoulli_over_factorial[j]) * f.value();
    f.step(2 * j + 1);
    f.step(2 * j + 2);
  }
  T sum = (half * first * integral) * half + (half * rest) * half;
  sum = sum * (T(1) - lost);
  for (int k = terms; k-- > 0;) {
    const T base = at(k, off), root = scalar::pow(base, s * T(-0.5));
    const T logarithms = n == 0 ? T(1) : power(scalar::log(base), n);
    sum = sum + root * (T(1) - s * (off / base)) * logarithms * root;  // in this order what overflows does at last
  }
  return sum;
}

/// The n-th derivative by s of zeta(s, q), times (-1)ⁿ.
struct Zeta {
  using kind = Elementwise;
  static constexpr const char* name = "zeta";
  static constexpr double ulps = 12;
  static constexpr unsigned keeps = input(0) | input(1);
  static constexpr double tolerance_factor = 16;  // a sum of sixteen powers
  BoundedNumber<0, most_orders> n;

  template <class T> auto formula(T s, T q) const { return with_edges(s, q, sum_of_powers(n, s, q, 16)); }
  template <class T> T exact(T s, T q) const {
    const bool is_defined = scalar::less_equal(T(1), s) && scalar::less_equal(T(0), q);
    return is_defined ? with_edges(s, q, sum_of_powers(n, s, q, 36)) : T(0) / T(0);
  }
  /// Logarithms of different signs may cancel.
  template <class T> T unit(T s, T q) const {
    if (n % 2 == 0 || !scalar::less(q, T(1))) return T(0);
    const T root = scalar::pow(q, s * T(-0.5));
    return root * power(-scalar::log(q), n) * root;
  }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    if (n == most_orders) return full_like(i == 0 ? x[0] : x[1], std::nan(""));
    if (i == 0) return neg(apply(Zeta{{n + 1}}, x[0], x[1]));
    const Tensor above = add(x[0], 1), of_above = apply(Zeta{{n}}, above, x[1]);
    const Tensor slope = neg(where(eq(of_above, 0), 0, mul(x[0], of_above)));  // s may be infinite
    return n == 0 ? slope : add(slope, mul(apply(Zeta{{n - 1}}, above, x[1]), n.value));
  }
  /// The sum itself, its tail by the integral.
  double reference(double s, double q) const {
    const auto f = [&](double t) { return std::pow(std::log(t), static_cast<double>(n)) * std::pow(t, -s); };
    double sum = 0, integral = 0, factor = 1 / (s - 1);
    for (int k = 0; k < 20000; ++k, ++q) sum += f(q);
    for (std::int64_t m = 0; m <= n; ++m) {
      integral += factor * std::pow(std::log(q), static_cast<double>(n - m));
      factor *= static_cast<double>(n - m) / (s - 1);
    }
    return sum + integral * std::pow(q, 1 - s) + f(q) / 2;
  }
  static std::vector<Sample<Zeta>> samples() {
    std::vector<Sample<Zeta>> all;
    for (const std::int64_t n : {0, 1}) all.push_back({{{n}}, {rand({2, 3}) * 2 + 2, rand({3}) * 3 + 0.5}});
    return all;
  }

 private:
  /// NaN for s < 1 and for q < 0; infinite where s is 1 or q is 0. At infinity the limits: only the first term counts
  /// where s is, and none where q is.
  template <class T> T with_edges(T s, T q, T sum) const {
    const T zero(0), one(1), infinite = one / zero;
    const auto is_pole = scalar::equal(s, one) || scalar::equal(q, zero);
    const T at_pole = n % 2 == 0 ? infinite : scalar::select(scalar::equal(q, zero), -infinite, infinite);
    const auto undefined = scalar::less(s, one) || scalar::less(q, zero) || scalar::isnan(s) || scalar::isnan(q);
    const T of_first = scalar::select(scalar::equal(q, one), T(n == 0 ? 1 : 0),
                                      scalar::select(scalar::less(q, one), T(n % 2 == 0 ? 1 : -1) * infinite, zero));
    const T inside =
        scalar::select(scalar::equal(q, infinite), zero, scalar::select(scalar::equal(s, infinite), of_first, sum));
    return scalar::select(undefined, zero / zero, scalar::select(is_pole, at_pole, inside));
  }
};

}  // namespace

namespace ops {

Tensor zeta(const Tensor& s, const Tensor& q) {
  const Called as("zeta", s, q);
  require_order("zeta", s);
  require_order("zeta", q);
  return apply(Zeta{{0}}, s, q);
}

}  // namespace ops
}  // namespace ricci
