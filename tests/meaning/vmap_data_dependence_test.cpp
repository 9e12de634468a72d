// What depends on the values of examples cannot steer the program under vmap; what does not, can. Derivative transforms
// have no such limit.
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(DataDependence, AnIfOnAMappedValueIsAnErrorThatNamesTheAlternatives) {
  const auto relu = [](Tensor x) {
    if (x > 0) return x;
    return x * 0;
  };
  try {
    rc::vmap(relu)(ramp({3}));
    FAIL();
  } catch (const rc::TransformError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("where"), std::string::npos) << text;
    EXPECT_NE(text.find("cond"), std::string::npos) << text;
    EXPECT_NE(text.find("Lanes::split"), std::string::npos) << text;
  }
  EXPECT_FALSE(rc::inside_transform());
}

TEST(DataDependence, WhereIsTheRewriteOfSuchAnIf) {
  const Tensor x = doubles({-1, 2, -3});
  expect_values(rc::vmap([](Tensor a) { return rc::where(a > 0, a, 0.0); })(x), {0, 2, 0});
}

TEST(DataDependence, ItemOfAMappedValueIsAnError) {
  EXPECT_THROW(rc::vmap([](Tensor x) { return x * x.item<double>(); })(ramp({3})), rc::TransformError);
}

TEST(DataDependence, ItemOfASharedValueWorks) {
  const Tensor scale = number(3);
  const auto f = [&](Tensor x, Tensor shared) { return x * scale.item<double>() + shared.item<double>(); };
  expect_close(rc::vmap(f, {.in_dims = {0, rc::none}})(ramp({3}), number(2)), ramp({3}) * 3 + 2);
}

TEST(DataDependence, AnIfOnASharedValueWorks) {
  const auto f = [](Tensor x, Tensor flag) {
    if (flag > 0) return x * 2;
    return x;
  };
  const auto mapped = rc::vmap(f, {.in_dims = {0, rc::none}});
  expect_close(mapped(ramp({3}), number(1)), ramp({3}) * 2);
  expect_close(mapped(ramp({3}), number(-1)), ramp({3}));
}

TEST(DataDependence, AValueSharedByTheInnerVmapButMappedByTheOuterIsStillAnError) {
  const auto outer = [](Tensor row, Tensor flag) {
    return rc::vmap([&](Tensor x) {
      if (flag > 0) return x;
      return x * 2;
    })(row);
  };
  EXPECT_THROW(rc::vmap(outer)(ramp({2, 3}), ramp({2})), rc::TransformError);
}

TEST(DataDependence, ToVectorOfAMappedValueIsAnError) {
  EXPECT_THROW(rc::vmap([](Tensor x) { return x * x.to_vector<double>()[0]; })(ramp({3, 2})), rc::TransformError);
}

TEST(DataDependence, ShapesThatDependOnValuesAreErrors) {
  const Tensor xs = rc::tensor({{0., 1., 2.}, {0., 0., 3.}});
  EXPECT_THROW(rc::vmap([](Tensor x) { return rc::nonzero(x); })(xs), rc::TransformError);
  EXPECT_THROW(rc::vmap([](Tensor x) { return rc::masked_select(x, x > 0); })(xs), rc::TransformError);
  EXPECT_THROW(rc::vmap([](Tensor x) { return Tensor(x.index({x > 0})); })(xs), rc::TransformError);
}

TEST(DataDependence, ShapesThatDependOnSharedValuesWork) {
  const Tensor mask = rc::tensor({1., 0., 2.}) > 0;
  const auto f = [&](Tensor x) { return x.sum() + rc::masked_select(doubles({1, 2, 3}), mask); };
  expect_values(rc::vmap(f)(doubles({10, 20})), {11, 13, 21, 23});
}

TEST(DataDependence, EqualAndAllcloseOfMappedValuesAreErrors) {
  EXPECT_THROW(rc::vmap([](Tensor x) { return rc::equal(x, x) ? x : x * 2; })(ramp({3})), rc::TransformError);
  EXPECT_THROW(rc::vmap([](Tensor x) { return rc::allclose(x, x) ? x : x * 2; })(ramp({3})), rc::TransformError);
}

TEST(DataDependence, GradMayBranchOnValues) {
  const auto f = [](Tensor x) {
    if (x > 0) return x * x;
    return -x;
  };
  expect_values(rc::grad(f)(number(3)), {6});
  expect_values(rc::grad(f)(number(-3)), {-1});
}

TEST(DataDependence, ItemUnderGradIsAConstant) {
  const auto f = [](Tensor x) { return x * x.item<double>(); };
  expect_values(rc::grad(f)(number(3)), {3});
}

TEST(DataDependence, JvpAndVjpMayBranchOnValues) {
  const auto f = [](Tensor x) {
    if (x.sum() > 1) return sin(x);
    return cos(x);
  };
  const Tensor x = doubles({0.7, 0.8});
  expect_close(std::get<1>(rc::jvp(f, x, rc::ones_like(x))), cos(x));
  auto [y, pullback] = rc::vjp(f, x);
  expect_close(pullback(rc::ones_like(x)), cos(x));
}

TEST(DataDependence, NonzeroUnderGradWorks) {
  const auto f = [](Tensor x) {
    const Tensor where = rc::nonzero(x).squeeze(1);
    return rc::index_select(x, 0, where).square().sum();
  };
  expect_values(rc::grad(f)(doubles({0, 2, 0, 3})), {0, 4, 0, 6});
}

TEST(DataDependence, ALoopThatRunsUntilAValueConvergesWorksUnderGrad) {
  const auto root = [](Tensor a) {  // Heron's iteration for the square root
    Tensor x = a;
    while ((x * x - a).abs().item<double>() > 1e-13) x = (x + a / x) * 0.5;
    return x;
  };
  expect_values(rc::grad(root)(number(2)), {0.5 / std::sqrt(2.0)}, 1e-9);
}

}  // namespace
