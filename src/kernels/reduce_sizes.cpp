// Sums of magnitudes.
#include "kernels/reduce.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci::kernels {
namespace {

struct SumOfSizes {
  using elements = reduction::Magnitudes;
  static constexpr double start = 0;
  template <class T>
  auto term(T x) const {
    return scalar::abs(x);
  }
  template <class T>
  auto join(T a, T b) const {
    return a + b;
  }
};

}  // namespace

void sum_of_abs(Strided out, Strided in, const bool* reduced) { reduce(SumOfSizes(), out, in, nullptr, reduced); }

}  // namespace ricci::kernels
