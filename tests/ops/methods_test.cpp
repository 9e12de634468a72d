// Methods of Tensor that stand for the free function of the same name, and in-place methods, held against the operation
// that they are the in-place form of. That none is missing: tools/check_methods.py.
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(Methods, RearrangeAndInvert) {
  const Tensor x = ramp({2, 3}), a = doubles({2, 0, 0, 4}, {2, 2});
  expect_equal(x.flip(1), rc::flip(x, 1));
  expect_equal(x.roll(1), rc::roll(x, 1));
  expect_equal(x.roll(1, 1), rc::roll(x, 1, 1));
  expect_equal(x.repeat({2, 1}), rc::repeat(x, {2, 1}));
  expect_equal(x.tile({2}), rc::tile(x, {2}));
  expect_values(a.inverse(), {0.5, 0, 0, 0.25});
  expect_equal(rc::inv(a), a.inverse());
  expect_equal(x.tril(-1), rc::tril(x, -1));
  expect_equal(x.triu(), rc::triu(x));
  expect_equal(x.repeat_interleave(2, 1), rc::repeat_interleave(x, 2, 1));
  expect_equal(x.broadcast_to({2, 2, 3}), rc::broadcast_to(x, {2, 2, 3}));
  EXPECT_EQ(x.tensor_split({1}, 1).size(), 2U);
  EXPECT_EQ(x.tensor_split(2, 1)[0].size(1), 2);
  EXPECT_EQ(x.split({1, 2}, 1)[1].size(1), 2);
  EXPECT_EQ(x.chunk(2).size(), 2U);
}

TEST(Methods, UnflattenMakesAxesOfOne) {
  const Tensor x = ramp({2, 12});
  expect_equal(x.unflatten(-1, {3, -1}), x.reshape({2, 3, 4}));
  expect_equal(x.unflatten(0, {1, 2}), x.reshape({1, 2, 12}));
  expect_equal(rc::vmap([](Tensor row) { return rc::unflatten(row, 0, {3, 4}); })(x), x.reshape({2, 3, 4}));
  expect_equal(rc::zeros({2, 0}).unflatten(1, {0, -1}), rc::zeros({2, 0, 0}));
  for (const rc::Shape& sizes : {rc::Shape{5, -1}, rc::Shape{-1, -1}, rc::Shape{-3, -4}})
    expect_error<rc::ValueError>([&] { x.unflatten(1, sizes); },
                                 "unflatten: axis 1 has the size [12], which the sizes " + to_string(sizes) +
                                     " do not make up; give sizes whose product it is, one of them -1 to be found");
  EXPECT_THROW(x.unflatten(2, {1}), rc::IndexError);
  const rc::Program program = rc::trace([](Tensor x) { return x.unflatten(0, {-1, 2}); })(ramp({6}));
  expect_equal(program({ramp({8})})[0], ramp({8}).reshape({4, 2}));  // the size stays open
}

TEST(Methods, TellStridesAndTakeTypes) {
  const Tensor x = ramp({2, 3});
  EXPECT_EQ(x.stride(0), 3);
  EXPECT_EQ(x.mT().stride(-1), 3);
  EXPECT_THROW(x.stride(2), rc::IndexError);
  EXPECT_EQ(x.type_as(rc::zeros({1}, rc::int32)).dtype(), rc::int32);
}

// ── every method that is a function of tensors ──

struct UnaryMethod {
  const char* name;
  Tensor (Tensor::*method)() const;
  Tensor (*function)(const Tensor&);
};
struct BinaryMethod {
  const char* name;
  Tensor (Tensor::*method)(const Tensor&) const;
  Tensor (*function)(const Tensor&, const Tensor&);
};
#define RICCI_METHOD(f) {#f, &Tensor::f, rc::f}

void expect_alike(const Tensor& got, const Tensor& expected) {
  EXPECT_EQ(sizes(got), sizes(expected));
  EXPECT_EQ(got.dtype(), expected.dtype());
  expect_values(got, values(expected));
}

