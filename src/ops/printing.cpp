// Tensors as text: nested brackets of values, then the type; inside a transform, the nest of what the tensor is made
// of. Reads values without operations, so printing changes nothing, is not recorded, and never throws.
#include "ops/printing.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <mutex>
#include <ostream>
#include <sstream>

#include "interpreters/batch.h"
#include "interpreters/dual.h"
#include "interpreters/tape.h"
#include "kernels/elementwise.h"
#include "ops/reading.h"
#include "ricci/error.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

constexpr int most_half_digits = 4;
constexpr std::streamsize precision_of_new_streams = 6;

std::mutex options_lock;
PrintOptions current_options;

/// The options and what the stream was told.
struct Style {
  PrintOptions options;
  bool precision_given;  // by the stream
  std::ios_base::fmtflags flags;

  explicit Style(const std::ostream& out)
      : options(print_options()),
        precision_given(out.precision() != precision_of_new_streams && out.precision() >= 0),
        flags(out.flags()) {
    if (precision_given) options.precision = static_cast<int>(std::min<std::streamsize>(out.precision(), 1000));
  }

  std::string number(double value, int digits) const {
    if (std::isnan(value)) return "nan";  // its sign says nothing
    const auto notation = flags & std::ios_base::floatfield;
    std::string format = flags & std::ios_base::showpos ? "%+.*" : "%.*";
    format += notation == std::ios_base::fixed ? 'f' : notation == std::ios_base::scientific ? 'e' : 'g';
    std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format.c_str(), digits, value)), ' ');
    std::snprintf(text.data(), text.size() + 1, format.c_str(), digits, value);
    return text;
  }

  template <class T>
  std::string element(const T& value) const {
    if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
    else if constexpr (std::is_integral_v<T>)
      return (flags & std::ios_base::showpos && value >= 0 ? "+" : "") + std::to_string(value);
    else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      return number(static_cast<double>(static_cast<float>(value)),
                    precision_given ? options.precision : std::min(options.precision, most_half_digits));
    else if constexpr (std::is_floating_point_v<T>) return number(static_cast<double>(value), options.precision);
    else {
      const std::string imaginary = element(value.imag());
      const bool has_sign = imaginary[0] == '-' || imaginary[0] == '+';
      return element(value.real()) + (has_sign ? "" : "+") + imaginary + "i";
    }
  }
};

/// How much there is to print: elements, and rows without any.
double places(const Array& array) {
  double count = 1;
  for (const Size size : array.type.shape) count *= static_cast<double>(std::max<std::int64_t>(size, 1));
  return count;
}

/// One array: its elements as text of one width, nested by axes.
class ArrayText {
 public:
  ArrayText(const Array& array, const Style& style)
      : array_(array), style_(style), summarised_(places(array) > static_cast<double>(style.options.threshold)) {
    visit(0, 0, [this](const std::string& element) { width_ = std::max(width_, element.size()); });
  }

  /// `indent`: the column it starts at, where further lines start too.
  std::string print(std::size_t indent) {
    indent_ = indent;
    return list(0, 0);
  }

 private:
  std::int64_t extent(int axis) const { return array_.type.shape.host()[axis]; }
  std::int64_t edge() const { return style_.options.edge_items; }
  bool is_cut(int axis) const { return summarised_ && extent(axis) / 2 >= edge() && extent(axis) > 2 * edge(); }
  std::int64_t first(int axis) const { return is_cut(axis) && edge() == 0 ? extent(axis) : 0; }
  std::int64_t after(int axis, std::int64_t i) const {
    return is_cut(axis) && i + 1 == edge() ? extent(axis) - edge() : i + 1;
  }
  std::int64_t place(int axis, std::int64_t i, std::int64_t offset) const {
    return offset + i * array_.strides[static_cast<std::size_t>(axis)];
  }

  std::string element(std::int64_t offset) const {
    return visit_dtype(array_.type.dtype, [&]<class T>(std::type_identity<T>) {
      return style_.element(static_cast<const T*>(array_.data)[offset]);
    });
  }
  template <class F>
  void visit(int axis, std::int64_t offset, const F& f) const {
    if (axis == array_.type.rank()) return f(element(offset));
    for (std::int64_t i = first(axis); i < extent(axis); i = after(axis, i)) visit(axis + 1, place(axis, i, offset), f);
  }

