// Reading and writing at index tuples. The place of each tuple in the table is found first; then rows are moved, row by
// row where a row is a run of memory, else tuple by tuple.
#include <algorithm>
#include <cassert>
#include <optional>

#include "kernels/elementwise.h"
#include "kernels/index_add.h"
#include "kernels/index_loops.h"
#include "kernels/known_step.h"
#include "kernels/strided.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

int tuple_axes(std::span<const Strided> indices) { return indices.empty() ? 0 : indices[0].rank; }

/// The axes p of rows [p…, r…], in row-major order: their steps as out.
AxisList axes_of_tuples(std::span<const Strided> indices, const Strided& rows) {
  AxisList list;
  assert(tuple_axes(indices) <= rows.rank);
  for (int i = 0; i < tuple_axes(indices); ++i) list.axis[list.count++] = {rows.shape[i], rows.strides[i], 0, 0};
  merge_axes(list);
  return list;
}

/// The axes r of rows [p…, r…] and a table [n0, n1, …, r…]: steps of rows as out, of the table as y.
AxisList axes_of_row(const Strided& table, std::span<const Strided> indices, const Strided& rows) {
  const int before = tuple_axes(indices);
  assert(rows.rank - before + static_cast<int>(indices.size()) == table.rank);
  return index_loops(rows.rank - before, rows.shape + before, rows.strides + before, nullptr,
                     table.strides + indices.size());
}

/// to[i] += the index of tuple i in [begin, end) from the front, times `step`.
void add_places(std::int64_t* to, std::int64_t begin, std::int64_t end, const Strided& index, std::int64_t size,
                std::int64_t step) {
  const AxisList axes = row_major_loops(index);
  to += begin;
  for_each_run(axes, begin, end, [&](const Offsets& at, std::int64_t first, std::int64_t count) {
    with_step<1>(axes.last().x, [&](auto apart) {
      const std::int64_t* from = indices_of(index) + at.x + first * apart;
      for (std::int64_t i = 0; i < count; ++i) to[i] += from_front(from[i * apart], size) * step;
    });
    to += count;
  });
}

/// to[i] = where tuple i leads in a table whose axes are `steps` apart.
void find_places(std::int64_t* to, std::int64_t tuples, std::span<const Strided> indices, const Strided& table,
                 const std::int64_t* steps) {
  // A fourth of what it takes: what lies in this core's cache reaches another one no faster than it is computed.
  constexpr double nanoseconds_per_index = 0.03;
  parallel_for({tuples, nanoseconds_per_index * static_cast<double>(1 + indices.size()), line_step()},
               [&](std::int64_t begin, std::int64_t end) {
                 std::fill(to + begin, to + end, 0);
                 for (std::size_t k = 0; k < indices.size(); ++k)
                   add_places(to, begin, end, indices[k], table.shape[k], steps[k]);
               });
}

/// The table and the rows of one call.
struct Places {
  Places(const Strided& table, std::span<const Strided> indices, const Strided& rows)
      : tuple_list(axes_of_tuples(indices, rows)),
        rest(axes_of_row(table, indices, rows)),
        tuples(steps_of(tuple_list)),
        offsets(tuples) {
    for (std::size_t k = 0; k < indices.size(); ++k) extent += (table.shape[k] - 1) * table.strides[k];
    find_places(offsets.data(), tuples, indices, table, table.strides);
  }

  AxisList tuple_list, rest;
  std::int64_t tuples;
  Scratch<std::int64_t> offsets;  // in the table, of each tuple in row-major order
  std::int64_t extent = 1;        // all offsets are below it
};

/// For each of tuples [begin, end) whose offset in the table is wanted, f(offset in rows, offset in the table, loop
/// over a run).
template <class Wanted, class F>
void row_by_row(const Places& places, std::int64_t begin, std::int64_t end, Wanted wanted, F f) {
  const Axis run = places.rest.last();
  Walk tuple(places.tuple_list.axis, places.tuple_list.count, begin);
  for (std::int64_t i = begin; i < end; ++i, tuple.next()) {
    const std::int64_t offset = places.offsets.data()[i];
    if (!wanted(offset)) continue;
    for (Walk outer(places.rest.axis, places.rest.count - 1); !outer.done; outer.next())
      f(tuple.at.out + outer.at.out, offset + outer.at.y, run);
  }
}

