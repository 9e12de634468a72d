// Values that an operation refuses: integers divided by zero, classes out of range. The error names the first one and
// its place, in an example of a vmap too, and nothing is written; while a program is recorded, nobody looks.
#include <cmath>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const std::string remedy =
    ", and integers have no infinity; divide by where(b == 0, 1, b), or convert with x.to(rc::float32)";

TEST(DivisionErrors, AnIntegerByZero) {
  const Tensor a = rc::tensor({7, 8, 9}), b = rc::tensor({1, 0, 0});
  expect_error<rc::ValueError>([&] { rc::floor_divide(a, b); }, "floor_divide: the divisor i64[3] is 0 at [1]" + remedy,
                               {a, b});
  expect_error<rc::ValueError>([&] { rc::remainder(a, b); }, "remainder: the divisor i64[3] is 0 at [1]" + remedy);
  expect_error<rc::ValueError>([&] { a % 0; }, "remainder: the divisor i64[] is 0" + remedy, {a});
  expect_error<rc::ValueError>([&] { rc::fmod(a.to(rc::int8), b.unsqueeze(1).to(rc::uint8)); },
                               "fmod: the divisor u8[3,1] is 0 at [1,0]" + remedy);
  expect_error<rc::ValueError>([&] { rc::floor_divide(a, b != 0); },
                               "floor_divide: the divisor bool[3] is 0 at [1]" + remedy);
}

TEST(DivisionErrors, LeaveWhatIsDividedInPlaceAlone) {
  const Tensor a = rc::tensor({7, 8, 9}), b = rc::tensor({1, 0, 0});
  const auto found = [](const std::string& op) { return op + ": the divisor i64[3] is 0 at [1]" + remedy; };
  expect_error<rc::ValueError>([&] { a.floor_divide_(b); }, found("floor_divide_"), {a, b});
  expect_error<rc::ValueError>([&] { a.remainder_(b); }, found("remainder_"), {a, b});
  expect_error<rc::ValueError>([&] { a.fmod_(b); }, found("fmod_"), {a, b});
  expect_error<rc::ValueError>([&] { a.remainder_(0); }, "remainder_: the divisor i64[] is 0" + remedy, {a});
}

TEST(DivisionErrors, ComeBehindThoseOfShapesAndDtypes) {
  const Tensor two = rc::tensor({7, 8}), zeros = rc::zeros({3}, rc::int64), table = rc::zeros({2, 2}, rc::int64);
  const std::string apart = ": shapes do not broadcast: i64[2] and i64[3]; axis -1 is 2 against 3, and neither is 1";
  expect_error<rc::ValueError>([&] { rc::floor_divide(two, zeros); }, "floor_divide" + apart, {two, zeros});
  expect_error<rc::ValueError>([&] { two % zeros; }, "remainder" + apart);
  expect_error<rc::ValueError>([&] { rc::fmod(two, zeros); }, "fmod" + apart);
  expect_error<rc::ValueError>([&] { two.floor_divide_(zeros); }, "floor_divide_" + apart, {two});
  expect_error<rc::ValueError>([&] { two.remainder_(zeros); }, "remainder_" + apart, {two});
  expect_error<rc::ValueError>([&] { two.fmod_(zeros); }, "fmod_" + apart, {two});
  expect_error<rc::ValueError>(
      [&] { two.remainder_(table); },
      "remainder_: the result i64[2,2] does not fit the target i64[2]; a write keeps its target's shape", {two});
  const Tensor flags = rc::tensor({true, false});
  expect_error<rc::TypeError>([&] { flags.remainder_(table[0]); },
                              "remainder_: the result is i64, which does not convert to the target bool[2]; convert "
                              "an operand, or use the out-of-place operation",
                              {flags});
  expect_error<rc::ValueError>([&] { rc::vmap([&](Tensor each) { return two % each; })(rc::zeros({4, 3}, rc::int64)); },
                               "remainder" + apart + "\n  inside vmap over axis 0 of 4{at}");
}

