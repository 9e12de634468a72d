// The data of a program. Knows the rules of operations, no operation by name.
#pragma once

#include <memory>
#include <vector>

#include "ricci/primitive.h"
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
  bool has_symbols = false;  // among the parameters' sizes
  Op op() const { return {rules, parameters.get()}; }
};

/// A value from outside the recorded function, an input of the program like any other.
struct Capture {
  Variable variable;
  ValueRef value;
};

struct ProgramBody {
  std::shared_ptr<SymbolTable> symbols;  // of the inputs' sizes; null where all sizes are numbers
  std::vector<Type> types;               // of every variable
  std::vector<Variable> inputs;
  std::vector<Capture> captures;
  std::vector<Equation> equations;
  std::vector<Variable> outputs;
};

/// Sizes of a surrounding recording become numbers, under a guard there: the program is called where those hold.
Program with_fixed_sizes(Program program);

Types output_types(const Program& program);

/// The body without equations and captures that no output needs.
ProgramBody without_dead_equations(const ProgramBody& body);

}  // namespace ricci
