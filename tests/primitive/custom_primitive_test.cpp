// Operations whose value is written in tensors: transparent ones, through which every transform must see and which a
// recorded program holds as one equation, and opaque ones with rules of their own.
#include <gtest/gtest.h>
#include <ricci/primitive.h>
#include <ricci/ricci.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/chain.h"
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// A parameter that is more than its text.
struct Function {
  std::shared_ptr<const std::function<Tensor(Tensor)>> f;
  void print_parameter(std::string& out) const { out += "function"; }
  bool operator==(const Function&) const = default;
};

/// f applied to one input: transparent.
struct Called {
  using kind = rc::Custom;
  static constexpr const char* name = "called";
  Function function;
  rc::Tensors call(std::span<const Tensor> inputs) const { return {(*function.f)(inputs[0])}; }
};

std::function<Tensor(Tensor)> called(std::function<Tensor(Tensor)> f) {
  const Called op{{std::make_shared<const std::function<Tensor(Tensor)>>(std::move(f))}};
  return [op](Tensor x) { return rc::apply(op, x); };
}

/// sin with rules that count how often they run, and a derivative told apart from the true one by its factor.
struct Sine {
  using kind = rc::Custom;
  static constexpr const char* name = "opaque_sine";
  double factor = 1;
  static inline int times_kept = 0, times_called = 0;

  rc::Tensors call(std::span<const Tensor> inputs) const {
    ++times_called;
    return {sin(inputs[0])};
  }
  rc::Kept keep(std::span<const Tensor> inputs, const rc::Mask&) const {
    ++times_kept;
    return {.outputs = {rc::apply(*this, inputs[0])}, .residual = {{cos(inputs[0])}, nullptr}};
  }
  rc::Tensors vjp(const rc::Reverse& r) const { return {factor * r.residual->tensors[0] * r.cotangents[0]}; }
  rc::Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    return {{rc::apply(*this, inputs[0])}, {factor * cos(inputs[0]) * tangents[0]}};
  }
  rc::BatchedOutputs batch(const rc::Batch& b) const { return rc::batch_by_lifting({&rc::rules_of<Sine>, this}, b); }
};

Tensor opaque_sine(const Tensor& x) { return rc::apply(Sine{}, x); }

TEST(TransparentPrimitive, GivesEveryPairOfTransformsThePlainFunctionsResult) {
  const std::vector<Transform> all = all_transforms();
  for (Formula formula : all_formulas()) {
    formula.f = called(formula.f);
    for (const Transform& outer : all)
      for (const Transform& inner : all) expect_chain({&outer, &inner}, formula, ramp({2}));
  }
}

TEST(TransparentPrimitive, IsOneEquationOfAProgram) {
  const auto f = called([](Tensor x) { return sin(x) * x; });
  const rc::Program program = rc::trace(f)(ramp({3}));
  EXPECT_EQ(to_string(program), "program(a: f64[s0]) {\n  b: f64[s0] = called[function=function] a\n  return b\n}\n");
  expect_close(program({ramp({4})})[0], sin(ramp({4})) * ramp({4}));
}

TEST(TransparentPrimitive, IsWhatItCallsInsideARecordingUnderEveryTransformAndTwo) {
  const Formula formula = sine_times_square();
  const auto f = called(formula.f);
  const Tensor x = ramp({3}), y = ramp({3}) - 1;
  const std::vector<Transform> transforms = {vmap_transform(), grad_transform(), vjp_transform(), jvp_transform()};
  for (const Transform& outer : transforms)
    for (const Transform& inner : transforms) {
      SCOPED_TRACE(outer.name + "(" + inner.name + ")");
      const rc::Program program = rc::trace(outer.apply(inner.apply(f)))(x);
      EXPECT_EQ(to_string(program).find("called"), std::string::npos) << program;
      Values expected;
      for (double at : values(y)) expected.push_back(formula.derivative(at, outer.order + inner.order));
      expect_values(program({y})[0], expected);
    }
}

TEST(TransparentPrimitive, RecordedInsideATransformedProgramStaysDifferentiable) {
  const auto f = called([](Tensor x) { return x * x * x; });
  const rc::Program program = rc::trace(rc::vmap(f))(ramp({3}));
  const auto run = [&](Tensor x) { return program({x})[0].sum(); };
  expect_close(rc::grad(run)(ramp({3})), 3 * ramp({3}) * ramp({3}));
}

TEST(TransparentPrimitive, IsMappedInsideALinearFunction) {
  const auto twice = called([](Tensor x) { return 2 * x; });
  const auto f =
      rc::custom_jvp([](Tensor x) { return sin(x); },
                     [&](std::tuple<Tensor> x, std::tuple<Tensor> t) {
                       return std::pair{sin(std::get<0>(x)), cos(std::get<0>(x)) * twice(std::get<0>(t)) / 2};
                     });
  const auto [y, tangent_of] = rc::linearize(rc::vmap(f), ramp({3}));
  expect_close(y, sin(ramp({3})));
  expect_close(tangent_of(ramp({3})), cos(ramp({3})) * ramp({3}));
}

