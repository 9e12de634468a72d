// jvp, jacfwd and linearize, compiled side: dual arguments in, primals and tangents out.
#include <memory>
#include <optional>

#include "interpreters/batch.h"
#include "interpreters/dual.h"
#include "interpreters/node_memory.h"
#include "interpreters/record.h"
#include "transforms/arguments.h"

namespace ricci::runs {
namespace {

/// Shows a leaf with its tangent to the transform of this name; a null tangent is zero.
void show_dual(const char* name, Tensor& leaf, ValueRef tangent, Level level) {
  const ValueRef primal = read(leaf, name);
  ValueRef value = tangent ? new_node<Dual>(level, primal, std::move(tangent)) : primal;
  leaf = show_argument(std::move(value), new DifferentiatedArgument(leaf, level));
}

struct Outcome {
  Tensor primal, tangent;  // the tangent is undefined where it is zero
};

/// A result leaf seen from outside the dual level.
Outcome split(const Tensor& leaf, const Interpreter& interpreter) {
  if (!leaf.defined()) return {};
  const ValueRef value = read(leaf, "return");
  const AtLevel outside(interpreter.parent);
  const Tensor argument = shown_argument(leaf, interpreter.level);
  if (value->level != interpreter.level) return {argument.defined() ? argument : leaf, Tensor()};
  const auto& dual = static_cast<const Dual&>(*value);
  return {argument.defined() ? argument : wrap(dual.primal), dual.tangent ? wrap(dual.tangent) : Tensor()};
}

/// A value as it is for the first of the tangents that f runs on together, which draws may tell apart.
Tensor for_first_tangent(const Tensor& x, const BatchInterpreter& batch) {
  if (!x.defined() || value_of(x)->level != batch.level || batch.size == 0) return x;
  const AtLevel outside(batch.parent);
  return select(wrap(static_cast<const Batched&>(*value_of(x)).value), 0, 0);
}

std::string tree_of(std::span<const tree::Walk> walks) {
  std::string text = "(";
  for (const tree::Walk& walk : walks) text += (text.size() > 1 ? ", " : "") + tree::to_string(walk);
  return text + ")";
}

/// What tangents are held against: the primals' trees and types, kept after the primals are gone.
struct Expected {
  std::vector<tree::Structure> structures;  // one per argument
  std::vector<std::optional<Type>> types;   // one per leaf; nothing where it is undefined
  std::string text;

