// Axes, chunks and trees of nested vmaps, against loops over the examples.
#include <gtest/gtest.h>

#include "ricci/ricci.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Not the identity, and of another shape than its argument: [n] → [n + 1].
Tensor lengthened(Tensor x) { return rc::cat({x * 2, x.sum().reshape({1})}); }

TEST(NestedAxes, OutDimsOfBothLevelsAreWhereTheyAreToldToBe) {
  const Tensor x = ramp({2, 3, 4});
  for (std::int64_t inner = -2; inner < 2; ++inner)
    for (std::int64_t outer = -3; outer < 3; ++outer) {
      SCOPED_TRACE("inner " + std::to_string(inner) + ", outer " + std::to_string(outer));
      const auto rows = rc::vmap(lengthened, {.out_dims = inner});
      const Tensor found = rc::vmap(rows, {.out_dims = outer})(x);
      std::vector<Tensor> outers;
      for (std::int64_t i = 0; i < 2; ++i) {
        std::vector<Tensor> inners;
        for (std::int64_t k = 0; k < 3; ++k) inners.push_back(lengthened(x[i][k]));
        outers.push_back(rc::stack(inners, inner));
      }
      expect_close(found, rc::stack(outers, outer));
    }
}

TEST(NestedAxes, InDimsOfBothLevelsCountWhatIsVisible) {
  const Tensor x = ramp({2, 3, 4});
  for (const std::int64_t inner : {-2, -1, 0, 1})
    for (const std::int64_t outer : {-3, -1, 0, 1, 2}) {
      const Tensor found = rc::vmap(rc::vmap(lengthened, {.in_dims = inner}), {.in_dims = outer})(x);
      const Tensor first = x.select(outer, 1), second = first.select(inner, 0);
      expect_close(found[1][0], lengthened(second));
    }
}

using Named = std::map<std::string, Tensor>;

TEST(NestedChunks, OfTreesAlongAnyAxesGiveTheWhole) {
  const Tensor x = ramp({5, 4, 3}), y = cos(ramp({3, 5}));
  const auto f = [](Tensor a, const Named& m) {
    return std::pair{a.sum() * m.at("y"), Named{{"z", rc::stack({a[0], m.at("y")})}}};
  };
  const auto run = [&](std::int64_t outer_chunk, std::int64_t inner_chunk) {
    const auto inner = [&](Tensor rows, const Named& m) {  // rows [4, 3]; one m for all of them
      return rc::vmap(f, {.in_dims = {0, rc::none}, .out_dims = {0, 1}, .chunk_size = inner_chunk})(rows, m);
    };
    const Named ys{{"y", y.sum(0)}};
    return rc::vmap(inner, {.in_dims = {0, 0}, .out_dims = {1, 2}, .chunk_size = outer_chunk})(x, ys);
  };
  const auto whole = run(5, 4);
  for (const std::int64_t outer : {1, 2, 3, 7})
    for (const std::int64_t inner : {1, 3, 4, 9}) {
      const auto parts = run(outer, inner);
      expect_equal(parts.first, whole.first);
      expect_equal(parts.second.at("z"), whole.second.at("z"));
    }
  const Tensor of_y = y.sum(0);
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t k = 0; k < 4; ++k) {
      expect_close(whole.first[k][i], x[i][k].sum() * of_y[i]);
      expect_close(whole.second.at("z").select(2, i).select(1, k), rc::stack({x[i][k][0], of_y[i]}));
    }
}

TEST(NestedChunks, DrawWhatTheWholeDraws) {
  const Tensor x = rc::zeros({4, 3}, rc::float64);
  for (const auto outer_mode : {rc::Randomness::different, rc::Randomness::same})
    for (const auto inner_mode : {rc::Randomness::different, rc::Randomness::same}) {
      const auto drawn = [&](std::int64_t outer, std::int64_t inner) {
        rc::manual_seed(5);
        const auto f = [](Tensor a) { return a + rc::randn({}, rc::float64); };
        return rc::vmap(rc::vmap(f, {.randomness = inner_mode, .chunk_size = inner}),
                        {.randomness = outer_mode, .chunk_size = outer})(x);
      };
      const Tensor whole = drawn(4, 3);
      for (const std::int64_t outer : {1, 2, 4, 5})
        for (const std::int64_t inner : {1, 2, 3}) expect_equal(drawn(outer, inner), whole);
      const bool outer_same = outer_mode == rc::Randomness::same, inner_same = inner_mode == rc::Randomness::same;
      EXPECT_EQ(whole[0][0].item() == whole[1][0].item(), outer_same);
      EXPECT_EQ(whole[0][0].item() == whole[0][1].item(), inner_same);
    }
}

}  // namespace
