// Running totals, one element after the other along the lane; several lanes at once, to hide the latency. A long lane
// of sums is added in pieces of one size, which are the lanes where there are few others: on several threads or on one.
#include "kernels/scan.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "kernels/scan_lanes.h"
#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/scratch.h"
#include "ricci/primitive/wide.h"

namespace ricci::kernels {
namespace {

using scalar::Pack;

/// What a running total of elements of type T is kept in: one more precision than a sum's, as each total is rounded.
template <class T>
struct total_of {
  using type = accumulator<T>;
};
template <> struct total_of<float> {
  using type = double;
};
template <> struct total_of<std::complex<float>> {
  using type = std::complex<double>;
};
template <class T>
using total = typename total_of<T>::type;

template <class A>
A times(A a, A b) {
  if constexpr (is_complex_element<A>) {
    return {std::fma(a.real(), b.real(), -(a.imag() * b.imag())), std::fma(a.real(), b.imag(), a.imag() * b.real())};
  } else if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}
template <class A>
A plus(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else return a + b;
}

/// Lanes that are walked together.
inline constexpr int group = 8;
/// Elements that are added up before they join the sum of those before them. Eight pieces of no power of two do not
/// meet in one set of a cache.
inline constexpr std::int64_t sum_piece = 4000;

Axis part_of(const Axis& lane, std::int64_t begin, std::int64_t most) {
  Axis part = lane;
  part.size = std::min(most, lane.size - begin);
  return part;
}

/// `Lanes` lanes, `across` apart; neighbours in memory if `Unit`. Adds the sum of each lane to before[l]; if `writes`,
/// also stores the running sums in `out`.
template <int Lanes, bool Unit, bool writes, class T, class Out>
void add_piece(Out* out, const T* x, const Axis& lane, const Axis& across, total<T>* before) {
  total<T> totals[Lanes];
  for (total<T>& t : totals) t = total<T>(0);
  const std::int64_t out_step = Unit ? 1 : across.out, x_step = Unit ? 1 : across.x;
  for (std::int64_t i = 0; i < lane.size; ++i, x += lane.x) {
    for (int l = 0; l < Lanes; ++l) {
      totals[l] = plus(totals[l], static_cast<total<T>>(x[l * x_step]));
      if constexpr (writes) out[l * out_step] = static_cast<Out>(plus(before[l], totals[l]));
    }
    if constexpr (writes) out += lane.out;
  }
  for (int l = 0; l < Lanes; ++l) before[l] = plus(before[l], totals[l]);
}

/// As `add_piece` with nothing before, or the product.
template <Scan kind, int Lanes, bool Unit, class T, class Out>
void scan_in_one(Out* out, const T* x, const Axis& lane, const Axis& across) {
  using A = total<T>;
  A totals[Lanes];
  for (A& t : totals) t = A(kind == Scan::prod ? 1 : 0);
  const std::int64_t out_step = Unit ? 1 : across.out, x_step = Unit ? 1 : across.x;
  for (std::int64_t i = 0; i < lane.size; ++i, out += lane.out, x += lane.x) {
    for (int l = 0; l < Lanes; ++l) {
      const A element = static_cast<A>(x[l * x_step]);
      totals[l] = kind == Scan::prod ? times(totals[l], element) : plus(totals[l], element);
      out[l * out_step] = static_cast<Out>(totals[l]);
    }
  }
}

template <Scan kind, int Lanes, bool Unit, class T, class Out>
void scan_group(Out* out, const T* x, const Axis& lane, const Axis& across) {
  if (kind == Scan::prod || lane.size <= sum_piece) return scan_in_one<kind, Lanes, Unit>(out, x, lane, across);
  total<T> before[Lanes] = {};
  for (std::int64_t i = 0; i < lane.size; i += sum_piece)
    add_piece<Lanes, Unit, true>(out + i * lane.out, x + i * lane.x, part_of(lane, i, sum_piece), across, before);
}

/// Pieces [begin, end) of a lane; before[i] is the sum before piece i, or after it once that has been added.
template <bool writes, class T, class Out>
void add_pieces(Out* out, const T* x, const Axis& lane, std::int64_t begin, std::int64_t end, total<T>* before) {
  const Axis across{end, sum_piece * lane.out, sum_piece * lane.x, 0};
  std::int64_t i = begin;
  const auto add = [&]<int count>(std::integral_constant<int, count>) {
    const Axis piece = part_of(lane, i * sum_piece, sum_piece);
    add_piece<count, false, writes>(out + i * across.out, x + i * across.x, piece, across, before + i);
    i += count;
  };
  const std::int64_t full = std::min(end, lane.size / sum_piece);
  while (i + group <= full) add(std::integral_constant<int, group>());
  if (i + group / 2 <= full) add(std::integral_constant<int, group / 2>());
  while (i < end) add(std::integral_constant<int, 1>());
}

/// The pieces of a lane as lanes: their sums, what is before each, and then what grows through them.
template <class T, class Out>
void sum_long_lane(Out* out, const T* x, const Axis& lane) {
  constexpr double nanoseconds = 0.3 * sum_piece;
  const std::int64_t pieces = (lane.size + sum_piece - 1) / sum_piece;
  const Scratch<total<T>> memory(pieces);
  total<T>* before = memory.data();
  std::fill_n(before, pieces, total<T>(0));
  parallel_for({pieces, nanoseconds, group},
               [&](std::int64_t begin, std::int64_t end) { add_pieces<false>(out, x, lane, begin, end, before); });
  total<T> sum(0);
  for (std::int64_t i = 0; i < pieces; ++i) sum = plus(sum, std::exchange(before[i], sum));
  parallel_for({pieces, nanoseconds, group},
               [&](std::int64_t begin, std::int64_t end) { add_pieces<true>(out, x, lane, begin, end, before); });
}

/// The running log of a sum of exponentials as {greatest, sum of exp(x - greatest)}, in double; float16 too.
struct LogSum {
  Pack<double> greatest{-std::numeric_limits<double>::infinity()}, sum{0.0};

