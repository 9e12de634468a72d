// expect: ricci: this callable cannot be called with these arguments
#include <ricci/ricci.h>

ricci::Tensor f(ricci::Tensor x, ricci::Tensor y) { return x * y; }

ricci::Tensor misuse() { return ricci::vmap(f)(ricci::ones({3})); }
