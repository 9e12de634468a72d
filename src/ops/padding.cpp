// Padding with what stands in the tensor: pieces of it, joined along one axis after the other.

#include "ricci/ops/padding.h"

#include "ops/axes.h"
#include "primitive/called.h"

namespace ricci {
namespace {

enum class Mode : std::uint8_t { reflect, replicate, circular };

Mode mode_from(std::string_view word) {
  if (word == "reflect") return Mode::reflect;
  if (word == "replicate") return Mode::replicate;
  if (word == "circular") return Mode::circular;
  raise<ValueError>(R"(pad: there is no mode ")" + shortened(word) +
                    R"("; pass "constant", "reflect", "replicate" or "circular")");
}

/// What stands before or behind x along an axis, and is `width` > 0 elements wide. `x` is the whole, of `size`
/// elements, `kept` what is left of it where widths cut off.
Tensor continuation(const Tensor& x, const Tensor& kept, std::int64_t axis, Size width, bool is_before, Mode mode) {
  const Size size = type_of(x).shape[at(axis)], left = type_of(kept).shape[at(axis)];
  const auto require = [&](bool fits, const std::string& remedy) {
    if (!fits)
      raise<ValueError>("pad: axis " + std::to_string(axis) + " of " + type_text(x) + " cannot fill a width of " +
                        std::to_string(width.hint()) + "; " + remedy);
  };
  switch (mode) {
    case Mode::reflect:
      require(width < size, "a width of reflections must be less than the size");
      return flip(narrow(x, axis, is_before ? Size(1) : size - 1 - width, width), axis);
    case Mode::replicate: {
      require(size > 0, "it has no elements");
      Shape wide = type_of(x).shape;
      wide[at(axis)] = width;
      return expand(narrow(x, axis, is_before ? Size(0) : size - 1, 1), wide);
    }
    default:
      require(width <= left, "a circular width must be at most the size that is left");
      return narrow(kept, axis, is_before ? left - width : Size(0), width);
  }
}

/// x continued along one axis; a view where widths only cut off.
Tensor continued(const Tensor& x, std::int64_t axis, Size before, Size behind, Mode mode) {
  const auto cut = [](Size width) { return width < 0 ? 0 - width : Size(0); };
  const Size size = type_of(x).shape[at(axis)], first = cut(before), last = size - cut(behind);
  if (last < first)
    raise<ValueError>("pad: the widths cut more than axis " + std::to_string(axis) + " of " + type_text(x) + " has");
  const Tensor kept = first == 0 && last == size ? x : narrow(x, axis, first, last - first);
  std::vector<Tensor> pieces;
  if (before > 0) pieces.push_back(continuation(x, kept, axis, before, true, mode));
  pieces.push_back(kept);
  if (behind > 0) pieces.push_back(continuation(x, kept, axis, behind, false, mode));
  return pieces.size() == 1 ? kept : cat(pieces, axis);
}

}  // namespace

namespace ops {

Tensor pad(const Tensor& x, const Sizes& widths, std::string_view mode) { return pad(x, widths, mode, 0); }
Tensor pad(const Tensor& x, const Sizes& widths, std::string_view mode, double value) {
  if (mode == "constant") return pad(x, widths, value);
  const Called as("pad", x);
  if (value != 0)
    raise<ValueError>(R"(pad: a value is for the mode "constant", the mode is ")" + shortened(mode) + '"');
  const auto rank = at(type_of(x).rank());
  if (widths.size() % 2 != 0 || widths.size() > 2 * rank)
    raise<ValueError>("pad: the widths " + to_string(Shape(widths.begin(), widths.end())) + " do not fit " +
                      type_text(x) + "; give two for each axis, the last axis first");
  const Mode how = mode_from(mode);
  Tensor y = x;
  bool is_view = true;
  for (std::size_t i = 0; i < widths.size(); i += 2) {
    y = continued(y, static_cast<std::int64_t>(rank - 1 - i / 2), widths[i], widths[i + 1], how);
    is_view = is_view && !(widths[i] > 0) && !(widths[i + 1] > 0);
  }
  return is_view ? clone(y) : y;
}

}  // namespace ops
}  // namespace ricci
