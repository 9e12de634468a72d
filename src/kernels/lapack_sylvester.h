// Sylvester equations of one matrix in Schur form, of which only the part below its blocks counts. Knows nothing of
// batches. T is float, double or a complex of them; any strides.
#pragma once

#include "kernels/lapack_batch.h"

namespace ricci::kernels {

/// See `masked_sylvester` in lapack.h.
template <class T>
void masked_sylvester_of_one(Matrix<T> x, Matrix<const T> t, Matrix<const bool> below, Matrix<const T> c, bool adjoint);

}  // namespace ricci::kernels
