// Modified Bessel functions of the second kind, of order 0 and 1, and their exponentially scaled forms. Start with
// `decaying`.
#include <array>
#include <cmath>
#include <numbers>

#include "ops/bessel.h"
#include "ricci/ops/bessel.h"

namespace ricci {
namespace {

/// Chebyshev series, interpolations at the nodes. Of x² / 2 - 1, up to 2: `growing` is I₀, and `rest` K₀ plus
/// log(x / 2) I₀. Beyond 2, of 1 - 8 / (x + 2): `far` is sqrt(x) exp(x) K₀.
struct Decaying0 {
  static constexpr int order = 0;
  static constexpr double growing[] = {
      1.6029228068079633, 0.638809625651177, 0.03685485969436176, 0.00098287812725148, 1.4983654208927293e-05,
      1.4738449008423848e-07, 1.0114797900674826e-09, 5.114997902011279e-12, 1.98428062262657e-14,
      6.090485307122653e-17};
  static constexpr double rest[] = {
      -0.2676636966169514, 0.3442898999246285, 0.0359799365153615, 0.001264615411446926, 2.286212103119452e-05,
      2.5347910790261494e-07, 1.904516377220209e-09, 1.0349695257633625e-11, 4.2598161427910826e-14,
      1.3744654358599981e-16, 3.5708828742584893e-19};
  static constexpr double far[] = {
      1.2255940566146994, 0.03105649190551231, -0.003784919417257749, 0.0005113125678337753, -7.189525579138798e-05,
      1.0434125738297965e-05, -1.5452130225537265e-06, 2.3274330995694076e-07, -3.5491296094809786e-08,
      5.471129237314204e-09, -8.504459500077728e-10, 1.3321150704430565e-10, -2.0990664537861607e-11,
      3.3267671324796857e-12, -5.295836652697366e-13, 8.469506013840562e-14, -1.3589478088421333e-14,
      2.1891063761083603e-15, -3.534492046468655e-16, 5.727867707179547e-17, -9.287538483052853e-18,
      1.473775213170426e-18};
};
/// The same of I₁ / x and of K₁ less log(x / 2) I₁ + 1 / x, over x.
struct Decaying1 {
  static constexpr int order = 1;
  static constexpr double growing[] = {
      0.6417589969911874, 0.1475393201491934, 0.005898742680020788, 0.00011988137174638708, 1.4739165119093128e-06,
      1.2138074968740922e-08, 7.161106692799279e-11, 3.1748793113101197e-13, 1.0962998348565982e-15,
      3.0314891640166738e-18};
  static constexpr double rest[] = {
      -0.06409034516866254, -0.10916919599320105, -0.006636878452817714, -0.00016822792382067343,
      -2.389559180803608e-06, -2.1853569024549695e-08, -1.3982271326113327e-10, -6.61856275297604e-13,
      -2.4134516242456197e-15, -6.990841499295583e-18};
  static constexpr double far[] = {
      1.3423974715696634, -0.10183340995335989, 0.014681817458689177, -0.0022316161417841405, 0.0003472410833929212,
      -5.4935045076069994e-05, 8.788569713237713e-06, -1.418289230582868e-06, 2.303926051648555e-07,
      -3.762944962451323e-08, 6.1726505753020516e-09, -1.016324850883765e-09, 1.6785241633502153e-10,
      -2.7797510042966153e-11, 4.613969378656455e-12, -7.674531285847304e-13, 1.2787559142697108e-13,
      -2.1342737927849128e-14, 3.5669948602594515e-15, -5.969828364269245e-16, 1.0001515454050773e-16,
      -1.6764123968471352e-17, 2.7368698952238606e-18};
};

/// exp(x) K(x), or K(x): then half of the exponential comes before and half of it after, so that the result underflows
/// where the function does.
template <class Order, class T>
T decaying(T x, bool is_scaled) {
  const auto is_tiny = scalar::less(x, T(0x1p-64));  // then half of x may have fewer digits
  const T logarithm = scalar::log(scalar::select(is_tiny, x * T(0x1p64), x * T(0.5))) -
                      scalar::select(is_tiny, T(65 * std::numbers::ln2), T(0));
  const T place = x * x * T(0.5) - T(1);
  const T product = logarithm * chebyshev(place, Order::growing), rest = chebyshev(place, Order::rest);
  T near = Order::order == 0 ? rest - product : x * (rest + product) + T(1) / x;
  T far = chebyshev(T(1) - T(8) / (x + T(2)), Order::far) / scalar::sqrt(x);
  if (is_scaled) {
    near = near * scalar::exp(x);
  } else {
    const T half = scalar::exp(x * T(-0.5));
    far = far * half * half;
  }
  const T y = scalar::select(scalar::less_equal(x, T(2)), near, far);
  return scalar::select(scalar::equal(x, T(0)), T(1) / T(0), y);
}

/// In more digits: the power series up to 1; then the integral of exp(-x cosh t) cosh(order t) over all t > 0 (DLMF
/// 10.32.9) by the trapezoidal rule, whose error is exp(-100 + x / 2), up to 30; then the asymptotic series (DLMF
/// 10.40.2), whose sixtieth term is below 1e-25.
template <class T>
T exact_value(int order, T x, bool is_scaled) {
  if (scalar::equal(x, T(0))) return T(1) / T(0);
  if (scalar::less(x, T(0))) return T(0) / T(0);
  if (scalar::less(x, T(1))) {
    const ExactSeries<T> series(order, x, x * x * T(0.25));
    const T main = (scalar::log(x * T(0.5)) + euler_constant<T>()) * series.first - series.second;
    const T y = order == 0 ? -main : T(1) / x + main;
    return is_scaled ? y * scalar::exp(x) : y;
  }
  T y(0);
  if (scalar::less(x, T(30))) {
    struct Node {
      T above_one, cosine;  // cosh t - 1 and cosh t
    };
    static const auto nodes = [] {
      std::array<Node, 84> all;
      for (std::size_t k = 0; k < all.size(); ++k) {
        const T sine = scalar::sinh(T(static_cast<double>(k) / 32)), above = T(2) * sine * sine;
        all[k] = {above, above + T(1)};
      }
      return all;
    }();
    for (const Node& node : nodes) {
      const T f = scalar::exp(-x * node.above_one) * (order == 0 ? T(1) : node.cosine);
      y = y + (&node == nodes.data() ? f * T(0.5) : f);
    }
    y = y * T(1. / 16);
  } else {
    T term(1);
    for (int k = 0; k < 60; ++k) {
      y = y + term;
      term = term * T(4. * order - (2 * k + 1) * (2 * k + 1)) / (T(8. * (k + 1)) * x);
    }
    y = y * scalar::sqrt(T(std::numbers::pi_v<long double>) / (T(2) * x));
  }
  return is_scaled ? y : y * scalar::exp(-x);
}

template <class Order, bool is_scaled>
struct Decaying {
  using kind = Elementwise;
  static constexpr bool is_zero = Order::order == 0;
  static constexpr const char* name =
      is_scaled ? (is_zero ? "scaled_modified_bessel_k0" : "scaled_modified_bessel_k1")
                : (is_zero ? "modified_bessel_k0" : "modified_bessel_k1");
  static constexpr double ulps = is_zero ? 11 : 6;
  static constexpr unsigned keeps = is_zero && !is_scaled ? input(0) : input(0) | output(0);
  static constexpr Interval domain = {0.25, 4};
  static constexpr double tolerance_factor = 4;  // a series of 23 terms

