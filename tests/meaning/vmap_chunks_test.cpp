// chunk_size splits the batch and changes nothing else; random operations are refused unless asked for.
#include <optional>
#include <stdexcept>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(VmapChunks, AnyChunkSizeGivesTheUnchunkedResult) {
  const auto f = [](Tensor x) { return sin(x) * x.sum(); };
  const Tensor x = ramp({7, 3});
  const Tensor whole = rc::vmap(f)(x);
  for (std::int64_t size : {1, 2, 3, 6, 7, 8, 100}) {
    SCOPED_TRACE(size);
    expect_equal(rc::vmap(f, {.chunk_size = size})(x), whole);
  }
}

TEST(VmapChunks, AxesArePlacedAsWithoutChunks) {
  const auto f = [](Tensor a, Tensor b) { return std::pair{a * b, a.sum()}; };
  const Tensor a = ramp({2, 5}), b = ramp({2});
  const auto whole = rc::vmap(f, {.in_dims = {1, rc::none}, .out_dims = {1, 0}})(a, b);
  const auto parts = rc::vmap(f, {.in_dims = {1, rc::none}, .out_dims = {1, 0}, .chunk_size = 2})(a, b);
  expect_equal(parts.first, whole.first);
  expect_equal(parts.second, whole.second);
}

TEST(VmapChunks, AnUnbatchedResultWithOutDimNoneIsReturnedOnce) {
  const Tensor constant = ramp({2});
  const auto f = [&](Tensor x) { return std::pair{x, constant}; };
  const auto [y, z] = rc::vmap(f, {.out_dims = {0, rc::none}, .chunk_size = 2})(ramp({5}));
  EXPECT_EQ(sizes(y), (Sizes{5}));
  expect_close(z, constant);
}

TEST(VmapChunks, WhatOneChunkAgreesOnIsNotTheAnswerOfOthers) {
  const Tensor x = doubles({-1, -2, 3, 4, -1, 2, -3});
  const auto relu = [](Tensor a) {
    return rc::cond(a > 0, [](Tensor b) { return b; }, [](Tensor) { return rc::zeros({}, rc::float64); }, a);
  };
  const auto steps = [](Tensor a) {
    const auto step = [](Tensor, Tensor s) { return s + 1; };
    return rc::fori_loop(0, (a + 3).to(rc::int64), step, rc::zeros({}, rc::float64));
  };
  const auto host = [](Tensor a) { return rc::ones({}, rc::float64) * a.item(); };
  for (std::int64_t size : {1, 2, 3, 6}) {
    SCOPED_TRACE(size);
    const rc::VmapOptions chunked{.chunk_size = size};
    expect_values(rc::vmap(rc::grad(relu), chunked)(x), {0, 0, 1, 1, 0, 1, 0});
    expect_values(rc::vmap(rc::vmap(rc::grad(relu)), chunked)(x.unsqueeze(1)).squeeze(1), {0, 0, 1, 1, 0, 1, 0});
    expect_values(rc::vmap(steps, chunked)(x), {2, 1, 6, 7, 2, 5, 0});
    expect_equal(rc::vmap(host, {.chunk_size = size, .lanes = rc::Lanes::split})(x), x);
  }
  EXPECT_THROW(rc::vmap(steps, {.out_dims = rc::none, .chunk_size = 1})(x), rc::ValueError);
}

TEST(VmapChunks, AnUnbatchedResultBesideABranchIsReturnedOnce) {
  const Tensor w = ramp({2, 3});
  const auto of = [&](const Tensor& matrix, std::int64_t chunk) {
    const auto f = [&](Tensor a) {
      return std::pair{rc::cond(a > 0, [&] { return a; }, [&] { return -a; }), matrix.t() * 2};
    };
    return rc::vmap(f, {.out_dims = {0, rc::none}, .chunk_size = chunk})(doubles({1, -2, 3})).second;
  };
  for (std::int64_t chunk : {1, 2, 3}) {
    expect_equal(of(w, chunk), w.t() * 2);
    expect_values(rc::grad([&](Tensor m) { return of(m, chunk).sum(); })(w), Values(6, 2));
  }
}

