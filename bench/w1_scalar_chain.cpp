// W1: fifty times sin, then times 1.1, on one number: the price of an operation and of each level of transforms.
#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

Tensor sines(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < 50; ++i) y = sin(y) * 1.1;
  return y;
}

Tensor half() { return rc::tensor(0.5F); }

}  // namespace

std::vector<bench::Case> bench::scalar_chain() {
  return {
      make_case("W1/fwd", [] { return call(sines, half()); }),
      make_case("W1/grad", [] { return call(rc::grad(sines), half()); }),
      make_case("W1/grad_grad", [] { return call(rc::grad(rc::grad(sines)), half()); }),
      make_case("W1/vmap_grad_1024", [] { return call(rc::vmap(rc::grad(sines)), uniform({1024}, 1, 0.1, 1.0)); }),
  };
}
