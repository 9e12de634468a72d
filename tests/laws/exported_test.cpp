// Laws of exported functions: an object file gives what the function gives, or is refused by name.
#include "support/exported.h"

#include <algorithm>
#include <string>
#include <vector>

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

class Exported : public laws::Law {
 protected:
  static void TearDownTestSuite() {
    if (refused_ > 0) std::cout << given_ << " functions are given as objects, " << refused_ << " are refused\n";
  }
  static inline int given_ = 0, refused_ = 0;
};

/// An exported function, and what to call it with.
struct Export {
  std::string name, text;
  Function f;
  List x;
  bool is_said;  // its elements are few real scalar operations, or another's
};

bool is_said(const Case& c) {
  constexpr std::size_t many = 1000;
  const ricci::Rules& rules = *c.rules;
  const bool is_real = std::ranges::none_of(c.inputs, [](const Tensor& x) { return ricci::is_complex(x.dtype()); });
  if (rules.is_view || rules.kind != ricci::Kind::elementwise || !rules.formula) return rules.is_view && is_real;
  return is_real && rules.formula(c.parameters.get()).steps.size() < many;
}

/// The operation alone, on five examples, and its pullback.
std::vector<Export> functions_of(const std::vector<Case>& cases) {
  std::vector<Export> all;
  bool said = false;
  const auto add = [&](const std::string& text, const Function& f, const List& x) {
    if (!x.empty()) all.push_back({"f" + std::to_string(all.size()), text, f, x, said});
  };
  for (const Case& c : cases) {
    said = is_said(c);
    add(c.text(), c, c.inputs);
    List examples;
    for (const Tensor& t : c.inputs) examples.push_back(ricci::stack(std::vector<Tensor>(5, t)));
    const Mapped axes(c.inputs.size(), ricci::Dim(0));
    add("vmap of " + c.text(), [c, axes](const List& x) { return laws::mapped(c, x, axes); }, examples);
    const Smooth s = laws::smooth_part(c);
    if (s.empty()) continue;
    add("vjp of " + c.text(), laws::pullback(s.f, s.x.size()), laws::joined(s.x, laws::directions(s.y, 60)));
  }
  return all;
}

TEST_P(Exported, GivesWhatTheFunctionGivesOrIsRefused) {
  if (!testing_support::makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE, and fused multiply-add";
  testing_support::Exports exports;
  std::vector<Export> made;
  for (const Export& e : functions_of(laws::cases_of(rules()))) {
    SCOPED_TRACE(e.text);
    count_case();
    const auto fast = ricci::compile([f = e.f](const List& x) { return f(x); });
    try {
      ricci::export_object(fast, exports.path(e.name), e.x);
      made.push_back(e);
      ++given_;
    } catch (const ricci::NotImplementedError& refused) {
      ++refused_;
      const std::string why = refused.what();
      EXPECT_EQ(why.find("export_object: "), 0U) << why;
      EXPECT_TRUE(!e.is_said || why.find("the C library has no digamma") != std::string::npos) << why;
    }
  }
  if (made.empty()) return;
  exports.link();
  for (const Export& e : made) {
    SCOPED_TRACE(e.text);
    const List expected = e.f(e.x);
    std::vector<Tensor> results(expected.begin(), expected.end());
    const int answer = exports.call(e.name, {e.x.begin(), e.x.end()}, results);
    // The derivative of a determinant takes another way at a singular matrix, which the object lacks.
    if (answer == 1 && rules().on_elements && e.text.starts_with("vjp")) continue;
    ASSERT_EQ(answer, 0);
    const double tolerance = laws::tolerance_of(ricci::float64) * rules().tolerance_factor;
    laws::expect_close(List(results.begin(), results.end()), expected, tolerance, "exported");
  }
}

FOR_ALL_OPERATIONS(Exported);

}  // namespace
