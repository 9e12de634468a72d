// Recording, printing, checking, reading back and running programs.
#include "program/program.h"

#include <cmath>
#include <functional>
#include <sstream>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor layer(const Tensor& x, const Tensor& w) { return tanh(matmul(x, w)).sum(); }

TEST(Program, PrintsOneEquationALineWithNamesAndTypes) {
  const rc::Program p =
      rc::trace([](const Tensor& x, const Tensor& w) { return layer(x, w); })(rc::ones({2, 3}), rc::ones({3, 4}));
  EXPECT_EQ(p.equations(), 3U);
  std::ostringstream text;
  text << p;
  EXPECT_NE(text.str().find("= matmul"), std::string::npos) << p;
  EXPECT_NE(text.str().find("= tanh c"), std::string::npos) << p;
}

TEST(Program, OneServesAllSizes) {
  const rc::Program p =
      rc::trace([](const Tensor& x, const Tensor& w) { return layer(x, w); })(rc::ones({2, 3}), rc::ones({3, 4}));
  const Tensor x = rc::randn({5, 7}), w = rc::randn({7, 6});
  EXPECT_FLOAT_EQ(p({x, w})[0].item<float>(), layer(x, w).item<float>());
}

TEST(Program, AHostProgramThatLooksAtASizeLeavesAGuard) {
  const auto f = [](const Tensor& x) { return x.size(0) > 2 ? x.sum() : x.prod(); };
  const rc::Program p = rc::trace(f)(rc::ones({3}));
  EXPECT_FLOAT_EQ(p({2 * rc::ones({3})})[0].item<float>(), 6);
  EXPECT_THROW(p({rc::ones({2})}), rc::ValueError);
}

TEST(Program, CapturedTensorsAreInputsThatEachRunReads) {
  const Tensor scale = rc::tensor({2.0});
  const rc::Program p = rc::trace([&](const Tensor& x) { return x * scale; })(rc::ones({3}));
  EXPECT_NE(rc::to_string(p).find("; b: f32[1]"), std::string::npos) << p;
  expect_values(p({rc::ones({3})})[0], {2, 2, 2});
  scale.fill_(5);
  expect_values(p({rc::ones({3})})[0], {5, 5, 5});
  const rc::Program again = rc::parse_program(rc::to_string(p), p.captured());
  scale.fill_(6);
  expect_values(again({rc::ones({3})})[0], {6, 6, 6});
}

TEST(Program, RecordedUnderTransformsReadsCapturedTensorsAnew) {
  const Tensor w = rc::tensor({2., 3.}), x = rc::tensor({{1., 1.}, {2., 2.}});
  const auto f = [&](Tensor row) { return (row * row * w.exp()).sum(); };
  const rc::Program p = rc::trace(rc::vmap(rc::grad(f)))(x);
  w.copy_(rc::tensor({0., 1.}));
  const double e = std::exp(1.0);
  expect_values(p({x})[0], {2, 2 * e, 4, 4 * e}, 1e-5);
}

TEST(Program, OfABranchAndALoopReadsWhatTheyCaptureAnew) {
  const Tensor w = rc::tensor({3.0}), low = rc::tensor({1.0});
  const auto f = [&](Tensor x) {
    Tensor y =
        rc::cond(x.sum() > low.sum(), [&](Tensor a) { return a * w.square(); }, [&](Tensor a) { return a - w; }, x);
    return rc::fori_loop(0, 2, [&](Tensor, Tensor a) { return a + w[0]; }, y);
  };
  const rc::Program p = rc::trace(f)(rc::tensor({2.0}));
  expect_values(p({rc::tensor({2.0})})[0], {24});
  w.fill_(1);
  expect_values(p({rc::tensor({2.0})})[0], {4});
  low.fill_(5);
  expect_values(p({rc::tensor({2.0})})[0], {3});
}

TEST(Program, OfACapturedTensorThatIsMappedReadsItAnew) {
  const Tensor w = rc::tensor({1., 2., 3.}), x = rc::tensor({0.5, -1.5, 2.0});
  const auto f = [&](Tensor a) {
    const auto by_sign = [](Tensor q) {
      return rc::cond(q > 2, [](Tensor y) { return y * 2; }, [](Tensor y) { return -y; }, q);
    };
    return a * rc::vmap(by_sign)(w) + rc::vmap([](Tensor q) { return q * 2; })(w) +
           rc::vmap(rc::vmap(by_sign))(w.reshape({3, 1}))[0];
  };
  const rc::Program p = rc::trace(f)(x);
  expect_equal(p({x})[0], f(x));
  w.copy_(rc::tensor({4., 1., 5.}));
  expect_equal(p({x})[0], f(x));
}

TEST(Program, ATapeThatWatchesACapturedTensorLeavesItAsItWas) {
  const Tensor w = rc::tensor({1., 2., 3.}), x = rc::tensor({0.5, -1.5, 2.0});
  const auto f = [&](Tensor a) {
    rc::Tape tape;
    tape.watch(w);
    return tape.gradient((w * w * a).sum(), w);
  };
  const rc::Program p = rc::trace(f)(x);
  expect_values(w, {1, 2, 3});
  expect_values(p({x})[0], {1, -6, 12});
  w.fill_(1);
  expect_values(p({x})[0], {1, -3, 4});
}

TEST(Program, OfARecordingInsideReadsTheCapturesOfBoth) {
  const Tensor w = rc::tensor({2.0});
  const auto outer = [&](Tensor x) {
    const rc::Program inner = rc::trace([&](Tensor y) { return y * w + x; })(x);
    return inner({x})[0];
  };
  const rc::Program p = rc::trace(outer)(rc::ones({2}));
  EXPECT_EQ(p.captured().size(), 1U) << p;
  w.fill_(4);
  expect_values(p({rc::ones({2})})[0], {5, 5});
}

TEST(Program, TellsTwoCapturedTensorsThatHoldOneValueApart) {
  const Tensor a = rc::tensor({2.0}), b = rc::make_tensor(rc::value_of(a), 0);
  const rc::Program p = rc::trace([&](Tensor x) { return x * a + b; })(rc::ones({1}));
  a.fill_(10);
  expect_values(p({rc::ones({1})})[0], {12});
  b.fill_(3);
  expect_values(p({rc::ones({1})})[0], {13});
}

