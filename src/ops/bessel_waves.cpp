// Bessel functions of the first and second kind, of order 0 and 1. Up to 8 they are series in x²; beyond it waves,
// whose amplitudes are series in 1 / x². Start with `RegularWave`.
#include <cmath>
#include <numbers>

#include "ops/bessel.h"
#include "ricci/ops/bessel.h"

namespace ricci {
namespace {

constexpr double two_over_pi = 2 / std::numbers::pi, last_near = 8;

/// Chebyshev series, interpolations at the nodes. Of x² / 32 - 1: `regular` is J₀, and `irregular` Y₀ less
/// 2 / pi log(x) J₀. Of 2 (8 / x)² - 1: `cosine` and, times x, `sine` are the P and Q of DLMF 10.17.3.
struct Wave0 {
  static constexpr int order = 0;
  static constexpr double regular[] = {
      0.15772797147489012, -0.008723442352852221, 0.2651786132033368, -0.37009499387264977, 0.15806710233209725,
      -0.034893769411408884, 0.004819180069467605, -0.00046062616620627504, 3.246032882100508e-05,
      -1.7619469077621507e-06, 7.608163592418782e-08, -2.679253530557673e-09, 7.848696314479465e-11,
      -1.9438346867370144e-12, 4.1253205956090334e-14, -7.588507876890904e-16, 1.2216320080758091e-17};
  static constexpr double irregular[] = {
      -0.03314611320328494, -0.2744743055297453, 0.17903431407718265, 0.26156734625504663, -0.17730201278114358,
      0.04719668959576339, -0.007287962479552079, 0.0007531135932577742, -5.632079141056987e-05, 3.206532537654801e-06,
      -1.44072332740187e-07, 5.248794787330516e-09, -1.5837552541812015e-10, 4.02633081830612e-12,
      -8.747341203310764e-14, 1.643489871486371e-15, -2.697788055645131e-17, 3.9026819181682534e-19};
  static constexpr double cosine[] = {
      0.9994603493475187, -0.0005365220468132117, 3.0751847875194745e-06, -5.1705945376060975e-08,
      1.6306464635151378e-09, -7.864091377236904e-11, 5.1682623873433395e-12, -4.304578869712651e-13,
      4.326595735158853e-14, -5.069033784305251e-15, 6.748059583911425e-16, -1.0010979301898995e-16,
      1.628222427580944e-17, -2.770245804514566e-18};
  static constexpr double sine[] = {
      -0.12444683684269607, 0.0005470815954089319, -5.9315987288485175e-06, 1.4377965798375193e-07,
      -5.817532749493056e-09, 3.3760975237349903e-10, -2.5653979367973014e-11, 2.4049161002811735e-12,
      -2.669062548252005e-13, 3.4041800320079805e-14, -4.879944099186137e-15, 7.729702971799584e-16,
      -1.334884515646085e-16, 2.4865704417116416e-17, -4.9519876152136824e-18, 1.0438970719713414e-18,
      -2.2028686869280236e-19};
};
/// The same of J₁ / x, and of Y₁ less 2 / pi (log(x) J₁ - 1 / x), over x.
struct Wave1 {
  static constexpr int order = 1;
  static constexpr double regular[] = {
      0.08104484632565812, -0.1489751450676521, 0.1609992623572097, -0.08268049176681791, 0.022213639654966037,
      -0.003646940600769276, 0.0004050337728354822, -3.255554866857259e-05, 1.9858774049915165e-06,
      -9.521984756750436e-08, 3.687133759097148e-09, -1.178026622695885e-10, 3.160154580348003e-12,
      -7.221755239651768e-14, 1.4232144003452538e-15, -2.444197228263029e-17, 3.690677916363003e-19};
  static constexpr double irregular[] = {
      0.0025380132357417816, -0.01608717304766875, -0.09591204536083074, 0.08445197259652346, -0.028328123944594365,
      0.005289897544167113, -0.0006414551451326356, 5.505982873338744e-05, -3.53808001868935e-06,
      1.7707804556154404e-07, -7.11055004989928e-09, 2.344337905911516e-10, -6.4651518414115946e-12,
      1.5142915120500188e-13, -3.051185969432782e-15, 5.346680237713857e-17, -8.223552134320525e-19};
  static constexpr double cosine[] = {
      1.0009030408600137, 0.0008989898330859408, -3.987284300488908e-06, 6.177633960644299e-08, -1.8718907491063063e-09,
      8.816898659582166e-11, -5.704863640389547e-12, 4.699195515008636e-13, -4.684223775639493e-14,
      5.452674570139295e-15, -7.22116761202437e-16, 1.0667128449013758e-16, -1.728740894807491e-17,
      2.932793402209464e-18};
  static constexpr double sine[] = {
      0.3742222965562826, -0.0007702178839325664, 7.3108922063643636e-06, -1.676782510726674e-07, 6.583354662120443e-09,
      -3.749090950541554e-10, 2.812175035974825e-11, -2.6114525394603643e-12, 2.8774212662695825e-13,
      -3.6490019139359386e-14, 5.206626293207458e-15, -8.215315441520112e-16, 1.4140989973973505e-16,
      -2.62640446009104e-17, 5.205241163567508e-18, -1.043904971033236e-18};
};

template <class T>
struct Waves {
  T regular, irregular;
};

/// The values for x > 8. The angle x - pi / 4, for order 1 x - 3 pi / 4, is that of sin x and cos x turned.
template <class Order, class T>
Waves<T> far_waves(T x) {
  const T r = T(last_near) / x, place = T(2) * r * r - T(1);
  const T p = chebyshev(place, Order::cosine), q = chebyshev(place, Order::sine) / x;
  const T sine = scalar::sin(x), cosine = scalar::cos(x), sum = sine + cosine, difference = sine - cosine;
  const T c = Order::order == 0 ? sum : difference, s = Order::order == 0 ? difference : -sum;
  const T size = T(std::numbers::inv_sqrtpi) / scalar::sqrt(x);
  return {size * (p * c - q * s), size * (p * s + q * c)};
}

template <class T>
T near_place(T x) {
  return x * x * T(1 / 32.) - T(1);
}

/// Both kinds in more digits: the power series up to 25, then the asymptotic one (DLMF 10.17.3), whose fiftieth term is
/// below 1e-21.
template <class T>
Waves<T> exact_waves(int order, T x) {
  const T pi(std::numbers::pi_v<long double>);
  if (scalar::less(x, T(25))) {
    const ExactSeries<T> series(order, x, x * x * T(-0.25));
    const T y = T(2) / pi * ((scalar::log(x * T(0.5)) + euler_constant<T>()) * series.first - series.second);
    return {series.first, order == 0 ? y : y - T(2) / (pi * x)};
  }
  T term(1), parts[4] = {T(0), T(0), T(0), T(0)};
  for (int k = 0; k < 50; ++k) {
    parts[k % 4] = parts[k % 4] + term;
    term = term * T(4. * order - (2 * k + 1) * (2 * k + 1)) / (T(8. * (k + 1)) * x);
  }
  const T p = parts[0] - parts[2], q = parts[1] - parts[3];
  const T sine = scalar::sin(x), cosine = scalar::cos(x), sum = sine + cosine, difference = sine - cosine;
  const T c = order == 0 ? sum : difference, s = order == 0 ? difference : -sum, size = T(1) / scalar::sqrt(pi * x);
  return {size * (p * c - q * s), size * (p * s + q * c)};
}

/// The unit in which errors of a wave count: next to zeros of the wave, its amplitude. Below the first zero there is
/// none, 0, and errors count in units of the value.
template <class T>
T amplitude(T x) {
  const T size = scalar::abs(x);
  return scalar::select(scalar::less(size, T(0.25)), T(0), scalar::sqrt(T(two_over_pi) / size));
}

template <class Order>
struct RegularWave {
  using kind = Elementwise;
  static constexpr const char* name = Order::order == 0 ? "bessel_j0" : "bessel_j1";
  static constexpr double ulps = 9;
  static constexpr unsigned keeps = Order::order == 0 ? input(0) : input(0) | output(0);
  static constexpr double tolerance_factor = 4;  // a series of 17 terms

