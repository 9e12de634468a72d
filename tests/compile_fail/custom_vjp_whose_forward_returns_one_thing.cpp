// expect: ricci: custom_vjp: fwd must return two things, std::pair{output, residuals}
#include <ricci/ricci.h>

using ricci::Tensor;

void misuse() {
  const auto same = [](Tensor x) { return x; };
  ricci::custom_vjp(same, same, [](int, Tensor ct) { return ct; })(ricci::ones({3}));
}
