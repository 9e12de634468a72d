// Tensors from C++ values and from nothing: values, element types, sharing, and what factories are under transforms.
#include <array>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <span>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(FromBlob, WantsElementsAtMultiplesOfTheirSize) {
  alignas(8) char bytes[64] = {};
  const std::string no_multiple = "from_blob: the address of the elements is no multiple of the ",
                    remedy = "; copy them to memory that begins at one";
  expect_error<rc::ValueError>([&] { rc::from_blob(bytes + 2, {3}, rc::float32); },
                               no_multiple + "4 bytes of f32" + remedy);
  expect_error<rc::ValueError>([&] { rc::from_blob(bytes + 4, {3}, rc::complex128); },
                               no_multiple + "8 bytes of c128's parts" + remedy);
  expect_error<rc::ValueError>([] { rc::from_blob(static_cast<void*>(nullptr), {3}, rc::float32); },
                               "from_blob: the address is null; pass that of f32[3]");
  EXPECT_EQ(rc::from_blob(static_cast<void*>(nullptr), {0}, rc::float32).numel(), 0);
  expect_values(rc::from_blob(bytes + 4, {3}, rc::float32), {0, 0, 0});
  expect_values(rc::from_blob(bytes + 1, {3}, rc::int8), {0, 0, 0});
  expect_values(real(rc::from_blob(bytes + 4, {3}, rc::complex64)), {0, 0, 0});
}

TEST(Braces, GiveFloatsIfAnyNumberHasAPoint) {
  EXPECT_EQ(rc::tensor({1., 2.}).dtype(), rc::float32);
  EXPECT_EQ(rc::tensor({1, 2}).dtype(), rc::int64);
  EXPECT_EQ(rc::tensor({1, 2.5}).dtype(), rc::float32);
  EXPECT_EQ(rc::tensor({true, false}).dtype(), rc::boolean);
  EXPECT_EQ(rc::tensor({true, false, 3}).dtype(), rc::int64);
  EXPECT_EQ(rc::tensor({1, 2}, rc::float64).dtype(), rc::float64);
}

