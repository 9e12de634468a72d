// expect: ricci: has_aux needs a function that returns exactly two things
#include <ricci/ricci.h>

ricci::Tensor f(ricci::Tensor x) { return x.sum(); }

void misuse() { ricci::grad(f, ricci::has_aux)(ricci::ones({3})); }
