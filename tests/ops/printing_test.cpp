// Tensors as text: values and types, the nest inside transforms, and what has left its transform.
#include <iomanip>
#include <sstream>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

std::string text(const Tensor& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

TEST(PrintedTensor, ShowsValuesThenType) {
  EXPECT_EQ(text(rc::tensor({{1., 2.}, {3., 4.}})), "[[1, 2],\n [3, 4]] f32[2,2]");
  EXPECT_EQ(text(rc::tensor(0.5)), "0.5 f32[]");
  EXPECT_EQ(text(rc::tensor({true, false})), "[ true, false] bool[2]");
  EXPECT_EQ(text(rc::zeros({2, 0})), "[[],\n []] f32[2,0]");
  EXPECT_EQ(text(rc::zeros({0})), "[] f32[0]");
}

TEST(PrintedTensor, OfVeryManyEmptyRowsIsShortened) {
  EXPECT_LT(text(rc::zeros({0}).reshape({INT64_MAX, 0})).size(), 100U);
  EXPECT_LT(text(rc::zeros({100000000, 0})).size(), 100U);
  EXPECT_EQ(text(rc::zeros({2, 0})), "[[],\n []] f32[2,0]");
}

TEST(PrintedTensor, AlignsItsElements) {
  EXPECT_EQ(text(rc::tensor({1., -0.25, 1. / 3})), "[       1,    -0.25, 0.333333] f32[3]");
  EXPECT_EQ(text(rc::tensor({1, 100})), "[  1, 100] i64[2]");
}

TEST(PrintedTensor, SeparatesMatrices) {
  EXPECT_EQ(text(rc::arange(4).reshape({2, 1, 2})), "[[[0, 1]],\n\n [[2, 3]]] i64[2,1,2]");
}

TEST(PrintedTensor, ShowsComplexNumbersAndHalves) {
  EXPECT_EQ(text(rc::ones({1}) * std::complex<double>(1.5, -2)), "[1.5-2i] c64[1]");
  EXPECT_EQ(text(rc::full({1}, 1. / 3, rc::float16)), "[0.3333] f16[1]");
}

TEST(PrintedTensor, IsCutWhereItIsLong) {
  EXPECT_EQ(text(rc::arange(1001)), "[   0,    1,    2, ...,  998,  999, 1000] i64[1001]");
  EXPECT_EQ(text(rc::arange(1000)).substr(0, 20), "[  0,   1,   2,   3,");
  EXPECT_EQ(text(rc::zeros({501, 2})), "[[0, 0],\n [0, 0],\n [0, 0],\n ...,\n [0, 0],\n [0, 0],\n [0, 0]] f32[501,2]");
}

TEST(PrintedTensor, FollowsTheStream) {
  const Tensor x = rc::tensor({1. / 3, -20.}), half = rc::full({1}, 1. / 3, rc::float16);
  std::ostringstream out;
  out << std::setprecision(3) << x << " " << half << " " << rc::ones({1}) * std::complex<double>(1. / 3, 1) << "\n"
      << std::fixed << x << " " << half << "\n"
      << std::scientific << std::showpos << x << rc::tensor({1}) << std::setprecision(12) << std::defaultfloat << half;
  EXPECT_EQ(out.str(),
            "[0.333,   -20] f32[2] [0.333] f16[1] [0.333+1i] c64[1]\n"
            "[  0.333, -20.000] f32[2] [0.333] f16[1]\n"
            "[+3.333e-01, -2.000e+01] f32[2][+1] i64[1][+0.333251953125] f16[1]");
  out << std::setprecision(6) << std::noshowpos;
  EXPECT_EQ(text(rc::full({1}, 1e300, rc::float64)), "[1e+300] f64[1]");
  std::ostringstream long_one;
  long_one << std::fixed << std::setprecision(0) << rc::full({}, 1e300, rc::float64);
  EXPECT_EQ(long_one.str().size(), 301 + std::string(" f64[]").size());
}

/// Print options for a while.
struct PrintedWith {
  rc::PrintOptions before;
  explicit PrintedWith(rc::PrintOptions options) : before(rc::set_print_options(options)) {}
  ~PrintedWith() { rc::set_print_options(before); }
};

TEST(PrintedTensor, FollowsThePrintOptions) {
  const Tensor x = rc::tensor({1. / 3, 2.});
  {
    const PrintedWith options({.precision = 2, .threshold = 5, .edge_items = 1});
    EXPECT_EQ(text(x), "[0.33,    2] f32[2]");
    EXPECT_EQ(text(rc::arange(6)), "[0, ..., 5] i64[6]");
    EXPECT_EQ(text(rc::arange(5)), "[0, 1, 2, 3, 4] i64[5]");
    std::ostringstream out;
    out << std::setprecision(4) << x;
    EXPECT_EQ(out.str(), "[0.3333,      2] f32[2]");
  }
  {
    const PrintedWith options({.threshold = 2, .edge_items = 0});
    EXPECT_EQ(text(rc::zeros({3, 2})), "[...] f32[3,2]");
  }
  {
    const PrintedWith options({.precision = 10});
    EXPECT_EQ(text(rc::full({1}, 1. / 3, rc::float64)), "[0.3333333333] f64[1]");
    EXPECT_EQ(text(rc::full({1}, 1. / 3, rc::float16)), "[0.3333] f16[1]");
  }
  EXPECT_EQ(text(x), "[0.333333,        2] f32[2]");
  expect_error<rc::ValueError>([] { rc::set_print_options({.precision = -1}); },
                               "set_print_options: precision is -1; it must be 0 or more");
}

TEST(PrintedTensor, IsAStringToo) {
  EXPECT_EQ(rc::to_string(rc::tensor({{1., 2.}})), "[[1, 2]] f32[1,2]");
  EXPECT_EQ(rc::to_string(Tensor()), "undefined");
  EXPECT_EQ(to_string(rc::tensor(1)), "1 i64[]");
}

TEST(PrintedDtype, IsNamedAsInPrograms) {
  std::ostringstream out;
  out << rc::ones({1}).dtype() << " " << rc::boolean << " " << rc::bfloat16 << " " << rc::complex128;
  EXPECT_EQ(out.str(), "float32 boolean bfloat16 complex128");
  EXPECT_EQ(rc::to_string(rc::uint8), "uint8");
}

TEST(PrintedTensor, MayBeUndefined) { EXPECT_EQ(text(Tensor()), "undefined"); }

/// ` (file:line)` taken out.
std::string without_place(std::string text) {
  const std::size_t start = text.find(" (printing_test.cpp:");
  return start == std::string::npos ? text : text.erase(start, text.find(')', start) + 1 - start);
}

TEST(PrintedTensor, ShowsTheBatchInsideVmap) {
  std::string seen;
  rc::vmap([&](Tensor x) {
    seen = text(x);
    return x;
  })(rc::tensor({{1., 2.}, {3., 4.}}));
  const std::size_t column = seen.find("[[");
  EXPECT_EQ(seen.substr(column), "[[1, 2],\n" + std::string(column + 1, ' ') + "[3, 4]] f32[2,2]}");
  EXPECT_EQ(without_place(seen.substr(0, column)), "Batched{vmap over axis 0 of 2, f32[2], ");
}

TEST(PrintedTensor, ShowsPrimalAndTangentInsideJvp) {
  std::string seen;
  rc::jvp(
      [&](Tensor x) {
        seen = text(x * x);
        return x;
      },
      rc::tensor(3.0), rc::tensor(1.0));
  EXPECT_EQ(seen, "Dual{primal 9 f32[],\n     tangent 6 f32[]}");
}

TEST(PrintedTensor, ShowsTheTapeInsideGrad) {
  std::string seen;
  rc::grad([&](Tensor x) {
    seen = text(x);
    return x * x;
  })(rc::tensor(3.0));
  EXPECT_EQ(seen, "Taped{3 f32[]}");
}

TEST(PrintedTensor, ShowsTheWholeNest) {
  std::string seen;
  rc::vmap(rc::grad([&](Tensor x) {
    seen = text(x);
    return x * x;
  }))(rc::tensor({3., 4.}));
  EXPECT_EQ(without_place(seen), "Taped{Batched{vmap over axis 0 of 2, f32[], [3, 4] f32[2]}}");
}

TEST(PrintedTensor, SaysThatItIsStaleAndDoesNotThrow) {
  Tensor escaped, view;
  rc::vmap([&](Tensor x) {
    escaped = x * 2;
    view = escaped[0];
    return x;
  })(rc::ones({4, 3}));
  EXPECT_EQ(text(escaped).substr(0, 42), "stale{f32[3], left vmap over axis 0 of 4 (");
  EXPECT_EQ(text(view).substr(0, 5), "stale");
}

TEST(PrintedTensor, ThatHasLeftADerivativeIsAPlainValue) {
  Tensor escaped;
  rc::grad([&](Tensor x) {
    escaped = x * 2;
    return x;
  })(rc::tensor(3.0));
  EXPECT_EQ(text(escaped), "6 f32[]");
}

}  // namespace