TEST(Methods, OfOneTensorAreTheFunctionsOfTheirNames) {
  const std::vector<UnaryMethod> methods = {
      RICCI_METHOD(abs),     RICCI_METHOD(acos),        RICCI_METHOD(acosh),      RICCI_METHOD(all),
      RICCI_METHOD(amax),    RICCI_METHOD(amin),        RICCI_METHOD(angle),      RICCI_METHOD(any),
      RICCI_METHOD(argmax),  RICCI_METHOD(argmin),      RICCI_METHOD(argsort),    RICCI_METHOD(asin),
      RICCI_METHOD(asinh),   RICCI_METHOD(atan),        RICCI_METHOD(atanh),      RICCI_METHOD(ceil),
      RICCI_METHOD(conj),    RICCI_METHOD(cos),         RICCI_METHOD(cosh),       RICCI_METHOD(count_nonzero),
      RICCI_METHOD(deg2rad), RICCI_METHOD(diag),        RICCI_METHOD(diag_embed), RICCI_METHOD(digamma),
      RICCI_METHOD(erf),     RICCI_METHOD(erfc),        RICCI_METHOD(exp),        RICCI_METHOD(exp2),
      RICCI_METHOD(expm1),   RICCI_METHOD(flatten),     RICCI_METHOD(floor),      RICCI_METHOD(frac),
      RICCI_METHOD(imag),    RICCI_METHOD(isfinite),    RICCI_METHOD(isinf),      RICCI_METHOD(isnan),
      RICCI_METHOD(lgamma),  RICCI_METHOD(log),         RICCI_METHOD(log10),      RICCI_METHOD(log1p),
      RICCI_METHOD(log2),    RICCI_METHOD(logical_not), RICCI_METHOD(logsumexp),  RICCI_METHOD(max),
      RICCI_METHOD(mean),    RICCI_METHOD(median),      RICCI_METHOD(min),        RICCI_METHOD(nan_to_num),
      RICCI_METHOD(neg),     RICCI_METHOD(nonzero),     RICCI_METHOD(norm),       RICCI_METHOD(positive),
      RICCI_METHOD(prod),    RICCI_METHOD(rad2deg),     RICCI_METHOD(real),       RICCI_METHOD(reciprocal),
      RICCI_METHOD(relu),    RICCI_METHOD(round),       RICCI_METHOD(rsqrt),      RICCI_METHOD(sgn),
      RICCI_METHOD(sigmoid), RICCI_METHOD(sign),        RICCI_METHOD(sin),        RICCI_METHOD(sinh),
      RICCI_METHOD(sqrt),    RICCI_METHOD(square),      RICCI_METHOD(squeeze),    RICCI_METHOD(std),
      RICCI_METHOD(sum),     RICCI_METHOD(tan),         RICCI_METHOD(tanh),       RICCI_METHOD(trace),
      RICCI_METHOD(tril),    RICCI_METHOD(triu),        RICCI_METHOD(trunc),      RICCI_METHOD(unique),
      RICCI_METHOD(var)};
  const Tensor x = ramp({2, 3}) - 0.9;
  for (const auto& [name, method, function] : methods) {
    SCOPED_TRACE(name);
    expect_alike((x.*method)(), function(x));
  }
}

