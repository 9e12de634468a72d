// expect: ricci: a struct with a base class cannot be a tree
// Not even an empty base class is allowed.
#include "ricci/tree.h"

struct Tag {};
struct Model : Tag {
  ricci::Tensor bias;
};

void misuse(const Model& model) { ricci::leaves(model); }
