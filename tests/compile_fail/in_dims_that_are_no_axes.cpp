// expect: no matching function
#include <ricci/ricci.h>

ricci::Tensor f(ricci::Tensor x) { return x; }

void misuse() { ricci::vmap(f, {.in_dims = "0"})(ricci::ones({3})); }