TEST(Methods, OfTwoTensorsAreTheFunctionsOfTheirNames) {
  const std::vector<BinaryMethod> methods = {
      RICCI_METHOD(add),         RICCI_METHOD(atan2),      RICCI_METHOD(clamp_max),   RICCI_METHOD(sub),
      RICCI_METHOD(mul),         RICCI_METHOD(div),        RICCI_METHOD(pow),         RICCI_METHOD(clamp_min),
      RICCI_METHOD(copysign),    RICCI_METHOD(eq),         RICCI_METHOD(ne),          RICCI_METHOD(lt),
      RICCI_METHOD(le),          RICCI_METHOD(gt),         RICCI_METHOD(ge),          RICCI_METHOD(fmax),
      RICCI_METHOD(fmin),        RICCI_METHOD(fmod),       RICCI_METHOD(hypot),       RICCI_METHOD(floor_divide),
      RICCI_METHOD(inner),       RICCI_METHOD(isclose),    RICCI_METHOD(kron),        RICCI_METHOD(logaddexp),
      RICCI_METHOD(logical_and), RICCI_METHOD(logical_or), RICCI_METHOD(logical_xor), RICCI_METHOD(max),
      RICCI_METHOD(min),         RICCI_METHOD(maximum),    RICCI_METHOD(minimum),     RICCI_METHOD(remainder),
      RICCI_METHOD(xlogy),       RICCI_METHOD(cross)};
  const Tensor x = ramp({2, 3}) - 0.6, y = ramp({2, 3}).flip(1);
  for (const auto& [name, method, function] : methods) {
    SCOPED_TRACE(name);
    expect_alike((x.*method)(y), function(x, y));
  }
#undef RICCI_METHOD
  const Tensor i = rc::tensor({6, 3}), j = rc::tensor({1, 2}), v = ramp({3}), w = v * v;
  expect_equal(i.bitwise_and(j), i & j);
  expect_equal(i.bitwise_or(j), i | j);
  expect_equal(i.bitwise_xor(j), i ^ j);
  expect_equal(i.bitwise_not(), ~i);
  expect_equal(i.bitwise_left_shift(j), rc::bitwise_left_shift(i, j));
  expect_equal(i.bitwise_right_shift(j), rc::bitwise_right_shift(i, j));
  expect_equal(v.outer(w), rc::outer(v, w));
  expect_equal(v.vdot(w), rc::vdot(v, w));
  EXPECT_TRUE(v.equal(v.clone()));
  EXPECT_FALSE(v.allclose(w));
  EXPECT_TRUE(v.allclose(w, 0, 10));
}

TEST(Methods, OfSeveralArgumentsAreTheFunctionsOfTheirNames) {
  const Tensor x = ramp({2, 3}), y = x + 1, square = doubles({2, 1, 1, 3}, {2, 2}), places = rc::tensor({1, 0});
  expect_equal(x.addcmul(x, y), rc::addcmul(x, x, y));
  expect_equal(x.addcdiv(x, y), rc::addcdiv(x, x, y));
  expect_equal(x.lerp(y, 0.3), rc::lerp(x, y, 0.3));
  expect_equal(x.where(x > 0.6, y), rc::where(x > 0.6, x, y));
  expect_equal(x.polygamma(1), rc::polygamma(1, x));
  expect_equal(square.addmm(x, y.t()), rc::addmm(square, x, y.t()));
  expect_equal(square.det(), rc::det(square));
  expect_equal(square.logdet(), rc::logdet(square));
  expect_equal(square.slogdet().second, rc::slogdet(square).second);
  expect_equal(square.matrix_power(3), rc::matrix_power(square, 3));
  expect_equal(square.cholesky(), rc::cholesky(square));
  expect_equal(x.cholesky_solve(square.cholesky()), rc::cholesky_solve(x, rc::cholesky(square)));
  expect_equal(std::get<1>(x.svd()), std::get<1>(rc::svd(x)));
  expect_equal(x.sort(1, true).first, rc::sort(x, 1, true).first);
  expect_equal(x.argsort(0, true), rc::argsort(x, 0, true));
  expect_equal(x.topk(2, 1, false).second, rc::topk(x, 2, 1, false).second);
  expect_equal(x.median(1).first, rc::median(x, 1).first);
  expect_equal(x.logcumsumexp(1), rc::logcumsumexp(x, 1));
  expect_equal(x.take(places), rc::take(x, places));
  expect_equal(x.take_along_dim(rc::argsort(x, 1, true), 1), rc::take_along_dim(x, rc::argsort(x, 1, true), 1));
  expect_equal(x.index_add(0, places, y), rc::index_add(x, 0, places, y));
  expect_equal(x.index_fill(1, places, 7), rc::index_fill(x, 1, places, 7));
  expect_equal(x.index_put({places}, 7), rc::index_put(x, {places}, 7));
  expect_equal(x.slice_scatter(rc::zeros({2, 1}), 1, 0, 1, 1), rc::slice_scatter(x, rc::zeros({2, 1}), 1, 0, 1, 1));
  expect_equal(x.select_scatter(rc::zeros({3}), 0, 1), rc::select_scatter(x, rc::zeros({3}), 0, 1));
  expect_equal(x.diagonal_scatter(rc::zeros({2}), 0, 0, 1), rc::diagonal_scatter(x, rc::zeros({2}), 0, 0, 1));
  expect_equal(x.nonzero({.size = 2}), rc::nonzero(x, {.size = 2}));
  expect_equal(x.unique({.size = 2}), rc::unique(x, {.size = 2}));
  expect_equal(x.masked_select(x > 0.6, {.size = 2}), rc::masked_select(x, x > 0.6, {.size = 2}));
  rc::Generator one(3), other(3);
  const Tensor p = rc::full({8}, 0.5, rc::float64);
  expect_equal(p.bernoulli({.generator = one}), rc::bernoulli(p, {.generator = other}));
  expect_equal(p.multinomial(3, true, {.generator = one}), rc::multinomial(p, 3, true, {.generator = other}));
}

