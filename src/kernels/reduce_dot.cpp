// Sums of products of two inputs.
#include "kernels/reduce_kinds.h"
#include "kernels/reduce_loop.h"

namespace ricci::kernels {
namespace {

template <class T>
struct Dot {
  static constexpr int inputs = 2;
  static constexpr bool symmetric = true;
  using X = T;
  using Y = T;
  using A = accumulator<T>;
  using XLane = A;
  using YLane = A;
  using W = Wide<A>;
  using Out = sum_element<T>;
  W identity() const { return W(negative_zero<A>); }
  W first(W x, W y) const { return x * y; }
  W add(W sum, W x, W y) const { return fma(x, y, sum); }
  W join(W a, W b) const { return a + b; }
  W finish(W total) const { return total; }
  W nothing() const { return W(A(0)); }
};

/// Whether `x` repeats elements along a reduced axis.
bool repeats(const Strided& x, const bool* reduced) {
  for (int i = 0; i < x.rank; ++i) {
    if (reduced[i] && x.shape[i] > 1 && x.strides[i] == 0) return true;
  }
  return false;
}

}  // namespace

void reduce_dot(Strided out, Strided x, Strided y, const bool* reduced) {
  assert(x.dtype == y.dtype && out.dtype == reduced_dtype(Reduction::sum, x.dtype));
  if (repeats(x, reduced) && !repeats(y, reduced)) std::swap(x, y);
  visit_numbers(x.dtype, [&]<class T>(std::type_identity<T>) { reduce_with(Dot<T>(), out, x, &y, reduced); });
}

}  // namespace ricci::kernels
