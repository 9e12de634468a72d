// Functions under transforms that start threads: those that enter the nest compute as the thread that took it, those
// that do not are refused.
#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "ricci/primitive/pool.h"
#include "support/chain.h"
#include "support/expect_error.h"
#include "support/threads.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Runs f on a thread that enters the nest.
Transform inside_another_thread() {
  return {"on another thread", 0, [](Elementwise f) {
            return [f](Tensor x) {
              const rc::Nest here = rc::current_nest();
              return on_another_thread([&] {
                const rc::Inside scope(here);
                return f(x);
              });
            };
          }};
}

/// The sum of f over two threads at once and this one, less what that is too much.
Transform inside_two_threads_at_once() {
  return {"on two threads at once", 0, [](Elementwise f) {
            return [f](Tensor x) {
              const rc::Nest here = rc::current_nest();
              const auto run = [&] {
                const rc::Inside scope(here);
                return f(x.clone());  // which a tape of f may watch
              };
              auto one = std::async(std::launch::async, run), two = std::async(std::launch::async, run);
              const Tensor own = run();
              return one.get() * 2 - two.get() * 2 + own;
            };
          }};
}

TEST(Nest, AThreadThatEntersItComputesWhatItsOwnerWould) {
  const Transform other = inside_another_thread(), two = inside_two_threads_at_once();
  for (const Formula& formula : all_formulas())
    for (const Transform& a : all_transforms())
      for (const Transform& b : all_transforms()) {
        expect_chain({&a, &b, &other}, formula, ramp({2}));
        expect_chain({&a, &other, &b}, formula, ramp({2}));
        expect_chain({&a, &two, &b, &other}, formula, ramp({2}));
      }
}

TEST(Nest, AThreadThatDoesNotEnterItIsRefusedByEveryTransform) {
  const auto f = [](Tensor x) { return on_another_thread([&] { return x * x; }); };
  for (const Transform& transform : all_transforms()) {
    SCOPED_TRACE(transform.name);
    EXPECT_THROW(transform.apply(f)(ramp({2})), rc::TransformError);
    EXPECT_FALSE(rc::inside_transform());
  }
}

TEST(Nest, IsEnteredAgainInsideItself) {
  const auto f = [](Tensor x) {
    const rc::Nest outer = rc::current_nest();
    const auto inner = [&](Tensor y) {
      const rc::Nest here = rc::current_nest();
      return on_another_thread([&] {
        const rc::Inside whole(here), again(here), part(outer);
        const rc::Nest nested = rc::current_nest();
        return on_another_thread([&] {
          const rc::Inside first(outer), rest(nested);
          return x * x * y;
        });
      });
    };
    return rc::grad(inner)(x) * x;  // x^3
  };
  expect_values(rc::grad(f)(number(2)), {12});
}

TEST(Nest, IsItsOwnThreadsAsWell) {
  const auto f = [](Tensor x) {
    const rc::Nest here = rc::current_nest();
    return std::async(std::launch::deferred,
                      [&] {
                        const rc::Inside scope(here);
                        return x * x;
                      })
        .get();
  };
  expect_values(rc::grad(f)(number(3)), {6});
}

TEST(Nest, OfNoTransformsIsEnteredEverywhere) {
  const rc::Nest nowhere = rc::current_nest();
  const auto f = [&](Tensor x) {
    const rc::Inside scope(nowhere);
    return x * x;
  };
  expect_values(rc::grad(f)(number(3)), {6});
}

