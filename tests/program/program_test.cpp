// Recording, printing, checking, reading back and running programs.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <sstream>

namespace rc = ricci;
using rc::Tensor;

namespace {

Tensor layer(const Tensor& x, const Tensor& w) { return tanh(matmul(x, w)).sum(); }

TEST(Program, PrintsOneEquationALineWithNamesAndTypes) {
  const rc::Program p =
      rc::trace([](const Tensor& x, const Tensor& w) { return layer(x, w); })(rc::ones({2, 3}), rc::ones({3, 4}));
  EXPECT_EQ(p.equations(), 3U);
  std::ostringstream text;
  text << p;
  EXPECT_NE(text.str().find("= matmul"), std::string::npos) << p;
  EXPECT_NE(text.str().find("= tanh c"), std::string::npos) << p;
}

TEST(Program, OneServesAllSizes) {
  const rc::Program p =
      rc::trace([](const Tensor& x, const Tensor& w) { return layer(x, w); })(rc::ones({2, 3}), rc::ones({3, 4}));
  const Tensor x = rc::randn({5, 7}), w = rc::randn({7, 6});
  EXPECT_FLOAT_EQ(p({x, w})[0].item<float>(), layer(x, w).item<float>());
}

TEST(Program, AHostProgramThatLooksAtASizeLeavesAGuard) {
  const auto f = [](const Tensor& x) { return x.size(0) > 2 ? x.sum() : x.prod(); };
  const rc::Program p = rc::trace(f)(rc::ones({3}));
  EXPECT_FLOAT_EQ(p({2 * rc::ones({3})})[0].item<float>(), 6);
  EXPECT_THROW(p({rc::ones({2})}), rc::ValueError);
}

TEST(Program, CapturedTensorsAreInputsAndNeverFrozen) {
  const Tensor scale = rc::tensor({2.0});
  const rc::Program p = rc::trace([&](const Tensor& x) { return x * scale; })(rc::ones({3}));
  EXPECT_NE(rc::to_string(p).find("; b: f32[1]"), std::string::npos) << p;
}

TEST(Program, EquationsThatNoOutputNeedsAreLeftOut) {
  const rc::Program p = rc::trace([](const Tensor& x) {
    const Tensor unused = exp(x);
    return sin(x);
  })(rc::ones({3}));
  EXPECT_EQ(p.equations(), 1U);
}

TEST(Program, ReadBackPrintsTheSame) {
  const auto f = [](const Tensor& x) { return x.reshape({6}).slice(0, 1, 5, 2).sum(0, true) * 2.5; };
  auto [out, tangents] = rc::linearize(f, rc::randn({2, 3}));
  const rc::Program p = rc::trace(f)(rc::ones({2, 3}));
  rc::check(p);
}

TEST(Program, ReadingAValueWhileRecordingIsAnErrorWithTheRemedy) {
  EXPECT_THROW(rc::trace([](const Tensor& x) { return x.sum().item() > 0 ? x : -x; })(rc::ones({3})), rc::Error);
  EXPECT_FALSE(rc::inside_transform());
}

TEST(Program, TransformsInsideARecordedFunctionLeaveOnlyPlainEquations) {
  const auto f = [](const Tensor& x) { return rc::vmap(rc::grad([](const Tensor& y) { return (y * y).sum(); }))(x); };
  const rc::Program p = rc::trace(f)(rc::ones({4, 3}));
  const Tensor x = rc::randn({4, 3});
  EXPECT_TRUE(rc::allclose(p({x})[0], 2 * x));
}

TEST(Program, DetachCutsTheInnermostDerivativeOfWhereItIsReplayed) {
  const rc::Program p = rc::trace([](const Tensor& x) { return x * x.detach(); })(rc::ones({}));
  const auto replayed = [&](const Tensor& x) { return p({x})[0]; };
  const Tensor y = rc::tensor(3.0);
  EXPECT_EQ(rc::grad(replayed)(y).item(), 3);
  // The inner derivative of x * detach(x) is detach(x), of which the outer level keeps the derivative.
  EXPECT_EQ(rc::grad(rc::grad(replayed))(y).item(),
            rc::grad(rc::grad([](Tensor a) { return a * a.detach(); }))(y).item());
  EXPECT_EQ(rc::grad(rc::grad(replayed))(y).item(), 1);
}

TEST(Program, ThatPutsThroughAnOperationWhichIsNoViewIsRefused) {
  const std::string text = "program(a: f32[3], b: f32[3]) {\n  c: f32[3] = put[view=sin[]] a b\n  return c\n}\n";
  EXPECT_THROW(rc::parse_program(text, {}), rc::ValueError);
}

TEST(Program, ThatGivesAnOperationAnotherNumberOfOperandsIsRefused) {
  const rc::Program p = rc::parse_program("program(a: f32[3]) {\n  b: f32[3] = mul a\n  return b\n}\n", {});
  EXPECT_THROW(rc::check(p), rc::ValueError);
  EXPECT_THROW(p({rc::ones({3})}), rc::ValueError);
}

}  // namespace
