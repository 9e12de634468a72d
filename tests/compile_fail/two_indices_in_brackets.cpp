// expect: comma-subscript
// In C++20 `0, 1` is one expression with the value 1.
#include <ricci/ops.h>  // headers read in advance lose a pragma

int main() {
  const ricci::Tensor x = ricci::ones({2, 2});
  return x[0, 1].item<int>();
}