  template <class T> auto formula(T x) const { return decaying<Order>(x, is_scaled); }
  template <class T> T exact(T x) const { return exact_value(Order::order, x, is_scaled); }
  Tensor partial(const Tensor& x, const Tensor& y) const {
    if constexpr (Order::order == 0) {
      if constexpr (is_scaled) return sub(y, scaled_modified_bessel_k1(x));
      else return neg(modified_bessel_k1(x));
    } else {
      const Tensor over = div(y, x);
      if constexpr (is_scaled) return sub(sub(y, scaled_modified_bessel_k0(x)), over);
      else return neg(add(modified_bessel_k0(x), over));
    }
  }
  static double reference(double x) {
    const double y = std::cyl_bessel_k(Order::order, x);
    return is_scaled ? std::exp(x) * y : y;
  }
};

}  // namespace

namespace ops {

Tensor modified_bessel_k0(const Tensor& x) { return of_real(Decaying<Decaying0, false>{}, "modified_bessel_k0", x); }
Tensor modified_bessel_k1(const Tensor& x) { return of_real(Decaying<Decaying1, false>{}, "modified_bessel_k1", x); }
Tensor scaled_modified_bessel_k0(const Tensor& x) {
  return of_real(Decaying<Decaying0, true>{}, "scaled_modified_bessel_k0", x);
}
Tensor scaled_modified_bessel_k1(const Tensor& x) {
  return of_real(Decaying<Decaying1, true>{}, "scaled_modified_bessel_k1", x);
}

}  // namespace ops
}  // namespace ricci
