// What export_object promises: functions in C that give what the compiled function gives, and need nothing of the
// library.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <limits>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/exported.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

class Exported : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
  }
  /// Exports, links and calls one function of tensors that gives a tensor.
  template <class F, class... A>
  Tensor result(const F& f, const A&... a) {
    Exports exports;
    const auto fast = rc::compile(f);
    rc::export_object(fast, exports.path("f"), a...);
    exports.link();
    std::vector<Tensor> results{fast(a...)};
    EXPECT_EQ(exports.call("f", {a...}, results), 0);
    return results[0];
  }
  template <class F, class... A>
  void expect_bits(const F& f, const A&... a) {
    expect_equal(result(f, a...), rc::compile(f)(a...));
  }
};

Tensor wave(const Tensor& x) { return sin(x) * exp(-x * x) + tanh(x) / (1 + sqrt(abs(x))); }

Tensor arm(const Tensor& angles) {
  const Tensor sums = cumsum(angles, 0);
  return rc::stack({cos(sums).sum(), sin(sums).sum()});
}

struct Layer {
  Tensor weight, bias;
};

TEST_F(Exported, GivesTheBitsOfTheCompiledFunction) {
  rc::manual_seed(1);
  for (const rc::DType dtype : {rc::float32, rc::float64})
    for (const std::int64_t n : {1, 3, 16, 17, 100, 5000}) {
      const Tensor x = rc::randn({n}).to(dtype);
      expect_bits(wave, x);
      expect_bits([](const Tensor& v) { return wave(v).sum(); }, x);
    }
}

TEST_F(Exported, RunsDerivativesOfOneExampleAndOfMany) {
  rc::manual_seed(2);
  expect_bits(rc::jacfwd(arm), rc::randn({7}));
  expect_bits(rc::hessian([](const Tensor& x) { return arm(x).square().sum(); }), rc::randn({7}));
  for (const std::int64_t examples : {2, 3, 40}) expect_bits(rc::vmap(rc::jacrev(arm)), rc::randn({examples, 7}));
}

TEST_F(Exported, WalksTwoSizesAndMovesElements) {
  rc::manual_seed(3);
  expect_bits([](const Tensor& x, const Tensor& y) { return tanh(x) * y; }, rc::randn({300, 300}), rc::randn({300}));
  expect_bits([](const Tensor& x) { return x.mT(); }, rc::randn({40, 50}));
  expect_bits([](const Tensor& x) { return x.mT().slice(0, 3, 20, 2) + 1; }, rc::randn({40, 50}));
  expect_bits([](const Tensor& x) { return x; }, rc::randn({5}));
  expect_bits([](const Tensor& x) { return flip(x, {0}); }, rc::randn({500}));
  expect_bits([](const Tensor& x) { return rc::pad(rc::cat({x, rc::roll(x, 1, 0)}), {2, 3}, 7.0); }, rc::randn({500}));
  const Tensor places = rc::tensor({499, 3, 3, 0});
  expect_bits([places](const Tensor& x) { return x.index_select(0, places); }, rc::randn({500, 300}));
}

TEST_F(Exported, RunsLoopsAndTheirDerivatives) {
  rc::manual_seed(4);
  const auto steps = [](const Tensor& x) {
    return rc::fori_loop(0, 20, [](const Tensor&, const Tensor& y) { return y + 0.01 * sin(y); }, x);
  };
  expect_bits(steps, rc::randn({3}));
  expect_bits(rc::grad([steps](const Tensor& x) { return steps(x).sum(); }), rc::randn({3}));
  const auto rows = [](const Tensor& xs, const Tensor& w) {
    const auto step = [w](const Tensor& c, const Tensor& x) {
      const Tensor next = tanh(matmul(w, c) + x);
      return std::pair(next, next * 2);
    };
    return rc::scan(step, rc::zeros({4}), xs).second;
  };
  const Tensor xs = rc::randn({30, 4}), w = rc::randn({4, 4});
  expect_close(result(rows, xs, w), rows(xs, w), 1e-5);
  const auto gradient = rc::grad([rows](const Tensor& x, const Tensor& v) { return rows(x, v).square().sum(); });
  expect_close(result(gradient, xs, w), gradient(xs, w), 1e-4);
  const auto swapping = [](const Tensor& x, const Tensor& y) {
    const auto both = rc::fori_loop(
        0, 3, [](const Tensor&, const std::pair<Tensor, Tensor>& s) { return std::pair(s.second, s.first); },
        std::pair(x, y));
    return both.first - 2 * both.second;
  };
  expect_bits(swapping, rc::randn({3}), rc::randn({3}));
}

TEST_F(Exported, KeepsTheMemoryOfStatesThatNobodyReadsForAsLongAsTheLoopRuns) {
  rc::manual_seed(7);
  using Pair = std::pair<Tensor, Tensor>;
  const auto swapping = [](const Tensor& a, const Tensor& xs) {
    const Tensor first = rc::fori_loop(0, 3, [](const Tensor&, const Tensor& y) { return sin(y) * 0.5; }, a);
    const auto step = [](const Pair& c, const Tensor& x) { return std::pair(Pair(c.second, c.first), c.first + x); };
    return rc::scan(step, Pair(first, first * 2), xs).second;
  };
  for (const std::int64_t n : {4, 37, 100}) expect_bits(swapping, rc::randn({n}), rc::randn({5, n}));
  const auto behind_a_view = [](const Tensor& a, const Tensor& xs) {
    const auto step = [](const Tensor& c, const Tensor& x) {
      const Tensor next = tanh(c + x);
      return std::pair(next, next * 2);
    };
    return rc::scan(step, a, xs.mT()).second;
  };
  expect_bits(behind_a_view, rc::randn({100}), rc::randn({100, 33}));
}