TEST(VmapChunks, WhatDiffersIsRefusedWithoutAnOutDimUnderTransformsToo) {
  const auto mapped = [](Tensor w) {
    const auto f = [&](Tensor a) { return rc::cond(a > 0, [&] { return w * 2; }, [&] { return w * 3; }); };
    return rc::vmap(f, {.out_dims = rc::none, .chunk_size = 1})(doubles({1, -1})).sum();
  };
  EXPECT_THROW(mapped(ramp({2}) + 1), rc::ValueError);
  EXPECT_THROW(rc::grad(mapped)(ramp({2}) + 1), rc::ValueError);
  EXPECT_THROW(rc::vmap(mapped)(ramp({2, 2}) + 1), rc::ValueError);
  const auto doubled_or_zeros = [](Tensor w) {
    const auto f = [&](Tensor a) { return rc::cond(a > 0, [&] { return w * 2; }, [&] { return rc::zeros_like(w); }); };
    return rc::vmap(f, {.out_dims = rc::none, .chunk_size = 1})(doubles({1, -1}));
  };
  EXPECT_THROW(rc::vmap(doubled_or_zeros)(ramp({2, 2}) + 1), rc::ValueError);
  const auto zeros = [](Tensor w) {
    const auto f = [&](Tensor a) { return rc::cond(a > 0, [&] { return w * 0; }, [&] { return rc::zeros_like(w); }); };
    return rc::vmap(f, {.out_dims = rc::none, .chunk_size = 1})(doubles({1, -1}));
  };
  expect_values(rc::vmap(zeros)(ramp({2, 2})), Values(4, 0));
}

TEST(VmapChunks, AnEmptyBatchHasNoChunksToo) {
  EXPECT_EQ(sizes(rc::vmap([](Tensor x) { return x * 2; }, {.chunk_size = 3})(rc::zeros({0, 2}))), (Sizes{0, 2}));
}

TEST(VmapChunks, TheFunctionRunsOncePerChunk) {
  int runs = 0;
  const auto f = [&](Tensor x) {
    ++runs;
    return x;
  };
  rc::vmap(f, {.chunk_size = 2})(ramp({5}));
  EXPECT_EQ(runs, 3);
}

TEST(VmapChunks, ChunksComposeWithGradInsideAndOutside) {
  const auto square_sum = [](Tensor x) { return (x * x).sum(); };
  const Tensor x = ramp({5, 2});
  expect_close(rc::vmap(rc::grad(square_sum), {.chunk_size = 2})(x), x * 2);
  const auto total = [&](Tensor t) { return rc::vmap(square_sum, {.chunk_size = 2})(t).sum(); };
  expect_close(rc::grad(total)(x), x * 2);
}

TEST(VmapChunks, RandomOperationsAreRefusedByDefault) {
  const Tensor x = ramp({3});
  EXPECT_THROW(rc::vmap([](Tensor a) { return a + rc::rand({2}); })(x), rc::TransformError);
  EXPECT_THROW(rc::vmap([](Tensor a) { return a + rc::randn({2}); })(x), rc::TransformError);
  EXPECT_FALSE(rc::inside_transform());
}

TEST(VmapChunks, RandomOperationsInAnUnmappedInnerTransformAreRefusedToo) {
  const auto loss = [](Tensor a) { return (a * rc::randn({2})).sum(); };
  EXPECT_THROW(rc::vmap(rc::grad(loss))(ramp({3, 2})), rc::TransformError);
}

TEST(VmapChunks, RandomOperationsUnderGradAreNot) {
  Tensor noise;
  const auto loss = [&](Tensor a) {
    noise = rc::randn({2}, rc::float64);
    return (a * noise).sum();
  };
  const Tensor gradient = rc::grad(loss)(ramp({2}));
  expect_equal(gradient, noise);
}

