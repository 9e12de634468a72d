// Linear operators and systems, with lineax's ways to solve them.
//
//   #include <ricci/linear.h>
//   namespace solvers = rc::solvers;
//   auto [x, residual, steps, status] = solvers::linear_solve(rc::operators::Matrix{a, {.positive = true}}, b);
//
// An operator is a matrix, a function, or the derivative of a function: ricci/linear/operator.h. A system has one right
// side; for many, map over them. Solvers: ricci/linear/solve.h. Failures are no errors, unless `.throw_on_failure` is
// set. Products with Hessians and their kin, traces, Lanczos: ricci/linear/curvature.h.
#pragma once

#include "ricci/linear/curvature.h"
#include "ricci/linear/operator.h"
#include "ricci/linear/solve.h"
