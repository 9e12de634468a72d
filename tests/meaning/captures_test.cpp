// Functions that capture what is differentiated or mapped around them: in a checkpoint, and in loops that keep few
// states, captures count as arguments; custom_vjp and custom_jvp, which tell no derivative of theirs, refuse them.
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// sin(w x) x, once as it is and once with the inside in a checkpoint that captures w.
Tensor plain(const Tensor& w, const Tensor& x) { return sin(w * x) * x; }
Tensor closed(const Tensor& w, const Tensor& x) {
  return rc::checkpoint([w](Tensor a) { return sin(w * a) * a; })(x);
}

TEST(Captures, OfACheckpointAreDifferentiatedAndMapped) {
  const Tensor w = doubles({0.5, 1.5}), x = doubles({2, 3});
  const auto both = [&](const auto& transform) { expect_close(transform(closed, w, x), transform(plain, w, x)); };
  both([](auto f, Tensor w, Tensor x) { return rc::grad([&](Tensor a) { return f(a, x).sum(); })(w); });
  both([](auto f, Tensor w, Tensor x) { return std::get<1>(rc::jvp([&](Tensor a) { return f(a, x); }, w, x)); });
  both([](auto f, Tensor w, Tensor x) { return rc::linearize([&](Tensor a) { return f(a, x); }, w).second(x); });
  both([](auto f, Tensor w, Tensor x) { return rc::jacrev([&](Tensor a) { return f(a, x); })(w); });
  both([](auto f, Tensor w, Tensor x) { return rc::jacfwd([&](Tensor a) { return f(a, x); })(w); });
  both([](auto f, Tensor w, Tensor x) { return rc::hessian([&](Tensor a) { return f(a, x).sum(); })(w); });
  both([](auto f, Tensor w, Tensor x) { return rc::vmap([&](Tensor a) { return f(a, x); })(w); });
  both([](auto f, Tensor w, Tensor x) {
    return rc::grad([&](Tensor a) { return rc::vmap([&](Tensor b) { return f(b, x).sum(); })(a).sum(); })(w);
  });
  both([](auto f, Tensor w, Tensor x) {
    return rc::vmap([&](Tensor a) { return rc::grad([&](Tensor b) { return f(b, x).sum(); })(a); })(w);
  });
  both([](auto f, Tensor w, Tensor x) {
    return std::get<0>(rc::grad<0, 1>([&](Tensor a, Tensor b) { return f(a, b).sum(); })(w, x));
  });
  both([](auto f, Tensor w, Tensor x) {
    return rc::grad([&](Tensor b) { return rc::grad([&](Tensor a) { return f(a, b).sum(); })(w).sum(); })(x);
  });
  both([](auto f, Tensor w, Tensor x) {
    rc::Tape tape;
    tape.watch(w);
    const Tensor y = f(w, x).sum();
    return tape.gradient(y, w);
  });
}

TEST(Captures, OfACheckpointInsideAnother) {
  const Tensor w = doubles({0.5, 1.5}), x = doubles({2, 3});
  const auto nested = [](Tensor w, Tensor x) {
    return rc::checkpoint(
        [w](Tensor a) { return rc::checkpoint([w](Tensor b) { return w * sin(w * b); })(a) * w + closed(w, a); })(x);
  };
  const auto direct = [](Tensor w, Tensor x) { return w * sin(w * x) * w + plain(w, x); };
  const auto gradient = [&](const auto& f) { return rc::grad([&](Tensor a) { return f(a, x).sum(); }); };
  expect_close(gradient(nested)(w), gradient(direct)(w));
  expect_close(rc::vmap(rc::grad([&](Tensor a) { return nested(a, x).sum(); }))(w),
               rc::vmap(rc::grad([&](Tensor a) { return direct(a, x).sum(); }))(w));
}

TEST(Captures, OfACheckpointThatDrawsLeaveItsDrawsAsTheyWere) {
  const Tensor w = doubles({0.5, 1.5}), x = doubles({2, 3});
  const auto gradient = [&](bool is_checkpoint) {
    rc::manual_seed(5);
    return rc::grad([&](Tensor a) {
      const auto f = [a](Tensor b) {
        const Tensor first = rc::rand({2}, rc::float64);
        const Tensor scaled = a * first;
        return sin(scaled * b) * rc::rand({2}, rc::float64);
      };
      const Tensor y = is_checkpoint ? rc::checkpoint(f)(x) : f(x);
      return (y * rc::rand({2}, rc::float64)).sum();
    })(w);
  };
  const Tensor expected = gradient(false);
  expect_close(gradient(true), expected);
}

