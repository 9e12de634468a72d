// Elementwise kernels against slow, obvious references: the words of scalar formulas, the inner loops, the strided
// driver, copies and fills.
#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "kernels/strided_array.h"
#include "ricci/primitive/loop.h"

namespace ricci {
namespace {

using kernel_tests::for_each_index;
using kernel_tests::product;
using kernel_tests::Sizes;

// --- Operations under test

#define UNARY(Name, word)     \
  struct Name {               \
    template <class T>        \
    auto formula(T x) const { \
      return scalar::word(x); \
    }                         \
  };
UNARY(Exp, exp)
UNARY(Expm1, expm1)
UNARY(Log, log)
UNARY(Sin, sin)
UNARY(Cos, cos)
UNARY(Tanh, tanh)
UNARY(Exp2, exp2)
UNARY(Log2, log2)
UNARY(Log10, log10)
UNARY(Log1p, log1p)
UNARY(Tan, tan)
UNARY(Asin, asin)
UNARY(Acos, acos)
UNARY(Atan, atan)
UNARY(Sinh, sinh)
UNARY(Cosh, cosh)
UNARY(Asinh, asinh)
UNARY(Acosh, acosh)
UNARY(Atanh, atanh)
UNARY(Cbrt, cbrt)
UNARY(Erf, erf)
UNARY(Erfc, erfc)
UNARY(Lgamma, lgamma)
UNARY(Digamma, digamma)
UNARY(Sqrt, sqrt)
UNARY(Floor, floor)
UNARY(Ceil, ceil)
UNARY(Round, round)
UNARY(Trunc, trunc)
#undef UNARY

struct Binary {
  template <class T>
  auto formula(T x) const {
    using namespace scalar;
    const T y = x * x - T(3);
    return pow(abs(x), y) + atan2(x, y) + hypot(x, y) + remainder(x, y) + floor_div(x, y);
  }
};
struct Add {
  static constexpr DTypes dtypes = DTypes::all;
  template <class T>
  auto formula(T x, T y) const {
    return x + y;
  }
};
struct MulAdd {
  static constexpr DTypes dtypes = DTypes::all;
  template <class T>
  auto formula(T x, T y, T z) const {
    return x * y + z;
  }
};
struct Less {
  static constexpr DTypes dtypes = DTypes::floating | DTypes::integral | DTypes::boolean;
  using result = Boolean;
  template <class T>
  auto formula(T x, T y) const {
    return scalar::less(x, y);
  }
};
struct Where {
  static constexpr DTypes dtypes = DTypes::all;
  using operands = OperandKinds<Boolean, SameAsInput, SameAsInput>;
  template <class T>
  auto formula(scalar::Mask<T> mask, T x, T y) const {
    return scalar::select(mask, x, y);
  }
};
struct Abs {
  static constexpr DTypes dtypes = DTypes::all;
  using result = Real;
  template <class T>
  auto formula(T x) const {
    return scalar::abs(x);
  }
};
struct Scaled {
  double factor;
  template <class T>
  auto formula(T x) const {
    return x * T(factor);
  }
};

/// What a loop is given as its operation where the operation has no members.
constexpr char no_parameters = 0;

// --- Words

template <class E>
long double ulp(long double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const int digits = std::numeric_limits<E>::digits;
  return std::ldexp(1.0L, std::max(exponent, std::numeric_limits<E>::min_exponent) - digits);
}

template <class E, class Op>
std::vector<E> apply_to_all(const Op& op, const std::vector<E>& x) {
  std::vector<E> y(x.size());
  const std::int64_t n = static_cast<std::int64_t>(x.size()), one = 1;
  const Strided out{y.data(), dtype_of<E>, 1, &n, &one}, in{const_cast<E*>(x.data()), dtype_of<E>, 1, &n, &one};
  kernels::elementwise(loops_of<Op>().loop(dtype_of<E>), &op, out, &in, 1);
  return y;
}

template <class E, class Op>
E apply_alone(const Op& op, E x) {
  E y;
  const Strided out{&y, dtype_of<E>, 0, nullptr, nullptr}, in{&x, dtype_of<E>, 0, nullptr, nullptr};
  kernels::elementwise(loops_of<Op>().loop(dtype_of<E>), &op, out, &in, 1);
  return y;
}

template <class E>
bool same_bits(E a, E b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

struct Range {
  double low, high;
};

/// Error within `bound` ulp over the range, and every element what it is alone.
template <class E, class Op>
void expect_accurate(const char* name, long double (*reference)(long double), Range range, double bound) {
  std::mt19937 bits(7);
  std::uniform_real_distribution<double> uniform(range.low, range.high);
  std::vector<E> x(20001);
  for (E& v : x) v = static_cast<E>(uniform(bits));
  const std::vector<E> y = apply_to_all(Op{}, x);
  double worst = 0;
  E at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double exact = reference(static_cast<long double>(x[i]));
    const double error = static_cast<double>(std::abs(static_cast<long double>(y[i]) - exact) / ulp<E>(exact));
    if (!(error <= worst)) worst = error, at = x[i];
    if (i >= 300) continue;
    EXPECT_TRUE(same_bits(y[i], apply_alone(Op{}, x[i]))) << name << " at " << x[i];
  }
  EXPECT_LE(worst, bound) << name << " of " << static_cast<double>(at) << ", " << sizeof(E) * 8 << " bits";
}

template <class Op>
void expect_accurate(const char* name, long double (*reference)(long double), Range range, double bound) {
  expect_accurate<float, Op>(name, reference, range, bound);
  expect_accurate<double, Op>(name, reference, range, bound);
}

long double exp2_reference(long double x) { return std::exp2(x); }

TEST(Words, are_accurate_to_their_bounds_and_independent_of_position) {
  expect_accurate<Exp>("exp", std::exp, {-20, 20}, 1.01);
  expect_accurate<Exp>("exp", std::exp, {-86, 88}, 1.01);
  expect_accurate<double, Exp>("exp", std::exp, {-745, 709}, 1.01);
  expect_accurate<Expm1>("expm1", std::expm1, {-3, 3}, 2);
  expect_accurate<Expm1>("expm1", std::expm1, {-30, 88}, 2);
  expect_accurate<Log>("log", std::log, {0.4, 3}, 1.01);
  expect_accurate<Log>("log", std::log, {1e-30, 1e30}, 1.01);
  expect_accurate<Log>("log", std::log, {0, 1e-39}, 1.01);
  expect_accurate<Tanh>("tanh", std::tanh, {-0.5, 0.5}, 2.6);
  expect_accurate<Tanh>("tanh", std::tanh, {-12, 12}, 2.6);
  expect_accurate<Sin>("sin", std::sin, {-4, 4}, 2.3);
  expect_accurate<Sin>("sin", std::sin, {-1e5, 1e5}, 2.3);
  expect_accurate<Sin>("sin", std::sin, {-1e7, 1e7}, 2.3);
  expect_accurate<Sin>("sin", std::sin, {-1e9, 1e9}, 2.3);
  expect_accurate<Cos>("cos", std::cos, {-4, 4}, 2.3);
  expect_accurate<Cos>("cos", std::cos, {-1e5, 1e5}, 2.3);
  expect_accurate<Cos>("cos", std::cos, {-1e9, 1e9}, 2.3);
  expect_accurate<Exp2>("exp2", exp2_reference, {-20, 20}, 1.01);
  expect_accurate<Log2>("log2", std::log2, {0.1, 100}, 1.01);
  expect_accurate<Log10>("log10", std::log10, {0.1, 100}, 1.01);
  expect_accurate<Log1p>("log1p", std::log1p, {-0.9, 10}, 1.01);
  expect_accurate<Tan>("tan", std::tan, {-10, 10}, 1.01);
  expect_accurate<Asin>("asin", std::asin, {-1, 1}, 1.01);
  expect_accurate<Acos>("acos", std::acos, {-1, 1}, 1.01);
  expect_accurate<Atan>("atan", std::atan, {-10, 10}, 1.01);
  expect_accurate<Sinh>("sinh", std::sinh, {-10, 10}, 1.01);
  expect_accurate<Cosh>("cosh", std::cosh, {-10, 10}, 1.01);
  expect_accurate<Asinh>("asinh", std::asinh, {-10, 10}, 1.01);
  expect_accurate<Acosh>("acosh", std::acosh, {1.01, 10}, 1.01);
  expect_accurate<Atanh>("atanh", std::atanh, {-0.99, 0.99}, 1.01);
  expect_accurate<Cbrt>("cbrt", std::cbrt, {-100, 100}, 1.01);
  expect_accurate<Erf>("erf", std::erf, {-4, 4}, 1.01);
  expect_accurate<Erfc>("erfc", std::erfc, {-2, 8}, 1.51);
  expect_accurate<Lgamma>("lgamma", std::lgamma, {0.1, 30}, 1.01);
  expect_accurate<Sqrt>("sqrt", std::sqrt, {0, 100}, 0.5);
  expect_accurate<Floor>("floor", std::floor, {-100, 100}, 0);
  expect_accurate<Ceil>("ceil", std::ceil, {-100, 100}, 0);
  expect_accurate<Trunc>("trunc", std::trunc, {-100, 100}, 0);
  expect_accurate<Round>("round", std::rint, {-100, 100}, 0);
}

/// By the recurrence up to 30 and the series there.
long double digamma_reference(long double x) {
  if (x < 0) return digamma_reference(1 - x) - 3.14159265358979323846264L / std::tan(3.14159265358979323846264L * x);
  long double below = 0;
  for (; x < 30; ++x) below -= 1 / x;
  const long double z = 1 / (x * x);
  return below + std::log(x) - 0.5L / x -
         z * (1 / 12.0L - z * (1 / 120.0L - z * (1 / 252.0L - z * (1 / 240.0L - z / 132.0L))));
}

TEST(Words, digamma_is_accurate_away_from_its_zeros) {
  expect_accurate<Digamma>("digamma", digamma_reference, {2, 50}, 4);
  expect_accurate<Digamma>("digamma", digamma_reference, {0.01, 1.2}, 4);
  expect_accurate<Digamma>("digamma", digamma_reference, {-2.4, -2.1}, 4);
}

template <class E>
class SpecialValues : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(SpecialValues, FloatTypes);

TYPED_TEST(SpecialValues, follow_ieee) {
  using E = TypeParam;
  const E inf = std::numeric_limits<E>::infinity(), nan = std::numeric_limits<E>::quiet_NaN();
  const E tiny = std::numeric_limits<E>::denorm_min(), huge = std::numeric_limits<E>::max();
  EXPECT_EQ(scalar::exp(inf), inf);
  EXPECT_EQ(scalar::exp(-inf), 0);
  EXPECT_EQ(scalar::exp(E(1000)), inf);
  EXPECT_EQ(scalar::exp(E(0)), 1);
  EXPECT_EQ(scalar::expm1(inf), inf);
  EXPECT_EQ(scalar::expm1(-inf), -1);
  EXPECT_EQ(scalar::expm1(tiny), tiny);
  EXPECT_EQ(scalar::log(E(0)), -inf);
  EXPECT_EQ(scalar::log(inf), inf);
  EXPECT_EQ(scalar::log(E(1)), 0);
  EXPECT_TRUE(std::isnan(scalar::log(E(-1))));
  EXPECT_EQ(scalar::tanh(inf), 1);
  EXPECT_EQ(scalar::tanh(-huge), -1);
  EXPECT_TRUE(std::signbit(scalar::tanh(E(-0.0))));
  EXPECT_TRUE(std::signbit(scalar::sin(E(-0.0))));
  EXPECT_EQ(scalar::cos(E(0)), 1);
  EXPECT_TRUE(std::isnan(scalar::sin(inf)));
  EXPECT_TRUE(std::isnan(scalar::cos(-inf)));
  for (const E y :
       {scalar::exp(nan), scalar::expm1(nan), scalar::log(nan), scalar::tanh(nan), scalar::sin(nan), scalar::cos(nan),
        scalar::max(nan, E(1)), scalar::max(E(1), nan), scalar::min(nan, E(1)), scalar::min(E(1), nan)})
    EXPECT_TRUE(std::isnan(y));
  EXPECT_EQ(scalar::sign(nan), 0);
  EXPECT_EQ(scalar::sign(E(-3)), -1);
  EXPECT_EQ(scalar::round(E(2.5)), 2);
  EXPECT_EQ(scalar::round(E(-3.5)), -4);
  EXPECT_EQ(scalar::digamma(E(0)), -inf);
  EXPECT_TRUE(std::isnan(scalar::digamma(E(-2))));
  EXPECT_TRUE(scalar::isinf(-inf) && !scalar::isinf(huge) && scalar::isfinite(huge) && !scalar::isfinite(nan));
  EXPECT_EQ(scalar::copysign(E(2), E(-0.0)), -2);
  EXPECT_EQ(scalar::hypot(E(3), E(4)), 5);
  EXPECT_EQ(scalar::atan2(E(0), E(-1)), static_cast<E>(3.14159265358979323846));
  EXPECT_EQ(scalar::pow(E(2), E(10)), 1024);
  EXPECT_EQ(scalar::fma(E(2), E(3), E(4)), 10);
}

TYPED_TEST(SpecialValues, floating_division_rounds_as_in_python) {
  using E = TypeParam;
  EXPECT_EQ(scalar::fmod(E(-7), E(3)), -1);
  EXPECT_EQ(scalar::remainder(E(-7), E(3)), 2);
  EXPECT_EQ(scalar::remainder(E(7), E(-3)), -2);
  EXPECT_EQ(scalar::floor_div(E(-7), E(3)), -3);
  EXPECT_EQ(scalar::floor_div(E(7), E(0)), std::numeric_limits<E>::infinity());
  EXPECT_EQ(scalar::trunc_div(E(-7), E(2)), -3);
  std::mt19937 bits(3);
  for (int i = 0; i < 2000; ++i) {
    const E a = static_cast<E>(static_cast<int>(bits() % 20000) - 10000) / 16, b = static_cast<E>(bits() % 999 + 1) / 8;
    EXPECT_EQ(scalar::fmod(a, b), std::fmod(a, b)) << a << " " << b;
  }
}

template <class E>
class WholeWords : public testing::Test {};
using WholeTypes = testing::Types<std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(WholeWords, WholeTypes);

TYPED_TEST(WholeWords, division_never_traps_and_rounds_as_asked) {
  using E = TypeParam;
  const E least = std::numeric_limits<E>::min(), most = std::numeric_limits<E>::max();
  EXPECT_EQ(scalar::floor_div(E(7), E(0)), 0);
  EXPECT_EQ(scalar::remainder(E(7), E(0)), 0);
  EXPECT_EQ(scalar::fmod(E(7), E(0)), 0);
  if (std::is_signed_v<E>) {
    EXPECT_EQ(scalar::floor_div(least, E(-1)), least);
    EXPECT_EQ(scalar::remainder(least, E(-1)), 0);
  }
  std::mt19937 bits(5);
  for (int i = 0; i < 3000; ++i) {
    const E a = static_cast<E>(bits()), b = static_cast<E>(bits());
    if (b == 0 || (std::is_signed_v<E> && a == least && b == static_cast<E>(-1))) continue;
    const std::int64_t q = a / b, r = a % b;
    const bool down = r != 0 && (r < 0) != (b < 0);
    EXPECT_EQ(scalar::trunc_div(a, b), static_cast<E>(q));
    EXPECT_EQ(scalar::floor_div(a, b), static_cast<E>(q - down));
    EXPECT_EQ(scalar::fmod(a, b), static_cast<E>(r));
    EXPECT_EQ(scalar::remainder(a, b), static_cast<E>(down ? r + b : r));
  }
  EXPECT_EQ(scalar::abs(most), most);
}

TYPED_TEST(WholeWords, powers_and_shifts_are_defined_everywhere) {
  using E = TypeParam;
  const int width = 8 * sizeof(E);
  EXPECT_EQ(scalar::pow(E(3), E(4)), 81);
  EXPECT_EQ(scalar::pow(E(0), E(0)), 1);
  EXPECT_EQ(scalar::left_shift(E(1), E(3)), 8);
  EXPECT_EQ(scalar::left_shift(E(1), E(width)), 0);
  EXPECT_EQ(scalar::right_shift(E(64), E(3)), 8);
  EXPECT_EQ(scalar::right_shift(E(64), E(width)), 0);
  EXPECT_EQ(scalar::bit_not(E(5)), static_cast<E>(~5));
  EXPECT_EQ(scalar::bit_xor(E(6), E(3)), 5);
  if constexpr (std::is_signed_v<E>) {
    EXPECT_EQ(scalar::pow(E(-1), E(-3)), -1);
    EXPECT_EQ(scalar::pow(E(2), E(-1)), 0);
    EXPECT_EQ(scalar::pow(E(-2), E(3)), -8);
    EXPECT_EQ(scalar::right_shift(E(-64), E(3)), -8);
    EXPECT_EQ(scalar::right_shift(E(-64), E(width)), -1);
    EXPECT_EQ(scalar::left_shift(E(1), E(-1)), 0);
  }
}

TEST(Words, on_bool_follow_promotion_to_bool) {
  EXPECT_TRUE(scalar::bit_not(false));
  EXPECT_FALSE(scalar::bit_not(true));
  const scalar::Pack<bool> yes(true), no(false);
  EXPECT_EQ((yes + yes)[0], 1);
  EXPECT_EQ((yes * no)[0], 0);
  EXPECT_EQ(scalar::max(yes, no)[3], 1);
}

TEST(Words, on_complex_are_those_of_the_standard_library) {
  using C = std::complex<double>;
  const C z(0.3, -1.2), w(2, 0.5);
  EXPECT_EQ(scalar::exp(z), std::exp(z));
  EXPECT_EQ(scalar::pow(z, w), std::pow(z, w));
  EXPECT_EQ(scalar::abs(z), std::abs(z));
  EXPECT_EQ(scalar::square(z), z * z);
  EXPECT_LT(std::abs(scalar::expm1(z) - (std::exp(z) - 1.0)), 1e-15);
  EXPECT_LT(std::abs(scalar::log1p(z) - std::log(1.0 + z)), 1e-15);
  EXPECT_LT(std::abs(scalar::log1p(C(1e-20, 1e-20)) - C(1e-20, 1e-20)), 1e-35);
  EXPECT_LT(std::abs(std::abs(scalar::sign(z)) - 1), 1e-15);
  EXPECT_EQ(scalar::sign(C(0)), C(0));
  EXPECT_TRUE(scalar::isnan(C(0, NAN)) && scalar::isinf(C(0, INFINITY)) && scalar::isfinite(z));
}

/// Counts the words of a formula instead of computing.
struct Recorded {
  using element = float;
  using symbolic_mask = Recorded;
  int words = 0;
  explicit Recorded(double) {}
  Recorded(int count, std::nullptr_t) : words(count) {}
  template <class... T>
  static Recorded word(scalar::Word, const T&... x) {
    return {1 + (x.words + ...), nullptr};
  }
  template <class... T>
  static Recorded test(scalar::Word, const T&... x) {
    return {1 + (x.words + ...), nullptr};
  }
  static Recorded select(const Recorded& m, const Recorded& a, const Recorded& b) {
    return {1 + m.words + a.words + b.words, nullptr};
  }
  friend Recorded operator+(Recorded a, Recorded b) { return word(scalar::Word::add, a, b); }
  friend Recorded operator-(Recorded a, Recorded b) { return word(scalar::Word::subtract, a, b); }
  friend Recorded operator*(Recorded a, Recorded b) { return word(scalar::Word::multiply, a, b); }
  friend Recorded operator/(Recorded a, Recorded b) { return word(scalar::Word::divide, a, b); }
  friend Recorded operator-(Recorded a) { return word(scalar::Word::negative, a); }
};

TEST(Words, stand_for_themselves_in_a_symbolic_formula) {
  static_assert(scalar::Symbolic<Recorded>);
  const Recorded x(0.0);
  const auto formula = [](auto v) {
    using T = decltype(v);
    return scalar::select(scalar::less(v, T(0.5)), scalar::tanh(v) + scalar::square(v), scalar::pow(v, T(3)));
  };
  EXPECT_EQ(formula(x).words, 6);
  EXPECT_FLOAT_EQ(formula(0.25F), std::tanh(0.25F) + 0.0625F);
#if RICCI_PACK_FMA
  EXPECT_GT(scalar::elementary::tanh(x).words, 15);  // the steps of our own formula, for a backend to inline
  EXPECT_GT(scalar::elementary::log(x).words, 15);
#endif
}

// --- Loops over runs, every element type

template <class E>
E number(int i) {
  if constexpr (std::is_same_v<E, bool>) return i % 3 == 0;
  else if constexpr (std::is_integral_v<E>) return static_cast<E>(i * 7 - 50);
  else if constexpr (std::is_class_v<E> && sizeof(E) >= 8)
    return E(static_cast<typename E::value_type>(i % 13) / 4, static_cast<typename E::value_type>(i % 7));
  else return static_cast<E>(static_cast<float>(i % 29) / 4 - 3);
}

template <class E>
class Runs : public testing::Test {};
using ElementTypes = testing::Types<bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, Half,
                                    BFloat16, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Runs, ElementTypes);

template <class E>
E sum_of(E a, E b) {
  if constexpr (std::is_same_v<E, bool>) return a || b;
  else if constexpr (sizeof(E) == 2 && !std::is_integral_v<E>) return E(static_cast<float>(a) + static_cast<float>(b));
  else return static_cast<E>(a + b);
}

template <class E>
bool equal_elements(const E& a, const E& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

constexpr std::int64_t lengths[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 64, 65, 127, 128, 129, 255, 256, 257, 1000};
constexpr std::int64_t strides[] = {0, 1, 2, 3};

TYPED_TEST(Runs, add_with_every_stride_and_length) {
  using E = TypeParam;
  for (const std::int64_t n : lengths) {
    for (const std::int64_t sx : strides) {
      for (const std::int64_t sy : strides) {
        for (const std::int64_t so : {1, 3}) {
          std::vector<std::conditional_t<std::is_same_v<E, bool>, std::uint8_t, E>> x(3001), y(3001), out(3004), kept;
          for (int i = 0; i < 3001; ++i)
            x[static_cast<std::size_t>(i)] = number<E>(i), y[static_cast<std::size_t>(i)] = number<E>(i * 3 + 1);
          kept = out;
          const Strided in[] = {{x.data(), dtype_of<E>, 1, &n, &sx}, {y.data(), dtype_of<E>, 1, &n, &sy}};
          kernels::elementwise(loops_of<Add>().loop(dtype_of<E>), &no_parameters, {out.data(), dtype_of<E>, 1, &n, &so},
                               in, 2);
          for (std::int64_t i = 0; i < n; ++i)
            kept[static_cast<std::size_t>(i * so)] = sum_of<E>(static_cast<E>(x[static_cast<std::size_t>(i * sx)]),
                                                               static_cast<E>(y[static_cast<std::size_t>(i * sy)]));
          ASSERT_EQ(std::memcmp(kept.data(), out.data(), out.size() * sizeof out[0]), 0)
              << short_name(dtype_of<E>) << " n " << n << " strides " << so << " " << sx << " " << sy;
        }
      }
    }
  }
}

TYPED_TEST(Runs, in_place_equals_out_of_place) {
  using E = TypeParam;
  using Stored = std::conditional_t<std::is_same_v<E, bool>, std::uint8_t, E>;
  for (const std::int64_t n : lengths) {
    for (const std::int64_t stride : {1, 2}) {
      std::vector<Stored> x(2001), apart(2001);
      for (int i = 0; i < 2001; ++i) x[static_cast<std::size_t>(i)] = number<E>(i);
      apart = x;
      const std::vector<Stored> before = x;
      const Strided self{x.data(), dtype_of<E>, 1, &n, &stride};
      const Strided source{const_cast<Stored*>(before.data()), dtype_of<E>, 1, &n, &stride};
      const Strided same[] = {self, self, self}, sources[] = {source, source, source};
      kernels::elementwise(loops_of<MulAdd>().loop(dtype_of<E>), &no_parameters, self, same, 3);
      kernels::elementwise(loops_of<MulAdd>().loop(dtype_of<E>), &no_parameters,
                           {apart.data(), dtype_of<E>, 1, &n, &stride}, sources, 3);
      ASSERT_EQ(std::memcmp(x.data(), apart.data(), x.size() * sizeof x[0]), 0) << n;
    }
  }
}

TYPED_TEST(Runs, where_takes_bool_and_less_gives_it) {
  using E = TypeParam;
  using Stored = std::conditional_t<std::is_same_v<E, bool>, std::uint8_t, E>;
  for (const std::int64_t n : lengths) {
    for (const std::int64_t sm : {0, 1, 2}) {
      std::vector<Stored> x(1000), y(1000), out(1000);
      std::vector<std::uint8_t> mask(2001);
      for (std::size_t i = 0; i < 1000; ++i)
        x[i] = number<E>(static_cast<int>(i)), y[i] = number<E>(static_cast<int>(i * 5 + 2));
      for (std::size_t i = 0; i < 2001; ++i) mask[i] = i % 3 == 1;
      const std::int64_t one = 1;
      const Strided in[] = {{mask.data(), boolean, 1, &n, &sm},
                            {x.data(), dtype_of<E>, 1, &n, &one},
                            {y.data(), dtype_of<E>, 1, &n, &one}};
      kernels::elementwise(loops_of<Where>().loop(dtype_of<E>), &no_parameters, {out.data(), dtype_of<E>, 1, &n, &one},
                           in, 3);
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_TRUE(equal_elements(out[at], mask[static_cast<std::size_t>(i * sm)] ? x[at] : y[at])) << n << " " << i;
      }
      if constexpr (!std::is_class_v<E> || sizeof(E) == 2) {
        std::vector<std::uint8_t> less(1000, 9);
        kernels::elementwise(loops_of<Less>().loop(dtype_of<E>), &no_parameters, {less.data(), boolean, 1, &n, &one},
                             in + 1, 2);
        for (std::int64_t i = 0; i < 1000; ++i) {
          const auto at = static_cast<std::size_t>(i);
          const int expected = i >= n ? 9 : static_cast<double>(x[at]) < static_cast<double>(y[at]);
          ASSERT_EQ(less[at], expected) << n << " " << i;
        }
      }
    }
  }
}

TEST(Loops, table_says_what_is_defined_and_what_comes_out) {
  constexpr LoopTable exp = loops_of<Exp>(), less = loops_of<Less>(), where = loops_of<Where>(), abs = loops_of<Abs>();
  EXPECT_EQ(exp.loop(int32), nullptr);
  EXPECT_NE(exp.loop(bfloat16), nullptr);
  EXPECT_EQ(exp.inputs, 1);
  EXPECT_EQ(exp.compute_dtype(int32), float32);
  EXPECT_EQ(exp.compute_dtype(float64), float64);
  EXPECT_EQ(less.result_dtype(float16), boolean);
  EXPECT_EQ(less.inputs, 2);
  EXPECT_EQ(less.compute_dtype(int32), int32);
  EXPECT_EQ(where.conditions, 1U);
  EXPECT_EQ(where.inputs, 3);
  EXPECT_EQ(abs.result_dtype(complex64), float32);
  EXPECT_EQ(abs.result_dtype(int8), int8);
}

TEST(Loops, parameters_and_real_results_reach_the_formula) {
  const Scaled scaled{2.5};
  EXPECT_EQ(apply_to_all<float>(scaled, {1, 2, 3}), (std::vector<float>{2.5, 5, 7.5}));
  std::vector<std::complex<double>> z = {{3, 4}, {0, -2}, {1, 0}};
  std::vector<double> size(3);
  const std::int64_t n = 3, one = 1;
  const Strided in{z.data(), complex128, 1, &n, &one};
  kernels::elementwise(loops_of<Abs>().loop(complex128), &no_parameters, {size.data(), float64, 1, &n, &one}, &in, 1);
  EXPECT_EQ(size, (std::vector<double>{5, 2, 1}));
}

template <class E, class Op>
void expect_same_alone(const Op& op) {
  const std::vector<E> special = {E(0.3),
                                  E(1e6),
                                  -2,
                                  E(INFINITY),
                                  E(NAN),
                                  E(-0.0),
                                  std::numeric_limits<E>::max(),
                                  std::numeric_limits<E>::denorm_min(),
                                  88,
                                  -88,
                                  E(1e9),
                                  E(1e16),
                                  E(200)};
  std::mt19937 bits(17);
  std::vector<E> x(20001);
  for (E& v : x)
    v = bits() % 4 == 0 ? special[bits() % special.size()]
                        : static_cast<E>(static_cast<int>(bits() % 40001) - 20000) / 1000;
  const std::vector<E> y = apply_to_all(op, x);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_TRUE(same_bits(y[i], apply_alone(op, x[i]))) << x[i] << " " << typeid(op).name();
}

template <class... Ops>
void expect_all_same_alone() {
  (expect_same_alone<float>(Ops{}), ...);
  (expect_same_alone<double>(Ops{}), ...);
}

TEST(Loops, values_do_not_depend_on_position) {
  expect_all_same_alone<Exp, Expm1, Log, Sin, Cos, Tanh, Exp2, Log2, Log10, Log1p, Tan, Asin, Acos, Atan, Sinh, Cosh,
                        Asinh, Acosh, Atanh, Cbrt, Erf, Erfc, Lgamma, Digamma, Sqrt, Round, Binary>();
}

TEST(Loops, huge_outputs_equal_small_ones) {
  for (const std::int64_t n : {(5 << 20) + 5, (5 << 20) + 1, (5 << 20) + 64 * 7}) {
    const std::int64_t one = 1;
    std::vector<float> x(static_cast<std::size_t>(n)), y(static_cast<std::size_t>(n) + 3, -1);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000) / 100;
    const Strided in[] = {{x.data(), float32, 1, &n, &one}, {x.data(), float32, 1, &n, &one}};
    kernels::elementwise(loops_of<Add>().loop(float32), &no_parameters, {y.data() + 1, float32, 1, &n, &one}, in, 2);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i + 1], x[i] + x[i]) << i;
    EXPECT_EQ(y[0], -1);
    EXPECT_EQ(y[x.size() + 1], -1) << n;
  }
}