  explicit Expected(std::span<const tree::Walk> primals) : text(tree_of(primals)) {
    for (const tree::Walk& walk : primals) {
      structures.emplace_back(walk);
      for (const Tensor* leaf : walk.leaves) {
        types.emplace_back();
        if (leaf->defined()) types.back() = type_of(*leaf);
      }
    }
  }
};

/// Throws unless the tangents are like the primals; gives them in the primals' dtypes, undefined where a primal has no
/// derivative and none was given.
std::vector<Tensor> checked_tangents(const char* name, const Expected& primals, std::span<const tree::Walk> tangents,
                                     Place where) {
  const Misfit misfit{.name = name,
                      .what = "the tangents do not fit the primals",
                      .remedy = "pass tangents like the primals",
                      .where = where};
  std::vector<Tensor> fitted;
  std::size_t at = 0;
  for (std::size_t a = 0; a < tangents.size(); ++a) {
    if (!(tree::Structure(tangents[a]) == primals.structures[a]))
      misfit.raise<ValueError>("the tangents are " + tree_of(tangents) + ", the primals are " + primals.text);
    const std::string number = std::to_string(a);
    for (std::size_t i = 0; i < tangents[a].leaves.size(); ++i)
      fitted.push_back(
          fitted_leaf(misfit, "tangent " + number, "primal " + number, tangents[a], i, primals.types[at++]));
  }
  return fitted;
}

}  // namespace

// ── jvp ──

struct ForwardRun::State {
  const char* name;
  Place where;
  std::unique_ptr<DualInterpreter> interpreter;
};

ForwardRun::ForwardRun(const char* name, Place where) : state_(new State{.name = name, .where = where}) {}

void ForwardRun::enter(std::span<const tree::Walk> primals, std::span<const tree::Walk> tangents) {
  State& s = *state_;
  const std::vector<Tensor> fitted = checked_tangents(s.name, Expected(primals), tangents, s.where);
  s.interpreter = std::make_unique<DualInterpreter>(entry_of(s.name, s.where));
  std::size_t at = 0;
  for (const tree::Walk& walk : primals)
    for (Tensor* leaf : walk.leaves) {
      const Tensor& t = fitted[at++];
      if (!leaf->defined()) continue;
      const bool tracked = t.defined() && is_differentiable(type_of(*leaf).dtype);
      show_dual(s.name, *leaf, tracked ? read(t, s.name) : ValueRef(), s.interpreter->level);
    }
}

void ForwardRun::leave(const tree::Walk& output, const tree::Walk& tangent, const tree::Walk* aux, bool is_strict) {
  State& s = *state_;
  s.interpreter->end_inside();
  refresh(output);
  {
    const AtLevel outside(s.interpreter->parent);
    require_differentiable(s.name, output, s.where);
  }
  for (std::size_t i = 0; i < output.leaves.size(); ++i) {
    const Type type = type_of(*output.leaves[i]);
    const Outcome outcome = split(*output.leaves[i], *s.interpreter);
    const AtLevel outside(s.interpreter->parent);
    if (is_strict && !outcome.tangent.defined())
      raise_own<TransformError>(std::string(s.name) + ": " + path_of("output", output, i) + " is " + to_string(type) +
                                    ", which does not depend on the primals; drop rc::strict to get a zero tangent",
                                s.where);
    *tangent.leaves[i] = outcome.tangent.defined() ? outcome.tangent : zeros_of(type);
    *output.leaves[i] = outcome.primal;
  }
  if (aux)
    for (Tensor* leaf : aux->leaves) *leaf = split(*leaf, *s.interpreter).primal;
  s.interpreter.reset();
}

void ForwardRun::refuse(const char* found) {
  state_->interpreter.reset();
  raise_no_tensor(state_->name, found, state_->where);
}

// ── jacfwd ──

struct ForwardJacobian::State {
  const char* name;
  JacobianOptions options;
  Place where;
  bool first = true;
  std::int64_t count = 0, done = 0, from = 0, rows = 0;
  std::vector<Type> leaf_types;  // of the differentiated leaves
  std::vector<Tensor> leaves;    // their values where they have no derivative
  std::vector<Type> output_types;
  std::vector<Tensor> outputs;             // the values of those that have no derivative
  std::vector<std::vector<Tensor>> parts;  // one per output leaf: [rows, out shape…] of each chunk
  StreamScope streams{streams_of(innermost)};
  std::unique_ptr<BatchInterpreter> batch;
  std::unique_ptr<DualInterpreter> dual;  // inside it

