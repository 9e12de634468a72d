// Derivatives of adjugates over raw strided views: float32, float64, complex64, complex128. Knows nothing of tensors.
#pragma once

#include <span>

#include "ricci/strided.h"

namespace ricci::kernels {

/// The derivative of order k of the adjugate adj a along directions b_1, …, b_k, a matrix that is linear in each of
/// them and symmetric in all; for k = 0 adj a itself. `operands` are a, b_1, …, b_k; all and out are [..., n, n] with
/// the same leading axes (stride 0 where one was broadcast) and any strides; out overlaps no operand. It is a
/// polynomial in all elements, and is computed without dividing by what may be 0: singular matrices are as good as
/// others. Takes about (k + 2) n³ steps and, for k >= 2, another n^(k+1) / (k + 1)! sums of 4^k terms.
void adjugate_derivative(Strided out, std::span<const Strided> operands);

}  // namespace ricci::kernels
