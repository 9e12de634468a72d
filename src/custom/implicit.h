// What solvers of this library tell custom_root beside what users do.
#pragma once

#include "ricci/implicit.h"

namespace ricci::function {

/// custom_root whose reverse mode takes `adjoint_solve(g, ct)`, the x with gᵀ(x) = ct for a linear g, in place of the
/// transpose of tangent_solve: it sees the cotangent.
tree::AnyTree custom_root(const tree::AnyFunction& f, tree::AnyTree initial, const tree::AnyFunction& solve,
                          const tree::AnyFunction& tangent_solve, const tree::AnyFunction* adjoint_solve);

}  // namespace ricci::function
