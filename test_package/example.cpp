// A gradient for each example, compiled.
#include <ricci/ricci.h>

#include <iostream>

namespace rc = ricci;
using rc::Tensor;

int main() {
  const auto loss = [](Tensor w, Tensor x) { return (sin(w) * x).sum(); };
  const auto each = rc::compile(rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0}}));
  std::cout << each(rc::zeros({3}), rc::ones({2, 3})) << "\n";
}
