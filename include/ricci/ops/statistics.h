// Statistics, histograms, differences and integrals of samples. `dim` and `dims` are as in ricci/ops/reduce.h. Real
// element types, unless said otherwise; whole numbers become the default dtype where a mean is taken.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "ricci/ops/create.h"
#include "ricci/tensor.h"

namespace ricci {

/// `{.correction = 0, .fweights = counts}`
struct CovOptions {
  Size correction = 1;   ///< is subtracted from the number of observations
  Tensor fweights = {};  ///< how often each observation counts: integers [n]
  Tensor aweights = {};  ///< how much each observation counts: numbers [n]
};
/// The range is that of the elements where both ends are equal.
struct HistogramOptions {
  double low = 0, high = 0;
  Tensor weight = {};    ///< of the elements, of x's shape: a bin holds the sum of the weights
  bool density = false;  ///< divided by the sum and by the widths of bins: a probability density
};
struct GradientOptions {
  Tensor spacing = 1;  ///< between neighbours, or the coordinates [n] of an axis
  Axes dims = {};      ///< none given: all
  std::int64_t edge_order = 1;
};

namespace ops {

// ── several statistics at once ──

/// {amin, amax}, of all elements or along an axis.
std::pair<Tensor, Tensor> aminmax(const Tensor& x);
std::pair<Tensor, Tensor> aminmax(const Tensor& x, std::int64_t dim);
std::pair<Tensor, Tensor> aminmax(const Tensor& x, std::int64_t dim, bool keepdim);
/// {var, mean} and {std, mean}; complex tensors too.
///   auto [variance, mean] = rc::var_mean(x, 0);
std::pair<Tensor, Tensor> var_mean(const Tensor& x);
std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Axes& dims);
std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Axes& dims, Size correction, bool keepdim);
std::pair<Tensor, Tensor> std_mean(const Tensor& x);
std::pair<Tensor, Tensor> std_mean(const Tensor& x, const Axes& dims);
std::pair<Tensor, Tensor> std_mean(const Tensor& x, const Axes& dims, Size correction, bool keepdim);

// ── of the elements that are not NaN ──

Tensor nansum(const Tensor& x);
Tensor nansum(const Tensor& x, const Axes& dims);
Tensor nansum(const Tensor& x, const Axes& dims, bool keepdim);
Tensor nanmean(const Tensor& x);  ///< NaN where all are; floating and complex
Tensor nanmean(const Tensor& x, const Axes& dims);
Tensor nanmean(const Tensor& x, const Axes& dims, bool keepdim);
/// The lower median and its place, as `median`; NaN where all are.
std::pair<Tensor, Tensor> nanmedian(const Tensor& x, std::int64_t dim);
Tensor nanmedian(const Tensor& x);

// ── order ──

/// The k-th smallest value, counted from 1, along an axis (the last if not given), and its place, as after `sort`.
/// ValueError for a k outside 1 … n.
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, std::int64_t k);
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, std::int64_t k, std::int64_t dim);
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, std::int64_t k, std::int64_t dim, bool keepdim);
Tensor msort(const Tensor& x);  ///< sorted along the first axis
/// The greatest (smallest) element up to each along an axis, and its place, the latest of equal ones, to which the
/// derivative belongs; from the first NaN on NaN.
///   auto [values, places] = rc::cummax(x, 0);
std::pair<Tensor, Tensor> cummax(const Tensor& x, std::int64_t dim);
std::pair<Tensor, Tensor> cummin(const Tensor& x, std::int64_t dim);
/// The most frequent value along an axis (the last if not given), of several the smallest, and its last place, to which
/// the derivative belongs. ValueError of nothing.
std::pair<Tensor, Tensor> mode(const Tensor& x);
std::pair<Tensor, Tensor> mode(const Tensor& x, std::int64_t dim);
std::pair<Tensor, Tensor> mode(const Tensor& x, std::int64_t dim, bool keepdim);
/// The value below which a part q of the elements lies, of all elements or along an axis: of n sorted ones that at
/// q (n - 1), between two neighbours by "linear" interpolation (if not given), "lower", "higher", "nearest" or
/// "midpoint". Infinite where one of the neighbours is; NaN between -inf and inf, and where there is a NaN. q is a
/// number or a tensor [Q] in [0, 1], whose axis comes first in the result. Floating. ValueError for another q or
/// interpolation, and of nothing.
///   rc::Tensor quartiles = rc::quantile(x, rc::tensor({0.25, 0.5, 0.75}), 0);  // [n, m] → [3, m]
Tensor quantile(const Tensor& x, const Tensor& q);
Tensor quantile(const Tensor& x, const Tensor& q, std::int64_t dim);
Tensor quantile(const Tensor& x, const Tensor& q, std::int64_t dim, bool keepdim);
Tensor quantile(const Tensor& x, const Tensor& q, std::int64_t dim, bool keepdim, std::string_view interpolation);
/// The same of the elements that are not NaN; NaN where all are.
Tensor nanquantile(const Tensor& x, const Tensor& q);
Tensor nanquantile(const Tensor& x, const Tensor& q, std::int64_t dim);
Tensor nanquantile(const Tensor& x, const Tensor& q, std::int64_t dim, bool keepdim);
Tensor nanquantile(const Tensor& x, const Tensor& q, std::int64_t dim, bool keepdim, std::string_view interpolation);