TEST(DivisionErrors, SayWhichExample) {
  const Tensor a = rc::tensor({7, 8, 9}), b = rc::tensor({{1, 2, 3}, {4, 5, 0}});
  expect_error<rc::ValueError>(
      [&] { rc::vmap([&](Tensor each) { return a % each; })(b); },
      "remainder: the divisor i64[3] is 0 at [2] in example 1" + remedy + "\n  inside vmap over axis 0 of 2{at}",
      {a, b});
}

TEST(DivisionErrors, CountExamplesAcrossChunksBranchesAndNestedMaps) {
  const Tensor b = rc::tensor({1, 2, 3, 4, 5, 0});
  const auto divide = [](Tensor each) { return 7 % each; };
  const std::string start = "remainder: the divisor i64[] is 0 in example ",
                    six = "\n  inside vmap over axis 0 of 6{at}";
  expect_error<rc::ValueError>([&] { rc::vmap(divide, {.chunk_size = 2})(b); }, start + "5" + remedy + six, {b});
  const auto f = [&](Tensor d) { return rc::cond((d == 2) | (d == 4), [](Tensor x) { return x; }, divide, d); };
  expect_error<rc::ValueError>([&] { rc::vmap(f)(b); }, start + "5" + remedy + six, {b});
  expect_error<rc::ValueError>(
      [&] { rc::vmap(rc::vmap(divide), {.chunk_size = 1})(b.reshape({3, 2})); },
      start + "[2,1]" + remedy + "\n  inside vmap over axis 0 of 2{at}, inside vmap over axis 0 of 3{at}", {b});
}

TEST(DivisionErrors, OnlyWhereIntegersAreDivided) {
  const Tensor zeros = rc::zeros({2}, rc::int64), halves = rc::full({2}, 0.5);
  EXPECT_TRUE(rc::all(rc::isnan(rc::remainder(halves, zeros))).item<bool>());
  EXPECT_TRUE(rc::all(rc::isinf(rc::floor_divide(halves, 0))).item<bool>());
  EXPECT_TRUE(rc::all(rc::isnan(rc::fmod(zeros, 0.0))).item<bool>());
  EXPECT_EQ(rc::remainder(rc::zeros({0}, rc::int64), 0).numel(), 0);
  EXPECT_EQ((zeros % rc::zeros({0, 1}, rc::int64)).shape(), rc::Shape({0, 2}));
  // A condition keeps examples with a zero away from the division.
  const auto f = [](Tensor d) {
    return rc::cond(d == 0, [](Tensor x) { return x; }, [](Tensor x) { return 12 % x; }, d);
  };
  EXPECT_TRUE(rc::equal(rc::vmap(f)(rc::tensor({0, 5, 0, 7})), rc::tensor({0, 2, 0, 5})));
}

TEST(DivisionErrors, AProgramLooksWhenItRuns) {
  const Tensor a = rc::tensor({7, 8}), b = rc::tensor({2, 0});
  const rc::Program program = rc::trace([](Tensor x, Tensor y) { return x % y; })(a, b);
  expect_error<rc::ValueError>([&] { program({a, b}); },
                               "remainder: the divisor i64[2] is 0 at [1], and integers have no infinity; divide by "
                               "where(b == 0, 1, b), or convert with x.to(rc::float32)",
                               {a, b});
  EXPECT_TRUE(rc::equal(program({a, b + 1})[0], rc::tensor({1, 0})));
  // A condition keeps examples with a zero away from the division, in programs too.
  const auto f = [](Tensor d) {
    return rc::cond(d == 0, [](Tensor x) { return x; }, [](Tensor x) { return 12 % x; }, d);
  };
  const Tensor d = rc::tensor({0, 5, 0, 7}), expected = rc::tensor({0, 2, 0, 5});
  EXPECT_TRUE(rc::equal(rc::trace(rc::vmap(f))(d)({d})[0], expected));
  EXPECT_TRUE(rc::equal(rc::compile(rc::vmap(f))(d), expected));
  EXPECT_TRUE(rc::equal(rc::vmap(rc::compile(f))(d), expected));
}