TEST(VmapChunks, WhatIsRecordedIsOneValueOnlyIfItIsOneVariable) {
  const Tensor x = doubles({1, 2, 3});
  const auto mapped = [&](const auto& f) {
    return [&](Tensor w) {
      return rc::vmap([&](Tensor a) { return f(w, a > 1.5); }, {.out_dims = rc::none, .chunk_size = 1})(x);
    };
  };
  const auto chosen = [](Tensor w, Tensor wanted) {
    return rc::cond(wanted, [&] { return w * 2; }, [&] { return w * 3; });
  };
  EXPECT_THROW(rc::trace(mapped(chosen))(x), rc::ValueError);
  const auto given = [](Tensor w, Tensor wanted) {
    rc::cond(wanted, [&] { return w * 2; }, [&] { return w * 3; });
    return w;
  };
  expect_equal(rc::trace(mapped(given))(x)({x})[0], x);
}

/// A function that runs once a chunk, or once a group of examples that part, finds its arguments as they were given,
/// and leaves them as one run for all examples does.
TEST(VmapChunks, OfAFunctionThatWritesToItsArguments) {
  const auto f = [](Tensor x, Tensor shared, Tensor row) {
    shared.add_(10);
    x.mul_(2);
    row[0] = x + shared;
    return x * row[0];
  };
  const auto run = [&](rc::VmapOptions options) {
    const Tensor x = doubles({1, 2, 3, 4, 5, 6, 7}), shared = doubles({1}), rows = ramp({2, 7});
    options.in_dims = {0, rc::none, 1};
    const Tensor y = rc::vmap(f, options)(x, shared[0], rows);
    return std::vector{y, x, shared, rows};
  };
  const std::vector<Tensor> whole = run({});
  expect_values(whole[1], {2, 4, 6, 8, 10, 12, 14});
  expect_values(whole[2], {11});
  for (std::int64_t chunk_size : {1, 2, 3, 7}) {
    SCOPED_TRACE(chunk_size);
    const std::vector<Tensor> found = run({.chunk_size = chunk_size});
    for (std::size_t i = 0; i < found.size(); ++i) expect_equal(found[i], whole[i]);
  }
}

TEST(VmapChunks, OfGroupsFindTheUnmappedArgumentAsItWasGiven) {
  const auto f = [](Tensor x, Tensor shared) {
    shared.add_(10);
    return (x > 3).item<bool>() ? x * shared : x - shared;
  };
  for (std::optional<std::int64_t> chunk_size : {std::optional<std::int64_t>(), {1}, {3}}) {
    const Tensor x = doubles({1, 2, 3, 4, 5}), shared = number(1);
    const rc::VmapOptions options{.in_dims = {0, rc::none}, .chunk_size = chunk_size, .lanes = rc::Lanes::split};
    expect_values(rc::vmap(f, options)(x, shared), {-10, -9, -8, 44, 55});
    expect_values(shared, {11});
  }
}

TEST(VmapChunks, OfATensorThatIsMappedAndSharedKeepTheWritesOfAllChunks) {
  const auto f = [](Tensor x, Tensor all) {
    x.mul_(2);
    return x + all.size(0);
  };
  const Tensor x = doubles({1, 2, 3});
  expect_values(rc::vmap(f, {.in_dims = {0, rc::none}, .chunk_size = 1})(x, x), {5, 7, 9});
  expect_values(x, {2, 4, 6});
}

TEST(VmapChunks, AnExceptionPutsBackWhatEarlierChunksWrote) {
  int runs = 0;
  const auto f = [&](Tensor x, Tensor shared) {
    x.add_(shared);
    shared.mul_(2);
    if (++runs == 3) throw std::runtime_error("the third chunk");
    return x;
  };
  const Tensor x = ramp({7, 3}), shared = ramp({3}), was = x.clone(), shared_was = shared.clone();
  EXPECT_THROW(rc::vmap(f, {.in_dims = {0, rc::none}, .chunk_size = 2})(x, shared), std::runtime_error);
  expect_equal(x, was);
  expect_equal(shared, shared_was);
}

}  // namespace
