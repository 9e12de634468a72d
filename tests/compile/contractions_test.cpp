// Contractions: sums of products that are computed factor by factor.
#include "compile/contractions.h"

#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "program/program.h"
#include "program/programs_run.h"
#include "program/sizes.h"
#include "support/expect_tensor.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

/// The program of f at the sizes of these inputs.
rc::Program program_at(const Function& f, const std::vector<Tensor>& inputs) {
  const rc::Program whole = rc::trace(f)(inputs).simplified();
  rc::ProgramBody body = whole.body();
  const auto table = std::exchange(body.symbols, nullptr);
  const rc::Program program(rc::Shared<const rc::ProgramBody>(new rc::ProgramBody(std::move(body))));
  if (!table) return program;
  const std::vector<std::int64_t> hints = table->hints_of_inputs();
  const auto sizes = std::make_shared<const rc::CallSizes>(table, std::vector<rc::Size>(hints.begin(), hints.end()));
  return rc::resolved(program.in_call(sizes)).simplified();
}

/// The most elements of a value that is no view.
std::int64_t largest_value(const rc::Program& program) {
  std::int64_t most = 0;
  for (const rc::Equation& e : program.body().equations)
    for (const rc::Variable v : e.outputs)
      if (!e.rules->is_view())
        most = std::max(most, program.body().types[static_cast<std::size_t>(v)].shape.numel().raw());
  return most;
}

/// Whether f is contracted; if so, it gives what it gave before.
bool is_contracted(const Function& f, const std::vector<Tensor>& inputs, double tolerance) {
  const rc::Program program = program_at(f, inputs);
  const std::optional<rc::Program> fewer = rc::compiled::contracted(program);
  if (!fewer) return false;
  const Tensor expected = program(inputs)[0], found = (*fewer)(inputs)[0];
  EXPECT_EQ(found.dtype(), expected.dtype());
  expect_close(found, expected, tolerance);
  return true;
}

Tensor squares_of_outer(const std::vector<Tensor>& x) { return rc::outer(x[0], x[1]).square().sum(); }

class Contractions : public testing::Test {
 protected:
  void SetUp() override { rc::manual_seed(1); }
};

TEST_F(Contractions, TheSquaresOfAnOuterProductAreAddedUpWithoutIt) {
  const auto norms = [](const std::vector<Tensor>& x) {
    return rc::vmap([](const Tensor& a, const Tensor& b) { return rc::outer(a, b).square().sum(); })(x[0], x[1]);
  };
  const auto rows = [](const std::vector<Tensor>& x) {
    const Tensor all = (x[0].unsqueeze(2) * x[1].unsqueeze(1)).reshape({30, -1});
    return (all * all).sum(1);
  };
  for (const rc::DType dtype : {rc::float32, rc::float64}) {
    const std::vector<Tensor> inputs = {rc::rand({30, 40}, dtype), rc::rand({30, 50}, dtype)};
    const double tolerance = dtype == rc::float32 ? 1e-5 : 1e-13;
    EXPECT_TRUE(is_contracted(norms, inputs, tolerance));
    EXPECT_TRUE(is_contracted(rows, inputs, tolerance));
    EXPECT_TRUE(is_contracted(squares_of_outer, {inputs[0][0], rc::rand({1000}, dtype)}, tolerance));
    const auto halved = [](const std::vector<Tensor>& x) { return (rc::outer(x[0], x[1]) * 0.5).square().sum(); };
    EXPECT_TRUE(is_contracted(halved, {inputs[0][0], rc::rand({1000}, dtype)}, tolerance));
    const auto mean_of_halves = [](const std::vector<Tensor>& x) {
      return (0.5 * (x[0].unsqueeze(2) * x[1].unsqueeze(1)) / 3.0).mean(0);
    };
    EXPECT_TRUE(is_contracted(mean_of_halves, inputs, tolerance));
    const rc::Program halves = *rc::compiled::contracted(program_at(mean_of_halves, inputs));
    for (const rc::Type& type : halves.body().types) EXPECT_TRUE(type.dtype == dtype || type.shape.empty());
  }
}

