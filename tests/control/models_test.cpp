// Control flow over models and trees: branches and loops that apply layers, map over lists and maps.
#include <map>
#include <string>
#include <tuple>

#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(CondOfModels, IsDifferentiatedByTheParametersOfBothBranches) {
  const Linear first = make_linear(3, 2), second{cos(first.weight), sin(first.bias)};
  const auto loss = [](const Linear& a, const Linear& b, const Tensor& x) {
    return rc::cond(
               x.sum() > 0, [](const Linear& l, const Linear&, Tensor y) { return tanh(matmul(y, l.weight) + l.bias); },
               [](const Linear&, const Linear& l, Tensor y) { return matmul(y, l.weight) - l.bias; }, a, b, x)
        .square()
        .sum();
  };
  const Tensor xs = rc::stack({ramp({3}), -ramp({3}), cos(ramp({3})) + 2});
  const auto total = [&](const Linear& a, const Linear& b) {
    return rc::vmap(loss, {.in_dims = {rc::none, rc::none, 0}})(a, b, xs).sum();
  };
  const auto [by_first, by_second] = rc::grad<0, 1>(total)(first, second);
  const auto of_first = [&](Tensor w) { return total({w, first.bias}, second); };
  const auto of_second = [&](Tensor b) { return total(first, {second.weight, b}); };
  expect_close(by_first.weight, difference_quotient(of_first, first.weight), difference_tolerance);
  expect_close(by_second.bias, difference_quotient(of_second, second.bias), difference_tolerance);
  expect_equal(rc::grad<1>(loss)(first, second, xs[0]).weight, rc::zeros({3, 2}, rc::float64));  // not taken
}

TEST(LoopsOfModels, ApplyALayerUntilItIsSmall) {
  const Tensor weight = doubles({0.4, 0.1, -0.2, 0.5}, {2, 2});
  const auto apply = [](Tensor w, Tensor x) {
    return rc::while_loop([](Tensor y) { return y.square().sum() > 0.01; },
                          [&](Tensor y) {
                            const Tensor z = matmul(w, y);
                            return rc::while_loop([](Tensor a) { return abs(a).max() > 0.5; },
                                                  [&](Tensor a) { return matmul(w, a); }, z);
                          },
                          x);
  };
  const auto plain = [](Tensor w, Tensor x) {
    while (bool(x.square().sum() > 0.01)) {
      x = matmul(w, x);
      while (bool(abs(x).max() > 0.5)) x = matmul(w, x);
    }
    return x;
  };
  const Tensor xs = doubles({3, 1, 0.2, -0.1, 40, -7}, {3, 2});
  const rc::VmapOptions over_x{.in_dims = {rc::none, 0}};
  const Tensor y = rc::vmap(apply, over_x)(weight, xs);
  for (std::int64_t k = 0; k < 3; ++k) expect_close(y[k], plain(weight, xs[k]));
  const auto total = [&](Tensor w) { return (rc::vmap(apply, over_x)(w, xs) * doubles({1, 2})).sum(); };
  const auto looped = [&](Tensor w) {
    Tensor sum = number(0);
    for (std::int64_t k = 0; k < 3; ++k) sum = sum + (plain(w, xs[k]) * doubles({1, 2})).sum();
    return sum;
  };
  expect_close(rc::grad(total)(weight), rc::grad(looped)(weight));
}

TEST(LoopsOfModels, MayWriteToWhatTheyCreate) {
  const auto f = [](Tensor x) {
    return rc::fori_loop(
        0, 3,
        [](Tensor i, Tensor state) {
          const Tensor next = state.clone();
          next[0].add_(i);
          next[1].mul_(state[0]);
          return next;
        },
        x);
  };
  // (a, b) → (a, ab) → (a + 1, a²b) → (a + 3, a²b (a + 1))
  expect_values(rc::vmap(f)(doubles({2, 5, 1, 1}, {2, 2})), {5, 60, 4, 2});
  expect_values(rc::grad([&](Tensor x) { return f(x)[1]; })(doubles({2, 5})), {80, 12});
}

// ── map ──

TEST(MapOfTrees, TakesAndGivesListsAndMaps) {
  using Named = std::map<std::string, Tensor>;
  const Tensor xs = ramp({3, 2}), ys = cos(ramp({3, 2}));
  const auto lists = rc::map([](std::vector<Tensor> v) { return std::vector<Tensor>{v[1], v[0] * v[1]}; },
                             std::vector<Tensor>{xs, ys});
  expect_equal(lists[0], ys);
  expect_close(lists[1], xs * ys);
  const Named named =
      rc::map([](Named m) { return Named{{"sum", m.at("x").sum() + m.at("y")}}; }, Named{{"x", xs}, {"y", ys}});
  expect_close(named.at("sum"), xs.sum(1, true) + ys);
}

TEST(MapOfTrees, IsDifferentiated) {
  const Tensor xs = ramp({3, 2}), w = cos(ramp({2}));
  using Pair = std::pair<Tensor, Tensor>;
  const auto f = [](Tensor rows, Tensor weight) {
    const auto [values, places] =
        rc::map([&](Tensor x) { return Pair{(x * weight).square().sum(), x.argmax(0)}; }, rows);
    EXPECT_EQ(places.dtype(), rc::int64);
    return (values * ramp({3})).sum();
  };
  const auto by_rows = [&](Tensor rows) { return f(rows, w); };
  const auto by_weight = [&](Tensor weight) { return f(xs, weight); };
  expect_close(rc::grad<0>(f)(xs, w), difference_quotient(by_rows, xs), difference_tolerance);
  expect_close(rc::grad<1>(f)(xs, w), difference_quotient(by_weight, w), difference_tolerance);
  expect_close(rc::vmap(rc::grad<1>(f), {.in_dims = {0, rc::none}})(ramp({2, 3, 2}), w)[1],
               rc::grad<1>(f)(ramp({2, 3, 2})[1], w));
  const auto nested = [](std::vector<std::vector<Tensor>> lists) {
    const auto step = [](std::vector<std::vector<Tensor>> l) { return std::vector<Tensor>{l[0][0] * l[1][0]}; };
    return rc::map(step, lists)[0].sum();
  };
  const auto gradients = rc::grad(nested)(std::vector<std::vector<Tensor>>{{xs}, {xs * 2}});
  expect_close(gradients[0][0], xs * 2);
  expect_close(gradients[1][0], xs);
}

TEST(MapOfTrees, RefusesNoExamplesAndNoTensors) {
  EXPECT_THROW(rc::map([](Tensor x) { return x; }, number(1)), rc::Error);
  EXPECT_THROW(rc::map([](std::vector<Tensor> v) { return v[0]; }, std::vector<Tensor>{ramp({3}), ramp({2})}),
               rc::Error);
  EXPECT_THROW(rc::map([](Tensor x) { return x.sum().item() > 2 ? x : rc::stack({x, x}); }, ramp({4, 2})), rc::Error);
}

}  // namespace