TEST_F(Exported, RunsLoopsAndBranchesInsideEachOther) {
  rc::manual_seed(8);
  const auto f = [](const Tensor& x) {
    const auto inner = [](const Tensor& y) {
      return rc::cond(
          y.sum() > 1, [](const Tensor& v) { return v * 0.5; },
          [](const Tensor& v) {
            return rc::fori_loop(0, 2, [](const Tensor&, const Tensor& u) { return u + 0.25; }, v);
          },
          y);
    };
    return rc::fori_loop(0, 5, [inner](const Tensor&, const Tensor& y) { return inner(y) + 0.1; }, x);
  };
  expect_bits(f, rc::randn({3}));
  const auto reverse = [](const Tensor& xs) {
    const auto step = [](const Tensor& c, const Tensor& x) { return std::pair(c * 0.5 + x, c); };
    return rc::scan(step, rc::zeros({3}), xs, {.reverse = true}).second;
  };
  expect_bits(reverse, rc::randn({20, 3}));
  expect_bits(
      [](const Tensor& x) { return rc::fori_loop(0, 0, [](const Tensor&, const Tensor& y) { return y * 2; }, x); },
      rc::randn({3}));
  const auto choose = [](const Tensor& which, const Tensor& x) {
    const auto times = [](double n) { return [n](const Tensor& v) { return v * n; }; };
    return rc::switch_case(which, std::tuple(times(1), times(2), times(3)), x);
  };
  for (const int i : {0, 1, 2}) expect_bits(choose, rc::tensor(i), rc::randn({3}));
}

TEST_F(Exported, ComputesElementByElementWhereTwoAxesHaveOneSize) {
  rc::manual_seed(9);
  const auto f = [](const Tensor& x) {
    const Tensor h = x.to(rc::float16);
    return (matmul(x, x) + h.to(rc::float32)) * x.mT() + x.select(0, 0);
  };
  const Tensor x = rc::randn({64, 64});
  expect_close(result(f, x), f(x), 1e-5);
}

TEST_F(Exported, MovesElementsOfEveryValue) {
  const Tensor x = rc::randn({500});
  for (const double value : {2e12, 1.0, -1.0, std::numeric_limits<double>::infinity()})
    expect_bits([value](const Tensor& v) { return flip(rc::pad(v, {2, 3}, value), {0}); }, x);
}

TEST_F(Exported, TakesOtherTypesOfElements) {
  rc::manual_seed(10);
  const Tensor x = rc::randn({40});
  expect_bits([](const Tensor& v) { return v > 0; }, x);
  expect_bits([](const Tensor& v) { return cumsum(v.to(rc::int64), 0); }, rc::randn({20}) * 10);
  expect_bits([](const Tensor& v) { return (v.to(rc::float16) * 3).to(rc::bfloat16); }, x);
  expect_bits([](const Tensor& v) { return argmax(v.reshape({8, 5}), 1); }, x);
}

/// No number is equal to NaN.
Tensor without_nan(const Tensor& x) { return where(isnan(x), 12345.0, x); }
/// x and y with each element of `v` beside each.
std::pair<Tensor, Tensor> pairs_of(const Tensor& v) {
  const std::int64_t n = v.shape()[0];
  return {v.unsqueeze(1).expand({n, n}).reshape({-1}), v.expand({n, n}).reshape({-1})};
}

TEST_F(Exported, ComputesWordsThatTheCLibraryLacks) {
  rc::manual_seed(12);
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const rc::DType dtype : {rc::float32, rc::float64}) {
    const Tensor x = rc::cat({rc::randn({60}) * 5, rc::tensor({0.0, -0.0, infinity, -infinity, nan})}).to(dtype);
    expect_bits([](const Tensor& v) { return without_nan(gelu(v) + gelu_tanh(v)); }, x);
    expect_bits(rc::grad([](const Tensor& v) { return gelu(v).sum(); }), x.slice(0, 0, 60));
    expect_bits([](const Tensor& v) { return without_nan(rc::erfcx(v)); }, x);
    const auto [a, b] = pairs_of(x);
    expect_bits([](const Tensor& u, const Tensor& v) { return without_nan(floor_divide(u, v)); }, a, b);
    expect_bits([](const Tensor& u, const Tensor& v) { return without_nan(remainder(u, v)); }, a, b);
    const double tolerance = dtype == rc::float32 ? 1e-6 : 1e-14;
    const auto log_gamma = [](const Tensor& v) { return lgamma(v); };
    expect_close(result(log_gamma, x.slice(0, 0, 60)), log_gamma(x.slice(0, 0, 60)), tolerance);
  }
  for (const rc::DType dtype : {rc::int64, rc::int32, rc::int16, rc::int8, rc::uint8}) {
    const double least = dtype == rc::int8 ? -128 : dtype == rc::uint8 ? 0 : -32768, most = -1 - least;
    const Tensor x = rc::tensor({0.0, 1.0, 2.0, 3.0, 7.0, 63.0, 100.0, -1.0, -2.0, -3.0, -70.0, least, most}).to(dtype);
    const auto [a, b] = pairs_of(x);
    const Tensor c = where(b == 0, 1, b).to(dtype);
    expect_bits([c](const Tensor& u) { return floor_divide(u, c); }, a);
    expect_bits([c](const Tensor& u) { return remainder(u, c); }, a);
    expect_bits([c](const Tensor& u) { return fmod(u, c); }, a);
    expect_bits([](const Tensor& u, const Tensor& v) { return bitwise_left_shift(u, v); }, a, b);
    expect_bits([](const Tensor& u, const Tensor& v) { return bitwise_right_shift(u, v); }, a, b);
    expect_bits([](const Tensor& u, const Tensor& v) { return pow(u, v); }, a, dtype == rc::uint8 ? b : abs(b));
  }
}

