// Nests: equations over large values of several axes, computed and written once for each index.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "ricci/primitive/parallel.h"
#include "support/expect_tensor.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

class Nests : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
    rc::manual_seed(1);
  }
};

Tensor difference(const Tensor& x, std::int64_t axis) { return x.slice(axis, 1, {}) - x.slice(axis, {}, -1); }
/// How much neighbours along all axes differ.
Tensor dirichlet(const Tensor& x) {
  Tensor sum;
  for (std::int64_t axis = 0; axis < x.dim(); ++axis) {
    const Tensor along = difference(x, axis).square().sum();
    sum = sum.defined() ? sum + along : along;
  }
  return sum;
}
/// The lengths of all gradients, where all differences are known.
Tensor variation(const Tensor& x) {
  const Tensor a = difference(x, 0).slice(1, {}, -1), b = difference(x, 1).slice(0, {}, -1);
  return sqrt(a * a + b * b + 1e-3).sum();
}
Tensor laplacian(const Tensor& x) {
  Tensor y = (-2.0 * static_cast<double>(x.dim())) * x;
  for (std::int64_t axis = 0; axis < x.dim(); ++axis) y = y + rc::roll(x, 1, axis) + rc::roll(x, -1, axis);
  return y;
}

template <class F>
std::string text_of(const F& f) {
  std::ostringstream out;
  out << f;
  return out.str();
}
std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// f compiled, after two calls that gave what f gives: to the bit, as nothing is added in another order.
template <class F>
std::string plan_that_gives_the_same(const F& f, const Tensor& x) {
  const auto fast = rc::compile(f);
  for (int i = 0; i < 2; ++i) expect_equal(fast(x), f(x));
  return text_of(fast.plan(x));
}

TEST_F(Nests, TheGradientOfAStencilIsOneNestThatReadsItsInputAndWritesItsResult) {
  for (const rc::DType dtype : {rc::float32, rc::float64}) {
    const std::string plan = plan_that_gives_the_same(rc::grad(dirichlet), rc::rand({60, 50, 70}, dtype));
    EXPECT_EQ(count(plan, "nest["), 1U) << plan;
    EXPECT_EQ(count(plan, " = "), 1U) << plan;
  }
}

