// What rc::Tape says of tensors it cannot watch, losses it cannot differentiate, and being used after its transform.
#include <memory>
#include <string>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(TapeErrors, NothingToWatch) {
  const Tensor whole = rc::tensor({1, 2});
  expect_error<rc::TypeError>(
      [&] {
        rc::Tape tape;
        tape.watch(whole);
      },
      "Tape: nothing to watch: i64[2] holds no floating tensor; convert one, for example with x.to(rc::float32){at}"
      "\n  inside Tape{at}",
      {whole});
}

TEST(TapeErrors, ALossThatIsNotOneNumber) {
  const Tensor x = rc::ones({2});
  expect_error<rc::ValueError>(
      [&] {
        rc::Tape tape;
        tape.watch(x);
        tape.gradient(x * x, x);
      },
      "Tape: the output must be one real floating 0-dim tensor, found f32[2]; "
      "reduce it to one number, or pass a cotangent: gradient(output, tree, cotangent){at}\n  inside Tape{at}",
      {x});
}

TEST(TapeErrors, ACotangentUnlikeTheOutput) {
  const Tensor x = rc::ones({2});
  const auto expect_misfit = [&](const auto& outputs, const auto& cotangents, const std::string& finding) {
    expect_error<rc::ValueError>(
        [&] {
          rc::Tape tape;
          tape.watch(x);
          tape.gradient(outputs(x * x), x, cotangents);
        },
        "Tape: the cotangent does not fit the output: " + finding +
            "; pass a cotangent like the output{at}\n  inside Tape{at}",
        {x});
  };
  const auto alone = [](Tensor y) { return y; };
  const auto twice = [](Tensor y) { return std::vector<Tensor>{y, y.sum()}; };
  expect_misfit(alone, rc::ones({3}), "cotangent is f32[3], output is f32[2]");
  expect_misfit(alone, Tensor(), "cotangent is undefined, output is f32[2]");
  expect_misfit(twice, std::vector<Tensor>{x}, "the cotangent is [f32[2]], the output is [f32[2], f32[]]");
  expect_misfit(twice, std::vector<Tensor>{x, x}, "cotangent ([1]) is f32[2], output ([1]) is f32[]");
}

TEST(TapeErrors, AComplexLoss) {
  const Tensor z = rc::ones({}, rc::complex64);
  expect_error<rc::TypeError>(
      [&] {
        rc::Tape tape;
        tape.watch(z);
        tape.gradient(z * z, z);
      },
      "Tape: the output must be one real floating 0-dim tensor, found c64[]; "
      "return its real part or its absolute value{at}\n  inside Tape{at}",
      {z});
}

TEST(TapeErrors, UsedAfterTheTransformItWasMadeIn) {
  const Tensor x = rc::ones({3});
  std::unique_ptr<rc::Tape> escaped;
  rc::vmap([&](Tensor a) {
    const Tensor twice = a * 2;
    escaped.reset(new rc::Tape);  // here, so that the tape knows this line
    escaped->watch(a);
    return twice;
  })(x);
  EXPECT_FALSE(rc::inside_transform());
  const std::string text =
      "Tape: it was made inside vmap over axis 0 of 3{at}, which has ended; "
      "use a tape inside the function that makes it{at}";
  expect_error<rc::TransformError>([&] { escaped->watch(x); }, text, {x});
  expect_error<rc::TransformError>([&] { escaped->gradient(x.sum(), x); }, text, {x});
}

TEST(TapeErrors, ATensorOrALossOfAVmapInsideTheTape) {
  const Tensor x = rc::ones({3});
  expect_error<rc::TransformError>(
      [&] {
        rc::Tape tape;
        rc::vmap([&](Tensor a) {
          tape.watch(a);
          return a;
        })(x);
      },
      "Tape: the tensor f32[] belongs to vmap over axis 0 of 3{at}, which runs inside the tape; "
      "watch it before, or make the tape there{at}\n  inside vmap over axis 0 of 3{at}, inside Tape{at}",
      {x});
  expect_error<rc::TransformError>(
      [&] {
        rc::Tape tape;
        tape.watch(x);
        rc::vmap([&](Tensor a) { return tape.gradient(a * a, x); })(x);
      },
      "Tape: the output f32[] belongs to vmap over axis 0 of 3{at}, which runs inside the tape; "
      "take the gradient of what that returns{at}\n  inside vmap over axis 0 of 3{at}, inside Tape{at}",
      {x});
}

TEST(TapeErrors, AWriteToACapturedTensorThatIsNotWatched) {
  const Tensor captured = rc::ones({2}), x = rc::ones({2});
  expect_error<rc::TransformError>(
      [&] {
        rc::Tape tape;
        tape.watch(x);
        captured.mul_(x);
      },
      "mul_: the target f32[2] was captured from outside Tape{at}; a function under differentiation writes only to its "
      "arguments and to what it creates: pass it as an argument, or write to a clone()\n  inside Tape{at}",
      {captured, x});
}

TEST(TapeErrors, AWriteToAWatchedViewOfATensorThatIsNotWatched) {
  const Tensor base = rc::ones({2, 3}), row = base[0];
  expect_error<rc::TransformError>(
      [&] {
        rc::Tape tape;
        tape.watch(row);
        row.slice(0, 0, 2).mul_(2);
      },
      "mul_: the target f32[2] is a watched view of a tensor from outside Tape{at}, which it would write to; watch "
      "that tensor before the view, or write to a clone()\n  inside Tape{at}",
      {base, row});
  rc::Tape tape;
  tape.watch(base);
  tape.watch(row);
  row.mul_(2);
  expect_values(tape.gradient((row * row).sum(), base), {8, 8, 8, 0, 0, 0});
}

}  // namespace
