// expect: ricci: the function that grad differentiates must return a Tensor: a C++ number, such as x.item(), has no
#include <ricci/ricci.h>

void misuse() {
  ricci::grad([](ricci::Tensor) { return 3; })(ricci::ones({3}));
}
