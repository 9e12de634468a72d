// custom_vjp, custom_jvp and checkpoint: which of the given functions runs when, trees, and values and derivatives
// against the same function written plainly.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/chain.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(Tensor)>;

/// x with gradients cut to [-1, 1].
Tensor clipped(const Tensor& x) {
  return rc::custom_vjp([](Tensor a) { return a; }, [](Tensor a) { return std::pair{a, 0}; },
                        [](int, Tensor ct) { return clamp(ct, -1, 1); })(x);
}

TEST(CustomVjp, GivesItsOwnGradient) {
  const auto f = [](Tensor x) { return (clipped(x) * doubles({3, -0.5, -2})).sum(); };
  const Tensor x = ramp({3});
  expect_close(f(x), (x * doubles({3, -0.5, -2})).sum());
  expect_values(rc::grad(f)(x), {1, -0.5, -1});
  expect_values(rc::vmap(rc::grad([](Tensor a) { return clipped(a) * 5; }))(x), {1, 1, 1});
  expect_values(rc::grad([](Tensor a) { return rc::vmap([](Tensor b) { return clipped(b) * 5; })(a).sum(); })(x),
                {1, 1, 1});
}

TEST(CustomVjp, RunsItsForwardOnlyWhereSomethingIsDifferentiated) {
  int plain = 0, forward = 0, backward = 0;
  const auto f = rc::custom_vjp(
      [&plain](Tensor x) {
        ++plain;
        return sin(x);
      },
      [&forward](Tensor x) {
        ++forward;
        return std::pair{sin(x), x};
      },
      [&backward](Tensor x, Tensor ct) {
        ++backward;
        return cos(x) * ct;
      });
  f(ramp({3}));
  EXPECT_EQ(std::tuple(plain, forward, backward), std::tuple(1, 0, 0));
  rc::vmap(f)(ramp({3}));
  EXPECT_EQ(std::tuple(plain, forward, backward), std::tuple(2, 0, 0));
  expect_close(rc::grad([&](Tensor x) { return f(x).sum(); })(ramp({3})), cos(ramp({3})));
  EXPECT_EQ(std::tuple(plain, forward, backward), std::tuple(2, 1, 1));
}

TEST(CustomVjp, UnderEveryNestingWhoseInnermostDerivativeIsReverse) {
  const Formula sine{"custom_vjp",
                     [](Tensor x) {
                       return rc::custom_vjp([](Tensor a) { return sin(a); },
                                             [](Tensor a) { return std::pair{sin(a), a}; },
                                             [](Tensor a, Tensor ct) { return cos(a) * ct; })(x);
                     },
                     [](double x, int k) { return std::sin(x + k * std::acos(0.0)); }};
  const Transform map = vmap_transform();
  const std::vector<Transform> all = all_transforms();
  for (const Transform& reverse : {grad_transform(), vjp_transform(), jacrev_transform()}) {
    expect_chain({&map, &reverse, &map}, sine, ramp({2, 2}));
    for (const Transform& outer : all) {
      expect_chain({&outer, &reverse}, sine, ramp({2, 2}));
      expect_chain({&outer, &reverse, &map}, sine, ramp({2, 2}));
      expect_chain({&outer, &map, &reverse}, sine, ramp({2, 2}));
    }
  }
  expect_close(rc::hessian([&](Tensor x) { return sine.f(x).sum(); })(ramp({3})), rc::diag(-sin(ramp({3}))));
}

TEST(CustomVjp, TakesTreesAndKeepsAnyTreeAsResiduals) {
  const auto predict_and_sum = [](const Linear& l, const Tensor& x, double scale) {
    return (scale * (matmul(x, l.weight) + l.bias)).sum();
  };
  const auto f = rc::custom_vjp(
      predict_and_sum,
      [&](const Linear& l, const Tensor& x, double scale) {
        return std::pair{predict_and_sum(l, x, scale), std::tuple{l, std::map<std::string, Tensor>{{"x", x}}, scale}};
      },
      [](const std::tuple<Linear, std::map<std::string, Tensor>, double>& kept, Tensor ct) {
        const auto& [l, named, scale] = kept;
        const Tensor rows = scale * ct * rc::ones_like(l.bias);
        return std::tuple{Linear{outer(named.at("x"), rows), rows}, matmul(l.weight, rows), Tensor()};
      });
  const Linear layer = make_linear(3, 2);
  const auto [found, found_x] = rc::grad<0, 1>([&](Linear l, Tensor x) { return f(l, x, 2.0); })(layer, ramp({3}));
  const auto [expected, expected_x] =
      rc::grad<0, 1>([&](Linear l, Tensor x) { return predict_and_sum(l, x, 2.0); })(layer, ramp({3}));
  expect_close(found.weight, expected.weight);
  expect_close(found.bias, expected.bias);
  expect_close(found_x, expected_x);
}

TEST(CustomJvp, GivesItsOwnDerivativeForwardAndReverse) {
  // log(1 + exp(x)) whose naive derivative is nan for large x.
  const auto f = rc::custom_jvp([](Tensor x) { return log(1 + exp(x)); },
                                [](std::tuple<Tensor> p, std::tuple<Tensor> t) {
                                  const Tensor x = std::get<0>(p);
                                  return std::pair{log(1 + exp(x)), std::get<0>(t) / (1 + exp(-x))};
                                });
  const Tensor x = doubles({0.5, 100, 1000});
  const Tensor expected = sigmoid(x);
  expect_close(std::get<1>(rc::jvp(f, x, rc::ones_like(x))), expected);
  expect_close(rc::grad([&](Tensor a) { return f(a).sum(); })(x), expected);
  expect_close(rc::vmap(rc::grad(f))(x), expected);
}

