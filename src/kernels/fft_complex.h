// What `fft_complex_float.cpp` and `fft_complex_double.cpp` are made of: Fourier transforms of complex lines.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>

#include "kernels/fft_plans.h"

namespace ricci::ducc0::detail_fft {
namespace {

/// For which vector registers ducc0 compiles its passes: for the largest, their halves and those of four lanes. No line
/// is computed in others.
template <class T, int lanes>
constexpr bool simd_exists = lanes >= 4 || lanes == native_simd<T>::size();

}  // namespace
}  // namespace ricci::ducc0::detail_fft

#include <ducc0/fft/fft1d_impl.h>

#include "kernels/fft_steps.h"

namespace ricci::kernels {
namespace {

/// Lines [begin, end), `lanes` at a time in registers V.
template <class V, int lanes, class T>
void complex_lines(const engine::pocketfft_c<T>& plan, bool backward, std::complex<T>* y, const std::complex<T>* x,
                   const FftLines& lines, std::int64_t begin, std::int64_t end) {
  const std::int64_t n = lines.n;
  T* const to = reinterpret_cast<T*>(y);
  const T* const from = reinterpret_cast<const T*>(x);
  const Workplace<V> place(2 * n, 2 * plan.bufsize());
  for (std::int64_t line = begin; line < end; line += lanes) {
    const int count = static_cast<int>(std::min<std::int64_t>(lanes, end - line));
    const LaneOffsets in(lines.x, line, count), out(lines.y, line, count);
    T* const result = to + 2 * out.first;
    const bool in_place = lanes == 1 && lines.y_step == 1;
    T* const words = in_place ? result : reinterpret_cast<T*>(place.line);
    gather<lanes, 2>(words, from, n, lines.x_step, count, in);
    const auto* done = plan.exec(reinterpret_cast<ducc0::Cmplx<V>*>(words),
                                 reinterpret_cast<ducc0::Cmplx<V>*>(place.work), T(lines.factor), !backward);
    if (in_place && reinterpret_cast<const T*>(done) == result) continue;
    scatter<lanes, 2>(to, reinterpret_cast<const T*>(done), n, lines.y_step, count, out);
  }
}

/// Whether lines are computed one by one in two steps: alone, or of 512 elements or more, from where one line in two
/// steps takes less time than lines side by side.
template <class Plan>
bool takes_two_steps(const FftLines& lines) {
  constexpr std::int64_t least = 512, most = 1 << 20;
  return Plan::fits(lines.n) && lines.x_step == 1 && lines.y_step == 1 && lines.n <= most &&
         (lines.y.size() == 1 || lines.n >= least);
}

template <class T, int lanes>
void lines_in_two_steps(bool backward, std::complex<T>* y, const std::complex<T>* x, const FftLines& lines) {
  using Plan = TwoSteps<T, lanes>;
  const auto plan = plan_for<Plan>(lines.n, true);
  parallel_for({lines.y.size(), nanoseconds_of_line(lines)}, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<typename Plan::V> work(plan->work_size());
    for (std::int64_t line = begin; line < end; ++line)
      plan->transform(y + lines.y(line), x + lines.x(line), work.data(), T(lines.factor), backward);
  });
}

}  // namespace

template <class T>
void complex_fft_lines(bool backward, std::complex<T>* y, const std::complex<T>* x, const FftLines& lines) {
  constexpr int widest = static_cast<int>(ducc0::native_simd<T>::size());
  if constexpr (widest >= 4)
    if (takes_two_steps<TwoSteps<T, widest>>(lines)) return lines_in_two_steps<T, widest>(backward, y, x, lines);
  if constexpr (widest >= 8)
    if (takes_two_steps<TwoSteps<T, widest / 2>>(lines))
      return lines_in_two_steps<T, widest / 2>(backward, y, x, lines);
  const auto plan = plan_for<engine::pocketfft_c<T>>(lines.n, is_one_by_one<T>(lines));
  cut_lines<T>(
      lines, [&](auto begin, auto end) { complex_lines<T, 1>(*plan, backward, y, x, lines, begin, end); },
      [&](auto begin, auto end) {
        complex_lines<LinesSideBySide<T>, lanes_of_lines<T>>(*plan, backward, y, x, lines, begin, end);
      });
}

}  // namespace ricci::kernels
