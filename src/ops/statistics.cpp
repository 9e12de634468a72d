// Statistics, histograms, differences and integrals, made of other operations.
#include "ricci/ops/statistics.h"

#include <cmath>

#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/reading.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "primitive/wording.h"
#include "ricci/ops/arrangement.h"

namespace ricci {
namespace {

/// The size of an axis as a number.
Tensor number_along(const Tensor& x, std::int64_t axis) { return Tensor(type_of(x).shape[at(axis)]); }

// ── order ──

/// Throws ValueError unless q is a number or [Q] in [0, 1].
void require_part(const char* op, const Tensor& q) {
  if (type_of(q).rank() > 1)
    raise<ValueError>(std::string(op) + ": q " + type_text(q) + " must be a number or have one axis");
  const AllExamples all = elements_of_all_examples(op, q);
  if (!all.elements) return;
  const ArrayRef numbers = make_array({DType::float64, all.elements->type.shape});
  kernels::copy(numbers->strided(), all.elements->strided());
  const auto* number = static_cast<const double*>(numbers->data);
  for (std::int64_t i = 0; i < numbers->numel(); ++i)
    if (!(number[i] >= 0 && number[i] <= 1))
      raise<ValueError>(std::string(op) + ": q is " + std::to_string(number[i]) + "; it must be between 0 and 1");
}

enum class Between : std::uint8_t { linear, lower, higher, nearest, midpoint };
Between interpolation_of(const char* op, std::string_view name) {
  return static_cast<Between>(
      word_among(op, "the interpolation", name, {"linear", "lower", "higher", "nearest", "midpoint"}));
}

/// Values between those of `sorted` [..., n] at the places `rank` [..., Q].
Tensor at_ranks(const Tensor& sorted, const Tensor& rank, Between between) {
  const auto values = [&](const Tensor& place) { return gather(sorted, -1, to(place, DType::int64)); };
  switch (between) {
    case Between::lower: return values(floor(rank));
    case Between::higher: return values(ceil(rank));
    case Between::nearest: return values(round(rank));
    case Between::linear:
    case Between::midpoint: break;
  }
  // lerp subtracts its ends, and inf - inf is NaN: it gets zeros where the value is infinite.
  const Tensor below = floor(rank), lower = values(below), upper = values(ceil(rank));
  const Tensor is_opposite = logical_and(isinf(lower), eq(lower, neg(upper)));
  const Tensor is_infinite = logical_and(logical_or(isinf(lower), isinf(upper)), logical_not(is_opposite));
  const auto end = [&](const Tensor& value) { return where(is_infinite, 0, value); };
  const Tensor part = between == Between::linear ? rank - below : Tensor(0.5);
  return where(is_infinite, where(isinf(lower), lower, upper), lerp(end(lower), end(upper), part));
}

/// Quantiles along an axis, which stays with size 1; q's axis is the first.
Tensor quantiles(const char* op, const Tensor& x, const Tensor& q, std::int64_t axis, Between between, bool skips_nan) {
  require_elements(op, x, {axis});
  const DType dtype = type_of(x).dtype;
  const Tensor sorted = movedim(sort(x, axis).first, axis, -1);  // NaN last
  const Tensor parts = to(reshape(q, {-1}), dtype);
  const Tensor is_number = logical_not(isnan(sorted)), last = number_along(sorted, type_of(sorted).rank() - 1) - 1;
  Tensor rank;
  if (skips_nan) {
    const Tensor count = to(sum(to(is_number, DType::int64), {-1}, true), dtype);
    rank = parts * clamp_min(count - 1, 0);
  } else {
    rank = where(all(is_number, {-1}, true), parts * last, last);
  }
  Shape shape = type_of(sorted).shape;
  shape.back() = type_of(parts).shape[0];
  const Tensor found = at_ranks(sorted, expand(to(rank, dtype), shape), between);
  return movedim(unsqueeze(found, axis), -1, 0);
}

Tensor quantile_along(const char* op, const Tensor& x, const Tensor& q, std::int64_t dim, bool keepdim,
                      std::string_view interpolation, bool skips_nan) {
  require_real_floating(op, x);
  require_part(op, q);
  const Between between = interpolation_of(op, interpolation);
  const bool is_number = type_of(x).rank() == 0;
  const std::int64_t axis = wrap_axis(op, dim, x);
  Tensor y = quantiles(op, is_number ? reshape(x, {1}) : x, q, axis, between, skips_nan);
  if (!keepdim || is_number) y = squeeze(y, axis + 1);
  return type_of(q).rank() == 0 ? squeeze(y, 0) : y;
}

// ── counting ──

/// 1 for each element, or its weight, added at its place among `bins`; those that do not count add 0.
Tensor added_up(const Tensor& places, const Tensor& counts, const Tensor& weight, const Size& bins, DType dtype) {
  const Tensor each = where(counts, weight.defined() ? flatten(weight) : Tensor(1), 0);
  return scatter_add(zeros({bins}, dtype), 0, where(counts, places, 0), to(expand(each, type_of(places).shape), dtype));
}

void require_weight(const char* op, const Tensor& x, const Tensor& weight) {
  if (weight.defined() && !(type_of(weight).shape == type_of(x).shape))
    raise<ValueError>(std::string(op) + ": the weight " + type_text(weight) + " must have the shape of " +
                      type_text(x));
}

/// The ends of a range; where they are equal those of the elements, and where these are equal too, `around` them.
std::pair<Tensor, Tensor> range_of(const char* op, const Tensor& x, double low, double high, double around) {
  if (!(low <= high))
    raise<ValueError>(std::string(op) + ": low is " + std::to_string(low) + ", high is " + std::to_string(high) +
                      "; low must not be above high");
  if (low < high) return {low, high};
  const bool is_empty = type_of(x).shape.numel() == 0;
  const Tensor first = is_empty ? Tensor(0) : amin(x), last = is_empty ? Tensor(1) : amax(x);
  const Tensor is_point = first == last;
  return {where(is_point, first - around, first), where(is_point, last + around, last)};
}

/// The interval of each element between ascending edges, and whether it lies in one.
std::pair<Tensor, Tensor> intervals(const Tensor& x, const Tensor& edges) {
  const Size bins = type_of(edges).shape[0] - 1;
  const Tensor last = select(edges, 0, -1), below = bucketize(x, edges, true);
  return {where(x == last, Tensor(bins) - 1, below - 1), logical_and(x >= select(edges, 0, 0), x <= last)};
}

std::pair<Tensor, Tensor> histogram_of(const Tensor& x, const Tensor& edges, const HistogramOptions& options) {
  const auto [places, counts] = intervals(flatten(x), edges);
  Tensor y = added_up(places, counts, options.weight, type_of(edges).shape[0] - 1, type_of(x).dtype);
  if (options.density) y = y / (sum(y) * diff(edges));
  return {y, edges};
}

// ── differences ──

/// Elements [first, last) along an axis, either counted from the back if negative.
Tensor part(const Tensor& x, std::int64_t axis, std::optional<Size> first, std::optional<Size> last) {
  return slice(x, axis, first, last);
}

Tensor difference(const Tensor& x, std::int64_t axis) {
  const Tensor later = part(x, axis, 1, {}), earlier = part(x, axis, {}, -1);
  return type_of(x).dtype == DType::boolean ? logical_xor(later, earlier) : later - earlier;
}

/// `v` [n] shaped to broadcast along an axis of a tensor of `rank` axes.
Tensor beside_axes(const Tensor& v, std::int64_t axis, int rank) {
  Shape shape = Shape::filled(static_cast<std::size_t>(rank), 1);
  shape[at(axis)] = type_of(v).shape[0];
  return reshape(v, shape);
}

/// The widths between samples along an axis: a number, or shaped to broadcast.
Tensor widths(const char* op, const Tensor& y, const Tensor& x, std::int64_t axis) {
  const int rank = type_of(x).rank();
  if (rank == 0) return x;
  if (rank == 1) {
    if (!(type_of(x).shape[0] == type_of(y).shape[at(axis)]))
      raise<ValueError>(std::string(op) + ": x " + type_text(x) + " must have one place for each sample along axis " +
                        std::to_string(axis) + " of " + type_text(y));
    return beside_axes(diff(x), axis, type_of(y).rank());
  }
  return difference(expand(x, type_of(y).shape), axis);
}

/// The areas of the trapezoids between neighbours.
Tensor trapezoids(const char* op, const Tensor& y, const Tensor& x, std::int64_t axis) {
  const Tensor heights = part(floating(y), axis, 1, {}) + part(floating(y), axis, {}, -1);
  return heights * widths(op, y, x, axis) * 0.5;
}

/// The derivative along one axis, from samples with these spacings.
Tensor slope_along(const Tensor& x, std::int64_t axis, const Tensor& spacing, std::int64_t edge_order) {
  const int rank = type_of(x).rank();
  const Size n = type_of(x).shape[at(axis)];
  if (n <= edge_order)
    raise<ValueError>("gradient: axis " + std::to_string(axis) + " of " + type_text(x) + " must have more than " +
                      std::to_string(edge_order) + (edge_order == 1 ? " element" : " elements"));
  if (type_of(spacing).rank() == 1 && !(type_of(spacing).shape[0] == n))
    raise<ValueError>("gradient: the spacing " + type_text(spacing) +
                      " must have one coordinate for each element of axis " + std::to_string(axis) + " of " +
                      type_text(x));
  const bool has_places = type_of(spacing).rank() == 1;
  const Tensor steps = difference(x, axis);  // n - 1
  const Tensor h = has_places ? beside_axes(diff(spacing), axis, rank) : spacing;
  const auto before = [&](const Tensor& v) { return has_places ? part(v, axis, {}, -1) : v; };
  const auto behind = [&](const Tensor& v) { return has_places ? part(v, axis, 1, {}) : v; };
  const auto only = [&](const Tensor& v, Size i) { return has_places ? part(v, axis, i, i + 1) : v; };
  const auto step = [&](Size i) { return narrow(steps, axis, i, 1); };
  const Size last = n - 2;
  const auto end = [&](Size at_end, Size beside_it) {
    if (edge_order == 1) return step(at_end) / only(h, at_end);
    const Tensor h0 = only(h, at_end), h1 = only(h, beside_it);
    const Tensor near = step(at_end) / h0, far = step(beside_it) / h1;
    return near + (near - far) * h0 / (h0 + h1);
  };
  const Tensor left = before(h), right = behind(h);
  const Tensor inside =
      (part(steps, axis, {}, -1) * right / left + part(steps, axis, 1, {}) * left / right) / (left + right);
  const Size beside_first = edge_order == 1 ? Size(0) : Size(1), beside_last = edge_order == 1 ? last : last - 1;
  return cat({end(0, beside_first), inside, end(last, beside_last)}, axis);
}

}  // namespace

namespace ops {

std::pair<Tensor, Tensor> aminmax(const Tensor& x) {
  const Called as("aminmax", x);
  return {amin(x), amax(x)};
}
std::pair<Tensor, Tensor> aminmax(const Tensor& x, std::int64_t dim) { return aminmax(x, dim, false); }
std::pair<Tensor, Tensor> aminmax(const Tensor& x, std::int64_t dim, bool keepdim) {
  const Called as("aminmax", x);
  return {amin(x, dim, keepdim), amax(x, dim, keepdim)};
}

std::pair<Tensor, Tensor> var_mean(const Tensor& x) { return var_mean(x, {}); }
std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Axes& dims) { return var_mean(x, dims, 1, false); }
std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Axes& dims, Size correction, bool keepdim) {
  const Called as("var_mean", x);
  return {var(x, dims, correction, keepdim), mean(x, dims, keepdim)};
}
std::pair<Tensor, Tensor> std_mean(const Tensor& x) { return std_mean(x, {}); }
std::pair<Tensor, Tensor> std_mean(const Tensor& x, const Axes& dims) { return std_mean(x, dims, 1, false); }
std::pair<Tensor, Tensor> std_mean(const Tensor& x, const Axes& dims, Size correction, bool keepdim) {
  const Called as("std_mean", x);
  return {std(x, dims, correction, keepdim), mean(x, dims, keepdim)};
}