// --- Any rank

/// Strides of a tensor stored contiguously in `order` of its axes, first outermost; axes in `repeated` have stride 0.
Sizes strides_in_order(const Sizes& shape, const std::vector<int>& order, unsigned repeated = 0) {
  Sizes result(shape.size(), 0);
  std::int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto a = static_cast<std::size_t>(order[i]);
    if (repeated >> a & 1U) continue;
    result[a] = step;
    step *= shape[a];
  }
  return result;
}

std::size_t offset(const Sizes& index, const Sizes& stride) {
  std::int64_t at = 0;
  for (std::size_t a = 0; a < index.size(); ++a) at += index[a] * stride[a];
  return static_cast<std::size_t>(at);
}

Strided view(void* data, DType dtype, const Sizes& shape, const Sizes& stride) {
  return {data, dtype, static_cast<int>(shape.size()), shape.data(), stride.data()};
}

template <class E>
void expect_add(const Sizes& shape, const Sizes& so, const Sizes& sx, const Sizes& sy) {
  const auto n = static_cast<std::size_t>(product(shape));
  std::vector<E> x(n + 1), y(n + 1), out(n + 1, E(-7));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<E>(i % 1001), y[i] = static_cast<E>(i % 77 * 4);
  const Strided in[] = {view(x.data(), dtype_of<E>, shape, sx), view(y.data(), dtype_of<E>, shape, sy)};
  kernels::elementwise(loops_of<Add>().loop(dtype_of<E>), &no_parameters, view(out.data(), dtype_of<E>, shape, so), in,
                       2);
  bool good = out[n] == E(-7);
  for_each_index(shape, [&](const Sizes& i) {
    good = good && out[offset(i, so)] == static_cast<E>(x[offset(i, sx)] + y[offset(i, sy)]);
  });
  ASSERT_TRUE(good) << testing::PrintToString(shape) << testing::PrintToString(so) << testing::PrintToString(sx)
                    << testing::PrintToString(sy);
}

