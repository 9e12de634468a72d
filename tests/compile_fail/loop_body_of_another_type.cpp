// expect: ricci: the body of a loop must return the type of the state
#include <ricci/ricci.h>

using ricci::Tensor;

void misuse() {
  ricci::while_loop([](Tensor x) { return x < 3; }, [](Tensor x) { return std::pair{x, x}; }, ricci::ones({}));
}
