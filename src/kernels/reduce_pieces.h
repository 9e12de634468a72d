// For reductions of several passes: working memory shaped like an input, and cutting a long input into pieces that stay
// in the cache from one pass to the next. Knows nothing of what the passes compute.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ricci/primitive/parallel.h"
#include "ricci/primitive/reduction_axes.h"
#include "ricci/primitive/scratch.h"
#include "tensor/strided.h"

namespace ricci::kernels {

/// Strides without gaps for the axes of `like` that are not `without` (all of them if null), in the order in which they
/// lie in like's memory.
struct DenseLayout {
  DenseLayout(const Strided& like, const bool* without);

  int rank = 0;
  std::int64_t elements = 1;
  std::array<std::int64_t, max_axes> shape, strides;  // of the kept axes
  std::array<std::int64_t, max_axes> all_strides;     // of all axes, 0 for those left out
};

/// Working memory in such a layout.
template <class T>
class Temporary {
 public:
  Temporary(const Strided& like, const bool* without)
      : layout_(like, without), memory_(layout_.elements), rank_(like.rank), shape_(like.shape) {}

  T* data() const { return memory_.data(); }
  std::int64_t elements() const { return layout_.elements; }
  /// The kept axes.
  Strided view() const {
    return {memory_.data(), dtype_of<T>, layout_.rank, layout_.shape.data(), layout_.strides.data()};
  }
  /// All axes of `like`, repeating along those left out.
  Strided repeated() const { return {memory_.data(), dtype_of<T>, rank_, shape_, layout_.all_strides.data()}; }

 private:
  DenseLayout layout_;
  Scratch<T> memory_;
  int rank_;
  const std::int64_t* shape_;
};

/// Elements [begin, begin + size) of `whole` along `axis`; all of it if axis is -1.
class Slice {
 public:
  Slice(const Strided& whole, int axis, std::int64_t begin, std::int64_t size);

  Strided view() const { return {data_, whole_.dtype, whole_.rank, shape_.data(), whole_.strides}; }

 private:
  Strided whole_;
  void* data_;
  std::array<std::int64_t, max_axes> shape_;
};

/// The kept axis with the widest step and how many of its elements make a piece of about 2^16 elements; axis -1 if
/// there is none or the whole is as small. `kept_axis` is its number among the kept ones.
struct Pieces {
  Pieces(const Strided& in, const bool* reduced);

  int axis = -1, kept_axis = -1;
  std::int64_t size = 1, step = 1;  // of the axis and of a piece
  double nanoseconds = 0;           // of the passes over one step of the axis, roughly

  /// f(begin, size) for the pieces, on several threads.
  template <class F>
  void for_each(const F& f) const {
    if (axis < 0) return f(std::int64_t{0}, size);
    parallel_for({size, nanoseconds, step}, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; i += step) f(i, std::min(step, end - i));
    });
  }
};

}  // namespace ricci::kernels
