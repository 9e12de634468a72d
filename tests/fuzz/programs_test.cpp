// What holds after any program, whether it returned or threw at any point: no transform is active, no argument is
// changed, no memory is kept.
#include "programs.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "failing_heap.h"
#include "primitive/interpreter.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/pool.h"

namespace {

using fuzz::Dice;
using fuzz::Program;
using fuzz::programs_by_default;
using fuzz::setting;
using fuzz::Tensor;
using fuzz::Thrown;
using fuzz::world;
namespace rc = ricci;

constexpr int parts = 8;  // that ctest runs at once

/// Type and elements, bit by bit.
struct Bits {
  rc::DType dtype;
  rc::Shape shape;
  std::vector<std::uint64_t> elements;
  explicit Bits(const Tensor& t) : dtype(t.dtype()), shape(t.shape()) {
    for (double element : t.to_vector<double>()) elements.push_back(std::bit_cast<std::uint64_t>(element));
  }
  bool operator==(const Bits&) const = default;
};

/// A program and what it is given.
struct Case {
  Program program;
  Tensor argument;
  std::vector<Tensor> captured;

  explicit Case(Dice& dice)
      : program(fuzz::random_program(dice, Program::deepest)),
        argument(fuzz::random_tensor(dice)),
        captured(fuzz::random_captured(dice)) {}
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> all = captured;
    all.push_back(argument);
    return all;
  }
};

enum class Outcome : std::uint8_t { returned, error, thrown, no_memory };
constexpr std::size_t outcomes = 4;

/// Where a run goes wrong on purpose: at that block of the pool, at that one of the heap, at that step; 0 for nowhere.
struct Fault {
  std::uint64_t block = 0, heap = 0;
  std::int64_t step = 0;
};

/// `elements` gets what the program returns.
Outcome run(const Case& c, const Fault& fault, std::vector<std::complex<double>>* elements = nullptr) try {
  world().captured = c.captured;
  world().steps = 0;
  rc::manual_seed(1);
  world().throw_at = fault.step;
  rc::pool::fail_after(fault.block);
  fuzz::heap::fail_after(fault.heap);
  const Tensor y = c.program.run(c.argument);
  if (!y.defined()) return Outcome::returned;
  const std::vector<std::complex<double>> values = y.to_vector<std::complex<double>>();
  if (elements) *elements = values;
  return Outcome::returned;
} catch (const rc::Error&) { return Outcome::error; } catch (const Thrown&) {
  return Outcome::thrown;
} catch (const std::bad_alloc&) { return Outcome::no_memory; }

/// Forgets what the last program left, but for its arguments.
void clear_world() {
  rc::pool::fail_after(0);
  fuzz::heap::fail_after(0);
  world().captured.clear();
  world().escaped.clear();
}

/// The same draws each time, unless something of a transform still stands between them and the generator.
std::vector<double> first_draws() {
  rc::manual_seed(7);
  return rc::rand({2}).to_vector();
}

