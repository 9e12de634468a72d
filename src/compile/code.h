// Machine code of a lane plan. The generator is a module of its own, loaded when the first kernel is made, so that a
// program which compiles nothing does not load LLVM. It reads plain data and calls nothing of the library but what it
// is given here.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compile/function_plan.h"

namespace ricci::compiled {

/// What code reads and writes: contiguous tensors by number, the number of lanes, and the slots, 8 bytes each, of which
/// the first holds the address of the call.
using OnceFunction = void (*)(const void* const* in, void* const* out, std::int64_t lanes, std::uint64_t* slots);
/// Lanes [begin, end), at least one register of them; the first `skip` of the first register take no part in totals.
/// `totals` gets a partial total each.
using LaneFunction = void (*)(const void* const* in, void* const* out, std::int64_t lanes, std::uint64_t* slots,
                              std::int64_t begin, std::int64_t end, std::int64_t skip, std::uint64_t* totals);
/// Joins `count` rows of partial totals into their slots.
using JoinFunction = void (*)(const std::uint64_t* totals, std::int64_t count, std::uint64_t* slots);

/// A function that is not needed is null.
struct StageCode {
  OnceFunction once = nullptr;
  LaneFunction lane = nullptr;
  JoinFunction join = nullptr;
};

struct Code {
  std::vector<StageCode> stages;
  int width = 1;  ///< lanes in a register
  void* owner = nullptr;
  void (*release)(void* owner) = nullptr;
  std::string error;  ///< not empty: there is no code
};

/// What the generator is given beside the plan.
struct Machine {
  int register_bytes, library_register_bytes;
  bool knows_exponents;
  /// The processor that code is made for, by LLVM's name; null: the one that runs.
  const char* processor;
  /// What code calls for a word that is no instruction: a function for registers of the library. Where the registers of
  /// code are narrower, code cannot call that function, and calls `call_in_memory`.
  void* (*function_of)(Word word, DType dtype);
  void (*call_in_memory)(Word word, DType dtype, const void* operands, void* result);
  double (*circular_limit)(DType dtype);
  /// Whether sin and cos are calls of the library's functions, which hold for every argument, and not their formulas.
  bool is_careful;
  /// What code calls where an argument was too large for a formula: all of a stage is computed again, carefully.
  /// Throws nothing.
  void (*careful_once)(void* call, std::int64_t stage, const void* const* in, void* const* out, std::int64_t lanes,
                       std::uint64_t* slots);
  void (*careful_lanes)(void* call, std::int64_t stage, const void* const* in, void* const* out, std::int64_t lanes,
                        std::uint64_t* slots, std::int64_t lane, std::int64_t skip, std::uint64_t* totals);
  std::string* dump;           ///< gets the code's text; null: none is wanted
  bool measures_only = false;  ///< only `Code::width` is asked for
  /// Of code that stands alone, without the library: libm's function for a word. Words that libm lacks, for which it is
  /// null, are added to `lacking`. Null: code calls the library.
  const char* (*name_in_libm)(Word word, DType dtype) = nullptr;
  std::vector<std::pair<Word, DType>>* lacking = nullptr;

  bool stands_alone() const { return name_in_libm != nullptr; }

  /// Of a function that runs in the library: computes its library call `number`. Of that and of turns in lanes: whether
  /// the caller wants the function to end. Both give 0 where the function is to go on.
  int (*call_step)(void* call, std::int64_t number, const void* const* in, void* const* out) = nullptr;
  int (*interrupts)(void* call) = nullptr;
  /// Makes room for another record, keeps those that are there; null: there is no memory.
  void* (*grow)(void* call, std::int64_t records, std::int64_t* capacity) = nullptr;
  void* (*copy)(void* to, const void* from, std::size_t bytes) = nullptr;
};

/// An object file with a function in C.
struct ObjectFile {
  std::string bytes;
  std::string processor;  ///< that it is made for
  std::string error;      ///< not empty: there is none
};

/// A plan as code in memory.
struct PlanCode {
  /// Gives 0. Gives 1 where the program throws for these values, or a step that the library computes has ended it, and
  /// `first_limit` + k where a loop would go beyond limit number k of the plan. `call` is handed to
  /// `Machine::call_step`.
  int (*run)(const void* const* arguments, void* const* results, void* workspace, void* call) = nullptr;
  static constexpr int first_limit = 2;
  void* owner = nullptr;
  void (*release)(void* owner) = nullptr;
  std::string error;  ///< not empty: there is no code
};

/// The module's functions, `ricci_generate`, `ricci_export` and `ricci_generate_plan`.
using Generate = void (*)(const LanePlan& plan, const Machine& machine, Code& code);
using Export = void (*)(const FunctionPlan& plan, const Machine& machine, ObjectFile& file);
using GeneratePlan = void (*)(const FunctionPlan& plan, const Machine& machine, PlanCode& code);

}  // namespace ricci::compiled
