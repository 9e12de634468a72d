// Planes in blocks: what lies badly is brought into row order in a buffer of the first-level cache, then the loop runs
// over long runs.
#include "kernels/elementwise_planes.h"

#include <algorithm>
#include <cstring>

#include "kernels/strided_run.h"
#include "kernels/transpose.h"

namespace ricci::kernels {
namespace {

using loop_axes::Axes;
using loop_axes::Axis;
using loop_axes::max_operands;

constexpr std::int64_t buffer_bytes = 4096;

struct alignas(64) Buffer {
  char bytes[buffer_bytes];
};

/// `plane(data)` for every position of the axes but the last two.
template <class F>
void for_each_plane(const Axis* axes, int outer, int operands, char* const* data, const F& plane) {
  if (outer == 0) return plane(data);
  char* at[max_operands];
  std::copy(data, data + operands, at);
  for (std::int64_t i = 0; i < axes->size; ++i) {
    for_each_plane(axes + 1, outer - 1, operands, at, plane);
    for (int k = 0; k < operands; ++k) at[k] += axes->stride[k];
  }
}

/// `rows` rows of `columns` elements in row order.
void gather_rows(char* to, const char* from, std::int64_t size, std::int64_t rows, std::int64_t row_stride,
                 std::int64_t columns, std::int64_t column_stride) {
  const std::int64_t row_bytes = columns * size;
  if (row_stride == 0) {
    copy_run(to, size, from, column_stride, size, columns);
    for (std::int64_t done = 1; done < rows; done *= 2)
      std::memcpy(to + done * row_bytes, to, static_cast<std::size_t>(std::min(done, rows - done) * row_bytes));
    return;
  }
  if (row_stride == size && column_stride != 0)
    return turn_plane(to, row_bytes, from, column_stride, rows, columns, size);
  constexpr std::int64_t few_columns = 8;
  if (columns < few_columns && columns < rows) {
    for (std::int64_t c = 0; c < columns; ++c)
      copy_run(to + c * size, row_bytes, from + c * column_stride, row_stride, size, rows);
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r)
    copy_run(to + r * row_bytes, size, from + r * row_stride, column_stride, size, columns);
}

// --- Short rows: several of them make one run

constexpr std::int64_t short_row = 64, few_rows = 4;

bool has_short_rows(const LoopCall& call, const Axis& row, const Axis& column) {
  return column.size < short_row && row.size >= few_rows && column.stride[0] == call.element[0] &&
         row.stride[0] == column.size * call.element[0];
}

void run_short_rows(const LoopCall& call, const Axis& row, const Axis& column, char* const* data) {
  Buffer buffers[max_operands];
  std::int64_t strides[max_operands], most = buffer_bytes / 16;
  char* at[max_operands];
  bool gathers[max_operands] = {};
  std::copy(data, data + call.operands, at);
  for (int k = 0; k < call.operands; ++k) {
    const bool constant = row.stride[k] == 0 && column.stride[k] == 0;
    strides[k] = constant ? 0 : call.element[k];
    gathers[k] = !constant && (column.stride[k] != call.element[k] || row.stride[k] != column.size * call.element[k]);
  }
  const std::int64_t block = std::min(row.size, std::max<std::int64_t>(1, most / column.size));
  for (int k = 1; k < call.operands; ++k) {
    if (gathers[k] && row.stride[k] == 0)
      gather_rows(buffers[k].bytes, at[k], call.element[k], block, 0, column.size, column.stride[k]);
  }
  for (std::int64_t done = 0; done < row.size; done += block) {
    const std::int64_t rows = std::min(block, row.size - done);
    char* source[max_operands];
    for (int k = 0; k < call.operands; ++k) {
      source[k] = gathers[k] ? buffers[k].bytes : at[k];
      if (gathers[k] && row.stride[k] != 0)
        gather_rows(buffers[k].bytes, at[k], call.element[k], rows, row.stride[k], column.size, column.stride[k]);
      at[k] += rows * row.stride[k];
    }
    call.run(source, strides, rows * column.size);
  }
}

// --- Transposed inputs: turned tile by tile

constexpr std::int64_t tile_rows = 16, tile_columns = buffer_bytes / 16 / tile_rows * 4;  // of 4-byte elements

/// An axis along which some input is contiguous that strides along the last one; -1 if there is none.
int turned_axis(const LoopCall& call, const Axes& axes) {
  const Axis& inner = axes.axis[axes.count - 1];
  for (int a = axes.count - 2; a >= 0; --a) {
    for (int k = 1; k < call.operands; ++k) {
      if (axes.axis[a].stride[k] == call.element[k] && inner.stride[k] > call.element[k]) return a;
    }
  }
  return -1;
}

/// Makes it the axis of the runs where they become longer.
void bring_inside(Axes& axes, int axis) {
  const int last = axes.count - 1;
  if (axes.axis[axis].size > axes.axis[last].size)
    std::rotate(axes.axis + axis, axes.axis + axis + 1, axes.axis + axes.count);
}

void run_turned(const LoopCall& call, const Axis& row, const Axis& column, char* const* data) {
  Buffer buffers[max_operands];
  bool turned[max_operands] = {};
  std::int64_t columns_at_once = tile_columns;
  for (int k = 1; k < call.operands; ++k) {
    turned[k] = row.stride[k] == call.element[k] && column.stride[k] > call.element[k];
    if (turned[k]) columns_at_once = std::min(columns_at_once, buffer_bytes / tile_rows / call.element[k]);
  }
  for (std::int64_t c = 0; c < column.size; c += columns_at_once) {
    const std::int64_t columns = std::min(columns_at_once, column.size - c);
    for (std::int64_t r = 0; r < row.size; r += tile_rows) {
      const std::int64_t rows = std::min(tile_rows, row.size - r);
      char* at[max_operands];
      std::int64_t strides[max_operands], row_step[max_operands];
      for (int k = 0; k < call.operands; ++k) {
        at[k] = data[k] + r * row.stride[k] + c * column.stride[k];
        strides[k] = turned[k] ? call.element[k] : column.stride[k];
        row_step[k] = turned[k] ? columns * call.element[k] : row.stride[k];
        if (!turned[k]) continue;
        turn_plane(buffers[k].bytes, row_step[k], at[k], column.stride[k], rows, columns, call.element[k]);
        at[k] = buffers[k].bytes;
      }
      for (std::int64_t i = 0; i < rows; ++i) {
        call.run(at, strides, columns);
        for (int k = 0; k < call.operands; ++k) at[k] += row_step[k];
      }
    }
  }
}

}  // namespace

bool run_planes(const LoopCall& call, Axes& axes, char* const* data) {
  if (axes.count < 2) return false;
  Axis* const row = &axes.axis[axes.count - 2];
  const Axis& column = axes.axis[axes.count - 1];
  const int outer = axes.count - 2;
  if (has_short_rows(call, *row, column)) {
    for_each_plane(axes.axis, outer, call.operands, data,
                   [&](char* const* at) { run_short_rows(call, *row, column, at); });
    return true;
  }
  const int turned = turned_axis(call, axes);
  if (turned < 0) return false;
  if (column.size < tile_rows) {
    bring_inside(axes, turned);
    return false;
  }
  std::rotate(axes.axis + turned, axes.axis + turned + 1, axes.axis + axes.count - 1);
  for_each_plane(axes.axis, outer, call.operands, data, [&](char* const* at) { run_turned(call, *row, column, at); });
  return true;
}

}  // namespace ricci::kernels
