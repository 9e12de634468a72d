// Reductions on raw memory, by the names of their operations: against sums of long doubles, in every dtype and memory
// layout; that their bits do not depend on the batch or on the layout; accuracy; and the special values.
#include "kernels/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>

#include "kernels/strided_array.h"
#include "ricci/primitive.h"

namespace ricci {
namespace {

using namespace kernel_tests;
using kernel_tests::Number, kernel_tests::Sizes;  // not those of ricci

enum class Reduction : std::uint8_t {
  sum,
  mean,
  prod,
  max,
  min,
  any,
  all,
  count_nonzero,
  sum_of_squares,
  sum_of_abs,
  logsumexp
};

const Rules& rules_named(std::string_view name) {
  for (const Rules* rules : registry())
    if (rules->name == name) return *rules;
  throw std::logic_error("no operation is called " + std::string(name));
}

const Rules& rules_of_kind(Reduction kind) {
  constexpr const char* names[] = {"sum", "mean",          "prod",           "amax",       "amin",     "any",
                                   "all", "count_nonzero", "sum_of_squares", "sum_of_abs", "logsumexp"};
  return rules_named(names[static_cast<std::size_t>(kind)]);
}

OwnedParameters over(const Rules& rules, const bool* reduced, int rank) {
  std::string list;
  for (int i = 0; i < rank; ++i)
    if (reduced[i]) list += (list.empty() ? "" : ",") + std::to_string(i);
  const std::string parameters = rules.name == std::string_view("prod") ? "axis=" + list : "axes=(" + list + ")";
  std::string_view text = parameters;
  return rules.parameters.parse(text);
}

void reduce(Reduction kind, const Strided& out, const Strided& in, const bool* reduced) {
  const Rules& rules = rules_of_kind(kind);
  rules.eval(over(rules, reduced, in.rank).get(), {&out, 1}, {&in, 1});
}

void reduce_dot(const Strided& out, const Strided& x, const Strided& y, const bool* reduced) {
  const Rules& rules = rules_named("sum_of_products");
  const Strided both[] = {x, y};
  rules.eval(over(rules, reduced, x.rank).get(), {&out, 1}, Inputs(both));
}

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::float16: return 0x1p-11;
    case DType::bfloat16: return 0x1p-8;
    case DType::float32:
    case DType::complex64: return 0x1p-24;
    case DType::float64:
    case DType::complex128: return 0x1p-53;
    default: return 0;
  }
}

/// A reduction as a loop: from `start` by `step`, then `finish`ed with the number of elements.
struct Reference {
  Number start;
  std::function<Number(Number, Number)> step;
  std::function<Number(Number, std::int64_t)> finish = [](Number x, std::int64_t) { return x; };
};

Number of(bool truth) { return truth ? 1 : 0; }

Reference reference(Reduction kind) {
  const long double inf = std::numeric_limits<long double>::infinity();
  switch (kind) {
    case Reduction::sum: return {0, [](Number a, Number x) { return a + x; }};
    case Reduction::mean:
      return {0, [](Number a, Number x) { return a + x; },
              [](Number a, std::int64_t n) { return a / static_cast<long double>(n); }};
    case Reduction::prod: return {1, [](Number a, Number x) { return a * x; }};
    case Reduction::max: return {-inf, [](Number a, Number x) { return std::max(a.real(), x.real()); }};
    case Reduction::min: return {inf, [](Number a, Number x) { return std::min(a.real(), x.real()); }};
    case Reduction::any: return {0, [](Number a, Number x) { return of(a != Number(0) || x != Number(0)); }};
    case Reduction::all: return {1, [](Number a, Number x) { return of(a != Number(0) && x != Number(0)); }};
    case Reduction::count_nonzero: return {0, [](Number a, Number x) { return a + of(x != Number(0)); }};
    case Reduction::sum_of_squares: return {0, [](Number a, Number x) { return a + std::norm(x); }};
    case Reduction::sum_of_abs: return {0, [](Number a, Number x) { return a + std::abs(x); }};
    case Reduction::logsumexp:
      return {0, [](Number a, Number x) { return a + std::exp(x.real()); },
              [](Number a, std::int64_t) { return std::log(a.real()); }};
  }
  return {};
}

