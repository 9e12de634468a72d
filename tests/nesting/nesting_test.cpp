// Every nesting of six transforms to depth four, on four formulas, against the closed formulas of their derivatives.
#include "support/chain.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Calls expect_chain for every chain of `depth` transforms.
void expect_all_chains(int depth, const Formula& formula, const Tensor& x) {
  const std::vector<Transform> six = six_transforms();
  std::vector<const Transform*> chain;
  const std::function<void()> extend = [&] {
    if (static_cast<int>(chain.size()) == depth) return expect_chain(chain, formula, x);
    for (const Transform& one : six) {
      chain.push_back(&one);
      extend();
      chain.pop_back();
      if (testing::Test::HasFatalFailure()) return;
    }
  };
  extend();
}

class Nesting : public testing::TestWithParam<Formula> {};

TEST_P(Nesting, OfOneTransformIsTheDerivative) { expect_all_chains(1, GetParam(), ramp({2, 3})); }
TEST_P(Nesting, OfTwoTransformsIsTheDerivative) { expect_all_chains(2, GetParam(), ramp({2, 2})); }
TEST_P(Nesting, OfThreeTransformsIsTheDerivative) { expect_all_chains(3, GetParam(), ramp({2, 2})); }
TEST_P(Nesting, OfFourTransformsIsTheDerivative) { expect_all_chains(4, GetParam(), ramp({2})); }
TEST_P(Nesting, OfFourTransformsOnANumberIsTheDerivative) { expect_all_chains(4, GetParam(), number(0.7)); }

std::string formula_name(const testing::TestParamInfo<Formula>& info) {
  static const char* const names[] = {"SineTimesSquare", "Quotient", "Choice", "InPlace"};
  return names[info.index];
}

INSTANTIATE_TEST_SUITE_P(Formulas, Nesting, testing::ValuesIn(all_formulas()), formula_name);

}  // namespace