TEST(Braces, NestToAnyDepth) {
  const Tensor x = rc::tensor({{{1., 2.}, {3., 4.}, {5., 6.}}});
  EXPECT_EQ(sizes(x), (Sizes{1, 3, 2}));
  expect_values(x, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(sizes(rc::tensor({{1}})), (Sizes{1, 1}));
}

TEST(Braces, MayBeEmpty) {
  EXPECT_EQ(sizes(rc::tensor({})), Sizes{0});
  EXPECT_EQ(rc::tensor({}).dtype(), rc::float32);
}

TEST(Braces, KeepLargeIntegersExactly) {
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  EXPECT_EQ(rc::tensor({large})[0].item<std::int64_t>(), large);
}

TEST(Braces, ThatMixNumbersAndListsAreRefused) {
  expect_error<rc::ValueError>([] { rc::tensor({{1., 2.}, 3.}); },
                               "tensor: the braces are ragged: a list of 2 and a number stand at axis 1");
}

TEST(Number, BecomesATensorOfItsKind) {
  EXPECT_EQ(rc::tensor(1.5).dtype(), rc::float32);
  EXPECT_EQ(rc::tensor(2).dtype(), rc::int64);
  EXPECT_EQ(rc::tensor(true).dtype(), rc::boolean);
  EXPECT_EQ(rc::tensor(2, rc::float64).dtype(), rc::float64);
  EXPECT_EQ(rc::tensor(2).dim(), 0);
}

TEST(Number, DoesNotRaiseTheTypeOfWhatItMeets) {
  EXPECT_EQ((rc::ones({3}) * 2.5).dtype(), rc::float32);
  EXPECT_EQ((rc::ones({3}, rc::int64) * 2.5).dtype(), rc::float32);
  EXPECT_EQ((rc::ones({3}, rc::float16) * 2).dtype(), rc::float16);
  EXPECT_EQ((rc::ones({3}) * std::complex<double>(0, 1)).dtype(), rc::complex64);
  EXPECT_EQ((rc::ones({3}, rc::float64) * std::complex<float>(0, 1)).dtype(), rc::complex128);
}

template <class T>
void expect_copied(const std::vector<T>& elements) {
  const Tensor x = rc::tensor(elements);
  EXPECT_EQ(x.dtype(), rc::dtype_of<T>);
  EXPECT_EQ(x.to_vector<T>(), elements);
}

TEST(Container, KeepsItsElementType) {
  expect_copied(std::vector<bool>{true, false, true});
  expect_copied(std::vector<std::uint8_t>{0, 255});
  expect_copied(std::vector<std::int8_t>{-128, 127});
  expect_copied(std::vector<std::int16_t>{-5, 300});
  expect_copied(std::vector<std::int32_t>{-5, 1 << 30});
  expect_copied(std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
  expect_copied(std::vector<float>{0.1F, -3});
  expect_copied(std::vector<double>{0.1, -3});
  expect_copied(std::vector<std::complex<float>>{{1, 2}});
  expect_copied(std::vector<std::complex<double>>{{1, 2}, {3, -4}});
  EXPECT_EQ(rc::tensor(std::vector<rc::Half>{1.5F}).dtype(), rc::float16);
  EXPECT_EQ(rc::tensor(std::vector<rc::BFloat16>{1.5F}).item(), 1.5);
  EXPECT_EQ(rc::tensor(std::vector<int>{1, 2}, rc::float64).dtype(), rc::float64);
}

TEST(Lists, MayBeWithinListsOfAnyKind) {
  expect_equal(rc::tensor(std::array<double, 2>{1, 2}), doubles({1, 2}));
  expect_equal(rc::tensor(std::vector<std::vector<double>>{{1, 2}, {3, 4}}), doubles({1, 2, 3, 4}, {2, 2}));
  expect_equal(rc::tensor(std::vector<std::array<std::vector<double>, 1>>{{{{1, 2}}}, {{{3, 4}}}}),
               doubles({1, 2, 3, 4}, {2, 1, 2}));
  const std::vector<double> numbers = {1, 2, 3};
  expect_equal(rc::tensor(std::span(numbers).subspan(1)), doubles({2, 3}));
  expect_equal(rc::tensor(std::deque<double>{1, 2}), doubles({1, 2}));
  const Tensor truths = rc::tensor(std::vector<std::vector<bool>>{{true}, {false}});
  EXPECT_EQ(truths.dtype(), rc::boolean);
  expect_values(truths, {1, 0});
  expect_values(rc::tensor(std::array<bool, 2>{false, true}), {0, 1});
  EXPECT_EQ(rc::tensor(std::vector<std::array<float, 2>>{{1, 2}}, rc::int32).dtype(), rc::int32);
  EXPECT_EQ(sizes(rc::tensor(std::vector<std::vector<double>>{})), Sizes{0});
  EXPECT_EQ(sizes(rc::tensor(std::vector<std::vector<double>>(2))), (Sizes{2, 0}));
}

TEST(Lists, OfDifferentLengthsSideBySideAreRefused) {
  expect_error<rc::ValueError>([] { rc::tensor(std::vector<std::vector<double>>{{1, 2}, {3}}); },
                               "tensor: the lists are ragged: a list of 2 and a list of 1 stand at axis 1");
}

TEST(Blob, SharesTheElementsWithoutACopy) {
  float elements[] = {1, 2, 3, 4, 5, 6};
  const Tensor x = rc::from_blob(elements, {2, 3}, rc::float32);
  EXPECT_EQ(x.data<float>(), elements);
  elements[0] = 7;
  expect_values(x, {7, 2, 3, 4, 5, 6});
  x.add_(1);
  EXPECT_EQ(elements[5], 7);
}

TEST(Blob, OfConstantElementsIsNeverWrittenTo) {
  const float elements[] = {1, 2, 3};
  const Tensor x = rc::from_blob(elements, {3}, rc::float32);
  EXPECT_EQ(x.data<float>(), elements);
  x.add_(1);
  expect_values(x, {2, 3, 4});
  EXPECT_EQ(elements[0], 1);
}

int freed = 0;

TEST(Blob, IsFreedWhenTheLastViewIsGone) {
  freed = 0;
  auto* elements = new float[2]{1, 2};
  Tensor view;
  {
    const Tensor x = rc::from_blob(elements, {2}, rc::float32, [](void* data) {
      ++freed;
      delete[] static_cast<float*>(data);
    });
    view = x[1];
  }
  EXPECT_EQ(freed, 0);
  EXPECT_EQ(view.item(), 2);
  view = Tensor();
  EXPECT_EQ(freed, 1);
}

TEST(Factory, FillsWithOneValue) {
  expect_values(rc::zeros(2, 3), Values(6, 0));
  const Tensor with_dtype[] = {rc::zeros(2, 3, rc::float64), rc::ones(2, 3, rc::float64), rc::empty(2, 3, rc::float64),
                               rc::rand(2, 3, rc::float64), rc::randn(2, 3, rc::float64)};
  for (const Tensor& x : with_dtype) {
    EXPECT_EQ(x.dtype(), rc::float64);
    EXPECT_EQ(x.shape(), (rc::Shape{2, 3}));
  }
  expect_values(rc::ones(rc::Size(2), rc::int64), {1, 1});
  expect_values(rc::ones({2}, rc::int16), {1, 1});
  expect_values(rc::full({3}, 2.5), Values(3, 2.5));
  EXPECT_EQ(rc::full({3}, 2.5).dtype(), rc::float32);
  EXPECT_EQ(rc::full({3}, 2).dtype(), rc::int64);
  EXPECT_EQ(rc::full({3}, true).dtype(), rc::boolean);
  EXPECT_EQ(rc::full({3}, std::complex<double>(0, 1)).dtype(), rc::complex64);
  EXPECT_EQ(rc::full({}, rc::tensor(2.0, rc::float64)).dtype(), rc::float64);
  expect_values(rc::full({2}, 0.5, rc::boolean), {1, 1});
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  EXPECT_EQ(rc::full({1}, large).item<std::int64_t>(), large);
  EXPECT_EQ(sizes(rc::zeros({2, 0, 3})), (Sizes{2, 0, 3}));
}

TEST(Factory, TakesTheTypeOfAnotherTensor) {
  const Tensor x = rc::ones({2, 3}, rc::float16);
  rc::Generator g(1);
  for (const Tensor& y : {rc::zeros_like(x), rc::ones_like(x), rc::empty_like(x), rc::full_like(x, 3),
                          rc::zeros_like(x, {.generator = g}), rc::ones_like(x, {.generator = g}),
                          rc::empty_like(x, {.generator = g}), rc::full_like(x, 3, {.generator = g})}) {
    EXPECT_EQ(y.dtype(), rc::float16);
    EXPECT_EQ(sizes(y), (Sizes{2, 3}));
  }
  EXPECT_EQ(x.new_zeros({4}).dtype(), rc::float16);
  EXPECT_EQ(x.new_full({4}, 2).dtype(), rc::float16);
  expect_values(x.new_ones({2}), {1, 1});
}

TEST(Factory, MadeInsideVmapTakesAValuePerExample) {
  const Tensor rows = rc::vmap([](Tensor x) { return Tensor(rc::zeros({3}).copy_(x)); })(rc::tensor({1., 2.}));
  expect_values(rows, {1, 1, 1, 2, 2, 2});
}

TEST(Eye, ComesInRowsToo) {
  expect_values(rc::eye_rows(1, 2, 3, rc::float32), {0, 1, 0, 0, 0, 1});
  expect_values(rc::eye_rows(2, 2, 3, rc::float32), {0, 0, 1, 0, 0, 0});
  expect_values(rc::eye_rows(-1, 2, 2, rc::float32), {0, 0, 1, 0});
  expect_values(rc::eye_rows(7, 1, 2, rc::float32), {0, 0});
}

TEST(Arange, CountsIntegersInIntegers) {
  EXPECT_EQ(rc::arange(3).dtype(), rc::int64);
  expect_values(rc::arange(3), {0, 1, 2});
  expect_values(rc::arange(2, 9, 3), {2, 5, 8});
  expect_values(rc::arange(3, 0, -2), {3, 1});
  expect_values(rc::arange(0), {});
  expect_values(rc::arange(3, rc::float16), {0, 1, 2});
}

TEST(Arange, StopsBeforeTheEnd) {
  EXPECT_EQ(rc::arange(1.5).dtype(), rc::float32);
  expect_values(rc::arange(0., 1., 0.25), {0, 0.25, 0.5, 0.75});
  expect_values(rc::arange(0, 1, 0.4, rc::float64), {0, 0.4, 0.8});
}

TEST(Arange, RefusesStepsThatLeadAway) {
  expect_error<rc::ValueError>([] { rc::arange(0, 3, 0); }, "arange: step is 0; it must not be");
  expect_error<rc::ValueError>([] { rc::arange(-3); },
                               "arange: from 0 to -3 by 1 leads away from the end; change the sign of the step");
  for (const std::int64_t step : {std::int64_t{-10}, INT64_MIN})
    EXPECT_THROW(rc::arange(0, 5, step), rc::ValueError) << step;
  EXPECT_THROW(rc::arange(0, 0.5, -10), rc::ValueError);
}

TEST(Arange, CannotHaveASizePerExample) {
  expect_error<rc::TransformError>(
      [] { rc::vmap([](Tensor n) { return rc::arange(n); })(rc::tensor({1, 2})); },
      "arange: the size of the result depends on the values of i64[], which differ per example of vmap over axis 0 of "
      "2{at}; "
      "use where, nonzero with .size, .out_dims = rc::ragged, or .lanes = rc::Lanes::split\n"
      "  inside vmap over axis 0 of 2{at}");
}

TEST(Linspace, IncludesBothEnds) {
  expect_values(rc::linspace(0, 1, 5), {0, 0.25, 0.5, 0.75, 1});
  expect_values(rc::linspace(2, -2, 3, rc::float64), {2, 0, -2});
  expect_values(rc::linspace(3, 9, 1), {3});
  expect_values(rc::linspace(3, 9, 0), {});
  EXPECT_EQ(rc::linspace(0, 0.1, 7, rc::float64)[6].item(), 0.1);
}

TEST(Linspace, IsDifferentiableInItsEnds) {
  const Tensor slope = rc::grad([](Tensor end) { return rc::linspace(0, end, 3).sum(); })(rc::tensor(2.0));
  EXPECT_NEAR(slope.item(), 1.5, 1e-6);
}

TEST(Blob, CallsADeleterWithCapturesOnceWithTheLastUser) {
  std::vector<float> elements = {1, 2, 3};
  std::vector<void*> ended;
  auto owned = std::make_unique<int>(7);  // the deleter need not be copyable
  {
    Tensor view;
    {
      const Tensor lent =
          rc::from_blob(elements.data(), {3}, rc::float32, [&ended, owned = std::move(owned)](void* data) {
            if (*owned == 7) ended.push_back(data);
          });
      view = lent[1];
    }
    EXPECT_TRUE(ended.empty());
    EXPECT_EQ(view.item(), 2);
  }
  EXPECT_EQ(ended, std::vector<void*>{elements.data()});
}

TEST(Blob, CallsNoDeleterForAShapeItRefuses) {
  float element = 0;
  bool ended = false;
  EXPECT_THROW(rc::from_blob(&element, {-1}, rc::float32, [&ended](void*) { ended = true; }), rc::ValueError);
  EXPECT_FALSE(ended);
}

TEST(Braces, TakeComplexNumbers) {
  const std::complex<double> z(1, -2);
  const Tensor one = rc::tensor(z), list = rc::tensor({{z, 3.}, {4, std::complex<float>(0, 5)}});
  EXPECT_EQ(one.dtype(), rc::complex64);
  EXPECT_EQ(one.item<std::complex<double>>(), z);
  EXPECT_EQ(rc::tensor(z, rc::complex128).dtype(), rc::complex128);
  EXPECT_EQ(list.dtype(), rc::complex64);
  expect_values(rc::real(list), {1, 3, 4, 0});
  expect_values(rc::imag(list), {-2, 0, 0, 5});
}

TEST(Factories, TakeADtypeAloneOrInBraces) {
  for (const Tensor& t :
       {rc::arange(3, {.dtype = rc::float64}), rc::arange(0, 3, {.dtype = rc::float64}),
        rc::eye(2, {.dtype = rc::float64}), rc::linspace(0, 1, 3, {.dtype = rc::float64}),
        rc::zeros_like(rc::ones({2}), rc::float64), rc::ones_like(rc::ones({2}), {.dtype = rc::float64}),
        rc::full_like(rc::ones({2}), 3, rc::float64), rc::randint(0, 5, {2}, rc::float64),
        rc::randint(5, {2}, rc::float64), rc::randperm(3, rc::float64)})
    EXPECT_EQ(t.dtype(), rc::float64);
}

/// Tensors for bounds are computed with as numbers are: in the precision of the result.
TEST(Linspace, OfTensorsIsComputedInThePrecisionOfTheResult) {
  const Tensor start = rc::tensor(0.1, rc::float64), end = rc::tensor(0.7, rc::float64);
  for (const rc::DType dtype : {rc::float32, rc::complex64})
    expect_close(rc::linspace(start, end, 7, dtype), rc::linspace(0.1, 0.7, 7, dtype), 2e-7);
  for (const rc::DType dtype : {rc::float64, rc::complex128})
    expect_close(rc::linspace(start, end, 7, dtype), rc::linspace(0.1, 0.7, 7, dtype), 4e-16);
  const Tensor thirds = rc::linspace(rc::tensor(0.f), rc::tensor(1.f), 4, rc::complex128);
  EXPECT_EQ(numbers(thirds)[1].real(), 1. / 3);
}

}  // namespace