TEST(CustomJvp, OfTwoArgumentsTakesATreeAndGivesOne) {
  const auto f = [](const Linear& l, const Tensor& x) { return std::pair{l.weight * x, l.bias * x}; };
  const auto g = rc::custom_jvp(f, [&](const std::tuple<Linear, Tensor>& p, const std::tuple<Linear, Tensor>& t) {
    const auto& [l, x] = p;
    const auto& [tl, tx] = t;
    return std::pair{f(l, x), std::pair{tl.weight * x + l.weight * tx, tl.bias * x + l.bias * tx}};
  });
  const Linear layer{ramp({3}), ramp({3}) + 1};
  const auto loss = [](const auto& h) {
    return [h](const Linear& l, const Tensor& x) {
      const auto [a, b] = h(l, x);
      return (a * b).sum();
    };
  };
  const auto [found, found_x] = rc::grad<0, 1>(loss(g))(layer, ramp({3}));
  const auto [expected, expected_x] = rc::grad<0, 1>(loss(f))(layer, ramp({3}));
  expect_close(found.weight, expected.weight);
  expect_close(found.bias, expected.bias);
  expect_close(found_x, expected_x);
}

TEST(Checkpoint, ComputesAgainForTheDerivativeAndOnlyThen) {
  int runs = 0;
  const auto f = rc::checkpoint([&runs](Tensor x) {
    ++runs;
    return sin(x) * x;
  });
  const Tensor x = ramp({3});
  const auto [y, pullback] = rc::vjp([&](Tensor a) { return f(a); }, x);
  EXPECT_EQ(runs, 1);
  expect_close(y, sin(x) * x);
  expect_close(pullback(rc::ones_like(y)), cos(x) * x + sin(x));
  EXPECT_EQ(runs, 2);
}

// The first derivative computes the value by the forward rule. So the second derivative is that of the forward rule.
TEST(Checkpoint, KeepsTheSecondDerivativeOfACustomFunction) {
  const auto steep = rc::custom_vjp([](Tensor x) { return x * x; }, [](Tensor x) { return std::pair{x * x, x}; },
                                    [](Tensor x, Tensor ct) { return 5 * x * ct; });
  const auto plain = [=](Tensor x) { return square(steep(x)); };
  const auto kept = [=](Tensor x) { return square(rc::checkpoint(steep)(x)); };
  const Tensor x = rc::tensor(1.5, rc::float64);
  const Tensor expected = rc::grad(rc::grad(plain))(x);
  expect_close(expected, rc::tensor(67.5, rc::float64));  // d/dx of 2 x² · 5 x is 30 x², at 1.5
  expect_close(rc::grad(rc::grad(kept))(x), expected);
  expect_close(rc::hessian(kept)(x), expected);
  expect_close(rc::grad(rc::grad(rc::grad(kept)))(x), rc::grad(rc::grad(rc::grad(plain)))(x));
  expect_close(rc::vmap(rc::grad(rc::grad(kept)))(rc::stack({x, 2 * x})),
               rc::vmap(rc::grad(rc::grad(plain)))(rc::stack({x, 2 * x})));
}

/// Inside reverse mode, a derivative of the value goes through what the rules compute, not through the rules.
TEST(Checkpoint, OfACustomFunctionHasTheDerivativesOfThatFunctionInAProgramToo) {
  const auto triple = [](Tensor x) {
    const auto times_3 = [](Tensor a) { return a * 3; };
    const auto forward = [](Tensor a) { return std::pair{a * 3, a}; };
    return rc::custom_vjp(times_3, forward, [](Tensor, Tensor ct) { return ct * 2; })(x);
  };
  const auto in_loop = [](const Function& f, rc::Checkpoints kept) {
    return
        [=](Tensor x) { return rc::fori_loop(0, 2, [=](Tensor, Tensor y) { return f(y); }, x, {.checkpoint = kept}); };
  };
  const auto value_inside = [](const Function& g) { return [=](Tensor x) { return rc::vjp(g, x).first; }; };
  const auto check = [&](const Function& g, double once, double inside) {
    const auto first = rc::grad(g);
    const auto second = rc::grad(value_inside(g));
    expect_values(first(number(1)), {once});
    expect_values(second(number(1)), {inside});
    expect_values(rc::trace(first)(number(1))({number(2)})[0], {once});
    expect_values(rc::trace(second)(number(1))({number(2)})[0], {inside});
    expect_values(rc::compile(second)(number(1)), {inside});
  };
  check(triple, 2, 3);
  check(rc::checkpoint(triple), 2, 3);
  for (const rc::Checkpoints kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log})
    check(in_loop(triple, kept), 4, 9);
  check(rc::checkpoint(rc::checkpoint(triple)), 2, 3);
  check([=](Tensor x) { return rc::checkpoint([=](Tensor y) { return triple(rc::checkpoint(triple)(y)); })(x); }, 4, 9);
  check(rc::checkpoint(in_loop(triple, rc::Checkpoints::sqrt)), 4, 9);
  const auto kept = rc::checkpoint(triple);
  check([=](Tensor x) { return rc::cond(x > 0, kept, [](Tensor y) { return y; }, x); }, 2, 3);
  check(in_loop(kept, rc::Checkpoints::every_step), 4, 9);
  check(
      [=](Tensor x) {
        return rc::scan([=](Tensor y, Tensor) { return std::pair{kept(y), y}; }, x, doubles({1, 2})).first;
      },
      4, 9);
  check(rc::checkpoint(rc::compile(triple)), 2, 3);
  check(
      [=](Tensor x) {
        return rc::fori_loop(0, 2, [=](Tensor, Tensor y) { return rc::checkpoint(triple)(y); }, x,
                             {.checkpoint = rc::Checkpoints::log});
      },
      4, 9);
  const Tensor three = number(3);
  const auto by_captured = [=](Tensor x) {
    const auto times_3 = [](Tensor a) { return a * 3; };
    const auto forward = [=](Tensor a) { return std::pair{a * three, a}; };
    return rc::custom_vjp(times_3, forward, [](Tensor, Tensor ct) { return ct * 2; })(x);
  };
  check(rc::checkpoint(by_captured), 2, 3);
  check(rc::checkpoint(rc::checkpoint(by_captured)), 2, 3);
  for (const rc::Checkpoints kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log})
    check(in_loop(by_captured, kept), 4, 9);
  const auto until = [=](Tensor x) {  // the condition captures as well
    const Tensor most = number(60);
    return rc::while_loop([=](Tensor y) { return y < most; }, by_captured, x,
                          {.max_steps = 9, .checkpoint = rc::Checkpoints::sqrt});
  };
  check(until, 16, 81);
}