Tensor nansum(const Tensor& x) { return nansum(x, {}); }
Tensor nansum(const Tensor& x, const Axes& dims) { return nansum(x, dims, false); }
Tensor nansum(const Tensor& x, const Axes& dims, bool keepdim) {
  const Called as("nansum", x);
  return sum(is_differentiable(type_of(x).dtype) ? where(isnan(x), 0, x) : x, dims, keepdim);
}
Tensor nanmean(const Tensor& x) { return nanmean(x, {}); }
Tensor nanmean(const Tensor& x, const Axes& dims) { return nanmean(x, dims, false); }
Tensor nanmean(const Tensor& x, const Axes& dims, bool keepdim) {
  const Called as("nanmean", x);
  require_floating("nanmean", x);
  return nansum(x, dims, keepdim) / sum(to(logical_not(isnan(x)), DType::int64), dims, keepdim);
}
std::pair<Tensor, Tensor> nanmedian(const Tensor& x, std::int64_t dim) {
  const Called as("nanmedian", x);
  require_order("nanmedian", x);
  return along_axis("nanmedian", x, dim, [](const Tensor& v, std::int64_t axis) {
    require_elements("nanmedian", v, {axis});
    const auto [values, places] = sort(v, axis);  // NaN last
    const Tensor count = sum(to(logical_not(isnan(values)), DType::int64), {axis}, true);
    const Tensor place = floor_divide(clamp_min(count - 1, 0), 2);
    return std::pair{squeeze(gather(values, axis, place), axis), squeeze(gather(places, axis, place), axis)};
  });
}
Tensor nanmedian(const Tensor& x) {
  const Called as("nanmedian", x);
  return nanmedian(flatten(x), 0).first;
}

