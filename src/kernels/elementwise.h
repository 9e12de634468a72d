// Elementwise loops over strided views of any rank, conversion copies and fills. Knows nothing of operations or
// broadcasting rules: inputs arrive expanded to the output's shape, with stride 0 where they repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/scratch.h"
#include "ricci/strided.h"

namespace ricci::kernels {

/// out[i...] = loop(in[0][i...], ...). Requires: inputs have out's shape; out's elements are distinct; an input either
/// is exactly out (same data and strides) or does not overlap it.
void elementwise(Loop loop, const void* op, Strided out, const Strided* in, int n_in);

/// Copies with conversion as in PyTorch: to integers towards zero (through int64 where narrower than the value needs,
/// so wrapping), to boolean by != 0, to real by dropping the imaginary part. Requires: equal shapes, no overlap.
void copy(Strided out, Strided in);

/// A copy in row-major order; the shape is the original's.
class RowMajorCopy {
 public:
  explicit RowMajorCopy(const Strided& x);
  RowMajorCopy(const RowMajorCopy&) = delete;
  Strided view() const { return view_; }

 private:
  Scratch<std::byte> room_;
  std::vector<std::int64_t> strides_;
  Strided view_;
};

/// Every element becomes re + im i, converted as by `copy`.
void fill(Strided out, double re, double im);
void fill(Strided out, std::int64_t value);

/// Every element becomes zero. Requires: out is contiguous.
void clear(Strided out);

}  // namespace ricci::kernels
