// cond and switch_case: each example of a vmap takes its own branch, under every transform.
#include <gtest/gtest.h>

#include <cmath>

#include "ricci/ricci.h"
#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// sqrt where it exists: its derivative is infinite at 0 and its value no number below.
Tensor safe_root(Tensor x) {
  return rc::cond(x > 0, [](Tensor y) { return sqrt(y); }, [](Tensor y) { return y * 0 - 1; }, x);
}

const Tensor some = doubles({4, -1, 9, 0, 2.25});

TEST(Cond, TakesOneBranchOutsideVmapAndNeverRunsTheOther) {
  int taken = 0, other = 0;
  const auto f = [&](Tensor x) {
    return rc::cond(x > 0, [&](Tensor y) { return ++taken, y * 2; }, [&](Tensor y) { return ++other, y; }, x);
  };
  expect_values(f(number(3)), {6});
  rc::grad(f)(number(3));
  rc::hessian(f)(number(3));
  EXPECT_GT(taken, 0);
  EXPECT_EQ(other, 0);
}

TEST(Cond, UnderVmapEachExampleTakesItsOwnBranchAndEachBranchRunsOnce) {
  int roots = 0, others = 0;
  const auto f = [&](Tensor x) {
    return rc::cond(x > 0, [&](Tensor y) { return ++roots, sqrt(y); }, [&](Tensor y) { return ++others, -y; }, x);
  };
  expect_values(rc::vmap(f)(some), {2, 1, 3, 0, 1.5});
  EXPECT_EQ(roots, 1);
  EXPECT_EQ(others, 1);
}

TEST(Cond, ABranchThatNoExampleTakesIsNotRun) {
  const auto f = [](Tensor x) {
    return rc::cond(x > -100, [](Tensor y) { return y; }, [](Tensor) -> Tensor { throw std::logic_error("taken"); }, x);
  };
  expect_equal(rc::vmap(f)(some), some);
}

TEST(Cond, NothingOfTheOtherBranchReachesValuesOrGradients) {
  expect_values(rc::vmap(safe_root)(some), {2, -1, 3, -1, 1.5});
  expect_values(rc::vmap(rc::grad(safe_root))(some), {0.25, 0, 1.0 / 6, 0, 1.0 / 3});
  expect_values(rc::grad([](Tensor x) { return rc::vmap(safe_root)(x).sum(); })(some), {0.25, 0, 1.0 / 6, 0, 1.0 / 3});
}

TEST(Cond, BranchesUseWhatTheyCapture) {
  const Tensor w = ramp({5}), shared = number(3);
  const auto f = [&](Tensor x, Tensor w) {
    return rc::cond(x > 0, [&](Tensor y) { return y * w * shared; }, [&](Tensor y) { return y - w; }, x);
  };
  const Tensor expected = rc::where(some > 0, some * w * 3, some - w);
  expect_close(rc::vmap(f)(some, w), expected);
  expect_close(rc::vmap(rc::grad<1>(f))(some, w), rc::where(some > 0, some * 3, some * 0 - 1));
  const auto total = [&](Tensor w) { return rc::vmap(f)(some, w).square().sum(); };
  expect_close(rc::grad(total)(w),
               rc::grad([&](Tensor w) { return rc::where(some > 0, some * w * 3, some - w).square().sum(); })(w));
}

TEST(Cond, GivesEachExampleItsGradientOfAParameterThatIsNotMapped) {
  const auto loss = [](Tensor w, Tensor x) {
    return rc::cond(x > 0, [&](Tensor y) { return y * w; }, [&](Tensor y) { return y * w * w; }, x) + w;
  };
  const auto steps = [](Tensor w, Tensor x) {
    return rc::while_loop([](Tensor y) { return y < 20; }, [&](Tensor y) { return y * w + 1; }, x) * w;
  };
  const Tensor w = number(2), x = doubles({1, -0.5, 3, 40});
  expect_values(rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0}})(w, x), {2, -1, 4, 41});
  std::vector<Tensor> alone;
  for (const Tensor& one : x.unbind()) alone.push_back(rc::grad(steps)(w, one));
  expect_close(rc::vmap(rc::grad(steps), {.in_dims = {rc::none, 0}})(w, x), rc::stack(alone));
  expect_close(rc::vmap(rc::jacrev(steps), {.in_dims = {rc::none, 0}})(w, x), rc::stack(alone));
}