  void add(Pack<double> x) {
    using namespace scalar;
    const Pack<double> distance = select(equal(x, greatest), Pack<double>(0.0), -abs(x - greatest));
    const Pack<double> ratio = exp(distance);
    sum = select(greater(x, greatest), fma(sum, ratio, Pack<double>(1.0)), sum + ratio);
    greatest = max(greatest, x);
  }
  Pack<double> value() const { return greatest + log(sum); }
};

/// `count` <= Pack<double>::lanes lanes.
template <class T>
void scan_logsumexp(T* out, const T* x, const Axis& lane, const Axis& across, int count) {
  constexpr int lanes = Pack<double>::lanes;
  LogSum total;
  double buffer[lanes] = {};
  for (std::int64_t i = 0; i < lane.size; ++i, out += lane.out, x += lane.x) {
    for (int l = 0; l < count; ++l) buffer[l] = static_cast<double>(static_cast<accumulator<T>>(x[l * across.x]));
    total.add(scalar::load(buffer, std::type_identity<Pack<double>>{}));
    double values[lanes];
    scalar::store(values, total.value());
    for (int l = 0; l < count; ++l) out[l * across.out] = static_cast<T>(static_cast<accumulator<T>>(values[l]));
  }
}

/// Walks the lane from its end.
template <class Out, class T>
void turn_round(Axis& lane, Out*& out, const T*& x) {
  out += (lane.size - 1) * lane.out, x += (lane.size - 1) * lane.x;
  lane.out = -lane.out, lane.x = -lane.x;
}

/// Whether there are fewer lanes than are walked together, but more than enough pieces.
bool are_few_and_long(const AxisList& others, const Axis& lane) {
  return lane.size >= 2 * group * sum_piece && steps_of(others) < group;
}

template <class T, class Out>
void sum_long_lanes(const AxisList& others, Axis lane, Out* out, const T* x, Direction direction) {
  if (direction == Direction::reverse) turn_round(lane, out, x);
  for (Walk at(others.axis, others.count); !at.done; at.next()) sum_long_lane(out + at.at.out, x + at.at.x, lane);
}

template <Scan kind, class T, class Out>
void scan_lanes(const AxisList& others, Axis lane, Out* out, const T* x, Direction direction) {
  const Axis across = others.last();
  if (direction == Direction::reverse) turn_round(lane, out, x);
  for (Walk outer(others.axis, others.count - 1); !outer.done; outer.next()) {
    Out* to = out + outer.at.out;
    const T* from = x + outer.at.x;
    std::int64_t i = 0;
    if constexpr (kind == Scan::logsumexp) {
      constexpr int lanes = Pack<double>::lanes;
      for (; i < across.size; i += lanes)
        scan_logsumexp(to + i * across.out, from + i * across.x, lane, across,
                       static_cast<int>(std::min<std::int64_t>(lanes, across.size - i)));
    } else {
      const bool unit = across.out == 1 && across.x == 1;
      for (; i + group <= across.size; i += group) {
        Out* group_to = to + i * across.out;
        const T* group_from = from + i * across.x;
        if (unit) scan_group<kind, group, true>(group_to, group_from, lane, across);
        else scan_group<kind, group, false>(group_to, group_from, lane, across);
      }
      for (; i < across.size; ++i) scan_group<kind, 1, false>(to + i * across.out, from + i * across.x, lane, across);
    }
  }
}

// --- Extremes

/// Whether x takes the place of best: it is at least as great (or small), or NaN.
template <bool greatest, class A>
bool replaces(A x, A best) {
  const bool better = greatest ? x >= best : x <= best;
  return (x != x) | (better & (best == best));
}

/// Vectors of a lane from element `begin` on of which no element takes the place of the best one. Returns the first
/// element that is left.
template <bool greatest, class T>
std::int64_t repeat_extreme(T* values, std::int64_t* places, const T* x, std::int64_t begin, std::int64_t end, T best,
                            std::int64_t place) {
  using V = Pack<T>;
  const V all(best);
  for (; begin + V::lanes <= end; begin += V::lanes) {
    const V element = scalar::load(x + begin, std::type_identity<V>{});
    const auto better = greatest ? greater_equal(element, all) : less_equal(element, all);
    if (any(better || not_equal(element, element))) break;
    scalar::store(values + begin, all);
    std::fill_n(places + begin, V::lanes, place);
  }
  return begin;
}

/// So many lanes that stand side by side.
template <bool greatest, int lanes, class T>
void scan_extreme_lanes(T* values, std::int64_t* places, const T* x, const Axis& lane, bool reverse) {
  using A = comparable<T>;
  A best[lanes];
  std::int64_t place[lanes];
  for (std::int64_t step = 0; step < lane.size; ++step) {
    const std::int64_t i = reverse ? lane.size - 1 - step : step;
    for (int l = 0; l < lanes; ++l) {
      const A element = static_cast<A>(x[i * lane.x + l]);
      const bool takes = step == 0 || replaces<greatest>(element, best[l]);
      best[l] = takes ? element : best[l];
      place[l] = takes ? i : place[l];
      values[i * lane.out + l] = static_cast<T>(best[l]);
      places[i * lane.y + l] = place[l];
    }
  }
}

/// A lane whose elements stand side by side.
template <bool greatest, class T>
void scan_extreme_run(T* values, std::int64_t* places, const T* x, std::int64_t size) {
  T best = x[0];
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < size;) {
    const std::int64_t end = std::min<std::int64_t>(size, i + Pack<T>::lanes);
    for (; i < end; ++i) {
      if (replaces<greatest>(x[i], best)) best = x[i], place = i;
      values[i] = best;
      places[i] = place;
    }
    i = repeat_extreme<greatest>(values, places, x, i, size, best, place);
  }
}

template <bool greatest, class T>
void scan_extreme_lane(T* values, std::int64_t* places, const T* x, const Axis& lane, bool reverse) {
  using A = comparable<T>;
  const auto scan = [&](auto x_step, auto out_step, auto y_step) {
    A best{};
    std::int64_t place = 0;
    for (std::int64_t step = 0; step < lane.size; ++step) {
      const std::int64_t i = reverse ? lane.size - 1 - step : step;
      const A element = static_cast<A>(x[i * x_step]);
      if (step == 0 || replaces<greatest>(element, best)) best = element, place = i;
      values[i * out_step] = static_cast<T>(best);
      places[i * y_step] = place;
    }
  };
  constexpr std::integral_constant<std::int64_t, 1> one;
  if (lane.x != 1 || lane.out != 1 || lane.y != 1) return scan(lane.x, lane.out, lane.y);
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    if (!reverse) return scan_extreme_run<greatest>(values, places, x, lane.size);
  }
  scan(one, one, one);
}

}  // namespace

