// expect: ricci: a malformed rc::Function: backward must return one gradient for each argument of forward
#include <ricci/ricci.h>

using ricci::Tensor;

struct TooLittle : ricci::Function<TooLittle> {
  static Tensor forward(const Tensor& x, const Tensor& y) { return x * y; }
  static Tensor backward(ricci::Context&, const Tensor& ct) { return ct; }
};

void misuse() { TooLittle::apply(ricci::ones({3}), ricci::ones({3})); }
