// Solvers of nonlinear problems, compiled: a line for each case, with the least and the median time of a call, how many
// steps its examples took on average, and the sum of what was found. `solvers_bench --small` calls each once.
// ../peers/solvers.py does the same with optimistix; ../solvers.md has the figures.
#include <ricci/ricci.h>
#include <ricci/solve.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string_view>
#include <vector>

namespace rc = ricci;
namespace solvers = rc::solvers;
using rc::Tensor;
using Found = solvers::Result<Tensor>;

namespace {

constexpr double tolerance = 1e-8;

template <class Solver>
solvers::Options<Solver> options(const Solver& solver) {
  return {.solver = solver, .rtol = tolerance, .atol = tolerance, .max_steps = 1000};
}
solvers::LeastSquaresOptions squares(const solvers::LeastSquaresSolver& solver) {
  return {.solver = solver, .rtol = tolerance, .atol = tolerance};
}
Tensor numbers(const std::vector<double>& values) { return rc::tensor(values).to(rc::float64); }

Found root(const Tensor& a) {  // SciPy's example of `root`
  const auto f = [a](const Tensor& x) {
    const Tensor apart = x[0] - x[1], cube = 0.5 * apart * apart * apart;
    return rc::stack({x[0] + a * cube - 1, x[1] - cube}, 0);
  };
  return solvers::root_find(f, rc::zeros({2}, rc::float64), options(solvers::newton()));
}
Found bisected(const Tensor& a) {
  return solvers::root_find([a](const Tensor& x) { return x * x - a; }, a, options(solvers::bisection(0, 4)));
}
Found fixed(const Tensor& a) {
  return solvers::fixed_point([](const Tensor& x) { return cos(x); }, a, options(solvers::fixed_point_iteration()));
}
Found misra(const Tensor& start) {  // NIST's Misra1a
  const Tensor x =
      numbers({77.6, 114.9, 141.1, 190.8, 239.9, 289, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760});
  const Tensor y =
      numbers({10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47, 81.78});
  const auto f = [&](const Tensor& b) { return b[0] * (1 - exp(-1e-3 * b[1] * x)) - y; };
  return solvers::least_squares(f, start, squares(solvers::levenberg_marquardt()));
}
Found valley(const Tensor& start) {
  const auto f = [](const Tensor& x) { return rc::stack({10 * (x[1] - x[0] * x[0]), 1 - x[0]}, 0); };
  return solvers::least_squares(f, start, squares(solvers::dogleg()));
}
template <solvers::Minimiser (*solver)()>
Found least(const Tensor& start) {
  const auto rosenbrock = [](const Tensor& x) {
    const Tensor next = x.slice(0, 1, 5), here = x.slice(0, 0, 4);
    return (100 * square(next - here * here) + square(1 - here)).sum();
  };
  return solvers::minimise(rosenbrock, start, options(solver()));
}
Found slope_of_root(const Tensor& a) {
  const auto [slope, found] = rc::grad(
      [](const Tensor& a) {
        const Found found = root(a);
        return std::pair{found.value.sum(), found};
      },
      rc::has_aux)(a);
  return {slope, found.residual, found.steps, found.status};
}

struct Case {
  const char* name;
  Found (*solve)(const Tensor& start);
  Tensor start;
};

std::vector<Case> cases() {
  const Tensor one = rc::ones({}, rc::float64), pair = numbers({-1.2, 1}), five = numbers({1.3, 0.7, 0.8, 1.9, 1.2});
  const Tensor near = rc::linspace(0.5, 2, 1000, rc::float64), curve = numbers({250, 0.5});
  const Tensor part = (1 + 0.1 * sin(rc::arange(100).to(rc::float64))).unsqueeze(1);
  return {{"newton", root, one},
          {"newton, 1000 examples", root, near},
          {"its derivative, 1000 examples", slope_of_root, near},
          {"bisection", bisected, 1.3 * one},
          {"fixed_point_iteration", fixed, one},
          {"levenberg_marquardt, Misra1a", misra, curve},
          {"levenberg_marquardt, 100 examples", misra, part * curve},
          {"dogleg, Rosenbrock", valley, pair},
          {"bfgs, Rosenbrock 5", least<solvers::bfgs>, five},
          {"bfgs, 100 examples", least<solvers::bfgs>, part * five},
          {"nonlinear_cg, Rosenbrock 5", least<solvers::nonlinear_cg>, five},
          {"nelder_mead, Rosenbrock 5", least<solvers::nelder_mead>, five}};
}

void run(const Case& c, bool is_small) {
  const auto one = [solve = c.solve](const Tensor& start) { return solve(start); };
  const bool is_many = std::string_view(c.name).find("examples") != std::string_view::npos;
  const auto alone = rc::compile(one);
  const auto many = rc::compile(rc::vmap(one));
  const auto call = [&] { return is_many ? many(c.start) : alone(c.start); };
  const Found found = call();
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int k = 0; k < (is_small ? 1 : 21); ++k) {
    int calls = 0;
    const Clock::time_point begin = Clock::now();
    double spent = 0;
    do {
      call();
      ++calls;
      spent = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    } while (!is_small && spent < 2e4);
    times.push_back(spent / calls);
  }
  std::ranges::sort(times);
  std::printf("%-36s %10.2f %10.2f us %7.1f steps  sum %.9g\n", c.name, times.front(), times[times.size() / 2],
              found.steps.to(rc::float64).mean().item<double>(), found.value.sum().item<double>());
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_small = argc > 1 && std::string_view(argv[1]) == "--small";
  for (const Case& c : cases()) run(c, is_small);
}
