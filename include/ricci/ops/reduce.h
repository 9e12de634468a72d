// Reductions, scans and sorting. `dims` may be negative and stand in any order; none, or `{}`, means all axes. A 0-dim
// tensor may be given axis 0 or -1. With `keepdim` a reduced axis stays with size 1: `sum(x, 0, true)`, and of all axes
// `sum(x, true)`. IndexError for an axis out of
// range, ValueError for a repeated one. Everything that is not an index or a count has derivatives of every order.
#pragma once

#include "ricci/tensor.h"

namespace ricci::ops {

// ── sums ──

/// The sum. Booleans and integers sum to int64; float16 and bfloat16 are added in float32 and rounded once. Errors grow
/// with the logarithm of the number of elements. The sum of nothing is 0.
///   Tensor rows = sum(x, -1);  // [2, 3] → [2]
Tensor sum(const Tensor& x);
Tensor sum(const Tensor& x, const Axes& dims);
Tensor sum(const Tensor& x, const Axes& dims, bool keepdim);
inline Tensor sum(const Tensor& x, std::same_as<bool> auto keepdim) { return sum(x, Axes(), keepdim); }
/// Converts x to `dtype` first, and the result has that dtype: so do all that take one.
///   Tensor total = sum(x, rc::float64);
Tensor sum(const Tensor& x, DType dtype);
Tensor sum(const Tensor& x, const Axes& dims, bool keepdim, DType dtype);
/// The sum over the number of elements; NaN of nothing. TypeError for integers and booleans.
Tensor mean(const Tensor& x);
Tensor mean(const Tensor& x, const Axes& dims);
Tensor mean(const Tensor& x, const Axes& dims, bool keepdim);
inline Tensor mean(const Tensor& x, std::same_as<bool> auto keepdim) { return mean(x, Axes(), keepdim); }
Tensor mean(const Tensor& x, DType dtype);
Tensor mean(const Tensor& x, const Axes& dims, bool keepdim, DType dtype);
/// The product, in the types of `sum`; 1 of nothing. Its derivatives are right where factors are zero, and finite where
/// the product without one or two factors is.
Tensor prod(const Tensor& x);
Tensor prod(const Tensor& x, std::int64_t dim);
Tensor prod(const Tensor& x, std::int64_t dim, bool keepdim);
Tensor prod(const Tensor& x, DType dtype);
Tensor prod(const Tensor& x, std::int64_t dim, bool keepdim, DType dtype);
/// The sum of the diagonal of a matrix; ValueError unless x has two axes.
Tensor trace(const Tensor& x);

// ── extremes: real types; NaN wins; ValueError of nothing, TypeError of complex tensors ──

/// The greatest element. Elements that tie share the derivative evenly, and so do NaN, as in torch.max; torch.amax
/// gives NaN for a NaN's derivative.
Tensor amax(const Tensor& x);
Tensor amax(const Tensor& x, const Axes& dims);
Tensor amax(const Tensor& x, const Axes& dims, bool keepdim);
inline Tensor amax(const Tensor& x, std::same_as<bool> auto keepdim) { return amax(x, Axes(), keepdim); }
Tensor amin(const Tensor& x);
Tensor amin(const Tensor& x, const Axes& dims);
Tensor amin(const Tensor& x, const Axes& dims, bool keepdim);
inline Tensor amin(const Tensor& x, std::same_as<bool> auto keepdim) { return amin(x, Axes(), keepdim); }
/// Of one tensor amax and amin, of two `maximum` and `minimum`. Along one axis the values and the int64 places of the
/// first greatest (smallest) elements, to which the derivative belongs.
///   auto [values, places] = rc::max(x, 1);
Tensor max(const Tensor& x);
Tensor max(const Tensor& a, const Tensor& b);
template <Integer I>
std::pair<Tensor, Tensor> max(const Tensor& x, I dim);
template <Integer I>
std::pair<Tensor, Tensor> max(const Tensor& x, I dim, bool keepdim);
Tensor min(const Tensor& x);
Tensor min(const Tensor& a, const Tensor& b);
template <Integer I>
std::pair<Tensor, Tensor> min(const Tensor& x, I dim);
template <Integer I>
std::pair<Tensor, Tensor> min(const Tensor& x, I dim, bool keepdim);
/// The place, int64, of the first greatest (smallest) element along an axis, or among all in row-major order.
Tensor argmax(const Tensor& x);
Tensor argmax(const Tensor& x, std::int64_t dim);
Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim);
Tensor argmin(const Tensor& x);
Tensor argmin(const Tensor& x, std::int64_t dim);
Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim);

