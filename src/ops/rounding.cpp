// Rounding, and division with a rounded quotient. Rounding is locally constant: its derivative is zero.
#include <cmath>

#include "kernels/index.h"
#include "kernels/strided.h"
#include "ops/axes.h"
#include "ops/reading.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "primitive/promotion.h"
#include "primitive/writing.h"
#include "program/structure.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

constexpr DTypes reals = DTypes::floating | DTypes::integral;

#define RICCI_ROUNDING(Op, word, of_libm)                                  \
  struct Op {                                                              \
    using kind = Elementwise;                                              \
    static constexpr const char* name = #word;                             \
    static constexpr double ulps = 0;                                      \
    static constexpr DTypes dtypes = reals;                                \
    static constexpr bool locally_constant = true;                         \
    template <class T> auto formula(T x) const { return scalar::word(x); } \
    static double reference(double x) { return std::of_libm(x); }          \
  };

RICCI_ROUNDING(Floor, floor, floor)
RICCI_ROUNDING(Ceil, ceil, ceil)
RICCI_ROUNDING(Round, round, nearbyint)
RICCI_ROUNDING(Trunc, trunc, trunc)
#undef RICCI_ROUNDING

struct Frac {
  using kind = Elementwise;
  static constexpr const char* name = "frac";
  static constexpr double ulps = 0;
  template <class T> auto formula(T x) const { return x - scalar::trunc(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor&) const { return t; }
  static double reference(double x) { return x - std::trunc(x); }
};

struct FloorDivide {
  using kind = Elementwise;
  static constexpr const char* name = "floor_divide";
  static constexpr double ulps = 1;
  static constexpr DTypes dtypes = reals;
  static constexpr bool locally_constant = true;
  static constexpr Interval domain = {0.5, 4};
  template <class T> auto formula(T a, T b) const { return scalar::floor_div(a, b); }
  static double reference(double a, double b) { return std::floor(a / b); }
};

struct Remainder {
  using kind = Elementwise;
  static constexpr const char* name = "remainder";
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = reals;
  static constexpr unsigned keeps[] = {nothing, input(0) | input(1)};
  static constexpr Interval domain = {0.5, 4};
  template <class T> auto formula(T a, T b) const { return scalar::remainder(a, b); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? t : neg(mul(t, floor_divide(x[0], x[1])));
  }
  static double reference(double a, double b) { return a - b * std::floor(a / b); }
};

struct Fmod {
  using kind = Elementwise;
  static constexpr const char* name = "fmod";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = reals;
  static constexpr unsigned keeps[] = {nothing, input(0) | input(1) | output(0)};
  static constexpr Interval domain = {0.5, 4};
  template <class T> auto formula(T a, T b) const { return scalar::fmod(a, b); }
  /// The quotient comes from the exact remainder y: trunc(a / b) would be off by one where a / b rounds to an integer.
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) const {
    return i == 0 ? t : neg(mul(t, round(div(sub(x[0], y), x[1]))));
  }
  static double reference(double a, double b) { return std::fmod(a, b); }
};

/// One pass, as wide as the processor: the division that follows costs fifty times as much.
bool has_zero(const Strided& x) {
  const std::int64_t n = kernels::element_count(x);
  if (!kernels::is_contiguous(x)) return kernels::count_nonzero(x) != n;
  const auto any_zero = [n]<class T>(const T* element) {
    T zeros = 0;
    for (std::int64_t i = 0; i < n; ++i) zeros |= static_cast<T>(element[i] == 0);
    return zeros != 0;
  };
  switch (element_size(x.dtype)) {
    case 1: return any_zero(static_cast<const std::uint8_t*>(x.data));
    case 2: return any_zero(static_cast<const std::uint16_t*>(x.data));
    case 4: return any_zero(static_cast<const std::uint32_t*>(x.data));
    default: return any_zero(static_cast<const std::uint64_t*>(x.data));
  }
}

struct NonzeroDivisor {
  static constexpr const char* name = "check_divisor";
  std::string op;
  Shape shape;  // of one example

  void look(const Strided& divisor, const Vmaps& vmaps) const {
    if (!has_zero(divisor)) return;
    const std::int64_t place = first_place(divisor, [](std::int64_t n) { return n == 0; });
    raise<ValueError>(op + ": the divisor " + to_string(Type{divisor.dtype, shape}) + " is 0" +
                      place_text(place, Shape(divisor.shape, divisor.shape + divisor.rank), vmaps) +
                      ", and integers have no infinity; divide by where(b == 0, 1, b), or convert with "
                      "x.to(rc::float32)");
  }
  static Allowed allowed() { return {.zero = false}; }
};

