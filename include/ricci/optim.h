// Optimisers, rc::optim, with optax's names, defaults and formulas: pure functions from gradients to updates.
//
//   #include <ricci/optim.h>
//   namespace optim = rc::optim;
//   const optim::Optimiser adamw = optim::chain(optim::clip_by_global_norm(1), optim::adamw(1e-3));
//   auto state = adamw.init(mlp);                                 // a tree
//   auto [updates, next] = adamw.update(gradients, state, mlp);
//   mlp = optim::apply_updates(mlp, updates);
//
// **Trees.** Parameters are any tree. Integer and boolean Tensors, undefined ones and values that are no Tensors are no
// parameters, as in tree_arithmetic.h: they stay as they are. A state is a tree too: it is saved by the names of its
// leaves, carried by loops, mapped and differentiated. An Optimiser itself is a value: what its numbers depend on, a
// learning rate for one, it holds as a function holds what it captures.
//
// **Numbers** are Tensors where a derivative may be wanted. A Rate is a number or a schedule. Dtypes of parameters and
// states stay as they are.
//
// Formulas: ricci/optim/optimisers.h. Schedules: ricci/optim/schedules.h. An optimiser of your own:
// ricci/optim/optimiser.h.
#pragma once

#include "ricci/optim/optimiser.h"
#include "ricci/optim/optimisers.h"
#include "ricci/optim/schedules.h"
