// no_grad is obeyed by every level it is inside and changes nothing about transforms it is around; detach cuts every
// level.
#include <cmath>
#include <functional>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(Tensor)>;

Tensor cube(Tensor x) { return x * x * x; }

TEST(NoGrad, InsideMakesAConstantForGrad) {
  const auto f = [](Tensor x) {
    Tensor constant;
    {
      rc::no_grad guard;
      constant = x * x;
    }
    return x * x - constant * x;
  };
  expect_values(rc::grad(f)(number(3)), {6 - 9});
}

TEST(NoGrad, InsideMakesAConstantForForwardMode) {
  const auto f = [](Tensor x) {
    Tensor constant;
    {
      rc::no_grad guard;
      constant = x * x;
    }
    return x * constant;
  };
  expect_values(std::get<1>(rc::jvp(f, number(3), number(1))), {9});
  expect_values(rc::jacfwd(f)(number(3)), {9});
}

TEST(NoGrad, AroundATransformChangesNothing) {
  rc::no_grad guard;
  const Tensor x = number(2);
  expect_values(rc::grad(cube)(x), {12});
  expect_values(rc::grad(rc::grad(cube))(x), {12});
  expect_values(std::get<1>(rc::jvp(cube, x, number(1))), {12});
  auto [y, pullback] = rc::vjp(cube, x);
  expect_values(pullback(number(1)), {12});
  expect_values(rc::hessian(cube)(x), {12});
}

TEST(NoGrad, AroundVjpAloneChangesNothing) {
  const auto make = [](Tensor x) {
    rc::no_grad guard;
    return rc::vjp(cube, x);
  };
  auto [y, pullback] = make(number(2));
  expect_values(pullback(number(1)), {12});
}

TEST(NoGrad, AroundThePullbackAloneChangesNothing) {
  auto [y, pullback] = rc::vjp(cube, number(2));
  rc::no_grad guard;
  expect_values(pullback(number(1)), {12});
}

TEST(NoGrad, InsideIsObeyedByEveryLevelItIsInside) {
  const auto f = [](Tensor x) {
    rc::no_grad guard;
    return cube(x);
  };
  expect_values(rc::grad(f)(number(2)), {0});
  expect_values(rc::grad(rc::grad(f))(number(2)), {0});
  const auto g = [&](Tensor x) { return f(x) * x; };
  expect_values(rc::grad(g)(number(2)), {8});
  expect_values(rc::grad(rc::grad(g))(number(2)), {0});
}

TEST(NoGrad, BetweenTwoLevelsBlocksTheOuterOneOnly) {
  const auto outer = [](Tensor x) {
    rc::no_grad guard;
    return rc::grad(cube)(x);  // 3 x^2, to the outer level a constant
  };
  expect_values(outer(number(2)), {12});
  expect_values(rc::grad(outer)(number(2)), {0});
  const auto product = [&](Tensor x) { return outer(x) * x; };
  expect_values(rc::grad(product)(number(2)), {12});
}

TEST(NoGrad, InsideVmapOfGradIsObeyed) {
  const auto f = [](Tensor x) {
    Tensor constant;
    {
      rc::no_grad guard;
      constant = x * 2;
    }
    return x * constant;
  };
  expect_values(rc::vmap(rc::grad(f))(doubles({1, 2, 3})), {2, 4, 6});
}

TEST(NoGrad, OutsideAndInsideTogether) {
  rc::no_grad outside;
  const auto f = [](Tensor x) {
    Tensor constant;
    {
      rc::no_grad inside;
      constant = cube(x);
    }
    return x * x - constant;
  };
  expect_values(rc::grad(f)(number(2)), {4});
}

/// The slope of f at 2 and at 3, each way: one by one, for both at once, forwards, and of a recorded f.
void expect_slopes(const Function& f, const std::vector<double>& wanted) {
  const Tensor x = doubles({2, 3});
  expect_values(rc::stack({rc::grad(f)(x[0]), rc::grad(f)(x[1])}), wanted);
  expect_values(rc::vmap(rc::grad(f))(x), wanted);
  expect_values(rc::grad([&](Tensor a) { return rc::vmap(f)(a).sum(); })(x), wanted);
  expect_values(rc::jvp(rc::vmap(f), x, rc::ones_like(x)).second, wanted);
  const rc::Program program = rc::trace(f)(x[0]);
  expect_values(rc::vmap(rc::grad([&](Tensor a) { return program({a})[0]; }))(x), wanted);
}

