// Fourier transforms of complex lines of float: a file of its own, as it takes long to compile.
#include "kernels/fft_complex.h"

template ricci::ducc0::detail_fft::Tcpass<float> ricci::ducc0::detail_fft::cfftpass<float>::make_pass(
    std::size_t, std::size_t, std::size_t, const Troots<float>&, bool);

namespace ricci::kernels {

template void complex_fft_lines(bool, std::complex<float>*, const std::complex<float>*, const FftLines&);

}  // namespace ricci::kernels
