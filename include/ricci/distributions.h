// Probability distributions, rc::distributions, with PyTorch's names: a struct of parameters with functions of them.
//
//   #include <ricci/distributions.h>
//   rc::distributions::Normal noise{loc, scale};
//   Tensor x = noise.sample(key, {100});                     // [100, …], differentiable by loc and scale
//   Tensor loss = -noise.log_prob(x).mean();
//   auto of_each = rc::vmap([](rc::distributions::Normal d, Tensor x) { return d.log_prob(x); })(normals, xs);
//
// **Trees.** The struct is a tree: its parameters map, stack, differentiate and travel like those of a model. They are
// tensors or numbers, and broadcast; the shape they broadcast to is the batch's. Axes of an event (MultivariateNormal,
// Dirichlet, Multinomial: `event_dims` is 1) come last.
//
// **Members.** `sample(key)` gives [batch…, event…], `sample(key, sample_shape)` [sample…, batch…, event…], in the
// parameters' floating type. `log_prob(value)` and `cdf(value)` broadcast value and batch; `icdf(probability)` is the
// inverse of `cdf`; `entropy()`, in nats, and `mean()` and `variance()` have the batch's shape. A distribution has
// those members that have a closed form, or that PyTorch has. kl_divergence(p, q) is for pairs.
//
// **Derivatives.** Samples are differentiable by the parameters at fixed noise (PyTorch's rsample): along the formula
// of the noise, or along the quantile function (Gamma, Beta, Dirichlet, StudentT, VonMises). Counts, classes and
// mixtures are constant in their parameters.
//
// **Bad parameters.** A parameter out of its range is a ValueError that names field, value and place, as
// "Normal.log_prob: scale is -1 at [2]; it must be positive", inside vmap and derivatives too. While a program is
// recorded (trace, compile) only `sample` looks, when the program runs; the other members are not checked there. Values
// out of the support are no error: log_prob is -infinity, cdf 0 or 1.
#pragma once

#include "ricci/distributions/classes.h"
#include "ricci/distributions/counts.h"
#include "ricci/distributions/divergence.h"
#include "ricci/distributions/half_line.h"
#include "ricci/distributions/interval.h"
#include "ricci/distributions/mixture.h"
#include "ricci/distributions/real_line.h"
#include "ricci/distributions/transformed.h"
#include "ricci/distributions/transforms.h"
#include "ricci/distributions/vectors.h"
#include "ricci/ops/bessel.h"
#include "ricci/ops/incomplete.h"