TEST(NoGrad, MakesConstantsOfWhatATransformKeepsThatBeginsInIt) {
  expect_slopes(
      [](Tensor a) {
        const auto make = [&] {
          rc::no_grad guard;
          return rc::vjp(cube, a);
        };
        auto [y, pullback] = make();
        return pullback(number(1)) * a;
      },
      {12, 27});
  expect_slopes(
      [](Tensor a) {
        const auto make = [&] {
          rc::no_grad guard;
          return rc::linearize(cube, a);
        };
        auto [y, linear] = make();
        return linear(a);
      },
      {12, 27});
  expect_slopes(
      [](Tensor a) {
        const auto make = [&] {
          rc::no_grad guard;
          return rc::trace([&](Tensor k) { return k * a; })(number(1));
        };
        return make()({a})[0];
      },
      {2, 3});
  expect_slopes(
      [](Tensor a) {
        rc::no_grad guard;
        const auto copied = [](Tensor q) {
          const Tensor y = rc::zeros_like(q);
          y.copy_(q);
          return y;
        };
        return rc::jvp(copied, number(1), a).second;
      },
      {0, 0});
}

TEST(NoGrad, LeavesTheDerivativesOfWhatATapeWatchesInIt) {
  const auto f = [](Tensor a) {
    rc::Tape tape;
    const Tensor z = a * 1;
    {
      rc::no_grad guard;
      tape.watch(z);
    }
    return tape.gradient(z * z * z, z) * a;
  };
  const Tensor x = doubles({2, 3});  // 3 a^3
  expect_values(rc::stack({rc::grad(f)(x[0]), rc::grad(f)(x[1])}), {36, 81});
  expect_values(rc::grad([&](Tensor a) { return rc::vmap(f)(a).sum(); })(x), {36, 81});
  const auto only_watched = [](Tensor a) {
    const Tensor c = a * 1;
    {
      rc::no_grad guard;
      rc::Tape tape;
      tape.watch(c);
    }
    return c * c;
  };
  expect_values(rc::grad(only_watched)(number(3)), {6});
  rc::Tape tape;
  Tensor view;
  {
    rc::no_grad guard;
    view = doubles({1, 2}).view({2});
  }
  tape.watch(view);
  expect_values(tape.gradient((view * view).sum(), view), {2, 4});
}

Tensor view_without_grad(const Tensor& base) {
  rc::no_grad guard;
  return base.view({2});
}

TEST(NoGrad, CutsAViewFromItsBaseThoughATapeHasWatchedIt) {
  rc::Tape tape;
  const auto written = [&](Tensor a) {
    const Tensor y = a * 1, view = view_without_grad(y);
    tape.watch(view);
    y.mul_(2);
    return (view * view).sum();
  };
  expect_values(rc::grad(written)(doubles({1, 2})), {0, 0});
  expect_values(rc::jvp(written, doubles({1, 2}), doubles({1, 1})).second, {0});
  const Tensor x = doubles({1, 2}) * 1, view = view_without_grad(x);
  tape.watch(std::pair{view, x});
  expect_values(tape.gradient((view * view).sum(), x), {0, 0});
  x[0].mul_(3);
  expect_values(tape.gradient((view * view).sum(), x), {0, 0});
}

TEST(NoGrad, IsWhatAViewMadeInItWritesToItself) {
  const auto f = [](Tensor a) {
    const Tensor y = a * 1, view = view_without_grad(y);
    view.copy_(view);
    return (y * y).sum();
  };
  expect_values(rc::grad(f)(doubles({1, 2})), {0, 0});
}

TEST(NoGrad, LetsABranchThatSomeExamplesTakeWriteATensorToItself) {
  const auto f = [](Tensor a, Tensor captured) {
    const auto same = [&] {
      rc::no_grad guard;
      captured.copy_(captured);
      return a + captured;
    };
    return rc::cond(a > 1.5, same, [&] { return a; });
  };
  expect_values(rc::vmap(f, {.in_dims = {0, rc::none}})(doubles({1, 2}), number(3)), {1, 5});
}