/// The loop of a second derivative has two stages: operands stand behind what the first one captures.
TEST(Checkpoint, OfALoopWhoseFunctionCapturesHasItsThirdDerivativeInAProgramToo) {
  const Tensor three = number(3), z = number(0.7);
  const auto triple = [=](Tensor x) {
    const auto forward = [=](Tensor a) { return std::pair{a * three, a}; };
    return rc::custom_vjp([](Tensor a) { return a * 3; }, forward, [](Tensor, Tensor ct) { return ct * 2; })(x);
  };
  using OfTwo = std::function<Tensor(Tensor, Tensor)>;
  const auto third_by = [=](int argument, rc::Checkpoints kept, const Function& f) -> OfTwo {
    const auto loss = [=](Tensor x, Tensor y) {
      const auto goes_on = [](std::pair<Tensor, Tensor> s) { return s.second < 2.5; };
      const auto step = [=](std::pair<Tensor, Tensor> s) { return std::pair{sin(s.first) * f(y) * z, s.second + 1}; };
      return rc::while_loop(goes_on, step, std::pair{x, number(0)}, {.max_steps = 5, .checkpoint = kept}).first;
    };
    const auto second = [=](Tensor x, Tensor y) { return rc::grad<1>(rc::grad<0>(loss))(x, y); };
    if (argument == 0) return rc::grad<0>(second);
    return rc::grad<1>(second);
  };
  const Tensor x = number(0.5), y = number(1.3);
  for (const int argument : {0, 1}) {
    const Tensor expected = third_by(argument, rc::Checkpoints::every_step, triple)(x, y);
    for (const rc::Checkpoints kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log})
      for (const Function& f : {Function(triple), Function(rc::checkpoint(triple))}) {
        const OfTwo third = third_by(argument, kept, f);
        expect_close(third(x, y), expected);
        expect_close(rc::trace(third)(x, y)({x, y})[0], expected);
        expect_close(rc::compile(third)(x, y), expected);
      }
  }
}

/// What a checkpoint gives back unchanged depends no more on its other arguments than before. So the next checkpoint
/// calls a custom function of that as the outer derivative alone sees it: by the rule.
TEST(Checkpoint, OfWhatTheInnerDerivativeDoesNotReachLeavesTheSecondDerivativeAsItIs) {
  using OfTwo = std::function<Tensor(Tensor, Tensor)>;
  using State = std::pair<Tensor, Tensor>;
  const auto triple = [](Tensor x) {
    return rc::custom_vjp([](Tensor a) { return a * 3; }, [](Tensor a) { return std::pair{a * 3, a}; },
                          [](Tensor, Tensor ct) { return ct * 2; })(x);
  };
  const auto next = [=](Tensor x, Tensor y) { return sin(x) * triple(y) * 0.7; };
  const auto passing = [=](State s) { return State(next(s.first, s.second), s.second); };
  const OfTwo plain = [=](Tensor x, Tensor y) {
    for (int i = 0; i < 7; ++i) x = next(x, y);
    return x;
  };
  const OfTwo checkpoints = [=](Tensor x, Tensor y) {
    State s(x, y);
    for (int i = 0; i < 7; ++i) s = rc::checkpoint(passing)(s);
    return s.first;
  };
  std::vector<OfTwo> all = {checkpoints};
  for (const rc::Checkpoints kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    all.push_back([=](Tensor x, Tensor y) {
      return rc::fori_loop(0, 7, [=](Tensor, Tensor s) { return next(s, y); }, x, {.checkpoint = kept});
    });
    all.push_back([=](Tensor x, Tensor y) {
      return rc::fori_loop(0, 7, [=](Tensor, State s) { return passing(s); }, State(x, y), {.checkpoint = kept}).first;
    });
  }
  const auto second = [](const OfTwo& f) -> OfTwo {
    return [f](Tensor x, Tensor y) { return rc::grad<1>(rc::grad<0>(f))(x, y); };
  };
  const Tensor x = number(0.5), y = number(1.3), expected = second(plain)(x, y);
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    const OfTwo found = second(all[i]);
    expect_close(found(x, y), expected);
    expect_close(rc::trace(found)(x, y)({x, y})[0], expected);
    expect_close(rc::compile(found)(x, y), expected);
  }
}

