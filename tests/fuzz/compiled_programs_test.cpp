// A law of compiled programs: a straight program of several operations, under none, one or two transforms, compiled,
// gives what it gives eagerly, with the same draws, at every size from 1 to 40. Where it fails it prints the smallest
// program that does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <tuple>

#include "laws/tolerances.h"
#include "programs.h"
#include "straight_programs.h"
#include "support/close.h"

namespace {

using fuzz::Dice;
using fuzz::FormSizes;
using fuzz::List;
using fuzz::StraightProgram;
using fuzz::Tensor;
namespace rc = ricci;

constexpr std::uint64_t straight_programs_by_default = 1000;
constexpr int parts = 8;  // that ctest runs at once
constexpr std::int64_t largest_size = 40;

// --- Transforms around a program

using Lists = std::function<List(const List&)>;

enum class Around : std::uint8_t { nothing, vmap, vjp, vmap_vjp, grad_grad, jvp_grad, vmap_grad, hessian };
constexpr const char* names[] = {"f",          "vmap(f)",   "vjp(f)",     "vmap(vjp(f))",
                                 "grad(grad)", "jvp(grad)", "vmap(grad)", "hessian"};
constexpr int arounds = static_cast<int>(std::size(names));

bool maps(Around around) { return around == Around::vmap || around == Around::vmap_vjp || around == Around::vmap_grad; }
bool takes_cotangents(Around around) { return around == Around::vjp || around == Around::vmap_vjp; }

/// A size of each letter, and how many examples there are.
struct Sizes {
  FormSizes of_axes;
  std::int64_t examples;
};

struct Trial {
  std::uint64_t seed;  // of its numbers
  StraightProgram program;
  Around around;
  unsigned watched;  // bits of arguments that the inner gradient is of
  unsigned mapped;   // bits of inputs that differ from example to example
  rc::DType dtype;
  Sizes first, second;
  bool checks;
  rc::Randomness randomness = rc::Randomness::different;

