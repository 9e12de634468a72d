// What an equation costs, told from its rules and its types, and what the machine does in a second. Knows no operation
// by name.
#pragma once

#include <optional>

#include "compile/plan.h"
#include "program/program.h"
#include "ricci/primitive/formula.h"

namespace ricci::compiled {

/// LLVM makes code of so many plain operations in a second, at 9 to 15 us each.
inline constexpr std::size_t most_work_of_plan = 80'000;

struct Cost {
  double bytes = 0;             // of its operands and results; a view's are 0
  std::optional<double> flops;  // none: its rules do not tell
};

/// Of one run of the equation. `program` says the types of its variables.
Cost cost_of(const Program& program, const Equation& e);
/// Whether it takes as long as some twenty other words.
bool is_elementary(const Formula::Step& step);
/// Of one run of an operation of the library, roughly, its call included.
double nanoseconds_in_library(const Program& program, const Equation& e);
/// Of all its equations. Requires: its sizes are numbers, or those of a call.
double bytes_moved(const Program& program);

/// Whether the code of a kernel may stand where it runs, in a loop of a function whose other such kernels have so many
/// operations.
bool may_stand_in_place(const LanePlan& plan, double operations_of_others);
/// How large the values of a loop may be that stand in registers: its state and rows, and all that is its own.
inline constexpr std::int64_t most_bytes_in_registers = 2048, most_own_bytes_in_registers = 16 << 10;
/// How many elements a copy may have there: each is an instruction or none.
inline constexpr std::int64_t most_elements_in_registers = 256;

/// None where lanes of a loop that are done wait for the others.
std::optional<Refill> refill_of(const LanePlan& plan);

/// How many bytes a second this machine copies where it reads and writes so many again and again: they may stand in a
/// cache. On one core, or by all threads of the library. Measured once.
double copied_bytes_per_second(double bytes, bool by_all_threads);
/// How many multiplications and additions a second one core of this machine does in registers; measured once.
double operations_per_second(DType dtype);

}  // namespace ricci::compiled
