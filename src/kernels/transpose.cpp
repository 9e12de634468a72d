// Transposing copies: tiles of one cache line by one cache line, turned in registers.
#include "kernels/transpose.h"

#include <algorithm>
#include <cstring>

#include "kernels/elementwise_axes.h"

namespace ricci::kernels {
namespace {

using loop_axes::Axes;
using loop_axes::Axis;

template <class Unit>
struct Square {
  static constexpr int side = 32 / sizeof(Unit);
  typedef Unit vector __attribute__((vector_size(32)));
};

/// Swaps the off-diagonal blocks of `Half` columns between rows that are `Half` apart: one level of the recursion
/// [A B; C D] -> [A C; B D].
template <int Half, class Unit, int... I>
void swap_blocks(typename Square<Unit>::vector* rows, std::integer_sequence<int, I...>) {
  constexpr int side = Square<Unit>::side;
  for (int r = 0; r < side; ++r) {
    if (r & Half) continue;
    const auto a = rows[r], b = rows[r + Half];
    rows[r] = __builtin_shufflevector(a, b, ((I & Half) ? side + I - Half : I)...);
    rows[r + Half] = __builtin_shufflevector(a, b, ((I & Half) ? side + I : I + Half)...);
  }
}

/// Strides are in bytes.
template <class Unit>
void turn_square(char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride) {
  constexpr int side = Square<Unit>::side;
  using Columns = std::make_integer_sequence<int, side>;
  typename Square<Unit>::vector rows[side];
  for (int r = 0; r < side; ++r) std::memcpy(&rows[r], from + r * from_stride, sizeof rows[r]);
  if constexpr (side > 4) swap_blocks<4, Unit>(rows, Columns());
  swap_blocks<2, Unit>(rows, Columns());
  swap_blocks<1, Unit>(rows, Columns());
  for (int r = 0; r < side; ++r) std::memcpy(to + r * to_stride, &rows[r], sizeof rows[r]);
}

/// A plane whose output is contiguous along its columns and whose input along its rows.
struct Plane {
  std::int64_t rows, columns;
  std::int64_t to_row;       // bytes between output rows
  std::int64_t from_column;  // bytes between input columns
};

template <class Unit>
void turn_elements(char* to, const char* from, const Plane& p, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c)
      std::memcpy(to + r * p.to_row + c * static_cast<std::int64_t>(sizeof(Unit)),
                  from + c * p.from_column + r * static_cast<std::int64_t>(sizeof(Unit)), sizeof(Unit));
  }
}

template <class Unit>
void turn_tile(char* to, const char* from, const Plane& p, std::int64_t rows, std::int64_t columns) {
  if constexpr (sizeof(Unit) == 4 || sizeof(Unit) == 8) {
    constexpr int side = Square<Unit>::side;
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(Unit));
    const std::int64_t full_rows = rows - rows % side, full_columns = columns - columns % side;
    for (std::int64_t r = 0; r < full_rows; r += side) {
      for (std::int64_t c = 0; c < full_columns; c += side)
        turn_square<Unit>(to + r * p.to_row + c * bytes, p.to_row, from + c * p.from_column + r * bytes, p.from_column);
    }
    turn_elements<Unit>(to + full_columns * bytes, from + full_columns * p.from_column, p, full_rows,
                        columns - full_columns);
    turn_elements<Unit>(to + full_rows * p.to_row, from + full_rows * bytes, p, rows - full_rows, columns);
  } else {
    turn_elements<Unit>(to, from, p, rows, columns);
  }
}

template <class Unit>
void turn_tiles(char* to, const char* from, const Plane& p) {
  constexpr std::int64_t tile = std::max<std::int64_t>(16, 64 / static_cast<std::int64_t>(sizeof(Unit)));
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(Unit));
  for (std::int64_t r = 0; r < p.rows; r += tile) {
    for (std::int64_t c = 0; c < p.columns; c += tile)
      turn_tile<Unit>(to + r * p.to_row + c * bytes, from + c * p.from_column + r * bytes, p,
                      std::min(tile, p.rows - r), std::min(tile, p.columns - c));
  }
}

struct Bytes16 {
  std::uint64_t low, high;
};

void turn(char* to, const char* from, const Plane& p, std::size_t size) {
  switch (size) {
    case 1: return turn_tiles<std::uint8_t>(to, from, p);
    case 2: return turn_tiles<std::uint16_t>(to, from, p);
    case 4: return turn_tiles<std::uint32_t>(to, from, p);
    case 8: return turn_tiles<std::uint64_t>(to, from, p);
    default: return turn_tiles<Bytes16>(to, from, p);
  }
}

void turn_planes(const Axis* axes, int count, char* to, const char* from, const Plane& p, std::size_t size) {
  if (count == 0) return turn(to, from, p, size);
  for (std::int64_t i = 0; i < axes->size; ++i)
    turn_planes(axes + 1, count - 1, to + i * axes->stride[0], from + i * axes->stride[1], p, size);
}

/// Everything, in planes of the last axis and of the axis `turned`, which is dropped from the others.
void turn_axes(Axes& axes, int turned, char* const* data, std::size_t size) {
  const Axis column = axes.axis[axes.count - 1], row = axes.axis[turned];
  std::copy(axes.axis + turned + 1, axes.axis + axes.count - 1, axes.axis + turned);
  turn_planes(axes.axis, axes.count - 2, data[0], data[1], {row.size, column.size, row.stride[0], column.stride[1]},
              size);
}

constexpr double nanoseconds_per_byte = 0.03;

}  // namespace

void turn_plane(char* to, std::int64_t to_row, const char* from, std::int64_t from_column, std::int64_t rows,
                std::int64_t columns, std::int64_t size) {
  turn(to, from, {rows, columns, to_row, from_column}, static_cast<std::size_t>(size));
}

bool copy_transposed(const Strided& out, const Strided& in) {
  constexpr std::int64_t smallest = 8;  // below, the strided loop is as fast
  if (out.strides[out.rank - 1] == in.strides[out.rank - 1]) return false;
  Axes axes;
  if (!loop_axes::gather(axes, out, &in, 1) || axes.count < 2) return false;
  const auto size = static_cast<std::int64_t>(element_size(out.dtype));
  const Axis& column = axes.axis[axes.count - 1];
  if (column.stride[0] != size || column.size < smallest) return false;
  int turned = 0;
  while (turned + 1 < axes.count && (axes.axis[turned].stride[1] != size || axes.axis[turned].size < smallest))
    ++turned;
  if (turned + 1 == axes.count) return false;
  char* const data[] = {static_cast<char*>(out.data), static_cast<char*>(in.data)};
  loop_axes::cut(axes, nanoseconds_per_byte * static_cast<double>(2 * size), 2, data,
                 [&](Axes& piece, char* const* at) { turn_axes(piece, turned, at, static_cast<std::size_t>(size)); });
  return true;
}

}  // namespace ricci::kernels