TEST_F(Contractions, AWeightedSumOfOuterProductsIsOneProductOfMatrices) {
  const std::vector<Tensor> inputs = {rc::rand({30}, rc::float64), rc::rand({30, 40}, rc::float64),
                                      rc::rand({30, 50}, rc::float64)};
  const std::vector<Function> wordings = {
      [](const auto& x) { return (x[0].reshape({30, 1, 1}) * x[1].unsqueeze(2) * x[2].unsqueeze(1)).sum(0); },
      [](const auto& x) { return (x[0].reshape({30, 1, 1}) * (x[1].unsqueeze(2) * x[2].unsqueeze(1))).mean(0); },
      [](const auto& x) { return rc::tensordot(x[0], x[1].unsqueeze(2) * x[2].unsqueeze(1), 1); },
      [](const auto& x) {
        const Tensor all = (x[1].unsqueeze(2) * x[2].unsqueeze(1)).permute({2, 1, 0}).reshape({2000, 30});
        return rc::matmul(all, x[0]).reshape({50, 40});
      }};
  for (std::size_t i = 0; i < wordings.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_TRUE(is_contracted(wordings[i], inputs, 1e-13));
    EXPECT_EQ(largest_value(*rc::compiled::contracted(program_at(wordings[i], inputs))), 2000);
  }
}

TEST_F(Contractions, GradientsThatAreClippedTakeNoMemoryForEachExample) {
  const auto loss = [](const Tensor& w, const Tensor& x, const Tensor& y) {
    return (rc::tanh(rc::matmul(w, x)) - y).square().sum();
  };
  const auto clipped = [&](bool divides) {
    return [=](const std::vector<Tensor>& in) {
      const Tensor each = rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0, 0}})(in[0], in[1], in[2]);
      const Tensor norm = each.square().sum({1, 2}).sqrt();
      const Tensor scale = rc::maximum(norm, rc::ones_like(norm)).reshape({-1, 1, 1});
      return (divides ? each / scale : each * (1 / scale)).mean(0);
    };
  };
  const std::vector<Tensor> inputs = {rc::randn({20, 40}, rc::float64), rc::randn({64, 40}, rc::float64),
                                      rc::randn({64, 20}, rc::float64)};
  for (const bool divides : {false, true}) {
    EXPECT_TRUE(is_contracted(clipped(divides), inputs, 1e-12));
    EXPECT_EQ(largest_value(*rc::compiled::contracted(program_at(clipped(divides), inputs))), 64 * 40);
  }
}

TEST_F(Contractions, OfQuotientsGiveWhatTheQuotientsGive) {
  const auto mean = [](const std::vector<Tensor>& x) {
    return (x[1].unsqueeze(2) * x[2].unsqueeze(1) / x[0].reshape({30, 1, 1})).mean(0);
  };
  std::vector<Tensor> inputs = {rc::rand({30}, rc::float64) + 0.1, rc::rand({30, 40}, rc::float64),
                                rc::rand({30, 50}, rc::float64)};
  EXPECT_TRUE(is_contracted(mean, inputs, 1e-13));
  inputs[0][3] = 1e-310;  // one divided by it is infinite
  inputs[1][3] = 1e-300;
  EXPECT_TRUE(is_contracted(mean, inputs, 1e-13));
}

TEST_F(Contractions, AnAxisThatNoFactorHasIsNotLost) {
  const std::vector<Tensor> inputs = {rc::rand({400}, rc::float64), rc::rand({300}, rc::float64)};
  const auto repeated = [](const std::vector<Tensor>& x) { return rc::outer(x[0], x[1]).expand({5, 400, 300}); };
  EXPECT_FALSE(is_contracted([&](const auto& x) { return repeated(x).sum({0, 2}); }, inputs, 0));
  EXPECT_TRUE(is_contracted([&](const auto& x) { return repeated(x).sum(2); }, inputs, 1e-13));
}

TEST_F(Contractions, WhatIsNoProductStaysAsItIs) {
  const std::vector<Tensor> inputs = {rc::rand({200}, rc::float64), rc::rand({300}, rc::float64)};
  const std::vector<Function> others = {[](const auto& x) { return (x[0].unsqueeze(1) - x[1]).square().sum(); },
                                        [](const auto& x) { return rc::exp(rc::outer(x[0], x[1])).sum(); },
                                        [](const auto& x) { return rc::outer(x[0], x[1]).slice(0, 0, 100).sum(); },
                                        [](const auto& x) { return rc::outer(x[0], x[1]).amax(); },
                                        [](const auto& x) { return rc::outer(x[0], x[1]).prod(); },
                                        [](const auto& x) { return rc::outer(x[0], x[0]).diagonal().sum(); }};
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_FALSE(is_contracted(others[i], inputs, 0)) << i;
}

