// Attention, bags, recurrent layers, resampling and the loss of sequences: what the laws cannot say. Memory, dropout,
// short element types, empty sizes, what lies behind a sequence's end, error texts.
#include <cmath>
#include <functional>
#include <limits>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Values between -1 and 1 without a pattern.
Tensor waves(const Sizes& sizes) { return sin(ramp(sizes) * 9.1); }

constexpr double infinity = std::numeric_limits<double>::infinity();

// ── attention ──

std::size_t peak_of(const std::function<void()>& f) {
  rc::empty_cache();
  rc::reset_peak_memory_stats();
  const std::size_t before = rc::memory_stats().reserved;
  f();
  return rc::memory_stats().max_reserved - before;
}

/// All scores of 4,096 queries by 4,096 keys would take 64 MiB.
TEST(Attention, NeverHasAllScoresInMemory) {
  const Tensor q = rc::randn({4096, 8}), k = rc::randn({4096, 8}), v = rc::randn({4096, 8}), ct = rc::randn({4096, 8});
  const auto f = [](Tensor a, Tensor b, Tensor c) { return scaled_dot_product_attention(a, b, c); };
  EXPECT_LT(peak_of([&] { f(q, k, v); }), 16U << 20);
  EXPECT_LT(peak_of([&] {
              const auto [y, pull] = rc::vjp(f, q, k, v);
              pull(ct);
            }),
            16U << 20);
}

TEST(Attention, OfManyKeysIsTheSoftmaxWrittenOut) {
  const Tensor q = waves({2, 70, 3}), k = waves({2, 600, 3}) * 2, v = waves({2, 600, 5});
  const Tensor weights = softmax(matmul(q, k.mT()) * 0.25, -1);
  const auto f = [](Tensor a, Tensor b, Tensor c) { return scaled_dot_product_attention(a, b, c, {.scale = 0.25}); };
  expect_close(f(q, k, v), matmul(weights, v), 1e-13);
  const auto plain = [](Tensor a, Tensor b, Tensor c) { return matmul(softmax(matmul(a, b.mT()) * 0.25, -1), c); };
  const auto loss = [](auto g) { return [g](Tensor a, Tensor b, Tensor c) { return square(g(a, b, c)).sum(); }; };
  const auto found = rc::grad<0, 1, 2>(loss(f))(q, k, v), wanted = rc::grad<0, 1, 2>(loss(plain))(q, k, v);
  expect_close(std::get<0>(found), std::get<0>(wanted), 1e-11);
  expect_close(std::get<1>(found), std::get<1>(wanted), 1e-11);
  expect_close(std::get<2>(found), std::get<2>(wanted), 1e-11);
}

/// One head: its keys are shared out among threads.
TEST(Attention, HasTheGradientsOfTheSoftmaxWhereQueriesSeeEarlierKeysAlone) {
  const Tensor q = waves({300, 3}), k = waves({300, 3}) * 2, v = waves({300, 5}), ct = waves({300, 5});
  const auto found =
      rc::vjp([](Tensor a, Tensor b,
                 Tensor c) { return scaled_dot_product_attention(a, b, c, {.is_causal = true, .scale = 0.25}); },
              q, k, v)
          .second(ct);
  const Tensor hidden = rc::where(rc::triu(rc::ones({300, 300}), 1) > 0, -1e300, 0.0);
  const auto wanted =
      rc::vjp([=](Tensor a, Tensor b, Tensor c) { return matmul(softmax(matmul(a, b.mT()) * 0.25 + hidden, -1), c); },
              q, k, v)
          .second(ct);
  expect_close(std::get<0>(found), std::get<0>(wanted), 1e-11);
  expect_close(std::get<1>(found), std::get<1>(wanted), 1e-11);
  expect_close(std::get<2>(found), std::get<2>(wanted), 1e-11);
}

