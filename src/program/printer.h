// The words of a program's text: names of variables, types, operands. Text and pictures of a program use the same.
// Start with `Printer`.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"

namespace ricci {

/// `f32[i=s0,3]`, by the table that is installed; `vmap_names`: of the vmaps along the first axes.
std::string symbolic_text(const Type& type, std::span<const std::string> vmap_names = {});

/// Names variables in the order in which they are asked for: a … z, then a1 … z1. Requires, for types with symbols: the
/// program's table is installed.
class Printer {
 public:
  explicit Printer(const ProgramBody& body);

  const std::string& name(Variable v);
  /// `f32[i=s0,3]`
  std::string type(Variable v);
  /// `a: f32[64,4]`
  std::string declaration(Variable v);
  /// `x: f32[64,3]; w: f32[3,4]`: captured tensors stand behind the semicolon.
  std::string inputs();
  /// ` state(b c) condition(a)`
  std::string operands(const Equation& e);
  /// `[axes=(0,1)]`; nothing where there are none.
  static std::string parameters(const Equation& e);

 private:
  std::vector<std::string> vmaps_of(Variable v);
  std::string list(const std::vector<Variable>& variables);

  const ProgramBody& body_;
  std::vector<std::string> names_;
  std::map<int, std::string> vmaps_;
  std::size_t used_ = 0;
};

}  // namespace ricci
