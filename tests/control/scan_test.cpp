// scan along any axis: trees, dtypes, closures, no_grad in the step, results that are the carry or the slice, and what
// it refuses. Each is held against a plain loop over the slices, or a closed formula.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "ricci/ricci.h"
#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Pair = std::pair<Tensor, Tensor>;
using Step = std::function<Pair(Tensor, Tensor)>;

/// What scan stands for.
Pair looped(const Step& step, Tensor carry, const Tensor& xs, rc::ScanOptions options = {}) {
  const Tensor rows = movedim(xs, options.dim, 0);
  std::vector<Tensor> ys(static_cast<std::size_t>(rows.size(0)));
  for (std::int64_t k = 0; k < rows.size(0); ++k) {
    const std::int64_t i = options.reverse ? rows.size(0) - 1 - k : k;
    auto [next, y] = step(carry, rows[i]);
    carry = next, ys[static_cast<std::size_t>(i)] = y;
  }
  return {carry, rc::stack(ys)};
}

/// Values and both gradients of scan are the loop's.
void expect_loop(const Step& step, const Tensor& carry, const Tensor& xs, rc::ScanOptions options = {}) {
  const auto [last, ys] = rc::scan(step, carry, xs, options);
  const auto [last_of_loop, ys_of_loop] = looped(step, carry, xs, options);
  expect_close(last, last_of_loop);
  expect_close(ys, ys_of_loop);
  const auto loss = [](const Pair& both) {
    return (both.first * ramp(sizes(both.first))).sum() + sin(both.second).sum();
  };
  const auto by_scan = rc::grad<0, 1>([&](Tensor c, Tensor x) { return loss(rc::scan(step, c, x, options)); });
  const auto by_loop = rc::grad<0, 1>([&](Tensor c, Tensor x) { return loss(looped(step, c, x, options)); });
  const auto [by_carry, by_xs] = by_scan(carry, xs);
  const auto [loop_by_carry, loop_by_xs] = by_loop(carry, xs);
  expect_close(by_carry, loop_by_carry);
  expect_close(by_xs, loop_by_xs);
}

Pair add_up(Tensor c, Tensor x) { return {c + x, c + x}; }
Pair mixed(Tensor c, Tensor x) {
  const Tensor next = sin(c) * x + c;
  return {next, next * x};
}

TEST(ScanAlong, EveryAxisGivesTheLoopOverItsSlices) {
  const Tensor xs = ramp({2, 3, 4});
  for (const std::int64_t dim : {0, 1, 2, -1, -3})
    for (const bool reverse : {false, true}) {
      const Tensor carry = ramp(sizes(xs.select(dim, 0)));
      expect_loop(mixed, carry, xs, {.dim = dim, .reverse = reverse});
    }
  const auto [last, ys] = rc::scan(add_up, rc::zeros({2, 3}, rc::float64), xs, {.dim = 2});
  expect_close(last, xs.sum(2));
  expect_close(ys, movedim(cumsum(xs, 2), 2, 0));  // ys are stacked along axis 0
}

TEST(ScanAlong, AnAxisWithResultsOfFewerAxes) {
  const Tensor xs = ramp({2, 3, 4});
  const auto step = [](Tensor c, Tensor x) { return Pair{c + x, (c * x).sum()}; };
  expect_loop(step, rc::ones({2, 3}, rc::float64), xs, {.dim = 2});
  EXPECT_EQ(sizes(rc::scan(step, rc::ones({2, 3}, rc::float64), xs, {.dim = 2}).second), (Sizes{4}));
}

