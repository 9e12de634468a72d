// Examples along an axis of a program, and whether they know nothing of each other. Knows the rules of operations, no
// operation by name. Start with `Examples`.
#pragma once

#include <memory>

#include "compile/lane_sizes.h"
#include "compile/lane_steps.h"
#include "program/program.h"

namespace ricci::compiled {

/// The examples of a program: how its tensors lie along them.
class Examples {
 public:
  /// `unknown`: the number of examples (`SymbolTable::unknown_of`). The body stays where it is. `takes_all`: equations
  /// that gain nothing, or round otherwise, where they run for some of the examples are apart, too: what examples
  /// share is computed again, a product of matrices has fewer rows, and a check of values comes later.
  Examples(const ProgramBody& body, const std::shared_ptr<const SymbolTable>& table, int unknown,
           bool takes_all = false);

  bool has(const Type& type) const;
  bool has_in_front(const Type& type) const;
  /// Whether each example of the equation's results is computed of the same one's operands, and of what has none: then
  /// the equation may run for some of the examples, as for the others. Requires: the table is installed.
  bool are_apart_in(const Equation& e) const;

 private:
  bool are_apart_in_turns(const Equation& e, const ProgramBody& part) const;
  bool are_apart_in_branches(const Equation& e) const;
  bool are_apart_in(const Program& program) const;
  bool are_along(Size size) const { return sizes_.is_lane(size); }
  const Type& type(Variable v) const { return body_.types[static_cast<std::size_t>(v)]; }
  bool are_apart_in(const LaneProgram& program, const Types& operands, const Types& results) const;
  bool lies_by_example(const Place& place, const Type& of) const;

  const ProgramBody& body_;
  const bool takes_all_;
  const ExpandOptions options_;
  const LaneSizes sizes_;
};

}  // namespace ricci::compiled
