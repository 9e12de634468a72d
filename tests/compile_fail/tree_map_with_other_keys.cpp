// expect: ricci: this type would keep its Tensors from transforms
// Only maps from strings are trees.
#include <map>

#include "ricci/tree.h"

void misuse(const std::map<int, ricci::Tensor>& tensors) { ricci::leaves(tensors); }
