// Operations that run programs: which programs, and how, as one fact. To state the fact, the struct of an operation has
// a member `ProgramsRun programs_run() const`. Knows no operation by name.
#pragma once

#include <cassert>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "program/program.h"

namespace ricci {

/// Turns of a loop. Operands: the state, tensors of which each turn reads one row, the places that turns draw from,
/// then what the programs read besides. Results: the state after the last turn, then what the turns gave, stacked. The
/// body gives the next state, its rows, and the next places.
struct Turns {
  const Program* condition = nullptr;  // of the state; null: there is none
  const Program* body = nullptr;       // of the state, the rows and the places
  std::size_t state = 0, rows = 0, streams = 0;
  std::size_t read_by_condition = 0, read_by_body = 0;  // the first operands that these read besides
  /// The number of turns, or with a condition the most: then the loop throws after so many. Not given: the loop has one
  /// turn for each row, and `turns_of` sets the number.
  std::optional<Size> most_turns = {};
  bool is_backward = false;  // from the last row to the first
  /// The last part of the state says which examples go on. Those that are done stay as they are, and the condition asks
  /// whether there is one left.
  bool asks_each_example = false;
  const char* name = nullptr;  // of one with a condition, as its user called it
};

/// A loop and ways back and forth through its turns: the first pass is the loop, the second begins with the last turn,
/// the third with the first, and so on in turn. Operands: of each pass its state, the places that it draws from and
/// what its body reads besides; before what the first body reads besides, what the condition does. Results: of each
/// pass the state after its last turn.
struct Passes {
  struct Pass {
    const Program* body;  // of the state, rows and places; gives the next state, its rows and the next places
    std::size_t state, streams;
    std::vector<std::int64_t> reads;  // numbers of rows: of all that the passes before it keep at each turn, in order
  };
  const Program* condition;  // of the first pass's state
  std::vector<Pass> all;
  std::int64_t most_turns;
  const char* name;        // of the loop, as its user called it
  bool keeps_few_of_them;  // of the states of the first pass: the others are computed again
};

/// One of several programs, which the first operand chooses by its number: false is 0, true is 1.
struct Branch {
  const Program* program;
  std::vector<std::size_t> operands;
};
using Branches = std::vector<Branch>;

/// A program whose results at the operands are those of the operation. All else that the operation has are rules for
/// transforms.
struct CalledProgram {
  const Program* program = nullptr;
  /// The equations of the program are not merged with equal ones around the call: a value that both used would be kept
  /// in memory from one to the other.
  bool stays_apart = false;
};

/// The first: none.
struct ProgramsRun : std::variant<std::monostate, Turns, Passes, Branches, CalledProgram> {
  using variant::variant;
};

inline ProgramsRun programs_run(const Rules& rules, const void* parameters) {
  return rules.programs_run ? rules.programs_run(parameters) : ProgramsRun();
}
/// Whether the equation runs programs in this way.
template <class How>
bool runs_as(const Equation& e) {
  return std::holds_alternative<How>(programs_run(*e.rules, e.parameters.get()));
}
/// How it does; none: it runs none in this way.
template <class How>
std::optional<How> run_as(const Rules& rules, const void* parameters) {
  ProgramsRun all = programs_run(rules, parameters);
  How* const how = std::get_if<How>(&all);
  return how ? std::optional<How>(std::move(*how)) : std::nullopt;
}
template <class How>
std::optional<How> run_as(const Equation& e) {
  return run_as<How>(*e.rules, e.parameters.get());
}
/// The turns with their number, for operands of these types.
inline std::optional<Turns> turns_of(const Rules& rules, const void* parameters, const Types& operands) {
  std::optional<Turns> turns = run_as<Turns>(rules, parameters);
  if (!turns || turns->most_turns) return turns;
  assert(turns->rows > 0);
  turns->most_turns = operands[turns->state].shape[0];
  return turns;
}
inline std::optional<Turns> turns_of(const Equation& e, const Types& operands) {
  return turns_of(*e.rules, e.parameters.get(), operands);
}
/// Whether it runs programs again and again.
inline bool repeats_programs(const Equation& e) {
  const ProgramsRun run = programs_run(*e.rules, e.parameters.get());
  return std::holds_alternative<Turns>(run) || std::holds_alternative<Passes>(run);
}
/// Of a call that stays apart; null: the equation is no such call.
inline const Program* program_apart(const Equation& e) {
  const CalledProgram call = run_as<CalledProgram>(e).value_or(CalledProgram());
  return call.stays_apart ? call.program : nullptr;
}

/// The last inputs of a program that runs again and again, from number `first_input` on, are the same each time. They
/// are operands of the operation, which follow one another in the same order. There may be any number of these: the
/// operation counts the program's inputs.
struct Repeated {
  const Program* program;  // among the parameters
  std::size_t first_input, first_operand;
};
/// In the order of their operands.
SmallVector<Repeated, 3> repeated_programs(const Rules& rules, const void* parameters);

}  // namespace ricci