  std::string text() const {
    const auto of_sizes = [](const Sizes& s) {
      return "n " + std::to_string(s.of_axes.n) + ", m " + std::to_string(s.of_axes.m) + ", examples " +
             std::to_string(s.examples);
    };
    return std::string(names[static_cast<std::size_t>(around)]) + " of " + program.text() + " in " +
           rc::short_name(dtype) + ", watching " + std::to_string(watched) + ", mapping " + std::to_string(mapped) +
           (randomness == rc::Randomness::same ? ", same draws, " : ", ") + of_sizes(first) + ", then " +
           of_sizes(second) + ", numbers of " + std::to_string(seed);
  }
};

bool has(unsigned bits, std::size_t i) { return (bits >> i & 1U) != 0; }

Tensor total(const List& values) {
  Tensor all = rc::sum(values[0]);
  for (std::size_t i = 1; i < values.size(); ++i) all = all + rc::sum(values[i]);
  return all;
}

/// Of the sum of all results, with respect to some arguments.
List gradient(const StraightProgram& program, unsigned watched, const List& x) {
  List chosen;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (has(watched, i)) chosen.push_back(x[i]);
  return rc::grad([&](const List& w) {
    List all = x;
    auto next = w.begin();
    for (std::size_t i = 0; i < x.size(); ++i)
      if (has(watched, i)) all[i] = *next++;
    return total(program.run(all));
  })(chosen);
}

List joined(List a, const List& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Of all inputs: the arguments, then tangents or cotangents where the transform takes them.
Lists transformed(const Trial& trial) {
  const StraightProgram& program = trial.program;
  const unsigned watched = trial.watched;
  const auto count = static_cast<std::ptrdiff_t>(program.arguments.size());
  const Lists inner = [program, watched](const List& x) { return gradient(program, watched, x); };
  const Lists pulled = [program, count](const List& all) {
    const auto [y, pull] =
        rc::vjp([&](const List& x) { return program.run(x); }, List(all.begin(), all.begin() + count));
    return joined(y, pull(List(all.begin() + count, all.end())));
  };
  const auto mapped = [&](const Lists& f) {
    std::vector<rc::Dims> dims;
    const std::size_t inputs = program.arguments.size() + (takes_cotangents(trial.around) ? program.results.size() : 0);
    for (std::size_t i = 0; i < inputs; ++i) dims.emplace_back(has(trial.mapped, i) ? rc::Dim(0) : rc::Dim(rc::none));
    const rc::Dims of_one_argument(std::vector<rc::Dims>{rc::Dims(dims)});
    return Lists(rc::vmap(f, {.in_dims = of_one_argument, .randomness = trial.randomness}));
  };
  switch (trial.around) {
    case Around::nothing: return [program](const List& x) { return program.run(x); };
    case Around::vmap: return mapped([program](const List& x) { return program.run(x); });
    case Around::vjp: return pulled;
    case Around::vmap_vjp: return mapped(pulled);
    case Around::grad_grad:
      return [inner](const List& x) {
        return rc::grad([&](const List& y) {
          List squares;
          for (const Tensor& g : inner(y)) squares.push_back(g * g);
          return total(squares);
        })(x);
      };
    case Around::jvp_grad:
      return [inner, count](const List& all) {
        const auto [g, along] = rc::jvp(inner, std::tuple<List>(List(all.begin(), all.begin() + count)),
                                        std::tuple<List>(List(all.begin() + count, all.end())));
        return joined(g, along);
      };
    case Around::vmap_grad: return mapped(inner);
    case Around::hessian:
      return [program, watched, randomness = trial.randomness](const List& x) {
        std::size_t i = 0;
        while (!has(watched, i)) ++i;
        const auto f = [&](const Tensor& w) {
          List all = x;
          all[i] = w;
          return total(program.run(all));
        };
        return List{rc::hessian(f, {.randomness = randomness})(x[i])};
      };
  }
  return {};
}

List inputs(const Trial& trial, const Sizes& sizes) {
  Dice dice(trial.seed);
  List all;
  const auto add = [&](const fuzz::Form& form) {
    const bool differs = maps(trial.around) && has(trial.mapped, all.size());
    std::vector<std::int64_t> axes;
    if (differs) axes.push_back(sizes.examples);
    for (const rc::Size size : sizes.of_axes.shape(form)) axes.push_back(size.raw());
    const rc::Shape shape(axes);
    std::vector<double> values;
    for (std::int64_t i = shape.numel().raw(); i > 0; --i) values.push_back(dice.below(4001) / 1000.0 - 2);
    all.push_back(rc::tensor(values).reshape(shape).to(trial.dtype).clone());
  };
  const StraightProgram& program = trial.program;
  for (const fuzz::Form& form : program.arguments) add(form);
  if (trial.around == Around::jvp_grad)
    for (const fuzz::Form& form : program.arguments) add(form);
  if (takes_cotangents(trial.around))
    for (const std::size_t value : program.results) add(program.form(value));
  return all;
}

// --- What is held

/// Whether nothing is added on the way: then results have the same bits.
bool is_exact(const Trial& trial) {
  const bool differentiates = trial.around != Around::nothing && trial.around != Around::vmap;
  return !differentiates &&
         std::ranges::all_of(trial.program.results, [&](std::size_t value) { return trial.program.is_exact(value); });
}

/// By result, the largest change where the inputs change in their last digits: a program may amplify roundings, and
/// sums are rounded another way where they are compiled.
std::vector<double> changes_where_nudged(const Trial& trial, const Lists& f, const List& x, const List& y) {
  Dice dice(trial.seed);
  const double digit = trial.dtype == rc::float32 ? 0x1p-23 : 0x1p-52;
  List nudged;
  for (const Tensor& t : x) {
    std::vector<double> values = t.to_vector<double>();
    for (double& value : values) value *= 1 + digit * (dice.below(17) - 8);
    nudged.push_back(rc::tensor(values).reshape(t.shape()).to(t.dtype()));
  }
  rc::manual_seed(trial.seed);
  const List moved = f(nudged);
  std::vector<double> changes;
  for (std::size_t i = 0; i < y.size(); ++i) changes.push_back(rc::max(rc::abs(moved[i] - y[i])).item<double>());
  return changes;
}

/// What is wrong with the results; empty: nothing. `changes`: what may be, by result.
std::string difference(const List& found, const List& expected, double tolerance, const std::vector<double>& changes) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (to_string(found[i].shape()) != to_string(expected[i].shape()) || found[i].dtype() != expected[i].dtype())
      return "result " + std::to_string(i) + " has another type";
    const std::vector<double> a = found[i].to_vector<double>(), b = expected[i].to_vector<double>();
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (tolerance > 0 && !std::isfinite(b[k])) continue;  // where a sum overflows is a matter of its order
      if (testing_support::is_close(a[k], b[k], tolerance)) continue;
      if (!changes.empty() && std::abs(a[k] - b[k]) <= 100 * changes[i]) continue;
      char text[128];
      std::snprintf(text, sizeof text, "result %zu, element %zu is %.17g, expected %.17g", i, k, a[k], b[k]);
      return text;
    }
  }
  return "";
}

