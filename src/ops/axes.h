// Axes as users write them, made non-negative and checked; checks of sizes and element types. Knows nothing of any
// operation.
#pragma once

#include <initializer_list>
#include <string_view>

#include "primitive/parameter_checks.h"
#include "primitive/wording.h"
#include "ricci/primitive.h"
#include "ricci/primitive/raise.h"
#include "tensor/at.h"
#include "tensor/value.h"

namespace ricci {

/// The axis made non-negative; IndexError `sum: axis 2 is out of range: …`. A 0-dim tensor passes for one with one
/// axis, as in PyTorch: whoever goes on to use the axis calls `along_axis`, which lends it one.
std::int64_t wrap_axis(const char* op, std::int64_t axis, const Tensor& x);
/// The same, and a tensor without axes is an error too.
std::int64_t wrap_own_axis(const char* op, std::int64_t axis, const Tensor& x);
/// The same among `rank` axes of a result that has one axis more than x.
std::int64_t wrap_new_axis(const char* op, std::int64_t axis, const Tensor& x);
/// The index into an axis of x, which is in range, made non-negative; IndexError `select: index 5 is out of range …`.
Size wrap_index(const char* op, Size index, std::int64_t axis, const Tensor& x);
/// All distinct, non-negative, in the order given; ValueError if one is repeated. None given means all.
Axes wrap_axes(const char* op, const Axes& axes, const Tensor& x);
Axes sorted(Axes axes);

/// f(x, axis) for an operation along one axis; a 0-dim tensor lends itself an axis for as long.
template <class F>
auto along_axis(const char* op, const Tensor& x, std::int64_t dim, F&& f) {
  const std::int64_t axis = wrap_axis(op, dim, x);
  const Shape shape = type_of(x).shape;
  if (!shape.empty()) return f(x, axis);
  auto result = f(reshape(x, {1}), axis);
  if constexpr (requires { result.first; }) return std::pair{reshape(result.first, {}), reshape(result.second, {})};
  else return reshape(result, {});
}

/// Throws ValueError if the sizes that are not 0 have a product that 64 bits do not hold; -1 counts as 1.
void require_countable(const char* op, const Shape& shape);
/// The same, and if a size is negative.
void require_sizes(const char* op, const Shape& shape);
/// Throws ValueError where a dtype of integers has no such number.
void require_fits(const char* op, std::int64_t number, DType dtype);
void require_fits(const char* op, Size number, DType dtype);
/// Which of `words` is given; ValueError `quantile: the interpolation is "up"; it must be "lower", "higher" or …`.
std::size_t word_among(const char* op, const char* what, std::string_view given,
                       std::initializer_list<std::string_view> words);
/// Throws TypeError unless x, an operand that errors call `what`, holds integers; booleans are refused.
void require_integers(const char* op, const char* what, const Tensor& x);
/// Throws TypeError unless x is floating or complex.
void require_floating(const char* op, const Tensor& x);

}  // namespace ricci
