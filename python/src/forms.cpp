// Forms of operations that take more than a line of C++.
#include "forms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace ricci::python::forms {

void require_option(const char* name, const char* option, const std::string& given, const std::string& only) {
  if (given != only)
    throw ValueError(std::string(name) + ": " + option + " must be \"" + only + "\", not \"" + given + "\"");
}

Reduction reduction_named(const char* name, const std::string& given, const char* more) {
  if (given == "none") return Reduction::none;
  if (given == "mean") return Reduction::mean;
  if (given == "sum") return Reduction::sum;
  throw ValueError(std::string(name) + ": reduction is \"" + given + "\"; it must be " + more +
                   "\"none\", \"mean\" or \"sum\"");
}

Tensor kl_div(const Tensor& input, const Tensor& target, Named, const std::string& reduction, bool log_target) {
  const bool batch_mean = reduction == "batchmean";
  const Reduction kind = batch_mean ? Reduction::mean : reduction_named("kl_div", reduction, "\"batchmean\", ");
  return ops::kl_div(input, target, {.log_target = log_target, .batch_mean = batch_mean, .reduction = kind});
}

void require_room(const std::string& name, const Target& target, const Tensor& to, const Tensor& result) {
  if (to.shape() != result.shape())
    throw ValueError(name + ": " + target.text + " has the shape " + to_string(to.shape()) + ", the result " +
                     to_string(result.shape()) + "; " + target.remedy);
  if (category(result.dtype()) > category(to.dtype()))
    throw TypeError(name + ": the result is " + std::string(to_string(result.dtype())) + ", which " + target.text +
                    ", " + std::string(to_string(to.dtype())) + ", cannot hold; " + target.remedy);
}

const Tensor& overwritten(const char* name, const Tensor& self, const Tensor& result) {
  require_room(name, {"self", "use the form without _ at the end"}, self, result);
  return self.copy_(result);
}

Tensor with_factors(const Tensor& input, const In& beta, const Tensor& product, const In& alpha) {
  const Tensor added = alpha.is(1) ? product : ops::mul(product, alpha);
  if (beta.is(0)) return ops::add(ops::zeros_like(input), added);
  return ops::add(beta.is(1) ? input : ops::mul(input, beta), added);
}

Tensor div(const Tensor& input, const Tensor& other, Named, const std::optional<std::string>& rounding_mode) {
  return rounding_mode ? input.div(other, *rounding_mode) : ops::div(input, other);
}

Tensor nan_to_num(const Tensor& input, const Tensor& nan, const Tensor& posinf, const Tensor& neginf) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor found = ops::nan_to_num(input);
  if (!input.is_floating_point()) return found;
  if (nan.defined()) found = ops::where(ops::isnan(input), nan, found);
  if (posinf.defined()) found = ops::where(ops::eq(input, infinity), posinf, found);
  if (neginf.defined()) found = ops::where(ops::eq(input, -infinity), neginf, found);
  return found;
}

Tensor gelu(const Tensor& input, const std::string& approximate) {
  if (approximate == "none") return ops::gelu(input);
  if (approximate == "tanh") return ops::gelu_tanh(input);
  throw ValueError("gelu: approximate must be \"none\" or \"tanh\", not \"" + approximate + "\"");
}

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& input, Named, bool out_int32, bool right,
                    const std::optional<std::string>& side, const Tensor& sorter) {
  if (side && *side != "left" && *side != "right")
    throw ValueError("searchsorted: side must be \"left\" or \"right\", not \"" + *side + "\"");
  if (side && *side == "left" && right) throw ValueError("searchsorted: side is \"left\" and right is True; give one");
  const bool is_right = right || (side && *side == "right");
  const Tensor places = ops::searchsorted(sorted_sequence, input, {.right = is_right, .sorter = sorter});
  return out_int32 ? places.to(DType::int32) : places;
}

Tensor of_triangle(const char* name, const Tensor& a, const std::string& triangle) {
  const bool is_lower = triangle == "L" || triangle == "l";
  if (!is_lower && triangle != "U" && triangle != "u")
    throw ValueError(std::string(name) + ": UPLO must be \"L\" or \"U\", not \"" + triangle + "\"");
  if (a.dim() < 2 || a.shape().back() != a.shape()[a.shape().size() - 2]) return a;  // the operation says what is wrong
  const Tensor lower = is_lower ? a : adjoint(a);
  return ops::tril(lower) + adjoint(ops::tril(lower, -1));
}