/// Which element of the output, in row-major order, the element of the input at these places goes to.
std::size_t lane_of(const Sizes& at, const Sizes& shape, const std::vector<char>& reduced) {
  std::int64_t lane = 0;
  for (std::size_t a = 0; a < at.size(); ++a)
    if (!reduced[a]) lane = lane * shape[a] + at[a];
  return static_cast<std::size_t>(lane);
}

/// Calls f(position in the output, element) for every element of `in`, in row-major order.
template <class T, class F>
void for_each_lane(const StridedArray<T>& in, const std::vector<char>& reduced, F f) {
  kernel_tests::for_each_index(in.shape(), [&](const Sizes& at) { f(lane_of(at, in.shape(), reduced), in.at(at)); });
}

Sizes kept_shape(const Sizes& shape, const std::vector<char>& reduced) {
  Sizes kept;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (!reduced[a]) kept.push_back(shape[a]);
  }
  return kept;
}

const bool* flags(const std::vector<char>& reduced) { return reinterpret_cast<const bool*>(reduced.data()); }

template <class Out, class T>
void expect_reduction(Reduction kind, const StridedArray<T>& in, const std::vector<char>& reduced, Layout out_layout) {
  const Sizes shape = kept_shape(in.shape(), reduced);
  const Rules& rules = rules_of_kind(kind);
  const OwnedParameters axes = over(rules, flags(reduced), static_cast<int>(reduced.size()));
  const Types types = rules.type(axes.get(), Types{Type{dtype_of<T>, Shape(in.shape().begin(), in.shape().end())}});
  ASSERT_EQ(types[0].dtype, dtype_of<Out>);
  StridedArray<Out> out(shape, out_layout);
  reduce(kind, out.view(), in.view(), flags(reduced));
  const Reference expected = reference(kind);
  std::vector<Number> results(static_cast<std::size_t>(product(shape)), expected.start);
  std::vector<long double> scale(results.size(), 1);
  std::int64_t count = 0;
  for_each_lane(in, reduced, [&](std::size_t i, T x) {
    results[i] = expected.step(results[i], number(x));
    scale[i] = std::max(scale[i], std::abs(results[i]));
    count += i == 0;
  });
  // A few roundings of the largest partial result; products round at every factor.
  const double roundings = kind == Reduction::prod ? static_cast<double>(count) + 2 : 8;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Number wanted = expected.finish(results[i], count), got = number(out[static_cast<std::int64_t>(i)]);
    const double tolerance = roundings * unit_roundoff(dtype_of<Out>);
    ASSERT_LE(std::abs(got - wanted), tolerance * static_cast<double>(scale[i]))
        << "at " << i << ": " << got << " for " << wanted;
  }
}

/// Shapes and axes that take every path: within a block, several blocks, leftovers, wide and narrow columns, middles.
struct Case {
  Sizes shape;
  std::vector<char> reduced;
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{}, {}},
      {{1}, {1}},
      {{1}, {0}},
      {{5}, {1}},
      {{16}, {1}},
      {{100}, {1}},
      {{3000}, {1}},
      {{7, 3}, {0, 1}},
      {{7, 3}, {1, 0}},
      {{7, 3}, {1, 1}},
      {{7, 3}, {0, 0}},
      {{40, 20}, {0, 1}},
      {{40, 20}, {1, 0}},
      {{3, 700}, {0, 1}},
      {{700, 3}, {1, 0}},
      {{300, 70}, {1, 0}},
      {{5, 300}, {1, 0}},
      {{70, 300}, {1, 1}},
      {{4, 5, 6}, {0, 1, 0}},
      {{4, 5, 6}, {1, 0, 1}},
      {{6, 70, 40}, {1, 0, 1}},
      {{6, 40, 70}, {0, 1, 0}},
      {{3, 2, 5, 4}, {1, 0, 1, 0}},
      {{9, 2, 30, 19}, {1, 0, 1, 0}},
      {{2, 3, 1, 4, 2}, {0, 1, 1, 0, 1}},
      {{0, 3}, {0, 1}},
  };
  return all;
}

std::string name(const Case& c, Layout layout) {
  std::string text = "shape";
  for (std::size_t i = 0; i < c.shape.size(); ++i) text += " " + std::to_string(c.shape[i]) + (c.reduced[i] ? "*" : "");
  return text + " layout " + std::to_string(static_cast<int>(layout));
}

