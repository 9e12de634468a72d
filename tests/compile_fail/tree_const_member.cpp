// expect: ricci: a struct that cannot be copied and assigned cannot be a tree
// A const member cannot be written.
#include "ricci/tree.h"

struct Model {
  ricci::Tensor weight;
  const double rate = 0.1;
};

void misuse(const Model& model) { ricci::leaves(model); }
