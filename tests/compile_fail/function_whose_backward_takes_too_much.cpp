// expect: ricci: a malformed rc::Function: backward must be static and take (rc::Context& ctx, one cotangent
#include <ricci/ricci.h>

using ricci::Tensor;

struct TooMuch : ricci::Function<TooMuch> {
  static Tensor forward(const Tensor& x) { return x; }
  static Tensor backward(ricci::Context&, const Tensor& a, const Tensor& b) { return a * b; }
};

void misuse() { TooMuch::apply(ricci::ones({3})); }
