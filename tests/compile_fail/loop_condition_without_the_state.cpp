// expect: ricci: the condition of a loop must take the state as its one argument
#include <ricci/ricci.h>

using ricci::Tensor;

void misuse() {
  ricci::while_loop([] { return ricci::ones({}); }, [](Tensor x) { return x; }, ricci::ones({}));
}
