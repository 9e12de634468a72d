// The real and the imaginary part are views: what is written to them reaches the complex numbers, under transforms too.
#include "support/expect_tensor.h"

namespace rc = ricci;
using namespace testing_support;

namespace {

const std::complex<double> i(0, 1);

Tensor numbers() { return rc::tensor(std::vector<std::complex<double>>{1. + 2. * i, 3. + 4. * i}); }

TEST(PartsOfComplexNumbers, AreViewsThatAreWrittenThrough) {
  const Tensor z = numbers();
  rc::real(z).fill_(7);
  rc::imag(z)[1] = -1;
  EXPECT_EQ(z[0].item<std::complex<double>>(), 7. + 2. * i);
  EXPECT_EQ(z[1].item<std::complex<double>>(), 7. - 1. * i);
}

TEST(PartsOfComplexNumbers, CopyNothing) {
  const Tensor z = numbers();
  EXPECT_EQ(static_cast<const void*>(rc::real(z)[0].data<double>()), z.data<std::complex<double>>());
  const Tensor x = rc::ones({2});
  EXPECT_TRUE(rc::real(x).is_same(x));
}

TEST(PartsOfComplexNumbers, AreWrittenThroughForEachExample) {
  const auto doubled = [](Tensor z) {
    const Tensor w = z.clone();
    rc::real(w).mul_(2);
    return w;
  };
  const Tensor z = rc::stack({numbers(), numbers() * i});
  expect_close(rc::vmap(doubled)(z), rc::stack({doubled(z[0]), doubled(z[1])}));
}

TEST(PartsOfComplexNumbers, AreWrittenThroughUnderDifferentiation) {
  const auto f = [](Tensor x) {
    const Tensor z = rc::complex(x, x * x);
    rc::imag(z).mul_(x);
    return (rc::real(z) * rc::imag(z)).sum();  // x⁴
  };
  const Tensor x = rc::tensor({0.5, -2.});
  expect_close(rc::grad(f)(x), 4 * x * x * x);
  expect_close(rc::vmap(rc::grad(f))(rc::stack({x, x + 1})), 4 * rc::pow(rc::stack({x, x + 1}), 3));
  expect_close(rc::compile(rc::grad(f))(x), 4 * x * x * x);
}

}  // namespace
