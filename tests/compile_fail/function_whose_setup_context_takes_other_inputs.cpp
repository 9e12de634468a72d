// expect: ricci: a malformed rc::Function: setup_context must be static and take
#include <ricci/ricci.h>

using ricci::Tensor;

struct OtherInputs : ricci::Function<OtherInputs> {
  static Tensor forward(const Tensor& x, const Tensor& y) { return x * y; }
  static void setup_context(ricci::Context&, const std::tuple<Tensor>&, const Tensor&) {}
};

void misuse() { OtherInputs::apply(ricci::ones({3}), ricci::ones({3})); }