Tensor msort(const Tensor& x) {
  const Called as("msort", x);
  return sort(x, 0).first;
}

Tensor quantile(const Tensor& x, const Tensor& q) {
  const Called as("quantile", x, q);
  return quantile(flatten(x), q, 0);
}
Tensor quantile(const Tensor& x, const Tensor& q, std::int64_t dim) { return quantile(x, q, dim, false); }
Tensor quantile(const Tensor& x, const Tensor& q, std::int64_t dim, bool keepdim) {
  return quantile(x, q, dim, keepdim, "linear");
}
Tensor quantile(const Tensor& x, const Tensor& q, std::int64_t dim, bool keepdim, std::string_view interpolation) {
  const Called as("quantile", x, q);
  return quantile_along("quantile", x, q, dim, keepdim, interpolation, false);
}
Tensor nanquantile(const Tensor& x, const Tensor& q) {
  const Called as("nanquantile", x, q);
  return nanquantile(flatten(x), q, 0);
}
Tensor nanquantile(const Tensor& x, const Tensor& q, std::int64_t dim) { return nanquantile(x, q, dim, false); }
Tensor nanquantile(const Tensor& x, const Tensor& q, std::int64_t dim, bool keepdim) {
  return nanquantile(x, q, dim, keepdim, "linear");
}
Tensor nanquantile(const Tensor& x, const Tensor& q, std::int64_t dim, bool keepdim, std::string_view interpolation) {
  const Called as("nanquantile", x, q);
  return quantile_along("nanquantile", x, q, dim, keepdim, interpolation, true);
}

