// Gathering and scattering along one axis.
#include "kernels/index.h"

#include <algorithm>
#include <cassert>

#include "kernels/index_loops.h"

namespace ricci::kernels {
namespace {

/// The steps of `table` along all axes but `axis`, and those along it.
struct TableSteps {
  TableSteps(const Strided& table, int axis) {
    assert(table.rank <= max_axes);
    std::copy_n(table.strides, table.rank, others);
    if (table.rank == 0) return;
    others[axis] = 0;
    step = table.strides[axis], size = table.shape[axis];
  }
  std::int64_t others[max_axes];
  std::int64_t step = 0, size = 1;
};

constexpr double nanoseconds_per_element = 1;

/// f(offset in rows, offset in the table) for each index; `loops` has rows' steps as out, the index's as x, the table's
/// as y. Elements of one lane come in their order.
template <class F>
void for_each_place(const AxisList& loops, const std::int64_t* index, const TableSteps& table, F f) {
  if (is_empty(loops)) return;
  const Axis run = loops.last();
  for (Walk outer(loops.axis, loops.count - 1); !outer.done; outer.next()) {
    const Offsets at = outer.at;
    for (std::int64_t i = 0; i < run.size; ++i) {
      const std::int64_t place = from_front(index[at.x + i * run.x], table.size);
      f(at.out + i * run.out, at.y + i * run.y + place * table.step);
    }
  }
}

}  // namespace

AxisList index_loops(int count, const std::int64_t* shape, const std::int64_t* out, const std::int64_t* x,
                     const std::int64_t* y) {
  AxisList list;
  for (int i = 0; i < count; ++i) {
    const Axis axis{shape[i], out ? out[i] : 0, x ? x[i] : 0, y ? y[i] : 0};
    if (axis.size == 1) continue;
    int at = list.count++;
    for (; at > 0 && axis.out > list.axis[at - 1].out; --at) list.axis[at] = list.axis[at - 1];
    list.axis[at] = axis;
  }
  merge_axes(list);
  return list;
}

void gather(Strided out, Strided in, int axis, Strided index) {
  assert(index.dtype == DType::int64 && out.dtype == in.dtype && out.rank == index.rank);
  const TableSteps table(in, axis);
  AxisList loops = index_loops(out.rank, out.shape, out.strides, index.strides, table.others);
  visit_size(out.dtype, [&]<class T>(std::type_identity<T>) {
    cut_axes(loops, nanoseconds_per_element, [&](const AxisList& piece, const Offsets& at) {
      T* to = static_cast<T*>(out.data) + at.out;
      const T* from = static_cast<const T*>(in.data) + at.y;
      for_each_place(piece, indices_of(index) + at.x, table, [=](std::int64_t o, std::int64_t i) { to[o] = from[i]; });
    });
  });
}

void scatter(Write write, Strided inout, int axis, Strided index, Strided src) {
  assert(index.dtype == DType::int64 && inout.dtype == src.dtype && src.rank == index.rank);
  const TableSteps table(inout, axis);
  AxisList loops = index_loops(index.rank, index.shape, src.strides, index.strides, table.others);
  visit_write(write, inout.dtype, [&]<class T, class W>(std::type_identity<T>, W) {
    cut_places(loops, nanoseconds_per_element, [&](const AxisList& piece, const Offsets& at) {
      T* to = static_cast<T*>(inout.data) + at.y;
      const T* from = static_cast<const T*>(src.data) + at.out;
      for_each_place(piece, indices_of(index) + at.x, table,
                     [=](std::int64_t o, std::int64_t i) { W::write(to[i], from[o]); });
    });
  });
}

}  // namespace ricci::kernels
