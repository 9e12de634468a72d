// Losses of likelihoods and of margins, made of other operations.
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/axes.h"
#include "ops/losses.h"
#include "primitive/called.h"
#include "ricci/ops/distances.h"
#include "ricci/ops/losses.h"

namespace ricci {
namespace {

/// log(n!) by Stirling's approximation, for n above 1; else 0.
Tensor log_factorial(const Tensor& n) {
  const Tensor is_large = n > 1, safe = where(is_large, n, 2);
  return where(is_large, safe * log(safe) - safe + log(safe * (2 * std::numbers::pi)) * 0.5, 0);
}

/// p (log p - log q) of the logarithms; 0 where p is 0, even where q is 0 too.
Tensor divergence_by_logarithms(const Tensor& log_q, const Tensor& log_p) {
  const Tensor never = eq(log_p, -std::numeric_limits<double>::infinity());
  return weighed(exp(log_p), where(never, 0, log_p - log_q));
}

/// The variance beside the input: a number, of its shape, or one for all elements of the last axis.
Tensor variance_beside(const Tensor& input, const Tensor& variance) {
  const Shape& shape = type_of(input).shape;
  const Shape& given = type_of(variance).shape;
  if (given.empty() || given == shape) return variance;
  if (!shape.empty()) {
    const Shape rows(shape.begin(), shape.end() - 1);
    if (given == rows) return unsqueeze(variance, -1);
    Shape column = rows;
    column.push_back(1);
    if (given == column) return variance;
  }
  raise<ValueError>("gaussian_nll_loss: the variance " + type_text(variance) + " does not fit the input " +
                    type_text(input) +
                    "; it must be a number, have the input's shape, or have it without its last axis");
}

/// The cosine of the angle between vectors along the last axis, as PyTorch's loss has it: no length is 0.
Tensor cosine(const Tensor& a, const Tensor& b) {
  constexpr double least = 1e-12;
  return sum(a * b, -1) / sqrt((sum(square(a), -1) + least) * (sum(square(b), -1) + least));
}

Tensor loss_of_triplets(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                        const std::function<Tensor(const Tensor&, const Tensor&)>& distance,
                        const TripletLossOptions& options) {
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap) far = minimum(far, distance(positive, negative));
  return reduced(clamp_min(options.margin + near - far, 0), options.reduction);
}

void require_margin(const char* op, double margin) {
  if (!(margin > 0))
    raise<ValueError>(std::string(op) + ": the margin is " + std::to_string(margin) + "; it must be greater than 0");
}

/// Throws unless the input is [C] or [N, C] and the target has `shape`.
void require_rows_of_classes(const char* op, const Tensor& input, const Tensor& target, bool of_classes) {
  const Shape& shape = type_of(input).shape;
  const Type& type = type_of(target);
  if (shape.size() != 1 && shape.size() != 2)
    raise<ValueError>(std::string(op) + ": the input " + type_text(input) + " must be [C] or [N, C]");
  if (!is_integral(type.dtype) || type.dtype == DType::boolean)
    raise<TypeError>(std::string(op) + ": the target " + type_text(target) +
                     " holds no classes; convert it first, for example with x.to(rc::int64)");
  const Shape wanted = of_classes ? shape : Shape(shape.begin(), shape.end() - 1);
  if (!(type.shape == wanted))
    raise<ValueError>(std::string(op) + ": the input " + type_text(input) + " takes a target of shape " +
                      to_string(wanted) + ", found " + type_text(target));
}

}  // namespace

namespace ops {

Tensor soft_margin_loss(const Tensor& input, const Tensor& target) {
  return soft_margin_loss(input, target, Reduction::mean);
}
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const Called as("soft_margin_loss", input, target);
  return reduced(neg(logsigmoid(target * input)), reduction);
}