TEST_F(Exported, ReadsAndWritesAtPlacesThatAreComputed) {
  rc::manual_seed(13);
  for (const std::int64_t n : {3, 17, 4096})
    for (const rc::DType dtype : {rc::float32, rc::float64, rc::float16, rc::int32}) {
      const Tensor places = rc::randint(0, 50, {n}), row = (rc::randn({50}) * 9).to(dtype);
      const Tensor rows = (rc::randn({50, 6}) * 9).to(dtype), terms = (rc::randn({n, 6}) * 9).to(dtype);
      expect_bits([](const Tensor& x, const Tensor& i) { return x.index_select(0, i); }, rows, places);
      expect_bits([](const Tensor& x, const Tensor& i) { return x.index_select(1, i); }, rows.mT().contiguous(),
                  places);
      expect_bits([](const Tensor& x, const Tensor& i) { return take_along_dim(x, i, 0); }, row, places);
      expect_bits([](const Tensor& x, const Tensor& i) { return take_along_dim(x, i, 0); }, rows,
                  rc::randint(0, 50, {n, 6}));
      const auto add = [](const Tensor& x, const Tensor& i, const Tensor& y) { return index_add(x, 0, i, y); };
      expect_bits(add, rows, places, terms);
      expect_bits(add, row, places, terms.select(1, 2));
      expect_bits([](const Tensor& x, const Tensor& i, const Tensor& y) { return scatter_add(x, 1, i, y); },
                  rows.mT().contiguous(), rc::randint(0, 50, {5, n}), terms.mT().contiguous());
      expect_bits([](const Tensor& x, const Tensor& i, const Tensor& y) { return x.index_put({i}, y); }, rows, places,
                  terms);
      if (dtype != rc::float32) continue;
      const auto sum = [](const Tensor& x, const Tensor& i) { return sin(x.index_select(0, i)).sum(); };
      expect_bits(rc::grad(sum), rows, places);
      const auto along = [](const Tensor& x, const Tensor& i) { return sin(take_along_dim(x, i, 0)).sum(); };
      expect_bits(rc::grad(along), row, places);
      expect_bits(rc::grad([places, sum](const Tensor& x) { return sum(x, places); }), rows);
    }
}

TEST_F(Exported, GivesOneForNumbersThatAreNotAllowed) {
  const auto take = [](const Tensor& x, const Tensor& i) { return rc::take(x, i); };
  const auto hot = [](const Tensor& i) { return rc::one_hot(i, 20); };
  const auto ratio = [](const Tensor& a, const Tensor& b) { return floor_divide(a, b); };
  Exports exports;
  const Tensor x = rc::randn({400}), i = rc::randint(-400, 400, {100}), classes = rc::randint(0, 20, {100});
  rc::export_object(rc::compile(take), exports.path("take"), x, i);
  rc::export_object(rc::compile(hot), exports.path("hot"), classes);
  rc::export_object(rc::compile(ratio), exports.path("ratio"), i, classes + 1);
  exports.link();
  const auto gives = [&](const std::string& name, const auto& f, const auto&... arguments) {
    std::vector<Tensor> results{f(arguments...)};
    const Tensor expected = results[0];
    EXPECT_EQ(exports.call(name, {arguments...}, results), 0);
    expect_equal(results[0], expected);
  };
  gives("take", take, x, i);
  gives("hot", hot, classes);
  gives("ratio", ratio, i, classes + 1);
  const auto with = [](const Tensor& v, std::int64_t n) { return rc::cat({v.slice(0, 0, 99), rc::tensor({n})}); };
  std::vector<Tensor> results{x.slice(0, 0, 100)};
  for (const std::int64_t n : {400, -401}) EXPECT_EQ(exports.call("take", {x, with(i, n)}, results), 1);
  results = {hot(classes)};
  for (const std::int64_t n : {20, -1}) EXPECT_EQ(exports.call("hot", {with(classes, n)}, results), 1);
  results = {i};
  EXPECT_EQ(exports.call("ratio", {i, with(classes + 1, 0)}, results), 1);
}

