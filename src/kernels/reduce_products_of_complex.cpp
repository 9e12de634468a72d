// Sums of products of complex numbers.
#include "kernels/reduce_products_of_two.h"

namespace ricci::kernels {
namespace {

struct Complex : reduction::Summed {
  template <class F>
  static void visit(DType in, const F& f) {
    if (in == DType::complex64) return f(std::type_identity<std::complex<float>>{});
    f(std::type_identity<std::complex<double>>{});
  }
};

}  // namespace

void sum_of_products_of_complex(Strided out, Strided x, Strided y, const bool* reduced) {
  reduce(SumOfProducts<Complex>(), out, x, &y, reduced);
}

}  // namespace ricci::kernels