TEST_F(Contractions, WholeNumbersAndHalvesStayAsTheyAre) {
  for (const rc::DType dtype : {rc::int64, rc::int32, rc::float16, rc::bfloat16, rc::complex64}) {
    const Tensor a = rc::ones({300}, dtype), b = rc::ones({400}, dtype);
    EXPECT_FALSE(is_contracted([](const auto& x) { return rc::outer(x[0], x[1]).sum(0); }, {a, b}, 0));
  }
}

/// Sums of products of three factors: [30], [30,40], [30,50].
const std::vector<Function>& sums_of_products() {
  static const auto outer = [](const std::vector<Tensor>& x) { return x[1].unsqueeze(2) * x[2].unsqueeze(1); };
  static const std::vector<Function> sums = {
      [](const auto& x) { return outer(x).square().sum({1, 2}); },
      [](const auto& x) { return outer(x).square().mean(0); },
      [](const auto& x) { return outer(x).square().sum(); },
      [](const auto& x) { return (x[0].reshape({30, 1, 1}) * outer(x)).sum(0); },
      [](const auto& x) { return (outer(x) / x[0].reshape({30, 1, 1})).mean(0); },
      [](const auto& x) { return outer(x).sum({1, 2}); },
      [](const auto& x) { return (outer(x).transpose(0, 2) * x[0]).sum(1); },
      [](const auto& x) { return rc::matmul(x[0], outer(x).reshape({30, 2000})); }};
  return sums;
}

TEST_F(Contractions, FactorsThatAreLargeAndSmallGiveWhatTheirProductsGive) {
  for (const rc::DType dtype : {rc::float32, rc::float64}) {
    const double by = dtype == rc::float32 ? 1 : 8;  // as a power
    const std::vector<Tensor> ones = {rc::rand({30}, dtype) + 0.1, rc::rand({30, 40}, dtype) + 0.1,
                                      rc::rand({30, 50}, dtype) + 0.1};
    for (const auto& [a, b, c] : {std::array{0, 20, -20},
                                  {0, -25, 15},
                                  {0, -25, 18},
                                  {0, 18, -18},
                                  {25, -20, 25},
                                  {-25, 25, -25},
                                  {-25, 25, 0},
                                  {25, 0, -25},
                                  {-20, 0, 0},
                                  {30, -30, 0}})
      for (std::size_t i = 0; i < sums_of_products().size(); ++i) {
        SCOPED_TRACE(std::to_string(i) + " " + std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(c));
        const std::vector<Tensor> x = {ones[0] * std::pow(10, a * by), ones[1] * std::pow(10, b * by),
                                       ones[2] * std::pow(10, c * by)};
        const rc::Program program = program_at(sums_of_products()[i], x);
        const Tensor expected = program(x)[0], found = (*rc::compiled::contracted(program))(x)[0];
        // What is infinite or lost in the products, the sums need not be.
        if (rc::isfinite(expected).all().item<bool>() && (expected.abs() > 0).all().item<bool>())
          expect_close(found / expected, rc::ones_like(expected), dtype == rc::float32 ? 1e-5 : 1e-12);
      }
  }
}

TEST_F(Contractions, AnArgumentThatASumIsMultipliedByMayBeInfinite) {
  const auto f = [](const std::vector<Tensor>& x) { return (x[0] * x[1]).sum(1); };
  for (const rc::DType dtype : {rc::float32, rc::float64})
    for (const rc::Shape& shape : {rc::Shape{1, 1, 200}, rc::Shape{256, 1, 200}}) {
      Tensor x = rc::rand({256, 100, 1}, dtype), y = rc::rand(shape, dtype);
      x[9][3][0] = 0, y[0][0][5] = std::numeric_limits<double>::infinity();
      EXPECT_TRUE(is_contracted(f, {x, y}, dtype == rc::float32 ? 1e-5 : 1e-12));
      y = y * 1e-31;
      EXPECT_TRUE(is_contracted(f, {x, y}, dtype == rc::float32 ? 1e-5 : 1e-12));
    }
}

TEST_F(Contractions, OperandsMayLieInAnyWayWhereTheEquationsRunAsWritten) {
  if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
  const auto norms = [](const Tensor& a, const Tensor& b) {
    return (a.unsqueeze(2) * b.unsqueeze(1)).square().sum({1, 2});
  };
  Tensor a = rc::rand({300, 400}), b = rc::rand({300, 200});
  a[7][3] = std::numeric_limits<double>::infinity();
  const auto fast = rc::compile(norms);
  expect_close(fast(a, b), norms(a, b), 1e-5);
  expect_close(fast(a.t().contiguous().t(), b), norms(a, b), 1e-5);
  expect_close(fast(a, b.select(0, 1).expand({300, 200})), norms(a, b.select(0, 1).expand({300, 200})), 1e-5);
  const auto of_every_second = [&](const Tensor& x, const Tensor& y) { return norms(x.slice(1, 0, {}, 2), y); };
  expect_close(rc::compile(of_every_second)(a, b), of_every_second(a, b), 1e-5);
}

