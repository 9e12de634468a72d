// One pass of simplifying over the equations of a program. Each rule looks at one equation whose operands are
// simplified already. The rules stand in simplify.cpp and simplify_….cpp; they know what the rules of operations say,
// no operation by name. Start with `add`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "primitive/interpreter.h"
#include "program/constants.h"
#include "program/element_layout.h"
#include "program/program.h"
#include "program/sample_sizes.h"

namespace ricci {

class Simplifier {
 public:
  Simplifier(const ProgramBody& from, const SampleSizes& sizes);
  Program result() const;

 private:
  /// Adds an equation whose operands stand there already, simplified, or has its results read from others.
  void add(Equation e);
  void simplify_programs_in(Equation& e) const;
  /// The variable of a number.
  Variable number(const ValueRef& value);
  /// A new equation of one result; gives the variable that has its value.
  Variable added(const Rules* rules, OwnedParameters parameters, const SmallVector<Variable, 3>& inputs,
                 const Type& type);

  /// A program inside another one has no symbols of its own: its sizes are numbers where it runs.
  const Type& type_of(Variable v) const { return to_.types[static_cast<std::size_t>(v)]; }
  /// What gives the variable; null for an input, a constant or a capture.
  const Equation* maker(Variable v) const {
    const std::size_t number = made_by_[static_cast<std::size_t>(v)];
    return number > 0 ? &to_.equations[number - 1] : nullptr;
  }
  /// Whether elements lie in row-major order, as a result does that is no view. Where they do not, a product of
  /// matrices may round otherwise. A vector's elements have one order.
  bool lies_dense(Variable v) const {
    const Equation* const made = maker(v);
    return type_of(v).rank() <= 1 || (made && !made->rules->is_view() && made->rules->kind != Kind::custom);
  }
  /// From here on, what reads v reads the other variable.
  void replace(Variable v, Variable by);
  void merge_constant(const Constant& c);

  // Views and parts (simplify_views.cpp).
  bool sees_past_view(Equation& e) const;
  bool sees_past_part(Equation& e) const;
  bool sees_past_copy(Equation& e);
  void sees_one_element(Equation& e);
  void makes_what_is_shown(Equation& e) const;
  std::optional<Variable> operand_it_gives(const Equation& e) const;
  std::optional<Variable> value_behind_view(const Equation& e) const;
  /// How the part of an array that the first of two equations shows or replaces lies to that of the second one.
  enum class Lies { apart, same, otherwise };
  Lies how_parts_lie(const Equation& a, const Equation& b) const;

  // Structural zeros, and ones (simplify_zeros.cpp).
  const Equation* zero_behind(Variable v) const;
  bool is_zero_now(Equation& e) const;
  bool has_formula(const Equation& e) const;
  bool adds(const Equation& e) const;
  bool is_one(Variable v) const;
  std::optional<Variable> operand_of_formula(const Equation& e) const;
  std::vector<const Equation*> parts_of(Variable v) const;
  bool joins_parts(Equation& e);
  bool joins_part(Equation& e, std::size_t parts, const Equation& part);
  bool joins_part_of_term(Equation& e, std::size_t sum, const Equation& part);

  // Loops (simplify_loops.cpp).
  template <class F>
  void for_each_repeated(Equation& e, const F& change);
  void share_captured(Equation& e);
  void move_out_of_loop(Equation& e);

  // What is known already (simplify.cpp).
  bool is_number_now(const Equation& e);
  bool is_merged(const Equation& e);

  const SampleSizes& sizes_;
  ProgramBody to_;
  std::vector<Variable> same_as_;     // by variable: the one that has its value
  std::vector<std::size_t> made_by_;  // by variable: the number of its equation, counted from 1; 0: none
  std::unordered_map<std::string, std::vector<std::size_t>> equations_;  // numbers, by the text of what they compute
  std::map<NumberBits, Variable> constants_;
  std::unordered_map<Variable, ValueRef> numbers_;  // the values of constants
};

/// Equal sizes print alike, and parameters may print less than they are: both must agree.
bool are_same_operation(const Equation& a, const Equation& b);

}  // namespace ricci
