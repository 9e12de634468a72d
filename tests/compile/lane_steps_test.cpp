// Programs whose equations are put together into lane kernels: which go together, and that the results stay.
#include "compile/lane_steps.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <tuple>

#include "support/expect_tensor.h"
#include "support/golden.h"
#include "support/lane_kernels.h"
#include "support/threads.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

class LaneSteps : public testing::Test {
 protected:
  void SetUp() override {
    if (!testing_support::makes_kernels()) GTEST_SKIP() << "built without a compiler";
  }
};

rc::Program with_kernels(const rc::Program& traced) {
  return rc::compiled::with_lane_kernels(traced.simplified(), {.most_unrolled = 16});
}

void expect_text(const rc::Program& program, std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  const std::string found = to_string(program);
  if (found != text)
    ADD_FAILURE() << testing_support::difference(testing_support::lines_of(std::string(text)),
                                                 testing_support::lines_of(found));
}

void expect_close(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].dtype(), expected[i].dtype());
    EXPECT_TRUE(allclose(found[i], expected[i], 1e-5, 1e-6)) << found[i] << expected[i];
  }
}

// Nobody says what one element of a sorted vector is: sorting stands between two kernels.
TEST_F(LaneSteps, WhatCannotBeSaidElementByElementStandsBetweenKernels) {
  const auto f = [](const Tensor& x) {
    const Tensor sorted = std::get<0>(sort(sin(x) * 2));
    return cos(sorted) + sorted * sorted;
  };
  const Tensor x = rc::rand({100});
  const rc::Program program = rc::trace(f)(x), kernels = with_kernels(program);
  expect_text(kernels, R"(
program(a: f32[s0]) {
  b: f32[s0] = lanes[steps=21] a
  c: f32[s0], d: i64[s0] = sort[axis=0, descending=false] b
  e: f32[s0] = lanes[steps=23] c
  return e
}
)");
  for (const std::int64_t n : {100, 3, 1000}) {
    const Tensor y = rc::rand({n}) * 4;
    expect_close(kernels({y}), program({y}));
  }
}

TEST_F(LaneSteps, AMatrixThatTheLibraryReadsIsNotCopiedByAKernel) {
  const auto network = [](const Tensor& x, const Tensor& a, const Tensor& b, const Tensor& c) {
    return matmul(tanh(matmul(tanh(matmul(x, a) + b), a) + b), c);
  };
  for (const std::int64_t n : {100, 300}) {
    const Tensor x = rc::randn({n}), a = rc::randn({n, n}) * 0.1, b = rc::randn({n}), c = rc::randn({n, 1});
    const auto fast = rc::compile(network);
    for (int i = 0; i < 2; ++i) expect_close({fast(x, a, b, c)}, {network(x, a, b, c)});
    std::ostringstream text;
    text << fast.plan(x, a, b, c);
    std::istringstream lines(text.str());
    for (std::string line; std::getline(lines, line);) {
      const std::size_t kernel = line.find(" = lanes");
      const bool writes_a_matrix = kernel != std::string::npos && line.find(',') != std::string::npos;
      EXPECT_FALSE(writes_a_matrix) << text.str();
    }
  }
}

// What has no derivative is a value like others where none is asked for any more.
TEST_F(LaneSteps, ADetachedValueStaysInItsKernel) {
  const auto f = [](const Tensor& x) { return sin(x).detach() * x + exp(x); };
  const Tensor x = rc::rand({100});
  for (const rc::Program& program :
       {rc::trace(f)(x), rc::trace(rc::grad([&](const Tensor& x) { return f(x).sum(); }))(x)}) {
    const rc::Program kernels = with_kernels(program);
    EXPECT_EQ(kernels.equations(), 1U) << kernels;
    expect_close(kernels({x}), program({x}));
  }
}