TEST(ScanAlong, AnAxisOfEveryTensorOfATree) {
  const std::map<std::string, Tensor> xs{{"a", ramp({2, 5})}, {"b", ramp({3, 5, 2})}};
  const auto step = [](Tensor c, const std::map<std::string, Tensor>& x) {
    const Tensor y = c + x.at("a").sum() * x.at("b").sum();
    return Pair{y, y};
  };
  const auto [last, ys] = rc::scan(step, number(0), xs, {.dim = 1});
  const Tensor terms = xs.at("a").sum(0) * xs.at("b").sum(2).sum(0);
  expect_close(ys, cumsum(terms, 0));
  expect_close(last, terms.sum());
}

TEST(ScanAlong, AnAxisInsideVmapAndInAProgram) {
  const Tensor xs = ramp({3, 2, 4});
  const auto f = [](Tensor x) {
    return rc::scan(mixed, rc::ones({2}, rc::float64), x, {.dim = 1, .reverse = true}).second;
  };
  expect_close(rc::vmap(f)(xs), rc::stack({f(xs[0]), f(xs[1]), f(xs[2])}));
  expect_close(rc::vmap(rc::grad([&](Tensor x) { return f(x).sum(); }))(xs)[1],
               rc::grad([&](Tensor x) { return f(x).sum(); })(xs[1]));
  const Tensor longer = ramp({2, 7});
  expect_close(rc::trace(f)(xs[0])({longer})[0], f(longer));
}

TEST(ScanAlong, AnAxisThatIsNotThereOrOfDifferentSizesIsRefused) {
  const Tensor x = rc::ones({4, 3});
  const auto step = [](Tensor c, Pair p) { return Pair{c, p.first}; };
  expect_error<rc::IndexError>([&] { rc::scan(add_up, number(0), x, {.dim = 2}); },
                               "scan: axis 2 is out of range: f32[4,3] has 2 axes; the legal range is [-2, 1]", {x});
  expect_error<rc::ValueError>(
      [&] { rc::scan(step, number(0), Pair{x, rc::ones({4, 2})}, {.dim = 1}); },
      "scan: sizes along axis 1 differ: xs ([0]) is f32[4,3], xs ([1]) is f32[4,2]; slice or pad them to one size",
      {x});
  expect_error<rc::ValueError>(
      [&] { rc::scan(step, number(0), Pair{x, x[0]}); },
      "scan: sizes along axis 0 differ: xs ([0]) is f32[4,3], xs ([1]) is f32[3]; slice or pad them to one size", {x});
  expect_error<rc::ValueError>([&] { rc::scan(add_up, number(0), number(1), {.dim = 1}); },
                               "scan: xs is f64[]; every Tensor needs an axis 1 to scan over");
}

TEST(ScanOf, EveryDtypeKeepsIt) {
  for (const rc::DType dtype :
       {rc::float64, rc::float32, rc::bfloat16, rc::int64, rc::int32, rc::uint8, rc::complex64}) {
    const Tensor xs = rc::arange(5).to(dtype);
    const auto [last, ys] = rc::scan(add_up, rc::zeros({}, dtype), xs);
    EXPECT_EQ(last.dtype(), dtype);
    EXPECT_EQ(ys.dtype(), dtype);
    expect_values(ys, {0, 1, 3, 6, 10});
  }
  const Tensor flags = rc::tensor({true, false, true});
  const auto either = [](Tensor c, Tensor x) { return Pair{logical_or(c, x), logical_and(c, x)}; };
  expect_values(rc::scan(either, rc::tensor(false), flags).second, {0, 0, 1});
}

TEST(ScanOf, StepsThatAreNotElementwise) {
  const Tensor w = ramp({3, 3}) * 0.2;
  const auto step = [&](Tensor c, Tensor x) {
    const Tensor next = tanh(matmul(w, c) + x);
    return Pair{next, rc::outer(next, x).sum(0)};
  };
  expect_loop(step, ramp({3}), ramp({4, 3}));
  expect_loop(step, ramp({3}), ramp({3, 4}), {.dim = 1, .reverse = true});
}

