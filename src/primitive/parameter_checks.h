// What type rules hold of their parameters: calls have checked them, the text of a program may say anything. Knows
// nothing of any operation.
#pragma once

#include "ricci/primitive.h"

namespace ricci {

/// Throws IndexError unless `axis` is one of `rank` axes. Whoever checks a program says the operation before it.
void require_axis(std::int64_t axis, int rank);
/// The same of each, and none may appear twice.
void require_axes(const Axes& axes, int rank);
/// Throws IndexError unless x has as many axes.
void require_rank_of_at_least(int axes, const Type& x);
/// Throws IndexError unless a parameter lies between two numbers. A symbol is taken to, and leaves no guard.
void require_between(std::int64_t low, Size number, std::int64_t high);
/// Throws IndexError unless the two shapes are equal. A size that is a symbol is taken to fit, and leaves no guard.
void require_shape(const Shape& found, const Shape& wanted);
/// Throws IndexError unless x is of this element type.
void require_dtype(DType wanted, const Type& x);
/// More than a size can be.
inline constexpr std::int64_t beyond_memory = std::int64_t{1} << 47;

}  // namespace ricci