DType total_dtype(DType in) {
  if (in == DType::float32) return DType::float64;
  if (in == DType::complex64) return DType::complex128;
  return accumulator_dtype(in);
}

DType scanned_dtype(Scan, DType in) { return is_integral(in) ? DType::int64 : in; }

void scan(Scan kind, Strided out, Strided in, int axis, Direction direction) {
  assert(out.dtype == scanned_dtype(kind, in.dtype));
  LaneAxes axes = lanes_along(axis, out, in, in);
  if (axes.empty) return;
  const double nanoseconds = (kind == Scan::logsumexp ? 4 : 0.3) * static_cast<double>(axes.lane.size);
  const auto run = [&]<Scan k, class T, class Out>() {
    cut_axes(axes.others, nanoseconds, [&](const AxisList& others, const Offsets& at) {
      scan_lanes<k>(others, axes.lane, static_cast<Out*>(out.data) + at.out, static_cast<const T*>(in.data) + at.x,
                    direction);
    });
  };
  if (kind == Scan::logsumexp)
    return visit_floating(in.dtype,
                          [&]<class T>(std::type_identity<T>) { run.template operator()<Scan::logsumexp, T, T>(); });
  visit_numbers(in.dtype, [&]<class T>(std::type_identity<T>) {
    using Out = sum_element<T>;
    if (kind == Scan::prod) return run.template operator()<Scan::prod, T, Out>();
    if (!are_few_and_long(axes.others, axes.lane)) return run.template operator()<Scan::sum, T, Out>();
    sum_long_lanes(axes.others, axes.lane, static_cast<Out*>(out.data), static_cast<const T*>(in.data), direction);
  });
}

