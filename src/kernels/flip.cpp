// Flips, row by row: the strides of the flipped axes are negative from the last element on.
#include "kernels/flip.h"

#include <cstring>

#include "ricci/small_vector.h"

namespace ricci::kernels {
namespace {

struct Wide {
  std::uint64_t low, high;
};

/// The axes of the copy; input strides may be negative.
struct Walk {
  int rank;
  const std::int64_t* shape;
  const std::int64_t* to_strides;
  const std::int64_t* from_strides;
};

template <class Word>
void copy_axis(Word* to, const Word* from, const Walk& walk, int axis) {
  const std::int64_t n = walk.shape[axis], to_step = walk.to_strides[axis], from_step = walk.from_strides[axis];
  if (axis + 1 < walk.rank) {
    for (std::int64_t i = 0; i < n; ++i) copy_axis(to + i * to_step, from + i * from_step, walk, axis + 1);
  } else if (to_step == 1 && from_step == -1) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[-i];
  } else if (to_step == 1 && from_step == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(Word));
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

template <class Word>
void copy(void* to, const void* from, std::int64_t first, const Walk& walk) {
  const auto* start = static_cast<const Word*>(from) + first;
  if (walk.rank == 0) *static_cast<Word*>(to) = *start;
  else copy_axis(static_cast<Word*>(to), start, walk, 0);
}

}  // namespace

void flip(const Strided& out, const Strided& in, const bool* flipped) {
  SmallVector<std::int64_t, 6> strides;
  std::int64_t first = 0;  // where the input's walk starts, in elements
  for (int i = 0; i < in.rank; ++i) {
    if (out.shape[i] == 0) return;
    strides.push_back(flipped[i] ? -in.strides[i] : in.strides[i]);
    if (flipped[i]) first += (in.shape[i] - 1) * in.strides[i];
  }
  const Walk walk{out.rank, out.shape, out.strides, strides.data()};
  switch (element_size(out.dtype)) {
    case 1: return copy<std::uint8_t>(out.data, in.data, first, walk);
    case 2: return copy<std::uint16_t>(out.data, in.data, first, walk);
    case 4: return copy<std::uint32_t>(out.data, in.data, first, walk);
    case 8: return copy<std::uint64_t>(out.data, in.data, first, walk);
    default: return copy<Wide>(out.data, in.data, first, walk);
  }
}

}  // namespace ricci::kernels