/// What is wrong with the trial; empty: nothing.
std::string fault_of(const Trial& trial) try {
  const Lists f = transformed(trial);
  const auto fast = rc::compile([f](const List& x) { return f(x); }, {.check = trial.checks});
  const double tolerance = is_exact(trial) ? 0 : laws::tolerance_of(trial.dtype);
  for (const Sizes* const sizes : {&trial.first, &trial.second}) {
    const List x = inputs(trial, *sizes);
    rc::manual_seed(trial.seed);
    const List expected = f(x);
    for (const char* const call : {"first call", "second call"}) {
      rc::manual_seed(trial.seed);
      const List found = fast(x);
      std::string wrong = difference(found, expected, tolerance, {});
      if (!wrong.empty() && tolerance > 0)
        wrong = difference(found, expected, tolerance, changes_where_nudged(trial, f, x, expected));
      if (!wrong.empty()) return std::string(sizes == &trial.first ? "" : "at the other sizes, ") + call + ": " + wrong;
    }
  }
  return "";
} catch (const std::exception& error) { return error.what(); }

std::vector<Trial> smaller(const Trial& trial) {
  std::vector<Trial> all;
  const auto add = [&](auto&& change) {
    Trial less = trial;
    change(less);
    all.push_back(less);
  };
  const auto are_same = [](const Sizes& a, const Sizes& b) {
    return a.of_axes.n == b.of_axes.n && a.of_axes.m == b.of_axes.m && a.examples == b.examples;
  };
  if (!are_same(trial.first, trial.second)) {
    add([](Trial& t) { t.second = t.first; });
    add([](Trial& t) { t.first = t.second; });
  }
  for (const StraightProgram& program : trial.program.cut()) {
    const unsigned watched = trial.watched & ((1U << program.arguments.size()) - 1);
    if (watched == 0) continue;
    add([&](Trial& t) {
      t.program = program;
      t.watched = watched;
    });
  }
  for (std::int64_t FormSizes::* const size : {&FormSizes::n, &FormSizes::m})
    for (const std::int64_t by : {8, 1})
      if (trial.first.of_axes.*size > by && trial.second.of_axes.*size > by)
        add([&](Trial& t) {
          t.first.of_axes.*size -= by;
          t.second.of_axes.*size -= by;
        });
  if (trial.first.examples > 1 && trial.second.examples > 1)
    add([](Trial& t) {
      --t.first.examples;
      --t.second.examples;
    });
  return all;
}

/// The smallest trial that this way leads to, and what is wrong with it.
std::pair<Trial, std::string> smallest(Trial trial, std::string fault) {
  for (bool found = true; found;) {
    found = false;
    for (const Trial& less : smaller(trial)) {
      const std::string now = fault_of(less);
      if (now.empty()) continue;
      trial = less;
      fault = now;
      found = true;
      break;
    }
  }
  return {trial, fault};
}

// --- Programs

std::int64_t random_size(Dice& dice) { return 1 + dice.below(static_cast<int>(largest_size)); }

