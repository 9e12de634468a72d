// What `fft_real_float.cpp` and `fft_real_double.cpp` are made of: Fourier transforms from and to real lines. Complex
// passes, of which some of theirs are made, stand in fft_complex.h.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>

#include "kernels/fft_plans.h"

namespace ricci::ducc0::detail_fft {
namespace {

/// For which vector registers ducc0 compiles its passes: for those of lines side by side.
template <class T, int lanes>
constexpr bool simd_exists = lanes == kernels::lanes_of_lines<T>;

}  // namespace
extern template Tcpass<float> cfftpass<float>::make_pass(size_t, size_t, size_t, const Troots<float>&, bool);
extern template Tcpass<double> cfftpass<double>::make_pass(size_t, size_t, size_t, const Troots<double>&, bool);
}  // namespace ricci::ducc0::detail_fft

#include <ducc0/fft/fft1d_impl.h>

namespace ricci::kernels {
namespace {

/// Plans have the spectrum of a real line without the imaginary parts that are 0: re0, re1, im1, …
template <class V, int lanes, class T>
void lines_to_spectra(const engine::pocketfft_r<T>& plan, std::complex<T>* y, const T* x, const FftLines& lines,
                      std::int64_t begin, std::int64_t end) {
  const std::int64_t n = lines.n;
  const Workplace<V> place(n, plan.bufsize());
  for (std::int64_t line = begin; line < end; line += lanes) {
    const int count = static_cast<int>(std::min<std::int64_t>(lanes, end - line));
    gather<lanes, 1>(reinterpret_cast<T*>(place.line), x, n, lines.x_step, count, LaneOffsets(lines.x, line, count));
    V* const done = plan.exec(place.line, place.work, T(lines.factor), true);
    done[-1] = done[0];
    done[0] = done[n] = V(T(0));
    scatter<lanes, 2>(reinterpret_cast<T*>(y), reinterpret_cast<const T*>(done - 1), n / 2 + 1, lines.y_step, count,
                      LaneOffsets(lines.y, line, count));
  }
}

template <class V, int lanes, class T>
void spectra_to_lines(const engine::pocketfft_r<T>& plan, T* y, const std::complex<T>* x, const FftLines& lines,
                      std::int64_t begin, std::int64_t end) {
  const std::int64_t n = lines.n;
  const Workplace<V> place(n, plan.bufsize());
  for (std::int64_t line = begin; line < end; line += lanes) {
    const int count = static_cast<int>(std::min<std::int64_t>(lanes, end - line));
    gather<lanes, 2>(reinterpret_cast<T*>(place.line - 1), reinterpret_cast<const T*>(x), n / 2 + 1, lines.x_step,
                     count, LaneOffsets(lines.x, line, count));
    place.line[0] = place.line[-1];
    V* const done = plan.exec(place.line, place.work, T(lines.factor), false);
    scatter<lanes, 1>(y, reinterpret_cast<const T*>(done), n, lines.y_step, count, LaneOffsets(lines.y, line, count));
  }
}

}  // namespace

template <class T>
void real_to_complex_lines(std::complex<T>* y, const T* x, const FftLines& lines) {
  const auto plan = plan_for<engine::pocketfft_r<T>>(lines.n, is_one_by_one<T>(lines));
  cut_lines<T>(
      lines, [&](auto begin, auto end) { lines_to_spectra<T, 1>(*plan, y, x, lines, begin, end); },
      [&](auto begin, auto end) {
        lines_to_spectra<LinesSideBySide<T>, lanes_of_lines<T>>(*plan, y, x, lines, begin, end);
      });
}

template <class T>
void complex_to_real_lines(T* y, const std::complex<T>* x, const FftLines& lines) {
  const auto plan = plan_for<engine::pocketfft_r<T>>(lines.n, is_one_by_one<T>(lines));
  cut_lines<T>(
      lines, [&](auto begin, auto end) { spectra_to_lines<T, 1>(*plan, y, x, lines, begin, end); },
      [&](auto begin, auto end) {
        spectra_to_lines<LinesSideBySide<T>, lanes_of_lines<T>>(*plan, y, x, lines, begin, end);
      });
}

}  // namespace ricci::kernels