void scan_extreme(bool greatest, Strided values, Strided places, Strided in, int axis, Direction direction) {
  assert(values.dtype == in.dtype && places.dtype == DType::int64);
  LaneAxes axes = lanes_along(axis, values, in, places);
  if (axes.empty) return;
  const bool reverse = direction == Direction::reverse;
  visit_real(in.dtype, [&]<class T>(std::type_identity<T>) {
    const auto lane = greatest ? scan_extreme_lane<true, T> : scan_extreme_lane<false, T>;
    cut_axes(axes.others, static_cast<double>(axes.lane.size), [&](const AxisList& others, const Offsets& from) {
      constexpr int together = 16;
      const auto lanes = greatest ? scan_extreme_lanes<true, together, T> : scan_extreme_lanes<false, together, T>;
      const Axis across = others.last();
      const bool are_beside = across.out == 1 && across.x == 1 && across.y == 1;
      for (Walk outer(others.axis, others.count - 1); !outer.done; outer.next()) {
        const auto at = [&](std::int64_t i, const auto& of) {
          of(static_cast<T*>(values.data) + from.out + outer.at.out + i * across.out,
             static_cast<std::int64_t*>(places.data) + from.y + outer.at.y + i * across.y,
             static_cast<const T*>(in.data) + from.x + outer.at.x + i * across.x, axes.lane, reverse);
        };
        std::int64_t i = 0;
        for (; are_beside && i + together <= across.size; i += together) at(i, lanes);
        for (; i < across.size; ++i) at(i, lane);
      }
    });
  });
}

}  // namespace ricci::kernels