TEST(PowerErrors, AnIntegerToANegativeNumber) {
  const Tensor x = rc::tensor({1, 2, 3});
  const std::string found =
      ": the exponent -1 is negative, and the integers of the base i64[3] have no fractions; "
      "convert it with x.to(rc::float32)";
  expect_error<rc::ValueError>([&] { rc::pow(x, -1); }, "pow" + found, {x});
  expect_error<rc::ValueError>([&] { x.pow_(-1); }, "pow_" + found, {x});
  EXPECT_TRUE(rc::equal(rc::pow(x, 2), rc::tensor({1, 4, 9})));
  EXPECT_EQ(rc::pow(x, -1.0).dtype(), rc::float32);
}

/// Imaginary parts would be lost without a word.
TEST(WriteErrors, ComplexNumbersToARealTensor) {
  const Tensor x = rc::zeros({2}), mask = rc::tensor({true, false}), places = rc::tensor({1}),
               z = rc::tensor(std::complex<float>(1, 2));
  const auto found = [](const std::string& op, const std::string& type) {
    return op + ": the source " + type + " does not convert to f32, which has no imaginary parts; write real(source)";
  };
  expect_error<rc::TypeError>([&] { x[mask] = z; }, found("index_put_", "c64[]"), {x});
  expect_error<rc::TypeError>([&] { x[places] = z; }, found("index_put_", "c64[]"), {x});
  expect_error<rc::TypeError>([&] { x[0] = z; }, found("copy_", "c64[]"), {x});
  expect_error<rc::TypeError>([&] { x.copy_(z); }, found("copy_", "c64[]"), {x});
  expect_error<rc::TypeError>([&] { x.fill_(z); }, found("fill_", "c64[]"), {x});
  expect_error<rc::TypeError>([&] { rc::scatter(x, 0, places, z); }, found("scatter", "c64[]"), {x});
  expect_error<rc::TypeError>([&] { rc::masked_fill(x, mask, z); }, found("masked_fill", "c64[]"), {x});
  expect_error<rc::TypeError>([&] { x.masked_fill_(mask, z); }, found("masked_fill_", "c64[]"), {x});
  expect_error<rc::TypeError>([&] { rc::full({2}, z, rc::float32); }, found("full", "c64[]"), {z});
  expect_error<rc::TypeError>([&] { rc::full_like(x, std::complex<double>(1, 2)); }, found("full_like", "c128[]"), {x});
  expect_error<rc::TypeError>([&] { rc::vmap([](Tensor a, Tensor b) { a.copy_(b); })(x, rc::stack({z, z})); },
                              found("copy_", "c64[]") + "\n  inside vmap over axis 0 of 2{at}", {x});
}

TEST(ToleranceErrors, OfNegativeTolerances) {
  const Tensor x = rc::ones({2});
  const std::string remedy = "; a tolerance must be 0 or more";
  expect_error<rc::ValueError>([&] { rc::isclose(x, x, -1, 0); }, "isclose: rtol is -1.000000" + remedy, {x});
  expect_error<rc::ValueError>([&] { rc::isclose(x, x, 0, std::nan("")); }, "isclose: atol is nan" + remedy, {x});
  expect_error<rc::ValueError>([&] { rc::allclose(x, x, 0, -1); }, "allclose: atol is -1.000000" + remedy, {x});
}

TEST(RankErrors, OfATransposeOfMoreThanAMatrix) {
  const Tensor x = rc::ones({2, 3, 4});
  const std::string found =
      "t: needs a matrix or a vector, found f32[2,3,4]; use mT(x) for the last two axes, or permute";
  expect_error<rc::ValueError>([&] { rc::t(x); }, found, {x});
  expect_error<rc::ValueError>([&] { x.t(); }, found, {x});
  expect_equal(rc::vmap([](Tensor a) { return a.t(); })(x), x.mT());
}

TEST(RankErrors, OfVectorsAsBoundsOfARange) {
  const Tensor x = rc::ones({2});
  const auto found = [](const std::string& bound) {
    return "linspace: the " + bound + " f32[2] has axes; pass a number or a 0-dim tensor, and map over it by vmap";
  };
  expect_error<rc::ValueError>([&] { rc::linspace(x, 1, 3); }, found("start"), {x});
  expect_error<rc::ValueError>([&] { rc::linspace(0, x, 3, rc::float64); }, found("end"), {x});
  expect_close(rc::vmap([](Tensor a) { return rc::linspace(0, a, 3); })(x), rc::tensor({{0., .5, 1.}, {0., .5, 1.}}));
}

