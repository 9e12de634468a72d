// expect: ricci: argnum repeated
#include <ricci/ricci.h>

ricci::Tensor f(ricci::Tensor x, ricci::Tensor y) { return (x * y).sum(); }

void misuse() { ricci::grad<0, 0>(f)(ricci::ones({3}), ricci::ones({3})); }
