// Inlining calls of programs.
#include "program/inlining.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "program/edit.h"
#include "program/programs_run.h"
#include "program/sample_sizes.h"
#include "program/structure.h"
#include "tensor/at.h"

namespace ricci {
namespace {

/// The program to inline; null: the equation stays. A program with sizes of its own asks for those of its call.
const Program* called_by(const ProgramBody& body, const Equation& e) {
  const CalledProgram call = run_as<CalledProgram>(e).value_or(CalledProgram());
  if (!call.program || call.stays_apart || call.program->call_sizes()) return nullptr;
  const ProgramBody& called = call.program->body();
  const auto has_type_of = [&](Variable operand, Variable input) {
    return are_same(body.types[at(operand)], called.types[at(input)]);
  };
  return !called.symbols && std::ranges::equal(e.inputs, called.inputs, has_type_of) ? call.program : nullptr;
}

/// Whether it is its operand but for derivatives, as `detach x` is.
bool only_cuts_derivatives(const Equation& e) { return is_plain_copy(e.op()) && e.rules->is_locally_constant(); }

bool has_more_than_runs(const Program& program) {
  const ProgramBody& body = program.body();
  return std::ranges::any_of(body.equations, [&](const Equation& e) {
    bool has = called_by(body, e) || only_cuts_derivatives(e);
    for_each_program(e.op(), [&](const Program& inner) { has = has || has_more_than_runs(inner); });
    return has;
  });
}

/// Takes the equations of the program, with all that it calls and runs, from `left`. False where they are more.
bool takes(const Program& program, std::size_t& left) {
  const ProgramBody& body = program.body();
  return std::ranges::all_of(body.equations, [&](const Equation& e) {
    if (left == 0) return false;
    --left;
    if (const Program* const called = called_by(body, e)) return takes(*called, left);
    bool all = true;
    for_each_program(e.op(), [&](const Program& inner) { all = all && takes(inner, left); });
    return all;
  });
}

Program inlined_up_to(const Program& program, std::size_t& left);

class Inlining {
 public:
  /// `left`: how many equations of called programs may still come in.
  Inlining(const ProgramBody& whole, std::size_t& left) : to_(whole), left_(left), same_as_(whole.types.size()) {
    for (std::size_t v = 0; v < same_as_.size(); ++v) same_as_[v] = static_cast<Variable>(v);
    to_.equations.clear();
    for (const Equation& e : whole.equations) add(e);
    for (Variable& v : to_.outputs) v = same_as_[at(v)];
  }
  Program result() const { return with_own_numbers(without_dead_equations(to_)); }

 private:
  void add(Equation e) {
    for (Variable& v : e.inputs) v = same_as_[at(v)];
    if (only_cuts_derivatives(e)) {
      same_as_[at(e.outputs[0])] = e.inputs[0];
      return;
    }
    const Program* const called = called_by(to_, e);
    if (called && (all_fit_ || fits(*called))) return add_equations(e, called->body());
    if (!called && e.rules->kind == Kind::custom)
      e.parameters = with_each_program(e.op(), [&](const Program& inner) {
        std::size_t any = SIZE_MAX;
        return inlined_up_to(inner, all_fit_ ? any : left_);
      });
    to_.equations.push_back(std::move(e));
  }
  bool fits(const Program& called) {
    std::size_t left = left_;
    if (!takes(called, left)) return false;
    left_ = left;
    return true;
  }
  void add_equations(const Equation& call, const ProgramBody& called) {
    std::vector<Variable> numbers(called.types.size(), -1);
    const auto define = [&](Variable v) { return numbers[at(v)] = defined(called, v); };
    for (std::size_t i = 0; i < call.inputs.size(); ++i) numbers[at(called.inputs[i])] = call.inputs[i];
    for (const Constant& c : called.constants) to_.constants.push_back({define(c.variable), c.value});
    for (const Capture& c : called.captures) to_.captures.push_back({define(c.variable), c.tensor});
    const bool all_fitted = std::exchange(all_fit_, true);
    for (Equation e : called.equations) {
      for (Variable& v : e.inputs) v = numbers[at(v)];
      for (Variable& v : e.outputs) v = define(v);
      e.origin = joined(e.origin, call.origin);
      add(std::move(e));
    }
    all_fit_ = all_fitted;
    for (std::size_t k = 0; k < call.outputs.size(); ++k)
      same_as_[at(call.outputs[k])] = same_as_[at(numbers[at(called.outputs[k])])];
  }
  Variable defined(const ProgramBody& called, Variable v) {
    to_.types.push_back(called.types[at(v)]);
    const auto number = static_cast<Variable>(to_.types.size() - 1);
    same_as_.push_back(number);
    if (const VmapsOfAxes::Row vmaps = called.vmaps.of(v); !vmaps.empty())
      to_.vmaps.set(number, to_.vmaps.number_of(vmaps));
    return number;
  }

  ProgramBody to_;
  std::size_t& left_;
  bool all_fit_ = false;           // in a called program: what it calls is counted already
  std::vector<Variable> same_as_;  // by variable: the one that has its value
};

Program inlined_up_to(const Program& program, std::size_t& left) {
  if (!has_more_than_runs(program)) return program;
  return Inlining(program.body(), left).result().in_call(program.shared_call_sizes());
}

}  // namespace

Program inlined(const Program& program, std::size_t most) { return inlined_up_to(program, most); }

}  // namespace ricci
