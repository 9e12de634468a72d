// expect: ricci: the branches must return one C++ type
#include <ricci/ricci.h>

using ricci::Tensor;

void misuse() {
  ricci::cond(ricci::ones({}), [](Tensor x) { return x; }, [](Tensor x) { return std::pair{x, x}; }, ricci::ones({3}));
}
