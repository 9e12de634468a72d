// The last lines of an error: the transforms it happened under, innermost first, each with the line of its call, and
// the line of the operation where the program has debug information.
#include <string>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

template <class Call>
std::string text_of(const Call& call) {
  try {
    call();
  } catch (const rc::Error& error) { return error.what(); }
  return "nothing was thrown";
}

std::string here(int line) { return " (nest_errors_test.cpp:" + std::to_string(line) + ")"; }

Tensor fails(Tensor x) { return rc::matmul(x, x); }  // of shape [2,3]: inner sizes differ

TEST(NestErrors, OutsideTransformsThereIsNoNest) {
  const std::string text = text_of([] { fails(rc::ones({2, 3})); });
  EXPECT_EQ(text.find("inside"), std::string::npos) << text;
  EXPECT_TRUE(text.starts_with("matmul: inner sizes differ")) << text;
}

TEST(NestErrors, EachTransformHasTheLineOfItsCall) {
  const auto loss = [](Tensor x) { return fails(x).sum(); };
  const int grad_line = __LINE__ + 1;
  const auto gradient = rc::grad(loss);
  const int vmap_line = __LINE__ + 1;
  const auto mapped = rc::vmap(gradient, {.in_dims = 1});
  const std::string text = text_of([&] { mapped(rc::ones({2, 64, 3})); });
  const std::string nest = "\n  inside grad" + here(grad_line) + ", inside vmap over axis 1 of 64" + here(vmap_line);
  EXPECT_NE(text.find(nest), std::string::npos) << text << "\nexpected " << nest;
}

TEST(NestErrors, JvpHasTheLineOfItsCall) {
  const Tensor x = rc::ones({2, 3});
  const int line = __LINE__ + 1;
  const std::string text = text_of([&] { rc::jvp(fails, x, x); });
  EXPECT_NE(text.find("\n  inside jvp" + here(line)), std::string::npos) << text;
}

TEST(NestErrors, AnErrorOfTheTransformHasTheLineOfItsCall) {
  const int line = __LINE__ + 1;
  const auto mapped = rc::vmap(fails, {.in_dims = 7});
  const std::string text = text_of([&] { mapped(rc::ones({2, 3})); });
  EXPECT_TRUE(text.ends_with("the legal range is [-2, 1]" + here(line))) << text;
}

TEST(NestErrors, AnOperationHasItsOwnLineWhereThereIsDebugInformation) {
  const auto mapped = rc::vmap([](Tensor x) { return rc::matmul(x, x); });
  const int line = __LINE__ - 1;
  const std::string text = text_of([&] { mapped(rc::ones({4, 2, 3})); });
  if (text.find("\n  at ") == std::string::npos) GTEST_SKIP() << "built without debug information";
  EXPECT_TRUE(text.ends_with("\n  at nest_errors_test.cpp:" + std::to_string(line))) << text;
}

std::string nest_text(const std::string& nest) {
  return "matmul: inner sizes differ: left is f32[2,3], right is f32[2,3]; "
         "left axis 1 (3) must equal right axis 0 (2)\n  inside " +
         nest;
}

TEST(NestErrors, EveryTransformHasItsName) {
  const Tensor x = rc::ones({2, 3});
  const auto loss = [](Tensor a) { return fails(a).sum(); };
  expect_error<rc::ValueError>([&] { rc::grad(loss)(x); }, nest_text("grad{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::grad_and_value(loss)(x); }, nest_text("grad_and_value{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::value_and_grad(loss)(x); }, nest_text("value_and_grad{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::vjp(loss, x); }, nest_text("vjp{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::jvp(loss, x, x); }, nest_text("jvp{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::linearize(loss, x); }, nest_text("linearize{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::jacrev(loss)(x); }, nest_text("jacrev{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::jacfwd(loss)(x); }, nest_text("jacfwd{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::hessian(loss)(x); }, nest_text("hessian{at}"), {x});
}

TEST(NestErrors, TheNestIsInnermostFirst) {
  const Tensor x = rc::ones({5, 4, 2, 3});
  const auto loss = [](Tensor a) { return fails(a).sum(); };
  const auto inner = [&](Tensor a) { return rc::vmap(rc::jacrev(loss))(a).sum(); };
  expect_error<rc::ValueError>(
      [&] { rc::vmap(rc::grad(inner))(x); },
      nest_text("jacrev{at}, inside vmap over axis 0 of 4{at}, inside grad{at}, inside vmap over axis 0 of 5{at}"),
      {x});
}

TEST(NestErrors, AnErrorInThePullbackOfATransformLeavesTheStackEmpty) {
  auto [y, pullback] = rc::vjp([](Tensor a) { return a * 2; }, rc::ones({3}));
  EXPECT_THROW(rc::vmap(pullback)(rc::ones({4, 2})), rc::ValueError);
  EXPECT_FALSE(rc::inside_transform());
  expect_values(pullback(rc::ones({3})), {2, 2, 2});
}

TEST(NestErrors, EveryErrorIsAnRcErrorAndARuntimeError) {
  EXPECT_THROW(fails(rc::ones({2, 3})), rc::Error);
  EXPECT_THROW(fails(rc::ones({2, 3})), std::runtime_error);
}

TEST(NestErrors, VjpAndLinearizeHaveTheLineOfTheirCallInEveryForm) {
  const Tensor x = rc::ones({2, 3});
  const auto two = [](Tensor a, Tensor b) { return matmul(a, b); };
  const auto with_aux = [](Tensor a) { return std::pair{fails(a), 1}; };
  expect_error<rc::ValueError>([&] { rc::vjp(two, x, x); }, nest_text("vjp{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::vjp(rc::matmul, x, x); }, nest_text("vjp{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::vjp(fails, x); }, nest_text("vjp{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::vjp(with_aux, rc::has_aux, x); }, nest_text("vjp{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::linearize(two, x, x); }, nest_text("linearize{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::linearize(rc::matmul, x, x); }, nest_text("linearize{at}"), {x});
}

}  // namespace
