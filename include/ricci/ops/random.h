// Random tensors. Numbers come from a generator's stream: the default one, or the one given as `{.generator = g}`.
// Inside vmap the option `.randomness` decides: `different` draws for each example, `same` once for all, and `error`,
// the default, is a TransformError. Examples draw the same numbers whatever the chunks, threads and order of nesting.
// Draws without a generator, from explicit keys: keys.h.
#pragma once

#include <concepts>

#include "ricci/ops/create.h"
#include "ricci/primitive/raise.h"

namespace ricci {

/// `{.generator = g}`, for operations whose other options follow from their arguments.
struct RandomOptions {
  Generator& generator;
};

namespace ops {

// ── numbers of one distribution ──

/// Uniform on [0, 1). TypeError unless the dtype is floating.
///   rc::Generator g(7);  rc::Tensor x = rc::rand({2, 3}, {.dtype = rc::float64, .generator = g});
Tensor rand(const Shape& shape);
Tensor rand(const Shape& shape, TensorOptions options);
inline Tensor rand(const Shape& shape, DType dtype) { return rand(shape, TensorOptions{.dtype = dtype}); }
/// Standard normal; of a complex dtype, real and imaginary part have variance 1/2 each. TypeError unless the dtype is
/// floating or complex.
Tensor randn(const Shape& shape);
Tensor randn(const Shape& shape, TensorOptions options);
inline Tensor randn(const Shape& shape, DType dtype) { return randn(shape, TensorOptions{.dtype = dtype}); }
template <class... A>
  requires Extents<A...>
Tensor rand(A... extents) {
  const ShapeAndOptions made(extents...);
  return rand(made.shape, made.options);
}
template <class... A>
  requires Extents<A...>
Tensor randn(A... extents) {
  const ShapeAndOptions made(extents...);
  return randn(made.shape, made.options);
}
/// Uniform on {low, …, high - 1}; int64, low is 0 if not given. ValueError if there is no such number.
Tensor randint(Bound high, const Shape& shape);
Tensor randint(Bound high, const Shape& shape, IntegerOptions options);
Tensor randint(Bound low, Bound high, const Shape& shape);
Tensor randint(Bound low, Bound high, const Shape& shape, IntegerOptions options);
inline Tensor randint(Bound high, const Shape& shape, DType dtype) {
  return randint(high, shape, IntegerOptions{.dtype = dtype});
}
inline Tensor randint(Bound low, Bound high, const Shape& shape, DType dtype) {
  return randint(low, high, shape, IntegerOptions{.dtype = dtype});
}
/// 0 … n - 1 in random order; int64.
Tensor randperm(Size n);
Tensor randperm(Size n, IntegerOptions options);
inline Tensor randperm(Size n, DType dtype) { return randperm(n, IntegerOptions{.dtype = dtype}); }
/// The same in the shape and dtype of x, as one example sees them, or with another dtype.
Tensor rand_like(const Tensor& x);
Tensor rand_like(const Tensor& x, LikeOptions options);
Tensor randn_like(const Tensor& x);
Tensor randn_like(const Tensor& x, LikeOptions options);
Tensor randint_like(const Tensor& x, Bound high);
Tensor randint_like(const Tensor& x, Bound high, LikeOptions options);
Tensor randint_like(const Tensor& x, Bound low, Bound high);
Tensor randint_like(const Tensor& x, Bound low, Bound high, LikeOptions options);
inline Tensor rand_like(const Tensor& x, DType dtype) { return rand_like(x, LikeOptions{.dtype = dtype}); }
inline Tensor randn_like(const Tensor& x, DType dtype) { return randn_like(x, LikeOptions{.dtype = dtype}); }
inline Tensor randint_like(const Tensor& x, Bound high, DType dtype) {
  return randint_like(x, high, LikeOptions{.dtype = dtype});
}
inline Tensor randint_like(const Tensor& x, Bound low, Bound high, DType dtype) {
  return randint_like(x, low, high, LikeOptions{.dtype = dtype});
}

// ── samplers: numbers whose distribution has parameters ──
// Parameters are tensors or numbers and broadcast, against `shape` too where it is given; else the shape is theirs. The
// dtype is theirs promoted, the default dtype for integers; with `shape` the option's. A value out of its range is a
// ValueError that names the first one and its place, inside vmap the example too; only while a program is recorded are
// values unknown and not looked at. Where the text gives a formula, u is uniform and z normal noise, the
// sample is differentiable by its parameters, and `same` gives every example the same noise under its own parameters.
//   rc::Tensor x = rc::normal(mean, 0.1);  rc::Tensor y = rc::exponential(2.0, {100}, {.generator = g});

#define RICCI_SAMPLER_OF_ONE(sampler, a)               \
  Tensor sampler(const Tensor& a);                     \
  Tensor sampler(const Tensor& a, RandomOptions);      \
  Tensor sampler(const Tensor& a, const Shape& shape); \
  Tensor sampler(const Tensor& a, const Shape& shape, TensorOptions options);
#define RICCI_SAMPLER_OF_TWO(sampler, a, b)                             \
  Tensor sampler(const Tensor& a, const Tensor& b);                     \
  Tensor sampler(const Tensor& a, const Tensor& b, RandomOptions);      \
  Tensor sampler(const Tensor& a, const Tensor& b, const Shape& shape); \
  Tensor sampler(const Tensor& a, const Tensor& b, const Shape& shape, TensorOptions options);

/// mean + std z, for std >= 0.
RICCI_SAMPLER_OF_TWO(normal, mean, std)
/// low + (high - low) u, for low <= high.
RICCI_SAMPLER_OF_TWO(uniform, low, high)
/// exp(mean + std z): its logarithm is normal. std > 0.
RICCI_SAMPLER_OF_TWO(log_normal, mean, std)
/// -log(1 - u) / rate, for rate > 0.
RICCI_SAMPLER_OF_ONE(exponential, rate)
/// median + sigma tan(π (u - 1/2)), for sigma > 0.
RICCI_SAMPLER_OF_TWO(cauchy, median, sigma)
/// loc - scale sign(v) log(1 - |v|) with v = 2u - 1, for scale > 0.
RICCI_SAMPLER_OF_TWO(laplace, loc, scale)
/// loc - scale log(-log u), for scale > 0.
RICCI_SAMPLER_OF_TWO(gumbel, loc, scale)
/// A normal number that is known to lie in [low, high]: mean + std Φ⁻¹(p), with p uniform between Φ((low - mean) / std)
/// and Φ((high - mean) / std). std > 0, low < high.
Tensor truncated_normal(const Tensor& mean, const Tensor& std, const Tensor& low, const Tensor& high);
Tensor truncated_normal(const Tensor& mean, const Tensor& std, const Tensor& low, const Tensor& high, RandomOptions);
Tensor truncated_normal(const Tensor& mean, const Tensor& std, const Tensor& low, const Tensor& high,
                        const Shape& shape);
Tensor truncated_normal(const Tensor& mean, const Tensor& std, const Tensor& low, const Tensor& high,
                        const Shape& shape, TensorOptions options);

/// 1 where u < p, else 0; derivative 0. 0 <= p <= 1.
RICCI_SAMPLER_OF_ONE(bernoulli, p)
/// As torch.bernoulli(x, p): in x's shape and dtype.
template <std::floating_point P>
Tensor bernoulli(const Tensor& x, P p) {
  require_defined("bernoulli", x, 0);
  return bernoulli(p, x.shape(), TensorOptions{.dtype = x.dtype()});
}
/// The number of trials up to the first success, 1 + floor(log(1 - u) / log(1 - p)); derivative 0. 0 < p <= 1.
RICCI_SAMPLER_OF_ONE(geometric, p)
/// The number of events at `rate`; derivative 0. rate >= 0.
RICCI_SAMPLER_OF_ONE(poisson, rate)
/// The number of successes among `count` trials; derivative 0. count >= 0, 0 <= probability <= 1.
RICCI_SAMPLER_OF_TWO(binomial, count, probability)

/// Density x^(concentration - 1) exp(-rate x) / Γ(concentration) · rate^concentration; rate is 1 if not given. Both are
/// positive. Differentiable by the concentration too, along the quantile function at a fixed probability: Figurnov,
/// Mohamed and Mnih, "Implicit reparameterization gradients", 2018.
Tensor gamma(const Tensor& concentration);
Tensor gamma(const Tensor& concentration, RandomOptions);
RICCI_SAMPLER_OF_TWO(gamma, concentration, rate)
/// X / (X + Y) of gamma numbers X and Y with concentrations a and b > 0, without under- or overflow.
RICCI_SAMPLER_OF_TWO(beta, a, b)
/// Probabilities along the last axis: gamma numbers over their sum. The shape is the concentrations'. ValueError if
/// they have no axis.
Tensor dirichlet(const Tensor& concentration);
Tensor dirichlet(const Tensor& concentration, RandomOptions);
/// int64 [..., samples]: classes in proportion to `weights` [..., classes] along the last axis, which are not negative,
/// not all 0, and need not add up to 1. Without replacement, the default, no class comes twice; ValueError if there are
/// fewer than `samples`, and classes of weight 0 come last. By inversion; without replacement the greatest log weight +
/// gumbel noise (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006).
///   rc::Tensor class_ = rc::multinomial(rc::softmax(logits, -1), 1);
Tensor multinomial(const Tensor& weights, Size samples);
Tensor multinomial(const Tensor& weights, Size samples, bool replacement);
Tensor multinomial(const Tensor& weights, Size samples, bool replacement, RandomOptions);

#undef RICCI_SAMPLER_OF_ONE
#undef RICCI_SAMPLER_OF_TWO

// ── dropout: x itself where `training` is false, which needs no randomness mode; p is 0.5 and training true if not
// given ──

/// Zeroes each element with probability p and divides the others by 1 - p. ValueError unless 0 <= p <= 1.
Tensor dropout(const Tensor& x);
Tensor dropout(const Tensor& x, double p);
Tensor dropout(const Tensor& x, double p, bool training);
Tensor dropout(const Tensor& x, double p, bool training, RandomOptions options);
/// The same with whole channels: what x [N, C, …] holds for one n and c is kept or zeroed together. ValueError if x has
/// fewer than two axes.
Tensor feature_dropout(const Tensor& x, double p, bool training);
Tensor feature_dropout(const Tensor& x, double p, bool training, RandomOptions options);
/// For selu activations: a dropped element becomes -1.7581, selu's limit, and all are scaled and shifted such that mean
/// 0 and variance 1 stay. Klambauer et al., "Self-normalizing neural networks", 2017.
Tensor alpha_dropout(const Tensor& x, double p, bool training);
Tensor alpha_dropout(const Tensor& x, double p, bool training, RandomOptions options);
Tensor feature_alpha_dropout(const Tensor& x, double p, bool training);
Tensor feature_alpha_dropout(const Tensor& x, double p, bool training, RandomOptions options);

}  // namespace ops
}  // namespace ricci