TEST_F(Nests, RangesMayBeOfAnyNumberAndOfAnySize) {
  const std::vector<rc::Shape> shapes = {{300'000},     {700, 500},    {65, 66, 67},    {64, 64, 64},     {2, 300, 300},
                                         {300, 300, 2}, {300, 2, 300}, {3, 33, 40, 50}, {21, 22, 23, 24}, {200'000, 3},
                                         {3, 200'000},  {1, 500, 600}, {500, 1, 600}};
  for (const rc::Shape& shape : shapes) {
    SCOPED_TRACE(text_of(shape));
    const Tensor x = rc::rand(shape, rc::float64);
    EXPECT_GE(count(plan_that_gives_the_same(rc::grad(dirichlet), x), "nest["), 1U);
    plan_that_gives_the_same(laplacian, x);
    plan_that_gives_the_same([](const Tensor& y) { return laplacian(laplacian(y)); }, x);
  }
}

TEST_F(Nests, ValuesThatAreAddedUpStandInTheNestThatComputesThem) {
  for (const rc::DType dtype : {rc::float32, rc::float64}) {
    const Tensor x = rc::rand({301, 403}, dtype);
    for (const auto& f : {&dirichlet, &variation}) {
      const auto fast = rc::compile(rc::value_and_grad(f));
      const auto [value, gradient] = fast(x);
      const auto [expected_value, expected_gradient] = rc::value_and_grad(f)(x);
      expect_close(value, expected_value, dtype == rc::float32 ? 1e-6 : 1e-13);
      expect_equal(gradient, expected_gradient);
      EXPECT_EQ(count(text_of(fast.plan(x)), "nest["), 1U) << fast.plan(x);
    }
    const auto mean = [](const Tensor& y) { return (difference(y, 0) * y.slice(0, 1, {})).mean(); };
    const auto of_mean = rc::compile(mean);
    expect_close(of_mean(x), mean(x), dtype == rc::float32 ? 1e-6 : 1e-13);
    EXPECT_EQ(count(text_of(of_mean.plan(x)), "nest["), 1U) << of_mean.plan(x);
  }
}

TEST_F(Nests, TheDiagonalOfAJacobianNeedsNoJacobian) {
  const auto elementwise = [](const Tensor& x) { return x * sin(x); };
  const auto neighbours = [](const Tensor& x) { return x * rc::roll(x, 1, 0) + x.slice(0, 0, 1) * x; };
  const auto shorter = [](const Tensor& x) { return sin(difference(x, 0)); };
  const Tensor x = rc::rand({1000}, rc::float64);
  const auto diagonals_are_right = [&](const auto& f) {
    for (const std::int64_t offset : {0, 1, -1, 2, 700, -998}) {
      SCOPED_TRACE(offset);
      plan_that_gives_the_same([&](const Tensor& y) { return rc::jacfwd(f)(y).diagonal(offset); }, x);
      plan_that_gives_the_same([&](const Tensor& y) { return rc::jacrev(f)(y).diagonal(offset); }, x);
    }
  };
  diagonals_are_right(elementwise);
  diagonals_are_right(neighbours);
  diagonals_are_right(shorter);
  const auto energy = [](const Tensor& y) { return (y * sin(y)).sum(); };
  const auto row = [&](const Tensor& y) { return rc::jacfwd(neighbours)(y)[500]; };
  const auto block = [&](const Tensor& y) { return rc::jacfwd(neighbours)(y).slice(0, 10, 30).slice(1, 15, 50); };
  plan_that_gives_the_same(row, x);
  plan_that_gives_the_same(block, x);
  for (const std::string& plan :
       {plan_that_gives_the_same([&](const Tensor& y) { return rc::jacfwd(elementwise)(y).diagonal(); }, x),
        plan_that_gives_the_same([&](const Tensor& y) { return rc::hessian(energy)(y).diagonal(); }, x)}) {
    EXPECT_EQ(count(plan, " = "), 1U) << plan;
    EXPECT_EQ(count(plan, "[1000,1000]"), 0U) << plan;
  }
}

TEST_F(Nests, AWholeJacobianReadsNoSeeds) {
  const auto fourth_power = [](const Tensor& x) { return square(square(x)); };
  const auto neighbours = [](const Tensor& x) { return x.slice(0, 1, {}) * square(x.slice(0, {}, -1)); };
  const auto sum = [&](const Tensor& x) { return square(neighbours(x) - 1).sum(); };
  const auto reads_no_seeds = [](const auto& f, const Tensor& x) {
    const std::string plan = plan_that_gives_the_same(f, x);
    EXPECT_EQ(count(plan, "nest["), 1U) << plan;
    EXPECT_EQ(count(plan, "seeds["), 0U) << plan;
  };
  for (const rc::DType dtype : {rc::float16, rc::float32, rc::float64})
    for (const std::int64_t size : {1100, 1301}) {
      const Tensor x = rc::rand({size}, dtype);
      reads_no_seeds(rc::jacfwd(fourth_power), x);
      reads_no_seeds(rc::jacrev(fourth_power), x);
      reads_no_seeds(rc::jacfwd(neighbours), x);
      reads_no_seeds(rc::hessian(sum), x);
    }
  Tensor x = rc::rand({1100});
  x.select(0, 7).fill_(std::numeric_limits<double>::infinity());
  const auto with_numbers = [&](const Tensor& at) {
    const Tensor y = rc::jacrev(fourth_power)(at);
    return where(isnan(y), 7.0, y);
  };
  reads_no_seeds(with_numbers, x);
}

TEST_F(Nests, AnElementaryFunctionThatNeighboursReadIsStoredOnce) {
  const auto f = [](const Tensor& x) { return difference(exp(sin(x)), 0) + difference(exp(sin(x)), 0); };
  const std::string plan = plan_that_gives_the_same(f, rc::rand({500, 600}));
  EXPECT_EQ(count(plan, "nest["), 2U) << plan;
}

/// So many steps of a diffusion.
auto diffusion(int steps) {
  return [steps](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < steps; ++i) y = y + 0.1 * laplacian(y);
    return y;
  };
}

TEST_F(Nests, AChainTooLongForOneNestIsSeveral) {
  const Tensor x = rc::rand({300, 401}, rc::float64);
  const std::string plan = plan_that_gives_the_same(diffusion(12), x);
  EXPECT_GE(count(plan, "nest["), 2U) << plan;
  EXPECT_EQ(count(plan, "nest["), count(plan, " = ")) << plan;
  const auto gradient = rc::grad([](const Tensor& y) { return square(diffusion(5)(y)).sum(); });
  EXPECT_GE(count(plan_that_gives_the_same(gradient, x), "nest["), 2U);
}

TEST_F(Nests, ViewsOfAllKindsAreReadWhereTheyShow) {
  const auto transposed = [](const Tensor& x) { return x.permute({1, 0}) * 2 + x.permute({1, 0}).flip({0}) + 1; };
  const auto strided = [](const Tensor& x) {
    return (x.slice(0, 1, 800, 2) + x.slice(0, 0, 799, 2)) * x.slice(0, 2, 402);
  };
  const auto columns = [](const Tensor& x) { return (x.slice(1, 1, 600, 2) + x.slice(1, 0, 599, 2)) * 3 + 1; };
  const auto spread = [](const Tensor& x) { return (x - x.select(0, 3)) * (x.select(1, 5).unsqueeze(1) + 2) - 1; };
  const auto reshaped = [](const Tensor& x) { return (x.reshape({800, 30, 20}) * 2 + 1).reshape({800, 600}) - x; };
  const auto diagonal = [](const Tensor& x) { return (x.slice(0, 0, 600) + x.slice(0, 0, 600).diagonal()) * 2 + 1; };
  const auto windows = [](const Tensor& x) { return (x.unfold(0, 3, 1) * 2 + 1).square() - 3; };
  const auto part = [](const Tensor& x) { return x.slice_scatter(x.slice(0, 0, 200) * 2 + 1, 0, 100, 700, 3) * 3 + x; };
  const Tensor x = rc::rand({800, 600}, rc::float64);
  std::size_t nests = 0;
  const auto check = [&](const auto& f, const Tensor& y) {
    plan_that_gives_the_same(f, y);
    const auto neighbours = [f](const Tensor& z) { return difference(f(z), 0); };
    nests += count(plan_that_gives_the_same(neighbours, y), "nest[") > 0 ? 1 : 0;
  };
  check(transposed, x);
  check(strided, x);
  check(columns, x);
  check(spread, x);
  check(reshaped, x);
  check(diagonal, x);
  check(windows, x);
  check(part, x);
  const auto loss = [](const auto& f) { return [f](const Tensor& y) { return f(y).square().sum(); }; };
  check(rc::grad(loss(transposed)), x);
  check(rc::grad(loss(strided)), x);
  check(rc::grad(loss(columns)), x);
  check(rc::grad(loss(reshaped)), x);
  check(rc::grad(loss(part)), x);
  const auto of_diagonal = [](const Tensor& y) { return ((2 * y + 1).diagonal().exp() + y.slice(0, 0, 600)).sum(); };
  check(rc::grad(of_diagonal), x);
  check([](const Tensor& y) { return 3 * y.diagonal_scatter(-y.diagonal(), 0, 0, 1) + 1; }, x);
  EXPECT_GE(nests, 5U);  // the others move as few bytes without nests
}

TEST_F(Nests, ValuesOfAllTypesAndWithoutANumberAreThoseOfTheEquations) {
  const auto f = [](const Tensor& x) {
    return where(difference(x, 0) > 0, maximum(x.slice(0, 1, {}), 2 * x.slice(0, {}, -1)), x.slice(0, 1, {}) - 1);
  };
  for (const rc::DType dtype : {rc::float16, rc::bfloat16, rc::float32, rc::float64, rc::int32, rc::int64})
    plan_that_gives_the_same(f, (10 * rc::randn({600, 700})).to(dtype));
  Tensor x = rc::randn({600, 700});
  x[300].fill_(std::numeric_limits<double>::infinity());
  x[301].fill_(std::numeric_limits<double>::quiet_NaN());
  constexpr double none = 1e-30;  // of a NaN, a comparison to the bit says nothing
  expect_close(rc::compile(f)(x), f(x), none);
  expect_close(rc::compile(rc::grad(dirichlet))(x), rc::grad(dirichlet)(x), none);
}

TEST_F(Nests, SizesThatComeLaterHaveNestsOfTheirOwn) {
  const auto fast = rc::compile(rc::grad(dirichlet));
  for (const std::int64_t n : {60, 61, 75, 60, 64, 61}) {
    const Tensor x = rc::rand({n, n + 3, n});
    expect_equal(fast(x), rc::grad(dirichlet)(x));
    EXPECT_EQ(count(text_of(fast.plan(x)), "nest["), 1U);
  }
  EXPECT_EQ(fast.plans(), 1U);
}

TEST_F(Nests, ThreadsChangeNoBit) {
  const Tensor x = rc::rand({80, 90, 100});
  const auto fast = rc::compile(rc::value_and_grad(dirichlet));
  const auto [value, gradient] = fast(x);
  const rc::kernels::CutEverything cut;
  const auto [cut_value, cut_gradient] = fast(x);
  expect_equal(cut_value, value);
  expect_equal(cut_gradient, gradient);
}

TEST_F(Nests, OperandsInAnyOrderOfAxesAreReadAsTheyStand) {
  const auto fast = rc::compile(rc::grad(dirichlet));
  const Tensor x = rc::rand({70, 80, 90}).permute({2, 0, 1});
  expect_equal(fast(x), rc::grad(dirichlet)(x));
}

/// A random function of an array of three axes: shifts, joins, parts, turned axes and elementwise operations.
Tensor random_function(const Tensor& x, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  std::vector<Tensor> values{x};
  const auto pick = [&] { return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))]; };
  for (int i = 0; i < 12; ++i) {
    const Tensor a = pick(), b = pick();
    const std::int64_t axis = below(3);
    const std::int64_t n = a.size(axis);
    switch (below(9)) {
      case 0: values.push_back(rc::roll(a, below(5) - 2, axis)); break;
      case 1: values.push_back(rc::pad(a.slice(2, 1, -1), {1, 1})); break;
      case 2: values.push_back(rc::cat({a.slice(axis, n / 2, {}), b.slice(axis, 0, n / 2)}, axis)); break;
      case 3: values.push_back(a * b - 0.5 * a); break;
      case 4: values.push_back(where(a > b, a, -b)); break;
      case 5: values.push_back(sin(a) + b); break;
      case 6: values.push_back(a + b.select(axis, below(static_cast<int>(n))).unsqueeze(axis)); break;
      case 7: values.push_back(a.slice_scatter(2 * b.slice(axis, 3, n - 4), axis, 2, n - 5, 1)); break;
      default: values.push_back(sqrt(a * a + 1) / (b * b + 2)); break;
    }
  }
  Tensor sum = values.back();
  for (std::size_t i = 1; i + 1 < values.size(); i += 3) sum = sum + values[i];
  return sum;
}

