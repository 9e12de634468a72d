// expect: ricci: argnum out of range
#include <ricci/ricci.h>

ricci::Tensor f(ricci::Tensor x, ricci::Tensor y) { return (x * y).sum(); }

ricci::Tensor misuse() { return ricci::grad<2>(f)(ricci::ones({3}), ricci::ones({3})); }
