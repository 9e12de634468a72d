// What grad, vjp, jvp, linearize and the Jacobians say of outputs, cotangents and tangents that do not fit, and of
// writes to captured tensors.
#include <map>
#include <string>
#include <tuple>

#include "support/expect_error.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr const char* scalar_wanted = ": the output must be one real floating 0-dim tensor, found ";

TEST(GradErrors, AVectorAsOutput) {
  const Tensor x = rc::ones({3});
  const auto f = [](Tensor a) { return a * 2; };
  const std::string found = scalar_wanted + std::string("f32[3]; reduce it to one number, or use vjp or jacrev{at}");
  expect_error<rc::ValueError>([&] { rc::grad(f)(x); }, "grad" + found, {x});
  expect_error<rc::ValueError>([&] { rc::grad_and_value(f)(x); }, "grad_and_value" + found, {x});
  expect_error<rc::ValueError>([&] { rc::value_and_grad(f)(x); }, "value_and_grad" + found, {x});
}

TEST(GradErrors, AVectorOfOneElementAsOutput) {
  expect_error<rc::ValueError>([] { rc::grad([](Tensor a) { return a * 2; })(rc::ones({1})); },
                               "grad: the output must be one real floating 0-dim tensor, found f32[1]; "
                               "reduce it to one number, or use vjp or jacrev{at}");
}

TEST(GradErrors, AnIntegerAsOutput) {
  const Tensor x = rc::ones({3});
  expect_error<rc::TypeError>([&] { rc::grad([](Tensor a) { return a.sum().to(rc::int64); })(x); },
                              "grad: the output must be one real floating 0-dim tensor, found i64[]; "
                              "compute the loss in a floating dtype{at}",
                              {x});
}

TEST(GradErrors, AComplexNumberAsOutput) {
  const Tensor x = rc::ones({3});
  expect_error<rc::TypeError>([&] { rc::grad([](Tensor a) { return a.sum().to(rc::complex64); })(x); },
                              "grad: the output must be one real floating 0-dim tensor, found c64[]; "
                              "return its real part or its absolute value{at}",
                              {x});
}

TEST(GradErrors, ATupleAsOutput) {
  expect_error<rc::TypeError>([] { rc::grad([](Tensor a) { return std::tuple{a.sum(), a}; })(rc::ones({3})); },
                              "grad: the output must be one real floating 0-dim tensor, found (f32[], f32[3]); "
                              "return the loss alone, or a pair {loss, aux} with rc::has_aux{at}");
}

TEST(GradErrors, ANumberOrNothingAsOutput) {
  expect_error<rc::TypeError>([] { rc::grad([](Tensor x) { return x.sum().item(); })(rc::ones({3})); },
                              "grad: the output must be one real floating 0-dim tensor, found double; "
                              "return the loss alone, or a pair {loss, aux} with rc::has_aux{at}");
  expect_error<rc::TypeError>([] { rc::grad([](Tensor) {})(rc::ones({3})); },
                              "grad: the output must be one real floating 0-dim tensor, found nothing; "
                              "return the loss alone, or a pair {loss, aux} with rc::has_aux{at}");
}

TEST(GradErrors, AVectorAsLossBesideAux) {
  expect_error<rc::ValueError>([] { rc::grad([](Tensor a) { return std::pair{a, a}; }, rc::has_aux)(rc::ones({3})); },
                               "grad: the output must be one real floating 0-dim tensor, found f32[3]; "
                               "reduce it to one number, or use vjp or jacrev{at}");
}

TEST(GradErrors, UnderVmapNameTheTypeOfOneExampleAndTheVmap) {
  const Tensor x = rc::ones({4, 3});
  expect_error<rc::ValueError>([&] { rc::vmap(rc::grad([](Tensor a) { return a * 2; }))(x); },
                               "grad: the output must be one real floating 0-dim tensor, found f32[3]; "
                               "reduce it to one number, or use vjp or jacrev{at}\n"
                               "  inside vmap over axis 0 of 4{at}",
                               {x});
}