/// For each of elements [begin, end) of a row, f(offset in rows, offset in the table, the tuples' offsets, loop over
/// tuples).
template <class F>
void tuple_by_tuple(const Places& places, std::int64_t begin, std::int64_t end, F f) {
  const Axis run = places.tuple_list.last();
  Walk element(places.rest.axis, places.rest.count, begin);
  for (std::int64_t i = begin; i < end; ++i, element.next()) {
    const std::int64_t* offsets = places.offsets.data();
    for (Walk outer(places.tuple_list.axis, places.tuple_list.count - 1); !outer.done;
         outer.next(), offsets += run.size)
      f(element.at.out + outer.at.out, element.at.y, offsets, run);
  }
}

bool prefers_rows(const Places& places) {
  const Axis row = places.rest.last(), tuple = places.tuple_list.last();
  return row.size > 1 && (tuple.size == 1 || row.out < tuple.out || (row.out == 1 && row.y == 1));
}

/// Whether several threads may move different tuples: where the table is only read.
enum class Tuples : bool { in_order, apart };

/// move(from rows, from the table) for each element. Of several moves to and from one place, the later tuple's comes
/// later if tuples are in order.
template <Tuples tuples, class Rows, class Table, class Move>
void for_each_element(const Places& places, Rows* rows, Table* table, Move move) {
  if (places.tuples == 0 || is_empty(places.rest)) return;
  constexpr double nanoseconds_per_element = 0.04;  // a fourth of what it takes, as for the places
  const std::int64_t row_elements = steps_of(places.rest);
  const double nanoseconds_per_tuple = nanoseconds_per_element * static_cast<double>(row_elements);
  const double nanoseconds_for_tuples = nanoseconds_per_element * static_cast<double>(places.tuples);
  const auto by_rows = [&](std::int64_t begin, std::int64_t end, auto wanted) {
    row_by_row(places, begin, end, wanted, [=](std::int64_t row, std::int64_t at, const Axis& run) {
      Rows* r = rows + row;
      Table* t = table + at;
      if (run.out == 1 && run.y == 1) {
        for (std::int64_t i = 0; i < run.size; ++i) move(r[i], t[i]);
      } else {
        for (std::int64_t i = 0; i < run.size; ++i) move(r[i * run.out], t[i * run.y]);
      }
    });
  };
  const auto by_tuples = [&](std::int64_t begin, std::int64_t end) {
    tuple_by_tuple(places, begin, end,
                   [=](std::int64_t row, std::int64_t at, const std::int64_t* offsets, const Axis& run) {
                     with_step<1>(run.out, [&](auto step) {
                       for (std::int64_t i = 0; i < run.size; ++i) move(rows[row + i * step], table[at + offsets[i]]);
                     });
                   });
  };
  if (!prefers_rows(places)) return parallel_for({row_elements, nanoseconds_for_tuples}, by_tuples);
  if (tuples == Tuples::apart) {
    const auto any = [](std::int64_t) { return true; };
    return parallel_for({places.tuples, nanoseconds_per_tuple},
                        [&](std::int64_t begin, std::int64_t end) { by_rows(begin, end, any); });
  }
  // Each piece goes through all tuples and moves those of its part of the table. Parts of rows would be no good: what a
  // processor fetches ahead behind its own part is being written by another.
  const bool long_rows = row_elements >= line_step() / 4;
  // Parts begin at cache lines, unless rows are runs of lines: then two parts share at most the line between them.
  const std::int64_t line = places.rest.last().y == 1 ? 1 : line_step();
  const std::int64_t lines = (places.extent + line - 1) / line;
  const std::int64_t part = long_rows ? (lines + thread_count() - 1) / thread_count() * line : places.extent;
  const double nanoseconds = nanoseconds_for_tuples * static_cast<double>(row_elements);
  parallel_for({places.extent, nanoseconds / static_cast<double>(places.extent), part},
               [&](std::int64_t low, std::int64_t high) {
                 by_rows(0, places.tuples, [=](std::int64_t offset) { return offset >= low && offset < high; });
               });
}