TEST(ScanOf, AffineMapsAsATreeAgreesWithAssociativeScan) {
  const Tensor a = cos(ramp({5, 2})), b = ramp({5, 2});
  const auto step = [](Tensor h, Pair ab) {
    const Tensor next = ab.first * h + ab.second;
    return Pair{next, next};
  };
  const auto after = [](Pair f, Pair g) { return Pair{g.first * f.first, g.first * f.second + g.second}; };
  for (const bool reverse : {false, true}) {
    const Tensor zero = rc::zeros({2}, rc::float64);
    expect_close(rc::scan(step, zero, Pair{a, b}, {.reverse = reverse}).second,
                 rc::associative_scan(after, Pair{a, b}, {.reverse = reverse}).second);
  }
  expect_close(rc::scan(add_up, rc::zeros({2}, rc::float64), a).second, rc::associative_scan(rc::add, a));
}

using Nested = std::pair<std::vector<Tensor>, std::map<std::string, Pair>>;

TEST(ScanOf, NestedTreesAsCarrySlicesAndResults) {
  const auto step = [](const Nested& c, const Nested& x) {
    Nested next = c;
    next.first[0] = c.first[0] + x.first[0] * c.second.at("p").first;
    next.second["p"] = {sin(c.second.at("p").first) + x.second.at("p").second, x.first[0]};
    return std::pair{next, std::map<std::string, Tensor>{{"y", next.first[0] * x.second.at("p").first}}};
  };
  const Nested carry{{number(1)}, {{"p", {number(0.5), number(2)}}}};
  const Nested xs{{ramp({4})}, {{"p", {cos(ramp({4})), sin(ramp({4}))}}}};
  const auto by_loop = [&](Nested c, const Nested& all) {
    std::vector<Tensor> ys;
    for (std::int64_t i = 0; i < 4; ++i) {
      const Pair& p = all.second.at("p");
      auto [next, y] = step(c, Nested{{all.first[0][i]}, {{"p", {p.first[i], p.second[i]}}}});
      c = next;
      ys.push_back(y.at("y"));
    }
    return (rc::stack(ys) * ramp({4})).sum() + c.second.at("p").first * c.second.at("p").second;
  };
  const auto by_scan = [&](const Nested& c, const Nested& all) {
    const auto [last, ys] = rc::scan(step, c, all);
    return (ys.at("y") * ramp({4})).sum() + last.second.at("p").first * last.second.at("p").second;
  };
  expect_close(by_scan(carry, xs), by_loop(carry, xs));
  const auto [by_carry, by_xs] = rc::grad<0, 1>(by_scan)(carry, xs);
  const auto [loop_by_carry, loop_by_xs] = rc::grad<0, 1>(by_loop)(carry, xs);
  expect_close(by_carry.first[0], loop_by_carry.first[0]);
  expect_close(by_carry.second.at("p").first, loop_by_carry.second.at("p").first);
  expect_close(by_xs.first[0], loop_by_xs.first[0]);
  expect_close(by_xs.second.at("p").second, loop_by_xs.second.at("p").second);
}

TEST(ScanOf, ACarryOrAResultThatIsANumber) {
  const auto counts = [](double c, Tensor x) { return std::pair{c + 1, x * c}; };
  const auto [last, ys] = rc::scan(counts, 1.0, doubles({2, 2, 2}));
  EXPECT_EQ(last, 4);
  expect_values(ys, {2, 4, 6});
  const auto gives = [](Tensor c, Tensor x) { return std::pair{c + x, 7.5}; };
  EXPECT_EQ(rc::scan(gives, number(0), doubles({1, 2})).second, 7.5);
}

TEST(ScanOf, NothingHasTheGradientOfTheCarryAlone) {
  const Tensor none = rc::zeros({0, 2}, rc::float64);
  const auto loss = [](Tensor c, Tensor xs) {
    const auto [last, ys] = rc::scan(mixed, c, xs);
    return (last * ramp({2})).sum() + ys.sum();
  };
  const auto [by_carry, by_xs] = rc::grad<0, 1>(loss)(ramp({2}), none);
  expect_close(by_carry, ramp({2}));
  EXPECT_EQ(sizes(by_xs), (Sizes{0, 2}));
}

