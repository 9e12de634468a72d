// Rotations and rigid motions. What divides by an angle is a power series of its square where that is small.
#include "ricci/solve/lie_groups.h"

#include <array>
#include <cmath>
#include <numbers>

#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/tree.h"

namespace ricci::solvers {
namespace {

using Series = std::array<double, 12>;

template <class F>
Series series_of(const F& coefficient) {
  Series series;
  for (std::size_t k = 0; k < series.size(); ++k) series[k] = coefficient(static_cast<double>(k));
  return series;
}
double factorial(double n) { return std::tgamma(n + 1); }
double alternating(double k) { return std::fmod(k, 2) == 0 ? 1 : -1; }

/// f(square), by the series where the square is below `least`; f gets what is not.
template <class F>
Tensor by_series(const Series& series, double least, const Tensor& square, const F& f) {
  const Tensor is_small = square < least, small = where(is_small, square, 0);
  Tensor sum = full_like(small, series.back());
  for (std::size_t k = series.size() - 1; k-- > 0;) sum = sum * small + series[k];
  return where(is_small, sum, f(where(is_small, 1, square)));
}

/// Of a square t²: sin(t / 2) / t.
Tensor half_sine_ratio(const Tensor& square) {
  static const Series series =
      series_of([](double k) { return alternating(k) / (2 * std::pow(4, k) * factorial(2 * k + 1)); });
  return by_series(series, 1, square, [](const Tensor& s) { return sin(sqrt(s) / 2) / sqrt(s); });
}
/// cos(t / 2).
Tensor half_cosine(const Tensor& square) {
  static const Series series = series_of([](double k) { return alternating(k) / (std::pow(4, k) * factorial(2 * k)); });
  return by_series(series, 1, square, [](const Tensor& s) { return cos(sqrt(s) / 2); });
}
/// (1 - cos t) / t².
Tensor cosine_ratio(const Tensor& square) {
  static const Series series = series_of([](double k) { return alternating(k) / factorial(2 * k + 2); });
  return by_series(series, 1, square, [](const Tensor& s) { return (1 - cos(sqrt(s))) / s; });
}
/// (t - sin t) / t³.
Tensor sine_ratio(const Tensor& square) {
  static const Series series = series_of([](double k) { return alternating(k) / factorial(2 * k + 3); });
  return by_series(series, 1, square, [](const Tensor& s) { return (sqrt(s) - sin(sqrt(s))) / (s * sqrt(s)); });
}
/// (1 - t cot(t / 2) / 2) / t²: coefficients are Bernoulli's numbers over factorials.
Tensor cotangent_ratio(const Tensor& square) {
  static const Series series =
      series_of([](double k) { return 2 * std::riemann_zeta(2 * k + 2) / std::pow(2 * std::numbers::pi, 2 * k + 2); });
  return by_series(series, 1, square, [](const Tensor& s) {
    const Tensor half = sqrt(s) / 2;
    return (1 - half * cos(half) / sin(half)) / s;
  });
}
/// atan2(n, w) / n for a w that is not negative, of n².
Tensor angle_ratio(const Tensor& square, const Tensor& w) {
  static const Series series = series_of([](double k) { return alternating(k) / (2 * k + 1); });
  constexpr double least = 0.04;
  const Tensor ratio = square / (w * w), is_small = ratio < least, safe_w = where(is_small, w, 1);
  const Tensor near = by_series(series, least, where(is_small, ratio, 0), [](const Tensor& s) { return s; }) / safe_w;
  const Tensor n = sqrt(where(is_small, 1, square));
  return where(is_small, near, atan2(n, w) / n);
}

Tensor part(const Tensor& x, std::int64_t first, std::int64_t end) { return x.slice(-1, first, end); }
Tensor square_of(const Tensor& x) { return (x * x).sum(-1, true); }
Tensor crossed(const Tensor& a, const Tensor& b) { return cross(a, b, -1); }
Tensor skew(const Tensor& v) {
  const Tensor x = v.select(-1, 0), y = v.select(-1, 1), z = v.select(-1, 2), zero = zeros_like(x);
  return stack({stack({zero, -z, y}, -1), stack({z, zero, -x}, -1), stack({-y, x, zero}, -1)}, -2);
}
/// The same in the shape that the other's leading axes ask for.
Tensor like_leading(const Tensor& x, const Tensor& other, std::int64_t axes) {
  Shape shape = other.shape();
  for (std::int64_t i = 1; i <= axes; ++i) *(shape.end() - i) = *(x.shape().end() - i);
  return expand(x, shape);
}

/// Throws ValueError unless the last axes have these sizes.
void require_last(const char* name, const Tensor& x, const std::vector<std::int64_t>& sizes) {
  const std::int64_t axes = std::ssize(sizes);
  bool fits = x.defined() && x.dim() >= axes;
  for (std::int64_t i = 0; fits && i < axes; ++i) fits = x.size(i - axes) == sizes[static_cast<std::size_t>(i)];
  if (fits) return;
  std::string wanted;
  for (const std::int64_t size : sizes) wanted += (wanted.empty() ? "" : ", ") + std::to_string(size);
  raise<ValueError>(std::string(name) + ": the argument is " + tree::type_of(x) + "; it must be [..., " + wanted + "]");
}

SO3 normalised(const SO3& x) { return {x.quaternion / sqrt(square_of(x.quaternion))}; }

struct Parts {
  Tensor w, v;  // [..., 1] and [..., 3]
};
Parts parts_of(const SO3& x) { return {part(x.quaternion, 0, 1), part(x.quaternion, 1, 4)}; }

}  // namespace

// ── SO3 ──

SO3 SO3::identity(DType dtype) { return {tensor({1., 0., 0., 0.}).to(dtype)}; }

SO3 SO3::exp(const Tensor& vector) {
  require_last("SO3::exp", vector, {3});
  const Tensor square = square_of(vector);
  return {cat({half_cosine(square), half_sine_ratio(square) * vector}, -1)};
}

/// Four times the quaternion times each of its elements; the one that the greatest element makes is taken (Shepperd,
/// 1978).
SO3 SO3::of_matrix(const Tensor& matrix) {
  require_last("SO3::of_matrix", matrix, {3, 3});
  const auto m = [&](std::int64_t i, std::int64_t j) { return matrix.select(-2, i).select(-1, j); };
  const Tensor a = m(2, 1) - m(1, 2), b = m(0, 2) - m(2, 0), c = m(1, 0) - m(0, 1);
  const Tensor d = m(1, 0) + m(0, 1), e = m(0, 2) + m(2, 0), f = m(2, 1) + m(1, 2);
  const Tensor rows[] = {
      stack({1 + m(0, 0) + m(1, 1) + m(2, 2), a, b, c}, -1), stack({a, 1 + m(0, 0) - m(1, 1) - m(2, 2), d, e}, -1),
      stack({b, d, 1 - m(0, 0) + m(1, 1) - m(2, 2), f}, -1), stack({c, e, f, 1 - m(0, 0) - m(1, 1) + m(2, 2)}, -1)};
  Tensor best = rows[0], greatest = part(best, 0, 1);
  for (std::int64_t i = 1; i < 4; ++i) {
    const Tensor element = part(rows[i], i, i + 1), is_greater = element > greatest;
    best = where(is_greater, rows[i], best), greatest = where(is_greater, element, greatest);
  }
  return normalised({best});
}

Tensor SO3::log() const {
  require_last("SO3::log", quaternion, {4});
  const auto [w, v] = parts_of(*this);
  const Tensor side = where(w < 0, -1, 1);  // of q and -q that of the smaller angle
  return 2 * side * angle_ratio(square_of(v), side * w) * v;
}

Tensor SO3::matrix() const {
  require_last("SO3::matrix", quaternion, {4});
  const auto element = [&](std::int64_t i) { return quaternion.select(-1, i); };
  const Tensor w = element(0), x = element(1), y = element(2), z = element(3);
  return stack({stack({1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)}, -1),
                stack({2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)}, -1),
                stack({2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}, -1)},
               -2);
}

