// expect: ricci: jvp takes all primals as one argument and all tangents as another: jvp(f, std::tuple{x, y},
#include <ricci/ricci.h>

void misuse() {
  const ricci::Tensor x = ricci::ones({3});
  ricci::jvp([](ricci::Tensor a, ricci::Tensor b) { return a * b; }, x, x, x, x);
}
