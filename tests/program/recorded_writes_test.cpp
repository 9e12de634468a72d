// Writing in place leaves no trace in a recorded program: its equations are pure operations that give what the writes
// gave, for other inputs, sizes and under transforms too.
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// f recorded at x and run at other inputs gives f's values, and reads as this.
template <class F>
void expect_program(const F& f, const Tensor& x, const std::string& text) {
  const rc::Program program = rc::trace(f)(x);
  EXPECT_EQ(to_string(program), text);
  const Tensor other = cos(x);
  expect_close(program({other})[0], f(other.clone()));
}

template <class F>
void expect_replayed(const F& f, const Tensor& x) {
  const rc::Program program = rc::trace(f)(x);
  const Tensor other = cos(x);
  expect_close(program({other})[0], f(other.clone()));
}

TEST(RecordedWrites, ToAViewAreEquationsWithoutWrites) {
  const auto f = [](Tensor x) {
    const Tensor base = x * 2, view = base.view({4});
    view.add_(1);
    return base;
  };
  expect_program(f, ramp({4, 1}),
                 "program(a: f64[s0,s1]) where s0*s1=4 {\n  b: f64[s0,s1] = mul a 2\n  c: f64[4] = "
                 "reshape[shape=(4)] b\n"
                 "  d: f64[4] = add c 1\n  e: f64[s0,s1] = put[view=reshape[shape=(4)]] b d\n  return e\n}\n");
  const auto in_place = [](Tensor x) {
    const Tensor y = x * 2;
    y.sin_();
    return y;
  };
  expect_program(in_place, ramp({3}),
                 "program(a: f64[s0]) where s0!=1 {\n  b: f64[s0] = mul a 2\n  c: f64[s0] = sin b\n  return c\n}\n");
}

TEST(RecordedWrites, OutVariantsAreTheOperationItself) {
  const auto f = [](Tensor x) {
    const Tensor out = rc::empty({3}, rc::float64);
    rc::add_out(out, x, x);
    return out;
  };
  expect_program(f, ramp({3}), "program(a: f64[3]) {\n  b: f64[3] = add a a\n  return b\n}\n");
}

TEST(RecordedWrites, ToOneOfSeveralViewsReachTheBase) {
  const auto f = [](Tensor x) {
    const Tensor base = x * 1;
    const std::vector<Tensor> parts = rc::split(base, 2);
    parts[1].mul_(10);
    rc::unbind(base, 1)[0].slice(0, 1, 3, 1).add_(parts[0].select(1, 1));
    return base;
  };
  expect_replayed(f, ramp({4, 3}));
  expect_values(f(rc::ones({4, 2}, rc::float64)), {1, 1, 2, 1, 11, 10, 10, 10});
}

TEST(RecordedWrites, ToATransposedViewAreRecordedInTheBasesOrder) {
  const auto f = [](Tensor x) {
    const Tensor base = x * 1;
    base.t()[1].copy_(base.select(1, 0) * 3);
    return base;
  };
  expect_replayed(f, ramp({3, 2}));
  expect_values(rc::trace(f)(ramp({3, 2}))({doubles({1, 2, 3, 4, 5, 6}, {3, 2})})[0], {1, 3, 3, 9, 5, 15});
}

TEST(RecordedWrites, UnderTransformsGiveTheSameDerivatives) {
  const auto f = [](Tensor x) {
    const Tensor y = x * x;
    y[0].mul_(x[1]);
    y.sin_();
    return y.sum();
  };
  const Tensor x = ramp({3}), t = cos(ramp({3}));
  expect_close(rc::trace(rc::grad(f))(x)({t})[0], rc::grad(f)(t));
  const rc::Program program = rc::trace(f)(x);
  const auto run = [&](Tensor a) { return program({a})[0]; };
  expect_close(rc::grad(run)(t), rc::grad(f)(t));
  const auto tangent = [](auto g) { return [g](Tensor a) { return std::get<1>(rc::jvp(g, a, rc::ones_like(a))); }; };
  const Tensor xs = ramp({4, 3});
  expect_close(rc::vmap(tangent(run))(xs), rc::vmap(tangent(f))(xs));
  expect_close(rc::trace(rc::vmap(tangent(f)))(xs)({cos(xs)})[0], rc::vmap(tangent(f))(cos(xs)));
}

TEST(RecordedWrites, JacobiansAndPullbacksAreRecorded) {
  const auto f = [](Tensor x) { return sin(x) * x.sum(); };
  const Tensor x = ramp({3}), other = cos(x);
  expect_close(rc::trace(rc::jacrev(f))(x)({other})[0], rc::jacrev(f)(other));
  const auto pulled = [&](Tensor a, Tensor ct) {
    auto [y, pullback] = rc::vjp(f, a);
    return pullback(ct);
  };
  expect_close(rc::trace(pulled)(x, x)({other, x})[0], pulled(other, x));
}

}  // namespace
