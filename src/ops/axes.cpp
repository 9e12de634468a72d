// Checks of axes, sizes and element types.
#include "ops/axes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tensor/value.h"

namespace ricci {
namespace {

[[noreturn]] void raise_axis(const char* op, std::int64_t axis, const Tensor& x, std::int64_t rank, const char* with) {
  const std::int64_t legal = std::max<std::int64_t>(rank, 1);
  raise<IndexError>(std::string(op) + ": axis " + std::to_string(axis) + " is out of range: " + type_text(x) + " has " +
                    count_of(rank, "axis", "axes") + with + "; " + legal_range(-legal, legal - 1));
}

}  // namespace

std::int64_t wrap_axis(const char* op, std::int64_t axis, const Tensor& x) {
  require_defined(op, x, 0);
  const std::int64_t rank = value_of(x)->type.rank();
  // A 0-dim tensor has one virtual axis, as in PyTorch.
  const std::int64_t legal = rank == 0 ? 1 : rank;
  if (axis < -legal || axis >= legal) raise_axis(op, axis, x, rank, "");
  return axis < 0 ? axis + legal : axis;
}

std::int64_t wrap_own_axis(const char* op, std::int64_t axis, const Tensor& x) {
  require_defined(op, x, 0);
  if (value_of(x)->type.rank() == 0)
    raise<IndexError>(std::string(op) + ": axis " + std::to_string(axis) + " is out of range: " + type_text(x) +
                      " has no axes");
  return wrap_axis(op, axis, x);
}

std::int64_t wrap_new_axis(const char* op, std::int64_t axis, const Tensor& x) {
  require_defined(op, x, 0);
  const std::int64_t rank = value_of(x)->type.rank() + 1;
  if (axis < -rank || axis >= rank) raise_axis(op, axis, x, rank, " with the new one");
  return axis < 0 ? axis + rank : axis;
}

Size wrap_index(const char* op, Size index, std::int64_t axis, const Tensor& x) {
  const Size n = value_of(x)->type.shape[at(axis)], place = index < 0 ? index + n : index;
  if (place < 0 || place >= n)
    raise<IndexError>(std::string(op) + ": index " + std::to_string(index.hint()) + " is out of range for axis " +
                      std::to_string(axis) + " of " + type_text(x) + "; " + legal_range(-n.hint(), n.hint() - 1));
  return place;
}

Axes wrap_axes(const char* op, const Axes& axes, const Tensor& x) {
  require_defined(op, x, 0);
  Axes wrapped;
  const int rank = value_of(x)->type.rank();
  if (axes.empty()) {
    for (int i = 0; i < rank; ++i) wrapped.push_back(i);
    return wrapped;
  }
  for (std::int64_t axis : axes) {
    const std::int64_t w = wrap_axis(op, axis, x);
    if (std::find(wrapped.begin(), wrapped.end(), w) != wrapped.end()) {
      std::string list;
      for (std::int64_t a : axes) list += (list.empty() ? "" : ",") + std::to_string(a);
      raise<ValueError>(std::string(op) + ": axis " + std::to_string(w) + " appears more than once in [" + list + "]");
    }
    if (rank > 0) wrapped.push_back(w);
  }
  return wrapped;
}

Axes sorted(Axes axes) {
  std::sort(axes.begin(), axes.end());
  return axes;
}

void require_countable(const char* op, const Shape& shape) {
  std::int64_t count = 1;
  for (Size s : shape)
    if (!s.is_symbol() && s.raw() > 1 && __builtin_mul_overflow(count, s.raw(), &count))
      raise<ValueError>(std::string(op) + ": the shape " + to_string(shape) +
                        " has more elements than memory can hold; make it smaller");
}

void require_sizes(const char* op, const Shape& shape) {
  for (Size s : shape)
    if (!s.is_symbol() && s.raw() < 0)
      raise<ValueError>(std::string(op) + ": the shape " + to_string(shape) + " has a negative size");
  require_countable(op, shape);
}

namespace {

/// `number`: `told` in the error; a size, on whose answer a recorded program relies, or an int64.
template <class Number>
void require_number_fits(const char* op, Number number, std::int64_t told, DType dtype) {
  if (!is_integral(dtype) || dtype == DType::boolean || dtype == DType::int64) return;
  const auto [low, high] =
      visit_dtype(dtype, []<class T>(std::type_identity<T>) -> std::pair<std::int64_t, std::int64_t> {
        if constexpr (std::is_integral_v<T>) return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
        else return {};
      });
  if (number < low || number > high)
    raise<ValueError>(std::string(op) + ": " + std::to_string(told) + " is no " + short_name(dtype) +
                      ", which holds numbers from " + std::to_string(low) + " to " + std::to_string(high) +
                      "; use a wider dtype");
}

}  // namespace

void require_fits(const char* op, std::int64_t number, DType dtype) { require_number_fits(op, number, number, dtype); }
void require_fits(const char* op, Size number, DType dtype) { require_number_fits(op, number, number.hint(), dtype); }

std::size_t word_among(const char* op, const char* what, std::string_view given,
                       std::initializer_list<std::string_view> words) {
  if (const auto found = std::ranges::find(words, given); found != words.end())
    return static_cast<std::size_t>(found - words.begin());
  std::string list;
  for (const std::string_view& word : words) {
    const auto left = words.end() - &word;
    list += (&word == words.begin() ? "\"" : left == 1 ? " or \"" : ", \"") + std::string(word) + "\"";
  }
  raise<ValueError>(std::string(op) + ": " + what + " is \"" + shortened(given) + "\"; it must be " + list);
}

void require_integers(const char* op, const char* what, const Tensor& x) {
  if (const DType dtype = type_of(x).dtype; !is_integral(dtype) || dtype == DType::boolean)
    raise<TypeError>(std::string(op) + ": the " + what + " " + type_text(x) + " must be integers");
}

void require_floating(const char* op, const Tensor& x) {
  require_defined(op, x, 0);
  if (!is_differentiable(x.dtype()))
    raise<TypeError>(std::string(op) + ": " + type_text(x) +
                     " is neither floating nor complex; convert it first, for example with x.to(rc::float32)");
}

}  // namespace ricci
