// Finding indices out of range and elements that are not zero.
#include <cassert>

#include "kernels/index_loops.h"
#include "kernels/known_step.h"
#include "kernels/reduce.h"

namespace ricci::kernels {
namespace {

/// The axes of x in their own order.
AxisList row_major_loops(const Strided& x) {
  AxisList list;
  for (int i = 0; i < x.rank; ++i) list.axis[list.count++] = {x.shape[i], 0, x.strides[i], 0};
  merge_axes(list);
  return list;
}

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
  const Axis run = loops.last();
  const auto width = static_cast<std::uint64_t>(size) - static_cast<std::uint64_t>(lowest);
  for (Walk outer(loops.axis, loops.count - 1); !outer.done; outer.next()) {
    const std::int64_t* from = indices_of(index) + outer.at.x;
    if (!with_step<1>(run.x, [&](auto step) { return has_outside(from, run.size, step, lowest, width); })) continue;
    while (*from >= lowest && *from < size) from += run.x;
    return *from;
  }
  return std::nullopt;
}

std::int64_t count_nonzero(Strided in) {
  assert(in.rank <= max_axes);
  bool all[max_axes];
  for (bool& axis : all) axis = true;
  std::int64_t count = 0;
  reduce(Reduction::count_nonzero, {&count, DType::int64, 0, nullptr, nullptr}, in, all);
  return count;
}

void nonzero(Strided out, Strided in) {
  assert(out.dtype == DType::int64 && in.rank <= max_axes);
  AxisList loops;
  for (int i = 0; i < in.rank; ++i) loops.axis[loops.count++] = {in.shape[i], 0, in.strides[i], 0};
  if (is_empty(loops)) return;
  auto* to = static_cast<std::int64_t*>(out.data);
  const Axis run = loops.last();
  visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
    std::int64_t at[max_axes] = {};
    for (Walk outer(loops.axis, loops.count - 1); !outer.done; outer.next()) {
      const T* from = static_cast<const T*>(in.data) + outer.at.x;
      for (std::int64_t i = 0; i < run.size; ++i) {
        if (!(from[i * run.x] != T(0))) continue;
        for (int axis = 0; axis + 1 < in.rank; ++axis) *to++ = at[axis];
        if (in.rank > 0) *to++ = i;
      }
      for (int axis = in.rank - 2; axis >= 0 && ++at[axis] == in.shape[axis]; --axis) at[axis] = 0;
    }
  });
}

}  // namespace ricci::kernels
