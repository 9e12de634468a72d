// expect: ricci: a malformed rc::Function: forward must be one function, neither overloaded nor a template
#include <ricci/ricci.h>

using ricci::Tensor;

struct Overloaded : ricci::Function<Overloaded> {
  static Tensor forward(const Tensor& x) { return x; }
  static Tensor forward(const Tensor& x, double factor) { return x * factor; }
};

void misuse() { Overloaded::apply(ricci::ones({3})); }
