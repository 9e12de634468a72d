// Machine code of a plan. The generator is a module of its own, loaded when the first code is made, so that a program
// which compiles nothing does not load LLVM. It reads plain data and gives plain data: bytes that run wherever they are
// put, and the names of what they call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compile/function_plan.h"

namespace ricci::compiled {

/// What code reads and writes: contiguous tensors by number, the number of lanes, and the slots, 8 bytes each, of which
/// the first holds the address of the call.
using OnceFunction = void (*)(const void* const* in, void* const* out, std::int64_t lanes, std::uint64_t* slots);
/// Lanes [begin, end), at least one register of them, but where lanes are refilled; the first `skip` of the first
/// register take no part in totals. `totals` gets a partial total each.
using LaneFunction = void (*)(const void* const* in, void* const* out, std::int64_t lanes, std::uint64_t* slots,
                              std::int64_t begin, std::int64_t end, std::int64_t skip, std::uint64_t* totals);
/// The same of a plan that walks: for so many positions, from each to the next of which tensors move by these bytes.
/// `totals` gets the totals of all of them.
using WalkFunction = void (*)(const void* const* in, void* const* out, std::int64_t lanes, std::uint64_t* slots,
                              std::int64_t begin, std::int64_t end, std::int64_t skip, std::uint64_t* totals,
                              std::int64_t positions, const std::int64_t* in_steps, const std::int64_t* out_steps);
/// Joins `count` rows of partial totals into their slots.
using JoinFunction = void (*)(const std::uint64_t* totals, std::int64_t count, std::uint64_t* slots);
/// A plan's function. Gives 0. Gives 1 where the program throws for these values, or a step that the library computes
/// has ended it, and `first_limit` + k where a loop would go beyond limit number k of the plan. `call` is handed to
/// what the code calls.
using PlanFunctionInCode = int (*)(const void* const* arguments, void* const* results, void* workspace, void* call);
inline constexpr int first_limit = 2;

/// What code calls outside of itself. It throws nothing.
struct Callee {
  enum class What : std::uint8_t {
    word,            ///< `function_of(word, dtype)`
    word_in_memory,  ///< `call_in_memory`
    /// Where an argument of sin or cos was too large for a formula, all of a stage is computed again, carefully:
    /// void (call, stage, in, out, lanes, slots), and void (call, stage, in, out, lanes, slots, lane, skip, totals).
    careful_once,
    careful_lanes,
    interrupts,   ///< int (call): whether the caller wants the code to end
    call_step,    ///< int (call, number, in, out): whether the library call of this number wants the code to end
    grow,         ///< void* (call, records, capacity): room for another record, keeps those that are there; null: none
    copy,         ///< memcpy
    kernel_once,  ///< the functions of a kernel that has code of its own, by stage
    kernel_lane,
    kernel_join,
    kernel_call,  ///< no function: the call that this kernel's code is given
  };
  What what;
  Word word{};
  DType dtype{};
  std::int32_t kernel = 0, stage = 0;

  bool operator==(const Callee&) const = default;
};

/// Code that runs wherever it is put.
struct Image {
  struct Hole {
    Callee callee;
    std::uint64_t offset;  ///< where 8 bytes get the callee's address
  };
  std::string bytes;             ///< instructions, then what they read and write
  std::uint64_t code_bytes = 0;  ///< of the instructions: whole pages
  std::vector<Hole> holes = {};
  std::vector<std::int64_t> functions = {};  ///< offsets. Of a lane plan: once, lane, join of each stage; -1: none
  bool is_for_all_processes = false;         ///< else addresses of this process stand in it
  std::string error = {};                    ///< not empty: there is no code
};

/// What the generator is given beside the plan.
struct Machine {
  int register_bytes, library_register_bytes;
  bool knows_exponents;
  /// The system and the processor that code is made for, by LLVM's names; null: those that run.
  const char *triple, *processor;
  /// Whether code calls the library's functions of words in memory: where its registers are narrower than theirs.
  bool calls_in_memory;
  double (*circular_limit)(DType dtype);
  /// Whether sin and cos are calls of the library's functions, which hold for every argument, and not their formulas.
  bool is_careful;
  std::string* dump;                       ///< gets the code's text; null: none is wanted
  std::vector<Callee>* callees = nullptr;  ///< gets what the code calls
  /// Of code that stands alone, without the library: libm's function for a word, null where it has none; then a formula
  /// for the word. Words that have neither are added to `lacking`. Null: code calls the library.
  const char* (*name_in_libm)(Word word, DType dtype) = nullptr;
  std::optional<CalledFunction> (*formula_of)(Word word, DType dtype) = nullptr;
  std::vector<std::pair<Word, DType>>* lacking = nullptr;

  bool stands_alone() const { return name_in_libm != nullptr; }
};

/// An object file with a function in C.
struct ObjectFile {
  std::string bytes;
  std::string processor;  ///< that it is made for
  std::string error;      ///< not empty: there is none
};

/// The module's functions, `ricci_generate`, `ricci_generate_plan` and `ricci_export`.
using Generate = void (*)(const LanePlan& plan, const Machine& machine, Image& image);
using GeneratePlan = void (*)(const FunctionPlan& plan, const Machine& machine, Image& image);
using Export = void (*)(const FunctionPlan& plan, const Machine& machine, ObjectFile& file);

}  // namespace ricci::compiled
