// expect: ricci: rc::Function: apply takes the arguments of forward
#include <ricci/ricci.h>

using ricci::Tensor;

struct Twice : ricci::Function<Twice> {
  static Tensor forward(const Tensor& x) { return x * 2; }
};

void misuse() { Twice::apply(ricci::ones({3}), "more"); }
