// Distances between vectors, and normalisation by lengths. Element types are real and floating unless said otherwise.
// All are differentiable to any order, in both modes. Where a distance or a length is 0 its derivative is 0, as that of
// `norm`, and a second one may be NaN.
#pragma once

#include "ricci/tensor.h"

namespace ricci::ops {

// ── distances; the norm p is 2 if not given ──

/// The norm of a - b + eps along the last axis, in which the two broadcast: [..., D] → [...]; eps = 1e-6.
///   Tensor d = rc::pairwise_distance(x, y);  // [N, D], [N, D] → [N]
Tensor pairwise_distance(const Tensor& a, const Tensor& b);
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p);
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double eps);
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double eps, bool keepdim);
/// The distance of every row of a from every row of b: [..., P, D], [..., R, D] → [..., P, R]. Leading axes broadcast.
/// The differences are taken, so that near rows lose no digits; they take P R D elements, unless a compiled function
/// sums them as they come. ValueError for fewer than two axes, or for rows of two sizes.
Tensor cdist(const Tensor& a, const Tensor& b);
Tensor cdist(const Tensor& a, const Tensor& b, double p);
/// The distances of row i from row j, i < j, in the order (0,1), (0,2), …, (1,2), …: [N, D] → [N (N - 1) / 2].
/// ValueError unless x is a matrix.
Tensor pdist(const Tensor& x);
Tensor pdist(const Tensor& x, double p);
/// The norm of all elements of a - b; complex tensors too.
Tensor dist(const Tensor& a, const Tensor& b);
Tensor dist(const Tensor& a, const Tensor& b, double p);
/// Σ a b / (max(|a|, eps) max(|b|, eps)) along an axis (1 if not given); eps = 1e-8. The two broadcast.
Tensor cosine_similarity(const Tensor& a, const Tensor& b);
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim);
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim, double eps);

// ── normalisation by lengths ──

/// x / max(|x|, eps) with the norm p (2) along an axis (1); eps = 1e-12. Complex tensors too.
///   Tensor directions = rc::normalize(x, 2, -1);
Tensor normalize(const Tensor& x);
Tensor normalize(const Tensor& x, double p);
Tensor normalize(const Tensor& x, double p, std::int64_t dim);
Tensor normalize(const Tensor& x, double p, std::int64_t dim, double eps);
/// x with each slice along an axis whose norm exceeds `most` multiplied by most / (norm + 1e-7). ValueError for fewer
/// than two axes or a negative norm.
Tensor renorm(const Tensor& x, double p, std::int64_t dim, double most);
/// x / (k + alpha m)^beta, where m is the mean of x² over `size` neighbouring channels, zeros beyond the ends, of x
/// [N, C, …]. alpha = 1e-4, beta = 0.75, k = 1. ValueError for fewer than three axes, or size < 1. Krizhevsky et al.,
/// 2012.
Tensor local_response_norm(const Tensor& x, Size size);
Tensor local_response_norm(const Tensor& x, Size size, double alpha, double beta, double k);
/// x / sqrt(mean of x² + eps) · weight, the mean over the trailing axes, whose sizes are `normalized_shape`; weight has
/// that shape or is undefined. eps is the epsilon of the computed type if not given. Zhang and Sennrich, 2019.
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape);
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight);
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, double eps);
/// a[..., i] weight[o, i, j] b[..., j] + bias[o]: [..., I], [..., J] → [..., O]; bias [O] or undefined.
Tensor bilinear(const Tensor& a, const Tensor& b, const Tensor& weight);
Tensor bilinear(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias);

}  // namespace ricci::ops
