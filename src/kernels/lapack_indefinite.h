// Factors of one symmetric or Hermitian matrix by LAPACK. Knows nothing of batches.
// T is float, double or a complex of them; any strides; sizes that `fits_blas`.
#pragma once

#include "kernels/lapack_batch.h"

namespace ricci::kernels {

/// See lapack.h for what it computes; returns info. Pivots are a matrix of one column.
template <class T>
int ldl_of_one(Matrix<T> ld, Matrix<std::int32_t> pivots, Matrix<const T> a, bool hermitian);

}  // namespace ricci::kernels