// ── counts: every element type; NaN is not zero ──

/// Boolean: whether any element is not zero; false of nothing.
Tensor any(const Tensor& x);
Tensor any(const Tensor& x, const Axes& dims);
Tensor any(const Tensor& x, const Axes& dims, bool keepdim);
inline Tensor any(const Tensor& x, std::same_as<bool> auto keepdim) { return any(x, Axes(), keepdim); }
/// Boolean: whether no element is zero; true of nothing.
Tensor all(const Tensor& x);
Tensor all(const Tensor& x, const Axes& dims);
Tensor all(const Tensor& x, const Axes& dims, bool keepdim);
inline Tensor all(const Tensor& x, std::same_as<bool> auto keepdim) { return all(x, Axes(), keepdim); }
Tensor count_nonzero(const Tensor& x);  ///< int64
Tensor count_nonzero(const Tensor& x, const Axes& dims);

// ── moments and norms: floating and complex tensors, else TypeError; the result is real ──

/// Σ |x - mean|² / (n - correction), in two passes; correction is 1 unless given, 0 if `unbiased` is false. NaN or
/// infinite where it leaves no divisor.
Tensor var(const Tensor& x);
Tensor var(const Tensor& x, const Axes& dims);
Tensor var(const Tensor& x, const Axes& dims, Size correction, bool keepdim);
inline Tensor var(const Tensor& x, std::same_as<bool> auto unbiased) { return var(x, Axes(), unbiased ? 1 : 0, false); }
inline Tensor var(const Tensor& x, const Axes& dims, std::same_as<bool> auto unbiased, bool keepdim = false) {
  return var(x, dims, unbiased ? 1 : 0, keepdim);
}
/// The root of var, with derivative 0 where it is 0.
Tensor std(const Tensor& x);
Tensor std(const Tensor& x, const Axes& dims);
Tensor std(const Tensor& x, const Axes& dims, Size correction, bool keepdim);
inline Tensor std(const Tensor& x, std::same_as<bool> auto unbiased) { return std(x, Axes(), unbiased ? 1 : 0, false); }
inline Tensor std(const Tensor& x, const Axes& dims, std::same_as<bool> auto unbiased, bool keepdim = false) {
  return std(x, dims, unbiased ? 1 : 0, keepdim);
}
/// (Σ |x|^p)^(1/p) of the elements as of one vector, p = 2 unless given. p = 0 counts elements that are not zero; an
/// infinite p gives the greatest or smallest |x|, ValueError of nothing. Where the norm is 0, the derivative is 0; a
/// second one is NaN there, but 0 where x is real and p is 0, 1 or infinite.
///   Tensor lengths = norm(x, 2, -1);
Tensor norm(const Tensor& x);
Tensor norm(const Tensor& x, double p);
Tensor norm(const Tensor& x, double p, const Axes& dims);
Tensor norm(const Tensor& x, double p, const Axes& dims, bool keepdim);
/// `norm`, under the name of torch.linalg.vector_norm.
Tensor vector_norm(const Tensor& x);
Tensor vector_norm(const Tensor& x, double ord);
Tensor vector_norm(const Tensor& x, double ord, const Axes& dims);
Tensor vector_norm(const Tensor& x, double ord, const Axes& dims, bool keepdim);

// ── exponentials: floating tensors, else TypeError; the greatest element is taken out first, so nothing overflows ──