TEST(Attention, DropsWeightsAndScalesTheOthers) {
  rc::manual_seed(1);
  const Tensor zeros = rc::zeros({1, 4}), v = rc::eye(1000);
  const Tensor y = scaled_dot_product_attention(zeros, rc::zeros({1000, 4}), v, {.dropout_p = 0.25});
  const Tensor kept = y > 0;  // each key's weight is 1 / 1000
  expect_close(y, where(kept, 1.0 / 750, 0.0).to(rc::float32), 1e-8);
  EXPECT_NEAR(mean(kept.to(rc::float64)).item<double>(), 0.75, 0.05);
  const auto dropped = [](Tensor q) { return scaled_dot_product_attention(q, q, q, {.dropout_p = 0.5}); };
  EXPECT_THROW(rc::vmap(dropped)(rc::ones({3, 2, 2})), rc::TransformError);
}

TEST(Attention, OfShortFloatsIsSummedInFloat) {
  const Tensor q = waves({5, 8}), k = waves({300, 8}), v = waves({300, 4});
  const Tensor wanted = scaled_dot_product_attention(q, k, v);
  for (const rc::DType dtype : {rc::float16, rc::bfloat16}) {
    const Tensor y = scaled_dot_product_attention(q.to(dtype), k.to(dtype), v.to(dtype));
    EXPECT_EQ(y.dtype(), dtype);
    expect_close(y.to(rc::float64), wanted, dtype == rc::float16 ? 2e-3 : 2e-2);
  }
  EXPECT_EQ(scaled_dot_product_attention(q.to(rc::float32), k, v).dtype(), rc::float64);
}

TEST(Attention, WithoutQueriesKeysOrExamplesHasAResult) {
  const auto shape = [](const Sizes& q, const Sizes& k) {
    return scaled_dot_product_attention(rc::ones(rc::Shape(q)), rc::ones(rc::Shape(k)), rc::ones(rc::Shape(k))).shape();
  };
  EXPECT_EQ(shape({0, 3}, {4, 3}), (rc::Shape{0, 3}));
  EXPECT_EQ(shape({0, 2, 3}, {0, 4, 3}), (rc::Shape{0, 2, 3}));
  EXPECT_EQ(shape({2, 0}, {4, 0}), (rc::Shape{2, 0}));
  expect_equal(scaled_dot_product_attention(rc::ones({2, 3}), rc::ones({0, 3}), rc::ones({0, 3})), rc::zeros({2, 3}));
}

TEST(Attention, SaysWhatDoesNotFit) {
  const Tensor x = rc::ones({2, 3}), y = rc::ones({4, 5});
  expect_error<rc::ValueError>([&] { return scaled_dot_product_attention(x, x, y); },
                               "scaled_dot_product_attention: the key f32[2,3] and the value f32[4,5] must have one "
                               "size along axis -2: a value for each key");
  expect_error<rc::ValueError>(
      [&] { return scaled_dot_product_attention(x, x, x, {.attn_mask = rc::ones({2, 2}), .is_causal = true}); },
      "scaled_dot_product_attention: there is a mask, and is_causal; put what is causal into the mask");
  expect_error<rc::ValueError>(
      [&] {
        const Tensor q = rc::ones({3, 2, 2}), k = rc::ones({2, 2, 2});
        return scaled_dot_product_attention(q, k, k, {.enable_gqa = true});
      },
      "scaled_dot_product_attention: the heads of the query f32[3,2,2] must be a multiple of those of the key "
      "f32[2,2,2], and of as many of the value f32[2,2,2]");
}

// ── bags ──

TEST(EmbeddingBag, WithoutIndicesIsZeros) {
  const Tensor none = rc::zeros({0}, rc::int64), table = rc::ones({3, 2});
  for (const std::string mode : {"sum", "mean", "max"}) {
    const rc::EmbeddingBagOptions options{.offsets = rc::tensor({0, 0}), .mode = mode};
    expect_equal(embedding_bag(none, table, options), rc::zeros({2, 2}));
    expect_equal(rc::grad([&](Tensor t) { return embedding_bag(none, t, options).sum(); })(table), rc::zeros({3, 2}));
    expect_equal(embedding_bag(rc::zeros({2, 0}, rc::int64), table, {.mode = mode}), rc::zeros({2, 2}));
  }
}

