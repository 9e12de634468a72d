// expect: ricci: the step of scan must return std::pair{carry, y}
#include <ricci/ricci.h>

using ricci::Tensor;

void misuse() {
  ricci::scan([](Tensor carry, Tensor) { return carry; }, ricci::ones({}), ricci::ones({3}));
}
