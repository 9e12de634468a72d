// The pass over equations: operations, branches, loops, called programs; numbers that choose places.
#include "sparse/dependence.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "control/operands.h"
#include "ops/axes.h"
#include "primitive/interpreter.h"
#include "program/programs_run.h"
#include "program/structure.h"
#include "ricci/interruption.h"
#include "ricci/ops.h"
#include "tensor/at.h"

namespace ricci::sparse {
namespace {

/// A loop is followed turn by turn for so many equations; a longer one to where nothing new is added.
constexpr std::int64_t most_equations_followed = std::int64_t{1} << 24;

class Pass {
 public:
  explicit Pass(ElementSets& sets) : sets_(sets) {}

  /// `wanted`: the outputs whose numbers are asked for.
  Dependences run(const Program& program, Dependences inputs, const Flags& wanted);

 private:
  Flags inputs_wanted(const ProgramBody& body, const Flags& outputs);
  void mark(const Equation& e, std::vector<bool>& wanted);
  Flags state_wanted(const Turns& turns, Flags state);
  std::vector<bool> variables_wanted(const ProgramBody& body, const Flags& outputs);

  Dependences results_of(const Program& in, const Equation& e, Dependences& operands, const Flags& wanted);
  Dependences one_of(const std::vector<Branch>& branches, const Dependences& operands, const Flags& wanted);
  Dependences turned(const Turns& turns, const Dependences& operands, const Flags& wanted, Dependences results);
  bool join(Dependence& into, const Dependence& other);

  ElementSets& sets_;
  std::map<std::pair<const ProgramBody*, std::vector<bool>>, Flags> inputs_wanted_;
};

// ── which numbers are asked for: those that choose places or branches, and what they follow from ──

std::vector<bool> Pass::variables_wanted(const ProgramBody& body, const Flags& outputs) {
  std::vector<bool> wanted(body.types.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i]) wanted[at(body.outputs[i])] = true;
  for (auto e = body.equations.rbegin(); e != body.equations.rend(); ++e) mark(*e, wanted);
  return wanted;
}

Flags Pass::inputs_wanted(const ProgramBody& body, const Flags& outputs) {
  const std::pair key(&body, std::vector<bool>(outputs.begin(), outputs.end()));
  if (const auto known = inputs_wanted_.find(key); known != inputs_wanted_.end()) return known->second;
  const std::vector<bool> wanted = variables_wanted(body, outputs);
  Flags inputs;
  for (const Variable v : body.inputs) inputs.push_back(wanted[at(v)]);
  return inputs_wanted_[key] = inputs;
}

/// Of a loop's state: what the condition and the next turns ask for.
Flags Pass::state_wanted(const Turns& turns, Flags state) {
  if (turns.condition) {
    const Flags asked = inputs_wanted(turns.condition->body(), Flags(1, true));
    for (std::size_t i = 0; i < turns.state; ++i) state[i] |= asked[i];
  }
  for (bool is_new = true; is_new;) {
    is_new = false;
    Flags outputs(turns.body->body().outputs.size(), false);
    std::copy(state.begin(), state.end(), outputs.begin());
    const Flags asked = inputs_wanted(turns.body->body(), outputs);
    for (std::size_t i = 0; i < turns.state; ++i) {
      is_new = is_new || (asked[i] && !state[i]);
      state[i] |= asked[i];
    }
  }
  return state;
}

void Pass::mark(const Equation& e, std::vector<bool>& wanted) {
  const Rules& rules = *e.rules;
  Flags outputs;
  for (const Variable v : e.outputs) outputs.push_back(wanted[at(v)]);
  const auto want = [&](std::size_t operand) { wanted[at(e.inputs[operand])] = true; };
  const auto want_some = [&](const Flags& inputs, const auto& operand_of) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]) want(operand_of(i));
  };
  const ProgramsRun run = programs_run(rules, e.parameters.get());
  if (const auto* const branches = std::get_if<Branches>(&run)) {
    want(0);
    for (const Branch& branch : *branches)
      want_some(inputs_wanted(branch.program->body(), outputs), [&](std::size_t i) { return branch.operands[i]; });
    return;
  }
  if (const auto* const of = std::get_if<Turns>(&run)) {
    const Turns& turns = *of;
    Flags state(turns.state, false);
    for (std::size_t i = 0; i < turns.state; ++i) state[i] = outputs[i];
    state = state_wanted(turns, state);
    Flags of_body(turns.body->body().outputs.size(), false);
    std::copy(state.begin(), state.end(), of_body.begin());
    const std::size_t front = turns.state + turns.rows + turns.streams;
    want_some(inputs_wanted(turns.body->body(), of_body),
              [&](std::size_t i) { return i < front ? i : turns.read_by_body + i - front; });
    want_some(state, [](std::size_t i) { return i; });
    if (turns.condition)
      want_some(inputs_wanted(turns.condition->body(), Flags(1, true)),
                [&](std::size_t i) { return i < turns.state ? i : turns.read_by_condition + i - turns.state; });
    return;
  }
  if (const auto* const call = std::get_if<CalledProgram>(&run))
    return want_some(inputs_wanted(call->program->body(), outputs), [](std::size_t i) { return i; });
  const bool all = std::ranges::any_of(outputs, [](bool flag) { return flag; });
  const unsigned moves = rules.moves_elements ? rules.moves_elements(e.parameters.get()) : ~0U;
  const auto places = structure_as<AtPlaces>(e.op());
  const std::size_t first_index = !places ? e.inputs.size() : places->what == AtPlaces::What::reads ? 1 : 2;
  for (std::size_t i = 0; i < e.inputs.size(); ++i)
    if (all || i >= first_index || (moves != 0 && i < 32 && !(moves >> i & 1U))) want(i);
}

