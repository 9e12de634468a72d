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
/// float32 to complex128 follow BLAS: the order of the additions depends on the shapes and strides. Where rows stand
/// alone (kernels/alone.h), an element depends on its row of a, its column of b and k, and on nothing else.
void matmul(Strided out, Strided a, Strided b, Accumulate accumulate = Accumulate::no);

/// The same for m = n = 1. Where rows stand alone, lanes share each sum: that is faster, but another order than that of
/// `matmul`, so a caller takes one of the two for all sizes.
void dot_products(Strided out, Strided a, Strided b);

}  // namespace ricci::kernels
