// Custom functions, checkpoints and compiled functions in a compiled one. Its plan inlines all but checkpoints, and
// merges those with nothing around them. They give, draw and throw what the function does.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <functional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/expect_tensor.h"
#include "support/thrown_by.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Pair = std::pair<Tensor, Tensor>;
using One = std::function<Tensor(const Tensor&)>;

/// By Newton's steps, as many as it takes.
template <class F>
Tensor newton(const F& f, const Tensor& start, std::int64_t max_steps) {
  const auto next = [&](const Pair& s) {
    const auto [y, slope] = rc::jvp(f, std::tuple{s.first}, std::tuple{ones_like(s.first)});
    const Tensor step = y / slope;
    return Pair(s.first - step, step);
  };
  return rc::while_loop([](const Pair& s) { return abs(s.second) > 1e-5; }, next, Pair(start, ones_like(start)),
                        {.max_steps = max_steps})
      .first;
}
/// x with x + sin(x) / 2 = a.
Tensor root(const Tensor& a, std::int64_t max_steps = 100) {
  return rc::custom_root([&](const Tensor& x) { return x + 0.5 * sin(x) - a; }, a,
                         [=](const auto& f, const Tensor& x) { return newton(f, x, max_steps); },
                         [](const auto& g, const Tensor& y) { return y / g(ones_like(y)); });
}
/// x with (2 + a * a) x = a, by Jacobi's steps.
Tensor solution(const Tensor& a) {
  const auto steps = [](const auto& matvec, const Tensor& b) {
    return rc::fori_loop(0, 9, [&](const Tensor&, const Tensor& x) { return x + 0.25 * (b - matvec(x)); }, b * 0);
  };
  return rc::custom_linear_solve([&](const Tensor& x) { return (2 + a * a) * x; }, a, steps, steps);
}
Tensor clipped(const Tensor& x) {
  return rc::custom_vjp([](const Tensor& t) { return sin(t) * 2; },
                        [](const Tensor& t) { return std::pair(sin(t) * 2, cos(t)); },
                        [](const Tensor& c, const Tensor& ct) { return clamp(2 * ct * c, -0.1, 0.1); })(x);
}
Tensor pushed(const Tensor& x) {
  return rc::custom_jvp([](const Tensor& t) { return exp(-t); },
                        [](std::tuple<Tensor> t, std::tuple<Tensor> d) {
                          const Tensor y = exp(-std::get<0>(t));
                          return std::pair(y, -y * std::get<0>(d));
                        })(x);
}
Tensor compiled(const Tensor& x) {
  static const auto fast = rc::compile([](const Tensor& t) { return t * cos(t) + clipped(t); });
  return fast(x);
}
Tensor in_a_scan(const Tensor& x) {
  const auto step = [](const Tensor& s, const Tensor& row) {
    const Tensor next = root(s * 0.5 + row);
    return std::pair(next, clipped(next));
  };
  return rc::scan(step, x, rc::linspace(0, 1, 7)).second.sum(0);
}
Tensor in_a_branch(const Tensor& x) {
  return rc::cond(x > 0, [](const Tensor& t) { return clipped(t); }, [](const Tensor& t) { return root(t); }, x);
}
Tensor inside_another(const Tensor& x) {
  return rc::custom_vjp([](const Tensor& t) { return root(t) + pushed(t); },
                        [](const Tensor& t) { return std::pair(root(t) + pushed(t), t); },
                        [](const Tensor& t, const Tensor& ct) { return ct * solution(t); })(x);
}

const std::vector<std::pair<const char*, One>>& functions() {
  static const std::vector<std::pair<const char*, One>> all = {
      {"root", [](const Tensor& x) { return root(x); }},
      {"solution", solution},
      {"clipped", clipped},
      {"pushed", pushed},
      {"compiled", compiled},
      {"in_a_scan", in_a_scan},
      {"in_a_branch", in_a_branch},
      {"inside_another", inside_another},
  };
  return all;
}

template <class F, class... A>
std::string plan_text(const F& f, const A&... a) {
  std::ostringstream text;
  text << rc::compile(f).plan(a...);
  return text.str();
}
template <class F, class... A>
void expect_inlined(const F& f, const A&... a) {
  const auto fast = rc::compile(f);
  for (int i = 0; i < 3; ++i) expect_close(fast(a...), f(a...));
  const std::string text = plan_text(f, a...);
  EXPECT_EQ(text.find(" = custom"), std::string::npos) << text;
  EXPECT_EQ(text.find(" = compiled"), std::string::npos) << text;
}
TEST(InlinedCalls, LeaveTheirEquationsInThePlan) {
  rc::manual_seed(1);
  for (const auto& [name, f] : functions()) {
    SCOPED_TRACE(name);
    const auto slope = rc::grad(f);
    expect_inlined(f, rc::tensor(0.7));
    expect_inlined(slope, rc::tensor(0.7));
    for (const std::int64_t examples : {3, 20, 300}) {
      const Tensor x = rc::randn({examples});
      expect_inlined(rc::vmap(f), x);
      expect_inlined(rc::vmap(slope), x);
    }
  }
  expect_inlined(rc::grad(rc::grad(in_a_scan)), rc::tensor(0.3));
  expect_inlined(rc::jacfwd(rc::vmap([](const Tensor& x) { return root(x); })), rc::randn({4}));
}

