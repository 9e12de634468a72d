// The parts of complex numbers. Real tensors are their own real part and conjugate. A map from complex to real numbers
// meets complex tangents and real cotangents; its `scale` tells the two apart by that.
#include <cmath>
#include <complex>
#include <numbers>

#include "ops/axes.h"
#include "ops/constants.h"
#include "primitive/called.h"
#include "primitive/promotion.h"
#include "program/structure.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

Tensor imaginary_unit() { return std::complex<double>(0, 1); }

Tensor random_complex(const Shape& shape) { return add(rand(shape), mul(rand(shape), imaginary_unit())); }

template <class P>
std::vector<Sample<P>> complex_samples() {
  return {{{}, {random_complex({2, 3})}}, {{}, {random_complex({})}}};
}

struct Conj {
  using kind = Elementwise;
  static constexpr const char* name = "conj";
  static constexpr DTypes dtypes = DTypes::complex;
  template <class T> auto formula(T x) const { return scalar::conj(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor&) const { return conj(t); }
  Structure structure() const { return UndoesItself{}; }
  static std::vector<Sample<Conj>> samples() { return complex_samples<Conj>(); }
};

struct Angle {
  using kind = Elementwise;
  using result = Real;
  static constexpr const char* name = "angle";
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::arg(x); }
  template <class T> static T exact(T x) {
    return scalar::select(scalar::less(x, T(0)), T(std::numbers::pi_v<long double>), T(0));
  }
  /// 0 at 0, and for real x.
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const {
    if (!x.is_complex()) return {};
    const Tensor size = real(mul(x, conj(x))), divisor = where(eq(size, 0), 1, size);
    if (t.is_complex()) return div(imag(mul(t, conj(x))), divisor);
    return mul(div(t, divisor), mul(x, imaginary_unit()));
  }
  static double reference(double x) { return x < 0 ? std::numbers::pi : 0; }
};

struct ViewAsReal {
  using kind = Linear;
  static constexpr const char* name = "view_as_real";

  Type type(const Type& x) const {
    if (!is_complex(x.dtype)) raise<TypeError>("view_as_real: " + to_string(x) + " is not complex; use it as it is");
    Type type{real_dtype(x.dtype), x.shape};
    type.shape.push_back(2);
    return type;
  }
  void alias(Type& type, Strides& strides, void*&) const {
    type = this->type(type);
    for (std::int64_t& stride : strides) stride *= 2;
    strides.push_back(1);
  }
  Tensor transpose(const Tensor& ct) const { return view_as_complex(ct); }
  ViewAsReal lifted() const { return {}; }
  static std::vector<Sample<ViewAsReal>> samples() { return complex_samples<ViewAsReal>(); }
};

struct ViewAsComplex {
  using kind = Linear;
  static constexpr const char* name = "view_as_complex";

  Type type(const Type& x) const {
    if (x.dtype != DType::float32 && x.dtype != DType::float64)
      raise<TypeError>("view_as_complex: " + to_string(x) + " is neither f32 nor f64; convert it first");
    if (x.rank() == 0 || !(x.shape.back() == 2))
      raise<ValueError>("view_as_complex: the last axis of " + to_string(x) +
                        " is not of size 2; it must hold the real and the imaginary part");
    return {complex_dtype(x.dtype), Shape(x.shape.begin(), x.shape.end() - 1)};
  }
  /// Both parts must stand beside each other, at even places.
  bool alias(Type& type, Strides& strides, void*&) const {
    if (strides.back() != 1) return false;
    for (std::size_t i = 0; i + 1 < strides.size(); ++i)
      if (strides[i] % 2 != 0) return false;
    type = this->type(type);
    strides.pop_back();
    for (std::int64_t& stride : strides) stride /= 2;
    return true;
  }
  Tensor transpose(const Tensor& ct) const { return view_as_real(ct); }
  ViewAsComplex lifted() const { return {}; }
  static std::vector<Sample<ViewAsComplex>> samples() {
    return {{{}, {rand({3, 2})}}, {{}, {rand({2})}}, {{}, {movedim(rand({2, 3}), 0, 1)}}};
  }
};

void require_parts(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype()))
    raise<TypeError>(std::string(op) + ": " + type_text(x) +
                     " is not real and floating; convert it first, for example with x.to(rc::float32)");
}

}  // namespace

namespace ops {

Tensor real(const Tensor& x) {
  const Called as("real", x);
  return x.is_complex() ? select(view_as_real(x), -1, 0) : x;
}
Tensor imag(const Tensor& x) {
  const Called as("imag", x);
  return x.is_complex() ? select(view_as_real(x), -1, 1) : zeros(type_of(x).shape, x.dtype());
}
Tensor conj(const Tensor& x) {
  require_defined("conj", x, 0);
  return x.is_complex() ? apply(Conj{}, x) : x;
}
Tensor angle(const Tensor& x) { return apply(Angle{}, x); }

Tensor complex(const Tensor& re, const Tensor& im) {
  require_defined("complex", re, 0);
  require_defined("complex", im, 1);
  require_parts("complex", re);
  require_parts("complex", im);
  const Type types[] = {type_of(re), type_of(im)};
  const Type* const operands[] = {&types[0], &types[1]};
  const DType parts = real_dtype(complex_dtype(operands_of("complex", rules_of<Angle>, operands).dtype));
  // `where` broadcasts, and unlike a product with i makes no NaN of infinities.
  const Tensor a = to(where(true, re, im), parts), b = to(where(true, im, re), parts);
  return view_as_complex(stack({a, b}, -1));
}

Tensor view_as_real(const Tensor& x) { return apply(ViewAsReal{}, x); }
Tensor view_as_complex(const Tensor& x) { return apply(ViewAsComplex{}, x); }

}  // namespace ops
}  // namespace ricci