// ── arguments in PyTorch's places ──

TEST(Reductions, TakeKeepdimAsPyTorchDoes) {
  const Tensor x = doubles({1, 5, 2, 7, 3, 4}, {2, 3});
  EXPECT_EQ(sizes(x.max(1, true).first), (Sizes{2, 1}));
  EXPECT_EQ(sizes(x.min(1U, true).second), (Sizes{2, 1}));
  EXPECT_EQ(sizes(x.argmax(1, true)), (Sizes{2, 1}));
  EXPECT_EQ(sizes(x.argmin(0, true)), (Sizes{1, 3}));
  EXPECT_EQ(sizes(x.prod(0, true)), (Sizes{1, 3}));
  EXPECT_EQ(sizes(x.amax(0, true)), (Sizes{1, 3}));
  EXPECT_EQ(sizes(x.any(0, true)), (Sizes{1, 3}));
  EXPECT_EQ(sizes(x.logsumexp(1, true)), (Sizes{2, 1}));
  expect_values(x.norm(2, 0), {std::sqrt(50.), std::sqrt(34.), std::sqrt(20.)});
  EXPECT_EQ(sizes(x.norm(2, 0, true)), (Sizes{1, 3}));
  expect_values(x.max(3.5), {3.5, 5, 3.5, 7, 3.5, 4});
}

TEST(Reductions, TakeABooleanAloneForAllAxes) {
  const Tensor x = doubles({1, 5, 2, 7, 3, 4}, {2, 3});
  for (const Tensor& kept :
       {rc::sum(x, true), rc::mean(x, true), rc::amax(x, true), rc::amin(x, true), rc::any(x, true), rc::all(x, true),
        rc::logsumexp(x, true), x.sum(true), x.mean(true), x.amax(true)})
    EXPECT_EQ(sizes(kept), (Sizes{1, 1}));
  EXPECT_EQ(sizes(rc::sum(x, false)), Sizes{});
  expect_values(rc::sum(x, true), {22});
  EXPECT_EQ(sizes(rc::sum(x, 0)), (Sizes{3}));  // an axis
  EXPECT_EQ(sizes(rc::sum(x, 1)), (Sizes{2}));
}

TEST(Reductions, TakeABooleanForUnbiasedInMoments) {
  const Tensor x = doubles({1, 5, 2, 8}, {2, 2});
  expect_values(rc::var(x, false), {7.5});
  expect_values(rc::var(x, true), {10});
  expect_values(rc::std(x, false), {std::sqrt(7.5)});
  expect_values(x.var(false), {7.5});
  expect_values(x.std(true), {std::sqrt(10.)});
  expect_values(rc::var(x, 1, false), {4, 9});
  expect_values(x.std(1, false), {2, 3});
  EXPECT_EQ(sizes(x.var(1, 0, true)), (Sizes{2, 1}));
}

TEST(Reductions, ArePassedByName) {
  const Tensor x = ramp({2, 3});
  expect_equal(rc::grad(rc::sum)(x), rc::ones({2, 3}, rc::float64));
  EXPECT_EQ(sizes(rc::vmap(rc::std)(x)), (Sizes{2}));
  EXPECT_EQ(sizes(rc::vmap(rc::amax)(x)), (Sizes{2}));
  EXPECT_EQ(sizes(rc::vmap(rc::logsumexp)(x)), (Sizes{2}));
}

TEST(OptionalTensors, AreLeftOutByNone) {
  const Tensor x = doubles({-1, 0.5, 2});
  expect_values(rc::clamp(x, rc::none, 1), {-1, 0.5, 1});
  expect_values(x.clamp(0, rc::none), {0, 0.5, 2});
  x.clone().clamp_(rc::none, 1);
  EXPECT_FALSE(Tensor(rc::none).defined());
  expect_values(rc::linear(x, doubles({1, 1, 1}, {1, 3}), rc::none), {1.5});
  std::optional<Tensor> nothing = Tensor(1);
  nothing = rc::none;
  EXPECT_FALSE(nothing.has_value());
}