/// Rows wider than several vectors, and tables whose rows do not lie side by side.
TEST(EmbeddingBag, HasTheSumsAndGradientsOfTheRowsWrittenOut) {
  rc::manual_seed(4);
  const Tensor index = to(rc::rand({40, 7}) * 30, rc::int64), weights = waves({40, 7}), wide = waves({30, 83});
  const auto plain = [&](Tensor t, Tensor w) { return (t.index({index}) * w.unsqueeze(-1)).sum(1); };
  const auto bag = [&](Tensor t, Tensor w) {
    return embedding_bag(index, t, {.mode = "sum", .per_sample_weights = w});
  };
  const auto bag_with_offsets = [&](Tensor t, Tensor w) {
    return embedding_bag(index.flatten(), t,
                         {.offsets = rc::arange(0, 280, 7), .mode = "sum", .per_sample_weights = w.flatten()});
  };
  for (const Tensor& table : {wide, wide.t().contiguous().t(), rc::expand(wide.slice(1, 0, 1), {30, 83})})
    for (const auto& f : std::vector<std::function<Tensor(Tensor, Tensor)>>{bag, bag_with_offsets}) {
      expect_close(f(table, weights), plain(table, weights), 1e-14);
      const auto slope = [](auto g) { return rc::grad<0, 1>([g](Tensor t, Tensor w) { return sin(g(t, w)).sum(); }); };
      const auto [of_table, of_weights] = slope(f)(table, weights);
      const auto [table_wanted, weights_wanted] = slope(plain)(table, weights);
      expect_close(of_table, table_wanted, 1e-13);
      expect_close(of_weights, weights_wanted, 1e-13);
    }
}

/// The rows of 262,144 indices would take 64 MiB; the indices take 2 MiB.
TEST(EmbeddingBag, NeverHasARowForEachIndexInMemory) {
  const Tensor index = to(rc::rand({64, 4096}) * 50, rc::int64), table = rc::randn({50, 64});
  const Tensor weights = rc::randn({64, 4096}), ct = rc::randn({64, 64});
  const auto bag = [&](Tensor t, Tensor w) {
    return embedding_bag(index, t, {.mode = "sum", .per_sample_weights = w});
  };
  const auto slope = rc::grad<0, 1>([&](Tensor t, Tensor w) { return (bag(t, w) * ct).sum(); });
  EXPECT_LT(peak_of([&] { bag(table, weights); }), 24U << 20);
  EXPECT_LT(peak_of([&] { embedding_bag(index, table); }), 24U << 20);
  EXPECT_LT(peak_of([&] { slope(table, weights); }), 32U << 20);
  EXPECT_LT(peak_of([&] { rc::jvp(slope, std::tuple(table, weights), std::tuple(table, weights)); }), 48U << 20);
}

TEST(EmbeddingBag, SaysWhatDoesNotFit) {
  const Tensor index = rc::tensor({0, 1}), table = rc::ones({3, 2});
  expect_error<rc::ValueError>([&] { return embedding_bag(index, table, {.offsets = index, .mode = "least"}); },
                               "embedding_bag: mode is \"least\"; it must be \"sum\", \"mean\" or \"max\"");
  expect_error<rc::ValueError>(
      [&] { return embedding_bag(index, table, {.offsets = index, .per_sample_weights = rc::ones({2})}); },
      "embedding_bag: per_sample_weights go with the mode \"sum\", it is \"mean\"");
  expect_error<rc::IndexError>(
      [&] { return embedding_bag(rc::tensor({0, 3}), table, {.offsets = rc::tensor({0}), .mode = "sum"}); },
      "embedding_bag: index 3 is out of range for axis 0 of f32[3,2]; the legal range is [0, 2]");
  expect_error<rc::IndexError>(
      [&] { return rc::vmap([&](Tensor i) { return embedding_bag(i, table); })(rc::tensor({{{0}}, {{3}}})); },
      "embedding_bag: index 3 at [0,0] in example 1 is out of range for axis 0 of f32[3,2]; the legal range is [0, 2]\n"
      "  inside vmap over axis 0 of 2{at}");
}

