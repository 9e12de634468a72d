// Views of views of views: as many as a program makes, each in the time of one.
#include <chrono>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor chain(const Tensor& base, int length) {
  Tensor x = base;
  for (int i = 0; i < length; ++i) x = x.view({i % 2 ? 6 : 2, -1});
  return x;
}

double seconds_for(int length) {
  const auto start = std::chrono::steady_clock::now();
  chain(rc::zeros({6}), length);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Twenty times the views take about twenty times the time; walking to the base each time would take 400 times.
TEST(ViewChain, TakesTimeInProportionToItsLength) {
  double short_chain = 1, long_chain = 1;
  for (int attempt = 0; attempt < 3; ++attempt) {
    short_chain = std::min(short_chain, seconds_for(1000));
    long_chain = std::min(long_chain, seconds_for(20000));
  }
  EXPECT_LT(long_chain, 100 * short_chain);
}

TEST(ViewChain, MayBeLongerThanTheStackIsDeep) {
  const Tensor base = rc::zeros({6}), last = chain(base, 300000);
  base.add_(1);
  expect_values(last, Values(6, 1));
}

}  // namespace
