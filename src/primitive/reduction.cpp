// What all reductions share: their axes, and the type that is left of an operand.
#include "ricci/primitive/reduction.h"

#include "primitive/parameter_checks.h"

namespace ricci {

SmallVector<bool, 8> is_reduced(const Axes& axes, int rank) {
  SmallVector<bool, 8> reduced(static_cast<std::size_t>(rank), false);
  for (std::int64_t axis : axes) reduced[static_cast<std::size_t>(axis)] = true;
  return reduced;
}

Type without_axes(const Type& x, const Axes& axes, DType dtype) {
  require_axes(axes, x.rank());
  Type type{dtype, {}};
  if (axes.size() == x.shape.size()) return type;
  const auto reduced = is_reduced(axes, x.rank());
  for (std::size_t i = 0; i < x.shape.size(); ++i)
    if (!reduced[i]) type.shape.push_back(x.shape[i]);
  return type;
}

Axes behind_batch(const Axes& axes) {
  Axes shifted = axes;
  for (std::int64_t& axis : shifted) ++axis;
  return shifted;
}

}  // namespace ricci
