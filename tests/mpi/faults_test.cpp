// What is wrong is an error on every rank, and afterwards the ranks go on together. Every case ends with a sum that
// fails unless all ranks have come to it.
#include <ricci/mpi.h>

#include <stdexcept>
#include <thread>

#include "support/expect_tensor.h"

namespace {

using namespace testing_support;
namespace rc = ricci;
using rc::mpi::World;

class MpiFaults : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(rc::mpi::sum(rc::tensor(1), world).item<std::int64_t>(), world.size());
    EXPECT_FALSE(rc::inside_transform());
  }
  bool is_last() const { return world.rank() == world.size() - 1; }
  std::string last() const { return std::to_string(world.size() - 1); }
  std::string number() const { return std::to_string(world.size()); }

  World world;
};

/// What the call throws.
template <class E, class Call>
std::string text_of(const Call& call) {
  try {
    call();
  } catch (const E& error) { return error.what(); } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST_F(MpiFaults, SayWhichRankHasAnotherShape) {
  if (world.size() == 1) return;
  const std::string text = text_of<rc::ValueError>([&] { rc::mpi::sum(rc::zeros({is_last() ? 4 : 3}), world); });
  expect_has(text, "mpi::sum: the ranks differ: rank");
  expect_has(text, "f32[3]");
  expect_has(text, "rank " + last() + " has f32[4]");
  expect_has(text, "; every rank must pass the same");
}

TEST_F(MpiFaults, SayWhichRankHasAnotherDtypeOrTree) {
  if (world.size() == 1) return;
  expect_has(text_of<rc::ValueError>([&] { rc::mpi::sum(rc::zeros({3}, is_last() ? rc::float64 : rc::float32)); }),
             "rank " + last() + " has f64[3]");
  const std::vector<Tensor> list(is_last() ? 3 : 2, rc::zeros({2}));
  expect_has(text_of<rc::ValueError>([&] { rc::mpi::all_gather(list); }), "the ranks differ");
  const std::map<std::string, Tensor> map{{is_last() ? "w" : "v", rc::zeros({2})}};
  expect_has(text_of<rc::ValueError>([&] { rc::mpi::sum(map); }), "the ranks differ");
  expect_has(text_of<rc::ValueError>([&] { rc::mpi::broadcast(rc::zeros({1}), is_last() ? 0 : 1, world); }),
             "from rank 1");
  expect_has(text_of<rc::ValueError>([&] { rc::mpi::vmap(rc::sin)(rc::zeros({is_last() ? 4 : 5})); }),
             "mpi::vmap: the ranks differ");
}

TEST_F(MpiFaults, SayThatRanksMakeDifferentCalls) {
  if (world.size() == 1) return;
  const std::string text = text_of<rc::ValueError>([&] {
    if (is_last()) world.barrier();
    else rc::mpi::sum(rc::zeros({3}), world);
  });
  expect_has(text, "mpi: the ranks make different calls: rank");
  expect_has(text, "mpi::sum on f32[3]");
  expect_has(text, "rank " + last() + " calls mpi::World::barrier");
}

TEST_F(MpiFaults, OfOneRankInMpiVmapAreThoseOfAll) {
  const auto f = [&](Tensor x) {
    if (is_last()) throw rc::IndexError("no such material");
    return x;
  };
  const std::string text = text_of<rc::IndexError>([&] { rc::mpi::vmap(f)(rc::zeros({5})); });
  EXPECT_EQ(text, world.size() == 1 ? "no such material" : "rank " + last() + " of " + number() + ": no such material");
}

TEST_F(MpiFaults, OfAllRanksReadAsInOneProcess) {
  const auto f = [](Tensor x) -> Tensor {
    if (x.dim() == 0) throw std::runtime_error("no good");
    return x;
  };
  EXPECT_EQ(text_of<rc::Error>([&] { rc::mpi::vmap(f)(rc::zeros({4})); }), "no good");
  expect_has(
      text_of<rc::TransformError>([] { rc::mpi::vmap([](Tensor x) { return x + rc::rand({}); })(rc::zeros({8})); }),
      "randomness mode is error");
  expect_has(text_of<rc::ValueError>([] { rc::mpi::vmap(rc::sin, {.in_dims = rc::none})(rc::zeros({8})); }),
             "nothing is mapped");
  expect_has(text_of<rc::IndexError>([] { rc::mpi::vmap(rc::sin, {.in_dims = 3})(rc::zeros({8})); }), "in_dim 3");
  expect_has(text_of<rc::IndexError>([] { rc::mpi::vmap(rc::sin, {.out_dims = 3})(rc::zeros({8})); }), "out_dim 3");
}

TEST_F(MpiFaults, OfSeveralRanksNameTheFirst) {
  if (world.size() < 3) return;
  const auto f = [&](Tensor x) {
    if (world.rank() > 0) throw rc::ValueError("rank " + std::to_string(world.rank()) + " is full");
    return x;
  };
  const std::string text = text_of<rc::ValueError>([&] { rc::mpi::vmap(f)(rc::zeros({5})); });
  expect_has(text, "rank 1 of " + number() + ": rank 1 is full (rank");
  expect_has(text, "failed too)");
}

TEST_F(MpiFaults, InSumOverAreThoseOfAllWhereverTheOthersAre) {
  // The others wait in a sum inside the function, or behind it.
  const auto f = [&](Tensor w, Tensor x) {
    if (is_last()) throw rc::TypeError("a nan in the data");
    return (w * x).sum() + rc::mpi::sum(x.sum());
  };
  expect_has(text_of<rc::TypeError>([&] { rc::mpi::sum_over(f)(rc::ones({3}), rc::ones({3})); }), "a nan in the data");
  expect_has(text_of<rc::TypeError>([&] {
               rc::mpi::sum_over([&](Tensor w, Tensor x) { return rc::mpi::sum_over(f)(w, x); })(rc::ones({3}),
                                                                                                 rc::ones({3}));
             }),
             "a nan in the data");
}

TEST_F(MpiFaults, RefuseACollectiveBetweenOtherRanksInsideSumOver) {
  if (world.size() < 3) return;
  const World part = world.split(is_last() ? 1 : 0);  // the last rank is alone in its own
  const auto f = [&](Tensor w, Tensor x) { return w * rc::mpi::sum(x, part); };
  expect_has(text_of<rc::TransformError>([&] { rc::mpi::sum_over(f, world)(rc::ones({2}), rc::ones({2})); }),
             "mpi::sum: called between other ranks than those of the mpi::sum_over around it");
}

TEST_F(MpiFaults, RefuseACollectiveInsideMpiVmap) {
  if (world.size() == 1) return;
  const auto f = [](Tensor x) { return rc::mpi::sum(x); };
  const std::string text = text_of<rc::TransformError>([&] { rc::mpi::vmap(f)(rc::ones({5})); });
  expect_has(text, "mpi::sum: called in a function that mpi::vmap runs");
  expect_has(text, "; return what it needs, and call it outside, on the result of mpi::vmap");
  const auto nested = [](Tensor x) { return rc::mpi::vmap(rc::sin)(x); };
  expect_has(text_of<rc::TransformError>([&] { rc::mpi::vmap(nested)(rc::ones({5, 2})); }), "mpi::vmap: called in");
}

TEST_F(MpiFaults, RefuseABarrierAndASplitInsideMpiVmap) {
  if (world.size() == 1) return;
  const auto waits = [&](Tensor x) {
    world.barrier();
    return x;
  };
  const auto splits = [&](Tensor x) { return x + world.split(0).size(); };
  expect_has(text_of<rc::TransformError>([&] { rc::mpi::vmap(waits)(rc::ones({5})); }),
             "mpi::World::barrier: called in a function that mpi::vmap runs");
  expect_has(text_of<rc::TransformError>([&] { rc::mpi::vmap(splits)(rc::ones({5})); }),
             "mpi::World::split: called in a function that mpi::vmap runs");
  // All ranks' calls are the same in a function of sum_over.
  const auto in_sum = [&](Tensor w, Tensor x) { return waits(w * x); };
  const Tensor expected = rc::full({2}, static_cast<double>(world.size()));
  expect_equal(rc::mpi::sum_over(in_sum)(rc::ones({2}), rc::ones({2})), expected);
}

TEST_F(MpiFaults, RefuseABarrierThatOnlySomeExamplesReach) {
  const auto waits = [&](Tensor x) {
    world.barrier();
    return x;
  };
  const auto f = [&](Tensor x) { return rc::cond(x > 2.5, waits, [](Tensor x) { return x; }, x); };
  expect_has(text_of<rc::TransformError>([&] { rc::vmap(f)(rc::arange(6).to(rc::float32)); }),
             "mpi::World::barrier: called where only a part of a vmap's examples runs");
}

TEST_F(MpiFaults, SayWhichRanksTakeADerivative) {
  if (world.size() == 1) return;
  const Tensor x = rc::ones({5});
  const auto mapped = [&](Tensor w) {
    return rc::mpi::vmap([](Tensor w, Tensor x) { return w * x; }, {.in_dims = {rc::none, 0}})(w, x).sum();
  };
  const auto summed = [&](Tensor w) { return rc::mpi::sum(w * x.sum(), world); };
  const Tensor w = rc::ones({}), ws = rc::ones({3});
  const auto reverse = [&](const auto& f) { return rc::grad(f)(w); };
  const auto forward = [&](const auto& f) { return rc::jvp(f, w, w).second; };
  const auto outer = [&](const auto& f) { return rc::vmap(f)(ws); };
  const auto recorded = [&](const auto& f) { return rc::trace(f)(w)({w})[0]; };
  const auto plain = [&](const auto& f) { return f(w); };
  const auto expect_difference = [&](const auto& f, const auto& differently, const std::string& what) {
    const std::string text = text_of<rc::ValueError>([&] { is_last() ? differently(f) : plain(f); });
    expect_has(text, "the ranks differ");
    expect_has(text, "a call outside all transforms");
    expect_has(text, "a call inside " + what);
    EXPECT_EQ(text.find("f32"), std::string::npos) << "the types do not differ, but stand in: " << text;
  };
  expect_difference(mapped, reverse, "a derivative by reverse mode");
  expect_difference(mapped, forward, "a derivative by forward mode");
  expect_difference(mapped, outer, "vmap");
  expect_difference(mapped, recorded, "a recording");
  expect_difference(summed, reverse, "a derivative by reverse mode");
  expect_difference(summed, forward, "a derivative by forward mode");
}

TEST_F(MpiFaults, SayThatSizesAreNewToACompiledFunctionOnSomeRanks) {
  const auto f = rc::compile([&](Tensor x) { return rc::mpi::sum(x.sum(), world) * 2; });
  const auto call = [&](std::int64_t rows) { return f(rc::ones({rows})).template item<double>(); };
  EXPECT_EQ(call(4), 8 * world.size());
  if (world.size() == 1) return;
  // New on one rank: it records, and the others run their plan.
  const std::string text = text_of<rc::ValueError>([&] { call(is_last() ? 3 : 4); });
  expect_has(text, "rank " + last() + " has a call inside a recording (which rc::compile makes where sizes are new");
  expect_has(text, "let them be new on all ranks or on none");
  EXPECT_EQ(call(is_last() ? 6 : 5), 2 * (5 * world.size() + 1));
}

TEST_F(MpiFaults, RefuseASecondThreadThatCallsMeanwhile) {
  std::string text;
  const auto f = [&](Tensor x) {
    std::thread second([&] { text = text_of<rc::Error>([&] { rc::mpi::sum(rc::ones({2}), world); }); });
    second.join();
    return x;
  };
  rc::mpi::vmap(f)(rc::ones({5}));
  expect_has(text, "mpi::sum: another thread of this rank calls between ranks now; let one thread at a time call");
  // One after the other, they may.
  double total = 0;
  std::thread second([&] { total = rc::mpi::sum(rc::ones({}), world).item<double>(); });
  second.join();
  EXPECT_EQ(total, world.size());
}

TEST_F(MpiFaults, RefuseACollectiveThatOnlySomeExamplesReach) {
  const Tensor x = rc::arange(6).to(rc::float32) + 6 * world.rank();
  const auto f = [](Tensor x) {
    return rc::cond(x > 2.5, [](Tensor x) { return rc::mpi::sum(x); }, [](Tensor x) { return x; }, x);
  };
  // All of another rank's examples take the branch: it waits in the sum.
  const std::string text = text_of<rc::TransformError>([&] { rc::vmap(f)(x); });
  expect_has(text, "mpi::sum: called where only a part of a vmap's examples runs");
  expect_has(text, "; call it outside the branch or loop");
}

TEST_F(MpiFaults, RefuseRanksWithDifferentNumbersOfExamplesInOneSum) {
  if (world.size() == 1) return;
  const auto f = [](Tensor x) { return rc::mpi::sum(x); };
  expect_has(text_of<rc::ValueError>([&] { rc::vmap(f)(rc::ones({is_last() ? 4 : 3})); }), "the ranks differ");
}

TEST_F(MpiFaults, RefuseGeneratorsThatDiffer) {
  if (world.size() == 1) return;
  rc::manual_seed(is_last() ? 7 : 6);
  const auto f = [](Tensor x) { return x + rc::rand({}); };
  const std::string text =
      text_of<rc::ValueError>([&] { rc::mpi::vmap(f, {.randomness = rc::Randomness::different})(rc::ones({5})); });
  rc::manual_seed(0);
  expect_has(text, "default generator of seed 7 at position 0");
}

TEST_F(MpiFaults, LeaveTheDefaultGeneratorWhereItWas) {
  const auto f = [&](Tensor x) {
    if (is_last()) throw rc::ValueError("no such path");
    return x + rc::rand({});
  };
  const auto in_sum = [&](Tensor w, Tensor x) { return (w + f(x)).sum(); };
  rc::manual_seed(4);
  const Tensor expected = rc::rand({2});
  rc::manual_seed(4);
  const auto mapped = rc::mpi::vmap(f, {.randomness = rc::Randomness::different});
  expect_has(text_of<rc::ValueError>([&] { mapped(rc::ones({5})); }), "no such path");
  expect_has(text_of<rc::ValueError>([&] { rc::mpi::sum_over(in_sum)(rc::ones({2}), rc::ones({2})); }), "no such path");
  expect_equal(rc::rand({2}), expected);
  const auto draws = [](Tensor x) { return x + rc::rand({}); };
  EXPECT_EQ(rc::mpi::vmap(draws, {.randomness = rc::Randomness::different})(rc::ones({5})).size(0), 5);
}

TEST_F(MpiFaults, InSumOverAreThoseOfAllWithoutChecksToo) {
  // What rank r gives has the size of what a rank tells that fails.
  const auto f = [&](Tensor w) {
    if (is_last()) throw rc::IndexError("no such material");
    return w;
  };
  const auto run = [&] { rc::mpi::sum_over(f)(rc::ones({8}, rc::float32)); };
  expect_has(text_of<rc::IndexError>(run), "no such material");
}

TEST_F(MpiFaults, RefuseWhatHasNoRowsOrCannotBeAddedUp) {
  expect_has(text_of<rc::ValueError>([] { rc::mpi::all_gather(rc::tensor(1.)); }), "unsqueeze(0)");
  expect_has(text_of<rc::ValueError>([] { rc::mpi::all_gather(std::pair{rc::ones({2}), rc::ones({3})}); }),
             "equally many");
  expect_has(text_of<rc::TypeError>([] { rc::mpi::sum(rc::tensor(true)); }), "mpi::sum: bool[] cannot be added up");
  expect_has(text_of<rc::ValueError>([&] { rc::mpi::broadcast(rc::ones({1}), 9, world); }), "the root is 9");
  expect_has(text_of<rc::ValueError>([&] { world.split(is_last() ? -1 : 0); }), "gives the color -1");
  expect_has(text_of<rc::ValueError>([&] { rc::mpi::block_of(-3, world); }), "mpi::block_of: the count is -3");
  expect_has(text_of<rc::ValueError>([&] { rc::mpi::sum(Tensor(), world); }), "mpi::sum: the Tensor is undefined");
  expect_has(text_of<rc::ValueError>([&] { rc::mpi::all_gather(std::pair{Tensor(), Tensor()}); }),
             "mpi::all_gather: the Tensor is undefined");
  EXPECT_TRUE(rc::mpi::sum(std::vector<Tensor>{}, world).empty());
}

TEST_F(MpiFaults, RefuseWholeRowsInSumOver) {
  const auto f = [](Tensor w, Tensor x) { return rc::mpi::vmap(rc::sin)(x).sum() * w; };
  expect_has(text_of<rc::ValueError>([&] { rc::mpi::sum_over(f)(rc::tensor(1.), rc::ones({4})); }),
             "pass .rows = rc::mpi::my_rows");
}

TEST_F(MpiFaults, RefuseASecondSession) {
  expect_has(text_of<rc::ValueError>([] { const rc::mpi::Session second; }), "there is one already");
}

TEST_F(MpiFaults, SaysThatALookAtAValueCannotBeRecorded) {
  // Under a derivative the function is written down, so that what it captures is found.
  const auto f = [](Tensor x) { return x.item<double>() > 0 ? x : -x; };
  const auto total = [&](Tensor x) { return rc::mpi::vmap(f, {.lanes = rc::Lanes::split})(x).sum(); };
  EXPECT_THROW(rc::grad(total)(rc::ones({5})), rc::TransformError);
}

}  // namespace
