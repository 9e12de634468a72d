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

TEST(OptionErrors, NameTheWordsThatThereAre) {
  const Tensor x = rc::ones({2, 2});
  expect_error<rc::ValueError>([&] { x.div(x, "ceil"); },
                               "div: the rounding mode is \"ceil\"; it must be \"trunc\" or \"floor\"", {x});
  expect_error<rc::ValueError>([&] { rc::meshgrid({x[0], x[1]}, "ji"); },
                               "meshgrid: the indexing is \"ji\"; it must be \"ij\" or \"xy\"", {x});
}

TEST(RepeatErrors, OfNumbersOfRepeats) {
  const Tensor x = rc::ones({3});
  expect_error<rc::ValueError>([&] { repeat_interleave(x, {.repeats = rc::tensor({1, -1, 2})}); },
                               "repeat_interleave: a number of repeats is negative; it must be at least 0", {x});
}

TEST(WindowErrors, OfSizesAndTypes) {
  expect_error<rc::TypeError>([] { rc::hann_window(4, {.dtype = rc::int64}); },
                              "hann_window: a window has fractions; pass a floating dtype, such as rc::float64");
  expect_error<rc::ValueError>([] { rc::geomspace(-1, 1, 3); },
                               "geomspace: from -1.000000 to 1.000000; neither may be 0, and both must have one sign");
}

TEST(ShortTimeErrors, OfSignalsAndWindows) {
  const Tensor x = rc::ones({10});
  expect_error<rc::ValueError>([&] { stft(x, 12, {.center = false}); },
                               "stft: a signal of 10 samples is too short for n_fft = 12; pass a shorter n_fft", {x});
  expect_error<rc::ValueError>([&] { stft(x, 4, {.win_length = 5}); },
                               "stft: win_length is 5, n_fft is 4; a window must not be longer than a frame", {x});
  const Tensor spectra = stft(x, 4);
  expect_error<rc::ValueError>([&] { istft(spectra, 4, {.window = rc::zeros({4})}); },
                               "istft: the windows leave samples without weight; pass a window, hop_length and center "
                               "under which frames overlap where the window is not 0",
                               {spectra});
}

}  // namespace
