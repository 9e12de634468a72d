// Random programs that are recorded: what is written down is read back as the same text, and gives what the function
// gives, for the sizes of the recording and for others unless it says that it relies on those.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <initializer_list>
#include <optional>

#include "compile/lane_steps.h"
#include "programs.h"
#include "support/simplified.h"

namespace {

using fuzz::Dice;
using fuzz::Program;
using fuzz::Tensor;
using fuzz::Thrown;
using fuzz::world;
namespace rc = ricci;

/// f(), or what its error says. Each call draws the same numbers.
template <class T>
struct Outcome {
  std::optional<T> value;
  std::string error = {};
};
template <class F>
auto outcome_of(const F& f) -> Outcome<decltype(f())> try {
  world().steps = 0;
  world().escaped.clear();
  rc::manual_seed(1);
  return {f()};
} catch (const rc::Error& error) { return {std::nullopt, error.what()}; } catch (const Thrown&) {
  return {std::nullopt, "thrown"};
}

bool says_one_of(const std::string& error, std::initializer_list<const char*> reasons) {
  return std::ranges::any_of(reasons, [&](const char* reason) { return error.find(reason) != std::string::npos; });
}

/// Sums in another order differ in their last digits, and a loop of a random program amplifies those.
/// `change`: how far the result moves where what it is computed from changes in its last digits. An inverse of a matrix
/// that is nearly singular amplifies those too.
void expect_same(const Tensor& actual, const Tensor& expected, rc::DType computed_in, double change = 0) {
  ASSERT_EQ(actual.dtype(), expected.dtype());
  ASSERT_EQ(rc::to_string(actual.shape()), rc::to_string(expected.shape()));
  const double digits = computed_in == rc::float64 ? 1e-9 : computed_in == rc::float32 ? 1e-3 : 0.05;
  const auto x = actual.to_vector<std::complex<double>>(), y = expected.to_vector<std::complex<double>>();
  double size = 1;
  for (const auto& element : y)
    if (std::isfinite(std::abs(element))) size = std::max(size, std::abs(element));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(std::abs(y[i]))) continue;  // where a sum overflows is a matter of its order
    const double bound = std::max(digits * size, 100 * change);
    EXPECT_LE(std::abs(x[i] - y[i]), bound) << "element " << i << ": " << x[i] << " for " << y[i];
  }
}

/// The largest change of a finite element of y = f(x) where x and the captured tensors become larger by four units in
/// the last place of float32.
template <class F>
double change_where_nudged(const F& f, const Tensor& x, const Tensor& y) {
  constexpr double factor = 1 + 4.8e-7;
  std::vector<Tensor> before;
  for (const Tensor& captured : world().captured) {
    before.push_back(captured.clone());
    if (rc::is_floating(captured.dtype())) captured.mul_(factor);
  }
  const std::optional<Tensor> moved = f(rc::is_floating(x.dtype()) ? x * factor : x);
  for (std::size_t i = 0; i < before.size(); ++i) world().captured[i].copy_(before[i]);
  if (!moved || !moved->defined() || !(moved->shape() == y.shape())) return 0;
  double change = 0;
  const auto a = moved->to_vector<std::complex<double>>(), b = y.to_vector<std::complex<double>>();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::isfinite(std::abs(a[i] - b[i]))) change = std::max(change, std::abs(a[i] - b[i]));
  return change;
}

/// A nan is what it was, and -0 is not 0.
std::string bits_of(const Tensor& x) {
  const auto elements = x.to_vector<std::complex<double>>();
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(elements[0])};
}

/// x with each axis longer than 1 longer by `more`: its elements again and again, with other signs.
Tensor longer(const Tensor& x, std::int64_t more) {
  if (more == 0) return x;
  std::vector<std::int64_t> sizes;
  for (int i = 0; i < x.dim(); ++i) sizes.push_back(x.size(i) > 1 ? x.size(i) + more : x.size(i));
  const rc::Shape shape(sizes);
  if (x.numel() == 0) return rc::zeros(shape, x.dtype());
  const Tensor flat = x.reshape({-1}), places = rc::arange(0, shape.numel().host(), 1) % x.numel();
  return -flat.index_select(0, places).reshape(shape);
}

/// Why a function that runs may not be recorded: it looks at values; or a branch or body that does not run, which is
/// recorded too, cannot run or gives another type.
constexpr std::initializer_list<const char*> reasons = {
    "is not known while",
    "the branches' results differ",
    "where another returns",
    "the state changes from",
    "whose randomness mode is error",
    "a derivative by forward mode was asked for",
    "a function is more than its text",
    "inside switch_case",
    "inside cond",
    "inside while_loop",
    "inside fori_loop",
    "inside scan",
    "inside map",
};

