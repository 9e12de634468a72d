// An operation of one's own that leaves the library: a sort in host memory. A generated vmap rule cannot reach the
// elements of a batch, whose tensors stand for one example each, so the class brings a rule: the batch becomes one more
// axis beside the one that is sorted. The derivatives follow the elements to where they went, by Take, which is made of
// the library's operations and has its rule generated.
#include <ricci/ricci.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace rc = ricci;
using rc::Tensor;

namespace {

/// The elements of x at `index` along the last axis; `inverse` is where each of them came from.
struct Take : rc::Function<Take> {
  static Tensor forward(const Tensor& x, const Tensor& index, const Tensor&) { return x.gather(-1, index); }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor, Tensor, Tensor>& inputs, const Tensor&) {
    ctx.save_for_backward(std::get<1>(inputs), std::get<2>(inputs));
    ctx.save_for_forward(std::get<1>(inputs), std::get<2>(inputs));
  }
  /// A permutation's transpose is its inverse.
  static std::tuple<Tensor, Tensor, Tensor> backward(rc::Context& ctx, const Tensor& ct) {
    return {Take::apply(ct, ctx.saved(1), ctx.saved(0)), Tensor(), Tensor()};
  }
  static Tensor jvp(rc::Context& ctx, const Tensor& tangent, const Tensor&, const Tensor&) {
    return Take::apply(tangent, ctx.saved(0), ctx.saved(1));
  }
  static constexpr bool generate_vmap_rule = true;
};

/// Sorts along the last axis; the permutation and its inverse are outputs without a derivative.
struct HostSort : rc::Function<HostSort> {
  using Output = std::tuple<Tensor, Tensor, Tensor>;

  static Output forward(const Tensor& x) {
    const auto values = x.to(rc::float64).to_vector<double>();
    const auto n = static_cast<std::size_t>(x.size(-1));
    std::vector<std::int64_t> order(values.size()), inverse(values.size());
    for (std::size_t row = 0; row + n <= values.size() && n > 0; row += n) {
      std::iota(order.begin() + row, order.begin() + row + n, 0);
      std::sort(order.begin() + row, order.begin() + row + n,
                [&](auto a, auto b) { return values[row + a] < values[row + b]; });
      for (std::size_t i = 0; i < n; ++i)
        inverse[row + static_cast<std::size_t>(order[row + i])] = static_cast<std::int64_t>(i);
    }
    const Tensor index = rc::tensor(order).reshape(x.shape());
    return {x.gather(-1, index), index, rc::tensor(inverse).reshape(x.shape())};
  }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>&, const Output& output) {
    ctx.mark_non_differentiable(std::get<1>(output), std::get<2>(output));
    ctx.save_for_backward(std::get<1>(output), std::get<2>(output));
    ctx.save_for_forward(std::get<1>(output), std::get<2>(output));
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct, const Tensor&, const Tensor&) {
    return Take::apply(ct, ctx.saved(1), ctx.saved(0));
  }
  static Output jvp(rc::Context& ctx, const Tensor& tangent) {
    return {Take::apply(tangent, ctx.saved(0), ctx.saved(1)), Tensor(), Tensor()};
  }
  static auto vmap(const rc::VmapInfo&, const std::tuple<rc::Dim>& in_dims, const Tensor& x) {
    return std::pair{HostSort::apply(movedim(x, *std::get<0>(in_dims), 0)), 0};
  }
};

Tensor host_sort(const Tensor& x) { return std::get<0>(HostSort::apply(x)); }
Tensor library_sort(const Tensor& x) { return rc::sort(x).first; }

template <class F>
Tensor weighted(const F& f, const Tensor& x) {
  return (f(x).square() * rc::arange(x.size(-1))).sum();
}

}  // namespace

int main() {
  const Tensor x = sin(rc::arange(12, rc::float64) * 5).reshape({4, 3});
  const auto custom = [](Tensor row) { return weighted(host_sort, row); };
  const auto plain = [](Tensor row) { return weighted(library_sort, row); };
  const bool same = rc::equal(rc::vmap(host_sort)(x), rc::vmap(library_sort)(x)) &&
                    rc::allclose(rc::vmap(rc::grad(custom))(x), rc::vmap(rc::grad(plain))(x)) &&
                    rc::allclose(rc::vmap(rc::hessian(custom))(x), rc::vmap(rc::hessian(plain))(x)) &&
                    rc::allclose(rc::jacfwd(host_sort)(x), rc::jacrev(host_sort)(x));
  std::printf("a sort in host memory: values, gradients and Hessians %s the library's\n", same ? "are" : "are NOT");
  return same ? 0 : 1;
}
