// Eigenvalues of one Hermitian matrix and singular values of one matrix by LAPACK. Knows nothing of batches.
// T is float, double or a complex of them; any strides; sizes that `fits_blas`.
#pragma once

#include "kernels/lapack_batch.h"

namespace ricci::kernels {

/// See lapack.h for what each computes; each returns info. Vectors of values are matrices of one column.
template <class T>
int eigh_of_one(Matrix<real_of<T>> values, Matrix<T> vectors, Matrix<const T> a);
template <class T>
int eigvalsh_of_one(Matrix<real_of<T>> values, Matrix<const T> a);
template <class T>
int svd_of_one(Matrix<T> u, Matrix<real_of<T>> s, Matrix<T> vh, Matrix<const T> a);
template <class T>
int svdvals_of_one(Matrix<real_of<T>> s, Matrix<const T> a);

}  // namespace ricci::kernels
