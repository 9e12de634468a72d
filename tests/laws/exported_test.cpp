// Laws of exported functions: an object file, or text in C, gives what the function gives, also for any number of
// examples, or is refused by name.
#include "support/exported.h"

#include <algorithm>
#include <string>
#include <vector>

#include "few_cases.h"
#include "law.h"
#include "ricci/primitive/formula.h"
#include "support/lane_kernels.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using laws::Mapped;
using laws::Smooth;
using ricci::Tensor;

/// A compiler and a linker take longer to start than they take for an operation, so these are tried together.
using Operations = std::vector<const ricci::Rules*>;

std::string name_of(const testing::TestParamInfo<Operations>& some) {
  return some.param.front()->name + std::string("_to_") + some.param.back()->name;
}

std::vector<Operations> all_operations() {
  constexpr std::size_t together = 12;
  std::vector<Operations> all;
  for (const ricci::Rules* rules : laws::operations()) {
    if (all.empty() || all.back().size() == together) all.emplace_back();
    all.back().push_back(rules);
  }
  return all;
}

class Exported : public testing::TestWithParam<Operations> {
 protected:
  static void TearDownTestSuite() {
    if (refused_ > 0) std::cout << given_ << " functions are given as objects, " << refused_ << " are refused\n";
    if (kernels_.empty()) return;
    const auto spills = std::ranges::count_if(kernels_, [](const auto& k) { return k.second > 0; });
    std::cout << kernels_.size() << " kernels in PTX take up to " << std::ranges::max(kernels_).first << " registers; "
              << spills << " of them spill\n";
  }
  static void expect_reason(const ricci::NotImplementedError& refused, bool is_said) {
    ++refused_;
    const std::string why = refused.what();
    EXPECT_EQ(why.find("export_object: "), 0U) << why;
    EXPECT_TRUE(!is_said || why.find("the C library has no digamma") != std::string::npos) << why;
  }
  void check_forms(const std::string& target);
  void check_examples(const std::string& target);
  static void check_ptx(const ricci::Rules& rules);
  static inline int given_ = 0, refused_ = 0;
  static inline std::vector<std::pair<int, int>> kernels_;  // in PTX: registers, bytes that are spilled
};

/// An exported function, and what to call it with.
struct Export {
  std::string name, text;
  Function f;
  List x;
  bool is_said;  // its elements are few real scalar operations, or another's
  const ricci::Rules* rules;
};

bool is_said(const Case& c) {
  constexpr std::size_t many = 1000;
  const ricci::Rules& rules = *c.rules;
  const bool is_real = std::ranges::none_of(c.inputs, [](const Tensor& x) { return ricci::is_complex(x.dtype()); });
  if (rules.is_view() || rules.kind != ricci::Kind::elementwise || !rules.formula()) return rules.is_view() && is_real;
  return is_real && rules.formula()(c.parameters.get()).steps.size() < many;
}

/// The operation alone, on five examples, and its pullback: all three for the first case, one for each later one.
std::vector<Export> functions_of(const ricci::Rules& rules) {
  std::vector<Export> all;
  bool said = false;
  std::size_t place = 0;
  const auto add = [&](const std::string& text, const Function& f, const List& x) {
    if (!x.empty()) all.push_back({rules.name + ("_" + std::to_string(all.size())), text, f, x, said, &rules});
  };
  for (const Case& c : laws::cases_of_few_shapes(rules)) {
    said = is_said(c);
    if (laws::takes_form(place, 0, 3)) add(c.text(), c, c.inputs);
    if (laws::takes_form(place, 1, 3)) {
      List examples;
      for (const Tensor& t : c.inputs) examples.push_back(ricci::stack(std::vector<Tensor>(5, t)));
      const Mapped axes(c.inputs.size(), ricci::Dim(0));
      add("vmap of " + c.text(), [c, axes](const List& x) { return laws::mapped(c, x, axes); }, examples);
    }
    const Smooth s = laws::smooth_part(c);
    if (laws::takes_form(place, 2, 3) && !s.empty())
      add("vjp of " + c.text(), laws::pullback(s.f, s.x.size()), laws::joined(s.x, laws::directions(s.y, 60)));
    place = laws::next_place(rules, place);
  }
  return all;
}

