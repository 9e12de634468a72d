// Arithmetic over the leaves of trees, made of operations on single leaves.
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/tree_arithmetic.h"

namespace ricci::tree {
namespace {

bool is_vector_part(const Tensor& leaf) { return leaf.defined() && is_differentiable(leaf.dtype()); }

/// Calls f(number of the leaf) for each pair of leaves that are parts of the vectors.
template <class F>
void for_each_pair(const char* call, const Walk& left, const Walk& right, F f) {
  require_same_structure(call, left, right, 2);
  for (std::size_t i = 0; i < left.leaves.size(); ++i) {
    const Tensor &one = *left.leaves[i], &other = *right.leaves[i];
    if (one.defined() != other.defined())
      raise<ValueError>(std::string(call) + ": " + described(left, i) + " in the first tree, " + type_of(other) +
                        " in the second; both or neither must be defined");
    if (is_vector_part(one)) f(i);
  }
}

}  // namespace

void add(const Walk& into, const Walk& other) {
  for_each_pair("tree_add", into, other, [&](std::size_t i) { *into.leaves[i] = *into.leaves[i] + *other.leaves[i]; });
}

void subtract(const Walk& into, const Walk& other) {
  for_each_pair("tree_sub", into, other, [&](std::size_t i) { *into.leaves[i] = *into.leaves[i] - *other.leaves[i]; });
}

void scale(const Tensor& factor, const Walk& into) {
  for (Tensor* leaf : into.leaves)
    if (is_vector_part(*leaf)) *leaf = factor * *leaf;
}

Tensor dot(const Walk& left, const Walk& right) {
  Tensor total = 0.0;
  for_each_pair("tree_dot", left, right, [&](std::size_t i) {
    const Tensor &one = *left.leaves[i], &other = *right.leaves[i];
    if (one.shape() != other.shape())
      raise<ValueError>("tree_dot: " + described(left, i) + " in the first tree, " + type_of(other) +
                        " in the second; the shapes must agree");
    total = total + vdot(one.reshape({-1}), other.reshape({-1}));
  });
  return total;
}

Tensor norm(const Walk& walk) {
  std::vector<Tensor> norms;
  for (const Tensor* leaf : walk.leaves)
    if (is_vector_part(*leaf)) norms.push_back(ops::norm(*leaf));
  if (norms.empty()) return 0.0;
  return norms.size() == 1 ? norms[0] : ops::norm(stack(norms));
}

}  // namespace ricci::tree
