// Kernels for the sizes of a call: small sizes above 16 cost no more an element than those of at most 16.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <sstream>
#include <string>
#include <vector>

#include "support/expect_tensor.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

class KnownSizes : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
    rc::manual_seed(1);
  }
};

Tensor of_softmax(const Tensor& x) { return (softmax(x, 0) * x).sum(); }
Tensor of_norm(const Tensor& x) { return (x * x / sqrt((x * x).mean() + 1e-5)).sum(); }
/// Where the hand of an arm is whose joints turn in a plane.
Tensor hand(const Tensor& joints) {
  const Tensor angles = cumsum(joints, 0);
  return rc::stack({cos(angles).sum(), sin(angles).sum()});
}

template <class F>
std::string text_of(const F& f) {
  std::ostringstream out;
  out << f;
  return out.str();
}

/// f compiled, after three calls that gave what f gives.
template <class F>
auto tried(const F& f, const Tensor& x, const rc::CompileOptions& options = {}) {
  auto fast = rc::compile(f, options);
  for (int i = 0; i < 3; ++i) expect_close(fast(x), f(x), 1e-5);
  return fast;
}

TEST_F(KnownSizes, RowsAboveSixteenAreOneKernelAsRowsOfSixteenAre) {
  const auto expect_one_kernel = [](const auto& f, std::int64_t lanes, std::int64_t n) {
    SCOPED_TRACE(std::to_string(lanes) + " x " + std::to_string(n));
    const Tensor x = rc::randn({lanes, n});
    const auto fast = tried(f, x);
    EXPECT_EQ(fast.plan(x).steps(), 1U) << fast.plan(x);
    EXPECT_EQ(fast.plans(), 1U);
  };
  for (const std::int64_t n : {15, 16, 17, 18, 31, 32, 33, 64, 65, 100})
    for (const std::int64_t lanes : {17, 100, 512}) {
      expect_one_kernel(rc::vmap(rc::grad(of_softmax)), lanes, n);
      expect_one_kernel(rc::vmap(rc::grad(of_norm)), lanes, n);
    }
  for (const std::int64_t n : {16, 17, 40, 64}) expect_one_kernel(rc::vmap(rc::jacrev(hand)), 512, n);
}

/// Rows of examples, normalised as users write it.
Tensor normalised(const Tensor& x) {
  const Tensor centred = x - x.mean({-1}, true);
  return centred / sqrt(square(centred).mean({-1}, true) + 1e-5);
}

TEST_F(KnownSizes, RowsTooShortForAWalkedKernelAreExamplesInLanes) {
  const auto fast = rc::compile([](const Tensor& x) { return normalised(x); });
  for (const std::int64_t n : {300, 24, 40, 64}) {
    const Tensor x = rc::randn({64, n});
    for (int i = 0; i < 3; ++i) expect_close(fast(x), normalised(x), 1e-5);
    const std::string text = text_of(fast.plan(x));
    const bool is_of_these_sizes = text.find("f32[64," + std::to_string(n) + "] = lanes") != std::string::npos;
    EXPECT_TRUE(is_of_these_sizes || n == 300) << text;
  }
}

/// Of the kernel that is the whole plan.
std::string operations(const rc::Plan& plan) {
  const std::string text = text_of(plan);
  const std::size_t begin = text.find("lanes[steps="), end = text.find(']', begin);
  return begin == std::string::npos ? "no kernel" : text.substr(begin, end - begin);
}

TEST_F(KnownSizes, EightExamplesOrMoreAreLanes) {
  const auto expect_lanes = [](const auto& f, const Tensor& few, const Tensor& many) {
    const auto of_few = rc::compile(f), of_many = rc::compile(f);
    for (int i = 0; i < 2; ++i) expect_close(of_few(few), f(few), 1e-5);
    of_many(many);
    EXPECT_EQ(operations(of_few.plan(few)), operations(of_many.plan(many)));
  };
  const auto in_float = rc::vmap(rc::grad(of_softmax));
  const auto in_double = rc::vmap(rc::hessian(of_norm));
  for (const std::int64_t n : {8, 9, 15, 16}) {
    expect_lanes(in_float, rc::randn({n, 3}), rc::randn({100, 3}));
    expect_lanes(in_double, rc::randn({n, 3}, rc::float64), rc::randn({100, 3}, rc::float64));
  }
}

TEST_F(KnownSizes, AsManyExamplesAsElementsAreTakenApart) {
  const Tensor x = rc::randn({16, 16});
  const auto f = rc::vmap(rc::grad(of_softmax));
  const auto fast = tried(f, x);
  EXPECT_EQ(fast.plan(x).steps(), 1U);
}

TEST_F(KnownSizes, EachSizeKeepsItsBitsHoweverOftenItIsCalled) {
  const auto fast = rc::compile(rc::vmap(rc::grad(of_norm)));
  std::vector<Tensor> inputs, first;
  for (std::int64_t n = 17; n < 37; ++n) inputs.push_back(rc::randn({100, n}));
  for (const Tensor& x : inputs) first.push_back(fast(x));
  for (int round = 0; round < 5; ++round)
    for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_TRUE(rc::equal(fast(inputs[i]), first[i])) << i;
  EXPECT_EQ(fast.plans(), 1U);
}