TEST(ScanOf, AStepThatChangesTheCarryIsRefused) {
  const Tensor xs = ramp({3, 2});
  using List = std::vector<Tensor>;
  EXPECT_THROW(rc::scan(add_up, number(0), xs), rc::ValueError);  // broadcasting would make it longer
  const auto longer = [](List c, Tensor x) { return std::pair{List{c[0], x}, x}; };
  EXPECT_THROW(rc::scan(longer, List{xs[0]}, xs), rc::ValueError);
  const auto shorter = [](List c, Tensor x) { return std::pair{List{c[0]}, x}; };
  EXPECT_THROW(rc::scan(shorter, List{xs[0], xs[0]}, xs), rc::ValueError);
  const auto wider = [](List c, Tensor x) { return std::pair{List{c[0], rc::stack({x, x})}, x}; };
  EXPECT_THROW(rc::scan(wider, List{xs[0], xs[0]}, xs), rc::ValueError);
  using Named = std::map<std::string, Tensor>;
  const auto renamed = [](Named c, Tensor x) { return std::pair{Named{{"b", c.begin()->second}}, x}; };
  EXPECT_THROW(rc::scan(renamed, Named{{"a", xs[0]}}, xs), rc::ValueError);
  const auto single = [](Tensor c, Tensor x) { return Pair{(c + x).to(rc::float32), x}; };
  EXPECT_THROW(rc::scan(single, xs[0], xs), rc::ValueError);
  EXPECT_FALSE(rc::inside_transform());
}

TEST(ScanThen, OperationsAndScansOfItsResults) {
  const Tensor xs = ramp({3, 4, 2}), w = ramp({2, 5});
  const auto f = [&](Tensor x) {
    const Tensor ys = rc::scan(add_up, rc::ones({4, 2}, rc::float64), x).second;
    const Tensor again = rc::scan(mixed, rc::zeros({3, 2}, rc::float64), ys, {.dim = 1, .reverse = true}).second;
    return matmul(again, w);
  };
  const auto by_loop = [&](Tensor x) {
    const Tensor ys = looped(add_up, rc::ones({4, 2}, rc::float64), x).second;
    return matmul(looped(mixed, rc::zeros({3, 2}, rc::float64), ys, {.dim = 1, .reverse = true}).second, w);
  };
  expect_close(f(xs), by_loop(xs));
  const auto total = [](const auto& g) { return [g](Tensor x) { return sin(g(x)).sum(); }; };
  expect_close(rc::grad(total(f))(xs), rc::grad(total(by_loop))(xs));
}

struct Cell {
  Tensor w, u, b;
};

/// A recurrent net, by its parameters: all of them or some.
TEST(ScanWithCaptures, OfARecurrentNetHasTheLoopsGradients) {
  const Cell cell{ramp({3, 3}) * 0.2, cos(ramp({2, 3})), ramp({3})};
  const Tensor xs = ramp({5, 2}), h = rc::zeros({3}, rc::float64);
  const auto step_of = [](const Cell& c) {
    return [&c](Tensor h, Tensor x) {
      const Tensor next = tanh(matmul(h, c.w) + matmul(x, c.u) + c.b);
      return Pair{next, next};
    };
  };
  const auto by_scan = [&](const Cell& c) { return rc::scan(step_of(c), h, xs).second.square().sum(); };
  const auto by_loop = [&](const Cell& c) { return looped(step_of(c), h, xs).second.square().sum(); };
  const Cell slope = rc::grad(by_scan)(cell), of_loop = rc::grad(by_loop)(cell);
  expect_close(slope.w, of_loop.w);
  expect_close(slope.u, of_loop.u);
  expect_close(slope.b, of_loop.b);
  const auto partly = [&](Tensor b) { return by_scan({cell.w, cell.u.detach(), b}); };
  expect_close(rc::grad(partly)(cell.b), of_loop.b);
  expect_close(rc::hessian(partly)(cell.b),
               rc::hessian([&](Tensor b) { return by_loop({cell.w, cell.u, b}); })(cell.b));
}

