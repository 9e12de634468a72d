// expect: ricci: the step of scan must return the type of the carry
#include <ricci/ricci.h>

using ricci::Tensor;

void misuse() {
  ricci::scan([](Tensor carry, Tensor x) { return std::pair{std::pair{carry, x}, x}; }, ricci::ones({}),
              ricci::ones({3}));
}
