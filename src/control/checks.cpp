// What the functions given to conditionals and loops must fulfil.
#include "ricci/control/checks.h"

#include <string>

#include "ops/axes.h"
#include "ricci/primitive/raise.h"

namespace ricci::runs {
namespace {

Type type_or_none(const Tensor& leaf) { return leaf.defined() ? type_of(leaf) : Type{}; }

/// A number is only known to be whole, real or complex until it meets a tensor.
bool keeps_type(const Type& before, const Type& after) {
  const bool fits = before.weak ? category(before.dtype) == category(after.dtype) : before.dtype == after.dtype;
  return fits && before.shape == after.shape;
}

}  // namespace

void require_same_tree(const char* name, const tree::Structure& one, const tree::Structure& other) {
  if (!(one == other))
    raise<ValueError>(std::string(name) + ": the branches return different trees: " + one.to_string() + " and " +
                      other.to_string() + "; they must agree");
}

void require_same_tree(const char* name, const tree::Walk& one, const tree::Walk& other) {
  require_same_tree(name, tree::Structure(one), tree::Structure(other));
  for (std::size_t i = 0; i < one.leaves.size(); ++i)
    if (one.leaves[i]->defined() != other.leaves[i]->defined())
      raise_undefined_in_one(name, type_of(one.leaves[i]->defined() ? *one.leaves[i] : *other.leaves[i]));
}

void raise_undefined_in_one(const char* name, const Type& type) {
  raise<ValueError>(std::string(name) + ": one branch returns an undefined Tensor where another returns " +
                    to_string(type) + "; return a value in each");
}

void require_same_type(const char* name, const Type& one, const Type& other) {
  if (one.shape == other.shape && one.dtype == other.dtype) return;
  raise<ValueError>(std::string(name) + ": the branches' results differ in type: " + to_string(one) + " and " +
                    to_string(other) + "; every branch must return one shape and dtype");
}

void require_one_element(const char* name, const Type& type) {
  if (type.shape.numel() != 1)
    raise<ValueError>(std::string(name) + ": the predicate or index is " + to_string(type) +
                      "; it must have one element");
}

void require_same_state(const char* name, const tree::Walk& before, const tree::Walk& after) {
  if (!(tree::Structure(before) == tree::Structure(after)))
    raise<ValueError>(std::string(name) + ": the state changes its tree from " + tree::to_string(before) + " to " +
                      tree::to_string(after) + "; every step must return the state's structure");
  for (std::size_t i = 0; i < before.leaves.size(); ++i) {
    const Type one = type_or_none(*before.leaves[i]), other = type_or_none(*after.leaves[i]);
    if (keeps_type(one, other)) continue;
    const std::string path = tree::leaf_path(before, i);
    raise<ValueError>(std::string(name) + ": the state" + (path.empty() ? "" : " (" + path + ")") + " changes from " +
                      to_string(one) + " to " + to_string(other) + "; every step must keep its shape and dtype");
  }
}

void require_below_limit(const char* name, std::int64_t steps, std::int64_t most) {
  if (steps >= most)
    raise<ValueError>(std::string(name) + ": still running after " + std::to_string(most) +
                      " steps; the condition may never become false: mend it, or raise .max_steps");
}

}  // namespace ricci::runs