TEST_F(Contractions, AViewOfComplexNumbersBesideThemIsNoReasonToLeaveThemOut) {
  const auto f = [](const std::vector<Tensor>& x) {
    return rc::outer(x[0], x[1]).square().sum() + rc::view_as_real(rc::complex(x[0], x[0])).sum();
  };
  EXPECT_TRUE(is_contracted(f, {rc::rand({300}, rc::float64), rc::rand({200}, rc::float64)}, 1e-12));
}

TEST_F(Contractions, SumsOfShiftedDataAreAsExactAsThoseOfProducts) {
  const auto weighted = [](const std::vector<Tensor>& x) {
    return (x[0].reshape({30, 1, 1}) * x[1].unsqueeze(2) * x[1].unsqueeze(1)).sum(0);
  };
  const Tensor s = rc::rand({30}, rc::float64), x = rc::randn({30, 40}, rc::float64) + 1e4;
  EXPECT_TRUE(is_contracted(weighted, {s, x}, 1e-13));
}

TEST_F(Contractions, ElementsThatAreNotFiniteGiveWhatTheirProductsGive) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const rc::DType dtype : {rc::float32, rc::float64})
    for (const double special : {infinity, -infinity, std::nan("")})
      for (const double other : {1.0, 0.0, -infinity})
        for (std::size_t i = 0; i < sums_of_products().size(); ++i) {
          SCOPED_TRACE(std::to_string(i) + " " + std::to_string(special) + " " + std::to_string(other));
          std::vector<Tensor> x = {rc::rand({30}, dtype), rc::rand({30, 40}, dtype), rc::rand({30, 50}, dtype)};
          x[1][7][3] = special, x[2][7][5] = other, x[0][7] = other;
          const rc::Program program = program_at(sums_of_products()[i], x);
          const Tensor expected = program(x)[0], found = (*rc::compiled::contracted(program))(x)[0];
          expect_close(found, expected, dtype == rc::float32 ? 1e-5 : 1e-12);
        }
}

/// A sum of a product of some factors, each with some of the axes, in random order, with views between.
Function random_sum(std::uint32_t seed, std::vector<Tensor>& inputs) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::size_t axes = 2 + pick(3);
  std::vector<std::int64_t> sizes;
  for (std::size_t k = 0; k < axes; ++k) sizes.push_back(std::vector<std::int64_t>{2, 3, 6, 12, 16, 30}[pick(6)]);
  const auto product = [&] { return std::reduce(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>()); };
  while (product() < 20'000) sizes[pick(axes)] *= 2;
  std::vector<std::vector<std::int64_t>> axes_of_factor;
  for (std::size_t i = 0, factors = 2 + pick(3); i < factors; ++i) {
    std::vector<std::int64_t> own;
    rc::Shape shape;
    for (std::size_t k = 0; k < axes; ++k)
      if (pick(2) == 1) own.push_back(static_cast<std::int64_t>(k));
    std::ranges::shuffle(own, random);
    for (const std::int64_t k : own) shape.push_back(sizes[static_cast<std::size_t>(k)]);
    axes_of_factor.push_back(own);
    inputs.push_back(rc::rand(shape, rc::float64) + 0.1);
  }
  const std::uint32_t again = random();
  return [=](const std::vector<Tensor>& x) {
    std::mt19937 choices(again);
    const auto chance = [&](std::uint32_t n) { return choices() % n == 0; };
    Tensor all;
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::vector<std::int64_t> order;
      rc::Shape with_ones;
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        const auto place = std::ranges::find(axes_of_factor[i], static_cast<std::int64_t>(k));
        const bool has_axis = place != axes_of_factor[i].end();
        if (has_axis) order.push_back(place - axes_of_factor[i].begin());
        with_ones.push_back(has_axis ? sizes[k] : 1);
      }
      Tensor factor = x[i].permute(order).reshape(with_ones);
      if (chance(4)) factor = factor * factor;
      if (chance(5)) factor = 1.5 * factor;
      if (chance(7)) factor = factor / (factor + 1);
      if (chance(6)) factor = factor.expand(rc::Shape(sizes));
      all = !all.defined() ? factor : chance(4) ? all / factor : all * factor;
    }
    if (chance(3)) all = all.expand(rc::Shape(sizes));
    if (chance(4)) all = all * all;
    switch (choices() % 5) {
      case 0: return all.sum();
      case 1: return all.mean(static_cast<std::int64_t>(choices() % sizes.size()));
      case 2: return all.transpose(0, -1).reshape({all.size(-1), -1}).sum(static_cast<std::int64_t>(choices() % 2));
      case 3: return rc::matmul(rc::ones({3, all.size(0)}, rc::float64), all.reshape({all.size(0), -1}));
      default: return rc::dot(all.reshape({-1}), all.reshape({-1}));
    }
  };
}