template <class T, class Out>
void check_kind(Reduction kind) {
  for (const Case& c : cases()) {
    if (kind == Reduction::prod && std::count(c.reduced.begin(), c.reduced.end(), 1) != 1) continue;  // takes one axis
    for (const Layout layout : all_layouts) {
      SCOPED_TRACE(name(c, layout));
      auto in = random_array<T>(c.shape, layout);
      if (kind == Reduction::prod) {  // keep products within range
        for (std::int64_t i = 0; i < in.size(); ++i) in[i] = i % 5 == 0 && !std::is_integral_v<T> ? T(-1) : T(1);
      }
      expect_reduction<Out>(kind, in, c.reduced, layout == Layout::contiguous ? Layout::gapped : Layout::contiguous);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Reduce, SumsEveryDtypeInEveryLayout) {
  check_kind<bool, std::int64_t>(Reduction::sum);
  check_kind<std::uint8_t, std::int64_t>(Reduction::sum);
  check_kind<std::int8_t, std::int64_t>(Reduction::sum);
  check_kind<std::int16_t, std::int64_t>(Reduction::sum);
  check_kind<std::int32_t, std::int64_t>(Reduction::sum);
  check_kind<std::int64_t, std::int64_t>(Reduction::sum);
  check_kind<Half, Half>(Reduction::sum);
  check_kind<BFloat16, BFloat16>(Reduction::sum);
  check_kind<float, float>(Reduction::sum);
  check_kind<double, double>(Reduction::sum);
  check_kind<std::complex<float>, std::complex<float>>(Reduction::sum);
  check_kind<std::complex<double>, std::complex<double>>(Reduction::sum);
}

TEST(Reduce, MultipliesEveryDtypeInEveryLayout) {
  check_kind<std::uint8_t, std::int64_t>(Reduction::prod);
  check_kind<std::int32_t, std::int64_t>(Reduction::prod);
  check_kind<Half, Half>(Reduction::prod);
  check_kind<float, float>(Reduction::prod);
  check_kind<double, double>(Reduction::prod);
  check_kind<std::complex<float>, std::complex<float>>(Reduction::prod);
  check_kind<std::complex<double>, std::complex<double>>(Reduction::prod);
}

TEST(Reduce, FindsExtremesOfEveryRealDtypeInEveryLayout) {
  for (const Reduction kind : {Reduction::max, Reduction::min}) {
    check_kind<bool, bool>(kind);
    check_kind<std::uint8_t, std::uint8_t>(kind);
    check_kind<std::int8_t, std::int8_t>(kind);
    check_kind<std::int16_t, std::int16_t>(kind);
    check_kind<std::int32_t, std::int32_t>(kind);
    check_kind<std::int64_t, std::int64_t>(kind);
    check_kind<Half, Half>(kind);
    check_kind<BFloat16, BFloat16>(kind);
    check_kind<float, float>(kind);
    check_kind<double, double>(kind);
  }
}

TEST(Reduce, TellsTruthOfEveryDtypeInEveryLayout) {
  for (const Reduction kind : {Reduction::any, Reduction::all}) {
    check_kind<bool, bool>(kind);
    check_kind<std::int8_t, bool>(kind);
    check_kind<std::int16_t, bool>(kind);
    check_kind<std::int64_t, bool>(kind);
    check_kind<Half, bool>(kind);
    check_kind<float, bool>(kind);
    check_kind<double, bool>(kind);
    check_kind<std::complex<float>, bool>(kind);
    check_kind<std::complex<double>, bool>(kind);
  }
  check_kind<bool, std::int64_t>(Reduction::count_nonzero);
  check_kind<std::int8_t, std::int64_t>(Reduction::count_nonzero);
  check_kind<BFloat16, std::int64_t>(Reduction::count_nonzero);
  check_kind<float, std::int64_t>(Reduction::count_nonzero);
  check_kind<std::complex<double>, std::int64_t>(Reduction::count_nonzero);
}

TEST(Reduce, AllOfOnesIsTrueAndAnyOfZerosIsFalse) {
  for (const std::int64_t n : {1, 63, 64, 65, 5000}) {
    StridedArray<float> ones({n}), zeros({n});
    for (std::int64_t i = 0; i < n; ++i) ones[i] = 1, zeros[i] = i % 2 ? -0.0F : 0.0F;
    StridedArray<bool> out({});
    const bool reduced[] = {true};
    const auto truth = [&](Reduction kind, const StridedArray<float>& in) {
      reduce(kind, out.view(), in.view(), reduced);
      return out[0];
    };
    EXPECT_TRUE(truth(Reduction::all, ones));
    EXPECT_FALSE(truth(Reduction::any, zeros));
    ones[n / 2] = 0, zeros[n / 2] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(truth(Reduction::all, ones));
    EXPECT_TRUE(truth(Reduction::any, zeros));
  }
}

TEST(Reduce, ComputesWhatNormsAreMadeOf) {
  for (const Reduction kind : {Reduction::sum_of_squares, Reduction::sum_of_abs}) {
    check_kind<Half, Half>(kind);
    check_kind<BFloat16, BFloat16>(kind);
    check_kind<float, float>(kind);
    check_kind<double, double>(kind);
    check_kind<std::complex<float>, float>(kind);
    check_kind<std::complex<double>, double>(kind);
  }
}

TEST(Reduce, AveragesAndLogSumExps) {
  check_kind<Half, Half>(Reduction::logsumexp);
  check_kind<BFloat16, BFloat16>(Reduction::logsumexp);
  check_kind<float, float>(Reduction::logsumexp);
  check_kind<double, double>(Reduction::logsumexp);
  check_kind<Half, Half>(Reduction::mean);
  check_kind<float, float>(Reduction::mean);
  check_kind<double, double>(Reduction::mean);
  check_kind<std::complex<float>, std::complex<float>>(Reduction::mean);
}

template <class Out, class T>
Out reduce_all(Reduction kind, const std::vector<T>& elements) {
  const Sizes shape = {static_cast<std::int64_t>(elements.size())}, strides = {1};
  const Strided in{const_cast<T*>(elements.data()), dtype_of<T>, 1, shape.data(), strides.data()};
  Out out{};
  const bool reduced[] = {true};
  reduce(kind, {&out, dtype_of<Out>, 0, nullptr, nullptr}, in, reduced);
  return out;
}

TEST(Reduce, OfNothingGivesTheNeutralElement) {
  const std::vector<float> nothing;
  EXPECT_EQ(reduce_all<float>(Reduction::sum, nothing), 0);
  EXPECT_FALSE(std::signbit(reduce_all<float>(Reduction::sum, nothing)));
  EXPECT_TRUE(std::isnan(reduce_all<float>(Reduction::mean, nothing)));
  EXPECT_EQ(reduce_all<float>(Reduction::prod, nothing), 1);
  EXPECT_FALSE(reduce_all<bool>(Reduction::any, nothing));
  EXPECT_TRUE(reduce_all<bool>(Reduction::all, nothing));
  EXPECT_EQ(reduce_all<std::int64_t>(Reduction::count_nonzero, nothing), 0);
  EXPECT_EQ(reduce_all<float>(Reduction::sum_of_squares, nothing), 0);
  EXPECT_EQ(reduce_all<float>(Reduction::logsumexp, nothing), -std::numeric_limits<float>::infinity());
}

TEST(Reduce, ExtremesPropagateNanFromAnyPlace) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const std::size_t n : {1UL, 7UL, 16UL, 33UL, 2000UL}) {
    for (std::size_t place = 0; place < n; place += std::max<std::size_t>(1, n / 5)) {
      std::vector<float> x(n, inf);
      x[place] = nan;
      EXPECT_TRUE(std::isnan(reduce_all<float>(Reduction::max, x)));
      EXPECT_TRUE(std::isnan(reduce_all<float>(Reduction::min, x)));
      x[place] = -inf;
      EXPECT_EQ(reduce_all<float>(Reduction::min, x), -inf);
      EXPECT_EQ(reduce_all<float>(Reduction::max, std::vector<float>(n, -inf)), -inf);
    }
  }
}

