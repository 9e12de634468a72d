// Plans, and the operation that runs them.
#include "compile/program_plan.h"

#include <algorithm>
#include <new>
#include <ostream>
#include <vector>

#include "compile/contractions.h"
#include "compile/costs.h"
#include "compile/later_plan.h"
#include "compile/plan_check.h"
#include "compile/switches.h"
#include "custom/call.h"
#include "ops/debug.h"
#include "primitive/interpreter.h"
#include "program/inlining.h"
#include "program/programs_run.h"
#include "program/running.h"
#include "ricci/compile.h"
#include "ricci/interruption.h"

namespace ricci::compiled {

std::shared_ptr<const ProgramPlan> finished(const std::shared_ptr<const ProgramPlan>& plan) {
  if (!plan->later) return plan;
  plan->later->wait();
  return plan->later->if_made() ? plan->later->if_made() : plan;
}

std::shared_ptr<const ProgramPlan> finished_at(const std::shared_ptr<const CallSizes>& sizes,
                                               const std::shared_ptr<const ProgramPlan>& plan) {
  const std::shared_ptr<const ProgramPlan> made = finished(plan);
  const std::optional<Program> program = made->native ? made->native->make_program_at(sizes) : std::nullopt;
  return program ? std::make_shared<const ProgramPlan>(ProgramPlan{.program = *program, .table = nullptr}) : made;
}

std::optional<OneOperation> OneOperation::of(const Program& program) {
  const ProgramBody& body = program.body();
  if (body.equations.size() != 1 || body.symbols || !body.captures.empty()) return std::nullopt;
  const Equation& e = body.equations[0];
  const Rules& rules = *e.rules;
  const bool gives_results_alone = rules.kind != Kind::custom && rules.effect == Effect::no_effect &&
                                   !rules.is_view() && !rules.home && !rules.draws;
  if (!gives_results_alone || !std::ranges::equal(e.outputs, body.outputs)) return std::nullopt;
  OneOperation one(program);
  for (const Variable v : e.inputs) {
    const auto input = std::ranges::find(body.inputs, v);
    const auto number = std::ranges::find(body.constants, v, &Constant::variable);
    const bool is_input = input != body.inputs.end();
    one.inputs_.push_back(is_input ? static_cast<int>(input - body.inputs.begin()) : -1);
    one.numbers_.push_back(is_input ? Tensor() : make_tensor(number->value, 0));
  }
  return one;
}

Tensors OneOperation::run(const std::shared_ptr<const CallSizes>& sizes, std::span<const Tensor> inputs) const {
  allow_interruption();
  const Equation& e = program_.body().equations[0];
  Tensors operands;
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    operands.push_back(inputs_[k] < 0 ? numbers_[k] : inputs[static_cast<std::size_t>(inputs_[k])]);
  return in_equation({.origin = e.origin.get(), .sizes = sizes_of_run(sizes.get())}, [&] {
    const OwnedParameters parameters = parameters_in_call(e, sizes);
    return apply_all({e.rules, parameters.get()}, {operands.data(), operands.size()});
  });
}

Tensors ProgramPlan::run(const std::shared_ptr<const CallSizes>& sizes, std::span<const Tensor> inputs) const {
  const ProgramPlan& now = later && later->if_made() ? *later->if_made() : *this;
  const bool is_outermost = !this_thread.innermost;
  if (is_outermost && now.operation && !this_thread.watches) return now.operation->run(sizes, inputs);
  Tensors results;
  const bool is_done = is_outermost && ((now.kernel && now.kernel->run(inputs, results)) ||
                                        (now.native && now.native->run(sizes, inputs, results)));
  if (!is_done) results = run_program(now.program.in_call(sizes), inputs);
  return results;
}

namespace {

ExpandOptions expand_options(std::shared_ptr<const SymbolTable> table, Effort effort) {
  ExpandOptions options{.table = std::move(table)};
  if (effort == Effort::normal) options.work_left = std::make_shared<std::size_t>(most_work_of_plan);
  else options.most_of_formula = SIZE_MAX;
  return options;
}
/// With RICCI_COMPILE_WITHOUT=lanes in the environment every program stays as it is.
Program in_lanes(const Program& program, const ExpandOptions& options) {
  return is_listed("RICCI_COMPILE_WITHOUT", "lanes") ? program : with_kernels_throughout(program, options);
}
/// With RICCI_COMPILE_WITHOUT=inlining custom functions stay steps. So do calls of long programs: where each function
/// calls the one before it twice, the equations double each time.
Program with_calls_inlined(const Program& program) {
  constexpr std::size_t most_equations = 4'000;
  return is_listed("RICCI_COMPILE_WITHOUT", "inlining") ? program : inlined(program, most_equations);
}
/// A program keeps its plan: a plan that kept that program would keep both for ever.
Program copy_of(const Program& program) { return Program(Shared<const ProgramBody>(new ProgramBody(program.body()))); }

std::shared_ptr<const ProgramPlan> plan_without_code(const Program& program, std::shared_ptr<const SymbolTable> table) {
  return std::make_shared<const ProgramPlan>(ProgramPlan{.program = program, .table = std::move(table)});
}

/// `program`: simplified. `call`: its sizes in the call that makes the plan. `is_dropped`: as in make_code.
std::shared_ptr<const ProgramPlan> plan_with_code(const Program& program, const std::shared_ptr<const CallSizes>& call,
                                                  Effort effort, const std::atomic<bool>* is_dropped = nullptr) {
  const std::shared_ptr<const SymbolTable> table = call ? call->shared_table() : nullptr;
  const Program in_kernels = in_lanes(program, expand_options(table, effort));
  const bool has_sizes = call && !call->inputs().empty();  // which a call chooses kernels by
  const auto fewer = has_sizes
                         ? std::nullopt
                         : with_contractions(resolved(program.in_call(call)), bytes_moved(in_kernels.in_call(call)));
  const Program planned = fewer ? fewer->planned : in_kernels;
  const Program own = &planned.body() == &program.body() ? copy_of(planned) : planned;
  ProgramPlan plan{.program = own,
                   .table = table,
                   .kernel = OneKernel::of(own),
                   .native = NativeFunctions::of(own, copy_of(program))};
  if (!plan.kernel && !plan.native) plan.operation = OneOperation::of(own);
  // Sizes that have kernels of their own do without the others, whose code is made where another size comes. In the
  // background there is time for both, and `prepare` makes these kernels.
  const bool has_own_kernels = !is_dropped && plan.native && plan.native->make_program_at(call);
  if (!has_own_kernels) make_code(planned, is_dropped);
  return std::make_shared<const ProgramPlan>(std::move(plan));
}

}  // namespace

std::shared_ptr<const ProgramPlan> plan_of(const Program& program, const PlanOptions& options) {
  const bool has_symbols_of_others = !program.call_sizes() && inside_symbol_scope();
  if (has_symbols_of_others) return plan_without_code(program, {});
  const auto plan = program.body().made.get<ProgramPlan>("plan", [&] {
    // One with open sizes was simplified where it was made, with its symbols at hand.
    const CallSizes* const sizes = program.call_sizes();
    const Program at_no_call = with_calls_inlined(program.in_call(nullptr));
    const Program simplified = sizes ? at_no_call : at_no_call.simplified();
    const std::shared_ptr<const CallSizes> call = program.shared_call_sizes();
    if (!options.background) return plan_with_code(simplified, call, options.effort);
    const Program own = copy_of(simplified);
    ProgramPlan now{.program = own, .table = sizes ? sizes->shared_table() : nullptr};
    const auto make = [own, call, effort = options.effort](const auto& is_dropped) {
      auto plan = plan_with_code(own, call, effort, &is_dropped);
      try {
        if (plan->native && !plan->kernel && !is_dropped) plan->native->prepare(call);
      } catch (const std::bad_alloc&) {}  // a call will make it
      return plan;
    };
    now.later = std::make_shared<LaterPlan>(make);
    return std::make_shared<const ProgramPlan>(std::move(now));
  });
  if (plan->later) plan->later->begin();
  return plan;
}

namespace {

/// A compiled function as one operation. Operands: the program's inputs.
struct CompiledCall {
  using kind = Custom;
  static constexpr const char* name = "compiled";
  Program f;
  PlanOptions options;

