// The Airy function and its derivative. Start with `Airy`.
#include <array>
#include <cmath>
#include <numbers>

#include "ops/bounded_number.h"
#include "ops/series.h"
#include "ricci/ops/bessel.h"

namespace ricci {
namespace {

constexpr double last_wave = -5, first_fall = 2, least = -8192;  // beyond that the angle of a wave has too few digits

/// Chebyshev series, interpolations at the nodes. `near` is Ai from -5 to 2. With zeta = 2/3 |x|^(3/2): `falling`, of
/// 1 / zeta, is 2 sqrt(pi) x^(1/4) exp(zeta) Ai beyond 2; `cosine` and, times zeta, `sine`, of 1 / zeta², are the
/// factors of cos(zeta - pi/4) and sin(zeta - pi/4) in sqrt(pi) |x|^(1/4) Ai below -5 (DLMF 9.7.5, 9.7.9).
struct AiryValue {
  static constexpr int order = 0;
  static constexpr double near[] = {
      0.15168947628223672, -0.005228692408472365, -0.007183007563342123, -0.2750085825170078, 0.15267285652736612,
      0.11299722901833571, -0.12930163519980795, 0.021717950423082666, 0.024911850702736413, -0.01433585742189573,
      0.000696689451639598, 0.001974398933529019, -0.0007230393972252199, -1.6112414526177467e-05,
      8.133273673249939e-05, -2.0775365813975462e-05, -1.6054762687164758e-06, 2.0560158255601387e-06,
      -3.825520517284178e-07, -4.913870596184178e-08, 3.514168642051892e-08, -4.846385010860496e-09,
      -8.897812059422213e-10, 4.329786248648808e-10, -4.414745597439301e-11, -1.1096862995764342e-11,
      4.024832028797833e-12, -2.960993624984657e-13, -1.0257635127290544e-13, 2.920579876855203e-14,
      -1.4619955513811386e-15, -7.355050638222063e-16, 1.6986556241030434e-16, -5.05633799662614e-18,
      -4.226650580041758e-18, 8.285943593410542e-19};
  static constexpr double falling[] = {
      0.9844053049171552, -0.014792784850104199, 0.0007327177465426715, -6.12595423417825e-05, 6.83476697557269e-06,
      -9.237229735403982e-07, 1.436225340438052e-07, -2.489319422322096e-08, 4.709793440054328e-09,
      -9.58386370811273e-10, 2.0745855483677584e-10, -4.7372673321922596e-11, 1.1336099808223793e-11,
      -2.827706782318231e-12, 7.320712095096978e-13, -1.9599793910352026e-13, 5.4101162551499976e-14,
      -1.5356466751874656e-14, 4.472340259887397e-15, -1.3338091104339465e-15, 4.0665723917732126e-16,
      -1.265556835180786e-16, 4.0143967860808737e-17, -1.2949564964955693e-17, 4.203556692541672e-18,
      -1.2568710654307756e-18};
  static constexpr double cosine[] = {
      0.9996723415461005, -0.0003255483561055322, 2.069745155969119e-06, -3.890961736474424e-08, 1.3645959446950322e-09,
      -7.265563438866218e-11, 5.23467562904728e-12, -4.749669415278777e-13, 5.172156120138969e-14,
      -6.533724572537442e-15, 9.339246181142287e-16, -1.4822209207009678e-16, 2.569882624815295e-17,
      -4.628464081508793e-18};
  static constexpr double sine[] = {
      0.06911528040160503, -0.0003251060364586695, 3.945977743866323e-06, -1.068929090514341e-07, 4.800334718951617e-09,
      -3.0691067169997637e-10, 2.5517594369013902e-11, -2.6016067317523605e-12, 3.1236668551170854e-13,
      -4.290325171222674e-14, 6.596710594152377e-15, -1.1168332104842338e-15, 2.0551348426335377e-16,
      -4.0680000719436883e-17, 8.589000820361497e-18, -1.9204045914838443e-18, 4.503380129424116e-19,
      -1.0398358439945472e-19};
};
/// The same of Ai', with |x|^(-1/4), a minus sign of `falling`, and the sine's factor in `cosine` (DLMF 9.7.6, 9.7.10).
struct AirySlope {
  static constexpr int order = 1;
  static constexpr double near[] = {
      -0.06315261022202251, 0.010975768121874042, -0.12331739621063224, 0.019184919622836468, 0.34812588810423833,
      -0.3297816095825718, 0.025276662337564874, 0.11353828253105538, -0.06159513935476579, -0.0003444635385967881,
      0.012132127386412247, -0.004325546119394491, -0.00027838019577015844, 0.0006324383187213026,
      -0.00015868797357569724, -1.822357513869254e-05, 1.9386590544092414e-05, -3.5449349675704738e-06,
      -5.861346184917914e-07, 3.898861359218234e-07, -5.262866804893778e-08, -1.1733137455535698e-08,
      5.527952081388177e-09, -5.473165808334866e-10, -1.6262413112168498e-10, 5.8134243958189e-11,
      -4.097516896480096e-12, -1.663260469664511e-12, 4.70873267781926e-13, -2.2038849298494928e-14,
      -1.3108540378342168e-14, 3.023931577567127e-15, -7.959371714109767e-17, -8.218013693810148e-17,
      1.5753795540812673e-17, -1.2284666188312026e-19, -4.206048920090936e-19};
  static constexpr double falling[] = {
      1.0223917438953567, 0.021419543172417697, -0.0008929320864098833, 7.04386560665416e-05, -7.629019563020457e-06,
      1.0124594126717678e-06, -1.5547836430438127e-07, 2.670534777173515e-08, -5.017799973983537e-09,
      1.015476324864757e-09, -2.1883687800953875e-10, 4.9785488409618324e-11, -1.1876037266304995e-11,
      2.9543896474154092e-12, -7.630714992604705e-13, 2.0387580451075243e-13, -5.617262459123975e-14,
      1.591834670290458e-14, -4.629149988807331e-15, 1.378733811851513e-15, -4.198436369893246e-16,
      1.3051429010444582e-16, -4.135743419004055e-17, 1.3328518659206038e-17, -4.322940673311453e-18,
      1.2917169045013913e-18};
  static constexpr double cosine[] = {
      1.0003878405275435, 0.0003855407600036015, -2.2569547701994824e-06, 4.130182224665319e-08,
      -1.4294682762855387e-09, 7.551623154581622e-11, -5.41268401585024e-12, 4.893117688416249e-13,
      -5.313644430311156e-14, 6.697975217845817e-15, -9.557387457538144e-16, 1.5146675660712043e-16,
      -2.6229855651343937e-17, 4.719557050333322e-18};
  static constexpr double sine[] = {
      -0.09685373558055735, 0.00036413719505663344, -4.231539204935565e-06, 1.1255552405699963e-07,
      -5.0045376884264e-09, 3.179700644428914e-10, -2.6323624162319824e-11, 2.6753521986260728e-12,
      -3.204480010856815e-13, 4.3929203154180434e-14, -6.7439504925988464e-15, 1.1402812394256294e-15,
      -2.0959755985895592e-16, 4.144914025275836e-17, -8.744170744012745e-18, 1.953678313382796e-18,
      -4.578482263849896e-19, 1.0566317752238036e-19};
};

template <class T>
struct AiryZeta {
  T value, off;
};
/// 2/3 x^(3/2) for x >= 0, and what rounding took from it.
template <class T>
AiryZeta<T> zeta_of(T x) {
  const T root = scalar::sqrt(x), of_root = scalar::fma(-root, root, x) / (root + root);
  const T product = x * root, of_product = scalar::fma(x, root, -product) + x * of_root, twice = product + product;
  const T value = twice / T(3);
  return {value, (scalar::fma(T(-3), value, twice) + (of_product + of_product)) / T(3)};
}

template <class Table, class T>
T airy(T x) {
  const T size = scalar::abs(x), near = chebyshev((x + T(1.5)) * T(2. / 7), Table::near);
  const auto quarter_power = [](T y) {
    const T root = scalar::sqrt(scalar::sqrt(y));
    return Table::order == 0 ? T(1) / root : root;
  };
  const T right = scalar::min(size, T(512));  // beyond that all is 0
  const AiryZeta<T> decay = zeta_of(right);
  const T half = scalar::exp(T(-0.5) * decay.value), factor = quarter_power(right) * T(std::numbers::inv_sqrtpi / 2);
  const T series = chebyshev(T(2 * 1.8856180831641267) / decay.value - T(1), Table::falling) * factor;
  const T falling = (Table::order == 0 ? series : -series) * half * (half - half * decay.off);

  const AiryZeta<T> zeta = zeta_of(size);
  const T r = T(7.453559924999299) / zeta.value, place = T(2) * r * r - T(1);
  const T p = chebyshev(place, Table::cosine), q = chebyshev(place, Table::sine) / zeta.value;
  const T sine0 = scalar::sin(zeta.value), cosine0 = scalar::cos(zeta.value);
  const T off = zeta.off, off2 = off * off;  // at most 1/32 in float32 where an error is claimed
  const T of_sine = off * (T(1) - off2 * T(1. / 6)), of_cosine = off2 * (T(0.5) - off2 * T(1. / 24));
  const T sine = sine0 + (of_sine * cosine0 - of_cosine * sine0);
  const T cosine = cosine0 - (of_sine * sine0 + of_cosine * cosine0);
  const T sum = sine + cosine, difference = sine - cosine;
  const T terms = Table::order == 0 ? p * sum + q * difference : p * difference - q * sum;
  const T height = quarter_power(size) * T(std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2);
  const T wave = scalar::select(scalar::isfinite(terms), terms * height, T(0));

  const T inner = scalar::select(scalar::less(x, T(last_wave)), wave, near);
  return scalar::select(scalar::greater(x, T(first_fall)), falling, scalar::select(scalar::isnan(x), x, inner));
}

/// The power series (DLMF 9.4.1).
template <class T>
T power_series(int order, T x) {
  const T cube = x * x * x;
  T even = order == 0 ? T(1) : x * x * T(0.5), odd = order == 0 ? x : T(1), first(0), second(0);
  for (int k = 0; k < 120; ++k) {
    first = first + even;
    second = second + odd;
    const double i = 3. * k;
    even = even * cube / T(order == 0 ? (i + 2) * (i + 3) : (i + 3) * (i + 5));
    odd = odd * cube / T(order == 0 ? (i + 3) * (i + 4) : (i + 1) * (i + 3));
  }
  return first * (T(0x1.6b8c7962715b8p-2) + (T(0x1.7a96d7bb04e65p-56) + T(-0x1.24ad0a9dff29bp-113))) +
         second * (T(-0x1.0907f42b70f8bp-2) + (T(0x1.d1459035afde2p-56) + T(0x1.8478657383db3p-110)));
}

/// In more digits: the power series from -12 to 3; above, modified Bessel functions (DLMF 9.6.2) as the integral of
/// exp(-zeta cosh t) cosh(order t) (DLMF 10.32.9) by the trapezoidal rule; where zeta is greater than 30, and below
/// -12, the asymptotic series (DLMF 9.7), whose last term is below 1e-22.
template <class T>
T exact_airy(int order, T x) {
  if (is_within(x, -12, 3)) return power_series(order, x);
  const T pi(std::numbers::pi_v<long double>), size = scalar::abs(x), root = scalar::sqrt(size);
  const T zeta = size * root * T(2) / T(3), quarter = scalar::sqrt(root);
  const T scale = (order == 0 ? T(1) / quarter : quarter) / scalar::sqrt(pi);
  if (scalar::less(T(0), x) && scalar::less(zeta, T(30))) {
    struct Node {
      T above_one, weights[2];
    };
    static const auto nodes = [] {
      std::array<Node, 90> all;
      for (std::size_t k = 0; k < all.size(); ++k) {
        const T t(static_cast<double>(k) / 16), sine = scalar::sinh(t * T(0.5)), h(k == 0 ? 1. / 32 : 1. / 16);
        all[k] = {T(2) * sine * sine, {h * scalar::cosh(t / T(3)), h * scalar::cosh(t * T(2) / T(3))}};
      }
      return all;
    }();
    T bessel(0);
    for (const Node& node : nodes) bessel = bessel + scalar::exp(-zeta * node.above_one) * node.weights[order];
    bessel = bessel * scalar::exp(-zeta) / (pi * scalar::sqrt(T(3)));
    return order == 0 ? bessel * root : -bessel * size;
  }
  T term(1), parts[4] = {T(0), T(0), T(0), T(0)};
  for (int k = 0; k < 52; ++k) {
    const double i = 6. * k;
    parts[k % 4] = parts[k % 4] + (order == 0 ? term : term * T(-(i + 1)) / T(i - 1));
    term = term * T((i + 1) * (i + 3) * (i + 5)) / (T(216. * (k + 1) * (2 * k + 1)) * zeta);
  }
  if (scalar::less(T(0), x)) {
    const T y = (parts[0] + parts[2] - parts[1] - parts[3]) * scale * T(0.5) * scalar::exp(-zeta);
    return order == 0 ? y : -y;
  }
  const T p = parts[0] - parts[2], q = parts[1] - parts[3], sine = scalar::sin(zeta), cosine = scalar::cos(zeta);
  const T sum = sine + cosine, difference = sine - cosine;
  return (order == 0 ? p * sum + q * difference : p * difference - q * sum) * scale / scalar::sqrt(T(2));
}

/// Ai, or Ai'.
struct Airy {
  using kind = Elementwise;
  static constexpr const char* name = "airy_ai";
  static constexpr double ulps = 20;
  static constexpr unsigned keeps = input(0);
  static constexpr double tolerance_factor = 4;  // a series of 36 terms
  BoundedNumber<0, 1> order;

