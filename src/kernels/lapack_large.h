// One factorisation or solution by LAPACK and BLAS. Knows nothing of batches.
// T is float, double or a complex of them; any strides; sizes that `fits_blas`.
#pragma once

#include <cstdint>

#include "kernels/lapack_batch.h"

namespace ricci::kernels {

/// See lapack.h for what each computes; each returns info.
template <class T>
int cholesky_large(Matrix<T> l, Matrix<const T> a);
template <class T>
int lu_factor_large(Matrix<T> lu, Matrix<std::int32_t> pivots, Matrix<const T> a);
template <class T>
int inverse_large(Matrix<T> out, Matrix<const T> a);

template <class T>
void triangular_solve_large(Matrix<T> x, Matrix<const T> a, Matrix<const T> b, TriangularKind kind);
template <class T>
void lu_solve_large(Matrix<T> x, Matrix<const T> lu, Matrix<const std::int32_t> pivots, Matrix<const T> b, char op);

}  // namespace ricci::kernels
