// A program made ready to run many times. Start with `plan_of`.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "compile/lane_steps.h"
#include "compile/native_function.h"
#include "program/program.h"
#include "ricci/compile.h"

namespace ricci::compiled {

/// How the plans of a compiled function are made and run.
struct PlanOptions {
  /// Where the function stands whose plans are held against their programs, as `ricci::at` writes it; none: they are
  /// not.
  std::optional<std::string> checked_at = {};
  Effort effort = Effort::normal;
  bool background = false;

  void print_parameter(std::string& out) const {
    out += checked_at ? "checked" : "plain";
    if (effort == Effort::high) out += " high";
    if (background) out += " background";
  }
  bool operator==(const PlanOptions&) const = default;
};

class LaterPlan;

/// A program that is one operation of the library: it runs without variables, operand lists and checks of arguments.
class OneOperation {
 public:
  /// None where the program is more, or the operation does more than give results of its own.
  static std::optional<OneOperation> of(const Program& program);
  /// Requires: it runs outside transforms, and the inputs have the types of the program's.
  Tensors run(const std::shared_ptr<const CallSizes>& sizes, std::span<const Tensor> inputs) const;

 private:
  explicit OneOperation(const Program& program) : program_(program) {}
  Program program_;
  SmallVector<int, 4> inputs_;  // by operand: which input of the program; -1: a number
  Tensors numbers_;             // by operand, where it is one
};

/// Steps in order. A step is an equation.
struct ProgramPlan {
  Program program;                           // simplified; its sizes are those of a call
  std::shared_ptr<const SymbolTable> table;  // of its symbols; null: there are none
  std::optional<OneKernel> kernel = {};
  std::optional<OneOperation> operation = {};    // where there is neither a kernel nor a function
  std::shared_ptr<NativeFunctions> native = {};  // where the kernel does not run, too
  std::shared_ptr<LaterPlan> later = {};         // which a thread makes; runs instead of this one once it is there

  std::size_t steps() const { return program.equations(); }
  /// `sizes`: of the call; null where the program has no open sizes. The results share memory with nothing.
  Tensors run(const std::shared_ptr<const CallSizes>& sizes, std::span<const Tensor> inputs) const;
  Explanation explain(const std::shared_ptr<const CallSizes>& sizes, std::span<const Tensor> inputs) const;
};

/// The plan of a program, made once and kept with it, by the options of the call that makes it.
std::shared_ptr<const ProgramPlan> plan_of(const Program& program, const PlanOptions& options = {});
/// The plan that is run in the end: waits for a thread that makes it.
std::shared_ptr<const ProgramPlan> finished(const std::shared_ptr<const ProgramPlan>& plan);
/// The one of its programs that runs for these sizes.
std::shared_ptr<const ProgramPlan> finished_at(const std::shared_ptr<const CallSizes>& sizes,
                                               const std::shared_ptr<const ProgramPlan>& plan);

/// A call of the program as one operation, which every transform finds.
Tensors apply_compiled(const Program& program, std::span<const Tensor> inputs, const PlanOptions& options);

}  // namespace ricci::compiled