  template <class T> auto formula(T x) const { return order == 0 ? airy<AiryValue>(x) : airy<AirySlope>(x); }
  template <class T> T exact(T x) const {
    return scalar::less(x, T(least)) ? T(0) : exact_airy(static_cast<int>(order), x);
  }
  /// Next to its zeros a wave is right in units of its height.
  template <class T> T unit(T x) const {
    if (scalar::less(x, T(least))) return uncounted<T>();
    if (scalar::less(T(-0.5), x)) return T(0);
    const T root = scalar::sqrt(scalar::sqrt(-x)), height = order == 0 ? T(1) / root : root;
    return height * T(std::numbers::inv_sqrtpi);
  }
  Tensor partial(const Tensor& x, const Tensor&) const {
    return order == 0 ? apply(Airy{{1}}, x) : mul(x, apply(Airy{{0}}, x));
  }
  double reference(double x) const {
    return static_cast<double>(power_series(static_cast<int>(order), static_cast<long double>(x)));
  }
  static std::vector<Sample<Airy>> samples() {
    return {{{{0}}, {mul(sub(rand({2, 3}), 0.5), 4)}}, {{{1}}, {mul(sub(rand({4}), 0.5), 4)}}};
  }
};

}  // namespace

namespace ops {

Tensor airy_ai(const Tensor& x) { return of_real(Airy{{0}}, "airy_ai", x); }

}  // namespace ops
}  // namespace ricci