TEST(Driver, takes_any_layout_of_its_operands) {
  std::mt19937 bits(11);
  for (int trial = 0; trial < 3000; ++trial) {
    const int rank = static_cast<int>(bits() % 5);
    constexpr std::int64_t sizes[] = {1, 2, 3, 5, 8, 17, 40, 70, 130};
    Sizes shape;
    for (int a = 0; a < rank; ++a) {
      const std::int64_t size = sizes[bits() % std::size(sizes)];
      shape.push_back(product(shape) * size > 60000 ? 1 : size);
    }
    const auto layout = [&](bool may_repeat) {
      std::vector<int> order;
      for (int a = 0; a < rank; ++a) order.push_back(a);
      if (bits() % 2) std::shuffle(order.begin(), order.end(), bits);
      return strides_in_order(shape, order, may_repeat && bits() % 2 ? bits() & 31U : 0U);
    };
    const Sizes so = layout(false), sx = layout(true), sy = layout(true);
    expect_add<float>(shape, so, sx, sy);
    expect_add<std::int16_t>(shape, so, sx, sy);
    expect_add<double>(shape, so, sx, sy);
    if (HasFatalFailure()) return;
  }
}

TEST(Driver, does_nothing_without_elements) {
  for (const Sizes& shape : {Sizes{0}, Sizes{3, 0}, Sizes{0, 3}, Sizes{2, 0, 5}}) {
    std::vector<int> order;
    for (std::size_t a = 0; a < shape.size(); ++a) order.push_back(static_cast<int>(a));
    const Sizes s = strides_in_order(shape, order);
    expect_add<float>(shape, s, s, s);
  }
}