TEST(VjpErrors, ACotangentTreeOfAnotherLength) {
  const Tensor x = rc::ones({3});
  auto [y, pullback] = rc::vjp([](Tensor a) { return std::vector<Tensor>{a, a * 2}; }, x);
  expect_error<rc::ValueError>([&, &pull = pullback] { pull(std::vector<Tensor>{x}); },
                               "vjp: the cotangent does not fit the output: the cotangent is [f32[3]], "
                               "the output is [f32[3], f32[3]]; pass a cotangent like the output{at}",
                               {x});
}

TEST(VjpErrors, ACotangentMapWithAnotherKey) {
  using Named = std::map<std::string, Tensor>;
  const Tensor x = rc::ones({3});
  auto [y, pullback] = rc::vjp([](Tensor a) { return Named{{"a", a}}; }, x);
  expect_error<rc::ValueError>([&, &pull = pullback] { pull(Named{{"b", x}}); },
                               "vjp: the cotangent does not fit the output: the cotangent is {\"b\": f32[3]}, "
                               "the output is {\"a\": f32[3]}; pass a cotangent like the output{at}",
                               {x});
}

TEST(VjpErrors, ACotangentOfAnotherShape) {
  const Tensor x = rc::ones({3});
  auto [y, pullback] = rc::vjp([](Tensor a) { return a * 2; }, x);
  expect_error<rc::ValueError>([&, &pull = pullback] { pull(rc::ones({2})); },
                               "vjp: the cotangent does not fit the output: cotangent is f32[2], output is f32[3]; "
                               "pass a cotangent like the output{at}",
                               {x});
}

TEST(VjpErrors, ACotangentLeafOfAnotherShape) {
  const Tensor x = rc::ones({3});
  auto [y, pullback] = rc::vjp([](Tensor a) { return Linear{a, a.sum()}; }, x);
  expect_error<rc::ValueError>([&, &pull = pullback] { pull(Linear{x, x}); },
                               "vjp: the cotangent does not fit the output: cotangent (bias) is f32[3], "
                               "output (bias) is f32[]; pass a cotangent like the output{at}",
                               {x});
}

TEST(VjpErrors, ACotangentOfAnotherDtype) {
  const Tensor x = rc::ones({3});
  auto [y, pullback] = rc::vjp([](Tensor a) { return a * 2; }, x);
  expect_error<rc::TypeError>([&, &pull = pullback] { pull(rc::ones({3}, rc::float64)); },
                              "vjp: the cotangent does not fit the output: cotangent is f64[3], output is f32[3]; "
                              "pass a cotangent like the output{at}",
                              {x});
}

TEST(VjpErrors, ThePullbackWorksAfterARefusedCotangent) {
  const Tensor x = rc::ones({3});
  auto [y, pullback] = rc::vjp([](Tensor a) { return a * 2; }, x);
  EXPECT_THROW(pullback(rc::ones({2})), rc::ValueError);
  expect_values(pullback(x), {2, 2, 2});
}

TEST(VjpErrors, AnIntegerOutput) {
  const Tensor x = rc::ones({3});
  expect_error<rc::TypeError>([&] { rc::vjp([](Tensor a) { return a.to(rc::int64); }, x); },
                              "vjp: output is i64[3], which has no derivative; return it through rc::has_aux{at}", {x});
  expect_error<rc::TypeError>([&] { rc::vjp([](Tensor a) { return std::tuple{a, a.argmax(0)}; }, x); },
                              "vjp: output ([1]) is i64[], which has no derivative; return it through rc::has_aux{at}",
                              {x});
}

TEST(VjpErrors, NoTensorAsOutput) {
  expect_error<rc::TypeError>([] { rc::vjp([](Tensor) { return 3.0; }, rc::ones({3})); },
                              "vjp: the function returned no tensor: the result is double; "
                              "return a Tensor or a tree that holds one{at}");
}

