// What `fft_float.cpp` and `fft_double.cpp` are made of: lines gathered, transformed by a plan of ducc0, scattered.
// The library's parts that cut work among threads and walk over axes are left out: that is done here.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <vector>

#include "kernels/fft_engine.h"
#include "kernels/fft_kept_plans.h"
#include "kernels/fft_lines.h"
#include "kernels/fft_steps.h"
#include "kernels/transpose.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

namespace engine = ducc0::detail_fft;
template <class T> using Complex = ducc0::Cmplx<T>;

/// A plan that was kept, or a new one, which is kept for the next call.
template <class Plan>
std::shared_ptr<const Plan> plan_for(std::int64_t n, bool for_one_line) {
  static const char kind = 0;
  const PlanKey key{&kind, n, for_one_line};
  if (const AnyPlan kept = kept_plan(key)) return std::static_pointer_cast<const Plan>(kept);
  const std::size_t before = ducc0::bytes_of_arrays;
  auto made = std::make_shared<const Plan>(static_cast<std::size_t>(n), for_one_line);
  keep_plan(key, made, ducc0::bytes_of_arrays - before);
  return made;
}

/// Where lanes begin that are computed side by side; the same distance apart, or not.
struct LaneOffsets {
  std::int64_t first, apart;
  bool even = true;
  const BatchOffsets& offsets;
  std::int64_t begin;

  LaneOffsets(const BatchOffsets& of, std::int64_t from, int count)
      : first(of(from)), apart(count > 1 ? of(from + 1) - first : 0), offsets(of), begin(from) {
    for (int lane = 2; lane < count; ++lane) even = even && (*this)[lane] == first + lane * apart;
  }
  std::int64_t operator[](int lane) const { return offsets(begin + lane); }
};

/// to[i, part, lane] for elements i of `count` lines, of `parts` numbers each (2: complex); zeros in lanes beyond.
template <int lanes, int parts, class T>
void gather(T* to, const T* from, std::int64_t n, std::int64_t step, int count, const LaneOffsets& at) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  for (int lane = count; lane < lanes; ++lane)
    for (std::int64_t i = 0; i < n * parts; ++i) to[i * lanes + lane] = T(0);
  if (lanes == 1 && step == 1) {
    std::copy_n(from + at.first * parts, n * parts, to);
  } else if (at.even && step == 1) {
    turn_plane(reinterpret_cast<char*>(to), lanes * bytes, reinterpret_cast<const char*>(from + at.first * parts),
               at.apart * parts * bytes, n * parts, count, bytes);
  } else if (at.even && at.apart == 1 && count == lanes) {
    for (std::int64_t i = 0; i < n; ++i)
      for (int lane = 0; lane < lanes; ++lane)
        for (int part = 0; part < parts; ++part)
          to[(i * parts + part) * lanes + lane] = from[(at.first + i * step + lane) * parts + part];
  } else {
    for (int lane = 0; lane < count; ++lane)
      for (std::int64_t i = 0, place = at[lane]; i < n; ++i)
        for (int part = 0; part < parts; ++part)
          to[(i * parts + part) * lanes + lane] = from[(place + i * step) * parts + part];
  }
}

/// The way back.
template <int lanes, int parts, class T>
void scatter(T* to, const T* from, std::int64_t n, std::int64_t step, int count, const LaneOffsets& at) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  if (lanes == 1 && step == 1) {
    std::copy_n(from, n * parts, to + at.first * parts);
  } else if (at.even && step == 1) {
    turn_plane(reinterpret_cast<char*>(to + at.first * parts), at.apart * parts * bytes,
               reinterpret_cast<const char*>(from), lanes * bytes, count, n * parts, bytes);
  } else if (at.even && at.apart == 1 && count == lanes) {
    for (std::int64_t i = 0; i < n; ++i)
      for (int lane = 0; lane < lanes; ++lane)
        for (int part = 0; part < parts; ++part)
          to[(at.first + i * step + lane) * parts + part] = from[(i * parts + part) * lanes + lane];
  } else {
    for (int lane = 0; lane < count; ++lane)
      for (std::int64_t i = 0, place = at[lane]; i < n; ++i)
        for (int part = 0; part < parts; ++part)
          to[(place + i * step) * parts + part] = from[(i * parts + part) * lanes + lane];
  }
}