/// log Σ exp x; -inf of nothing, and of -inf alone, where the derivative is 0.
Tensor logsumexp(const Tensor& x);
Tensor logsumexp(const Tensor& x, const Axes& dims);
Tensor logsumexp(const Tensor& x, const Axes& dims, bool keepdim);
inline Tensor logsumexp(const Tensor& x, std::same_as<bool> auto keepdim) { return logsumexp(x, Axes(), keepdim); }
/// exp x / Σ exp x along an axis; where the greatest element is infinite, all are NaN, as in PyTorch.
Tensor softmax(const Tensor& x, std::int64_t dim);
Tensor softmax(const Tensor& x, std::int64_t dim, DType dtype);
Tensor log_softmax(const Tensor& x, std::int64_t dim);  ///< its logarithm, x - log Σ exp x
Tensor log_softmax(const Tensor& x, std::int64_t dim, DType dtype);

// ── scans: element i of the result joins elements 0 to i along an axis ──

Tensor cumsum(const Tensor& x, std::int64_t dim);  ///< in the types of sum
Tensor cumsum(const Tensor& x, std::int64_t dim, DType dtype);
/// In the types of sum; derivatives are right where factors are zero.
Tensor cumprod(const Tensor& x, std::int64_t dim);
Tensor cumprod(const Tensor& x, std::int64_t dim, DType dtype);
Tensor logcumsumexp(const Tensor& x, std::int64_t dim);  ///< floating, else TypeError

// ── sorting: real types, else TypeError; along the last axis unless given; NaN counts as greater than every number ──

/// Sorted values and the int64 places they came from. Stable: equal elements keep their order.
///   auto [values, places] = rc::sort(x, 0);  // values == gather(x, 0, places)
std::pair<Tensor, Tensor> sort(const Tensor& x);
std::pair<Tensor, Tensor> sort(const Tensor& x, std::int64_t dim);
std::pair<Tensor, Tensor> sort(const Tensor& x, std::int64_t dim, bool descending);
Tensor argsort(const Tensor& x);  ///< the places alone
Tensor argsort(const Tensor& x, std::int64_t dim);
Tensor argsort(const Tensor& x, std::int64_t dim, bool descending);
/// The k greatest, or smallest, in order, and their places, of equal ones the first; ValueError if the axis has fewer.
std::pair<Tensor, Tensor> topk(const Tensor& x, Size k);
std::pair<Tensor, Tensor> topk(const Tensor& x, Size k, std::int64_t dim);
std::pair<Tensor, Tensor> topk(const Tensor& x, Size k, std::int64_t dim, bool largest);
/// The median and its place. Of an even number of elements the median is the lower middle one; of elements with a NaN
/// it is NaN. The element at that place has the derivative. The median of all elements has no place: the elements that
/// equal it share the derivative evenly. ValueError of nothing.
std::pair<Tensor, Tensor> median(const Tensor& x, std::int64_t dim);
std::pair<Tensor, Tensor> median(const Tensor& x, std::int64_t dim, bool keepdim);
Tensor median(const Tensor& x);

/// Not for users: what the templates max and min along an axis stand for.
std::pair<Tensor, Tensor> extreme_along(const Tensor& x, bool greatest, std::int64_t dim, bool keepdim);
template <Integer I>
std::pair<Tensor, Tensor> max(const Tensor& x, I dim) {
  return extreme_along(x, true, host_index(dim), false);
}
template <Integer I>
std::pair<Tensor, Tensor> max(const Tensor& x, I dim, bool keepdim) {
  return extreme_along(x, true, host_index(dim), keepdim);
}
template <Integer I>
std::pair<Tensor, Tensor> min(const Tensor& x, I dim) {
  return extreme_along(x, false, host_index(dim), false);
}
template <Integer I>
std::pair<Tensor, Tensor> min(const Tensor& x, I dim, bool keepdim) {
  return extreme_along(x, false, host_index(dim), keepdim);
}

}  // namespace ricci::ops
