// Laws of linearity: an elementwise operation is linear in the inputs that it names, and names all in which it is.
#include <bit>
#include <cmath>
#include <string_view>

#include "law.h"
#include "ricci/primitive/loop_table.h"

namespace {

using laws::Case;
using laws::List;
using laws::Tensor;

class Linearity : public laws::Law {};

/// Whether the operation is linear jointly in the inputs of `set`, the others held, at two random points.
bool is_linear(const Case& c, unsigned set) {
  List x = c.inputs, y = c.inputs, between = c.inputs;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!(set >> i & 1U)) continue;
    const auto seed = static_cast<unsigned>(i);
    x[i] = laws::uniform(c.inputs[i].shape(), c.inputs[i].dtype(), -2, 2, 10 + seed);
    y[i] = laws::uniform(c.inputs[i].shape(), c.inputs[i].dtype(), -2, 2, 20 + seed);
    between[i] = 2 * x[i] - 3 * y[i];
  }
  const Tensor expected = 2 * c(x)[0] - 3 * c(y)[0], found = c(between)[0];
  const double error = abs(found - expected).max().item<double>(), size = abs(expected).max().item<double>();
  return error <= 1e-10 * std::max(1.0, size);  // not so where one is NaN
}

/// The inputs that may be anything: the others are conditions and numbers of choices.
unsigned floating_inputs(const Case& c) {
  unsigned set = 0;
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    if (c.inputs[i].dtype() == ricci::float64) set |= 1U << i;
  return set;
}

/// nan_to_num is linear on finite numbers alone; the points here are finite.
bool looks_linear(const ricci::Rules& rules) { return rules.name == std::string_view("nan_to_num"); }

TEST_P(Linearity, IsWhatTheOperationSays) {
  if (!rules().loops()->loop(ricci::float64)) return;
  unsigned alone = ~0U, joint = ~0U;  // linear in every case
  for (const Case& c : laws::elementwise_cases(rules(), ricci::float64)) {
    if (c.inputs.empty()) continue;
    const Tensor y = c(c.inputs)[0];
    if (y.numel() == 0 || !y.is_floating_point()) continue;
    SCOPED_TRACE(c.text());
    const unsigned all = floating_inputs(c);
    count_case();
    if (rules().linear_in != 0) { EXPECT_TRUE(is_linear(c, rules().linear_in)) << "jointly"; }
    for (unsigned bit = 1; bit <= all; bit <<= 1) {
      const bool is_linear_in_it = (all & bit) != 0 && is_linear(c, bit);
      if ((rules().linear_in_each & bit) != 0) { EXPECT_TRUE(is_linear_in_it) << "in input " << std::countr_zero(bit); }
      if (!is_linear_in_it) alone &= ~bit;
    }
    joint &= is_linear(c, all) ? all : 0U;
    alone &= all;
  }
  if (alone == ~0U || looks_linear(rules())) return;
  EXPECT_EQ(alone & ~(rules().linear_in | rules().linear_in_each), 0U) << "it is linear in more inputs than it says";
  EXPECT_EQ(joint & ~rules().linear_in, 0U) << "it is linear in all inputs together";
}

FOR_OPERATIONS(Linearity, laws::elementwise_operations());

}  // namespace