TEST(Cond, WorksUnderEveryTransformAsTheSameChoiceByWhere) {
  const auto by_cond = [](Tensor x) {
    return rc::cond(x.sum() > 1, [](Tensor y) { return sin(y) * y; }, [](Tensor y) { return y * y * y; }, x);
  };
  const auto by_where = [](Tensor x) { return rc::where(x.sum() > 1, sin(x) * x, x * x * x); };
  const Tensor xs = ramp({4, 3}) - 1, ct = ramp({4, 3});
  expect_close(rc::vmap(by_cond)(xs), rc::vmap(by_where)(xs));
  expect_close(rc::vmap(rc::jacrev(by_cond))(xs), rc::vmap(rc::jacrev(by_where))(xs));
  expect_close(rc::vmap(rc::jacfwd(by_cond))(xs), rc::vmap(rc::jacfwd(by_where))(xs));
  const auto scalar = [](auto f) { return [f](Tensor x) { return f(x).square().sum(); }; };
  expect_close(rc::vmap(rc::hessian(scalar(by_cond)))(xs), rc::vmap(rc::hessian(scalar(by_where)))(xs));
  expect_close(rc::jacfwd(rc::vmap(by_cond))(xs), rc::jacfwd(rc::vmap(by_where))(xs));
  expect_close(std::get<1>(rc::jvp(rc::vmap(by_cond), xs, ct)), std::get<1>(rc::jvp(rc::vmap(by_where), xs, ct)));
  auto [y, pullback] = rc::vjp(rc::vmap(by_cond), xs);
  auto [z, reference] = rc::vjp(rc::vmap(by_where), xs);
  expect_close(pullback(ct), reference(ct));
  auto [u, linear] = rc::linearize(rc::vmap(by_cond), xs);
  expect_close(linear(ct), std::get<1>(rc::jvp(rc::vmap(by_where), xs, ct)));
  const auto linear_inside = [&](auto f) {
    return [f](Tensor x, Tensor t) {
      auto [y, map] = rc::linearize(f, x);
      return map(t);
    };
  };
  expect_close(rc::vmap(linear_inside(by_cond))(xs, ct), rc::vmap(linear_inside(by_where))(xs, ct));
}

TEST(Cond, OfSeveralMappedOperandsChoosesForEachExampleByAllOfThem) {
  const auto f = [](Tensor x, Tensor y) {
    return rc::cond(
        x.sum() < y.sum(), [](Tensor a, Tensor b) { return a * b; }, [](Tensor a, Tensor b) { return a + b; }, x, y);
  };
  const Tensor x = doubles({1, 2, 9, 1, 0, 0}, {3, 2}), y = doubles({3, 1, 2, 2, 0, -1}, {3, 2});
  expect_values(rc::vmap(f)(x, y), {3, 2, 11, 3, 0, -1});
  expect_values(rc::vmap(f, {.in_dims = {0, rc::none}})(x, y[0]), {3, 2, 12, 2, 0, 0});
  const auto [by_x, by_y] = rc::vmap(rc::grad<0, 1>([&](Tensor a, Tensor b) { return f(a, b).sum(); }))(x, y);
  expect_values(by_x, {3, 1, 1, 1, 1, 1});
  expect_values(by_y, {1, 2, 1, 1, 1, 1});
}

TEST(Cond, NestsInVmapsThatDisagreeInBoth) {
  const auto f = [](Tensor x, Tensor y) {
    return rc::cond(x > y, [](Tensor a, Tensor b) { return a * b; }, [](Tensor a, Tensor b) { return a - b; }, x, y);
  };
  const Tensor x = doubles({1, 2, 3, 4}), y = doubles({2.5, 0.5, 3});
  const Tensor all = rc::vmap([&](Tensor a) { return rc::vmap([&](Tensor b) { return f(a, b); })(y); })(x);
  const Tensor grid = x.unsqueeze(1), other = y.unsqueeze(0);
  expect_close(all, rc::where(grid > other, grid * other, grid - other));
  const auto total = [&](Tensor a) { return rc::vmap([&](Tensor b) { return f(a, b); })(y).sum(); };
  expect_close(rc::vmap(rc::grad(total))(x), rc::where(grid > other, other + grid * 0, grid * 0 + 1).sum(1));
}

