// Fourier transforms of complex lines of double: a file of its own, as it takes long to compile.
#include "kernels/fft_complex.h"

template ricci::ducc0::detail_fft::Tcpass<double> ricci::ducc0::detail_fft::cfftpass<double>::make_pass(
    std::size_t, std::size_t, std::size_t, const Troots<double>&, bool);

namespace ricci::kernels {

template void complex_fft_lines(bool, std::complex<double>*, const std::complex<double>*, const FftLines&);

}  // namespace ricci::kernels