// ── equations ──

/// The values of an operation on known values. None where each run may give others, or the operation throws.
Values numbers_of(Op op, const Dependences& operands) {
  const Rules& rules = *op.rules;
  if (rules.kind == Kind::custom || rules.home || rules.effect != Effect::no_effect ||
      (rules.draws && rules.draws(op.parameters)))
    return {};
  Values values;
  for (const Dependence& x : operands) {
    if (!x.number) return {};
    values.push_back(x.number);
  }
  try {
    return evaluate(op, {values.data(), values.size()});
  } catch (const Error&) { return {}; }
}

bool is_true(const Value& question) {
  const auto& array = static_cast<const Array&>(question);
  return *static_cast<const bool*>(array.data);
}

/// Which branch a question names, as far as it is known.
std::optional<std::int64_t> branch_of(const ValueRef& question) {
  if (!question || question->type.shape.numel() != 1) return std::nullopt;
  if (question->type.dtype == DType::boolean) return is_true(*question) ? 1 : 0;
  if (question->type.dtype != DType::int64) return std::nullopt;
  return *static_cast<const std::int64_t*>(static_cast<const Array&>(*question).data);
}

/// Adds what another value of the same shape depends on; whether anything is new.
bool Pass::join(Dependence& into, const Dependence& other) {
  if (other.is_nothing()) return false;
  if (into.is_uniform() && other.is_uniform())
    return std::exchange(into.all, sets_.unite(into.all, other.all)) != into.all;
  if (into.is_uniform()) into.of.assign(at(into.type.shape.numel().raw()), into.all);
  bool is_new = false;
  for (std::size_t i = 0; i < into.of.size(); ++i) {
    const SetId both = sets_.unite(into.of[i], other[i]);
    is_new = is_new || both != into.of[i];
    into.of[i] = both;
  }
  return is_new;
}

Dependences Pass::one_of(const std::vector<Branch>& branches, const Dependences& operands, const Flags& wanted) {
  const std::optional<std::int64_t> taken = branch_of(operands[0].number);
  const std::int64_t count = std::ssize(branches);
  if (taken && (*taken < 0 || *taken >= count)) runs::require_indices(wrap(operands[0].number), count);
  Dependences results;
  for (std::size_t b = 0; b < branches.size(); ++b) {
    if (taken && *taken != static_cast<std::int64_t>(b)) continue;
    Dependences inputs;
    for (const std::size_t operand : branches[b].operands) inputs.push_back(operands[operand]);
    Dependences of_branch = run(*branches[b].program, std::move(inputs), wanted);
    if (results.empty()) {
      results = std::move(of_branch);
      continue;
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      join(results[i], of_branch[i]);
      results[i].number = {};
    }
  }
  return results;
}

