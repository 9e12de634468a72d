// expect: ricci: map_leaves: the function must take one Tensor for each tree
// Two trees need a function of two Tensors.
#include "ricci/tree.h"

void misuse(const ricci::Tensor& x) {
  ricci::map_leaves([](ricci::Tensor a) { return a; }, x, x);
}
