// Fourier transforms of float: a file of its own, as it takes long to compile.
#include "kernels/fft_plans.h"

namespace ricci::kernels {

template void fft_lines<float>(Transform, void*, const void*, const FftLines&);

}  // namespace ricci::kernels
