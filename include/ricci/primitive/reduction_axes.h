// The loops of a reduction: kept and reduced axes of one output and one or two inputs, sorted and merged, and threads
// that share them. Knows nothing of what is computed in them. Start with `reduction_axes`.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ricci/primitive/parallel.h"
#include "ricci/strided.h"

namespace ricci::kernels {

inline constexpr int max_axes = 64;

/// One loop: its size and how far each step goes in the output and the inputs, in elements.
struct Axis {
  std::int64_t size, out, x, y;
};

/// Outermost first.
struct AxisList {
  Axis axis[max_axes];
  int count;

  AxisList() : count(0) {}  // leaves the axes themselves unset
  Axis last() const { return count > 0 ? axis[count - 1] : Axis{1, 0, 0, 0}; }
};

struct ReductionAxes {
  AxisList kept, reduced;
  std::int64_t reduced_elements = 1;
  bool empty = false;  // the output has no elements
};

/// Axes of size 1 are left out, axes with wide steps of x (then of y) stand outside those with narrow ones, broadcast
/// axes outermost, and neighbours that are one loop for all operands are merged.
/// Requires: `out` has the axes of `x` that are not reduced; `y`, if given, has the shape of `x`.
ReductionAxes reduction_axes(const Strided& out, const Strided& x, const Strided* y, const bool* reduced);

/// Puts `axis` where its steps belong: wide ones outside, broadcast ones outermost.
void insert_axis(AxisList& list, const Axis& axis);
/// Makes one of neighbours that are one loop for all operands.
void merge_axes(AxisList& list);

/// A place in the operands.
struct Offsets {
  std::int64_t out = 0, x = 0, y = 0;
};

/// An axis of a list that threads take apart, and the step of their pieces; -1 where it is too short for that.
struct AxisToCut {
  int axis;
  std::int64_t step;
};
/// `line`: the step along an axis whose elements are neighbours in memory.
AxisToCut axis_to_cut(const AxisList& list, std::int64_t line);

inline std::int64_t steps_of(const AxisList& list) {
  std::int64_t steps = 1;
  for (int i = 0; i < list.count; ++i) steps *= list.axis[i].size;
  return steps;
}

/// work(piece of the list, where it begins) for pieces of one axis that together are all steps of the list, on several
/// threads where `nanoseconds` for each step make that pay; work may change its piece.
template <class Work>
void cut_axis(AxisList& list, AxisToCut cut, double nanoseconds, const Work& work) {
  if (cut.axis < 0) return work(list, Offsets{});
  const std::int64_t steps = steps_of(list);
  const Axis whole = list.axis[cut.axis];
  const double of_step = nanoseconds * static_cast<double>(steps / whole.size);
  parallel_for({whole.size, of_step, cut.step}, [&](std::int64_t begin, std::int64_t end) {
    AxisList piece;
    piece.count = list.count;
    std::copy_n(list.axis, list.count, piece.axis);
    piece.axis[cut.axis].size = end - begin;
    work(piece, Offsets{begin * whole.out, begin * whole.x, begin * whole.y});
  });
}

/// As `cut_axis`, along an axis that is long enough.
template <class Work>
void cut_axes(AxisList& list, double nanoseconds, const Work& work) {
  const bool pays = would_cut({steps_of(list), nanoseconds});
  cut_axis(list, pays ? axis_to_cut(list, line_step()) : AxisToCut{-1, 1}, nanoseconds, work);
}

/// run(work, axes, where they begin) for pieces of the kept axes.
using RunPiece = void (*)(const void* work, ReductionAxes& axes, const Offsets& at);
void cut_kept(ReductionAxes& axes, double nanoseconds_per_element, RunPiece run, const void* work);

/// run(axes, where they begin) for pieces of the kept axes.
template <class Run>
void cut_kept(ReductionAxes& axes, double nanoseconds_per_element, const Run& run) {
  const auto erased = [](const void* work, ReductionAxes& piece, const Offsets& at) {
    (*static_cast<const Run*>(work))(piece, at);
  };
  cut_kept(axes, nanoseconds_per_element, erased, &run);
}

/// Every step of the first `count` axes, the last of them fastest:
///   for (Walk walk(axes, count); !walk.done; walk.next()) use(walk.at);
/// Requires: no size is 0.
class Walk {
 public:
  Walk(const Axis* axes, int count) : axes_(axes), last_(count - 1) {
    for (int i = 0; i < count; ++i) index_[i] = 0;
  }
  /// From step `first` on.
  Walk(const Axis* axes, int count, std::int64_t first) : Walk(axes, count) {
    for (int i = count - 1; i >= 0 && first > 0; --i, first /= axes[i + 1].size) {
      index_[i] = first % axes[i].size;
      at.out += index_[i] * axes[i].out, at.x += index_[i] * axes[i].x, at.y += index_[i] * axes[i].y;
    }
  }

  void next() {
    if (last_ >= 0 && ++index_[last_] < axes_[last_].size) return step(axes_[last_]);
    carry();
  }

