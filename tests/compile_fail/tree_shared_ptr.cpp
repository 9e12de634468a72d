// expect: ricci: this type would keep its Tensors from transforms
// A pointer is copied, not what it points to.
#include <memory>

#include "ricci/tree.h"

struct Model {
  std::shared_ptr<ricci::Tensor> weight;
};

void misuse(const Model& model) { ricci::leaves(model); }
