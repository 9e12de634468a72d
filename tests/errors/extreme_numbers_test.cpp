// Sizes, offsets, steps and counts as large as a number can be. A call returns, or throws an error that begins with its
// name; the named tests below check results. None runs out of memory, or of time.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Number = std::int64_t;

struct Call {
  std::string name;
  void (*call)(Number);
};

Tensor matrix() { return rc::arange(12).reshape({3, 4}).to(rc::float32); }
/// Many elements in the memory of one.
Tensor wide() { return rc::ones({1}).expand({Number{1} << 50}); }
/// Many rows of no elements.
Tensor hollow() { return rc::zeros({Number{1} << 40, 0}); }

std::vector<Call> calls_of_shapes() {
  static const Tensor m = matrix(), v = rc::ones({4}), none = rc::ones({0, 3});
  return {
      {"tril", [](Number n) { m.tril(n); }},
      {"tril_", [](Number n) { m.clone().tril_(n); }},
      {"triu", [](Number n) { m.triu(n); }},
      {"triu", [](Number n) { hollow().triu(n); }},
      {"tril", [](Number n) { hollow().tril(n); }},
      {"diagonal", [](Number n) { m.diagonal(n, 0, 1); }},
      {"diag_embed", [](Number n) { rc::diag_embed(v, n, -2, -1); }},
      {"diagonal_scatter", [](Number n) { rc::diagonal_scatter(m, rc::zeros({}), n, 0, 1); }},
      {"unfold", [](Number n) { v.unfold(0, 3, n); }},
      {"unfold", [](Number n) { v.unfold(0, n, 1); }},
      {"unfold", [](Number n) { wide().unfold(0, 3, n); }},
      {"roll", [](Number n) { m.roll(n); }},
      {"roll", [](Number n) { m.roll(n, 1); }},
      {"pad", [](Number n) { rc::pad(m, {n, 0}); }},
      {"pad", [](Number n) { rc::pad(m, {0, n}); }},
      {"pad", [](Number n) { rc::pad(m, {n, n, n, n}); }},
      {"pad", [](Number n) { rc::pad(none, {n, 0, n, 0}); }},
      {"narrow", [](Number n) { m.narrow(0, n, 1); }},
      {"narrow", [](Number n) { m.narrow(0, 1, n); }},
      {"slice", [](Number n) { m.slice(0, n, n, n); }},
      {"slice", [](Number n) { m.slice(0, 0, 3, n); }},
      {"slice_scatter", [](Number n) { rc::slice_scatter(m, rc::zeros({}), 0, 0, 3, n); }},
      {"select", [](Number n) { m.select(0, n); }},
      {"index", [](Number n) { m[n]; }},
      {"index", [](Number n) { m[rc::Slice(n, n, n)]; }},
      {"repeat", [](Number n) { m.repeat({n, 1}); }},
      {"tile", [](Number n) { m.tile({n}); }},
      {"repeat_interleave", [](Number n) { rc::repeat_interleave(m, n, 0); }},
      {"expand", [](Number n) { v.expand({n, 4}); }},
      {"broadcast_to", [](Number n) { rc::broadcast_to(v, {n, 4}); }},
      {"reshape", [](Number n) { none.reshape({n, -1}); }},
      {"view", [](Number n) { m.view({n, n}); }},
      {"as_strided", [](Number n) { rc::as_strided(m, {2, 2}, {n, 1}); }},
      {"as_strided", [](Number n) { rc::as_strided(m, {n, n}, {0, 0}); }},
      {"as_strided", [](Number n) { rc::as_strided(m, {2}, {1}, n); }},
      {"as_strided", [](Number n) { rc::as_strided(m, {0}, {1}, n); }},
      {"split", [](Number n) { m.split(n); }},
      {"split", [](Number n) { rc::split(m, std::vector<Number>{n, n, 3}, 0); }},
      {"chunk", [](Number n) { m.chunk(n); }},
      {"tensor_split", [](Number n) { rc::tensor_split(m, n); }},
      {"tensor_split", [](Number n) { rc::tensor_split(m, {n, n}); }},
      {"unbind", [](Number) { wide().unbind(); }},
      {"clone", [](Number) { wide().clone(); }},
      {"contiguous", [](Number) { wide().contiguous(); }},
  };
}

