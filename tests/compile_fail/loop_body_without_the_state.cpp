// expect: ricci: the body of a loop must take the state as its one argument
#include <ricci/ricci.h>

using ricci::Tensor;

void misuse() {
  ricci::while_loop([](Tensor x) { return x < 3; }, [](Tensor x, Tensor) { return x; }, ricci::ones({}));
}
