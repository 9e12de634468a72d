// expect: ricci: map_leaves: the function must return a Tensor
// A leaf cannot be replaced by nothing.
#include "ricci/tree.h"

void misuse(const ricci::Tensor& x) {
  ricci::map_leaves([](ricci::Tensor) {}, x);
}
