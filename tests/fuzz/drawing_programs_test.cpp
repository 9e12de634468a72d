// Random functions that draw, in every form that a function may take: step by step, recorded, compiled, in chunks, and
// with parts of them recorded or compiled. All forms draw the same numbers, to the bit. Over the ranks of an MPI
// program: tests/mpi/drawings_test.cpp.
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>

#include "drawings.h"
#include "programs.h"

namespace {

using fuzz::Drawing, fuzz::RandomDrawing, fuzz::Function, fuzz::Tensor;
using fuzz::inside, fuzz::mapped, fuzz::seeded, fuzz::summed;
namespace rc = ricci;
using rc::Randomness;

// ── forms ──

Function recorded(const Function& f, bool is_simplified) {
  return [=](const Tensor& x) {
    const rc::Program program = rc::trace(f)(x);
    return (is_simplified ? program.simplified() : program)({x})[0];
  };
}

class DrawingPrograms : public testing::TestWithParam<int> {
 protected:
  void try_seed(std::uint64_t seed) {
    Drawing f = RandomDrawing(seed).any(static_cast<int>(fuzz::setting("RICCI_FUZZ_DEPTH", 2)), false);
    if (fuzz::setting("RICCI_FUZZ_SHOW", 0)) std::fprintf(stderr, "%lu: %s\n", seed, f.text.c_str());
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + f.text);
    compiles_ = seed % fuzz::setting("RICCI_FUZZ_COMPILED", 48) == 0;  // which takes long
    const Tensor x = rc::tensor({0.5, -1., 2.}).to(rc::float64);
    const Tensor rows = rc::stack({x, x * -3, x + 4, x.flip(0)});
    expect_one_draw(f, x, "alone", [](const Function& g) { return g; });
    expect_one_draw(f, x, "gradient", [](const Function& g) { return Function(rc::grad(summed(g))); });
    for (const Randomness mode : {Randomness::different, Randomness::same}) {
      if (mode == Randomness::same && f.parts) continue;
      f = inside(f);
      const std::string name = mode == Randomness::same ? "vmap same" : "vmap";
      const Tensor expected = expect_one_draw(f, rows, name, [mode](const Function& g) { return mapped(g, mode); });
      for (const std::int64_t chunk : {1, 3})
        expect_same(name + " in chunks", mapped(f.step_by_step, mode, chunk), rows, expected);
      expect_same(name + " in chunks, recorded", recorded(mapped(f.step_by_step, mode, 3), false), rows, expected);
      if (f.has_hidden) continue;
      const rc::Program program = rc::trace(f.step_by_step)(x);
      const Function of_program = [program](const Tensor& a) { return program({a})[0]; };
      expect_same(name + " of its program", mapped(of_program, mode), rows, expected);
      expect_same(name + " of its program in chunks", mapped(of_program, mode, 3), rows, expected);
      if (compiles_) expect_same(name + " of it compiled", mapped(rc::compile(f.step_by_step), mode), rows, expected);
    }
  }
  int checks_ = 0;

 private:
  /// Returns what the function gives step by step.
  template <class Transform>
  Tensor expect_one_draw(const Drawing& f, const Tensor& x, const std::string& name, const Transform& transform) {
    const Function one = transform(f.step_by_step), other = transform(f.in_parts);
    const Tensor expected = seeded(one, x);
    expect_same(name + ", in parts", other, x, expected);
    expect_same(name + ", recorded", recorded(one, false), x, expected);
    expect_same(name + ", recorded and simplified", recorded(one, true), x, expected);
    expect_same(name + ", in parts, recorded", recorded(other, false), x, expected);
    if (!compiles_) return expected;
    const Function compiled = rc::compile(one);
    for (int call = 0; call < 2; ++call) expect_same(name + ", compiled", compiled, x, expected);
    expect_same(name + ", in parts, compiled", rc::compile(other), x, expected);
    return expected;
  }
  void expect_same(const std::string& form, const Function& f, const Tensor& x, const Tensor& expected) {
    ++checks_;
    EXPECT_TRUE(rc::equal(seeded(f, x), expected)) << form;
  }
  bool compiles_ = false;
};

constexpr int parts = 4;

TEST_P(DrawingPrograms, DrawTheSameNumbersInEveryForm) {
  if (const std::uint64_t seed = fuzz::setting("RICCI_FUZZ_SEED", 0)) {
    if (GetParam() == 0) try_seed(seed);
    return;
  }
  const std::uint64_t programs = fuzz::setting("RICCI_FUZZ_PROGRAMS", 320);
  for (auto seed = static_cast<std::uint64_t>(GetParam()) + 1; seed <= programs; seed += parts) try_seed(seed);
  RecordProperty("checks", checks_);
}

INSTANTIATE_TEST_SUITE_P(, DrawingPrograms, testing::Range(0, parts),
                         [](const testing::TestParamInfo<int>& info) { return "Part" + std::to_string(info.param); });

}  // namespace
