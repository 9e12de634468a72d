// Fourier transforms of double: a file of its own, as it takes long to compile.
#include "kernels/fft_plans.h"

namespace ricci::kernels {

template void fft_lines<double>(Transform, void*, const void*, const FftLines&);

}  // namespace ricci::kernels