/// A mapped index of two axes is told where it stands in its example, in every mode.
TEST(EmbeddingBag, SaysWhereABadIndexStands) {
  const Tensor table = rc::ones({3, 2}), index = rc::tensor({{{0, 1, 2}, {0, 1, 2}}, {{0, 1, 2}, {0, 1, 7}}});
  for (const std::string mode : {"sum", "mean", "max"})
    expect_error<rc::IndexError>(
        [&] { return rc::vmap([&](Tensor i) { return embedding_bag(i, table, {.mode = mode}); })(index); },
        "embedding_bag: index 7 at [1,2] in example 1 is out of range for axis 0 of f32[3,2]; the legal range is "
        "[0, 2]\n  inside vmap over axis 0 of 2{at}",
        {index, table});
}

TEST(EmbeddingBag, SaysWhichOffsetIsNone) {
  const Tensor index = rc::tensor({0, 1, 2, 0, 1, 2, 0}), table = rc::ones({3, 2});
  const auto text = [](const std::string& found, const std::string& end) {
    return "embedding_bag: offset " + found + ": offsets begin with 0, ascend, and " + end + " the number of indices";
  };
  const auto expect_refused = [&](const std::vector<std::int64_t>& begins, bool last, const std::string& found) {
    const Tensor offsets = rc::tensor(begins);
    for (const std::string mode : {"sum", "mean", "max"})
      for (const std::optional<rc::Size> padding : {std::optional<rc::Size>(), std::optional<rc::Size>(0)}) {
        const rc::EmbeddingBagOptions options{
            .offsets = offsets, .mode = mode, .include_last_offset = last, .padding_idx = padding};
        expect_error<rc::IndexError>([&] { return embedding_bag(index, table, options); },
                                     text(found, last ? "end with" : "are at most"), {index, table, offsets});
      }
  };
  expect_refused({1, 3}, false, "1 at [0] is out of range; the legal range is [0, 0]");
  expect_refused({-1}, false, "-1 at [0] is out of range; the legal range is [0, 0]");
  expect_refused({0, 5, 2}, false, "2 at [2] is out of range; the legal range is [5, 7]");
  expect_refused({0, 8}, false, "8 at [1] is out of range; the legal range is [0, 7]");
  expect_refused({0, 5, 2, 7}, true, "2 at [2] is out of range; the legal range is [5, 7]");
  expect_refused({0, 2, 4}, true, "4 at [2] is out of range; the legal range is [7, 7]");
  expect_refused({0, 2, 9}, true, "9 at [2] is out of range; the legal range is [7, 7]");
  expect_refused({0, 2, -9}, true, "-9 at [2] is out of range; the legal range is [7, 7]");
  expect_refused({0}, true, "0 at [0] is out of range; the legal range is empty");

  const Tensor of_examples = rc::tensor({{0, 2}, {0, 9}});
  const auto bag = [&](Tensor o) { return embedding_bag(index, table, {.offsets = o}); };
  const std::string in_example =
      text("9 at [1] in example 1 is out of range; the legal range is [0, 7]", "are at most");
  expect_error<rc::IndexError>([&] { return rc::vmap(bag)(of_examples); },
                               in_example + "\n  inside vmap over axis 0 of 2{at}", {of_examples});
  const auto fast = rc::compile(rc::vmap(bag));
  expect_close(fast(rc::tensor({{0, 2}, {0, 7}})), rc::vmap(bag)(rc::tensor({{0, 2}, {0, 7}})), 1e-7);
  EXPECT_THROW(fast(of_examples), rc::IndexError);
}