TEST_F(Nests, RandomFunctionsAndTheirGradientsGiveWhatTheirEquationsGive) {
  std::size_t nests = 0;
  for (unsigned seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Tensor x = rc::rand({31 + seed % 3, 40, 50}, rc::float64);
    const auto f = [seed](const Tensor& y) { return random_function(y, seed); };
    const auto fast = rc::compile(f);
    expect_equal(fast(x), f(x));
    nests += count(text_of(fast.plan(x)), "nest[");
    const auto gradient = rc::grad([&](const Tensor& y) { return (f(y) * y).sum(); });
    const auto fast_gradient = rc::compile(gradient);
    expect_close(fast_gradient(x), gradient(x), 1e-11);
  }
  EXPECT_GE(nests, 12U);
}

/// Of vectors along the last axis: those that follow, cyclically.
Tensor next_ones(const Tensor& x) { return rc::cat({x.slice(-1, 1, 3), x.slice(-1, 0, 1)}, -1); }

TEST_F(Nests, AShortInnermostRangeIsPartOfANest) {
  const auto crossed = [](const Tensor& x) {
    const Tensor y = rc::roll(x, 1, 0) - rc::roll(x, 1, 1) * x;
    return rc::cat({next_ones(x) * next_ones(next_ones(y)) - next_ones(next_ones(x)) * next_ones(y), 0.5 * y}, 2);
  };
  const std::string plan = plan_that_gives_the_same(crossed, rc::rand({300, 200, 3}));
  EXPECT_EQ(count(plan, "nest["), 1U) << plan;
  EXPECT_EQ(count(plan, "cat["), 0U) << plan;
}

