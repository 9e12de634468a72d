// Laws of what reverse mode keeps: an operation on a tape keeps what its rule reads for the inputs that need a
// derivative, and nothing when nobody holds or reads its outputs.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "interpreters/record.h"
#include "law.h"
#include "primitive/derive.h"
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

unsigned keeps_for(const Case& c, const ricci::Mask& wanted) {
  unsigned keeps = ricci::nothing;
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    if (wanted[i]) keeps |= ricci::kept_for_input(*c.rules, i);
  return keeps;
}

std::string text_of(const ricci::Mask& wanted, std::size_t count) {
  std::string text = "derivatives of inputs";
  for (std::size_t i = 0; i < count; ++i)
    if (wanted[i]) text += " " + std::to_string(i);
  return text;
}

/// Records the reverse rule, to see which of its operands stand in an equation.
class RuleReads {
 public:
  Tensor operand(const Tensor& x, std::string name) {
    const Tensor shown = wrap(record_.add_input(ricci::type_of(x)));
    if (!name.empty()) operands_.push_back({variable_of(shown), std::move(name)});
    return shown;
  }
  void run(ricci::Op op, const ricci::Reverse& rule) {
    for (const Tensor& ct : ricci::cotangents_of(op, rule))
      if (ct.defined()) read_.insert(variable_of(ct));
    for (const ricci::Equation& equation : record_.body->equations)
      read_.insert(equation.inputs.begin(), equation.inputs.end());
  }
  /// By operand, whether it is read.
  std::map<std::string, bool> found() const {
    std::map<std::string, bool> all;
    for (const auto& [variable, name] : operands_) all[name] = read_.contains(variable);
    return all;
  }

 private:
  ricci::Variable variable_of(const Tensor& x) { return record_.variable_of(ricci::value_of(x)); }

  ricci::RecordInterpreter record_{ricci::Records::program, {}};
  std::vector<std::pair<ricci::Variable, std::string>> operands_;
  std::set<ricci::Variable> read_;
};

/// The operands that a tape keeps of the case, and whether the rule reads them.
std::map<std::string, bool> kept_of(const Case& c, const ricci::Mask& wanted) {
  List outputs;
  ricci::Residual residual;
  if (c.rules->keep) {
    ricci::Kept kept = c.rules->keep(c.parameters.get(), c.inputs, wanted);
    outputs.assign(kept.outputs.begin(), kept.outputs.end());
    residual = std::move(kept.residual);
  } else {
    outputs = c(c.inputs);
  }
  const unsigned keeps = keeps_for(c, wanted);
  RuleReads reads;
  List inputs_kept, outputs_kept, cotangents;
  ricci::Types input_types, output_types;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const bool kept = ricci::keeps_input(keeps, i);
    inputs_kept.push_back(kept ? reads.operand(c.inputs[i], "input " + std::to_string(i)) : Tensor());
    input_types.push_back(ricci::type_of(c.inputs[i]));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool kept = ricci::keeps_output(keeps, i);
    outputs_kept.push_back(kept ? reads.operand(outputs[i], "output " + std::to_string(i)) : Tensor());
    output_types.push_back(ricci::type_of(outputs[i]));
    cotangents.push_back(is_smooth(outputs[i]) ? reads.operand(outputs[i], "") : Tensor());
  }
  for (std::size_t i = 0; i < residual.tensors.size(); ++i)
    residual.tensors[i] = reads.operand(residual.tensors[i], "residual " + std::to_string(i));
  reads.run(c.op(), {.inputs = inputs_kept,
                     .outputs = outputs_kept,
                     .cotangents = cotangents,
                     .input_types = {input_types.data(), input_types.size()},
                     .output_types = {output_types.data(), output_types.size()},
                     .wanted = wanted,
                     .residual = c.rules->keep ? &residual : nullptr});
  return reads.found();
}

bool has_derivative(const Case& c) {
  const List y = c(c.inputs);
  return !c.rules->is_locally_constant() && std::any_of(y.begin(), y.end(), is_smooth);
}

/// Some rule may need an operand for some parameters and types alone, so it counts as read where one case reads it.
TEST_P(Kept, IsWhatTheReverseRuleReads) {
  std::map<std::string, std::map<std::string, bool>> is_read;  // by choice of inputs, by operand
  for (const Case& real : laws::cases_of(rules()))
    for (const Case& c : {real, laws::complexified(real)}) {
      if (c.inputs.empty() || !has_derivative(c)) continue;
      SCOPED_TRACE(c.text());
      for (const ricci::Mask& wanted : choices_of_inputs(c)) {
        auto& operands = is_read[text_of(wanted, c.inputs.size())];
        for (const auto& [operand, read] : kept_of(c, wanted)) operands[operand] |= read;
        count_case();
      }
    }
  for (const auto& [choice, operands] : is_read)
    for (const auto& [operand, read] : operands)
      EXPECT_TRUE(read) << operand << " is kept for " << choice << ", and no case reads it";
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
