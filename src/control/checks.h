// What the functions given to conditionals and loops must fulfil.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "primitive/origin.h"
#include "ricci/tree.h"
#include "ricci/tree/any.h"
#include "ricci/type.h"
#include "tensor/thread_context.h"

namespace ricci::runs {

/// A state or result as the examples that part see it. Lives no longer than that object, and only while none of its
/// containers changes size.
struct ErasedTree {
  tree::Walk tensors = {};
  tree::Values values = {};              // what is no Tensor
  const tree::AnyTree* shown = nullptr;  // the part that is the user's: errors name places in it
};
ErasedTree erased(const tree::AnyTree& result);

/// Throws ValueError unless two branches return one structure.
void require_same_tree(const char* name, const tree::Structure& one, const tree::Structure& other);
/// The same with a Tensor at the same places.
void require_same_tree(const char* name, const tree::Walk& one, const tree::Walk& other);
/// Throws ValueError: one branch returns no value where another returns this.
[[noreturn]] void raise_undefined_in_one(const char* name, const Type& type);
/// Throws ValueError unless the results of two branches have one shape and dtype.
void require_same_type(const char* name, const Type& one, const Type& other);
/// What a branch returns, without its elements.
struct ResultTypes {
  tree::Structure structure;
  std::vector<std::optional<Type>> types;  // one per leaf; none where it is undefined
  explicit ResultTypes(const tree::Walk& result);
};
/// Throws TransformError, which says the finding, the first value that differs, and the reason, unless the values of a
/// tree that are no Tensors are these. Values of a type without == are not compared.
void require_same_values(const char* name, const char* finding, const char* reason, const ErasedTree& tree,
                         const tree::CopiedValues& other);
inline constexpr const char* one_for_all_examples = "such a value is one for all examples";
inline constexpr const char* kept_by_program = "a program keeps one";
/// Throws ValueError unless a branch that was not taken would return what the others did; a number fits a tensor of its
/// kind.
void require_same_results(const char* name, const ResultTypes& taken, const ResultTypes& other);

/// While it lives, a branch is written down for its result's type alone, at this depth.
using TypingOfBranch = With<&ThreadContext::typing_depth>;
/// The depth of a conditional's branches. Conditionals may stand four deep in a branch that is written down for its
/// type alone. A deeper one, as in recursion, is not checked: throws an `UncheckedBranch` through the user's functions.
int depth_of_branches();
struct UncheckedBranch {};

/// Throws TypeError for a condition of floats or complex numbers: `while (3 - x)` ends only where x is exactly 3.
void require_no_floats(const char* name, const Type& condition);
/// Throws ValueError unless a predicate or index of this type has one element.
void require_one_element(const char* name, const Type& type);

/// Throws ValueError unless `after` has the structure, shapes and dtypes of `before`: the state of a loop keeps its
/// type. A number in it takes the dtype that a step gives it, within its kind.
void require_same_state(const char* name, const tree::Walk& before, const tree::Walk& after);
/// Throws ValueError where this many steps are all that a loop may take.
void require_below_limit(const char* name, std::int64_t steps, std::int64_t most);
[[noreturn]] void raise_at_limit(const char* name, std::int64_t most);
/// The same of a loop that a program holds.
[[noreturn]] void raise_at_limit(const char* name, std::int64_t most, const OriginRef& loop);

}  // namespace ricci::runs
