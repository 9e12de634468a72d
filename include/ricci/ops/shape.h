// Shapes, views and joining. A view shares its base: writing to one is seen by the other. `dim` may be negative; one
// out of range is an IndexError. Every operation keeps the dtype and is linear (pad: affine) in its tensors.
#pragma once

#include <optional>
#include <string_view>

#include "ricci/tensor.h"

namespace ricci::ops {

/// How often each slice along an axis comes: `{.repeats = counts, .dim = 0}`.
struct RepeatOptions {
  Tensor repeats;  ///< integers [n], or a number for all
  std::int64_t dim = 0;
  std::optional<Size> output_size = {};  ///< their sum: with it, the values of repeats are not read
};

// ── views ──

/// The same elements in row-major order under another shape; one size may be -1: what is left. Always a view: where the
/// layout does not allow it, of a copy. ValueError if the numbers of elements differ.
///   rc::reshape(x, {-1, 4})  // [2,6] → [3,4]
Tensor reshape(const Tensor& x, const Shape& shape);
Tensor view(const Tensor& x, const Shape& shape);
/// Repeats axes of size 1 without a copy; -1 keeps a size, new axes come in front. ValueError if a size is neither 1
/// nor the wanted one.
///   rc::expand(x, {5, -1})  // [3] → [5,3]
Tensor expand(const Tensor& x, const Shape& shape);
Tensor broadcast_to(const Tensor& x, const Shape& shape);
/// Axis i of the result is axis axes[i] of x. ValueError unless `axes` is a permutation.
Tensor permute(const Tensor& x, const Axes& axes);
Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b);
Tensor t(const Tensor& x);   ///< of a matrix; a vector stays. ValueError for more than two axes
Tensor mT(const Tensor& x);  ///< swaps the last two axes
Tensor movedim(const Tensor& x, const Axes& from, const Axes& to);
/// Elements start, start + step, … before stop along an axis; negative ones count from the back, what is out of range
/// is cut. ValueError if step < 1.
///   rc::slice(x, 0, 1, std::nullopt, 2)  // Python's x[1::2]
Tensor slice(const Tensor& x, std::int64_t dim, std::optional<Size> start, std::optional<Size> stop);
Tensor slice(const Tensor& x, std::int64_t dim, std::optional<Size> start, std::optional<Size> stop, Size step);
/// Element `index` along an axis, which goes: x[index] for the first. IndexError if there is none.
Tensor select(const Tensor& x, std::int64_t dim, Size index);
/// Elements [start, start + length) along an axis. IndexError if they reach outside.
Tensor narrow(const Tensor& x, std::int64_t dim, Size start, Size length);
/// The elements (i, i + offset) of two axes (0 and 1 if not given), as a new last axis.
Tensor diagonal(const Tensor& x);
Tensor diagonal(const Tensor& x, Size offset);
Tensor diagonal(const Tensor& x, Size offset, std::int64_t dim1, std::int64_t dim2);
/// All windows of `size` elements, every `step`-th, along an axis; the windows' elements are the new last axis. Of a
/// 0-dim tensor the one window, [size].
Tensor unfold(const Tensor& x, std::int64_t dim, Size size, Size step);
Tensor squeeze(const Tensor& x);                      ///< without its axes of size 1
Tensor squeeze(const Tensor& x, std::int64_t dim);    ///< without this one, if its size is 1
Tensor squeeze(const Tensor& x, const Axes& dims);    ///< without those of these whose size is 1
Tensor unsqueeze(const Tensor& x, std::int64_t dim);  ///< a new axis of size 1 before axis `dim`
Tensor flatten(const Tensor& x);
Tensor flatten(const Tensor& x, std::int64_t start);
Tensor flatten(const Tensor& x, std::int64_t start, std::int64_t end);  ///< axes start … end become one
/// Axis `dim` becomes axes of these sizes; one may be -1: what is left. ValueError unless they make up the axis.
///   rc::unflatten(x, -1, {3, -1})  // [2,12] → [2,3,4]
Tensor unflatten(const Tensor& x, std::int64_t dim, const Shape& sizes);
/// A view of x's elements in row-major order: element (i, j, …) is element offset + i·stride₀ + j·stride₁ + ….
/// ValueError if one lies outside.
Tensor as_strided(const Tensor& x, const Shape& size, const Sizes& stride);
Tensor as_strided(const Tensor& x, const Shape& size, const Sizes& stride, Size offset);
/// x[0], x[1], … along an axis (0 if not given).
std::vector<Tensor> unbind(const Tensor& x);
std::vector<Tensor> unbind(const Tensor& x, std::int64_t dim);
/// Pieces of `size` (the last may be smaller), or of the given sizes, along an axis (0 if not given).
std::vector<Tensor> split(const Tensor& x, Size size);
std::vector<Tensor> split(const Tensor& x, Size size, std::int64_t dim);
std::vector<Tensor> split(const Tensor& x, const Shape& sizes, std::int64_t dim);
inline std::vector<Tensor> split(const Tensor& x, std::initializer_list<Size> sizes, std::int64_t dim) {
  return split(x, Shape(sizes), dim);  // {2} is a list, no number
}
/// At most `chunks` pieces of one size; the last may be smaller. Of an axis without elements, `chunks` empty pieces.
std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks);
std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim);

