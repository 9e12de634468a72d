// Common divisors and multiples, and the parts of floating numbers.
#include <cmath>
#include <numeric>

#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "primitive/promotion.h"
#include "ricci/ops/special.h"
#include "ricci/primitive/accumulators.h"

namespace ricci {
namespace {

std::int64_t numel(const Strided& x) { return shape_of(x).numel(); }

/// to[i] = f(a[i], b[i]), of row-major operands of one shape.
template <class T, class F>
void each(T* to, Inputs in, const F& f) {
  const T *a = static_cast<const T*>(in[0].data), *b = static_cast<const T*>(in[1].data);
  for (std::int64_t i = 0; i < numel(in[0]); ++i) to[i] = f(a[i], b[i]);
}

struct Gcd {
  using kind = Explicit;
  static constexpr const char* name = "gcd";
  static constexpr bool locally_constant = true;

  Type type(const Type& a, const Type& b) const {
    require_dtype(a.dtype, b);
    require_shape(a.shape, b.shape);
    return a;
  }
  void eval(Outputs out, Inputs in) const {
    run_row_major(out, in, [&](void* to, Inputs given) {
      kernels::visit_real(out[0].dtype, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_integral_v<T>) each(static_cast<T*>(to), given, [](T a, T b) { return of(a, b); });
      });
    });
  }
  Gcd lifted() const { return {}; }
  static std::vector<Sample<Gcd>> samples() { return {{{}, {tensor({12, -18, 0}), tensor({-8, 27, 0})}}}; }

 private:
  /// Of sizes: the least number of a type has no positive counterpart.
  template <class T>
  static T of(T a, T b) {
    const auto size = [](T x) {
      const auto wide = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
      return x < 0 ? 0 - wide : wide;
    };
    return static_cast<T>(std::gcd(size(a), size(b)));
  }
};

/// The exponent of frexp.
struct BinaryExponent {
  using kind = Explicit;
  static constexpr const char* name = "binary_exponent";
  static constexpr bool locally_constant = true;

  Type type(const Type& x) const {
    require_floating(name, x);
    require_real(name, x);
    return {DType::int32, x.shape};
  }
  void eval(Outputs out, Inputs in) const {
    run_row_major(out, in, [&](void* to, Inputs given) {
      kernels::visit_floating(given[0].dtype, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_floating_point_v<T>)
          for (std::int64_t i = 0; i < numel(given[0]); ++i)
            static_cast<std::int32_t*>(to)[i] = of(static_cast<const T*>(given[0].data)[i]);
      });
    });
  }
  BinaryExponent lifted() const { return {}; }
  static std::vector<Sample<BinaryExponent>> samples() { return {{{}, {tensor({0.3, -7.5, 0., 1e-310, 1024.})}}}; }

 private:
  template <class T>
  static std::int32_t of(T x) {
    int exponent = 0;
    if (std::isfinite(x)) std::frexp(x, &exponent);
    return exponent;
  }
};

/// Halves are computed in float32, where their neighbours are others: they are not taken.
struct NextAfter {
  using kind = Explicit;
  static constexpr const char* name = "nextafter";

  Type type(const Type& x, const Type& towards) const {
    require_dtype(x.dtype, towards);
    require_shape(x.shape, towards.shape);
    return x;
  }
  void eval(Outputs out, Inputs in) const {
    run_row_major(out, in, [&](void* to, Inputs given) {
      kernels::visit_floating(out[0].dtype, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_floating_point_v<T>)
          each(static_cast<T*>(to), given, [](T x, T towards) { return std::nextafter(x, towards); });
      });
    });
  }
  Tensors jvp(const Forward& f) const { return {f.tangents[0]}; }
  Tensors vjp(const Reverse& r) const { return {r.cotangents[0], Tensor()}; }
  NextAfter lifted() const { return {}; }
  static std::vector<Sample<NextAfter>> samples() { return {{{}, {tensor({0.3, -7.5, 0.}), tensor({1., -8., -1.})}}}; }
};

/// Both in their common type and shape.
std::pair<Tensor, Tensor> together(const char* op, const Tensor& a, const Tensor& b) {
  const Type of_a = type_of(a), of_b = type_of(b), *types[] = {&of_a, &of_b};
  const DType dtype = result_dtype(types);
  const Shape shape = broadcast_shape(op, types);
  return {expand(to(a, dtype), shape), expand(to(b, dtype), shape)};
}

void require_whole(const char* op, const Tensor& x) {
  if (category(type_of(x).dtype) != 1)
    raise<TypeError>(std::string(op) + ": " + type_text(x) + " does not hold integers");
}

}  // namespace

namespace ops {

Tensor gcd(const Tensor& a, const Tensor& b) {
  const Called as("gcd", a, b);
  require_whole("gcd", a);
  require_whole("gcd", b);
  const auto [left, right] = together("gcd", a, b);
  return apply(Gcd{}, left, right);
}
Tensor lcm(const Tensor& a, const Tensor& b) {
  const Called as("lcm", a, b);
  const Tensor divisor = gcd(a, b);
  return abs(floor_divide(a, where(eq(divisor, 0), 1, divisor)) * b);
}

Tensor nextafter(const Tensor& x, const Tensor& towards) {
  const Called as("nextafter", x, towards);
  const auto [from, to_there] = together("nextafter", x, towards);
  if (const DType dtype = type_of(from).dtype; dtype != DType::float32 && dtype != DType::float64)
    raise<TypeError>("nextafter: " + type_text(from) + " is neither f32 nor f64; convert it first");
  return apply(NextAfter{}, from, to_there);
}

/// The power of two is halved, for that of the least numbers is infinite.
std::pair<Tensor, Tensor> frexp(const Tensor& x) {
  const Called as("frexp", x);
  require_real_floating("frexp", x);
  const Tensor exponent = apply(BinaryExponent{}, x), half = floor_divide(exponent, 2);
  const auto power = [&](const Tensor& e) { return exp2(to(neg(e), type_of(x).dtype)); };
  return {x * power(half) * power(exponent - half), exponent};
}

}  // namespace ops
}  // namespace ricci
