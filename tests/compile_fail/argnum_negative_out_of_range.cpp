// expect: ricci: argnum out of range
#include <ricci/ricci.h>

ricci::Tensor f(ricci::Tensor x, ricci::Tensor y) { return x * y; }

ricci::Tensor misuse() { return ricci::jacfwd<-3>(f)(ricci::ones({3}), ricci::ones({3})); }
