// What a tensor says of itself, and its values on the host, outside and inside transforms.
#include <complex>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(Reading, OneElementConvertsToAnyNumber) {
  const Tensor x = rc::tensor(2.75);
  EXPECT_EQ(x.item(), 2.75);
  EXPECT_EQ(x.item<float>(), 2.75F);
  EXPECT_EQ(x.item<int>(), 2);
  EXPECT_EQ(x.item<unsigned>(), 2U);
  EXPECT_EQ(x.item<char>(), 2);
  EXPECT_EQ(x.item<bool>(), true);
  EXPECT_EQ(x.item<std::complex<double>>(), 2.75);
  EXPECT_EQ(static_cast<float>(x.item<rc::Half>()), 2.75F);
  EXPECT_EQ(rc::ones({1, 1}).item<long long>(), 1);
}

TEST(Reading, AComplexElementHasNoRealValue) {
  const Tensor x = rc::ones({}, rc::complex64);
  EXPECT_EQ(x.item<std::complex<float>>(), std::complex<float>(1));
  expect_error<rc::TypeError>([&] { x.item<double>(); },
                              "item: c64[] is complex; ask for std::complex<double>, or take real() of it first");
}

TEST(Reading, VectorsAreRowMajorWhateverTheLayout) {
  const Tensor x = rc::tensor({{1., 2., 3.}, {4., 5., 6.}});
  EXPECT_EQ(x.t().to_vector<int>(), (std::vector<int>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(x[0].expand({2, 3}).to_vector<double>(), (std::vector<double>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ((x > 2).to_vector<bool>(), (std::vector<bool>{false, false, true, true, true, true}));
  EXPECT_EQ(x.to_vector<unsigned short>(), (std::vector<unsigned short>{1, 2, 3, 4, 5, 6}));
}

TEST(Reading, DataIsTheElementsThemselves) {
  const Tensor x = rc::tensor({{1., 2., 3.}, {4., 5., 6.}});
  EXPECT_EQ(x.data<float>()[4], 5);
  EXPECT_EQ(x[1].data<float>(), x.data<float>() + 3);
  expect_error<rc::TypeError>(
      [&] { x.data<double>(); },
      "data: f32[2,3] was asked for as f64; ask for its own element type, or convert it first with to()");
  expect_error<rc::ValueError>([&] { x.t().data<float>(); },
                               "data: f32[3,2] is not contiguous; call contiguous() first");
}

TEST(Reading, ATensorSaysWhatItIs) {
  const Tensor x = rc::zeros({2, 3, 4}, rc::int16);
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.dim(), 3);
  EXPECT_EQ(x.numel(), 24);
  EXPECT_TRUE(x.strides() == (rc::Strides{12, 4, 1}));
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_FALSE(x.transpose(0, 1).is_contiguous());
  EXPECT_TRUE(x.transpose(0, 1).contiguous().is_contiguous());
  EXPECT_TRUE(x.contiguous().is_same(x));
}

TEST(Reading, AnAxisOutOfRangeIsAnError) {
  expect_error<rc::IndexError>([] { rc::zeros({2, 3}).size(2); },
                               "size: axis 2 is out of range: f32[2,3] has 2 axes; the legal range is [-2, 1]");
  expect_error<rc::IndexError>([] { rc::zeros({}).size(0); }, "size: axis 0 is out of range: f32[] has no axes");
}

TEST(Reading, SeesThePrimalUnderDifferentiation) {
  double seen = 0;
  const auto f = [&](Tensor x) {
    seen = x.item();
    return x > 1 ? x * x : x;
  };
  EXPECT_EQ(rc::grad(rc::grad(f))(rc::tensor(3.0)).item(), 2);
  EXPECT_EQ(seen, 3);
}

TEST(Reading, SeesUnbatchedValuesInsideVmap) {
  const Tensor scale = rc::tensor(2.0);
  const Tensor y = rc::vmap([&](Tensor x) { return x * scale.item(); })(rc::tensor({1., 2.}));
  expect_values(y, {2, 4});
}

TEST(Reading, InsideVmapATensorIsOneExample) {
  rc::vmap([](Tensor x) {
    EXPECT_EQ(sizes(x), (Sizes{3}));
    EXPECT_EQ(x.dim(), 1);
    EXPECT_EQ(x.numel(), 3);
    EXPECT_TRUE(x.is_contiguous());
    EXPECT_TRUE(x.strides() == rc::Strides{1});
    return x;
  })(rc::ones({2, 3}));
}

TEST(Truth, IsThatOfTheOneElement) {
  EXPECT_TRUE(static_cast<bool>(rc::tensor(0.5)));
  EXPECT_FALSE(static_cast<bool>(rc::tensor(0)));
  EXPECT_TRUE(static_cast<bool>(rc::zeros({}) + std::complex<double>(0, 1)));
}

TEST(IndexedTensors, TakeCompoundAssignments) {
  const Tensor x = rc::zeros({3}, rc::float64), places = rc::tensor(std::vector<std::int64_t>{0, 2});
  x[places] += 2;
  x[places] *= 3;
  expect_values(x, {6, 0, 6});
}

/// What a view says of its layout, and whether `contiguous` of it is the view itself.
void expect_a_transpose(const Tensor& x) {
  EXPECT_FALSE(x.is_contiguous());
  EXPECT_TRUE(x.strides() == (rc::Strides{1, 3}));
  const Tensor copy = x.contiguous();
  EXPECT_FALSE(copy.is_same(x));
  EXPECT_TRUE(copy.is_contiguous());
  EXPECT_TRUE(copy.contiguous().is_same(copy));
  EXPECT_TRUE(x.t().is_contiguous());
}

TEST(Reading, ATensorLiesInsideATransformAsOutside) {
  const auto look = [](Tensor x) {
    expect_a_transpose(x.t());
    return x.sum();
  };
  const auto look_at_argument = [](Tensor x) {
    expect_a_transpose(x);
    x.add_(1);
    expect_a_transpose(x);
    return x.sum();
  };
  const Tensor x = ramp({2, 3}), xs = ramp({4, 2, 3});
  look(x);
  look_at_argument(x.t());
  const auto under_transforms = [](const auto& f, const Tensor& one, const Tensor& all) {
    rc::vmap(f)(all);
    rc::grad(f)(one);
    rc::vmap(rc::grad(f))(all);
    rc::hessian(f)(one);
    rc::jvp(f, one, one * 1);
    rc::linearize(f, one);
    rc::trace(f)(one);
    rc::trace(rc::vmap(f))(all);
  };
  under_transforms(look, x, xs);
  under_transforms(look_at_argument, x.t(), xs.mT());
}

TEST(Reading, WhatContiguousGivesHasItsElementsInOrderInMemory) {
  const auto look = [](Tensor x) {
    EXPECT_EQ(x.t().contiguous().detach().data<double>()[1], x[1][0].item<double>());
    EXPECT_EQ(x.select(1, 0).contiguous().detach().data<double>()[1], x[1][0].item<double>());
    return x.sum();
  };
  const Tensor x = ramp({2, 3});
  rc::grad(look)(x);
  rc::jvp(look, x, x * 1);
  rc::Tape tape;
  tape.watch(x);
  look(x);
}

}  // namespace
