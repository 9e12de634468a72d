// expect: ricci: the body of fori_loop must return the type of the state
#include <ricci/ricci.h>

using ricci::Tensor;

void misuse() {
  ricci::fori_loop(0, 5, [](Tensor, Tensor x) { return x * 2; }, 1.0);
}
