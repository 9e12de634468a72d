// The exponential integrals. Start with `integral_beyond` and `integral_up_to`.
#include <cmath>
#include <numbers>

#include "ops/series.h"
#include "ricci/ops/incomplete.h"

namespace ricci {
namespace {

// Chebyshev series, interpolations at the nodes: of E₁ + log x at 2 x - 1; beyond 1 of x exp(x) E₁ at 1 - 8 / (x + 3).
constexpr double near[] = {
    -0.15608954289343577, 0.39708785273195646, -0.02277106547144326, 0.0012097775028096784, -5.5182563885653714e-05,
    2.1671613488351387e-06, -7.426313409051455e-08, 2.2509122178774545e-09, -6.107395323643698e-11,
    1.49867569973609e-12, -3.354930941802011e-14, 6.902357927358677e-16, -1.3130517197062718e-17};
constexpr double far[] = {
    0.8263723026492102, 0.1958583132635064, -0.026894668628431005, 0.005650920923667242, -0.0012248874409872107,
    0.0002963682050314543, -7.354170511954446e-05, 1.9200442647910543e-05, -5.102466192955602e-06,
    1.3966866746650878e-06, -3.8714588045131933e-07, 1.0943496387326321e-07, -3.1218246954452045e-08,
    9.031983574168742e-09, -2.630915567444214e-09, 7.746657094425125e-10, -2.2926363114151812e-10,
    6.844134829636496e-11, -2.0509616992656892e-11, 6.190871249339473e-12, -1.8739284479679175e-12,
    5.708361818097277e-13, -1.742168586948795e-13, 5.347901647119306e-14, -1.6433673092831315e-14,
    5.077951129221488e-15, -1.569380548273193e-15, 4.877375910799472e-16, -1.5146290905446978e-16,
    4.731207089473101e-17, -1.4738173834607507e-17, 4.585264389671605e-18, -1.3051615278329315e-18};

/// E₁(x) for x > 0, NaN below. Half of the exponential comes before and half of it after, so that the result underflows
/// where the function does.
template <class T>
T integral_beyond(T x) {
  const T half = scalar::exp(x * T(-0.5));
  const T small = chebyshev(x + x - T(1), near) - scalar::log(x);
  const T large = chebyshev(T(1) - T(8) / (x + T(3)), far) * half / x * half;
  return scalar::select(scalar::less_equal(x, T(1)), small, large);
}

/// Where Ei is 0, in parts that float32 holds.
constexpr double zero[] = {0x1.7d7296p-2, -0x1.a9694p-27, -2.0890442151064528e-16};
constexpr double one_over_zero = 2.6845103508207075, log_of_zero = -0.9874983466453419;

// Of exp(-x / 2) (Ei - log(x / zero)) / (x - zero) at x / 3 - 1; and of x exp(-x) Ei, linear in 1 / x, from 6 to 12,
// from there to 30, and beyond.
constexpr double from_zero[] = {
    0.7892816805391488, -0.1714396280662128, 0.12613232051435047, -0.010935828895146929, 0.0033326992313331867,
    -0.00023951644929534935, 4.3423813906679935e-05, -2.6535603383685125e-06, 3.352641727393403e-07,
    -1.7775761966893678e-08, 1.7077851199179823e-09, -7.98458083374553e-11, 6.160612867154158e-12,
    -2.573498916172247e-13, 1.6549569347813296e-14, -6.24385517770708e-16, 3.4373039094410736e-17,
    -1.1800295073397426e-18};
constexpr double to_12[] = {
    1.186519731605943, 0.08867277799156566, 0.004538849615854891, -0.0007360917133533506, -0.0001311802094421383,
    1.860281858277769e-05, 1.7610424153850599e-06, -6.410426692376372e-07, 4.3431190977401596e-08,
    9.457713014017885e-09, -2.804867660824966e-09, 2.9077513809389464e-10, 1.5005396668585005e-11,
    -1.1038674953026535e-11, 2.0752769575840877e-12, -1.8248940142556286e-13, -1.306042432261923e-14,
    8.228174429503408e-15, -1.7064640525407435e-15, 2.0895099010357006e-16, -6.969079641140654e-18,
    -3.984452213914058e-18, 1.2354900440399209e-18};
constexpr double to_30[] = {
    1.0680593617841476, 0.033479670978704454, 0.0013262720165590463, 0.0001010479918073205, 8.777546952074532e-06,
    -2.386811463851955e-07, -3.201828760127192e-07, -3.6327062497303404e-08, 8.500401764811828e-09,
    1.657759959054845e-09, -3.435807234382177e-10, -5.2658139618893885e-11, 1.8012808800180125e-11,
    4.569065539610733e-13, -8.309712200200238e-13, 9.808558395505338e-14, 2.105163346776008e-14, -8.108927908982625e-15,
    6.007456073352558e-16, 2.465125020872522e-16, -8.098055619438194e-17, 7.038003627719307e-18, 1.971264733834208e-18};
constexpr double beyond[] = {
    1.0175790498616661, 0.01789743005584381, 0.00032740026360694784, 9.376901840706762e-06, 3.7541342900498743e-07,
    1.981311431175871e-08, 1.3344445861877669e-09, 1.1297251504069605e-10, 1.2009318387826691e-11,
    1.6077301518689376e-12, 2.6405826058426605e-13, 4.8262765221350484e-14, 7.994850537065904e-15,
    5.629268164781542e-16, -3.479213321124532e-16, -2.059715400018132e-16, -5.946851238474198e-17,
    -5.7809913073073554e-18, 3.441737941658572e-18, 1.911242129931618e-18};

/// Ei(x) for x > 0. Up to 6 both terms have the zero for a factor.
template <class T>
T integral_up_to(T x) {
  const T half = scalar::exp(x * T(0.5)), r = T(1) / x;
  const T off = ((x - T(zero[0])) - T(zero[1])) - T(zero[2]), share = off * T(one_over_zero);
  const T logarithm = scalar::select(scalar::less(scalar::abs(share), T(0.5)), scalar::log1p(share),
                                     scalar::log(x) - T(log_of_zero));
  const T small = scalar::fma(off * half, chebyshev(x * T(1. / 3) - T(1), from_zero), logarithm);
  const T middle = scalar::select(scalar::less_equal(x, T(12)), chebyshev(T(24) * r - T(3), to_12),
                                  chebyshev(T(40) * r - T(7. / 3), to_30));
  const T large = scalar::select(scalar::less_equal(x, T(30)), middle, chebyshev(T(60) * r - T(1), beyond));
  return scalar::select(scalar::less_equal(x, T(6)), small, large * half * r * half);
}

/// E₁ in more digits: the power series (DLMF 6.6.2) up to 1, then the continued fraction (DLMF 6.9.1).
template <class T>
T exact_beyond(T x) {
  if (scalar::less_equal(x, T(1))) {
    T term(-1), sum(0);
    for (int k = 1; k < 40; ++k) {
      term = term * -x / T(static_cast<double>(k));
      sum = sum + term / T(static_cast<double>(k));
    }
    return sum - (scalar::log(x) + euler_constant<T>());
  }
  T below = x;
  for (int k = scalar::less(x, T(50)) ? 220 : 60; k > 0; --k) {
    const T count(static_cast<double>(k));
    below = x + count / (T(1) + count / below);
  }
  return scalar::exp(-x) / below;
}

/// Ei in more digits: the power series (DLMF 6.6.1) up to 50, then the asymptotic one (DLMF 6.12.2), whose fiftieth
/// term is below 1e-21.
template <class T>
T exact_up_to(T x) {
  if (scalar::isinf(x)) return x;
  T term(1), sum(0);
  if (scalar::less(x, T(50))) {
    for (int k = 1; k < 220; ++k) {
      term = term * x / T(static_cast<double>(k));
      sum = sum + term / T(static_cast<double>(k));
    }
    return sum + (scalar::log(x) + euler_constant<T>());
  }
  for (int k = 1; k <= 50; ++k) {
    sum = sum + term;
    term = term * T(static_cast<double>(k)) / x;
  }
  return scalar::exp(x) / x * sum;
}

struct Exp1 {
  using kind = Elementwise;
  static constexpr const char* name = "exp1";
  static constexpr double ulps = 5;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {0.25, 4};
  static constexpr double tolerance_factor = 4;  // a series of 33 terms
  template <class T> auto formula(T x) const { return integral_beyond(x); }
  template <class T> T exact(T x) const { return exact_beyond(x); }
  Tensor partial(const Tensor& x, const Tensor&) const { return neg(div(exp(neg(x)), x)); }
  static double reference(double x) { return -std::expint(-x); }
};

struct Expi {
  using kind = Elementwise;
  static constexpr const char* name = "expi";
  static constexpr double ulps = 7;
  static constexpr unsigned keeps = input(0);
  static constexpr double tolerance_factor = 4;  // a series of 33 terms
  template <class T> auto formula(T x) const {
    const T y = scalar::select(scalar::less(x, T(0)), -integral_beyond(-x), integral_up_to(x));
    return scalar::select(scalar::isinf(x), scalar::max(x, T(0)), y);
  }
  template <class T> T exact(T x) const { return scalar::less(x, T(0)) ? -exact_beyond(-x) : exact_up_to(x); }
  /// exp(x) / x, which is finite where the exponential is not.
  Tensor partial(const Tensor& x, const Tensor&) const {
    const Tensor half = exp(mul(x, 0.5));
    return mul(div(half, x), half);
  }
  static double reference(double x) { return std::expint(x); }
};

}  // namespace

namespace ops {

Tensor exp1(const Tensor& x) { return of_real(Exp1{}, "exp1", x); }
Tensor expi(const Tensor& x) { return of_real(Expi{}, "expi", x); }

}  // namespace ops
}  // namespace ricci
