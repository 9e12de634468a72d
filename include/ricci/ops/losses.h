// Losses with PyTorch's options, and the losses of margins, distances and likelihoods. Element types are real and
// floating; what stands for a class is an integer. All are differentiable to any order, in both modes. The reduction is
// the mean if not given; Reduction::none gives the losses of the single elements or examples. Losses without options of
// their own stand in ricci/ops/nn.h. A weight or a probability of 0 leaves an infinite term out, as xlogy does.
#pragma once

#include <functional>

#include "ricci/ops/nn.h"

namespace ricci {

/// `{.weight = w, .ignore_index = 0, .reduction = rc::Reduction::sum, .label_smoothing = 0.1}`
struct CrossEntropyOptions {
  Tensor weight = {};                ///< of the classes, [C]; undefined: all 1
  std::int64_t ignore_index = -100;  ///< examples of this class have the loss 0 and do not count in the mean
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0;  ///< what the target gives to all classes evenly, in [0, 1]
};
struct NllLossOptions {
  Tensor weight = {};
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
};
/// The weight is multiplied with the losses, and broadcasts against them. Where it is 0, an infinite loss is 0 too.
struct WeightedLossOptions {
  Tensor weight = {};
  Reduction reduction = Reduction::mean;
};
struct LogitsLossOptions {
  Tensor weight = {};
  Reduction reduction = Reduction::mean;
  Tensor pos_weight = {};  ///< multiplies what belongs to the target 1; broadcasts against the losses
};
struct HuberLossOptions {
  Reduction reduction = Reduction::mean;
  double delta = 1;
  Tensor weight = {};
};
struct SmoothL1LossOptions {
  Reduction reduction = Reduction::mean;
  double beta = 1;
};
struct KlDivOptions {
  Reduction reduction = Reduction::mean;
  bool log_target = false;  ///< the target holds logarithms
  bool batch_mean = false;  ///< the sum over the size of the first axis, in place of the reduction
};
struct PoissonLossOptions {
  bool log_input = true;  ///< the input holds the logarithm of the rate
  bool full = false;      ///< with Stirling's approximation of log(target!), where the target is above 1
  double eps = 1e-8;      ///< is added to a rate before its logarithm is taken
  Reduction reduction = Reduction::mean;
};
struct GaussianLossOptions {
  bool full = false;  ///< with the constant log(2 pi) / 2
  double eps = 1e-6;  ///< the least variance
  Reduction reduction = Reduction::mean;
};
struct MultiMarginLossOptions {
  std::int64_t p = 1;  ///< 1 or 2
  double margin = 1;
  Tensor weight = {};  ///< of the classes, [C]
  Reduction reduction = Reduction::mean;
};
struct TripletLossOptions {
  double margin = 1, p = 2, eps = 1e-6;
  bool swap = false;  ///< the negative is compared with the positive where that is nearer to it than the anchor is
  Reduction reduction = Reduction::mean;
};

namespace ops {

// ── losses of classes ──

/// As `cross_entropy` without options. The weight of an example is that of its class, and the mean is the weighted one:
/// the sum over the sum of weights, NaN if that is 0. With label smoothing e of C classes, the loss is (1 - e) of the
/// loss plus e / C of the weighted losses of all classes. Of a target of probabilities the weights multiply the terms
/// of the sum over classes, the mean is over examples, and no class is ignored. ValueError for weights of another shape
/// than [C] or a label smoothing outside [0, 1].
///   Tensor loss = rc::cross_entropy(logits, tokens, {.ignore_index = padding, .label_smoothing = 0.1});
Tensor cross_entropy(const Tensor& input, const Tensor& target, CrossEntropyOptions options);
/// -weight[target] log_probabilities[target], shapes and mean as in `cross_entropy`.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, NllLossOptions options);
/// cross_entropy(linear(input, linear_weight, linear_bias), target): input [in] or [N, in], linear_weight [C, in],
/// linear_bias [C] or undefined.
Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target);
Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target,
                            const Tensor& linear_bias, CrossEntropyOptions options);

// ── losses of elements ──

/// The weight has the input's shape; the mean is the sum over the sum of weights.
Tensor mse_loss(const Tensor& input, const Tensor& target, WeightedLossOptions options);
Tensor l1_loss(const Tensor& input, const Tensor& target, WeightedLossOptions options);
Tensor huber_loss(const Tensor& input, const Tensor& target, HuberLossOptions options);  ///< the mean is over elements
/// difference² / (2 beta) where |difference| < beta (1 if not given), else |difference| - beta / 2. The two broadcast.
/// ValueError if beta < 0; with 0 it is l1_loss.
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target);
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, SmoothL1LossOptions options);
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, WeightedLossOptions options);
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, LogitsLossOptions options);
/// log(1 + exp(-target input)), for targets 1 and -1. The two broadcast.
Tensor soft_margin_loss(const Tensor& input, const Tensor& target);
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction);

// ── likelihoods ──

/// target (log target - input) of logarithms of probabilities: Kullback and Leibler's divergence. 0 where target is 0,
/// even at infinite inputs. Both broadcast. The mean is over elements; `.batch_mean` divides by the number of examples.
///   Tensor loss = rc::kl_div(rc::log_softmax(logits, 1), probabilities, {.batch_mean = true});
Tensor kl_div(const Tensor& input, const Tensor& target);
Tensor kl_div(const Tensor& input, const Tensor& target, KlDivOptions options);
/// exp(input) - target input, of counts with a Poisson distribution; of a rate, input - target log(input + eps).
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target);
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, PoissonLossOptions options);
/// (log v + (input - target)² / v) / 2 with v the variance, but at least eps: of targets with a normal distribution.
/// The variance is a number, or has the input's shape, or has it with a last axis of size 1, or without that axis.
/// As in PyTorch, its derivative is that of the formula below eps too. ValueError for another shape.
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& variance);
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& variance,
                         GaussianLossOptions options);

// ── margins ──

/// max(0, margin - target (input1 - input2)), for targets 1 (the first is to be the greater) and -1; margin = 0.
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target);
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin);
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                           Reduction reduction);
/// input where the target is 1, max(0, margin - input) where it is -1; margin = 1.
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target);
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin);
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin, Reduction reduction);
/// 1 - cosine where the target is 1, max(0, cosine - margin) where it is -1, the cosine being that of the angle between
/// two vectors [D], or of each of [N, D]; margin = 0.
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target);
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin);
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                             Reduction reduction);
/// Σ max(0, margin - input[target] + input[i])^p / C over the classes i that are not the target, times the weight of
/// the target. input [C] or [N, C], target [] or [N]. ValueError unless p is 1 or 2.
Tensor multi_margin_loss(const Tensor& input, const Tensor& target);
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, MultiMarginLossOptions options);
/// Σ max(0, 1 - (input[t] - input[i])) / C over the targets t and the classes i that are none. Both are [C] or [N, C];
/// the targets of an example are the classes that stand before the first negative number.
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target);
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction);
/// The mean over the last axis of binary_cross_entropy_with_logits; the weight broadcasts against the input.
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target);
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, WeightedLossOptions options);
/// max(0, margin + distance(anchor, positive) - distance(anchor, negative)) with `pairwise_distance` of norm p and eps.
/// The three are [D] or [N, D]. ValueError unless margin > 0.
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative);
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           TripletLossOptions options);
/// The same with a distance of your own, a function of two tensors; `p` and `eps` are not read.
Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const std::function<Tensor(const Tensor&, const Tensor&)>& distance,
                                         TripletLossOptions options);

}  // namespace ops
}  // namespace ricci
