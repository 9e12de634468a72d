// Parts of a known size at places that are computed: `index` and `index_put` at clamped places.
#include <algorithm>

#include "ops/axes.h"
#include "ops/patterns.h"
#include "primitive/called.h"
#include "primitive/writing.h"
#include "ricci/ops.h"
#include "ricci/ops/arrangement.h"
#include "ricci/primitive/raise.h"

namespace ricci::ops {
namespace {

void require_part(const std::string& op, const Type& x, const std::vector<Tensor>& starts, const Shape& sizes) {
  if (sizes.rank() != x.rank() || std::ssize(starts) != x.rank())
    raise<ValueError>(op + ": x is " + to_string(x) + ", there are " + std::to_string(starts.size()) + " places and " +
                      std::to_string(sizes.rank()) + " sizes; give one of both for each axis");
  for (std::size_t axis = 0; axis < starts.size(); ++axis) {
    require_defined(op.c_str(), starts[axis], static_cast<int>(axis));
    const Type start = type_of(starts[axis]);
    if (!is_integral(start.dtype) || start.dtype == boolean)
      raise<TypeError>(op + ": the place along axis " + std::to_string(axis) + " is " + to_string(start) +
                       "; it must be an integer");
    if (start.rank() != 0)
      raise<ValueError>(op + ": the place along axis " + std::to_string(axis) + " is " + to_string(start) +
                        "; it must have no axes");
    if (sizes[axis] < 0 || sizes[axis] > x.shape[axis])
      raise<ValueError>(op + ": a part of sizes " + to_string(sizes) + " does not lie in x, which is " + to_string(x));
  }
}

/// The indices of a part: tensors from the first axis to the last that is not whole, as they stand side by side.
std::vector<Index> part_of(const char* op, const Tensor& x, const std::vector<Tensor>& starts, const Shape& sizes) {
  const Type type = type_of(x);
  require_part(op, type, starts, sizes);
  std::size_t begin = starts.size(), end = 0;
  for (std::size_t axis = 0; axis < starts.size(); ++axis)
    if (!(sizes[axis] == type.shape[axis])) begin = std::min(begin, axis), end = axis + 1;
  std::vector<Index> indices;
  for (std::size_t axis = 0; axis < end; ++axis) {
    if (axis < begin) {
      indices.emplace_back(Slice());
      continue;
    }
    const Tensor start = to(starts[axis], DType::int64);
    const Tensor from_front = where(lt(start, 0), start + type.shape[axis], start);
    const Tensor first = minimum(maximum(from_front, 0), type.shape[axis] - sizes[axis]);
    Shape along = Shape::filled(end - begin, 1);
    along[axis - begin] = sizes[axis];
    indices.emplace_back(reshape(first + places_along(sizes[axis]), along));
  }
  return indices;
}

}  // namespace

Tensor dynamic_slice(const Tensor& x, const std::vector<Tensor>& start_indices, const Shape& slice_sizes) {
  const Called as("dynamic_slice", x);
  const std::vector<Index> part = part_of("dynamic_slice", x, start_indices, slice_sizes);
  return part.empty() ? clone(x) : index(x, part);
}

Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, const std::vector<Tensor>& start_indices) {
  const Called as("dynamic_update_slice", x, update);
  const std::vector<Index> part = part_of("dynamic_update_slice", x, start_indices, type_of(update).shape);
  const Tensor values = converted(update, type_of(x).dtype, "dynamic_update_slice");
  return part.empty() ? clone(values) : index_put(x, part, values);
}

}  // namespace ricci::ops
