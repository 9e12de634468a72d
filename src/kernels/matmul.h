// Matrix products over raw strided views. Knows nothing of tensors, promotion or broadcasting rules.
#pragma once

#include "ricci/strided.h"

namespace ricci::kernels {

enum class Accumulate : bool { no, yes };

/// out[..., m, n] = a[..., m, k] b[..., k, n], or out += with Accumulate::yes.
///
/// Requires: one dtype, one rank >= 2; the batch axes of a and b have out's sizes (stride 0 where they were broadcast);
/// out overlaps neither operand, nor itself. Any strides. Sums over k = 0 are zero.
/// Integers wrap around; boolean is "any of the ands"; float16 and bfloat16 are summed in float and rounded once.
/// float32 to complex128 follow BLAS: the order of the additions depends on the shapes and strides.
void matmul(Strided out, Strided a, Strided b, Accumulate accumulate = Accumulate::no);

}  // namespace ricci::kernels
