// Running and checking programs.
#include "program/program.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "primitive/given.h"
#include "primitive/interpreter.h"
#include "primitive/wording.h"
#include "primitive/writing.h"
#include "program/printer.h"
#include "program/pruning.h"
#include "program/running.h"
#include "ricci/interruption.h"
#include "ricci/primitive/raise.h"
#include "tensor/at.h"

namespace ricci {
namespace {

std::shared_ptr<const CallSizes> sizes_of_call(const ProgramBody& body, std::span<const Tensor> inputs) {
  std::vector<Size> sizes;
  for (const Tensor& t : inputs)
    for (Size s : type_of(t).shape) sizes.push_back(s);
  return std::make_shared<const CallSizes>(body.symbols, std::move(sizes));
}

std::string remedy_of(const Guard& guard) {
  return (guard.remedy.empty() ? "" : guard.remedy + ", or ") + "record it again for these sizes";
}

/// Throws what a call of the user's relied on and does not hold; returns where nobody knows the call.
void raise_in_terms_of_the_call(const ProgramBody& body, const CallSizes& call, std::span<const Tensor> inputs) {
  std::vector<Size> numbers;
  for (const Size size : call.inputs()) numbers.push_back(size.hint());
  const Guard* guard = call.table().broken(numbers);
  const std::string origin = guard && guard->origin ? guard->origin() : std::string();
  if (origin.empty()) return;
  std::string before, now;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Type recorded = body.types[static_cast<std::size_t>(body.inputs[i])];
    for (Size& size : recorded.shape) size = call.table().hint(size);
    const Type found = type_of(inputs[i]);
    if (recorded.shape == found.shape) continue;
    before += (before.empty() ? "input " : ", input ") + std::to_string(i) + " " + to_string(recorded);
    now += (now.empty() ? "" : ", ") + to_string(found);
  }
  raise<ValueError>("program: " + origin + " was recorded for " + before + "; it is now " + now + "; " +
                    remedy_of(*guard));
}

/// Throws where the recording relied on something that does not hold for these sizes.
void check_guards(const ProgramBody& body, const CallSizes& call, std::span<const Tensor> inputs) {
  for (const Guard& g : call.table().guards()) {
    const Size left = call.table().evaluate(g.left, call.inputs());
    const Size right = call.table().evaluate(g.right, call.inputs());
    if (g.holds(left, right)) continue;
    raise_in_terms_of_the_call(body, call, inputs);
    raise<ValueError>("program: recorded where " + call.table().print(g.left) + to_string(g.relation) +
                      call.table().print(g.right) + ", called where they are " + std::to_string(left.hint()) + " and " +
                      std::to_string(right.hint()) + "; " + remedy_of(g));
  }
}

[[noreturn]] void raise_other_type(std::size_t input, const std::string& have, const ProgramBody& body) {
  const SymbolScope scope(or_those_here(body.symbols));
  raise<ValueError>("program: input " + std::to_string(input) + " is " + have + ", recorded for " +
                    symbolic_text(body.types[static_cast<std::size_t>(body.inputs[input])]) +
                    "; pass one of that type, or record the function again for this one");
}

void check_inputs(const Program& program, std::span<const Tensor> inputs) {
  const ProgramBody& body = program.body();
  if (inputs.size() != body.inputs.size())
    raise<ValueError>("program: called with " + count_of(std::ssize(inputs), "input", "inputs") + ", it has " +
                      std::to_string(body.inputs.size()) + "; pass one tensor for each");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Type &have = value_of(inputs[i])->type, &want = body.types[static_cast<std::size_t>(body.inputs[i])];
    const auto is_of_size = [&](Size found, Size wanted) {
      return found == (program.call_sizes() ? program.call_sizes()->of(wanted) : wanted);
    };
    const bool fits = have.dtype == want.dtype && have.rank() == want.rank() &&
                      (body.symbols || std::ranges::equal(have.shape, want.shape, is_of_size));
    if (!fits) raise_other_type(i, to_string(have), body);
  }
}

/// What a guard says of one size stands in the inputs' types.
void check_sizes(const ProgramBody& body, const CallSizes& call, std::span<const Tensor> inputs) {
  auto found = call.inputs().begin();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (Size wanted : body.types[static_cast<std::size_t>(body.inputs[i])].shape)
      if (call.of(wanted) != *found++) {
        raise_in_terms_of_the_call(body, call, inputs);
        raise_other_type(i, to_string(type_of(inputs[i])), body);
      }
  check_guards(body, call, inputs);
}