TEST(NoGrad, MakesAConstantOfTheResultOfABranchOrALoopWhetherExamplesAgreeOrNot) {
  const auto branch = [](Tensor a) {
    Tensor c;
    {
      rc::no_grad guard;
      c = rc::cond(a > 2.5, [&] { return a; }, [&] { return a; });
    }
    return c * a;
  };
  const auto loop = [](Tensor a) {
    Tensor c;
    {
      rc::no_grad guard;
      c = rc::while_loop([](Tensor q) { return q > 2.5; }, [](Tensor q) { return q - 1; }, a);
    }
    return c * a;
  };
  expect_slopes(branch, {2, 3});
  expect_slopes(loop, {2, 2});
  expect_values(rc::vmap(rc::grad(branch))(doubles({2, 2})), {2, 2});
  expect_values(rc::vmap(rc::grad(loop))(doubles({1, 2})), {1, 2});
}

TEST(NoGrad, LooksAtAViewWithoutTakingItsDerivative) {
  const auto f = [](Tensor a) {
    const Tensor x = rc::stack({a, a});
    const Tensor first = x[0];
    x.mul_(a);
    {
      rc::no_grad guard;
      const Tensor looked_at = first * 1;
    }
    return first;  // a^2
  };
  expect_values(rc::grad(f)(number(3)), {6});
  expect_values(rc::jvp(f, number(3), number(1)).second, {6});
  expect_values(rc::grad([&](Tensor a) { return rc::vmap(f)(a).sum(); })(doubles({2, 3})), {4, 6});
}

/// The slope of Σ 2 x, of whose terms `write` makes some constant, at four numbers: rows of two.
void expect_kept(const std::function<void(const Tensor&)>& write, const Values& wanted) {
  const auto f = [&](Tensor x) {
    const Tensor y = x * 2;
    {
      rc::no_grad guard;
      write(y);
    }
    return y.sum();
  };
  const Tensor x = ramp({2, 2}) + 1;
  expect_values(rc::grad(f)(x), wanted);
  expect_values(rc::jacfwd(f)(x), wanted);
  expect_values(rc::grad([program = rc::trace(f)(x)](Tensor a) { return program({a})[0]; })(x), wanted);
}

TEST(NoGrad, MakesAConstantOfTheViewThatIsWrittenAndOfNothingBesideIt) {
  expect_kept([](Tensor y) { y[0].mul_(y[1]); }, {0, 0, 2, 2});
  expect_kept([](Tensor y) { y[0][0].copy_(0.); }, {0, 2, 2, 2});
  expect_kept([](Tensor y) { y.index({0, 1}) = 0.; }, {2, 0, 2, 2});
  expect_kept([](Tensor y) { y.mT().diagonal().copy_(0.); }, {0, 2, 2, 0});
  expect_kept([](Tensor y) { y.copy_(y); }, {0, 0, 0, 0});
  const auto first = [](Tensor row) {
    row[0].copy_(0.);
    return row;
  };
  expect_kept([&](Tensor y) { rc::vmap(first)(y); }, {0, 2, 0, 2});
  expect_kept([&](Tensor y) { rc::vmap(first, {.in_dims = 1})(y); }, {0, 0, 2, 2});
}

TEST(NoGrad, MakesAConstantOfAViewThatIsMadeInIt) {
  const auto slope = [](bool is_written_beside) {
    return rc::grad([=](Tensor a) {
      const Tensor c = rc::stack({a, a * a});
      Tensor view;
      {
        rc::no_grad guard;
        view = c[1];
      }
      if (is_written_beside) c[0].mul_(1);
      return view.reshape({}) * a;
    })(number(3));
  };
  expect_values(slope(false), {9});
  expect_values(slope(true), {9});
  const auto through = [](const auto& use) {
    return rc::grad([=](Tensor a) {
      const Tensor c = a * 2;
      Tensor view;
      {
        rc::no_grad guard;
        view = c.view({2, 1});
      }
      return use(view).sum();
    })(doubles({1, 2}));
  };
  const auto squared = [](Tensor r) { return r * r; };
  const auto same = [](Tensor r) { return r; };
  expect_values(through(squared), {0, 0});
  expect_values(through(rc::vmap(squared)), {0, 0});
  expect_values(through(rc::vmap(same, {.in_dims = 1, .chunk_size = 1})), {0, 0});
  expect_values(through(rc::checkpoint(squared)), {0, 0});
  expect_values(through([=](Tensor v) { return rc::jvp(squared, v, v).second; }), {0, 0});
  expect_values(through([=](Tensor v) { return std::get<1>(rc::vjp(same, v))(v); }), {0, 0});
  expect_values(through([=](Tensor v) { return rc::trace(same)(v)({v})[0]; }), {0, 0});
  expect_values(through([](Tensor v) {
                  rc::Tape tape;
                  const Tensor w = v * 1;
                  tape.watch(w);
                  return (w * v) + tape.gradient((w * w * v).sum(), w);
                }),
                {0, 0});
}

