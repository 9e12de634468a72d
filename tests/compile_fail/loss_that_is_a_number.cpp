// expect: ricci: the function that grad differentiates must return a Tensor: a C++ number, such as x.item(), has no
#include <ricci/ricci.h>

void misuse() {
  ricci::grad([](ricci::Tensor a) { return a.sum().item(); })(ricci::ones({3}));
}
