// Finding indices out of range and elements that are not zero.
#include <atomic>
#include <cassert>
#include <limits>
#include <mutex>

#include "kernels/index_loops.h"
#include "kernels/known_step.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

/// Whether any of `count` indices, `step` apart, is not in [lowest, lowest + size).
template <class Step>
bool has_outside(const std::int64_t* index, std::int64_t count, Step step, std::int64_t lowest, std::uint64_t size) {
  std::uint64_t outside = 0;  // as wide as an index, which vectorises the loop
  for (std::int64_t i = 0; i < count; ++i)
    outside |= static_cast<std::uint64_t>(index[i * step]) - static_cast<std::uint64_t>(lowest) >= size;
  return outside != 0;
}

}  // namespace

std::optional<std::int64_t> find_out_of_range(Strided index, std::int64_t lowest, std::int64_t size) {
  assert(index.dtype == DType::int64);
  const AxisList loops = row_major_loops(index);
  if (is_empty(loops)) return std::nullopt;
  const std::int64_t apart = loops.last().x;
  const auto width = static_cast<std::uint64_t>(size) - static_cast<std::uint64_t>(lowest);
  std::mutex mutex;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), found = 0;  // its place in row-major order, and itself
  constexpr double nanoseconds_per_index = 0.06;  // a fourth of what it takes: another core has to fetch it first
  parallel_for({steps_of(loops), nanoseconds_per_index}, [&](std::int64_t begin, std::int64_t end) {
    for_each_run(loops, begin, end, [&](const Offsets& at, std::int64_t i, std::int64_t count) {
      const std::int64_t* from = indices_of(index) + at.x + i * apart;
      if (with_step<1>(apart, [&](auto step) { return has_outside(from, count, step, lowest, width); })) {
        std::int64_t place = begin;
        for (; *from >= lowest && *from < size; from += apart) ++place;
        const std::lock_guard lock(mutex);
        if (place < first) first = place, found = *from;
      }
      begin += count;
    });
  });
  return first == std::numeric_limits<std::int64_t>::max() ? std::nullopt : std::optional(found);
}

namespace {

/// How many of the elements [begin, end) of `in`, in the order of `loops`, are not zero.
template <class T>
std::int64_t count_in(const Strided& in, const AxisList& loops, std::int64_t begin, std::int64_t end) {
  std::int64_t count = 0;
  for_each_run(loops, begin, end, [&](const Offsets& outer, std::int64_t first, std::int64_t steps) {
    with_step<1>(loops.last().x, [&](auto step) {
      const T* from = static_cast<const T*>(in.data) + outer.x + first * step;
      for (std::int64_t i = 0; i < steps; ++i) count += from[i * step] != T(0);
    });
  });
  return count;
}

constexpr double nanoseconds_to_count = 0.1;

}  // namespace

std::int64_t count_nonzero(Strided in) {
  assert(in.rank <= max_axes);
  bool all[max_axes];
  for (bool& axis : all) axis = true;
  std::atomic<std::int64_t> count = 0;
  const AxisList loops = reduction_axes({&count, DType::int64, 0, nullptr, nullptr}, in, nullptr, all).reduced;
  if (is_empty(loops)) return 0;
  visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
    parallel_for({steps_of(loops), nanoseconds_to_count},
                 [&](std::int64_t begin, std::int64_t end) { count += count_in<T>(in, loops, begin, end); });
  });
  return count;
}

namespace {

/// Writes the coordinates of the elements [begin, end) of `in` that are not zero. Requires: `loops` are in's axes.
template <class T>
void write_coordinates(std::int64_t* to, const Strided& in, const AxisList& loops, std::int64_t begin,
                       std::int64_t end) {
  const Axis run = loops.last();
  std::int64_t at[max_axes], row = begin / run.size;
  for (int axis = in.rank - 2; axis >= 0; row /= in.shape[axis--]) at[axis] = row % in.shape[axis];
  for_each_run(loops, begin, end, [&](const Offsets& outer, std::int64_t first, std::int64_t count) {
    const T* from = static_cast<const T*>(in.data) + outer.x;
    for (std::int64_t i = first; i < first + count; ++i) {
      if (!(from[i * run.x] != T(0))) continue;
      for (int axis = 0; axis + 1 < in.rank; ++axis) *to++ = at[axis];
      if (in.rank > 0) *to++ = i;
    }
    for (int axis = in.rank - 2; axis >= 0 && ++at[axis] == in.shape[axis]; --axis) at[axis] = 0;
  });
}

}  // namespace

void nonzero(Strided out, Strided in) {
  assert(out.dtype == DType::int64 && in.rank <= max_axes);
  AxisList loops;
  for (int i = 0; i < in.rank; ++i) loops.axis[loops.count++] = {in.shape[i], 0, in.strides[i], 0};
  if (is_empty(loops)) return;
  auto* to = static_cast<std::int64_t*>(out.data);
  const std::int64_t elements = steps_of(loops);
  constexpr double nanoseconds_to_write = 1;
  visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
    if (!would_cut({elements, nanoseconds_to_write})) return write_coordinates<T>(to, in, loops, 0, elements);
    const std::int64_t piece = std::max<std::int64_t>(1, elements / (8 * thread_count()));
    const std::int64_t pieces = (elements + piece - 1) / piece;
    const auto end_of = [&](std::int64_t p) { return std::min((p + 1) * piece, elements); };
    const Scratch<std::int64_t> found(pieces + 1);  // before each piece
    found.data()[0] = 0;
    parallel_for({pieces, nanoseconds_to_count * static_cast<double>(piece)}, [&](std::int64_t p, std::int64_t last) {
      for (; p < last; ++p) found.data()[p + 1] = count_in<T>(in, loops, p * piece, end_of(p));
    });
    for (std::int64_t p = 0; p < pieces; ++p) found.data()[p + 1] += found.data()[p];
    parallel_for({pieces, nanoseconds_to_write * static_cast<double>(piece)}, [&](std::int64_t p, std::int64_t last) {
      for (; p < last; ++p) write_coordinates<T>(to + found.data()[p] * in.rank, in, loops, p * piece, end_of(p));
    });
  });
}

}  // namespace ricci::kernels
