// Checks of parameters and shapes that a text may say anything of.
#include "primitive/parameter_checks.h"

#include <string>

#include "primitive/wording.h"

namespace ricci {

void require_axis(std::int64_t axis, int rank) { require_between(0, axis, rank - 1); }

void require_axes(const Axes& axes, int rank) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    require_axis(axes[i], rank);
    for (std::size_t k = 0; k < i; ++k)
      if (axes[k] == axes[i]) throw IndexError("axis " + std::to_string(axes[i]) + " appears more than once");
  }
}

void require_rank_of_at_least(int axes, const Type& x) {
  if (x.rank() < axes) throw IndexError("needs at least " + count_of(axes, "axis", "axes") + ", found " + to_string(x));
}

void require_between(std::int64_t low, Size number, std::int64_t high) {
  if (!number.is_symbol() && (number.raw() < low || number.raw() > high)) [[unlikely]]
    throw IndexError("the parameter " + std::to_string(number.raw()) + " is out of range; " + legal_range(low, high));
}

void require_shape(const Shape& found, const Shape& wanted) {
  bool fits = found.size() == wanted.size();
  for (std::size_t i = 0; fits && i < found.size(); ++i)
    fits = any_symbol(found[i], wanted[i]) || found[i].raw() == wanted[i].raw();
  if (!fits) [[unlikely]]
    throw IndexError("needs the sizes " + to_string(wanted) + ", found " + to_string(found));
}

void require_dtype(DType wanted, const Type& x) {
  if (x.dtype != wanted) [[unlikely]]
    throw IndexError("needs elements of " + std::string(short_name(wanted)) + ", found " + to_string(x));
}

}  // namespace ricci
