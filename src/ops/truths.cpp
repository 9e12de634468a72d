// Whether any or all elements are not 0: constant wherever they have a derivative.
#include "ops/sums.h"

namespace ricci {
namespace {

struct Any {
  using kind = Explicit;
  using elements = reduction::Truths;
  static constexpr const char* name = "any";
  static constexpr bool locally_constant = true;
  static constexpr double start = 0;
  Axes axes;

  template <class T> auto join(T a, T b) const { return a || b; }
  Type type(const Type& x) const { return reduced_type(*this, axes, x); }
  void eval(Outputs out, Inputs in) const { reduce_by(kernels::any, axes, out, in); }
  Any lifted() const { return {behind_batch(axes)}; }
  static std::vector<Sample<Any>> samples() { return samples_of_truths<Any>(); }
};

struct All {
  using kind = Explicit;
  using elements = reduction::Truths;
  static constexpr const char* name = "all";
  static constexpr bool locally_constant = true;
  static constexpr double start = 1;
  Axes axes;

  template <class T> auto join(T a, T b) const { return a && b; }
  Type type(const Type& x) const { return reduced_type(*this, axes, x); }
  void eval(Outputs out, Inputs in) const { reduce_by(kernels::all, axes, out, in); }
  All lifted() const { return {behind_batch(axes)}; }
  static std::vector<Sample<All>> samples() { return samples_of_truths<All>(); }
};

}  // namespace

namespace ops {

Tensor any(const Tensor& x) { return any(x, {}, false); }
Tensor any(const Tensor& x, const Axes& dims) { return any(x, dims, false); }
Tensor any(const Tensor& x, const Axes& dims, bool keepdim) {
  const Any op{wrap_axes("any", dims, x)};
  return kept(apply(op, x), op.axes, keepdim);
}

Tensor all(const Tensor& x) { return all(x, {}, false); }
Tensor all(const Tensor& x, const Axes& dims) { return all(x, dims, false); }
Tensor all(const Tensor& x, const Axes& dims, bool keepdim) {
  const All op{wrap_axes("all", dims, x)};
  return kept(apply(op, x), op.axes, keepdim);
}

}  // namespace ops
}  // namespace ricci