TEST(EmbeddingBag, MayHaveNoBagForItsIndices) {
  const Tensor index = rc::tensor({0, 1}), table = rc::ones({3, 2});
  for (const std::string mode : {"sum", "mean", "max"}) {
    const rc::EmbeddingBagOptions options{.offsets = rc::zeros({0}, rc::int64), .mode = mode};
    expect_equal(embedding_bag(index, table, options), rc::zeros({0, 2}));
    expect_equal(rc::grad([&](Tensor t) { return embedding_bag(index, t, options).sum(); })(table), rc::zeros({3, 2}));
  }
}

/// The sum of 200 rows of 1000 is no float16, and 3001 rows no bfloat16.
TEST(EmbeddingBag, HasTheMeansOfHalves) {
  for (const rc::DType dtype : {rc::float16, rc::bfloat16}) {
    const Tensor table = rc::full({200, 2}, 1000, {.dtype = dtype}), index = rc::arange(200).unsqueeze(0);
    expect_equal(embedding_bag(index, table), rc::full({1, 2}, 1000, {.dtype = dtype}));
    const Tensor many = rc::zeros({1, 3001}, rc::int64);
    expect_equal(embedding_bag(many, table), rc::full({1, 2}, 1000, {.dtype = dtype}));
    const Tensor slope = rc::grad([&](Tensor t) { return embedding_bag(many, t).sum(); })(table);
    expect_equal(slope[0], rc::ones({2}, dtype));
  }
}

// ── recurrent layers ──

std::vector<Tensor> weights(std::int64_t gates, std::int64_t inputs, std::int64_t hidden) {
  return {waves({gates * hidden, inputs}), waves({gates * hidden, hidden}), waves({gates * hidden}),
          waves({gates * hidden})};
}

TEST(Recurrent, LayersWithoutStepsKeepTheirStates) {
  const Tensor x = rc::zeros({0, 2, 3}, rc::float64), h = waves({1, 2, 4});
  const auto [y, last] = gru(x, h, weights(3, 3, 4));
  EXPECT_EQ(y.shape(), (rc::Shape{0, 2, 4}));
  expect_equal(last, h);
}

TEST(Recurrent, DropoutIsBetweenLayersInTrainingOnly) {
  std::vector<Tensor> params = weights(1, 3, 4), second = weights(1, 4, 4);
  params.insert(params.end(), second.begin(), second.end());
  const Tensor x = waves({5, 2, 3}), h = waves({2, 2, 4});
  const auto run = [&](double p, bool train) {
    rc::manual_seed(2);
    return rnn_tanh(x, h, params, {.num_layers = 2, .dropout = p, .train = train});
  };
  expect_equal(run(0.5, false).first, run(0, true).first);
  const auto [y, last] = run(0.5, true);
  EXPECT_FALSE(bool(eq(y, run(0, true).first).all()));
  expect_equal(last[0], run(0, true).second[0]);  // of the first layer, before what is dropped
}

TEST(Recurrent, LayersSayWhatDoesNotFit) {
  const Tensor x = waves({5, 2, 3}), h = waves({1, 2, 4});
  expect_error<rc::ValueError>([&] { return gru(x, h, weights(1, 3, 4)).first; },
                               "gru: w_ih of layer 0 is f64[4,3]; it must be [12,3]");
  expect_error<rc::ValueError>([&] { return gru(x, waves({2, 2, 4}), weights(3, 3, 4)).first; },
                               "gru: hx is f64[2,2,4]; it must be [1,2,4]");
  expect_error<rc::ValueError>([&] { return std::get<0>(lstm(x, {h}, weights(4, 3, 4))); },
                               "lstm: hx must be {h, c}, it has 1 tensor");
}

// ── resampling ──

TEST(Interpolate, TakesAnyDtypeWhereItTakesElements) {
  const Tensor x = rc::tensor({{1, 2}, {3, 4}}).to(rc::uint8).reshape({1, 1, 2, 2});
  const Tensor y = interpolate(x, {.scale_factor = {2, 1}});
  EXPECT_EQ(y.dtype(), rc::uint8);
  expect_equal(y.reshape({4, 2}), rc::tensor({{1, 2}, {1, 2}, {3, 4}, {3, 4}}).to(rc::uint8));
  EXPECT_THROW(interpolate(x, {.size = 4, .mode = "bilinear"}), rc::TypeError);
}

