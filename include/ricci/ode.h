// Differential equations, rc::ode, with diffrax's names: pure functions from a state at one time to that at another.
//
//   #include <ricci/ode.h>
//   namespace ode = rc::ode;
//   auto fall = [](Tensor t, Body b) { return Body{.place = b.speed, .speed = -9.81 - 0.1 * b.speed}; };
//   auto solution = ode::ode_solve(fall, Body{10., 0.}, 0, 1, {.solver = ode::Dopri8, .rtol = 1e-8, .atol = 1e-8});
//   solution.y.place                                             // at time 1
//
// **States** are trees. The solver sees one vector (ricci/ravel.h), so it is compiled once, in the library.
//
// **Transforms** go through: a solution is differentiated by what f captures, mapped, compiled.
//
// **Noise**: sde_solve, ricci/ode/sde.h, along paths by keys, ricci/ode/brownian.h.
//
// Solvers: ricci/ode/solver.h. Tolerances, times to save at: ricci/ode/options.h.
#pragma once

#include "ricci/ode/backsolve.h"
#include "ricci/ode/brownian.h"
#include "ricci/ode/options.h"
#include "ricci/ode/sde.h"
#include "ricci/ode/solve.h"
#include "ricci/ode/solver.h"
