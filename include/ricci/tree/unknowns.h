// What a solver, a sampler or an integrator changes of a tree: its Tensors of floating and complex dtypes, the elements
// of `rc::ravel`.
#pragma once

#include "ricci/tree/walk.h"

namespace ricci::tree {

/// Throws TypeError if `start` has leaves and none of them is an unknown. Such leaves are numbers, integer and boolean
/// Tensors. A tree without any leaf is taken: nothing is to be found in it.
///   tree::require_unknowns("root_find", walk);  // root_find: the start {rate: double} has no unknowns; …
void require_unknowns(const char* name, const Walk& start);

}  // namespace ricci::tree
