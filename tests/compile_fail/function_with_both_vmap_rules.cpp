// expect: ricci: a malformed rc::Function: it has both vmap and generate_vmap_rule
#include <ricci/ricci.h>

using ricci::Tensor;

struct Both : ricci::Function<Both> {
  static Tensor forward(const Tensor& x) { return x; }
  static auto vmap(const ricci::VmapInfo&, const std::tuple<ricci::Dim>& in_dims, const Tensor& x) {
    return std::pair{x, std::get<0>(in_dims)};
  }
  static constexpr bool generate_vmap_rule = true;
};

void misuse() { Both::apply(ricci::ones({3})); }
