// Taking a tensor apart along an axis: views of its pieces, each made as one view.
#include <algorithm>
#include <optional>
#include <vector>

#include "ops/axes.h"

namespace ricci::ops {

std::vector<Tensor> unbind(const Tensor& x) { return unbind(x, 0); }
std::vector<Tensor> unbind(const Tensor& x, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("unbind", dim, x);
  std::vector<Tensor> parts;
  const std::int64_t n = type_of(x).shape[at(axis)];
  for (std::int64_t i = 0; i < n; ++i) parts.push_back(select(x, axis, i));
  return parts;
}
std::vector<Tensor> split(const Tensor& x, std::int64_t size) { return split(x, size, 0); }
std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("split", dim, x);
  if (size < 1) raise<ValueError>("split: size is " + std::to_string(size) + "; it must be at least 1");
  const std::int64_t n = type_of(x).shape[at(axis)];
  std::vector<std::int64_t> sizes;
  for (std::int64_t start = 0; start < n; start += size) sizes.push_back(std::min(size, n - start));
  if (n == 0) sizes.push_back(0);
  return split(x, sizes, axis);
}
std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("split", dim, x);
  const std::int64_t n = type_of(x).shape[at(axis)];
  const auto require_sum = [&](bool fits) {
    if (!fits)
      raise<ValueError>("split: the sizes do not add up to axis " + std::to_string(axis) + " of " + type_text(x));
  };
  std::int64_t start = 0;
  std::vector<Tensor> parts;
  for (std::int64_t size : sizes) {
    require_sum(size >= 0 && size <= n - start);
    parts.push_back(narrow(x, axis, start, size));
    start += size;
  }
  require_sum(start == n);
  return parts;
}
std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks) { return chunk(x, chunks, 0); }
std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("chunk", dim, x);
  if (chunks < 1) raise<ValueError>("chunk: chunks is " + std::to_string(chunks) + "; it must be at least 1");
  const std::int64_t n = type_of(x).shape[at(axis)];
  return split(x, std::max<std::int64_t>(1, n / chunks + (n % chunks != 0 ? 1 : 0)), axis);
}

std::vector<Tensor> tensor_split(const Tensor& x, std::int64_t sections) { return tensor_split(x, sections, 0); }
std::vector<Tensor> tensor_split(const Tensor& x, std::int64_t sections, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("tensor_split", dim, x);
  if (sections < 1)
    raise<ValueError>("tensor_split: sections is " + std::to_string(sections) + "; it must be at least 1");
  const std::int64_t n = type_of(x).shape[at(axis)];
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < sections; ++i) sizes.push_back(n / sections + (i < n % sections ? 1 : 0));
  return split(x, sizes, axis);
}
std::vector<Tensor> tensor_split(const Tensor& x, const std::vector<std::int64_t>& indices) {
  return tensor_split(x, indices, 0);
}
std::vector<Tensor> tensor_split(const Tensor& x, const std::vector<std::int64_t>& indices, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("tensor_split", dim, x);
  std::vector<Tensor> parts;
  std::optional<std::int64_t> start;
  for (std::int64_t stop : indices) {
    parts.push_back(slice(x, axis, start, stop));
    start = stop;
  }
  parts.push_back(slice(x, axis, start, std::nullopt));
  return parts;
}

}  // namespace ricci::ops
