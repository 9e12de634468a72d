// Functions of one matrix, made of its factors, of its spectrum or of powers. Knows nothing of batches.
// T is float, double or a complex of them; any strides; sizes that `fits_blas`.
#pragma once

#include "kernels/lapack_batch.h"

namespace ricci::kernels {

/// See lapack.h for what each computes; all but `exp_of_one` return info.
template <class T>
int hermitian_sylvester_of_one(Matrix<T> x, Matrix<const T> h, Matrix<const T> c);
template <class T>
int hermitian_sqrt_of_one(Matrix<T> x, Matrix<const T> a);
template <class T>
int polar_of_one(Matrix<T> q, Matrix<T> h, Matrix<const T> a);
template <class T>
void exp_of_one(Matrix<T> out, Matrix<const T> a);

}  // namespace ricci::kernels
