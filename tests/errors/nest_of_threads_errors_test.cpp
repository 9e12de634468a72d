// What is refused to threads that a function under transforms starts.
#include <future>
#include <thread>

#include "support/expect_error.h"
#include "support/threads.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const std::string elsewhere =
    ", which runs on another thread; take rc::current_nest() there and enter it here with rc::Inside, or pass what "
    "does not depend on it";

TEST(ThreadErrors, OfADerivative) {
  const auto f = [](Tensor x) { return on_another_thread([&] { return (x * x).sum(); }); };
  const Tensor x = rc::ones({3});
  expect_error<rc::TransformError>([&] { rc::grad(f)(x); }, "mul: an operand f32[3] belongs to grad{at}" + elsewhere,
                                   {x});
  expect_error<rc::TransformError>([&] { rc::jvp(f, x, x); }, "mul: an operand f32[3] belongs to jvp{at}" + elsewhere,
                                   {x});
  expect_error<rc::TransformError>([&] { rc::linearize(f, x); },
                                   "mul: an operand f32[3] belongs to linearize{at}" + elsewhere, {x});
  expect_error<rc::TransformError>([&] { rc::jacfwd(f)(x); },
                                   "mul: an operand f32[3] belongs to jacfwd{at}" + elsewhere, {x});
}

TEST(ThreadErrors, OfATape) {
  const Tensor x = rc::ones({3});
  rc::Tape tape;
  tape.watch(x);
  on_another_thread([&] {
    expect_error<rc::TransformError>([&] { x.sum(); }, "sum: an operand f32[3] belongs to Tape{at}" + elsewhere);
    expect_error<rc::TransformError>([&] { tape.watch(rc::ones({2})); },
                                     "Tape: it was made on another thread; watch tensors and ask for gradients on that "
                                     "one{at}");
    expect_error<rc::TransformError>([&] { tape.gradient(rc::ones({}), x); },
                                     "Tape: it was made on another thread; watch tensors and ask for gradients on that "
                                     "one{at}");
  });
}

TEST(ThreadErrors, OfADerivativeThatDoesNotReachIntoTheFunctionWhichStartsThem) {
  const auto captures = [](const auto& wrapped) {
    return [=](Tensor w) {
      const auto part = [=](Tensor x) {
        const rc::Nest here = rc::current_nest();
        return on_another_thread([&] {
          const rc::Inside scope(here);
          const rc::Nest again = rc::current_nest();
          return on_another_thread([&] {
            const rc::Inside inner(again);
            return (x * w).sum();
          });
        });
      };
      return wrapped(part)(w);
    };
  };
  const auto checkpoint = captures([](const auto& f) { return rc::checkpoint(f); });
  const auto custom = captures([](const auto& f) {
    return rc::custom_vjp(f, [=](Tensor x) { return std::pair{f(x), x}; }, [](Tensor x, Tensor ct) { return x * ct; });
  });
  const Tensor w = rc::ones({3});
  const std::string captured =
      "mul: an operand f32[3] was captured: it belongs to grad{at}, which does not reach into ";
  expect_error<rc::TransformError>([&] { rc::grad(checkpoint)(w); }, captured + "checkpoint; pass it as an argument",
                                   {w});
  expect_error<rc::TransformError>([&] { rc::grad(custom)(w); }, captured + "custom_vjp; pass it as an argument", {w});
}

TEST(ThreadErrors, ANestThatHasEnded) {
  std::optional<rc::Nest> kept;
  rc::grad([&](Tensor x) {
    kept = rc::current_nest();
    return x * x;
  })(rc::tensor(2.));
  expect_error<rc::TransformError>([&] { const rc::Inside scope(*kept); },
                                   "Inside: grad{at} of the nest has ended; enter a nest while the function that took "
                                   "it runs");
}

TEST(ThreadErrors, ANestBesideOtherTransforms) {
  rc::grad([&](Tensor x) {
    const rc::Nest here = rc::current_nest();
    on_another_thread([&] {
      expect_error<rc::TransformError>(
          [&] {
            rc::vmap([&](Tensor a) {
              const rc::Inside scope(here);
              return a;
            })(rc::ones({3}));
          },
          "Inside: this thread runs vmap over axis 0 of 3{at}, which is no part of the nest; enter the nest outside "
          "it\n"
          "  inside vmap over axis 0 of 3{at}");
    });
    return x * x;
  })(rc::tensor(2.));
}

TEST(ThreadErrors, WhereAProgramIsRecorded) {
  const auto f = [](Tensor x) {
    rc::current_nest();
    return x;
  };
  const Tensor x = rc::ones({3});
  expect_error<rc::NotImplementedError>(
      [&] { rc::trace(f)(x); },
      "current_nest: trace{at} writes a program down, in the order of one thread; start threads outside it\n"
      "  inside trace{at}");
}

TEST(ThreadErrors, WhereOnlyAPartOfTheExamplesRuns) {
  const auto f = [](Tensor x) {
    return rc::cond(
        x > 0,
        [](Tensor a) {
          rc::current_nest();
          return a;
        },
        [](Tensor a) { return -a; }, x);
  };
  const Tensor x = rc::tensor({1., -1.});
  expect_error<rc::NotImplementedError>([&] { rc::vmap(f)(x); },
                                        "current_nest: only a part of the examples of vmap over axis 0 of 2{at} runs "
                                        "here, on this thread alone; start threads outside the branch or loop\n"
                                        "  inside vmap over axis 0 of 2{at}");
}

TEST(ThreadErrors, DrawsOfAMappedFunction) {
  const std::string text =
      "rand: another thread runs this vmap or checkpoint, and threads have no fixed order in which to draw; draw "
      "before the thread starts, or use a key (rc::Key)";
  const auto f = [](Tensor x) {
    const rc::Nest here = rc::current_nest();
    return on_another_thread([&] {
      const rc::Inside scope(here);
      return x * rc::rand({});
    });
  };
  const Tensor x = rc::ones({3});
  expect_error<rc::TransformError>([&] { rc::vmap(f, {.randomness = rc::Randomness::different})(x); },
                                   text + "\n  inside vmap over axis 0 of 3{at}");
  expect_error<rc::TransformError>([&] { rc::grad([&](Tensor a) { return rc::checkpoint(f)(a).sum(); })(x); }, text);
}

TEST(ThreadErrors, AThreadThatGoesOnWhenItsTransformHasEnded) {
  const auto run = [](const auto& transform) {
    std::promise<void> entered, ended;
    std::thread thread;
    transform([&](Tensor x) {
      thread = std::thread([&, x, here = rc::current_nest()] {
        const rc::Inside scope(here);
        entered.set_value();
        ended.get_future().wait();
        EXPECT_THROW(x * x, rc::TransformError);
      });
      entered.get_future().wait();
      return x * 2;
    });
    ended.set_value();
    thread.join();
  };
  run([](const auto& f) { EXPECT_EQ(rc::grad(f)(rc::tensor(3.)).template item<float>(), 2); });
  run([](const auto& f) { rc::linearize(f, rc::tensor(3.)); });
}

}  // namespace
