// What few lanes do not tell: a kernel is found by two and by three lanes, and holds for any number of them.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/sparse.h>

#include <functional>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(const Tensor&)>;

/// Compiled, the function gives what it gives, at several sizes of x and of all its numbers.
void expect_same_compiled(const Function& f, std::initializer_list<std::int64_t> sizes) {
  const auto sum = [f](const Tensor& x) { return f(x).sum(); };
  const auto fast = rc::compile(f);
  const auto gradient = rc::compile(rc::grad(sum));
  for (const std::int64_t n : sizes) {
    SCOPED_TRACE(n);
    const Tensor x = 1 + rc::arange(n).to(rc::float64) / 8, ones = rc::ones({n}, rc::float64);
    for (const Tensor& of : {x, ones}) {
      expect_close(fast(of), f(of), 1e-14);
      expect_close(gradient(of), rc::grad(sum)(of), 1e-14);
    }
  }
}

TEST(FewLanes, DoNotTellWhatStandsBehindASlicedMargin) {
  const Tensor margin = rc::ones({6}, rc::float64), places = rc::tensor({3, 2, 1, 0, 1, 2});
  const auto f = [=](const Tensor& x) {
    const Tensor e = rc::cat({margin, x * x}, 0), d = rc::cat({margin, x + x}, 0);
    const rc::Size m = x.shape()[0] + 6;
    const Tensor front = (d.slice(0, 0, m - 3) * e.slice(0, 3, m)).slice(0, 6, m - 3);
    const Tensor back = (d.slice(0, 3, m) * e.slice(0, 0, m - 3)).slice(0, 3, m - 4);
    return rc::cat({front, back}, 0).index_select(0, places);
  };
  expect_same_compiled(f, {8, 9, 12, 16});
}
TEST(FewLanes, DoNotTellWhatStandsInFrontOfAMargin) {
  expect_same_compiled(
      [](const Tensor& x) {
        return rc::cat({x * 2, rc::ones({6}, rc::float64)}, 0).slice(0, 3, 8) * 2;
      },
      {12, 13, 40});
}
TEST(FewLanes, DoNotTellWhatIsTakenOfANumberOfElements) {
  const auto f = [](const Tensor& x) {
    const Tensor e = rc::pad(x * x, {3, 0}), d = rc::pad(x + x, {3, 0});
    const Tensor u = cos(e.slice(0, 2, 10) - e.slice(0, 0, 8));
    return rc::cat({(d.slice(0, 2, 10) * u).slice(0, 1, 8).sort().first, (d.slice(0, 0, 8) * u).slice(0, 3, 8)}, 0);
  };
  expect_same_compiled(f, {7});
}
TEST(FewLanes, DoNotTellWhereAPartOfRepeatedValuesBegins) {
  const auto f = [](const Tensor& x) {
    const rc::Size n = x.shape()[0];
    return (rc::cat({x, x, x, x}, 0) * 2).slice(0, 6, n + 6) + x;
  };
  expect_same_compiled(f, {12, 13, 40});
}
TEST(FewLanes, DoNotTellWhatAFlattenedMatrixHasFromItsSecondRowOn) {
  const auto f = [](const Tensor& x) {
    Tensor y = rc::pad(x, {1, 1});
    y = y * y.roll(2, 0) + 0.5;
    y = y * y.roll(1, 0);
    const Tensor m = y.unsqueeze(1) * rc::tensor({1., 2., 3.}, rc::float64);
    return m.flatten().slice(0, 3, m.numel(), 3);
  };
  for (const std::int64_t n : {17, 23, 40, 100}) {
    const Tensor x = rc::ones({n}, rc::float64);
    expect_close(rc::compile(rc::jacrev(f))(x), rc::jacrev(f)(x), 1e-14);
  }
}
TEST(FewLanes, DoNotTellTheNonzerosOfPaddedValues) {
  const auto neighbours = [](const Tensor& x) {
    const Tensor y = rc::pad(x * x, {3, 1});
    return rc::square(y.slice(0, 2, 10) - y.slice(0, 0, 8)).sum();
  };
  const auto shifted = [](const Tensor& x) {
    const Tensor y = rc::pad(x * x, {6, 1});
    return y.slice(0, 0, 10) * y.slice(0, 3, 13);
  };
  const auto added = [](const Tensor& x) {
    const Tensor y = rc::pad(x, {3, 2});
    return rc::cumsum(y * y.roll(2, 0), 0);
  };
  const Tensor x = rc::ones({6}, rc::float64);
  const rc::Coloring stars = rc::color(rc::hessian_sparsity(neighbours, x), {.mode = rc::ColorMode::star});
  expect_close(rc::compile(rc::hessian(neighbours, stars))(x).to_dense(), rc::hessian(neighbours)(x), 1e-14);
  const auto expect_jacobian = [&](const auto& f) {
    const rc::Coloring colors = rc::color(rc::jacobian_sparsity(f, x), {.mode = rc::ColorMode::columns});
    expect_close(rc::compile(rc::jacobian(f, colors))(x).to_dense(), rc::jacfwd(f)(x), 1e-14);
  };
  expect_jacobian(shifted);
  expect_jacobian(added);
}

}  // namespace