TEST_F(Contractions, OfRandomProductsGiveTheSums) {
  constexpr std::uint32_t programs = 600;
  std::uint32_t contracted = 0;
  for (std::uint32_t seed = 0; seed < programs; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<Tensor> inputs;
    const Function f = random_sum(seed, inputs);
    contracted += is_contracted(f, inputs, 1e-12);
  }
  EXPECT_GT(contracted, programs / 8);
}

/// The elements of the largest value that the turns of loops compute, and no view is.
std::int64_t largest_value_in_loops(const rc::Program& program) {
  std::int64_t most = 0;
  for (const rc::Equation& e : program.body().equations)
    if (rc::repeats_programs(e))
      rc::for_each_program(e.op(), [&](const rc::Program& body) {
        most = std::max({most, largest_value(body), largest_value_in_loops(body)});
      });
  return most;
}

/// The state after the last turn, its parts one behind the other.
Tensor one_behind_the_other(const std::vector<Tensor>& parts) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts) flat.push_back(part.reshape({-1}));
  return rc::cat(flat);
}

/// A sum of products over rows of x, from y on.
Function sum_of_outer_products(bool is_backward) {
  return [=](const std::vector<Tensor>& x) {
    const auto turn = [](const Tensor& total, const std::pair<Tensor, Tensor>& rows) {
      return std::pair{total + rc::outer(rows.first, rows.second), rc::dot(rows.first, rows.first)};
    };
    const auto [total, squares] = rc::scan(turn, x[2], std::pair{x[0], x[1]}, {.reverse = is_backward});
    return one_behind_the_other({total, squares});
  };
}

TEST_F(Contractions, ASumThatALoopCarriesIsOneProductOfMatricesBehindIt) {
  for (const rc::DType dtype : {rc::float32, rc::float64})
    for (const bool is_backward : {false, true})
      for (const std::int64_t turns : {40, 80}) {
        const std::vector<Tensor> x = {rc::randn({turns, 150}, dtype), rc::randn({turns, 100}, dtype),
                                       rc::randn({150, 100}, dtype)};
        const Function f = sum_of_outer_products(is_backward);
        EXPECT_EQ(largest_value_in_loops(program_at(f, x)), 150 * 100);
        EXPECT_TRUE(is_contracted(f, x, dtype == rc::float32 ? 1e-5 : 1e-12));
        const rc::Program fewer = *rc::compiled::contracted(program_at(f, x));
        EXPECT_EQ(largest_value_in_loops(fewer), 1);
        EXPECT_EQ(largest_value(fewer), 150 * 100 + turns);  // the results, joined
      }
}

TEST_F(Contractions, RowsThatALoopAddsProductsOfMayBeInfinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double special : {infinity, -infinity, std::nan("")})
    for (const double other : {1.0, 0.0, -infinity}) {
      std::vector<Tensor> x = {rc::randn({40, 150}), rc::randn({40, 100}), rc::randn({150, 100})};
      x[0][3][7] = special, x[1][3][5] = other, x[2][9][9] = special;
      EXPECT_TRUE(is_contracted(sum_of_outer_products(false), x, 1e-5));
    }
}

TEST_F(Contractions, ALoopRunsAsWrittenWhereAProductOfFactorsOfItsRowsIsOutOfRange) {
  const auto weighted = [](const std::vector<Tensor>& x) {
    const auto turn = [](const Tensor& total, const std::tuple<Tensor, Tensor, Tensor>& rows) {
      const auto& [a, b, scale] = rows;
      return std::pair{total + 0.5 * rc::outer(a, b) * scale, 0.5};
    };
    const auto [total, halves] = rc::scan(turn, x[3], std::tuple{x[0], x[1], x[2]});
    return one_behind_the_other({total, halves});
  };
  const Tensor a = rc::rand({40, 150}) + 0.1, b = rc::rand({40, 100}) + 0.1, scale = rc::rand({40}) + 0.1;
  for (const auto& [of_a, of_b, of_scale] :
       {std::array{1., 1., 1.}, {1e25, 1e-25, 1e25}, {1e-25, 1e25, 1e25}, {1e25, 1e-35, 1e25}, {1e-25, 1e35, 1e-25}})
    EXPECT_TRUE(is_contracted(weighted, {a * of_a, b * of_b, scale * of_scale, rc::randn({150, 100})}, 1e-5));
}

