// Samples of a distribution that is known by its log density, rc::samplers, with blackjax's names: pure functions over
// trees.
//
//   #include <ricci/sample.h>
//   namespace samplers = rc::samplers;
//   auto chain = [&](rc::Key key) { return samplers::sample(log_density, start, key, {.warmup = 500, .draws = 900}); };
//   auto chains = rc::compile(rc::vmap(chain))(rc::split(rc::Key(0), 20));
//   chains.draws, samplers::rhat(chains.draws), samplers::ess(chains.draws)
//
// **Densities.** A log density is a function from a tree to a number, up to a constant; its gradient is found by
// reverse mode. Integer and boolean Tensors of the tree, and values that are no Tensors, stay as they are. A place
// where the log density is -inf or NaN has probability 0. Positive and other bounded numbers are sampled as functions
// of free ones, whose log density has the logarithm of that function's derivative added.
//
// **Chains.** One call is one chain; map over keys for many, up to 16 by rc::map, which is faster for few. Each chain
// takes its own steps. A chain is a loop that draws by keys: eagerly, compiled and mapped it gives the same draws.
#pragma once

#include "ricci/sample/chain.h"
#include "ricci/sample/diagnostics.h"
#include "ricci/sample/sampler.h"
#include "ricci/sample/variational.h"