  template <class T> auto formula(T x) const {
    const T size = scalar::abs(x);
    T near = chebyshev(near_place(size), Order::regular);
    if constexpr (Order::order == 1) near = near * size;
    const T far = scalar::select(scalar::isinf(size), T(0), far_waves<Order>(size).regular);
    const T y = scalar::select(scalar::less_equal(size, T(last_near)), near, far);
    if constexpr (Order::order == 1) return y * scalar::copysign(T(1), x);
    else return y;
  }
  template <class T> T exact(T x) const {
    const T y = exact_waves(Order::order, scalar::abs(x)).regular;
    return Order::order == 1 ? y * scalar::copysign(T(1), x) : y;
  }
  template <class T> T unit(T x) const { return amplitude(x); }
  Tensor partial(const Tensor& x, const Tensor& y) const {
    if constexpr (Order::order == 0) return neg(bessel_j1(x));
    else return slope_of_order1(x, bessel_j0(x), y, 1, -1);
  }
  static double reference(double x) {
    const double y = std::cyl_bessel_j(Order::order, std::fabs(x));
    return Order::order == 1 && x < 0 ? -y : y;
  }
};

template <class Order>
struct IrregularWave {
  using kind = Elementwise;
  static constexpr const char* name = Order::order == 0 ? "bessel_y0" : "bessel_y1";
  static constexpr double ulps = 12;
  static constexpr unsigned keeps = Order::order == 0 ? input(0) : input(0) | output(0);
  static constexpr Interval domain = {0.25, 4};
  static constexpr double tolerance_factor = 4;  // two series and a logarithm