/// Row `i` of a stack.
Dependence row_of(const Dependence& stack, std::int64_t i) {
  Dependence row{.type = stack.type, .of = {}, .all = stack.all, .number = {}};
  row.type.shape.erase(0);
  const auto count = row.type.shape.numel().raw();
  if (!stack.is_uniform()) row.of.assign(stack.of.begin() + i * count, stack.of.begin() + (i + 1) * count);
  if (stack.number) row.number = read(select(wrap(stack.number), 0, i), "sparsity");
  return row;
}

Dependences Pass::turned(const Turns& turns, const Dependences& operands, const Flags& wanted, Dependences results) {
  const ProgramBody& body = turns.body->body();
  const std::size_t rows_end = turns.state + turns.rows, front = rows_end + turns.streams;
  const std::size_t rows_given = body.outputs.size() - turns.state - turns.streams;
  Flags asked(turns.state, false);
  for (std::size_t i = 0; i < turns.state; ++i) asked[i] = wanted[i];
  asked = state_wanted(turns, asked);
  Flags of_body(body.outputs.size(), false);
  std::copy(asked.begin(), asked.end(), of_body.begin());

  Dependences state(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(turns.state));
  /// One turn, on these rows of the stacks.
  const auto turn = [&](Dependences rows) {
    Dependences inputs = state;
    std::ranges::move(rows, std::back_inserter(inputs));
    for (std::size_t i = rows_end; i < body.inputs.size(); ++i)
      inputs.push_back(operands[i < front ? i : turns.read_by_body + i - front]);
    return run(*turns.body, std::move(inputs), of_body);
  };
  const auto question = [&] {
    Dependences inputs = state;
    for (std::size_t i = turns.state; i < turns.condition->inputs(); ++i)
      inputs.push_back(operands[turns.read_by_condition + i - turns.state]);
    return branch_of(run(*turns.condition, std::move(inputs), Flags(1, true))[0].number);
  };
  const std::int64_t most = turns.most_turns->raw();
  const std::int64_t followed = most_equations_followed / std::max<std::int64_t>(1, std::ssize(body.equations));
  std::int64_t done = 0;
  bool has_ended = false;
  for (; !turns.asks_each_example && done < followed && (turns.condition || most <= followed); ++done) {
    if (done == most) has_ended = true;
    else if (turns.condition) {
      const std::optional<std::int64_t> goes_on = question();
      if (!goes_on) break;
      has_ended = *goes_on == 0;
    }
    if (has_ended) break;
    const std::int64_t row = turns.is_backward ? most - 1 - done : done;
    Dependences rows;
    for (std::size_t i = turns.state; i < rows_end; ++i) rows.push_back(row_of(operands[i], row));
    Dependences after = turn(std::move(rows));
    for (std::size_t i = 0; i < rows_given; ++i) {
      Dependence& stack = results[turns.state + i];
      const Dependence& given = after[turns.state + i];
      if (given.is_nothing()) continue;
      if (stack.of.empty()) stack.of.assign(at(stack.type.shape.numel().raw()), empty_set);
      const std::int64_t count = given.type.shape.numel().raw();
      for (std::int64_t k = 0; k < count; ++k) stack.of[at(row * count + k)] = given[at(k)];
    }
    after.resize(turns.state);
    state = std::move(after);
  }
  if (!has_ended) {
    for (Dependence& x : state) x.number = {};
    Dependences all_rows;
    for (std::size_t i = turns.state; i < rows_end; ++i) {
      Dependence& rows = all_rows.emplace_back(row_of(operands[i], 0));
      rows.number = {};
      for (std::int64_t row = 1; row < operands[i].type.shape[0].raw(); ++row) join(rows, row_of(operands[i], row));
    }
    for (bool is_new = true; is_new;) {
      is_new = false;
      const Dependences after = turn(all_rows);
      for (std::size_t i = 0; i < turns.state; ++i)
        if (join(state[i], after[i])) is_new = true;
      for (std::size_t i = 0; i < rows_given && !is_new; ++i) {
        Dependence& stack = results[turns.state + i];
        const Dependence& given = after[turns.state + i];
        const auto count = static_cast<std::size_t>(std::max<std::int64_t>(1, given.type.shape.numel().raw()));
        stack.of.resize(at(stack.type.shape.numel().raw()), empty_set);  // rows of the turns followed stand there
        for (std::size_t k = 0; k < stack.of.size(); ++k) stack.of[k] = sets_.unite(stack.of[k], given[k % count]);
      }
    }
  }
  for (std::size_t i = 0; i < turns.state; ++i) results[i] = std::move(state[i]);
  return results;
}

