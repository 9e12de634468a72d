// A tree as one vector and back.
#include "ricci/ravel.h"

#include <algorithm>

#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/tree/unknowns.h"

namespace ricci::tree {
namespace {

std::vector<Tensor*> parts_of_vector(const Walk& walk) {
  std::vector<Tensor*> parts;
  for (Tensor* leaf : walk.leaves)
    if (leaf->defined() && is_differentiable(leaf->dtype())) parts.push_back(leaf);
  return parts;
}

}  // namespace

Tensor ravel(const Walk& walk) {
  std::vector<Tensor> flat;
  for (const Tensor* part : parts_of_vector(walk)) flat.push_back(part->reshape({-1}));
  return flat.empty() ? zeros({0}) : cat(flat);
}

void unravel(const Tensor& vector, const Walk& into) {
  const std::vector<Tensor*> parts = parts_of_vector(into);
  Shape sizes;
  Size total = 0;
  for (const Tensor* part : parts) {
    sizes.push_back(part->shape().numel());
    total = total + sizes.back();
  }
  if (!vector.defined() || vector.shape() != Shape{total})
    raise<ValueError>("unravel: the vector is " + type_of(vector) + ", the tree has " + std::to_string(total.hint()) +
                      " elements; give a vector of as many");
  const std::vector<Tensor> pieces = split(vector, sizes, 0);
  for (std::size_t i = 0; i < parts.size(); ++i)
    *parts[i] = to(pieces[i].reshape(parts[i]->shape()), parts[i]->dtype());
}

void require_unknowns(const char* name, const Walk& start) {
  const auto is_given = [](const Tensor* leaf) { return leaf->defined(); };
  const auto is_value = [](const Node& node) { return node.kind == NodeKind::value; };
  const bool has_leaves = std::ranges::any_of(start.leaves, is_given) || std::ranges::any_of(start.nodes, is_value);
  if (has_leaves && parts_of_vector(start).empty())
    raise<TypeError>(std::string(name) + ": the start " + to_string(start) +
                     " has no unknowns, which are Tensors of a floating dtype; convert what is to be found to one");
}

}  // namespace ricci::tree
