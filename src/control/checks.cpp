// What the functions given to conditionals and loops must fulfil.
#include "control/checks.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "control/operands.h"
#include "ops/axes.h"
#include "ricci/control/cond.h"
#include "ricci/primitive/raise.h"
#include "tensor/value.h"

namespace ricci::runs {
namespace {

/// A number is only known to be whole, real or complex until it meets a tensor.
bool keeps_type(const Type& before, const Type& after) {
  const bool fits = before.weak ? category(before.dtype) == category(after.dtype) : before.dtype == after.dtype;
  return fits && before.shape == after.shape;
}

constexpr int deepest_typing = 4;

void mix(std::uint64_t& hash, std::uint64_t x) {
  hash = (hash ^ x) * 0x9E3779B97F4A7C15U;
  hash ^= hash >> 29;
}

void mix(std::uint64_t& hash, const tree::Walk& walk) {
  mix(hash, walk.nodes.size());
  for (const tree::Node& node : walk.nodes)
    mix(hash, std::uint64_t{node.children} << 8 | static_cast<std::uint64_t>(node.kind));
  for (const std::string_view key : walk.keys) mix(hash, std::hash<std::string_view>()(key));
  for (const Tensor* leaf : walk.leaves) {
    if (!leaf->defined()) {
      mix(hash, ~std::uint64_t{0});
      continue;
    }
    const Type& type = value_of(*leaf)->type;
    mix(hash,
        static_cast<std::uint64_t>(type.dtype) << 32 | static_cast<std::uint64_t>(type.weak) << 16 | type.shape.size());
    for (const Size& size : type.shape) mix(hash, static_cast<std::uint64_t>(size.hint()));
  }
}

/// The key of calls that are never remembered: operands hold values that are no Tensors, and the result's structure may
/// depend on them. Zero, because empty places hold zero.
constexpr std::uint64_t never_known = 0;

bool holds_values(const tree::Walk& walk) {
  return std::any_of(walk.nodes.begin(), walk.nodes.end(),
                     [](const tree::Node& node) { return node.kind == tree::NodeKind::value; });
}

}  // namespace

ErasedTree erased(const tree::AnyTree& result) {
  return {.tensors = call::walk(result), .values = tree::values(result), .shown = &result};
}

ResultTypes::ResultTypes(const tree::Walk& result) : structure(result) {
  for (const Tensor* leaf : result.leaves) {
    types.emplace_back();
    if (leaf->defined()) types.back() = type_of(*leaf);
  }
}

void require_same_values(const char* name, const char* finding, const char* reason, const ErasedTree& tree,
                         const tree::CopiedValues& other) {
  const std::size_t i = tree::first_difference(tree.values, other);
  if (i == tree.values.size()) return;
  raise<TransformError>(std::string(name) + ": " + finding + " different values that are no Tensors (" +
                        tree::described_value(call::walk(*tree.shown), i) + "); " + reason + ": make it a Tensor");
}

void require_same_results(const char* name, const ResultTypes& taken, const ResultTypes& other) {
  require_same_tree(name, taken.structure, other.structure);
  for (std::size_t i = 0; i < taken.types.size(); ++i) {
    const auto &one = taken.types[i], &two = other.types[i];
    if (one.has_value() != two.has_value()) raise_undefined_in_one(name, one ? *one : *two);
    if (!one) continue;
    const bool is_number = one->weak != two->weak;
    const Type &tensor = one->weak ? *two : *one, &number = one->weak ? *one : *two;
    if (is_number && tensor.shape == number.shape && number_becomes(number.dtype, tensor.dtype)) continue;
    require_same_type(name, *one, *two);
  }
}

std::uint64_t CheckedBranches::key_of(const tree::Walk& operands, const tree::Walk& result, std::uint64_t branches) {
  if (holds_values(operands)) return never_known;
  std::uint64_t key = branches + 1;
  mix(key, operands);
  mix(key, result);
  return key == never_known ? 1 : key;
}

bool CheckedBranches::knows(std::uint64_t key) const {
  if (key == never_known) return false;
  for (const auto& known : known_)
    if (known.load(std::memory_order_relaxed) == key) return true;
  return false;
}

void CheckedBranches::remember(std::uint64_t key) {
  if (key == never_known) return;
  known_[next_.fetch_add(1, std::memory_order_relaxed) % known_.size()].store(key, std::memory_order_relaxed);
}

int depth_of_branches() {
  const int depth = this_thread.typing_depth;
  if (depth == deepest_typing) throw UncheckedBranch();
  return depth < 0 ? depth : depth + 1;
}

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
                    to_string(other) +
                    "; every branch must return one shape and dtype: convert with to(dtype), or expand to one shape");
}

void require_no_floats(const char* name, const Type& condition) {
  if (is_floating(condition.dtype) || is_complex(condition.dtype))
    raise<TypeError>(std::string(name) + ": the condition is " + to_string(condition) +
                     "; it must be a bool, or an integer that is 0 at the end: compare, as in x > 0");
}

void require_one_element(const char* name, const Type& type) {
  if (type.shape.numel() != 1)
    raise<ValueError>(std::string(name) + ": the predicate or index is " + to_string(type) +
                      "; it must have one element: reduce it with any() or all(), or vmap over it");
}

void require_same_state(const char* name, const tree::Walk& before, const tree::Walk& after) {
  if (!tree::same_structure(before, after))
    raise<ValueError>(std::string(name) + ": the state changes its tree from " + tree::to_string(before) + " to " +
                      tree::to_string(after) + "; every step must return the state's structure");
  for (std::size_t i = 0; i < before.leaves.size(); ++i) {
    const Tensor &one = *before.leaves[i], &other = *after.leaves[i];
    if (one.defined() == other.defined() && (!one.defined() || keeps_type(type_of(one), type_of(other)))) continue;
    const std::string path = tree::leaf_path(before, i);
    const auto type = [](const Tensor& leaf) { return leaf.defined() ? to_string(type_of(leaf)) : "undefined"; };
    raise<ValueError>(std::string(name) + ": the state" + (path.empty() ? "" : " (" + path + ")") + " changes from " +
                      type(one) + " to " + type(other) + "; every step must keep its shape and dtype");
  }
}

void require_below_limit(const char* name, std::int64_t steps, std::int64_t most) {
  if (steps >= most) raise_at_limit(name, most);
}

void raise_at_limit(const char* name, std::int64_t most) {
  raise<ValueError>(std::string(name) + ": still running after " + std::to_string(most) +
                    " steps; the condition may never become false: mend it, or raise .max_steps");
}

void raise_at_limit(const char* name, std::int64_t most, const OriginRef& loop) {
  const RunningEquation equation{.origin = loop.get()};
  const With<&ThreadContext::equation> innermost(&equation);
  const Called as(loop ? loop->called : nullptr);
  raise_at_limit(name, most);
}

}  // namespace ricci::runs