  void measure(std::span<const tree::Walk> arguments, std::span<const int> differentiated);
  std::vector<Tensor> seeds() const;
  Tensor rows_of(const Tensor& tangent, const Type& type) const;
};

ForwardJacobian::ForwardJacobian(const char* name, const JacobianOptions& options, Place where)
    : state_(new State{.name = name, .options = options, .where = where}) {}

void ForwardJacobian::State::measure(std::span<const tree::Walk> arguments, std::span<const int> differentiated) {
  require_chunk_size(name, options.chunk_size, where);
  for (int argument : differentiated) {
    const tree::Walk& walk = arguments[static_cast<std::size_t>(argument)];
    require_real(name, ("argument " + std::to_string(argument)).c_str(), walk, where,
                 "; Jacobians take real inputs: pass view_as_real of it");
    for (const Tensor* leaf : walk.leaves) {
      leaf_types.push_back(leaf->defined() ? type_of(*leaf) : Type{.dtype = DType::boolean, .shape = {}});
      const bool differentiable = is_differentiable(leaf_types.back().dtype);
      leaves.push_back(differentiable ? Tensor() : *leaf);
      if (differentiable) count += leaf_types.back().shape.numel();
    }
  }
}

/// Rows [from, from + rows) of the identity over all input elements, a part for each leaf: [rows, leaf shape…].
std::vector<Tensor> ForwardJacobian::State::seeds() const {
  std::vector<Tensor> parts;  // undefined where the leaf is not floating
  std::int64_t offset = 0;
  for (const Type& type : leaf_types) {
    if (!is_differentiable(type.dtype)) {
      parts.emplace_back();
      continue;
    }
    const std::int64_t n = type.shape.numel();
    Shape shape = type.shape;
    shape.insert(0, rows);
    parts.push_back(reshape(eye_rows(from - offset, rows, n, type.dtype), shape));
    offset += n;
  }
  return parts;
}

bool ForwardJacobian::enter(std::span<const tree::Walk> arguments, std::span<const int> differentiated) {
  State& s = *state_;
  if (!s.first && s.done >= s.count) return false;
  if (s.first) s.measure(arguments, differentiated);
  s.first = false;
  s.from = s.done;
  s.rows = std::min(s.options.chunk_size.value_or(s.count), s.count - s.from);
  s.done = s.from + s.rows;

  const std::vector<Tensor> seeds = s.seeds();
  if (s.from > 0) s.streams.restart();
  s.batch = std::make_unique<BatchInterpreter>(
      s.rows, Entry{},
      Examples{.count = s.count, .first = s.from, .randomness = s.options.randomness, .streams = &s.streams});
  s.dual = std::make_unique<DualInterpreter>(entry_of(s.name, s.where));
  std::vector<bool> seeded(arguments.size());
  std::size_t at = 0;
  for (int argument : differentiated) {
    seeded[static_cast<std::size_t>(argument)] = true;
    for (Tensor* leaf : arguments[static_cast<std::size_t>(argument)].leaves) {
      const Tensor& seed = seeds[at++];
      if (leaf->defined())
        show_dual(s.name, *leaf, seed.defined() ? new_node<Batched>(s.batch->level, value_of(seed)) : ValueRef(),
                  s.dual->level);
    }
  }
  for (std::size_t a = 0; a < arguments.size(); ++a)
    for (Tensor* leaf : arguments[a].leaves)
      if (!seeded[a] && leaf->defined()) show_dual(s.name, *leaf, ValueRef(), s.dual->level);
  return true;
}

/// The tangents of one output, of this type, for the running chunk: [rows, out shape…]; an undefined one is zero.
Tensor ForwardJacobian::State::rows_of(const Tensor& tangent, const Type& type) const {
  if (tangent.defined()) return ricci::rows_of(*batch, value_of(tangent));
  Shape shape = type.shape;
  shape.insert(0, rows);
  return zeros_of({type.dtype, shape});
}

void ForwardJacobian::leave(const tree::Walk& output, const tree::Walk* aux) {
  State& s = *state_;
  s.dual->end_inside();
  const bool first_chunk = s.parts.empty();
  refresh(output);
  {
    const AtLevel outside(s.batch->parent);
    require_some_differentiable(s.name, output, s.where);
    require_real(s.name, "output", output, s.where, "; Jacobians take real outputs: return view_as_real of it");
  }
  if (first_chunk) s.parts.resize(output.leaves.size());
  for (std::size_t i = 0; i < output.leaves.size(); ++i) {
    Outcome outcome = split(*output.leaves[i], *s.dual);
    const AtLevel outside(s.batch->parent);
    const Type type = type_of(outcome.primal);
    const bool differentiable = is_differentiable(type.dtype);
    if (first_chunk) {
      s.output_types.push_back(type);
      s.outputs.push_back(differentiable ? Tensor() : outcome.primal);
    }
    if (differentiable) s.parts[i].push_back(s.rows_of(outcome.tangent, type));
    *output.leaves[i] = for_first_tangent(outcome.primal, *s.batch);
  }
  if (aux)
    for (Tensor* leaf : aux->leaves) *leaf = for_first_tangent(split(*leaf, *s.dual).primal, *s.batch);
  s.dual.reset();
  s.batch.reset();
}

std::vector<Tensor> ForwardJacobian::finish() {
  const State& s = *state_;
  std::vector<Tensor> jacobians;
  for (std::size_t out = 0; out < s.parts.size(); ++out) {
    if (s.outputs[out].defined()) {
      jacobians.insert(jacobians.end(), s.leaf_types.size(), s.outputs[out]);
      continue;
    }
    const Tensor columns = s.parts[out].size() == 1 ? s.parts[out][0] : cat(s.parts[out], 0);  // [inputs, out shape…]
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < s.leaf_types.size(); ++i) {
      const Type& type = s.leaf_types[i];
      if (!is_differentiable(type.dtype)) {
        jacobians.push_back(s.leaves[i]);
        continue;
      }
      Shape shape = s.output_types[out].shape;
      shape.append(type.shape.begin(), type.shape.end());
      const std::int64_t n = type.shape.numel();
      const Tensor rows = s.leaf_types.size() == 1 ? columns : narrow(columns, 0, offset, n);
      jacobians.push_back(reshape(movedim(rows, 0, -1), shape));
      offset += n;
    }
  }
  return jacobians;
}

