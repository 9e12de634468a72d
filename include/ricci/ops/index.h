// Reading and writing by tensors of indices, and operations whose result's size depends on values.
#pragma once

#include "ricci/tensor.h"

namespace ricci::ops {

// An index is of integers, else TypeError; one out of range is an IndexError. A 0-dim x counts as a vector of one
// element, whose axis the result lacks again; a 0-dim index names one place.

/// The slices of x at the places index [n] along an axis: that axis has size n. ValueError if index has more axes.
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index);
/// out[…, i, …] = x[…, index[…, i, …], …] along an axis; index has x's axes and is along none of the others larger.
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index);
/// gather, but x and index broadcast along the other axes, and negative indices count from the back.
Tensor take_along_dim(const Tensor& x, const Tensor& index, std::int64_t dim);
Tensor take_along_dim(const Tensor& x, const Tensor& index);  ///< of x and index as vectors, row-major
/// The elements of x, counted row-major as of one vector, at the places `index`, in whose shape; negative indices count
/// from the back.
Tensor take(const Tensor& x, const Tensor& index);
/// x with src[…, i, …] at x[…, index[…, i, …], …] along an axis; of several for one place the last one stays. index has
/// x's axes and is along none of the others larger; src has as many and is along none smaller than index, or is a
/// number or 0-dim. It is read in x's dtype. ValueError if the shapes do not fit.
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src);
/// As scatter, with src added to the elements of x, in order. Up to float32 the sum at a place is held in numbers of
/// twice the digits and rounded at its end, so that its error does not grow with the number of terms of one sign.
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src);
/// x with the slices of src added at the places index [n] along an axis, where src has size n; it broadcasts to that
/// shape, else ValueError.
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                 double alpha);  ///< alpha times src
/// x with `value`, a number or 0-dim, at the places index [n] along an axis; negative ones count from the back.
Tensor index_fill(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& value);
/// NumPy's advanced indexing; boolean masks read values.
Tensor index(const Tensor& x, const std::vector<Index>& indices);
/// x with `value` in the places that `index(x, indices)` reads; value broadcasts to that shape. With `accumulate`,
/// value is added to the elements of x. A single mask writes without reading its values if `value` has no axis for what
/// it picks. ValueError if value does not broadcast.
Tensor index_put(const Tensor& x, const std::vector<Index>& indices, const Tensor& value);
Tensor index_put(const Tensor& x, const std::vector<Index>& indices, const Tensor& value, bool accumulate);
/// x with `value` where the mask is true, in x's dtype; the three broadcast.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value);
/// For results whose size depends on values: `size` rows, cut off or filled up, so that examples of a vmap agree.
struct SizeOptions {
  Size size;
  Tensor fill = {};  ///< a number or 0-dim tensor for the rows that are missing; not given: -1 in nonzero, else 0
};

/// Where x is not zero, row-major: int64 [count, x.dim()], or [size, x.dim()]. Without a size it reads values: inside
/// vmap a TransformError, unless lanes = Lanes::split or out_dims = rc::ragged let examples of different counts part.
Tensor nonzero(const Tensor& x);
Tensor nonzero(const Tensor& x, SizeOptions options);
/// The elements of x where the mask is true, row-major; x and mask broadcast. [count] or [size]; differentiable in x.
Tensor masked_select(const Tensor& x, const Tensor& mask);
Tensor masked_select(const Tensor& x, const Tensor& mask, SizeOptions options);
/// The distinct values of x, ascending. [count] or [size].
Tensor unique(const Tensor& x);
Tensor unique(const Tensor& x, SizeOptions options);
/// Rows of weight [rows, width]: [..., width] for integers [...]. The index stands first, as in PyTorch. TypeError if
/// the index is not of integers or the weight is of them (index_select reads rows of integers), so that the two cannot
/// be swapped unnoticed; IndexError where an index is not in [0, rows).
///   Tensor x = rc::embedding(tokens, table);  // i64[32,10], f32[5000,64] → f32[32,10,64]
Tensor embedding(const Tensor& index, const Tensor& weight);
/// int64 [..., classes]: 1 at each index, else 0. IndexError where an index is not in [0, classes), with its place; a
/// program that is being recorded does not look, and has zeros there when it runs.
Tensor one_hot(const Tensor& index, Size classes);
Tensor one_hot(const Tensor& index);  ///< of as many classes as the greatest index asks for, which is read
struct SearchOptions {
  bool right = false;  ///< behind the elements that equal a value, not before them
  Tensor sorter = {};  ///< the places that sort the values, as of argsort, if they are in another order
};
/// The place, int64, at which each value goes into the sorted ones along their last axis: the number of elements below
/// it, NaN above all. Of sorted [n], values have any shape, which is the result's; of sorted [..., n], values are
/// [..., m]. By bisection. ValueError if `sorted` has no axis.
///   rc::searchsorted(edges, x, {.right = true})
Tensor searchsorted(const Tensor& sorted, const Tensor& values);
Tensor searchsorted(const Tensor& sorted, const Tensor& values, SearchOptions options);

}  // namespace ricci::ops
