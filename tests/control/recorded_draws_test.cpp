// Draws in recorded control flow under vmap: each example has its own, also where nothing else tells examples apart.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "ricci/ricci.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

std::size_t different(const Tensor& numbers) {
  const auto all = numbers.to_vector<double>();
  return std::set<double>(all.begin(), all.end()).size();
}

/// Of four examples of a recorded vmap, f of a number that they have in common.
Tensor drawn(const std::function<Tensor(Tensor)>& f, double common, Randomness mode) {
  const auto all = [&](Tensor of_all) {
    return rc::vmap([&](Tensor x) { return x + f(of_all); }, {.randomness = mode})(rc::zeros({4}, rc::float64));
  };
  return rc::trace(all)(number(1))({number(common)})[0];
}

void expect_one_for_each(const std::function<Tensor(Tensor)>& f) {
  for (const double common : {1.0, -1.0}) {
    EXPECT_EQ(different(drawn(f, common, Randomness::different)), 4U);
    EXPECT_EQ(different(drawn(f, common, Randomness::same)), 1U);
  }
  EXPECT_THROW(drawn(f, 1, Randomness::error), rc::TransformError);
  const auto pairs = [&](Tensor common) {
    return rc::vmap([&](Tensor x) { return x + f(common); },
                    {.randomness = Randomness::different})(rc::zeros({3}, rc::float64));
  };
  EXPECT_EQ(different(drawn(pairs, 1, Randomness::different)), 12U);
}

Tensor number_drawn() { return rc::rand({}, rc::float64); }

TEST(RecordedDraws, OfAScan) {
  expect_one_for_each([](Tensor common) {
    const auto step = [](Tensor c, Tensor) { return std::pair{c + number_drawn(), c}; };
    return rc::scan(step, common, doubles({1, 2, 3})).first;
  });
}

TEST(RecordedDraws, OfALoop) {
  expect_one_for_each([](Tensor common) {
    return rc::while_loop([](Tensor s) { return s < 2; }, [](Tensor s) { return s + 0.5 + number_drawn(); }, common);
  });
}

TEST(RecordedDraws, OfAConditional) {
  expect_one_for_each([](Tensor common) {
    return rc::cond(common > 0, [] { return number_drawn(); }, [] { return 1 + number_drawn(); });
  });
}

TEST(RecordedDraws, OfACheckpoint) {
  expect_one_for_each(rc::checkpoint([](Tensor common) { return common * number_drawn(); }));
}

TEST(RecordedDraws, OfALoopInALoop) {
  expect_one_for_each([](Tensor common) {
    const auto inner = [](Tensor, Tensor s) { return s + number_drawn(); };
    const auto outer = [&](Tensor, Tensor s) { return s + rc::fori_loop(0, 2, inner, common); };
    return rc::fori_loop(0, 3, outer, common);
  });
}

TEST(RecordedDraws, OfAScanInABranch) {
  expect_one_for_each([](Tensor common) {
    const auto step = [](Tensor c, Tensor) { return std::pair{c + number_drawn(), c}; };
    const auto sum = [&] { return rc::scan(step, common, doubles({1, 2, 3})).first; };
    return rc::cond(common > 0, sum, [&] { return common + number_drawn(); });
  });
}

TEST(RecordedDraws, OfAProgramThatIsRecordedAgain) {
  const auto step = [](Tensor c, Tensor) { return std::pair{c + number_drawn(), c}; };
  const rc::Program p =
      rc::trace([&](Tensor common) { return rc::scan(step, common, doubles({1, 2, 3})).first; })(number(1));
  expect_one_for_each([&](Tensor common) { return p({common})[0]; });
}

}  // namespace
