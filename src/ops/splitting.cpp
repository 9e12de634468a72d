// Taking a tensor apart along an axis: views of its pieces, each made as one view.
#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "ops/axes.h"

namespace ricci::ops {
namespace {

/// An empty list with room for `count` pieces; ValueError if that is more than memory can hold.
std::vector<Tensor> room_for(const char* op, std::int64_t count) {
  constexpr std::int64_t most = std::int64_t{1} << 32;  // of pieces, each a tensor of its own
  std::vector<Tensor> pieces;
  try {
    if (count <= most) pieces.reserve(at(count));
  } catch (const std::bad_alloc&) { count = most + 1; }
  if (count > most)
    raise<ValueError>(std::string(op) + ": " + std::to_string(count) +
                      " pieces are more than memory can hold; ask for fewer");
  return pieces;
}

/// Pieces of one size along an axis, the last may be smaller; one of size 0 where the axis has no element.
std::vector<Tensor> pieces_of_size(const char* op, const Tensor& x, std::int64_t axis, Size size) {
  const Size n = type_of(x).shape[at(axis)];
  std::vector<Tensor> pieces = room_for(op, n.hint() == 0 ? 1 : (n.hint() - 1) / size.hint() + 1);
  Size start = 0;
  for (; start + size < n; start = start + size) pieces.push_back(narrow(x, axis, start, size));
  pieces.push_back(narrow(x, axis, start, n - start));
  return pieces;
}

/// `count` pieces along an axis whose sizes differ by at most one, the greater ones first.
std::vector<Tensor> even_pieces(const char* op, const Tensor& x, std::int64_t axis, std::int64_t count) {
  const Size n = type_of(x).shape[at(axis)];
  std::vector<Tensor> pieces = room_for(op, count);
  Size start = 0;
  for (std::int64_t left = count; left > 0; --left) {
    const Size size = (n - start + (left - 1)) / left;
    pieces.push_back(narrow(x, axis, start, size));
    start = start + size;
  }
  return pieces;
}

}  // namespace

std::vector<Tensor> unbind(const Tensor& x) { return unbind(x, 0); }
std::vector<Tensor> unbind(const Tensor& x, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("unbind", dim, x);
  const std::int64_t n = type_of(x).shape[at(axis)];
  std::vector<Tensor> parts = room_for("unbind", n);
  for (std::int64_t i = 0; i < n; ++i) parts.push_back(select(x, axis, i));
  return parts;
}
std::vector<Tensor> split(const Tensor& x, Size size) { return split(x, size, 0); }
std::vector<Tensor> split(const Tensor& x, Size size, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("split", dim, x);
  if (size < 1) raise<ValueError>("split: size is " + std::to_string(size.hint()) + "; it must be at least 1");
  return pieces_of_size("split", x, axis, size);
}
std::vector<Tensor> split(const Tensor& x, const Shape& sizes, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("split", dim, x);
  const Size n = type_of(x).shape[at(axis)];
  const auto require_sum = [&](bool fits) {
    if (!fits)
      raise<ValueError>("split: the sizes do not add up to axis " + std::to_string(axis) + " of " + type_text(x));
  };
  Size start = 0;
  std::vector<Tensor> parts;
  for (Size size : sizes) {
    require_sum(size >= 0 && size <= n - start);
    parts.push_back(narrow(x, axis, start, size));
    start = start + size;
  }
  require_sum(start == n);
  return parts;
}
std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks) { return chunk(x, chunks, 0); }
std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("chunk", dim, x);
  if (chunks < 1) raise<ValueError>("chunk: chunks is " + std::to_string(chunks) + "; it must be at least 1");
  const Size n = type_of(x).shape[at(axis)];
  if (n == 0) return even_pieces("chunk", x, axis, chunks);
  return pieces_of_size("chunk", x, axis, (n + (chunks - 1)) / chunks);
}

std::vector<Tensor> tensor_split(const Tensor& x, std::int64_t sections) { return tensor_split(x, sections, 0); }
std::vector<Tensor> tensor_split(const Tensor& x, std::int64_t sections, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("tensor_split", dim, x);
  if (sections < 1)
    raise<ValueError>("tensor_split: sections is " + std::to_string(sections) + "; it must be at least 1");
  return even_pieces("tensor_split", x, axis, sections);
}
std::vector<Tensor> tensor_split(const Tensor& x, const Shape& indices) { return tensor_split(x, indices, 0); }
std::vector<Tensor> tensor_split(const Tensor& x, const Shape& indices, std::int64_t dim) {
  const std::int64_t axis = wrap_own_axis("tensor_split", dim, x);
  std::vector<Tensor> parts;
  std::optional<Size> start;
  for (Size stop : indices) {
    parts.push_back(slice(x, axis, start, stop));
    start = stop;
  }
  parts.push_back(slice(x, axis, start, std::nullopt));
  return parts;
}

}  // namespace ricci::ops
