// Lane kernels: results, totals and what they throw are those of the program, for any number of lanes and threads.
#include "compile/lane_kernel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compile/words.h"
#include "ricci/primitive/parallel.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using rc::compiled::LaneKernel;
using testing_support::run;

namespace {

class LaneKernels : public testing::Test {
 protected:
  void SetUp() override {
    if (!testing_support::makes_kernels()) GTEST_SKIP() << "built without a compiler";
  }
};

/// A program with its kernel.
struct Compiled {
  rc::Program program;
  rc::compiled::MadeKernel made;
  explicit Compiled(const rc::Program& traced)
      : program(traced.simplified()), made(rc::compiled::lane_kernel(program, {.most_unrolled = 16})) {}

  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs, std::int64_t lanes) const {
    const LaneKernel* const kernel = testing_support::kernel_of(made);
    EXPECT_TRUE(kernel) << testing_support::why_not(made);
    return kernel ? run(*kernel, program, inputs, program(inputs), lanes) : std::vector<Tensor>();
  }
  void expect_equal(const std::vector<Tensor>& inputs, std::int64_t lanes) const {
    const std::vector<Tensor> found = (*this)(inputs, lanes), expected = program(inputs);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Tensor same = (found[i] == expected[i]) | (isnan(found[i]) & isnan(expected[i]));
      EXPECT_TRUE(rc::all(same).item<bool>()) << found[i] << expected[i];
    }
  }
};

Tensor wave(const Tensor& x) { return sin(x) * cos(3 * x) + tanh(x); }

TEST_F(LaneKernels, OneKernelServesAnyNumberOfLanes) {
  const Compiled wave_of(rc::trace(wave)(rc::rand({100})));
  for (const std::int64_t lanes : {1, 2, 7, 15, 16, 17, 31, 32, 1000, 5000, 100000})
    wave_of.expect_equal({rc::rand({lanes}) * 8 - 4}, lanes);
}

// Where many are computed, elementary functions become functions of the code; a test of a number is none of its type.
TEST_F(LaneKernels, TestsOfNumbersStandBesideManyElementaryFunctions) {
  const auto f = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 30; ++i) y = where(isfinite(y - 2), sin(y) * 1.5, y / 0);
    return where(isnan(y), exp(y), y);
  };
  const Compiled compiled(rc::trace(f)(rc::rand({100})));
  compiled.expect_equal({rc::rand({100}) * 8 - 4}, 100);
}

// Beyond a size of the argument the formulas of sin and cos do not hold; the library then has another function.
TEST_F(LaneKernels, LargeArgumentsOfSineGetWhatTheFunctionGives) {
  const Compiled wave_of(rc::trace(wave)(rc::rand({100})));
  const Tensor x = rc::rand({100}) * 10;
  x[3].fill_(3e6F);
  x[77].fill_(std::numeric_limits<float>::infinity());
  wave_of.expect_equal({x}, 100);
  wave_of.expect_equal({x.slice(0, 0, 5).contiguous()}, 5);
  Compiled(rc::trace(wave)(rc::tensor(0.5))).expect_equal({rc::tensor(1e12)}, 1);
}

TEST_F(LaneKernels, LargeArgumentsOfSineStandInTotalsToo) {
  const auto f = [](const Tensor& x) { return sin(x).sum() / x; };
  const Compiled total(rc::trace(f)(rc::rand({100}, rc::float64)));
  for (const std::int64_t lanes : {3, 8, 9, 100}) {
    const Tensor x = rc::rand({lanes}, rc::float64) + 1;
    x[lanes - 1].fill_(1e9);
    const Tensor y = total({x}, lanes)[0];
    EXPECT_LT((y - f(x)).abs().max().item<double>(), 1e-13);
  }
}

// Twenty rounds of seven elementary functions: the code calls them instead of spelling them out.
TEST_F(LaneKernels, ManyElementaryFunctionsAreCalledAndGiveTheSameBits) {
  const auto many = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 20; ++i) y = sin(y) * cos(y) + tanh(exp(-y * y)) + log(2 + y * y) + expm1(y * 0.1) + cos(2 * y);
    return y;
  };
  const std::size_t functions = 5;  // sin with cos, exp, tanh, log, expm1
  for (const rc::DType dtype : {rc::float32, rc::float64}) {
    const Compiled lanes(rc::trace(many)(rc::rand({100}, dtype))), one(rc::trace(many)(rc::rand({}, dtype)));
    for (const Compiled* compiled : {&lanes, &one}) {
      ASSERT_TRUE(testing_support::kernel_of(compiled->made));
      EXPECT_EQ(testing_support::kernel_of(compiled->made)->plan().functions.size(), functions);
    }
    const Tensor x = rc::rand({100}, dtype) * 8 - 4;
    lanes.expect_equal({x}, 100);
    lanes.expect_equal({x.slice(0, 0, 3).contiguous()}, 3);
    one.expect_equal({x[0].clone()}, 1);
    x[41].fill_(1e12), x[42].fill_(std::numeric_limits<double>::quiet_NaN());  // beyond the formulas, and no number
    lanes.expect_equal({x}, 100);
    one.expect_equal({x[41].clone()}, 1);
  }
}

TEST_F(LaneKernels, TotalsDoNotDependOnTheNumberOfThreads) {
  const auto f = [](const Tensor& x) { return std::vector<Tensor>{exp(x).sum(), (x * x).mean(), x.amax()}; };
  const Compiled totals(rc::trace(f)(rc::rand({100})));
  const Tensor x = rc::rand({100003});
  const int before = rc::kernels::thread_count();
  rc::kernels::set_thread_count(1);
  const std::vector<Tensor> one = totals({x}, 100003);
  rc::kernels::set_thread_count(4);
  const std::vector<Tensor> four = totals({x}, 100003);
  rc::kernels::set_thread_count(before);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].item<float>(), four[i].item<float>());
  EXPECT_LT(std::abs(one[0].item<float>() / exp(x).sum().item<float>() - 1), 1e-6);
  EXPECT_EQ(one[2].item<float>(), x.amax().item<float>());
}

TEST_F(LaneKernels, WhatTheProgramThrowsForTheKernelLeavesToTheProgram) {
  const auto f = [](const Tensor& a) { return cholesky(a); };
  const Compiled factors(rc::trace(rc::vmap(f))(rc::eye(3, rc::float64).expand({20, 3, 3}).contiguous()));
  const Tensor a = rc::eye(3, rc::float64).expand({20, 3, 3}).contiguous();
  factors.expect_equal({a}, 20);
  a[13].select(0, 2).fill_(-1);
  const LaneKernel* const kernel = testing_support::kernel_of(factors.made);
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(run(*kernel, factors.program, {a}, {a}, 20).empty());
  EXPECT_THROW(factors.program({a}), rc::ValueError);
}

// Rows of 7 elements and of 20: read and written through transposed registers, the last of which overlap.
TEST_F(LaneKernels, RowsOfAnyLengthAreTurnedIntoLanes) {
  for (const std::int64_t row : {2, 3, 4, 5, 7, 8, 11, 15, 16}) {
    const auto f = [](const Tensor& x) { return rc::cat({x * x, flip(x, {0}), x.sum().reshape({1})}); };
    for (const rc::DType dtype : {rc::float32, rc::float64, rc::int64, rc::float16, rc::int8}) {
      const Tensor x = (rc::rand({50, row}) * 40).to(dtype);
      Compiled(rc::trace(rc::vmap(f))(x)).expect_equal({x}, 50);
    }
  }
}

}  // namespace
