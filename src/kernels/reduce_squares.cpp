// Sums of squared magnitudes.
#include "kernels/reduce.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci::kernels {
namespace {

struct SumOfSquares {
  using elements = reduction::Magnitudes;
  static constexpr double start = 0;
  template <class T>
  auto term(T x) const {
    return scalar::squared_magnitude(x);
  }
  template <class R, class T>
  auto add(R sum, T x) const {
    return scalar::add_squared_magnitude(sum, x);
  }
  template <class T>
  auto join(T a, T b) const {
    return a + b;
  }
};

}  // namespace

void sum_of_squares(Strided out, Strided in, const bool* reduced) { reduce(SumOfSquares(), out, in, nullptr, reduced); }

}  // namespace ricci::kernels