/// In a program, what a function captures is an operand of the checkpoint or loop around it.
TEST(Checkpoint, OfACustomFunctionThatCapturesAConstantHasItsSecondDerivativeInAProgramToo) {
  const Tensor k = doubles({1, 2}), x = doubles({0.5, -1.2});
  const Function by_jvp = rc::custom_jvp([=](Tensor a) { return sin(a) * k; },
                                         [=](std::tuple<Tensor> primals, std::tuple<Tensor> tangents) {
                                           const auto [a] = primals;
                                           const auto [u] = tangents;
                                           return std::pair{sin(a) * k, cos(a) * k * u};
                                         });
  const Function by_vjp =
      rc::custom_vjp([=](Tensor a) { return sin(a) * k; }, [=](Tensor a) { return std::pair{sin(a) * k, a}; },
                     [=](Tensor a, Tensor ct) { return cos(a) * k * ct; });
  const Function plain = [=](Tensor a) { return sin(a) * k; };
  const auto in_loop = [](const Function& f, rc::Checkpoints kept) {
    const auto steps = [=](Tensor a) {
      return rc::fori_loop(0, 2, [=](Tensor, Tensor y) { return f(y * a); }, a, {.checkpoint = kept});
    };
    return Function(steps);
  };
  const auto check = [&](const Function& f, const Function& expected) {
    const auto second = [](const Function& g) {
      return [g](Tensor a) {
        const auto first = rc::grad([g](Tensor y) { return g(y).sum(); });
        return rc::grad([first](Tensor y) { return first(y).sum(); })(a);
      };
    };
    const Tensor of_plain = second(expected)(x);
    expect_close(second(f)(x), of_plain);
    expect_close(rc::trace(second(f))(x)({x})[0], of_plain);
    expect_close(rc::compile(second(f))(x), of_plain);
  };
  const Function checkpointed = rc::checkpoint(by_jvp);
  expect_close(rc::compile(rc::hessian([=](Tensor y) { return checkpointed(y).sum(); }))(x),
               rc::hessian([=](Tensor y) { return plain(y).sum(); })(x));
  for (const Function& f : {by_jvp, by_vjp}) {
    check(rc::checkpoint(f), plain);
    check(rc::checkpoint(rc::checkpoint(f)), plain);
    check([=](Tensor a) { return rc::checkpoint([=](Tensor y, Tensor) { return f(y) * y; })(a, k); },
          [=](Tensor a) { return plain(a) * a; });
    for (const rc::Checkpoints kept : {rc::Checkpoints::sqrt, rc::Checkpoints::log})
      check(in_loop(f, kept), in_loop(plain, rc::Checkpoints::every_step));
  }
}

/// A checkpoint's argument that no derivative goes through is a constant as well.
TEST(Checkpoint, OfACustomFunctionMayCaptureAnArgumentThatIsNotDifferentiated) {
  const Tensor k = number(3);
  const auto f = [](Tensor x, Tensor by) {
    const auto times = [=](Tensor a) { return a * a * by; };
    const auto forward = [=](Tensor a) { return std::pair{a * a * by, a}; };
    return rc::custom_vjp(times, forward, [=](Tensor a, Tensor ct) { return 2 * a * by * ct; })(x);
  };
  const auto second = [=](Tensor x) {
    return rc::grad(rc::grad([=](Tensor y) { return rc::checkpoint(f)(y, k); }))(x);
  };
  expect_values(second(number(5)), {6});
}

TEST(Checkpoint, TakesAndGivesTrees) {
  const Mlp model = make_mlp();
  const auto plain = [](const Mlp& m, const Tensor& x) { return std::map<std::string, Tensor>{{"y", predict(m, x)}}; };
  const auto loss = [](const auto& f) {
    return [f](const Mlp& m, const Tensor& x) { return f(m, x).at("y").square().sum(); };
  };
  const auto found = rc::leaves(rc::grad(loss(rc::checkpoint(plain)))(model, ramp({3})));
  const auto expected = rc::leaves(rc::grad(loss(plain))(model, ramp({3})));
  for (std::size_t i = 0; i < expected.size(); ++i) expect_close(found[i], expected[i]);
}

TEST(Checkpoint, DrawsTheSameNumbersBothTimes) {
  rc::manual_seed(3);
  const auto f = rc::checkpoint([](Tensor x) { return x * x * rc::rand({4}, rc::float64); });
  const Tensor x = ramp({4});
  const auto [gradient, value] = rc::grad_and_value([&](Tensor a) { return f(a).sum(); })(x);
  expect_close((gradient * x).sum(), 2 * value);
  rc::manual_seed(3);
  const Tensor first = rc::rand({4}, rc::float64), next = rc::rand({4}, rc::float64);
  rc::manual_seed(3);
  rc::grad([&](Tensor a) { return f(a).sum(); })(x);
  expect_equal(rc::rand({4}, rc::float64), next);
}

