// Leaves that carry tangents: shown to a function, taken apart again, and held against their primals.
#pragma once

#include <optional>

#include "transforms/arguments.h"

namespace ricci::runs {

/// Shows a leaf with its tangent to the transform of this name; a null tangent is zero.
void show_dual(const char* name, Tensor& leaf, ValueRef tangent, Level level);

/// Throws TypeError where there is nothing to differentiate among the primals. `tangents` are those that the user gave
/// with them, if he did.
void require_primals(const char* name, std::span<const tree::Walk> primals, Place where,
                     std::span<const tree::Walk> tangents = {});

struct Outcome {
  Tensor primal, tangent;  // the tangent is undefined where it is zero
};

/// A result leaf seen from outside the dual level.
Outcome split(const Tensor& leaf, const Interpreter& interpreter);

/// What tangents are held against: the primals' trees and types, kept after the primals are gone.
struct Expected {
  std::vector<tree::Structure> structures;  // one per argument
  std::vector<std::optional<Type>> types;   // one per leaf; nothing where it is undefined
  std::string text;

  explicit Expected(std::span<const tree::Walk> primals);
};

/// How errors name what is held against the primals.
struct TangentWords {
  const char* what = "the tangents do not fit the primals";
  const char* remedy = "pass tangents like the primals";
  std::string given = "tangent", like = "primal";  // with the number of the argument behind
};

/// Throws unless the tangents are like the primals; gives them in the primals' dtypes, undefined where a primal has no
/// derivative and none was given.
std::vector<Tensor> checked_tangents(const char* name, const Expected& primals, std::span<const tree::Walk> tangents,
                                     Place where, const TangentWords& words = {});

}  // namespace ricci::runs
