// Modified Bessel functions of the first kind and their exponentially scaled forms. Start with `scaled`.
#include "ops/bessel.h"

#include <cmath>
#include <numbers>

#include "ricci/ops/bessel.h"

namespace ricci {
namespace {

/// exp(-|x|) I₀(x): a series in |x| / 4 - 1 up to 8, beyond it one in 16 / |x| - 1 over the root of |x|. Interpolations
/// at the Chebyshev nodes.
struct Growing0 {
  static constexpr int order = 0;
  static constexpr double near[] = {
      0.33839763720473804,    -0.3046826723431984,     0.17162090152220878,    -0.094901097048047644,
      0.049305284239670708,   -0.023737414805899469,   0.010546460394594998,   -0.0043243099950505759,
      0.0016394756169413358,  -0.00057637557453858237, 0.00018850288509584166, -5.7541950100821037e-5,
      1.6448448070728897e-5,  -4.4167383584587506e-6,  1.1173875391201037e-6,  -2.6707938539406117e-7,
      6.0469950225419189e-8,  -1.300025009986248e-8,   2.6598237246823867e-9,  -5.1897956016352629e-10,
      9.6758090353732369e-11, -1.7268262914415557e-11, 2.9550526631296398e-12, -4.8564467831119295e-13,
      7.6761854986049356e-14, -1.1685332877993452e-14, 1.715391285555133e-15,  -2.4312798465479547e-16,
      3.3307945188222381e-17, -4.4153416464793394e-18};
  static constexpr double far[] = {
      0.40224520550705442,     0.0033691164782556941,   6.889758346916824e-5,    2.8913705208347565e-6,
      2.0489185894690637e-7,   2.2666689904981781e-8,   3.3962320257083863e-9,   4.9406023882249696e-10,
      1.1889147107846438e-11,  -3.1499165279632414e-11, -1.3215811840447713e-11, -1.7941785315068061e-12,
      7.1801244513836662e-13,  3.8527783827421427e-13,  1.5400862175214098e-14,  -4.1505693472872221e-14,
      -9.5548466988283076e-15, 3.8116806693526224e-15,  1.7725601330565264e-15,  -3.4254856196772191e-16,
      -2.8276239805165835e-16, 3.4612228676974611e-17,  4.46562142029676e-17,    -4.8305044859441821e-18,
      -7.233180487874754e-18};
};
/// exp(-|x|) I₁(x), likewise; the first series is that of its product with 1 + 1 / |x|, which falls less.
struct Growing1 {
  static constexpr int order = 1;
  static constexpr double near[] = {
      0.27863492939341603,     -0.17162090152220878,   0.054493294317377384,    -0.0099896905995277327,
      -0.003387887052309795,   0.0049453194767478192,  -0.0033731999689504618,  0.0017695555478066621,
      -0.00078923675207142092, 0.0003113991353586689,  -0.00011098970358636965, 3.6205986487079262e-5,
      -1.090881482432957e-5,   3.0568014346380566e-6,  -8.0099785873894988e-7,  1.9716906904360219e-7,
      -4.5767995146893361e-8,  1.0051944070687821e-8,  -2.0949741571396406e-9,  4.1541594273310382e-10,
      -7.8556811771115934e-11, 1.41972592821462e-11,   -2.4568958226516583e-12, 4.0785076654219017e-13,
      -6.5051482516351972e-14, 9.9841102423411224e-15, -1.4766063408898357e-15, 2.1071115905485388e-16,
      -2.9047170077866517e-17, 3.8726233943841261e-18};
  static constexpr double far[] = {
      0.38928811750914006,     -0.0097610974913614684,  -0.00011058893876262372, -3.8825648088776904e-6,
      -2.5122362378702089e-7,  -2.6314688468895195e-8,  -3.835380385964237e-9,   -5.5897434621965838e-10,
      -1.8974958123505412e-11, 3.2526035830154882e-11,  1.4125807436613781e-11,  2.0356285441470895e-12,
      -7.1985517762459085e-13, -4.0835511110921973e-13, -2.1015418427726643e-14, 4.2724400167119514e-14,
      1.0420276984128803e-14,  -3.8144030724370078e-15, -1.8803547755107824e-15, 3.3082023109209283e-16,
      2.9626289976459501e-16,  -3.209525921993424e-17,  -4.6503053684893583e-17, 4.4143483230717079e-18,
      7.5172963108421048e-18};
};

template <class Order, class T>
T scaled(T x) {
  const T size = scalar::abs(x);
  T near = chebyshev(size * T(0.25) - T(1), Order::near);
  if constexpr (Order::order == 1) near = near * size / (T(1) + size);
  const T far = chebyshev(T(16) / size - T(1), Order::far) / scalar::sqrt(size);
  const T y = scalar::select(scalar::less_equal(size, T(8)), near, far);
  if constexpr (Order::order == 1) return scalar::copysign(y, x);
  else return y;
}

/// The value in more digits: the power series (DLMF 10.25.2) up to 40, then the asymptotic one (DLMF 10.40.1), whose
/// thirtieth term is below 1e-24.
template <class Order, class T>
T exact_value(T x, bool is_scaled) {
  const T size = scalar::abs(x);
  T y(0);
  if (scalar::less(size, T(40))) {
    const T quarter = size * size * T(0.25);
    T term = Order::order == 1 ? size * T(0.5) : T(1);
    for (int k = 1; k <= 120; ++k) {
      y = y + term;
      term = term * quarter / T(static_cast<double>(k * (k + Order::order)));
    }
    if (is_scaled) y = y * scalar::exp(-size);
  } else {
    T term(1);
    for (int k = 1; k <= 30; ++k) {
      y = y + term;
      const double odd = (2 * k - 1) * (2 * k - 1) - 4 * Order::order;
      term = term * T(odd) / (T(8.0 * k) * size);
    }
    y = y / scalar::sqrt(T(2) * T(std::numbers::pi_v<long double>) * size);
    if (!is_scaled) y = scalar::isinf(size) ? size : y * scalar::exp(size);
  }
  return Order::order == 1 ? scalar::copysign(y, x) : y;
}

struct I0e {
  using kind = Elementwise;
  static constexpr const char* name = "i0e";
  static constexpr double ulps = 5;
  static constexpr unsigned keeps = input(0) | output(0);
  static constexpr double tolerance_factor = 4;  // a series of 30 terms
  template <class T> auto formula(T x) const { return scaled<Growing0>(x); }
  template <class T> T exact(T x) const { return exact_value<Growing0>(x, true); }
  Tensor partial(const Tensor& x, const Tensor& y) const { return sub(i1e(x), mul(sign(x), y)); }
  static double reference(double x) { return std::exp(-std::fabs(x)) * std::cyl_bessel_i(0, std::fabs(x)); }
};

struct I1e {
  using kind = Elementwise;
  static constexpr const char* name = "i1e";
  static constexpr double ulps = 5;
  static constexpr unsigned keeps = input(0) | output(0);
  static constexpr double tolerance_factor = 4;  // a series of 30 terms
  template <class T> auto formula(T x) const { return scaled<Growing1>(x); }
  template <class T> T exact(T x) const { return exact_value<Growing1>(x, true); }
  Tensor partial(const Tensor& x, const Tensor& y) const {
    return sub(slope_of_order1(x, i0e(x), y, exp(neg(abs(x))), 1), mul(sign(x), y));
  }
  static double reference(double x) {
    return std::copysign(std::exp(-std::fabs(x)) * std::cyl_bessel_i(1, std::fabs(x)), x);
  }
};

/// Half of the exponential before and half of it after, so that it overflows where the function does.
template <class Order, class T>
T unscaled(T x) {
  const T half = scalar::exp(scalar::abs(x) * T(0.5)), y = scaled<Order>(x) * half * half;
  return scalar::select(scalar::isinf(x), x * x * scalar::copysign(T(1), Order::order == 1 ? x : T(1)), y);
}

struct I0 {
  using kind = Elementwise;
  static constexpr const char* name = "i0";
  static constexpr double ulps = 7;
  static constexpr unsigned keeps = input(0);
  static constexpr double tolerance_factor = 4;  // a series of 30 terms
  template <class T> auto formula(T x) const { return unscaled<Growing0>(x); }
  template <class T> T exact(T x) const { return exact_value<Growing0>(x, false); }
  Tensor partial(const Tensor& x, const Tensor&) const { return i1(x); }
  static double reference(double x) { return std::cyl_bessel_i(0, std::fabs(x)); }
};

struct I1 {
  using kind = Elementwise;
  static constexpr const char* name = "i1";
  static constexpr double ulps = 7;
  static constexpr unsigned keeps = input(0) | output(0);
  static constexpr double tolerance_factor = 4;  // a series of 30 terms
  template <class T> auto formula(T x) const { return unscaled<Growing1>(x); }
  template <class T> T exact(T x) const { return exact_value<Growing1>(x, false); }
  Tensor partial(const Tensor& x, const Tensor& y) const { return slope_of_order1(x, i0(x), y, 1, 1); }
  static double reference(double x) { return std::copysign(std::cyl_bessel_i(1, std::fabs(x)), x); }
};

}  // namespace

namespace ops {

Tensor i0(const Tensor& x) { return of_real(I0{}, "i0", x); }
Tensor i1(const Tensor& x) { return of_real(I1{}, "i1", x); }
Tensor i0e(const Tensor& x) { return of_real(I0e{}, "i0e", x); }
Tensor i1e(const Tensor& x) { return of_real(I1e{}, "i1e", x); }
Tensor modified_bessel_i0(const Tensor& x) { return of_real(I0{}, "modified_bessel_i0", x); }
Tensor modified_bessel_i1(const Tensor& x) { return of_real(I1{}, "modified_bessel_i1", x); }

}  // namespace ops
}  // namespace ricci