/// Whether there is no element for any example of the running vmaps.
bool is_empty_for_all_examples(const char* op, const Tensor& x) {
  if (type_of(x).shape.numel().hint() == 0) return true;
  const ArrayRef elements = this_thread.innermost ? elements_of_all_examples(op, x).elements : ArrayRef();
  return elements && elements->numel() == 0;
}

/// Throws what is wrong with shapes and dtypes: that is said before what is wrong with values. `target`: of an in-place
/// operation.
void require_types(const char* op, const Rules& rules, const Tensor& a, const Tensor& b, const Tensor* target) {
  const Type* const types[] = {&value_of(a)->type, &value_of(b)->type};
  const Type result = operands_of(op, rules, types).result;
  if (target) require_fit(result, *target, op);
}

/// Throws ValueError if an integer would be divided by 0: `b` is the divisor. `rules`, `target`: as in require_types.
void require_divisors(const char* op, const Rules& rules, const Tensor& a, const Tensor& b,
                      const Tensor* target = nullptr) {
  require_defined(op, a, 0);
  require_defined(op, b, 1);
  const ValueRef &divided = value_of(a), &divisor = value_of(b);
  if (category(divided->type.dtype) > 1 || category(divisor->type.dtype) > 1) return;
  const bool stays_what_it_is = divisor->kind == ValueKind::array && (is_number(*divisor) || !recorder_of_everything());
  if (stays_what_it_is && !has_zero(static_cast<const Array&>(*divisor).strided())) return;
  const ArrayRef seen = elements_of_all_examples(op, b).elements;  // null: they are being recorded
  if (seen && !has_zero(seen->strided())) return;
  require_types(op, rules, a, b, target);
  if (!is_empty_for_all_examples(op, a)) check_elements(op, b, NonzeroDivisor{op, divisor->type.shape});
}

}  // namespace

namespace ops {

Tensor floor(const Tensor& x) { return apply(Floor{}, x); }
Tensor ceil(const Tensor& x) { return apply(Ceil{}, x); }
Tensor round(const Tensor& x) { return apply(Round{}, x); }
Tensor trunc(const Tensor& x) { return apply(Trunc{}, x); }
Tensor frac(const Tensor& x) { return apply(Frac{}, x); }
Tensor floor_divide(const Tensor& a, const Tensor& b) {
  require_divisors("floor_divide", rules_of<FloorDivide>, a, b);
  return apply(FloorDivide{}, a, b);
}
Tensor remainder(const Tensor& a, const Tensor& b) {
  require_divisors("remainder", rules_of<Remainder>, a, b);
  return apply(Remainder{}, a, b);
}
Tensor fmod(const Tensor& a, const Tensor& b) {
  require_divisors("fmod", rules_of<Fmod>, a, b);
  return apply(Fmod{}, a, b);
}

const Tensor& Tensor::floor_() const { return apply_into(*this, Floor{}, *this); }
const Tensor& Tensor::ceil_() const { return apply_into(*this, Ceil{}, *this); }
const Tensor& Tensor::round_() const { return apply_into(*this, Round{}, *this); }
const Tensor& Tensor::trunc_() const { return apply_into(*this, Trunc{}, *this); }
const Tensor& Tensor::frac_() const { return apply_into(*this, Frac{}, *this); }
const Tensor& Tensor::floor_divide_(const Tensor& other) const {
  require_divisors("floor_divide_", rules_of<FloorDivide>, *this, other, this);
  return apply_into(*this, FloorDivide{}, *this, other);
}
const Tensor& Tensor::remainder_(const Tensor& other) const {
  require_divisors("remainder_", rules_of<Remainder>, *this, other, this);
  return apply_into(*this, Remainder{}, *this, other);
}
const Tensor& Tensor::fmod_(const Tensor& other) const {
  require_divisors("fmod_", rules_of<Fmod>, *this, other, this);
  return apply_into(*this, Fmod{}, *this, other);
}

Tensor Tensor::round(std::int64_t decimals) const {
  const Called as("round", *this);
  if (decimals == 0 || is_integral(dtype())) return ops::round(*this);
  const double power = std::pow(10., static_cast<double>(std::abs(decimals)));
  if (std::isinf(power)) return decimals > 0 ? *this : ops::mul(*this, 0);
  return decimals > 0 ? ops::div(ops::round(ops::mul(*this, power)), power)
                      : ops::mul(ops::round(ops::div(*this, power)), power);
}

}  // namespace ops
}  // namespace ricci