TEST(JvpErrors, TangentsOfAnotherTree) {
  const Tensor x = rc::ones({3});
  const auto f = [](std::vector<Tensor> v) { return v[0]; };
  expect_error<rc::ValueError>([&] { rc::jvp(f, std::vector<Tensor>{x, x}, std::vector<Tensor>{x}); },
                               "jvp: the tangents do not fit the primals: the tangents are ([f32[3]]), "
                               "the primals are ([f32[3], f32[3]]); pass tangents like the primals{at}",
                               {x});
}

TEST(JvpErrors, ATangentOfAnotherShape) {
  const Tensor x = rc::ones({3}), t = rc::ones({2});
  expect_error<rc::ValueError>([&] { rc::jvp([](Tensor a) { return a * 2; }, x, t); },
                               "jvp: the tangents do not fit the primals: tangent 0 is f32[2], primal 0 is f32[3]; "
                               "pass tangents like the primals{at}",
                               {x, t});
}

TEST(JvpErrors, TheSecondTangentOfAnotherShape) {
  const Tensor x = rc::ones({3}), t = rc::ones({2});
  const auto f = [](Tensor a, Tensor b) { return a * b; };
  expect_error<rc::ValueError>([&] { rc::jvp(f, std::tuple{x, x}, std::tuple{x, t}); },
                               "jvp: the tangents do not fit the primals: tangent 1 is f32[2], primal 1 is f32[3]; "
                               "pass tangents like the primals{at}",
                               {x, t});
}

TEST(JvpErrors, ATangentOfAnotherDtype) {
  const Tensor x = rc::ones({3}), t = rc::ones({3}, rc::float64);
  expect_error<rc::TypeError>([&] { rc::jvp([](Tensor a) { return a * 2; }, x, t); },
                              "jvp: the tangents do not fit the primals: tangent 0 is f64[3], primal 0 is f32[3]; "
                              "pass tangents like the primals{at}",
                              {x, t});
}

TEST(JvpErrors, AnIntegerOutput) {
  const Tensor x = rc::ones({3});
  expect_error<rc::TypeError>([&] { rc::jvp([](Tensor a) { return a.to(rc::int64); }, x, x); },
                              "jvp: output is i64[3], which has no derivative; return it through rc::has_aux{at}", {x});
}

TEST(JvpErrors, StrictlyAnOutputThatDoesNotDependOnThePrimals) {
  const Tensor x = rc::ones({3});
  expect_error<rc::TransformError>([&] { rc::jvp([](Tensor) { return rc::ones({2}); }, rc::strict, x, x); },
                                   "jvp: output is f32[2], which does not depend on the primals; "
                                   "drop rc::strict to get a zero tangent{at}",
                                   {x});
  const auto two = [](Tensor a) { return std::tuple{a, rc::ones({2})}; };
  expect_error<rc::TransformError>([&] { rc::jvp(two, rc::strict, x, x); },
                                   "jvp: output ([1]) is f32[2], which does not depend on the primals; "
                                   "drop rc::strict to get a zero tangent{at}",
                                   {x});
}

TEST(LinearizeErrors, TangentsThatDoNotFit) {
  const Tensor x = rc::ones({3});
  auto [y, f_jvp] = rc::linearize([](Tensor a) { return a * 2; }, x);
  expect_error<rc::ValueError>([&, &linear = f_jvp] { linear(rc::ones({2})); },
                               "linearize: the tangents do not fit the primals: tangent 0 is f32[2], "
                               "primal 0 is f32[3]; pass tangents like the primals{at}",
                               {x});
  expect_error<rc::TypeError>([&, &linear = f_jvp] { linear(rc::ones({3}, rc::float64)); },
                              "linearize: the tangents do not fit the primals: tangent 0 is f64[3], "
                              "primal 0 is f32[3]; pass tangents like the primals{at}",
                              {x});
}