  bool done = false;
  Offsets at;

 private:
  void step(const Axis& axis) { at.out += axis.out, at.x += axis.x, at.y += axis.y; }
  void carry();

  const Axis* axes_;
  int last_;
  std::int64_t index_[max_axes];
};

/// The blocks of the reduced axes, in the order in which a cascade takes them.
struct BlockSequence {
  const AxisList& reduced;
  std::int64_t elements_of_block;
  std::int64_t row = reduced.last().size, of_row = (row + elements_of_block - 1) / elements_of_block;

  std::int64_t count() const {
    std::int64_t blocks = of_row;
    for (int i = 0; i + 1 < reduced.count; ++i) blocks *= reduced.axis[i].size;
    return blocks;
  }
  /// f(offsets of a row, first element, last element + 1) for the parts of rows that blocks [begin, end) are.
  template <class F>
  void for_each_part(std::int64_t begin, std::int64_t end, const F& f) const {
    std::int64_t first = begin == 0 ? 0 : begin % of_row;
    for (Walk at(reduced.axis, reduced.count - 1, begin == 0 ? 0 : begin / of_row); begin < end; at.next(), first = 0) {
      const std::int64_t last = std::min(of_row, first + end - begin);
      f(at.at, first * elements_of_block, std::min(row, last * elements_of_block));
      begin += last - first;
    }
  }
};

/// Blocks that have been joined, each of them 4^height; the cascade that takes them overwrites them.
struct Roots {
  void* blocks = nullptr;
  std::int64_t count = 0;
  int height = 0;
};

/// Joins blocks in the order of their arrival, four by four: 16 blocks are joined as four fours, and so on.
/// `join(older, newer)` puts the sum into `newer`.
template <class Block, class Join>
class Cascade {
 public:
  /// `levels` has room for `levels_for(blocks)` blocks.
  Cascade(Block* levels, Join join) : levels_(levels), join_(join) {}

  static constexpr int levels_for(std::int64_t blocks) {
    int levels = 1;
    for (; blocks >= 4; blocks /= 4) ++levels;
    return levels;
  }

  /// Overwrites `block`, which is 4^height blocks that a cascade has joined. Requires: so far only such heights or
  /// greater ones were pushed.
  void push(Block& block, int height = 0) {
    int level = height;
    std::int64_t taken = count_ >> 2 * height;
    count_ += std::int64_t{1} << 2 * height;
    for (; (taken & 3) == 3; taken >>= 2) join_(levels_[level++], block);
    if ((taken & 3) != 0) join_(levels_[level], block);
    levels_[level] = block;
  }

  void push_all(const Roots& roots) {
    for (std::int64_t i = 0; i < roots.count; ++i) push(static_cast<Block*>(roots.blocks)[i], roots.height);
  }

  /// Requires: something was pushed.
  void total(Block& sum) const {
    int level = 0;
    std::int64_t taken = count_;
    for (; (taken & 3) == 0; taken >>= 2) ++level;
    sum = levels_[level];
    for (taken >>= 2, ++level; taken > 0; taken >>= 2, ++level) {
      if ((taken & 3) != 0) join_(levels_[level], sum);
    }
  }

 private:
  Block* levels_;
  Join join_;
  std::int64_t count_ = 0;
};

/// Writes the total of a cascade over `total`: of `roots`, then of the blocks from `begin` to `end`, one after the
/// other. Only this function knows what a block is.
using SumBlocks = void (*)(const void* terms, const BlockSequence& order, const Roots& roots, std::int64_t begin,
                           std::int64_t end, void* total);

/// How the threads share a sum of many blocks.
struct BlockCosts {
  std::size_t bytes;  // of a block
  double nanoseconds;
  std::int64_t groups_wanted;
};

/// The total of the cascade of all blocks, on several threads if that pays. Blocks are copied as bytes.
void share_blocks(const BlockSequence& order, const BlockCosts& costs, SumBlocks sum, const void* terms, void* total);
inline void cascade_blocks(const BlockSequence& order, const BlockCosts& costs, SumBlocks sum, const void* terms,
                           void* total) {
  const std::int64_t blocks = order.count();
  if (parallel::is_little({blocks, costs.nanoseconds})) return sum(terms, order, {}, 0, blocks, total);
  share_blocks(order, costs, sum, terms, total);
}

/// The blocks of columns that one function sums for all reductions, since a block takes long enough: it knows only how
/// large they are.
struct BlocksOfColumns {
  const void* strip;
  std::size_t bytes;  // of a block
  std::int64_t rows;  // that a block sums
  /// Writes the block of the rows from `from` on, so many.
  void (*sum)(const void* strip, const Offsets& part, std::int64_t from, std::int64_t rows, void* block);
  void (*join)(const void* strip, const void* older, void* newer);
};
/// `SumBlocks` of a `BlocksOfColumns`.
void sum_blocks_of_columns(const void* blocks, const BlockSequence& order, const Roots& roots, std::int64_t begin,
                           std::int64_t end, void* total);

}  // namespace ricci::kernels