// The paths are a number of the function's own, and no size of an input.
TEST_F(LaneSteps, LanesMayBeANumberOfTheFunction) {
  const auto f = [](const Tensor& scale) {
    const Tensor paths = rc::linspace(0, 1, 5000).reshape({1000, 5});
    return exp(cumsum(paths * scale, 1)).mean(1).sum();
  };
  const rc::Program program = rc::trace(rc::value_and_grad(f))(rc::tensor(0.5F)), kernels = with_kernels(program);
  EXPECT_LT(kernels.equations(), 9U) << kernels;
  expect_close(kernels({rc::tensor(0.25F)}), program({rc::tensor(0.25F)}));
}

// Its rows behind the third are 0 in the first three lanes.
TEST_F(LaneSteps, ARowOfAnIdentityIsNotWhatItsFirstLanesAre) {
  for (const std::int64_t row : {0, 3, 4}) {
    const auto f = [row](const Tensor& x) { return rc::eye(5, 100)[row] * sin(x) + cos(x); };
    const auto open = [row](const Tensor& x) { return rc::eye(5, x.shape()[0])[row] * sin(x) + cos(x); };
    const Tensor x = rc::rand({100});
    for (const rc::Program& program : {rc::trace(f)(x), rc::trace(open)(x)})
      expect_close(with_kernels(program)({x}), program({x}));
  }
}

// The slice holds for no two or three lanes: it stands apart, the rest is expanded for them all the same.
TEST_F(LaneSteps, AFunctionThatSlicesFiftyElementsIsExpandedForFewerLanes) {
  const auto f = [](const Tensor& x, const Tensor& w) {
    const Tensor head = x.slice(0, 0, 50).sum(), tail = x.slice(0, -50, rc::none).sum();
    return tanh(w * x.unsqueeze(1) * head).sum(1) - tail * sin(x);
  };
  const rc::Program program = rc::trace(f)(rc::rand({100}), rc::rand({100, 3})), kernels = with_kernels(program);
  EXPECT_NE(to_string(kernels).find("lanes"), std::string::npos) << kernels;
  EXPECT_LT(kernels.equations(), 6U) << kernels;
  for (const std::int64_t n : {100, 50, 51, 200, 1000}) {
    const std::vector<Tensor> inputs = {rc::rand({n}) - 0.5, rc::rand({n, 3})};
    expect_close(kernels(inputs), program(inputs));
  }
  EXPECT_THROW(kernels({rc::rand({49}), rc::rand({49, 3})}), rc::ValueError);
}

TEST_F(LaneSteps, OperandsOfAnyLayoutAreRead) {
  const auto f = [](const Tensor& a, const Tensor& b) { return (a * b + 1).sum() * a[0]; };
  const Tensor x = rc::rand({3, 100}).mT(), y = rc::rand({1, 3}).expand({100, 3});
  const rc::Program program = rc::trace(rc::vmap(f))(x, y);
  const rc::Program kernels = with_kernels(program);
  EXPECT_EQ(kernels.equations(), 1U) << kernels;
  expect_close(kernels({x, y}), program({x, y}));
}

std::size_t kernels_in(const rc::Program& program) {
  std::size_t count = 0;
  const std::string text = to_string(program);
  for (std::size_t at = text.find("lanes["); at != std::string::npos; at = text.find("lanes[", at + 1)) ++count;
  return count;
}

// A layer: its bias has one open size, what is added to has two. Each example is walked, the features are lanes.
TEST_F(LaneSteps, OneOpenSizeMayBeWalkedAroundTheLanes) {
  const auto f = [](const Tensor& x, const Tensor& bias) {
    const Tensor y = x + bias;
    return exp(y - y.sum(1, true)) * bias;
  };
  const rc::Program program = rc::trace(f)(rc::rand({26, 33}), rc::rand({33})), kernels = with_kernels(program);
  EXPECT_EQ(kernels.equations(), 1U) << kernels;
  const std::vector<Tensor> wide = {rc::rand({20, 1000}), rc::rand({1000})};
  rc::Tensors found;
  EXPECT_TRUE(rc::compiled::OneKernel::of(kernels)->run(wide, found)) << "the equations ran";
  expect_close({found[0]}, program(wide));
  for (const auto& [examples, features] : {std::pair{26, 33}, {2, 5}, {100, 2}, {3, 1000}}) {
    const std::vector<Tensor> inputs = {rc::rand({examples, features}), rc::rand({features})};
    expect_close(kernels(inputs), program(inputs));
  }
  const std::vector<Tensor> many = {rc::rand({1000, 300}), rc::rand({300})};
  testing_support::expect_same_with_any_threads([&] { return kernels(many)[0].to_vector<float>(); }, "a layer");
}