[[noreturn]] void raise_number_of_results(const char* name, const Equation& e, std::size_t found) {
  raise<ValueError>(std::string(name) + ": " + e.rules->name + " gives " + std::to_string(found) +
                    " results, its equation names " + std::to_string(e.outputs.size()) + "; name each of them");
}

/// The types of an equation's results; parameters that do not fit the operands are said with the operation's name.
Types types_given(const Equation& e, const Types& in) try {
  return types_of(e.op(), in);
} catch (const IndexError& error) { throw IndexError(std::string("check: ") + e.rules->name + ": " + error.what()); }

}  // namespace

int VmapsOfAxes::number_of(const Row& row) {
  auto known = std::find(rows_.rbegin(), rows_.rend(), row);  // the last are met again and again
  if (known == rows_.rend()) {
    rows_.push_back(row);
    known = rows_.rbegin();
  }
  return static_cast<int>(rows_.rend() - known) - 1;
}

Program with_fixed_sizes(Program program) {
  FixSizes fix;
  fix.program(program);
  return program;
}

Program::Program() : body_(new ProgramBody()) {}

std::size_t Program::equations() const { return body_->equations.size(); }
std::size_t Program::inputs() const { return body_->inputs.size(); }
std::vector<Tensor> Program::captured() const {
  std::vector<Tensor> captured;
  for (const Capture& capture : body_->captures) captured.push_back(capture.tensor);
  return captured;
}

void Program::print_parameter(std::string& out) const {
  out += to_string(*this);
  out.pop_back();  // the end of the last line
}

namespace {

/// The variables of a running program. Each is given up with its last use, so what runs holds no more than a function
/// would whose variables end as early as they can.
class RunningVariables {
 public:
  explicit RunningVariables(const ProgramBody& body) : tensors_(body.types.size()), uses_(body.types.size()) {
    for (const Equation& e : body.equations)
      for (Variable v : e.inputs) ++uses_[at(v)];
    for (Variable v : body.outputs) ++uses_[at(v)];
  }
  /// What nobody uses is not kept.
  void set(Variable v, Tensor value) {
    if (uses_[at(v)] > 0) tensors_[at(v)] = std::move(value);
  }
  Tensor use(Variable v) { return --uses_[at(v)] > 0 ? tensors_[at(v)] : std::move(tensors_[at(v)]); }

 private:
  SmallVector<Tensor, 16> tensors_;
  SmallVector<int, 16> uses_;  // still to come
};

/// The results of an operation whose operands nobody else needs where `operands` holds them alone: their elements may
/// become the result's.
Tensors apply_last(Op op, const Tensors& operands) {
  if (op.rules->kind == Kind::elementwise && !this_thread.innermost)
    if (Tensor result = applied_in_place(op, operands); result.defined()) return Tensors{std::move(result)};
  const auto apply = [&] { return apply_all(op, {operands.data(), operands.size()}); };
  if (!op.rules->overwrite) return apply();
  const bool ends = operands[1].cell()->refs.is(1);  // it may be a part of the first, which no cell says
  return GivenAway::from_handle(operands[0], apply, ends ? value_of(operands[1]).get() : nullptr);
}

}  // namespace

namespace {

/// One run of a program. `step(e, operands, compute)` calls `compute()`, which computes the equation.
template <class Step>
Tensors run(const Program& program, std::span<const Tensor> inputs, const Step& step) {
  allow_interruption();
  const ProgramBody& body = program.body();
  const ProgramRun numbered(body);
  const With<&ThreadContext::program_run> innermost(&numbered);
  check_inputs(program, inputs);
  std::shared_ptr<const CallSizes> sizes = program.shared_call_sizes();
  if (body.symbols) {
    sizes = sizes_of_call(body, inputs);
    check_sizes(body, *sizes, inputs);
  }
  const SizesOfRun for_errors = sizes_of_run(sizes.get());
  RunningVariables variables(body);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    variables.set(body.inputs[i], without_switched_off(inputs[i], "program"));
  for (const Constant& c : body.constants) variables.set(c.variable, wrap(c.value));
  for (const Capture& c : body.captures) variables.set(c.variable, without_switched_off(c.tensor, "program"));
  for (const Equation& e : body.equations) {
    Tensors operands;
    for (Variable v : e.inputs) operands.push_back(variables.use(v));
    step(e, operands, [&] {
      in_equation({.origin = e.origin.get(), .sizes = for_errors}, [&] {
        const OwnedParameters parameters = parameters_in_call(e, sizes);
        Tensors results = apply_last({e.rules, parameters.get()}, operands);
        if (results.size() != e.outputs.size()) raise_number_of_results("program", e, results.size());
        for (std::size_t i = 0; i < results.size(); ++i) variables.set(e.outputs[i], std::move(results[i]));
      });
    });
  }
  Tensors outputs;
  for (Variable v : body.outputs) outputs.push_back(in_own_cell(variables.use(v)));
  return outputs;
}

}  // namespace