// ── in place ──

struct InPlace {
  const char* name;
  const Tensor& (*write)(const Tensor&);
  Tensor (*compute)(const Tensor&);
  double low = 0.1, high = 0.9;  // where the operation is defined and smooth
  bool integers = false;
  bool matrix = false;  // needs two axes
};

#define RICCI_UNARY(f)                                                                                          \
  InPlace {                                                                                                     \
    #f "_", [](const Tensor& x) -> const Tensor& { return x.f##_(); }, [](const Tensor& x) { return rc::f(x); } \
  }
#define RICCI_BINARY(f, y)                                                                                          \
  InPlace {                                                                                                         \
    #f "_", [](const Tensor& x) -> const Tensor& { return x.f##_(y); }, [](const Tensor& x) { return rc::f(x, y); } \
  }

std::vector<InPlace> in_place_forms() {
  std::vector<InPlace> forms = {RICCI_UNARY(abs),
                                RICCI_UNARY(acos),
                                RICCI_UNARY(asin),
                                RICCI_UNARY(asinh),
                                RICCI_UNARY(atan),
                                RICCI_UNARY(atanh),
                                RICCI_UNARY(ceil),
                                RICCI_UNARY(cos),
                                RICCI_UNARY(cosh),
                                RICCI_UNARY(deg2rad),
                                RICCI_UNARY(digamma),
                                RICCI_UNARY(erf),
                                RICCI_UNARY(erfc),
                                RICCI_UNARY(exp),
                                RICCI_UNARY(exp2),
                                RICCI_UNARY(expm1),
                                RICCI_UNARY(floor),
                                RICCI_UNARY(frac),
                                RICCI_UNARY(lgamma),
                                RICCI_UNARY(log),
                                RICCI_UNARY(log10),
                                RICCI_UNARY(log1p),
                                RICCI_UNARY(log2),
                                RICCI_UNARY(logical_not),
                                RICCI_UNARY(nan_to_num),
                                RICCI_UNARY(neg),
                                RICCI_UNARY(rad2deg),
                                RICCI_UNARY(reciprocal),
                                RICCI_UNARY(relu),
                                RICCI_UNARY(round),
                                RICCI_UNARY(rsqrt),
                                RICCI_UNARY(sgn),
                                RICCI_UNARY(sigmoid),
                                RICCI_UNARY(sign),
                                RICCI_UNARY(sin),
                                RICCI_UNARY(sinh),
                                RICCI_UNARY(sqrt),
                                RICCI_UNARY(square),
                                RICCI_UNARY(tan),
                                RICCI_UNARY(tanh),
                                RICCI_UNARY(trunc),
                                RICCI_BINARY(add, 0.5),
                                RICCI_BINARY(sub, 0.5),
                                RICCI_BINARY(mul, 0.5),
                                RICCI_BINARY(div, 0.5),
                                RICCI_BINARY(pow, 1.5),
                                RICCI_BINARY(atan2, 0.5),
                                RICCI_BINARY(clamp_max, 0.5),
                                RICCI_BINARY(clamp_min, 0.5),
                                RICCI_BINARY(copysign, -1.),
                                RICCI_BINARY(floor_divide, 0.25),
                                RICCI_BINARY(fmod, 0.25),
                                RICCI_BINARY(remainder, -0.25),
                                RICCI_BINARY(hypot, 0.5),
                                RICCI_BINARY(xlogy, 0.5),
                                RICCI_BINARY(eq, 0.5),
                                RICCI_BINARY(ne, 0.5),
                                RICCI_BINARY(lt, 0.5),
                                RICCI_BINARY(le, 0.5),
                                RICCI_BINARY(gt, 0.5),
                                RICCI_BINARY(ge, 0.5),
                                RICCI_BINARY(logical_and, 0.),
                                RICCI_BINARY(logical_or, 0.),
                                RICCI_BINARY(logical_xor, 1.),
                                RICCI_BINARY(cumsum, 0),
                                RICCI_BINARY(cumprod, 0)};
  const std::vector<InPlace> others = {
      {"acosh_", [](const Tensor& x) -> const Tensor& { return x.acosh_(); },
       [](const Tensor& x) { return rc::acosh(x); }, 1.1, 3},
      {"polygamma_", [](const Tensor& x) -> const Tensor& { return x.polygamma_(1); },
       [](const Tensor& x) { return rc::polygamma(1, x); }},
      {"addcmul_", [](const Tensor& x) -> const Tensor& { return x.addcmul_(0.5, 3.); },
       [](const Tensor& x) { return rc::addcmul(x, 0.5, 3.); }},
      {"addcdiv_", [](const Tensor& x) -> const Tensor& { return x.addcdiv_(0.5, 3.); },
       [](const Tensor& x) { return rc::addcdiv(x, 0.5, 3.); }},
      {"lerp_", [](const Tensor& x) -> const Tensor& { return x.lerp_(0.5, 0.3); },
       [](const Tensor& x) { return rc::lerp(x, 0.5, 0.3); }},
      {"clamp_", [](const Tensor& x) -> const Tensor& { return x.clamp_(0.3, 0.6); },
       [](const Tensor& x) { return rc::clamp(x, 0.3, 0.6); }},
      {"index_add_",
       [](const Tensor& x) -> const Tensor& { return x.index_add_(0, rc::tensor({1}), rc::ones({1, 3}, rc::float64)); },
       [](const Tensor& x) { return rc::index_add(x, 0, rc::tensor({1}), rc::ones({1, 3}, rc::float64)); }},
      {"index_fill_", [](const Tensor& x) -> const Tensor& { return x.index_fill_(0, rc::tensor({1}), 0.5); },
       [](const Tensor& x) { return rc::index_fill(x, 0, rc::tensor({1}), 0.5); }},
  };
  forms.insert(forms.end(), others.begin(), others.end());
  for (InPlace form :
       {RICCI_UNARY(tril), RICCI_UNARY(triu), RICCI_BINARY(tril, 1), RICCI_BINARY(triu, -1),
        InPlace{
            "addmm_",
            [](const Tensor& x) -> const Tensor& { return x.addmm_(rc::eye(3, rc::float64), rc::eye(3, rc::float64)); },
            [](const Tensor& x) { return rc::addmm(x, rc::eye(3, rc::float64), rc::eye(3, rc::float64)); }}}) {
    form.matrix = true;
    forms.push_back(form);
  }
  for (InPlace form :
       {RICCI_BINARY(bitwise_and, 5), RICCI_BINARY(bitwise_or, 5), RICCI_BINARY(bitwise_xor, 5),
        RICCI_UNARY(bitwise_not), RICCI_BINARY(bitwise_left_shift, 1), RICCI_BINARY(bitwise_right_shift, 1)}) {
    form.integers = true;
    forms.push_back(form);
  }
  return forms;
}
#undef RICCI_BINARY
#undef RICCI_UNARY

