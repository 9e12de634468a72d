// Where the elements of views and parts lie, in numbers. Start with `ElementLayout`.
#pragma once

#include <vector>

#include "program/sample_sizes.h"
#include "tensor/value.h"

namespace ricci {

/// How two parts of an array are apart along one axis: the first ends so many places before the second begins, or the
/// other way about; or they step over each other. 0: they are not.
struct Separation {
  std::int64_t before = 0, behind = 0, remainder = 0, step = 0;
  bool is_one() const { return before > 0 || behind > 0 || remainder > 0; }
  bool operator==(const Separation&) const = default;
};

/// Where elements lie, counted from those of an array.
class ElementLayout {
 public:
  /// The elements of the array: in row-major order; or with gaps between rows, so that no view can take axes for one.
  enum class Rows { dense, with_gaps };
  ElementLayout(const Type& whole, const SampleSizes& sizes, int sample, Rows rows = Rows::dense);
  /// False where no strides can say how the view lies. Throws what a run would, if the view does not fit.
  bool pass(const Equation& view);
  /// Becomes that of the part that the equation replaces in its first operand (structure.h); false as of `pass`.
  bool pass_to_part(const Equation& put);
  /// Where there is no element, places tell nothing.
  bool is_empty() const { return type_.shape.numel() == 0; }
  bool operator==(const ElementLayout& other) const;
  /// By axis of the array, of which both show parts. Empty unless the elements of both lie in boxes: at equal steps
  /// along each axis. Requires: rows with gaps.
  std::vector<Separation> apart_from(const ElementLayout& other) const;

 private:
  struct Range {
    std::int64_t first = 0, step = 0, count = 1;
    std::int64_t last() const { return first + (count - 1) * step; }
  };
  std::vector<Range> box() const;  // by axis of the array

  Type type_, whole_;
  Strides of_whole_, strides_;
  void* data_;
  const SampleSizes* sizes_;
  int sample_;
};

}  // namespace ricci