// However few features there are: the lanes go through the examples, too.
TEST_F(LaneSteps, AKernelOfEachElementByItselfNeedsNoManyFeatures) {
  const auto f = [](const Tensor& x, const Tensor& scale) { return exp(sin(x * scale) * x) + tanh(x); };
  const rc::Program program = rc::trace(f)(rc::rand({26, 33}), rc::rand({})), kernels = with_kernels(program);
  EXPECT_EQ(kernels.equations(), 1U) << kernels;
  for (const auto& [examples, features] : {std::pair{26, 33}, {2, 5}, {100, 2}, {3, 1000}, {40, 17}}) {
    const std::vector<Tensor> inputs = {rc::rand({examples, features}), rc::rand({})};
    rc::Tensors found;
    EXPECT_TRUE(rc::compiled::OneKernel::of(kernels)->run(inputs, found)) << "the equations ran";
    expect_close({found[0]}, program(inputs));
  }
  const std::vector<Tensor> many = {rc::rand({1000, 300}), rc::rand({})};
  testing_support::expect_same_with_any_threads([&] { return kernels(many)[0].to_vector<float>(); }, "elements");
}

// The mean over examples joins them; it stands between the kernels before and behind it.
TEST_F(LaneSteps, WhatJoinsTheWalkedPositionsStandsBetweenKernels) {
  const auto f = [](const Tensor& x, const Tensor& bias) {
    const Tensor y = tanh(x + bias) * 2 - bias;
    return exp(y - y.mean(0)) * bias + y[0];
  };
  const rc::Program program = rc::trace(f)(rc::rand({26, 33}), rc::rand({33})), kernels = with_kernels(program);
  EXPECT_EQ(kernels_in(kernels), 2U) << kernels;
  for (const auto& [examples, features] : {std::pair{26, 33}, {2, 5}, {100, 2}, {3, 1000}}) {
    const std::vector<Tensor> inputs = {rc::rand({examples, features}), rc::rand({features})};
    expect_close(kernels(inputs), program(inputs));
  }
}

// A size of 0 is a number in the plan; the other two are open.
TEST_F(LaneSteps, AWalkedKernelMayHaveOperandsWithoutElements) {
  const auto f = rc::vmap([](const Tensor& row) { return exp(sin(row * 2) + row) - row; }, {.in_dims = 1});
  const auto fast = rc::compile(f);
  for (const auto& shape : {rc::Shape{0, 30, 40}, {30, 0, 40}, {30, 40, 0}, {20, 30, 40}, {0, 31, 41}}) {
    const Tensor x = rc::rand(shape);
    expect_close({fast(x)}, {f(x)});
  }
}

// The kernel looks at the first position alone, so what may throw at another one stands apart.
TEST_F(LaneSteps, WhatMayThrowIsNoPartOfAWalkedKernel) {
  const auto f = [](const Tensor& a, const Tensor& x) { return exp(cholesky(a * 2).sum() * x) * 2 + x; };
  const auto mapped = rc::vmap(rc::vmap(f));
  const Tensor a = rc::eye(2).expand({20, 33, 2, 2}).contiguous(), x = rc::rand({20, 33});
  const rc::Program program = rc::trace(mapped)(a, x), kernels = with_kernels(program);
  expect_close(kernels({a, x}), program({a, x}));
  a[19].select(0, 32).fill_(-1);
  EXPECT_THROW(kernels({a, x}), rc::ValueError);
}