TEST_F(Exported, GivesOneForAnIndexIntoATensorWithoutElements) {
  const auto add = [](const Tensor& x, const Tensor& i, const Tensor& y) { return index_add(x, 0, i, y); };
  const auto take = [](const Tensor& x, const Tensor& i) { return x.index_select(0, i); };
  const Tensor empty = rc::zeros({0, 3}), no_columns = rc::zeros({4, 0});
  const Tensor places = rc::zeros({2}, rc::int64), rows = rc::ones({2, 3});
  Exports exports;
  rc::export_object(rc::compile(add), exports.path("add"), empty, places, rows);
  rc::export_object(rc::compile(take), exports.path("take"), no_columns, places);
  exports.link();
  std::vector<Tensor> results{empty};
  EXPECT_EQ(exports.call("add", {empty, places, rows}, results), 1);
  results = {no_columns.slice(0, 0, 2)};
  EXPECT_EQ(exports.call("take", {no_columns, places + 3}, results), 0);
  EXPECT_EQ(exports.call("take", {no_columns, places + 4}, results), 1);
  EXPECT_EQ(exports.call("take", {no_columns, places - 5}, results), 1);
}

TEST_F(Exported, TakesTensorsWithoutElements) {
  expect_bits([](const Tensor& x, const Tensor& y) { return matmul(x, y); }, rc::zeros({0, 64, 70}),
              rc::ones({70, 80}));
  expect_bits([](const Tensor& x) { return x + 1; }, rc::zeros({0, 3}));
  const auto product = [](const Tensor& a, const Tensor& b) { return a * b; };
  expect_bits([product](const Tensor& x) { return rc::associative_scan(product, x); }, rc::randn({300}));
}

TEST_F(Exported, WritesOneVariableToEachOfItsResults) {
  const auto f = [](const Tensor& x) {
    const Tensor y = sin(x);
    return std::tuple(y, y, x, rc::ones({2}), Tensor(2.5));
  };
  Exports exports;
  const Tensor x = rc::randn({3});
  rc::export_object(rc::compile(f), exports.path("f"), x);
  exports.link();
  const auto [y, same, argument, ones, number] = f(x);
  const std::vector<Tensor> expected{y, same, argument, ones, number};
  std::vector<Tensor> results = expected;
  EXPECT_EQ(exports.call("f", {x}, results), 0);
  for (std::size_t i = 0; i < expected.size(); ++i) expect_equal(results[i], expected[i]);
}

TEST_F(Exported, TakesDecisionsThatCapturedValuesMade) {
  const Tensor is_large = rc::tensor(true);
  expect_bits([is_large](const Tensor& x) { return is_large.item<bool>() ? x * 2 : x; }, rc::randn({3}));
}

TEST_F(Exported, RunsWhileLoopsUntilTheyEnd) {
  const auto shrink = [](const Tensor& x) {
    return rc::while_loop([](const Tensor& y) { return (y * y).sum() > 0.5; }, [](const Tensor& y) { return y * 0.9; },
                          x);
  };
  expect_bits(shrink, rc::tensor({3.0, -1.0, 2.0}));
  expect_bits(shrink, rc::tensor({0.1, 0.0, 0.0}));
}

TEST_F(Exported, ComputesCustomFunctionsAndCheckpoints) {
  using Pair = std::pair<Tensor, Tensor>;
  const auto newton = [](const auto& f, const Tensor& start) {
    const auto next = [&](const Pair& s) {
      const auto [y, slope] = rc::jvp(f, std::tuple{s.first}, std::tuple{ones_like(s.first)});
      return Pair(s.first - y / slope, y / slope);
    };
    return rc::while_loop([](const Pair& s) { return abs(s.second) > 1e-5; }, next, Pair(start, ones_like(start)))
        .first;
  };
  const auto root = [&](const Tensor& a) {
    return rc::custom_root([&](const Tensor& x) { return x + 0.5 * sin(x) - a; }, a, newton,
                           [](const auto& g, const Tensor& y) { return y / g(ones_like(y)); });
  };
  const auto clipped = rc::custom_vjp([](const Tensor& x) { return sin(x) * 2; },
                                      [](const Tensor& x) { return std::pair(sin(x) * 2, cos(x)); },
                                      [](const Tensor& c, const Tensor& ct) { return clamp(2 * ct * c, -0.1, 0.1); });
  const auto kept = rc::checkpoint([](const Tensor& x) { return (sin(x) * exp(x)).sum(); });
  const auto compiled = rc::compile([](const Tensor& x) { return (x * cos(x)).sum(); });
  const Tensor x = rc::linspace(-1, 1, 20);
  expect_bits(root, rc::tensor(0.7));
  expect_bits(rc::vmap(rc::grad(root)), x);
  expect_bits(clipped, x);
  expect_bits(rc::grad([&](const Tensor& t) { return clipped(t).sum(); }), x);
  expect_bits(rc::grad(kept), x);
  expect_bits(rc::grad(compiled), x);
}

