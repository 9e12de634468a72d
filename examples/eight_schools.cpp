// Eight schools (Rubin, 1981; Gelman et al., Bayesian Data Analysis): how much coaching raised test scores in each of
// eight schools, whose estimates have different standard errors. The effects come from a normal distribution whose mean
// and spread are unknown. 64 chains of the no-U-turn sampler, mapped and compiled. The program prints the posterior and
// fails unless chains agree and the moments are those of the reference draws of posteriordb.
#include <ricci/ricci.h>
#include <ricci/sample.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string_view>

namespace rc = ricci;
namespace samplers = rc::samplers;
using rc::Tensor;

namespace {

const Tensor estimates = rc::tensor({28., 8., -3., 7., -1., 1., 18., 12.}, rc::float64);
const Tensor errors = rc::tensor({15., 10., 16., 11., 9., 11., 10., 18.}, rc::float64);

/// Effects are mean + spread z: so their prior does not depend on the spread, and chains move freely.
struct Schools {
  Tensor mean;        // []
  Tensor log_spread;  // []
  Tensor z;           // [8]
};
Tensor effects(const Schools& s) { return s.mean + exp(s.log_spread) * s.z; }

/// Priors: mean ~ N(0, 5), spread ~ half-Cauchy(5), z ~ N(0, 1). The last term is the derivative of exp.
Tensor log_density(const Schools& s) {
  const Tensor spread = exp(s.log_spread);
  const Tensor prior = -0.5 * square(s.mean / 5) - log1p(square(spread / 5)) - 0.5 * square(s.z).sum();
  return prior - 0.5 * square((estimates - effects(s)) / errors).sum() + s.log_spread;
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

int run(bool is_quick) {
  const Schools start{rc::zeros({}, rc::float64), rc::zeros({}, rc::float64), rc::zeros({8}, rc::float64)};
  const samplers::SampleOptions options{.sampler = samplers::nuts({.target_acceptance = 0.9}),
                                        .warmup = is_quick ? 300 : 1000,
                                        .draws = is_quick ? 300 : 1000};
  auto chain = [&](const rc::Key& key) { return samplers::sample(log_density, start, key, options); };
  auto chains = rc::compile(rc::vmap(chain));
  const rc::Key keys = rc::split(rc::Key(0), 64);
  chains(keys);  // builds the plan
  const double before = seconds();
  const auto found = chains(rc::split(rc::Key(1), 64));
  const double took = seconds() - before;

  const Tensor effect = rc::vmap(rc::vmap(effects))(found.draws), spread = exp(found.draws.log_spread);
  const Tensor worst = samplers::rhat(found.draws).z.max();
  for (int i = 0; i < 8; ++i)
    std::printf("school %d: %5.1f +- %4.1f\n", i + 1, effect.select(2, i).mean().item<double>(),
                effect.select(2, i).std().item<double>());
  const double mean = found.draws.mean.mean().item<double>(), tau = spread.mean().item<double>();
  std::printf("mean %.2f, spread %.2f, R-hat %.3f, divergent %.2f %%, %.0f independent draws in %.2f s\n", mean, tau,
              worst.item<double>(), 100 * found.info.is_divergent.to(rc::float64).mean().item<double>(),
              samplers::ess(found.draws).mean.item<double>(), took);
  const bool is_right = std::abs(mean - 4.41) < 0.15 && std::abs(tau - 3.60) < 0.15 && worst.item<double>() < 1.02;
  if (!is_right) std::printf("FAILED: the reference has mean 4.41 and spread 3.60\n");
  return is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc > 1 && std::string_view(argv[1]) == "--quick");
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}