void ForwardJacobian::refuse(const char* found) {
  state_->dual.reset();
  state_->batch.reset();
  raise_no_tensor(state_->name, found, state_->where);
}

// ── linearize ──

struct Linearized::State {
  Expected primals;
  Program tangents;  // from the differentiable leaves' tangents to the outputs'
  std::vector<Type> output_types;
  std::vector<int> output_index;  // among the program's outputs; -1 where the tangent is zero
  Place where;
};

struct LinearizeRun::State {
  Place where;
  std::optional<Expected> primals;
  std::unique_ptr<RecordInterpreter> record;
  std::unique_ptr<DualInterpreter> dual;  // inside it
};

LinearizeRun::LinearizeRun(Place where) : state_(new State{.where = where}) {}

void LinearizeRun::enter(std::span<const tree::Walk> primals) {
  State& s = *state_;
  s.primals.emplace(primals);
  s.record = std::make_unique<RecordInterpreter>(Records::tangents, Entry{});
  s.dual = std::make_unique<DualInterpreter>(entry_of("linearize", s.where));
  for (const tree::Walk& walk : primals)
    for (Tensor* leaf : walk.leaves) {
      if (!leaf->defined()) continue;
      const Type type = type_of(*leaf);
      show_dual("linearize", *leaf, is_differentiable(type.dtype) ? s.record->add_input(type) : ValueRef(),
                s.dual->level);
    }
}

Linearized LinearizeRun::leave(const tree::Walk& output) {
  State& s = *state_;
  s.dual->end_inside();
  refresh(output);
  {
    const AtLevel outside(s.record->parent);
    require_differentiable("linearize", output, s.where);
  }
  Owned<Linearized::State> result = new Linearized::State{.primals = *s.primals, .where = s.where};
  for (Tensor* leaf : output.leaves) {
    Outcome outcome = split(*leaf, *s.dual);
    const AtLevel outside(s.record->parent);
    std::vector<Variable>& outputs = s.record->body->outputs;
    result->output_types.push_back(type_of(outcome.primal));
    result->output_index.push_back(outcome.tangent.defined() ? static_cast<int>(outputs.size()) : -1);
    if (outcome.tangent.defined()) outputs.push_back(s.record->variable_of(value_of(outcome.tangent)));
    *leaf = outcome.primal;
  }
  s.dual.reset();
  result->tangents = Program(Shared<const ProgramBody>(new ProgramBody(without_dead_equations(*s.record->body))));
  s.record.reset();
  return {Shared<const Linearized::State>(result.release())};
}

void LinearizeRun::refuse(const char* found) {
  state_->dual.reset();
  state_->record.reset();
  raise_no_tensor("linearize", found, state_->where);
}

void Linearized::apply(std::span<const tree::Walk> tangents, const tree::Walk& output) const {
  const State& s = *state;
  const std::vector<Tensor> fitted = checked_tangents("linearize", s.primals, tangents, s.where);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < fitted.size(); ++i)
    if (s.primals.types[i] && is_differentiable(s.primals.types[i]->dtype)) inputs.push_back(fitted[i]);
  const std::vector<Tensor> results = s.tangents(inputs);
  for (std::size_t i = 0; i < output.leaves.size(); ++i) {
    const int index = s.output_index[i];
    *output.leaves[i] = index >= 0 ? results[static_cast<std::size_t>(index)] : zeros_of(s.output_types[i]);
  }
}

}  // namespace ricci::runs