Dependences Pass::results_of(const Program& in, const Equation& e, Dependences& operands, const Flags& wanted) {
  Types types;
  for (const Variable v : e.outputs) types.push_back(type_of_variable(in, v));
  Dependences results;
  for (const Type& type : types) results.push_back({.type = type, .of = {}, .all = empty_set, .number = {}});
  if (results.empty()) return results;
  const OwnedParameters parameters = parameters_in_call(e, in.shared_call_sizes());
  const Op op{e.rules, parameters.get()};
  const bool reads_nothing = std::ranges::all_of(operands, [](const Dependence& x) { return x.is_nothing(); });
  if (!reads_nothing) {
    if (const auto branches = run_as<Branches>(*e.rules, op.parameters)) return one_of(*branches, operands, wanted);
    Types types_read;
    for (const Dependence& x : operands) types_read.push_back(x.type);
    if (const auto turns = turns_of(*e.rules, op.parameters, types_read))
      return turned(*turns, operands, wanted, std::move(results));
    if (const auto call = run_as<CalledProgram>(*e.rules, op.parameters))
      return run(*call->program, std::move(operands), wanted);
    if (structure_as<Allowed>(op)) return {operands[0]};
    if (const auto copied = structure_as<Copied>(op); copied && copied->fills_rows) return {operands[copied->operand]};
    DependenceOperands read;
    for (const Dependence& x : operands) read.push_back(&x);
    results = dependences_of(op, read, types, sets_);
  }
  if (std::ranges::none_of(wanted, [](bool flag) { return flag; })) return results;
  const Values numbers = numbers_of(op, operands);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (wanted[i]) results[i].number = numbers[i];
  return results;
}

Dependences Pass::run(const Program& program, Dependences inputs, const Flags& outputs_wanted) {
  allow_interruption();
  const ProgramBody& body = program.body();
  const std::vector<bool> wanted = variables_wanted(body, outputs_wanted);
  std::vector<Dependence> values(body.types.size());
  std::vector<int> uses(body.types.size());
  for (const Equation& e : body.equations)
    for (const Variable v : e.inputs) ++uses[at(v)];
  for (const Variable v : body.outputs) ++uses[at(v)];
  const auto use = [&](Variable v) { return --uses[at(v)] > 0 ? values[at(v)] : std::move(values[at(v)]); };
  const auto know = [&](Variable v, const ValueRef& value) {
    values[at(v)] = {.type = type_of_variable(program, v), .of = {}, .all = empty_set, .number = {}};
    if (wanted[at(v)] && value->kind == ValueKind::array) values[at(v)].number = value;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) values[at(body.inputs[i])] = std::move(inputs[i]);
  for (const Constant& c : body.constants) know(c.variable, c.value);
  for (const Capture& c : body.captures) know(c.variable, value_of(c.tensor));
  for (const Equation& e : body.equations) {
    Dependences operands;
    for (const Variable v : e.inputs) operands.push_back(use(v));
    Flags of_results;
    for (const Variable v : e.outputs) of_results.push_back(wanted[at(v)]);
    Dependences results = results_of(program, e, operands, of_results);
    for (std::size_t i = 0; i < results.size(); ++i) values[at(e.outputs[i])] = std::move(results[i]);
  }
  Dependences outputs;
  for (const Variable v : body.outputs) outputs.push_back(use(v));
  return outputs;
}

}  // namespace

Dependences dependences_of(const Program& program, Dependences inputs, ElementSets& sets) {
  const AtLevel outside(nullptr);  // what is known is computed at once
  return Pass(sets).run(program, std::move(inputs), Flags(program.body().outputs.size(), false));
}

}  // namespace ricci::sparse
