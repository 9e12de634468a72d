// Sums and gathers over ranks: their values, in rank order; their derivatives, against those of one function of all
// the data; as equations of programs.
#include <ricci/mpi.h>

#include <cstdlib>
#include <string>

#include "support/chain.h"

namespace {

using namespace testing_support;
namespace rc = ricci;
using rc::mpi::World;

/// What rank r has.
Tensor part(int r, rc::DType dtype = rc::float64) { return (ramp({4}) * (r + 1)).to(dtype); }

Tensor own(const Tensor& all) {
  const auto [first, count] = rc::mpi::block_of(all.size(0));
  return all.slice(0, first, first + count);
}

// ── values ──

TEST(MpiSum, AddsUpInTheOrderOfTheRanks) {
  const World world;
  for (const rc::DType dtype : {rc::float32, rc::float64, rc::float16, rc::bfloat16, rc::int8, rc::int64, rc::uint8,
                                rc::complex64, rc::complex128})
    for (const std::int64_t repeats : {0, 1, 1000}) {
      const auto values = [&](int r) { return part(r, dtype).repeat({repeats}); };
      Tensor expected = values(0);
      for (int r = 1; r < world.size(); ++r) expected = expected + values(r);
      expect_equal(rc::mpi::sum(values(world.rank()), world), expected);
    }
}

TEST(MpiSum, OfMoreThanOneMessageHolds) {
  const World world;
  constexpr std::int64_t in_one = std::int64_t{1} << 26, behind = 5;  // elements of a byte
  Tensor mine = rc::ones({in_one + behind}, rc::int8);
  mine.slice(0, in_one, rc::none).fill_(world.rank() + 1);
  const Tensor total = rc::mpi::sum(mine, world);
  EXPECT_TRUE((total.slice(0, 0, in_one) == world.size()).all().item<bool>());
  EXPECT_TRUE((total.slice(0, in_one, rc::none) == world.size() * (world.size() + 1) / 2).all().item<bool>());
}

TEST(MpiSum, TakesTensorsThatDoNotLieRowByRow) {
  const World world;
  const Tensor x = ramp({30, 40}) * (world.rank() + 1);
  expect_close(rc::mpi::sum(x.t(), world), rc::mpi::sum(x, world).t());
  expect_close(rc::mpi::sum(x.slice(0, rc::none, rc::none, 2)), rc::mpi::sum(x, world).slice(0, rc::none, rc::none, 2));
}

struct Parameters {
  std::vector<Tensor> layers;
  Tensor steps;
  double rate;
};

TEST(MpiSum, OfATreeIsThatOfEachTensor) {
  const World world;
  Parameters mine{{}, rc::tensor(world.rank()), 0.5};
  for (int i = 0; i < 40; ++i) mine.layers.push_back(part(world.rank()) + i);
  const Parameters sums = rc::mpi::sum(mine, world);
  for (int i = 0; i < 40; ++i)
    expect_equal(sums.layers[static_cast<std::size_t>(i)], rc::mpi::sum(part(world.rank()) + i, world));
  EXPECT_EQ(sums.steps.item<std::int64_t>(), world.size() * (world.size() - 1) / 2);
  EXPECT_EQ(sums.rate, 0.5);
}

TEST(MpiSum, OfSeveralSmallTensorsCostsTheMessagesOfOne) {
  const World world;
  const auto calls = [&](const auto& f) {
    const std::int64_t before = world.traffic().calls;
    f();
    return world.traffic().calls - before;
  };
  const Parameters many{std::vector<Tensor>(30, part(1)), Tensor(), 0};
  EXPECT_EQ(calls([&] { rc::mpi::sum(many, world); }), calls([&] { rc::mpi::sum(part(1), world); }));
}

TEST(MpiSum, OverAPartOfTheRanks) {
  const World world;
  const World half = world.split(world.rank() % 2);
  double expected = 0;
  for (int r = world.rank() % 2; r < world.size(); r += 2) expected += r;
  EXPECT_EQ(rc::mpi::sum(rc::tensor(static_cast<double>(world.rank())), half).item<double>(), expected);
  EXPECT_EQ(half.rank(), world.rank() / 2);
}

TEST(MpiGather, PutsRowsOneBehindTheOther) {
  const World world;
  const auto rows = [](int r) { return ramp({r, 3}) + r; };  // rank 0 has none
  std::vector<Tensor> all;
  for (int r = 0; r < world.size(); ++r) all.push_back(rows(r));
  const Tensor expected = rc::cat(all, 0);
  expect_equal(rc::mpi::all_gather(rows(world.rank()), world), expected);
  const int root = world.size() - 1;
  const Tensor at_root = rc::mpi::gather(rows(world.rank()), root, world);
  expect_equal(at_root, world.rank() == root ? expected : expected.slice(0, 0, 0));
}

TEST(MpiScatter, GivesEachRankTheBlockThatMpiVmapGivesIt) {
  const World world;
  const Tensor all = ramp({7, 2});
  const Tensor mine = rc::mpi::scatter_rows(world.rank() == 0 ? all : rc::zeros({0, 2}, rc::float64), 0, world);
  expect_equal(mine, own(all));
}

TEST(MpiBroadcast, GivesTheRootsValues) {
  const World world;
  const int root = world.size() - 1;
  const auto found = rc::mpi::broadcast(std::pair{part(world.rank()), rc::tensor(world.rank())}, root, world);
  expect_equal(found.first, part(root));
  EXPECT_EQ(found.second.item<std::int64_t>(), root);
}

TEST(MpiWorld, MayTakeTurnsWithAPartOfItWhereAllRanksKeepOneOrder) {
  const World world, half = world.split(world.rank() % 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rc::mpi::sum(rc::tensor(1), half).item<std::int64_t>(), half.size());
    EXPECT_EQ(rc::mpi::sum(rc::tensor(1), world).item<std::int64_t>(), world.size());
  }
}

