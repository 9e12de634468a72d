// Reductions and scans. `dims` may be negative; without dims the whole tensor is reduced. With `keepdim` a reduced axis
// stays with size 1.
#pragma once

#include "ricci/tensor.h"

namespace ricci::ops {

Tensor sum(const Tensor& x);  ///< booleans and integers sum to int64
Tensor sum(const Tensor& x, const Axes& dims);
Tensor sum(const Tensor& x, const Axes& dims, bool keepdim);
Tensor mean(const Tensor& x);
Tensor mean(const Tensor& x, const Axes& dims);
Tensor mean(const Tensor& x, const Axes& dims, bool keepdim);
Tensor prod(const Tensor& x);
Tensor prod(const Tensor& x, std::int64_t dim);
Tensor prod(const Tensor& x, std::int64_t dim, bool keepdim);
Tensor amax(const Tensor& x);  ///< ties share the gradient evenly
Tensor amax(const Tensor& x, const Axes& dims);
Tensor amax(const Tensor& x, const Axes& dims, bool keepdim);
Tensor amin(const Tensor& x);
Tensor amin(const Tensor& x, const Axes& dims);
Tensor amin(const Tensor& x, const Axes& dims, bool keepdim);
Tensor max(const Tensor& x);
Tensor max(const Tensor& a, const Tensor& b);
template <Integer I>
std::pair<Tensor, Tensor> max(const Tensor& x, I dim);  ///< values and the index of the first greatest
template <Integer I>
std::pair<Tensor, Tensor> max(const Tensor& x, I dim, bool keepdim);
Tensor min(const Tensor& x);
Tensor min(const Tensor& a, const Tensor& b);
template <Integer I>
std::pair<Tensor, Tensor> min(const Tensor& x, I dim);
template <Integer I>
std::pair<Tensor, Tensor> min(const Tensor& x, I dim, bool keepdim);
Tensor argmax(const Tensor& x);
Tensor argmax(const Tensor& x, std::int64_t dim);
Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim);
Tensor argmin(const Tensor& x);
Tensor argmin(const Tensor& x, std::int64_t dim);
Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim);
Tensor any(const Tensor& x);
Tensor any(const Tensor& x, const Axes& dims);
Tensor any(const Tensor& x, const Axes& dims, bool keepdim);
Tensor all(const Tensor& x);
Tensor all(const Tensor& x, const Axes& dims);
Tensor all(const Tensor& x, const Axes& dims, bool keepdim);
Tensor count_nonzero(const Tensor& x);
/// Unbiased: divides by n - 1; `correction` is what is subtracted from n.
Tensor var(const Tensor& x);
Tensor var(const Tensor& x, const Axes& dims);
Tensor var(const Tensor& x, const Axes& dims, std::int64_t correction, bool keepdim);
Tensor std(const Tensor& x);
Tensor std(const Tensor& x, const Axes& dims);
Tensor std(const Tensor& x, const Axes& dims, std::int64_t correction, bool keepdim);
Tensor norm(const Tensor& x);  ///< the 2-norm of all elements; gradient 0 at 0
Tensor norm(const Tensor& x, double p);
Tensor norm(const Tensor& x, double p, const Axes& dims);
Tensor norm(const Tensor& x, double p, const Axes& dims, bool keepdim);
Tensor logsumexp(const Tensor& x);
Tensor logsumexp(const Tensor& x, const Axes& dims);
Tensor logsumexp(const Tensor& x, const Axes& dims, bool keepdim);
Tensor softmax(const Tensor& x, std::int64_t dim);
Tensor log_softmax(const Tensor& x, std::int64_t dim);
Tensor cumsum(const Tensor& x, std::int64_t dim);
Tensor cumprod(const Tensor& x, std::int64_t dim);
Tensor logcumsumexp(const Tensor& x, std::int64_t dim);
Tensor trace(const Tensor& x);  ///< the sum of the diagonal of a matrix

/// Stable sort along an axis: values and int64 indices; NaN last.
std::pair<Tensor, Tensor> sort(const Tensor& x);
std::pair<Tensor, Tensor> sort(const Tensor& x, std::int64_t dim);
std::pair<Tensor, Tensor> sort(const Tensor& x, std::int64_t dim, bool descending);
Tensor argsort(const Tensor& x);
Tensor argsort(const Tensor& x, std::int64_t dim);
Tensor argsort(const Tensor& x, std::int64_t dim, bool descending);
std::pair<Tensor, Tensor> topk(const Tensor& x, std::int64_t k);
std::pair<Tensor, Tensor> topk(const Tensor& x, std::int64_t k, std::int64_t dim);
std::pair<Tensor, Tensor> topk(const Tensor& x, std::int64_t k, std::int64_t dim, bool largest);
std::pair<Tensor, Tensor> median(const Tensor& x, std::int64_t dim);
Tensor median(const Tensor& x);

std::pair<Tensor, Tensor> extreme_along(const Tensor& x, bool greatest, std::int64_t dim, bool keepdim);
template <Integer I>
std::pair<Tensor, Tensor> max(const Tensor& x, I dim) { return extreme_along(x, true, static_cast<std::int64_t>(dim), false); }
template <Integer I>
std::pair<Tensor, Tensor> max(const Tensor& x, I dim, bool keepdim) { return extreme_along(x, true, static_cast<std::int64_t>(dim), keepdim); }
template <Integer I>
std::pair<Tensor, Tensor> min(const Tensor& x, I dim) { return extreme_along(x, false, static_cast<std::int64_t>(dim), false); }
template <Integer I>
std::pair<Tensor, Tensor> min(const Tensor& x, I dim, bool keepdim) { return extreme_along(x, false, static_cast<std::int64_t>(dim), keepdim); }

}  // namespace ricci::ops
