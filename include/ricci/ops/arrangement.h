// Further shapes, joins, products and ways of indexing, made of those in ricci/ops/shape.h, index.h and linalg.h; with
// their conventions. `dim` may be negative; one out of range is an IndexError.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "ricci/tensor.h"

namespace ricci::ops {

// ── shapes: every element type ──

Tensor atleast_1d(const Tensor& x);  ///< x itself, a number as [1]
Tensor atleast_2d(const Tensor& x);  ///< a number as [1,1], a vector as [1,n]
Tensor atleast_3d(const Tensor& x);  ///< a number as [1,1,1], a vector as [1,n,1], a matrix as [m,n,1]
std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors);  ///< expanded to their common shape
Tensor fliplr(const Tensor& x);  ///< flip along axis 1; ValueError for fewer than two axes
Tensor flipud(const Tensor& x);  ///< flip along axis 0; ValueError for no axes
/// Turned by k right angles (1 if not given) from the first of two axes towards the second, {0, 1} if not given.
Tensor rot90(const Tensor& x);
Tensor rot90(const Tensor& x, std::int64_t k);
Tensor rot90(const Tensor& x, std::int64_t k, const Axes& dims);
/// The elements, row-major, as a diagonal of a square matrix of zeros.
Tensor diagflat(const Tensor& x);
Tensor diagflat(const Tensor& x, Size offset);
Tensor mH(const Tensor& x);  ///< the conjugate, its last two axes swapped
/// Summed along the axes that broadcasting would repeat, until it has the shape. ValueError if that broadcasts to
/// another shape than x's.
Tensor sum_to_size(const Tensor& x, const Shape& shape);

// ── joining and splitting; the axes are made by atleast_… first ──

Tensor hstack(const std::vector<Tensor>& tensors);        ///< along axis 1, vectors along axis 0
Tensor vstack(const std::vector<Tensor>& tensors);        ///< along axis 0, vectors as rows
Tensor dstack(const std::vector<Tensor>& tensors);        ///< along axis 2
Tensor column_stack(const std::vector<Tensor>& tensors);  ///< along axis 1, vectors as columns
/// tensor_split along axis 1 (0 of a vector), 0 and 2. ValueError for fewer axes, or if `sections` does not divide the
/// size.
std::vector<Tensor> hsplit(const Tensor& x, std::int64_t sections);
std::vector<Tensor> hsplit(const Tensor& x, const Shape& indices);
template <std::convertible_to<Size> I = Size>  // {1} is a list, no number
std::vector<Tensor> hsplit(const Tensor& x, std::initializer_list<I> indices) {
  return hsplit(x, Shape(indices.begin(), indices.end()));
}
std::vector<Tensor> vsplit(const Tensor& x, std::int64_t sections);
std::vector<Tensor> vsplit(const Tensor& x, const Shape& indices);
template <std::convertible_to<Size> I = Size>  // {1} is a list, no number
std::vector<Tensor> vsplit(const Tensor& x, std::initializer_list<I> indices) {
  return vsplit(x, Shape(indices.begin(), indices.end()));
}
std::vector<Tensor> dsplit(const Tensor& x, std::int64_t sections);
std::vector<Tensor> dsplit(const Tensor& x, const Shape& indices);
template <std::convertible_to<Size> I = Size>  // {1} is a list, no number
std::vector<Tensor> dsplit(const Tensor& x, std::initializer_list<I> indices) {
  return dsplit(x, Shape(indices.begin(), indices.end()));
}

// ── products ──

Tensor addmv(const Tensor& x, const Tensor& a, const Tensor& v);    ///< x + a v
Tensor addr(const Tensor& x, const Tensor& a, const Tensor& b);     ///< x + outer(a, b)
Tensor addbmm(const Tensor& x, const Tensor& a, const Tensor& b);   ///< x + the sum of the products of bmm(a, b)
Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b);  ///< x + bmm(a, b)
/// The matrices one below the other along the diagonal, zeros elsewhere; vectors are rows. ValueError for more than two
/// axes or none given.
Tensor block_diag(const std::vector<Tensor>& matrices);
/// All choices of one element of each vector, the last varying fastest: [n₀ n₁ …, vectors]. One vector is itself.
Tensor cartesian_prod(const std::vector<Tensor>& vectors);
/// All choices of r elements of a vector (2 if not given), in order: [choices, r]. The size of x is fixed in a program.
Tensor combinations(const Tensor& x);
Tensor combinations(const Tensor& x, std::int64_t r);
Tensor combinations(const Tensor& x, std::int64_t r, bool with_replacement);