/// What turns add to parts of the state: products of rows, or of values that they compute of rows and the state.
struct RandomLoop {
  std::int64_t turns, rows, columns, examples;  // examples: 0 for none
  bool is_backward, has_weights, has_scales, adds_twice, gives_factor, adds_matrices, adds_plain, is_mapped;

  explicit RandomLoop(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
    const auto flip = [&] { return random() % 2 == 0; };
    turns = 30 + pick(20), rows = 60 + pick(40), columns = 60 + pick(40), examples = pick(3);
    is_backward = flip(), has_weights = flip(), has_scales = flip(), adds_twice = flip(), gives_factor = flip();
    adds_matrices = flip(), adds_plain = flip(), is_mapped = flip();
  }
  std::vector<Tensor> inputs(rc::DType dtype) const {
    const auto of = [&](rc::Shape shape) {
      if (examples > 0) shape.insert(1, examples);
      return rc::randn(shape, dtype);
    };
    return {of({turns, rows}), of({turns, columns}), of({turns}), 0.1 * rc::randn({rows, rows}, dtype),
            rc::randn({rows, columns}, dtype)};
  }
  Tensor one(const std::vector<Tensor>& x) const {
    struct State {
      Tensor weights, bias, other, now;
    };
    using Rows = std::tuple<Tensor, Tensor, Tensor>;
    const auto product = [](const Tensor& a, const Tensor& b) {
      return a.dim() == 1 ? rc::outer(a, b) : rc::matmul(a.t(), b);
    };
    const auto added_up = [](const Tensor& a) { return a.dim() == 1 ? a : a.sum(0); };
    const auto turn = [&](const State& s, const Rows& of_turn) {
      const auto& [a, b, scale] = of_turn;
      State next = s;
      next.now = tanh(rc::matmul(s.now, x[3]) + a);
      const Tensor left = has_weights ? next.now : a;
      Tensor added = has_scales ? scale.unsqueeze(-1) * b : b;
      added = product(left, added);
      if (has_scales && b.dim() == 1) added = added * scale;
      next.weights = s.weights + added;
      if (adds_twice) next.weights = next.weights + product(s.now, b);
      if (adds_plain) next.bias = s.bias + added_up(next.now);
      if (adds_matrices) next.other = product(b, left) + s.other;
      return std::pair{next, gives_factor ? left : scale};
    };
    const State first{x[4], rc::zeros({rows}, x[4].dtype()), rc::zeros({columns, rows}, x[4].dtype()),
                      rc::zeros_like(x[0][0])};
    const auto [last, given] = rc::scan(turn, first, Rows{x[0], x[1], x[2]}, {.reverse = is_backward});
    return one_behind_the_other({last.weights, last.bias, last.other, last.now, given});
  }
  Function function() const {
    return [*this](const std::vector<Tensor>& x) {
      if (examples == 0 || !is_mapped) return one(x);
      const auto of_example = [this](const std::vector<Tensor>& y) { return one(y); };
      return rc::vmap(of_example, {.in_dims = {{1, 1, 1, rc::none, rc::none}}})(x);
    };
  }
};

TEST_F(Contractions, OfRandomLoopsGiveWhatTheLoopsCarry) {
  constexpr std::uint32_t loops = 120;
  std::uint32_t contracted = 0;
  for (std::uint32_t seed = 0; seed < loops; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLoop loop(seed);
    const rc::DType dtype = seed % 2 == 0 ? rc::float64 : rc::float32;
    contracted += is_contracted(loop.function(), loop.inputs(dtype), dtype == rc::float32 ? 2e-5 : 1e-12);
  }
  EXPECT_EQ(contracted, loops);
}

