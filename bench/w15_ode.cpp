// W15: Lorenz' equations by 200 steps of RK4 from 16,384 starts, with the gradient by the three parameters; and van der
// Pol's by Dormand and Prince's adaptive steps, in 4,096 lanes whose stiffness differs by 1,000.
#include <cmath>

#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

struct Point {
  Tensor x, y, z;
};
struct Parameters {
  Tensor sigma, rho, beta;
};

Point slope(const Point& p, const Parameters& c) {
  return {c.sigma * (p.y - p.x), p.x * (c.rho - p.z) - p.y, p.x * p.y - c.beta * p.z};
}
Point along(const Point& p, const Point& k, double h) { return {p.x + h * k.x, p.y + h * k.y, p.z + h * k.z}; }

Point runge_kutta(const Point& p, const Parameters& c) {
  constexpr double dt = 0.01;
  const Point a = slope(p, c), b = slope(along(p, a, dt / 2), c), d = slope(along(p, b, dt / 2), c),
              e = slope(along(p, d, dt), c);
  const auto step = [](const Tensor& s, const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d) {
    return s + dt / 6 * (a + 2 * b + 2 * c + d);
  };
  return {step(p.x, a.x, b.x, d.x, e.x), step(p.y, a.y, b.y, d.y, e.y), step(p.z, a.z, b.z, d.z, e.z)};
}

Point trajectory(const Point& start, const Parameters& c) {
  return rc::fori_loop(0, 200, [&](Tensor, const Point& p) { return runge_kutta(p, c); }, start);
}

Tensor squared_distance(const Parameters& c, const Point& start) {
  const auto one = [&](const Point& p) {
    const Point end = trajectory(p, c);
    return end.x * end.x + end.y * end.y + end.z * end.z;
  };
  return rc::vmap(one)(start).sum();
}

Point starts() {
  return {bench::uniform({16384}, 150, -10, 10), bench::uniform({16384}, 151, -10, 10),
          bench::uniform({16384}, 152, -10, 10)};
}
Parameters parameters() { return {rc::tensor(10.0F), rc::tensor(28.0F), rc::tensor(static_cast<float>(8.0 / 3))}; }

// ── van der Pol ──

constexpr double end_time = 10;
constexpr double stage_weights[6][6] = {{1. / 5},
                                        {3. / 40, 9. / 40},
                                        {44. / 45, -56. / 15, 32. / 9},
                                        {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
                                        {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
                                        {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
constexpr double error_weights[7] = {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};

struct Flight {
  Tensor t, y, v, h, slope_y, slope_v, attempts;
};

template <std::size_t n>
Tensor mix(const double (&weight)[n], const std::vector<Tensor>& slopes) {
  Tensor sum;
  for (std::size_t i = 0; i < slopes.size(); ++i)
    if (weight[i] != 0) sum = sum.defined() ? sum + weight[i] * slopes[i] : weight[i] * slopes[i];
  return sum;
}

/// One attempted step.
Flight dormand_prince(const Tensor& mu, const Flight& s) {
  const Tensor last = s.h >= end_time - s.t, h = rc::where(last, end_time - s.t, s.h);
  std::vector<Tensor> slopes_y{s.slope_y}, slopes_v{s.slope_v};
  Tensor y, v;
  for (const auto& row : stage_weights) {
    y = s.y + h * mix(row, slopes_y), v = s.v + h * mix(row, slopes_v);
    slopes_y.push_back(v);
    slopes_v.push_back(mu * (1 - y * y) * v - y);
  }
  const auto scaled = [&](const std::vector<Tensor>& slopes, const Tensor& before, const Tensor& after) {
    return h * mix(error_weights, slopes) / (1e-6 + 1e-4 * maximum(abs(before), abs(after)));
  };
  const Tensor of_y = scaled(slopes_y, s.y, y), of_v = scaled(slopes_v, s.v, v);
  const Tensor error = sqrt(0.5 * (of_y * of_y + of_v * of_v)), accepted = error <= 1;
  const Tensor factor = clamp(0.9 * pow(maximum(error, 1e-10), -0.2), 0.2, 5.0);
  const auto keep = [&](const Tensor& after, const Tensor& before) { return rc::where(accepted, after, before); };
  return {keep(rc::where(last, rc::full_like(s.t, end_time), s.t + h), s.t),
          keep(y, s.y),
          keep(v, s.v),
          h * factor,
          keep(slopes_y.back(), s.slope_y),
          keep(slopes_v.back(), s.slope_v),
          s.attempts + 1};
}

Flight van_der_pol(const Tensor& mu) {
  const Tensor zero = zeros_like(mu);
  const Flight start{zero, zero + 2, zero, zero + 0.001, zero, zero - 2, zero};
  return rc::while_loop([](const Flight& s) { return s.t < end_time; },
                        [&](const Flight& s) { return dormand_prince(mu, s); }, start);
}

Tensor stiffness() {
  std::vector<float> mu(4096);
  for (std::size_t i = 0; i < mu.size(); ++i)
    mu[i] = static_cast<float>(0.1 * std::pow(1000.0, static_cast<double>(i) / 4095));
  return rc::tensor(mu);
}

}  // namespace

std::vector<bench::Case> bench::differential_equations() {
  std::vector<Case> cases{
      make_case("W15/lorenz_fwd",
                [] { return call(rc::vmap(trajectory, {.in_dims = {0, rc::none}}), starts(), parameters()); }),
      make_case("W15/lorenz_grad", [] { return call(rc::grad(squared_distance), parameters(), starts()); }),
      make_case("W15/vdp",
                [] {
                  const auto solve = [](const Tensor& mu) {
                    const Flight end = rc::vmap(van_der_pol)(mu);
                    return std::tuple{end.y, end.v, end.attempts};
                  };
                  return call(solve, stiffness());
                }),
  };
  cases.back().rival_tolerance = 1e-3;  // which steps are accepted hangs on last bits: 0.05 % of the attempts differ
  return cases;
}
