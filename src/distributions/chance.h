// A probability given as itself or as its logit, of one event or of many classes. Knows no distribution.
#pragma once

#include <optional>

#include "distributions/parameters.h"

namespace ricci::distributions {

/// The one that was given. Throws ValueError `Bernoulli.mean: …` unless one of the two is.
const Tensor& one_of(const char* op, const std::optional<Tensor>& probs, const std::optional<Tensor>& logits);
/// As a parameter whose range is checked.
inline Parameter chance_parameter(const char* op, const std::optional<Tensor>& probs,
                                  const std::optional<Tensor>& logits, Range range_of_probs) {
  const Tensor& given = one_of(op, probs, logits);
  return {given, probs ? "probs" : "logits", probs ? range_of_probs : Range::any};
}

/// The probability p of an event, as floating numbers.
struct Chance {
  Tensor given;
  bool is_logit;

  Tensor probability() const { return is_logit ? sigmoid(given) : given; }
  Tensor rest() const { return is_logit ? sigmoid(-given) : 1 - given; }
  /// n log p, and n log(1 - p); 0 where n is 0.
  Tensor log_of(const Tensor& n) const;
  Tensor log_of_rest(const Tensor& n) const;
  /// -p log p - (1 - p) log(1 - p).
  Tensor entropy() const;
};
Chance chance_of(const std::optional<Tensor>& probs, const std::optional<Tensor>& logits, DType dtype);

/// The logarithms of probabilities of classes, [..., n].
Tensor log_of_classes(const std::optional<Tensor>& probs, const std::optional<Tensor>& logits, DType dtype);
/// The shape of a batch of such: without the last axis. Throws ValueError if there is none, or no class.
Shape batch_of_classes(const char* op, const Tensor& given);

}  // namespace ricci::distributions