TEST(NoGrad, MakesAConstantOfAnArgumentThatATransformGivesBack) {
  const auto same = [](Tensor a) { return a; };
  const auto of = [](const auto& transform) {
    return [=](Tensor x) {
      Tensor y;
      {
        rc::no_grad guard;
        y = transform(x);
      }
      return (y * x).sum();
    };
  };
  const Tensor x = doubles({2, 3});
  expect_values(rc::grad(of(rc::vmap(same)))(x), {2, 3});
  expect_values(rc::grad(of(rc::vmap(same, {.chunk_size = 1})))(x), {2, 3});
  expect_values(rc::grad(of([=](Tensor a) { return rc::jvp(same, a, a).first; }))(x), {2, 3});
  expect_values(rc::grad(of([=](Tensor a) { return rc::jvp([a](Tensor) { return a; }, a, a).first; }))(x), {2, 3});
  expect_values(rc::grad(of([=](Tensor a) { return std::get<0>(rc::vjp(same, a)); }))(x), {2, 3});
  expect_values(rc::grad(of([=](Tensor a) { return std::get<1>(rc::vjp(same, a))(a); }))(x), {2, 3});
  expect_values(rc::grad(of([=](Tensor a) { return rc::linearize(same, a).second(a); }))(x), {2, 3});
  expect_values(rc::grad(of([=](Tensor a) { return rc::trace(same)(a)({a})[0]; }))(x), {2, 3});
}

TEST(NoGrad, LeavesTheGradientOfATapeThatItIsInside) {
  rc::Tape tape;
  const Tensor x = doubles({1, 2}) * 1;
  tape.watch(x);
  const Tensor loss = (x * x).sum();
  rc::no_grad guard;
  expect_values(tape.gradient(loss, x), {2, 4});
}

TEST(NoGrad, InARecordedFunctionIsOneEquationForEachValueThatItCuts) {
  const auto f = [](Tensor x) {
    rc::no_grad guard;
    const Tensor y = x.clone();
    y.mul_(x);
    return y + x;
  };
  EXPECT_EQ(to_string(rc::trace(f)(number(2))),
            "program(a: f64[]) {\n"
            "  b: f64[] = detach a\n"
            "  c: f64[] = clone b\n"
            "  d: f64[] = mul c b\n"
            "  e: f64[] = add d b\n"
            "  return e\n"
            "}\n");
}

TEST(NoGrad, ChangesNoValue) {
  const Tensor x = ramp({3});
  const Tensor plain = cube(x);
  rc::no_grad guard;
  expect_equal(cube(x), plain);
  expect_equal(rc::vmap(cube)(x), plain);
}

TEST(Detach, CutsTheGradient) {
  const auto f = [](Tensor x) { return x * x.detach(); };
  expect_values(rc::grad(f)(number(3)), {3});
  expect_values(std::get<1>(rc::jvp(f, number(3), number(1))), {3});
}

TEST(Detach, CutsEveryLevel) {
  const auto f = [](Tensor y) { return y.detach() * y * y; };
  expect_values(rc::grad(rc::grad(f))(number(2)), {4});
  const auto tangent = [&](Tensor x) { return std::get<1>(rc::jvp(f, x, number(1))); };
  expect_values(std::get<1>(rc::jvp(tangent, number(2), number(1))), {4});
  expect_values(rc::hessian(f)(number(2)), {4});
  expect_values(rc::jacrev(rc::grad(f))(number(2)), {4});
  expect_values(rc::linearize(rc::grad(f), number(2)).second(number(1)), {4});
  expect_values(rc::grad(rc::grad(rc::grad(f)))(number(2)), {0});
  expect_values(rc::vmap(rc::grad(rc::grad(f)))(doubles({2, 3})), {4, 6});
  expect_values(rc::grad([&](Tensor v) { return rc::vmap(rc::grad(f))(v).sum(); })(doubles({2, 3})), {4, 6});
}