std::vector<Call> calls_of_factories() {
  static const Tensor m = matrix(), number = rc::tensor(1.0);
  static const rc::Key key(7);
  return {
      {"linspace", [](Number n) { rc::linspace(0, 1, n); }},
      {"linspace", [](Number n) { rc::linspace(number, number, n); }},
      {"eye", [](Number n) { rc::eye(n); }},
      {"eye", [](Number n) { rc::eye(0, n); }},
      {"eye", [](Number n) { rc::eye(n, 1); }},
      {"eye_rows", [](Number n) { rc::eye_rows(n, 2, 3, rc::float32); }},
      {"zeros", [](Number n) { rc::zeros({n}); }},
      {"zeros", [](Number n) { rc::zeros({n, n}); }},
      {"ones", [](Number n) { rc::ones({n}); }},
      {"empty", [](Number n) { rc::empty({n}); }},
      {"full", [](Number n) { rc::full({n}, 1); }},
      {"full", [](Number n) { rc::full({n}, number); }},
      {"full_like", [](Number) { rc::full_like(wide(), number); }},
      {"zeros_like", [](Number) { rc::zeros_like(wide()); }},
      {"new_full", [](Number n) { m.new_full({n}, number); }},
      {"new_empty_strided", [](Number n) { m.new_empty_strided({2, 2}, {n, n}); }},
      {"new_empty_strided", [](Number n) { m.new_empty_strided({n}, {1}); }},
      {"arange", [](Number n) { rc::arange(n); }},
      {"arange", [](Number n) { rc::arange(0, 10, n); }},
      {"arange", [](Number n) { rc::arange(INT64_MIN, INT64_MAX, n); }},
      {"arange", [](Number n) { rc::arange(INT64_MAX, INT64_MIN, n); }},
      {"rand", [](Number n) { rc::rand({n}); }},
      {"randn", [](Number n) { rc::randn({n, n}); }},
      {"randint", [](Number n) { rc::randint(INT64_MIN, n, {2}); }},
      {"randint", [](Number n) { rc::randint(n, INT64_MAX, {2}); }},
      {"randint", [](Number n) { rc::randint(5, {n}); }},
      {"randperm", [](Number n) { rc::randperm(n); }},
      {"multinomial", [](Number n) { rc::multinomial(m, n); }},
      {"multinomial", [](Number n) { rc::multinomial(m, n, true); }},
      {"uniform", [](Number n) { rc::uniform(key, {n}); }},
      {"normal", [](Number n) { rc::normal(key, {n}); }},
      {"randperm", [](Number n) { rc::randperm(key, n); }},
      {"gamma", [](Number n) { rc::gamma(key, number, {n}); }},
      {"poisson", [](Number n) { rc::poisson(key, number, {n}); }},
      {"split", [](Number n) { rc::split(key, n); }},
  };
}

