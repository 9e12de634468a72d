// What searching, scattered and running reductions, windows and short-time transforms say of bad arguments.
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(ScatterReduceErrors, OfReductionsShapesAndPlaces) {
  const Tensor x = rc::zeros({3}), index = rc::tensor({0, 2}), src = rc::ones({2});
  expect_error<rc::ValueError>([&] { scatter_reduce(x, 0, index, src, "max"); },
                               "scatter_reduce: the reduction is \"max\"; it must be \"sum\", \"prod\", \"mean\", "
                               "\"amax\" or \"amin\"",
                               {x, src});
  for (const char* how : {"sum", "prod", "mean", "amax", "amin"})
    expect_error<rc::IndexError>(
        [&] { scatter_reduce(x, 0, index + 1, src, how); },
        "scatter_reduce: index 3 is out of range for axis 0 of f32[3]; the legal range is [0, 2]", {x, src});
  expect_error<rc::ValueError>([&] { scatter_reduce(x, 0, index, rc::ones({1}), "amax"); },
                               "scatter_reduce: the index i64[2] is larger than f32[1] along axis 0", {x});
  expect_error<rc::ValueError>([&] { index_reduce(x, 0, rc::zeros({1, 2}, rc::int64), src, "mean"); },
                               "index_reduce: the index i64[1,2] must be a vector", {x, src});
  expect_error<rc::TypeError>([&] { scatter_reduce(x, 0, src, src, "mean"); },
                              "scatter_reduce: the index f32[2] is not of integers; convert it, for example with "
                              "x.to(rc::int64)",
                              {x, src});
}

TEST(ScatterReduceErrors, NameTheExample) {
  const Tensor x = rc::zeros({2, 3}), src = rc::ones({2, 2}), index = rc::tensor({{0, 1}, {2, 5}});
  expect_error<rc::IndexError>(
      [&] { rc::vmap([](Tensor a, Tensor i, Tensor b) { return scatter_reduce(a, 0, i, b, "amax"); })(x, index, src); },
      "scatter_reduce: index 5 at [1] in example 1 is out of range for axis 0 of f32[3]; the legal range is [0, 2]\n  "
      "inside "
      "vmap over axis 0 of 2{at}",
      {x, src});
}

TEST(RunningErrors, OfOrderAndNothing) {
  const Tensor z = rc::zeros({2}, rc::complex64);
  expect_error<rc::TypeError>(
      [&] { cummax(z, 0); }, "cummax: c64[2] is complex and has no order; compare its real part or its absolute value");
  expect_error<rc::ValueError>([] { mode(rc::zeros({2, 0})); },
                               "mode: f32[2,0] has no elements along axis 1; reduce at least 1 element");
}

TEST(BucketizeErrors, OfBoundariesThatAreNoVector) {
  const Tensor x = rc::ones({2, 2});
  expect_error<rc::ValueError>([&] { bucketize(x, x); }, "bucketize: the boundaries f32[2,2] must be a vector", {x});
}

TEST(OptionErrors, NameTheWordsThatThereAre) {
  const Tensor x = rc::ones({2, 2});
  expect_error<rc::ValueError>([&] { x.div(x, "ceil"); },
                               "div: the rounding mode is \"ceil\"; it must be \"trunc\" or \"floor\"", {x});
  expect_error<rc::ValueError>([&] { rc::meshgrid({x[0], x[1]}, "ji"); },
                               "meshgrid: the indexing is \"ji\"; it must be \"ij\" or \"xy\"", {x});
}

TEST(HistogramErrors, OfEdgesForAnotherNumberOfCoordinates) {
  const Tensor x = rc::ones({2, 2});
  expect_error<rc::ValueError>([&] { rc::histogramdd(x, rc::Sizes{2}); },
                               "histogramdd: there are edges along 1 axis for the points f32[2,2]; points are [n, d], "
                               "and d edges belong to them",
                               {x});
}

