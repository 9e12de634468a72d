// How a tensor's elements lie, as the user sees it: a view lies in its base as it does outside transforms, whatever
// stands behind the base inside one. What shares elements with what may depend on this and on shapes alone. Names no
// operation.
#pragma once

#include "tensor/value.h"

namespace ricci {

/// In numbers; where sizes are open, in those that this recording has seen.
struct Layout {
  Shape shape;
  Strides strides;

  bool is_row_major() const { return is_contiguous(shape, strides); }
};

/// Of one example inside vmap. Throws ValueError if the tensor is undefined.
Layout layout_of(const Tensor& tensor);

}  // namespace ricci
