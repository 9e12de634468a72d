// vmap_with_index tells a function the number of its example, whatever part of the examples runs.
#include <string>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const auto plus = [](Tensor i, Tensor x) { return x + 10 * i; };

TEST(VmapWithIndex, CountsFromZeroAlongTheMappedAxis) {
  expect_values(rc::vmap_with_index(plus)(doubles({1, 2, 3})), {1, 12, 23});
  expect_values(rc::vmap_with_index(plus, {.in_dims = -1})(rc::ones({2, 3}, rc::float64)).select(1, 0), {1, 11, 21});
  const auto number = [](Tensor i, Tensor) { return i; };
  EXPECT_EQ(rc::vmap_with_index(number)(doubles({7, 7})).dtype(), rc::int64);
  EXPECT_EQ(rc::vmap_with_index(number)(rc::ones({0})).numel(), 0);
}

TEST(VmapWithIndex, ChunksDoNotChangeTheNumbers) {
  for (const std::int64_t size : {1, 2, 5}) {
    SCOPED_TRACE(size);
    expect_values(rc::vmap_with_index(plus, {.chunk_size = size})(doubles({1, 2, 3, 4, 5})), {1, 12, 23, 34, 45});
  }
}

TEST(VmapWithIndex, ExamplesThatPartKeepTheirNumbers) {
  const Tensor x = doubles({1, -1, 1, -1, 1});
  const auto branch = [](Tensor i, Tensor a) {
    return rc::cond(a > 0, [&](Tensor b) { return b + i; }, [&](Tensor b) { return b * i; }, a);
  };
  const auto host = [](Tensor i, Tensor a) { return a.item() > 0 ? a + i : a * i; };
  for (const std::int64_t size : {2, 5}) {
    SCOPED_TRACE(size);
    expect_values(rc::vmap_with_index(branch, {.chunk_size = size})(x), {1, -1, 3, -3, 5});
    expect_values(rc::vmap_with_index(host, {.chunk_size = size, .lanes = rc::Lanes::split})(x), {1, -1, 3, -3, 5});
  }
}

TEST(VmapWithIndex, EachOfNestedMapsNumbersItsOwnExamples) {
  const auto outer = [](Tensor i, Tensor row) {
    return rc::vmap_with_index([&](Tensor j, Tensor x) { return x + 10 * i + j; })(row);
  };
  expect_values(rc::vmap_with_index(outer)(rc::zeros({2, 3}, rc::float64)).flatten(), {0, 1, 2, 10, 11, 12});
}

TEST(VmapWithIndex, IsRecordedWithOpenSizes) {
  const auto f = [](Tensor x) { return rc::vmap_with_index(plus)(x).sum(); };
  const auto program = rc::trace(f)(rc::zeros({3}, rc::float64));
  const auto compiled = rc::compile(f);
  for (const std::int64_t size : {3, 20, 33}) {
    SCOPED_TRACE(size);
    const Tensor x = rc::ones({size}, rc::float64);
    expect_equal(program({x})[0], f(x));
    expect_close(compiled(x), f(x));
  }
}

TEST(VmapWithIndex, AnswersToTheOtherTransforms) {
  const auto loss = [](Tensor x) { return rc::vmap_with_index([](Tensor i, Tensor a) { return a * a * i; })(x).sum(); };
  expect_values(rc::grad(loss)(doubles({5, 6, 7})), {0, 12, 28});
  const auto scaled = [](Tensor i, Tensor a) { return a * a * i; };
  expect_values(rc::vmap_with_index(rc::grad<1>(scaled))(doubles({5, 6, 7})), {0, 12, 28});
  const Tensor x = doubles({1, 2, 3});
  rc::vmap_with_index([](Tensor i, Tensor a) { return a.add_(i); })(x);
  expect_values(x, {1, 3, 5});
}

TEST(VmapWithIndex, ErrorsNumberTheArgumentsOfTheCall) {
  try {
    rc::vmap_with_index(plus, {.in_dims = 3})(doubles({1, 2}));
    FAIL() << "nothing was thrown";
  } catch (const rc::IndexError& e) {
    EXPECT_NE(std::string(e.what()).find("in_dim 3 of argument 0 is out of range"), std::string::npos) << e.what();
  }
}

}  // namespace