Tensor SO3::adjoint() const { return matrix(); }

SO3 SO3::inverse() const {
  const auto [w, v] = parts_of(*this);
  return {cat({w, -v}, -1)};
}

Tensor SO3::apply(const Tensor& points) const {
  require_last("SO3::apply", points, {3});
  const auto [w, v] = parts_of(*this);
  const Tensor half = crossed(v, points);
  return points + 2 * (w * half + crossed(v, half));
}

SO3 SO3::retract(const Tensor& change) const { return normalised(*this * exp(change)); }

SO3 operator*(const SO3& left, const SO3& right) {
  require_last("SO3", left.quaternion, {4});
  require_last("SO3", right.quaternion, {4});
  const auto [w, v] = parts_of(left);
  const auto [s, u] = parts_of(right);
  return {cat({w * s - (v * u).sum(-1, true), w * u + s * v + crossed(v, u)}, -1)};
}

// ── SE3 ──

SE3 SE3::identity(DType dtype) { return {SO3::identity(dtype), zeros({3}, dtype)}; }

SE3 SE3::exp(const Tensor& screw) {
  require_last("SE3::exp", screw, {6});
  const Tensor v = part(screw, 0, 3), w = part(screw, 3, 6), square = square_of(w), once = crossed(w, v);
  return {SO3::exp(w), v + cosine_ratio(square) * once + sine_ratio(square) * crossed(w, once)};
}

SE3 SE3::of_matrix(const Tensor& matrix) {
  require_last("SE3::of_matrix", matrix, {4, 4});
  const Tensor rows = matrix.slice(-2, 0, 3);
  return {SO3::of_matrix(part(rows, 0, 3)), rows.select(-1, 3)};
}

Tensor SE3::log() const {
  const Tensor w = rotation.log(), once = crossed(w, translation);
  const Tensor v = translation - once / 2 + cotangent_ratio(square_of(w)) * crossed(w, once);
  return cat({v, like_leading(w, v, 1)}, -1);
}

Tensor SE3::matrix() const {
  const Tensor turn = rotation.matrix() + zeros_like(translation).unsqueeze(-1);  // with the leading axes of both
  const Tensor shift = like_leading(translation.unsqueeze(-1), turn, 2);
  const Tensor top = cat({turn, shift}, -1);
  const Tensor bottom = tensor({0., 0., 0., 1.}).to(top.dtype()).unsqueeze(0);
  return cat({top, like_leading(bottom, top, 2)}, -2);
}

Tensor SE3::adjoint() const {
  const Tensor turn = rotation.matrix(), shifted = matmul(skew(translation), turn),
               same = like_leading(turn, shifted, 2);
  return cat({cat({same, shifted}, -1), cat({zeros_like(same), same}, -1)}, -2);
}

SE3 SE3::inverse() const {
  const SO3 back = rotation.inverse();
  return {back, -back.apply(translation)};
}
Tensor SE3::apply(const Tensor& points) const { return rotation.apply(points) + translation; }
SE3 SE3::retract(const Tensor& change) const {
  const SE3 next = *this * exp(change);
  return {normalised(next.rotation), next.translation};
}
SE3 operator*(const SE3& left, const SE3& right) {
  return {left.rotation * right.rotation, left.apply(right.translation)};
}

}  // namespace ricci::solvers
