// Tensors as text: nested brackets of values, then the type; inside a transform, the nest of what the tensor is made
// of. Reads values without operations, so printing changes nothing, is not recorded, and never throws.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <ostream>

#include "interpreters/batch.h"
#include "interpreters/dual.h"
#include "interpreters/tape.h"
#include "kernels/elementwise.h"
#include "ops/reading.h"
#include "ricci/error.h"

namespace ricci {
namespace {

constexpr std::int64_t most_elements = 1000;  // of a tensor printed in full
constexpr std::int64_t edge = 3;              // elements shown at either end of an axis otherwise

std::string text_of(double value, int digits) {
  if (std::isnan(value)) return "nan";  // its sign says nothing
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_integral_v<T>) return std::to_string(value);
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return text_of(static_cast<double>(static_cast<float>(value)), 4);
  else if constexpr (std::is_floating_point_v<T>) return text_of(static_cast<double>(value), 6);
  else {
    const std::string imaginary = text_of(value.imag());
    return text_of(value.real()) + (std::signbit(value.imag()) ? "" : "+") + imaginary + "i";
  }
}

/// One array: its elements as text of one width, nested by axes.
class ArrayText {
 public:
  explicit ArrayText(const Array& array) : array_(array), summarised_(array.numel() > most_elements) {
    visit(0, 0, [this](const std::string& element) { width_ = std::max(width_, element.size()); });
  }

  /// `indent`: the column it starts at, where further lines start too.
  std::string print(std::size_t indent) {
    indent_ = indent;
    return list(0, 0);
  }

 private:
  std::int64_t extent(int axis) const { return array_.type.shape.host()[axis]; }
  bool is_cut(int axis) const { return summarised_ && extent(axis) > 2 * edge; }
  std::int64_t after(int axis, std::int64_t i) const {
    return is_cut(axis) && i + 1 == edge ? extent(axis) - edge : i + 1;
  }
  std::int64_t place(int axis, std::int64_t i, std::int64_t offset) const {
    return offset + i * array_.strides[static_cast<std::size_t>(axis)];
  }

  std::string element(std::int64_t offset) const {
    return visit_dtype(array_.type.dtype, [&]<class T>(std::type_identity<T>) {
      return text_of(static_cast<const T*>(array_.data)[offset]);
    });
  }
  template <class F>
  void visit(int axis, std::int64_t offset, const F& f) const {
    if (axis == array_.type.rank()) return f(element(offset));
    for (std::int64_t i = 0; i < extent(axis); i = after(axis, i)) visit(axis + 1, place(axis, i, offset), f);
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
    for (std::int64_t i = 0; i < extent(axis); i = after(axis, i)) {
      if (i) text += between;
      if (i && is_cut(axis) && i == extent(axis) - edge) text += "..." + between;
      text += list(axis + 1, place(axis, i, offset));
    }
    return text + "]";
  }

  const Array& array_;
  bool summarised_;
  std::size_t width_ = 0;
  std::size_t indent_ = 0;
};

std::string print(const Value& value, std::size_t indent);

std::string nested(const std::string& start, const Value& inner, std::size_t indent) {
  return start + print(inner, indent + start.size()) + "}";
}

std::string print_batched(const Batched& batched, std::size_t indent) {
  const Interpreter* interpreter = find_interpreter(batched.level);
  if (!interpreter) return "stale{" + to_string(batched.type) + ", " + stale_description(batched.level) + "}";
  return nested("Batched{" + transform_text(interpreter) + ", " + to_string(batched.type) + ", ", *batched.value,
                indent);
}

std::string print_dual(const Dual& dual, std::size_t indent) {
  if (!find_interpreter(dual.level)) return print(*dual.primal, indent);  // its transform has ended: a plain value
  const std::string start = "Dual{primal ";
  std::string text = start + print(*dual.primal, indent + start.size());
  if (!dual.tangent) return text + ", tangent 0}";
  const std::string second = std::string(indent + 5, ' ') + "tangent ";
  return text + ",\n" + second + print(*dual.tangent, second.size()) + "}";
}

std::string print(const Value& value, std::size_t indent) {
  switch (value.kind) {
    case ValueKind::array:
      return ArrayText(static_cast<const Array&>(value)).print(indent) + " " + to_string(value.type);
    case ValueKind::batched: return print_batched(static_cast<const Batched&>(value), indent);
    case ValueKind::dual: return print_dual(static_cast<const Dual&>(value), indent);
    case ValueKind::taped:
      if (!find_interpreter(value.level)) return print(*static_cast<const Taped&>(value).value, indent);
      return nested("Taped{", *static_cast<const Taped&>(value).value, indent);
    case ValueKind::recorded:
      return (find_interpreter(value.level) ? "Recorded{" : "stale{") + to_string(value.type) + "}";
  }
  __builtin_unreachable();
}

}  // namespace

namespace ops {

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << "undefined";
  try {
    const ValueRef value = value_of(tensor);
    return out << print(*value, 0);
  } catch (const Error&) {
    return out << "stale";  // a view that must be made anew from a base that has left its transform
  }
}

}  // namespace ops
}  // namespace ricci
