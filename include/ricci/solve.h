// Solvers of nonlinear problems, rc::solvers, with optimistix's names: pure functions over trees.
//
//   #include <ricci/solve.h>
//   namespace solvers = rc::solvers;
//   auto root = solvers::root_find([a](Tensor x) { return x * x - a; }, 1.0);
//   root.value, root.status, root.steps, root.residual
//
// **Trees.** The unknown is any tree, and so is what the function gives. Integer and boolean Tensors, undefined ones
// and values that are no Tensors are no unknowns, as in tree_arithmetic.h: they stay as they are. A number as the start
// takes the dtype that the function gives for it; 1 is 1.0. TypeError for a start that has leaves and no unknown.
//
// **Derivatives** of a solution are implicit: they follow from the equation that the solution fulfils, by whatever its
// function captures, and do not depend on the steps that were taken. That by the start is zero, and so are those of
// steps, status and residual. For them the function is recorded once, so it may not look at values.
//
// **Examples.** Under vmap each example takes its own steps and leaves the loop when it is done.
//
// **Failures** are no errors, unless `.throw_on_failure` is set: the status says what happened, and the value is the
// last finite one. It is no solution, so its derivatives mean nothing.
#pragma once

#include "ricci/solve/fixed_point.h"
#include "ricci/solve/least_squares.h"
#include "ricci/solve/lie_groups.h"
#include "ricci/solve/minimise.h"
#include "ricci/solve/result.h"
#include "ricci/solve/root_find.h"