TEST_F(Contractions, LoopsThatReadTheirSumsCarryThem) {
  using Turn = std::function<std::pair<Tensor, Tensor>(const Tensor&, const Tensor&)>;
  const std::vector<Turn> turns = {
      [](const Tensor& s, const Tensor& row) { return std::pair{0.9 * s + rc::outer(row, row), row}; },
      [](const Tensor& s, const Tensor& row) { return std::pair{s + rc::outer(row, row), rc::matmul(s, row)}; },
      [](const Tensor& s, const Tensor& row) { return std::pair{s + rc::outer(row, row), s}; },
      [](const Tensor& s, const Tensor& row) {
        const Tensor next = s + rc::outer(row, row);
        return std::pair{next, next.sum()};
      },
      [](const Tensor& s, const Tensor& row) { return std::pair{s + s + rc::outer(row, row), row}; },
      [](const Tensor& s, const Tensor& row) { return std::pair{s + rc::exp(rc::outer(row, row)), row}; },
      [](const Tensor& s, const Tensor& row) { return std::pair{s + row, row}; },
      [](const Tensor& s, const Tensor& row) {
        rc::debug::print("{}", row[0]);
        return std::pair{s + rc::outer(row, row), row};
      }};
  const std::vector<Tensor> x = {rc::randn({40, 150}, rc::float64), rc::randn({150, 150}, rc::float64)};
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Function f = [&](const std::vector<Tensor>& in) {
      const auto [last, given] = rc::scan(turns[i], in[1], in[0]);
      return one_behind_the_other({last, given});
    };
    EXPECT_FALSE(rc::compiled::contracted(program_at(f, x)).has_value()) << i;
  }
  const std::vector<Tensor> small = {rc::randn({4000, 20}, rc::float64), rc::randn({20, 20}, rc::float64)};
  const std::vector<Tensor> few = {rc::randn({1, 400}, rc::float64), rc::randn({400, 400}, rc::float64)};
  const Function f = [](const std::vector<Tensor>& in) {
    const auto turn = [](const Tensor& s, const Tensor& row) { return std::pair{s + rc::outer(row, row), row}; };
    return rc::scan(turn, in[1], in[0]).first;
  };
  EXPECT_TRUE(is_contracted(f, x, 1e-12));
  EXPECT_FALSE(is_contracted(f, small, 0));
  EXPECT_FALSE(is_contracted(f, few, 0));
}

TEST_F(Contractions, ALoopStacksNoMoreThanItReadsAndGives) {
  const auto sum_of_states = [](std::int64_t turns) {
    return [=](const std::vector<Tensor>& x) {
      const auto turn = [](const std::pair<Tensor, Tensor>& s, const Tensor&) {
        const Tensor next = tanh(s.second + 1);
        return std::pair{std::pair{s.first + rc::outer(next, next), next}, next[0]};
      };
      const Tensor first = rc::zeros({x[0].size(0), x[0].size(0)}, rc::float64);
      return rc::scan(turn, std::pair{first, x[0]}, rc::zeros({turns})).first.first;
    };
  };
  const std::vector<Tensor> x = {rc::randn({100}, rc::float64)};
  EXPECT_TRUE(is_contracted(sum_of_states(1000), x, 1e-12));   // 0.8 MB
  EXPECT_FALSE(is_contracted(sum_of_states(2000), x, 1e-12));  // 1.6 MB
}

TEST_F(Contractions, GradientsOfWeightsThatALoopSharesAreComputedBehindIt) {
  if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
  const auto loss = [](const Tensor& w, const Tensor& bias, const Tensor& inputs) {
    const auto step = [&](const Tensor& h, const Tensor& x) {
      const Tensor middle = tanh(rc::matmul(h, w) + x + bias), next = tanh(rc::matmul(middle, w) + h);
      return std::pair{next, next};
    };
    return rc::scan(step, rc::zeros_like(inputs[0]), inputs).second.square().mean();
  };
  const Tensor w = 0.1 * rc::randn({90, 90}, rc::float64), bias = rc::randn({90}, rc::float64);
  const auto check = [&](const auto& f, const Tensor& inputs) {
    const auto fast = rc::compile(f);
    for (int i = 0; i < 3; ++i) expect_close(fast(w, bias, inputs), f(w, bias, inputs), 1e-12);
    std::ostringstream plan;
    plan << fast.plan(w, bias, inputs);
    EXPECT_EQ(plan.str().find("90,90] = lanes"), std::string::npos) << plan.str();
  };
  const auto of_w = rc::grad<0>(loss);
  check(of_w, rc::randn({40, 90}, rc::float64));
  check(of_w, rc::randn({40, 5, 90}, rc::float64));
  check(rc::vmap(of_w, {.in_dims = {rc::none, rc::none, 1}}), rc::randn({40, 3, 90}, rc::float64));
}

