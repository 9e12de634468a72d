// expect: ricci: a struct with a base class cannot be a tree
// A base class is no field.
#include "ricci/tree.h"

struct Base {
  ricci::Tensor weight;
};
struct Model : Base {
  ricci::Tensor bias;
};

void misuse(const Model& model) { ricci::leaves(model); }