  std::string list(int axis, std::int64_t offset) const {
    const int rank = array_.type.rank();
    if (axis == rank) {
      const std::string text = element(offset);
      return rank == 0 ? text : std::string(width_ - text.size(), ' ') + text;
    }
    const bool innermost_axis = axis + 1 == rank;
    const std::string between = innermost_axis ? ", "
                                               : "," + std::string(static_cast<std::size_t>(rank - axis - 1), '\n') +
                                                     std::string(indent_ + static_cast<std::size_t>(axis) + 1, ' ');
    std::string text = "[";
    if (first(axis) != 0) text += "...";
    for (std::int64_t i = first(axis); i < extent(axis); i = after(axis, i)) {
      if (i) text += between;
      if (i && is_cut(axis) && i == extent(axis) - edge()) text += "..." + between;
      text += list(axis + 1, place(axis, i, offset));
    }
    return text + "]";
  }

  const Array& array_;
  const Style& style_;
  bool summarised_;
  std::size_t width_ = 0;
  std::size_t indent_ = 0;
};

std::string print(const Value& value, std::size_t indent, const Style& style);

std::string nested(const std::string& start, const Value& inner, std::size_t indent, const Style& style) {
  return start + print(inner, indent + start.size(), style) + "}";
}

std::string print_batched(const Batched& batched, std::size_t indent, const Style& style) {
  const Interpreter* interpreter = find_interpreter(batched.level);
  if (!interpreter) return "stale{" + to_string(batched.type) + ", " + stale_description(batched.level) + "}";
  return nested("Batched{" + transform_text(interpreter) + ", " + to_string(batched.type) + ", ", *batched.value,
                indent, style);
}

std::string print_dual(const Dual& dual, std::size_t indent, const Style& style) {
  if (!find_interpreter(dual.level))
    return print(*dual.primal, indent, style);  // its transform has ended: a plain value
  const std::string start = "Dual{primal ";
  std::string text = start + print(*dual.primal, indent + start.size(), style);
  if (!dual.tangent) return text + ", tangent 0}";
  const std::string second = std::string(indent + 5, ' ') + "tangent ";
  return text + ",\n" + second + print(*dual.tangent, second.size(), style) + "}";
}

std::string print(const Value& value, std::size_t indent, const Style& style) {
  switch (value.kind) {
    case ValueKind::array:
      return ArrayText(static_cast<const Array&>(value), style).print(indent) + " " + to_string(value.type);
    case ValueKind::batched: return print_batched(static_cast<const Batched&>(value), indent, style);
    case ValueKind::dual: return print_dual(static_cast<const Dual&>(value), indent, style);
    case ValueKind::taped:
      if (!find_interpreter(value.level)) return print(*static_cast<const Taped&>(value).value, indent, style);
      return nested("Taped{", *static_cast<const Taped&>(value).value, indent, style);
    case ValueKind::recorded:
      return (find_interpreter(value.level) ? "Recorded{" : "stale{") + to_string(value.type) + "}";
  }
  __builtin_unreachable();
}

}  // namespace

std::string text_of_elements(const Array& array, std::size_t column) {
  const std::ostringstream plain;
  const Style style(plain);
  return ArrayText(array, style).print(column);
}

namespace ops {

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << "undefined";
  try {
    const ValueRef value = value_of(tensor);
    return out << print(*value, 0, Style(out));
  } catch (const Error&) {
    return out << "stale";  // a view that must be made anew from a base that has left its transform
  }
}

std::string to_string(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  return out.str();
}

}  // namespace ops

PrintOptions set_print_options(PrintOptions options) {
  const auto refuse = [](const char* name, std::int64_t value) {
    if (value < 0)
      raise<ValueError>(std::string("set_print_options: ") + name + " is " + std::to_string(value) +
                        "; it must be 0 or more");
  };
  refuse("precision", options.precision);
  refuse("threshold", options.threshold);
  refuse("edge_items", options.edge_items);
  const std::lock_guard lock(options_lock);
  return std::exchange(current_options, options);
}

PrintOptions print_options() {
  const std::lock_guard lock(options_lock);
  return current_options;
}

}  // namespace ricci
