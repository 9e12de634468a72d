// What every transform promises of a function: it runs once, its results leave by the return value, and a value that
// left another way is stale.
#include <sstream>
#include <vector>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

std::string printed(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  return out.str();
}

TEST(PureFunctions, VmapRunsTheFunctionOnce) {
  int runs = 0;
  const auto f = [&](Tensor x) {
    ++runs;
    return x.sum(0);
  };
  rc::vmap(f)(ramp({64, 3}));
  EXPECT_EQ(runs, 1);
}

TEST(PureFunctions, VmapPopsOneElementFromACapturedList) {
  std::vector<int> list = {0, 1, 2, 3};
  std::ostringstream out;
  const auto f = [&](Tensor x) {
    list.pop_back();
    out << "hello!";
    return x.sum(0);
  };
  const Tensor x = ramp({3, 1});
  expect_close(rc::vmap(f)(x), x.squeeze(1));
  EXPECT_EQ(list, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(out.str(), "hello!");
}

TEST(PureFunctions, GradRunsTheFunctionOnce) {
  int runs = 0;
  const auto f = [&](Tensor x) {
    ++runs;
    return (x * x).sum();
  };
  rc::grad(f)(ramp({5}));
  EXPECT_EQ(runs, 1);
}

TEST(PureFunctions, VmapOfGradRunsTheFunctionOnce) {
  int runs = 0;
  const auto f = [&](Tensor x) {
    ++runs;
    return (x * x).sum();
  };
  rc::vmap(rc::grad(f))(ramp({7, 5}));
  EXPECT_EQ(runs, 1);
}

TEST(PureFunctions, AValueThatLeftVmapIsAnErrorWhereItIsUsed) {
  Tensor escaped;
  const auto f = [&](Tensor x) {
    escaped = x.sin();
    return escaped.sin();
  };
  rc::vmap(f)(ramp({3}));
  EXPECT_THROW(escaped + 1, rc::TransformError);
  EXPECT_THROW(escaped.sum(), rc::TransformError);
  EXPECT_FALSE(rc::inside_transform());
}

TEST(PureFunctions, PrintingAStaleValueSaysStale) {
  Tensor escaped;
  const auto f = [&](Tensor x) {
    escaped = x.sin();
    return escaped;
  };
  rc::vmap(f)(ramp({3}));
  EXPECT_NE(printed(escaped).find("stale"), std::string::npos) << printed(escaped);
}

TEST(PureFunctions, PrintingABatchedValueNamesItsVmap) {
  std::string text;
  const auto f = [&](Tensor x) {
    text = printed(x);
    return x;
  };
  rc::vmap(f)(ramp({3, 2}));
  EXPECT_NE(text.find("vmap"), std::string::npos) << text;
}

TEST(PureFunctions, PrintingACapturedTensorInsideATransformShowsItsValues) {
  const Tensor captured = rc::tensor({12.5, 3.5});
  std::string text;
  const auto f = [&](Tensor x) {
    text = printed(captured);
    return x.sum();
  };
  rc::grad(f)(ramp({2}));
  EXPECT_NE(text.find("12.5"), std::string::npos) << text;
}

TEST(PureFunctions, AValueThatLeftAnInnerVmapIsStaleInTheOuterOne) {
  const auto outer = [](Tensor row) {
    Tensor escaped;
    const auto inner = [&](Tensor x) {
      escaped = x * 2;
      return x;
    };
    rc::vmap(inner)(row);
    return escaped + 1;
  };
  EXPECT_THROW(rc::vmap(outer)(ramp({3, 2})), rc::TransformError);
  EXPECT_FALSE(rc::inside_transform());
}

TEST(PureFunctions, AValueThatLeftGradCanBeReadButHasNoDerivative) {
  Tensor escaped;
  const auto f = [&](Tensor x) {
    escaped = x * x;
    return escaped.sum();
  };
  rc::grad(f)(doubles({2, 3}));
  expect_values(escaped, {4, 9});
  const auto g = [&](Tensor x) { return (escaped * x).sum(); };
  expect_values(rc::grad(g)(doubles({1, 1})), {4, 9});
}

TEST(PureFunctions, AuxIsTheWayOutForAnIntermediate) {
  const auto f = [](Tensor x) {
    Tensor intermediate = x.sin();
    return std::pair{intermediate.sin(), intermediate};
  };
  const auto [gradient, intermediate] = rc::grad(f, rc::has_aux)(number(0.7));
  expect_values(intermediate, {std::sin(0.7)});
  expect_values(gradient, {std::cos(std::sin(0.7)) * std::cos(0.7)});
  expect_values(intermediate + 1, {std::sin(0.7) + 1});
}

TEST(PureFunctions, VmapReturnsAnIntermediateAsASecondResult) {
  const auto f = [](Tensor x) {
    Tensor intermediate = x.sin();
    return std::tuple{intermediate.sin(), intermediate};
  };
  const Tensor x = ramp({4});
  const auto [y, intermediate] = rc::vmap(f)(x);
  expect_close(intermediate, sin(x));
  expect_close(y, sin(sin(x)));
}

TEST(PureFunctions, AnExceptionOfTheUserLeavesNoTransformBehind) {
  const auto f = [](Tensor x) -> Tensor {
    if (x.dim() == 1) throw std::logic_error("mine");
    return x.sum();
  };
  EXPECT_THROW(rc::vmap(rc::grad(f))(ramp({3, 2})), std::logic_error);
  EXPECT_FALSE(rc::inside_transform());
  expect_values(rc::grad([](Tensor x) { return (x * x).sum(); })(doubles({3})), {6});
}

TEST(PureFunctions, AnExceptionCaughtInsideLeavesTheOuterTransformWorking) {
  const auto f = [](Tensor x) {
    try {
      rc::vmap([](Tensor y) { return rc::matmul(y, y); })(x);
    } catch (const rc::Error&) {}
    return (x * x).sum();
  };
  expect_values(rc::grad(f)(doubles({3, 4})), {6, 8});
}

TEST(PureFunctions, InsideTransformSaysWhetherOneIsActive) {
  EXPECT_FALSE(rc::inside_transform());
  bool in_vmap = false, in_grad = false;
  rc::vmap([&](Tensor x) {
    in_vmap = rc::inside_transform();
    return x;
  })(ramp({2}));
  rc::grad([&](Tensor x) {
    in_grad = rc::inside_transform();
    return x.sum();
  })(ramp({2}));
  EXPECT_TRUE(in_vmap);
  EXPECT_TRUE(in_grad);
  EXPECT_FALSE(rc::inside_transform());
}

}  // namespace
