// What the incomplete gamma and beta functions have in common: integrals over a half-line, and what Stirling's formula
// leaves of the gamma function.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "ops/series.h"
#include "primitive/promotion.h"
#include "ricci/default_dtype.h"
#include "ricci/primitive/elementwise.h"
#include "tensor/value.h"

namespace ricci {

/// A node of the trapezoidal rule for ∫ f(s) ds over (0, ∞) after s = exp(v - exp(-v)), for f that falls like exp(-s):
/// Takahasi and Mori, "Double exponential formulas for numerical integration", 1974.
struct Node {
  double s, weight;
};
/// Nodes from s = 1e-14 to 148. For exp(-s) and exp(-s²) 121 of them leave an error of 1e-14.
template <int count>
const std::array<Node, count>& half_line_nodes() {
  static const auto all = [] {
    std::array<Node, count> made;
    constexpr double first = -3.4, step = 8.4 / (count - 1);
    for (int i = 0; i < count; ++i) {
      const double v = first + step * i, s = std::exp(v - std::exp(-v));
      made[static_cast<std::size_t>(i)] = {s, step * (1 + std::exp(-v)) * s};
    }
    return made;
  }();
  return all;
}

/// ∫ f(s) ds over (0, ∞) in more digits: by the same rule at other nodes.
template <class T, class F>
T exact_half_line(const F& f) {
  struct Place {
    T s, weight;
  };
  static const auto places = [] {
    std::array<Place, 189> made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const T v(static_cast<double>(i) / 20 - 4.125), back = scalar::exp(-v), s = scalar::exp(v - back);
      made[i] = {s, (T(1) + back) * s / T(20)};
    }
    return made;
  }();
  T sum(0);
  for (const Place& place : places) sum = sum + place.weight * f(place.s);
  return sum;
}

/// What an exponential of a rounded exponent is counted in: the units of y times the greater of 1 and |log y|.
template <class T>
T unit_of_exponential(T y) {
  return scalar::equal(y, T(0)) ? T(0) : y * scalar::max(T(1), scalar::abs(scalar::log(y)));
}

/// log Γ(z) - ((z - 1/2) log z - z + log(2 pi) / 2): a difference up to 10, then a series (DLMF 5.11.1).
template <class T>
T stirling_rest(T z) {
  constexpr double c[] = {1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156};
  const T r = T(1) / z, r2 = r * r;
  T series(c[6]);
  for (int k = 5; k >= 0; --k) series = series * r2 + T(c[k]);
  const T main = (z - T(0.5)) * scalar::log(z) - z + T(0.5 * std::log(2 * std::numbers::pi));
  return scalar::select(scalar::less(z, T(10)), scalar::lgamma(z) - main, series * r);
}

/// log Γ(1 + a) for 0 <= a <= 1/2, with all digits where that is nearly 0: what rounding takes from 1 + a comes back
/// times the slope, of which two terms at 0 suffice.
template <class T>
T lgamma_of_one_and(T a) {
  const T whole = T(1) + a, off = a - (whole - T(1));
  return scalar::lgamma(whole) + off * (T(std::numbers::pi * std::numbers::pi / 6) * a - T(std::numbers::egamma));
}

/// The type of a floating result: what the operands promote to, the default type for whole numbers and numbers alone.
template <class... X>
DType floating_dtype_of(const X&... x) {
  const Type types[] = {type_of(x)...};
  const Type* pointers[sizeof...(X)];
  for (std::size_t i = 0; i < sizeof...(X); ++i) pointers[i] = &types[i];
  const DType dtype = result_dtype(pointers);
  return (type_of(x).weak && ...) || !is_floating(dtype) ? default_dtype() : dtype;
}

/// 1 - betainc(a, b, x), with its own digits where it is small.
Tensor betainc_upper(const Tensor& a, const Tensor& b, const Tensor& x);

// ── of gamma numbers ──

/// Moments of the nearer tail: ∫ wⁿ exp(a w - x (exp(w) - 1)) dw with x = exp(y), over w < 0 where x < a + 1/2, else
/// over w > 0. The integrand is the density of the logarithm of a gamma number, a being the concentration, at y + w
/// over that at y. Relative error 1e-14. Requires: 0 <= n <= 170.
Tensor gamma_tail_moment(std::int64_t n, const Tensor& a, const Tensor& y);
/// Whether the nearer tail is the lower one.
Tensor gamma_tail_is_lower(const Tensor& a, const Tensor& y);

}  // namespace ricci