TEST(RepeatErrors, OfNumbersOfRepeats) {
  const Tensor x = rc::ones({3});
  expect_error<rc::ValueError>([&] { repeat_interleave(x, {.repeats = rc::tensor({1, -1, 2})}); },
                               "repeat_interleave: a number of repeats is negative; it must be at least 0", {x});
  expect_error<rc::ValueError>(
      [&] { repeat_interleave(x, {.repeats = rc::tensor({1, 2})}); },
      "repeat_interleave: the repeats i64[2] must be one number for each of the 3 slices along "
      "axis 0 of f32[3]",
      {x});
}

TEST(WindowErrors, OfSizesAndTypes) {
  expect_error<rc::ValueError>([] { rc::hann_window(-1); }, "hann_window: n is -1; it must be at least 0");
  expect_error<rc::TypeError>([] { rc::hann_window(4, {.dtype = rc::int64}); },
                              "hann_window: a window has fractions; pass a floating dtype, such as rc::float64");
  expect_error<rc::ValueError>([] { rc::gaussian_window(4, rc::ones({2})); },
                               "gaussian_window: std is f32[2]; it must be a number or a 0-dim tensor: map over it by "
                               "vmap");
  expect_error<rc::ValueError>([] { rc::kaiser_window(4, rc::ones({2})); },
                               "kaiser_window: beta is f32[2]; it must be a number or a 0-dim tensor: map over it by "
                               "vmap");
  expect_error<rc::ValueError>([] { rc::geomspace(-1, 1, 3); },
                               "geomspace: from -1.000000 to 1.000000; neither may be 0, and both must have one sign");
}

TEST(FourierErrors, OfALengthBelowOne) {
  const Tensor x = rc::ones({8}), z = x.to(rc::complex64);
  const auto expect_refused = [&](const std::string& name, auto transform, const Tensor& of, const char* type) {
    for (const std::int64_t n : {-1, 0})
      expect_error<rc::ValueError>(
          [&] { transform(of, n); },
          name + ": a transform needs at least 1 element, of " + type + "[8] it has " + std::to_string(n), {of});
  };
  expect_refused("fft", [](Tensor a, rc::Size n) { return rc::fft(a, n); }, z, "c64");
  expect_refused("ifft", [](Tensor a, rc::Size n) { return rc::ifft(a, n); }, z, "c64");
  expect_refused("rfft", [](Tensor a, rc::Size n) { return rc::rfft(a, n); }, x, "f32");
  expect_refused("irfft", [](Tensor a, rc::Size n) { return rc::irfft(a, n); }, z, "c64");
  expect_refused("hfft", [](Tensor a, rc::Size n) { return rc::hfft(a, n); }, z, "c64");
  expect_refused("ihfft", [](Tensor a, rc::Size n) { return rc::ihfft(a, n); }, x, "f32");
  expect_error<rc::ValueError>([&] { rc::rfftn(x, {-2}, {}); },
                               "rfftn: a transform needs at least 1 element, of f32[8] it has -2", {x});
}

TEST(ShortTimeErrors, OfSignalsAndWindows) {
  const Tensor x = rc::ones({10});
  expect_error<rc::ValueError>(
      [&] { stft(x, 20); },
      "stft: a signal of 10 samples is too short for n_fft = 20; reflected ends need more than "
      "half of that",
      {x});
  expect_error<rc::ValueError>([&] { stft(x, 12, {.center = false}); },
                               "stft: a signal of 10 samples is too short for n_fft = 12; pass a shorter n_fft", {x});
  expect_error<rc::ValueError>([&] { stft(x, 4, {.window = rc::ones({3})}); },
                               "stft: the window f32[3] must have the shape [4]", {x});
  expect_error<rc::ValueError>([&] { stft(x, 4, {.win_length = 5}); },
                               "stft: win_length is 5, n_fft is 4; a window must not be longer than a frame", {x});
  const Tensor spectra = stft(x, 4);
  expect_error<rc::ValueError>([&] { istft(spectra, 4, {.window = rc::zeros({4})}); },
                               "istft: the windows leave samples without weight; pass a window, hop_length and center "
                               "under which frames overlap where the window is not 0",
                               {spectra});
  expect_error<rc::ValueError>([&] { istft(spectra, 6); },
                               "istft: c64[3,11] has 3 frequencies; of n_fft = 6 there are 4", {spectra});
}

}  // namespace