std::vector<Call> calls_of_the_rest() {
  static const Tensor m = matrix(), two = rc::tensor({0, 1}), row = rc::ones({1, 2, 5}), image = rc::ones({1, 2, 5, 5}),
                      row_weight = rc::ones({2, 2, 3}), weight = rc::ones({2, 2, 3, 3});
  return {
      {"topk", [](Number n) { m.topk(n); }},
      {"matrix_power", [](Number n) { rc::matrix_power(rc::eye(3), n); }},
      {"tensordot", [](Number n) { rc::tensordot(m, m, n); }},
      {"polygamma", [](Number n) { rc::polygamma(n, m); }},
      {"one_hot", [](Number n) { rc::one_hot(two, n); }},
      {"nonzero", [](Number n) { rc::nonzero(m, {.size = n}); }},
      {"masked_select", [](Number n) { rc::masked_select(m, m > 3, {.size = n}); }},
      {"unique", [](Number n) { rc::unique(m, {.size = n}); }},
      {"var", [](Number n) { rc::var(m, 1, n, false); }},
      {"group_norm", [](Number n) { rc::group_norm(image, n); }},
      {"layer_norm", [](Number n) { rc::layer_norm(m, {n}); }},
      {"conv1d", [](Number n) { rc::conv1d(row, row_weight, {}, n, 0, 1, 1); }},
      {"conv1d", [](Number n) { rc::conv1d(row, row_weight, {}, 1, n, 1, 1); }},
      {"conv1d", [](Number n) { rc::conv1d(row, row_weight, {}, 1, 0, n, 1); }},
      {"conv1d", [](Number n) { rc::conv1d(row, row_weight, {}, 1, 0, 1, n); }},
      {"conv2d", [](Number n) { rc::conv2d(image, weight, {}, n, n, n, n); }},
      {"max_pool2d", [](Number n) { rc::max_pool2d(image, n); }},
      {"max_pool2d", [](Number n) { rc::max_pool2d(image, 2, n); }},
      {"max_pool2d", [](Number n) { rc::max_pool2d(image, n, 1, n / 2, 2); }},
      {"max_pool2d", [](Number n) { rc::max_pool2d(image, 2, 1, n); }},
      {"max_pool2d", [](Number n) { rc::max_pool2d(image, 2, 1, 1, n); }},
      {"max_pool2d", [](Number) { rc::max_pool2d(image, 1 << 30, 1, 1 << 29, 2); }},
      {"avg_pool2d", [](Number n) { rc::avg_pool2d(image, n, 1, n / 2); }},
      {"avg_pool2d", [](Number n) { rc::avg_pool2d(image, 2, n); }},
      {"adaptive_avg_pool2d", [](Number n) { rc::adaptive_avg_pool2d(image, {1, n}); }},
      {"adaptive_max_pool2d", [](Number n) { rc::adaptive_max_pool2d(image, {1, n}); }},
      {"max_pool2d", [](Number n) { rc::max_pool2d(image, 2, n, 1, 1, true); }},
      {"max_pool2d", [](Number) { rc::max_pool2d(image, 1 << 30, 1 << 30, 0, 1, true); }},
      {"max_pool2d", [](Number) { rc::max_pool2d(image, 1 << 30, 1 << 30, 0, 1 << 30, true); }},
      {"avg_pool2d", [](Number n) { rc::avg_pool2d(image, 2, 2, 1, true, true, n); }},
      {"lp_pool2d", [](Number n) { rc::lp_pool2d(image, 2, n, n, true); }},
      {"fractional_max_pool2d", [](Number n) { rc::fractional_max_pool2d(image, n, 1, rc::ones({1, 2, 2})); }},
      {"fractional_max_pool2d", [](Number n) { rc::fractional_max_pool2d(image, 1, n, rc::ones({1, 2, 2})); }},
      {"max_unpool1d", [](Number n) { rc::max_unpool1d(row, rc::zeros({1, 2, 5}, rc::int64), n, n, n); }},
      {"max_unpool1d", [](Number n) { rc::max_unpool1d(row, rc::zeros({1, 2, 5}, rc::int64), 2, n, 0); }},
      {"max_unpool1d", [](Number n) { rc::max_unpool1d(row, rc::zeros({1, 2, 5}, rc::int64), 2, 2, 0, n); }},
      {"conv_transpose1d", [](Number n) { rc::conv_transpose1d(row, row_weight, {.stride = n}); }},
      {"conv_transpose1d", [](Number n) { rc::conv_transpose1d(row, row_weight, {.padding = n}); }},
      {"conv_transpose1d", [](Number n) { rc::conv_transpose1d(row, row_weight, {.output_padding = n}); }},
      {"conv_transpose1d", [](Number n) { rc::conv_transpose1d(row, row_weight, {.groups = n}); }},
      {"conv_transpose1d", [](Number n) { rc::conv_transpose1d(row, row_weight, {.dilation = n}); }},
      {"conv_transpose2d",
       [](Number) { rc::conv_transpose2d(image, weight, {.stride = 1 << 30, .dilation = 1 << 30}); }},
      {"unfold", [](Number n) { rc::unfold(image, n); }},
      {"unfold", [](Number n) { rc::unfold(image, 2, {.dilation = n, .padding = n, .stride = n}); }},
      {"unfold", [](Number) { rc::unfold(image, 2, {.padding = 1 << 30}); }},
      {"fold", [](Number n) { rc::fold(rc::ones({4, 4}), n, 2); }},
      {"fold", [](Number n) { rc::fold(rc::ones({4, 4}), 3, n); }},
      {"vmap", [](Number n) { rc::vmap([](Tensor a) { return a; }, {.chunk_size = n})(m); }},
      {"jacfwd", [](Number n) { rc::jacfwd([](Tensor a) { return a * a; }, {.chunk_size = n})(m); }},
      {"jacrev", [](Number n) { rc::jacrev([](Tensor a) { return a * a; }, {.chunk_size = n})(m); }},
  };
}

void expect_return_or_named_error(const std::vector<Call>& calls) {
  constexpr Number bounds[] = {INT64_MAX,       INT64_MIN,          INT64_MAX - 1,        INT64_MIN + 1,
                               Number{1} << 62, -(Number{1} << 62), (Number{1} << 47) + 1};
  for (const Call& call : calls)
    for (const Number n : bounds) try {
        call.call(n);
      } catch (const rc::Error& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.starts_with(call.name + ": ")) << call.name << " of " << n << " says " << text;
      } catch (const std::exception& error) { ADD_FAILURE() << call.name << " of " << n << " throws " << error.what(); }
}

