// One product of large matrices of float or double, blocked for the caches.
// Knows nothing of batches.
#pragma once

#include "kernels/matmul_product.h"

namespace ricci::kernels {

/// Computes the product. Any strides; sizes >= 1.
template <class T>
void multiply_blocked(const Product<T>& product);

}  // namespace ricci::kernels