TEST(ClassErrors, OneHot) {
  const Tensor index = rc::tensor({{0, 2}, {5, -1}});
  expect_error<rc::IndexError>([&] { rc::one_hot(rc::tensor(-1), 1); },
                               "one_hot: index -1 is out of range for 1 class; the legal range is [0, 0]");
  expect_error<rc::IndexError>([&] { rc::vmap([](Tensor i) { return rc::one_hot(i, 3); })(index); },
                               "one_hot: index 5 at [0] in example 1 is out of range for 3 classes; the legal range is "
                               "[0, 2]\n  inside vmap over axis 0 of 2{at}",
                               {index});
  expect_error<rc::IndexError>(
      [&] { rc::vmap([](Tensor i) { return rc::one_hot(i, 3); }, {.chunk_size = 2})(rc::tensor({0, 1, 2, 0, 1, 5})); },
      "one_hot: index 5 in example 5 is out of range for 3 classes; the legal range is [0, 2]\n"
      "  inside vmap over axis 0 of 6{at}");
}

TEST(ClassErrors, OfLosses) {
  const Tensor x = rc::ones({2, 3}), target = rc::tensor({1, 5});
  expect_error<rc::IndexError>([&] { rc::vmap([](Tensor a, Tensor t) { return rc::cross_entropy(a, t); })(x, target); },
                               "cross_entropy: class 5 in example 1 is out of range for 3 classes; the legal range is "
                               "[0, 2]\n  inside vmap over axis 0 of 2{at}",
                               {x, target});
  expect_error<rc::IndexError>([&] { rc::vmap([](Tensor a, Tensor t) { return rc::nll_loss(a, t); })(x, target); },
                               "nll_loss: index 5 at [0] in example 1 is out of range for axis 0 of f32[3]; the legal "
                               "range is [0, 2]\n  inside vmap over axis 0 of 2{at}",
                               {x, target});
}

TEST(ArgumentErrors, APolygammaOfTooHighAnOrder) {
  const Tensor x = rc::ones({2}), wide = rc::ones({2}, rc::float64);
  expect_error<rc::ValueError>([&] { rc::polygamma(500, wide); },
                               "polygamma: n is 500; it must be at most 169 for f64[2]", {wide});
  expect_error<rc::ValueError>([&] { rc::polygamma(34, x); },
                               "polygamma: n is 34; it must be at most 33 for f32[2], 169 after x.to(rc::float64)",
                               {x});
  expect_error<rc::ValueError>([&] { x.polygamma_(34); },
                               "polygamma_: n is 34; it must be at most 33 for f32[2], 169 after x.to(rc::float64)",
                               {x});
  expect_error<rc::ValueError>([&] { rc::polygamma(34, rc::tensor(3)); },
                               "polygamma: n is 34; it must be at most 33 for i64[], 169 after x.to(rc::float64)");
}

TEST(ShapeErrors, OfSearchsortedAndLinearAndEinsum) {
  const Tensor x = rc::ones({2, 3});
  expect_error<rc::ValueError>([&] { rc::einsum("ii->i", rc::ones({1, 3})); },
                               "einsum: \"ii->i\" needs one size for i: operand 0 f32[1,3] has 1, operand 0 f32[1,3] "
                               "has 3");
}

TEST(ShapeErrors, OfEinsumShowTheStartOfALongEquation) {
  const Tensor x = rc::ones({2, 3});
  const std::string sixty(60, 'a');
  expect_error<rc::ValueError>([&] { rc::einsum(std::string(100000, 'a'), x); },
                               "einsum: \"" + sixty + "…\" gives operand 0 100000 axes, but it is f32[2,3]", {x});
  expect_error<rc::ValueError>([&] { rc::einsum(sixty, x); },
                               "einsum: \"" + sixty + "\" gives operand 0 60 axes, but it is f32[2,3]");
  expect_error<rc::ValueError>([&] { rc::einsum("ij→i", x); },
                               "einsum: \"ij→i\" holds '→'; write letters, commas, one -> and ...");
}

}  // namespace