TEST(InlinedCalls, LeaveOutWhatOnlyCutsDerivatives) {
  rc::manual_seed(1);
  const auto f = [](const Tensor& x) {
    const auto step = [&](const Tensor& s) { return rc::matmul(s.detach(), x) * 0.1; };
    return rc::matmul(x.cumsum(0).detach(), x) + rc::fori_loop(0, 3, [&](Tensor, Tensor s) { return step(s); }, x);
  };
  const Tensor x = rc::randn({20, 20});
  EXPECT_EQ(plan_text(f, x).find("detach"), std::string::npos) << plan_text(f, x);
  const auto fast = rc::compile(f);
  for (int i = 0; i < 3; ++i) expect_close(fast(x), f(x));
  expect_close(rc::grad([&](const Tensor& a) { return fast(a).sum(); })(x),
               rc::grad([&](const Tensor& a) { return f(a).sum(); })(x));
  const auto constant = rc::compile([](const Tensor& a) { return a.detach(); });
  Tensor same = constant(x);
  expect_equal(same, x);
  same.fill_(0);
  EXPECT_GT(x.abs().sum().item<float>(), 0);
}

// Derivatives of a compiled function find the rules of the custom functions in it.
TEST(InlinedCalls, KeepTheirRulesForTransforms) {
  for (const auto& [name, f] : functions()) {
    SCOPED_TRACE(name);
    const auto fast = rc::compile(f);
    const Tensor x = rc::tensor(0.7), many = rc::linspace(-1, 1, 20);
    for (int i = 0; i < 2; ++i) {
      expect_close(fast(x), f(x));
      expect_close(rc::grad(fast)(x), rc::grad(f)(x));
      expect_close(rc::vmap(rc::grad(fast))(many), rc::vmap(rc::grad(f))(many));
    }
  }
}

TEST(InlinedCalls, ComputeNothingThatNobodyReads) {
  const auto f = [](const Tensor& x) {
    const auto both = rc::custom_vjp([](const Tensor& t) { return Pair(sin(t), rc::sort(t).first); },
                                     [](const Tensor& t) { return std::pair(Pair(sin(t), rc::sort(t).first), t); },
                                     [](const Tensor& t, const Pair& ct) { return ct.first * cos(t); });
    return both(x).first;
  };
  const std::string text = plan_text(f, rc::ones({20}));
  EXPECT_EQ(text.find("sort"), std::string::npos) << text;
}

TEST(InlinedCalls, DrawWhatTheFunctionDraws) {
  const auto noisy = [](const Tensor& x) {
    return rc::custom_vjp([](const Tensor& t) { return t + rc::randn({3}) + rc::rand({3}); },
                          [](const Tensor& t) { return std::pair(t + rc::randn({3}) + rc::rand({3}), t); },
                          [](const Tensor& t, const Tensor& ct) { return ct * t; })(x) +
           rc::randn({3});
  };
  const auto slope = rc::grad([&](const Tensor& x) { return noisy(x).square().sum(); });
  const auto fast = rc::compile(noisy);
  const auto fast_slope = rc::compile(slope);
  const auto recorded = rc::trace(slope)(rc::ones({3}));
  const Tensor x = rc::linspace(1, 2, 3);
  for (int i = 0; i < 3; ++i) {
    rc::manual_seed(9);
    const Tensor expected = noisy(x), next = rc::randn({2});
    rc::manual_seed(9);
    expect_equal(fast(x), expected);
    expect_equal(rc::randn({2}), next);
    rc::manual_seed(9);
    const Tensor expected_slope = recorded({x})[0];
    rc::manual_seed(9);
    expect_close(fast_slope(x), expected_slope);
  }
}