/// [3, 3] of numbers where the form is defined.
Tensor operand(const InPlace& form) {
  const Tensor x = rc::linspace(form.low, form.high, 9, rc::float64).reshape({3, 3}).clone();
  return form.integers ? (x * 20).to(rc::int32) : x;
}

TEST(InPlaceForms, WriteWhatTheOperationGivesIntoTheTensor) {
  for (const InPlace& form : in_place_forms()) {
    SCOPED_TRACE(form.name);
    const Tensor x = operand(form), expected = form.compute(x).to(x.dtype()), alias = x;
    EXPECT_TRUE(form.write(x).is_same(x));
    expect_equal(alias, expected);
  }
}

TEST(InPlaceForms, WriteThroughViewsToTheirBase) {
  for (const InPlace& form : in_place_forms()) {
    SCOPED_TRACE(form.name);
    const Tensor base = rc::stack({operand(form), operand(form)}, 2), view = base.select(2, 1).t();
    const Tensor expected = form.compute(view).to(view.dtype()).clone(), beside = base.select(2, 0).clone();
    form.write(view);
    expect_equal(base.select(2, 1).t(), expected);
    expect_equal(base.select(2, 0), beside);
  }
}

TEST(InPlaceForms, WriteForEachExample) {
  for (const InPlace& form : in_place_forms()) {
    SCOPED_TRACE(form.name);
    const Tensor xs = rc::stack({operand(form), operand(form).flip(0)});
    const Tensor expected = rc::stack({form.compute(xs[0]), form.compute(xs[1])}).to(xs.dtype());
    rc::vmap([&](Tensor x) { return form.write(x); })(xs);
    expect_close(xs, expected);
  }
}

