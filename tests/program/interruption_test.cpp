// A check from outside ends a loop between two of its steps, planning, and long work on several threads.
#include "ricci/interruption.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "ricci/primitive/parallel.h"
#include "ricci/ricci.h"

namespace rc = ricci;

namespace {

struct Ended {};

int asked = 0;
void end_at_the_hundredth() {
  if (++asked == 100) throw Ended();
}

TEST(Interruption, EndsALoopBetweenItsSteps) {
  const auto endless = [](rc::Tensor x) {
    return rc::while_loop([](rc::Tensor s) { return s < 9; }, [](rc::Tensor s) { return cos(s); }, x);
  };
  const rc::Program program = rc::trace(endless)(rc::tensor(1.));
  auto compiled = rc::compile(endless);
  compiled(rc::tensor(10.));
  rc::set_interruption(end_at_the_hundredth);
  asked = 0;
  EXPECT_THROW(program(std::vector<rc::Tensor>{rc::tensor(1.)}), Ended);
  asked = 0;
  EXPECT_THROW(compiled(rc::tensor(1.)), Ended);
  rc::set_interruption(nullptr);
  EXPECT_EQ(compiled(rc::tensor(10.)).item(), 10);
}

TEST(Interruption, EndsThePlanningOfALargeProgram) {
  const auto large = [](rc::Tensor x) {
    for (int i = 0; i < 200; ++i) x = sin(x);
    return x;
  };
  auto compiled = rc::compile(large);
  rc::set_interruption(end_at_the_hundredth);
  asked = 0;
  EXPECT_THROW(compiled(rc::ones({3})), Ended);
  rc::set_interruption(nullptr);
  EXPECT_EQ(compiled.plans(), 0U);
  EXPECT_TRUE(rc::allclose(compiled(rc::ones({3})), large(rc::ones({3}))));
}

TEST(Interruption, EndsLongWorkBetweenItsPieces) {
  const int before = rc::kernels::thread_count();
  rc::kernels::set_thread_count(2);
  const auto work = [](std::int64_t, std::int64_t) { std::this_thread::sleep_for(std::chrono::microseconds(100)); };
  rc::set_interruption(end_at_the_hundredth);
  asked = 99;  // the worker may take most of the pieces
  EXPECT_THROW(rc::kernels::parallel_for({.size = 1000, .nanoseconds = 1e8}, work), Ended);
  rc::kernels::parallel_for({.size = 1000, .nanoseconds = 1000}, work);
  EXPECT_EQ(asked, 100) << "short work asks nobody";
  rc::set_interruption(nullptr);
  rc::kernels::set_thread_count(before);
}

}  // namespace
