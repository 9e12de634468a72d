// What kernels that read or write at places have in common: elements by their size or type, indices from the back, and
// loops in the order of memory. Knows nothing of what is done at a place.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "kernels/index.h"
#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/pack.h"
#include "ricci/primitive/reduction_axes.h"

namespace ricci::kernels {

inline std::int64_t from_front(std::int64_t index, std::int64_t size) { return index < 0 ? index + size : index; }

inline const std::int64_t* indices_of(const Strided& x) { return static_cast<const std::int64_t*>(x.data); }

/// Calls f(std::type_identity<T>{}) with some T of the size of `dtype`: for moving elements about.
template <class F>
void visit_size(DType dtype, F&& f) {
  switch (element_size(dtype)) {
    case 1: return f(std::type_identity<std::uint8_t>{});
    case 2: return f(std::type_identity<std::uint16_t>{});
    case 4: return f(std::type_identity<std::uint32_t>{});
    case 8: return f(std::type_identity<std::uint64_t>{});
    default: return f(std::type_identity<std::complex<double>>{});
  }
}

/// What a write does.
struct Setter {
  template <class T>
  static void write(T& place, const T& value) {
    place = value;
  }
};
struct Adder {
  template <class T>
  static void write(T& place, const T& value) {
    if constexpr (std::is_same_v<T, bool>) place = place || value;
    else if constexpr (std::is_same_v<T, std::int64_t>) {
      place = static_cast<T>(static_cast<std::uint64_t>(place) + static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      place = T(static_cast<float>(place) + static_cast<float>(value));
    } else if constexpr (std::is_integral_v<T>) {
      place = static_cast<T>(static_cast<std::int64_t>(place) + value);
    } else {
      place += value;
    }
  }
};
template <bool greatest>
struct Chooser {
  template <class T>
  static void write(T& place, const T& value) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      if (wins(static_cast<float>(value), static_cast<float>(place))) place = value;
    } else {  // nobody can guess who wins: without a branch
      using Bits = typename scalar::Width<sizeof(T)>::bits;
      const Bits mask = static_cast<Bits>(-static_cast<Bits>(wins(value, place)));
      const auto of_value = std::bit_cast<Bits>(value), of_place = std::bit_cast<Bits>(place);
      place = std::bit_cast<T>(static_cast<Bits>((of_value & mask) | (of_place & ~mask)));
    }
  }
  template <class T>
  static bool wins(T value, T place) {
    return (greatest ? value > place : value < place) | (value != value);
  }
};
/// Calls f(std::type_identity<T>{}, what writes): setting needs the size of `dtype` only.
template <class F>
void visit_write(Write write, DType dtype, F&& f) {
  switch (write) {
    case Write::set: return visit_size(dtype, [&]<class T>(std::type_identity<T> type) { f(type, Setter()); });
    case Write::add: return visit_dtype(dtype, [&]<class T>(std::type_identity<T> type) { f(type, Adder()); });
    case Write::greatest:
      return visit_real(dtype, [&]<class T>(std::type_identity<T> type) { f(type, Chooser<true>()); });
    case Write::least:
      return visit_real(dtype, [&]<class T>(std::type_identity<T> type) { f(type, Chooser<false>()); });
  }
}

/// The axes of x in their own order.
inline AxisList row_major_loops(const Strided& x) {
  AxisList list;
  for (int i = 0; i < x.rank; ++i) {
    if (x.shape[i] != 1) list.axis[list.count++] = {x.shape[i], 0, x.strides[i], 0};
  }
  merge_axes(list);
  return list;
}

/// The loops over `count` axes of three operands, those with wide steps of `out` outside, neighbours merged.
/// A null operand stays where it is.
AxisList index_loops(int count, const std::int64_t* shape, const std::int64_t* out, const std::int64_t* x,
                     const std::int64_t* y);

/// As `cut_axis`, along an axis whose steps write to different places of the output, which `y` steps through. Each
/// piece walks all loops around the axis, so there are no more pieces than threads.
template <class Work>
void cut_places(AxisList& list, double nanoseconds, const Work& work) {
  AxisToCut cut{-1, 1};
  if (would_cut({steps_of(list), nanoseconds})) {
    for (int i = list.count - 1; i >= 0; --i) {
      constexpr std::int64_t enough = 8;  // lines: a processor fetches lines ahead that the next one writes
      const std::int64_t line = list.axis[i].y == 1 ? enough * line_step() : 1,
                         lines = (list.axis[i].size + line - 1) / line;
      if (list.axis[i].y != 0 && lines >= thread_count())
        cut = {i, (lines + thread_count() - 1) / thread_count() * line};
    }
  }
  cut_axis(list, cut, nanoseconds, work);
}

/// f(where it begins, index of its first step, number of steps) for the runs of the last loop that make up steps
/// [begin, end) of all. Requires: no loop is empty.
template <class F>
void for_each_run(const AxisList& list, std::int64_t begin, std::int64_t end, const F& f) {
  const std::int64_t size = list.last().size;
  const std::int64_t run = begin == 0 ? 0 : begin / size;  // a division takes as long as a short run
  Walk outer(list.axis, std::max(0, list.count - 1), run);
  for (std::int64_t i = begin - run * size; begin < end; outer.next(), i = 0) {
    const std::int64_t count = std::min(size - i, end - begin);
    f(outer.at, i, count);
    begin += count;
  }
}

/// Whether a list has a loop without steps.
inline bool is_empty(const AxisList& list) {
  for (int i = 0; i < list.count; ++i) {
    if (list.axis[i].size == 0) return true;
  }
  return false;
}

}  // namespace ricci::kernels
