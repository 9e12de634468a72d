// expect: ricci: this callable cannot be called with these arguments: it must be callable as const (no mutable lambda), take as many arguments, and have one overload that fits; else pass a lambda that calls it
#include <ricci/ricci.h>

ricci::Tensor f(ricci::Tensor x) { return x; }

void misuse() { ricci::vjp(f, ricci::ones({3}), ricci::ones({3})); }
