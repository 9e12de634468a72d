// nonzero, masked_select, unique: they read values, so they are refused where values differ per example.
#include "ops/dynamic_shapes.h"

#include "kernels/index.h"
#include "ops/axes.h"
#include "ops/reading.h"

namespace ricci {

Tensor nonzero_of(const char* op, const Tensor& x) {
  const ArrayRef array = concrete_for_size(op, x);
  const std::int64_t rank = array->type.rank();
  const ArrayRef out = make_array({DType::int64, {kernels::count_nonzero(array->strided()), rank}});
  kernels::nonzero(out->strided(), array->strided());
  return wrap(out);
}

namespace ops {

Tensor nonzero(const Tensor& x) { return nonzero_of("nonzero", x); }

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  require_defined("masked_select", x, 0);
  require_defined("masked_select", mask, 1);
  const Tensor where_true = nonzero_of("masked_select", expand(mask, type_of(add(zeros_like(x), mask)).shape));
  std::vector<Index> places;
  for (const Tensor& axis : unbind(where_true, 1)) places.emplace_back(axis);
  return places.empty() ? reshape(x, {-1}).slice(0, 0, where_true.size(0))
                        : index(expand(x, type_of(add(zeros_like(x), mask)).shape), places);
}

Tensor unique(const Tensor& x) {
  concrete_for_size("unique", x);
  const Tensor sorted_values = sort(reshape(x, {-1})).first;
  if (sorted_values.numel() < 2) return sorted_values;
  const Tensor is_new = cat({ones({1}, DType::boolean),
                             ne(slice(sorted_values, 0, 1, std::nullopt), slice(sorted_values, 0, std::nullopt, -1))},
                            0);
  return masked_select(sorted_values, is_new);
}

Tensor one_hot(const Tensor& index, std::int64_t classes) {
  require_defined("one_hot", index, 0);
  if (category(type_of(index).dtype) != 1)
    raise<TypeError>("one_hot: the index " + type_text(index) + " is not of integers");
  if (classes < 1) raise<ValueError>("one_hot: classes is " + std::to_string(classes) + "; it must be at least 1");
  return to(eq(unsqueeze(index, -1), arange(classes)), DType::int64);
}

/// Counts, for each value, the sorted elements below it: a comparison of all pairs, so for short tables.
Tensor searchsorted(const Tensor& sorted_values, const Tensor& values) {
  require_defined("searchsorted", sorted_values, 0);
  return sum(to(lt(unsqueeze(sorted_values, -2), unsqueeze(values, -1)), DType::int64), -1);
}

}  // namespace ops
}  // namespace ricci
