// Dual values from leaves, and back.
#include "transforms/tangents.h"

#include <numeric>

#include "interpreters/dual.h"
#include "interpreters/node_memory.h"

namespace ricci::runs {
namespace {

std::string tree_of(std::span<const tree::Walk> walks) {
  std::string text = "(";
  for (const tree::Walk& walk : walks) text += (text.size() > 1 ? ", " : "") + tree::to_string(walk);
  return text + ")";
}

}  // namespace

void show_dual(const char* name, Tensor& leaf, ValueRef tangent, Level level) {
  const ValueRef primal = with_own_elements(read(leaf, name));
  ValueRef value = tangent ? new_node<Dual>(level, primal, std::move(tangent)) : primal;
  leaf = show_argument(std::move(value), new DifferentiatedArgument(leaf, level));
}

Outcome split(const Tensor& leaf, const Interpreter& interpreter) {
  if (!leaf.defined()) return {};
  const ValueRef value = read(leaf, "return");
  const AtLevel outside(interpreter.parent);
  Tensor argument = shown_argument(leaf, interpreter.level);
  if (argument.defined()) argument = without_switched_off(argument, "return");
  if (value->level != interpreter.level)
    return {argument.defined() ? argument : without_switched_off(leaf, "return"), Tensor()};
  const auto& dual = static_cast<const Dual&>(*value);
  return {argument.defined() ? argument : wrap(dual.primal), dual.tangent ? wrap(dual.tangent) : Tensor()};
}

void require_primals(const char* name, std::span<const tree::Walk> primals, Place where,
                     std::span<const tree::Walk> tangents) {
  std::vector<int> all(primals.size());
  std::iota(all.begin(), all.end(), 0);
  require_arguments(name, "primal", primals, all, Chosen::together, where, tangents);
}

Expected::Expected(std::span<const tree::Walk> primals) : text(tree_of(primals)) {
  for (const tree::Walk& walk : primals) {
    structures.emplace_back(walk);
    for (const Tensor* leaf : walk.leaves) {
      types.emplace_back();
      if (leaf->defined()) types.back() = type_of(*leaf);
    }
  }
}

std::vector<Tensor> checked_tangents(const char* name, const Expected& primals, std::span<const tree::Walk> tangents,
                                     Place where, const TangentWords& words) {
  const Misfit misfit{.name = name, .what = words.what, .remedy = words.remedy, .where = where};
  std::vector<Tensor> fitted;
  std::size_t at = 0;
  for (std::size_t a = 0; a < tangents.size(); ++a) {
    if (!(tree::Structure(tangents[a]) == primals.structures[a]))
      misfit.raise<ValueError>("the " + words.given + "s are " + tree_of(tangents) + ", the " + words.like + "s are " +
                               primals.text);
    const std::string number = std::to_string(a);
    for (std::size_t i = 0; i < tangents[a].leaves.size(); ++i)
      fitted.push_back(fitted_leaf(misfit, words.given + " " + number, words.like + " " + number, tangents[a], i,
                                   primals.types[at++]));
  }
  return fitted;
}

}  // namespace ricci::runs
