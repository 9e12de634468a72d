// Trees as vectors: sums, multiples, inner products and norms, leaf by leaf. For optimisers, solvers and line searches
// over parameters. Integer and boolean Tensors are no part of the vector, as they have no gradient: they stay as they
// are, and count in no norm. So do values that are no Tensors. Knows nothing of files or transforms.
#pragma once

#include "ricci/tree/walk.h"

namespace ricci {

namespace tree {

void add(const Walk& into, const Walk& other);
void subtract(const Walk& into, const Walk& other);
void scale(const Tensor& factor, const Walk& into);
Tensor dot(const Walk& left, const Walk& right);
Tensor norm(const Walk& walk);

/// `left` after `combine` has changed its leaves by those of `right`.
template <class T, class U>
plain_t<T> combined(const T& left, const U& right, void (*combine)(const Walk& into, const Walk& other)) {
  plain_t<T> result = left;
  Walk into, other;
  walk(result, into);
  walk(right, other);
  combine(into, other);
  return result;
}

}  // namespace tree

/// left + right, leaf by leaf, with the rules of `+` for dtypes and shapes; an undefined leaf of both stays undefined.
/// ValueError if the structures differ, or only one of two leaves is defined.
///   Mlp next = rc::tree_add(mlp, rc::tree_scale(-0.1, gradient));
template <class T, class U>
tree::plain_t<T> tree_add(const T& left, const U& right) {
  return tree::combined(left, right, tree::add);
}

/// left - right, leaf by leaf. As tree_add.
template <class T, class U>
tree::plain_t<T> tree_sub(const T& left, const U& right) {
  return tree::combined(left, right, tree::subtract);
}

/// factor times each leaf. factor: a number, or a tensor that broadcasts against each leaf.
///   rc::tree_scale(1 / rc::maximum(rc::tree_norm(g) / bound, 1), g)   // clips a gradient
template <class T>
tree::plain_t<T> tree_scale(const Tensor& factor, const T& tree) {
  tree::plain_t<T> result = tree;
  tree::Walk into;
  tree::walk(result, into);
  tree::scale(factor, into);
  return result;
}

/// The sum over all leaves of conj(left) times right: 0-dim, and 0 for trees without Tensors. ValueError if the
/// structures or the shapes of a leaf differ.
template <class T, class U>
Tensor tree_dot(const T& left, const U& right) {
  tree::Walk one, other;
  tree::walk(left, one);
  tree::walk(right, other);
  return tree::dot(one, other);
}

/// The square root of the sum of all |element|²: real, 0-dim, and 0 for a tree without Tensors. Elements whose squares
/// would overflow are no harm where those of `norm` are none. Its derivative at 0 is 0, as that of `norm`.
///   rc::vmap([&](Tensor x) { return rc::tree_norm(rc::grad(loss)(mlp, x)); })(batch)
template <class T>
Tensor tree_norm(const T& tree) {
  tree::Walk walk;
  tree::walk(tree, walk);
  return tree::norm(walk);
}

}  // namespace ricci