/// `sections` pieces along an axis (0 if not given) whose sizes differ by at most one, the greater ones first; or the
/// pieces that begin at 0 and at each of the indices, which count as those of `slice` do. ValueError if sections < 1.
///   rc::tensor_split(x, {1, 3})  // x[:1], x[1:3], x[3:]
std::vector<Tensor> tensor_split(const Tensor& x, std::int64_t sections);
std::vector<Tensor> tensor_split(const Tensor& x, std::int64_t sections, std::int64_t dim);
std::vector<Tensor> tensor_split(const Tensor& x, const Shape& indices);
std::vector<Tensor> tensor_split(const Tensor& x, const Shape& indices, std::int64_t dim);
template <std::convertible_to<Size> I = Size>  // {1} is a list, no number
std::vector<Tensor> tensor_split(const Tensor& x, std::initializer_list<I> indices) {
  return tensor_split(x, Shape(indices.begin(), indices.end()));
}
template <std::convertible_to<Size> I = Size>
std::vector<Tensor> tensor_split(const Tensor& x, std::initializer_list<I> indices, std::int64_t dim) {
  return tensor_split(x, Shape(indices.begin(), indices.end()), dim);
}

// ── joining and copying ──

/// One after the other along an axis (0 if not given); dtypes promote. ValueError if there are none, or if sizes of
/// other axes differ. A list may start as [0]: a tensor of this shape among others of more axes adds nothing.
///   rc::cat({a, b}, 1)  // [2,3], [2,5] → [2,8]
Tensor cat(const std::vector<Tensor>& tensors);
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim);
/// Along a new axis (0 if not given); dtypes promote. ValueError if there are none, or if shapes differ.
///   rc::stack({a, b})  // [3], [3] → [2,3]
Tensor stack(const std::vector<Tensor>& tensors);
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim);
/// The tensors that `stack` would join to x along axis 0: copies, where `unbind` gives views. Its reverse rule is one
/// stack, whatever their number. ValueError if x has no axes.
std::vector<Tensor> unstack(const Tensor& x);
/// The whole of x repeats[i] times along axis i; more repeats than axes make new axes in front. ValueError for fewer.
///   rc::repeat(x, {2, 1})  // [3,4] → [6,4]
Tensor repeat(const Tensor& x, const Shape& repeats);
/// Each element `repeats` times along an axis, or of all in row-major order: a a b b.
Tensor repeat_interleave(const Tensor& x, Size repeats);
Tensor repeat_interleave(const Tensor& x, Size repeats, std::int64_t dim);
/// Each slice along an axis as often as its number says. Reads these numbers, as `nonzero` does, but not if
/// `output_size` is given; ValueError if one is negative, or if there are not as many as slices.
///   rc::repeat_interleave(x, {.repeats = rc::tensor({1, 0, 2})})  // rows a b c → a c c
Tensor repeat_interleave(const Tensor& x, RepeatOptions options);
Tensor tile(const Tensor& x, const Shape& repeats);  ///< repeat; missing repeats in front are 1
Tensor flip(const Tensor& x, const Axes& dims);      ///< backwards along these axes
/// Shifted towards higher indices, what falls off comes in at the front: element i moves to i + shift. Without axes, of
/// all elements in row-major order.
Tensor roll(const Tensor& x, Size shift);
Tensor roll(const Tensor& x, const Sizes& shifts, const Axes& dims);
/// Of the matrices in the last two axes, what lies on or below (above) a diagonal: 0 the main one, positive ones above
/// it; zeros elsewhere. ValueError for fewer than two axes.
Tensor tril(const Tensor& x);
Tensor tril(const Tensor& x, Size diagonal);
Tensor triu(const Tensor& x);
Tensor triu(const Tensor& x, Size diagonal);
/// The elements on and below a diagonal (0, the main one, if not given; positive ones lie above it) of the square
/// matrices in the last two axes, row after row, as vectors: n (n + 1) / 2 numbers of n × n. Any dtype; a copy.
/// ValueError if the matrices are not square.
///   rc::tril_pack(x)  // [2,3,3] → [2,6]
Tensor tril_pack(const Tensor& x);
Tensor tril_pack(const Tensor& x, Size diagonal);
/// The inverse on lower triangles: matrices of rows × rows with these elements there and 0 above. Of a packed symmetric
/// matrix it gives the lower triangle. ValueError if `rows` is negative or the vectors have another number of elements.
///   rc::tril_unpack(packed, 3)  // [2,6] → [2,3,3]
Tensor tril_unpack(const Tensor& packed, Size rows);
Tensor tril_unpack(const Tensor& packed, Size rows, Size diagonal);
/// The last axis as the diagonal of matrices of zeros, in the last two axes or in dim1 and dim2 of the result.
///   rc::diag_embed(x)  // [2,3] → [2,3,3]
Tensor diag_embed(const Tensor& x);
Tensor diag_embed(const Tensor& x, Size offset);
Tensor diag_embed(const Tensor& x, Size offset, std::int64_t dim1, std::int64_t dim2);
Tensor diag(const Tensor& x);          ///< a vector as a diagonal matrix; a copy of a matrix's diagonal
Tensor diag(const Tensor& x, Size k);  ///< the k-th diagonal, above the main one for k > 0
/// A constant (0 if not given) around x: widths before and behind each axis, the last axis first, {left, right, top,
/// bottom, …} as torch.nn.functional.pad; negative ones cut off. ValueError if there are too many, or an odd number.
///   rc::pad(x, {1, 1})  // [2,3] → [2,5]
Tensor pad(const Tensor& x, const Sizes& widths);
Tensor pad(const Tensor& x, const Sizes& widths, double value);
Tensor contiguous(const Tensor& x);  ///< x itself if it lies in row-major order, in a transform as outside; else a copy
/// Element (i, j, …) of result k is element i, j, … of axis k: views of shape [n₀, n₁, …] ("ij" indexing).
std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes);
/// "xy": the first two axes of the results are exchanged, as in NumPy. ValueError unless "ij" or "xy".
std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes, std::string_view indexing);

// ── advanced: what views' transposes are made of ──
/// A copy of `base` with the region that slice, select or diagonal shows replaced by `value`, broadcast and converted.
Tensor slice_scatter(const Tensor& base, const Tensor& value, std::int64_t dim, Size start, Size stop, Size step);
Tensor select_scatter(const Tensor& base, const Tensor& value, std::int64_t dim, Size index);
Tensor diagonal_scatter(const Tensor& base, const Tensor& value, Size offset, std::int64_t dim1, std::int64_t dim2);

}  // namespace ricci::ops