TEST(Nest, ManyThreadsRecordOnOneTape) {
  const Tensor w = ramp({4});
  const auto loss = [&](Tensor w) {
    const rc::Nest here = rc::current_nest();
    std::vector<std::future<Tensor>> parts;
    for (int i = 1; i <= 4; ++i)
      parts.push_back(std::async(std::launch::async, [&, i] {
        const rc::Inside scope(here);
        Tensor y = w;
        for (int step = 0; step < 200; ++step) y = sin(y) + w * 0.01;
        return (y * i).sum();
      }));
    Tensor sum = rc::zeros({}, rc::float64);
    for (auto& part : parts) sum = sum + part.get();
    return sum;
  };
  const auto alone = [](Tensor w) {
    Tensor y = w;
    for (int step = 0; step < 200; ++step) y = sin(y) + w * 0.01;
    return (y * 10).sum();
  };
  const Tensor expected = rc::grad(alone)(w);
  expect_close(rc::grad(loss)(w), expected);
  auto [value, f_jvp] = rc::linearize(loss, w);
  expect_close(f_jvp(rc::ones_like(w)), expected.sum());
  rc::Tape tape;
  tape.watch(w);
  const Tensor taped = loss(w);
  expect_close(tape.gradient(taped, w), expected);
}

TEST(Nest, NoGradGoesWithIt) {
  const auto f = [](Tensor x) {
    Tensor constant;
    {
      const rc::no_grad guard;
      const rc::Nest here = rc::current_nest();
      constant = on_another_thread([&] {
        const rc::Inside scope(here);
        return x * x;
      });
    }
    return constant * x;
  };
  expect_values(rc::grad(f)(number(3)), {9});
}

TEST(Nest, NoGradGoesWithItOnItsOwnThreadAsWell) {
  const auto f = [](Tensor x) {
    const rc::Nest without = [] {
      const rc::no_grad guard;
      return rc::current_nest();
    }();
    const auto square = [&] {
      const rc::Inside scope(without);
      return x * x;
    };
    return square() * x;
  };
  expect_values(rc::grad(f)(number(3)), {9});
  const auto g = [](Tensor x) {
    const rc::Nest here = rc::current_nest();
    const rc::no_grad guard;
    const rc::Inside scope(here);
    return x * x;
  };
  expect_values(rc::grad(g)(number(3)), {6});
}

TEST(Nest, TakenFurtherOutLeavesNoGradOfWhatRunsInsideItOn) {
  const auto f = [](Tensor x) {
    const rc::Nest outer = rc::current_nest();
    const auto inner = [&](Tensor y) {
      const rc::no_grad guard;
      const rc::Inside scope(outer);
      return y * y;
    };
    return rc::grad([&](Tensor y) { return inner(y) * y; })(x);
  };
  expect_values(f(number(3)), {9});
}

TEST(Nest, TheSearchForNaNGoesWithIt) {
  const auto roots = [](Tensor x) { return sqrt(x).sum(); };
  const auto elsewhere = [&](Tensor x) {
    const rc::Nest here = rc::current_nest();
    return on_another_thread([&] {
      const rc::Inside scope(here);
      return rc::grad(roots)(x).sum();
    });
  };
  const rc::detect_anomaly guard;
  EXPECT_THROW(rc::grad(elsewhere)(doubles({-1})), rc::ValueError);
}

TEST(Nest, TheDefaultDTypeOfAScopeGoesWithIt) {
  const rc::Nest doubles_here = [] {
    const rc::DefaultDType scope(rc::float64);
    return rc::current_nest();
  }();
  const auto dtype_inside = [&] {
    const rc::Inside scope(doubles_here);
    return rc::zeros({2}).dtype();
  };
  EXPECT_EQ(dtype_inside(), rc::float64);
  EXPECT_EQ(on_another_thread(dtype_inside), rc::float64);
  EXPECT_EQ(rc::zeros({2}).dtype(), rc::float32);
}

TEST(Nest, TakenOutsideAScopeOfADefaultDTypeLeavesThatOfTheThread) {
  const rc::Nest here = rc::current_nest();
  const rc::DefaultDType scope(rc::float64);
  {
    const rc::Inside inside(here);
    EXPECT_EQ(rc::zeros({2}).dtype(), rc::float32);
  }
  EXPECT_EQ(rc::zeros({2}).dtype(), rc::float64);
}

TEST(Nest, WhatALinearizedFunctionReturnsIsReadWhenItsThreadsAreDone) {
  const auto f = [](Tensor x) {
    const rc::Nest here = rc::current_nest();
    const Tensor twice = x * 2, first = twice[0];
    const Tensor cubes = on_another_thread([&] {
      const rc::Inside scope(here);
      return x * x * x;
    });
    twice.mul_(cubes);  // its view is brought up to date when it is returned
    return first;
  };
  auto [y, f_jvp] = rc::linearize(f, doubles({2, 3}));
  expect_values(y, {32});
  expect_values(f_jvp(doubles({1, 5})), {64});  // 8 x^3
}

