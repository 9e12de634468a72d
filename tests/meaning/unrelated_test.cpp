// What does not depend on what is differentiated, under vmap and in second derivatives; seeds and writes that happen
// inside a derivative.
#include <tuple>

#include "support/difference_quotient.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(UnrelatedGradients, AreZerosForEveryCotangentOfAMap) {
  const Tensor constant = ramp({2});
  const auto f = [&](Tensor x, Tensor y) { return std::tuple{constant * 1, x * 2, y.sum() * 0 + 1}; };
  auto [out, pullback] = rc::vjp(f, ramp({3}), ramp({4}));
  const auto pull = [&, &pull_one = pullback](Tensor a, Tensor b, Tensor c) { return pull_one(std::tuple{a, b, c}); };
  const auto [dx, dy] = rc::vmap(pull)(ramp({5, 2}), rc::zeros({5, 3}, rc::float64), ramp({5}));
  expect_equal(dx, rc::zeros({5, 3}, rc::float64));
  expect_equal(dy, rc::zeros({5, 4}, rc::float64));
  const auto only = [&](Tensor ct) { return std::get<0>(pull(constant, ct, number(1))); };
  expect_close(rc::vmap(only)(ramp({5, 3})), ramp({5, 3}) * 2);
}

TEST(UnrelatedGradients, HessiansAreZeros) {
  const auto nothing = [](Tensor) { return number(3); };
  const auto linear = [](Tensor x) { return (x * ramp({3})).sum(); };
  expect_equal(rc::hessian(nothing)(ramp({3})), rc::zeros({3, 3}, rc::float64));
  expect_equal(rc::hessian(linear)(ramp({3})), rc::zeros({3, 3}, rc::float64));
  expect_equal(rc::vmap(rc::hessian(nothing))(ramp({2, 3})), rc::zeros({2, 3, 3}, rc::float64));
  const auto apart = [](Tensor x, Tensor y) { return (x * x).sum() + sin(y).sum(); };
  const auto second = rc::hessian<0, 1>(apart)(ramp({2}), ramp({3}));
  expect_equal(std::get<1>(std::get<0>(second)), rc::zeros({2, 3}, rc::float64));
  expect_equal(std::get<0>(std::get<1>(second)), rc::zeros({3, 2}, rc::float64));
}

TEST(UnrelatedGradients, VjpOfAWriteToAViewIsMapped) {
  const auto f = [](Tensor x, Tensor y) {
    const Tensor base = x * 1;
    base.select(-1, 1).copy_(y);
    return base;
  };
  const auto pulled = [&](Tensor x, Tensor y, Tensor ct) {
    auto [out, pullback] = rc::vjp(f, x, y);
    return pullback(ct);
  };
  const Tensor ct = ramp({4, 2, 3});
  const auto [dx, dy] = rc::vmap(pulled)(ramp({4, 2, 3}), ramp({4, 2}), ct);
  expect_close(dx, ct * doubles({1, 0, 1}));  // what was overwritten has no gradient
  expect_close(dy, ct.select(2, 1));
}

TEST(SeedsInsideTransforms, AreObeyedByGrad) {
  const auto f = [](Tensor x) {
    rc::manual_seed(7);
    return (x * rc::randn({3}, rc::float64)).sum();
  };
  rc::manual_seed(7);
  const Tensor noise = rc::randn({3}, rc::float64);
  expect_equal(rc::grad(f)(ramp({3})), noise);
  expect_equal(rc::grad(f)(ramp({3})), noise);
  expect_equal(std::get<1>(rc::jvp(f, ramp({3}), doubles({1, 0, 0}))), noise[0]);
}

// ── tangents of writes under vmap ──

TEST(ForwardWritesUnderVmap, WhereAllIsDual) {
  const Tensor x = ramp({3, 2}), y = sin(ramp({3, 2})), tx = cos(ramp({3, 2})), ty = ramp({3, 2}) - 1;
  const auto tangent_of = [&](auto f) {
    return rc::vmap([f](Tensor a, Tensor b, Tensor ta, Tensor tb) {
      return std::get<1>(rc::jvp(f, std::tuple{a, b}, std::tuple{ta, tb}));
    })(x, y, tx, ty);
  };
  const auto plain = [](Tensor a, Tensor b) {
    a.copy_(b * b);
    return a;
  };
  expect_close(tangent_of(plain), 2 * y * ty);
  const auto through_view = [](Tensor a, Tensor b) {
    const Tensor view = a.slice(0, 1, 2, 1);
    view.copy_(b.slice(0, 0, 1, 1));
    return a;
  };
  expect_close(tangent_of(through_view), rc::stack({tx.select(1, 0), ty.select(1, 0)}, 1));
  const auto base_after_view = [](Tensor a, Tensor b) {
    const Tensor view = a[0];
    a.copy_(b);
    return view;
  };
  expect_close(tangent_of(base_after_view), ty.select(1, 0));
}

TEST(ForwardWritesUnderVmap, WhereOnlyTheSourceIsDual) {
  const Tensor y = ramp({3, 2}), t = sin(ramp({3, 2}));
  const auto f = [](Tensor b) {
    const Tensor base = rc::ones({2}, rc::float64), view = base[1];
    base.copy_(b * b);
    return std::tuple{base, view};
  };
  const auto [base, view] = rc::vmap([&](Tensor b, Tensor tb) { return std::get<1>(rc::jvp(f, b, tb)); })(y, t);
  expect_close(base, 2 * y * t);
  expect_close(view, (2 * y * t).select(1, 1));
}

}  // namespace