TEST_F(Exported, KeepsTheTurnsOfWhileLoopsInTheWorkspaceForTheirDerivatives) {
  rc::manual_seed(14);
  const auto shrink = [](const Tensor& x) {
    return rc::while_loop([](const Tensor& y) { return (y * y).sum() > 0.5; },
                          [](const Tensor& y) { return y * 0.9 + 0.01 * sin(y); }, x, {.max_steps = 100});
  };
  const auto energy = [shrink](const Tensor& x) { return shrink(x).square().sum(); };
  for (const Tensor& x : {rc::tensor({3.0, -1.0, 2.0}), rc::tensor({0.1, 0.0, 0.0}), rc::randn({40})}) {
    expect_bits(rc::grad(energy), x);
  }
  expect_bits(rc::hessian(energy), rc::tensor({3.0, -1.0}));
  const auto twice = [shrink](const Tensor& xs) {
    const auto step = [shrink](const Tensor& c, const Tensor& x) { return std::pair(shrink(c + x), c); };
    return rc::scan(step, rc::ones({3}), xs).first.sum();
  };
  expect_bits(rc::grad(twice), rc::randn({6, 3}));
  Exports exports;
  const auto fast = rc::compile(rc::grad(energy));
  rc::export_object(fast, exports.path("f"), rc::ones({2}));
  exports.link();
  std::vector<Tensor> results{rc::ones({2})};
  EXPECT_EQ(exports.call("f", {rc::full({2}, 1e5)}, results), 1);  // it would take more turns
  const auto forever = rc::compile(rc::grad([](const Tensor& x) {
    return rc::while_loop([](const Tensor& y) { return y > 0.5; }, [](const Tensor& y) { return 0.9 * sin(y); }, x);
  }));
  const Tensor one(1.0);
  expect_error<rc::NotImplementedError>(
      [&] { rc::export_object(forever, exports.path("g"), one); },
      "export_object: the derivative of a while_loop keeps 64 bytes of each of up to 1000000000 turns, more than a "
      "workspace of 1 GiB holds; say how many there may be: {.max_steps = 1000}{at}",
      {one});
}

TEST_F(Exported, RunsLoopsAndBranchesOfEachExample) {
  rc::manual_seed(15);
  const auto shrink = [](const Tensor& x) {
    return rc::while_loop([](const Tensor& y) { return (y * y).sum() > 0.5; }, [](const Tensor& y) { return y * 0.9; },
                          x, {.max_steps = 100});
  };
  const auto choose = [](const Tensor& x) {
    return rc::cond(x.sum() > 0, [](const Tensor& v) { return sin(v); }, [](const Tensor& v) { return v * v; }, x);
  };
  for (const std::int64_t examples : {1, 5, 40}) {
    const Tensor xs = rc::randn({examples, 3}) * 2, many = rc::randn({3, examples, 3}) * 2;
    expect_bits(rc::vmap(shrink), xs);
    expect_bits(rc::vmap(choose), xs);
    expect_bits(rc::vmap(rc::grad([shrink](const Tensor& x) { return shrink(x).sum(); })), xs);
    expect_bits(rc::vmap(rc::grad([choose](const Tensor& x) { return choose(x).sum(); })), xs);
    expect_bits(rc::vmap(rc::vmap(shrink)), many);
  }
}

TEST_F(Exported, DrawsByKeys) {
  const Tensor key = rc::Key(3).data;
  const auto expect_draws = [&](std::int64_t n, rc::DType dtype) {
    expect_bits([n, dtype](const Tensor& k) { return rc::uniform(rc::Key(k), {n}, dtype); }, key);
    expect_bits([n, dtype](const Tensor& k) { return rc::normal(rc::Key(k), {n}, dtype); }, key);
  };
  for (const std::int64_t n : {5, 18, 4099}) {  // less than a register, some registers, a loop
    expect_draws(n, rc::float32);
    expect_bits([n](const Tensor& k) { return rc::randint(rc::Key(k), -5, 1000, {n}); }, key);
  }
  for (const rc::DType dtype : {rc::float64, rc::float16}) expect_draws(18, dtype);
  const auto noisy = [](const Tensor& x, const Tensor& k) { return sin(x) + rc::uniform(rc::Key(k), {20, 30}); };
  expect_bits(noisy, rc::randn({20, 30}), key);
  expect_bits(rc::vmap(noisy), rc::randn({6, 20, 30}), rc::split(rc::Key(3), 6).data);
  const auto flips = [](const Tensor& p, const Tensor& k) { return rc::bernoulli(rc::Key(k), p); };
  expect_bits(flips, rc::rand({100}), key);
  const auto walk = [](const Tensor& x, const Tensor& k) {
    const auto step = [](const Tensor&, const std::pair<Tensor, Tensor>& s) {
      const auto [now, next] = rc::split(rc::Key(s.second));
      return std::pair(s.first + rc::uniform(now, {40}), next.data);
    };
    return rc::fori_loop(0, 10, step, std::pair(x, k)).first;
  };
  expect_bits(walk, rc::randn({40}), key);
  Exports exports;
  rc::export_object(rc::compile(flips), exports.path("flips"), rc::rand({100}), key);
  exports.link();
  std::vector<Tensor> results{flips(rc::rand({100}), key)};
  EXPECT_EQ(exports.call("flips", {rc::rand({100}) + 1, key}, results), 1);
}