  template <class T> auto formula(T x) const {
    const T place = near_place(x), regular = chebyshev(place, Order::regular);
    T near = T(two_over_pi) * scalar::log(x) * regular + chebyshev(place, Order::irregular);
    if constexpr (Order::order == 1) near = x * near - T(two_over_pi) / x;
    const T far = scalar::select(scalar::isinf(x), T(0), far_waves<Order>(x).irregular);
    const T y = scalar::select(scalar::less_equal(x, T(last_near)), near, far);
    return scalar::select(scalar::equal(x, T(0)), T(-1) / T(0), y);
  }
  template <class T> T exact(T x) const {
    if (scalar::equal(x, T(0))) return T(-1) / T(0);
    if (scalar::less(x, T(0))) return T(0) / T(0);
    return exact_waves(Order::order, x).irregular;
  }
  template <class T> T unit(T x) const { return amplitude(x); }
  Tensor partial(const Tensor& x, const Tensor& y) const {
    if constexpr (Order::order == 0) return neg(bessel_y1(x));
    else return sub(bessel_y0(x), div(y, x));
  }
  static double reference(double x) { return std::cyl_neumann(Order::order, x); }
};

}  // namespace

namespace ops {

Tensor bessel_j0(const Tensor& x) { return of_real(RegularWave<Wave0>{}, "bessel_j0", x); }
Tensor bessel_j1(const Tensor& x) { return of_real(RegularWave<Wave1>{}, "bessel_j1", x); }
Tensor bessel_y0(const Tensor& x) { return of_real(IrregularWave<Wave0>{}, "bessel_y0", x); }
Tensor bessel_y1(const Tensor& x) { return of_real(IrregularWave<Wave1>{}, "bessel_y1", x); }

}  // namespace ops
}  // namespace ricci
