// What transforms make of small functions. Each program stands under the function that it is of.
#include "support/golden.h"

namespace rc = ricci;
using rc::Tensor;
using testing_support::expect_golden;
using testing_support::expect_golden_whole;

namespace {

Tensor loss(const Tensor& w, const Tensor& x) { return tanh(matmul(x, w)).square().sum(); }

// The forward equations, then those of the derivative; what nothing needs is left out.
TEST(GoldenTransforms, AGradientHoldsTheForwardEquationsThenThoseOfTheDerivative) {
  const auto f = rc::grad([](Tensor w, Tensor x) { return loss(w, x); });
  expect_golden_whole(rc::trace(f)(rc::ones({3}), rc::ones({2, 3})), R"(
program(a: f32[s0], b: f32[s1,s0]) where s1!=1 {
  c: f32[s1] = matmul[form=1] b a
  d: f32[s1] = tanh c
  e: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  f: f32[s1] = expand[shape=(s1)] e
  g: f32[s1] = twice_product f d
  h: f32[s1] = tanh_slope g d
  k: f32[s0,s1] = permute[axes=(1,0)] b
  l: f32[s0] = matmul[form=1] k h
  return l
}
)");
}

// The tangent goes along.
TEST(GoldenTransforms, TheTangentOfJvpGoesAlong) {
  const auto f = [](Tensor x, Tensor t) { return rc::jvp([](Tensor y) { return sin(y) * y; }, x, t); };
  expect_golden_whole(rc::trace(f)(rc::ones({3}), rc::ones({3})), R"(
program(a: f32[s0], b: f32[s0]) {
  c: f32[s0] = sin a
  d: f32[s0] = sin_slope b a
  e: f32[s0] = mul c a
  f: f32[s0] = mul d a
  g: f32[s0] = mul b c
  h: f32[s0] = add f g
  return e h
}
)");
}

// A pullback takes the cotangent as an input.
TEST(GoldenTransforms, APullbackTakesTheCotangentAsAnInput) {
  const auto f = [](Tensor x, Tensor ct) { return std::get<1>(rc::vjp([](Tensor y) { return exp(y) * y; }, x))(ct); };
  expect_golden_whole(rc::trace(f)(rc::ones({3}), rc::ones({3})), R"(
program(a: f32[s0], b: f32[s0]) {
  c: f32[s0] = exp a
  d: f32[s0] = mul b a
  e: f32[s0] = mul b c
  f: f32[s0] = mul d c
  g: f32[s0] = add e f
  return g
}
)");
}

// `i` names the axis that holds the examples, here the first of the input and of all that differs per example.
TEST(GoldenTransforms, VmapNamesTheAxisThatHoldsTheExamples) {
  const Tensor w = rc::ones({3, 4});
  const auto f = rc::vmap([&](Tensor x) { return softmax(matmul(x, w), -1); });
  expect_golden_whole(rc::trace(f)(rc::ones({5, 3})), R"(
program(a: f32[i=s0,3]; b: f32[3,4]) {
  c: f32[4,3] = permute[axes=(1,0)] b
  d: f32[3,4] = permute[axes=(1,0)] c
  e: f32[i=s0,4] = matmul[form=0] a d
  f: f32[i=s0,4] = softmax[axis=1] e
  return f
}
)");
}

// A gradient for each example: w is one for all of them, its gradients are not.
TEST(GoldenTransforms, PerExampleGradientsShareTheWeight) {
  const auto f = rc::vmap(rc::grad([](Tensor w, Tensor x) { return tanh(dot(x, w)); }), {.in_dims = {rc::none, 0}});
  expect_golden_whole(rc::trace(f)(rc::ones({3}), rc::ones({5, 3})), R"(
program(a: f32[s0], b: f32[i=s1,s0]) where s1!=1, s0!=1 {
  c: f32[i=s1] = matmul[form=2] b a
  d: f32[i=s1] = tanh c
  e: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  f: f32[i=s1] = tanh_slope e d
  g: f32[i=s1,1] = reshape[shape=(s1,1)] f
  h: f32[i=s1,s0] = mul g b
  return h
}
)");
}

// Every pair: axes of one size are told apart by their names.
TEST(GoldenTransforms, AxesOfOneSizeAreToldApartByTheirNames) {
  const auto distance = [](Tensor x, Tensor y) { return (x - y).square().sum(); };
  const auto f = rc::vmap(rc::vmap(distance, {.in_dims = {rc::none, 0}}), {.in_dims = {0, rc::none}});
  expect_golden_whole(rc::trace(f)(rc::ones({3, 3}), rc::ones({3, 3})), R"(
program(a: f32[i=s0,s1], b: f32[j=s2,s1]) where s2!=1 {
  c: f32[s0,1,s1] = reshape[shape=(s0,1,s1)] a
  d: f32[i=s0,j=s2,s1] = sub c b
  e: f32[i=s0,j=s2,s1] = square d
  f: f32[i=s0,j=s2] = sum[axes=(2)] e
  return f
}
)");
}

// Forward over reverse: the derivative of every equation of the gradient.
TEST(GoldenTransforms, ForwardOverReverseDifferentiatesEveryEquationOfTheGradient) {
  const auto f = [](Tensor x, Tensor v) {
    return std::get<1>(rc::jvp(rc::grad([](Tensor y) { return (y * y * y).sum(); }), x, v));
  };
  expect_golden_whole(rc::trace(f)(rc::ones({3}), rc::ones({3})), R"(
program(a: f32[s0], b: f32[s0]) where s0!=1 {
  c: f32[s0] = mul b a
  d: f32[s0] = mul b a
  e: f32[s0] = add c d
  f: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  g: f32[s0] = expand[shape=(s0)] f
  h: f32[s0] = mul g a
  k: f32[s0] = mul b g
  l: f32[s0] = mul e g
  m: f32[s0] = mul k a
  n: f32[s0] = mul b h
  o: f32[s0] = add m n
  p: f32[s0] = mul k a
  q: f32[s0] = mul b h
  r: f32[s0] = add p q
  s: f32[s0] = add l o
  t: f32[s0] = add s r
  return t
}
)");
}

// A custom function is one equation with what it computes; its rules stay functions of C++. They are made of ordinary
// operations: under a derivative they are equations like others.
TEST(GoldenTransforms, TheRulesOfACustomFunctionAreEquationsLikeOthers) {
  const auto clipped =
      rc::custom_vjp([](Tensor x) { return exp(x); }, [](Tensor x) { return std::pair{exp(x), exp(x)}; },
                     [](Tensor y, Tensor ct) { return clamp(ct * y, -1, 1); });
  expect_golden(rc::trace(clipped)(rc::ones({3})), R"(
program(a: f32[s0]) {
  b: f32[s0] = custom[function=custom_vjp, value=program(a: f32[s0]) {
      b: f32[s0] = exp a
      return b
    }, captured=0] a
  return b
}
)");
  expect_golden_whole(rc::trace(rc::grad([&](Tensor x) { return clipped(x).sum(); }))(rc::ones({3})), R"(
program(a: f32[s0]) where s0!=1 {
  b: f32[s0] = exp a
  c: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  d: f32[s0] = expand[shape=(s0)] c
  e: f32[s0] = mul d b
  f: f32[s0] = clamp e -1 1
  return f
}
)");
}

}  // namespace
