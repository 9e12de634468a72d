// Reading and writing at index tuples. The place of each tuple in the table is found first; then rows are moved, row by
// row where a row is a run of memory, else tuple by tuple.
#include <algorithm>
#include <cassert>

#include "kernels/index_loops.h"
#include "kernels/known_step.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

/// The table [n0, n1, …, r…] and the rows [p…, r…] of one call.
struct Places {
  Places(const Strided& table, std::span<const Strided> indices, const Strided& rows)
      : tuple_axes(indices.empty() ? 0 : indices[0].rank),
        tuples(product(rows.shape, tuple_axes)),
        offsets(tuples),
        rest(index_loops(rows.rank - tuple_axes, rows.shape + tuple_axes, rows.strides + tuple_axes, nullptr,
                         table.strides + indices.size())) {
    assert(tuple_axes <= rows.rank && rows.rank - tuple_axes + static_cast<int>(indices.size()) == table.rank);
    for (int i = 0; i < tuple_axes; ++i) tuple_list.axis[tuple_list.count++] = {rows.shape[i], rows.strides[i], 0, 0};
    merge_axes(tuple_list);
    for (std::size_t k = 0; k < indices.size(); ++k) extent += (table.shape[k] - 1) * table.strides[k];
    // A fourth of what it takes: what lies in this core's cache reaches another one no faster than it is computed.
    constexpr double nanoseconds_per_index = 0.03;
    parallel_for({tuples, nanoseconds_per_index * static_cast<double>(1 + indices.size()), line_step()},
                 [&](std::int64_t begin, std::int64_t end) {
                   std::fill(offsets.data() + begin, offsets.data() + end, 0);
                   for (std::size_t k = 0; k < indices.size(); ++k)
                     add_offsets(begin, end, indices[k], table.shape[k], table.strides[k]);
                 });
  }

  static std::int64_t product(const std::int64_t* shape, int count) {
    std::int64_t result = 1;
    for (int i = 0; i < count; ++i) result *= shape[i];
    return result;
  }

  /// Of tuples [begin, end).
  void add_offsets(std::int64_t begin, std::int64_t end, const Strided& index, std::int64_t size, std::int64_t step) {
    const AxisList axes = row_major_loops(index);
    std::int64_t* to = offsets.data() + begin;
    for_each_run(axes, begin, end, [&](const Offsets& at, std::int64_t first, std::int64_t count) {
      with_step<1>(axes.last().x, [&](auto apart) {
        const std::int64_t* from = indices_of(index) + at.x + first * apart;
        for (std::int64_t i = 0; i < count; ++i) to[i] += from_front(from[i * apart], size) * step;
      });
      to += count;
    });
  }

  int tuple_axes;
  std::int64_t tuples;
  std::int64_t extent = 1;        // all offsets are below it
  Scratch<std::int64_t> offsets;  // in the table, of each tuple in row-major order
  AxisList tuple_list, rest;      // steps of rows as out, of the table as y; the tuples' in row-major order
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

}  // namespace

void take(Strided out, Strided in, std::span<const Strided> indices) {
  assert(out.dtype == in.dtype);
  const Places places(in, indices, out);
  visit_size(out.dtype, [&]<class T>(std::type_identity<T>) {
    for_each_element<Tuples::apart>(places, static_cast<T*>(out.data), static_cast<const T*>(in.data),
                                    [](T& to, const T& from) { to = from; });
  });
}

void put(Write write, Strided inout, std::span<const Strided> indices, Strided values) {
  assert(inout.dtype == values.dtype);
  const Places places(inout, indices, values);
  visit_write(write, inout.dtype, [&]<class T, class W>(std::type_identity<T>, W) {
    for_each_element<Tuples::in_order>(places, static_cast<const T*>(values.data), static_cast<T*>(inout.data),
                                       [](const T& from, T& to) { W::write(to, from); });
  });
}

}  // namespace ricci::kernels
