// A probability, or its logit, and those of classes.
#include "distributions/chance.h"

#include <limits>

#include "ops/axes.h"
#include "ops/losses.h"
#include "ricci/ops/special.h"

namespace ricci::distributions {

const Tensor& one_of(const char* op, const std::optional<Tensor>& probs, const std::optional<Tensor>& logits) {
  if (probs.has_value() == logits.has_value())
    raise<ValueError>(std::string(op) +
                      (probs ? ": both probs and logits were given" : ": neither probs nor logits was given") +
                      "; give one of them, by its name");
  return probs ? *probs : *logits;
}

Tensor Chance::log_of(const Tensor& n) const { return is_logit ? weighed(n, logsigmoid(given)) : xlogy(n, given); }
Tensor Chance::log_of_rest(const Tensor& n) const {
  return is_logit ? weighed(n, logsigmoid(-given)) : xlog1py(n, -given);
}
Tensor Chance::entropy() const {
  if (!is_logit) return entr(given) + entr(1 - given);
  return -(log_of(probability()) + log_of_rest(rest()));
}

Chance chance_of(const std::optional<Tensor>& probs, const std::optional<Tensor>& logits, DType dtype) {
  return {to(probs ? *probs : *logits, dtype), logits.has_value()};
}

Tensor log_of_classes(const std::optional<Tensor>& probs, const std::optional<Tensor>& logits, DType dtype) {
  if (logits) return log_softmax(to(*logits, dtype), -1);
  const Tensor p = to(*probs, dtype);
  const Tensor share = p / sum(p, -1, true), never = eq(share, 0);
  return where(never, -std::numeric_limits<double>::infinity(), log(where(never, 1, share)));
}

Shape batch_of_classes(const char* op, const Tensor& given) {
  const Type type = type_of(given);
  if (type.rank() == 0 || type.shape.back() == 0)
    raise<ValueError>(std::string(op) + ": the probabilities are " + type_text(given) +
                      "; their last axis must hold a class");
  return Shape(type.shape.begin(), type.shape.end() - 1);
}

}  // namespace ricci::distributions
