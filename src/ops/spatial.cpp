// Checks of options of sliding windows and of their operands.
#include "ops/spatial.h"

#include <algorithm>

namespace ricci {

std::string list_of(const Sizes& numbers) {
  std::string list;
  for (Size n : numbers) list += (list.empty() ? "" : ",") + std::to_string(n.hint());
  return "[" + list + "]";
}

void require_of_a_window(const char* op, const char* what, Size number, std::int64_t least) {
  if (number >= least && (number.is_symbol() || number <= most_of_a_window)) return;
  raise<ValueError>(std::string(op) + ": " + what + " is " + std::to_string(number.hint()) + "; it must be at " +
                    (number < least ? "least " + std::to_string(least) : "most " + std::to_string(most_of_a_window)));
}

Sizes one_per_axis(const char* op, const char* what, const Sizes& given, int count, std::int64_t least) {
  const auto n = static_cast<std::size_t>(count);
  if (given.size() != 1 && given.size() != n)
    raise<ValueError>(std::string(op) + ": " + what + " " + list_of(given) + " must hold one number" +
                      (count == 1 ? "" : " or " + std::to_string(count)));
  Sizes numbers;
  for (std::size_t i = 0; i < n; ++i) {
    numbers.push_back(given[given.size() == 1 ? 0 : i]);
    require_of_a_window(op, what, numbers.back(), least);
  }
  return numbers;
}

std::array<Size, 3> array_per_axis(const char* op, const char* what, const Sizes& given, int count,
                                   std::int64_t least) {
  const Sizes numbers = one_per_axis(op, what, given, count, least);
  std::array<Size, 3> array{};
  std::copy(numbers.begin(), numbers.end(), array.begin());
  return array;
}

void require_axes(const char* op, const char* what, const Tensor& x, bool fits, const char* wanted) {
  if (!fits) raise<ValueError>(std::string(op) + ": the " + what + " must be " + wanted + ", it is " + type_text(x));
}

void require_images(const char* op, const Tensor& x, int spatial) {
  static constexpr const char* wanted[] = {"[N, C, L] or [C, L]", "[N, C, H, W] or [C, H, W]",
                                           "[N, C, D, H, W] or [C, D, H, W]"};
  const int rank = type_of(x).rank();
  require_axes(op, "input", x, rank == spatial + 1 || rank == spatial + 2, wanted[spatial - 1]);
}

Shape spatial_sizes(const Type& type, int spatial) { return Shape(type.shape.end() - spatial, type.shape.end()); }

Type with_spatial_sizes(Type type, const Shape& sizes) {
  std::copy(sizes.begin(), sizes.end(), type.shape.end() - sizes.rank());
  return type;
}

}  // namespace ricci
