// expect: ricci: this callable cannot be called with these arguments
#include <ricci/ricci.h>

struct Model {
  ricci::Tensor weight;
  int depth;
};

ricci::Tensor f(Model m) { return m.weight.sum(); }

ricci::Tensor misuse() { return ricci::grad(f)(ricci::ones({3})); }
