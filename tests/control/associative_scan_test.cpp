// associative_scan: trees, axes, functions that are not elementwise, that capture and that hold control flow, partial
// derivatives, and what it refuses. Held against a plain loop over the prefixes.
#include <gtest/gtest.h>

#include <functional>

#include "ricci/ricci.h"
#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Pair = std::pair<Tensor, Tensor>;
using Combine = std::function<Tensor(Tensor, Tensor)>;

Tensor looped(const Combine& f, const Tensor& xs, std::int64_t dim = 0, bool reverse = false) {
  const Tensor rows = movedim(reverse ? rc::flip(xs, dim) : xs, dim, 0);
  std::vector<Tensor> ys{rows[0]};
  for (std::int64_t i = 1; i < rows.size(0); ++i) ys.push_back(f(ys.back(), rows[i]));
  const Tensor all = movedim(rc::stack(ys), 0, dim);
  return reverse ? rc::flip(all, dim) : all;
}

/// Values and gradients along an axis, in both directions, are the loop's.
void expect_loop(const Combine& f, const Tensor& xs, std::int64_t dim = 0) {
  for (const bool reverse : {false, true}) {
    const auto by_scan = [&](Tensor x) { return rc::associative_scan(f, x, {.dim = dim, .reverse = reverse}); };
    const auto by_loop = [&](Tensor x) { return looped(f, x, dim, reverse); };
    expect_close(by_scan(xs), by_loop(xs));
    expect_close(rc::grad([&](Tensor x) { return sin(by_scan(x)).sum(); })(xs),
                 rc::grad([&](Tensor x) { return sin(by_loop(x)).sum(); })(xs));
  }
}

Tensor add(Tensor a, Tensor b) { return a + b; }

TEST(AssociativeScanAlong, EveryAxisGivesTheLoopOverItsSlices) {
  for (const std::int64_t dim : {0, 1, 2, -1})
    expect_loop([](Tensor a, Tensor b) { return a * b; }, ramp({3, 4, 2}), dim);
  const Tensor x = ramp({3, 4});
  expect_equal(rc::associative_scan(rc::add, x, {.dim = 1}), rc::associative_scan(rc::add, x, 1));
  expect_equal(rc::associative_scan(rc::add, x, {.dim = 1, .reverse = true}),
               rc::associative_scan(rc::add, x, 1, {.reverse = true}));
}

TEST(AssociativeScanAlong, AnAxisOfNoElementsGivesNone) {
  EXPECT_EQ(sizes(rc::associative_scan(rc::add, rc::zeros({0, 3}), 0)), (Sizes{0, 3}));
  EXPECT_EQ(sizes(rc::associative_scan(rc::add, rc::zeros({3, 0}), 1)), (Sizes{3, 0}));
  const auto loss = [](Tensor x) { return rc::associative_scan(add, x, 0).sum(); };
  EXPECT_EQ(sizes(rc::grad(loss)(rc::zeros({0, 3}))), (Sizes{0, 3}));
}

TEST(AssociativeScanAlong, ATensorThatIsNotContiguous) {
  const Tensor x = ramp({4, 3, 2}).permute({2, 0, 1}).slice(1, 0, 4, 2);
  for (const std::int64_t dim : {0, 1, 2}) expect_loop(add, x, dim);
}

TEST(AssociativeScanAlong, AnAxisThatIsNotThereOrOfDifferentSizesIsRefused) {
  const auto both = [](Pair a, Pair b) { return Pair{a.first + b.first, a.second + b.second}; };
  EXPECT_THROW(rc::associative_scan(rc::add, rc::ones({2, 3}), {.dim = 2}), rc::IndexError);
  EXPECT_THROW(rc::associative_scan(rc::add, rc::ones({2, 3}), -3), rc::IndexError);
  EXPECT_THROW(rc::associative_scan(both, Pair{rc::ones({2, 3}), rc::ones({2})}, 1), rc::IndexError);
  expect_error<rc::ValueError>([&] { rc::associative_scan(both, Pair{rc::ones({2, 3}), rc::ones({2, 4})}, 1); },
                               "associative_scan: sizes along axis 1 differ: xs ([0]) is f32[2,3], xs ([1]) is "
                               "f32[2,4]; slice or pad them to one size");
  EXPECT_THROW(rc::associative_scan(rc::add, number(1)), rc::ValueError);
}

TEST(AssociativeScanOf, ATupleOfTensorsOfOneLengthAndOtherSizes) {
  const auto both = [](Pair a, Pair b) { return Pair{a.first + b.first, a.second * b.second}; };
  const Pair xs{ramp({2, 5}), ramp({3, 5, 2})};
  const Pair all = rc::associative_scan(both, xs, {.dim = 1});
  expect_close(all.first, cumsum(xs.first, 1));
  expect_close(all.second, cumprod(xs.second, 1));
}