// --- Copies and fills

template <class To, class From>
To converted(From x) {
  if constexpr (std::is_class_v<From> && sizeof(From) == 2) return converted<To>(static_cast<float>(x));
  else if constexpr (std::is_class_v<To> && sizeof(To) == 2) return To(converted<float>(x));
  else if constexpr (std::is_same_v<To, bool>) return x != From(0);
  else if constexpr (std::is_class_v<To> && std::is_class_v<From>)
    return To(static_cast<typename To::value_type>(x.real()), static_cast<typename To::value_type>(x.imag()));
  else if constexpr (std::is_class_v<To>) return To(static_cast<typename To::value_type>(x));
  else if constexpr (std::is_class_v<From>) return converted<To>(x.real());
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>)
    return static_cast<To>(static_cast<std::int64_t>(x));
  else return static_cast<To>(x);
}

template <class E>
class Copies : public testing::Test {};
TYPED_TEST_SUITE(Copies, ElementTypes);

/// A type of elements: how the i-th element of a test is made in memory.
struct ElementType {
  DType dtype;
  std::size_t size;
  void (*make)(int i, std::byte* element);
};
template <class T>
constexpr ElementType element_type = {dtype_of<T>, sizeof(T), [](int i, std::byte* element) {
                                        T x;
                                        if constexpr (std::is_same_v<T, bool>) x = i % 3 == 1;
                                        else if constexpr (std::is_class_v<T> && sizeof(T) >= 8)
                                          x = T(static_cast<typename T::value_type>(i % 50) - 25,
                                                static_cast<typename T::value_type>(i % 3));
                                        else x = static_cast<T>(static_cast<float>(i % 100) - 50.25F);
                                        std::memcpy(element, &x, sizeof x);
                                      }};

