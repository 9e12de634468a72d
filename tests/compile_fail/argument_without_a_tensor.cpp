// expect: ricci: a differentiated argument must be able to hold a Tensor
#include <ricci/ricci.h>

ricci::Tensor f(double x, ricci::Tensor y) { return y.sum() * x; }

void misuse() { ricci::grad(f)(2.0, ricci::ones({3})); }
