// What linear algebra, einsum and convolution say of operands they cannot take.
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(CholeskyErrors, NotPositiveDefiniteInOneExample) {
  const Tensor a = rc::stack({rc::eye(2), rc::eye(2) * -1}, 0);
  expect_error<rc::ValueError>(
      [&] { rc::vmap([](Tensor m) { return rc::cholesky(m); })(a); },
      "cholesky: f32[2,2] in example 1 is not positive definite: its leading minor of order 1 is not positive\n"
      "  inside vmap over axis 0 of 2{at}",
      {a});
}

TEST(LinearAlgebraErrors, AnExampleWithoutRowsUnderVmap) {
  const Tensor xs = rc::ones({3, 2});
  const std::string rest = ": needs square matrices, found f32[2]\n  inside vmap over axis 0 of 3{at}";
  expect_error<rc::ValueError>([&] { rc::vmap([](Tensor x) { return rc::inverse(x); })(xs); }, "inverse" + rest, {xs});
  expect_error<rc::ValueError>([&] { rc::vmap([](Tensor x) { return rc::det(x); })(xs); }, "det" + rest, {xs});
}

TEST(SpectralErrors, SizesBeyondThoseOfLapack) {
  const Tensor a = rc::zeros({1}).expand({24000, 24000});
  const std::string rest = ": f32[24000,24000] is greater than LAPACK's 32-bit sizes; the smaller size may be 23000";
  expect_error<rc::ValueError>([&] { rc::eigh(a); }, "eigh" + rest);
  expect_error<rc::ValueError>([&] { rc::svd(a); }, "svd" + rest);
}

TEST(MultiDotErrors, TooFewAndTooManyAxes) {
  const Tensor a = rc::ones({2, 2}), v = rc::ones({2}), stack = rc::ones({2, 2, 2});
  expect_error<rc::ValueError>([&] { rc::multi_dot({a}); }, "multi_dot: 1 matrix; pass at least two", {a});
  const std::string rest = "; pass matrices, and vectors only as the first or the last";
  expect_error<rc::ValueError>([&] { rc::multi_dot({a, v, a}); }, "multi_dot: operand 1 is f32[2]" + rest, {a, v});
  expect_error<rc::ValueError>([&] { rc::multi_dot({a, stack}); }, "multi_dot: operand 1 is f32[2,2,2]" + rest, {a});
}

TEST(MultiDotErrors, AnExampleThatIsAVectorUnderVmap) {
  const Tensor a = rc::ones({3, 3}), b = rc::ones({3, 3});
  expect_error<rc::ValueError>(
      [&] { rc::vmap([](Tensor x, Tensor y) { return rc::multi_dot({x, y, x}); })(a, b); },
      "multi_dot: operand 1 is f32[3]; pass matrices, and vectors only as the first or the last\n"
      "  inside vmap over axis 0 of 3{at}",
      {a, b});
}

TEST(EinsumErrors, NumberOfOperands) {
  const Tensor a = rc::ones({2, 3});
  expect_error<rc::ValueError>([&] { rc::einsum("ij->i", {a, a}); }, "einsum: \"ij->i\" describes 1 operand, found 2",
                               {a});
}

TEST(EinsumErrors, NumberOfAxes) {
  const Tensor a = rc::ones({2, 3});
  expect_error<rc::ValueError>([&] { rc::einsum("ijk->i", {a}); },
                               "einsum: \"ijk->i\" gives operand 0 3 axes, but it is f32[2,3]", {a});
}

TEST(EinsumErrors, SizesOfOneLetterInsideVmap) {
  const Tensor a = rc::ones({7, 2, 3}), b = rc::ones({4, 5});
  expect_error<rc::ValueError>(
      [&] { rc::vmap([&](Tensor m) { return rc::einsum("ij,jk->ik", {m, b}); })(a); },
      "einsum: \"ij,jk->ik\" needs one size for j: operand 0 f32[2,3] has 3, operand 1 f32[4,5] has 4\n"
      "  inside vmap over axis 0 of 7{at}",
      {a, b});
}

TEST(EinsumErrors, ALetterOfTheResultThatNoOperandHas) {
  const Tensor a = rc::ones({2, 3});
  expect_error<rc::ValueError>([&] { rc::einsum("ij->ik", {a}); },
                               "einsum: \"ij->ik\" names k in its result, which no operand has", {a});
}

TEST(EinsumErrors, ACharacterThatIsNoLetter) {
  const Tensor a = rc::ones({2, 3});
  expect_error<rc::ValueError>([&] { rc::einsum("i1->i", {a}); },
                               "einsum: \"i1->i\" holds '1'; write letters, commas, one -> and ...", {a});
}

TEST(ConvolutionErrors, Channels) {
  const Tensor x = rc::ones({1, 3, 8, 8}), weight = rc::ones({8, 4, 3, 3});
  expect_error<rc::ValueError>(
      [&] { rc::conv2d(x, weight); },
      "conv2d: the input f32[1,3,8,8] has 3 channels, the weight f32[8,4,3,3] takes 4 (groups 1)", {x, weight});
}

TEST(ConvolutionErrors, ChannelsInsideVmap) {
  const Tensor xs = rc::ones({2, 1, 3, 8, 8}), weight = rc::ones({8, 4, 3, 3});
  expect_error<rc::ValueError>(
      [&] { rc::vmap([&](Tensor x) { return rc::conv2d(x, weight); })(xs); },
      "conv2d: the input f32[1,3,8,8] has 3 channels, the weight f32[8,4,3,3] takes 4 (groups 1)\n"
      "  inside vmap over axis 0 of 2{at}",
      {xs, weight});
}

TEST(SingularErrors, SayWhichMatrixOfAStackAndWhichExample) {
  Tensor stack = rc::eye(2).expand({3, 4, 2, 2}).clone();
  stack[2][1].zero_();
  const std::string singular = " is singular: pivot 1 of its LU factorisation is zero";
  expect_error<rc::ValueError>([&] { rc::inverse(stack); }, "inverse: f32[2,2] at [2,1]" + singular);
  const auto invert = [](Tensor m) { return rc::inverse(m); };
  expect_error<rc::ValueError>([&] { rc::vmap(invert)(stack); }, "inverse: f32[2,2] at [1] in example 2" + singular +
                                                                     "\n  inside vmap over axis 0 of 3{at}");
  expect_error<rc::ValueError>([&] { rc::vmap(rc::vmap(invert))(stack); },
                               "inverse: f32[2,2] in example [2,1]" + singular +
                                   "\n  inside vmap over axis 0 of 4{at}, inside vmap over axis 0 of 3{at}");
  expect_error<rc::ValueError>(
      [&] { rc::vmap(invert, {.chunk_size = 2})(stack); },
      "inverse: f32[2,2] at [1] in example 2" + singular + "\n  inside vmap over axis 0 of 3{at}");
  expect_error<rc::ValueError>([&] { rc::vmap([&](Tensor x) { return rc::inverse(stack[2]) * x; })(rc::ones({4})); },
                               "inverse: f32[2,2] at [1]" + singular + "\n  inside vmap over axis 0 of 4{at}");
}

}  // namespace