TEST_F(KnownSizes, TheFirstEightThatComeHaveKernelsOfTheirOwn) {
  const auto fast = rc::compile(rc::vmap(rc::grad(of_softmax)));
  for (std::int64_t n = 20; n < 40; ++n) {
    const Tensor x = rc::randn({100, n});
    fast(x);
    EXPECT_EQ(fast.plan(x).steps() == 1, n < 28) << n;
  }
}

TEST_F(KnownSizes, RowsAboveWhatAKernelHoldsStayStepsOfTheirOwn) {
  const Tensor x = rc::randn({20, 300});
  const auto f = rc::vmap(rc::grad(of_softmax));
  const auto fast = tried(f, x);
  EXPECT_GT(fast.plan(x).steps(), 1U);
}

TEST_F(KnownSizes, AreThoseOfTheCallInWhatItExplains) {
  const Tensor x = rc::randn({100, 20});
  const auto fast = rc::compile(rc::vmap(rc::grad(of_softmax)));
  fast(x);
  EXPECT_EQ(text_of(fast.explain(x)).find("softmax"), std::string::npos) << fast.explain(x);
}

TEST_F(KnownSizes, SquareInputsHaveLanesAlongOneOfTheirAxes) {
  for (const std::int64_t n : {17, 20, 64}) {
    const Tensor x = rc::randn({n, n});
    const auto f = rc::vmap(rc::grad(of_softmax));
    const auto fast = tried(f, x);
    EXPECT_EQ(fast.plan(x).steps(), 1U) << fast.plan(x);
  }
}

TEST_F(KnownSizes, ABodyOfALoopReducesItsRowsInItsKernel) {
  const auto f = [](const Tensor& x) {
    return rc::fori_loop(
        0, 4,
        [](const Tensor&, const Tensor& s) {
          return rc::vmap([](const Tensor& row) { return softmax(row, 0); })(s * 2);
        },
        x);
  };
  for (const std::int64_t n : {16, 17, 40}) {
    const Tensor x = rc::randn({100, n});
    const auto fast = tried(f, x);
    EXPECT_EQ(text_of(fast.plan(x)).find("softmax"), std::string::npos) << fast.plan(x);
  }
}

TEST_F(KnownSizes, ALaterSizeOfOneAxisIsServedToo) {
  const auto f = rc::vmap(rc::grad(of_softmax));
  const auto fast = rc::compile(f);
  for (const std::int64_t n : {12, 13, 20, 12, 13, 20, 5, 2}) {
    const Tensor x = rc::randn({64, n});
    for (int i = 0; i < 2; ++i) expect_close(fast(x), f(x), 1e-5);
  }
  EXPECT_LE(fast.plans(), 2U);
}

TEST_F(KnownSizes, AreNotSoughtWhereANumberHasNoElement) {
  const auto f = [](const Tensor& x) {
    return rc::real(x * rc::complex(rc::tensor(0.), rc::tensor(1.))) + softmax(rc::real(x), 1) * x.shape()[0];
  };
  const Tensor x = rc::complex(rc::randn({30, 20}), rc::randn({30, 20}));
  tried(f, x);
  tried(f, x, {.background = true}).plan(x);
}

TEST_F(KnownSizes, ASizeThatACapturedTensorTellsIsNoNumberOfLanes) {
  for (const std::int64_t n : {17, 64, 65, 100, 256}) {
    const Tensor w = rc::randn({n}), x = rc::randn({n}), rows = rc::randn({20, n});
    const auto expect_same = [](const auto& f, const Tensor& at) {
      const auto fast = rc::compile(f);
      for (int i = 0; i < 3; ++i) expect_close(fast(at), f(at), 1e-4);
    };
    expect_same([w](const Tensor& v) { return (v * w).sum(); }, x);
    expect_same([w](const Tensor& v) { return (v + w).amax() * v; }, x);
    expect_same(rc::grad([w](const Tensor& v) { return (softmax(v, 0) * w).sum(); }), x);
    expect_same(rc::grad([n](const Tensor& v) { return (v * v * v.var() * rc::ones({n})).sum(); }), x);
    expect_same(rc::vmap(rc::grad([w](const Tensor& v) { return (layer_norm(v, w.shape()) * w).sum(); })), rows);
  }
}

TEST_F(KnownSizes, ALoopWithoutOperationsOfItsOwnIsCompiled) {
  const auto f = rc::vmap([](const Tensor& flag) {
    return rc::while_loop([](const Tensor& s) { return s; }, [](const Tensor& s) { return s; }, flag);
  });
  const Tensor flags = rc::zeros({100}, rc::boolean);
  const auto fast = rc::compile(f);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(rc::any(fast(flags)).item<bool>());
}

}  // namespace
