// What solvers of this library tell custom_root beside what users do, and what adjoints of failed examples are.
#pragma once

#include "ricci/implicit.h"

namespace ricci::function {

/// Whether nobody uses what an example found, as `ct` is 0, and the solution `x` or the adjoint is infinite or NaN. A
/// solver's reverse rule takes 0 for both there: as the system is singular, 0 times its solution would be NaN in the
/// derivative by a parameter that all examples share. Where the system is regular, the adjoint for 0 is 0 anyway, and
/// keeps its derivatives.
Tensor is_idle(const tree::AnyTree& ct, const tree::AnyTree& x, const tree::AnyTree& adjoint);

/// custom_root whose reverse mode takes `adjoint_solve(g, ct)`, the x with gᵀ(x) = ct for a linear g, in place of the
/// transpose of tangent_solve. Where all of ct is 0 and x is infinite or NaN, the example adds nothing to derivatives.
tree::AnyTree custom_root(const tree::AnyFunction& f, tree::AnyTree initial, const tree::AnyFunction& solve,
                          const tree::AnyFunction& tangent_solve, const tree::AnyFunction* adjoint_solve);

}  // namespace ricci::function
