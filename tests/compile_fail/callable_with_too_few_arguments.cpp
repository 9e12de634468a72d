// expect: ricci: this callable cannot be called with these arguments: it must be callable as const (no mutable lambda), take as many arguments, and have one overload that fits; else pass a lambda that calls it
#include <ricci/ricci.h>

ricci::Tensor f(ricci::Tensor x, ricci::Tensor y) { return x * y; }

ricci::Tensor misuse() { return ricci::vmap(f)(ricci::ones({3})); }