/// Whether the table's rows lie in short pieces, and are read so often that one copy of all of them is less work: of
/// [544,26,3] with the 26 outermost, 1,600 rows take 65 us for 162.
bool is_better_copied(const Strided& table, std::size_t indices, const Strided& rows) {
  constexpr std::int64_t short_run = 16;
  const auto k = static_cast<int>(indices);
  const Strided row{table.data, table.dtype, table.rank - k, table.shape + k, table.strides + k};
  const bool is_short = row.rank > 0 && row.strides[row.rank - 1] == 1 && row.shape[row.rank - 1] < short_run;
  return is_short && !is_contiguous(row) && element_count(table) <= element_count(rows);
}

bool is_row(const Strided& x) { return x.rank == 1 && x.strides[0] == 1; }

/// Of a row of elements at a row of numbers: in one pass.
void take_elements(const Strided& out, const Strided& in, const Strided& index) {
  constexpr double nanoseconds_per_element = 0.1;  // a fourth of what it takes, as for the places
  visit_size(out.dtype, [&]<class T>(std::type_identity<T>) {
    parallel_for({out.shape[0], nanoseconds_per_element, line_step()}, [&](std::int64_t begin, std::int64_t end) {
      T* const to = static_cast<T*>(out.data);
      const T* const from = static_cast<const T*>(in.data);
      const std::int64_t* const places = indices_of(index);
      const std::int64_t size = in.shape[0];
      for (std::int64_t i = begin; i < end; ++i) to[i] = from[from_front(places[i], size)];
    });
  });
}

}  // namespace

void take(Strided out, Strided in, std::span<const Strided> indices) {
  assert(out.dtype == in.dtype);
  if (indices.size() == 1 && is_row(in) && is_row(indices[0]) && is_row(out)) return take_elements(out, in, indices[0]);
  std::optional<RowMajorCopy> copied;
  if (is_better_copied(in, indices.size(), out)) in = copied.emplace(in).view();
  const Places places(in, indices, out);
  visit_size(out.dtype, [&]<class T>(std::type_identity<T>) {
    for_each_element<Tuples::apart>(places, static_cast<T*>(out.data), static_cast<const T*>(in.data),
                                    [](T& to, const T& from) { to = from; });
  });
}

namespace {

void add(Strided inout, std::span<const Strided> indices, Strided values) {
  Additions additions;
  additions.tuples = axes_of_tuples(indices, values);
  additions.rest = axes_of_row(inout, indices, values);
  additions.allocate();
  std::int64_t steps[max_axes], step = 1;  // from number to number of places
  for (std::size_t k = indices.size(); k-- > 0; step *= inout.shape[k]) steps[k] = step;
  for (std::size_t k = 0; k < indices.size(); ++k)
    additions.places.axis[additions.places.count++] = {inout.shape[k], 0, 0, inout.strides[k]};
  merge_axes(additions.places);
  find_places(additions.place_of.data(), steps_of(additions.tuples), indices, inout, steps);
  add_rows(additions, inout.dtype, inout.data, values.data);
}

}  // namespace

void put(Write write, Strided inout, std::span<const Strided> indices, Strided values) {
  assert(inout.dtype == values.dtype);
  if (write == Write::add && is_narrow(inout.dtype)) return add(inout, indices, values);
  const Places places(inout, indices, values);
  visit_write(write, inout.dtype, [&]<class T, class W>(std::type_identity<T>, W) {
    for_each_element<Tuples::in_order>(places, static_cast<const T*>(values.data), static_cast<T*>(inout.data),
                                       [](const T& from, T& to) { W::write(to, from); });
  });
}

}  // namespace ricci::kernels