TEST(MpiWorld, GivesTheFirstRanksOneRowMoreThanTheLast) {
  const World world;
  for (const std::int64_t count : {0, 1, 2, 3, 4, 5, 11}) {
    std::int64_t expected = 0;
    for (int r = 0; r < world.rank(); ++r) expected += (count + world.size() - 1 - r) / world.size();
    const rc::mpi::Block block = rc::mpi::block_of(count, world);
    EXPECT_EQ(block.first, expected);
    EXPECT_EQ(block.count, (count + world.size() - 1 - world.rank()) / world.size());
  }
}

TEST(MpiWorld, CountsWhatItSends) {
  const World world;
  const rc::mpi::Traffic before = world.traffic();
  rc::mpi::broadcast(rc::zeros({1000}), 0, world);
  const char* word = std::getenv("RICCI_MPI_CHECK");
  const bool checks = !word || std::string(word) != "off";
  const std::int64_t to_each = (world.rank() == 0 ? 4000 : 0) + (checks ? 32 : 0);
  EXPECT_EQ(world.traffic().bytes - before.bytes, to_each * (world.size() - 1));
}

// ── derivatives ──

Tensor loss(Tensor w, Tensor x, Tensor y) { return (rc::tanh(rc::matmul(x, w)) - y).square().sum(); }

struct Data {
  Tensor w = ramp({3}) / 4, x = ramp({11, 3}) / 5, y = rc::sin(ramp({11}));
};

