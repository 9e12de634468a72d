// expect: ricci: this type would keep its Tensors from transforms
// The order of its elements is not fixed.
#include <string>
#include <unordered_map>

#include "ricci/tree.h"

void misuse(const std::unordered_map<std::string, ricci::Tensor>& tensors) { ricci::leaves(tensors); }