TEST(Reduce, LogsumexpOfInfinitiesIsExact) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto of = [](std::vector<double> x) { return reduce_all<double>(Reduction::logsumexp, x); };
  EXPECT_EQ(of({-inf, -inf}), -inf);
  EXPECT_EQ(of({-inf, 3}), 3);
  EXPECT_EQ(of({inf, 3}), inf);
  EXPECT_EQ(of({inf, -inf}), inf);
  EXPECT_TRUE(std::isnan(of({nan, inf})));
  EXPECT_DOUBLE_EQ(of({1000, 1000}), 1000 + std::log(2.0));
  EXPECT_DOUBLE_EQ(of({-1000, -1000}), -1000 + std::log(2.0));
}

TEST(Reduce, AbsOfComplexNumbersDoesNotOverflow) {
  using C = std::complex<float>;
  EXPECT_FLOAT_EQ(reduce_all<float>(Reduction::sum_of_abs, std::vector<C>{{3e38F * 0.6F, 3e38F * 0.8F}}), 3e38F);
  EXPECT_FLOAT_EQ(reduce_all<float>(Reduction::sum_of_abs, std::vector<C>{{3e-30F, -4e-30F}}), 5e-30F);
  EXPECT_EQ(reduce_all<float>(Reduction::sum_of_abs, std::vector<C>{{0, 0}}), 0);
}

