// Outer products: bound by how fast the result can be written. Knows nothing of sums over k.
#pragma once

#include "kernels/matmul_product.h"

namespace ricci::kernels {

/// Computes every product of the batch, past the caches when the result would not stay in them.
/// T is float or double. Requires: k == 1; out is contiguous along n or along m.
template <class T>
void multiply_outer(const BatchedProduct<T>& batch);

}  // namespace ricci::kernels
