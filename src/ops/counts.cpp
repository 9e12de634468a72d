// How many elements are not 0: constant wherever it has a derivative.
#include "ops/sums.h"

namespace ricci {
namespace {

struct CountNonzero {
  using kind = Explicit;
  using elements = reduction::Counted;
  static constexpr const char* name = "count_nonzero";
  static constexpr bool locally_constant = true;
  static constexpr double start = 0;
  Axes axes;

  template <class T> auto join(T a, T b) const { return a + b; }
  Type type(const Type& x) const { return reduced_type(*this, axes, x); }
  void eval(Outputs out, Inputs in) const { reduce_by(kernels::count_nonzero, axes, out, in); }
  CountNonzero lifted() const { return {behind_batch(axes)}; }
  static std::vector<Sample<CountNonzero>> samples() { return samples_of_truths<CountNonzero>(); }
};

}  // namespace

namespace ops {

Tensor count_nonzero(const Tensor& x) { return count_nonzero(x, {}); }
Tensor count_nonzero(const Tensor& x, const Axes& dims) {
  return apply(CountNonzero{wrap_axes("count_nonzero", dims, x)}, x);
}

}  // namespace ops
}  // namespace ricci
