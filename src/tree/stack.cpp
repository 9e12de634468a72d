// Stacking the leaves of many trees and taking them apart again. Knows two operations by declaration: stack, unbind.
#include "ricci/ops/shape.h"
#include "ricci/primitive/raise.h"
#include "ricci/tree.h"

namespace ricci::tree {
namespace {

void refuse_ragged(const char* name, const Walk& walk) {
  for (const std::size_t leaf : leaves_of_ragged(walk))
    raise<ValueError>(std::string(name) + ": " + described(walk, leaf) +
                      ", a part of a Ragged, of which no axis runs over its rows; stack them with stack_rows, or take "
                      "them as r[i]");
}

void require_equal_axes(const Walk& walk) {
  refuse_ragged("unstack_trees", walk);
  if (walk.leaves.empty())
    raise<ValueError>("unstack_trees: the tree holds no Tensor: " + to_string(walk) + "; pass one that does");
  for (std::size_t i = 0; i < walk.leaves.size(); ++i) {
    if (!walk.leaves[i]->defined() || walk.leaves[i]->dim() == 0) {
      raise<ValueError>("unstack_trees: " + described(walk, i) + "; every Tensor needs an axis 0 to take apart");
    }
    if (walk.leaves[i]->size(0) != walk.leaves[0]->size(0)) {
      raise<ValueError>("unstack_trees: sizes along axis 0 differ: " + described(walk, 0) + ", " + described(walk, i) +
                        "; all must hold one number of trees");
    }
  }
}

/// Requires: the first tree's leaves are defined.
void require_same_shapes(const char* name, const Walk& first, const Walk& other, std::size_t position) {
  for (std::size_t i = 0; i < first.leaves.size(); ++i) {
    const Tensor &one = *first.leaves[i], &two = *other.leaves[i];
    if (two.defined() && one.shape() == two.shape()) continue;
    raise<ValueError>(std::string(name) + ": the trees have different shapes: in the first " + described(first, i) +
                      ", in number " + std::to_string(position) + " " + described(other, i) +
                      "; each Tensor must have one shape in all of them");
  }
}

}  // namespace

void refuse_no_trees() { raise<ValueError>("stack_trees: there is no tree to stack; pass a vector that holds one"); }

void require_same_values(const Walk& first, const Values& values, const Values& other, std::size_t position) {
  const std::size_t i = first_difference(values, other);
  if (i == values.size()) return;
  raise<ValueError>("stack_trees: the first tree and number " + std::to_string(position) +
                    " hold different values that are no Tensors (" + described_value(first, i) +
                    "); give all trees one value, or make it a Tensor, which is stacked");
}

void stack_leaves(const char* name, const std::vector<Walk>& trees, const Walk& into) {
  refuse_ragged(name, into);
  for (std::size_t i = 0; i < into.leaves.size(); ++i)
    if (!into.leaves[i]->defined())
      raise<ValueError>(std::string(name) + ": " + described(into, i) + "; every Tensor needs a value to be stacked");
  for (std::size_t k = 1; k < trees.size(); ++k) {
    require_same_structure(name, trees[0], trees[k], k + 1);
    require_same_shapes(name, trees[0], trees[k], k + 1);
  }
  for (std::size_t leaf = 0; leaf < into.leaves.size(); ++leaf) {
    std::vector<Tensor> parts;
    parts.reserve(trees.size());
    for (const Walk& tree : trees) parts.push_back(*tree.leaves[leaf]);
    *into.leaves[leaf] = ops::stack(parts);
  }
}

std::vector<std::vector<Tensor>> unstack_leaves(const Walk& walk) {
  require_equal_axes(walk);
  std::vector<std::vector<Tensor>> slices;
  slices.reserve(walk.leaves.size());
  for (const Tensor* leaf : walk.leaves) slices.push_back(ops::unbind(*leaf));
  return slices;
}

}  // namespace ricci::tree
