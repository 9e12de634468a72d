// The greatest elements of all types.
#include "kernels/reduce.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci::kernels {
namespace {

struct Greatest {
  using elements = reduction::Ordered;
  static constexpr double start = -std::numeric_limits<double>::infinity();
  template <class T>
  auto join(T a, T b) const {
    return scalar::max(a, b);
  }
};

}  // namespace

void greatest(Strided out, Strided in, const bool* reduced) { reduce(Greatest(), out, in, nullptr, reduced); }

}  // namespace ricci::kernels
