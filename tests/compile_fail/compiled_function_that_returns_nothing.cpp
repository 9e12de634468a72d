// expect: ricci: a compiled function must return a Tensor, or a tree that holds one: return what it writes to
#include <ricci/ricci.h>

void misuse() {
  ricci::compile([](ricci::Tensor a) { a.add_(1); })(ricci::ones({3}));
}
