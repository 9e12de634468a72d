// Differential equations, compiled: a line for each case, with the least and the median time of a call, how many steps
// were tried, rejected ones counted, and the sum of what was found. `ode_bench --small` calls each once.
// ../peers/ode.py does the same with diffrax; ../ode.md has the figures.
#include <ricci/ode.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string_view>
#include <vector>

namespace rc = ricci;
namespace ode = rc::ode;
using rc::Tensor;

namespace {

struct Found {
  Tensor values, steps;
};

Tensor lorenz(const Tensor&, const Tensor& y) {
  return rc::stack({10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8. / 3 * y[2]});
}
Tensor robertson(const Tensor&, const Tensor& y) {
  const Tensor first = -0.04 * y[0] + 1e4 * y[1] * y[2], last = 3e7 * y[1] * y[1];
  return rc::stack({first, -first - last, last});
}

Found constant(ode::Solver solver, const Tensor& y0) {
  const auto found = ode::ode_solve(lorenz, y0, 0, 1, {.solver = solver, .dt = 1e-3});
  return {found.y, found.steps};
}
Found adaptive(ode::Solver solver, const Tensor& y0, const ode::Number& t1) {
  const auto found =
      ode::ode_solve(lorenz, y0, 0, t1, {.solver = solver, .rtol = 1e-6, .atol = 1e-6, .first_step = 0.01});
  return {found.y, found.steps + found.rejected};
}
Found stiff(ode::Solver solver, double rtol, const Tensor& y0) {
  const auto found =
      ode::ode_solve(robertson, y0, 0, 1e4, {.solver = solver, .rtol = rtol, .atol = 1e-4 * rtol, .first_step = 1e-5});
  return {found.y, found.steps + found.rejected};
}
Found saved(const Tensor& y0) {
  const auto found = ode::ode_solve(
      lorenz, y0, 0, 10,
      {.rtol = 1e-6, .atol = 1e-6, .first_step = 0.01, .save_at = rc::linspace(0, 10, 101, rc::float64)});
  return {found.ys, found.steps + found.rejected};
}
Found slope(const Tensor& y0, const ode::Number& t1) {
  const auto f = [&](const Tensor& y) {
    const Found found = adaptive(ode::Tsit5, y, t1);
    return std::pair{found.values.sum(), found.steps};
  };
  const auto [gradient, steps] = rc::grad(f, rc::has_aux)(y0);
  return {gradient, steps};
}
Found noisy(const rc::Key& key) {
  const auto drift = [](const Tensor&, const Tensor& y) { return 0.05 * y; };
  const auto diffusion = [](const Tensor&, const Tensor& y) { return 0.2 * y; };
  const auto found = ode::sde_solve(drift, diffusion, rc::ones({}, rc::float64), 0, 1, key, {.dt = 0.01});
  return {found.y, found.steps};
}

/// Calls a compiled function again and again.
void time_calls(const char* name, bool is_small, const std::function<Found()>& call) {
  using Clock = std::chrono::steady_clock;
  Found found = call();
  std::vector<double> times;
  for (int i = 0; i < (is_small ? 1 : 21); ++i) {
    const auto begin = Clock::now();
    double spent = 0;
    int calls = 0;
    do {
      found = call();
      ++calls;
      spent = std::chrono::duration<double>(Clock::now() - begin).count();
    } while (!is_small && spent < 2e-2);
    times.push_back(1e6 * spent / calls);
  }
  std::sort(times.begin(), times.end());
  std::printf("%-34s %12.2f %12.2f us %10lld steps  sum %.9g\n", name, times[0], times[times.size() / 2],
              static_cast<long long>(found.steps.sum().item<std::int64_t>()), found.values.sum().item<double>());
  std::fflush(stdout);
}

template <class F>
void run(const char* name, bool is_small, const F& f, const Tensor& y0) {
  const auto fast = rc::compile(f);
  time_calls(name, is_small, [&] { return fast(y0); });
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_small = argc > 1 && std::string_view(argv[1]) == "--small";
  const Tensor ones = rc::ones({3}, rc::float64), begin = rc::tensor({1., 0., 0.}, rc::float64);
  const auto run_all = [&](const char* what, const std::vector<std::pair<const char*, ode::Solver>>& all, auto solve) {
    for (const auto& [name, solver] : all) {
      const std::string title = std::string(name) + what;
      run(title.c_str(), is_small, [=](const Tensor& y) { return solve(solver, y); }, ones);
    }
  };
  run_all(", constant",
          {{"Euler", ode::Euler},
           {"Heun", ode::Heun},
           {"Tsit5", ode::Tsit5},
           {"Dopri5", ode::Dopri5},
           {"Dopri8", ode::Dopri8},
           {"LeapfrogMidpoint", ode::LeapfrogMidpoint}},
          [](ode::Solver solver, const Tensor& y) { return constant(solver, y); });
  run_all("", {{"Heun", ode::Heun}, {"Tsit5", ode::Tsit5}, {"Dopri5", ode::Dopri5}, {"Dopri8", ode::Dopri8}},
          [](ode::Solver solver, const Tensor& y) { return adaptive(solver, y, 10); });
  run("Kvaerno3, stiff", is_small, [](const Tensor& y) { return stiff(ode::Kvaerno3, 1e-5, y); }, begin);
  run("Kvaerno5, stiff", is_small, [](const Tensor& y) { return stiff(ode::Kvaerno5, 1e-6, y); }, begin);
  run("Tsit5, saved at 101 times", is_small, saved, ones);
  run("Tsit5, its derivative", is_small, [](const Tensor& y) { return slope(y, 10); }, ones);

  // Ends from 0.1 to 20, in no order, so that neighbours have unequal lengths.
  const std::int64_t n = is_small ? 16 : 1000;
  const Tensor places = rc::arange(n, rc::float64) * 617 % n;
  const Tensor ends = 0.1 * exp(places / (n - 1) * std::log(200.)), starts = ones + 0.5 * sin(places).unsqueeze(1);
  const auto many = rc::compile([](const Tensor& y, const Tensor& t1) {
    return rc::vmap([](const Tensor& y, const Tensor& t1) { return adaptive(ode::Tsit5, y, t1); })(y, t1);
  });
  time_calls("Tsit5, 1000 examples", is_small, [&] { return many(starts, ends); });
  const auto slopes = rc::compile([](const Tensor& y, const Tensor& t1) {
    return rc::vmap([](const Tensor& y, const Tensor& t1) { return slope(y, t1); })(y, t1);
  });
  time_calls("their derivatives", is_small, [&] { return slopes(starts, ends); });
  const auto paths = rc::compile([](const rc::Key& keys) { return rc::vmap(noisy)(keys); });
  const rc::Key keys = rc::split(rc::Key(0), n);
  time_calls("EulerMaruyama, 1000 paths", is_small, [&] { return paths(keys); });
}