  Types type(const Types& inputs) const { return function::type_of_call(f, inputs); }
  /// One that is checked runs its own plan.
  ProgramsRun programs_run() const { return options.checked_at ? ProgramsRun() : CalledProgram{&f}; }
  Tensors call(std::span<const Tensor> inputs) const {
    if (this_thread.sets_plans_aside) return run_program(f, inputs);
    const auto run = [&] { return plan_of(f, options)->run(f.shared_call_sizes(), inputs); };
    if (!options.checked_at || this_thread.innermost) return run();
    const auto name_of = [](std::size_t i) {
      return "result " + std::to_string(i) + " of a program that transforms made";
    };
    return checked(run, f, inputs, name_of, *options.checked_at);
  }
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const {
    return function::keep_call(apply(), f, inputs, wanted);
  }
  Tensors vjp(const Reverse& rule) const { return function::pull_call(apply(), f, rule); }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    return function::push_call(apply(), f, inputs, tangents);
  }
  BatchedOutputs batch(const Batch& batch) const { return function::batch_call(apply(), f, batch); }

 private:
  /// Of programs derived from this one.
  function::ApplyCall apply() const {
    return [this](const Program& program, std::span<const Tensor> inputs) {
      return apply_compiled(program, inputs, options);
    };
  }
};

}  // namespace

/// A program that draws runs under the transforms around it: the transforms say what its examples draw. A program that
/// prints becomes part of the program that is recorded, which prints at each call, also where no operand is of the
/// recording.
Tensors apply_compiled(const Program& program, std::span<const Tensor> inputs, const PlanOptions& options) {
  const bool is_recorded = this_thread.recordings_of_programs > 0;
  if ((this_thread.innermost && draws(program)) || (is_recorded && prints(program)))
    return run_program(program, inputs);
  return ricci::apply(CompiledCall{program, options}, inputs);
}

}  // namespace ricci::compiled

namespace ricci {

std::size_t Plan::steps() const { return state_->steps(); }

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  if (!plan.state_->table) return out << plan.state_->program;
  SymbolTable table(*plan.state_->table);
  const SymbolScope scope(&table);
  return out << plan.state_->program;
}

}  // namespace ricci
