// Putting the program of a step together: what a loop carries, what it reads of each step, what it draws from and what
// it captures, in this order, whatever the order in which a recording has them. Start with `Assembly`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "control/operands.h"
#include "custom/derived.h"
#include "program/program.h"

namespace ricci::runs {

/// Numbers the flagged ones from `first` on; the last entry is the number after them.
inline std::vector<std::size_t> places_of(const Flags& flags, std::size_t first) {
  std::vector<std::size_t> places;
  for (const bool flag : flags) {
    places.push_back(first);
    first += flag;
  }
  places.push_back(first);
  return places;
}

/// A step's inputs and outputs by role, with the operands that the loop begins with.
/// Inputs: the carry, slices, streams, captures. Outputs: the carry, rows, streams.
class Assembly {
 public:
  explicit Assembly(const Program& step) : body_(step.body()), in_(body_.inputs), out_(body_.outputs) {
    body_.inputs.clear();
    body_.outputs.clear();
  }

  /// The input or output number i of the step as it was recorded.
  Variable in(std::size_t i) const { return in_[i]; }
  Variable out(std::size_t i) const { return out_[i]; }
  /// An input that the step makes no use of.
  Variable unused(const Type& type) {
    body_.types.push_back(type);
    return static_cast<Variable>(body_.types.size() - 1);
  }

  void carry(Variable before, Variable after, const Tensor& first) {
    carry_.add(before, first);
    carried_.push_back(after);
  }
  void slice(Variable of_step) { slices_.push_back(of_step); }
  void stream(Variable before, Variable after, const Tensor& first) {
    streams_.add(before, first);
    streamed_.push_back(after);
  }
  void capture(Variable of_step, const Tensor& captured) { captures_.add(of_step, captured); }
  void row(Variable of_step) { rows_.push_back(of_step); }
  /// The number of these rows among all, new ones only where there are none of this output yet.
  std::size_t shared_row(Variable of_step) {
    const auto at = std::find(rows_.begin(), rows_.end(), of_step);
    const auto number = static_cast<std::size_t>(at - rows_.begin());
    if (at == rows_.end()) row(of_step);
    return number;
  }
  /// The streams and captures that a recording found, of a program with these inputs and outputs before them.
  void rest(const function::Closure& found, std::size_t inputs, std::size_t outputs) {
    for (const Tensor& place : found.streams) stream(in(inputs++), out(outputs++), place);
    for (const Tensor& captured : found.captured) capture(in(inputs++), captured);
  }

  const State& first_carry() const { return carry_.operands; }
  const State& first_streams() const { return streams_.operands; }
  const State& captured() const { return captures_.operands; }
  std::size_t rows() const { return rows_.size(); }
  Program program() const {
    ProgramBody body = body_;
    for (const auto* inputs : {&carry_.of_step, &slices_, &streams_.of_step, &captures_.of_step})
      body.inputs.insert(body.inputs.end(), inputs->begin(), inputs->end());
    for (const auto* outputs : {&carried_, &rows_, &streamed_})
      body.outputs.insert(body.outputs.end(), outputs->begin(), outputs->end());
    return Program(Shared<const ProgramBody>(new ProgramBody(without_dead_equations(body))));
  }

 private:
  struct Role {
    std::vector<Variable> of_step;
    State operands;
    void add(Variable v, const Tensor& operand) {
      of_step.push_back(v);
      operands.push_back(operand);
    }
  };
  ProgramBody body_;
  const std::vector<Variable> in_, out_;
  Role carry_, streams_, captures_;
  std::vector<Variable> slices_, carried_, rows_, streamed_;
};

}  // namespace ricci::runs
