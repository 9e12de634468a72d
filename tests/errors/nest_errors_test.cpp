// The last lines of an error: the transforms it happened under, innermost first, each with the line of its call, and
// the line of the operation where the program has debug information.
#include <memory>
#include <string>
#include <vector>

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

TEST(NestErrors, TwoTransformsOfOneLineAreTwo) {
  const Tensor x = rc::ones({2, 2, 2, 3});
  expect_error<rc::ValueError>([&] { rc::vmap([](Tensor row) { return rc::vmap(fails)(row); })(x); },
                               nest_text("vmap over axis 0 of 2{at}, inside vmap over axis 0 of 2{at}"), {x});
}

TEST(NestErrors, AnErrorInThePullbackOfATransformLeavesTheStackEmpty) {
  auto [y, pullback] = rc::vjp([](Tensor a) { return a * 2; }, rc::ones({3}));
  EXPECT_THROW(rc::vmap(pullback)(rc::ones({4, 2})), rc::ValueError);
  EXPECT_FALSE(rc::inside_transform());
  expect_values(pullback(rc::ones({3})), {2, 2, 2});
}

struct FailsInReverse : rc::Function<FailsInReverse> {
  static constexpr bool generate_vmap_rule = true;
  static Tensor forward(const Tensor& x) { return x * 2; }
  static Tensor backward(rc::Context&, const Tensor&) { return fails(rc::ones({2, 3})); }
};

TEST(NestErrors, ARuleThatFailsInReverseNamesTheTransformThatRunsIt) {
  const Tensor x = rc::ones({3});
  const auto loss = [](Tensor a) { return FailsInReverse::apply(a).sum(); };
  expect_error<rc::ValueError>([&] { rc::grad(loss)(x); }, nest_text("grad{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::jacrev(loss)(x); }, nest_text("jacrev{at}"), {x});
  expect_error<rc::ValueError>([&] { rc::vmap(rc::grad(loss))(rc::ones({4, 3})); },
                               nest_text("grad{at}, inside vmap over axis 0 of 4{at}"));
  const auto pull_back = [&](Tensor a) {
    const auto [y, pullback] = rc::vjp(loss, a);
    return pullback(y);
  };
  expect_error<rc::ValueError>([&] { pull_back(x); }, nest_text("vjp{at}"), {x});
  const auto on_a_tape = [&] {
    rc::Tape tape;
    tape.watch(x);
    tape.gradient(loss(x), x);
  };
  expect_error<rc::ValueError>(on_a_tape, nest_text("Tape{at}"), {x});
}

TEST(NestErrors, NoTransformOfTheLibraryItselfIsNamed) {
  const Tensor a = number(4);
  const auto root = [](Tensor b) {
    return rc::custom_root([=](Tensor x) { return x * x - b; }, number(1),
                           [](const auto&, Tensor) { return number(2); },
                           [](const auto&, Tensor y) { return rc::stack({y, y}); });
  };
  expect_error<rc::ValueError>([&] { rc::grad(root)(a); },
                               "custom_root: tangent_solve returned f64[2], but its argument is f64[]; return that "
                               "shape and dtype\n  inside grad{at}",
                               {a});
}

TEST(NestErrors, WhatLinearizeRecordsIsNotSaidOfTheTransformAround) {
  const Tensor x = number(2);
  const auto slope = [](Tensor a) { return rc::linearize([](Tensor b) { return b * b; }, a).second(a); };
  const auto reads = [](Tensor a) {
    const auto read = rc::custom_jvp([](Tensor b) { return b; },
                                     [](std::tuple<Tensor> b, std::tuple<Tensor> t) {
                                       return std::pair{std::get<0>(b), std::get<0>(t) * std::get<0>(t).item()};
                                     });
    return rc::linearize(read, a).second(a);
  };
  expect_values(rc::grad(slope)(x), {8});
  expect_error<rc::TransformError>([&] { rc::grad(reads)(x); },
                                   "item: needs the value of f64[], which is not known while linearize{at} records the "
                                   "function; use where, cond or while_loop\n  inside linearize{at}, inside grad{at}",
                                   {x});
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

TEST(NestErrors, MoreTransformsThanTheStackIsDeepForAreRefused) {
  const Tensor x = rc::ones({});
  std::vector<std::unique_ptr<rc::Tape>> tapes;
  const auto one_more = [&] {
    tapes.push_back(std::make_unique<rc::Tape>());
    tapes.back()->watch(x);
  };
  for (int i = 0; i < 1000; ++i) one_more();
  EXPECT_EQ(tapes.back()->gradient(x * x, x).item(), 2);
  const std::string text = text_of(one_more);
  EXPECT_TRUE(
      text.starts_with("Tape: 1000 transforms run one inside the other on this thread, which is as many as there "
                       "may be; end one before the next begins, or use one tape for all steps"))
      << text;
  tapes.pop_back();
  one_more();  // there is room again
  tapes.clear();
  EXPECT_EQ(x.item(), 1);
}

}  // namespace
