// Comparisons: tensors of booleans, and two that read values and answer a host bool.
#include <cmath>

#include "ops/axes.h"
#include "ops/constants.h"
#include "ops/reading.h"
#include "primitive/called.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

#define RICCI_COMPARISON(Op, text, word, symbol, of)                               \
  struct Op {                                                                      \
    using kind = Elementwise;                                                      \
    using result = Boolean;                                                        \
    static constexpr const char* name = text;                                      \
    static constexpr DTypes dtypes = of;                                           \
    static constexpr bool locally_constant = true;                                 \
    template <class T> auto formula(T a, T b) const { return scalar::word(a, b); } \
    static double reference(double a, double b) { return a symbol b; }             \
  };

RICCI_COMPARISON(Eq, "eq", equal, ==, DTypes::all)
RICCI_COMPARISON(Ne, "ne", not_equal, !=, DTypes::all)
RICCI_COMPARISON(Lt, "lt", less, <, ordered)
RICCI_COMPARISON(Le, "le", less_equal, <=, ordered)
RICCI_COMPARISON(Gt, "gt", greater, >, ordered)
RICCI_COMPARISON(Ge, "ge", greater_equal, >=, ordered)
#undef RICCI_COMPARISON

#define RICCI_TEST_OF_ELEMENTS(Op, word)                                   \
  struct Op {                                                              \
    using kind = Elementwise;                                              \
    using result = Boolean;                                                \
    static constexpr const char* name = #word;                             \
    static constexpr DTypes dtypes = DTypes::all;                          \
    static constexpr bool locally_constant = true;                         \
    template <class T> auto formula(T x) const { return scalar::word(x); } \
    static double reference(double x) { return std::word(x); }             \
  };

RICCI_TEST_OF_ELEMENTS(Isnan, isnan)
RICCI_TEST_OF_ELEMENTS(Isinf, isinf)
RICCI_TEST_OF_ELEMENTS(Isfinite, isfinite)
#undef RICCI_TEST_OF_ELEMENTS

/// |a - b| <= atol + rtol |b|, or equal, as infinities of one sign are.
struct Isclose {
  using kind = Elementwise;
  using result = Boolean;
  static constexpr const char* name = "isclose";
  static constexpr DTypes dtypes = fields;
  static constexpr bool locally_constant = true;
  double rtol, atol;

  template <class T> auto formula(T a, T b) const {
    const auto error = scalar::abs(a - b), size = scalar::abs(b);
    using R = std::remove_const_t<decltype(error)>;
    const auto near = scalar::less_equal(error, R(atol) + R(rtol) * size) && scalar::isfinite(error);
    return near || scalar::equal(a, b);
  }
  double reference(double a, double b) const { return a == b || std::abs(a - b) <= atol + rtol * std::abs(b); }
  static std::vector<Sample<Isclose>> samples() { return {{{0.1, 0.2}, {rand({2, 3}), rand({2, 3})}}}; }
};

/// The tensor's elements, as a tensor outside all transforms.
Tensor concrete_tensor(const char* op, const Tensor& x) { return make_tensor(concrete(op, x), 0); }

bool all_true(const char* op, const Tensor& mask) { return *static_cast<const bool*>(concrete(op, all(mask))->data); }

}  // namespace

namespace ops {

Tensor eq(const Tensor& a, const Tensor& b) { return apply(Eq{}, a, b); }
Tensor ne(const Tensor& a, const Tensor& b) { return apply(Ne{}, a, b); }
Tensor lt(const Tensor& a, const Tensor& b) { return apply(Lt{}, a, b); }
Tensor le(const Tensor& a, const Tensor& b) { return apply(Le{}, a, b); }
Tensor gt(const Tensor& a, const Tensor& b) { return apply(Gt{}, a, b); }
Tensor ge(const Tensor& a, const Tensor& b) { return apply(Ge{}, a, b); }
Tensor isnan(const Tensor& x) { return apply(Isnan{}, x); }
Tensor isinf(const Tensor& x) { return apply(Isinf{}, x); }
Tensor isfinite(const Tensor& x) { return apply(Isfinite{}, x); }

Tensor isclose(const Tensor& a, const Tensor& b) { return isclose(a, b, 1e-5, 1e-8); }
Tensor isclose(const Tensor& a, const Tensor& b, double rtol, double atol) {
  require_defined("isclose", a, 0);
  require_defined("isclose", b, 1);
  for (const auto& [name, tolerance] : {std::pair{"rtol", rtol}, std::pair{"atol", atol}})
    if (!(tolerance >= 0))
      raise<ValueError>(std::string("isclose: ") + name + " is " + std::to_string(tolerance) +
                        "; a tolerance must be 0 or more");
  // Integers meet in float64, which tells neighbours apart where float32 does not.
  const bool whole = is_integral(type_of(a).dtype) && is_integral(type_of(b).dtype);
  return apply(Isclose{rtol, atol}, whole ? to(a, DType::float64) : a, b);
}

Tensor isclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  const Called as("isclose", a, b);
  const Tensor close = isclose(a, b, rtol, atol);
  return equal_nan ? logical_or(close, logical_and(isnan(a), isnan(b))) : close;
}

bool equal(const Tensor& a, const Tensor& b) {
  const Tensor left = concrete_tensor("equal", a), right = concrete_tensor("equal", b);
  return type_of(left).shape == type_of(right).shape && all_true("equal", eq(left, right));
}
bool allclose(const Tensor& a, const Tensor& b) { return allclose(a, b, 1e-5, 1e-8); }
bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol) { return allclose(a, b, rtol, atol, false); }
bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  const Called as("allclose", a, b);
  const Tensor left = concrete_tensor("allclose", a), right = concrete_tensor("allclose", b);
  return all_true("allclose", isclose(left, right, rtol, atol, equal_nan));
}

const Tensor& Tensor::eq_(const Tensor& other) const { return apply_into(*this, Eq{}, *this, other); }
const Tensor& Tensor::ne_(const Tensor& other) const { return apply_into(*this, Ne{}, *this, other); }
const Tensor& Tensor::lt_(const Tensor& other) const { return apply_into(*this, Lt{}, *this, other); }
const Tensor& Tensor::le_(const Tensor& other) const { return apply_into(*this, Le{}, *this, other); }
const Tensor& Tensor::gt_(const Tensor& other) const { return apply_into(*this, Gt{}, *this, other); }
const Tensor& Tensor::ge_(const Tensor& other) const { return apply_into(*this, Ge{}, *this, other); }

}  // namespace ops
}  // namespace ricci
