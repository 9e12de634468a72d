// Distributions and the special functions under them, as the cases of tools/torch_values_of_distributions.py call them.
// `+` makes a lambda a pointer, which a table holds at a third of the time to compile.
#include <ricci/distributions.h>
#include <ricci/ops/bessel.h>
#include <ricci/ops/incomplete.h>
#include <ricci/transforms.h>

#include "public_functions.h"

namespace laws {
namespace {

namespace rc = ricci;
namespace rd = ricci::distributions;

/// The distribution whose parameters are the first inputs.
template <class D, std::size_t count>
D made(X x) {
  static_assert(count <= 3);
  if constexpr (count == 1) return D{x[0]};
  else if constexpr (count == 2) return D{x[0], x[1]};
  else return D{x[0], x[1], x[2]};
}
template <class D, std::size_t count>
void add_moments(Table& table, const std::string& name, const std::string& suffix = "") {
  table[name + " mean variance" + suffix] = +[](X x) {
    const auto d = made<D, count>(x);
    return List{d.mean(), d.variance()};
  };
}
template <class D, std::size_t count>
void add_entropy(Table& table, const std::string& name) {
  table[name + " entropy"] = +[](X x) { return List{made<D, count>(x).entropy()}; };
}
template <class D, std::size_t count>
void add_log_prob(Table& table, const std::string& name) {
  table[name + " log_prob"] = +[](X x) { return List{made<D, count>(x).log_prob(x[count])}; };
}
template <class D, std::size_t count>
void add_cdf(Table& table, const std::string& name) {
  table[name + " cdf"] = +[](X x) { return List{made<D, count>(x).cdf(x[count])}; };
}
template <class D, std::size_t count>
void add_icdf(Table& table, const std::string& name) {
  table[name + " icdf"] = +[](X x) { return List{made<D, count>(x).icdf(x[count])}; };
}
template <class D, std::size_t count>
void add_smooth(Table& table, const std::string& name) {
  add_log_prob<D, count>(table, name);
  add_cdf<D, count>(table, name);
  add_entropy<D, count>(table, name);
  add_moments<D, count>(table, name);
}

rd::Uniform uniform(X x) { return {x[0], x[0] + x[1]}; }
rd::Bernoulli bernoulli_of_logits(X x) { return {.logits = x[0]}; }
Tensor trials() { return rc::tensor({3, 5, 8}, rc::float64); }
rd::Binomial binomial(X x) { return {trials(), x[0]}; }
rd::MultivariateNormal normal_of_factor(const Tensor& loc, const Tensor& a) {
  return {.loc = loc, .scale_tril = tril(a, -1) + rc::diag_embed(exp(rc::diagonal(a, 0, -2, -1)))};
}
Tensor covariance_of(const Tensor& a) {
  const Tensor l = *normal_of_factor(a, a).scale_tril;
  return matmul(l, transpose(l, -2, -1));
}
auto mixture(X x) { return rd::MixtureSameFamily{rd::Categorical{.logits = x[0]}, rd::Normal{x[1], x[2]}}; }
auto mixture_of_vectors(X x) {
  return rd::MixtureSameFamily{rd::Categorical{.logits = x[0]},
                               rd::MultivariateNormal{.loc = x[1], .scale_tril = rc::diag_embed(x[2])}};
}
/// Normal numbers of the first two inputs, transformed; the last input is the argument.
template <class Made>
void add_transformed(Table& table, const std::string& name, const Made& d) {
  table["TransformedDistribution log_prob " + name] = [d](X x) { return List{d(x).log_prob(x.back())}; };
  table["TransformedDistribution cdf " + name] = [d](X x) { return List{d(x).cdf(x.back())}; };
  table["TransformedDistribution icdf " + name] = [d](X x) { return List{d(x).icdf(x.back())}; };
}
template <class Transform>
void add_transformed(Table& table, const std::string& name) {
  add_transformed(table, name, [](X x) { return rd::TransformedDistribution{rd::Normal{x[0], x[1]}, Transform{}}; });
}
template <class P, class Q, std::size_t of_p, std::size_t of_q>
void add_divergence(Table& table, const std::string& name) {
  table["kl_divergence " + name] =
      +[](X x) { return List{kl_divergence(made<P, of_p>(x), made<Q, of_q>(List(x.begin() + of_p, x.end())))}; };
}

Table special_functions() {
  return {
      {"i0", of(rc::i0)},
      {"i1", of(rc::i1)},
      {"i0e", of(rc::i0e)},
      {"i1e", of(rc::i1e)},
      {"i0 at 0", of(rc::i0)},
      {"i1 at 0", of(rc::i1)},
      {"i1e at 0 kink", of(rc::i1e)},
      {"erfcx", of(rc::erfcx)},
      {"log_ndtr", of(rc::log_ndtr)},
      {"igamma", of(rc::igamma)},
      {"igamma values", [](X x) { return List{igamma(x[0], x[1])}; }},
      {"igamma edge kink", [](X x) { return List{rc::detach(igamma(x[0], x[1]))}; }},
      {"igammac", of(rc::igammac)},
      {"igammac values", [](X x) { return List{igammac(x[0], x[1])}; }},
      {"betainc", [](X x) { return List{betainc(x[0], x[1], x[2])}; }},
  };
}

void add_continuous(Table& table) {
  add_smooth<rd::Normal, 2>(table, "Normal");
  add_smooth<rd::Cauchy, 2>(table, "Cauchy");
  add_smooth<rd::Laplace, 2>(table, "Laplace");
  add_smooth<rd::Gumbel, 2>(table, "Gumbel");
  add_smooth<rd::StudentT, 3>(table, "StudentT");
  add_smooth<rd::LogNormal, 2>(table, "LogNormal");
  add_smooth<rd::HalfNormal, 1>(table, "HalfNormal");
  add_smooth<rd::Exponential, 1>(table, "Exponential");
  add_smooth<rd::Gamma, 2>(table, "Gamma");
  add_smooth<rd::Weibull, 2>(table, "Weibull");
  add_smooth<rd::Beta, 2>(table, "Beta");
  add_smooth<rd::VonMises, 2>(table, "VonMises");
  add_icdf<rd::Normal, 2>(table, "Normal");
  add_icdf<rd::Cauchy, 2>(table, "Cauchy");
  add_icdf<rd::Laplace, 2>(table, "Laplace");
  add_icdf<rd::Gumbel, 2>(table, "Gumbel");
  add_icdf<rd::LogNormal, 2>(table, "LogNormal");
  add_icdf<rd::HalfNormal, 1>(table, "HalfNormal");
  add_icdf<rd::Exponential, 1>(table, "Exponential");
  add_icdf<rd::Weibull, 2>(table, "Weibull");
  table.erase("Cauchy mean variance");
  add_moments<rd::Cauchy, 2>(table, "Cauchy", " kink");
  table["StudentT mean variance kink"] = +[](X x) {
    const rd::StudentT d{x[0]};
    return List{rc::detach(d.mean()), rc::detach(d.variance())};
  };
  for (const char* name : {"Normal log_cdf", "Normal log_cdf tail"})
    table[name] = +[](X x) { return List{rd::Normal{x[0], x[1]}.log_cdf(x[2])}; };
  table["Uniform log_prob"] = +[](X x) { return List{uniform(x).log_prob(x[2] * 0.2)}; };
  table["Uniform cdf"] = +[](X x) { return List{uniform(x).cdf(x[2] * 0.2)}; };
  table["Uniform icdf"] = +[](X x) { return List{uniform(x).icdf(x[2])}; };
  table["Uniform entropy"] = +[](X x) { return List{uniform(x).entropy()}; };
  table["Uniform mean variance"] = +[](X x) { return List{uniform(x).mean(), uniform(x).variance()}; };
}

void add_discrete(Table& table) {
  table["Bernoulli log_prob"] = +[](X x) { return List{rd::Bernoulli{x[0]}.log_prob(x[1])}; };
  table["Bernoulli log_prob logits"] = +[](X x) { return List{bernoulli_of_logits(x).log_prob(x[1])}; };
  add_entropy<rd::Bernoulli, 1>(table, "Bernoulli");
  table["Bernoulli entropy logits"] = +[](X x) { return List{bernoulli_of_logits(x).entropy()}; };
  add_moments<rd::Bernoulli, 1>(table, "Bernoulli");
  table["Bernoulli mean variance logits"] =
      +[](X x) { return List{bernoulli_of_logits(x).mean(), bernoulli_of_logits(x).variance()}; };
  table["Binomial log_prob"] = +[](X x) { return List{binomial(x).log_prob(x[1])}; };
  table["Binomial log_prob logits"] =
      +[](X x) { return List{rd::Binomial{.total_count = trials(), .logits = x[0]}.log_prob(x[1])}; };
  table["Binomial cdf"] = +[](X x) { return List{binomial(x).cdf(x[1])}; };
  table["Binomial entropy"] = +[](X x) { return List{rd::Binomial{6, x[0]}.entropy()}; };
  table["Binomial mean variance"] = +[](X x) { return List{binomial(x).mean(), binomial(x).variance()}; };
  table["Poisson log_prob"] = +[](X x) { return List{rd::Poisson{x[0]}.log_prob(x[1])}; };
  table["Poisson cdf"] = +[](X x) { return List{rd::Poisson{x[0]}.cdf(x[1])}; };
  add_moments<rd::Poisson, 1>(table, "Poisson");
  add_log_prob<rd::Categorical, 1>(table, "Categorical");
  table["Categorical log_prob logits"] = +[](X x) { return List{rd::Categorical{.logits = x[0]}.log_prob(x[1])}; };
  add_entropy<rd::Categorical, 1>(table, "Categorical");
  table["Categorical entropy logits"] = +[](X x) { return List{rd::Categorical{.logits = x[0]}.entropy()}; };
  table["Multinomial log_prob"] = +[](X x) { return List{rd::Multinomial{5, x[0]}.log_prob(x[1])}; };
  table["Multinomial log_prob logits"] =
      +[](X x) { return List{rd::Multinomial{.total_count = 5, .logits = x[0]}.log_prob(x[1])}; };
  table["Multinomial entropy"] = +[](X x) { return List{rd::Multinomial{4, x[0]}.entropy()}; };
  table["Multinomial mean variance"] = +[](X x) {
    const rd::Multinomial d{4, x[0]};
    return List{d.mean(), d.variance()};
  };
}

void add_vectors(Table& table) {
  const auto log_prob = [](X x) { return List{normal_of_factor(x[0], x[1]).log_prob(x[2])}; };
  table["MultivariateNormal log_prob"] = log_prob;
  table["MultivariateNormal log_prob batch"] = log_prob;
  table["MultivariateNormal log_prob covariance"] =
      +[](X x) { return List{rd::MultivariateNormal{x[0], covariance_of(x[1])}.log_prob(x[2])}; };
  table["MultivariateNormal log_prob precision"] = +[](X x) {
    return List{rd::MultivariateNormal{.loc = x[0], .precision_matrix = covariance_of(x[1])}.log_prob(x[2])};
  };
  table["MultivariateNormal entropy"] = +[](X x) { return List{normal_of_factor(x[0], x[1]).entropy()}; };
  table["MultivariateNormal mean variance"] = +[](X x) {
    const rd::MultivariateNormal d = normal_of_factor(x[0], x[1]);
    return List{d.mean(), d.variance()};
  };
  table["Dirichlet log_prob"] = +[](X x) { return List{rd::Dirichlet{x[0]}.log_prob(x[1] / sum(x[1], -1, true))}; };
  add_entropy<rd::Dirichlet, 1>(table, "Dirichlet");
  add_moments<rd::Dirichlet, 1>(table, "Dirichlet");
}

void add_made_of_others(Table& table) {
  table["MixtureSameFamily log_prob"] = +[](X x) { return List{mixture(x).log_prob(x[3])}; };
  table["MixtureSameFamily cdf"] = +[](X x) { return List{mixture(x).cdf(x[3])}; };
  table["MixtureSameFamily mean variance"] = +[](X x) { return List{mixture(x).mean(), mixture(x).variance()}; };
  table["MixtureSameFamily log_prob of vectors"] = +[](X x) { return List{mixture_of_vectors(x).log_prob(x[3])}; };
  table["MixtureSameFamily mean variance of vectors"] =
      +[](X x) { return List{mixture_of_vectors(x).mean(), mixture_of_vectors(x).variance()}; };
  add_transformed<rd::ExpTransform>(table, "exp");
  add_transformed<rd::SigmoidTransform>(table, "sigmoid");
  add_transformed<rd::TanhTransform>(table, "tanh");
  add_transformed<rd::SoftplusTransform>(table, "softplus");
  add_transformed(table, "affine", [](X x) {
    return rd::TransformedDistribution{rd::Normal{x[0], x[1]}, rd::AffineTransform{x[2], x[3]}};
  });
  add_transformed(table, "falling", [](X x) {
    return rd::TransformedDistribution{rd::Normal{x[0], x[1]},
                                       std::tuple{rd::AffineTransform{x[2], -x[3]}, rd::ExpTransform{}}};
  });
  table["TransformedDistribution log_prob power"] = +[](X x) {
    return List{rd::TransformedDistribution{rd::Gamma{x[0], x[1]}, rd::PowerTransform{x[2]}}.log_prob(x[3])};
  };
  table["TransformedDistribution log_prob of vectors"] = +[](X x) {
    const rd::MultivariateNormal base{.loc = x[0], .scale_tril = rc::diag_embed(x[1])};
    return List{
        rd::TransformedDistribution{base, std::tuple{rd::AffineTransform{x[2], 2}, rd::ExpTransform{}}}.log_prob(x[3])};
  };
}

void add_divergences(Table& table) {
  add_divergence<rd::Normal, rd::Normal, 2, 2>(table, "Normal");
  add_divergence<rd::LogNormal, rd::LogNormal, 2, 2>(table, "LogNormal");
  add_divergence<rd::Laplace, rd::Laplace, 2, 2>(table, "Laplace");
  add_divergence<rd::Cauchy, rd::Cauchy, 2, 2>(table, "Cauchy");
  add_divergence<rd::Gumbel, rd::Gumbel, 2, 2>(table, "Gumbel");
  add_divergence<rd::HalfNormal, rd::HalfNormal, 1, 1>(table, "HalfNormal");
  add_divergence<rd::Exponential, rd::Exponential, 1, 1>(table, "Exponential");
  add_divergence<rd::Poisson, rd::Poisson, 1, 1>(table, "Poisson");
  add_divergence<rd::Dirichlet, rd::Dirichlet, 1, 1>(table, "Dirichlet");
  add_divergence<rd::Gamma, rd::Gamma, 2, 2>(table, "Gamma");
  add_divergence<rd::Beta, rd::Beta, 2, 2>(table, "Beta");
  add_divergence<rd::VonMises, rd::VonMises, 2, 2>(table, "VonMises");
  add_divergence<rd::Bernoulli, rd::Bernoulli, 1, 1>(table, "Bernoulli");
  add_divergence<rd::Categorical, rd::Categorical, 1, 1>(table, "Categorical");
  add_divergence<rd::Laplace, rd::Normal, 2, 2>(table, "Laplace Normal");
  add_divergence<rd::Gamma, rd::Normal, 2, 2>(table, "Gamma Normal");
  add_divergence<rd::Beta, rd::Normal, 2, 2>(table, "Beta Normal");
  add_divergence<rd::Exponential, rd::Normal, 1, 2>(table, "Exponential Normal");
  add_divergence<rd::Exponential, rd::Gamma, 1, 2>(table, "Exponential Gamma");
  add_divergence<rd::Gamma, rd::Exponential, 2, 1>(table, "Gamma Exponential");
  table["kl_divergence Bernoulli logits"] =
      +[](X x) { return List{kl_divergence(rd::Bernoulli{.logits = x[0]}, rd::Bernoulli{.logits = x[1]})}; };
  table["kl_divergence Categorical logits"] =
      +[](X x) { return List{kl_divergence(rd::Categorical{.logits = x[0]}, rd::Categorical{.logits = x[1]})}; };
  table["kl_divergence Binomial"] = +[](X x) {
    const Tensor n = rc::tensor({4, 5, 6}, rc::float64);
    return List{kl_divergence(rd::Binomial{n, x[0]}, rd::Binomial{n, x[1]})};
  };
  table["kl_divergence Uniform"] =
      +[](X x) { return List{kl_divergence(uniform(x), rd::Uniform{x[2] - 8, x[2] + x[3] + 8})}; };
  table["kl_divergence Uniform Normal"] = +[](X x) { return List{kl_divergence(uniform(x), rd::Normal{x[2], x[3]})}; };
  table["kl_divergence MultivariateNormal"] =
      +[](X x) { return List{kl_divergence(normal_of_factor(x[0], x[1]), normal_of_factor(x[2], x[3]))}; };
}

}  // namespace

const Table& distributions() {
  static const Table all = [] {
    Table table = special_functions();
    add_continuous(table);
    add_discrete(table);
    add_vectors(table);
    add_made_of_others(table);
    add_divergences(table);
    return table;
  }();
  return all;
}

}  // namespace laws
