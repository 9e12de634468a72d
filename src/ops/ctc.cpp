// The loss of sequences without alignment, by the forward recursion over the target with blanks between its labels:
// α[s] is the logarithm of the probability of all ways to have come to place s. Impossible ways have a large negative
// number in place of -∞, so that derivatives stay finite.
#include <algorithm>
#include <limits>

#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/losses.h"
#include "ops/patterns.h"
#include "ops/reading.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/control/scan.h"
#include "ricci/ops/recurrent.h"

namespace ricci {
namespace {

constexpr double impossible = -1e30, least_possible = -1e29;

/// Targets one after the other as [N, longest], filled up with `blank`.
Tensor padded_targets(const Tensor& targets, const Tensor& lengths, Size blank) {
  const std::int64_t total = type_of(targets).shape[0].host(), count = type_of(lengths).shape[0].host();
  const ArrayRef all = concrete_for_size("ctc_loss", lengths);
  const ArrayRef rows = make_array({DType::int64, {count}});
  kernels::copy(rows->strided(), all->strided());
  const auto* length = static_cast<const std::int64_t*>(rows->data);
  std::int64_t longest = 0, sum = 0;
  for (std::int64_t i = 0; i < count; ++i) longest = std::max(longest, length[i]), sum += length[i];
  if (sum != total)
    raise<ValueError>("ctc_loss: target_lengths add up to " + std::to_string(sum) + ", the targets " +
                      type_text(targets) + " are one after the other");
  if (total == 0) return zeros({count, 0}, DType::int64);
  const Tensor begins = cumsum(lengths, 0) - lengths, place = places_along(longest);
  const Tensor places = minimum(unsqueeze(begins, 1) + place, total - 1);
  return where(lt(place, unsqueeze(lengths, 1)), take(targets, places), Tensor(blank));
}

/// x [N, W] shifted by n places towards higher ones, with the impossible in front.
Tensor shifted(const Tensor& x, std::int64_t n) {
  return narrow(pad(x, {n, 0}, impossible), -1, 0, type_of(x).shape[1]);
}

/// Losses [N] of log_probs [T, N, C], targets [N, S], lengths [N].
Tensor losses_of(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths, Size blank) {
  const Shape& shape = type_of(log_probs).shape;
  const Size times = shape[0], examples = shape[1], longest = type_of(targets).shape[1], width = 2 * longest + 1;
  const Tensor place = places_along(width);  // blanks stand at even places, label k at 2 k + 1
  const Tensor of_label = ne(remainder(place, 2), 0);
  // A place behind the target is never asked for: what stands there may be anything but an index out of range.
  const Tensor counts = lt(places_along(longest), unsqueeze(target_lengths, 1));
  const Tensor labels = where(counts, targets, Tensor(blank));
  const Tensor blanks = full({examples, longest}, blank, {.dtype = DType::int64});
  const Tensor between = reshape(stack({blanks, labels}, 2), {examples, 2 * longest});
  const Tensor path = cat({between, full({examples, 1}, blank, {.dtype = DType::int64})}, 1);  // [N, width]
  const Tensor two_back = narrow(pad(path, {2, 0}, -1), 1, 0, width);
  const Tensor may_skip = logical_and(logical_and(of_label, ge(place, 2)), ne(path, two_back));
  const Tensor emitted =
      clamp_min(gather(log_probs, 2, expand(unsqueeze(path, 0), {times, examples, width})), impossible);

  // Before the first time: a way may begin at the first blank or the first label.
  const DType dtype = type_of(log_probs).dtype;
  const Tensor before = expand(where(eq(place, 0), zeros({}, {.dtype = dtype}), impossible), {examples, width});
  const Tensor time = places_along(times);
  using Slice = std::pair<Tensor, Tensor>;
  const auto step = [&](const Tensor& alpha, const Slice& now) {
    const Tensor stays = logaddexp(alpha, shifted(alpha, 1));
    const Tensor comes = where(may_skip, logaddexp(stays, shifted(alpha, 2)), stays) + now.first;
    const Tensor after = where(unsqueeze(lt(now.second, input_lengths), 1), comes, alpha);
    return std::pair{after, now.second};
  };
  // The time before the first one lets α enter place 0 and 1 alike: from place 0 one may stay or go on.
  const Tensor alpha = scan(step, before, Slice{emitted, time}).first;
  const Tensor end = unsqueeze(2 * target_lengths, 1);
  const Tensor at_blank = squeeze(gather(alpha, 1, end), 1);
  const Tensor at_label = squeeze(gather(alpha, 1, clamp_min(end - 1, 0)), 1);
  const Tensor total = where(eq(target_lengths, 0), at_blank, logaddexp(at_blank, at_label));
  return where(lt(total, least_possible), std::numeric_limits<double>::infinity(), neg(total));
}

}  // namespace

namespace ops {

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths) {
  return ctc_loss(log_probs, targets, input_lengths, target_lengths, CtcLossOptions{});
}
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, CtcLossOptions options) {
  const char* op = "ctc_loss";
  const Called as(op, log_probs, targets, input_lengths, target_lengths);
  require_real_floating(op, log_probs);
  require_integers(op, "targets", targets);
  require_integers(op, "input lengths", input_lengths);
  require_integers(op, "target lengths", target_lengths);
  const int rank = type_of(log_probs).rank();
  if (rank != 2 && rank != 3)
    raise<ValueError>(std::string(op) + ": log_probs are " + type_text(log_probs) +
                      "; they must be [T, N, C], or [T, C] of one example");
  const bool one_example = rank == 2;
  const DType dtype = type_of(log_probs).dtype, computed = computed_dtype(dtype);
  const auto as_rows = [&](const Tensor& lengths) {
    const Tensor whole = to(lengths, DType::int64);
    return type_of(whole).rank() == 0 ? reshape(whole, {1}) : whole;
  };
  const Tensor wide = to(one_example ? unsqueeze(log_probs, 1) : log_probs, computed);
  const Tensor inputs = as_rows(input_lengths), lengths = as_rows(target_lengths);
  const Size examples = type_of(wide).shape[1], classes = type_of(wide).shape[2];
  for (const auto& [what, x] : {std::pair("input_lengths", &inputs), {"target_lengths", &lengths}})
    if (!(type_of(*x).shape == Shape{examples}))
      raise<ValueError>(std::string(op) + ": " + what + " are " + type_text(*x) + "; log_probs " +
                        type_text(log_probs) + " want one for each example");
  if (options.blank < 0 || !(options.blank < classes))
    raise<ValueError>(std::string(op) + ": blank is " + std::to_string(options.blank.hint()) + "; " +
                      legal_range(0, classes.hint() - 1));
  Tensor rows = to(targets, DType::int64);
  if (one_example && type_of(rows).rank() == 1) rows = unsqueeze(rows, 0);
  if (type_of(rows).rank() == 1) rows = padded_targets(rows, lengths, options.blank);
  if (type_of(rows).rank() != 2 || !(type_of(rows).shape[0] == examples))
    raise<ValueError>(std::string(op) + ": targets are " + type_text(targets) + "; they must be [" +
                      std::to_string(examples.hint()) + ", S], or one after the other");
  Tensor losses = losses_of(wide, rows, inputs, lengths, options.blank);
  if (options.zero_infinity) losses = where(isinf(losses), 0, losses);
  if (options.reduction == Reduction::mean) losses = losses / to(clamp_min(lengths, 1), computed);
  losses = to(losses, dtype);
  if (options.reduction == Reduction::none) return one_example ? squeeze(losses, 0) : losses;
  return options.reduction == Reduction::mean ? mean(losses) : sum(losses);
}

}  // namespace ops
}  // namespace ricci
