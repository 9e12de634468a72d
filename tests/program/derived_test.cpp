// Programs made from programs compute what the transforms of the function compute, and nest. What reverse mode keeps is
// what its backward program cannot get otherwise.
#include "custom/derived.h"

#include <gtest/gtest.h>

#include "program/program.h"
#include "ricci/primitive.h"
#include "ricci/ricci.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Flags;
using rc::Program;
using rc::Tensor;
using rc::function::Closure;
using rc::function::Runs;
using rc::function::Split;
using namespace testing_support;

namespace {

using Inputs = std::vector<Tensor>;

/// A closure's program, with the places that its draws begin at and what it captured behind its inputs.
struct Whole {
  Closure closure;

  std::vector<Tensor> operator()(Inputs inputs) const {
    inputs.insert(inputs.end(), closure.streams.begin(), closure.streams.end());
    inputs.insert(inputs.end(), closure.captured.begin(), closure.captured.end());
    return closure.program(inputs);
  }
};

template <class F>
Program written(const F& f, const Inputs& inputs) {
  std::optional<Inputs> result;
  const auto run = [&](const Inputs& x) { return f(x); };
  Closure closure = rc::function::write_down("f", run, std::tuple<Inputs>(inputs), result);
  EXPECT_TRUE(closure.captured.empty());
  return closure.program;
}

Flags none(std::size_t count) { return Flags(count, false); }

Inputs wave(const Inputs& x) { return {sin(x[0]) * x[1], x[0] + x[1], exp(x[1])}; }

const Tensor a = doubles({1, 2, 3}), b = doubles({0.5, -1, 2}), da = doubles({1, -2, 0.5});

TEST(Pushed, HasTheTangentsOfItsOutputsBehindThem) {
  const Program f = written(wave, {a, b});
  const auto pushed = rc::function::pushed(f, {true, false}, none(3), Runs::once);
  EXPECT_EQ(pushed.outputs, Flags({true, true, false}));
  const Inputs found = Whole{pushed.closure}({a, b, da});
  ASSERT_EQ(found.size(), 5U);
  const auto [values, tangents] = rc::jvp([&](Tensor x) { return wave({x, b}); }, a, da);
  for (std::size_t i = 0; i < 3; ++i) expect_equal(found[i], values[i]);
  for (std::size_t i = 0; i < 2; ++i) expect_equal(found[3 + i], tangents[i]);
}

TEST(Pushed, GivesZerosWhereATangentShouldBe) {
  const auto pushed = rc::function::pushed(written(wave, {a, b}), {true, false}, {false, false, true}, Runs::once);
  EXPECT_EQ(pushed.outputs, Flags({true, true, true}));
  expect_equal(Whole{pushed.closure}({a, b, da})[5], rc::zeros_like(a));
}

TEST(Pushed, NestsToAnyOrder) {
  const auto cube = [](const Inputs& x) { return Inputs{x[0] * x[0] * x[0]}; };
  const auto once = rc::function::pushed(written(cube, {a}), {true}, none(1), Runs::once);
  const auto twice = rc::function::pushed(once.closure.program, {true, false}, none(2), Runs::once);
  expect_close(Whole{twice.closure}({a, rc::ones_like(a), rc::ones_like(a)})[3], 6 * a);
}

rc::MappedExamples examples(std::int64_t count) {
  rc::MappedExamples of;
  of.size = of.count = count;
  return of;
}

TEST(Mapped, HasTheExamplesInFrontOfWhatDiffers) {
  const Program f = written(wave, {a, b});
  const Tensor rows = rc::stack({a, b, -a, -b});
  const auto mapped = rc::function::mapped(f, {true, false}, none(3), examples(4), Runs::once);
  EXPECT_EQ(mapped.outputs, Flags({true, true, false}));
  const Inputs found = Whole{mapped.closure}({rows, b});
  const Inputs wanted = rc::vmap([&](Tensor x) { return wave({x, b}); })(rows);
  for (std::size_t i = 0; i < 2; ++i) expect_equal(found[i], wanted[i]);
  expect_equal(found[2], exp(b));
  const auto all = rc::function::mapped(f, {true, false}, {false, false, true}, examples(4), Runs::once);
  expect_equal(Whole{all.closure}({rows, b})[2], wanted[2]);
}

TEST(Mapped, NestsWithItselfAndWithPushed) {
  const Program f = written(wave, {a, b});
  const Tensor rows = rc::stack({a, -a}), more = rc::stack({b, b, -b});
  const auto inner = rc::function::mapped(f, {true, false}, none(3), examples(2), Runs::once);
  const auto outer = rc::function::mapped(inner.closure.program, {false, true}, none(3), examples(3), Runs::once);
  const auto wanted =
      rc::vmap([&](Tensor y) { return rc::vmap([&](Tensor x) { return wave({x, y})[0]; })(rows); })(more);
  expect_equal(Whole{outer.closure}({rows, more})[0], wanted);

  const auto pushed = rc::function::pushed(inner.closure.program, {true, false}, none(3), Runs::once);
  const Tensor tangents = rc::stack({da, 2 * da});
  const auto both =
      rc::jvp([&](Tensor x) { return rc::vmap([&](Tensor one) { return wave({one, b})[0]; })(x); }, rows, tangents);
  expect_close(Whole{pushed.closure}({rows, b, tangents})[3], both.second);
}

/// The gradients of the inputs, undefined where they are zero, by running the two halves.
std::vector<Tensor> gradients(const Split& split, const Inputs& inputs, const std::vector<Tensor>& cotangents) {
  const Inputs forward = Whole{split.forward()}(inputs);
  Flags has;
  for (const Tensor& ct : cotangents) has.push_back(ct.defined());
  const auto backward = split.backward(has, none(inputs.size()), none(inputs.size()));
  Inputs given;
  for (const auto& read : backward.reads)
    given.push_back(read.of_input ? inputs[read.index] : forward[cotangents.size() + read.index]);
  for (std::size_t i = 0; i < cotangents.size(); ++i)
    if (backward.taken[i]) given.push_back(cotangents[i]);
  const Inputs found = Whole{backward.closure}(given);
  std::vector<Tensor> all;
  std::size_t next = 0;
  for (const bool is_given : backward.given) all.push_back(is_given ? found[next++] : Tensor());
  return all;
}

TEST(Split, GivesTheGradientsOfTheWantedInputs) {
  const Program f = written(wave, {a, b});
  const Split split(f, {true, true}, none(2), Runs::once);
  EXPECT_EQ(split.active_outputs(), Flags({true, true, true}));
  const auto [values, pull_back] = rc::vjp([](Tensor x, Tensor y) { return wave({x, y}); }, a, b);
  const Inputs cts{da, a, b};
  const auto [of_a, of_b] = pull_back(cts);
  const std::vector<Tensor> found = gradients(split, {a, b}, cts);
  expect_close(found[0], of_a);
  expect_close(found[1], of_b);
  const Inputs forward = Whole{split.forward()}({a, b});
  for (std::size_t i = 0; i < 3; ++i) expect_equal(forward[i], values[i]);
}

TEST(Split, OutputsThatDependOnNoWantedInputHaveNoCotangent) {
  const Split split(written(wave, {a, b}), {true, false}, none(2), Runs::once);
  EXPECT_EQ(split.active_outputs(), Flags({true, true, false}));
  const std::vector<Tensor> found = gradients(split, {a, b}, {da, Tensor(), b});
  expect_close(found[0], cos(a) * b * da);
  EXPECT_FALSE(found[1].defined());
}

TEST(Split, NothingOfAnOutputWithoutACotangentReachesAGradient) {
  const auto f = [](const Inputs& x) { return Inputs{x[0] + x[0], log(x[0])}; };
  const Tensor zero = doubles({0});
  const Split split(written(f, {zero}), {true}, none(1), Runs::once);
  expect_values(gradients(split, {zero}, {doubles({3}), Tensor()})[0], {6});
}

TEST(Split, KeepsWhatIsReadAndNoMore) {
  const auto kept = [](const auto& f, const Inputs& inputs, const Flags& at_hand) {
    return Split(written(f, inputs), Flags(inputs.size(), true), at_hand, Runs::once).kept();
  };
  const auto product = [](const Inputs& x) { return Inputs{x[0] * x[1]}; };
  EXPECT_EQ(kept(product, {a, b}, {false, false}), 2U);
  EXPECT_EQ(kept(product, {a, b}, {false, true}), 1U);
  EXPECT_EQ(kept([](const Inputs& x) { return Inputs{x[0] - x[1]}; }, {a, b}, {false, false}), 0U);
  EXPECT_EQ(kept([](const Inputs& x) { return Inputs{tanh(tanh(x[0]))}; }, {a}, {false}), 2U);
}

TEST(Split, ComputesViewsAndFactoriesAgainInsteadOfKeepingThem) {
  const auto f = [](const Inputs& x) {
    return Inputs{matmul(x[0].reshape({1, 3}), x[1].reshape({3, 1})), x[0] * rc::ones({3}, rc::float64)};
  };
  const Program program = written(f, {a, b});
  EXPECT_EQ(Split(program, {true, true}, {true, true}, Runs::once).kept(), 0U);
  const Split split(program, {true, true}, {true, false}, Runs::once);
  EXPECT_EQ(split.kept(), 1U);
  const std::vector<Tensor> found = gradients(split, {a, b}, {doubles({2}, {1, 1}), da});
  expect_close(found[0], 2 * b + da);
  expect_close(found[1], 2 * a);
}

TEST(Split, SumsAndZerosAreOutputsWhereTheyAreAskedFor) {
  const auto f = [](const Inputs& x) { return Inputs{x[0] * x[1]}; };
  const Split split(written(f, {a, b, b}), {true, true, true}, {true, true, true}, Runs::once);
  const auto backward = split.backward({true}, {false, false, true}, {false, true, false});
  EXPECT_EQ(backward.given, Flags({true, true, true}));
  const Inputs found = Whole{backward.closure}({a, b, da, doubles({10, 10, 10})});
  expect_close(found[0], b * da);
  expect_close(found[1], 10 + a * da);
  expect_equal(found[2], rc::zeros_like(b));
}

TEST(Split, IntegersAndNumbersPassThrough) {
  const auto f = [](const Inputs& x) { return Inputs{(x[0] * 3).index_select(0, x[1]), x[1] + 1}; };
  const Tensor order = rc::tensor(std::vector<std::int64_t>{2, 0});
  const Split split(written(f, {a, order}), {true, false}, {true, true}, Runs::once);
  EXPECT_EQ(split.active_outputs(), Flags({true, false}));
  expect_values(gradients(split, {a, order}, {doubles({1, 10}), Tensor()})[0], {30, 0, 3});
}

TEST(Split, ItsHalvesCanBeMappedAndPushed) {
  const Program f = written(wave, {a, b});
  const Split split(f, {true, false}, {true, true}, Runs::once);
  const auto backward = split.backward({true, false, false}, none(2), none(2));
  // The derivative of cos(a) * b * ct along a.
  Flags along_a;
  for (const auto& read : backward.reads) along_a.push_back(read.of_input && read.index == 0);
  Inputs inputs;
  for (const auto& read : backward.reads) inputs.push_back(read.index == 0 ? a : b);
  along_a.push_back(false);  // da
  const auto pushed = rc::function::pushed(backward.closure.program, along_a, none(1), Runs::once);
  inputs.push_back(da);
  inputs.push_back(rc::ones_like(a));
  expect_close(Whole{pushed.closure}(inputs)[1], -sin(a) * b * da);
}

/// What the forward rule of the first recording keeps, the backward half of a later one reads.
TEST(Split, ARuleThatComputesOrCapturesSomethingElseWhenItIsWrittenDownAgainIsRefused) {
  const Tensor captured[] = {doubles({1, 2, 3}), doubles({4, 5, 6})};
  const auto is_refused = [&](const auto& forward) {
    int calls = 0;
    const auto rule = rc::custom_vjp([](Tensor x) { return x * 2; }, [&](Tensor x) { return forward(x, calls++); },
                                     [](Tensor kept, Tensor ct) { return ct * kept; });
    const auto f = [&](const Inputs& x) { return Inputs{rule(sin(x[0]))}; };
    const Split split(written(f, {a}), {true}, none(1), Runs::once);
    expect_error<rc::TransformError>([&] { gradients(split, {a}, {da}); },
                                     "a function with a rule of its own computed or captured something else when it "
                                     "was written down again; make it depend on its arguments alone");
  };
  is_refused([&](const Tensor& x, int call) { return std::pair{x * 2, captured[call > 0]}; });
  is_refused([](const Tensor& x, int call) { return std::pair{x * 2, x * (call > 0 ? 3. : 2.)}; });
  is_refused([](const Tensor& x, int call) { return std::pair{x * 2, call > 0 ? cos(x) : exp(x)}; });
  is_refused([](const Tensor& x, int call) { return std::pair{x * 2, call > 0 ? exp(x) * x : exp(x)}; });
}

}  // namespace
