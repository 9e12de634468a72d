// The Tensors of a tree by name, as errors print them: `layers[0].weight`. A tree is saved as the file of its named
// leaves (io.h) and loaded by name. Knows no file.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "ricci/tree/walk.h"

namespace ricci {

namespace tree {

std::vector<std::string> leaf_names(const Walk& walk);
std::vector<std::string> empty_list_names(const Walk& walk);
std::map<std::string, Tensor> named_leaves(const Walk& walk);
void load_leaves(const Walk& into, const std::map<std::string, Tensor>& named);
/// Of each empty list, from left to right: how many elements names speak of, from 0 on without a gap.
std::vector<std::size_t> sizes_of_empty_lists(const Walk& walk, const std::map<std::string, Tensor>& named);

/// Resizes the empty vectors, in the order of a walk, as `sizes` says; whether one has grown.
template <class T>
bool resize_empty_lists(T& object, const std::size_t*& sizes) {
  bool has_grown = false;
  const auto resize_all = [&](auto&... parts) { ((has_grown |= resize_empty_lists(parts, sizes)), ...); };
  if constexpr (is_leaf<T> || TensorLike<T> || std::is_same_v<T, AnyTree>) {
  } else if constexpr (is_optional<T>) {
    if (object) resize_all(*object);
  } else if constexpr (is_tuple<T>) {
    std::apply(resize_all, object);
  } else if constexpr (is_list<T>) {
    for (auto& part : object) resize_all(part);
    if (!object.empty()) return has_grown;
    const std::size_t size = *sizes++;
    if constexpr (requires { object.resize(size); } && std::is_default_constructible_v<typename T::value_type>)
      object.resize(size);
    has_grown = !object.empty();
  } else if constexpr (is_map<T>) {
    for (auto& [key, part] : object) resize_all(part);
  } else if constexpr (HasFields<T>) {
    std::apply(resize_all, T::tree_fields(object));
  } else {
    with_fields(object, resize_all);
  }
  return has_grown;
}

}  // namespace tree

/// Where each Tensor of a tree is, in the order of `leaves`: members by name, containers by index or key. The name of a
/// lone Tensor is empty.
///   rc::leaf_names(mlp)   // {"layers[0].weight", "layers[0].bias"}
template <class T>
std::vector<std::string> leaf_names(const T& tree) {
  tree::Walk walk;
  tree::walk(tree, walk);
  return tree::leaf_names(walk);
}

/// The Tensors of a tree under their names; undefined ones are left out. ValueError if the tree is a lone Tensor, which
/// has no name, or if two Tensors share a name.
///   rc::save_npz("mlp.npz", rc::named_leaves(mlp));
template <class T>
std::map<std::string, Tensor> named_leaves(const T& tree) {
  tree::Walk walk;
  tree::walk(tree, walk);
  return tree::named_leaves(walk);
}

/// A tree as `like`, with each Tensor replaced by the one of its name, converted to its dtype as by `to`: float64 is
/// rounded where the leaf is float32. Names may also be spelt as PyTorch spells them: `layers.0.weight`. An undefined
/// Tensor of `like` takes one of any shape and dtype, or stays undefined. An empty vector of `like` takes as many
/// elements as the names speak of, each made by its default constructor; it stays empty if they have none. Its
/// elements are counted up to the first without a name: a vector such as {{}, {x}}, with an empty element before a full
/// one, cannot come back from its names alone, so `like` must have its elements. ValueError, which lists all of them,
/// for Tensors that are missing, names that are no Tensor of the tree, and shapes that differ; TypeError if a Tensor of
/// a higher category is given (complex for real, real for integer).
///   Mlp trained = rc::load_leaves(mlp, rc::load_npz("mlp.npz"));
template <class T>
[[nodiscard]] T load_leaves(const T& like, const std::map<std::string, Tensor>& named) {
  T result = like;
  for (bool is_done = false; !is_done;) {  // what is in a vector that has grown may be an empty vector
    tree::Walk walk;
    tree::walk(result, walk);
    const std::vector<std::size_t> sizes = tree::sizes_of_empty_lists(walk, named);
    const std::size_t* next = sizes.data();
    is_done = !tree::resize_empty_lists(result, next);
  }
  tree::Walk into;
  tree::walk(result, into);
  tree::load_leaves(into, named);
  return result;
}

}  // namespace ricci