TEST(Reduce, SumOfMillionsStaysAccurate) {
  std::vector<float> x(std::size_t{1} << 22);
  std::minstd_rand generator(3);
  long double exact = 0;
  for (float& e : x) e = static_cast<float>(generator() % 100000) / 100000, exact += static_cast<long double>(e);
  EXPECT_LE(std::abs(static_cast<long double>(reduce_all<float>(Reduction::sum, x)) - exact) / exact, 2e-7L);
  EXPECT_EQ(reduce_all<float>(Reduction::sum, std::vector<float>(std::size_t{1} << 25, 1.0F)), 0x1p25F);
}

// --- Bits

/// Reducing lane b of a batch alone gives the bits it has in the batch, whichever axis the batch is.
template <class Out, class T>
void expect_lanes_bitwise(Reduction kind, std::int64_t n, std::int64_t batch) {
  for (const bool batch_last : {false, true}) {
    const Sizes shape = batch_last ? Sizes{n, batch} : Sizes{batch, n};
    for (const Layout layout : {Layout::contiguous, Layout::gapped}) {
      const auto in = random_array<T>(shape, layout);
      StridedArray<Out> out({batch});
      const bool reduced[] = {batch_last, !batch_last};
      reduce(kind, out.view(), in.view(), reduced);
      for (std::int64_t b = 0; b < batch; ++b) {
        std::vector<T> lane;
        for (std::int64_t i = 0; i < n; ++i) lane.push_back(in[batch_last ? i * batch + b : b * n + i]);
        const Out alone = reduce_all<Out>(kind, lane), batched = out[b];
        ASSERT_EQ(std::memcmp(&alone, &batched, sizeof(Out)), 0)
            << "n " << n << " batch " << batch << " last " << batch_last << ": " << number(alone) << " "
            << number(batched);
      }
    }
  }
}

TEST(Reduce, LanesOfABatchHaveTheBitsTheyHaveAlone) {
  for (const std::int64_t n : {1, 2, 3, 15, 16, 17, 100, 255, 256, 257, 1023, 1024, 1100, 5000}) {
    for (const std::int64_t batch : {1, 5, 16, 37, 70, 300}) {
      if (n * batch > 300000) continue;
      for (const Reduction kind : {Reduction::sum, Reduction::mean, Reduction::prod, Reduction::sum_of_squares,
                                   Reduction::sum_of_abs, Reduction::logsumexp}) {
        SCOPED_TRACE(static_cast<int>(kind));
        expect_lanes_bitwise<float, float>(kind, n, batch);
        expect_lanes_bitwise<double, double>(kind, n, batch);
        expect_lanes_bitwise<Half, Half>(kind, n, batch);
        if (testing::Test::HasFatalFailure()) return;
      }
      expect_lanes_bitwise<std::complex<float>, std::complex<float>>(Reduction::sum, n, batch);
      expect_lanes_bitwise<float, std::complex<float>>(Reduction::sum_of_squares, n, batch);
      expect_lanes_bitwise<std::complex<double>, std::complex<double>>(Reduction::prod, n, batch);
    }
  }
}