TEST(Program, HasATensorMadeInsideAsItWasWhenItWasUsed) {
  const auto f = [](Tensor x) {
    Tensor made = rc::tensor({1., 2.});
    const Tensor first = x * made;
    made.add_(x);
    return first + made;
  };
  const rc::Program p = rc::trace(f)(rc::ones({2}));
  expect_values(p({rc::tensor({10., 20.})})[0], {21, 62});
  expect_values(p({rc::tensor({1., 1.})})[0], {3, 5});
}

TEST(Program, LetsTheHostLookAtWhatIsComputedFromCapturedTensorsAlone) {
  const Tensor w = rc::tensor({3., -1., 2.});
  const auto f = [&](Tensor x) {
    const Tensor kept = x[w * 2 > 0];
    const double first = (w * 2)[0].item<double>();
    return w.sum() > 0 ? kept * first : kept;
  };
  expect_values(rc::trace(f)(rc::ones({3}))({rc::tensor({1., 2., 3.})})[0], {6, 18});
  const rc::Program mapped = rc::trace(rc::vmap(rc::grad([&](Tensor x) { return f(x).sum(); })))(rc::ones({2, 3}));
  expect_values(mapped({rc::ones({2, 3})})[0], {6, 0, 6, 6, 0, 6});
}

TEST(Program, ExpectsWhatTheHostHasSeenOfCapturedTensors) {
  const Tensor w = rc::tensor({3., -1., 2.});
  const auto f = [&](Tensor x) { return w.sum() > 0 ? x[w > 0] * w.unique()[0] : x; };
  const rc::Program p = rc::trace(rc::vmap(f))(rc::ones({2, 3}));
  const rc::Program again = rc::parse_program(rc::to_string(p), p.captured());
  EXPECT_EQ(rc::to_string(again), rc::to_string(p));
  const Tensor x = rc::tensor({{1., 2., 3.}, {4., 5., 6.}});
  expect_values(p({x})[0], {-1, -3, -4, -6});
  w.copy_(rc::tensor({5., -2., 7.}));  // the sign of the sum and the mask are what they were
  expect_values(p({x})[0], {-2, -6, -8, -12});
  const auto refuses = [&](const std::function<void()>& run, const std::string& reason) {
    try {
      run();
      ADD_FAILURE() << "ran on other captured tensors";
    } catch (const rc::TransformError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  w.copy_(rc::tensor({-5., -2., -7.}));
  const std::string reason =
      "the recorded function looked at true, computed from captured tensors; it has become false; record it again, or "
      "use where, cond or while_loop";
  refuses([&] { p({x}); }, reason);
  refuses([&] { again({x}); }, reason);
  refuses([&] { rc::vmap([&](Tensor y) { return p({y})[0]; })(rc::ones({4, 2, 3})); }, reason);
  refuses([&] { rc::grad([&](Tensor y) { return p({y})[0].sum(); })(x); }, reason);
  w.copy_(rc::tensor({5., 2., 7.}));
  refuses([&] { p({x}); }, "looked at bool[3], computed from captured tensors; it has become another; record");
  w.copy_(rc::tensor({5., -2., 7.}));
  const rc::Program around = rc::trace([&](Tensor y) { return p({y})[0]; })(x);
  expect_values(around({x})[0], {-2, -6, -8, -12});
  w.fill_(-1);
  refuses([&] { around({x}); }, reason);
}

/// A loop or a branch does what the programs inside it do, at any depth.
TEST(Program, ChecksInsideLoopsAndBranchesWhoseResultsNobodyReads) {
  const Tensor flag = rc::tensor(true), x = rc::ones({3});
  const rc::Program checks = rc::trace([&](Tensor y) { return flag.item<bool>() ? y * 2 : y; })(x);
  const auto looped = [](auto f) {
    return [f](Tensor y) {
      rc::fori_loop(0, 2, [f](Tensor, Tensor z) { return f(z); }, y);
      return y * 3;
    };
  };
  const auto found = [](auto f) {
    return [f](Tensor y) {
      rc::while_loop([](Tensor z) { return z.sum() < 10; }, [f](Tensor z) { return f(z) + 1; }, y);
      return y * 3;
    };
  };
  const auto branched = [](auto f) {
    return [f](Tensor y) {
      rc::cond(y.sum() > 0, f, [](Tensor z) { return z; }, y);
      return y * 3;
    };
  };
  const auto mapped = [](auto f) { return [f](Tensor y) { return rc::vmap(f)(rc::stack({y, y * 0.5}))[0]; }; };
  const auto recomputed = [](auto f) {
    return [f](Tensor y) {
      rc::checkpoint(f)(y);
      return y * 3;
    };
  };
  const auto call = [&checks](Tensor y) { return checks({y})[0]; };
  const auto expect_check = [&](const auto& f) {
    flag.fill_(true);
    const rc::Program p = rc::trace(f)(x), s = p.simplified();
    for (const rc::Program& program : {p, s}) {
      flag.fill_(true);
      expect_values(program({x})[0], {3, 3, 3});
      flag.fill_(false);
      EXPECT_THROW(program({x}), rc::TransformError) << program;
    }
  };
  expect_check(looped(call));
  expect_check(found(call));
  expect_check(branched(call));
  expect_check(recomputed(call));
  expect_check(looped(branched(call)));
  expect_check(branched(found(looped(call))));
  expect_check(mapped(looped(call)));
  expect_check(mapped(branched(call)));
}

TEST(Program, CalledInsideARecordingServesAllSizes) {
  const auto halves = [](const Tensor& x) {
    const auto half = x.shape()[0] / 2;
    return x.slice(0, rc::none, half) * 2 + x.slice(0, half, 2 * half);
  };
  const rc::Program inner = rc::trace(halves)(rc::ones({4, 3}));
  const auto calls = [&](const Tensor& x) { return inner({rc::cat({x, x}, 0)})[0].reshape({-1}); };
  const rc::Program outer = rc::trace(calls)(rc::ones({2, 3}));
  EXPECT_NE(rc::to_string(outer).find("f32[s0,s1]"), std::string::npos) << outer;
  const Tensor x = rc::arange(20).reshape({5, 4}).to(rc::float32);
  EXPECT_TRUE(rc::equal(outer({x})[0], calls(x)));
  const rc::Program relies = rc::trace([](const Tensor& y) { return y.reshape({2, 3}); })(rc::ones({6}));
  const rc::Program around = rc::trace([&](const Tensor& y) { return relies({y})[0]; })(rc::ones({6}));
  EXPECT_THROW(around({rc::ones({8})}), rc::ValueError);
}

TEST(Program, OfASolverServesAllSizes) {
  const auto newton = [](const auto& f, Tensor x) {
    for (int i = 0; i < 20; ++i) x = x - f(x) / (2 * x);
    return x;
  };
  const auto divide = [](const auto& g, const Tensor& y) { return y / g(rc::ones_like(y)); };
  const auto root = [&](const Tensor& a) {
    return rc::custom_root([&](const Tensor& x) { return (x * x).reshape({-1}).reshape(x.shape()) - a; },
                           rc::ones_like(a), newton, divide);
  };
  const auto solved = [&](const Tensor& a) {
    return rc::custom_linear_solve([&](const Tensor& v) { return a * v.flatten().reshape(a.shape()); },
                                   rc::ones_like(a), divide, divide);
  };
  const Tensor x = rc::arange(20).reshape({5, 4}).to(rc::float32) + 1;
  for (const std::function<Tensor(Tensor)>& f : {std::function<Tensor(Tensor)>(root), {solved}}) {
    const auto gradient = rc::grad([&](const Tensor& a) { return (f(a) * a).sum(); });
    for (const std::function<Tensor(Tensor)>& g : {f, std::function<Tensor(Tensor)>(gradient), {rc::vmap(gradient)}}) {
      const rc::Program p = rc::trace(g)(rc::ones({2, 3}));
      EXPECT_NE(rc::to_string(p).find("s0,s1])"), std::string::npos) << p;
      EXPECT_TRUE(rc::allclose(p({x})[0], g(x))) << p;
    }
    const rc::Program p = rc::trace(f)(rc::ones({2, 3}));
    const auto of_program = [&](const Tensor& a) { return (p({a})[0] * a).sum(); };
    EXPECT_TRUE(rc::allclose(rc::grad(of_program)(x), gradient(x))) << p;
  }
}

TEST(Program, OfPiecesServesAllSizesThatHaveAsMany) {
  using Pieces = std::vector<Tensor>;
  const Tensor five = rc::ones({5}), six = rc::arange(6).to(rc::float32);
  for (const std::function<Pieces(Tensor)>& f : {std::function<Pieces(Tensor)>([](Tensor x) { return x.chunk(2); }),
                                                 {[](Tensor x) { return x.split(3); }},
                                                 {[](Tensor x) { return x.tensor_split(4); }},
                                                 {[](Tensor x) {
                                                   const auto [values, places] = x.topk(3);
                                                   return Pieces{values, places};
                                                 }}}) {
    const rc::Program p = rc::trace(f)(five);
    const Pieces found = p({six}), wanted = f(six);
    ASSERT_EQ(found.size(), wanted.size()) << p;
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(rc::equal(found[i], wanted[i])) << p;
  }
  const rc::Program halves = rc::trace([](const Tensor& x) { return x.chunk(2); })(rc::ones({4}));
  EXPECT_EQ(halves({five})[1].size(0), 2);
  const rc::Program p = rc::trace([](const Tensor& x) { return x.split(3); })(six);
  EXPECT_EQ(p({five})[1].size(0), 2);
  EXPECT_THROW(p({rc::ones({7})}), rc::ValueError);
}

TEST(Program, ComputesWithTheNumberOfASize) {
  const auto f = [](const Tensor& x) {
    const auto rows = x.shape()[0], columns = x.shape()[1];
    return (x.sum() / rows + 1 - columns) * (rows - x) + 2 / Tensor(rows * columns);
  };
  const rc::Program p = rc::trace(rc::vmap(f))(rc::ones({2, 2, 3}));
  const Tensor x = rc::arange(60).reshape({3, 5, 4}).to(rc::float32);
  EXPECT_TRUE(rc::equal(p({x})[0], rc::vmap(f)(x))) << p;
  EXPECT_EQ(f(x[0]).dtype(), rc::float32);
  EXPECT_EQ((rc::ones({3}, rc::int64) * x.shape()[0]).dtype(), rc::int64);
}

TEST(Program, OfAWriteThroughAReshapedViewServesAllSizes) {
  const auto f = [](const Tensor& x) {
    Tensor y = x * 1;
    y.view({2, -1})[1].mul_(3);
    y.view({-1, 2}).add_(1);
    return y;
  };
  const Tensor x = rc::arange(10).to(rc::float32);
  EXPECT_TRUE(rc::equal(rc::trace(f)(rc::ones({6}))({x})[0], f(x)));
}

TEST(Program, ReadsACapturedTensorThatHoldsANumberAnew) {
  const Tensor w = 3.0;
  const auto f = [&](const Tensor& x) { return x * w; };
  const rc::Program p = rc::trace(f)(rc::ones({2}));
  w.fill_(5);
  expect_values(p({rc::ones({2})})[0], {5, 5});
  EXPECT_EQ(p({rc::ones({2})})[0].dtype(), rc::float32);
}

TEST(Program, ReadsACapturedExponentAndFillAnew) {
  const Tensor w = 2.0;
  const auto f = [&](const Tensor& x) {
    return rc::pow(x, w) + rc::full({2}, w) + rc::linspace(w, w, 2) + rc::pow(x, 2);
  };
  const rc::Program p = rc::trace(f)(rc::ones({2}));
  const Tensor x = rc::tensor({2., 3.});
  w.fill_(3);
  expect_values(p({x})[0], {18, 42});
  expect_equal(p({x})[0], f(x));
}

/// What a loop or branch keeps for its way back has a dtype; a number is computed again instead.
TEST(Program, OfADerivativeKeepsTheNumbersOfSizesWeak) {
  const auto b = [](const Tensor& y) { return rc::tanh((y * y).sum() * (2.0 / Tensor(y.shape()[0]))); };
  const auto by_branch = [&](const Tensor& x) {
    const Tensor y = rc::cond(x.sum() > 0, b, [&](const Tensor& z) { return b(-z); }, x) * x;
    return (y * y).sum();
  };
  const auto by_loop = [&](const Tensor& x) {
    const Tensor y = rc::fori_loop(0, 2, [&](const Tensor&, const Tensor& s) { return s + b(s) * 0.5; }, x);
    return (y * y).sum() + rc::var(y, 0);
  };
  const Tensor x = rc::tensor({0.5, 1.25, 2.});
  for (const std::function<Tensor(Tensor)>& f : {std::function<Tensor(Tensor)>(by_branch), {by_loop}}) {
    const Tensor found = rc::trace(rc::grad(f))(rc::tensor({0.5, 1.25}))({x})[0];
    EXPECT_EQ(found.dtype(), rc::float32);
    EXPECT_TRUE(rc::allclose(found, rc::grad(f)(x)));
    EXPECT_TRUE(rc::allclose(rc::trace(rc::hessian(f))(x)({x})[0], rc::hessian(f)(x)));
  }
}

TEST(Program, RecordedByEachGroupOfASplitVmapLooksAtTheExamplesOfTheGroup) {
  const Tensor x = rc::tensor({1., 2.});
  const auto f = [&](const Tensor& w) {
    const auto looks = [&](const Tensor& y) { return w > 1.5 ? y * w : y - w; };
    return rc::trace(looks)(x)({x})[0];
  };
  expect_values(rc::vmap(f, {.lanes = rc::Lanes::split})(rc::tensor({1., 2.})), {0, 1, 2, 4});
}

TEST(Program, OfJacobiansOfProductsAndOfNormsServesAllSizes) {
  const auto gram = [](const Tensor& x) { return rc::matmul(x, x.mT()); };
  const Tensor small = rc::randn({4, 3}, rc::float64), large = rc::randn({20, 5}, rc::float64);
  for (const std::function<Tensor(Tensor)>& f :
       {std::function<Tensor(Tensor)>(rc::jacrev(gram)), {rc::jacfwd(gram)}, {rc::hessian([&](const Tensor& x) {
          return (gram(x) * gram(x)).sum();
        })}})
    EXPECT_TRUE(rc::allclose(rc::trace(f)(small)({large})[0], f(large))) << rc::trace(f)(small);
  const Tensor none;
  const auto norms = [&](const Tensor& x) {
    return rc::batch_norm(x, none, none, none, none, true) + rc::group_norm(x, 2) + rc::instance_norm(x);
  };
  const Tensor image = rc::randn({2, 4, 3, 3}, rc::float64), images = rc::randn({3, 6, 5, 4}, rc::float64);
  EXPECT_TRUE(rc::allclose(rc::trace(norms)(image)({images})[0], norms(images))) << rc::trace(norms)(image);
}

TEST(Program, SelectsByACapturedMask) {
  const Tensor mask = rc::tensor({true, false, true});
  const rc::Program p = rc::trace([&](Tensor x) { return x.masked_select(mask); })(rc::ones({3}));
  expect_values(p({rc::tensor({1., 2., 3.})})[0], {1, 3});
}

TEST(Program, RefusesToReadWhatDependsOnAnInputOrADraw) {
  const Tensor w = rc::tensor({3.0});
  for (const auto& value : std::vector<std::function<Tensor(Tensor)>>{
           [&](Tensor x) { return w * x; }, [&](Tensor x) { return (w.expand(x.shape()) * 2).sum(); },
           [&](Tensor) { return w + rc::rand({1}); }}) {
    const auto f = [&](Tensor x) { return x * value(x).item<double>(); };
    try {
      rc::trace(f)(rc::ones({1}));
      ADD_FAILURE() << "looked at a value that differs from run to run";
    } catch (const rc::TransformError& error) {
      EXPECT_NE(std::string(error.what()).find("which is not known while trace"), std::string::npos) << error.what();
    }
  }
}

TEST(Program, HasTheValueThatBelongsToATangentOfARuleThatDraws) {
  const auto f = rc::custom_jvp([](Tensor x) { return x * rc::rand({3}); },
                                [](const std::tuple<Tensor>& x, const std::tuple<Tensor>& t) {
                                  const Tensor noise = rc::rand({3});
                                  return std::pair(std::get<0>(x) * noise, std::get<0>(t) * noise);
                                });
  const Tensor x = rc::ones({3});
  const rc::Program p = rc::trace([&](Tensor t) { return rc::jvp(f, x, t); })(x);
  const std::vector<Tensor> first = p({x}), second = p({x});
  EXPECT_TRUE(rc::equal(first[0], first[1]));
  EXPECT_TRUE(rc::equal(second[0], second[1]));
  EXPECT_FALSE(rc::equal(first[0], second[0]));
}

TEST(Program, OfACustomFunctionReadsWhatItsValueAndItsRuleCapture) {
  const Tensor w = rc::tensor({2.0});
  const auto f = rc::custom_vjp([&](Tensor x) { return x * w; }, [&](Tensor x) { return std::pair(x * w, x); },
                                [&](Tensor, Tensor g) { return g * w; });
  const rc::Program p = rc::trace(f)(rc::ones({1}));
  w.fill_(5);
  expect_values(p({rc::ones({1})})[0], {5});
  expect_values(rc::grad([&](Tensor x) { return p({x})[0].sum(); })(rc::ones({1})), {5});
}

TEST(Program, AConstantSpreadToASizeOfItsInputsServesAllSizes) {
  const auto f = [](const Tensor& x) {
    Tensor y = x * 1;
    y.copy_(rc::tensor({2.0}));
    return y;
  };
  const rc::Program p = rc::trace(f)(rc::ones({3}));
  expect_values(p({rc::ones({3})})[0], {2, 2, 2});
  expect_values(p({rc::ones({5})})[0], {2, 2, 2, 2, 2});
}

TEST(Program, RecordedInsideARecordingHasTheSizesOfThere) {
  const auto inner = [](const Tensor& y) { return y.flatten() * rc::ones({2}).sum(); };
  const auto f = [&](const Tensor& x) {
    const Tensor outside = x * 2;
    return rc::trace([&](const Tensor& y) { return inner(y) + outside.flatten(); })(x)({x})[0];
  };
  const rc::Program p = rc::trace(f)(rc::ones({2, 3}));
  expect_values(p({rc::ones({2, 3})})[0], {4, 4, 4, 4, 4, 4});
  EXPECT_THROW(p({rc::ones({3, 3})}), rc::ValueError);
}

TEST(Program, ATensorThatNoMemoryHoldsIsRefusedWhereItIsRecorded) {
  const Tensor x = rc::ones({3});
  const std::int64_t many = std::int64_t{1} << 40;
  expect_error<rc::ValueError>(
      [&] { rc::trace([&](const Tensor& a) { return a.sum() + rc::zeros({many, many}); })(x); },
      "zeros: the shape [1099511627776,1099511627776] has more elements than memory can hold; make it smaller\n"
      "  inside trace{at}",
      {x});
}

TEST(Program, EquationsThatNoOutputNeedsAreLeftOut) {
  const rc::Program p = rc::trace([](const Tensor& x) {
    const Tensor unused = exp(x);
    return sin(x);
  })(rc::ones({3}));
  EXPECT_EQ(p.equations(), 1U);
}

TEST(Program, ReadBackPrintsTheSame) {
  const auto f = [](const Tensor& x) { return x.transpose(0, 1).select(1, 0).slice(0, 1, 3, 2).sum(0, true) * 2.5; };
  const rc::Program p = rc::trace(f)(rc::ones({2, 3}));
  const rc::Program again = rc::parse_program(rc::to_string(p), {});
  EXPECT_EQ(rc::to_string(again), rc::to_string(p));
  const Tensor x = rc::randn({2, 3});
  expect_equal(again({x})[0], f(x));
}

TEST(Program, HasOneConstantForEachNumberHoweverOftenItIsUsed) {
  const auto f = [](Tensor x, Tensor v) {  // van der Pol
    for (int i = 0; i < 20; ++i) {
      const Tensor force = 1.5 * (1 - x * x) * v - x;
      x = x + 0.1 * v;
      v = v + 0.1 * force;
    }
    return x;
  };
  const rc::Program p = rc::trace(f)(rc::ones({3}), rc::ones({3}));
  EXPECT_EQ(p.inputs(), 2U);
  EXPECT_TRUE(p.captured().empty());
  EXPECT_EQ(p.body().constants.size(), 3U);
  const rc::Program again = rc::parse_program(to_string(p), {});
  EXPECT_EQ(again.body().constants.size(), 3U);
  expect_equal(again({rc::ones({3}), rc::zeros({3})})[0], f(rc::ones({3}), rc::zeros({3})));
}

TEST(Program, PrintsEveryKindOfNumberSoThatItReadsBack) {
  const auto f = [](const Tensor& x) {
    const Tensor numbers[] = {-3, 2.0, 0.1, 1e300, -HUGE_VAL, true};
    std::vector<Tensor> results;
    for (const Tensor& number : numbers) results.push_back(x * number);
    for (rc::DType dtype :
         {rc::uint8, rc::float16, rc::bfloat16, rc::float32, rc::float64, rc::complex64, rc::complex128})
      results.push_back(x * rc::tensor(3.14159).to(dtype));
    return results;
  };
  const rc::Program p = rc::trace(f)(rc::ones({2}));
  const std::string text = to_string(p);
  for (const char* number : {" -3\n", " 2.0\n", " 0.1\n", " 1e+300\n", " -inf\n", " true\n", " u8(3)\n",
                             " f16(3.140625)\n", " f64(3.14159", " c64((3.14159", ",0.0))\n"})
    EXPECT_NE(text.find(number), std::string::npos) << number << " in\n" << text;
  const rc::Program again = rc::parse_program(text, {});
  EXPECT_EQ(to_string(again), text);
  const Tensor x = rc::randn({2});
  const std::vector<Tensor> results = again({x}), expected = f(x);
  for (std::size_t i = 0; i < expected.size(); ++i) expect_equal(results[i], expected[i]);
}

TEST(Program, KeepsACapturedNumberThatSomebodyHolds) {
  const Tensor held = rc::tensor(2.0);
  const auto f = [&](const Tensor& x) { return x * held + rc::tensor(0.5); };
  const rc::Program p = rc::trace(f)(rc::ones({3}));
  EXPECT_EQ(to_string(p),
            "program(a: f32[s0]; b: f32[]) {\n  c: f32[s0] = mul a b\n  d: f32[s0] = add c f32(0.5)\n  return d\n}\n");
}

TEST(Program, NamesTheVmapThatAnAxisBelongsTo) {
  const auto product = [](const Tensor& x, const Tensor& y) { return (x * y).sum(); };
  const auto pairs = rc::vmap(rc::vmap(product, {.in_dims = {rc::none, 0}}), {.in_dims = {0, rc::none}});
  const rc::Program p = rc::trace([&](const Tensor& x) { return pairs(x, x); })(rc::ones({3, 3}));
  const std::string text = to_string(p);
  EXPECT_NE(text.find(": f32[i="), std::string::npos) << text;
  EXPECT_NE(text.find(",j="), std::string::npos) << text;
  EXPECT_EQ(to_string(rc::parse_program(text, {})), text);
}

TEST(Program, ReadBackWithACapturedTensorOfAnotherTypeIsRefused) {
  const Tensor scale = rc::ones({3});
  const rc::Program p = rc::trace([&](const Tensor& x) { return x * scale; })(rc::ones({3}));
  const Tensor other[] = {rc::ones({2, 2})};
  expect_error<rc::ValueError>([&] { rc::parse_program(rc::to_string(p), other); },
                               "parse: line 1: captured tensor 0 is f32[2,2], the program says f32[3]; "
                               "pass one of that type",
                               {other[0]});
}

TEST(Program, PrintsSizesThatMayBeOthersAsSymbols) {
  const Tensor w = rc::ones({3, 4});
  const rc::Program p = rc::trace([&](const Tensor& x, const Tensor& y) {
    return rc::cat({matmul(x, w), y}, 0).reshape({-1});
  })(rc::ones({2, 3}), rc::ones({5, 4}));
  EXPECT_EQ(to_string(p),
            "program(a: f32[s0,3], b: f32[s1,4]; c: f32[3,4]) {\n"
            "  d: f32[s0,4] = matmul[form=0] a c\n"
            "  e: f32[s1+s0,4] = cat[axis=0] d b\n"
            "  f: f32[4*s1+4*s0] = reshape[shape=(4*s1+4*s0)] e\n"
            "  return f\n}\n");
}

TEST(Program, ReadBackServesTheSizesThatThePrintedOneDoes) {
  const auto f = [](const Tensor& x) { return x.transpose(0, 1).reshape({-1}).sum() * x; };
  const rc::Program p = rc::trace(f)(rc::ones({2, 3}));
  const rc::Program again = rc::parse_program(rc::to_string(p), p.captured());
  EXPECT_EQ(rc::to_string(again), rc::to_string(p));
  for (const Tensor& x : {rc::randn({2, 3}), rc::randn({4, 5}), rc::randn({1, 7})}) expect_equal(again({x})[0], f(x));
}

TEST(Program, CalledAtSizesThatItWasNotRecordedForIsRefused) {
  const auto f = [](const Tensor& x, const Tensor& y) { return x.size(0) == 3 ? x + y : y; };
  const rc::Program p = rc::trace(f)(rc::ones({3, 5}), rc::ones({5}));
  expect_error<rc::ValueError>([&] { p({rc::ones({3, 4}), rc::ones({5})}); },
                               "program: add{at} was recorded for input 0 f32[3,5]; it is now f32[3,4]; record it "
                               "again for these sizes");
  expect_error<rc::ValueError>(
      [&] { p({rc::ones({2, 4}), rc::ones({4})}); },
      "program: a use of a size{at} was recorded for input 0 f32[3,5], input 1 f32[5]; it is now "
      "f32[2,4], f32[4]; use x.shape()[0] to leave it open, or record it again for these sizes");
}

TEST(Program, ReadBackAndCalledAtSizesThatItDoesNotSayIsRefused) {
  const auto f = [](const Tensor& x, const Tensor& y) { return x.size(0) == 3 ? x + y : y; };
  const rc::Program program = rc::parse_program(to_string(rc::trace(f)(rc::ones({3, 5}), rc::ones({5}))), {});
  expect_error<rc::ValueError>([&] { program({rc::ones({3, 4}), rc::ones({5})}); },
                               "program: input 1 is f32[5], recorded for f32[s0]; pass one of that type, or record "
                               "the function again for this one");
  expect_error<rc::ValueError>([&] { program({rc::ones({2, 4}), rc::ones({4})}); },
                               "program: input 0 is f32[2,4], recorded for f32[3,s0]; pass one of that type, or "
                               "record the function again for this one");
}

TEST(Program, PrintsWhatItReliesOn) {
  const auto f = [](const Tensor& x, const Tensor& y) { return x.reshape({2, 3}) + y.expand({4, 3}).sum(0); };
  const rc::Program p = rc::trace(f)(rc::ones({3, 2}), rc::ones({3}));
  const std::string text = to_string(p);
  EXPECT_TRUE(text.starts_with("program(a: f32[s0,s1], b: f32[3]) where s0*s1=6 {\n")) << text;
  const rc::Program again = rc::parse_program(text, {});
  EXPECT_EQ(to_string(again), text);
  const Tensor x = rc::randn({6, 1}), y = rc::randn({3});
  expect_equal(again({x, y})[0], f(x, y));
  expect_error<rc::ValueError>([&] { again({rc::ones({4, 2}), y}); },
                               "program: recorded where s0*s1 is 6, called where they are 8 and 6; record it again for "
                               "these sizes");
}

TEST(Program, OfATextThatLeavesANumberOpenIsRefusedWhereItIsNeeded) {
  const auto parse = [](const std::string& text) { rc::parse_program(text, {}); };
  EXPECT_THROW(parse("program(a: f32[s0], b: f32[s1]) {\n  c: f32[s0] = add a b\n  return c\n}\n"), rc::ValueError);
  expect_error<rc::ValueError>([&] { parse("program(a: f32[s1]) {\n  return a\n}\n"); },
                               "parse: line 1: expected a size of the inputs, the first of which is s0, the next s1 at "
                               "'s1'; write a program as it is printed");
}

TEST(Program, OfATextThatSaysNumbersInSizesIsOfThese) {
  const rc::Program p = rc::parse_program("program(a: f32[s0], b: f32[s1]) where s1=3, s0=s1 {\n  return a\n}\n", {});
  EXPECT_EQ(to_string(p), "program(a: f32[3], b: f32[3]) {\n  return a\n}\n");
  expect_equal(p({rc::ones({3}), rc::ones({3})})[0], rc::ones({3}));
  EXPECT_THROW(p({rc::ones({4}), rc::ones({4})}), rc::ValueError);
}

TEST(Program, ThatIsMadeOfNothingIsEmpty) {
  const rc::Program p;
  EXPECT_EQ(p.equations(), 0U);
  EXPECT_EQ(rc::to_string(p), "program() {\n  return\n}\n");
  EXPECT_TRUE(p(std::vector<Tensor>{}).empty());
  expect_error<rc::ValueError>([&] { p({rc::ones({2})}); },
                               "program: called with 1 input, it has 0; pass one tensor for each");
}

TEST(Program, ReadingAValueWhileRecordingIsAnErrorWithTheRemedy) {
  expect_error<rc::TransformError>(
      [] { rc::trace([](const Tensor& x) { return x.sum().item() > 0 ? x : -x; })(rc::ones({3})); },
      "item: needs the value of f32[], which is not known while trace{at} records the function; use where, cond or "
      "while_loop\n  inside trace{at}");
}

TEST(Program, TransformsInsideARecordedFunctionLeaveOnlyPlainEquations) {
  const auto f = [](const Tensor& x) { return rc::vmap(rc::grad([](const Tensor& y) { return (y * y).sum(); }))(x); };
  const rc::Program p = rc::trace(f)(rc::ones({4, 3}));
  const Tensor x = rc::randn({4, 3});
  EXPECT_TRUE(rc::allclose(p({x})[0], 2 * x));
}

TEST(Program, DetachCutsEveryDerivativeOfWhereItRuns) {
  const rc::Program p = rc::trace([](const Tensor& x) { return x * x.detach(); })(rc::ones({}));
  const auto replayed = [&](const Tensor& x) { return p({x})[0]; };
  const Tensor y = rc::tensor(3.0);
  EXPECT_EQ(rc::grad(replayed)(y).item(), 3);
  EXPECT_EQ(rc::grad(rc::grad(replayed))(y).item(), 0);
  EXPECT_EQ(to_string(p), "program(a: f32[]) {\n  b: f32[] = detach a\n  c: f32[] = mul a b\n  return c\n}\n");
}

TEST(Program, ThatPutsThroughAnOperationWhichIsNoViewIsRefused) {
  const std::string text = "program(a: f32[3], b: f32[3]) {\n  c: f32[3] = put[view=sin[]] a b\n  return c\n}\n";
  EXPECT_THROW(rc::parse_program(text, {}), rc::ValueError);
}

TEST(Program, ThatGivesAnOperationAnotherNumberOfOperandsIsRefused) {
  const auto parse = [](const std::string& equation) {
    rc::parse_program("program(a: f32[3,3], b: f32[3,3]) {\n  " + equation + "\n  return c\n}\n", {});
  };
  expect_error<rc::ValueError>([&] { parse("c: f32[3,3] = mul a"); }, "mul: 1 operands; it takes 2");
  expect_error<rc::ValueError>([&] { parse("c: f32[3,3] = matmul[form=0] a"); }, "matmul: 1 operands; it takes 2");
  expect_error<rc::ValueError>([&] { parse("c: f32[3,3] = cholesky a b"); }, "cholesky: 2 operands; it takes 1");
  expect_error<rc::ValueError>([&] { parse("c: f32[3,3] = cat[axis=0]"); }, "cat: 0 operands; it takes at least 1");
  expect_error<rc::ValueError>([&] { parse("c: f32[3,3] = index[place={index,(0),(3,3),true,0}] a"); },
                               "index: 1 operands; it takes 2");
}

TEST(Program, ThatNamesAnotherNumberOfResultsIsRefused) {
  const auto parse = [](const std::string& equation) {
    rc::parse_program("program(a: f32[3]) {\n  " + equation + "\n  return c\n}\n", {});
  };
  expect_error<rc::ValueError>([&] { parse("c: f32[3], d: f32[3] = sin a"); },
                               "check: sin gives 1 results, its equation names 2; name each of them");
  expect_error<rc::ValueError>([&] { parse("c: f32[3] = sort[axis=0, descending=false] a"); },
                               "check: sort gives 2 results, its equation names 1; name each of them");
}

TEST(Program, WhoseParametersDoNotFitTheirOperandsIsRefused) {
  const auto parse = [](const std::string& equation) {
    rc::parse_program("program(a: f32[3], b: f32[3,2]) {\n  " + equation + "\n  return c\n}\n", {});
  };
  const auto expect_refused = [&](const std::string& equation, const std::string& text) {
    expect_error<rc::IndexError>([&] { parse(equation); }, "check: " + text);
  };
  const std::string range = " is out of range; the legal range is ";
  expect_refused("c: f32[] = sum[axes=(3)] a", "sum: the parameter 3" + range + "[0, 0]");
  expect_refused("c: f32[] = sum[axes=(1,1)] b", "sum: axis 1 appears more than once");
  expect_refused("c: f32[3] = slice[axis=-1, start=0, size=2, step=1] a", "slice: the parameter -1" + range + "[0, 0]");
  expect_refused("c: f32[2] = unfold[axis=0, size=2, step=0] a",
                 "unfold: the parameter 0" + range + "[1, 9223372036854775807]");
  expect_refused("c: f32[3,2] = permute[axes=(1)] b", "permute: the parameter 1" + range + "[2, 2]");
  expect_refused("c: f32[6] = cat[axis=1] a a", "cat: the parameter 1" + range + "[0, 0]");
  expect_refused("c: f32[] = det a", "det: needs at least 2 axes, found f32[3]");
  expect_refused("c: f32[] = matmul[form=7] a a", "matmul: the parameter 7" + range + "[0, 3]");
  expect_refused("c: f32[] = select[axis=0, index=100] a", "select: the parameter 100" + range + "[0, 2]");
  expect_refused("c: f32[2] = slice[axis=0, start=2, size=2, step=1] a", "slice: the parameter 1" + range + "[0, 0]");
  expect_refused("c: f32[4] = reshape[shape=(4)] a", "reshape: the parameter 4" + range + "[3, 3]");
  expect_refused("c: f32[2,4] = expand[shape=(2,4)] a", "expand: needs the sizes [4], found [3]");
  expect_refused("c: f32[2] = as_strided[size=(2), stride=(2), offset=1, elements=3] a",
                 "as_strided: the parameter 1" + range + "[0, 0]");
  expect_refused("c: f32[3] = softmax[axis=1] a", "softmax: the parameter 1" + range + "[0, 0]");
  expect_refused("c: f32[3,2] = gather[axis=0, place={x,(0),(3,2),false,0}] b a",
                 "gather: needs elements of i64, found f32[3]");
  expect_refused("c: f32[3] = put[view=select[axis=0, index=0]] a a", "put: needs the sizes [], found [3]");
}

TEST(Program, ThatReadsAPlaceWhichIsNotThereIsAnError) {
  const rc::Program program = rc::parse_program(
      "program(x: f32[2,3], at: i64[2,1]) {\n  y: f32[2,1] = pick_shared[axis=1] x at\n  return y\n}\n", {});
  const Tensor x = rc::arange(6.0, {.dtype = rc::float32}).reshape({2, 3});
  const auto picked = [&](std::int64_t place) { return program({x, rc::tensor({place, place}).reshape({2, 1})})[0]; };
  expect_values(picked(2), {2, 5});
  expect_error<rc::IndexError>(
      [&] { picked(3); }, "pick_shared: index 3 is out of range for axis 1 of f32[2,3]; the legal range is [0, 2]");
  expect_error<rc::IndexError>(
      [&] { picked(-1); }, "pick_shared: index -1 is out of range for axis 1 of f32[2,3]; the legal range is [0, 2]");
}

TEST(Program, WhoseOperationLacksItsParametersIsRefused) {
  expect_error<rc::ValueError>(
      [] { rc::parse_program("program(a: f32[3]) {\n  c: f32[] = sum a\n  return c\n}\n", {}); },
      "parse: line 2: expected '[' at ' a'; write a program as it is printed");
}

TEST(Program, ThatStatesASizeWhichMemoryCannotHoldIsRefused) {
  const auto parse = [](const std::string& size) {
    rc::parse_program("program(a: f32[" + size + "]) {\n  return a\n}\n", {});
  };
  expect_error<rc::ValueError>([&] { parse("-9223372036854775808"); },
                               "parse: line 1: expected a size that memory can hold at "
                               "'-9223372036854775808'; write a program as it is printed");
  expect_error<rc::ValueError>([&] { parse("-2"); },
                               "parse: line 1: expected a size of at least 0 at '-2'; "
                               "write a program as it is printed");
}

TEST(Program, WhoseTextIsWrongIsRefusedWithTheLine) {
  const auto parse = [](const std::string& text) { rc::parse_program(text, {}); };
  const std::string start = "program(a: f32[3]) {\n  b: f32[3] = sin a\n";
  expect_error<rc::ValueError>([&] { parse(start + "  c: f32[3] = cos d\n  return c\n}\n"); },
                               "parse: line 3: d is used before it is defined; move its equation up");
  expect_error<rc::ValueError>([&] { parse(start + "  b: f32[3] = cos a\n  return b\n}\n"); },
                               "parse: line 3: b is defined twice; give each a name of its own");
  expect_error<rc::ValueError>([&] { parse(start + "  c: f33[3] = cos a\n  return c\n}\n"); },
                               "parse: line 3: expected an element type at 'f33[3] = cos a'; "
                               "write a program as it is printed");
  expect_error<rc::ValueError>([&] { parse("program(a: f32[3], β: f32[3]) {\n  return a\n}\n"); },
                               "parse: line 1: expected a name at 'β: f32[3]) {'; write a program as it is printed");
  expect_error<rc::ValueError>([&] { parse("program(a: f32[3]; b: f32[3]) {\n  return a\n}\n"); },
                               "parse: line 1: the program captures more tensors than the 0 that were given; "
                               "pass one for each name behind the semicolon");
}

TEST(Program, ADrawWhoseRowsDoNotDivideIntoItsRunsIsRefused) {
  const auto parse = [](const std::string& draw) {
    rc::parse_program("program() {\n  a: " + draw + "\n  return a\n}\n", {});
  };
  expect_error<rc::IndexError>(
      [&] { parse("f64[6] = rand[numbers={f64}, shape=(6), seed=1, position=2, examples=4, starts=(0,1,2,3)]"); },
      "check: rand: the rows of [6] do not divide into 4 runs");
  expect_error<rc::IndexError>(  // a permutation is drawn as a whole
      [&] { parse("i64[6] = randperm[numbers={}, shape=(6), seed=1, position=2, examples=3, starts=(0,1,2)]"); },
      "check: randperm: the rows of [6] do not divide into 3 runs");
}

TEST(Program, ASizeIsAsPreciseAsTheNumberItIs) {
  const auto f = rc::grad([](Tensor q) { return rc::var(q) + rc::std(q); });
  const rc::Program program = rc::trace(f)(rc::cos(ramp({4})));
  for (const Tensor& x : {rc::cos(ramp({4})), rc::cos(ramp({7}) * 3)}) expect_close(program({x})[0], f(x));
}

/// Where the kernel would not fit, the function throws, and so does its program.
TEST(Program, OfAConvolutionIsOfInputsThatTheKernelFits) {
  const Tensor w = rc::ones({1, 1, 3});
  const rc::Program p = rc::trace([&](Tensor x) { return rc::conv1d(x, w); })(rc::ones({1, 1, 8}));
  EXPECT_EQ(p({rc::ones({1, 1, 5})})[0].shape(), rc::Shape({1, 1, 3}));
  EXPECT_THROW(p({rc::ones({1, 1, 2})}), rc::ValueError);
  const rc::Program q = rc::trace([](Tensor x) { return rc::max_pool2d(x, {3}); })(rc::ones({1, 1, 8, 8}));
  EXPECT_EQ(q({rc::ones({1, 1, 5, 9})})[0].shape(), rc::Shape({1, 1, 1, 3}));
  EXPECT_THROW(q({rc::ones({1, 1, 2, 9})}), rc::ValueError);
  const auto padded = [](Tensor x) { return rc::max_pool2d(x, {2}, {1}, {1}, {4}); };
  EXPECT_THROW(padded(rc::ones({1, 1, 3, 8})), rc::ValueError);
  const rc::Program r = rc::trace(padded)(rc::ones({1, 1, 8, 8}));
  EXPECT_EQ(r({rc::ones({1, 1, 4, 9})})[0].shape(), rc::Shape({1, 1, 2, 7}));
  EXPECT_THROW(r({rc::ones({1, 1, 3, 8})}), rc::ValueError);
}

/// A tape keeps copies of small tensors; where a program is recorded, it must still know a captured one.
TEST(Program, OfAGradientHasASmallCapturedTensorOnce) {
  const Tensor number = rc::tensor(2.0), pair = rc::tensor({2.0, 3.0});
  for (const Tensor& held : {number, pair}) {
    const auto loss = [&](Tensor y) { return (y * held).sum(); };
    const rc::Program p = rc::trace([&](Tensor x) { return rc::value_and_grad(loss)(x); })(rc::ones({2}));
    ASSERT_EQ(p.captured().size(), 1U) << p;
    const Tensor other[] = {held + 3};
    const std::vector<Tensor> found = rc::parse_program(rc::to_string(p), other)({rc::ones({2})});
    expect_values(found[0], values((rc::ones({2}) * other[0]).sum()));
    expect_values(found[1], values(rc::ones({2}) * other[0]));
  }
}

/// The hints of a text's sizes are made up: those of s0 + 2 and s1 may agree.
TEST(ParseProgram, RefusesShapesThatDoNotBroadcastWhateverTheirHints) {
  for (int more = 0; more < 80; ++more) {
    const std::string text =
        "program(a: f32[s0+" + std::to_string(more + 1) + "], b: f32[s1]) {\n  c: f32[s1] = add a b\n  return c\n}\n";
    EXPECT_THROW(rc::parse_program(text, {}), rc::ValueError) << text;
  }
}

TEST(ParseProgram, RefusesGroupsOfOperandsThatAreNotThoseOfTheOperation) {
  const auto f = [](Tensor x) {
    return rc::cond(x > 1, [](Tensor y) { return y * 2; }, [](Tensor y) { return y; }, x);
  };
  const std::string text = to_string(rc::trace(f)(rc::tensor(2.0))), groups = "predicate(b) operands(a)";
  const auto parse_with = [&](const std::string& other) {
    std::string changed = text;
    rc::parse_program(changed.replace(changed.find(groups), groups.size(), other), {});
  };
  parse_with(groups);
  const std::string end = "; write a program as it is printed";
  expect_error<rc::ValueError>([&] { parse_with("predicate(b) state(a)"); },
                               "parse: line 8: expected operands(…) with 1 operands at ' predicate(b) state(a)'" + end);
  expect_error<rc::ValueError>([&] { parse_with("predicate(b a)"); },
                               "parse: line 8: expected predicate(…) with 1 operands at ' predicate(b a)'" + end);
  expect_error<rc::IndexError>([&] { parse_with("predicate(b)"); },
                               "parse: cond: the parameter 1 is out of range; the legal range is [0, 0]");
}

/// As deep as a text may say, not as the stack is.
TEST(ParseProgram, RefusesProgramsOneInsideTheOtherWithoutEnd) {
  rc::trace([](Tensor x) {
    return rc::cond(x.sum() > 1, [](Tensor y) { return y * 2; }, [](Tensor y) { return y; }, x);
  })(rc::ones({3}));  // registers the operation
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "program(a: f32[3], b: bool[]) {\n  c: f32[3] = cond[operands=1, branches=(";
  expect_error<rc::ValueError>([&] { rc::parse_program(text, {}); },
                               "parse: line 2: more than 200 programs stand one inside the other; write a loop where "
                               "the nest repeats itself");
}

}  // namespace