TEST(TransparentPrimitive, OfCapturedRecordedTensorsIsRefusedWhereItIsRecorded) {
  const auto f = [](Tensor x, Tensor y) { return called([y](Tensor a) { return a * y; })(x); };
  expect_error<rc::TransformError>([&] { rc::trace(f)(ramp({3}), ramp({3})); },
                                   "mul: an operand f64[3] was captured: it belongs to trace{at}, which does not "
                                   "reach into a custom function; pass it as an argument\n  inside trace{at}");
}

/// Draws, and has no operands.
struct Dice {
  using kind = rc::Custom;
  static constexpr const char* name = "dice";
  std::int64_t sides = 6;
  rc::Types type(const rc::Types&) const { return {{rc::float32, {2}}}; }
  rc::Tensors call(std::span<const Tensor>) const { return {rc::rand({2}) * static_cast<double>(sides)}; }
};

/// Its members have the names of rules that only the library's operations have.
struct Cube {
  using kind = rc::Custom;
  using elements = std::vector<double>;
  static constexpr const char* name = "cube";
  template <class T>
  auto element(const T& x) const {
    return x * x * x;
  }
  template <class T>
  auto roles(const T& x) const {
    return x.size();
  }
  template <class T>
  auto pruned(const T& x, const T& y) const {
    return x * y;
  }
  Tensor simpler(const Tensor& x) const { return x; }
  const char* structure() const { return name; }
  rc::Tensors call(std::span<const Tensor> inputs) const { return {element(inputs[0])}; }
};

TEST(TransparentPrimitive, MayHaveMembersOfAnyName) {
  const rc::Rules& rules = rc::rules_of<Cube>;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(rules.written));
  EXPECT_FALSE(rules.structure || rules.roles || rules.pruned || rules.simpler);
  const auto f = [](const Tensor& x) { return rc::apply(Cube{}, x); };
  const Tensor x = rc::tensor(2.0, rc::float64);
  expect_close(f(x), x * x * x);
  expect_close(rc::grad(f)(x), 3 * x * x);
}

TEST(TransparentPrimitive, WithoutOperandsDrawsInEveryFormWhatTheFunctionDraws) {
  const auto f = [](const Tensor& x) { return x * rc::apply(Dice{}, std::span<const Tensor>())[0]; };
  using Function = std::function<Tensor(const Tensor&)>;
  const auto seeded = [](const Function& g, const Tensor& x) {
    rc::manual_seed(3);
    const Tensor y = g(x);
    return rc::cat({y.flatten(), rc::rand({1})});
  };
  const Function in_loop = [=](const Tensor& x) {
    return rc::fori_loop(0, 3, [=](const Tensor&, const Tensor& y) { return f(y) + 1; }, x);
  };
  const Function computed_again = [=](const Tensor& x) { return sin(rc::checkpoint(f)(x)).sum(); };
  const auto mapped = [](const Function& g) { return rc::vmap(g, {.randomness = rc::Randomness::different}); };
  const Tensor x = rc::tensor({1., 2.}), rows = rc::stack({x, x + 1, x + 2});
  const std::vector<std::pair<Function, Tensor>> forms = {
      {f, x}, {in_loop, x}, {rc::grad(computed_again), x}, {mapped(f), rows}, {mapped(in_loop), rows}};
  for (const auto& [g, argument] : forms) {
    const Tensor expected = seeded(g, argument);
    const rc::Program program = rc::trace(g)(argument);
    EXPECT_TRUE(rc::equal(seeded([&](const Tensor& y) { return program({y})[0]; }, argument), expected)) << program;
    const Function fast = rc::compile(g);
    for (int call = 0; call < 3; ++call) EXPECT_TRUE(rc::equal(seeded(fast, argument), expected)) << call << program;
  }
  EXPECT_THROW(rc::trace(rc::vmap(f))(rows), rc::TransformError);
}

TEST(OpaquePrimitive, KeepsOnceAndComputesItsValueOnce) {
  Sine::times_kept = Sine::times_called = 0;
  expect_close(rc::grad([](Tensor x) { return opaque_sine(x).sum(); })(ramp({3})), cos(ramp({3})));
  EXPECT_EQ(Sine::times_kept, 1);
  EXPECT_EQ(Sine::times_called, 1);
}

