// The smallest elements of all types.
#include "kernels/reduce.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci::kernels {
namespace {

struct Smallest {
  using elements = reduction::Ordered;
  static constexpr double start = std::numeric_limits<double>::infinity();
  template <class T>
  auto join(T a, T b) const {
    return scalar::min(a, b);
  }
};

}  // namespace

void smallest(Strided out, Strided in, const bool* reduced) { reduce(Smallest(), out, in, nullptr, reduced); }

}  // namespace ricci::kernels