class RandomPrograms : public testing::TestWithParam<int> {
 protected:
  void try_seed(std::uint64_t seed) {
    Dice dice(seed);
    Case c(dice);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + c.program.text + " of " + rc::to_string(c.argument.shape()));
    if (setting("RICCI_FUZZ_SHOW", 0)) std::fprintf(stderr, "%lu: %s\n", seed, c.program.text.c_str());
    const std::uint64_t blocks_before = rc::pool::allocation_count(), heap_before = fuzz::heap::allocation_count();
    const Outcome outcome = try_run(c, {});
    ++tally_[static_cast<std::size_t>(outcome)];
    EXPECT_NE(outcome, Outcome::no_memory) << "bad_alloc, though memory was there";
    const auto blocks = static_cast<int>(rc::pool::allocation_count() - blocks_before);
    const auto heap = static_cast<int>(fuzz::heap::allocation_count() - heap_before);
    const auto steps = static_cast<int>(world().steps);
    if (blocks > 0) try_run(c, {.block = 1 + static_cast<std::uint64_t>(dice.below(blocks))});
    if (heap > 0) try_run(c, {.heap = 1 + static_cast<std::uint64_t>(dice.below(heap))});
    if (steps > 0) try_run(c, {.step = 1 + dice.below(steps)});
  }
  std::uint64_t returned() const { return tally_[static_cast<std::size_t>(Outcome::returned)]; }

 private:
  /// One run, and what must hold after it.
  Outcome try_run(Case& given, const Fault& fault) {
    Case c = given;
    if (c.program.writes) {
      c.argument = given.argument.clone();
      for (Tensor& t : c.captured) t = t.clone();
    }
    SCOPED_TRACE("block " + std::to_string(fault.block) + " of the pool, block " + std::to_string(fault.heap) +
                 " of the heap fails, step " + std::to_string(fault.step) + " throws");
    const std::vector<Bits> bits(given_bits(c));
    std::size_t memory = rc::pool::bytes_in_use();
    const Outcome outcome = run(c, fault);
    clear_world();
    expect_nothing_active();
    EXPECT_TRUE(c.program.writes || given_bits(c) == bits) << "an argument was changed";
    if (rc::pool::bytes_in_use() != memory && !c.program.writes) {  // once is a library's cache, twice a leak
      memory = rc::pool::bytes_in_use();
      run(c, fault);
      clear_world();
      EXPECT_EQ(rc::pool::bytes_in_use(), memory) << "memory is kept";
    }
    return outcome;
  }
  static std::vector<Bits> given_bits(const Case& c) {
    const std::vector<Tensor> tensors = c.tensors();
    return {tensors.begin(), tensors.end()};
  }
  static void expect_nothing_active() {
    EXPECT_FALSE(rc::inside_transform());
    EXPECT_EQ(rc::this_thread.of_the_user, nullptr);
    EXPECT_EQ(rc::this_thread.narrowed_levels, 0);
    EXPECT_EQ(rc::this_thread.no_grad_below, 0U);
    static const std::vector<double> draws = first_draws();
    EXPECT_EQ(first_draws(), draws) << "draws do not come from the generator";
    EXPECT_EQ(world().broken, "");
    world().broken.clear();
  }

  std::array<std::uint64_t, outcomes> tally_{};
};

TEST_P(RandomPrograms, LeaveNothingBehind) {
  if (const std::uint64_t seed = setting("RICCI_FUZZ_SEED", 0)) {
    if (GetParam() == 0) try_seed(seed);
    return;
  }
  const std::uint64_t programs = setting("RICCI_FUZZ_PROGRAMS", programs_by_default);
  std::uint64_t tried = 0;
  for (auto seed = static_cast<std::uint64_t>(GetParam()) + 1; seed <= programs; seed += parts, ++tried) {
    try_seed(seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(returned(), tried / 4) << "too few programs come to their end for the others to mean much";
}

/// What a program does with so many threads: how it ends, and the bits that it returns.
struct Ending {
  Outcome outcome;
  std::vector<std::uint64_t> bits;

  Ending(const Case& given, int threads) {
    rc::kernels::set_thread_count(threads);
    Case c = given;
    if (c.program.writes) {
      c.argument = given.argument.clone();
      for (Tensor& t : c.captured) t = t.clone();
    }
    std::vector<std::complex<double>> elements;
    outcome = run(c, {}, &elements);
    clear_world();
    for (const std::complex<double>& x : elements) {
      bits.push_back(bits_of(x.real()));
      bits.push_back(bits_of(x.imag()));
    }
  }
  bool operator==(const Ending&) const = default;

  /// One NaN for all: arithmetic leaves its sign to the order of operands in an instruction.
  static std::uint64_t bits_of(double x) { return x == x ? std::bit_cast<std::uint64_t>(x) : ~std::uint64_t{0}; }
};

TEST_P(RandomPrograms, GiveTheSameBitsForAnyNumberOfThreads) {
  const std::uint64_t programs = setting("RICCI_FUZZ_PROGRAMS", programs_by_default);
  const int before = rc::kernels::thread_count();
  for (auto seed = static_cast<std::uint64_t>(GetParam()) + 1; seed <= programs; seed += parts) {
    Dice dice(seed);
    const Case c(dice);
    const Ending alone(c, 1);
    for (const int threads : {2, 3, 7}) {
      const rc::kernels::CutEverything cut;
      EXPECT_TRUE(Ending(c, threads) == alone) << threads << " threads, seed " << seed << ": " << c.program.text;
    }
  }
  rc::kernels::set_thread_count(before);
}

INSTANTIATE_TEST_SUITE_P(, RandomPrograms, testing::Range(0, parts),
                         [](const testing::TestParamInfo<int>& info) { return "Part" + std::to_string(info.param); });

}  // namespace