TEST(Checkpoint, DrawsTheSameNumbersFromAGivenGeneratorAndInsideAnother) {
  rc::Generator g(5);
  const auto inner =
      rc::checkpoint([&g](Tensor x) { return x * x * rc::rand({4}, {.dtype = rc::float64, .generator = g}); });
  const auto f = rc::checkpoint([&](Tensor x) { return inner(x) * rc::rand({4}, rc::float64); });
  const Tensor x = ramp({4});
  const auto [gradient, value] = rc::grad_and_value([&](Tensor a) { return f(a).sum(); })(x);
  expect_close((gradient * x).sum(), 2 * value);
}

TEST(Checkpoint, DrawsTheSameNumbersPerExampleWhateverTheChunks) {
  const auto f = rc::checkpoint([](Tensor x) { return x * x * rc::rand({4}, rc::float64); });
  const auto loss = [&](Tensor x) { return (rc::rand({}, rc::float64) * f(x)).sum(); };
  const Tensor x = ramp({5, 4}) + 1;
  rc::manual_seed(3);
  const auto [gradient, value] = rc::vmap(rc::grad_and_value(loss), {.randomness = rc::Randomness::different})(x);
  expect_close((gradient * x).sum(1), 2 * value);
  EXPECT_NE(value[0].item(), value[1].item());
  for (const std::int64_t size : {1, 2, 3, 5}) {
    SCOPED_TRACE(size);
    const rc::VmapOptions chunked{.randomness = rc::Randomness::different, .chunk_size = size};
    rc::manual_seed(3);
    const auto [part_gradient, part_value] = rc::vmap(rc::grad_and_value(loss), chunked)(x);
    expect_equal(part_value, value);
    expect_equal(part_gradient, gradient);
    rc::manual_seed(3);
    const auto total = [&](Tensor a) { return rc::vmap(loss, chunked)(a).sum(); };
    expect_equal(rc::grad(total)(x), gradient);
    rc::manual_seed(3);
    const auto rows = [&](Tensor a) {
      return rc::vmap(rc::vmap(rc::grad(loss), {.randomness = rc::Randomness::different}), chunked)(a);
    };
    expect_equal(rows(x.reshape({5, 1, 4})).reshape({5, 4}), gradient);
  }
}

TEST(Checkpoint, DrawsTheSameNumbersInAPullbackThatIsMapped) {
  const auto f = rc::checkpoint([](Tensor x) { return rc::dropout(x, 0.5); });
  const Tensor x = rc::ones({6}, rc::float64);
  rc::manual_seed(1);
  const auto [y, pullback] = rc::vjp(f, x);
  const auto pull = [&pull_back = pullback](Tensor ct) { return pull_back(ct); };
  for (const auto mode : {rc::Randomness::error, rc::Randomness::same, rc::Randomness::different}) {
    const rc::VmapOptions options{.randomness = mode};
    expect_equal(rc::vmap(pull, options)(rc::ones({3, 6}, rc::float64)), y.expand({3, 6}));
    rc::manual_seed(1);
    const rc::JacobianOptions jacobian_options{.randomness = mode};
    expect_equal(rc::jacrev(f, jacobian_options)(x), rc::diag(y));
  }
  const auto traced = rc::trace([&](Tensor ct) { return pull(ct) * 2; })(y);
  expect_equal(traced({rc::ones({6}, rc::float64)})[0], 2 * y);
}

TEST(Checkpoint, OfAMappedFunctionDrawsTheSameNumbersInAPullbackThatIsMapped) {
  const auto plain = [](Tensor x) { return sin(rc::dropout(x, 0.3)) * rc::rand({4}, rc::float64); };
  const Tensor x = ramp({3, 4}) + 0.5, ct = ramp({3, 4}) - 1;
  const auto pulled = [&](const Function& f, rc::Randomness drawn, rc::Randomness pulled) {
    rc::manual_seed(8);
    const auto [y, pullback] = rc::vjp([&](Tensor a) { return rc::vmap(f, {.randomness = drawn})(a); }, x);
    const auto pull = [&pull_back = pullback, &ct](Tensor k) { return pull_back(ct * k); };
    return rc::vmap(pull, {.randomness = pulled})(doubles({1, 2}));
  };
  for (const auto drawn : {rc::Randomness::same, rc::Randomness::different})
    for (const auto mode : {rc::Randomness::error, rc::Randomness::same, rc::Randomness::different}) {
      const Tensor wanted = pulled(plain, drawn, mode);
      expect_close(pulled(rc::checkpoint(plain), drawn, mode), wanted);
      expect_close(pulled(rc::checkpoint(rc::checkpoint(plain)), drawn, mode), wanted);
    }
}

