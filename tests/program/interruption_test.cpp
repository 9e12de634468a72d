// A check from outside ends a loop between two of its steps.
#include "ricci/interruption.h"

#include <gtest/gtest.h>

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

}  // namespace