void Exported::check_forms(const std::string& target) {
  if (!testing_support::makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE, and fused multiply-add";
  testing_support::Exports exports;
  std::vector<Export> made;
  for (const ricci::Rules* rules : GetParam())
    for (const Export& e : functions_of(*rules)) {
      SCOPED_TRACE(e.text);
      laws::count_case(*rules);
      const auto fast = ricci::compile([f = e.f](const List& x) { return f(x); });
      try {
        ricci::export_object(fast, exports.path(e.name), {.target = target}, e.x);
        made.push_back(e);
        ++given_;
      } catch (const ricci::NotImplementedError& refused) { expect_reason(refused, e.is_said); }
    }
  if (made.empty()) return;
  // To optimise the long ones, of a beta function and of decompositions, takes a third of this law's time.
  target == "c" ? exports.compile_c("-O1", "-O0") : exports.link();
  for (const Export& e : made) {
    SCOPED_TRACE(e.text);
    const List expected = e.f(e.x);
    std::vector<Tensor> results(expected.begin(), expected.end());
    const int answer = exports.call(e.name, {e.x.begin(), e.x.end()}, results);
    // The derivative of a determinant takes another way at a singular matrix, which the object lacks.
    if (answer == 1 && e.rules->on_elements() && e.text.starts_with("vjp")) continue;
    EXPECT_EQ(answer, 0);
    if (answer != 0) continue;
    const double tolerance = laws::tolerance_of(ricci::float64) * e.rules->tolerance_factor;
    laws::expect_close(List(results.begin(), results.end()), expected, tolerance, "exported");
  }
}
TEST_P(Exported, GivesWhatTheFunctionGivesOrIsRefused) { check_forms(""); }
TEST_P(Exported, InCGivesWhatTheFunctionGivesOrIsRefused) { check_forms("c"); }

/// So many examples of a case, all different where its operands are floating.
List examples_of(const Case& c, std::int64_t count) {
  List examples;
  for (const Tensor& t : c.inputs) {
    std::vector<Tensor> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(ricci::is_floating(t.dtype()) ? t * (1 - i / 256.) : t);
    examples.push_back(ricci::stack(all));
  }
  return examples;
}

auto in_all(const Case& c) {
  return [c, axes = Mapped(c.inputs.size(), ricci::Dim(0))](const List& x) { return laws::mapped(c, x, axes); };
}

void Exported::check_examples(const std::string& target) {
  if (!testing_support::makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE, and fused multiply-add";
  testing_support::Exports exports;
  std::vector<std::pair<std::string, Case>> made;
  std::vector<Case> cases;
  for (const ricci::Rules* rules : GetParam())
    for (const Case& c : laws::cases_of_few_shapes(*rules))
      if (!c.inputs.empty()) cases.push_back(c);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text());
    laws::count_case(*c.rules);
    const std::string name = "f" + std::to_string(made.size());
    try {
      ricci::export_object(ricci::compile(in_all(c)), exports.path(name), {.open = 0, .target = target},
                           examples_of(c, 5));
      made.emplace_back(name, c);
      ++given_;
    } catch (const ricci::NotImplementedError& refused) {
      const List one = c(c.inputs);  // kernels know no complex numbers
      const bool is_real = std::ranges::none_of(one, [](const Tensor& y) { return ricci::is_complex(y.dtype()); });
      expect_reason(refused, is_said(c) && is_real);
    }
  }
  if (made.empty()) return;
  // What a compiler warns of only where it optimises, check_forms has seen in the same words, but for long ones.
  target == "c" ? exports.compile_c("-O0") : exports.link();
  for (const auto& [name, c] : made)
    for (const std::int64_t count : {1, 3, 21}) {
      SCOPED_TRACE(c.text() + " of " + std::to_string(count) + " examples");
      const List x = examples_of(c, count), expected = in_all(c)(x);
      std::vector<Tensor> results(expected.begin(), expected.end());
      const int answer = exports.call(name, {x.begin(), x.end()}, results, count);
      EXPECT_EQ(answer, 0);
      if (answer != 0) continue;
      const double tolerance = laws::tolerance_of(ricci::float64) * c.rules->tolerance_factor;
      laws::expect_close(List(results.begin(), results.end()), expected, tolerance, "exported");
    }
}
TEST_P(Exported, GivesAnyNumberOfExamplesWhatTheFunctionGivesThem) { check_examples(""); }
TEST_P(Exported, InCGivesAnyNumberOfExamplesWhatTheFunctionGivesThem) { check_examples("c"); }

/// A kernel of examples in PTX, of the first case that has one. NVIDIA's assembler takes it, where it is there.
void Exported::check_ptx(const ricci::Rules& rules) {
  testing_support::Exports exports;
  for (const Case& c : laws::cases_of_few_shapes(rules)) {
    if (c.inputs.empty()) continue;
    SCOPED_TRACE(c.text());
    laws::count_case(rules);
    try {
      ricci::export_object(ricci::compile(in_all(c)), exports.path("f"), {.open = 0, .target = "ptx"},
                           examples_of(c, 5));
    } catch (const ricci::NotImplementedError& refused) {
      EXPECT_EQ(std::string(refused.what()).find("export_object: "), 0U) << refused.what();
      continue;
    }
    const std::string text = exports.text("f.ptx");
    EXPECT_NE(text.find(".visible .entry f("), std::string::npos);
    constexpr std::size_t many = 400'000;  // of them the assembler makes code for minutes
    if (!testing_support::has_ptx_assembler() || text.size() > many) return;
    const auto [registers, spilled_bytes] = exports.assemble_ptx("f");
    EXPECT_GT(registers, 0);
    kernels_.emplace_back(registers, spilled_bytes);
    return;
  }
}
TEST_P(Exported, InPtxIsAKernelOrIsRefused) {
  if (!testing_support::makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE, and fused multiply-add";
  for (const ricci::Rules* rules : GetParam()) check_ptx(*rules);
}

INSTANTIATE_TEST_SUITE_P(, Exported, testing::ValuesIn(all_operations()), name_of);

}  // namespace