TEST(Checkpoint, DrawsTheSameNumbersInAPullbackThatIsTracedUnderItsVmaps) {
  const auto plain = [](Tensor x) {
    const Tensor mask = rc::dropout(x, 0.3);
    const auto noisy = [](Tensor row) { return row * rc::rand({}, rc::float64); };
    return sin(mask) * rc::vmap(noisy, {.randomness = rc::Randomness::different})(x);
  };
  const Tensor x = ramp({2, 3, 4}) + 0.5, ct = ramp({4}) - 1;
  const auto traced = [&](const Function& f, rc::Randomness outer, rc::Randomness inner, bool maps) {
    rc::manual_seed(8);
    const auto of_one = [&](Tensor a) {
      const auto [y, pullback] = rc::vjp(f, a);
      const auto pull = [&pull_back = pullback](Tensor k) { return pull_back(k); };
      const auto mapped = [&](Tensor k) { return rc::vmap(pull)(k.expand({2, 4})).sum(0); };
      return maps ? rc::trace(mapped)(ct)({ct})[0] : rc::trace(pull)(ct)({ct})[0];
    };
    return rc::vmap(rc::vmap(of_one, {.randomness = inner}), {.randomness = outer})(x);
  };
  for (const auto outer : {rc::Randomness::same, rc::Randomness::different})
    for (const auto inner : {rc::Randomness::same, rc::Randomness::different})
      for (const bool maps : {false, true}) {
        const Tensor wanted = traced(plain, outer, inner, maps);
        expect_close(traced(rc::checkpoint(plain), outer, inner, maps), wanted);
        expect_close(traced(rc::checkpoint(rc::checkpoint(plain)), outer, inner, maps), wanted);
      }
}

TEST(Checkpoint, LoopsAndBranchesAgainAsTheFirstTimeWhereItsPullbackIsTraced) {
  const auto noise = [] { return rc::rand({}, rc::float64); };
  const auto loop = [=](Tensor x) {
    return x * rc::fori_loop(0, 3, [=](Tensor, Tensor s) { return s * noise(); }, rc::ones({}, rc::float64));
  };
  const auto while_small = [=](Tensor x) {
    return rc::while_loop([](Tensor z) { return z < 5; }, [=](Tensor z) { return z * 2 + noise(); }, x);
  };
  const auto drawing_condition = [=](Tensor x) {
    return rc::while_loop([=](Tensor z) { return z * noise() < 2; }, [](Tensor z) { return z * 2; }, x);
  };
  const auto branch = [=](Tensor x) {
    return rc::cond(noise() * x > 0.3, [=] { return x * noise(); }, [=] { return sin(x); });
  };
  const auto inner = [=](Tensor x) { return sin(x) * noise(); };
  const auto around = [=](Tensor x) { return rc::square(rc::checkpoint(inner)(x)) * noise(); };
  const auto few_states = [=](Tensor x) {
    const auto step = [=](Tensor, Tensor s) { return sin(s) + noise(); };
    return rc::fori_loop(0, 9, step, x, {.checkpoint = rc::Checkpoints::log}) *
           rc::fori_loop(0, 9, step, x, {.checkpoint = rc::Checkpoints::sqrt});
  };
  const auto host_branch = [=](Tensor x) { return noise().item() > 0.5 ? x * noise() : sin(x); };
  const auto pulled = [](const Function& f, const Tensor& x) {
    rc::manual_seed(5);
    const auto [y, pullback] = rc::vjp(f, x);
    return rc::trace([&pull_back = pullback](Tensor k) { return pull_back(k); })(y)({rc::ones({}, rc::float64)})[0];
  };
  const auto expect_same = [&](const Function& f) {
    const Tensor x = ramp({4}) + 0.25;
    const auto mapped = [&](const Function& g) {
      const rc::VmapOptions options{.randomness = rc::Randomness::different};
      return rc::vmap([&](Tensor a) { return pulled(g, a); }, options)(x);
    };
    expect_close(pulled(rc::checkpoint(f), x[2]), pulled(f, x[2]));
    expect_close(mapped(rc::checkpoint(f)), mapped(f));
    expect_close(mapped(rc::checkpoint(rc::checkpoint(f))), mapped(f));
  };
  expect_same(loop);
  expect_same(while_small);
  expect_same(drawing_condition);
  expect_same(branch);
  expect_same(around);
  expect_same(few_states);
  const Tensor x = rc::ones({}, rc::float64);
  expect_close(pulled(rc::checkpoint(host_branch), x), pulled(host_branch, x));
}

TEST(Checkpoint, OfAProgramDrawsTheSameNumbersInAPullbackThatIsTraced) {
  const Tensor x = ramp({3, 4}) + 0.5, ct = ramp({4}) - 1;
  const auto draws = [](Tensor row) { return sin(row * rc::rand({4}, rc::float64)); };
  const rc::Program plain = rc::trace(draws)(x[0]), checkpointed = rc::trace(rc::checkpoint(draws))(x[0]);
  const auto pulled = [&](const rc::Program& program) {
    rc::manual_seed(5);
    const auto of_one = [&](Tensor row) {
      const auto [y, pullback] = rc::vjp([&](Tensor a) { return program({a})[0]; }, row);
      return rc::trace([&pull_back = pullback](Tensor k) { return pull_back(k); })(ct)({ct})[0];
    };
    return rc::vmap(of_one, {.randomness = rc::Randomness::different})(x);
  };
  expect_close(pulled(checkpointed), pulled(plain));
}