TEST(LinearizeErrors, TangentsOfAnotherTree) {
  const Tensor x = rc::ones({3});
  auto [y, f_jvp] = rc::linearize([](std::vector<Tensor> v) { return v[0]; }, std::vector<Tensor>{x, x});
  expect_error<rc::ValueError>([&, &linear = f_jvp] { linear(std::vector<Tensor>{x}); },
                               "linearize: the tangents do not fit the primals: the tangents are ([f32[3]]), "
                               "the primals are ([f32[3], f32[3]]); pass tangents like the primals{at}",
                               {x});
}

TEST(LinearizeErrors, AnIntegerOutput) {
  const Tensor x = rc::ones({3});
  expect_error<rc::TypeError>([&] { rc::linearize([](Tensor a) { return a.to(rc::int64); }, x); },
                              "linearize: output is i64[3], which has no derivative; return it through rc::has_aux{at}",
                              {x});
}

TEST(JacobianErrors, ComplexInputs) {
  const Tensor z = rc::ones({3}).to(rc::complex64);
  const auto f = [](Tensor a) { return a.abs(); };
  const std::string text = ": argument 0 is c64[3]; Jacobians take real inputs: pass view_as_real of it{at}";
  expect_error<rc::TypeError>([&] { rc::jacrev(f)(z); }, "jacrev" + text);
  expect_error<rc::TypeError>([&] { rc::jacfwd(f)(z); }, "jacfwd" + text);
  expect_error<rc::TypeError>([&] { rc::hessian(f)(z); }, "hessian" + text);
}

TEST(JacobianErrors, AComplexInputInATree) {
  const Linear layer{rc::ones({2}), rc::ones({3}).to(rc::complex64)};
  expect_error<rc::TypeError>(
      [&] { rc::jacrev<1>([](Tensor a, Linear) { return a; })(rc::ones({2}), layer); },
      "jacrev: argument 1 (bias) is c64[3]; Jacobians take real inputs: pass view_as_real of it{at}");
}

TEST(JacobianErrors, ComplexOutputs) {
  const Tensor x = rc::ones({3});
  const auto f = [](Tensor a) { return a.to(rc::complex64); };
  const std::string text = ": output is c64[3]; Jacobians take real outputs: return view_as_real of it{at}";
  expect_error<rc::TypeError>([&] { rc::jacrev(f)(x); }, "jacrev" + text, {x});
  expect_error<rc::TypeError>([&] { rc::jacfwd(f)(x); }, "jacfwd" + text, {x});
}

TEST(JacobianErrors, IntegerOutputs) {
  const Tensor x = rc::ones({3});
  const auto f = [](Tensor a) { return a.to(rc::int64); };
  const std::string text = ": output is i64[3], which has no derivative; return it through rc::has_aux{at}";
  expect_error<rc::TypeError>([&] { rc::jacrev(f)(x); }, "jacrev" + text, {x});
  expect_error<rc::TypeError>([&] { rc::jacfwd(f)(x); }, "jacfwd" + text, {x});
}

TEST(JacobianErrors, NoTensorAsOutput) {
  expect_error<rc::TypeError>([] { rc::jacrev([](Tensor) { return 3.0; })(rc::ones({3})); },
                              "jacrev: the function returned no tensor: the result is double; "
                              "return a Tensor or a tree that holds one{at}");
  expect_error<rc::TypeError>([] { rc::jacfwd([](Tensor) { return std::vector<Tensor>(); })(rc::ones({3})); },
                              "jacfwd: the function returned no tensor: the result is []; "
                              "return a Tensor or a tree that holds one{at}");
}

TEST(JacobianErrors, ChunkSizeOfZeroOrLess) {
  const Tensor x = rc::ones({3});
  expect_error<rc::ValueError>([&] { rc::jacrev(rc::sin, {.chunk_size = 0})(x); },
                               "jacrev: chunk_size is 0; it must be at least 1{at}", {x});
  expect_error<rc::ValueError>([&] { rc::jacfwd(rc::sin, {.chunk_size = -1})(x); },
                               "jacfwd: chunk_size is -1; it must be at least 1{at}", {x});
  expect_error<rc::ValueError>([&] { rc::hessian(rc::sum, {.chunk_size = 0})(x); },
                               "hessian: chunk_size is 0; it must be at least 1{at}", {x});
}

