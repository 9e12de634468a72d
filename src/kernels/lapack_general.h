// Orthogonal factors, eigenvalues and the Schur form of one general matrix by LAPACK. Knows nothing of batches.
// T is float, double or a complex of them; any strides; sizes that `fits_blas`.
#pragma once

#include "kernels/lapack_batch.h"

namespace ricci::kernels {

/// See lapack.h for what each computes; those of eigenvalues return info. Values are a matrix of one column.
template <class T>
void qr_of_one(Matrix<T> q, Matrix<T> r, Matrix<const T> a);
template <class T>
void geqrf_of_one(Matrix<T> packed, Matrix<T> scales, Matrix<const T> a);
template <class T>
int eig_of_one(Matrix<complex_of<T>> values, Matrix<complex_of<T>> vectors, Matrix<const T> a);
template <class T>
int eigvals_of_one(Matrix<complex_of<T>> values, Matrix<const T> a);

template <class T>
int schur_of_one(Matrix<T> t, Matrix<T> z, Matrix<const T> a);

}  // namespace ricci::kernels
