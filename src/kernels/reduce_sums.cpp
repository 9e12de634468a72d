// Sums of all types.
#include "kernels/reduce.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci::kernels {
namespace {

struct Sum {
  using elements = reduction::Summed;
  static constexpr double start = -0.0, nothing = 0;
  template <class T>
  auto join(T a, T b) const {
    return a + b;
  }
};

}  // namespace

void sum(Strided out, Strided in, const bool* reduced) { reduce(Sum(), out, in, nullptr, reduced); }

}  // namespace ricci::kernels
