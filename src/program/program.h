// The data of a program. Knows the rules of operations, no operation by name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "primitive/origin.h"
#include "program/made_once.h"
#include "program/pruning.h"
#include "program/sizes.h"
#include "ricci/program.h"
#include "tensor/symbols.h"
#include "tensor/value.h"

namespace ricci {

/// A variable is an index into ProgramBody::types.
using Variable = int;

struct Equation {
  const Rules* rules;
  OwnedParameters parameters;
  SmallVector<Variable, 3> inputs;
  SmallVector<Variable, 2> outputs;
  bool has_symbols = false;    // among the parameters' sizes
  OriginRef origin = nullptr;  // for errors
  Op op() const { return {rules, parameters.get()}; }
};

/// A number of the function's own, 0-dim: it prints where it is used.
struct Constant {
  Variable variable;
  ValueRef value;
};

/// A tensor from outside the recorded function, an input of the program like any other. The program reads it each time
/// it runs.
struct Capture {
  Variable variable;
  Tensor tensor;
};

/// The vmaps whose examples lie along the first axes of variables, outermost first, each as a number of its own. It is
/// for readers, and for a plan that looks for lanes: no value depends on it.
class VmapsOfAxes {
 public:
  using Row = SmallVector<int, 2>;
  Row of(Variable v) const {
    const bool has_row = static_cast<std::size_t>(v) < row_of_.size() && row_of_[static_cast<std::size_t>(v)] >= 0;
    return has_row ? rows_[static_cast<std::size_t>(row_of_[static_cast<std::size_t>(v)])] : Row();
  }
  /// A number for set.
  int number_of(const Row& row);
  /// The longer one stays of two that are said of one variable.
  void set(Variable v, int row) {
    const auto place = static_cast<std::size_t>(v);
    while (row_of_.size() <= place) row_of_.push_back(-1);
    int& now = row_of_[place];
    const auto size = [this](int r) { return r < 0 ? 0 : rows_[static_cast<std::size_t>(r)].size(); };
    if (size(row) > size(now)) now = row;
  }

 private:
  std::vector<int> row_of_;  // by variable, as far as any has one; -1: none
  std::vector<Row> rows_;    // each once
};

struct ProgramBody {
  std::shared_ptr<SymbolTable> symbols;  // of the inputs' sizes; null where all sizes are numbers
  std::vector<Type> types;               // of every variable
  std::vector<Variable> inputs;
  std::vector<Constant> constants;
  std::vector<Capture> captures;
  std::vector<Equation> equations;
  std::vector<Variable> outputs;
  VmapsOfAxes vmaps;
  std::uint64_t branches = 0;  // conditionals and loops that the function ran through, one after the other
  MadeOnce made = {};          // from this program
};

/// Sizes of a surrounding recording become numbers, under a guard there: the program is called where those hold.
Program with_fixed_sizes(Program program);

/// With the sizes of the call that runs the program, if there is one.
Type type_of_variable(const Program& program, Variable v);
Types output_types(const Program& program);
/// `Program::simplified` of a program whose symbols are those of `table`, which is installed.
Program simplified_in(const SymbolTable& table, const Program& program);
/// The program with the sizes of the call that runs it written into it, as an equation may hold it.
Program resolved(const Program& program);
/// Whether an operation in it draws from a place.
bool draws(const Program& program);

/// Whether a size among the operation's parameters is a symbol of the table that is installed: `Equation::has_symbols`.
bool has_symbols(Op op);
/// The equation's parameters with the sizes of a call; as they are where there are none.
OwnedParameters parameters_in_call(const Equation& e, const std::shared_ptr<const CallSizes>& sizes);
/// Calls f with each program among the parameters of the operation.
template <class F>
void for_each_program(Op op, const F& f) {
  if (op.rules->kind != Kind::custom) return;
  struct Visit final : ParameterVisitor {
    const F& f;
    explicit Visit(const F& f) : ParameterVisitor(Mode::reads), f(f) {}
    void program(Program& program) override { f(std::as_const(program)); }
  } visit(f);
  op.rules->parameters.walk(op.parameters, visit);
}
/// Whether the operation has a program among its parameters.
bool holds_programs(Op op);
/// Whether `is` says so of the operation, or of one in a program among its parameters.
bool any_inside(Op op, bool (*is)(const Rules& rules));
/// Whether the operation does anything besides its results, itself or in a program among its parameters.
bool has_effect(Op op);
/// Whether the operation acts each time it runs (Effect::acts), itself or in a program among its parameters.
bool acts(Op op);
/// Whether a program computes the equation: for its effect, or for an output that is needed.
template <class IsNeeded>
bool is_computed(const Equation& e, const IsNeeded& is_needed) {
  return std::ranges::any_of(e.outputs, is_needed) || has_effect(e.op());
}
/// The body without equations, constants and captures that neither an output nor an effect needs. A captured
/// number that nobody else holds any more, such as the bound of a loop, is a constant.
ProgramBody without_dead_equations(const ProgramBody& body);
/// Which inputs the body reads for some of its outputs and for its effects.
Flags inputs_read(const ProgramBody& body, const Flags& outputs);
/// Of the body of a step, whose first outputs are the next state. Adds to `outputs` the state that the step reads for
/// them, until nothing more is read. Gives the inputs that are read.
Flags inputs_read_by_steps(const ProgramBody& step, std::size_t carried, Flags& outputs);
/// The program of some of its inputs and outputs. Requires: these outputs read no other input.
Program with_some(const Program& program, const Flags& inputs, const Flags& outputs);
/// The body as a program whose variables are numbered in their order, without those that stand in no equation.
Program with_own_numbers(const ProgramBody& body);
/// The body of a recording as a program whose captured tensors are inputs, behind its own; appends their values.
Program closed(const ProgramBody& body, Values& captured);

}  // namespace ricci
