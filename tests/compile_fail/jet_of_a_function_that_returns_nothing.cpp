// expect: ricci: jet needs a function that returns a Tensor, or a tree of Tensors
#include <ricci/ricci.h>

#include <vector>

void misuse() {
  const ricci::Tensor x = ricci::ones({3});
  ricci::jet([](ricci::Tensor) {}, x, std::vector{x});
}