std::string captured_text(const std::string& operation, const std::string& type, const std::string& who) {
  return operation + ": the target " + type + " was captured from outside " + who +
         "; a function under differentiation writes only to its arguments and to what it creates: "
         "pass it as an argument, or write to a clone()\n  inside " +
         who;
}

TEST(CapturedWriteErrors, UnderEveryDerivativeTransform) {
  const Tensor captured = rc::ones({3}), x = rc::ones({3});
  const auto f = [&](Tensor a) {
    captured.add_(a);
    return a.sum();
  };
  expect_error<rc::TransformError>([&] { rc::grad(f)(x); }, captured_text("add_", "f32[3]", "grad{at}"), {captured, x});
  expect_error<rc::TransformError>([&] { rc::grad_and_value(f)(x); },
                                   captured_text("add_", "f32[3]", "grad_and_value{at}"), {captured, x});
  expect_error<rc::TransformError>([&] { rc::vjp(f, x); }, captured_text("add_", "f32[3]", "vjp{at}"), {captured, x});
  expect_error<rc::NotImplementedError>(
      [&] { rc::trace(f)(x); },
      "add_: the target f32[3] was captured from outside trace{at}; a recorded function writes only to its arguments "
      "and to what it creates: pass it as an argument (in a loop, make it a part of the state), or return the new "
      "value\n  inside trace{at}",
      {captured, x});
  expect_error<rc::TransformError>([&] { rc::jvp(f, x, x); }, captured_text("add_", "f32[3]", "jvp{at}"),
                                   {captured, x});
  expect_error<rc::TransformError>([&] { rc::linearize(f, x); }, captured_text("add_", "f32[3]", "linearize{at}"),
                                   {captured, x});
  expect_error<rc::TransformError>([&] { rc::jacrev(f)(x); }, captured_text("add_", "f32[3]", "jacrev{at}"),
                                   {captured, x});
  expect_error<rc::TransformError>([&] { rc::jacfwd(f)(x); }, captured_text("add_", "f32[3]", "jacfwd{at}"),
                                   {captured, x});
  expect_error<rc::TransformError>([&] { rc::hessian(f)(x); }, captured_text("add_", "f32[3]", "hessian{at}"),
                                   {captured, x});
}

TEST(CapturedWriteErrors, ThroughAView) {
  const Tensor captured = rc::ones({2, 3}), x = rc::ones({3});
  const auto f = [&](Tensor a) {
    captured[1].copy_(a);
    return a.sum();
  };
  expect_error<rc::TransformError>([&] { rc::grad(f)(x); }, captured_text("copy_", "f32[3]", "grad{at}"),
                                   {captured, x});
}

TEST(CapturedWriteErrors, OfAConstantToo) {
  const Tensor captured = rc::ones({2}), x = rc::ones({3});
  const auto f = [&](Tensor a) {
    captured.fill_(7);
    return a.sum();
  };
  expect_error<rc::TransformError>([&] { rc::grad(f)(x); }, captured_text("fill_", "f32[2]", "grad{at}"),
                                   {captured, x});
}

TEST(CapturedWriteErrors, WithAnOutTensor) {
  const Tensor captured = rc::ones({3}), x = rc::ones({3});
  const auto f = [&](Tensor a) {
    rc::add_out(captured, a, a);
    return a.sum();
  };
  expect_error<rc::TransformError>([&] { rc::grad(f)(x); }, captured_text("add_out", "f32[3]", "grad{at}"),
                                   {captured, x});
}