using Nested = std::pair<std::vector<Tensor>, std::map<std::string, Pair>>;

TEST(AssociativeScanOf, ANestedTreeGivesTheSameTree) {
  const auto f = [](const Nested& a, const Nested& b) {
    const Pair &p = a.second.at("p"), &q = b.second.at("p");
    return Nested{{a.first[0] + b.first[0]}, {{"p", {p.first * q.first, rc::maximum(p.second, q.second)}}}};
  };
  const Nested all = rc::associative_scan(f, Nested{{ramp({4})}, {{"p", {ramp({4}), doubles({1, 3, 2, 5})}}}});
  expect_close(all.first[0], cumsum(ramp({4}), 0));
  expect_close(all.second.at("p").first, cumprod(ramp({4}), 0));
  expect_values(all.second.at("p").second, {1, 3, 3, 5});
}

TEST(AssociativeScanOf, FunctionsThatAreNotElementwise) {
  expect_loop([](Tensor a, Tensor b) { return matmul(a, b); }, ramp({5, 2, 2}) * 0.4);
  expect_loop([](Tensor a, Tensor b) { return matmul(a, b); }, ramp({2, 4, 2}) * 0.4, 1);
  expect_loop([](Tensor a, Tensor b) { return rc::flip(rc::flip(a, 0) + rc::flip(b, 0), 0); }, ramp({4, 3}));
}

TEST(AssociativeScanOf, FunctionsThatExpandAndReduce) {
  const auto f = [](Tensor a, Tensor b) { return a + b.sum(-1, true).expand({3}) - b.sum(-1, true).expand({3}) + b; };
  expect_loop(f, ramp({4, 3}));
}

TEST(AssociativeScanThen, ProductsAndScansOfItsResults) {
  const Tensor xs = ramp({3, 4}), w = ramp({4, 2});
  const auto f = [&](Tensor x) {
    const Tensor sums = rc::associative_scan(rc::add, x, 0);
    const Tensor again = rc::associative_scan(rc::mul, sums, {.dim = 1, .reverse = true});
    const auto step = [](Tensor c, Tensor row) { return Pair{c + row, c * row}; };
    return matmul(rc::scan(step, rc::zeros({4}, rc::float64), again).second, w);
  };
  const Tensor again = rc::flip(cumprod(rc::flip(cumsum(xs, 0), 1), 1), 1);
  const Tensor before = cumsum(again, 0) - again;
  expect_close(f(xs), matmul(before * again, w));
  const auto total = [&](Tensor x) { return f(x).sum(); };
  expect_close(rc::grad(total)(xs), difference_quotient(total, xs), 1e-5);
}

TEST(AssociativeScanWhoseFunction, HoldsLoopsBranchesMapsAndScans) {
  const Tensor xs = ramp({5, 2}) - 0.5;
  const auto loops = [](Tensor a, Tensor b) {
    Tensor y = a;
    for (int i = 0; i < 3; ++i) y = y + b / 3;
    return y;
  };
  const auto branches = [](Tensor a, Tensor b) {
    return rc::cond(b.sum() > 0, [&] { return a + b; }, [&] { return b + a; });
  };
  const auto maps = [](Tensor a, Tensor b) { return rc::map([](Pair p) { return p.first + p.second; }, Pair{a, b}); };
  const auto vmaps = [](Tensor a, Tensor b) { return rc::vmap([](Tensor p, Tensor q) { return p + q; })(a, b); };
  const auto scans = [](Tensor a, Tensor b) {
    const auto step = [](Tensor c, Pair p) { return Pair{c, p.first + p.second}; };
    return rc::scan(step, number(0), Pair{a, b}).second;
  };
  const auto nests = [](Tensor a, Tensor b) {
    return a + rc::associative_scan([](Tensor, Tensor q) { return q; }, b, 0);  // the prefixes of "last" are b
  };
  for (const Combine& f :
       {Combine(loops), Combine(branches), Combine(maps), Combine(vmaps), Combine(scans), Combine(nests)})
    expect_loop(f, xs);
}

TEST(AssociativeScanWhoseFunction, LoopsOnItsValuesIsRefused) {
  const auto f = [](Tensor a, Tensor b) {
    while (b.sum().item<double>() > 0) b = b - 1;
    return a + b;
  };
  EXPECT_THROW(rc::associative_scan(f, ramp({4, 2})), rc::TransformError);
  EXPECT_FALSE(rc::inside_transform());
}

struct Weights {
  Tensor scale;
  std::vector<Tensor> more;
};