// ── dependence ──

/// Covariances of the variables in the rows of x [variables, n], observations in its columns: [variables, variables];
/// of a vector its variance, a number. Complex tensors too. ValueError for more axes, or weights of another shape.
Tensor cov(const Tensor& x);
Tensor cov(const Tensor& x, CovOptions options);
Tensor corrcoef(const Tensor& x);  ///< the covariances over the roots of the variances, in [-1, 1]

// ── counting ──

/// How often each number from 0 on stands in a vector of integers, or the sum of the weights there: [max(x) + 1], but
/// at least minlength. Reads values: TransformError if they differ per example of a vmap. ValueError for a negative
/// number.
Tensor bincount(const Tensor& x);
Tensor bincount(const Tensor& x, const Tensor& weights);
Tensor bincount(const Tensor& x, const Tensor& weights, Size minlength);
/// How many elements lie in each of `bins` intervals of one width between low and high, those of the elements if not
/// given or equal; both ends belong to them. In x's dtype. The derivative is 0. ValueError if bins < 1 or low > high.
Tensor histc(const Tensor& x, Size bins);
Tensor histc(const Tensor& x, Size bins, double low, double high);
/// {the counts, the edges} of intervals of one width, or between edges [bins + 1] that ascend. The last interval has
/// both its ends. Floating; in x's dtype; differentiable in the weight.
template <WholeNumber I>
std::pair<Tensor, Tensor> histogram(const Tensor& x, I bins);
template <WholeNumber I>
std::pair<Tensor, Tensor> histogram(const Tensor& x, I bins, HistogramOptions options);
std::pair<Tensor, Tensor> histogram(const Tensor& x, const Tensor& edges);
std::pair<Tensor, Tensor> histogram(const Tensor& x, const Tensor& edges, HistogramOptions options);
/// Counts of points x [n, d] in the boxes of a grid: {the counts [bins…], the edges along each axis}. The edges are
/// given, or `bins` of one width each along an axis between the least and the greatest coordinate. The last box along
/// an axis has both its ends. Floating; differentiable in the weight. ValueError unless there are edges for each of the
/// d coordinates.
///   auto [counts, edges] = rc::histogramdd(points, rc::Sizes{3, 4});  // [n, 2] → [3, 4]
std::pair<Tensor, std::vector<Tensor>> histogramdd(const Tensor& x, const Sizes& bins);
std::pair<Tensor, std::vector<Tensor>> histogramdd(const Tensor& x, const Sizes& bins, HistogramOptions options);
std::pair<Tensor, std::vector<Tensor>> histogramdd(const Tensor& x, const std::vector<Tensor>& edges);
std::pair<Tensor, std::vector<Tensor>> histogramdd(const Tensor& x, const std::vector<Tensor>& edges,
                                                   HistogramOptions options);
/// The elements, row-major, without those that equal the one before. Reads values as `unique` does.
Tensor unique_consecutive(const Tensor& x);

// ── differences and integrals of samples; complex tensors too ──

/// x[1:] - x[:-1] along an axis (the last if not given), n times (once). Of booleans, whether they differ. 0 times: x.
Tensor diff(const Tensor& x);
Tensor diff(const Tensor& x, std::int64_t n);
Tensor diff(const Tensor& x, std::int64_t n, std::int64_t dim);
/// With `prepend` and `append`, undefined or of x's shape but for that axis, joined to x first; 0 times: x alone.
Tensor diff(const Tensor& x, std::int64_t n, std::int64_t dim, const Tensor& prepend, const Tensor& append);
/// Estimates of the derivative along each of the axes: second-order differences inside, differences of edge_order (1 or
/// 2) at the ends. Floating and complex. ValueError for axes of edge_order elements or fewer.
///   std::vector<rc::Tensor> slopes = rc::gradient(heights, {.spacing = 0.1});
std::vector<Tensor> gradient(const Tensor& x);
std::vector<Tensor> gradient(const Tensor& x, GradientOptions options);
/// The integral along an axis (the last if not given) by the rule of trapezoids: y is sampled at distances of 1, of the
/// number x, or at the places x, [n] or of y's shape.
///   rc::Tensor area = rc::trapezoid(y, 0.1);
Tensor trapezoid(const Tensor& y);
Tensor trapezoid(const Tensor& y, const Tensor& x);
Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim);
Tensor cumulative_trapezoid(const Tensor& y);  ///< the integrals up to each sample but the first
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x);
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim);

/// Not for users: what the templates stand for; a number of bins is not taken for a tensor of edges.
std::pair<Tensor, Tensor> histogram_of_bins(const Tensor& x, Size bins, HistogramOptions options);
template <WholeNumber I>
std::pair<Tensor, Tensor> histogram(const Tensor& x, I bins) {
  return histogram_of_bins(x, Size(bins), HistogramOptions{});
}
template <WholeNumber I>
std::pair<Tensor, Tensor> histogram(const Tensor& x, I bins, HistogramOptions options) {
  return histogram_of_bins(x, Size(bins), options);
}

}  // namespace ops
}  // namespace ricci
