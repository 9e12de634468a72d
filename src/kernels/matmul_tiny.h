// Products of small matrices of float or double, in registers, without the cost of a BLAS call.
// Knows nothing of large matrices: nothing is blocked for a cache.
#pragma once

#include "kernels/matmul_product.h"

namespace ricci::kernels {

/// What a multiply-add takes, roughly.
template <class T>
inline constexpr double nanoseconds_of_tiny = 0.01 * sizeof(T) / 4;

/// Whether `multiply_tiny` beats BLAS for products of this shape.
template <class T>
bool is_tiny(const Product<T>& product);

/// Computes every product of the batch. T is float or double. Any strides, any sizes >= 1.
template <class T>
void multiply_tiny(const BatchedProduct<T>& batch);

/// The same for dot products, each by itself. Requires: m == n == 1.
template <class T>
void multiply_dots(const BatchedProduct<T>& batch);

}  // namespace ricci::kernels
