// scan, map and vmap inside each other, and while_loop's trees and derivatives, against loops over the examples.
#include <gtest/gtest.h>

#include "ricci/ricci.h"
#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Pair = std::pair<Tensor, Tensor>;

Pair mixed(Tensor c, Tensor x) {
  const Tensor next = sin(c) * x + c;
  return {next, next * x};
}
Pair scanned(Tensor c, Tensor xs) { return rc::scan(mixed, c, xs); }
Tensor loss(Tensor c, Tensor xs) {
  const auto [last, ys] = scanned(c, xs);
  return last.sum() + ys.square().sum();
}

/// Holds vmap(f) against f on one example after the other. An argument that all examples share has the in_dim none.
template <class F>
void expect_examples(const F& f, const Tensor& c, const Tensor& xs, const rc::Dims& in_dims, bool c_mapped,
                     bool xs_mapped) {
  const auto [last, ys] = rc::vmap(f, {.in_dims = in_dims})(c, xs);
  for (std::int64_t i = 0; i < last.size(0); ++i) {
    const auto [one_last, one_ys] = f(c_mapped ? c[i] : c, xs_mapped ? xs[i] : xs);
    expect_close(last[i], one_last);
    expect_close(ys[i], one_ys);
  }
}

TEST(ScanInVmap, MapsCarryOrSlicesOrBoth) {
  const Tensor cs = ramp({3, 2}), xs = cos(ramp({3, 4, 2}));
  expect_examples(scanned, cs, xs, {0, 0}, true, true);
  expect_examples(scanned, cs, xs[0], {0, rc::none}, true, false);
  expect_examples(scanned, cs[0], xs, {rc::none, 0}, false, true);
  const auto slopes = rc::vmap(rc::grad<0, 1>(loss), {.in_dims = {0, rc::none}});
  const auto [by_c, by_xs] = slopes(cs, xs[0]);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto [one_c, one_xs] = rc::grad<0, 1>(loss)(cs[i], xs[0]);
    expect_close(by_c[i], one_c);
    expect_close(by_xs[i], one_xs);
  }
}

TEST(ScanInVmap, MapsAxesAnywhereOfTreesOfProducts) {
  const Tensor w = ramp({2, 2}) * 0.5, cs = ramp({2, 3}), xs = cos(ramp({4, 3, 2}));  // examples: axis 1
  const auto f = [&](Tensor c, Tensor x) {
    const auto step = [&](Pair s, Tensor y) {
      const Tensor next = rc::softmax(matmul(w, s.first) + y, 0);
      return std::pair{Pair{next, s.second + next.sum()}, rc::outer(next, y)};
    };
    const auto [last, ys] = rc::scan(step, Pair{c, number(0)}, x, {.reverse = true});
    return Pair{last.first * last.second, ys};
  };
  const auto [last, ys] = rc::vmap(f, {.in_dims = {1, 1}, .out_dims = {1, 2}})(cs, xs);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto [one_last, one_ys] = f(cs.select(1, i), xs.select(1, i));
    expect_close(last.select(1, i), one_last);
    expect_close(ys.select(2, i), one_ys);
  }
}

TEST(ScanInVmap, ACapturedMappedWeightIsEachExamples) {
  const Tensor ws = ramp({3}), xs = ramp({4});
  const auto f = [&](Tensor w) {
    const auto step = [&](Tensor c, Tensor x) { return Pair{c * w + x, c * x}; };
    const auto [last, ys] = rc::scan(step, number(0), xs);  // the carry is mapped from the first step on
    return Pair{last, ys};
  };
  const auto [last, ys] = rc::vmap(f)(ws);
  for (std::int64_t i = 0; i < 3; ++i) {
    expect_close(last[i], f(ws[i]).first);
    expect_close(ys[i], f(ws[i]).second);
  }
}

