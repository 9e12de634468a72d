// Mean and variance, in two passes: deviations from the mean.
#include <algorithm>
#include <cassert>

#include "kernels/elementwise.h"
#include "kernels/reduce.h"
#include "kernels/reduce_pieces.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci::kernels {
namespace {

/// Of x from a centre y: the sum of |x - y|^2, divided at the end.
template <class T>
struct Deviation {
  static constexpr int inputs = 2;
  static constexpr bool symmetric = false;
  using X = T;
  using Y = accumulator<T>;
  using XLane = accumulator<T>;
  using YLane = accumulator<T>;
  using A = real_of<accumulator<T>>;
  using W = Wide<A>;
  using Terms = Wide<accumulator<T>>;
  using Out = real_of<T>;

  A divisor;

  W identity() const { return W(A(0)); }
  W first(Terms x, Terms centre) const { return scalar::squared_magnitude(x - centre); }
  W add(W sum, Terms x, Terms centre) const { return scalar::add_squared_magnitude(sum, x - centre); }
  W join(W a, W b) const { return a + b; }
  W finish(W total) const { return total / W(divisor); }
  W nothing() const { return W(std::numeric_limits<A>::quiet_NaN()); }
};

template <class T>
void mean_var_of(const Strided& mean, const Strided& variance, const Strided& in, const bool* reduced,
                 real_of<accumulator<T>> divisor) {
  const Temporary<accumulator<T>> centre(in, reduced);
  kernels::mean(centre.view(), in, reduced);
  copy(mean, centre.view());
  const Strided centres = centre.repeated();
  Deviation<T> deviation;
  deviation.divisor = divisor;
  reduce_with(deviation, variance, in, &centres, reduced);
}

}  // namespace

void mean_var(Strided mean, Strided variance, Strided in, const bool* reduced, std::int64_t correction) {
  assert(mean.dtype == in.dtype && variance.dtype == real_dtype(in.dtype));
  std::int64_t count = 1;
  for (int i = 0; i < in.rank; ++i) count *= reduced[i] ? in.shape[i] : 1;
  const double divisor = std::max(0.0, static_cast<double>(count) - static_cast<double>(correction));
  const Pieces pieces(in, reduced);
  pieces.for_each([&](std::int64_t i, std::int64_t size) {
    const Slice from(in, pieces.axis, i, size), mean_to(mean, pieces.kept_axis, i, size),
        variance_to(variance, pieces.kept_axis, i, size);
    visit_inexact(in.dtype, [&]<class T>(std::type_identity<T>) {
      mean_var_of<T>(mean_to.view(), variance_to.view(), from.view(), reduced,
                     static_cast<real_of<accumulator<T>>>(divisor));
    });
  });
}

}  // namespace ricci::kernels