TEST(Detach, CutsEveryTape) {
  const Tensor x = number(2);
  rc::Tape outer;
  outer.watch(x);
  Tensor slope;
  {
    rc::Tape inner;
    const Tensor y = x * 1;
    inner.watch(y);
    slope = inner.gradient(y.detach() * y * y, y);  // 2 c y
  }
  expect_values(outer.gradient(slope, x), {4});
}

TEST(Detach, UnderVmapCutsTheGradAroundIt) {
  const auto f = [](Tensor x) { return rc::vmap([](Tensor a) { return a * a.detach(); })(x).sum(); };
  expect_values(rc::grad(f)(doubles({3, 4})), {3, 4});
}

TEST(Detach, OutsideAnyTransformKeepsTheValue) { expect_equal(ramp({3}).detach(), ramp({3})); }

TEST(NoGrad, IsObeyedInWhatIsRecorded) {
  const auto half = [](Tensor q) {
    Tensor constant;
    {
      rc::no_grad guard;
      constant = cos(q) * 2;
    }
    return q * constant;
  };
  const auto branch = [=](Tensor a) { return rc::cond(a > 0, half, [](Tensor q) { return q; }, a); };
  const auto loop = [=](Tensor a) { return rc::fori_loop(0, 2, [=](Tensor, Tensor q) { return half(q); }, a); };
  const auto scanned = [=](Tensor a) {
    return rc::scan([=](Tensor c, Tensor x) { return std::pair{half(c) + x, c}; }, a, ramp({3})).first;
  };
  const Tensor x = ramp({3}) + 0.5;
  const auto expect_same = [&](const Function& f) {
    const Tensor slope = rc::grad(f)(x[1]);
    expect_close(rc::grad([&](Tensor a) { return rc::vmap(f)(a).sum(); })(x), rc::vmap(rc::grad(f))(x));
    expect_close(rc::jvp(rc::vmap(f), x, x * 0 + 1).second, rc::vmap(rc::grad(f))(x));
    expect_close(rc::trace(rc::grad(f))(x[0])({x[1]})[0], slope);
    expect_close(rc::trace(rc::vmap(rc::grad(f)))(x)({x})[0], rc::vmap(rc::grad(f))(x));
    const rc::Program program = rc::trace(f)(x[0]);
    const auto called = [&](Tensor a) { return program({a})[0]; };
    expect_close(rc::grad(called)(x[1]), slope);
    expect_close(rc::jvp(called, x[1], x[1] * 0 + 1).second, slope);
    expect_close(rc::hessian(called)(x[1]), rc::hessian(f)(x[1]));
    const rc::Program recorded_slope = rc::trace(rc::grad(f))(x[0]);
    expect_close(rc::grad([&](Tensor a) { return recorded_slope({a})[0]; })(x[1]), rc::grad(rc::grad(f))(x[1]));
  };
  const auto written = [](Tensor q) {
    const Tensor y = rc::zeros_like(q);
    {
      rc::no_grad guard;
      y.copy_(q);
    }
    return q * y;
  };
  const auto detached = [](Tensor q) {
    Tensor constant;
    {
      rc::no_grad guard;
      constant = q.detach();
    }
    return q * constant;
  };
  expect_same(half);
  expect_same(written);
  expect_same(detached);
  expect_same(branch);
  expect_same(loop);
  expect_same(scanned);
}

TEST(Detach, OfWhatATapeGaveIsAConstantOfWhatRunsAroundToo) {
  const auto slope = [](Tensor y) {
    rc::Tape tape;
    const Tensor z = y * 1;
    tape.watch(z);
    return (tape.gradient(z * z, z) * 0.5).detach();
  };
  const auto f = [=](Tensor a) { return rc::fori_loop(0, 1, [=](Tensor, Tensor q) { return q * slope(q); }, a); };
  const Tensor x = ramp({2}) + 0.7;
  const rc::Program program = rc::trace(f)(x[0]);
  expect_close(rc::grad(f)(x[1]), x[1]);
  expect_close(rc::trace(rc::grad(f))(x[0])({x[1]})[0], x[1]);
  expect_close(rc::grad([&](Tensor a) { return program({a})[0]; })(x[1]), x[1]);
}