TEST(Nest, ARuleOfASharedTapeMayStartAThreadThatRecordsOnIt) {
  const Tensor w = number(3);
  rc::Tape tape;
  tape.watch(w);
  const rc::Nest here = rc::current_nest();
  Tensor recorded;
  const auto square = rc::custom_vjp([](Tensor x) { return x * x; }, [](Tensor x) { return std::pair{x * x, x}; },
                                     [&](Tensor x, Tensor ct) {
                                       on_another_thread([&] {
                                         const rc::Inside scope(here);
                                         recorded = w * w * w;
                                       });
                                       return 2 * x * ct;
                                     });
  const Tensor y = square(w);
  expect_values(tape.gradient(y, w), {6});
  expect_values(tape.gradient(recorded, w), {27});
}

TEST(Nest, BranchesAndLoopsPartOnTheThreadThatRunsThem) {
  const auto f = [](Tensor x) {
    const rc::Nest here = rc::current_nest();
    return on_another_thread([&] {
      const rc::Inside scope(here);
      return rc::while_loop([](Tensor y) { return y < 10; }, [](Tensor y) { return y * 2; }, x);
    });
  };
  expect_values(rc::vmap(f)(doubles({1, 3, 20})), {16, 12, 20});
  expect_values(rc::vmap(rc::grad(f))(doubles({1, 3, 20})), {16, 4, 1});
  expect_values(rc::vmap(f, {.chunk_size = 1})(doubles({1, 3, 20})), {16, 12, 20});
}

TEST(Nest, AnExceptionLeavesBothStacksAsTheyWere) {
  bool left = false;
  const auto f = [&](Tensor x) {
    const rc::Nest here = rc::current_nest();
    Tensor y = on_another_thread([&] {
      try {
        const rc::Inside scope(here);
        matmul(x, x);
      } catch (const rc::ValueError&) { left = !rc::inside_transform(); }
      const rc::Inside scope(here);
      return x * x;
    });
    EXPECT_TRUE(left);
    EXPECT_THROW(on_another_thread([&] {
                   const rc::Inside scope(here);
                   throw std::runtime_error("by the user");
                   return x;
                 }),
                 std::runtime_error);
    return y;
  };
  expect_values(rc::grad(f)(number(3)), {6});
  expect_values(rc::vmap(f)(doubles({3, 4})), {9, 16});
  EXPECT_FALSE(rc::inside_transform());
}

TEST(Nest, WhatATapeOfAnotherThreadMadeIsAValueOnceThatHasEnded) {
  const Tensor loss = on_another_thread([] {
    const Tensor x = number(3);
    rc::Tape tape;
    tape.watch(x);
    return x * x;
  });
  EXPECT_EQ(loss.item<double>(), 9);
  expect_values(rc::grad([&](Tensor x) { return x * loss; })(number(2)), {9});
}

TEST(Nest, ATapeDestroyedOnAnotherThreadTakesNoRoomOnItsOwn) {
  const auto square = [](Tensor x) { return x * x; };
  const auto give_up = [](int count) {
    std::vector<std::unique_ptr<rc::Tape>> tapes;
    for (int i = 0; i < count; ++i) tapes.push_back(std::make_unique<rc::Tape>());
    on_another_thread([&] { tapes.clear(); });
  };
  for (int i = 0; i < 20; ++i) give_up(100);
  expect_values(rc::grad(square)(number(3)), {6});
  give_up(999);
  expect_values(rc::grad(square)(number(3)), {6});
  const auto among_others = [&](Tensor x) {  // between transforms that run on
    give_up(10);
    return rc::grad(square)(x) * x;
  };
  expect_values(rc::grad(among_others)(number(3)), {12});
  give_up(990);
  expect_values(rc::grad(among_others)(number(3)), {12});
  expect_values(rc::vmap(rc::grad(among_others))(ramp({2})), values(ramp({2}) * 4));
}

