// Tensors as text: values and types, the nest inside transforms, and what has left its transform.
#include <complex>
#include <sstream>

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