TEST(Reduce, LanesOfSeveralReducedAxesHaveTheBitsTheyHaveAlone) {
  const Sizes shape = {7, 5, 40};  // reduce the outer two of three strided axes, batch in each place
  const auto in = random_array<float>({9, 7, 5, 40}, Layout::contiguous);
  const bool reduced[] = {false, true, false, true};
  StridedArray<float> out({9, 5});
  reduce(Reduction::sum, out.view(), in.view(), reduced);
  const Strided whole = in.view();
  for (std::int64_t b = 0; b < 9; ++b) {
    for (std::int64_t c = 0; c < 5; ++c) {
      const Sizes lane_shape = {7, 40}, lane_strides = {200, 1};
      const Strided lane{static_cast<float*>(whole.data) + b * 1400 + c * 40, DType::float32, 2, lane_shape.data(),
                         lane_strides.data()};
      float alone = 0;
      const bool both[] = {true, true};
      reduce(Reduction::sum, {&alone, DType::float32, 0, nullptr, nullptr}, lane, both);
      EXPECT_EQ(alone, out.at({b, c}));
    }
  }
}

// --- Two inputs

template <class T, class Out>
void check_dot() {
  for (const Case& c : cases()) {
    for (const Layout x_layout : all_layouts) {
      for (const Layout y_layout : {Layout::contiguous, Layout::reversed, Layout::repeated}) {
        SCOPED_TRACE(name(c, x_layout) + " and " + std::to_string(static_cast<int>(y_layout)));
        const auto x = random_array<T>(c.shape, x_layout, 1), y = random_array<T>(c.shape, y_layout, 2);
        const Sizes shape = kept_shape(c.shape, c.reduced);
        StridedArray<Out> out(shape, Layout::reversed);
        reduce_dot(out.view(), x.view(), y.view(), flags(c.reduced));
        std::vector<Number> results(static_cast<std::size_t>(product(shape)), 0);
        std::vector<long double> scale(results.size(), 1);
        kernel_tests::for_each_index(c.shape, [&](const Sizes& at) {
          const std::size_t to = lane_of(at, c.shape, c.reduced);
          const Number product = number(x.at(at)) * number(y.at(at));
          results[to] += product;
          scale[to] += std::abs(product);
        });
        for (std::size_t i = 0; i < results.size(); ++i) {
          ASSERT_LE(std::abs(number(out[static_cast<std::int64_t>(i)]) - results[i]),
                    8 * unit_roundoff(dtype_of<Out>) * static_cast<double>(scale[i]));
        }
      }
    }
  }
}

TEST(ReduceDot, EqualsTheSumOfProductsInEveryPairOfLayouts) {
  check_dot<bool, std::int64_t>();
  check_dot<std::int32_t, std::int64_t>();
  check_dot<Half, Half>();
  check_dot<BFloat16, BFloat16>();
  check_dot<float, float>();
  check_dot<double, double>();
  check_dot<std::complex<float>, std::complex<float>>();
  check_dot<std::complex<double>, std::complex<double>>();
}

TEST(ReduceDot, LanesOfABatchHaveTheBitsTheyHaveAlone) {
  for (const std::int64_t n : {3, 16, 40, 300, 2000}) {
    const std::int64_t batch = 21;
    for (const bool batch_last : {false, true}) {
      const Sizes shape = batch_last ? Sizes{n, batch} : Sizes{batch, n};
      const auto x = random_array<float>(shape, Layout::contiguous, 1),
                 y = random_array<float>(shape, Layout::contiguous, 2);
      StridedArray<float> out({batch});
      const bool reduced[] = {batch_last, !batch_last};
      reduce_dot(out.view(), x.view(), y.view(), reduced);
      for (std::int64_t b = 0; b < batch; ++b) {
        StridedArray<float> lane_x({n}), lane_y({n}), alone({});
        for (std::int64_t i = 0; i < n; ++i) {
          lane_x[i] = x[batch_last ? i * batch + b : b * n + i];
          lane_y[i] = y[batch_last ? i * batch + b : b * n + i];
        }
        const bool whole[] = {true};
        reduce_dot(alone.view(), lane_x.view(), lane_y.view(), whole);
        EXPECT_EQ(alone[0], out[b]);
      }
    }
  }
}

// --- Places

