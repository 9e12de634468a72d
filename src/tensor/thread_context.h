// What a thread is doing: all that operations, rules and errors ask of the thread they run on, on one page. A scope
// sets one field and puts it back (`With`). Knows nothing of what the fields point to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "ricci/dtype.h"
#include "tensor/level.h"

namespace ricci {

class DrawSource;
class GivenAway;
class Interpreter;
class ScalarWriter;
class StreamScope;
class SymbolTable;
struct AroundAllEquations;
struct BackwardPass;
struct Formula;
struct PassedRecordings;
struct ProgramRun;
struct RunningEquation;
struct RunningTable;
struct SetAside;
struct StandIns;
struct UserFunctionInRule;
namespace mpi::runs {
struct OwnValues;
}

struct ThreadContext {
  // ── the transforms ──
  Interpreter* innermost = nullptr;    // the innermost one that runs; null at the eager level
  Interpreter* of_the_user = nullptr;  // inside a rule: the innermost one of the user's call, for errors; else null
  Level no_grad_below = 0;             // differentiating levels up to this one are switched off by no_grad
  int running = 0;                     // how many transforms
  int narrowed_levels = 0;             // how many vmaps run only some of their examples
  int recordings_of_programs = 0;      // how many recordings see everything
  int operations_of_jets = 0;          // how many operations run that jets remember
  std::size_t given_up_seen = 0;       // how many of those that were given up this thread has looked for on its stack
  Level number = 0;                    // the thread's, in the lower bits of its levels; 0: it has none yet
  RunningTable* tables = nullptr;      // where it notes what it runs, for other threads
  const PassedRecordings* passed_recordings = nullptr;  // the last that were passed by

  // ── rules of custom operations ──
  const UserFunctionInRule* function_in_rule = nullptr;  // the innermost function of the user's that a rule runs
  const std::string* rule = nullptr;                     // what errors call the operation whose rule runs
  const SetAside* set_aside_elsewhere = nullptr;         // where the nest was taken that the thread has entered
  bool* captures = nullptr;  // where it is noted that a tensor was met which a rule does not reach; null: nowhere

  // ── draws ──
  DrawSource* draws = nullptr;     // the innermost source that draws ask first
  StreamScope* streams = nullptr;  // the innermost conditional, loop or step outside of vmaps and recorded programs

  // ── writes and programs ──
  GivenAway* given_away = nullptr;              // the elements that operations may write into
  const AroundAllEquations* watches = nullptr;  // who watches the equations of programs that are called
  const ProgramRun* program_run = nullptr;      // the innermost one
  int programs_around = 0;                      // how many programs enclose the one that is being parsed
  bool sets_plans_aside = false;                // whether programs run without their plans, to check a plan
  SymbolTable* symbols = nullptr;               // what symbolic sizes stand for; null: there are none
  std::optional<DType> default_dtype = {};      // of a scope

  // ── what is written down ──
  Formula* formula = nullptr;       // where `Written` values go
  ScalarWriter* scalars = nullptr;  // where `Typed` values go

  // ── lines that functions print ──
  std::int64_t lines_so_far = 0;   // how many lines this thread has printed or left out
  std::int64_t lines_printed = 0;  // lines with a lower number are left out: they were printed before
  static constexpr std::int64_t all_lines = std::numeric_limits<std::int64_t>::max();

  // ── what errors and profiles name, and what is looked for ──
  const char* called = nullptr;               // the operation that the user called
  const char* profiled = nullptr;             // the innermost span of time that is noted
  const BackwardPass* backward = nullptr;     // the innermost one
  const RunningEquation* equation = nullptr;  // the innermost one that runs
  int searches_for_nan = 0;                   // how many detect_anomaly live
  int typing_depth = -1;  // of conditionals in a branch that is written down for its type; -1: none is

  // ── between processes ──
  bool ranks_agree = false;                          // whether the ranks have compared what they are about to send
  const mpi::runs::OwnValues* own_values = nullptr;  // the innermost function that computes with values of one rank

  // ── work of several threads ──
  bool inside_work = false;  // whether it is a worker, or a caller whose work is under way

  // ── rules of recorded functions ──
  const std::shared_ptr<const StandIns>* stand_ins = nullptr;  // what stands for captured tensors; null: no rule runs
};

/// By initial-exec, as each small operation asks.
extern thread_local constinit ThreadContext this_thread __attribute__((tls_model("initial-exec")));

/// While it lives, a field of the thread's context has another value.
///   const With<&ThreadContext::no_grad_below> all_derivatives(0);
template <auto Field>
class With {
 public:
  using Type = std::remove_reference_t<decltype(std::declval<ThreadContext&>().*Field)>;
  explicit With(Type value) : before_(std::exchange(this_thread.*Field, value)) {}
  With(const With&) = delete;
  ~With() { this_thread.*Field = before_; }

 private:
  const Type before_;
};

}  // namespace ricci