TEST(Captures, OfALoopThatKeepsFewStates) {
  const Tensor w = doubles({0.5, 0.9}), x = doubles({2, 3});
  for (const rc::Checkpoints kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto loop = [&](Tensor a) {
      return rc::fori_loop(0, 7, [a](Tensor i, Tensor y) { return sin(y * a) + i * a; }, x, {.checkpoint = kept}).sum();
    };
    const auto direct = [&](Tensor a) {
      Tensor y = x;
      for (int i = 0; i < 7; ++i) y = sin(y * a) + i * a;
      return y.sum();
    };
    expect_close(rc::grad(loop)(w), rc::grad(direct)(w));
    expect_close(rc::hessian(loop)(w), rc::hessian(direct)(w));
    expect_close(std::get<1>(rc::jvp(loop, w, w)), std::get<1>(rc::jvp(direct, w, w)));
    expect_close(rc::vmap(rc::grad(loop))(w), rc::vmap(rc::grad(direct))(w));
    const auto limit = [&](Tensor a) {  // each example takes as many steps as it needs
      return rc::while_loop([a](Tensor y) { return y < a * 20; }, [a](Tensor y) { return y * (a + 1); }, a,
                            {.checkpoint = kept});
    };
    const auto direct_limit = [&](Tensor a) {
      Tensor y = a;
      while (y.item<double>() < a.item<double>() * 20) y = y * (a + 1);
      return y;
    };
    expect_close(rc::vmap(rc::grad(limit))(w), rc::vmap(rc::grad(direct_limit), {.lanes = rc::Lanes::split})(w));
  }
}

TEST(Captures, CountAlsoWhereTheFunctionCatchesWhatTheyThrow) {
  const Tensor w = doubles({0.5, 1.5}), x = doubles({2, 3});
  const auto gradient = [&](const auto& on_failure) {
    return rc::grad([&](Tensor a) {
      return rc::checkpoint([&](Tensor b) {
               try {
                 return a * b;
               } catch (...) { return on_failure(b); }
             })(x)
          .sum();
    })(w);
  };
  expect_close(gradient([](Tensor b) { return b; }), x);
  expect_close(gradient([](Tensor) -> Tensor { throw std::runtime_error("failed"); }), x);
}

const std::string argument = "; pass it as an argument";

/// A solver takes what it is given and nothing else: it cannot follow the advice to pass an argument.
TEST(CaptureErrors, TellASolverWhatItMayUse) {
  const Tensor w = doubles({4});
  const auto root_of = [](Tensor a, Tensor captured) {
    const auto newton = [captured](auto g, Tensor x) {
      for (int i = 0; i < 20; ++i) x = x - g(x) / (2 * sqrt(captured));
      return x;
    };
    const auto divide = [](auto g, Tensor y) { return y / g(rc::ones({1}, rc::float64)); };
    return rc::custom_root([a](Tensor x) { return x * x - a; }, rc::ones({1}, rc::float64), newton, divide).sum();
  };
  expect_error<rc::TransformError>(
      [&] { rc::grad([&](Tensor a) { return root_of(a, a); })(w); },
      "sqrt: an operand f64[1] was captured: it belongs to grad{at}, which does not reach into custom_root; a solver "
      "may use it through the function that it is given, or capture its detach()\n  inside grad{at}",
      {w});
  expect_close(rc::grad([&](Tensor a) { return root_of(a, a.detach()); })(w), doubles({0.25}));
}

TEST(CaptureErrors, NameTheCallThatWasWritten) {
  const Tensor w = doubles({0.5, 1.5}), x = doubles({2, 3});
  const auto text = [](const std::string& op, const std::string& type, const std::string& transform,
                       const std::string& call) {
    return op + ": an operand " + type + " was captured: it belongs to " + transform + ", which does not reach into " +
           call + argument + "\n  inside " + transform;
  };
  const auto by_vjp = [&](Tensor a) {
    return rc::custom_vjp([a](Tensor b) { return a * b; }, [a](Tensor b) { return std::pair{a * b, 0}; },
                          [](int, Tensor ct) { return ct; })(x)
        .sum();
  };
  expect_error<rc::TransformError>([&] { rc::grad(by_vjp)(w); }, text("mul", "f64[2]", "grad{at}", "custom_vjp"), {w});
  const auto by_jvp = [&](Tensor a) {
    return rc::custom_jvp([a](Tensor b) { return a * b; },
                          [a](std::tuple<Tensor> p, std::tuple<Tensor> t) {
                            return std::pair{a * std::get<0>(p), a * std::get<0>(t)};
                          })(x)
        .sum();
  };
  expect_error<rc::TransformError>([&] { rc::grad(by_jvp)(w); }, text("mul", "f64[2]", "grad{at}", "custom_jvp"), {w});
  expect_error<rc::TransformError>([&] { rc::vmap(by_jvp)(w); },
                                   text("mul", "f64[]", "vmap over axis 0 of 2{at}", "custom_jvp"), {w});
}