TEST(ExtremeNumbers, OfShapes) { expect_return_or_named_error(calls_of_shapes()); }
TEST(ExtremeNumbers, OfFactories) { expect_return_or_named_error(calls_of_factories()); }
TEST(ExtremeNumbers, OfTheRest) { expect_return_or_named_error(calls_of_the_rest()); }

TEST(ExtremeNumbers, OffsetsBeyondAMatrixKeepAllOrNothing) {
  const Tensor m = matrix(), nothing = rc::zeros({3, 4});
  for (const Number far : {INT64_MAX, Number{1} << 47, Number{4}}) {
    expect_equal(m.tril(far), m);
    expect_equal(m.triu(far), nothing);
    EXPECT_EQ(m.diagonal(far, 0, 1).numel(), 0);
  }
  for (const Number far : {INT64_MIN, -(Number{1} << 47), Number{-4}}) {
    expect_equal(m.tril(far), nothing);
    expect_equal(m.triu(far), m);
    EXPECT_EQ(m.diagonal(far, 0, 1).numel(), 0);
  }
  EXPECT_EQ(hollow().tril().numel(), 0);
  expect_equal(rc::eye_rows(INT64_MAX, 2, 3, rc::float32), rc::zeros({2, 3}));
  expect_equal(rc::eye_rows(INT64_MIN, 2, 3, rc::float32), rc::zeros({2, 3}));
}

TEST(ExtremeNumbers, StepsBeyondAnAxisLeaveOneWindow) {
  const Tensor v = doubles({1, 2, 3, 4});
  expect_values(v.unfold(0, 3, INT64_MAX), {1, 2, 3});
  expect_values(v.slice(0, 1, INT64_MAX, INT64_MAX), {2});
  expect_values(v[rc::Slice(1, INT64_MAX, INT64_MAX)], {2});
  expect_values(v.roll(INT64_MIN), {1, 2, 3, 4});
  expect_values(v.roll(INT64_MAX), {2, 3, 4, 1});
}

TEST(ExtremeNumbers, OfRanges) {
  EXPECT_EQ(rc::arange(INT64_MIN, INT64_MAX, INT64_MAX).to_vector<Number>(),
            (std::vector<Number>{INT64_MIN, -1, INT64_MAX - 1}));
  EXPECT_EQ(rc::arange(INT64_MAX, INT64_MIN, INT64_MIN).to_vector<Number>(), (std::vector<Number>{INT64_MAX, -1}));
  EXPECT_EQ(rc::arange(0, 10, INT64_MAX).to_vector<Number>(), (std::vector<Number>{0}));
  // As floating numbers both ends are the same.
  expect_error<rc::ValueError>([] { rc::arange(9007199254740993, 9007199254740992); },
                               "arange: from 9007199254740993 to 9007199254740992 by 1 leads away from the end; change "
                               "the sign of the step");
}

TEST(ExtremeNumbers, AreNamedWithTheirBound) {
  const Tensor image = rc::ones({1, 2, 5, 5});
  expect_error<rc::ValueError>([&] { rc::max_pool2d(image, INT64_MAX); },
                               "max_pool2d: kernel is 9223372036854775807; it must be at most 1073741824", {image});
  expect_error<rc::ValueError>([&] { rc::linspace(0, 1, INT64_MAX); },
                               "linspace: f32[9223372036854775807] has more elements than memory can hold; make it "
                               "smaller");
  expect_error<rc::ValueError>([] { rc::pad(rc::ones({2}), {INT64_MAX, 0}, "reflect"); },
                               "pad: axis 0 of f32[2] cannot fill a width of 9223372036854775807; a width of "
                               "reflections must be less than the size");
  expect_error<rc::ValueError>([] { rc::pad(rc::ones({2}), {INT64_MIN, 0}); },
                               "pad: the widths cut more than axis 0 of f32[2] has");
}

TEST(ExtremeNumbers, OfACorrection) {
  EXPECT_EQ(rc::var(doubles({1, 3}), 0, INT64_MAX, false).item(), std::numeric_limits<double>::infinity());
  expect_values(rc::var(doubles({1, 3}), 0, INT64_MIN, false), {0x1p-62});
}

}  // namespace
