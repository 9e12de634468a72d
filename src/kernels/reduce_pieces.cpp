// Layouts of working memory, slices and pieces.
#include "kernels/reduce_pieces.h"

#include <algorithm>
#include <cassert>

namespace ricci::kernels {

DenseLayout::DenseLayout(const Strided& like, const bool* without) {
  assert(like.rank <= max_axes);
  std::array<int, max_axes> order;  // axes of `like`, narrow steps first
  std::array<int, max_axes> number;
  for (int i = 0; i < like.rank; ++i) {
    all_strides[i] = 0;
    if (without && without[i]) continue;
    number[i] = rank;
    int at = rank++;
    for (; at > 0 && like.strides[order[at - 1]] >= like.strides[i]; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  for (int k = 0; k < rank; ++k) {
    const int axis = order[k];
    shape[number[axis]] = like.shape[axis];
    strides[number[axis]] = all_strides[axis] = elements;
    elements *= like.shape[axis];
  }
}

Slice::Slice(const Strided& whole, int axis, std::int64_t begin, std::int64_t size) : whole_(whole), data_(whole.data) {
  std::copy_n(whole.shape, whole.rank, shape_.data());
  if (axis < 0) return;
  shape_[axis] = size;
  data_ = static_cast<char*>(whole.data) +
          begin * whole.strides[axis] * static_cast<std::int64_t>(element_size(whole.dtype));
}

Pieces::Pieces(const Strided& in, const bool* reduced) {
  constexpr std::int64_t elements_of_piece = 1 << 16;
  std::int64_t elements = 1;
  for (int i = 0, kept = -1; i < in.rank; ++i) {
    elements *= in.shape[i];
    if (reduced[i]) continue;
    ++kept;
    if (in.shape[i] < 2 || (axis >= 0 && in.strides[i] <= in.strides[axis])) continue;
    axis = i, kept_axis = kept;
  }
  if (elements <= 2 * elements_of_piece) axis = kept_axis = -1;
  if (axis < 0) return;
  size = in.shape[axis];
  const std::int64_t narrowest = in.strides[axis] == 1 ? 64 : 1;  // whole cache lines
  step = std::max(narrowest, elements_of_piece / std::max<std::int64_t>(1, elements / size));
  nanoseconds = 0.3 * static_cast<double>(elements / size);
}

}  // namespace ricci::kernels