/// `detach` by every road: as it is, in a checkpoint, a branch, loops and a scan.
void for_each_road(const std::function<void(const Function&)>& check) {
  const auto cut = [](Tensor b) { return b.detach(); };
  const auto step = [=](Tensor, Tensor c) { return cut(c); };
  check(cut);
  check(rc::checkpoint(cut));
  check([=](Tensor b) { return rc::cond(b > 0, cut, cut, b); });
  check([=](Tensor b) { return rc::fori_loop(0, 1, step, b); });
  check([=](Tensor b) { return rc::fori_loop(0, 1, step, b, {.checkpoint = rc::Checkpoints::sqrt}); });
  check([=](Tensor b) { return rc::scan([=](Tensor c, Tensor) { return std::pair{cut(c), c}; }, b, ramp({2})).first; });
}

TEST(Detach, CutsWhatIsCapturedByTheFunctionOfTheInnermostDerivative) {
  for_each_road([](const Function& h) {
    const auto f = [&](Tensor x) { return rc::grad([&](Tensor p) { return p * h(x); })(x); };  // h(x)
    expect_values(f(number(2)), {2});
    expect_values(rc::grad(f)(number(2)), {0});
    expect_values(rc::jvp(f, number(2), number(1)).second, {0});
    expect_values(rc::trace(rc::grad(f))(number(2))({number(2)})[0], {0});
    expect_values(rc::vmap(rc::grad(f))(doubles({2, 3})), {0, 0});
  });
}

TEST(Detach, CutsBothOfTwoDerivativesByEveryRoad) {
  for_each_road([](const Function& h) {
    const auto f = [&](Tensor x) { return sin(h(x) * x); };
    const Tensor x = doubles({2, 0.5});
    const auto second = [](double c) { return -c * c * std::sin(c * c); };
    const auto expect_second = [&](const auto& twice) {
      const Values wanted{second(2), second(0.5)};
      expect_values(rc::stack({twice(x[0]), twice(x[1])}), wanted, 1e-12);
      expect_values(rc::vmap(twice)(x), wanted, 1e-12);
      const rc::Program program = rc::trace(twice)(x[0]);
      expect_values(rc::stack({program({x[0]})[0], program({x[1]})[0]}), wanted, 1e-12);
    };
    expect_second(rc::hessian(f));
    expect_second(rc::grad(rc::grad(f)));
    expect_second([&](Tensor a) { return rc::jvp(rc::grad(f), a, a * 0 + 1).second; });
    expect_second([&](Tensor a) { return rc::linearize(rc::grad(f), a).second(a * 0 + 1); });
  });
}

TEST(Detach, InAProgramCutsEveryLevelOfWhereItRuns) {
  for_each_road([](const Function& h) {
    const rc::Program program = rc::trace([&](Tensor x) { return h(x) * x * x; })(number(1));
    const auto called = [&](Tensor x) { return program({x})[0]; };
    expect_values(rc::grad(called)(number(2)), {8});
    expect_values(rc::grad(rc::grad(called))(number(2)), {4});
    const auto linear = [&](Tensor x) { return rc::linearize([&](Tensor q) { return h(q) * q; }, x).second(x); };
    expect_values(rc::grad(linear)(number(2)), {2});
    const rc::Program tangents = rc::trace(linear)(number(1));
    expect_values(rc::grad([&](Tensor x) { return tangents({x})[0]; })(number(2)), {2});
  });
}

TEST(Detach, IsAConstantThatTheExamplesDoNotShare) {
  const auto f = [](Tensor x, Tensor w) { return (x * w).detach() * w; };
  const auto loss = [&](Tensor w) { return rc::vmap([&](Tensor x) { return f(x, w); })(doubles({2, 3})).sum(); };
  expect_values(rc::grad(loss)(number(10)), {50});
  expect_values(rc::grad(rc::grad(loss))(number(10)), {0});
  expect_values(rc::vmap(f, {.in_dims = {0, rc::none}})(doubles({2, 3}), number(10)), {200, 300});
}

}  // namespace
