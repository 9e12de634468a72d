// A tree as one vector and back, for what takes vectors alone: solvers, Jacobians as matrices, samplers.
#pragma once

#include "ricci/tree/walk.h"

namespace ricci {

namespace tree {

Tensor ravel(const Walk& walk);
void unravel(const Tensor& vector, const Walk& into);

}  // namespace tree

/// The way back from a vector to a tree as `like`: each leaf in its shape and dtype. Integer and boolean Tensors and
/// values that are no Tensors are those of `like`. ValueError if the vector has another size.
template <class T>
struct Unravel {
  T like;

  T operator()(const Tensor& vector) const {
    T result = like;
    tree::Walk into;
    tree::walk(result, into);
    tree::unravel(vector, into);
    return result;
  }
};

template <class T>
struct Raveled {
  Tensor vector;  ///< [n]
  Unravel<T> unravel;
};

/// The elements of all leaves, one leaf after the other, each row-major, in their promoted dtype; and the way back.
/// Integer and boolean Tensors are no part of it (tree_arithmetic.h).
///   auto [vector, unravel] = rc::ravel(mlp);
///   Tensor h = rc::hessian([&](Tensor v) { return loss(unravel(v)); })(vector);  // [n, n]
template <class T>
Raveled<tree::plain_t<T>> ravel(const T& tree) {
  tree::Walk walk;
  tree::walk(tree, walk);
  return {tree::ravel(walk), {tree}};
}

}  // namespace ricci
