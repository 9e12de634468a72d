// Products of all types.
#include "kernels/reduce.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci::kernels {
namespace {

struct Product {
  using elements = reduction::Summed;
  static constexpr double start = 1;
  template <class T>
  auto join(T a, T b) const {
    return a * b;
  }
};

}  // namespace

void product(Strided out, Strided in, const bool* reduced) { reduce(Product(), out, in, nullptr, reduced); }

}  // namespace ricci::kernels
