// Sorting and merging the loops of a reduction, and sharing them among threads.
#include "ricci/primitive/reduction_axes.h"

#include <cassert>
#include <cstring>
#include <limits>

#include "ricci/primitive/scratch.h"
#include "ricci/small_vector.h"

namespace ricci::kernels {
namespace {

std::int64_t width(std::int64_t step) { return step == 0 ? std::numeric_limits<std::int64_t>::max() : step; }

bool stands_outside(const Axis& a, const Axis& b) {
  return width(a.x) != width(b.x) ? width(a.x) > width(b.x) : width(a.y) > width(b.y);
}

bool one_loop(const Axis& outer, const Axis& inner) {
  return outer.x == inner.x * inner.size && outer.y == inner.y * inner.size && outer.out == inner.out * inner.size;
}

/// How many fours of fours (of fours …) of blocks a thread joins at once: so high that `groups` of them remain.
int height_of_groups(std::int64_t blocks, std::int64_t groups) {
  int height = 1;
  while (blocks >> 2 * (height + 1) >= groups) ++height;
  return height;
}

/// A block of which only the size is known. Assignment copies what it points at.
struct BlockOfBytes {
  std::byte* data;
  std::size_t bytes;

  BlockOfBytes(std::byte* data, std::size_t bytes) : data(data), bytes(bytes) {}
  BlockOfBytes(const BlockOfBytes&) = default;
  BlockOfBytes& operator=(const BlockOfBytes& from) {
    std::memcpy(data, from.data, bytes);
    return *this;
  }
};

}  // namespace

void insert_axis(AxisList& list, const Axis& axis) {
  int at = list.count++;
  for (; at > 0 && stands_outside(axis, list.axis[at - 1]); --at) list.axis[at] = list.axis[at - 1];
  list.axis[at] = axis;
}

void merge_axes(AxisList& list) {
  if (list.count < 2) return;
  int last = 0;
  for (int i = 1; i < list.count; ++i) {
    Axis& outer = list.axis[last];
    const Axis inner = list.axis[i];
    if (one_loop(outer, inner)) outer = {outer.size * inner.size, inner.out, inner.x, inner.y};
    else list.axis[++last] = inner;
  }
  list.count = last + 1;
}

AxisToCut axis_to_cut(const AxisList& list, std::int64_t line) {
  const std::int64_t enough = 2 * std::int64_t{thread_count()};
  for (int i = 0; i < list.count; ++i) {
    const Axis& axis = list.axis[i];
    const std::int64_t step = axis.x == 1 || axis.out == 1 ? line : 1;
    if (axis.size >= enough * step) return {i, step};
    if (axis.x != 1 && axis.size >= enough) return {i, std::max<std::int64_t>(1, axis.size / (2 * enough))};
  }
  return {-1, 1};
}

void Walk::carry() {
  for (int i = last_; i >= 0; --i) {
    if (i != last_ && ++index_[i] < axes_[i].size) return step(axes_[i]);
    const std::int64_t back = axes_[i].size - 1;
    at.out -= back * axes_[i].out, at.x -= back * axes_[i].x, at.y -= back * axes_[i].y;
    index_[i] = 0;
  }
  done = true;
}

ReductionAxes reduction_axes(const Strided& out, const Strided& x, const Strided* y, const bool* reduced) {
  assert(x.rank <= max_axes && (!y || y->rank == x.rank));
  ReductionAxes axes;
  int kept = 0;
  for (int i = 0; i < x.rank; ++i) {
    assert(!y || y->shape[i] == x.shape[i]);
    Axis axis{x.shape[i], 0, x.strides[i], y ? y->strides[i] : 0};
    if (reduced[i]) {
      axes.reduced_elements *= axis.size;
    } else {
      assert(out.shape[kept] == axis.size);
      axis.out = out.strides[kept++];
      axes.empty = axes.empty || axis.size == 0;
    }
    if (axis.size != 1) insert_axis(reduced[i] ? axes.reduced : axes.kept, axis);
  }
  assert(kept == out.rank);
  merge_axes(axes.kept);
  merge_axes(axes.reduced);
  return axes;
}

void cut_kept(ReductionAxes& axes, double nanoseconds_per_element, RunPiece run, const void* work) {
  const double nanoseconds = nanoseconds_per_element * static_cast<double>(axes.reduced_elements);
  cut_axes(axes.kept, nanoseconds, [&](const AxisList& kept, const Offsets& at) {
    if (&kept == &axes.kept) return run(work, axes, at);
    ReductionAxes piece;
    piece.kept.count = kept.count;
    std::copy_n(kept.axis, kept.count, piece.kept.axis);
    piece.reduced.count = axes.reduced.count;
    std::copy_n(axes.reduced.axis, axes.reduced.count, piece.reduced.axis);
    piece.reduced_elements = axes.reduced_elements;
    run(work, piece, at);
  });
}

void share_blocks(const BlockSequence& order, const BlockCosts& costs, SumBlocks sum, const void* terms, void* total) {
  const std::int64_t blocks = order.count();
  const int height = height_of_groups(blocks, costs.groups_wanted);
  const std::int64_t groups = blocks >> 2 * height;
  const Cuts cuts{groups, costs.nanoseconds * static_cast<double>(std::int64_t{1} << 2 * height)};
  if (!would_cut(cuts)) return sum(terms, order, {}, 0, blocks, total);
  const auto size = static_cast<std::int64_t>(costs.bytes);
  const Scratch<char> roots(groups * size);
  parallel_for(cuts, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g)
      sum(terms, order, {}, g << 2 * height, (g + 1) << 2 * height, roots.data() + g * size);
  });
  sum(terms, order, {roots.data(), groups, height}, groups << 2 * height, blocks, total);
}

void sum_blocks_of_columns(const void* erased, const BlockSequence& order, const Roots& roots, std::int64_t begin,
                           std::int64_t end, void* total) {
  const auto& blocks = *static_cast<const BlocksOfColumns*>(erased);
  const auto join = [&](const BlockOfBytes& older, const BlockOfBytes& newer) {
    blocks.join(blocks.strip, older.data, newer.data);
  };
  using Sums = Cascade<BlockOfBytes, decltype(join)>;
  const int count = Sums::levels_for(end - begin + (roots.count << 2 * roots.height));
  const Scratch<std::byte> memory((count + 1) * static_cast<std::int64_t>(blocks.bytes));
  const auto block = [&](void* first, std::int64_t i) {
    return BlockOfBytes(static_cast<std::byte*>(first) + i * static_cast<std::int64_t>(blocks.bytes), blocks.bytes);
  };
  SmallVector<BlockOfBytes, 16> levels;
  for (int level = 0; level < count; ++level) levels.push_back(block(memory.data(), level));
  Sums cascade(levels.data(), join);
  for (std::int64_t i = 0; i < roots.count; ++i) {
    BlockOfBytes root = block(roots.blocks, i);
    cascade.push(root, roots.height);
  }
  BlockOfBytes sums = block(memory.data(), count);
  order.for_each_part(begin, end, [&](const Offsets& part, std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; k += blocks.rows) {
      blocks.sum(blocks.strip, part, k, std::min(blocks.rows, last - k), sums.data);
      cascade.push(sums);
    }
  });
  BlockOfBytes sum = block(total, 0);
  cascade.total(sum);
}

}  // namespace ricci::kernels
