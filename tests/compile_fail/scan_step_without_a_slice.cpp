// expect: ricci: the step of scan must take the carry and one slice
#include <ricci/ricci.h>

using ricci::Tensor;

void misuse() {
  ricci::scan([](Tensor carry) { return std::pair{carry, carry}; }, ricci::ones({}), ricci::ones({3}));
}
