// expect: ricci: a malformed rc::Function: jvp must be static and take (rc::Context& ctx, one tangent
#include <ricci/ricci.h>

using ricci::Tensor;

struct TooLittle : ricci::Function<TooLittle> {
  static Tensor forward(const Tensor& x, const Tensor& y) { return x * y; }
  static Tensor jvp(ricci::Context&, const Tensor& t) { return t; }
};

void misuse() { TooLittle::apply(ricci::ones({3}), ricci::ones({3})); }