TEST(InPlaceForms, AreDifferentiatedAsTheOperation) {
  for (const InPlace& form : in_place_forms()) {
    if (form.integers) continue;
    SCOPED_TRACE(form.name);
    const Tensor x = operand(form);
    const auto in_place = [&](Tensor t) { return form.write(t.clone()).to(rc::float64).square().sum(); };
    const auto plain = [&](Tensor t) { return form.compute(t).to(rc::float64).square().sum(); };
    expect_close(rc::grad(in_place)(x), rc::grad(plain)(x));
    expect_close(rc::jacfwd(in_place)(x), rc::jacfwd(plain)(x));
  }
}

TEST(InPlaceForms, RefuseAResultThatTheTypeCannotHold) {
  const Tensor i = rc::tensor({1, 2});
  EXPECT_THROW(i.tan_(), rc::TypeError);
  EXPECT_THROW(i.rsqrt_(), rc::TypeError);
  EXPECT_THROW(i.lerp_(2, 0.5), rc::TypeError);
  EXPECT_THROW(rc::ones({3}).addcmul_(rc::ones({2, 3}), 1), rc::ValueError);
  i.eq_(1);
  expect_values(i, {1, 0});
  const Tensor x = rc::tensor({0.5, 1.5});
  x.gt_(1);
  EXPECT_EQ(x.dtype(), rc::float32);
  expect_values(x, {0, 1});
}

TEST(InPlaceForms, RefuseAValuePerExampleForATensorThatAllShare) {
  using Write = void (*)(const Tensor& target, const Tensor& each);
  const std::vector<std::pair<const char*, Write>> writes = {
      {"floor_divide_", [](const Tensor& t, const Tensor& e) { t.floor_divide_(e); }},
      {"remainder_", [](const Tensor& t, const Tensor& e) { t.remainder_(e); }},
      {"fmod_", [](const Tensor& t, const Tensor& e) { t.fmod_(e); }},
      {"addcmul_", [](const Tensor& t, const Tensor& e) { t.addcmul_(e, 1); }},
      {"addcdiv_", [](const Tensor& t, const Tensor& e) { t.addcdiv_(1, e); }},
      {"addmm_", [](const Tensor& t, const Tensor& e) { t.addmm_(e, t); }},
      {"hypot_", [](const Tensor& t, const Tensor& e) { t.hypot_(e); }},
      {"atan2_", [](const Tensor& t, const Tensor& e) { t.atan2_(e); }},
      {"copysign_", [](const Tensor& t, const Tensor& e) { t.copysign_(e); }},
      {"xlogy_", [](const Tensor& t, const Tensor& e) { t.xlogy_(e); }},
      {"clamp_min_", [](const Tensor& t, const Tensor& e) { t.clamp_min_(e); }},
      {"clamp_max_", [](const Tensor& t, const Tensor& e) { t.clamp_max_(e); }},
      {"eq_", [](const Tensor& t, const Tensor& e) { t.eq_(e); }},
      {"logical_and_", [](const Tensor& t, const Tensor& e) { t.logical_and_(e); }},
      {"index_add_", [](const Tensor& t, const Tensor& e) { t.index_add_(0, rc::arange(3), e); }},
      {"index_fill_", [](const Tensor& t, const Tensor& e) { t.index_fill_(0, rc::arange(1), e.sum()); }},
  };
  for (const auto& [name, write] : writes) {
    SCOPED_TRACE(name);
    const Tensor shared = ramp({3, 3}), each = ramp({2, 3, 3});
    const Values before = values(shared);
    try {
      rc::vmap([&, &write = write](Tensor e) {
        write(shared, e);
        return e;
      })(each);
      ADD_FAILURE() << "one tensor took a value per example";
    } catch (const rc::TransformError& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(name)) << error.what();
    }
    EXPECT_EQ(values(shared), before);
  }
}

}  // namespace