TEST(InlinedCalls, ThrowWhatTheFunctionThrowsAndGoOn) {
  const auto endless = [](const Tensor& a) { return root(a, 1); };
  const auto divides = [](const Tensor& x) {
    return rc::custom_vjp([](const Tensor& t) { return rc::floor_divide(7, t.to(rc::int64)).to(t.dtype()); },
                          [](const Tensor& t) { return std::pair(t, 0); }, [](int, const Tensor& ct) { return ct; })(x);
  };
  const auto expect_the_error_of = [](const auto& f, const Tensor& bad, const Tensor& good) {
    const std::string said = thrown_by([&] { f(bad); });
    EXPECT_FALSE(said.empty());
    const auto fast = rc::compile(f);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(thrown_by([&] { fast(bad); }), said);
      expect_close(fast(good), f(good));
    }
  };
  expect_the_error_of(endless, rc::tensor(2.0), rc::tensor(0.0));
  expect_the_error_of(divides, rc::tensor(0.0), rc::tensor(2.0));
  for (const std::int64_t examples : {3, 20, 300}) {
    expect_the_error_of(rc::vmap(endless), rc::full({examples}, 2.f), rc::zeros({examples}));
    expect_the_error_of(rc::vmap(divides), rc::arange(0, examples).to(rc::float32),
                        rc::arange(1, examples + 1).to(rc::float32));
  }
}

// What a checkpoint computes again would be kept in memory, were it merged with what is computed there already.
TEST(InlinedCalls, LeaveCheckpointsApart) {
  const auto f = [](const Tensor& x) { return rc::checkpoint([](const Tensor& t) { return sin(sin(t)); })(x).sum(); };
  const auto slope = rc::grad(f);
  for (const std::int64_t n : {3, 20}) {
    const Tensor x = rc::linspace(0, 1, n);
    EXPECT_NE(plan_text(f, x).find(" = checkpoint"), std::string::npos);
    const std::string text = plan_text(slope, x);
    EXPECT_NE(text.find(" = checkpoint"), std::string::npos) << text;
    const auto fast = rc::compile(slope);
    for (int i = 0; i < 3; ++i) expect_close(fast(x), slope(x));
  }
  const auto in_a_loop = [&](const Tensor& x) {
    return rc::fori_loop(0, 5, [&](const Tensor&, const Tensor& s) { return s + 0.1 * f(s); }, x).sum();
  };
  const auto fast = rc::compile(rc::grad(in_a_loop));
  for (int i = 0; i < 3; ++i) expect_close(fast(rc::ones({20})), rc::grad(in_a_loop)(rc::ones({20})));
}

TEST(InlinedCalls, LeaveCompiledFunctionsThatAreCheckedTheirOwnPlans) {
  const auto inner = rc::compile([](const Tensor& x) { return sin(x) * 2; }, {.check = true});
  const auto f = [&](const Tensor& x) { return inner(x) + 1; };
  const Tensor x = rc::linspace(0, 1, 20);
  EXPECT_NE(plan_text(f, x).find(" = compiled"), std::string::npos);
  expect_close(rc::compile(f)(x), f(x));
}

TEST(InlinedCalls, ThatDrawInOneStepOfAMappedLoopDrawNumbersOfTheirOwn) {
  const auto noise = rc::compile([](const Tensor& x) {
    return rc::cond(x >= 0, [](const Tensor& x) { return x * 0 + rc::rand({}); }, [](const Tensor& x) { return x; }, x);
  });
  const auto walk = [&](const Tensor& x) {
    const auto step = [&](const Tensor&, const Pair& s) { return Pair{noise(s.first * 0), noise(s.second * 0)}; };
    const auto [a, b] = rc::fori_loop(0, 3, step, Pair{x, x});
    return rc::stack({a, b});
  };
  const auto mapped = rc::vmap(walk, {.randomness = rc::Randomness::different});
  for (const Tensor& drawn : {mapped(rc::zeros({4})), rc::compile(mapped)(rc::zeros({4}))})
    EXPECT_EQ(rc::unique(drawn.reshape({-1})).numel(), 8) << drawn;
}

// Each calls the one before twice: all of it would be 2^depth equations.
TEST(InlinedCalls, LeaveCallsWhereTheirEquationsWouldBeTooMany) {
  One f = [](const Tensor& x) { return sin(x) + 1; };
  const auto depth = [&](int more) {
    for (int i = 0; i < more; ++i) f = rc::compile([g = f](const Tensor& x) { return g(g(x)); });
  };
  const Tensor x = rc::ones({20});
  depth(4);
  const std::string all = plan_text(f, x);
  EXPECT_EQ(all.find("compiled"), std::string::npos) << all;
  depth(9);
  const std::string calls = plan_text(f, x);
  EXPECT_NE(calls.find("compiled"), std::string::npos) << calls.substr(0, 1000);
  Tensor expected = x;
  for (int i = 0; i < 1 << 13; ++i) expected = sin(expected) + 1;
  expect_close(f(x), expected, 1e-4);
}

}  // namespace
