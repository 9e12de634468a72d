// expect: ricci: a struct that cannot be copied and assigned cannot be a tree
// Transforms copy trees.
#include <memory>

#include "ricci/tree.h"

struct Model {
  ricci::Tensor weight;
  std::unique_ptr<int> state;
};

void misuse(const Model& model) { ricci::leaves(model); }