template <class T>
void check_argreduce() {
  for (const Case& c : cases()) {
    if (std::count(c.reduced.begin(), c.reduced.end(), 1) != 1) continue;
    const int axis = static_cast<int>(std::find(c.reduced.begin(), c.reduced.end(), 1) - c.reduced.begin());
    for (const Layout layout : all_layouts) {
      for (const bool greatest : {true, false}) {
        SCOPED_TRACE(name(c, layout));
        const auto in = random_array<T>(c.shape, layout);
        const Sizes shape = kept_shape(c.shape, c.reduced);
        StridedArray<std::int64_t> out(shape, Layout::gapped);
        kernels::argreduce(greatest, out.view(), in.view(), axis);
        for (std::int64_t i = 0; i < out.size(); ++i) {
          Sizes at = unravel(i, shape);
          at.insert(at.begin() + axis, 0);
          std::int64_t best = 0;
          const auto element = [&](std::int64_t k) {
            at[static_cast<std::size_t>(axis)] = k;
            return number(in[ravel(at, c.shape)]).real();
          };
          for (std::int64_t k = 1; k < c.shape[static_cast<std::size_t>(axis)]; ++k) {
            if (greatest ? element(k) > element(best) : element(k) < element(best)) best = k;
          }
          ASSERT_EQ(out[i], best);
        }
      }
    }
  }
}

TEST(Argreduce, FindsTheFirstBestInEveryLayout) {
  check_argreduce<bool>();
  check_argreduce<std::uint8_t>();
  check_argreduce<std::int8_t>();
  check_argreduce<std::int16_t>();
  check_argreduce<std::int32_t>();
  check_argreduce<std::int64_t>();
  check_argreduce<Half>();
  check_argreduce<BFloat16>();
  check_argreduce<float>();
  check_argreduce<double>();
}

TEST(Argreduce, TheFirstNanWins) {
  for (const std::int64_t n : {1, 5, 400, 513, 5000}) {
    for (const bool columns : {false, true}) {
      auto in = random_array<float>(columns ? Sizes{n, 3} : Sizes{n, 1}, Layout::contiguous);
      const std::int64_t width = columns ? 3 : 1, place = n * 2 / 3;
      for (std::int64_t i = place; i < n; i += 7) in[i * width] = std::numeric_limits<float>::quiet_NaN();
      StridedArray<std::int64_t> out({width});
      for (const bool greatest : {true, false}) {
        kernels::argreduce(greatest, out.view(), in.view(), 0);
        EXPECT_EQ(out[0], place);
      }
    }
  }
}

TEST(Argreduce, OfAScalarIsZero) {
  StridedArray<float> in({});
  StridedArray<std::int64_t> out({});
  out[0] = 7;
  kernels::argreduce(true, out.view(), in.view(), 0);
  EXPECT_EQ(out[0], 0);
}

// --- Moments and softmax

template <class T, class Real>
void check_mean_var() {
  for (const Case& c : cases()) {
    if (product(c.shape) == 0) continue;
    for (const Layout layout : all_layouts) {
      for (const std::int64_t correction : {0, 1}) {
        SCOPED_TRACE(name(c, layout));
        const auto in = random_array<T>(c.shape, layout);
        const Sizes shape = kept_shape(c.shape, c.reduced);
        StridedArray<T> mean(shape, Layout::gapped);
        StridedArray<Real> variance(shape, Layout::reversed);
        kernels::mean_var(mean.view(), variance.view(), in.view(), flags(c.reduced), correction);
        std::vector<Number> sums(static_cast<std::size_t>(product(shape)), 0);
        std::vector<long double> squares(sums.size(), 0);
        for_each_lane(in, c.reduced, [&](std::size_t i, T x) { sums[i] += number(x); });
        const auto n = static_cast<long double>(product(c.shape) / product(shape));
        for_each_lane(in, c.reduced, [&](std::size_t i, T x) { squares[i] += std::norm(number(x) - sums[i] / n); });
        for (std::size_t i = 0; i < sums.size(); ++i) {
          const auto at = static_cast<std::int64_t>(i);
          const double tolerance = 16 * unit_roundoff(dtype_of<Real>);
          ASSERT_LE(std::abs(number(mean[at]) - sums[i] / n), tolerance);
          const long double divisor = n - static_cast<long double>(correction), got = number(variance[at]).real();
          if (divisor == 0) ASSERT_TRUE(std::isnan(got));
          else
            ASSERT_LE(std::abs(got - squares[i] / divisor), tolerance * static_cast<double>(1 + squares[i] / divisor));
        }
      }
    }
  }
}