Tensor cov(const Tensor& x) { return cov(x, CovOptions{}); }
Tensor cov(const Tensor& x, CovOptions options) {
  const Called as("cov", x);
  const int rank = type_of(x).rank();
  if (rank > 2) raise<ValueError>("cov: " + type_text(x) + " must be [variables, n], or [n]");
  const Tensor rows = floating(rank == 2 ? x : reshape(x, {1, -1}));
  const DType real = real_dtype(type_of(rows).dtype);
  const Size n = type_of(rows).shape[1];
  Tensor weights;
  for (const Tensor& given : {options.fweights, options.aweights}) {
    if (!given.defined()) continue;
    if (!(type_of(given).shape == Shape{n}))
      raise<ValueError>("cov: the weights " + type_text(given) +
                        " must have one number for each of the observations of " + type_text(x));
    weights = weights.defined() ? weights * to(given, real) : to(given, real);
  }
  const Tensor total = weights.defined() ? sum(weights) : Tensor(n);
  const Tensor average = weights.defined() ? sum(rows * weights, {1}, true) / total : mean(rows, {1}, true);
  Tensor taken = Tensor(options.correction);
  if (options.aweights.defined()) taken = taken * sum(weights * options.aweights) / total;
  const Tensor centred = rows - average, weighed = weights.defined() ? centred * weights : centred;
  const Tensor y = matmul(weighed, mT(conj(centred))) / clamp_min(total - taken, 0);
  return rank == 2 && !(type_of(x).shape[0] == 1) ? y : reshape(y, {});
}
Tensor corrcoef(const Tensor& x) {
  const Called as("corrcoef", x);
  const Tensor c = cov(x);
  if (type_of(c).rank() == 0) return c / c;
  const Tensor deviation = sqrt(real(diagonal(c)));
  const Tensor y = c / unsqueeze(deviation, -1) / deviation;
  return y.is_complex() ? complex(clamp(real(y), -1, 1), clamp(imag(y), -1, 1)) : clamp(y, -1, 1);
}