/// From memory: g++ 12 folds float -> integer -> float into a truncation that keeps the sign of -0.25.
template <class To, class From>
void convert(const std::byte* from, std::byte* to) {
  From x;
  std::memcpy(&x, from, sizeof x);
  const To y = converted<To>(x);
  std::memcpy(to, &y, sizeof y);
}

void expect_copies(const ElementType& to, const ElementType& from, void (*convert)(const std::byte*, std::byte*)) {
  for (const std::int64_t n : {0, 1, 7, 16, 17, 300, 1000}) {
    for (const std::int64_t si : {0, 1, 2}) {
      for (const std::int64_t so : {1, 3}) {
        std::vector<std::byte> in(2001 * from.size), out(3001 * to.size), expected(to.size);
        for (int i = 0; i < 2001; ++i) from.make(i, in.data() + static_cast<std::size_t>(i) * from.size);
        kernels::copy({out.data(), to.dtype, 1, &n, &so}, {in.data(), from.dtype, 1, &n, &si});
        for (std::int64_t i = 0; i < n; ++i) {
          convert(in.data() + static_cast<std::size_t>(i * si) * from.size, expected.data());
          const std::byte* const copy = out.data() + static_cast<std::size_t>(i * so) * to.size;
          ASSERT_EQ(std::memcmp(expected.data(), copy, to.size), 0)
              << short_name(from.dtype) << " to " << short_name(to.dtype) << " element " << i << " of " << n;
        }
      }
    }
  }
}

