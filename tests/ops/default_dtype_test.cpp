// The default dtype: what is made of it, and that rules and recorded programs do not depend on it.
#include <gtest/gtest.h>

#include <complex>
#include <thread>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(DefaultDType, IsFloat32) {
  EXPECT_EQ(rc::default_dtype(), rc::float32);
  EXPECT_EQ(rc::zeros({2}).dtype(), rc::float32);
}

TEST(DefaultDType, IsThatOfFactoriesAndNumbers) {
  const rc::DefaultDType scope(rc::float64);
  for (const Tensor& x :
       {rc::zeros({2}), rc::ones(2, 3), rc::empty({1}), rc::full({2}, 0.1), rc::eye(2), rc::eye(2, 3),
        rc::arange(0.5, 3), rc::linspace(0, 1, 3), rc::tensor(0.1), rc::tensor({0.1, 2}), rc::tensor({}), rc::rand({2}),
        rc::randn({2}), rc::normal(0.0, 1.0), rc::uniform(rc::Key(0), {2}), rc::zeros({1}).new_ones({2})})
    EXPECT_EQ(x.dtype(), rc::float64) << x;
  EXPECT_EQ(rc::tensor(std::complex<double>(0, 1)).dtype(), rc::complex128);
  EXPECT_EQ(rc::tensor(0.1).item(), 0.1);
}

TEST(DefaultDType, IsWhatIntegersBecomeWhereverTheResultIsWritten) {
  const rc::DefaultDType scope(rc::float16);
  const Tensor out = rc::zeros({1}, rc::float32);
  rc::div_out(out, rc::tensor({1}), rc::tensor({3}));
  EXPECT_EQ(out.item<float>(), (rc::tensor({1}) / rc::tensor({3})).item<float>());
  EXPECT_NE(out.item<float>(), 1.0F / 3);
}

TEST(DefaultDType, LeavesIntegersAndWhatHasADTypeAlone) {
  const rc::DefaultDType scope(rc::float64);
  EXPECT_EQ(rc::tensor({1, 2}).dtype(), rc::int64);
  EXPECT_EQ(rc::arange(3).dtype(), rc::int64);
  EXPECT_EQ(rc::full({2}, 3).dtype(), rc::int64);
  EXPECT_EQ(rc::tensor(std::vector<float>{1}).dtype(), rc::float32);
  EXPECT_EQ((rc::zeros({2}, rc::float32) + 0.5).dtype(), rc::float32);
  EXPECT_EQ((rc::zeros({2}, rc::float32) * rc::arange(2)).dtype(), rc::float32);
}

TEST(DefaultDType, IsWhatIntegersBecome) {
  const rc::DefaultDType scope(rc::float64);
  const Tensor three = rc::full({1}, 3);
  EXPECT_EQ((three / 7).dtype(), rc::float64);
  EXPECT_EQ((three / 7).item(), 3.0 / 7);
  EXPECT_EQ(sin(three).item(), std::sin(3.0));
  EXPECT_EQ((three * 0.1).item(), 3 * 0.1);
  EXPECT_EQ((three + std::complex<double>(0, 0.1)).dtype(), rc::complex128);
  EXPECT_EQ((three + 1).dtype(), rc::int64);
  EXPECT_EQ(where(three > 2, three, 0.5).dtype(), rc::float64);
  EXPECT_EQ(rc::vmap([](Tensor x) { return x / 7; })(rc::arange(3)).dtype(), rc::float64);
}

TEST(DefaultDType, IsWrittenIntoWhatIsRecordedUnderIt) {
  const auto f = [](Tensor x) { return x / 7 + rc::ones({1}); };
  const Tensor x = rc::full({1}, 3);
  const rc::Program program = [&] {
    const rc::DefaultDType scope(rc::float64);
    return rc::trace(f)(x);
  }();
  check(program);
  EXPECT_EQ(program({x})[0].dtype(), rc::float64);
  EXPECT_EQ(program({x})[0].item(), 3.0 / 7 + 1);
  const rc::Program single = rc::trace(f)(x);
  const rc::DefaultDType scope(rc::float64);
  check(single);
  EXPECT_EQ(single({x})[0].dtype(), rc::float32);
}

TEST(DefaultDType, OfAScopeIsItsThreadsAlone) {
  const rc::DefaultDType outer(rc::float64);
  {
    const rc::DefaultDType inner(rc::float16);
    EXPECT_EQ(rc::default_dtype(), rc::float16);
    std::thread([] { EXPECT_EQ(rc::default_dtype(), rc::float32); }).join();
  }
  EXPECT_EQ(rc::default_dtype(), rc::float64);
}

TEST(DefaultDType, MayBeSetForAllThreads) {
  rc::set_default_dtype(rc::float64);
  std::thread([] { EXPECT_EQ(rc::zeros({1}).dtype(), rc::float64); }).join();
  {
    const rc::DefaultDType scope(rc::float32);
    EXPECT_EQ(rc::zeros({1}).dtype(), rc::float32);
  }
  rc::set_default_dtype(rc::float32);
  EXPECT_EQ(rc::zeros({1}).dtype(), rc::float32);
}

TEST(DefaultDType, IsFloating) {
  expect_error<rc::TypeError>([] { rc::set_default_dtype(rc::int64); },
                              "set_default_dtype: i64 is not floating; pass rc::float32, rc::float64, rc::float16 or "
                              "rc::bfloat16");
  expect_error<rc::TypeError>([] { rc::DefaultDType scope(rc::complex64); },
                              "DefaultDType: c64 is not floating; pass rc::float32, rc::float64, rc::float16 or "
                              "rc::bfloat16");
  EXPECT_EQ(rc::default_dtype(), rc::float32);
}

}  // namespace