TEST_F(LaneSteps, ErrorsOfValuesAreThoseOfTheOperation) {
  const auto f = [](const Tensor& a) { return cholesky(a * 2).sum(); };
  const Tensor a = rc::eye(3).expand({20, 3, 3}).contiguous();
  const rc::Program program = rc::trace(rc::vmap(f))(a), kernels = with_kernels(program);
  expect_close(kernels({a}), program({a}));
  a[13].select(0, 2).fill_(-1);
  try {
    kernels({a});
    ADD_FAILURE() << "threw nothing";
  } catch (const rc::ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("is not positive definite"), std::string::npos) << error.what();
  }
}

// The number of examples may be an index, too: the 10 in x[10] is not the number of ten examples.
TEST_F(LaneSteps, ANumberOfExamplesMayBeAnIndexToo) {
  const auto f = [](const Tensor& x) { return rc::cat({x.slice(0, 9, 14) * x[10], sin(x[9] + x.slice(0, 10, 13))}); };
  for (const std::int64_t examples : {9, 10, 11, 13, 14}) {
    const Tensor x = rc::linspace(-1, 2, examples * 15, rc::float64).reshape({examples, 15});
    const auto fast = rc::compile(rc::vmap(f));
    for (int call = 0; call < 2; ++call) testing_support::expect_equal(fast(x), rc::vmap(f)(x));
    EXPECT_EQ(fast.plan(x).steps(), 1U) << examples << " examples: " << fast.plan(x);
  }
}

// The size is s0 in `before` and 100 behind the slices.
TEST_F(LaneSteps, ASizeThatIsFixedAfterItsUseIsThatNumberThroughout) {
  const auto f = [](const Tensor& x) {
    const Tensor before = sin(x), rolled = rc::cat({x.slice(0, 1, 100), x.slice(0, 0, 1)}, 0);
    return x.size(0) == 100 ? before * rolled + x : x;
  };
  const Tensor x = rc::linspace(-1, 2, 100, rc::float64);
  const auto fast = rc::compile(f);
  testing_support::expect_equal(fast(x), f(x));
  EXPECT_EQ(fast.plan(x).steps(), 4U) << fast.plan(x);  // two slices, cat, one kernel
  testing_support::expect_equal(fast(rc::ones({101}, rc::float64)), rc::ones({101}, rc::float64));
}

// [205] is the argument's size alone. The first 40 rows of [41,5] are no lanes of a value that all lanes share.
TEST_F(LaneSteps, LanesLieAlongWhatIsComputedWhereAnArgumentHasMoreElements) {
  const auto f = [](const Tensor& x) {
    const Tensor rows = x.view({41, 5});
    const Tensor now = rows.slice(0, 0, 40).select(1, 0), next = rows.slice(0, 1, 41).select(1, 3);
    return sin(now * next) / (1 + now * now) - cos(next);
  };
  const Tensor x = rc::linspace(-1, 2, 205, rc::float64);
  const auto fast = rc::compile(f);
  testing_support::expect_close(fast(x), f(x), 1e-14);
  EXPECT_EQ(fast.plan(x).steps(), 4U) << fast.plan(x);  // reshape, two slices, one kernel
}

// A table of 256 that is read at a place has no lanes: the kernel is given their number where it asks for it.
TEST_F(LaneSteps, ATableThatIsReadAtAPlaceIsInOneLane) {
  const auto f = [](const Tensor& table, const Tensor& x) {
    const Tensor i = (x * static_cast<double>(table.size(0) - 1)).to(rc::int64);
    return table.index({i}) * (x - 0.5) + table.index({i - 1});
  };
  const Tensor table = sin(rc::arange(256).to(rc::float64)), x = rc::full({}, 0.3, rc::float64);
  const rc::Program program = rc::trace(f)(table, x), kernels = with_kernels(program);
  expect_close(kernels({table, x}), program({table, x}));
  ASSERT_EQ(kernels.equations(), 1U) << kernels;
  const auto along = rc::compiled::kernel_along(kernels.body().equations[0]);
  ASSERT_TRUE(along);
  EXPECT_FALSE(along->lanes.is_given()) << kernels;
}

}  // namespace
