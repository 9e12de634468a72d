// Sparse derivatives: patterns of Jacobians and Hessians found in programs, colorings, sparse matrices as trees, and
// solvers of linear systems.
//
//   #include <ricci/sparse.h>
//   auto coloring = rc::color(rc::jacobian_sparsity(f, x));   // once
//   rc::Sparse j = rc::jacobian(f, coloring)(x);              // at each point
//   Tensor step = rc::sparse::gmres(j, -f(x));                // a step of Newton
#pragma once

#include "ricci/linear/krylov.h"
#include "ricci/sparse/coloring.h"
#include "ricci/sparse/derivatives.h"
#include "ricci/sparse/direct.h"
#include "ricci/sparse/sparse.h"
#include "ricci/sparse/sparsity.h"