TEST(Cond, ANumberOfOneBranchIsNotCutToTheTypeOfTheOther) {
  const auto f = [](Tensor x) {
    return rc::cond(x > 0, [](Tensor x) { return x; }, [](Tensor) -> Tensor { return 2.5; }, x);
  };
  EXPECT_THROW(rc::vmap(f)(rc::tensor({5, -2})), rc::ValueError);
  expect_values(rc::vmap(f)(rc::tensor({5.0, -2.0})), {5, 2.5});
}

TEST(Cond, DrawsAfterADrawingBranchDoNotDependOnWhoTookIt) {
  const auto f = [](Tensor x) {
    const auto draws = [](Tensor x) { return x + rc::rand({}) + rc::rand({}); };
    const Tensor first = rc::cond(x > 0, draws, [](Tensor x) { return x; }, x);
    const Tensor second = rc::cond(x > 1, draws, draws, x);
    return rc::stack({first, second, rc::rand({})});
  };
  const Tensor x = rc::tensor({2.0, -1.0, 0.5, -3.0, 4.0});
  const auto drawn = [&](std::int64_t chunk, rc::Lanes lanes) {
    rc::manual_seed(3);
    return rc::vmap(f, {.randomness = rc::Randomness::different, .chunk_size = chunk, .lanes = lanes})(x);
  };
  const Tensor all = drawn(5, rc::Lanes::together);
  for (const std::int64_t chunk : {1, 2, 3}) expect_equal(drawn(chunk, rc::Lanes::together), all);
  expect_equal(drawn(5, rc::Lanes::split), all);
}

TEST(Cond, DrawsUnderTwoMapsThatDisagreeAreThoseOfEachPairAlone) {
  const auto f = [](Tensor x) {
    return rc::cond(
        x > 0, [](Tensor x) { return x + rc::randn({2}, rc::float64); },
        [](Tensor x) { return x * rc::rand({2}, rc::float64); }, x);
  };
  const Tensor x = doubles({1, -2, 3, -4, -5, 6, 7, 8, -9, -1, -1, 2}, {4, 3});
  const auto drawn = [&](const Tensor& x, std::int64_t outer, std::int64_t inner) {
    const rc::VmapOptions each{.randomness = rc::Randomness::different, .chunk_size = inner};
    rc::manual_seed(2);
    return rc::vmap(rc::vmap(f, each), {.randomness = rc::Randomness::different, .chunk_size = outer})(x);
  };
  const Tensor all = drawn(x, 4, 3);
  expect_equal(drawn(x, 1, 1), all);
  expect_equal(drawn(x, 2, 3), all);
  expect_equal(drawn(x, 4, 2), all);
  const Tensor above = drawn(abs(x), 4, 3), taken = (x > 0).unsqueeze(-1);
  expect_equal(rc::where(taken, all, 0), rc::where(taken, above, 0));
}

TEST(Cond, AValueThatHasLeftItsBranchDecidesNothingAndIsNoResult) {
  const auto leaked_by = [](Tensor x) {
    Tensor leaked;
    rc::cond(x > 2, [&] { return leaked = x * 1, x; }, [&] { return x; });
    return leaked;
  };
  const Tensor x = doubles({1, 2, 3, 4});
  const auto same = [](Tensor y) { return y; };
  EXPECT_THROW(rc::vmap([&](Tensor x) { return rc::cond(leaked_by(x) > 3, same, same, x); })(x), rc::TransformError);
  EXPECT_THROW(rc::vmap([&](Tensor x) {
                 const Tensor leaked = leaked_by(x);
                 return rc::cond(x > 1, [&] { return leaked; }, [&] { return x; });
               })(x),
               rc::TransformError);
  EXPECT_FALSE(rc::inside_transform());
}