Tensor tensordot(const Tensor& a, const Tensor& b, const std::pair<Axes, Axes>& dims) {
  const auto& [of_a, of_b] = dims;
  if (of_a.size() != of_b.size())
    throw ValueError("tensordot: dims names " + std::to_string(of_a.size()) + " axes of a and " +
                     std::to_string(of_b.size()) + " of b; name as many of each");
  const auto count = static_cast<std::int64_t>(of_a.size());
  Axes last, first;
  for (std::int64_t i = 0; i < count; ++i) {
    last.push_back(i - count);
    first.push_back(i);
  }
  return ops::tensordot(ops::movedim(a, of_a, last), ops::movedim(b, of_b, first), count);
}

Tensor squeeze(const Tensor& input, const std::optional<Axes>& dim) {
  if (!dim) return ops::squeeze(input);
  std::vector<std::int64_t> axes;
  const std::int64_t rank = input.dim();
  for (const std::int64_t axis : *dim) {
    if (axis < -std::max<std::int64_t>(rank, 1) || axis >= std::max<std::int64_t>(rank, 1))
      throw IndexError("squeeze: axis " + std::to_string(axis) + " is out of range for a Tensor of " +
                       std::to_string(rank) + " axes");
    axes.push_back(axis < 0 ? axis + rank : axis);
  }
  std::ranges::sort(axes, std::greater());
  Tensor result = input;
  for (const std::int64_t axis : axes) result = ops::squeeze(result, axis);
  return result;
}

Tensor slice_scatter(const Tensor& input, const Tensor& src, std::int64_t dim, std::optional<Size> start,
                     std::optional<Size> end, Size step) {
  const std::int64_t rank = input.dim();
  if (dim < -rank || dim >= rank)
    throw IndexError("slice_scatter: axis " + std::to_string(dim) + " is out of range for a Tensor of " +
                     std::to_string(rank) + " axes");
  const Size whole = input.shape()[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)];
  return ops::slice_scatter(input, src, dim, start.value_or(Size(0)), end.value_or(whole), step);
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, Named, const std::string& indexing) {
  if (indexing != "ij" && indexing != "xy")
    throw ValueError("meshgrid: indexing must be \"ij\" or \"xy\", not \"" + indexing + "\"");
  std::vector<Tensor> grids = ops::meshgrid(tensors);
  if (indexing == "xy" && grids.size() > 1)
    for (Tensor& grid : grids) grid = ops::transpose(grid, 0, 1);
  return grids;
}

// ── convolutions ──

namespace {

/// The input with so many zeros around it that a convolution over `rank` axes with stride 1 keeps their sizes. Lists
/// and weights of another length are left for the convolution to refuse.
Tensor padded(const char* name, std::size_t rank, const Tensor& input, const Tensor& weight, const Sizes& stride,
              const std::string& padding, const Sizes& dilation) {
  if (padding == "valid") return input;
  require_option(name, "padding, where it is a text,", padding, "same");
  const auto has_rank = [rank](const Sizes& sizes) { return sizes.size() == 1 || sizes.size() == rank; };
  if (weight.shape().size() != rank + 2 || !has_rank(stride) || !has_rank(dilation)) return input;
  Sizes widths;
  for (std::size_t i = rank; i-- > 0;) {
    const auto of = [i](const Sizes& sizes) { return sizes.size() == 1 ? sizes[0] : sizes[i]; };
    if (of(stride) != 1) throw ValueError(std::string(name) + ": padding=\"same\" needs a stride of 1");
    const std::int64_t all = of(dilation).host() * (weight.shape()[i + 2].host() - 1);
    widths.push_back(all / 2);
    widths.push_back(all - all / 2);
  }
  return ops::pad(input, widths);
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Sizes& stride,
              const std::string& padding, const Sizes& dilation, Size groups) {
  return ops::conv1d(padded("conv1d", 1, input, weight, stride, padding, dilation), weight, bias, stride, 0, dilation,
                     groups);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Sizes& stride,
              const std::string& padding, const Sizes& dilation, Size groups) {
  return ops::conv2d(padded("conv2d", 2, input, weight, stride, padding, dilation), weight, bias, stride, 0, dilation,
                     groups);
}

}  // namespace ricci::python::forms
