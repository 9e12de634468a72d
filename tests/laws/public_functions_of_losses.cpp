// Losses and distances, as the cases of tools/torch_values.py call them.
#include <ricci/ops/distances.h>
#include <ricci/ops/losses.h>

#include <limits>

#include "public_functions.h"

namespace laws {
namespace {

namespace rc = ricci;
constexpr rc::Reduction none = rc::Reduction::none, sum = rc::Reduction::sum;

}  // namespace

const Table& losses() {
  static const Table table = {
      {"cross_entropy", [](X x) { return List{cross_entropy(x[0], x[1])}; }},
      {"cross_entropy of one", [](X x) { return List{cross_entropy(x[0], x[1])}; }},
      {"cross_entropy sum", [](X x) { return List{cross_entropy(x[0], x[1], sum)}; }},
      {"cross_entropy ignoring", [](X x) { return List{cross_entropy(x[0], x[1])}; }},
      {"cross_entropy ignoring 2 none",
       [](X x) { return List{cross_entropy(x[0], x[1], {.ignore_index = 2, .reduction = none})}; }},
      {"cross_entropy weight", [](X x) { return List{cross_entropy(x[0], x[1], {.weight = x[2]})}; }},
      {"cross_entropy weight none",
       [](X x) { return List{cross_entropy(x[0], x[1], {.weight = x[2], .reduction = none})}; }},
      {"cross_entropy smoothing", [](X x) { return List{cross_entropy(x[0], x[1], {.label_smoothing = 0.1})}; }},
      {"cross_entropy smoothing weight",
       [](X x) { return List{cross_entropy(x[0], x[1], {.weight = x[2], .label_smoothing = 0.3})}; }},
      {"cross_entropy smoothing weight none",
       [](X x) {
         return List{cross_entropy(x[0], x[1], {.weight = x[2], .reduction = none, .label_smoothing = 0.3})};
       }},
      {"cross_entropy smoothing weight sum",
       [](X x) { return List{cross_entropy(x[0], x[1], {.weight = x[2], .reduction = sum, .label_smoothing = 0.3})}; }},
      {"cross_entropy probabilities weight smoothing",
       [](X x) { return List{cross_entropy(x[0], x[1], {.weight = x[2], .label_smoothing = 0.2})}; }},
      {"nll_loss", [](X x) { return List{nll_loss(x[0], x[1])}; }},
      {"nll_loss weight", [](X x) { return List{nll_loss(x[0], x[1], {.weight = x[2], .ignore_index = 1})}; }},
      {"nll_loss weight none", [](X x) { return List{nll_loss(x[0], x[1], {.weight = x[2], .reduction = none})}; }},
      {"linear_cross_entropy", [](X x) { return List{linear_cross_entropy(x[0], x[1], x[2])}; }},
      {"linear_cross_entropy bias smoothing",
       [](X x) { return List{linear_cross_entropy(x[0], x[1], x[2], x[3], {.label_smoothing = 0.1})}; }},
      {"mse_loss weight", [](X x) { return List{mse_loss(x[0], x[1], {.weight = x[2]})}; }},
      {"l1_loss weight", [](X x) { return List{l1_loss(x[0], x[1], {.weight = x[2]})}; }},
      {"l1_loss weight sum", [](X x) { return List{l1_loss(x[0], x[1], {.weight = x[2], .reduction = sum})}; }},
      {"huber_loss weight", [](X x) { return List{huber_loss(x[0], x[1], {.delta = 0.7, .weight = x[2]})}; }},
      {"smooth_l1_loss", [](X x) { return List{smooth_l1_loss(x[0], x[1])}; }},
      {"smooth_l1_loss kink", [](X x) { return List{smooth_l1_loss(x[0], x[1])}; }},
      {"smooth_l1_loss beta", [](X x) { return List{smooth_l1_loss(x[0], x[1], {.reduction = none, .beta = 0.3})}; }},
      {"smooth_l1_loss beta 0", [](X x) { return List{smooth_l1_loss(x[0], x[1], {.reduction = sum, .beta = 0})}; }},
      {"binary_cross_entropy weight", [](X x) { return List{binary_cross_entropy(x[0], x[1], {.weight = x[2]})}; }},
      {"binary_cross_entropy_with_logits weights",
       [](X x) { return List{binary_cross_entropy_with_logits(x[0], x[1], {.weight = x[2], .pos_weight = x[3]})}; }},
      {"binary_cross_entropy_with_logits pos_weight none",
       [](X x) { return List{binary_cross_entropy_with_logits(x[0], x[1], {.reduction = none, .pos_weight = x[2]})}; }},
      {"soft_margin_loss", [](X x) { return List{soft_margin_loss(x[0], x[1])}; }},
      {"soft_margin_loss none", [](X x) { return List{soft_margin_loss(x[0], x[1], none)}; }},
      {"kl_div", [](X x) { return List{kl_div(x[0], x[1])}; }},
      {"kl_div batch_mean", [](X x) { return List{kl_div(x[0], x[1], {.batch_mean = true})}; }},
      {"kl_div log_target", [](X x) { return List{kl_div(x[0], x[1], {.reduction = none, .log_target = true})}; }},
      {"poisson_nll_loss", [](X x) { return List{poisson_nll_loss(x[0], x[1])}; }},
      {"poisson_nll_loss full",
       [](X x) { return List{poisson_nll_loss(x[0], x[1], {.full = true, .reduction = none})}; }},
      {"poisson_nll_loss rate",
       [](X x) { return List{poisson_nll_loss(x[0], x[1], {.log_input = false, .eps = 1e-3})}; }},
      {"gaussian_nll_loss", [](X x) { return List{gaussian_nll_loss(x[0], x[1], x[2])}; }},
      {"gaussian_nll_loss full rows", [](X x) { return List{gaussian_nll_loss(x[0], x[1], x[2], {.full = true})}; }},
      {"gaussian_nll_loss column none",
       [](X x) { return List{gaussian_nll_loss(x[0], x[1], x[2], {.eps = 0.01, .reduction = none})}; }},
      {"gaussian_nll_loss kink", [](X x) { return List{gaussian_nll_loss(x[0], x[1], x[2], {.eps = 0.5})}; }},
      {"margin_ranking_loss", [](X x) { return List{margin_ranking_loss(x[0], x[1], x[2], 0.5)}; }},
      {"hinge_embedding_loss", [](X x) { return List{hinge_embedding_loss(x[0], x[1], 0.8)}; }},
      {"cosine_embedding_loss", [](X x) { return List{cosine_embedding_loss(x[0], x[1], x[2], 0.2)}; }},
      {"cosine_embedding_loss of one", [](X x) { return List{cosine_embedding_loss(x[0], x[1], x[2], -0.9)}; }},
      {"multi_margin_loss", [](X x) { return List{multi_margin_loss(x[0], x[1])}; }},
      {"multi_margin_loss squared",
       [](X x) {
         return List{multi_margin_loss(x[0], x[1], {.p = 2, .margin = 0.7, .weight = x[2], .reduction = none})};
       }},
      {"multi_margin_loss of one", [](X x) { return List{multi_margin_loss(x[0], x[1])}; }},
      {"multilabel_margin_loss", [](X x) { return List{multilabel_margin_loss(x[0], x[1])}; }},
      {"multilabel_margin_loss none", [](X x) { return List{multilabel_margin_loss(x[0], x[1], none)}; }},
      {"multilabel_margin_loss of one", [](X x) { return List{multilabel_margin_loss(x[0], x[1])}; }},
      {"multilabel_soft_margin_loss",
       [](X x) { return List{multilabel_soft_margin_loss(x[0], x[1], {.weight = x[2]})}; }},
      {"triplet_margin_loss", [](X x) { return List{triplet_margin_loss(x[0], x[1], x[2])}; }},
      {"triplet_margin_loss swap",
       [](X x) {
         return List{triplet_margin_loss(x[0], x[1], x[2], {.margin = 2, .p = 1, .swap = true, .reduction = none})};
       }},
      {"triplet_margin_with_distance_loss",
       [](X x) {
         const auto distance = [](const Tensor& u, const Tensor& v) { return square(u - v).sum(-1); };
         return List{triplet_margin_with_distance_loss(x[0], x[1], x[2], distance, {.margin = 3, .swap = true})};
       }},
  };
  return table;
}

const Table& distances() {
  static const Table table = {
      {"pairwise_distance", [](X x) { return List{pairwise_distance(x[0], x[1])}; }},
      {"pairwise_distance p", [](X x) { return List{pairwise_distance(x[0], x[1], 3, 1e-3, true)}; }},
      {"pairwise_distance kink", [](X x) { return List{pairwise_distance(x[0], x[1], 2, 0)}; }},
      {"cdist", [](X x) { return List{cdist(x[0], x[1])}; }},
      {"cdist 1", [](X x) { return List{cdist(x[0], x[1], 1)}; }},
      {"cdist 3", [](X x) { return List{cdist(x[0], x[1], 3)}; }},
      {"cdist inf", [](X x) { return List{cdist(x[0], x[1], std::numeric_limits<double>::infinity())}; }},
      {"cdist kink", [](X x) { return List{cdist(x[0], x[1])}; }},
      {"pdist", [](X x) { return List{pdist(x[0])}; }},
      {"pdist 1", [](X x) { return List{pdist(x[0], 1)}; }},
      {"pdist kink", [](X x) { return List{pdist(x[0])}; }},
      {"dist", [](X x) { return List{dist(x[0], x[1])}; }},
      {"dist 3", [](X x) { return List{dist(x[0], x[1], 3)}; }},
      {"renorm", [](X x) { return List{renorm(x[0], 2, 0, 1.5)}; }},
      {"renorm 1", [](X x) { return List{renorm(x[0], 1, -1, 2)}; }},
      {"cosine_similarity", [](X x) { return List{cosine_similarity(x[0], x[1])}; }},
      {"cosine_similarity dim", [](X x) { return List{cosine_similarity(x[0], x[1], -1)}; }},
      {"cosine_similarity kink", [](X x) { return List{cosine_similarity(x[0], x[1], 0)}; }},
      {"normalize", [](X x) { return List{normalize(x[0])}; }},
      {"normalize p", [](X x) { return List{normalize(x[0], 3, 0)}; }},
      {"normalize kink", [](X x) { return List{normalize(x[0], 2, 0)}; }},
      {"local_response_norm", [](X x) { return List{local_response_norm(x[0], 3, 0.5, 0.6, 1.5)}; }},
      {"local_response_norm planes", [](X x) { return List{local_response_norm(x[0], 2)}; }},
      {"rms_norm", [](X x) { return List{rms_norm(x[0], {3})}; }},
      {"rms_norm weight", [](X x) { return List{rms_norm(x[0], {2, 3}, x[1], 1e-3)}; }},
      {"bilinear", [](X x) { return List{bilinear(x[0], x[1], x[2])}; }},
      {"bilinear bias", [](X x) { return List{bilinear(x[0], x[1], x[2], x[3])}; }},
  };
  return table;
}

}  // namespace laws