TEST_F(Exported, ComputesWhatIsTooLongForAKernelInSimplerOperations) {
  rc::manual_seed(17);
  const auto expect = [&](const auto& f, const Tensor& x) {
    const double tolerance = x.dtype() == rc::float64 ? 1e-13 : x.dtype() == rc::float32 ? 1e-5 : 1e-2;
    expect_close(result(f, x), f(x), tolerance);
    const auto gradient = rc::grad([f](const Tensor& v) { return (f(v) * v).sum(); });
    if (x.dtype() != rc::float16) expect_close(result(gradient, x), gradient(x), 100 * tolerance);
  };
  const auto expect_all = [&](const rc::Shape& shape, rc::DType dtype) {
    const Tensor x = rc::randn(shape).to(dtype) * 3;
    expect([](const Tensor& v) { return rc::softmax(v, -1); }, x);
    expect([](const Tensor& v) { return rc::log_softmax(v, 0); }, x);
    expect([](const Tensor& v) { return rc::logsumexp(v, {-1}, true); }, x);
    expect([](const Tensor& v) { return rc::layer_norm(v, {v.shape().back()}); }, x);
    expect([](const Tensor& v) { return rc::var(v, {0}, 1, true); }, x);
  };
  for (const rc::Shape& shape : {rc::Shape{300}, rc::Shape{5, 300}, rc::Shape{300, 5}, rc::Shape{4, 20, 90}})
    expect_all(shape, rc::float32);
  for (const rc::DType dtype : {rc::float64, rc::float16}) expect_all({70, 130}, dtype);
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const rc::DType dtype : {rc::float32, rc::float16, rc::int64, rc::boolean}) {
    const Tensor x = rc::randint(0, 7, {5, 300}).to(dtype);
    expect_bits([](const Tensor& v) { return argmax(v, 1); }, x);
    expect_bits([](const Tensor& v) { return argmin(v, 0); }, x.mT().contiguous());
    expect_bits([](const Tensor& v) { return rc::max(v, 1).second; }, x);
    expect_bits([](const Tensor& v) { return rc::min(v, 1).first; }, x);
  }
  expect_bits([](const Tensor& v) { return argmax(v, 0); },
              rc::cat({rc::rand({90}), rc::tensor({infinity, nan, nan})}));
  const Tensor none = rc::full({300}, -infinity);
  expect_equal(result([](const Tensor& v) { return rc::logsumexp(v); }, none), rc::logsumexp(none));
}

TEST_F(Exported, AddsAndMultipliesUpAlongLongAxes) {
  rc::manual_seed(18);
  for (const rc::DType dtype : {rc::float32, rc::float64, rc::float16, rc::int32, rc::uint8}) {
    const Tensor row = (rc::rand({300}) * 3).to(dtype), rows = (rc::rand({4, 300, 3}) * 3).to(dtype);
    for (const Tensor& x : {row, rows}) {
      const std::int64_t axis = x.dim() - (x.dim() == 3 ? 2 : 1);
      expect_bits([axis](const Tensor& v) { return cumsum(v, axis); }, x);
      expect_bits([axis](const Tensor& v) { return cumprod(v, axis); }, x);
      if (dtype == rc::float32 || dtype == rc::float64)
        expect_bits(rc::grad([axis](const Tensor& v) { return (cumsum(v, axis) * v).sum(); }), x);
    }
  }
}

TEST_F(Exported, MultipliesHalvesAsFloats) {
  rc::manual_seed(16);
  for (const rc::DType dtype : {rc::float16, rc::bfloat16}) {
    const Tensor a = rc::randn({3, 20, 70}).to(dtype), b = rc::randn({70, 40}).to(dtype);
    const auto product = [](const Tensor& x, const Tensor& y) { return matmul(x, y); };
    const double tolerance = dtype == rc::float16 ? 1e-2 : 1e-1;  // sums are rounded once, in another order before
    expect_close(result(product, a, b), product(a, b), tolerance);
    const auto square = [](const Tensor& x) { return matmul(x.mT(), x); };
    expect_close(result(square, b), square(b), tolerance);
  }
}

TEST_F(Exported, TakesTheBranchThatTheValuesChoose) {
  const auto f = [](const Tensor& x) {
    return rc::cond(x.sum() > 0, [](const Tensor& v) { return sin(v); }, [](const Tensor& v) { return v * 2; }, x);
  };
  expect_bits(f, rc::tensor({1.0, 2.0}));
  expect_bits(f, rc::tensor({-1.0, -2.0}));
}

TEST_F(Exported, CallsBlasForLargeProductsAndItsHeaderSaysSo) {
  rc::manual_seed(5);
  const auto loss = [](const Tensor& w, const Tensor& x) { return tanh(matmul(x, w)).square().mean(); };
  const Tensor w = rc::randn({200, 300}), x = rc::randn({64, 200});
  expect_close(result(rc::grad(loss), w, x), rc::grad(loss)(w, x), 1e-6);
  const auto products = [](const Tensor& a, const Tensor& b) { return matmul(a, b.mT()); };
  const Tensor a = rc::randn({3, 1, 32, 40}), b = rc::randn({4, 50, 40}), v = rc::randn({300});
  expect_close(result(products, a, b), products(a, b), 1e-4);
  const auto on_vector = [](const Tensor& m, const Tensor& u) { return matmul(m, u); };
  expect_close(result(on_vector, w, v), matmul(w, v), 1e-4);
  Exports exports;
  rc::export_object(rc::compile(loss), exports.path("loss"), w, x);
  EXPECT_NE(exports.header("loss").find("CBLAS"), std::string::npos);
  rc::export_object(rc::compile(wave), exports.path("wave"), v);
  EXPECT_EQ(exports.header("wave").find("CBLAS"), std::string::npos);
}

