// density: the logarithm of the density of a hierarchical logistic regression, in float64, with its gradient by all
// parameters: what a sampler such as Hamiltonian Monte Carlo asks for at every step.
#include "log_density.h"

#include <ricci/distributions.h>

#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;
using rc::distributions::Bernoulli;
using rc::distributions::Normal;

namespace {

/// The parameters; the spread of the groups is positive, so its logarithm stands here.
struct ModelParameters {
  Tensor mean, log_spread, base, slope;  // [], [], [groups], [d]
};
struct Seen {
  Tensor x, group, y;  // [n, d], int64 [n], [n] of 0 and 1
};

/// The last term is the derivative of the spread by its logarithm: the density is one of `log_spread`.
Tensor log_density(const ModelParameters& p, const Seen& seen) {
  const Tensor spread = exp(p.log_spread), of_group = p.base.index_select(0, seen.group);
  const Tensor odds = of_group + matmul(seen.x, p.slope);
  return Normal{0, 5}.log_prob(p.mean) + Normal{0, 1}.log_prob(spread) + Normal{p.mean, spread}.log_prob(p.base).sum() +
         Normal{0, 1}.log_prob(p.slope).sum() + Bernoulli{.logits = odds}.log_prob(seen.y).sum() + p.log_spread;
}

Tensor uniform(const rc::Shape& shape, std::uint32_t seed, double low = -1, double high = 1) {
  return bench::uniform(shape, seed, low, high).to(rc::float64);
}

auto regression(std::int64_t n, std::int64_t groups, std::int64_t d) {
  const ModelParameters start{uniform({}, 700), uniform({}, 701), uniform({groups}, 702), uniform({d}, 703)};
  const Tensor y = (uniform({n}, 705, 0, 1) < 0.3).to(rc::float64);
  return bench::call(rc::value_and_grad(log_density), start, Seen{uniform({n, d}, 704), rc::arange(n) % groups, y});
}

}  // namespace

std::vector<bench::Case> bench::log_densities() {
  return within(1e-10, {make_case("density/regression_40", [] { return regression(40, 4, 2); }),
                        make_case("density/regression_4000", [] { return regression(4000, 50, 16); })});
}