/// Of a chain of joints, by its frames: small matrices, one behind the other, then all pairs of joints.
Tensor inertia_of_chain(const Tensor& angles) {
  const std::int64_t n = angles.size(0);
  const Tensor zero = rc::zeros({}, rc::float64), one = rc::ones({}, rc::float64);
  Tensor turn = rc::eye(3, rc::float64), place = rc::zeros({3}, rc::float64);
  std::vector<Tensor> axes, places;
  for (std::int64_t i = 0; i < n; ++i) {
    const Tensor c = cos(angles[i]), s = sin(angles[i]);
    turn = matmul(turn, rc::stack({c, -s, zero, s, c, zero, zero, zero, one}).reshape({3, 3}).roll({1}, {i % 2}));
    place = place + turn.select(1, 0);
    axes.push_back(turn.select(1, 2)), places.push_back(place);
  }
  const Tensor from = rc::stack(places), arms = from.unsqueeze(1) - from.unsqueeze(0);
  const Tensor along = rc::stack(axes).unsqueeze(0).expand({n, n, 3});
  const Tensor moved = next_ones(along) * next_ones(next_ones(arms)) - next_ones(next_ones(along)) * next_ones(arms);
  const Tensor both = rc::cat({moved, 0.3 * along}, 2).permute({1, 0, 2}).reshape({n, -1});
  return matmul(both, both.t());
}

