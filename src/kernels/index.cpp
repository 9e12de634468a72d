// Gathering and scattering along one axis.
#include "kernels/index.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "kernels/elementwise.h"
#include "kernels/index_add.h"
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

namespace {

/// How far apart the numbers of places are whose elements are `table_step` apart; no two axes have one step.
std::int64_t number_step(const AxisList& places, std::int64_t table_step) {
  std::int64_t step = 1;
  for (int i = places.count - 1; places.axis[i].y != table_step; --i) step *= places.axis[i].size;
  return step;
}

/// Adds along one axis. `loops` has rows' steps as out, the index's as x and the table's as y: 0 along that axis.
void add_along(const AxisList& loops, const std::int64_t* index, const TableSteps& table, DType dtype, char* to,
               const char* from) {
  Additions additions;
  AxisList numbers;  // the tuples' axes, with steps from number to number of places as y
  if (table.size > 1) insert_axis(additions.places, {table.size, 0, 0, table.step});
  for (int i = 0; i < loops.count; ++i) {
    const Axis axis = loops.axis[i];
    const bool is_along = axis.y == 0;
    if (axis.x == 0 && !is_along) {
      additions.rest.axis[additions.rest.count++] = axis;
      continue;
    }
    numbers.axis[numbers.count++] = axis;
    additions.tuples.axis[additions.tuples.count++] = {axis.size, axis.out, 0, 0};
    if (!is_along) insert_axis(additions.places, {axis.size, 0, 0, axis.y});
  }
  for (int i = 0; i < numbers.count; ++i) {
    if (numbers.axis[i].y != 0) numbers.axis[i].y = number_step(additions.places, numbers.axis[i].y);
  }
  const std::int64_t along = table.size > 1 ? number_step(additions.places, table.step) : 0;
  for (AxisList* list : {&additions.places, &additions.tuples, &additions.rest, &numbers}) merge_axes(*list);
  additions.allocate();
  std::int64_t* place = additions.place_of.data();
  const Axis run = numbers.last();
  for (Walk outer(numbers.axis, numbers.count - 1); !outer.done; outer.next()) {
    const Offsets at = outer.at;
    for (std::int64_t i = 0; i < run.size; ++i)
      *place++ = at.y + i * run.y + from_front(index[at.x + i * run.x], table.size) * along;
  }
  add_rows(additions, dtype, to, from);
}

/// Adds along one axis, by blocks of lanes that have so few elements that what is noted of them stays in the caches.
void add_lanes(AxisList& loops, const std::int64_t* index, const TableSteps& table, const Strided& inout, char* to,
               const char* from) {
  constexpr std::int64_t elements_of_block = 1 << 16, lanes_of_line = 16;
  const auto width = static_cast<std::int64_t>(element_size(inout.dtype));
  int cut = 0;
  while (cut < loops.count && (loops.axis[cut].x == 0 || loops.axis[cut].y == 0)) ++cut;
  if (cut == loops.count) return add_along(loops, index, table, inout.dtype, to, from);
  const Axis lanes = loops.axis[cut];
  const std::int64_t of_lane = steps_of(loops) / lanes.size;
  const std::int64_t block = std::max(elements_of_block / of_lane, lanes.y == 1 ? lanes_of_line : 1);
  for (std::int64_t i = 0; i < lanes.size; i += block) {
    loops.axis[cut].size = std::min(block, lanes.size - i);
    add_along(loops, index + i * lanes.x, table, inout.dtype, to + i * lanes.y * width, from + i * lanes.out * width);
  }
}

/// The last loop, over lanes that stand side by side; one lane if that loop is along it.
Axis lanes_together(const AxisList& loops, int along) {
  return along == loops.count - 1 ? Axis{1, 0, 0, 0} : loops.last();
}
/// Which loop runs along the lanes, if terms are added lane by lane. They are not added so
/// - where the lanes side by side have fewer than 256 terms together: to begin takes longer than to add them;
/// - where a lane has more than four places to a term: a total is kept for each place;
/// - where one index serves several elements, as for a row of a table: add_rows adds whole rows.
std::optional<int> loop_along_lanes(const AxisList& loops, const TableSteps& table) {
  const auto is_along = [&](int i) { return loops.axis[i].y == 0; };
  const int along = loops.count - (loops.count > 0 && is_along(loops.count - 1) ? 1 : 2);
  if (along < 0 || !is_along(along)) return {};
  for (int i = 0; i < along; ++i)
    if (is_along(i)) return {};
  constexpr std::int64_t many = 4;   // places to a term
  constexpr std::int64_t few = 256;  // terms, which take less time than it takes to begin
  const bool is_run = along + 1 < loops.count && loops.last().x == 0;
  if (loops.axis[along].size * lanes_together(loops, along).size < few || is_run || loops.axis[along].x == 0 ||
      table.size > many * loops.axis[along].size)
    return {};
  return along;
}
/// `start` holds what the terms are added to.
void add_by_lanes(const AxisList& loops, int along, const std::int64_t* index, const TableSteps& table, DType dtype,
                  char* to, const char* start, const char* from) {
  const auto width = static_cast<std::int64_t>(element_size(dtype));
  for (Walk outer(loops.axis, along); !outer.done; outer.next()) {
    const std::int64_t at = outer.at.y * width;
    add_terms({loops.axis[along], lanes_together(loops, along), table.size, table.step, index + outer.at.x}, dtype,
              to + at, start + at, from + outer.at.out * width);
  }
}

/// Whether the index names a place only once.
bool has_one_term_each(const AxisList& loops) {
  for (int i = 0; i < loops.count; ++i)
    if (loops.axis[i].y == 0) return false;
  return true;
}

/// The loops of a scatter, and how it adds.
struct Scattering {
  Scattering(Write write, const Strided& inout, int axis, const Strided& index, const Strided& src)
      : table(inout, axis),
        loops(index_loops(index.rank, index.shape, src.strides, index.strides, table.others)),
        has_sums(write == Write::add && is_narrow(inout.dtype) && !is_empty(loops) && !has_one_term_each(loops)),
        along(has_sums ? loop_along_lanes(loops, table) : std::nullopt) {}
  TableSteps table;
  AxisList loops;            // the rows' steps as out, the index's as x, the table's as y
  bool has_sums;             // a place may get several terms, and totals need more digits than the table has
  std::optional<int> along;  // the loop along the lanes, if terms are added lane by lane
};

/// Whether each element of `out` is written, from the element of `in` at the same offset. Then `out` needs no copy of
/// `in` first.
bool writes_all_once(const Scattering& how, const Strided& out, const Strided& in, int axis, const Strided& index) {
  if (how.along != how.loops.count - 1) return false;  // of several lanes, `in` would be read at long strides
  if (!std::equal(out.strides, out.strides + out.rank, in.strides)) return false;
  for (int i = 0; i < index.rank; ++i)
    if (i != axis && index.shape[i] != out.shape[i]) return false;
  return true;
}

/// `start` holds what terms are added to where they are added lane by lane; else inout does.
void scatter_into(const Scattering& how, Write write, Strided inout, const void* start, Strided index, Strided src) {
  assert(index.dtype == DType::int64 && inout.dtype == src.dtype && src.rank == index.rank);
  const TableSteps& table = how.table;
  AxisList loops = how.loops;
  if (is_empty(loops)) return;
  if (how.has_sums) {
    const auto width = static_cast<std::int64_t>(element_size(inout.dtype));
    return cut_places(loops, nanoseconds_per_element, [&](const AxisList& piece, const Offsets& at) {
      AxisList lanes = piece;
      const std::int64_t* places = indices_of(index) + at.x;
      char* to = static_cast<char*>(inout.data) + at.y * width;
      const char* from = static_cast<const char*>(src.data) + at.out * width;
      if (!how.along) return add_lanes(lanes, places, table, inout, to, from);
      const char* first = static_cast<const char*>(start) + at.y * width;
      add_by_lanes(piece, *how.along, places, table, inout.dtype, to, first, from);
    });
  }
  visit_write(write, inout.dtype, [&]<class T, class W>(std::type_identity<T>, W) {
    cut_places(loops, nanoseconds_per_element, [&](const AxisList& piece, const Offsets& at) {
      T* to = static_cast<T*>(inout.data) + at.y;
      const T* from = static_cast<const T*>(src.data) + at.out;
      for_each_place(piece, indices_of(index) + at.x, table,
                     [=](std::int64_t o, std::int64_t i) { W::write(to[i], from[o]); });
    });
  });
}

}  // namespace

void scatter(Write write, Strided inout, int axis, Strided index, Strided src) {
  scatter_into({write, inout, axis, index, src}, write, inout, inout.data, index, src);
}

void scatter(Write write, Strided out, Strided in, int axis, Strided index, Strided src) {
  const Scattering how(write, out, axis, index, src);
  const bool needs_copy = !writes_all_once(how, out, in, axis, index);
  if (needs_copy) copy(out, in);
  scatter_into(how, write, out, needs_copy ? out.data : in.data, index, src);
}

}  // namespace ricci::kernels
