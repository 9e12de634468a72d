// Sums of products of two operands, without the products in memory.
#include "ops/sums.h"

namespace ricci {
namespace {

/// The sum of a * b along axes.
struct Inner {
  using kind = Multilinear;
  using elements = reduction::Summed;
  static constexpr const char* name = "sum_of_products";
  static constexpr double start = -0.0, nothing = 0;
  [[maybe_unused]] static constexpr bool symmetric = true;
  Axes axes;

  template <class T> auto term(T a, T b) const { return a * b; }
  template <class T> auto add(T sum, T a, T b) const { return scalar::fma(a, b, sum); }
  template <class T> auto join(T a, T b) const { return a + b; }
  Type type(const Type& a, const Type& b) const {
    require_dtype(a.dtype, b);
    require_shape(b.shape, a.shape);
    return reduced_type(*this, axes, a);
  }
  void eval(Outputs out, Inputs in) const {
    kernels::sum_of_products(out[0], in[0], in[1], is_reduced(axes, in[0].rank).data());
  }
  Tensor transpose(int i, const Tensor& ct, const Reverse& r) const {
    const Tensor& other = r.inputs[static_cast<std::size_t>(1 - i)];
    return beside(ct, axes, type_of(other).rank()) * conj_if_complex(other);
  }
  Inner lifted() const { return {behind_batch(axes)}; }
  static std::vector<Sample<Inner>> samples() {
    return {{{{0}}, {real_sample({3}), real_sample({3})}},
            {{{1}}, {real_sample({2, 3}), real_sample({2, 3})}},
            {{{0}}, {real_sample({2, 3}), real_sample({2, 3})}},
            {{{0, 1}}, {real_sample({2, 0}), real_sample({2, 0})}}};
  }
};

}  // namespace

Tensor inner_along(const Tensor& a, const Tensor& b, const Axes& axes) { return apply(Inner{axes}, a, b); }
Tensor real_inner_along(const Tensor& a, const Tensor& b, const Axes& axes) {
  return is_complex(type_of(a).dtype) ? real(inner_along(conj(a), b, axes)) : inner_along(a, b, axes);
}

}  // namespace ricci