TEST_F(Nests, ManySmallValuesBesideThemHaveKernels) {
  const auto f = rc::jacfwd(inertia_of_chain);
  const Tensor angles = rc::rand({27}, rc::float64);
  const auto fast = rc::compile(f);
  for (int i = 0; i < 2; ++i) expect_close(fast(angles), f(angles), 1e-12);
  const std::string plan = text_of(fast.plan(angles));
  EXPECT_GE(count(plan, "nest["), 1U);
  EXPECT_GE(count(plan, "lanes["), 1U);
}

TEST_F(Nests, ALoopBesideThemKeepsItsKernel) {
  const auto f = [](const Tensor& x) {
    const auto step = [](Tensor, Tensor s) { return sin(s) * 0.5; };
    return laplacian(x) * rc::fori_loop(0, 50, step, x[0].slice(0, 0, 10)).sum();
  };
  EXPECT_EQ(count(plan_that_gives_the_same(f, rc::rand({600, 700}, rc::float64)), "nest["), 0U);
}

TEST_F(Nests, ASwitchLeavesThemOut) {
  ::setenv("RICCI_COMPILE_WITHOUT", "nests", 1);
  const std::string plan = plan_that_gives_the_same(rc::grad(dirichlet), rc::rand({60, 50, 70}));
  ::unsetenv("RICCI_COMPILE_WITHOUT");
  EXPECT_EQ(count(plan, "nest["), 0U) << plan;
}

}  // namespace
