// expect: no matching function
#include <ricci/ricci.h>

ricci::Tensor f(ricci::Tensor x, ricci::Tensor y) { return x * y; }

void misuse() { ricci::jacrev<0.5>(f)(ricci::ones({3}), ricci::ones({3})); }
