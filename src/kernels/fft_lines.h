// Lines of one element type and length through ducc0's plans. Knows nothing of views. T is float or double.
// fft_complex.h and fft_real.h hold the code, which takes long to compile.
#pragma once

#include <complex>
#include <cstdint>

#include "kernels/matmul_offsets.h"

namespace ricci::kernels {

/// Lines of n elements (on the side that has n): where they begin, and the step within one, in elements.
struct FftLines {
  std::int64_t n;
  BatchOffsets x, y;
  std::int64_t x_step, y_step;
  double factor;  // of all results
};

template <class T>
void complex_fft_lines(bool backward, std::complex<T>* y, const std::complex<T>* x, const FftLines& lines);
template <class T>
void real_to_complex_lines(std::complex<T>* y, const T* x, const FftLines& lines);
template <class T>
void complex_to_real_lines(T* y, const std::complex<T>* x, const FftLines& lines);

}  // namespace ricci::kernels