// ── indexing ──

/// The part of x of these sizes that begins at these places, one for each axis: integers or 0-dim tensors of them that
/// may differ per example. As in JAX a negative one counts from the back, then all are clamped so that the part lies in
/// x. TypeError unless they are integers, ValueError unless there is one for each axis and x is as large as the part.
///   Tensor row = rc::dynamic_slice(x, {i, 0}, {1, x.size(1)});
Tensor dynamic_slice(const Tensor& x, const std::vector<Tensor>& start_indices, const Shape& slice_sizes);
/// x with `update`, in x's dtype, in the place of the part of its sizes that begins at these places, as of
/// dynamic_slice. ValueError unless update has x's axes and is along none of them larger.
///   Tensor y = rc::dynamic_update_slice(x, rc::zeros({1, x.size(1)}), {i, 0});
Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, const std::vector<Tensor>& start_indices);
/// x with the slices of src at the places index [n] along an axis, where src has size n.
Tensor index_copy(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src);
/// x with the elements of `source`, row-major, in the places where the mask is true, in order; the mask broadcasts to
/// x. ValueError if source has no elements.
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source);
/// x with `source` at places counted row-major; negative ones count from the back. With `accumulate` it is added.
Tensor put(const Tensor& x, const Tensor& index, const Tensor& source);
Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate);
/// x with a reduction at each place that scatter would write to: of the values of src that belong there, and of x's own
/// if `include_self` (true if not given). `reduction` is "sum", "prod", "mean", "amax" or "amin". Extremes that tie
/// share the derivative evenly. Means of integers are rounded down. ValueError for another reduction. Shapes are as in
/// `scatter`.
///   rc::scatter_reduce(x, 0, index, src, "amax")
Tensor scatter_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduction);
Tensor scatter_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduction, bool include_self);
/// The same of the slices of src at the places index [n] along an axis, where src has size n.
Tensor index_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                    std::string_view reduction);
Tensor index_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                    std::string_view reduction, bool include_self);
/// Boolean: which elements stand in `among`. By bisection; of complex elements all pairs are compared.
Tensor isin(const Tensor& elements, const Tensor& among);
/// For each value the number of boundaries [n], which ascend, below it; if `right`, not above it. int64, in the values'
/// shape. The values stand first, as in PyTorch. ValueError unless the boundaries are a vector.
Tensor bucketize(const Tensor& values, const Tensor& boundaries);
Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool right);
/// {unique(x), the place of each element of x among these}. Reads values, as `unique` does.
///   auto [values, places] = rc::unique_inverse(x);  // take(values, places) == x
std::pair<Tensor, Tensor> unique_inverse(const Tensor& x);
std::pair<Tensor, Tensor> unique_counts(const Tensor& x);  ///< {unique(x), how often each stands in x}
/// x with `src` in the elements that as_strided(x, size, stride, offset) shows.
Tensor as_strided_scatter(const Tensor& x, const Tensor& src, const Shape& size, const Sizes& stride);
Tensor as_strided_scatter(const Tensor& x, const Tensor& src, const Shape& size, const Sizes& stride, Size offset);
/// The coordinates, one tensor for each axis of `shape`, of places counted row-major.
std::vector<Tensor> unravel_index(const Tensor& index, const Shape& shape);
/// The places [2, count] of the lower (upper) triangle of a matrix, row after row, as int64.
Tensor tril_indices(std::int64_t rows, std::int64_t columns);
Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset);
Tensor triu_indices(std::int64_t rows, std::int64_t columns);
Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset);

}  // namespace ricci::ops
