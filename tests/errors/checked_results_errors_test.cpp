// A compiled function that is checked, whose plan gives other numbers than the function.
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "ricci/primitive.h"
#include "ricci/primitive/element_rules.h"
#include "support/expect_error.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Twice x, and three times x in compiled code, for lack of care.
struct Doubled {
  using kind = rc::Linear;
  static constexpr const char* name = "doubled";

  rc::Type type(const rc::Type& x) const { return x; }  // of float64
  void eval(rc::Outputs out, rc::Inputs in) const {
    std::int64_t count = 1;
    for (int axis = 0; axis < in[0].rank; ++axis) count *= in[0].shape[axis];
    for (std::int64_t i = 0; i < count; ++i)
      static_cast<double*>(out[0].data)[i] = 2 * static_cast<const double*>(in[0].data)[i];
  }
  Tensor transpose(const Tensor& ct, const rc::Type&) const { return rc::apply(Doubled{}, ct); }
  Doubled lifted() const { return {}; }
  template <class T>
  rc::Elements<T> on_elements(const rc::Elements<T>& x) const {
    rc::Elements<T> y = x;
    for (T& element : y.of) element = element * T(3);
    return y;
  }
};
Tensor doubled(const Tensor& x) { return rc::apply(Doubled{}, x.contiguous()); }

std::string text(const std::string& element, const std::string& difference) {
  return "compile: element " + element + "; the function gives " + difference +
         ". Look at the operation's on_elements where it is yours, else report it; RICCI_COMPILE_WITHOUT=lanes runs "
         "the "
         "function without machine code{at}";
}

class CheckedResultsErrors : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "built without a compiler";
  }
  const Tensor x = rc::stack({rc::ones({20}, rc::float64), rc::full({20}, 3., rc::float64)}, 1);
};

TEST_F(CheckedResultsErrors, NameTheResultAndItsElement) {
  const auto f = [](const Tensor& row) { return std::pair(row + 1, doubled(row * 2) * 0.5); };
  const auto fast = rc::compile(rc::vmap(f), {.check = true});
  expect_error<rc::TransformError>([&] { fast(x); },
                                   text("(0,1) of result [1], f64[20,2], is 9",
                                        "6. It is the largest difference, 3; rounding explains 1.0658141e-12"));
  const auto alone = rc::compile([](const Tensor& row) { return doubled(row * 2) * 0.5; }, {.check = true});
  expect_error<rc::TransformError>([&] { alone(rc::tensor({2., -5., 1.}, rc::float64)); },
                                   text("(1) of the result, f64[3], is -15",
                                        "-10. It is the largest difference, 5; rounding explains 1.77635684e-12"));
}

TEST_F(CheckedResultsErrors, NameAnElementBesideOneThatIsNotANumberOrFarLarger) {
  for (const double large : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, 1e13}) {
    const auto f = [large](const Tensor& row) {
      return where(rc::tensor({true, false}), row * large, doubled(row * 2) * 0.5);
    };
    const auto fast = rc::compile(rc::vmap(f), {.check = true});
    EXPECT_THROW(fast(x), rc::TransformError) << large;
  }
}

TEST_F(CheckedResultsErrors, NameWhatIsWrittenToAnArgument) {
  const auto f = [](const Tensor& sum, Tensor y) {
    y.copy_(doubled(y * 2));
    return sum + 1;
  };
  const auto fast = rc::compile(f, {.check = true});
  Tensor y = rc::tensor({1., 2., 4.}, rc::float64);
  expect_error<rc::TransformError>([&] { fast(rc::zeros({3}, rc::float64), y); },
                                   text("(2) of what is written to argument 1, f64[3], is 24",
                                        "16. It is the largest difference, 8; rounding explains 1.42108547e-12"));
  expect_equal(y, rc::tensor({1., 2., 4.}, rc::float64));
}

TEST_F(CheckedResultsErrors, SayThatTransformsMadeTheProgram) {
  const auto fast = rc::compile([](const Tensor& row) { return (doubled(sin(row)) * row).sum(); }, {.check = true});
  EXPECT_THROW(rc::grad(fast)(rc::ones({3}, rc::float64)), rc::TransformError);
  EXPECT_THROW(rc::jvp(fast, rc::ones({3}, rc::float64), rc::ones({3}, rc::float64)), rc::TransformError);
  const auto rows = rc::compile([](const Tensor& row) { return doubled(row * 2) * 0.5; }, {.check = true});
  expect_error<rc::TransformError>([&] { rc::vmap(rows)(x); },
                                   text("(0,1) of result 0 of a program that transforms made, f64[20,2], is 9",
                                        "6. It is the largest difference, 3; rounding explains 1.0658141e-12") +
                                       "\n  inside vmap over axis 0 of 20{at}");
}

}  // namespace
