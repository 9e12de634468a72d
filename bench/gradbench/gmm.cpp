// gmm: the log posterior of a Gaussian mixture under a Wishart prior, and its gradient. The likelihood is written for
// one point, the distance for one component.
#include <cmath>
#include <numbers>

#include "evals.h"

namespace gradbench {
namespace {

struct Mixture {
  Tensor alpha, mu, q, l;  // [k], [k, d], [k, d], [k, d (d - 1) / 2]
};
struct Wishart {
  double gamma, m;
};

/// The factor of a component's inverse covariance [d, d]: exp(q) on the diagonal, l below it, column by column.
Tensor factor(const Tensor& q, const Tensor& l) {
  const std::int64_t d = q.size(0);
  const Tensor upper = rc::triu_indices(d, d, 1);  // row by row: of the transpose
  const Tensor lower = rc::index_put(rc::diag(exp(q)), {upper[1], upper[0]}, l);
  return lower;
}

Tensor log_likelihood(const Mixture& mixture, const Tensor& factors, const Tensor& x) {
  const auto square_distance = [](const Tensor& factor, const Tensor& from_mean) {
    return square(matmul(factor, from_mean)).sum();
  };
  const Tensor distances = rc::vmap(square_distance)(factors, x - mixture.mu);
  return logsumexp(mixture.alpha + mixture.q.sum(1) - 0.5 * distances, 0);
}

double log_multivariate_gamma(double a, double d) {
  double sum = 0.25 * d * (d - 1) * std::log(std::numbers::pi);
  for (double j = 0; j < d; ++j) sum += std::lgamma(a - 0.5 * j);
  return sum;
}

Tensor log_prior(const Mixture& mixture, const Wishart& prior) {
  const auto k = static_cast<double>(mixture.q.size(0)), d = static_cast<double>(mixture.q.size(1));
  const double n = d + prior.m + 1;
  const double constant = n * d * (std::log(prior.gamma) - 0.5 * std::log(2)) - log_multivariate_gamma(0.5 * n, d);
  const Tensor squares = square(exp(mixture.q)).sum() + square(mixture.l).sum();
  return k * constant - 0.5 * prior.gamma * prior.gamma * squares + prior.m * mixture.q.sum();
}

auto log_posterior(const Wishart& prior) {
  return [prior](const Mixture& mixture, const Tensor& x) {
    const auto n = static_cast<double>(x.size(0)), d = static_cast<double>(x.size(1));
    const Tensor factors = rc::vmap(factor)(mixture.q, mixture.l);
    const Tensor each = rc::vmap(log_likelihood, {.in_dims = {rc::none, rc::none, 0}})(mixture, factors, x);
    return each.sum() - n * logsumexp(mixture.alpha, 0) - 0.5 * n * d * std::log(2 * std::numbers::pi) +
           log_prior(mixture, prior);
  };
}

Mixture read_mixture(const json& input) {
  return {read_numbers(input.at("alpha")), read_numbers(input.at("mu")), read_numbers(input.at("q")),
          read_numbers(input.at("l"))};
}
Wishart read_prior(const json& input) { return {input.at("gamma"), input.at("m")}; }

}  // namespace

Eval gmm() {
  return {{"objective",
           [](const json& input) {
             return answer(input, log_posterior(read_prior(input)), read_mixture(input), read_numbers(input.at("x")));
           }},
          {"jacobian", [](const json& input) {
             const auto gradient = rc::compile(rc::grad(log_posterior(read_prior(input))));
             const auto [g, timings] = timed(input, gradient, read_mixture(input), read_numbers(input.at("x")));
             return Answer{{{"alpha", write(g.alpha)}, {"mu", write(g.mu)}, {"q", write(g.q)}, {"l", write(g.l)}},
                           timings};
           }}};
}

}  // namespace gradbench
