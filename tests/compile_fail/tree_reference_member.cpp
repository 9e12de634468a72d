// expect: ricci: a struct that cannot be copied and assigned cannot be a tree
// A reference would make copies write to the original.
#include "ricci/tree.h"

struct Model {
  ricci::Tensor& weight;
};

void misuse(const Model& model) { ricci::leaves(model); }