TEST_F(Exported, HoldsCapturedTensorsAsTheyWere) {
  Tensor w = rc::tensor({{1.0, 2.0}, {3.0, 4.0}});
  const auto fast = rc::compile([w](const Tensor& x) { return matmul(matmul(w, w), x); });
  const Tensor x = rc::tensor({1.0, -1.0});
  std::vector<Tensor> results{fast(x)};
  const Tensor before = results[0];
  Exports exports;
  rc::export_object(fast, exports.path("f"), x);
  exports.link();
  w.fill_(0);
  EXPECT_EQ(exports.call("f", {x}, results), 0);
  expect_equal(results[0], before);
}

TEST_F(Exported, NamesParametersAsTheTreesAreNamedAndPassesThemInTheirOrder) {
  const auto f = [](const Layer& layer, const Tensor& x) {
    return std::pair(matmul(layer.weight, x) + layer.bias, Layer{layer.weight * 2, {}});
  };
  const Layer layer{rc::tensor({{1.0, 2.0}, {3.0, 4.0}}), rc::tensor({5.0, 6.0})};
  const Tensor x = rc::tensor({1.0, -1.0});
  Exports exports;
  rc::export_object(rc::compile(f), exports.path("layer"), layer, x);
  exports.link();
  const std::string header = exports.header("layer");
  for (const char* name : {"argument_0_weight /* f32[2,2] */", "argument_0_bias /* f32[2] */",
                           "argument_1 /* f32[2] */", "result_0 /* f32[2] */", "result_1_weight /* f32[2,2] */"})
    EXPECT_NE(header.find(name), std::string::npos) << name << " in\n" << header;
  std::vector<Tensor> results{x, layer.weight};
  EXPECT_EQ(exports.call("layer", {layer.weight, layer.bias, x}, results), 0);
  expect_equal(results[0], rc::tensor({4.0, 5.0}));
  expect_equal(results[1], layer.weight * 2);
}

TEST_F(Exported, GivesNewValuesOfArgumentsThatTheFunctionWritesTo) {
  const auto f = [](Tensor x) {
    x.mul_(2);
    return x.sum();
  };
  Exports exports;
  const Tensor x = rc::tensor({1.0, 2.0});
  rc::export_object(rc::compile(f), exports.path("f"), x);
  exports.link();
  EXPECT_NE(exports.header("f").find("written_argument_0"), std::string::npos);
  expect_equal(x, rc::tensor({1.0, 2.0}));
  std::vector<Tensor> results{rc::tensor(0.0), x};
  EXPECT_EQ(exports.call("f", {x}, results), 0);
  expect_equal(results[0], rc::tensor(6.0));
  expect_equal(results[1], rc::tensor({2.0, 4.0}));
}

TEST_F(Exported, GivesOneWhereTheFunctionThrows) {
  const auto factor = [](const Tensor& a) { return rc::cholesky(a); };
  const auto forever = [](const Tensor& x) {
    return rc::while_loop([](const Tensor& y) { return y.sum() < 1; }, [](const Tensor& y) { return y * 1; }, x,
                          {.max_steps = 10});
  };
  Exports exports;
  const Tensor good = rc::eye(3), bad = -rc::eye(3), at_once = rc::ones({2}), never = rc::zeros({2});
  rc::export_object(rc::compile(factor), exports.path("factor"), good);
  rc::export_object(rc::compile(forever), exports.path("forever"), at_once);
  exports.link();
  std::vector<Tensor> results{good};
  EXPECT_EQ(exports.call("factor", {good}, results), 0);
  expect_equal(results[0], good);
  EXPECT_EQ(exports.call("factor", {bad}, results), 1);
  results = {at_once};
  EXPECT_EQ(exports.call("forever", {at_once}, results), 0);
  EXPECT_EQ(exports.call("forever", {never}, results), 1);
}

TEST_F(Exported, IsCalledByThreadsSideBySide) {
  rc::manual_seed(6);
  const Tensor x = rc::randn({500});
  const auto fast = rc::compile([](const Tensor& v) { return wave(v) - wave(v).mean(); });
  Exports exports;
  rc::export_object(fast, exports.path("f"), x);
  exports.link();
  const Tensor expected = fast(x);
  std::vector<std::vector<Tensor>> results(4, {expected});
  std::vector<std::thread> threads;
  for (auto& of_thread : results)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(exports.call("f", {x}, of_thread), 0);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& of_thread : results) expect_equal(of_thread[0], expected);
}

TEST_F(Exported, TakesLargeAnglesAsTheFunctionDoes) {
  const Tensor x = rc::linspace(0, 1e9, 100, rc::float64);
  expect_close(result([](const Tensor& v) { return sin(v) + cos(v).sum(); }, x), sin(x) + cos(x).sum(), 1e-12);
}