/// x * x, on a tape that another thread has destroyed.
Tensor square_on_a_tape_given_up(const Tensor& x) {
  auto tape = std::make_unique<rc::Tape>();
  tape->watch(x);
  const Tensor y = x * x;
  on_another_thread([&] { tape.reset(); });
  return y;
}

TEST(Nest, TheThreadOfATapeThatAnotherDestroyedMayWriteAgain) {
  const Tensor old = doubles({1, 2});
  square_on_a_tape_given_up(number(3));
  EXPECT_FALSE(rc::inside_transform());
  old.add_(1);
  expect_values(old, {2, 3});
  square_on_a_tape_given_up(number(3));
  { const rc::Tape another; }
  old.add_(1);
  expect_values(old, {3, 4});
}

TEST(Nest, ATapeThatAnotherThreadDestroyedRecordsNoMore) {
  Tensor y = square_on_a_tape_given_up(number(3));
  const std::size_t before = rc::pool::bytes_in_use();
  for (int i = 0; i < 1000; ++i) y = y + 1;
  EXPECT_LE(rc::pool::bytes_in_use(), before);
  EXPECT_EQ(y.item<double>(), 1009);
}

TEST(Nest, ATapeThatAnotherThreadDestroyedIsNoPartOfANest) {
  const auto f = [](Tensor x) {
    const Tensor y = square_on_a_tape_given_up(x);
    const rc::Nest here = rc::current_nest();
    return on_another_thread([&] {
      const rc::Inside scope(here);
      return x * y;
    });
  };
  expect_values(rc::grad(f)(number(3)), {27});
  expect_values(f(number(3)), {27});
}

TEST(Nest, TapesAreDestroyedOnAnotherThreadWhileTheirOwnWorksOn) {
  std::mutex mutex;
  std::vector<std::unique_ptr<rc::Tape>> handed;
  std::atomic<bool> done = false;
  auto other = std::async(std::launch::async, [&] {
    while (!done) {
      std::vector<std::unique_ptr<rc::Tape>> taken;
      const std::lock_guard lock(mutex);
      taken.swap(handed);
    }
  });
  const auto hand_over = [&](int i) {
    auto tape = std::make_unique<rc::Tape>();
    tape->watch(number(i));
    const std::lock_guard lock(mutex);
    handed.push_back(std::move(tape));
  };
  const auto square = [](Tensor x) { return x * x; };
  const auto with_tape_inside = [&](Tensor x) {  // which ends with the transform, or is destroyed at the same time
    hand_over(1);
    return x * x;
  };
  for (int i = 0; i < 300; ++i) {
    hand_over(i);
    expect_values(rc::grad(square)(number(i)), {2.0 * i});
    expect_values(rc::grad(with_tape_inside)(number(i)), {2.0 * i});
  }
  done = true;
  other.get();
  handed.clear();
  EXPECT_FALSE(rc::inside_transform());
  const Tensor old = number(1);
  old.add_(1);
  expect_values(old, {2});
}

TEST(Nest, ATapeIsDestroyedInARuleOfATransformInsideIt) {
  std::unique_ptr<rc::Tape> tape;
  const auto cube = rc::custom_vjp([](Tensor x) { return x * x * x; },
                                   [&](Tensor x) {
                                     tape.reset();
                                     return std::pair{x * x * x, x};
                                   },
                                   [](Tensor x, Tensor ct) { return 3 * x * x * ct; });
  const auto f = [&](Tensor x) {
    const Tensor y = cube(x);
    Tensor sum = rc::zeros({}, rc::float64);
    sum.add_(y * rc::rand({}, rc::float64).mul_(0).add_(1));
    return sum;
  };
  for (int i = 0; i < 3; ++i) {
    tape = std::make_unique<rc::Tape>();
    expect_values(rc::grad(f)(number(2)), {12});
    EXPECT_FALSE(rc::inside_transform());
  }
  expect_values(rc::grad(f)(number(2)), {12});
}

}  // namespace
