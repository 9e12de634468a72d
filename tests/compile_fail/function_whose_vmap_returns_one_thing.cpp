// expect: ricci: a malformed rc::Function: vmap must return two things, std::pair{output, out_dims}
#include <ricci/ricci.h>

using ricci::Tensor;

struct OneThing : ricci::Function<OneThing> {
  static Tensor forward(const Tensor& x) { return x; }
  static Tensor vmap(const ricci::VmapInfo&, const std::tuple<ricci::Dim>&, const Tensor& x) { return x; }
};

void misuse() { OneThing::apply(ricci::ones({3})); }