std::vector<Tensor> Program::operator()(std::span<const Tensor> inputs) const {
  Tensors results = run_program(*this, inputs);
  return {std::make_move_iterator(results.begin()), std::make_move_iterator(results.end())};
}

Tensors run_program(const Program& program, std::span<const Tensor> inputs) {
  if (const AroundAllEquations* const around = this_thread.watches) [[unlikely]]
    return run(program, inputs, [&](const Equation& e, Tensors& operands, const auto& compute) {
      (*around)(program, e, operands, compute);
    });
  return run(program, inputs, [](const Equation&, const Tensors&, const auto& compute) { compute(); });
}

Tensors run_program(const Program& program, std::span<const Tensor> inputs, const AroundEquation& around) {
  return run(program, inputs,
             [&](const Equation& e, Tensors& operands, const auto& compute) { around(e, operands, compute); });
}

Types output_types(const Program& program) {
  Types types;
  for (const Variable v : program.body().outputs) types.push_back(type_of_variable(program, v));
  return types;
}

Program with_own_numbers(const ProgramBody& body) {
  auto compact = std::make_unique<ProgramBody>();
  std::vector<Variable> numbers(body.types.size(), -1);
  const auto define = [&](Variable v) {
    compact->types.push_back(body.types[static_cast<std::size_t>(v)]);
    const auto number = static_cast<Variable>(compact->types.size() - 1);
    if (const VmapsOfAxes::Row vmaps = body.vmaps.of(v); !vmaps.empty())
      compact->vmaps.set(number, compact->vmaps.number_of(vmaps));
    return numbers[static_cast<std::size_t>(v)] = number;
  };
  const auto number_of = [&](Variable v) { return numbers[static_cast<std::size_t>(v)]; };
  compact->symbols = body.symbols;
  compact->branches = body.branches;
  for (const Variable v : body.inputs) compact->inputs.push_back(define(v));
  for (const Constant& c : body.constants) compact->constants.push_back({define(c.variable), c.value});
  for (const Capture& c : body.captures) compact->captures.push_back({define(c.variable), c.tensor});
  for (Equation e : body.equations) {
    for (Variable& v : e.inputs) v = number_of(v);
    for (Variable& v : e.outputs) v = define(v);
    compact->equations.push_back(std::move(e));
  }
  for (const Variable v : body.outputs) compact->outputs.push_back(number_of(v));
  return Program(Shared<const ProgramBody>(compact.release()));
}

OwnedParameters parameters_in_call(const Equation& e, const std::shared_ptr<const CallSizes>& sizes) {
  if (!e.has_symbols || !sizes) return e.parameters;
  PutSizes put(sizes);
  return {e.rules->parameters, e.parameters.get(), put};
}

bool has_symbols(Op op) { return inside_symbol_scope() && any_symbol(op); }

bool draws(const Program& program) {
  const std::vector<Equation>& equations = program.body().equations;
  return std::any_of(equations.begin(), equations.end(),
                     [](const Equation& e) { return e.rules->draws && e.rules->draws(e.parameters.get()); });
}

namespace {

/// A 0-dim array that nobody else holds.
bool is_number_of_its_own(const Capture& capture) {
  const Value& value = *value_of(capture.tensor);
  return value.kind == ValueKind::array && value.type.shape.empty() && value.refs.is(1) &&
         capture.tensor.cell()->refs.is(1);
}

}  // namespace

bool holds_programs(Op op) {
  bool holds = false;
  for_each_program(op, [&](const Program&) { holds = true; });
  return holds;
}
bool any_inside(Op op, bool (*is)(const Rules& rules)) {
  bool found = is(*op.rules);
  for_each_program(op, [&](const Program& program) {
    found = found ||
            std::ranges::any_of(program.body().equations, [is](const Equation& e) { return any_inside(e.op(), is); });
  });
  return found;
}
bool has_effect(Op op) {
  return any_inside(op, [](const Rules& rules) { return rules.effect != Effect::no_effect; });
}
bool acts(Op op) {
  return any_inside(op, [](const Rules& rules) { return rules.effect == Effect::acts; });
}

