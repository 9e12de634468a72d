// Checks of parameters, and what shape and type follow from them.
#include "random/request.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "kernels/strided.h"
#include "ops/axes.h"
#include "ops/reading.h"
#include "primitive/promotion.h"
#include "program/structure.h"
#include "random/element_samplers.h"

namespace ricci {
namespace {

/// What lies between them is of the range; NaN does not.
struct Bounds {
  double low, high;
  bool hold(double x) const { return (x >= low) & (x <= high); }
};

Bounds bounds_of(Range range) {
  using Limits = std::numeric_limits<double>;
  switch (range) {
    case Range::any: return {-Limits::infinity(), Limits::infinity()};
    case Range::positive: return {Limits::denorm_min(), Limits::infinity()};
    case Range::not_negative: return {0, Limits::infinity()};
    case Range::probability: return {0, 1};
    case Range::positive_probability: return {Limits::denorm_min(), 1};
    case Range::weight: return {0, Limits::max()};
  }
  __builtin_unreachable();
}

const char* text_of(Range range) {
  switch (range) {
    case Range::any: return "a number";
    case Range::positive: return "positive";
    case Range::not_negative: return "at least 0";
    case Range::probability: return "at least 0 and at most 1";
    case Range::positive_probability: return "above 0 and at most 1";
    case Range::weight: return "finite and at least 0";
  }
  __builtin_unreachable();
}

std::string printed(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

/// What came as a C++ number.
std::optional<double> number_of(const char* op, const Tensor& x) {
  const ValueRef& value = value_of(x);
  if (!is_number(*value)) return std::nullopt;
  return only_element<double>(op, static_cast<const Array&>(*value), "");
}

struct ElementsInRange {
  static constexpr const char* name = "check_range";
  std::string op, parameter;
  Range range;

  template <class E>
  static bool all_hold(const Bounds& bounds, const E* element, std::int64_t n) {
    bool hold = true;
    for (std::int64_t i = 0; i < n; ++i) hold &= bounds.hold(static_cast<double>(element[i]));
    return hold;
  }
  /// False also where x has another type, or does not lie row by row.
  static bool are_floats_in(const Bounds& bounds, const Strided& x) {
    if (!kernels::is_contiguous(x)) return false;
    const std::int64_t n = kernels::element_count(x);
    if (x.dtype == DType::float32) return all_hold(bounds, static_cast<const float*>(x.data), n);
    return x.dtype == DType::float64 && all_hold(bounds, static_cast<const double*>(x.data), n);
  }
  void look(const Strided& x, const Vmaps& vmaps) const {
    const Bounds bounds = bounds_of(range);
    if (are_floats_in(bounds, x)) return;
    const ArrayRef elements = row_major_copy(x, DType::float64);
    const auto* element = static_cast<const double*>(elements->data);
    const std::int64_t n = elements->numel();
    if (all_hold(bounds, element, n)) return;
    const std::int64_t i = std::find_if_not(element, element + n, [&](double e) { return bounds.hold(e); }) - element;
    raise<ValueError>(op + ": " + parameter + " is " + printed(element[i]) +
                      place_text(i, elements->type.shape, vmaps) + "; it must be " + text_of(range));
  }
  Allowed allowed() const {
    const auto [low, high] = bounds_of(range);
    return {.reals = Allowed::Reals{low, high}};
  }
};

void check(const char* op, const Parameter& parameter, int operand) {
  require_defined(op, parameter.value, operand);
  const Type type = type_of(parameter.value);
  if (is_complex(type.dtype))
    raise<TypeError>(std::string(op) + ": " + parameter.name + " is " + to_string(type) +
                     ", which is complex; it must be real");
  require_elements_in_range(op, parameter.name, parameter.value, parameter.range);
}

Types checked(const char* op, std::initializer_list<Parameter> parameters) {
  Types types;
  for (const Parameter& parameter : parameters) {
    check(op, parameter, static_cast<int>(types.size()));
    types.push_back(type_of(parameter.value));
  }
  return types;
}

class TypesOfParameters {
 public:
  explicit TypesOfParameters(const Types& types) {
    for (const Type& type : types) pointers_.push_back(&type);
  }
  std::span<const Type* const> list() const { return {pointers_.data(), pointers_.size()}; }
  /// What they promote to; the default dtype if all are numbers, or it is not floating.
  DType dtype() const {
    const bool numbers = std::ranges::all_of(pointers_, [](const Type* type) { return type->weak; });
    const DType dtype = result_dtype(list());
    return !numbers && is_floating(dtype) ? dtype : default_dtype();
  }

 private:
  SmallVector<const Type*, 4> pointers_;
};

/// Half a step of uniform numbers (kernels/random.h).
double half_step(DType dtype) {
  switch (dtype) {
    case DType::float16: return 0x1p-12;
    case DType::bfloat16: return 0x1p-9;
    case DType::float32: return 0x1p-25;
    default: return 0x1p-54;
  }
}

}  // namespace

void require_in_range(const char* op, const char* name, double number, Range range) {
  if (range == Range::any || bounds_of(range).hold(number)) return;
  raise<ValueError>(std::string(op) + ": " + name + " is " + printed(number) + "; it must be " + text_of(range));
}

void require_elements_in_range(const char* op, const char* name, const Tensor& x, Range range) {
  if (range == Range::any) return;
  if (const std::optional<double> number = number_of(op, x)) return require_in_range(op, name, *number, range);
  check_elements(op, x, ElementsInRange{op, name, range});
}

Tensor Request::open_uniform() const { return maximum(uniform(), half_step(dtype)); }

Request request(const Noise& noise, std::initializer_list<Parameter> parameters) {
  const Types types = checked(noise.op(), parameters);
  const TypesOfParameters all(types);
  return {noise, broadcast_shape(noise.op(), all.list()), all.dtype()};
}

Request request(const Noise& noise, std::initializer_list<Parameter> parameters, const Shape& shape,
                std::optional<DType> dtype) {
  const Types types = checked(noise.op(), parameters);
  require_sizes(noise.op(), shape);
  auto parameter = parameters.begin();
  for (const Type& type : types) {
    if (!broadcasts_to(type.shape, shape))
      raise<ValueError>(std::string(noise.op()) + ": " + parameter->name + " is " + to_string(type) +
                        ", which does not broadcast to the shape " + to_string(shape) + "; ask for one that it does");
    ++parameter;
  }
  return {noise, shape, dtype ? *dtype : TypesOfParameters(types).dtype()};
}

void require_order(const char* op, const Tensor& low, const Tensor& high, bool must_differ) {
  const std::optional<double> from = number_of(op, low), until = number_of(op, high);
  if (!from || !until || (must_differ ? *from < *until : *from <= *until)) return;
  raise<ValueError>(std::string(op) + ": low is " + printed(*from) + ", high is " + printed(*until) +
                    (must_differ ? "; low must be below high" : "; low must not be above high"));
}

}  // namespace ricci