Trial random_trial(std::uint64_t seed) {
  Dice dice(seed);
  const StraightProgram program = fuzz::random_straight_program(dice);
  const auto arguments = static_cast<int>(program.arguments.size());
  const auto around = static_cast<Around>(dice.below(arounds));
  const auto watched = static_cast<unsigned>(1 + dice.below((1 << arguments) - 1));
  const unsigned mapped = 1U | static_cast<unsigned>(dice.below(256));
  // Matrices of so many elements are taken apart into numbers under vmap, and long to compile: most trials do without.
  const bool spares = maps(around) && !dice.chance(10);
  const auto size = [&](std::int64_t n) { return spares && n > 6 && n <= 16 ? 1 + n % 6 : n; };
  const auto sizes = [&](std::int64_t n) {
    const std::int64_t m = size(random_size(dice));
    Sizes all{{size(n), m}, random_size(dice)};
    // An element of a hessian for each pair of elements.
    if (around == Around::hessian && program.arguments[static_cast<std::size_t>(std::countr_zero(watched))].size() == 2)
      all.of_axes = {1 + n % 8, 1 + m % 8};
    return all;
  };
  const auto n = static_cast<std::int64_t>(1 + seed % largest_size);
  const Sizes first = sizes(n), second = dice.chance(60) ? sizes(random_size(dice)) : first;
  return {.seed = seed,
          .program = program,
          .around = around,
          .watched = watched,
          .mapped = mapped,
          .dtype = dice.chance(50) ? rc::float32 : rc::float64,
          .first = first,
          .second = second,
          .checks = dice.chance(20),
          .randomness = dice.chance(50) ? rc::Randomness::same : rc::Randomness::different};
}

void expect_no_fault(const Trial& trial) {
  if (fuzz::setting("RICCI_FUZZ_SHOW", 0)) std::fprintf(stderr, "%s\n", trial.text().c_str());
  const std::string fault = fault_of(trial);
  if (fault.empty()) return;
  const auto [least, fault_of_least] = smallest(trial, fault);
  ADD_FAILURE() << trial.text() << "\n  " << fault << "\nthe smallest that fails: " << least.text() << "\n  "
                << fault_of_least;
}

class CompiledPrograms : public testing::TestWithParam<int> {};

TEST_P(CompiledPrograms, GiveWhatTheFunctionGivesAtEverySize) {
  if (const std::uint64_t seed = fuzz::setting("RICCI_FUZZ_SEED", 0)) {
    if (GetParam() == 0) expect_no_fault(random_trial(seed));
    return;
  }
  const std::uint64_t programs = fuzz::setting("RICCI_FUZZ_PROGRAMS", straight_programs_by_default);
  for (auto seed = static_cast<std::uint64_t>(GetParam()) + 1; seed <= programs; seed += parts) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_no_fault(random_trial(seed));
  }
}

INSTANTIATE_TEST_SUITE_P(, CompiledPrograms, testing::Range(0, parts),
                         [](const testing::TestParamInfo<int>& info) { return "Part" + std::to_string(info.param); });

/// Second derivatives of sums of whole matrices and of parts of them, of two arguments of which one is not read.
TEST(CompiledSecondDerivatives, GiveWhatTheFunctionGivesAtEverySize) {
  for (const fuzz::Form form : {"nn", "nm"}) {
    const StraightProgram all[] = {
        fuzz::straight_program({form, form}, {{"sin($0)", {1}}, {"diagonal($0)", {1}}}),
        fuzz::straight_program({form, form}, {{"cos($0)", {1}}, {"$0 * $1", {2, 1}}, {"$0[0]", {1}}}),
    };
    for (const StraightProgram& program : all)
      for (std::int64_t n = 1; n <= 24; ++n)
        for (const rc::DType dtype : {rc::float32, rc::float64}) {
          const Sizes sizes{{n, n + 1}, 1};
          expect_no_fault({.seed = 1,
                           .program = program,
                           .around = Around::grad_grad,
                           .watched = 2,
                           .mapped = 1,
                           .dtype = dtype,
                           .first = sizes,
                           .second = sizes,
                           .checks = false});
        }
  }
}

}  // namespace