TEST(OpaquePrimitive, UsesItsOwnRules) {
  const auto f = [](Tensor x) { return rc::apply(Sine{.factor = 5}, x); };
  const Tensor x = ramp({3});
  expect_close(rc::grad([&](Tensor a) { return f(a).sum(); })(x), 5 * cos(x));
  expect_close(std::get<1>(rc::jvp(f, x, rc::ones_like(x))), 5 * cos(x));
  expect_close(rc::vmap(rc::grad(f))(x), 5 * cos(x));
}

TEST(OpaquePrimitive, GivesEveryPairOfTransformsThePlainFunctionsResult) {
  const Formula formula{"sin", opaque_sine, [](double x, int k) { return std::sin(x + k * std::acos(0.0)); }};
  const std::vector<Transform> all = all_transforms();
  for (const Transform& outer : all)
    for (const Transform& inner : all) expect_chain({&outer, &inner}, formula, ramp({2, 2}));
}

TEST(OpaquePrimitive, GivesTriplesOfTransformsThePlainFunctionsResult) {
  const Formula formula{"sin", opaque_sine, [](double x, int k) { return std::sin(x + k * std::acos(0.0)); }};
  const std::vector<Transform> six = six_transforms();
  for (const Transform& outer : six)
    for (const Transform& middle : six)
      for (const Transform& inner : six) expect_chain({&outer, &middle, &inner}, formula, ramp({2}));
}

TEST(OpaquePrimitive, IsRecordedWithItsRulesUnderEveryTransform) {
  const auto f = [](Tensor x) { return rc::apply(Sine{.factor = 5}, x); };
  const Tensor x = ramp({3});
  const rc::Program value = rc::trace(f)(x);
  EXPECT_EQ(to_string(value), "program(a: f64[s0]) {\n  b: f64[s0] = opaque_sine[factor=5] a\n  return b\n}\n");
  const auto run = [&](Tensor a) { return value({a})[0].sum(); };
  expect_close(rc::grad(run)(x), 5 * cos(x));
  const rc::Program mapped = rc::trace(rc::vmap(rc::grad(f)))(x);
  expect_close(mapped({ramp({4})})[0], 5 * cos(ramp({4})));
}

TEST(OpaquePrimitive, SumsACotangentOfAnInputThatIsNotMapped) {
  const auto f = [](Tensor shared) {
    return rc::vmap([](Tensor a, Tensor row) { return opaque_sine(a) * row; }, {.in_dims = {rc::none, 0}})(shared,
                                                                                                           ramp({4, 3}))
        .sum();
  };
  const Tensor x = ramp({3});
  expect_close(rc::grad(f)(x), cos(x) * ramp({4, 3}).sum(0));
}

/// An explicit operation that keeps something for its derivative: the exponential of contiguous doubles.
struct Exponential {
  using kind = rc::Explicit;
  static constexpr const char* name = "explicit_exponential";
  static inline int times_kept = 0;
  rc::Type type(const rc::Type& x) const { return x; }
  void eval(rc::Outputs y, rc::Inputs x) const {
    std::int64_t count = 1;
    for (int axis = 0; axis < x[0].rank; ++axis) count *= x[0].shape[axis];
    for (std::int64_t i = 0; i < count; ++i)
      static_cast<double*>(y[0].data)[i] = std::exp(static_cast<const double*>(x[0].data)[i]);
  }
  rc::Kept keep(std::span<const Tensor> x, const rc::Mask&) const {
    ++times_kept;
    const Tensor y = rc::apply(*this, x[0]);
    return {.outputs = {y}, .residual = {{y}, nullptr}};
  }
  rc::Tensors vjp(const rc::Reverse& r) const { return {r.cotangents[0] * r.residual->tensors[0]}; }
  rc::Tensors jvp(const rc::Forward& f) const { return {f.tangent(0) * f.outputs[0]}; }
  Exponential lifted() const { return {}; }
};

TEST(ExplicitPrimitive, MayKeepWhatItsDerivativeNeeds) {
  Exponential::times_kept = 0;
  const auto f = [](Tensor x) { return rc::apply(Exponential{}, x); };
  const Tensor x = ramp({3});
  expect_close(rc::grad([&](Tensor a) { return f(a).sum(); })(x), exp(x));
  EXPECT_EQ(Exponential::times_kept, 1);
  expect_close(rc::vmap(rc::grad(rc::grad(f)))(x), exp(x));
  expect_close(std::get<1>(rc::jvp(rc::grad([&](Tensor a) { return f(a).sum(); }), x, rc::ones_like(x))), exp(x));
}

/// Takes any number of inputs.
struct SumOfMany {
  using kind = rc::Custom;
  static constexpr const char* name = "sum_of_many";
  rc::Tensors call(std::span<const Tensor> inputs) const {
    Tensor total = inputs[0];
    for (std::size_t i = 1; i < inputs.size(); ++i) total = total + static_cast<double>(i) * inputs[i];
    return {total};
  }
};