struct WritesToWhatItIsGiven : rc::Function<WritesToWhatItIsGiven> {
  static Tensor forward(const Tensor& x) { return 3 * x; }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>&, const Tensor&) {
    ctx.save_for_backward(number(1.5));
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct) { return ct.mul_(2) * ctx.saved(0).mul_(1); }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Cond, ABackwardRuleInABranchWritesToItsArguments) {
  const auto f = [](Tensor x) {
    return rc::cond(x > 0, [](Tensor y) { return WritesToWhatItIsGiven::apply(y); }, [](Tensor y) { return -y; }, x);
  };
  const Tensor x = doubles({1, -2, 3});
  expect_values(rc::vmap(rc::grad(f))(x), {3, -1, 3});
  expect_values(rc::grad([&](Tensor x) { return rc::vmap(f)(x).sum(); })(x), {3, -1, 3});
}

TEST(Cond, NestsInItself) {
  const auto f = [](Tensor x) {
    return rc::cond(
        x > 0,
        [](Tensor y) { return rc::cond(y > 3, [](Tensor z) { return z * 10; }, [](Tensor z) { return z * z; }, y); },
        [](Tensor y) { return -y; }, x);
  };
  expect_values(rc::vmap(f)(some), {40, 1, 90, 0, 5.0625});
  expect_values(rc::vmap(rc::grad(f))(some), {10, -1, 10, -1, 4.5});
}

TEST(Cond, BranchesReturnTrees) {
  struct Both {
    Tensor value;
    std::vector<Tensor> more;
  };
  const auto f = [](Tensor x) {
    return rc::cond(
        x > 0, [](Tensor y) { return Both{y, {y * 2, rc::ones({2}, rc::float64)}}; },
        [](Tensor y) { return Both{-y, {y * 3, rc::zeros({2}, rc::float64)}}; }, x);
  };
  const Both all = rc::vmap(f)(some);
  expect_values(all.value, {4, 1, 9, 0, 2.25});
  expect_values(all.more[0], {8, -3, 18, 0, 4.5});
  expect_values(all.more[1], {1, 1, 0, 0, 1, 1, 0, 0, 1, 1});
}

TEST(Cond, ConstantBranchesAreMerged) {
  const auto f = [](Tensor x) { return rc::cond(x > 0, [] { return number(1); }, [] { return number(2); }); };
  expect_values(rc::vmap(f)(some), {1, 2, 1, 2, 1});
}

TEST(Cond, ANumberTakesTheTypeOfTheOtherBranch) {
  const auto f = [](Tensor x) {
    return rc::cond(x > 0, [](Tensor y) { return y; }, [](Tensor) { return Tensor(0.5); }, x);
  };
  expect_equal(rc::vmap(f)(rc::tensor({1., -1.})), rc::tensor({1., 0.5}));
}

TEST(Cond, GradientsKeepTheExamplesOfTwoVmapsThatDisagreeApart) {
  const auto f = [](Tensor x) { return rc::cond(x > 0, [&] { return x * x; }, [&] { return -3 * x; }); };
  const Tensor x = doubles({1, -2, -4, 5, 3, -6}, {2, 3});
  const Tensor slope = doubles({2, -3, -3, 10, 6, -3}, {2, 3}), bend = doubles({2, 0, 0, 2, 2, 0}, {2, 3});
  expect_equal(rc::vmap(rc::vmap(rc::grad(f)))(x), slope);
  expect_equal(rc::vmap(rc::grad([&](Tensor row) { return rc::vmap(f)(row).sum(); }))(x), slope);
  expect_equal(rc::grad([&](Tensor rows) { return rc::vmap(rc::vmap(f))(rows).sum(); })(x), slope);
  expect_equal(rc::vmap(rc::vmap(rc::jacrev(f)))(x), slope);
  expect_equal(rc::vmap(rc::vmap(rc::hessian(f)))(x), bend);
  expect_equal(rc::vmap(rc::vmap(rc::grad(rc::grad(f))))(x), bend);
}

TEST(Cond, TheNumberOfExamplesMayBeZero) { EXPECT_EQ(sizes(rc::vmap(safe_root)(doubles({}, {0}))), (Sizes{0})); }

