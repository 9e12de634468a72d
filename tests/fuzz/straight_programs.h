// Straight programs: several operations, one after the other, on several arguments, with several results. The same for
// the same seed; they are data, so a program that fails can be cut down. Knows nothing of transforms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "world.h"

namespace fuzz {

using List = std::vector<Tensor>;

/// The axes of a value, a letter each: `n` and `m` stand for sizes that a run chooses, `d` for the smaller of the two.
using Form = std::string;

/// What the letters stand for.
struct FormSizes {
  std::int64_t n, m;
  rc::Shape shape(const Form& form) const;
};

struct StraightOperation;

struct StraightStep {
  const StraightOperation* operation;
  std::vector<std::size_t> from;  // numbers of values: the arguments, then what each step gives
  Form form;
  bool is_exact;  // computed element by element from the arguments, so that no sum is rounded on the way
};

struct StraightProgram {
  std::vector<Form> arguments;
  std::vector<StraightStep> steps;
  std::vector<std::size_t> results;

  std::size_t values() const { return arguments.size() + steps.size(); }
  const Form& form(std::size_t value) const;
  bool is_exact(std::size_t value) const;
  /// Requires: the inputs have the arguments' forms, behind axes of any transform.
  List run(const List& inputs) const;
  std::string text() const;

  /// Those with one step, result or argument less.
  std::vector<StraightProgram> cut() const;

  bool is_read(std::size_t value) const;  ///< by a step

 private:
  StraightProgram without(std::size_t value, std::size_t in_its_place) const;
};

StraightProgram random_straight_program(Dice& dice);

/// An operation by its text, such as `$0 * $1`, and its operands.
struct NamedStep {
  std::string operation;
  std::vector<std::size_t> from;
};
/// Its results are what no step uses. Requires: each operation takes its operands.
StraightProgram straight_program(std::vector<Form> arguments, const std::vector<NamedStep>& steps);

}  // namespace fuzz