Tensor bincount(const Tensor& x) { return bincount(x, {}); }
Tensor bincount(const Tensor& x, const Tensor& weights) { return bincount(x, weights, 0); }
Tensor bincount(const Tensor& x, const Tensor& weights, Size minlength) {
  const Called as("bincount", x);
  const Type& type = type_of(x);
  if (!is_integral(type.dtype) || type.dtype == DType::boolean)
    raise<TypeError>("bincount: " + type_text(x) + " does not hold integers");
  if (type.rank() != 1) raise<ValueError>("bincount: " + type_text(x) + " must be a vector");
  require_weight("bincount", x, weights);
  if (minlength < 0)
    raise<ValueError>("bincount: minlength is " + std::to_string(minlength.hint()) + "; it must be at least 0");
  Size bins = minlength;
  if (!(type.shape[0] == 0)) {
    const std::int64_t most = size_of_result("bincount", to(amax(x), DType::int64), x);
    if (amin(x).item<std::int64_t>() < 0) raise<ValueError>("bincount: " + type_text(x) + " holds a negative number");
    if (minlength < most + 1) bins = most + 1;
  }
  DType dtype = DType::int64;
  if (weights.defined()) dtype = type_of(weights).dtype == DType::float32 ? DType::float32 : DType::float64;
  return added_up(to(x, DType::int64), ones_like(x, DType::boolean), weights, bins, dtype);
}

Tensor histc(const Tensor& x, Size bins) { return histc(x, bins, 0, 0); }
Tensor histc(const Tensor& x, Size bins, double low, double high) {
  const Called as("histc", x);
  require_order("histc", x);
  if (bins < 1) raise<ValueError>("histc: bins is " + std::to_string(bins.hint()) + "; it must be at least 1");
  const auto [first, last] = range_of("histc", x, low, high, 1);
  const Tensor all = flatten(x), counts = logical_and(all >= first, all <= last);
  const Tensor place = floor((where(counts, all, first) - first) * Tensor(bins) / (last - first));
  const Tensor places = minimum(to(place, DType::int64), Tensor(bins) - 1);
  return added_up(to(places, DType::int64), counts, {}, bins, type_of(x).dtype);
}

