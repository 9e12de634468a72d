// Fourier transforms from and to real lines of float: a file of its own, as it takes long to compile.
#include "kernels/fft_real.h"

namespace ricci::kernels {

template void real_to_complex_lines(std::complex<float>*, const float*, const FftLines&);
template void complex_to_real_lines(float*, const std::complex<float>*, const FftLines&);

}  // namespace ricci::kernels