class RecordedPrograms : public testing::TestWithParam<int> {
 protected:
  void try_seed(std::uint64_t seed) {
    Dice dice(seed);
    const Program program = fuzz::random_program(dice, Program::deepest);
    const Tensor argument = fuzz::random_tensor(dice);
    const auto has = [&](const char* nesting) { return program.text.find(nesting) != std::string::npos; };
    if (program.writes || has("catch(") || has("thread(")) return;  // a recording throws where the function does not
    world().captured = fuzz::random_captured(dice);
    if (fuzz::setting("RICCI_FUZZ_SHOW", 0)) std::fprintf(stderr, "%lu: %s\n", seed, program.text.c_str());
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + program.text + " of " + rc::to_string(argument.shape()));
    try_program(program, argument);
    world().captured.clear();
    world().escaped.clear();
  }
  int recorded_ = 0, other_sizes_ = 0;

 private:
  void try_program(const Program& program, const Tensor& argument) {
    const auto eager = [&](const Tensor& x) { return outcome_of([&] { return program.run(x); }).value; };
    const std::optional<Tensor> expected = eager(argument);
    if (!expected || !expected->defined()) return;
    const auto [recorded, refusal] =
        outcome_of([&] { return rc::trace([&](Tensor x) { return program.run(x); })(argument); });
    if (!recorded) {
      EXPECT_TRUE(says_one_of(refusal, reasons)) << refusal;
      return;
    }
    const std::string text = rc::to_string(*recorded);
    SCOPED_TRACE(text);
    ++recorded_;
    rc::check(*recorded);
    const bool is_parsed = text.find("custom[") == std::string::npos;
    const rc::Program read = is_parsed ? rc::parse_program(text, recorded->captured()) : *recorded;
    EXPECT_EQ(rc::to_string(read), text);
    const rc::Program simplified = recorded->simplified();
    SCOPED_TRACE("simplified: " + rc::to_string(simplified));
    rc::check(simplified);
    EXPECT_EQ(rc::to_string(simplified.simplified()), rc::to_string(simplified));
    const rc::Program kernels = rc::compiled::with_lane_kernels(simplified);  // along an open size
    const rc::Program unrolled = rc::compiled::with_lane_kernels(simplified, {.most_unrolled = 16});
    const auto compiled = rc::compile([&](const Tensor& x) { return program.run(x); });
    // What was rounded to fewer digits on the way has no more.
    const auto digits_of = [&](const Tensor& y) {
      const bool has_halves = text.find("f16[") != std::string::npos;
      const rc::DType least = has_halves                               ? rc::float16
                              : text.find("f32[") != std::string::npos ? rc::float32
                                                                       : y.dtype();
      return std::min(least, y.dtype());
    };
    const auto expect_compiled = [&](const Tensor& x, const Tensor& y, const char* when) {
      const auto [found, refusal_of_call] = outcome_of([&] { return compiled(x); });
      if (!found && says_one_of(refusal_of_call, reasons)) return;
      ASSERT_TRUE(found) << when << ": " << refusal_of_call;
      expect_same(*found, y, digits_of(y), change_where_nudged(eager, x, y));
    };
    for (const std::int64_t more : {0, 1, 2}) {
      const Tensor x = longer(argument, more);
      const std::optional<Tensor> y = eager(x);
      if (!y || !y->defined()) continue;
      for (const rc::Program* p : {&kernels, &unrolled}) {
        if (p == &unrolled && more > 0) continue;
        SCOPED_TRACE("with kernels: " + rc::to_string(*p));
        const auto found = outcome_of([&] { return (*p)({x})[0]; });
        if (found.value) expect_same(*found.value, *y, digits_of(*y));
        else
          EXPECT_TRUE(more > 0 && says_one_of(found.error, {"record it again", "record the function again"}))
              << found.error;
      }
      for (const rc::Program* p : {&*recorded, &read}) {
        const auto [found, refusal_of_size] = outcome_of([&] { return (*p)({x})[0]; });
        if (!found && more > 0) {
          EXPECT_TRUE(says_one_of(refusal_of_size, {"record it again", "record the function again"}))
              << refusal_of_size;
          continue;
        }
        ASSERT_TRUE(found) << "more " << more << ": " << refusal_of_size;
        expect_same(*found, *y, y->dtype());
        other_sizes_ += more > 0;
      }
      expect_compiled(x, *y, "compiled");
      const auto found = outcome_of([&] { return simplified({x})[0]; });
      const auto whole = outcome_of([&] { return (*recorded)({x})[0]; });
      ASSERT_EQ(found.value.has_value(), whole.value.has_value()) << found.error << whole.error;
      if (!found.value) continue;
      const bool same_bits = bits_of(*found.value) == bits_of(*whole.value);
      EXPECT_TRUE(testing_support::is_kept_by_simplifying(*found.value, *whole.value, same_bits, text));
    }
    if (text.find("expect_equal") != std::string::npos) return;  // it relies on what was captured
    for (const Tensor& captured : world().captured) captured.neg_();
    if (const std::optional<Tensor> y = eager(argument); y && y->defined())
      expect_compiled(argument, *y, "compiled, after captured tensors were written");
  }
};

constexpr int parts = 4;

TEST_P(RecordedPrograms, GiveWhatTheFunctionGives) {
  if (const std::uint64_t seed = fuzz::setting("RICCI_FUZZ_SEED", 0)) {
    if (GetParam() == 0) try_seed(seed);
    return;
  }
  const std::uint64_t programs = fuzz::setting("RICCI_FUZZ_PROGRAMS", fuzz::programs_by_default);
  for (auto seed = static_cast<std::uint64_t>(GetParam()) + 1; seed <= programs; seed += parts) try_seed(seed);
  RecordProperty("recorded", recorded_);
  RecordProperty("other_sizes", other_sizes_);
  EXPECT_GT(recorded_, static_cast<int>(programs) / parts / 10) << "too few programs can be recorded";
  if (recorded_ > 0) { EXPECT_GT(other_sizes_, 0); }
}

INSTANTIATE_TEST_SUITE_P(, RecordedPrograms, testing::Range(0, parts),
                         [](const testing::TestParamInfo<int>& info) { return "Part" + std::to_string(info.param); });

}  // namespace