TYPED_TEST(Copies, convert_from_every_type) {
  const auto from_all = []<class... From>(testing::Types<From...>) {
    (expect_copies(element_type<TypeParam>, element_type<From>, &convert<TypeParam, From>), ...);
  };
  from_all(ElementTypes());
}

template <class E>
void expect_layout_copy(const Sizes& shape, const Sizes& so, const Sizes& si) {
  const auto n = static_cast<std::size_t>(product(shape));
  std::vector<E> in(n), out(n);
  for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<E>(i * 37);
  kernels::copy(view(out.data(), dtype_of<E>, shape, so), view(in.data(), dtype_of<E>, shape, si));
  bool good = true;
  for_each_index(shape, [&](const Sizes& i) { good = good && out[offset(i, so)] == in[offset(i, si)]; });
  ASSERT_TRUE(good) << testing::PrintToString(shape) << testing::PrintToString(so) << testing::PrintToString(si);
}

TEST(Copies, transpose_any_axes) {
  std::mt19937 bits(12);
  for (int trial = 0; trial < 300; ++trial) {
    const int rank = 2 + static_cast<int>(bits() % 3);
    Sizes shape;
    std::vector<int> order;
    for (int a = 0; a < rank; ++a)
      shape.push_back(1 + static_cast<std::int64_t>(bits() % (a < 2 ? 60 : 20))), order.push_back(a);
    const Sizes so = strides_in_order(shape, order);
    std::shuffle(order.begin(), order.end(), bits);
    const Sizes si = strides_in_order(shape, order);
    expect_layout_copy<std::uint8_t>(shape, so, si);
    expect_layout_copy<std::int16_t>(shape, so, si);
    expect_layout_copy<float>(shape, so, si);
    expect_layout_copy<double>(shape, so, si);
    expect_layout_copy<std::complex<double>>(shape, si, so);
    if (HasFatalFailure()) return;
  }
}