TEST_F(Contractions, StandInTheProgramsOfLoopsAndBranches) {
  if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
  const auto step = [](const Tensor& w, const Tensor& x, const Tensor& y) {
    const Tensor each = (rc::matmul(x, w.t()) - y).unsqueeze(2) * x.unsqueeze(1);
    const Tensor scale = 1 / rc::clamp_min(each.square().sum({1, 2}).sqrt(), 1.0);
    return w - 0.1 * (scale.reshape({-1, 1, 1}) * each).mean(0);
  };
  const auto scanned = [=](const Tensor& w, const Tensor& xs, const Tensor& ys) {
    const auto next = [=](const Tensor& now, const std::pair<Tensor, Tensor>& batch) {
      return std::pair{step(now, batch.first, batch.second), now.sum()};
    };
    return rc::scan(next, w, std::pair{xs, ys}).first;
  };
  const auto repeated = [=](const Tensor& w, const Tensor& xs, const Tensor& ys) {
    return rc::fori_loop(0, 3, [=](const Tensor& i, const Tensor& now) { return step(now, xs[i], ys[i]); }, w);
  };
  const auto chosen = [=](const Tensor& w, const Tensor& xs, const Tensor& ys) {
    const auto update = [=](const Tensor& now) { return step(now, xs[0], ys[0]); };
    return rc::cond(w.sum() < 1e9, update, [](const Tensor& now) { return 2 * now; }, w);
  };
  const Tensor w = rc::randn({40, 90}, rc::float64), xs = rc::randn({3, 100, 90}, rc::float64),
               ys = rc::randn({3, 100, 40}, rc::float64);
  const auto check = [&](const auto& f) {
    const auto fast = rc::compile(f);
    for (int i = 0; i < 3; ++i) expect_close(fast(w, xs, ys), f(w, xs, ys), 1e-12);
    std::ostringstream plan;
    plan << fast.plan(w, xs, ys);
    EXPECT_NE(plan.str().find("or_as_written"), std::string::npos) << plan.str();
    EXPECT_EQ(plan.str().find("100,40,90"), std::string::npos) << plan.str();
  };
  check(scanned);
  check(repeated);
  check(chosen);
}

TEST_F(Contractions, StandInPlansOfOpenAndOfKnownSizes) {
  if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
  const auto norms = [](const Tensor& a, const Tensor& b) {
    return (a.unsqueeze(2) * b.unsqueeze(1)).square().sum({1, 2});
  };
  const auto fast = rc::compile(norms);
  const Tensor a = rc::rand({60, 100}, rc::float64), b = rc::rand({60, 90}, rc::float64);
  for (int i = 0; i < 3; ++i) expect_close(fast(a, b), norms(a, b), 1e-13);
  std::ostringstream plan;
  plan << fast.plan(a, b);
  EXPECT_NE(plan.str().find("or_as_written"), std::string::npos) << plan.str();
  EXPECT_EQ(plan.str().find("100,90"), std::string::npos) << plan.str();
  const auto captured = rc::compile([=] { return norms(a, b); });
  expect_close(captured(), norms(a, b), 1e-13);
  std::ostringstream plan_of_captured;
  plan_of_captured << captured.plan();
  EXPECT_EQ(plan_of_captured.str().find("100,90"), std::string::npos) << plan_of_captured.str();
}

TEST_F(Contractions, StandBesideNests) {
  if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
  const auto both = [](const Tensor& a, const Tensor& b, const Tensor& x) {
    const auto difference = [&](int axis) { return x.slice(axis, 1, {}) - x.slice(axis, {}, -1); };
    return std::pair{(a.unsqueeze(2) * b.unsqueeze(1)).square().sum({1, 2}),
                     difference(0).square().sum() + difference(1).square().sum()};
  };
  const Tensor a = rc::rand({60, 100}, rc::float64), b = rc::rand({60, 90}, rc::float64),
               x = rc::rand({700, 800}, rc::float64);
  const auto fast = rc::compile(both);
  expect_close(fast(a, b, x).first, both(a, b, x).first, 1e-13);
  expect_close(fast(a, b, x).second, both(a, b, x).second, 1e-13);
  std::ostringstream plan;
  plan << fast.plan(a, b, x);
  EXPECT_NE(plan.str().find("or_as_written"), std::string::npos) << plan.str();
  EXPECT_NE(plan.str().find("nest["), std::string::npos) << plan.str();
}

}  // namespace
