// Trees: any function argument or result may be a Tensor, a std::tuple, pair, array, vector, optional or
// map<std::string, T>, an aggregate struct of those, or a class with a static `tree_fields`. Numbers, strings, enums
// and other copyable values in a tree are left alone. This page is what a user calls; tree/kind.h says what is what.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/tree/values.h"
#include "ricci/tree/walk.h"

namespace ricci {

namespace tree {

std::vector<Tensor> copy_leaves(const Walk& walk);
/// Throws ValueError unless the values of tree number `position` are those of the first.
void require_same_values(const Walk& first, const Values& values, const Values& other, std::size_t position);
void stack_leaves(const char* name, const std::vector<Walk>& trees, const Walk& into);

/// For each leaf its slices along axis 0, all equally many. ValueError if a leaf has no axis 0 or the sizes differ.
std::vector<std::vector<Tensor>> unstack_leaves(const Walk& walk);
[[noreturn]] void refuse_no_trees();

/// f on copies of the leaves if it takes those, else on lvalues.
template <class F, class... Leaf>
Tensor call_on_leaves(F& f, Leaf... leaves) {
  if constexpr (std::is_invocable_v<F&, Leaf...>) {
    static_assert(std::is_convertible_v<std::invoke_result_t<F&, Leaf...>, Tensor>,
                  "ricci: map_leaves: the function must return a Tensor");
    return f(std::move(leaves)...);
  } else {
    static_assert(std::is_invocable_v<F&, Leaf&...>,
                  "ricci: map_leaves: the function must take one Tensor for each tree");
    return f(leaves...);
  }
}

}  // namespace tree

/// The Tensors of a tree, from left to right; maps in the order of their keys.
template <class T>
std::vector<Tensor> leaves(const T& tree) {
  tree::Walk walk;
  tree::walk(tree, walk);
  return tree::copy_leaves(walk);
}

/// The first tree with each Tensor replaced by f(that Tensor, the Tensors at its place in the other trees). Values that
/// are no Tensors are the first tree's. ValueError if the structures differ. An overloaded operation means its form of
/// one Tensor for one tree, of two Tensors for two.
///   map_leaves([](Tensor p, Tensor g) { return p - 0.1 * g; }, parameters, gradients)
///   map_leaves(rc::zeros_like, parameters)
template <class F, class T, class... More>
tree::plain_t<T> map_leaves(F&& f, const T& first, const More&... more) {
  tree::plain_t<T> result = first;
  tree::Walk into;
  tree::walk(result, into);
  std::array<tree::Walk, sizeof...(More)> others;
  [[maybe_unused]] std::size_t k = 0;
  (tree::walk(more, others[k++]), ...);
  for (k = 0; k < others.size(); ++k) tree::require_same_structure("map_leaves", into, others[k], k + 2);
  for (std::size_t i = 0; i < into.leaves.size(); ++i) {
    *into.leaves[i] = [&]<std::size_t... K>(std::index_sequence<K...>) {
      return tree::call_on_leaves(f, *into.leaves[i], *others[K].leaves[i]...);
    }(std::index_sequence_for<More...>{});
  }
  return result;
}

template <class T>
tree::plain_t<T> map_leaves(Tensor (*f)(const Tensor&), const T& tree) {
  return map_leaves([f](const Tensor& leaf) { return f(leaf); }, tree);
}
template <class T, class U>
tree::plain_t<T> map_leaves(Tensor (*f)(const Tensor&, const Tensor&), const T& first, const U& second) {
  return map_leaves([f](const Tensor& one, const Tensor& other) { return f(one, other); }, first, second);
}

namespace tree {
/// What stack_trees does, for an operation that errors call `name`. Requires: there is a tree.
template <class T>
T stacked(const char* name, const std::vector<T>& trees) {
  T result = trees.front();
  Walk into;
  walk(result, into);
  std::vector<Walk> walks(trees.size());
  for (std::size_t i = 0; i < trees.size(); ++i) walk(trees[i], walks[i]);
  stack_leaves(name, walks, into);
  return result;
}
}  // namespace tree

/// One tree of many: every Tensor leaf gains axis 0, of the number of trees. ValueError if there is no tree, if their
/// structures or the shapes of one leaf differ, or if a value that is no Tensor differs; one without == is the first
/// tree's.
///   Mlp ensemble = stack_trees(std::vector<Mlp>{m1, m2, m3});
template <class T>
T stack_trees(const std::vector<T>& trees) {
  if (trees.empty()) tree::refuse_no_trees();
  T result = tree::stacked("stack_trees", trees);
  tree::Walk first;
  tree::walk(trees[0], first);
  const tree::Values values = tree::values(trees[0]);
  for (std::size_t i = 1; i < trees.size(); ++i)
    tree::require_same_values(first, values, tree::values(trees[i]), i + 1);
  return result;
}

/// The reverse of stack_trees: one tree for each index of axis 0, as views. ValueError if there is no Tensor leaf, a
/// leaf has no axis 0, or their sizes along it differ.
template <class T>
std::vector<T> unstack_trees(const T& tree) {
  tree::Walk from;
  tree::walk(tree, from);
  const std::vector<std::vector<Tensor>> slices = tree::unstack_leaves(from);
  std::vector<T> result(slices.front().size(), tree);
  for (std::size_t i = 0; i < result.size(); ++i) {
    tree::Walk into;
    tree::walk(result[i], into);
    for (std::size_t leaf = 0; leaf < slices.size(); ++leaf) *into.leaves[leaf] = slices[leaf][i];
  }
  return result;
}

}  // namespace ricci