/// A window holds no elements beside it: an infinite one spoils its neighbours alone.
TEST(Interpolate, ReadsNothingBesideItsWindows) {
  Tensor x = rc::zeros({1, 1, 6}, rc::float64);
  x[0][0][5] = infinity;
  expect_equal(interpolate(x, {.size = 4, .mode = "area"})[0][0], doubles({0., 0., 0., infinity}));
  const Tensor y = interpolate(x, {.size = 12, .mode = "linear"})[0][0];
  EXPECT_TRUE(bool(eq(y.slice(0, 0, 9), 0).all()));
}

TEST(Interpolate, SaysWhatDoesNotFit) {
  const Tensor x = rc::ones({1, 1, 2, 2});
  expect_error<rc::ValueError>([&] { return interpolate(x, {}); }, "interpolate: give either size or scale_factor");
  expect_error<rc::ValueError>([&] { return interpolate(x, {.size = 3, .mode = "linear"}); },
                               "interpolate: the mode \"linear\" is for 1 spatial axis, the input f32[1,1,2,2] has 2");
  expect_error<rc::ValueError>(
      [&] { return interpolate(x, {.size = 3, .align_corners = true}); },
      "interpolate: align_corners is for linear, bilinear, bicubic and trilinear, not for \"nearest\"");
  expect_error<rc::ValueError>([&] { return interpolate(x, {.scale_factor = 0.1, .mode = "bilinear"}); },
                               "interpolate: scale_factor 0.100000 of f32[1,1,2,2] leaves axis 2 empty");
  expect_error<rc::ValueError>([&] { return affine_grid(rc::ones({2, 3}), {2, 1, 3, 3}); },
                               "affine_grid: theta is f32[2,3]; for the size [2,1,3,3] it must be [2,2,3]");
}

TEST(GridSample, OfTheIdentityIsTheImage) {
  const Tensor x = waves({2, 3, 4, 5});
  Tensor theta = rc::zeros({2, 2, 3}, rc::float64);
  theta.select(1, 0).select(1, 0).fill_(1);
  theta.select(1, 1).select(1, 1).fill_(1);
  for (const bool corners : {false, true})
    for (const std::string mode : {"bilinear", "nearest", "bicubic"})
      expect_close(grid_sample(x, affine_grid(theta, x.shape(), corners), {.mode = mode, .align_corners = corners}), x,
                   1e-12);
}

/// Memory is of the order of images, grids and results, which are 1, 2 and 1 MiB of each 256 × 256 × 4; sums are in
/// float64. Blocks of memory are up to a quarter larger. Twice as many places take twice as much, in one thread: each
/// that is at work has sums of its own, and how many are differs from run to run.
TEST(GridSample, HoldsImagesAndResultsAlone) {
  const rc::GridSampleOptions modes[] = {{.mode = "bilinear"}, {.mode = "bicubic"}};
  const auto peaks = [&](std::int64_t rows, const rc::GridSampleOptions& options) {
    const Tensor x = rc::rand({4, 1, rows, 256}), grid = rc::rand({4, rows, 256, 2}) * 2 - 1, ct = rc::rand_like(x);
    const auto f = [&](Tensor a, Tensor b) { return grid_sample(a, b, options); };
    return std::pair{peak_of([&] { f(x, grid); }), peak_of([&] { std::get<1>(rc::vjp(f, x, grid))(ct); })};
  };
  constexpr std::size_t mib = 1U << 20, few = mib / 2;
  const int threads = rc::num_threads();
  rc::set_num_threads(1);
  for (const auto& options : modes) {
    const auto [value, gradient] = peaks(256, options);
    const auto [value_of_twice, gradient_of_twice] = peaks(512, options);
    EXPECT_LE(value, 2 * mib);
    EXPECT_LE(gradient, 8 * mib);
    EXPECT_LE(value_of_twice, 2 * value + few);
    EXPECT_LE(gradient_of_twice, 2 * gradient + few);
  }
  rc::set_num_threads(threads);
}