std::pair<Tensor, Tensor> histogram_of_bins(const Tensor& x, Size bins, HistogramOptions options) {
  const Called as("histogram", x);
  require_real_floating("histogram", x);
  require_weight("histogram", x, options.weight);
  if (bins < 1) raise<ValueError>("histogram: bins is " + std::to_string(bins.hint()) + "; it must be at least 1");
  const auto [first, last] = range_of("histogram", x, options.low, options.high, 0.5);
  return histogram_of(x, linspace(first, last, bins + 1, type_of(x).dtype), options);
}
std::pair<Tensor, Tensor> histogram(const Tensor& x, const Tensor& edges) {
  return histogram(x, edges, HistogramOptions{});
}
std::pair<Tensor, Tensor> histogram(const Tensor& x, const Tensor& edges, HistogramOptions options) {
  const Called as("histogram", x, edges);
  require_real_floating("histogram", x);
  require_weight("histogram", x, options.weight);
  if (type_of(edges).rank() != 1 || type_of(edges).shape[0] < 2)
    raise<ValueError>("histogram: the edges " + type_text(edges) + " must be a vector of at least two");
  return histogram_of(x, edges, options);
}

std::pair<Tensor, std::vector<Tensor>> histogramdd(const Tensor& x, const Sizes& bins) {
  return histogramdd(x, bins, HistogramOptions{});
}
std::pair<Tensor, std::vector<Tensor>> histogramdd(const Tensor& x, const Sizes& bins, HistogramOptions options) {
  const Called as("histogramdd", x);
  require_real_floating("histogramdd", x);
  std::vector<Tensor> edges;
  if (type_of(x).rank() == 2)
    for (std::size_t i = 0; i < bins.size() && !(type_of(x).shape[1] < Size(static_cast<std::int64_t>(i + 1))); ++i) {
      if (bins[i] < 1)
        raise<ValueError>("histogramdd: bins is " + std::to_string(bins[i].hint()) + "; it must be at least 1");
      const auto [first, last] =
          range_of("histogramdd", select(x, 1, static_cast<std::int64_t>(i)), options.low, options.high, 0.5);
      edges.push_back(linspace(first, last, bins[i] + 1, type_of(x).dtype));
    }
  while (edges.size() < bins.size()) edges.push_back(Tensor());
  return histogramdd(x, edges, options);
}
std::pair<Tensor, std::vector<Tensor>> histogramdd(const Tensor& x, const std::vector<Tensor>& edges) {
  return histogramdd(x, edges, HistogramOptions{});
}
std::pair<Tensor, std::vector<Tensor>> histogramdd(const Tensor& x, const std::vector<Tensor>& edges,
                                                   HistogramOptions options) {
  const Called as("histogramdd", x);
  require_real_floating("histogramdd", x);
  if (type_of(x).rank() != 2 || edges.empty() ||
      !(type_of(x).shape[1] == Size(static_cast<std::int64_t>(edges.size()))))
    raise<ValueError>("histogramdd: there are edges along " + count_of(edges.size(), "axis", "axes") +
                      " for the points " + type_text(x) + "; points are [n, d], and d edges belong to them");
  Tensor place = 0, counts = true, volume = 1;
  Shape shape;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    require_defined("histogramdd", edges[i], 1);
    if (type_of(edges[i]).rank() != 1 || type_of(edges[i]).shape[0] < 2)
      raise<ValueError>("histogramdd: the edges " + type_text(edges[i]) + " must be a vector of at least two");
    const auto [own, counts_here] = intervals(select(x, 1, static_cast<std::int64_t>(i)), edges[i]);
    const Size bins = type_of(edges[i]).shape[0] - 1;
    place = place * Tensor(bins) + own;
    counts = logical_and(counts, counts_here);
    volume = unsqueeze(volume, -1) * diff(edges[i]);
    shape.push_back(bins);
  }
  if (options.weight.defined() && !(type_of(options.weight).shape == Shape{type_of(x).shape[0]}))
    raise<ValueError>("histogramdd: the weight " + type_text(options.weight) +
                      " must have one number for each of the " + "points " + type_text(x));
  Tensor y = reshape(added_up(place, counts, options.weight, shape.numel(), type_of(x).dtype), shape);
  if (options.density) y = y / (sum(y) * volume);
  return {y, edges};
}

