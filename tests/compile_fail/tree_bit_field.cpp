// expect: ricci: a struct with a bit-field cannot be a tree
// A bit-field cannot be referred to.
#include "ricci/tree.h"

struct Model {
  ricci::Tensor weight;
  int kind : 3;
};

void misuse(const Model& model) { ricci::leaves(model); }
