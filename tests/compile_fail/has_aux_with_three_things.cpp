// expect: ricci: has_aux needs a function that returns exactly two things
#include <ricci/ricci.h>

#include <tuple>

std::tuple<ricci::Tensor, ricci::Tensor, ricci::Tensor> f(ricci::Tensor x) { return {x, x, x}; }

void misuse() { ricci::vjp(f, ricci::has_aux, ricci::ones({3})); }
