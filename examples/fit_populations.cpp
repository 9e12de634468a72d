// The parameters of a differential equation from noisy measurements: hares and lynxes of Lotka and Volterra. The
// measurements are made here, with 5 % of noise, of parameters that are known. Levenberg and Marquardt's method fits
// growth, hunting and both first numbers; its Jacobian is that of the solver, by forward mode, compiled. The program
// fails unless it finds the parameters within four of their standard deviations, which the fit gives too.
#include <ricci/ode.h>
#include <ricci/ricci.h>
#include <ricci/solve.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <tuple>

namespace rc = ricci;
namespace ode = ricci::ode;
namespace solvers = ricci::solvers;
using rc::Tensor;

namespace {

struct Populations {
  Tensor hares, lynxes;
};

/// Logarithms of hares' growth, of how many are caught, of lynxes' deaths and of what a hare feeds; then those of both
/// numbers at time 0.
Tensor true_parameters() { return log(rc::tensor({0.6, 0.25, 0.8, 0.2, 10., 2.}, rc::float64)); }

/// The logarithms of both numbers at the times: [2, n].
Tensor model(const Tensor& parameters, const Tensor& times) {
  const Tensor p = exp(parameters);
  const auto lives = [&](const Tensor&, const Populations& at) {
    const Tensor meet = at.hares * at.lynxes;
    return Populations{.hares = p[0] * at.hares - p[1] * meet, .lynxes = p[3] * meet - p[2] * at.lynxes};
  };
  const Populations saved =
      ode::ode_solve(lives, Populations{p[4], p[5]}, 0, 20, {.rtol = 1e-8, .atol = 1e-8, .save_at = times}).ys;
  return log(rc::stack({saved.hares, saved.lynxes}));
}

struct Fit {
  Tensor parameters, deviations;
  double error;  // root mean square
};

Fit fitted(const Tensor& start, const Tensor& times, const Tensor& measured) {
  const auto residual = [&](const Tensor& parameters) { return (model(parameters, times) - measured).view({-1}); };
  const auto fit = rc::compile([&](const Tensor& from) {
    const auto found = solvers::least_squares(residual, from);
    return std::tuple{found, residual(found.value), rc::jacfwd(residual)(found.value)};  // [2n], [2n, 6]
  });
  const auto [found, r, jacobian] = fit(start);
  std::printf("%s after %d steps\n", solvers::text_of(found.status.item<std::int64_t>()).c_str(),
              found.steps.item<int>());
  const double freedom = static_cast<double>(measured.numel() - start.numel());
  const double variance = (r * r).sum().item<double>() / freedom;
  return {found.value, sqrt(variance * rc::diagonal(rc::inverse(matmul(jacobian.t(), jacobian)))), std::sqrt(variance)};
}

}  // namespace

int main() try {  // quick as it is: `--quick` changes nothing
  constexpr double noise = 0.05;
  const Tensor times = rc::linspace(0.5, 20, 40, rc::float64);
  const Tensor measured = model(true_parameters(), times) + noise * rc::normal(rc::Key(0), {2, 40}).to(rc::float64);
  const Tensor start = log(rc::tensor({0.5, 0.2, 0.6, 0.15, 8., 3.}, rc::float64));
  const Fit fit = fitted(start, times, measured);
  const char* const names[] = {"growth", "caught", "deaths", "fed", "hares", "lynxes"};
  bool found = std::abs(fit.error - noise) < 0.02;
  for (int i = 0; i < 6; ++i) {
    const double value = fit.parameters[i].item<double>(), deviation = fit.deviations[i].item<double>();
    const double off = (value - true_parameters()[i].item<double>()) / deviation;
    std::printf("%-7s %7.4f ± %.1f %%, off by %+.1f deviations\n", names[i], std::exp(value), 100 * deviation, off);
    found = found && std::abs(off) < 4;
  }
  return found ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fit_populations: %s\n", error.what());
  return 1;
}
