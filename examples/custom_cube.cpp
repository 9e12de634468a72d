// An operation of one's own with saved values: a cube whose slope is computed on the way and kept. Its vmap rule is
// written in one class and generated in the other; both give the same values and derivatives to any order.
#include <ricci/ricci.h>

#include <cstdio>
#include <tuple>
#include <utility>

namespace rc = ricci;
using rc::Tensor;

namespace {

using CubeAndSlope = std::pair<Tensor, Tensor>;

/// x^3. What backward needs is an output, so that a second derivative goes through it as well.
template <class D>
struct CubeRules : rc::Function<D> {
  static CubeAndSlope forward(const Tensor& x) {
    const Tensor square = x * x;
    return {square * x, 3 * square};
  }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const CubeAndSlope& output) {
    ctx.save_for_backward(std::get<0>(inputs), output.second);
    ctx.save_for_forward(std::get<0>(inputs), output.second);
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct, const Tensor& ct_slope) {
    return ct * ctx.saved(1) + ct_slope * 6 * ctx.saved(0);
  }
  static CubeAndSlope jvp(rc::Context& ctx, const Tensor& tangent) {
    return {tangent * ctx.saved(1), tangent * 6 * ctx.saved(0)};
  }
};

struct WrittenCube : CubeRules<WrittenCube> {
  /// A cube is elementwise: the batch stays where it was.
  static auto vmap(const rc::VmapInfo&, const std::tuple<rc::Dim>& in_dims, const Tensor& x) {
    const rc::Dim dim = std::get<0>(in_dims);
    return std::pair{WrittenCube::apply(x), std::pair{dim, dim}};
  }
};

struct GeneratedCube : CubeRules<GeneratedCube> {
  static constexpr bool generate_vmap_rule = true;
};

template <class Cube>
bool agrees_with_plain(const char* name) {
  const auto cube = [](Tensor x) { return Cube::apply(x).first; };
  const auto plain = [](Tensor x) { return x * x * x; };
  const Tensor x = rc::linspace(-1, 2, 7, rc::float64);
  const auto close = [](const Tensor& a, const Tensor& b) { return rc::allclose(a, b); };
  const auto third = [](const auto& f) { return rc::vmap(rc::grad(rc::grad(rc::grad(f)))); };
  const auto total = [](const auto& f) { return [f](Tensor a) { return f(a).sum(); }; };
  const bool same = close(cube(x), plain(x)) && close(third(cube)(x), third(plain)(x)) &&
                    close(rc::hessian(total(cube))(x), rc::hessian(total(plain))(x)) &&
                    close(rc::jacfwd(cube)(x), rc::jacrev(plain)(x));
  std::printf("%s: values, three derivatives and Jacobians %s those of x * x * x\n", name, same ? "are" : "are NOT");
  return same;
}

}  // namespace

int main() {
  const bool written = agrees_with_plain<WrittenCube>("written vmap rule");
  const bool generated = agrees_with_plain<GeneratedCube>("generated vmap rule");
  return written && generated ? 0 : 1;
}
