// expect: ricci: a branch must return a value
#include <ricci/ricci.h>

using ricci::Tensor;

void misuse() {
  ricci::cond(ricci::ones({}), [](Tensor) {}, [](Tensor) {}, ricci::ones({3}));
}