TEST(MpiSumOver, HasTheDerivativesOfTheWholeData) {
  const Data d;
  const auto total = rc::mpi::sum_over(loss);
  const Tensor x = own(d.x), y = own(d.y);
  expect_close(total(d.w, x, y), loss(d.w, d.x, d.y));
  expect_close(rc::grad(total)(d.w, x, y), rc::grad(loss)(d.w, d.x, d.y));
  const auto here = [&](Tensor w) { return loss(w, d.x, d.y); };
  const auto ranks = [&](Tensor w) { return total(w, x, y); };
  for (const Transform& a : all_transforms())
    if (a.order > 0) {
      SCOPED_TRACE(a.name);
      expect_close(a.apply([&](Tensor w) { return ranks(w) * rc::ones_like(w); })(d.w),
                   a.apply([&](Tensor w) { return here(w) * rc::ones_like(w); })(d.w), 1e-9);
    }
  expect_close(rc::hessian(ranks)(d.w), rc::hessian(here)(d.w));
  expect_close(rc::jacrev(rc::grad(ranks))(d.w), rc::hessian(here)(d.w));
  expect_close(rc::jacfwd(rc::jacfwd(ranks))(d.w), rc::hessian(here)(d.w));
  expect_close(rc::jacrev(rc::jacfwd(ranks))(d.w), rc::hessian(here)(d.w));
  const auto hvp = [&](const auto& f) {
    return std::get<1>(rc::jvp(rc::grad([&](Tensor w) { return f(w); }), d.w, rc::ones_like(d.w)));
  };
  expect_close(hvp(ranks), hvp(here));
}

TEST(MpiSumOver, MapsOverWhatIsShared) {
  const Data d;
  const Tensor ws = rc::stack({d.w, 2 * d.w, -d.w});
  const auto total = rc::mpi::sum_over(loss);
  const Tensor x = own(d.x), y = own(d.y);
  expect_close(rc::vmap(rc::grad(total), {.in_dims = {0, rc::none, rc::none}})(ws, x, y),
               rc::vmap(rc::grad(loss), {.in_dims = {0, rc::none, rc::none}})(ws, d.x, d.y));
}

TEST(MpiSumOver, TakesWhatItsFunctionCapturesForShared) {
  const Data d;
  const Tensor x = own(d.x), y = own(d.y);
  const auto ranks = [&](Tensor w) {
    return rc::mpi::sum_over([w](Tensor scale, Tensor x, Tensor y) { return loss(w * scale, x, y); })(number(2), x, y);
  };
  const auto here = [&](Tensor w) { return loss(w * number(2), d.x, d.y); };
  expect_close(rc::grad(ranks)(d.w), rc::grad(here)(d.w));
  expect_close(rc::hessian(ranks)(d.w), rc::hessian(here)(d.w));
}

TEST(MpiSumOver, MayUseMpiVmapOnItsRows) {
  const Data d;
  const Tensor x = own(d.x), y = own(d.y);
  const auto one = [](Tensor w, Tensor x, Tensor y) {
    return (rc::tanh((x * w).sum()) - y + rc::randn({}, rc::float64)).square();
  };
  const auto ranks = rc::mpi::sum_over([&](Tensor w, Tensor x, Tensor y) {
    return rc::mpi::vmap(one, {.in_dims = {rc::none, 0, 0},
                               .randomness = rc::Randomness::different,
                               .rows = rc::mpi::my_rows,
                               .results = rc::mpi::my_rows})(w, x, y)
        .sum();
  });
  const auto here = [&](Tensor w, Tensor x, Tensor y) {
    return rc::vmap(one, {.in_dims = {rc::none, 0, 0}, .randomness = rc::Randomness::different})(w, x, y).sum();
  };
  rc::manual_seed(2);
  const Tensor expected = rc::grad(here)(d.w, d.x, d.y);
  rc::manual_seed(2);
  expect_close(rc::grad(ranks)(d.w, x, y), expected);
}

TEST(MpiSumOver, MayUseSumsInside) {
  // Centred data: the mean is of all ranks, and depends on w.
  const Data d;
  const Tensor x = own(d.x);
  const double count = static_cast<double>(d.x.size(0));
  const auto ranks = rc::mpi::sum_over([&](Tensor w, Tensor x) {
    const Tensor y = rc::tanh(rc::matmul(x, w));
    return (y - rc::mpi::sum(y.sum()) / count).pow(4).sum();
  });
  const auto here = [&](Tensor w, Tensor x) {
    const Tensor y = rc::tanh(rc::matmul(x, w));
    return (y - y.sum() / count).pow(4).sum();
  };
  expect_close(ranks(d.w, x), here(d.w, d.x));
  expect_close(rc::grad(ranks)(d.w, x), rc::grad(here)(d.w, d.x));
  expect_close(rc::hessian([&](Tensor w) { return ranks(w, x); })(d.w),
               rc::hessian([&](Tensor w) { return here(w, d.x); })(d.w));
}

