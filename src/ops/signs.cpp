// Sizes and signs, and repairing what is not finite. Start with `Abs`.
#include <cmath>
#include <limits>

#include "ops/axes.h"
#include "ops/edge.h"
#include "primitive/called.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

struct Abs {
  using kind = Elementwise;
  using result = Real;
  static constexpr const char* name = "abs";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = DTypes::floating | DTypes::integral | DTypes::complex;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::abs(x); }
  /// Of a complex x: a tangent is complex and gives the real part along x; a cotangent is real and goes along x.
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const {
    const Tensor direction = slope_of_abs(x);
    if (!x.is_complex()) return mul(t, direction);
    return t.is_complex() ? real(mul(t, conj(direction))) : mul(t, direction);
  }
  static double reference(double x) { return std::fabs(x); }
};

struct Sign {
  using kind = Elementwise;
  static constexpr const char* name = "sign";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = DTypes::floating | DTypes::integral | DTypes::boolean;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T x) const { return scalar::sign(x); }
  static double reference(double x) { return (x > 0) - (x < 0); }
};

struct Copysign {
  using kind = Elementwise;
  static constexpr const char* name = "copysign";
  static constexpr double ulps = 0;
  static constexpr unsigned keeps[] = {input(0) | input(1), nothing};
  template <class T> auto formula(T magnitude, T sign) const { return scalar::copysign(magnitude, sign); }
  /// 0 where the magnitude is 0; the sign is a step.
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? mul(t, mul(sign(x[0]), copysign(1, x[1]))) : Tensor();
  }
  static double reference(double magnitude, double sign) { return std::copysign(magnitude, sign); }
};

/// What stands for NaN and the infinities.
struct NanToNum {
  using kind = Elementwise;
  static constexpr const char* name = "nan_to_num";
  static constexpr double ulps = 0;
  static constexpr unsigned keeps = input(0);
  double nan, positive, negative;

  template <class T> auto formula(T x) const {
    const T finite =
        scalar::select(scalar::isinf(x), scalar::select(scalar::less(x, T(0)), T(negative), T(positive)), x);
    return scalar::select(scalar::isnan(x), T(nan), finite);
  }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return where(isfinite(x), t, 0); }
  double reference(double x) const { return std::isnan(x) ? nan : std::isinf(x) ? (x < 0 ? negative : positive) : x; }
  static std::vector<Sample<NanToNum>> samples() {
    constexpr double largest = std::numeric_limits<float>::max();
    return {{{0, largest, -largest}, {div(sub(rand({8}), 0.5), floor(mul(rand({8}), 2)))}},
            {{1, 2, -3}, {div(sub(rand({8}), 0.5), floor(mul(rand({8}), 2)))}}};
  }
};

double largest_number(DType dtype) {
  switch (dtype) {
    case DType::float16: return 65504;
    case DType::bfloat16: return 0x1.fep127;
    case DType::float64: return std::numeric_limits<double>::max();
    default: return std::numeric_limits<float>::max();
  }
}

}  // namespace

Tensor slope_of_abs(const Tensor& x) { return x.is_complex() ? mul(sgn(x), edge(abs(x))) : sign(x); }

namespace ops {

Tensor abs(const Tensor& x) { return apply(Abs{}, x); }
Tensor sign(const Tensor& x) { return apply(Sign{}, x); }
Tensor sgn(const Tensor& x) {
  require_defined("sgn", x, 0);
  if (!x.is_complex()) return sign(x);
  const Tensor size = abs(x), zero = eq(size, 0);
  return where(zero, 0, div(x, where(zero, 1, size)));
}
Tensor copysign(const Tensor& magnitude, const Tensor& sign) { return apply(Copysign{}, magnitude, sign); }
Tensor nan_to_num(const Tensor& x) { return x.nan_to_num(NanToNumOptions{}); }
Tensor Tensor::nan_to_num(NanToNumOptions options) const {
  const Called as("nan_to_num", *this);
  if (is_complex()) return ops::complex(ops::real(*this).nan_to_num(options), ops::imag(*this).nan_to_num(options));
  if (is_integral(dtype())) return ops::clone(*this);
  const double largest = largest_number(dtype());
  return apply(NanToNum{options.nan, options.posinf.value_or(largest), options.neginf.value_or(-largest)}, *this);
}

const Tensor& Tensor::abs_() const { return apply_into(*this, Abs{}, *this); }
const Tensor& Tensor::sign_() const { return apply_into(*this, Sign{}, *this); }
const Tensor& Tensor::copysign_(const Tensor& sign) const { return apply_into(*this, Copysign{}, *this, sign); }
const Tensor& abs_(const Tensor& x) { return x.abs_(); }

}  // namespace ops
}  // namespace ricci
