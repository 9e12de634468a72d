// Functions with rules of their own under every transform, every pair and every triple of them, against the closed
// derivatives of what they compute: once with a written vmap rule, once with a generated one.
#include <cmath>
#include <vector>

#include "support/chain.h"
#include "support/functions.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Formula cube(const std::string& name, Elementwise f) {
  return {name, std::move(f), [](double x, int k) {
            double factor = 1;
            for (int i = 0; i < k; ++i) factor *= 3 - i;
            return k > 3 ? 0.0 : factor * std::pow(x, 3 - k);
          }};
}

Formula sine(const std::string& name, Elementwise f) {
  return {name, std::move(f), [](double x, int k) { return std::sin(x + k * std::acos(0.0)); }};
}

/// sin by its forward rule alone.
Tensor sine_by_jvp(const Tensor& x) {
  const auto rule = [](std::tuple<Tensor> primals, std::tuple<Tensor> tangents) {
    const Tensor a = std::get<0>(primals);
    return std::pair{sin(a), cos(a) * std::get<0>(tangents)};
  };
  return rc::custom_jvp([](Tensor a) { return sin(a); }, rule)(x);
}

std::vector<Formula> functions() {
  return {cube("generated cube", generated_cube), cube("written cube", written_cube), sine("custom_jvp", sine_by_jvp),
          sine("checkpoint", [](Tensor x) { return rc::checkpoint([](Tensor a) { return sin(a); })(x); })};
}

TEST(FunctionComposition, EveryTransform) {
  const std::vector<Transform> all = all_transforms();
  for (const Formula& f : functions())
    for (const Transform& transform : all) expect_chain({&transform}, f, ramp({2, 3}));
}

TEST(FunctionComposition, EveryPairOfTransforms) {
  const std::vector<Transform> all = all_transforms();
  for (const Formula& f : functions())
    for (const Transform& outer : all)
      for (const Transform& inner : all) expect_chain({&outer, &inner}, f, ramp({2, 2}));
}

TEST(FunctionComposition, EveryTripleOfSixTransforms) {
  const std::vector<Transform> six = six_transforms();
  for (const Formula& f : functions())
    for (const Transform& outer : six)
      for (const Transform& middle : six)
        for (const Transform& inner : six) expect_chain({&outer, &middle, &inner}, f, ramp({2}));
}

TEST(FunctionComposition, MapsBetweenMapsAndDerivatives) {
  const Transform map = vmap_transform(), vjp = vjp_transform(), jvp = jvp_transform();
  for (const Formula& f : functions()) {
    const Tensor x = ramp({2, 3, 2});
    expect_chain({&map, &vjp, &map}, f, x);
    expect_chain({&vjp, &map, &map}, f, x);
    expect_chain({&vjp, &vjp, &map}, f, x);
    expect_chain({&jvp, &map, &map}, f, x);
    expect_chain({&map, &jvp, &map}, f, x);
    expect_chain({&jvp, &jvp, &map}, f, x);
    expect_chain({&jvp, &vjp, &map}, f, x);
    expect_chain({&map, &map, &vjp}, f, x);
  }
}

TEST(FunctionComposition, RecordedProgramsHoldTheFunctionAndStayTransformable) {
  for (const auto& [name, f] : {std::pair{"GeneratedCube", &generated_cube}, std::pair{"WrittenCube", &written_cube}}) {
    const rc::Program program = rc::trace(f)(ramp({3}));
    EXPECT_NE(to_string(program).find("custom[function=" + std::string(name) + ", value="), std::string::npos);
    const auto run = [&](Tensor x) { return program({x})[0]; };
    const Tensor x = ramp({3}) - 1;
    expect_close(rc::grad([&](Tensor a) { return run(a).sum(); })(x), 3 * x * x);
    expect_close(std::get<1>(rc::jvp(run, x, rc::ones_like(x))), 3 * x * x);
  }
}

TEST(FunctionComposition, ProgramsRecordedUnderTransformsRunForOtherSizes) {
  for (const auto& f : {&generated_cube, &written_cube}) {
    const rc::Program gradients = rc::trace(rc::vmap(rc::grad(f)))(ramp({3}));
    const Tensor x = ramp({5}) - 1;
    expect_close(gradients({x})[0], 3 * x * x);
    const rc::Program mapped = rc::trace(rc::vmap(f))(ramp({3, 2}));
    expect_close(rc::grad([&](Tensor a) { return mapped({a})[0].sum(); })(ramp({4, 2})), 3 * ramp({4, 2}).square());
  }
}

}  // namespace
