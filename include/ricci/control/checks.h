// What the functions given to conditionals and loops must fulfil. Not for users; control.h is written with it.
#pragma once

#include <cstdint>

#include "ricci/tree.h"
#include "ricci/type.h"

namespace ricci::runs {

/// Throws ValueError unless two branches return one structure.
void require_same_tree(const char* name, const tree::Structure& one, const tree::Structure& other);
/// The same with a Tensor at the same places.
void require_same_tree(const char* name, const tree::Walk& one, const tree::Walk& other);
/// Throws ValueError: one branch returns no value where another returns this.
[[noreturn]] void raise_undefined_in_one(const char* name, const Type& type);
/// Throws ValueError unless the results of two branches have one shape and dtype.
void require_same_type(const char* name, const Type& one, const Type& other);
/// Throws ValueError unless a predicate or index of this type has one element.
void require_one_element(const char* name, const Type& type);

/// Throws ValueError unless `after` has the structure, shapes and dtypes of `before`: the state of a loop keeps its type.
/// A number in it takes the dtype that a step gives it, within its kind.
void require_same_state(const char* name, const tree::Walk& before, const tree::Walk& after);
/// Throws ValueError where this many steps are all that a loop may take.
void require_below_limit(const char* name, std::int64_t steps, std::int64_t most);

}  // namespace ricci::runs
