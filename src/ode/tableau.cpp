// Each method's coefficients, with the paper that they are from.
#include "ode/tableau.h"

#include <cstddef>
#include <utility>

namespace ricci::ode {
namespace {

/// A method without values of its own between steps: the cubic that has the values and slopes of both ends.
Tableau with_cubic(Tableau method) {
  const std::size_t stages = method.b.size();
  method.dense.resize(stages + 1);
  for (std::size_t j = 0; j <= stages; ++j) {
    const double weight = j < stages ? method.b[j] : method.gamma, begins = j == 0, ends = j == stages;
    if (weight != 0 || begins != 0 || ends != 0)
      method.dense[j] = {begins, 3 * weight - 2 * begins - ends, begins + ends - 2 * weight};
  }
  return method;
}

const Tableau& euler() {
  static const Tableau method =
      with_cubic({.name = "Euler", .error_order = 1, .c = {0}, .a = {{}}, .b = {1}, .error = {}, .dense = {}});
  return method;
}

/// Heun's second-order method, with Euler's beside it.
const Tableau& heun() {
  static const Tableau method = with_cubic({.name = "Heun",
                                            .error_order = 2,
                                            .c = {0, 1},
                                            .a = {{}, {1}},
                                            .b = {0.5, 0.5},
                                            .error = {0.5, -0.5, 0},
                                            .dense = {}});
  return method;
}

/// The explicit midpoint method, with Euler's beside it.
const Tableau& midpoint() {
  static const Tableau method = with_cubic({.name = "Midpoint",
                                            .error_order = 2,
                                            .c = {0, 0.5},
                                            .a = {{}, {0.5}},
                                            .b = {0, 1},
                                            .error = {1, -1, 0},
                                            .dense = {}});
  return method;
}

/// The classical method of Kutta (1901).
const Tableau& rk4() {
  static const Tableau method = with_cubic({.name = "RK4",
                                            .error_order = 4,
                                            .c = {0, 0.5, 0.5, 1},
                                            .a = {{}, {0.5}, {0, 0.5}, {0, 0, 1}},
                                            .b = {1. / 6, 1. / 3, 1. / 3, 1. / 6},
                                            .error = {},
                                            .dense = {}});
  return method;
}

/// Tsitouras, Runge–Kutta pairs of order 5(4) satisfying only the first column simplifying assumption, Computers &
/// Mathematics with Applications 62, 2011, with the values between steps given there.
const Tableau& tsit5() {
  static const Tableau method{
      .name = "Tsit5",
      .error_order = 5,
      .c = {0, 0.161, 0.327, 0.9, 0.98002554090450970, 1},
      .a = {{},
            {0.161},
            {-0.0084806554923569886, 0.33548065549235699},
            {2.8971530571054935, -6.3594484899750751, 4.3622954328695814},
            {5.3258648284392566, -11.748883564062828, 7.4955393428898362, -0.092495066361755249},
            {5.8614554429464200, -12.920969317847109, 8.1593678985761586, -0.071584973281400997,
             -0.028269050394068382}},
      .b = {0.096460766818065230, 0.01, 0.47988965041449960, 1.3790085741037419, -3.2900695154360807,
            2.3247105240997740},
      .error = {0.0017800110522257714, 0.00081643445965674690, -0.0078808780102619964, 0.14471100717326298,
                -0.58235716545255522, 0.45808210592918697, -1. / 66},
      .dense = {{1, -2.7637061972748259, 2.9132554618219126, -1.0530884977290216},
                {0, 0.1317, -0.2234, 0.1017},
                {0, 3.9302962368947516, -5.9410338721315047, 2.4906272856512528},
                {0, -12.411077166933676, 30.338188630282318, -16.548102889244903},
                {0, 37.509313416511039, -88.178904894766397, 47.379521962819281},
                {0, -27.896526289197286, 65.091894674793670, -34.870657861496610},
                {0, 1.5, -4, 2.5}}};
  return method;
}

/// Dormand and Prince, A family of embedded Runge–Kutta formulae, J. Comp. Appl. Math. 6, 1980. The estimate of the
/// error and the values between steps: Shampine, Some practical Runge–Kutta formulas, Math. Comp. 46, 1986.
const Tableau& dopri5() {
  static const Tableau method{
      .name = "Dopri5",
      .error_order = 5,
      .c = {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1},
      .a = {{},
            {1. / 5},
            {3. / 40, 9. / 40},
            {44. / 45, -56. / 15, 32. / 9},
            {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
            {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656}},
      .b = {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
      .error = {35. / 384 - 1951. / 21600, 0, 500. / 1113 - 22642. / 50085, 125. / 192 - 451. / 720,
                -2187. / 6784 + 12231. / 42400, 11. / 84 - 649. / 6300, -1. / 60},
      .dense = {{1, -8048581381. / 2820520608, 8663915743. / 2820520608, -12715105075. / 11282082432},
                {},
                {0, 131558114200. / 32700410799, -68118460800. / 10900136933, 87487479700. / 32700410799},
                {0, -1754552775. / 470086768, 14199869525. / 1410260304, -10690763975. / 1880347072},
                {0, 127303824393. / 49829197408, -318862633887. / 49829197408, 701980252875. / 199316789632},
                {0, -282668133. / 205662961, 2019193451. / 616988883, -1453857185. / 822651844},
                {0, 40617522. / 29380423, -110615467. / 29380423, 69997945. / 29380423}}};
  return method;
}

/// Prince and Dormand, High order embedded Runge–Kutta formulae, J. Comp. Appl. Math. 7, 1981. Values between steps:
/// Bogacki and Shampine, Interpolating high-order Runge–Kutta formulas, Computers & Mathematics with Applications 20,
/// 1990.
const Tableau& dopri8() {
  static const std::vector<double> b = {14005451. / 335480064,
                                        0,
                                        0,
                                        0,
                                        0,
                                        -59238493. / 1068277825,
                                        181606767. / 758867731,
                                        561292985. / 797845732,
                                        -1041891430. / 1371343529,
                                        760417239. / 1151165299,
                                        118820643. / 751138087,
                                        -528747749. / 2220607170,
                                        1. / 4};
  static const std::vector<double> lower = {13451932. / 455176623,
                                            0,
                                            0,
                                            0,
                                            0,
                                            -808719846. / 976000145,
                                            1757004468. / 5645159321,
                                            656045339. / 265891186,
                                            -3867574721. / 1518517206,
                                            465885868. / 322736535,
                                            53011238. / 667516719,
                                            2. / 45,
                                            0};
  static const auto differences = [] {
    std::vector<double> error;
    for (std::size_t j = 0; j < b.size(); ++j) error.push_back(b[j] - lower[j]);
    error.push_back(0);
    return error;
  };
  static const Tableau method{
      .name = "Dopri8",
      .error_order = 8,
      .c = {0, 1. / 18, 1. / 12, 1. / 8, 5. / 16, 3. / 8, 59. / 400, 93. / 200, 5490023248. / 9719169821, 13. / 20,
            1201146811. / 1299019798, 1, 1},
      .a = {{},
            {1. / 18},
            {1. / 48, 1. / 16},
            {1. / 32, 0, 3. / 32},
            {5. / 16, 0, -75. / 64, 75. / 64},
            {3. / 80, 0, 0, 3. / 16, 3. / 20},
            {29443841. / 614563906, 0, 0, 77736538. / 692538347, -28693883. / 1125000000, 23124283. / 1800000000},
            {16016141. / 946692911, 0, 0, 61564180. / 158732637, 22789713. / 633445777, 545815736. / 2771057229,
             -180193667. / 1043307555},
            {39632708. / 573591083, 0, 0, -433636366. / 683701615, -421739975. / 2616292301, 100302831. / 723423059,
             790204164. / 839813087, 800635310. / 3783071287},
            {246121993. / 1340847787, 0, 0, -37695042795. / 15268766246, -309121744. / 1061227803,
             -12992083. / 490766935, 6005943493. / 2108947869, 393006217. / 1396673457, 123872331. / 1001029789},
            {-1028468189. / 846180014, 0, 0, 8478235783. / 508512852, 1311729495. / 1432422823,
             -10304129995. / 1701304382, -48777925059. / 3047939560, 15336726248. / 1032824649,
             -45442868181. / 3398467696, 3065993473. / 597172653},
            {185892177. / 718116043, 0, 0, -3185094517. / 667107341, -477755414. / 1098053517, -703635378. / 230739211,
             5731566787. / 1027545527, 5232866602. / 850066563, -4093664535. / 808688257, 3962137247. / 1805957418,
             65686358. / 487910083},
            {403863854. / 491063109, 0, 0, -5068492393. / 434740067, -411421997. / 543043805, 652783627. / 914296604,
             11173962825. / 925320556, -13158990841. / 6184727034, 3936647629. / 1978049680, -160528059. / 685178525,
             248638103. / 1413531060, 0}},
      .b = b,
      .error = differences(),
      .dense = {{1, -6.6910181737837595697, 19.9990069333683970610, -30.0610568289666450593, 22.1396504998094068976,
                 -6.3448349392860401388},
                {},
                {},
                {},
                {},
                {0, -7.6142658045872677172, 52.2273532792945524050, -121.4999627731334642623, 116.4422149550342161651,
                 -39.6107919852202505218},
                {0, 10.7281392630428866124, -46.8919164181093621583, 83.1721004639847717481, -67.1451318825957197185,
                 20.3761213808791436958},
                {0, 0.5526637063753648783, -0.1890893225010595467, 9.5724507555993664382, -16.5672243527496524646,
                 7.3347098826795362023},
                {0, 4.2186562625665153803, -35.7075975946222072821, 87.8406057677205645007, -89.9916014847245016028,
                 32.8801774352459155182},
                {0, -0.6627209125361597559, 6.2736448083240352160, -17.4152107770762969005, 22.6237489648532849093,
                 -10.1588990526426760954},
                {0, -1.2636789001135462218, 10.3160881272450748458, -28.5903289514790976966, 32.2362340167355370113,
                 -12.5401268098782561200},
                {0, 5.4106037898590422230, -34.7650769866611817349, 81.6630950584341412934, -82.1020315488359848644,
                 29.5553001484516038033},
                {0, -7.0321379067945741781, 47.7457971078225540396, -114.9375291377009418170, 116.2662185791119533462,
                 -41.7923486424390588923},
                {0, 2.3537586759714983486, -19.0082099341608028453, 50.2558364226176017553, -53.9020777466385396792,
                 20.3006925822100825485}}};
  return method;
}

/// The values at the ends of a step, and its slopes, of which the second is that between the ends.
const Tableau& leapfrog_midpoint() {
  static const Tableau method =
      with_cubic({.name = "LeapfrogMidpoint", .error_order = 2, .c = {0, 0}, .a = {{}, {}}, .b = {0, 1}});
  return method;
}

const Tableau& implicit_euler() {
  static const Tableau method = with_cubic(
      {.name = "ImplicitEuler", .error_order = 2, .c = {0}, .a = {{}}, .b = {0}, .gamma = 1, .error = {-0.5, 0.5}});
  return method;
}

/// Kværnø, Singly diagonally implicit Runge–Kutta methods with an explicit first stage, BIT 44, 2004.
const Tableau& kvaerno3() {
  static const auto made = [] {
    constexpr double g = 0.43586652150;
    const double a31 = (-4 * g * g + 6 * g - 1) / (4 * g), a32 = (1 - 2 * g) / (4 * g), b1 = (6 * g - 1) / (12 * g),
                 b2 = -1 / ((24 * g - 12) * g), b3 = (-6 * g * g + 6 * g - 1) / (6 * g - 3);
    return with_cubic({.name = "Kvaerno3",
                       .error_order = 3,
                       .c = {0, 2 * g, 1},
                       .a = {{}, {g}, {a31, a32}},
                       .b = {b1, b2, b3},
                       .gamma = g,
                       .error = {b1 - a31, b2 - a32, b3 - g, g}});
  };
  static const Tableau method = made();
  return method;
}

/// The same.
const Tableau& kvaerno5() {
  static const auto made = [] {
    constexpr double g = 0.26;
    const std::vector<double> lower = {0.13855640231268224, 0, -0.04245337201752043, 0.02446657898003141,
                                       0.61943039072480676};
    const std::vector<double> b = {
        0.13659751177640291, 0, -0.05496908796538376, -0.04118626728321046, 0.62993304899016403, 0.06962479448202728};
    std::vector<double> error;
    for (std::size_t j = 0; j < lower.size(); ++j) error.push_back(b[j] - lower[j]);
    error.insert(error.end(), {b.back() - g, g});
    return with_cubic({.name = "Kvaerno5",
                       .error_order = 5,
                       .c = {0, 0.52, 1.230333209967908, 0.8957659843500759, 0.43639360985864756, 1},
                       .a = {{},
                             {g},
                             {0.13, 0.84033320996790809},
                             {0.22371961478320505, 0.47675532319799699, -0.06470895363112615},
                             {0.16648564323248321, 0.10450018841591720, 0.03631482272098715, -0.13090704451073998},
                             lower},
                       .b = b,
                       .gamma = g,
                       .error = error});
  };
  static const Tableau method = made();
  return method;
}

}  // namespace

const Tableau& tableau_of(Solver solver) {
  switch (solver) {
    case Solver::Euler: return euler();
    case Solver::Heun: return heun();
    case Solver::Midpoint: return midpoint();
    case Solver::RK4: return rk4();
    case Solver::Tsit5: return tsit5();
    case Solver::Dopri5: return dopri5();
    case Solver::Dopri8: return dopri8();
    case Solver::LeapfrogMidpoint: return leapfrog_midpoint();
    case Solver::ImplicitEuler: return implicit_euler();
    case Solver::Kvaerno3: return kvaerno3();
    case Solver::Kvaerno5: return kvaerno5();
  }
  __builtin_unreachable();
}

}  // namespace ricci::ode