TEST(Checkpoint, OfAFunctionWithAReverseRuleAloneIsDifferentiatedForwardOverReverse) {
  const auto cube = rc::custom_vjp([](Tensor x) { return x * x * x; }, [](Tensor x) { return std::pair{x * x * x, x}; },
                                   [](Tensor x, Tensor ct) { return 3 * x * x * ct; });
  const auto step = [&](Tensor, Tensor s) { return 0.5 * cube(s); };
  const auto loop = [&](Tensor x) { return rc::fori_loop(0, 3, step, x, {.checkpoint = rc::Checkpoints::sqrt}); };
  const auto plain = [&](Tensor x) { return rc::fori_loop(0, 3, step, x); };
  const auto expect_same = [](const Function& found, const Function& wanted) {
    const Tensor x = ramp({3}) + 1, t = ramp({3}) - 0.5;
    const auto sum = [](const Function& f) { return [&f](Tensor a) { return f(a).sum(); }; };
    const auto slope = [&](const Function& f) { return rc::grad(sum(f)); };
    expect_close(rc::jacfwd(slope(found))(x), rc::jacfwd(slope(wanted))(x));
    expect_close(rc::hessian(sum(found))(x), rc::hessian(sum(wanted))(x));
    expect_close(rc::linearize(slope(found), x).second(t), rc::linearize(slope(wanted), x).second(t));
    expect_close(rc::vmap(rc::hessian(found))(x), rc::vmap(rc::hessian(wanted))(x));
    expect_close(rc::jacfwd(rc::vmap(rc::grad(found)))(x), rc::jacfwd(rc::vmap(rc::grad(wanted)))(x));
    expect_close(rc::jvp(slope(found), x, t).second, rc::jvp(slope(wanted), x, t).second);
  };
  expect_same(rc::checkpoint(cube), cube);
  expect_same(rc::checkpoint(rc::checkpoint(cube)), cube);
  expect_same(loop, plain);
  const Tensor x = ramp({3}) + 1;
  expect_close(rc::hessian([&](Tensor a) { return rc::checkpoint(cube)(a).sum(); })(x), rc::diag(6 * x));
}

TEST(CustomJvp, ItsRuleIsThatOfForwardModeOverReverseToo) {
  const auto through = rc::custom_jvp(
      [](Tensor x) { return round(x); },
      [](std::tuple<Tensor> p, std::tuple<Tensor> t) { return std::pair{round(std::get<0>(p)), std::get<0>(t)}; });
  const auto f = [](const Function& g) { return [g](Tensor x) { return rc::square(g(x)).sum(); }; };
  const Tensor x = ramp({2}) + 1.2, twice = 2 * rc::eye(2, rc::float64);
  expect_close(rc::hessian(f(through))(x), twice);
  const auto kept = rc::checkpoint(through);
  expect_close(rc::hessian(f(kept))(x), twice);
  expect_close(rc::jacrev(rc::jacfwd(f(kept)))(x), rc::jacrev(rc::jacfwd(f(through)))(x));
}

TEST(Checkpoint, MayDrawWhereItsFunctionMay) {
  const Tensor one = rc::ones({}, rc::float64), x = ramp({3});
  const auto refusals = [&](const Function& f) {
    const auto called = [&](Tensor a) { return f(one) + a; };
    const auto differentiated = [&](Tensor a) { return rc::grad(f)(one) + a; };
    const auto mapped = [&](Tensor a) { return rc::vmap(f)(x).sum() + a; };
    const auto text_of = [&](const auto& run) -> std::string {
      try {
        rc::vmap(run)(x);
      } catch (const rc::TransformError& error) {
        EXPECT_FALSE(rc::inside_transform());
        return error.what();
      }
      return "nothing was thrown";
    };
    return std::vector{text_of(called), text_of(differentiated), text_of(mapped)};
  };
  const auto plain = [](Tensor y) { return y * rc::rand({}, rc::float64); };
  const auto loop = [&](rc::Checkpoints kept) {
    return [=](Tensor y) {
      return rc::fori_loop(0, 3, [=](Tensor, Tensor s) { return plain(s); }, y, {.checkpoint = kept});
    };
  };
  for (const std::string& text : refusals(plain))
    EXPECT_TRUE(text.starts_with("rand: a random operation under vmap over axis 0 of 3")) << text;
  EXPECT_EQ(refusals(rc::checkpoint(plain)), refusals(plain));
  EXPECT_EQ(refusals(rc::checkpoint(rc::checkpoint(plain))), refusals(plain));
  EXPECT_EQ(refusals(loop(rc::Checkpoints::sqrt)), refusals(loop(rc::Checkpoints::every_step)));
  EXPECT_EQ(refusals(loop(rc::Checkpoints::log)), refusals(loop(rc::Checkpoints::every_step)));
}

TEST(Checkpoint, IsLinearizedWithWhatItDrew) {
  const auto draws = rc::checkpoint([](Tensor x) { return rc::dropout(sin(x), 0.5); });
  const auto loops = [](Tensor x) {
    return rc::fori_loop(0, 3, [](Tensor, Tensor y) { return sin(y) * rc::rand({}, rc::float64); }, x,
                         {.checkpoint = rc::Checkpoints::log});
  };
  const auto expect_linear = [](const Function& f, const Tensor& x) {
    rc::manual_seed(2);
    const auto [y, slope] = rc::linearize(f, x);
    const Tensor after = rc::rand({3}, rc::float64);
    rc::manual_seed(2);
    const auto [expected, pullback] = rc::vjp(f, x);
    expect_equal(rc::rand({3}, rc::float64), after);
    expect_equal(y + 1, expected + 1);
    const Tensor t = ramp({4}) - 1.5;
    const Tensor tangent = slope(t);
    expect_equal(slope(t), tangent);
    expect_close((tangent * t).sum(), (pullback(t) * t).sum());
  };
  const Tensor x = ramp({4}) + 0.5;
  expect_linear(draws, x);
  expect_linear(loops, x);
  expect_linear([&](Tensor a) { return rc::vmap(loops, {.randomness = rc::Randomness::different})(a); }, x);
}

