// Discrete Fourier transforms along one axis of raw strided views. Knows nothing of tensors, norms or other axes.
// Everywhere: shapes agree but for the axis, where n is the size of the complex or real operand; any strides;
// outputs overlap no input. Real parts are float32 or float64, the same in both operands.
//
// Several short lines are computed side by side, a line in a lane of a vector register; a long one, and one alone, is
// not: its last bits may be others. Among several, a line's bits do not depend on its place.
#pragma once

#include "ricci/strided.h"

namespace ricci::kernels {

/// y_k = factor Σ_j x_j exp(∓2πi j k / n): minus forward, plus backward; x and y are complex.
void fft(Strided y, Strided x, int axis, bool backward, double factor);

/// The first n / 2 + 1 of the forward sums, of a real x.
void rfft(Strided y, Strided x, int axis, double factor);

/// A real y: the backward sum over n numbers of which x holds the first n / 2 + 1, the others being conjugates of
/// these. The imaginary parts of the first, and for an even n of the last, are not read.
void irfft(Strided y, Strided x, int axis, double factor);

}  // namespace ricci::kernels
