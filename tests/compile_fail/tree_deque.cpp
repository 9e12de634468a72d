// expect: ricci: this type would keep its Tensors from transforms
// Not a container that trees know.
#include <deque>

#include "ricci/tree.h"

void misuse(const std::deque<ricci::Tensor>& tensors) { ricci::leaves(tensors); }
