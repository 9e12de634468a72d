// expect: no matching function
#include <ricci/ricci.h>

ricci::Tensor f(ricci::Tensor x, ricci::Tensor y) { return (x * y).sum(); }

void misuse() { ricci::grad<1.5>(f)(ricci::ones({3}), ricci::ones({3})); }
