// Sparse derivatives: patterns of Jacobians and Hessians found in programs, colorings, and sparse matrices as trees.
//
//   #include <ricci/sparse.h>
//   auto coloring = rc::color(rc::jacobian_sparsity(f, x));   // once
//   rc::Sparse j = rc::jacobian(f, coloring)(x);              // at each point
//   Tensor y = matmul(j, v);
#pragma once

#include "ricci/sparse/coloring.h"
#include "ricci/sparse/derivatives.h"
#include "ricci/sparse/sparse.h"
#include "ricci/sparse/sparsity.h"