TEST(MpiSum, AndReplicatedAreEachOthersTranspose) {
  const World world;
  const Data d;
  const Tensor x = own(d.x), y = own(d.y);
  const auto ranks = [&](Tensor w) { return rc::mpi::sum(loss(rc::mpi::replicated(w, world), x, y), world); };
  expect_close(rc::grad(ranks)(d.w), rc::grad(loss)(d.w, d.x, d.y));
  // <sum u, v> = Σ over ranks <u, replicated v>
  const Tensor u = part(world.rank()), v = rc::cos(ramp({4}));
  const Tensor back = rc::grad([&](Tensor u) { return (rc::mpi::sum(u, world) * v).sum(); })(u);
  expect_close(back, v);
}

TEST(MpiGather, HasTheDerivativesOfTheWhole) {
  const World world;
  const Data d;
  const Tensor weights = rc::cos(ramp({11, 3}));
  const auto f = [&](Tensor mine) { return (rc::mpi::all_gather(mine, world).square() * weights).sum(); };
  expect_close(rc::grad(f)(own(d.x)), own(rc::grad([&](Tensor x) { return (x.square() * weights).sum(); })(d.x)));
  expect_close(std::get<1>(rc::jvp(f, own(d.x), own(d.x))), 2 * (d.x.square() * weights).sum());
  const Tensor stacked = rc::stack({own(d.x), 2 * own(d.x)});
  expect_close(rc::vmap(f)(stacked)[1], 4 * f(own(d.x)));
}

TEST(MpiScatter, HasTheDerivativesOfTheWholeAtTheRoot) {
  const World world;
  const Data d;
  const auto f = [&](Tensor all) { return rc::mpi::sum(rc::mpi::scatter_rows(all, 0, world).pow(3).sum(), world); };
  const Tensor all = world.rank() == 0 ? d.x : rc::zeros({0, 3}, rc::float64);
  expect_close(rc::grad(f)(all), 3 * all.square());
}

TEST(MpiBroadcast, HasTheDerivativesByTheRootsValues) {
  const World world;
  const auto f = [&](Tensor x) { return rc::mpi::broadcast(x, 0, world).pow(3).sum(); };
  const Tensor found = rc::grad(f)(part(world.rank()));
  expect_close(found, world.rank() == 0 ? 3 * part(0).square() : rc::zeros({4}, rc::float64));
}

// ── programs ──

TEST(MpiSum, IsAnEquationOfPrograms) {
  const World world;
  const Data d;
  const Tensor x = own(d.x), y = own(d.y);
  const auto total = rc::mpi::sum_over(loss);
  const auto f = [&](Tensor w) { return total(w, x, y); };
  const rc::Program program = rc::trace(f)(d.w);
  EXPECT_NE(rc::to_string(program).find("mpi_sum"), std::string::npos);
  expect_close(program({2 * d.w})[0], loss(2 * d.w, d.x, d.y));
  const auto run = [&](Tensor w) { return program({w})[0]; };
  expect_close(rc::grad(run)(d.w), rc::grad(loss)(d.w, d.x, d.y));
  expect_close(rc::hessian(run)(d.w), rc::hessian([&](Tensor w) { return loss(w, d.x, d.y); })(d.w));
  expect_close(rc::trace(rc::grad(f))(d.w)({d.w})[0], rc::grad(loss)(d.w, d.x, d.y));
  expect_close(rc::compile(rc::grad(f))(d.w), rc::grad(loss)(d.w, d.x, d.y));
  const auto [value, f_jvp] = rc::linearize(f, d.w);
  expect_close(f_jvp(d.w), (rc::grad(loss)(d.w, d.x, d.y) * d.w).sum());
}

}  // namespace