TEST(Cond, ABranchWritesToWhatItCreates) {
  const auto f = [](Tensor x) {
    return rc::cond(
        x > 0,
        [](Tensor y) {
          const Tensor all = rc::zeros({3}, rc::float64);
          all[1] = y;
          return all;
        },
        [](Tensor y) { return rc::ones({3}, rc::float64) * y; }, x);
  };
  expect_values(rc::vmap(f)(doubles({2, -1})), {0, 2, 0, -1, -1, -1});
}

TEST(Cond, AWriteToATensorFromBeforeTheBranchIsRefused) {
  const auto f = [](Tensor x) {
    Tensor sum = x * 0;
    rc::cond(x > 0, [&](Tensor y) { return sum.add_(y), y; }, [](Tensor y) { return y; }, x);
    return sum;
  };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(f)(some); },
      "add_: the target f64[] is from before a branch that only a part of the examples of vmap over axis 0 of 5{at} "
      "takes; return the new value from the branch instead\n  inside vmap over axis 0 of 5{at}",
      {some});
}

TEST(Cond, AValueThatLeavesItsBranchByCaptureIsRefused) {
  const auto f = [](Tensor x) {
    Tensor kept;
    rc::cond(x > 0, [&](Tensor y) { return kept = y * 2, y; }, [](Tensor y) { return y; }, x);
    return kept + x;
  };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(f)(some); },
      "add: an operand f64[] has left the branch it was computed in, which only a part of the examples of vmap over "
      "axis "
      "0 of 5{at} took; return it from the branch instead\n  inside vmap over axis 0 of 5{at}",
      {some});
}

TEST(Cond, BranchesOfDifferentShapesAreRefused) {
  const auto f = [](Tensor x) {
    return rc::cond(x > 0, [](Tensor y) { return y; }, [](Tensor) { return rc::zeros({2}, rc::float64); }, x);
  };
  expect_error<rc::ValueError>(
      [&] { rc::vmap(f)(some); },
      "cond: the branches' results differ in type: f64[2] and f64[]; every branch must return "
      "one shape and dtype: convert with to(dtype), or expand to one shape\n  inside vmap over axis 0 of 5{at}",
      {some});
}

TEST(Cond, APredicateWithManyElementsIsRefused) {
  expect_error<rc::ValueError>([&] { rc::cond(some > 0, [] { return number(1); }, [] { return number(2); }); },
                               "cond: the predicate or index is bool[5]; it must have one element: reduce it with "
                               "any() or all(), or vmap over it",
                               {some});
}

TEST(Cond, RandomNumbersInABranchAreThoseTheExampleDrawsAlone) {
  const auto f = [](Tensor x) {
    const auto noisy = [](Tensor y) { return y + rc::rand({}, rc::float64); };
    const Tensor y = rc::cond(x > 0, noisy, [&](Tensor y) { return noisy(noisy(y)); }, x);
    return rc::stack({y, rc::rand({}, rc::float64)});
  };
  const auto mapped = [&](const Tensor& xs) {
    rc::manual_seed(5);
    return rc::vmap(f, {.randomness = rc::Randomness::different})(xs);
  };
  const Tensor mixed = mapped(some), positive = mapped(abs(some) + 1), negative = mapped(-abs(some) - 1);
  const Tensor taken =
      rc::where(some > 0, positive.select(1, 0) - (abs(some) + 1), negative.select(1, 0) + abs(some) + 1);
  expect_close(mixed.select(1, 0) - some, taken, 1e-12);
  expect_equal(mixed.select(1, 1), negative.select(1, 1));
}

TEST(SwitchCase, EachExampleTakesItsBranch) {
  const auto f = [](Tensor i, Tensor x) {
    return rc::switch_case(
        i, std::tuple{[](Tensor y) { return y; }, [](Tensor y) { return y * y; }, [](Tensor y) { return y * y * y; }},
        x);
  };
  const Tensor index = rc::tensor(std::vector<std::int64_t>{2, 0, 1, 2, 0}), x = doubles({1, 2, 3, 4, 5});
  expect_values(f(rc::tensor(1), number(3)), {9});
  expect_values(rc::vmap(f)(index, x), {1, 2, 9, 64, 5});
  expect_values(rc::vmap(rc::grad<1>(f))(index, x), {3, 1, 6, 48, 1});
}

