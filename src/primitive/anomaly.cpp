// A derivative is looked at where its elements are: in the array that the values of transforms hold.
#include "primitive/anomaly.h"

#include "ricci/detect_anomaly.h"
#include "ricci/primitive/raise.h"

namespace ricci {

detect_anomaly::detect_anomaly() { ++this_thread.searches_for_nan; }
detect_anomaly::~detect_anomaly() { --this_thread.searches_for_nan; }

namespace {

/// Of all examples. False for a value that is being recorded, for it has no elements yet.
bool holds_nan(const Tensor& derivative) {
  const ValueRef* part = &value_of(derivative);
  while (const ValueRef* inner = inner_of(**part)) part = inner;
  if ((*part)->kind != ValueKind::array || !is_differentiable((*part)->type.dtype)) return false;
  const AtLevel eager(nullptr);
  return any(isnan(wrap(*part))).item<bool>();
}

}  // namespace

void throw_at_nan(Op op, const char* derivative, std::span<const Tensor> derivatives) {
  for (std::size_t i = 0; i < derivatives.size(); ++i)
    if (derivatives[i].defined() && holds_nan(derivatives[i]))
      raise<ValueError>(std::string(op.rules->name) + ": the " + derivative + " " + std::to_string(i) + ", " +
                        to_string(type_of(derivatives[i])) +
                        ", holds NaN; keep its operands where the operation has a derivative: "
                        "where(is_inside, x, inside) before it, not where() of its result");
}

}  // namespace ricci
