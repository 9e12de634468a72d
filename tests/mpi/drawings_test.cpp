// Random functions that draw, mapped over the ranks: the numbers of one process, to the bit, also of later draws.
#include <gtest/gtest.h>
#include <ricci/mpi.h>

#include <optional>

#include "fuzz/drawings.h"

namespace {

namespace rc = ricci;
using fuzz::Drawing, fuzz::Function, fuzz::Tensor;
using rc::Randomness;

Function over_ranks(const Function& f, Randomness mode, std::optional<std::int64_t> chunk) {
  return [=](const Tensor& rows) { return rc::mpi::vmap(f, {.randomness = mode, .chunk_size = chunk})(rows); };
}

TEST(MpiDrawings, AreThoseOfOneProcess) {
  const Tensor x = rc::tensor({0.5, -1., 2.}).to(rc::float64);
  const Tensor rows = rc::stack({x, x * -3, x + 4, x.flip(0), x - 100, x * 7});
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Drawing f = fuzz::inside(fuzz::RandomDrawing(seed).any(2, false));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + f.text);
    for (const Randomness mode : {Randomness::different, Randomness::same}) {
      if (mode == Randomness::same && f.parts) continue;
      const Tensor expected = fuzz::seeded(fuzz::mapped(f.step_by_step, mode), rows);
      for (const Function& part : {f.step_by_step, f.in_parts})
        for (const std::optional<std::int64_t> chunk : {std::optional<std::int64_t>(), std::optional<std::int64_t>(1)})
          EXPECT_TRUE(rc::equal(fuzz::seeded(over_ranks(part, mode, chunk), rows), expected));
    }
  }
}

}  // namespace
