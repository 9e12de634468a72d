// expect: ricci: the cotangent must have the C++ type of the function's output
#include <ricci/ricci.h>

#include <vector>

void misuse() {
  auto [y, pullback] = ricci::vjp([](ricci::Tensor x) { return x * 2; }, ricci::ones({3}));
  pullback(std::vector<ricci::Tensor>{ricci::ones({3})});
}
