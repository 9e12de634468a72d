// expect: ricci: the tangents must have the C++ types of the primals
#include <ricci/ricci.h>

#include <vector>

void misuse() {
  const ricci::Tensor x = ricci::ones({3});
  ricci::jvp([](ricci::Tensor a) { return a * 2; }, x, std::vector<ricci::Tensor>{x});
}
