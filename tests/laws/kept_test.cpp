// Laws of what reverse mode keeps: when nobody holds or reads the outputs of an operation on a tape, nothing.
#include <algorithm>
#include <string>

#include "law.h"
#include "ricci/primitive/pool.h"

namespace {

using laws::Case;
using laws::List;
using ricci::Tensor;

class Kept : public laws::Law {};

bool is_smooth(const Tensor& x) { return ricci::is_differentiable(x.dtype()); }

/// Every choice, one at least, of the inputs that can have a derivative.
std::vector<ricci::Mask> choices_of_inputs(const Case& c) {
  std::vector<unsigned> smooth;
  for (unsigned i = 0; i < c.inputs.size(); ++i)
    if (is_smooth(c.inputs[i])) smooth.push_back(i);
  smooth.resize(std::min<std::size_t>(smooth.size(), 4));
  std::vector<ricci::Mask> choices;
  for (unsigned bits = 1; bits < 1U << smooth.size(); ++bits) {
    unsigned chosen = 0;
    for (std::size_t k = 0; k < smooth.size(); ++k)
      if (bits >> k & 1U) chosen |= 1U << smooth[k];
    choices.emplace_back(chosen);
  }
  return choices;
}

std::string text_of(const ricci::Mask& wanted, std::size_t count) {
  std::string text = "derivatives of inputs";
  for (std::size_t i = 0; i < count; ++i)
    if (wanted[i]) text += " " + std::to_string(i);
  return text;
}

bool has_derivative(const Case& c) {
  const List y = c(c.inputs);
  return !c.rules->locally_constant && std::any_of(y.begin(), y.end(), is_smooth);
}

TEST_P(Kept, IsNothingWhenNobodyHoldsOrReadsTheOutputs) {
  for (const Case& c : laws::cases_of(rules())) {
    if (!has_derivative(c)) continue;
    SCOPED_TRACE(c.text());
    for (const ricci::Mask& wanted : choices_of_inputs(c)) {
      SCOPED_TRACE(text_of(wanted, c.inputs.size()));
      List x;
      for (const Tensor& input : c.inputs) x.push_back(input.clone());
      ricci::Tape tape;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (wanted[i]) tape.watch(x[i]);
      c(x);  // what the first call finds and keeps for the next ones
      const std::size_t before = ricci::pool::bytes_in_use();
      c(x);
      EXPECT_EQ(ricci::pool::bytes_in_use(), before);
      {
        const List y = c(x);
        List read;
        for (const Tensor& t : y)
          if (is_smooth(t)) read.push_back(t * t);
      }
      EXPECT_EQ(ricci::pool::bytes_in_use(), before) << "of outputs that were read by what nobody holds";
      count_case();
    }
  }
}

FOR_ALL_OPERATIONS(Kept);

}  // namespace