TEST(CapturedWriteErrors, OfAValueOfTheOuterGradInTheInnerOne) {
  const Tensor x = rc::ones({3});
  const auto outer = [](Tensor a) {
    const Tensor mine = a * 2;
    return rc::grad([&](Tensor b) {
             mine.add_(b);
             return b.sum();
           })(a)
        .sum();
  };
  expect_error<rc::TransformError>([&] { rc::grad(outer)(x); },
                                   captured_text("add_", "f32[3]", "grad{at}") + ", inside grad{at}", {x});
}

TEST(UndefinedErrors, AsAnOutput) {
  const Tensor x = rc::ones({3});
  const auto none = [](Tensor) { return Tensor(); };
  const auto half = [](Tensor a) { return Linear{a, Tensor()}; };
  const std::string text = ": output is an undefined Tensor; give it a value first{at}";
  const std::string leaf = ": output (bias) is an undefined Tensor; give it a value first{at}";
  expect_error<rc::ValueError>([&] { rc::vjp(none, x); }, "vjp" + text, {x});
  expect_error<rc::ValueError>([&] { rc::vjp(half, x); }, "vjp" + leaf, {x});
  expect_error<rc::ValueError>([&] { rc::jvp(half, x, x); }, "jvp" + leaf, {x});
  expect_error<rc::ValueError>([&] { rc::linearize(half, x); }, "linearize" + leaf, {x});
  expect_error<rc::ValueError>([&] { rc::jacrev(none)(x); }, "jacrev" + text, {x});
  expect_error<rc::ValueError>([&] { rc::jacfwd(none)(x); }, "jacfwd" + text, {x});
  expect_error<rc::ValueError>(
      [&] { rc::trace(half)(x); },
      "trace: result (bias) is an undefined Tensor; give it a value first{at}\n  inside trace{at}", {x});
  expect_error<rc::ValueError>([&] { rc::vmap(none)(x); },
                               "vmap: result is an undefined Tensor; give it a value first{at}", {x});
  int runs = 0;
  const auto sometimes = [&](Tensor a) { return Linear{a, ++runs == 2 ? Tensor() : a}; };
  expect_error<rc::ValueError>([&] { rc::vmap(sometimes, {.chunk_size = 1})(x); },
                               "vmap: result (bias) is an undefined Tensor for some examples; give it a value for all, "
                               "or for none{at}",
                               {x});
}

TEST(UndefinedErrors, AsATangentOrCotangent) {
  const Tensor x = rc::ones({3});
  const auto apply = [](Linear l) { return Linear{l.weight * 2, l.bias}; };
  const Linear point{x, x}, half{x, Tensor()};
  const std::string tangent =
      ": the tangents do not fit the primals: tangent 0 (bias) is undefined, primal 0 (bias) is f32[3]; "
      "pass tangents like the primals{at}";
  expect_error<rc::ValueError>([&] { rc::jvp(apply, point, half); }, "jvp" + tangent, {x});
  auto [y, f_jvp] = rc::linearize(apply, point);
  expect_error<rc::ValueError>([&, &f = f_jvp] { f(half); }, "linearize" + tangent, {x});
  auto [z, pullback] = rc::vjp(apply, point);
  expect_error<rc::ValueError>([&, &pull = pullback] { pull(half); },
                               "vjp: the cotangent does not fit the output: cotangent (bias) is undefined, "
                               "output (bias) is f32[3]; pass a cotangent like the output{at}",
                               {x});
}

TEST(UndefinedErrors, NoneAsTheTangentOfAnInteger) {
  const Tensor x = rc::ones({3}), places = rc::tensor({2, 0, 1});
  const auto take = [](Linear l) { return rc::index_select(l.weight, 0, l.bias); };
  auto [y, tangent] = rc::jvp(take, Linear{x, places}, Linear{x * 2, Tensor()});
  expect_values(tangent, {2, 2, 2});
}

TEST(GradErrors, AnUndefinedResultIsSaidToBeOne) {
  const Tensor x = rc::ones({});
  expect_error<rc::ValueError>([&] { rc::grad([](Tensor) { return Tensor(); })(x); },
                               "grad: output is an undefined Tensor; give it a value first{at}", {x});
}

}  // namespace