TEST(AssociativeScanWithCaptures, TakesTensorsFunctionsAndTrees) {
  const Tensor h = ramp({2});
  const Weights weights{ramp({2}) + 1, {ramp({2, 2}), number(2)}};
  const auto outer = [&](Tensor a) { return a * h; };
  const auto simple = [&](Tensor a, Tensor b) { return a + b + h; };
  const auto nested = [&](Tensor a, Tensor b) {
    const auto inner = [&](Tensor c) { return outer(c) / h; };
    return inner(a) + inner(b);
  };
  const auto by_tree = [&](Tensor a, Tensor b) { return a * weights.scale * weights.more[1] * b; };
  for (const Combine& f : {Combine(simple), Combine(nested), Combine(by_tree)}) expect_loop(f, ramp({4, 2}));
  const auto by_h = [](Tensor v) {
    return rc::associative_scan([&](Tensor a, Tensor b) { return a * b * v; }, ramp({4, 2})).sum();
  };
  expect_close(rc::grad(by_h)(h), difference_quotient(by_h, h), 1e-6);
  const auto by_weights = rc::grad([&](const Weights& w) {
    return rc::associative_scan([&](Tensor a, Tensor b) { return a * w.scale * w.more[1] * b; }, ramp({4, 2})).sum();
  });
  const auto by_scale = [&](Tensor scale) {
    return looped([&](Tensor a, Tensor b) { return a * scale * weights.more[1] * b; }, ramp({4, 2})).sum();
  };
  expect_close(by_weights(weights).scale, rc::grad(by_scale)(weights.scale));
  expect_equal(by_weights(weights).more[0], rc::zeros({2, 2}, rc::float64));
}

TEST(AssociativeScanWithCaptures, ThatMakeTheResultLargerIsRefused) {
  const Tensor h = ramp({3, 2});
  expect_error<rc::ValueError>(
      [&] { rc::associative_scan([&](Tensor a, Tensor b) { return a + b + h; }, ramp({4, 2})); },
      "associative_scan: combine makes f64[3,2] of two f64[2]; it must return a tree like each "
      "of them");
}

TEST(AssociativeScanPartly, DifferentiatedLeavesConstantsAndPartsUnderNoGrad) {
  using Triple = std::tuple<Tensor, Tensor, Tensor>;
  const auto f = [](const Triple& p, const Triple& q) {
    const auto& [a, b, c] = p;
    const auto& [d, e, g] = q;
    Tensor last;
    {
      rc::no_grad off;
      last = c + g;
    }
    return Triple{a * d, b + e, last};
  };
  const Tensor a = ramp({4}), b = cos(a), c = sin(a);
  const auto loss = [&](Tensor a, Tensor b, Tensor c) {
    const auto [x, y, z] = rc::associative_scan(f, Triple{a, b.detach(), c});
    return (x * y + z).sum();
  };
  const auto [by_a, by_b, by_c] = rc::grad<0, 1, 2>(loss)(a, b, c);
  expect_close(by_a, rc::grad([&](Tensor v) { return (cumprod(v, 0) * cumsum(b, 0)).sum(); })(a));
  expect_equal(by_b, a * 0);
  expect_values(by_c, {1, 0, 0, 0});  // the first prefix is c[0] itself, the others are sums under no_grad
}

TEST(AssociativeScanThatReturns, AnotherTreeIsRefused) {
  using List = std::vector<Tensor>;
  const auto longer = [](const List& a, const List& b) { return List{a[0], b[0]}; };
  EXPECT_THROW(rc::associative_scan(longer, List{ramp({4})}), rc::ValueError);
  using Named = std::map<std::string, Tensor>;
  const auto renamed = [](const Named& a, const Named&) { return Named{{"z", a.begin()->second}}; };
  EXPECT_THROW(rc::associative_scan(renamed, Named{{"a", ramp({4})}}), rc::ValueError);
}

TEST(AssociativeScanThatReturns, AnArgumentOrOneValueTwiceSharesNoMemory) {
  const Tensor xs = ramp({5, 2}), before = xs.clone();
  const Tensor last = rc::associative_scan([](Tensor, Tensor b) { return b; }, xs);
  expect_equal(last, xs);
  last.fill_(7);
  expect_equal(xs, before);
  const auto twice = [](Pair a, Pair b) {
    const Tensor sum = a.first + b.first;
    return Pair{sum, sum};
  };
  const Pair both = rc::associative_scan(twice, Pair{xs, xs});
  both.first.fill_(7);
  expect_close(both.second, cumsum(xs, 0));
  expect_equal(xs, before);
}

TEST(AssociativeScanThatWrites, ToItsArgumentsLeavesXsAsTheyWere) {
  for (const std::int64_t n : {1, 2, 5, 8}) {
    const Tensor xs = ramp({n, 2}), before = xs.clone();
    expect_close(rc::associative_scan([](Tensor a, Tensor b) { return a.add_(b), a; }, xs), cumsum(before, 0));
    expect_equal(xs, before);
    expect_close(rc::associative_scan([](Tensor a, Tensor b) { return b.add_(a), b; }, xs), cumsum(before, 0));
    expect_equal(xs, before);
  }
}

}  // namespace
