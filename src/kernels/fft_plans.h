// What Fourier transforms of complex and of real lines share: kept plans, lines gathered and scattered, threads.
// ducc0's parts that cut work among threads and walk over axes are left out: that is done here.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/fft_engine.h"
#include "kernels/fft_kept_plans.h"
#include "kernels/fft_lines.h"
#include "kernels/transpose.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

namespace engine = ducc0::detail_fft;

/// Short lines are computed side by side, one in each of so many lanes.
template <class T>
inline constexpr int lanes_of_lines = static_cast<int>(std::min<std::size_t>(ducc0::native_simd<T>::size(), 8));
template <class T>
using LinesSideBySide = typename ducc0::simd_select<T, lanes_of_lines<T>>::type;

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

/// The longest lines that are computed side by side: longer ones leave the cache between one step and the next.
template <class T>
constexpr std::int64_t longest_side_by_side = 32768 / sizeof(T);

template <class T>
bool is_one_by_one(const FftLines& lines) {
  return lines.y.size() == 1 || lines.n > longest_side_by_side<T>;
}

inline double nanoseconds_of_line(const FftLines& lines) {
  return 0.3 * static_cast<double>(lines.n) * std::log2(static_cast<double>(lines.n + 1));
}

/// one(begin, end) or several(begin, end) for pieces of the lines, on several threads: one by one, or side by side.
template <class T, class One, class Several>
void cut_lines(const FftLines& lines, const One& one, const Several& several) {
  const bool one_by_one = is_one_by_one<T>(lines);
  parallel_for({lines.y.size(), nanoseconds_of_line(lines), one_by_one ? 1 : lanes_of_lines<T>},
               [&](std::int64_t begin, std::int64_t end) {
                 if (one_by_one) one(begin, end);
                 else several(begin, end);
               });
}

}  // namespace
}  // namespace ricci::kernels
