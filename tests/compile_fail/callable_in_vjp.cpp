// expect: ricci: this callable cannot be called with these arguments
#include <ricci/ricci.h>

ricci::Tensor f(ricci::Tensor x) { return x; }

void misuse() { ricci::vjp(f, ricci::ones({3}), ricci::ones({3})); }