/// Memory for lines of n elements with lanes V, and for the plan: an aligned V in front of both and behind.
template <class V>
struct Workplace {
  Scratch<V> memory;
  V *line, *work;
  Workplace(std::int64_t words, std::size_t plan) : memory(words + static_cast<std::int64_t>(plan) + 4) {
    line = memory.data() + 1;
    work = line + words + 2;
  }
};

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
    const auto* done = plan.exec(reinterpret_cast<Complex<V>*>(words), reinterpret_cast<Complex<V>*>(place.work),
                                 T(lines.factor), !backward);
    if (in_place && reinterpret_cast<const T*>(done) == result) continue;
    scatter<lanes, 2>(to, reinterpret_cast<const T*>(done), n, lines.y_step, count, out);
  }
}

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

/// The longest lines that are computed side by side: longer ones leave the cache between one step and the next.
template <class T>
constexpr std::int64_t longest_side_by_side = 32768 / sizeof(T);

/// Whether lines are computed one by one in two steps: alone, or of 512 elements or more, from where one line in two
/// steps takes less time than lines side by side.
template <class Plan>
bool takes_two_steps(const FftLines& lines) {
  constexpr std::int64_t least = 512, most = 1 << 20;
  return Plan::fits(lines.n) && lines.x_step == 1 && lines.y_step == 1 && lines.n <= most &&
         (lines.y.size() == 1 || lines.n >= least);
}

template <class T, int lanes>
void lines_in_two_steps(bool backward, std::complex<T>* y, const std::complex<T>* x, const FftLines& lines,
                        double nanoseconds) {
  using Plan = TwoSteps<T, lanes>;
  const auto plan = plan_for<Plan>(lines.n, true);
  parallel_for({lines.y.size(), nanoseconds}, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<typename Plan::V> work(plan->work_size());
    for (std::int64_t line = begin; line < end; ++line)
      plan->transform(y + lines.y(line), x + lines.x(line), work.data(), T(lines.factor), backward);
  });
}

}  // namespace

template <class T>
void fft_lines(Transform transform, void* y, const void* x, const FftLines& lines) {
  constexpr int lanes = static_cast<int>(std::min<std::size_t>(ducc0::native_simd<T>::size(), 8));
  using V = typename ducc0::simd_select<T, lanes>::type;
  const bool one_by_one = lines.y.size() == 1 || lines.n > longest_side_by_side<T>;
  const bool to_real = transform == Transform::complex_to_real;
  const double nanoseconds = 0.3 * static_cast<double>(lines.n) * std::log2(static_cast<double>(lines.n + 1));
  const auto cut = [&](const auto& one, const auto& several) {
    parallel_for({lines.y.size(), nanoseconds, one_by_one ? 1 : lanes}, [&](std::int64_t begin, std::int64_t end) {
      if (one_by_one) one(begin, end);
      else several(begin, end);
    });
  };
  auto* const complex_y = static_cast<std::complex<T>*>(y);
  const auto* const complex_x = static_cast<const std::complex<T>*>(x);
  if (transform == Transform::forward || transform == Transform::backward) {
    const bool back = transform == Transform::backward;
    constexpr int widest = static_cast<int>(ducc0::native_simd<T>::size());
    if constexpr (widest >= 4)
      if (takes_two_steps<TwoSteps<T, widest>>(lines))
        return lines_in_two_steps<T, widest>(back, complex_y, complex_x, lines, nanoseconds);
    if constexpr (widest >= 8)
      if (takes_two_steps<TwoSteps<T, widest / 2>>(lines))
        return lines_in_two_steps<T, widest / 2>(back, complex_y, complex_x, lines, nanoseconds);
    const auto plan = plan_for<engine::pocketfft_c<T>>(lines.n, one_by_one);
    return cut(
        [&](auto begin, auto end) { complex_lines<T, 1>(*plan, back, complex_y, complex_x, lines, begin, end); },
        [&](auto begin, auto end) { complex_lines<V, lanes>(*plan, back, complex_y, complex_x, lines, begin, end); });
  }
  const auto plan = plan_for<engine::pocketfft_r<T>>(lines.n, one_by_one);
  if (to_real) {
    T* const real_y = static_cast<T*>(y);
    return cut([&](auto begin, auto end) { spectra_to_lines<T, 1>(*plan, real_y, complex_x, lines, begin, end); },
               [&](auto begin, auto end) { spectra_to_lines<V, lanes>(*plan, real_y, complex_x, lines, begin, end); });
  }
  const T* const real_x = static_cast<const T*>(x);
  cut([&](auto begin, auto end) { lines_to_spectra<T, 1>(*plan, complex_y, real_x, lines, begin, end); },
      [&](auto begin, auto end) { lines_to_spectra<V, lanes>(*plan, complex_y, real_x, lines, begin, end); });
}

}  // namespace ricci::kernels