Tensor unique_consecutive(const Tensor& x) {
  const Called as("unique_consecutive", x);
  const Tensor all = flatten(x);
  if (type_of(all).shape[0] == 0) return all;
  const Tensor differs = ne(part(all, 0, 1, {}), part(all, 0, {}, -1));
  return masked_select(all, cat({ones({1}, DType::boolean), differs}));
}

Tensor diff(const Tensor& x) { return diff(x, 1); }
Tensor diff(const Tensor& x, std::int64_t n) { return diff(x, n, -1); }
Tensor diff(const Tensor& x, std::int64_t n, std::int64_t dim) { return diff(x, n, dim, {}, {}); }
Tensor diff(const Tensor& x, std::int64_t n, std::int64_t dim, const Tensor& prepend, const Tensor& append) {
  const Called as("diff", x);
  if (n < 0) raise<ValueError>("diff: n is " + std::to_string(n) + "; it must be at least 0");
  const std::int64_t axis = wrap_own_axis("diff", dim, x);
  if (n == 0) return clone(x);
  std::vector<Tensor> parts;
  for (const Tensor& piece : {prepend, x, append})
    if (piece.defined()) parts.push_back(piece);
  Tensor y = parts.size() == 1 ? x : cat(parts, axis);
  for (std::int64_t i = 0; i < n && !(type_of(y).shape[at(axis)] == 0); ++i) y = difference(y, axis);
  return y;
}

std::vector<Tensor> gradient(const Tensor& x) { return gradient(x, GradientOptions{}); }
std::vector<Tensor> gradient(const Tensor& x, GradientOptions options) {
  const Called as("gradient", x, options.spacing);
  const Tensor values = floating(x);
  if (options.edge_order != 1 && options.edge_order != 2)
    raise<ValueError>("gradient: edge_order is " + std::to_string(options.edge_order) + "; it must be 1 or 2");
  if (type_of(options.spacing).rank() > 1)
    raise<ValueError>("gradient: the spacing " + type_text(options.spacing) + " must be a number or have one axis");
  if (type_of(x).rank() == 0) raise<ValueError>("gradient: " + type_text(x) + " has no axes");
  std::vector<Tensor> slopes;
  for (const std::int64_t axis : wrap_axes("gradient", options.dims, x))
    slopes.push_back(slope_along(values, axis, options.spacing, options.edge_order));
  return slopes;
}

Tensor trapezoid(const Tensor& y) { return trapezoid(y, 1); }
Tensor trapezoid(const Tensor& y, const Tensor& x) { return trapezoid(y, x, -1); }
Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim) {
  const Called as("trapezoid", y, x);
  const std::int64_t axis = wrap_own_axis("trapezoid", dim, y);
  return sum(trapezoids("trapezoid", y, x, axis), axis);
}
Tensor cumulative_trapezoid(const Tensor& y) { return cumulative_trapezoid(y, 1); }
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x) { return cumulative_trapezoid(y, x, -1); }
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim) {
  const Called as("cumulative_trapezoid", y, x);
  const std::int64_t axis = wrap_own_axis("cumulative_trapezoid", dim, y);
  return cumsum(trapezoids("cumulative_trapezoid", y, x, axis), axis);
}

}  // namespace ops
}  // namespace ricci
