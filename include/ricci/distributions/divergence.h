// How far a distribution is from another: Kullback and Leibler's divergence, in closed form.
#pragma once

#include "ricci/distributions/classes.h"
#include "ricci/distributions/counts.h"
#include "ricci/distributions/half_line.h"
#include "ricci/distributions/interval.h"
#include "ricci/distributions/real_line.h"
#include "ricci/distributions/vectors.h"

namespace ricci::distributions {

/// The mean of p.log_prob(x) - q.log_prob(x) over samples x of p; parameters broadcast. Infinite where p has samples
/// that q has not. A pair without an overload does not compile: take the mean over samples.
///   rc::distributions::kl_divergence(posterior, rc::distributions::Normal{0, 1})
Tensor kl_divergence(const Normal& p, const Normal& q);
Tensor kl_divergence(const LogNormal& p, const LogNormal& q);
Tensor kl_divergence(const HalfNormal& p, const HalfNormal& q);
Tensor kl_divergence(const Laplace& p, const Laplace& q);
Tensor kl_divergence(const Cauchy& p, const Cauchy& q);
Tensor kl_divergence(const Gumbel& p, const Gumbel& q);
Tensor kl_divergence(const Exponential& p, const Exponential& q);
Tensor kl_divergence(const Gamma& p, const Gamma& q);
Tensor kl_divergence(const Uniform& p, const Uniform& q);
Tensor kl_divergence(const Beta& p, const Beta& q);
Tensor kl_divergence(const VonMises& p, const VonMises& q);
Tensor kl_divergence(const Bernoulli& p, const Bernoulli& q);
/// Infinite where p has more trials, NaN where q has more: there is no closed form.
Tensor kl_divergence(const Binomial& p, const Binomial& q);
Tensor kl_divergence(const Poisson& p, const Poisson& q);
Tensor kl_divergence(const Categorical& p, const Categorical& q);
Tensor kl_divergence(const MultivariateNormal& p, const MultivariateNormal& q);
Tensor kl_divergence(const Dirichlet& p, const Dirichlet& q);
Tensor kl_divergence(const Uniform& p, const Normal& q);
Tensor kl_divergence(const Laplace& p, const Normal& q);
Tensor kl_divergence(const Exponential& p, const Normal& q);
Tensor kl_divergence(const Exponential& p, const Gamma& q);
Tensor kl_divergence(const Gamma& p, const Exponential& q);
Tensor kl_divergence(const Gamma& p, const Normal& q);
Tensor kl_divergence(const Beta& p, const Normal& q);

}  // namespace ricci::distributions
