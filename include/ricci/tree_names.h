// The Tensors of a tree by name, as errors print them: `layers[0].weight`. A tree is saved as the file of its named
// leaves (io.h) and loaded by name. Knows no file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ricci/tree/walk.h"

namespace ricci {

namespace tree {

std::vector<std::string> leaf_names(const Walk& walk);
std::map<std::string, Tensor> named_leaves(const Walk& walk);
void load_leaves(const Walk& into, const std::map<std::string, Tensor>& named);

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
/// Tensor of `like` takes one of any shape and dtype, or stays undefined. ValueError, which lists all of them, for
/// Tensors that are missing, names that are no Tensor of the tree, and shapes that differ; TypeError if a Tensor of a
/// higher category is given (complex for real, real for integer).
///   Mlp trained = rc::load_leaves(mlp, rc::load_npz("mlp.npz"));
template <class T>
[[nodiscard]] T load_leaves(const T& like, const std::map<std::string, Tensor>& named) {
  T result = like;
  tree::Walk into;
  tree::walk(result, into);
  tree::load_leaves(into, named);
  return result;
}

}  // namespace ricci
