// Flips, row by row: the strides of the flipped axes are negative from the last element on.
#include "kernels/flip.h"

#include <cstring>

#include "ricci/primitive/reduction_axes.h"

namespace ricci::kernels {
namespace {

struct Wide {
  std::uint64_t low, high;
};

template <class Word>
void copy_axes(Word* to, const Word* from, const Axis* axes, int count) {
  const Axis axis = *axes;
  if (count > 1) {
    for (std::int64_t i = 0; i < axis.size; ++i) copy_axes(to + i * axis.out, from + i * axis.x, axes + 1, count - 1);
  } else if (axis.out == 1 && axis.x == -1) {
    for (std::int64_t i = 0; i < axis.size; ++i) to[i] = from[-i];
  } else if (axis.out == 1 && axis.x == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(axis.size) * sizeof(Word));
  } else {
    for (std::int64_t i = 0; i < axis.size; ++i) to[i * axis.out] = from[i * axis.x];
  }
}

template <class Word>
void copy(void* to, const void* from, AxisList& axes) {
  constexpr double nanoseconds_per_element = 0.1 + 0.02 * sizeof(Word);
  cut_axes(axes, nanoseconds_per_element, [&](const AxisList& piece, const Offsets& at) {
    copy_axes(static_cast<Word*>(to) + at.out, static_cast<const Word*>(from) + at.x, piece.axis, piece.count);
  });
}

}  // namespace

void flip(const Strided& out, const Strided& in, const bool* flipped) {
  AxisList axes;
  const void* from = in.data;
  for (int i = 0; i < in.rank; ++i) {
    const Axis axis{out.shape[i], out.strides[i], flipped[i] ? -in.strides[i] : in.strides[i], 0};
    if (axis.size == 0) return;
    if (flipped[i]) from = advance(const_cast<void*>(from), in.dtype, (axis.size - 1) * in.strides[i]);
    if (axis.size != 1) axes.axis[axes.count++] = axis;
  }
  merge_axes(axes);
  if (axes.count == 0) axes.axis[axes.count++] = {1, 1, 0, 0};
  switch (element_size(out.dtype)) {
    case 1: return copy<std::uint8_t>(out.data, from, axes);
    case 2: return copy<std::uint16_t>(out.data, from, axes);
    case 4: return copy<std::uint32_t>(out.data, from, axes);
    case 8: return copy<std::uint64_t>(out.data, from, axes);
    default: return copy<Wide>(out.data, from, axes);
  }
}

}  // namespace ricci::kernels