/// By rows of channels and by planes, in several members that share an image, with a view as the image.
TEST(GridSample, OfManyChannelsIsThatOfEachChannel) {
  for (const std::int64_t channels : {3, 8, 21, 32}) {
    const Tensor last = waves({2, 4, 5, channels}), x = last.permute({0, 3, 1, 2});
    const Tensor grid = waves({2, 9, 13, 2}) * 1.4, ct = waves({2, channels, 9, 13});
    for (const std::string mode : {"bilinear", "bicubic"})
      for (const std::string padding : {"zeros", "border", "reflection"}) {
        SCOPED_TRACE(mode + " " + padding + " " + std::to_string(channels));
        const auto f = [&](Tensor a, Tensor b) { return grid_sample(a, b, {mode, padding}); };
        const auto [y, pull] = rc::vjp(f, x, grid);
        const auto [of_x, of_grid] = pull(ct);
        Tensor sum_of_grids = rc::zeros_like(grid);
        for (std::int64_t c = 0; c < channels; ++c) {
          const auto [one, pull_one] = rc::vjp(f, x.slice(1, c, c + 1).contiguous(), grid);
          const auto [of_one, of_its_grid] = pull_one(ct.slice(1, c, c + 1));
          expect_equal(y.slice(1, c, c + 1), one);
          expect_equal(of_x.slice(1, c, c + 1), of_one);
          sum_of_grids = sum_of_grids + of_its_grid;
        }
        expect_close(of_grid, sum_of_grids, 1e-12);
        const auto shared = [&](Tensor g) { return f(x, g); };
        expect_equal(rc::vmap(shared)(rc::stack({grid, grid * 0.5}))[1], f(x, grid * 0.5));
        const auto loss = [&](Tensor a) {
          return (rc::vmap([&](Tensor g) { return f(a, g); })(rc::stack({grid, grid * 0.5})) * ct).sum();
        };
        expect_close(rc::grad(loss)(x),
                     rc::grad([&](Tensor a) { return ((f(a, grid) + f(a, grid * 0.5)) * ct).sum(); })(x), 1e-12);
      }
  }
}

/// What lies outside is not read: an infinite element there gives no NaN.
TEST(GridSample, ReadsNothingOutside) {
  const Tensor x = rc::full({1, 1, 2, 2}, std::numeric_limits<double>::infinity(), rc::float64);
  const Tensor grid = rc::full({1, 1, 1, 2}, 5, rc::float64);
  expect_values(grid_sample(x, grid), {0});
}

/// Images of several channels are read in rows or planes, by their layout and by how much is read of each.
TEST(GridSample, GivesTheSameBitsInAllLayoutsAndBatches) {
  for (const std::int64_t channels : {3, 24, 37}) {
    const Tensor x = waves({1, channels, 9, 10}), ct = cos(waves({1, channels, 2, 3}) * 7);
    const Tensor last = x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
    const Tensor grid = waves({1, 2, 3, 2}) * 1.2, grids = rc::stack({grid, grid * 0.5}).repeat({30, 1, 1, 1, 1});
    const auto of = [&](const Tensor& image) {
      return [&](Tensor g) {
        const auto [y, pull] = rc::vjp([&](Tensor a, Tensor b) { return grid_sample(a, b); }, image, g);
        const auto [of_image, of_grid] = pull(ct);
        return std::tuple(y, of_image, of_grid);
      };
    };
    const auto [y, of_image, of_grid] = of(x)(grid);
    const auto expect_same = [&](const auto& found, const auto& part) {
      expect_equal(part(std::get<0>(found)), y);
      expect_equal(part(std::get<1>(found)), of_image);
      expect_equal(part(std::get<2>(found)), of_grid);
    };
    expect_same(of(last)(grid), [](Tensor t) { return t; });
    expect_same(rc::vmap(of(x))(grids), [](Tensor t) { return t[58]; });
    expect_same(rc::vmap(of(last))(grids), [](Tensor t) { return t[58]; });
  }
}

