// Functions with rules of their own that tests share: a cube whose slope is a second output, as PyTorch's "Extending
// torch.func" writes it, once with a written vmap rule and once with a generated one.
#pragma once

#include <ricci/ricci.h>

#include <tuple>
#include <utility>

namespace testing_support {

/// x^3 and its slope 3 x^2. Derivatives go through the slope, so that they exist to any order.
template <class D>
struct CubeRules : ricci::Function<D> {
  using Both = std::pair<ricci::Tensor, ricci::Tensor>;
  using Tensor = ricci::Tensor;

  static Both forward(const Tensor& x) { return {x * x * x, 3 * x * x}; }
  static void setup_context(ricci::Context& ctx, const std::tuple<Tensor>& inputs, const Both& output) {
    ctx.save_for_backward(std::get<0>(inputs), output.second);
    ctx.save_for_forward(std::get<0>(inputs), output.second);
  }
  static Tensor backward(ricci::Context& ctx, const Tensor& ct, const Tensor& ct_slope) {
    return ct * ctx.saved(1) + ct_slope * 6 * ctx.saved(0);
  }
  static Both jvp(ricci::Context& ctx, const Tensor& t) { return {t * ctx.saved(1), t * 6 * ctx.saved(0)}; }
};

struct GeneratedCube : CubeRules<GeneratedCube> {
  static constexpr bool generate_vmap_rule = true;
};

struct WrittenCube : CubeRules<WrittenCube> {
  static inline int times_mapped = 0;
  static auto vmap(const ricci::VmapInfo&, const std::tuple<ricci::Dim>& in_dims, const Tensor& x) {
    ++times_mapped;
    const ricci::Dim dim = std::get<0>(in_dims);
    return std::pair{WrittenCube::apply(x), std::pair{dim, dim}};
  }
};

inline ricci::Tensor generated_cube(const ricci::Tensor& x) { return GeneratedCube::apply(x).first; }
inline ricci::Tensor written_cube(const ricci::Tensor& x) { return WrittenCube::apply(x).first; }

}  // namespace testing_support
