// expect: ricci: the tangents must have the C++ types of the primals
#include <ricci/ricci.h>

#include <tuple>

void misuse() {
  const ricci::Tensor x = ricci::ones({3});
  ricci::jvp([](ricci::Tensor a, ricci::Tensor b) { return a * b; }, std::tuple{x, x}, std::tuple{x});
}
