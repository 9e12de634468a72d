// Fourier transforms from and to real lines of double: a file of its own, as it takes long to compile.
#include "kernels/fft_real.h"

namespace ricci::kernels {

template void real_to_complex_lines(std::complex<double>*, const double*, const FftLines&);
template void complex_to_real_lines(double*, const std::complex<double>*, const FftLines&);

}  // namespace ricci::kernels
