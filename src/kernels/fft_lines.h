// Lines of one element type and length through ducc0's plans. Knows nothing of views. `fft_float.cpp` and
// `fft_double.cpp` hold the code, which takes long to compile.
#pragma once

#include <cstdint>

#include "kernels/matmul_offsets.h"

namespace ricci::kernels {

enum class Transform : std::uint8_t { forward, backward, real_to_complex, complex_to_real };

/// Lines of n elements (on the side that has n): where they begin, and the step within one, in elements.
struct FftLines {
  std::int64_t n;
  BatchOffsets x, y;
  std::int64_t x_step, y_step;
  double factor;  // of all results
};

/// T is float or double; x and y point at T or complex<T>, as the transform has it.
template <class T>
void fft_lines(Transform transform, void* y, const void* x, const FftLines& lines);

}  // namespace ricci::kernels