TEST(SwitchCase, TakesMoreBranchesThanAnOperationTakesOperands) {
  const auto times = [](int n) { return [n](Tensor y) { return y * n; }; };
  const auto f = [&](Tensor i, Tensor x) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return rc::switch_case(i, std::tuple{times(static_cast<int>(K))...}, x);
    }(std::make_index_sequence<40>{});
  };
  const Tensor index = rc::arange(40), x = ramp({40});
  expect_close(rc::vmap(f)(index, x), x * index);
  expect_close(rc::vmap(rc::grad<1>(f))(index, x), index.to(rc::float64));
}

TEST(SwitchCase, AnIndexOutOfRangeIsRefused) {
  const auto f = [](Tensor i) { return rc::switch_case(i, std::tuple{[] { return number(1); }}); };
  expect_error<rc::IndexError>([&] { f(rc::tensor(1)); },
                               "switch_case: index 1 is out of range for 1 branch; the legal range is [0, 0]");
}

TEST(Cond, AWriteToAnOperandStaysInTheBranch) {
  const auto f = [](Tensor a) {
    const Tensor c = a * 1;
    const auto doubled = [](Tensor q) {
      q.mul_(2);
      return q;
    };
    return rc::cond(a > 2.5, doubled, [](Tensor q) { return q; }, c) + c;
  };
  expect_values(f(number(3)), {9});
  expect_values(rc::trace(f)(number(3))({number(3)})[0], {9});
  expect_values(rc::vmap(f)(doubles({2, 3})), {4, 9});
}

TEST(Cond, AViewThatABranchIsTheFirstToLookAtIsNoPartOfIt) {
  const auto f = [](Tensor x) {
    const Tensor y = sin(x);
    const Tensor view = y.view({1});
    y.mul_(2);  // the view is out of date
    const Tensor z = rc::cond(x > 0, [&](Tensor a) { return a + view.sum(); }, [](Tensor a) { return a; }, x);
    const auto half = [](const auto& g, Tensor a) { return a - g(a); };
    const auto itself = [](const auto&, Tensor b) { return b; };
    const Tensor w = z + view.sum();
    y.mul_(2);
    return w + rc::custom_root([&](Tensor a) { return a - view.sum(); }, x, half, itself) + view.sum();
  };
  const Tensor x = doubles({1, -1});
  const auto slope = [](double a) { return (a > 0 ? 12 : 10) * std::cos(a) + 1; };
  const Values wanted{slope(1), slope(-1)};
  expect_values(rc::stack({rc::grad(f)(x[0]), rc::grad(f)(x[1])}), wanted, 1e-12);
  expect_values(rc::vmap(rc::grad(f))(x), wanted, 1e-12);
  expect_values(rc::vmap(rc::jacfwd(f))(x), wanted, 1e-12);
  expect_values(rc::grad([&](Tensor a) { return rc::vmap(f)(a).sum(); })(x), wanted, 1e-12);
  expect_values(rc::trace(rc::grad(f))(x[0])({x[1]})[0], {slope(-1)}, 1e-12);
}

TEST(Cond, ANumberThatExamplesDoNotShareIsRefused) {
  const auto of_numbers = [](double yes, double no) {
    return rc::vmap(
        [=](Tensor x) { return x * rc::cond(x > 0, [=](Tensor) { return yes; }, [=](Tensor) { return no; }, x); });
  };
  expect_values(of_numbers(2, 2)(rc::tensor({1., -1.})), {2, -2});
  expect_values(of_numbers(NAN, NAN)(rc::tensor({1., -1.})).isnan().to(rc::float32), {1, 1});
  expect_values(of_numbers(1, 2)(rc::tensor({1., 3.})), {1, 3});
  EXPECT_THROW(of_numbers(1, 2)(rc::tensor({1., -1.})), rc::TransformError);
  const auto of_pairs = rc::vmap([](Tensor i, Tensor x) {
    const auto [scaled, times] = rc::switch_case(
        i, std::tuple{[](Tensor a) { return std::pair{a, 10}; }, [](Tensor a) { return std::pair{a, 20}; }}, x);
    return scaled * times;
  });
  EXPECT_THROW(of_pairs(rc::tensor({0, 1}), rc::ones({2})), rc::TransformError);
}

}  // namespace