TEST(ScanWithCaptures, OfLayersIsTheNetOfManyLayers) {
  const Tensor weights = ramp({4, 3, 3}) * 0.3, biases = ramp({4, 3});
  const auto by_scan = [](Tensor ws, Tensor bs) {
    const auto layer = [](Tensor h, Pair p) {
      const Tensor next = sin(matmul(h, p.first) + p.second);
      return Pair{next, rc::zeros({}, rc::float64)};
    };
    return rc::scan(layer, rc::ones({3}, rc::float64), Pair{ws, bs}).first.sum();
  };
  const auto by_loop = [](Tensor ws, Tensor bs) {
    Tensor h = rc::ones({3}, rc::float64);
    for (std::int64_t i = 0; i < 4; ++i) h = sin(matmul(h, ws[i]) + bs[i]);
    return h.sum();
  };
  const auto [by_w, by_b] = rc::grad<0, 1>(by_scan)(weights, biases);
  const auto [loop_w, loop_b] = rc::grad<0, 1>(by_loop)(weights, biases);
  expect_close(by_w, loop_w);
  expect_close(by_b, loop_b);
}

TEST(ScanWithCaptures, NestsInAStepThatCapturesOfBothLevels) {
  const Tensor w = ramp({2}), xs = ramp({3, 2});
  const auto step = [&](Tensor c, Tensor x) {
    const Tensor scale = c.sum();
    const auto inner = [&](Tensor d, Tensor y) { return Pair{d + w * scale * y, d.sum()}; };
    const auto [last, ys] = rc::scan(inner, c, x);
    return Pair{sin(last), ys};
  };
  expect_loop(step, ramp({2}), xs);
  const auto by_w = [&](Tensor v) {
    const auto f = [&](Tensor c, Tensor x) { return Pair{c * v + x, c}; };
    const auto twice = [&](Tensor c, Tensor x) { return Pair{rc::scan(f, c, rc::stack({x, x})).first * v, c}; };
    return rc::scan(twice, ramp({2}), xs).first.sum();
  };
  expect_close(rc::grad(by_w)(w), difference_quotient(by_w, w), difference_tolerance);
}

TEST(ScanWithCaptures, OfAStructIsDifferentiatedByIt) {
  const Cell cell{number(0.3), number(0.7), number(1.1)};
  const auto loss = [](const Cell& c) {
    const auto step = [&](Tensor h, Tensor x) { return Pair{c.w * h + c.u * x, sin(c.b * h)}; };
    const auto [last, ys] = rc::scan(step, number(1), ramp({3}));
    return last + ys.sum();
  };
  const Cell slope = rc::grad(loss)(cell);
  expect_close(slope.w, difference_quotient([&](Tensor w) { return loss({w, cell.u, cell.b}); }, cell.w), 1e-6);
  expect_close(slope.u, difference_quotient([&](Tensor u) { return loss({cell.w, u, cell.b}); }, cell.u), 1e-6);
  expect_close(slope.b, difference_quotient([&](Tensor b) { return loss({cell.w, cell.u, b}); }, cell.b), 1e-6);
}