TEST(Checkpoint, DrawsPerExampleOfAVmapThatItsArgumentsKnowNothingOf) {
  const auto plain = [](Tensor x) { return x * rc::rand({}, rc::float64); };
  const auto drawn = [](const Function& f, rc::Randomness mode, rc::Lanes lanes) {
    rc::manual_seed(6);
    const Tensor one = rc::ones({}, rc::float64);
    const auto run = [&](Tensor x) {
      if (lanes == rc::Lanes::split && (x > 2).item<bool>()) return f(one) + 0 * x;
      return rc::cond(x > 1, [&] { return f(one); }, [&] { return 2 * f(one); }) + 0 * x;
    };
    return rc::vmap(run, {.randomness = mode, .lanes = lanes})(ramp({4}));
  };
  for (const auto mode : {rc::Randomness::same, rc::Randomness::different})
    for (const auto lanes : {rc::Lanes::together, rc::Lanes::split})
      expect_equal(drawn(rc::checkpoint(plain), mode, lanes), drawn(plain, mode, lanes));
}

TEST(Checkpoint, DrawsWhatTheFunctionDrawsUnderATapeAndInNestedMaps) {
  const auto plain = [](Tensor x) { return x * rc::rand({}, rc::float64); };
  const auto drawn = [](const Function& f, rc::Randomness mode) {
    rc::manual_seed(6);
    const rc::VmapOptions options{.randomness = mode};
    const auto slope = [&](Tensor x) { return rc::grad(f)(rc::ones({}, rc::float64)) + 0 * x; };
    const auto inner = [&](Tensor) { return rc::vmap(f, options)(ramp({3}) + 1); };
    return rc::cat({rc::vmap(slope, options)(ramp({3})), rc::vmap(inner, options)(ramp({2})).flatten()});
  };
  for (const auto mode : {rc::Randomness::same, rc::Randomness::different})
    expect_equal(drawn(rc::checkpoint(plain), mode), drawn(plain, mode));
}

TEST(Checkpoint, OfWhatARecordingDoesNotKnowDrawsAnewAtEachRun) {
  const Tensor one = rc::ones({}, rc::float64);
  const auto draw = rc::checkpoint([](Tensor x) { return x * rc::rand({}, rc::float64); });
  const rc::Program program = rc::trace([&](Tensor y) { return y * draw(one); })(one);
  EXPECT_NE(program({one})[0].item(), program({one})[0].item());
}

TEST(Checkpoint, LeavesItsArgumentsAsTheyAre) {
  const auto f = rc::checkpoint([](Tensor a) { return a.add_(1.) * 2; });
  for (const auto mode : {rc::Randomness::error, rc::Randomness::same, rc::Randomness::different}) {
    const Tensor b = rc::ones({}, rc::float64);
    const auto run = [&](Tensor x) { return f(b) + 0 * x; };
    expect_values(rc::vmap(run, {.randomness = mode})(ramp({2})), {4, 4});
    expect_values(b, {1});
  }
}

TEST(Checkpoint, LeavesTheDrawsOfOtherThreadsAlone) {
  rc::manual_seed(3);
  const Tensor x = ramp({2});
  const auto pullback =
      std::get<1>(rc::vjp(rc::checkpoint([](Tensor a) {
                            const std::uint64_t before =
                                rc::default_generator().next();  // as another thread would draw while this runs
                            EXPECT_EQ(rc::default_generator().next(), before + 1);
                            return a * rc::rand({2}, rc::float64);
                          }),
                          x));
  const std::uint64_t state = rc::default_generator().identity(), before = rc::default_generator().next();
  pullback(x);
  EXPECT_EQ(rc::default_generator().identity(), state);
  EXPECT_EQ(rc::default_generator().next(), before + 3);
}

TEST(Checkpoint, IsOneEquationOfAProgram) {
  const auto f = rc::checkpoint([](Tensor x) { return sin(x) * x; });
  EXPECT_EQ(to_string(rc::trace(f)(ramp({3}))),
            "program(a: f64[s0]) {\n"
            "  b: f64[s0] = checkpoint[f=program(a: f64[s0]) {\n"
            "      b: f64[s0] = sin a\n"
            "      c: f64[s0] = mul b a\n"
            "      return c\n"
            "    }] a\n"
            "  return b\n"
            "}\n");
}

TEST(Checkpoint, DetachInItCutsEveryDerivative) {
  const auto f = [](Tensor x) { return x * x.detach(); };
  const auto value = [](const Function& g) { return [=](Tensor x) { return std::get<0>(rc::vjp(g, x)); }; };
  expect_values(rc::grad(value(f))(number(3)), {3});
  expect_values(rc::grad(value(rc::checkpoint(f)))(number(3)), {3});
  expect_values(rc::grad(rc::grad(rc::checkpoint(f)))(number(3)), {0});
}

TEST(Checkpoint, IsOneOperationForEveryReverseModeAroundIt) {
  int runs = 0;
  const auto f = rc::checkpoint([&runs](Tensor x) {
    ++runs;
    return sin(sin(x));
  });
  const auto value = [&](Tensor x) { return std::get<0>(rc::vjp(f, x)); };
  auto [y, pullback] = rc::vjp(value, number(2));
  EXPECT_EQ(runs, 1);
  pullback(number(1));
  EXPECT_EQ(runs, 2);  // nothing of it was kept
}

}  // namespace
