// Transforms on eight threads at once: each thread nests its own, shares tensors and functions with the others, and
// gets the answers of one thread alone.
#include <atomic>
#include <stdexcept>
#include <thread>

#include "support/chain.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr int thread_count = 8;

/// Runs `work(i)` on every thread at once. GoogleTest's checks are safe on threads here (pthreads).
template <class Work>
void on_threads(const Work& work) {
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < thread_count) std::this_thread::yield();
      try {
        work(i);
      } catch (const std::exception& error) { ADD_FAILURE() << "thread " << i << ": " << error.what(); }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, NestThreeTransformsEachOnTheirOwn) {
  const std::vector<Transform> six = six_transforms();
  const std::vector<Formula> formulas = all_formulas();
  on_threads([&](int i) {
    const Formula& formula = formulas[static_cast<std::size_t>(i) % formulas.size()];
    for (const Transform& a : six) {
      for (const Transform& b : six) {
        for (const Transform& c : six) expect_chain({&a, &b, &c}, formula, ramp({2, 2}));
      }
    }
  });
}

struct Doubled : rc::Function<Doubled> {
  static Tensor forward(const Tensor& x) { return x * 2; }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Threads, RunOneProgramThatHoldsAFunction) {
  const rc::Program program = rc::trace([](const Tensor& x) { return Doubled::apply(x) + 1; })(ramp({3}));
  on_threads([&](int i) {
    for (int k = 0; k < 20; ++k) {
      const Tensor x = ramp({3}) * i;
      expect_values(program({x})[0], values(x * 2 + 1));
    }
  });
}

TEST(Threads, NestFourTransformsOnASharedTensor) {
  const std::vector<Transform> six = six_transforms();
  const std::vector<Formula> formulas = all_formulas();
  const Tensor shared = ramp({2});
  on_threads([&](int i) {
    const Formula& formula = formulas[static_cast<std::size_t>(i) % formulas.size()];
    const Transform& a = six[static_cast<std::size_t>(i) % six.size()];
    for (const Transform& b : six) {
      for (const Transform& c : six) {
        for (const Transform& d : six) expect_chain({&a, &b, &c, &d}, formula, shared);
      }
    }
  });
}

TEST(Threads, ShareATransformedFunctionAndItsCapturedTensor) {
  const Tensor weight = ramp({3});
  const auto gradient = rc::vmap(rc::grad([&](Tensor x) { return (sin(x) * weight).sum(); }));
  const Tensor x = ramp({4, 3});
  const Tensor expected = cos(x) * weight;
  on_threads([&](int) {
    for (int round = 0; round < 200; ++round) expect_close(gradient(x), expected);
  });
}

TEST(Threads, ShareAPullback) {
  const Tensor x = ramp({3});
  auto [y, pullback] = rc::vjp([](Tensor a) { return sin(a) * a; }, x);
  const Tensor slope = cos(x) * x + sin(x);
  on_threads([&, &pull = pullback](int i) {
    const Tensor ct = rc::ones_like(x) * i;
    for (int round = 0; round < 200; ++round) expect_close(pull(ct), slope * i);
  });
}

TEST(Threads, HaveTheirOwnTransformStack) {
  std::atomic<int> wrong = 0;
  const auto f = [&](Tensor x) {
    std::thread([&] {
      if (rc::inside_transform()) ++wrong;
    }).join();
    return x * 2;
  };
  rc::vmap(f)(ramp({3}));
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, ErrorsOnOneThreadDisturbNoOther) {
  on_threads([&](int i) {
    for (int round = 0; round < 50; ++round) {
      if (i % 2 == 0) {
        EXPECT_THROW(rc::vmap(rc::grad([](Tensor x) { return matmul(x, x); }))(ramp({3, 2, 3})), rc::ValueError);
        EXPECT_FALSE(rc::inside_transform());
      } else {
        expect_close(rc::vmap(rc::grad([](Tensor x) { return (x * x).sum(); }))(ramp({3, 2})), ramp({3, 2}) * 2);
      }
    }
  });
}

TEST(Threads, NoGradOnOneThreadIsNotSeenOnAnother) {
  const auto f = [](Tensor x) {
    rc::no_grad guard;
    Tensor gradient;
    std::thread([&] { gradient = rc::grad([](Tensor a) { return a * a; })(number(3)); }).join();
    return x * gradient;
  };
  expect_values(f(number(2)), {12});
}

TEST(Threads, ReadAViewThatIsOutOfDate) {
  for (int round = 0; round < 200; ++round) {
    const Tensor base = doubles({1, 2, 3, 4}, {2, 2});
    const Tensor row = base[1], element = row[0];
    base.mul_(2);
    on_threads([&](int) {
      expect_values(element, {6});
      expect_values(row * 1, {6, 8});
    });
  }
}

}  // namespace