namespace {

/// By variable: what these outputs and the effects read, they themselves included.
std::vector<bool> needed_for(const ProgramBody& body, std::span<const Variable> outputs) {
  std::vector<bool> needed(body.types.size());
  const auto is_needed = [&](Variable v) { return needed[static_cast<std::size_t>(v)]; };
  for (const Variable v : outputs) needed[static_cast<std::size_t>(v)] = true;
  for (auto e = body.equations.rbegin(); e != body.equations.rend(); ++e)
    if (is_computed(*e, is_needed))
      for (const Variable v : e->inputs) needed[static_cast<std::size_t>(v)] = true;
  return needed;
}

}  // namespace

Flags inputs_read(const ProgramBody& body, const Flags& outputs) {
  const std::vector<bool> needed = needed_for(body, left_of(body.outputs, outputs));
  Flags read;
  for (const Variable v : body.inputs) read.push_back(needed[static_cast<std::size_t>(v)]);
  return read;
}

Flags inputs_read_by_steps(const ProgramBody& step, std::size_t carried, Flags& outputs) {
  for (;;) {
    Flags read = inputs_read(step, outputs);
    bool is_stable = true;
    for (std::size_t i = 0; i < carried; ++i)
      if (read[i] && !outputs[i]) {
        outputs[i] = true;
        is_stable = false;
      }
    if (is_stable) return read;
  }
}

Program with_some(const Program& program, const Flags& inputs, const Flags& outputs) {
  ProgramBody body = program.body();
  body.inputs = left_of(body.inputs, inputs);
  body.outputs = left_of(body.outputs, outputs);
  return with_own_numbers(without_dead_equations(body));
}

ProgramBody without_dead_equations(const ProgramBody& body) {
  const std::vector<bool> needed = needed_for(body, body.outputs);
  ProgramBody live{.symbols = body.symbols,
                   .types = body.types,
                   .inputs = body.inputs,
                   .constants = {},
                   .captures = {},
                   .equations = {},
                   .outputs = body.outputs,
                   .vmaps = body.vmaps,
                   .branches = body.branches};
  std::ranges::copy_if(body.equations, std::back_inserter(live.equations), [&](const Equation& e) {
    return is_computed(e, [&](Variable v) { return needed[static_cast<std::size_t>(v)]; });
  });
  const auto is_needed = [&](const auto& known) { return needed[static_cast<std::size_t>(known.variable)]; };
  std::ranges::copy_if(body.constants, std::back_inserter(live.constants), is_needed);
  for (const Capture& c : body.captures) {
    if (!is_needed(c)) continue;
    if (is_number_of_its_own(c)) live.constants.push_back({c.variable, value_of(c.tensor)});
    else live.captures.push_back(c);
  }
  return live;
}

Program closed(const ProgramBody& whole, Values& captured) {
  Owned<ProgramBody> body(new ProgramBody(without_dead_equations(whole)));
  for (const Capture& capture : body->captures) {
    body->inputs.push_back(capture.variable);
    captured.push_back(value_of(capture.tensor));
  }
  body->captures.clear();
  return Program(Shared<const ProgramBody>(Owned<const ProgramBody>(body.release())));
}

void check(const Program& program) {
  const ProgramBody& body = program.body();
  const SymbolScope scope(or_those_here(body.symbols));
  std::vector<bool> defined(body.types.size());
  const auto define = [&](Variable v) {
    if (defined[static_cast<std::size_t>(v)])
      throw ValueError("check: a variable is defined twice; give each a name of its own, in\n" + to_string(program));
    defined[static_cast<std::size_t>(v)] = true;
  };
  for (Variable v : body.inputs) define(v);
  for (const Constant& c : body.constants) define(c.variable);
  for (const Capture& c : body.captures) define(c.variable);
  for (const Equation& e : body.equations) {
    Types in;
    for (Variable v : e.inputs) {
      if (!defined[static_cast<std::size_t>(v)])
        throw ValueError(std::string("check: ") + e.rules->name +
                         " uses a variable before it is defined; move its equation up, in\n" + to_string(program));
      in.push_back(body.types[static_cast<std::size_t>(v)]);
    }
    const Types out = types_given(e, in);
    if (out.size() != e.outputs.size()) raise_number_of_results("check", e, out.size());
    for (std::size_t i = 0; i < e.outputs.size(); ++i) {
      define(e.outputs[i]);
      if (!(out[i] == body.types[static_cast<std::size_t>(e.outputs[i])]))
        throw ValueError(std::string("check: ") + e.rules->name + " gives " + to_string(out[i]) +
                         ", the program says " + to_string(body.types[static_cast<std::size_t>(e.outputs[i])]) +
                         "; write the type it gives, in\n" + to_string(program));
    }
  }
  for (Variable v : body.outputs)
    if (!defined[static_cast<std::size_t>(v)])
      throw ValueError("check: an output is never defined; return one that is, in\n" + to_string(program));
}

}  // namespace ricci