TEST(ScanInVmap, AndVmapInScanNestTwice) {
  const Tensor xs = ramp({2, 3, 4, 5});
  const auto inner = [](Tensor row) { return scanned(number(0.5), row).second; };
  const auto step = [&](Tensor c, Tensor rows) {
    const Tensor ys = rc::vmap(inner)(rows);
    return Pair{c + ys.sum(), ys * c};
  };
  const auto outer = [&](Tensor x) { return rc::scan(step, number(1), x).second; };
  const Tensor all = rc::vmap(outer)(xs);
  for (std::int64_t i = 0; i < 2; ++i) {
    Tensor c = number(1);
    for (std::int64_t k = 0; k < 3; ++k) {
      std::vector<Tensor> rows;
      for (std::int64_t r = 0; r < 4; ++r) rows.push_back(inner(xs[i][k][r]));
      expect_close(all[i][k], rc::stack(rows) * c);
      c = c + rc::stack(rows).sum();
    }
  }
  const auto total = [&](Tensor x) { return outer(x).sum(); };
  const Tensor small = ramp({2, 2, 2});
  expect_close(rc::grad(total)(small), difference_quotient(total, small), 1e-6);
}

TEST(ScanInVmap, InsideAScanOfScans) {
  const Tensor xs = ramp({2, 3, 2});
  const auto row = [](Tensor c, Tensor x) { return Pair{scanned(c, x).first, c}; };
  const auto f = [&](Tensor c, Tensor x) { return rc::scan(row, c, x); };
  const auto [last, ys] = rc::vmap(f)(doubles({0.2, 0.7}), xs);
  for (std::int64_t i = 0; i < 2; ++i) {
    Tensor c = doubles({0.2, 0.7})[i];
    for (std::int64_t k = 0; k < 3; ++k) {
      expect_close(ys[i][k], c);
      c = scanned(c, xs[i][k]).first;
    }
    expect_close(last[i], c);
  }
}

TEST(MapOfFunctions, IsDifferentiatedTwiceAndRecorded) {
  const auto f = [](Tensor xs) { return rc::map([](Tensor x) { return sin(x) * x; }, xs).sum(); };
  const Tensor xs = ramp({3, 2});
  expect_close(rc::grad(f)(xs), cos(xs) * xs + sin(xs));
  const auto total = [&](Tensor x) { return rc::grad(f)(x).sum(); };
  expect_close(rc::grad(total)(xs), 2 * cos(xs) - sin(xs) * xs);
  const Tensor longer = ramp({5, 2});
  expect_close(rc::trace(rc::grad(f))(xs)({longer})[0], cos(longer) * longer + sin(longer));
}

using State = std::pair<std::vector<Tensor>, std::map<std::string, Tensor>>;

TEST(WhileLoopOf, ATreeIsRecordedAndDifferentiated) {
  const auto f = [](Tensor x) {
    const auto goes_on = [](const State& s) { return s.second.at("i") < 4; };
    const auto body = [](State s) {
      s.first[0] = sin(s.first[0]) + s.first[1];
      s.second["i"] = s.second.at("i") + 1;
      return s;
    };
    return rc::while_loop(goes_on, body, State{{x, x * 2}, {{"i", rc::tensor(0)}}}).first[0].sum();
  };
  const auto by_hand = [](Tensor x) {
    Tensor y = x;
    for (int i = 0; i < 4; ++i) y = sin(y) + x * 2;
    return y.sum();
  };
  const Tensor x = ramp({3}), y = cos(ramp({3}));
  expect_close(f(x), by_hand(x));
  expect_close(rc::grad(f)(x), rc::grad(by_hand)(x));
  expect_close(rc::trace(f)(x)({y})[0], by_hand(y));
}

TEST(WhileLoopOf, LoopsIsRecordedAsOneProgram) {
  const auto f = [](Tensor x) {
    const auto outer = [](Pair s) {
      const Tensor inner =
          rc::while_loop([](Tensor y) { return y.sum() < 20; }, [](Tensor y) { return y * 2 + 1; }, s.second);
      return Pair{s.first + 1, inner / 4};
    };
    return rc::while_loop([](Pair s) { return s.first < 3; }, outer, Pair{rc::tensor(0), x}).second;
  };
  const auto by_hand = [](Tensor x) {
    for (int i = 0; i < 3; ++i) {
      while (x.sum().item() < 20) x = x * 2 + 1;
      x = x / 4;
    }
    return x;
  };
  const rc::Program program = rc::trace(f)(ramp({3}));
  for (const Tensor& x : {ramp({3}), ramp({3}) * 9, cos(ramp({3}))}) {
    expect_close(f(x), by_hand(x));
    expect_close(program({x})[0], by_hand(x));
  }
}

}  // namespace
