// Methods of Tensor that stand for the free function of the same name.
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(Methods, RearrangeAndInvert) {
  const Tensor x = ramp({2, 3}), a = doubles({2, 0, 0, 4}, {2, 2});
  expect_equal(x.flip(1), rc::flip(x, 1));
  expect_equal(x.roll(1), rc::roll(x, 1));
  expect_equal(x.roll(1, 1), rc::roll(x, 1, 1));
  expect_equal(x.repeat({2, 1}), rc::repeat(x, {2, 1}));
  expect_equal(x.tile({2}), rc::tile(x, {2}));
  expect_values(a.inverse(), {0.5, 0, 0, 0.25});
  expect_equal(rc::inv(a), a.inverse());
}

}  // namespace
