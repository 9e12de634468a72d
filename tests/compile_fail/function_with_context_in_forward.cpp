// expect: ricci: a malformed rc::Function: forward takes plain arguments and no rc::Context
#include <ricci/ricci.h>

using ricci::Tensor;

struct Legacy : ricci::Function<Legacy> {
  static Tensor forward(ricci::Context&, const Tensor& x) { return x; }
  static Tensor backward(ricci::Context&, const Tensor& ct) { return ct; }
};

void misuse() { Legacy::apply(ricci::ones({3})); }
