// Rounding, and division with a rounded quotient. Rounding is locally constant: its derivative is zero.
#include <cmath>

#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

constexpr DTypes reals = DTypes::floating | DTypes::integral;

struct Floor {
  using kind = Elementwise;
  static constexpr const char* name = "floor";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = reals;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T x) const { return scalar::floor(x); }
  static double reference(double x) { return std::floor(x); }
};

struct Ceil {
  using kind = Elementwise;
  static constexpr const char* name = "ceil";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = reals;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T x) const { return scalar::ceil(x); }
  static double reference(double x) { return std::ceil(x); }
};

struct Round {
  using kind = Elementwise;
  static constexpr const char* name = "round";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = reals;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T x) const { return scalar::round(x); }
  static double reference(double x) { return std::nearbyint(x); }
};

struct Trunc {
  using kind = Elementwise;
  static constexpr const char* name = "trunc";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = reals;
  static constexpr bool locally_constant = true;
  template <class T> auto formula(T x) const { return scalar::trunc(x); }
  static double reference(double x) { return std::trunc(x); }
};

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
  static constexpr unsigned keeps = input(0) | input(1);
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
  static constexpr unsigned keeps = input(0) | input(1) | output(0);
  static constexpr Interval domain = {0.5, 4};
  template <class T> auto formula(T a, T b) const { return scalar::fmod(a, b); }
  /// The quotient comes from the exact remainder y: trunc(a / b) would be off by one where a / b rounds to an integer.
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) const {
    return i == 0 ? t : neg(mul(t, round(div(sub(x[0], y), x[1]))));
  }
  static double reference(double a, double b) { return std::fmod(a, b); }
};

}  // namespace

namespace ops {

Tensor floor(const Tensor& x) { return apply(Floor{}, x); }
Tensor ceil(const Tensor& x) { return apply(Ceil{}, x); }
Tensor round(const Tensor& x) { return apply(Round{}, x); }
Tensor trunc(const Tensor& x) { return apply(Trunc{}, x); }
Tensor frac(const Tensor& x) { return apply(Frac{}, x); }
Tensor floor_divide(const Tensor& a, const Tensor& b) { return apply(FloorDivide{}, a, b); }
Tensor remainder(const Tensor& a, const Tensor& b) { return apply(Remainder{}, a, b); }
Tensor fmod(const Tensor& a, const Tensor& b) { return apply(Fmod{}, a, b); }

const Tensor& Tensor::floor_() const { return apply_into(*this, Floor{}, *this); }
const Tensor& Tensor::ceil_() const { return apply_into(*this, Ceil{}, *this); }
const Tensor& Tensor::round_() const { return apply_into(*this, Round{}, *this); }

}  // namespace ops
}  // namespace ricci
