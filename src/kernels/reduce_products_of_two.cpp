// Sums of products of floating numbers; whole and complex ones have files of their own.
#include "kernels/reduce_products_of_two.h"

namespace ricci::kernels {

void sum_of_products(Strided out, Strided x, Strided y, const bool* reduced) {
  if (is_complex(x.dtype)) return sum_of_products_of_complex(out, x, y, reduced);
  if (!is_floating(x.dtype)) return sum_of_products_of_whole(out, x, y, reduced);
  reduce(SumOfProducts<reduction::Floating>(), out, x, &y, reduced);
}

}  // namespace ricci::kernels