TEST(MeanVar, EqualsTheDefinitionInEveryLayout) {
  check_mean_var<Half, Half>();
  check_mean_var<float, float>();
  check_mean_var<double, double>();
  check_mean_var<std::complex<float>, float>();
}

TEST(MeanVar, SurvivesALargeMean) {
  StridedArray<float> in({10000}), mean({}), variance({});
  for (std::int64_t i = 0; i < in.size(); ++i) in[i] = 4096 + static_cast<float>(i % 2);
  const bool reduced[] = {true};
  kernels::mean_var(mean.view(), variance.view(), in.view(), reduced, 0);
  EXPECT_EQ(mean[0], 4096.5F);
  EXPECT_EQ(variance[0], 0.25F);
}

template <class T>
void check_softmax() {
  for (const Sizes& shape :
       {Sizes{}, Sizes{1}, Sizes{7}, Sizes{1000}, Sizes{5, 12}, Sizes{33, 40}, Sizes{3, 4, 5}, Sizes{300, 1200}}) {
    for (const Layout layout : all_layouts) {
      for (int axis = 0; axis < std::max<int>(1, static_cast<int>(shape.size())); ++axis) {
        const auto in = random_array<T>(shape, layout);
        StridedArray<T> soft(shape, Layout::rotated), logs(shape, Layout::gapped);
        kernels::softmax(soft.view(), in.view(), axis);
        kernels::log_softmax(logs.view(), in.view(), axis);
        std::vector<char> along(shape.size(), 0);
        if (!shape.empty()) along[static_cast<std::size_t>(axis)] = 1;
        std::vector<long double> sums(static_cast<std::size_t>(product(kept_shape(shape, along))), 0);
        for_each_lane(in, along, [&](std::size_t lane, T x) { sums[lane] += std::exp(number(x).real()); });
        for (long double& sum : sums) sum = std::log(sum);
        std::int64_t i = 0;
        for_each_lane(in, along, [&](std::size_t lane, T x) {
          const long double expected = number(x).real() - sums[lane], share = std::exp(expected);
          const double tolerance = 8 * unit_roundoff(dtype_of<T>);
          ASSERT_LE(std::abs(number(soft[i]).real() - share), tolerance * static_cast<double>(share));
          ASSERT_LE(std::abs(number(logs[i]).real() - expected),
                    tolerance * std::max(1.0, static_cast<double>(-expected)));
          ++i;
        });
      }
    }
  }
}

TEST(Softmax, EqualsTheDefinitionAlongEveryAxisInEveryLayout) {
  check_softmax<Half>();
  check_softmax<BFloat16>();
  check_softmax<float>();
  check_softmax<double>();
}

TEST(Softmax, WorksInPlaceAndOnExtremes) {
  StridedArray<float> x({4});
  x[0] = 1000, x[1] = 1000, x[2] = -1000, x[3] = -std::numeric_limits<float>::infinity();
  kernels::softmax(x.view(), x.view(), 0);
  EXPECT_EQ(x[0], 0.5F);
  EXPECT_EQ(x[1], 0.5F);
  EXPECT_EQ(x[2], 0);
  EXPECT_EQ(x[3], 0);
  x[0] = 1000, x[1] = 0, x[2] = -1000, x[3] = 0;
  kernels::log_softmax(x.view(), x.view(), 0);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[2], -2000);
}

TEST(Softmax, LanesOfABatchHaveTheBitsTheyHaveAlone) {
  for (const std::int64_t n : {3, 17, 300, 1500}) {
    const std::int64_t batch = 150;
    for (const bool batch_last : {false, true}) {
      const Sizes shape = batch_last ? Sizes{n, batch} : Sizes{batch, n};
      const auto in = random_array<float>(shape, Layout::contiguous);
      StridedArray<float> out(shape);
      kernels::softmax(out.view(), in.view(), batch_last ? 0 : 1);
      for (std::int64_t b = 0; b < batch; ++b) {
        StridedArray<float> lane({n}), alone({n});
        const auto at = [&](std::int64_t i) { return batch_last ? i * batch + b : b * n + i; };
        for (std::int64_t i = 0; i < n; ++i) lane[i] = in[at(i)];
        kernels::softmax(alone.view(), lane.view(), 0);
        for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(alone[i], out[at(i)]);
      }
    }
  }
}

}  // namespace
}  // namespace ricci
