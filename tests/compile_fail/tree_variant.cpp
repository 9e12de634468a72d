// expect: ricci: this type would keep its Tensors from transforms
// Not a container that trees know.
#include <variant>

#include "ricci/tree.h"

void misuse(const std::variant<double, ricci::Tensor>& either) { ricci::leaves(either); }