TEST(GridSample, ACoordinateThatIsNaNGivesNaN) {
  const Tensor grid = rc::full({1, 1, 1, 2}, std::nan(""), rc::float64);
  for (const std::int64_t channels : {1, 24}) {
    const Tensor x = waves({1, channels, 3, 3});
    const auto f = [&](Tensor g) { return grid_sample(x, g).sum(); };
    EXPECT_TRUE(grid_sample(x, grid).isnan().all().item<bool>());
    EXPECT_TRUE(rc::grad(f)(grid).isnan().all().item<bool>());
  }
}

// ── the loss of sequences ──

TEST(CtcLoss, IsTheSumOverAllAlignments) {
  const Tensor p = softmax(waves({3, 1, 3}), -1), q = p.squeeze(1);  // [T, C]
  const auto of = [&](int a, int b, int c) { return (q[0][a] * q[1][b] * q[2][c]).item<double>(); };
  const double wanted = of(0, 1, 2) + of(1, 0, 2) + of(1, 2, 0) + of(1, 1, 2) + of(1, 2, 2);
  const Tensor found =
      ctc_loss(log(p), rc::tensor({{1, 2}}), rc::tensor({3}), rc::tensor({2}), {.reduction = rc::Reduction::sum});
  EXPECT_NEAR(found.item<double>(), -std::log(wanted), 1e-13);
}

TEST(CtcLoss, ReadsNothingBehindTheEndsOfSequences) {
  const Tensor x = log_softmax(waves({4, 2, 3}), -1);
  const auto loss = [](Tensor a, const Tensor& targets) {
    return ctc_loss(a, targets, rc::tensor({4, 2}), rc::tensor({2, 1}), {.reduction = rc::Reduction::none});
  };
  Tensor changed = x.clone();
  changed.slice(0, 2, 4).select(1, 1).fill_(std::nan(""));
  const Tensor wanted = loss(x, rc::tensor({{1, 2}, {2, 1}}));
  expect_equal(loss(changed, rc::tensor({{1, 2}, {2, 99}})), wanted);
  expect_equal(loss(x, rc::tensor({{1, 2}, {2, -1}})), wanted);
}

TEST(CtcLoss, IsInfiniteWhereTheTargetHasNoAlignment) {
  const Tensor x = log_softmax(waves({2, 1, 3}), -1);
  const auto loss = [](Tensor a) {
    return ctc_loss(a, rc::tensor({{1, 1}}), rc::tensor({2}), rc::tensor({2}), {.reduction = rc::Reduction::sum});
  };
  EXPECT_EQ(loss(x).item<double>(), infinity);
  expect_equal(rc::grad(loss)(x), rc::zeros({2, 1, 3}, rc::float64));
  const Tensor sure = rc::log(rc::tensor({{0., 1., 0.}, {1., 0., 0.}}));  // of -∞ and 0
  EXPECT_EQ(ctc_loss(sure, rc::tensor({1}), rc::tensor(2), rc::tensor(1)).item<double>(), 0);
}

TEST(CtcLoss, SaysWhatDoesNotFit) {
  const Tensor x = rc::zeros({4, 2, 3}), two = rc::tensor({2, 2});
  expect_error<rc::ValueError>([&] { return ctc_loss(x, rc::tensor({1, 2, 1}), two, two); },
                               "ctc_loss: target_lengths add up to 4, the targets i64[3] are one after the other");
  expect_error<rc::ValueError>([&] { return ctc_loss(x, rc::tensor({{1, 2}}), two, two); },
                               "ctc_loss: targets are i64[1,2]; they must be [2, S], or one after the other");
  expect_error<rc::ValueError>([&] { return ctc_loss(x, rc::tensor({{1, 2}, {1, 2}}), two, two, {.blank = 3}); },
                               "ctc_loss: blank is 3; the legal range is [0, 2]");
  EXPECT_THROW(ctc_loss(x, rc::tensor({{1, 3}, {1, 2}}), two, two), rc::IndexError);
}

}  // namespace
