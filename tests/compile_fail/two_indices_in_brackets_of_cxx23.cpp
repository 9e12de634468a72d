// expect in C++23: ricci: brackets take one index: write x[i][j] or x.index({i, j})
#include <ricci/ricci.h>

int main() {
  const ricci::Tensor x = ricci::ones({2, 2});
  return x[0, 1].item<int>();
}
