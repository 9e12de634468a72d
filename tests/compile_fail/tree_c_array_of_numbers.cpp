// expect: ricci: a struct with a C array cannot be a tree
// A C array is not copied as a field is.
#include "ricci/tree.h"

struct Model {
  ricci::Tensor weight;
  int sizes[2];
};

void misuse(const Model& model) { ricci::leaves(model); }