Tensor kl_div(const Tensor& input, const Tensor& target) { return kl_div(input, target, KlDivOptions{}); }
Tensor kl_div(const Tensor& input, const Tensor& target, KlDivOptions options) {
  const Called as("kl_div", input, target);
  const Tensor losses =
      options.log_target ? divergence_by_logarithms(input, target) : xlogy(target, target) - weighed(target, input);
  if (!options.batch_mean) return reduced(losses, options.reduction);
  return type_of(input).rank() == 0 ? losses : sum(losses) / Tensor(type_of(input).shape[0]);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target) {
  return poisson_nll_loss(input, target, PoissonLossOptions{});
}
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, PoissonLossOptions options) {
  const Called as("poisson_nll_loss", input, target);
  const Tensor losses =
      options.log_input ? exp(input) - weighed(target, input) : input - xlogy(target, input + options.eps);
  return reduced(options.full ? losses + log_factorial(target) : losses, options.reduction);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& variance) {
  return gaussian_nll_loss(input, target, variance, GaussianLossOptions{});
}
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& variance,
                         GaussianLossOptions options) {
  const Called as("gaussian_nll_loss", input, target, variance);
  const Tensor given = variance_beside(input, variance);
  const Tensor v = where(given < options.eps, given - detach(given) + options.eps, given);
  const Tensor losses = (log(v) + square(input - target) / v) * 0.5;
  return reduced(options.full ? losses + 0.5 * std::log(2 * std::numbers::pi) : losses, options.reduction);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  return margin_ranking_loss(input1, input2, target, 0);
}
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin) {
  return margin_ranking_loss(input1, input2, target, margin, Reduction::mean);
}
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                           Reduction reduction) {
  const Called as("margin_ranking_loss", input1, input2, target);
  return reduced(clamp_min(margin - target * (input1 - input2), 0), reduction);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target) {
  return hinge_embedding_loss(input, target, 1);
}
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin) {
  return hinge_embedding_loss(input, target, margin, Reduction::mean);
}
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin, Reduction reduction) {
  const Called as("hinge_embedding_loss", input, target);
  const Tensor apart = where(target != 1, clamp_min(margin - input, 0), 0), near = where(target != -1, input, 0);
  return reduced(apart + near, reduction);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  return cosine_embedding_loss(input1, input2, target, 0);
}
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin) {
  return cosine_embedding_loss(input1, input2, target, margin, Reduction::mean);
}
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                             Reduction reduction) {
  const Called as("cosine_embedding_loss", input1, input2, target);
  const Tensor c = cosine(input1, input2);
  const Tensor near = where(target == 1, 1 - c, 0), apart = where(target == -1, clamp_min(c - margin, 0), 0);
  return reduced(near + apart, reduction);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target) {
  return multi_margin_loss(input, target, MultiMarginLossOptions{});
}
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, MultiMarginLossOptions options) {
  const Called as("multi_margin_loss", input, target);
  require_rows_of_classes("multi_margin_loss", input, target, false);
  if (options.p != 1 && options.p != 2)
    raise<ValueError>("multi_margin_loss: p is " + std::to_string(options.p) + "; it must be 1 or 2");
  const Tensor classes = unsqueeze(to(target, DType::int64), -1);
  Tensor excess = clamp_min(options.margin - gather(input, -1, classes) + input, 0);
  if (options.p == 2) excess = square(excess);
  if (options.weight.defined()) {
    const Tensor of_class = index_select(options.weight, 0, flatten(classes));
    excess = weighed(reshape(of_class, type_of(classes).shape), excess);
  }
  return reduced(mean(scatter(excess, -1, classes, 0), -1), options.reduction);
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target) {
  return multilabel_margin_loss(input, target, Reduction::mean);
}
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const Called as("multilabel_margin_loss", input, target);
  require_rows_of_classes("multilabel_margin_loss", input, target, true);
  const Tensor classes = to(target, DType::int64);
  const Tensor is_label = cumprod(to(classes >= 0, DType::int64), -1) > 0;  // [N, C], by the place among the targets
  const Tensor label = where(is_label, classes, 0);
  const Tensor all = arange(Tensor(type_of(input).shape.back()));
  const Tensor hits = logical_and(unsqueeze(label, -1) == all, unsqueeze(is_label, -1));  // [N, place, class]
  const Tensor is_target = unsqueeze(any(hits, -2), -2);
  const Tensor excess = clamp_min(1 - unsqueeze(gather(input, -1, label), -1) + unsqueeze(input, -2), 0);
  const Tensor counts = logical_and(unsqueeze(is_label, -1), logical_not(is_target));
  return reduced(sum(where(counts, excess, 0), {-2, -1}) / Tensor(type_of(input).shape.back()), reduction);
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target) {
  return multilabel_soft_margin_loss(input, target, WeightedLossOptions{});
}
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, WeightedLossOptions options) {
  const Called as("multilabel_soft_margin_loss", input, target);
  const Tensor losses = binary_cross_entropy_with_logits(
      input, target, LogitsLossOptions{.weight = options.weight, .reduction = Reduction::none});
  return reduced(mean(losses, -1), options.reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative) {
  return triplet_margin_loss(anchor, positive, negative, TripletLossOptions{});
}
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           TripletLossOptions options) {
  const Called as("triplet_margin_loss", anchor, positive, negative);
  require_margin("triplet_margin_loss", options.margin);
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return pairwise_distance(a, b, options.p, options.eps);
  };
  return loss_of_triplets(anchor, positive, negative, distance, options);
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const std::function<Tensor(const Tensor&, const Tensor&)>& distance,
                                         TripletLossOptions options) {
  require_defined("triplet_margin_with_distance_loss", anchor, 0);
  require_defined("triplet_margin_with_distance_loss", positive, 1);
  require_defined("triplet_margin_with_distance_loss", negative, 2);
  require_margin("triplet_margin_with_distance_loss", options.margin);
  return loss_of_triplets(anchor, positive, negative, distance, options);
}

}  // namespace ops
}  // namespace ricci
