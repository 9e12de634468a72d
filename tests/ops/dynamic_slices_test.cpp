// dynamic_slice and dynamic_update_slice: parts of known sizes at computed places, which are clamped.
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor place(std::int64_t i) { return rc::tensor(i); }
/// [3,4]: 0, 1, …
Tensor table() { return rc::arange(12).to(rc::float64).reshape({3, 4}); }

TEST(DynamicSlice, IsThePartThatBeginsAtThePlaces) {
  const Tensor x = table();
  expect_values(dynamic_slice(x, {place(1), place(2)}, {2, 2}), {6, 7, 10, 11});
  expect_values(dynamic_slice(x, {place(1), 0}, {1, 4}), {4, 5, 6, 7});
  expect_values(dynamic_slice(x, {0, place(3)}, {3, 1}), {3, 7, 11});
  expect_values(dynamic_slice(number(3), {}, {}), {3});
  EXPECT_EQ(dynamic_slice(x, {0, place(3)}, {3, 0}).shape(), rc::Shape({3, 0}));
}

TEST(DynamicSlice, KeepsItsAxesInOrderWhereThoseBetweenAreWhole) {
  const Tensor x = rc::arange(24).reshape({2, 3, 4});
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t k = 0; k < 3; ++k)
      expect_equal(dynamic_slice(x, {place(i), 0, place(k)}, {1, 3, 2}), x.narrow(0, i, 1).narrow(2, k, 2));
  expect_equal(dynamic_slice(x, {0, place(1), place(2)}, {2, 2, 1}), x.narrow(1, 1, 2).narrow(2, 2, 1));
}

TEST(DynamicSlice, ClampsItsPlacesAndCountsNegativeOnesFromTheBack) {
  const Tensor x = doubles({0, 1, 2, 3, 4});
  const auto part = [&](std::int64_t i) { return dynamic_slice(x, {place(i)}, {2}); };
  expect_values(part(3), {3, 4});
  expect_values(part(4), {3, 4});
  expect_values(part(100), {3, 4});
  expect_values(part(-2), {3, 4});
  expect_values(part(-1), {3, 4});
  expect_values(part(-4), {1, 2});
  expect_values(part(-100), {0, 1});
  expect_values(dynamic_update_slice(x, doubles({8, 9}), {place(-100)}), {8, 9, 2, 3, 4});
  expect_values(dynamic_slice(x, {rc::tensor(std::int8_t{3})}, {2}), {3, 4});
}

TEST(DynamicUpdateSlice, IsTheTensorWithThePartInItsPlace) {
  const Tensor x = table();
  expect_values(dynamic_update_slice(x, -rc::ones({2, 2}, rc::float64), {place(1), place(2)}),
                {0, 1, 2, 3, 4, 5, -1, -1, 8, 9, -1, -1});
  expect_values(dynamic_update_slice(x, -rc::ones({3, 1}, rc::float64), {0, place(1)}),
                {0, -1, 2, 3, 4, -1, 6, 7, 8, -1, 10, 11});
  expect_values(x, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  expect_values(dynamic_update_slice(doubles({1, 2}), rc::ones({2}), {place(1)}), {1, 1});
  EXPECT_EQ(dynamic_update_slice(doubles({1, 2}), rc::ones({2}), {place(1)}).dtype(), rc::float64);
}

TEST(DynamicSlice, WorksUnderEveryTransform) {
  const Tensor x = doubles({1, 2, 3, 4, 5}), places = rc::tensor({0, 3, 9});
  const auto loss = [](Tensor v, Tensor i) { return square(dynamic_slice(v, {i}, {2})).sum(); };
  const auto expected = [&](const auto& f) {
    expect_values(f(x, places), {2, 4, 0, 0, 0, 0, 0, 0, 8, 10, 0, 0, 0, 8, 10});
  };
  const auto gradients = rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0}});
  expected(gradients);
  expected(rc::compile(gradients));
  expected([&](Tensor v, Tensor i) { return rc::trace(gradients)(v, i)({v, i})[0]; });
  const auto put = [](Tensor v, Tensor u, Tensor i) { return dynamic_update_slice(v, u, {i}); };
  const Tensor u = doubles({7, 8});
  const auto all = rc::vmap(put, {.in_dims = {rc::none, rc::none, 0}});
  for (const Tensor& found : {all(x, u, places), rc::compile(all)(x, u, places)})
    expect_values(found, {7, 8, 3, 4, 5, 1, 2, 3, 7, 8, 1, 2, 3, 7, 8});
  const auto weighed = [&](Tensor v, Tensor w) { return (put(v, w, place(1)) * doubles({1, 2, 3, 4, 5})).sum(); };
  const auto [by_x, by_u] = rc::grad<0, 1>(weighed)(x, u);
  expect_values(by_x, {1, 0, 0, 4, 5});
  expect_values(by_u, {2, 3});
}

TEST(DynamicSlice, ServesAllSizesInAProgram) {
  const auto last_two = [](Tensor v, Tensor i) { return dynamic_slice(v, {i}, {2}); };
  const rc::Program program = rc::trace(last_two)(doubles({1, 2, 3}), place(0));
  expect_values(program({doubles({1, 2, 3, 4, 5, 6}), place(9)})[0], {5, 6});
}

TEST(DynamicUpdateSlice, RefusesToDropImaginaryPartsWhateverTheSizes) {
  const Tensor update = rc::zeros({2}, rc::complex64);
  for (std::int64_t size : {2, 3})
    expect_error<rc::TypeError>([&] { dynamic_update_slice(rc::ones({size}), update, {0}); },
                                "dynamic_update_slice: the source c64[2] does not convert to f32, which has no "
                                "imaginary parts; write real(source)");
}

TEST(DynamicSlice, SaysWhatDoesNotFit) {
  const Tensor x = table();
  expect_error<rc::ValueError>([&] { dynamic_slice(x, {0, 0}, {1, 5}); },
                               "dynamic_slice: a part of sizes [1,5] does not lie in x, which is f64[3,4]");
  expect_error<rc::ValueError>([&] { dynamic_update_slice(x, rc::ones({4, 1}), {0, 0}); },
                               "dynamic_update_slice: a part of sizes [4,1] does not lie in x, which is f64[3,4]");
  expect_error<rc::TypeError>([&] { dynamic_slice(x, {0.5, 0}, {1, 1}); },
                              "dynamic_slice: the place along axis 0 is f64[]; it must be an integer");
  expect_error<rc::TypeError>([&] { dynamic_slice(x, {rc::tensor(true), 0}, {1, 1}); },
                              "dynamic_slice: the place along axis 0 is bool[]; it must be an integer");
  expect_error<rc::ValueError>([&] { dynamic_slice(x, {0, rc::tensor({1, 2})}, {1, 1}); },
                               "dynamic_slice: the place along axis 1 is i64[2]; it must have no axes");
}

}  // namespace