TEST(Copies, cut_to_integers_towards_zero) {
  const std::vector<double> x = {-1.9, 1.9, -0.5, 255.5, -1};
  std::vector<std::int32_t> i(5);
  std::vector<std::uint8_t> u(5), b(5);
  const std::int64_t n = 5, one = 1;
  const Strided in{const_cast<double*>(x.data()), float64, 1, &n, &one};
  kernels::copy({i.data(), int32, 1, &n, &one}, in);
  kernels::copy({u.data(), uint8, 1, &n, &one}, in);
  kernels::copy({b.data(), boolean, 1, &n, &one}, in);
  EXPECT_EQ(i, (std::vector<std::int32_t>{-1, 1, 0, 255, -1}));
  EXPECT_EQ(u, (std::vector<std::uint8_t>{255, 1, 0, 255, 255}));
  EXPECT_EQ(b, (std::vector<std::uint8_t>{1, 1, 1, 1, 1}));
}

TYPED_TEST(Copies, fill_writes_every_element_and_no_other) {
  using E = TypeParam;
  using Stored = std::conditional_t<std::is_same_v<E, bool>, std::uint8_t, E>;
  std::vector<Stored> out(61, number<E>(5)), expected = out;
  const Sizes shape = {4, 5}, stride = {15, 3};
  kernels::fill(view(out.data(), dtype_of<E>, shape, stride), 2.75, 1.0);
  for_each_index(shape,
                 [&](const Sizes& i) { expected[offset(i, stride)] = converted<E>(std::complex<double>(2.75, 1)); });
  EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof out[0]), 0);
  kernels::fill(view(out.data(), dtype_of<E>, shape, stride), std::int64_t{3});
  for_each_index(shape, [&](const Sizes& i) { expected[offset(i, stride)] = converted<E>(std::int64_t{3}); });
  EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof out[0]), 0);
}

}  // namespace
}  // namespace ricci
