// expect: ricci: this callable cannot be called with these arguments: it must be callable as const (no mutable lambda), take as many arguments, and have one overload that fits; else pass a lambda that calls it
#include <ricci/ricci.h>

struct Model {
  ricci::Tensor weight;
  int depth;
};

ricci::Tensor f(Model m) { return m.weight.sum(); }

ricci::Tensor misuse() { return ricci::grad(f)(ricci::ones({3})); }