TEST(ScanUnderNoGrad, PartsOfAStepAreConstantsAsInTheLoop) {
  const auto carry_is_constant = [](Tensor c, Tensor x) {
    const Tensor y = c * x;
    rc::no_grad off;
    return Pair{c + x, y};
  };
  const auto half_of_the_carry = [](Tensor c, Tensor x) {
    const Tensor free = c * x;
    rc::no_grad off;
    return Pair{free.detach() + sin(c), free};
  };
  const auto result_is_constant = [](Tensor c, Tensor x) {
    const Tensor next = c * x;
    rc::no_grad off;
    return Pair{next, c + x};
  };
  for (const Step& step : {Step(carry_is_constant), Step(half_of_the_carry), Step(result_is_constant)})
    expect_loop(step, ramp({2}), ramp({4, 2}));
  const auto by_xs = rc::grad([&](Tensor xs) { return rc::scan(result_is_constant, ramp({2}), xs).second.sum(); });
  expect_equal(by_xs(ramp({4, 2})), rc::zeros({4, 2}, rc::float64));
}

TEST(ScanUnderNoGrad, SomeOrAllCapturesAreConstants) {
  const auto loss = [](Tensor v, Tensor w, bool all) {
    const auto step = [&](Tensor c, Tensor x) {
      const Tensor a = v.detach(), b = all ? w.detach() : w;
      return Pair{c * a + b * x, c};
    };
    const auto [last, ys] = rc::scan(step, number(1), ramp({3}));
    return last + ys.sum();
  };
  const Tensor v = number(0.5), w = number(2);
  const auto [by_v, by_w] = rc::grad<0, 1>([&](Tensor a, Tensor b) { return loss(a, b, false); })(v, w);
  expect_values(by_v, {0});
  expect_close(by_w, difference_quotient([&](Tensor b) { return loss(v, b, false); }, w), difference_tolerance);
  const auto [none_v, none_w] = rc::grad<0, 1>([&](Tensor a, Tensor b) { return loss(a, b, true); })(v, w);
  expect_values(none_v, {0});
  expect_values(none_w, {0});
}

TEST(ScanWhoseStep, ReturnsItsCarryOrSliceSharesNoMemory) {
  const Tensor start = ramp({2}), xs = ramp({3, 2});
  const Tensor start_before = start.clone(), xs_before = xs.clone();
  const auto gives_slice = [](Tensor, Tensor x) { return Pair{x, x}; };
  const auto gives_carry = [](Tensor c, Tensor) { return Pair{c, c}; };
  for (const Step& step : {Step(gives_slice), Step(gives_carry)}) {
    expect_loop(step, start, xs);
    const auto [last, ys] = rc::scan(step, start, xs);
    last.fill_(100);
    ys.fill_(200);
    expect_equal(start, start_before);
    expect_equal(xs, xs_before);
    EXPECT_EQ(last[0].item(), 100);
  }
  const auto both = [](Pair c, Tensor x) {
    const Tensor next = c.first + x;
    return std::pair{Pair{next, next}, next};
  };
  const auto [last, ys] = rc::scan(both, Pair{start, start}, xs);
  last.first.fill_(0);
  ys.fill_(0);
  expect_close(last.second, start + xs.sum(0));
}

TEST(ScanWhoseStep, WritesToItsSliceLeavesXsAsTheyWere) {
  const Tensor xs = ramp({3, 2}), before = xs.clone();
  const auto writes = [](Tensor c, Tensor x) { return x.mul_(2), Pair{c + x, x}; };
  const auto pure = [](Tensor c, Tensor x) { return Pair{c + 2 * x, 2 * x}; };
  for (const std::int64_t dim : {0, 1}) {
    const Tensor start = rc::zeros({dim == 0 ? 2 : 3}, rc::float64);
    const auto [last, ys] = rc::scan(writes, start, xs, {.dim = dim});
    const auto [wanted_last, wanted] = looped(pure, start, xs, {.dim = dim});
    expect_close(last, wanted_last);
    expect_close(ys, wanted);
    expect_equal(xs, before);
  }
  expect_close(rc::grad([&](Tensor x) { return rc::scan(writes, rc::zeros({2}, rc::float64), x).second.sum(); })(xs),
               before * 0 + 2);
}

}  // namespace