TEST_F(Exported, HasAHeaderForCAndForCpp) {
  Exports exports;
  rc::export_object(rc::compile(wave), exports.path("wave"), rc::ones({3}));
  for (const char* language : {"c -std=c99", "c++ -std=c++20"}) {
    const std::string command = std::string(RICCI_TEST_COMPILER) + " -x " + language +
                                " -Wall -Wextra -Wpedantic -Werror -fsyntax-only " + exports.path("wave.h");
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
}

TEST_F(Exported, HeadersAreTheSameWhateverTheFilesAreCalled) {
  Exports exports;
  for (const char* name : {"result", "workspace", "call", "argument"}) {
    rc::export_object(rc::compile(wave), exports.path(name), rc::ones({3}));
    const std::string command = std::string(RICCI_TEST_COMPILER) +
                                " -std=c++20 -Wall -Wextra -Werror -fsyntax-only -include " + exports.path(name) +
                                ".hpp -x c++ /dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  EXPECT_THROW(rc::export_object(rc::compile(wave), exports.path("Workspace"), rc::ones({3})), rc::ValueError);
}

TEST_F(Exported, IsCalledFromCppWithSpansWhoseSizesAreAsserted) {
  Exports exports;
  const auto f = [](const Layer& layer, const Tensor& x) {
    return std::pair(matmul(layer.weight, x) + layer.bias, x > 0);
  };
  const Layer layer{rc::tensor({{1.0, 2.0}, {3.0, 4.0}}), rc::tensor({5.0, 6.0})};
  rc::export_object(rc::compile(f), exports.path("layer"), layer, rc::ones({2}));
  std::ofstream(exports.path("program.cpp")) << R"(#include "layer.hpp"
#include "layer.h"
#include <vector>
int main(int count, char **) {
  static layer::Workspace workspace;
  const float weight[] = {1, 2, 3, 4}, bias[] = {5, 6};
  const std::vector<float> x(count + 1, 1.0F);
  float y[2];
  std::uint8_t is_positive[2];
  if (!layer::call(weight, bias, x, y, is_positive, workspace)) return 1;
  return y[0] == 8 && y[1] == 13 && is_positive[0] == 1 ? 0 : 2;
})";
  const std::string program = exports.path("program");
  const std::string build = std::string(RICCI_TEST_COMPILER) + " -std=c++20 -Wall -Wextra -Wpedantic -Werror -o " +
                            program + " " + program + ".cpp " + exports.path("layer.o") + " -lm";
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  EXPECT_EQ(std::system(program.c_str()), 0);
  EXPECT_NE(std::system((program + " one_more > /dev/null 2>&1").c_str()), 0);  // three numbers, of which x has two
}

TEST_F(Exported, RefusesWhatHasNoCodeByName) {
  Exports exports;
  const Tensor x = rc::ones({300});
  const auto refuse = [&](const auto& f, const std::string& why) {
    const auto fast = rc::compile(f);
    expect_error<rc::NotImplementedError>([&] { rc::export_object(fast, exports.path("f"), x); },
                                          "export_object: " + why + "{at}", {x});
  };
  refuse(
      [](const Tensor& v) { return rc::sort(v).first; },
      "sort of f32[300] is computed by the library, and an exported function runs without it; export the parts before "
      "and behind it as functions of their own");
  refuse([](const Tensor& v) { return digamma(v); },
         "the C library has no digamma of float32, and an exported function calls no other library; export the parts "
         "before and behind it as functions of their own");
  refuse([](const Tensor& v) { return v + rc::randn({300}); },
         "the function draws random numbers from a generator, which stands in the library; draw by a key that is an "
         "argument, as rc::normal(key, shape) does, or let the function take the numbers");
  EXPECT_TRUE(std::filesystem::is_empty(exports.path("")));
}

TEST_F(Exported, WritesAllFilesOrNone) {
  Exports exports;
  std::filesystem::create_directory(exports.path("f.h"));
  EXPECT_THROW(rc::export_object(rc::compile(wave), exports.path("f"), rc::ones({3})), rc::ValueError);
  for (const char* file : {"f.o", "f.hpp"}) EXPECT_FALSE(std::filesystem::exists(exports.path(file))) << file;
  EXPECT_FALSE(std::filesystem::exists(exports.path("f.o.part")));
}

TEST_F(Exported, RefusesTheNameOfAFunctionThatItCalls) {
  Exports exports;
  const Tensor x = rc::ones({3});
  expect_error<rc::NotImplementedError>(
      [&] { rc::export_object(rc::compile([](const Tensor& v) { return erf(v); }), exports.path("erff"), x); },
      "export_object: the object calls a function called erff; choose another name{at}", {x});
}

TEST_F(Exported, RefusesNamesThatAreNoneInCAndFilesThatCannotBeWritten) {
  const auto fast = rc::compile(wave);
  const Tensor x = rc::ones({3});
  for (const char* path : {"a-b", "3d", "", "int", "std"})
    expect_error<rc::ValueError>([&] { rc::export_object(fast, path, x); },
                                 "export_object: the function in C is called as the files, and \"" + std::string(path) +
                                     "\" is no name there; give a path that ends in letters, digits and _{at}",
                                 {x});
  expect_error<rc::ValueError>([&] { rc::export_object(fast, "/no/such/folder/f", x); },
                               "export_object: cannot write /no/such/folder/f.o: No such file or directory{at}", {x});
  const auto inside = [&](const Tensor& v) {
    rc::export_object(fast, "f", v);
    return v;
  };
  const Tensor rows = rc::ones({2, 3});
  expect_error<rc::TransformError>([&] { rc::vmap(inside)(rows); },
                                   "export_object: it writes a function down for arrays; call it outside of "
                                   "transforms{at}\n  inside vmap over axis 0 of 2{at}",
                                   {rows});
}

}  // namespace
