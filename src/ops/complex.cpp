// The parts of complex numbers. Real tensors are their own real part and conjugate. A map from complex to real numbers
// meets complex tangents and real cotangents; its `scale` tells the two apart by that.
#include <cmath>
#include <complex>
#include <numbers>

#include "ops/axes.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

Tensor imaginary_unit() { return std::complex<double>(0, 1); }

Tensor random_complex(const Shape& shape) { return add(rand(shape), mul(rand(shape), imaginary_unit())); }

template <class P>
std::vector<Sample<P>> complex_samples() {
  return {{{}, {random_complex({2, 3})}}, {{}, {random_complex({})}}};
}

struct RealPart {
  using kind = Elementwise;
  using result = Real;
  static constexpr const char* name = "real";
  static constexpr DTypes dtypes = DTypes::complex;
  template <class T> auto formula(T x) const { return scalar::real(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor&) const { return real(t); }
  static std::vector<Sample<RealPart>> samples() { return complex_samples<RealPart>(); }
};

struct ImaginaryPart {
  using kind = Elementwise;
  using result = Real;
  static constexpr const char* name = "imag";
  static constexpr DTypes dtypes = DTypes::complex;
  template <class T> auto formula(T x) const { return scalar::imag(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor&) const {
    return t.is_complex() ? imag(t) : mul(t, imaginary_unit());
  }
  static std::vector<Sample<ImaginaryPart>> samples() { return complex_samples<ImaginaryPart>(); }
};

struct Conj {
  using kind = Elementwise;
  static constexpr const char* name = "conj";
  static constexpr DTypes dtypes = DTypes::complex;
  template <class T> auto formula(T x) const { return scalar::conj(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor&) const { return conj(t); }
  static std::vector<Sample<Conj>> samples() { return complex_samples<Conj>(); }
};

struct Angle {
  using kind = Elementwise;
  using result = Real;
  static constexpr const char* name = "angle";
  static constexpr DTypes dtypes = DTypes::floating | DTypes::complex;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::arg(x); }
  /// 0 at 0, and for real x.
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const {
    if (!x.is_complex()) return {};
    const Tensor size = real(mul(x, conj(x))), divisor = where(eq(size, 0), 1, size);
    if (t.is_complex()) return div(imag(mul(t, conj(x))), divisor);
    return mul(div(t, divisor), mul(x, imaginary_unit()));
  }
  static double reference(double x) { return x < 0 ? std::numbers::pi : 0; }
};

}  // namespace

namespace ops {

Tensor real(const Tensor& x) {
  require_defined("real", x, 0);
  return x.is_complex() ? apply(RealPart{}, x) : x;
}
Tensor imag(const Tensor& x) {
  require_defined("imag", x, 0);
  return x.is_complex() ? apply(ImaginaryPart{}, x) : zeros(type_of(x).shape, x.dtype());
}
Tensor conj(const Tensor& x) {
  require_defined("conj", x, 0);
  return x.is_complex() ? apply(Conj{}, x) : x;
}
Tensor angle(const Tensor& x) { return apply(Angle{}, x); }

}  // namespace ops
}  // namespace ricci
