// Forms of operations that take more than a line of C++.
#include "forms.h"

#include <algorithm>
#include <limits>

#include "ricci/no_grad.h"

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
  return ops::kl_div(input, target, {.reduction = kind, .log_target = log_target, .batch_mean = batch_mean});
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
  if (input.is_complex())
    return ops::complex(nan_to_num(ops::real(input), nan, posinf, neginf),
                        nan_to_num(ops::imag(input), nan, posinf, neginf));
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

OneOrSeveral unique(const Tensor& input, bool sorted, bool return_inverse, bool return_counts) {
  (void)sorted;
  if (!return_inverse && !return_counts) return ops::unique(input);
  std::vector<Tensor> all{ops::unique(input)};
  if (return_inverse) all.push_back(ops::unique_inverse(input).second);
  if (return_counts) all.push_back(ops::unique_counts(input).second);
  return all;
}

OneOrSeveral unique_consecutive(const Tensor& input, bool return_inverse, bool return_counts) {
  if (!return_inverse && !return_counts) return ops::unique_consecutive(input);
  const Tensor flat = ops::flatten(input), zero = ops::zeros(Shape{flat.shape()[0] == 0 ? 0 : 1}, DType::int64);
  const Tensor differs =
      ops::ne(ops::slice(flat, 0, Size(1), std::nullopt), ops::slice(flat, 0, std::nullopt, Size(-1)));
  const Tensor places = ops::cat({zero, ops::cumsum(differs, 0)});
  std::vector<Tensor> all{ops::unique_consecutive(input)};
  if (return_inverse) all.push_back(ops::reshape(places, input.shape()));
  if (return_counts) all.push_back(ops::bincount(places));
  return all;
}

std::vector<Tensor> gradient(const Tensor& input, Named, const Tensor& spacing, const Axes& dim,
                             std::int64_t edge_order) {
  return ops::gradient(input, {.spacing = spacing, .dims = dim, .edge_order = edge_order});
}

std::vector<Tensor> gradient(const Tensor& input, Named, const std::vector<Tensor>& spacing, const Axes& dim,
                             std::int64_t edge_order) {
  Axes axes = dim;
  for (std::int64_t axis = 0; dim.empty() && axis < input.dim(); ++axis) axes.push_back(axis);
  if (spacing.size() != axes.size())
    throw ValueError("gradient: there are " + std::to_string(spacing.size()) + " spacings for " +
                     std::to_string(axes.size()) + " axes; give one for each");
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < axes.size(); ++i)
    all.push_back(gradient(input, {}, spacing[i], Axes{axes[i]}, edge_order)[0]);
  return all;
}

Tensor einsum(const Terms& operands) {
  const auto text = [](const Axes& axes) {
    std::string letters;
    for (const std::int64_t axis : axes) {
      if (axis != Terms::others && (axis < 0 || axis >= 52))
        throw ValueError("einsum: axis " + std::to_string(axis) + " has no letter; numbers of axes are 0 to 51");
      if (axis == Terms::others) letters += "...";
      else letters += static_cast<char>(axis < 26 ? 'A' + axis : 'a' + axis - 26);
    }
    return letters;
  };
  std::string equation;
  for (const Axes& axes : operands.axes)
    equation += (equation.empty() && &axes == &operands.axes[0] ? "" : ",") + text(axes);
  if (operands.result) equation += "->" + text(*operands.result);
  return ops::einsum(equation, operands.operands);
}

namespace {

/// The axis counted from the front.
std::size_t own_axis(const char* name, const Tensor& x, std::int64_t axis) {
  const std::int64_t rank = x.dim();
  if (axis < -rank || axis >= rank)
    throw IndexError(std::string(name) + ": axis " + std::to_string(axis) + " is out of range for a Tensor of " +
                     std::to_string(rank) + " axes");
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

}  // namespace

Tensor without_derivative(const Tensor& x) {
  const no_grad guard;
  return ops::select(ops::unsqueeze(x, 0), 0, 0);
}

Tensor slice_scatter(const Tensor& input, const Tensor& src, std::int64_t dim, std::optional<Size> start,
                     std::optional<Size> end, Size step) {
  const Size whole = input.shape()[own_axis("slice_scatter", input, dim)];
  return ops::slice_scatter(input, src, dim, start.value_or(Size(0)), end.value_or(whole), step);
}

}  // namespace ricci::python::forms