// The loop is written down for what it captures; written down again, it would capture the same.
TEST(CaptureErrors, OfARuleInALoopWithCheckpoints) {
  const auto f = [](Tensor x, Tensor w) {
    const auto rule = [=](std::tuple<Tensor> p, std::tuple<Tensor> t) {
      const Tensor a = std::get<0>(p);
      return std::pair{sin(a), cos(a) * w * std::get<0>(t)};
    };
    const auto step = [=](Tensor, Tensor y) { return rc::custom_jvp([](Tensor a) { return sin(a); }, rule)(y); };
    return rc::fori_loop(0, 2, step, x, {.checkpoint = rc::Checkpoints::sqrt});
  };
  const Tensor x = number(0.5);
  try {
    rc::jvp(f, std::tuple{x, x}, std::tuple{x, x});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const rc::TransformError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("mul: an operand f64[] was captured: it belongs to jvp")) << text;
    EXPECT_NE(text.find("which does not reach into custom_jvp; pass it as an argument"), std::string::npos) << text;
  }
  EXPECT_FALSE(rc::inside_transform());
}

TEST(CaptureErrors, OfACheckpointThatLooksAtValues) {
  const Tensor w = doubles({0.5, 1.5}), x = doubles({2, 3});
  const auto f = [&](Tensor a) {
    return rc::checkpoint([a](Tensor b) { return b.sum().item<double>() > 0 ? a * b : b; })(x).sum();
  };
  try {
    rc::grad(f)(w);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const rc::TransformError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(
        text.starts_with("item: needs the value of f64[], which is not known while checkpoint records the "
                         "function; use where, cond or while_loop\n  inside checkpoint, inside grad"))
        << text;
    EXPECT_TRUE(
        text.ends_with("\n  in a function that captures tensors of a transform around it, and is written down "
                       "for that; one that looks at values takes them as arguments or state"))
        << text;
  }
  EXPECT_FALSE(rc::inside_transform());
}

// A program takes what a custom function captures as inputs. The function's rules do not see those inputs.
TEST(Captures, OfACustomFunctionInARecordedLoopBelongToTheProgram) {
  const auto f = [](Tensor w) {
    const auto scaled =
        rc::custom_vjp([=](Tensor x) { return sin(x) * w; }, [=](Tensor x) { return std::pair{sin(x) * w, x}; },
                       [=](Tensor x, Tensor ct) { return ct * w * cos(x); });
    return rc::while_loop([](Tensor y) { return (y > 0.1).any(); }, scaled, w);
  };
  const Tensor w = doubles({0.8, 0.5}), other = doubles({0.3, 0.7, 0.9});
  const rc::Program p = rc::trace(f)(w);
  expect_close(p({w})[0], f(w));
  expect_close(p({other})[0], f(other));
  const std::string text =
      "custom_vjp: captures f64[2] that is differentiated; pass it as an argument\n  inside grad{at}, inside trace{at}";
  const auto slope = rc::grad([&](Tensor x) { return f(x).sum(); });
  expect_error<rc::TransformError>([&] { rc::trace(slope)(w); }, text, {w});
  const Tensor rows = rc::stack({w, 2 * w});
  expect_error<rc::TransformError>([&] { rc::trace(rc::vmap(f))(rows); },
                                   "custom_vjp: captures f64[2] that differs per example; pass it as an argument\n  "
                                   "inside vmap over axis 0 of 2{at}, inside trace{at}",
                                   {rows});
}

// A function may also capture what the recorded function around it got: an operand like others.
TEST(Captures, OfACustomFunctionMayComeFromTheRecordedFunction) {
  const auto f = [](Tensor w) {
    return rc::custom_jvp([=](Tensor x) { return x * w; },
                          [=](std::tuple<Tensor> x, std::tuple<Tensor> t) {
                            return std::pair{std::get<0>(x) * w, std::get<0>(t) * w};
                          })(w);
  };
  const rc::Program p = rc::trace(f)(doubles({1, 2}));
  expect_close(p({doubles({3, 4, 5})})[0], doubles({9, 16, 25}));
}

}  // namespace
