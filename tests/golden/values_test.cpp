// What a recorded function is: inputs, captured tensors, numbers, sizes, writes, trees, draws. Each program stands
// under the function that it is of.
#include "support/golden.h"

namespace rc = ricci;
using rc::Tensor;
using testing_support::expect_golden;
using testing_support::expect_golden_whole;

namespace {

// Sizes of the inputs are symbols; one that an operation ties to a number or to another is that. What is captured
// follows the semicolon.
TEST(GoldenValues, SizesOfALayerAreSymbolsOrWhatOperationsTieThemTo) {
  const Tensor w = rc::ones({3, 4});
  const auto layer = [&](Tensor x, Tensor b) { return tanh(matmul(x, w) + b); };
  expect_golden_whole(rc::trace(layer)(rc::ones({2, 3}), rc::ones({4})), R"(
program(a: f32[s0,3], b: f32[4]; c: f32[3,4]) {
  d: f32[s0,4] = matmul[form=0] a c
  e: f32[s0,4] = add d b
  f: f32[s0,4] = tanh e
  return f
}
)");
}

// What is computed from captured tensors alone is part of the program, as each run reads them anew.
TEST(GoldenValues, OperationsOnWhatIsCapturedArePartOfTheProgram) {
  const Tensor w = rc::ones({3, 4});
  const auto scaled = [&](Tensor x) {
    const Tensor by_row = x * w[0];
    return by_row / w.sum();
  };
  expect_golden_whole(rc::trace(scaled)(rc::ones({4})), R"(
program(a: f32[4]; b: f32[3,4]) {
  c: f32[4] = select[axis=0, index=0] b
  d: f32[4] = mul a c
  e: f32[] = sum[axes=(0,1)] b
  f: f32[4] = div d e
  return f
}
)");
}

// The function may look at what is computed from captured tensors alone. The program expects it to stay what it was;
// `d` are the places where the mask holds.
TEST(GoldenValues, WhatTheFunctionLookedAtIsExpectedToStay) {
  const Tensor w = rc::ones({2});
  const auto positive = [&](Tensor x) { return w.sum() > 0 ? x[w > 0] : -x; };
  expect_golden_whole(rc::trace(positive)(rc::ones({2})), R"(
program(a: f32[2]; b: f32[2], c: bool[2], d: i64[2]) {
  e: f32[] = sum[axes=(0)] b
  f: bool[] = gt e 0
  expect_equal f true
  g: bool[2] = gt b 0
  expect_equal g c
  h: f32[2] = index[place={index,(0),(2),true,0}] a d
  return h
}
)");
}

// A number is written where it is used. It is weak: it takes the element type of what it meets.
TEST(GoldenValues, ANumberOfTheFunctionIsWrittenWhereItIsUsed) {
  const auto f = [](Tensor x) {
    const Tensor grown = 2 * exp(x);
    return 2 * x + grown - 0.5;
  };
  expect_golden_whole(rc::trace(f)(rc::ones({3})), R"(
program(a: f32[s0]) {
  b: f32[s0] = exp a
  c: f32[s0] = mul 2 b
  d: f32[s0] = mul 2 a
  e: f32[s0] = add d c
  f: f32[s0] = sub e 0.5
  return f
}
)");
}

// A loop of plain C++ is written down step by step.
TEST(GoldenValues, ALoopOfPlainCppIsWrittenDownStepByStep) {
  const auto f = [](Tensor x, Tensor v) {
    for (int i = 0; i < 4; ++i) {
      const Tensor force = 1.5 * (1 - x * x) * v - x;
      x = x + 0.1 * v;
      v = v + 0.1 * force;
    }
    return x;
  };
  expect_golden_whole(rc::trace(f)(rc::tensor(1.), rc::tensor(0.)), R"(
program(a: f32[], b: f32[]) {
  c: f32[] = mul a a
  d: f32[] = sub 1 c
  e: f32[] = mul 1.5 d
  f: f32[] = mul e b
  g: f32[] = sub f a
  h: f32[] = mul 0.1 b
  k: f32[] = add a h
  l: f32[] = mul 0.1 g
  m: f32[] = add b l
  n: f32[] = mul k k
  o: f32[] = sub 1 n
  p: f32[] = mul 1.5 o
  q: f32[] = mul p m
  r: f32[] = sub q k
  s: f32[] = mul 0.1 m
  t: f32[] = add k s
  u: f32[] = mul 0.1 r
  v: f32[] = add m u
  w: f32[] = mul t t
  x: f32[] = sub 1 w
  y: f32[] = mul 1.5 x
  z: f32[] = mul y v
  a1: f32[] = sub z t
  b1: f32[] = mul 0.1 v
  c1: f32[] = add t b1
  d1: f32[] = mul 0.1 a1
  e1: f32[] = add v d1
  f1: f32[] = mul 0.1 e1
  g1: f32[] = add c1 f1
  return g1
}
)");
}

// What the function does to a size is done to the symbol. A reshape to numbers relies on their product.
TEST(GoldenValues, WhatIsDoneToASizeIsDoneToItsSymbol) {
  const auto f = [](Tensor x, Tensor y) { return rc::cat({x, x, y}, 0).reshape({-1}); };
  expect_golden_whole(rc::trace(f)(rc::ones({2, 3}), rc::ones({4, 3})), R"(
program(a: f32[s0,s1], b: f32[s2,s1]) {
  c: f32[s2+2*s0,s1] = cat[axis=0] a a b
  d: f32[s1*s2+2*s0*s1] = reshape[shape=(s1*s2+2*s0*s1)] c
  return d
}
)");
  const auto g = [](Tensor x) { return x.reshape({2, 3}).sum(0); };
  expect_golden_whole(rc::trace(g)(rc::ones({6, 1})), R"(
program(a: f32[s0,s1]) where s0*s1=6 {
  b: f32[2,3] = reshape[shape=(2,3)] a
  c: f32[3] = sum[axes=(0)] b
  return c
}
)");
}

// Writing in place leaves no trace: `put` is the base with the view replaced.
TEST(GoldenValues, AWriteThroughAViewReplacesThatViewOfTheBase) {
  const auto f = [](Tensor x) {
    const Tensor y = x.clone();
    y[0] += 1;
    return y;
  };
  expect_golden_whole(rc::trace(f)(rc::ones({3})), R"(
program(a: f32[s0]) where s0>=1 {
  b: f32[s0] = clone a
  c: f32[] = select[axis=0, index=0] b
  d: f32[] = add c 1
  e: f32[s0] = put[view=select[axis=0, index=0]] b d
  return e
}
)");
}

struct Particle {
  Tensor position, velocity;
  double mass;
};

// Trees are their tensors, in order.
TEST(GoldenValues, AStructIsItsTensorsInOrder) {
  const auto kick = [](Particle p, Tensor force) {
    p.velocity = p.velocity + force / p.mass;
    p.position = p.position + p.velocity;
    return p;
  };
  expect_golden_whole(rc::trace(kick)(Particle{rc::zeros({3}), rc::zeros({3}), 2.0}, rc::ones({3})), R"(
program(a: f32[s0], b: f32[s0], c: f32[s0]) {
  d: f32[s0] = div c 2.0
  e: f32[s0] = add b d
  f: f32[s0] = add a e
  return f e
}
)");
}

// A draw is made anew at each run: at the next place of the generator.
TEST(GoldenValues, ADrawIsMadeAnewAtEachRun) {
  const auto f = [](Tensor x) { return x + rc::randn_like(x); };
  expect_golden(rc::trace(f)(rc::ones({3})), R"(
program(a: f32[s0]) {
  b: i64[2] = take_place[generator=default]
  c: f32[s0] = randn_at[numbers={f32}, shape=(s0), draws_before=0, examples=1, count=1, which={(0),1}] b
  d: f32[s0] = add a c
  return d
}
)");
}

// no_grad and detach cut derivatives of the program too.
TEST(GoldenValues, DetachCutsDerivativesOfTheProgramToo) {
  const auto f = [](Tensor x) { return x * x.detach(); };
  expect_golden_whole(rc::trace(f)(rc::ones({3})), R"(
program(a: f32[s0]) {
  b: f32[s0] = detach a
  c: f32[s0] = mul a b
  return c
}
)");
}

}  // namespace
