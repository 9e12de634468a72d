// Solutions with triangular matrices in which each right side is solved as it would be alone, whatever stands beside
// it. Knows nothing of batches. T is float, double or a complex of them; any strides of a.
#pragma once

#include "kernels/lapack_batch.h"

namespace ricci::kernels {

/// x with op(a) x = b, where x holds b before. Requires: x has contiguous rows.
template <class T>
void substitute(const Matrix<T>& x, const Matrix<const T>& a, TriangularKind kind);

}  // namespace ricci::kernels