TEST(CustomPrimitive, TakesMoreInputsThanAWordHasBits) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < 70; ++i) inputs.push_back(ramp({3}));
  const auto f = [](std::vector<Tensor> x) { return rc::apply(SumOfMany{}, x)[0].sum(); };
  const rc::Program program = rc::trace([&](std::vector<Tensor> x) { return rc::grad(f)(x).back(); })(inputs);
  expect_values(program(inputs)[0], {69, 69, 69});
  expect_values(rc::trace([&](std::vector<Tensor> x) { return rc::vmap(f)(x); })(inputs)(inputs)[0],
                values((1 + 69 * 70 / 2) * ramp({3})));
}

TEST(CustomPrimitive, CannotBeReadBackFromText) {
  const auto f = called([](Tensor x) { return x; });
  const std::string text = to_string(rc::trace(f)(ramp({3})));
  expect_error<rc::ValueError>([&] { rc::parse_program(text, {}); },
                               "parse: line 2: a function is more than its text and cannot be read back, at "
                               "'function] a'; record the program again");
}

/// A function of one tensor that claims to be the identity's derivative.
struct Claimed {
  using kind = rc::Custom;
  static constexpr const char* name = "claimed";
  Function function;
  rc::Tensors call(std::span<const Tensor> in) const { return {(*function.f)(in[0])}; }
  rc::Kept keep(std::span<const Tensor> in, const rc::Mask&) const { return {.outputs = {rc::apply(*this, in[0])}}; }
  rc::Tensors vjp(const rc::Reverse& r) const { return {r.cotangents[0]}; }
  rc::Pushed jvp(std::span<const Tensor> in, std::span<const Tensor> t) const {
    return {{rc::apply(*this, in[0])}, {t[0]}};
  }
  rc::BatchedOutputs batch(const rc::Batch& b) const { return rc::batch_by_lifting({&rc::rules_of<Claimed>, this}, b); }
};

Tensor claimed(const Tensor& x, std::function<Tensor(Tensor)> f) {
  return rc::apply(Claimed{{std::make_shared<const std::function<Tensor(Tensor)>>(std::move(f))}}, x);
}

TEST(CustomPrimitive, IsPrintedUnderVmap) {
  const auto f = [](Tensor x) { return claimed(x, [](Tensor y) { return y * 2; }); };
  const rc::Program p = rc::trace(rc::vmap(f))(ramp({2, 3}));
  EXPECT_NE(to_string(p).find("function=vmap(claimed"), std::string::npos) << p;
  expect_close(p({ramp({2, 3})})[0], ramp({2, 3}) * 2);
}

TEST(CustomPrimitive, ATensorOfATransformThatIsSetAsideIsRefused) {
  const Tensor x = ramp({2, 3});
  const auto f = [](Tensor row) {
    const auto loss = [row](Tensor a) { return claimed(row, [a](Tensor y) { return y * a; }).sum(); };
    return rc::grad(loss)(row);
  };
  expect_error<rc::TransformError>([&] { rc::vmap(f)(x); },
                                   "mul: an operand f64[3] was captured: it belongs to grad{at}, which does not reach "
                                   "into a custom function; pass it as an argument\n  inside grad{at}, inside vmap "
                                   "over axis 0 of 2{at}",
                                   {x});
}

TEST(CustomPrimitive, ATensorOfNoTransformMayBeCaptured) {
  const Tensor x = ramp({3}), scale = ramp({3}) + 1;
  const auto loss = [scale](Tensor a) { return claimed(a, [scale](Tensor y) { return y * scale; }).sum(); };
  const auto [gradient, value] = rc::grad_and_value(loss)(x);
  expect_close(gradient, rc::ones_like(x));
  expect_close(value, (x * scale).sum());
}

TEST(TransparentPrimitive, MayCaptureWhatATransformHolds) {
  const auto loss = [](Tensor a) { return called([a](Tensor y) { return y * a; })(rc::ones({3}, rc::float64)).sum(); };
  expect_close(rc::grad(loss)(ramp({3})), rc::ones({3}, rc::float64));
}

TEST(CustomPrimitive, WritesToATensorOfATransformThatIsSetAsideAreRefused) {
  const auto f = [](Tensor x) {
    Tensor inner = x * 2;
    return claimed(rc::ones({3}), [inner](Tensor y) {
      inner.zero_();
      return y;
    });
  };
  expect_error<rc::TransformError>([&] { rc::vmap(f)(ramp({2, 3})); },
                                   "zero_: an operand f64[3] was captured: it belongs to vmap over axis 0 of 2{at}, "
                                   "which does not reach into a custom function; pass it as an argument\n"
                                   "  inside vmap over axis 0 of 2{at}");
}

}  // namespace
