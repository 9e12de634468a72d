// W18: GradBench's nested optimisers, a saddle point and a charged particle: descents whose objective holds a
// derivative or another descent. bench/gradbench answers with the same functions.
#pragma once

#include <ricci/ricci.h>

#include <cstdint>

namespace bench::nested {

namespace rc = ricci;
using rc::Tensor;

enum class Mode : std::uint8_t { forward, reverse };

template <class F>
Tensor gradient(Mode mode, const F& f, const Tensor& x) {
  return mode == Mode::forward ? rc::jacfwd(f)(x) : rc::grad(f)(x);
}

inline Tensor length(const Tensor& x) { return sqrt((x * x).sum()); }

struct Descent {
  Tensor x, value, slope, rate, in_a_row, done;
};

/// Gradient descent from x. The rate doubles after ten steps in a row that lower f, and halves at a step that does not.
template <class F>
Tensor argmin(Mode mode, const F& f, const Tensor& x) {
  const auto descend = [&](const Descent& s) {
    const Tensor next = s.x - s.rate * s.slope, value = f(next), stop = length(s.x - next) <= 1e-5;
    return rc::cond(
        logical_and(value < s.value, logical_not(stop)),
        [&] { return Descent{next, value, gradient(mode, f, next), s.rate, s.in_a_row + 1, stop}; },
        [&] {
          return Descent{s.x, s.value, s.slope, rc::where(stop, s.rate, s.rate / 2), zeros_like(s.in_a_row), stop};
        });
  };
  const auto faster = [](const Descent& s) {
    return Descent{s.x, s.value, s.slope, 2 * s.rate, zeros_like(s.in_a_row), s.done};
  };
  const Descent start{
      x, f(x), gradient(mode, f, x), rc::tensor(1e-5, rc::float64), rc::zeros({}, rc::int64), rc::tensor(false)};
  return rc::while_loop([](const Descent& s) { return logical_and(length(s.slope) > 1e-5, logical_not(s.done)); },
                        [&](const Descent& s) {
                          return rc::cond(s.in_a_row == 10, [&] { return faster(s); }, [&] { return descend(s); });
                        },
                        start)
      .x;
}

/// The a that minimises and the b that then maximises |a|^2 - |b|^2 [4].
inline Tensor saddle(Mode outer, Mode inner, const Tensor& start) {
  const auto f = [](const Tensor& a, const Tensor& b) { return (a * a).sum() - (b * b).sum(); };
  const auto best_b = [&](const Tensor& a) { return argmin(inner, [&](const Tensor& b) { return -f(a, b); }, start); };
  const Tensor a = argmin(outer, [&](const Tensor& a) { return f(a, best_b(a)); }, start);
  return rc::cat({a, best_b(a)});
}

struct Flight {
  Tensor x, velocity;  // [2]
};

/// Where a particle between two charges, one moved by w [1], crosses the axis: the square of the place.
inline Tensor landing(Mode inner, const Tensor& w) {
  const auto point = [](double x, double y) { return rc::tensor({x, y}, rc::float64); };
  const Tensor second = point(10, 0), first = second + (10 - w) * point(0, 1);
  const auto potential = [&](const Tensor& x) { return 1 / length(x - first) + 1 / length(x - second); };
  const auto flies = [](const Flight& s) { return (s.x + 0.1 * s.velocity)[1] > 0; };
  const auto euler = [&](const Flight& s) {
    return Flight{s.x + 0.1 * s.velocity, s.velocity - 0.1 * gradient(inner, potential, s.x)};
  };
  const Flight end = rc::while_loop(flies, euler, Flight{point(0, 8), point(0.75, 0)});
  return (end.x[0] - end.x[1] / end.velocity[1] * end.velocity[0]).square();
}

}  // namespace bench::nested
