// One product by a library, which sees matrices with a contiguous axis and a leading dimension.
// Knows nothing of batches, nor of small products.
#pragma once

#include "kernels/matmul_product.h"

namespace ricci::kernels {

/// Computes the product. T is float, double or a complex of them. Any strides; sizes >= 1 that `fits_blas`.
template <class T>
void multiply_by_library(const Product<T>& product);

}  // namespace ricci::kernels
