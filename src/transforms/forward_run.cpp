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

/// Shows a leaf with its tangent; a null tangent is zero.
void show_dual(Tensor& leaf, ValueRef tangent, Level level) {
  const ValueRef primal = read(leaf, "jvp");
  ValueRef value = tangent ? new_node<Dual>(level, primal, std::move(tangent)) : primal;
  leaf = show_argument(std::move(value), new DifferentiatedArgument(leaf, level));
}

struct Outcome {
  Tensor primal, tangent;  // the tangent is undefined where it is zero
};

/// A result leaf seen from outside the dual level.
Outcome split(const Tensor& leaf, const Interpreter& interpreter) {
  if (!leaf.defined()) return {};
  const ValueRef value = value_of(leaf);
  const AtLevel outside(interpreter.parent);
  Cell* cell = leaf.cell();
  const bool is_argument = cell->link && cell->link->is_argument() &&
                           static_cast<const ArgumentLink*>(cell->link)->level == interpreter.level;
  if (value->level != interpreter.level) return {is_argument ? cell->link->base : leaf, Tensor()};
  const auto& dual = static_cast<const Dual&>(*value);
  return {is_argument ? cell->link->base : wrap(dual.primal), dual.tangent ? wrap(dual.tangent) : Tensor()};
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
  std::vector<Type> types;                  // one per leaf
  std::string text;

  explicit Expected(std::span<const tree::Walk> primals) : text(tree_of(primals)) {
    for (const tree::Walk& walk : primals) {
      structures.emplace_back(walk);
      for (const Tensor* leaf : walk.leaves) types.push_back(leaf->defined() ? type_of(*leaf) : Type{});
    }
  }
};

/// Throws unless the tangents are like the primals; gives them in the primals' dtypes.
std::vector<Tensor> checked_tangents(const char* name, const Expected& primals, std::span<const tree::Walk> tangents,
                                     Place where) {
  const std::string start = std::string(name) + ": the tangents do not fit the primals: ";
  std::vector<Tensor> fitted;
  std::size_t at = 0;
  for (std::size_t a = 0; a < tangents.size(); ++a) {
    if (!(tree::Structure(tangents[a]) == primals.structures[a]))
      raise_own<ValueError>(start + "the tangents are " + tree_of(tangents) + ", the primals are " + primals.text +
                                "; pass tangents like the primals",
                            where);
    for (std::size_t i = 0; i < tangents[a].leaves.size(); ++i, ++at) {
      const Tensor& t = *tangents[a].leaves[i];
      if (!t.defined()) {
        fitted.emplace_back();
        continue;
      }
      const Type have = type_of(t), want = primals.types[at];
      const std::string number = std::to_string(a);
      const std::string text = start + path_of(("tangent " + number).c_str(), tangents[a], i) + " is " +
                               to_string(have) + ", " + path_of(("primal " + number).c_str(), tangents[a], i) + " is " +
                               to_string(want) + "; pass tangents like the primals";
      if (!(have.shape == want.shape)) raise_own<ValueError>(text, where);
      if (have.dtype != want.dtype && !have.weak) raise_own<TypeError>(text, where);
      fitted.push_back(have.dtype == want.dtype ? t : to(t, want.dtype));
    }
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
ForwardRun::~ForwardRun() { delete state_; }

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
      show_dual(*leaf, tracked ? read(t, s.name) : ValueRef(), s.interpreter->level);
    }
}

void ForwardRun::leave(const tree::Walk& output, const tree::Walk& tangent, const tree::Walk* aux, bool is_strict) {
  State& s = *state_;
  refresh(output);
  {
    const AtLevel outside(s.interpreter->parent);
    require_differentiable(s.name, output, s.where);
  }
  for (std::size_t i = 0; i < output.leaves.size(); ++i) {
    const Type type = output.leaves[i]->defined() ? type_of(*output.leaves[i]) : Type{};
    Outcome outcome = split(*output.leaves[i], *s.interpreter);
    if (!outcome.primal.defined()) continue;
    const AtLevel outside(s.interpreter->parent);
    if (is_strict && !outcome.tangent.defined())
      raise_own<TransformError>("jvp: " + path_of("output", output, i) + " is " + to_string(type) +
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
  std::vector<Type> output_types;
  std::vector<std::vector<Tensor>> parts;  // one per output leaf: [rows, out shape…] of each chunk
  StreamScope streams{streams_of(innermost)};
  std::unique_ptr<BatchInterpreter> batch;
  std::unique_ptr<DualInterpreter> dual;
  ~State() {
    dual.reset();  // the inner level ends first
    batch.reset();
  }

  void measure(std::span<const tree::Walk> arguments, std::span<const int> differentiated);
  std::vector<Tensor> seeds() const;
};

ForwardJacobian::ForwardJacobian(const char* name, const JacobianOptions& options, Place where)
    : state_(new State{.name = name, .options = options, .where = where}) {}
ForwardJacobian::~ForwardJacobian() { delete state_; }

void ForwardJacobian::State::measure(std::span<const tree::Walk> arguments, std::span<const int> differentiated) {
  if (options.chunk_size && *options.chunk_size < 1)
    raise_own<ValueError>(
        std::string(name) + ": chunk_size is " + std::to_string(*options.chunk_size) + "; it must be at least 1",
        where);
  for (int argument : differentiated) {
    const tree::Walk& walk = arguments[static_cast<std::size_t>(argument)];
    require_real(name, ("argument " + std::to_string(argument)).c_str(), walk, where,
                 "; Jacobians take real inputs: pass view_as_real of it");
    for (const Tensor* leaf : walk.leaves) {
      leaf_types.push_back(leaf->defined() ? type_of(*leaf) : Type{.dtype = DType::boolean, .shape = {}});
      if (is_differentiable(leaf_types.back().dtype)) count += leaf_types.back().shape.numel();
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
        show_dual(*leaf, seed.defined() ? new_node<Batched>(s.batch->level, value_of(seed)) : ValueRef(),
                  s.dual->level);
    }
  }
  for (std::size_t a = 0; a < arguments.size(); ++a)
    for (Tensor* leaf : arguments[a].leaves)
      if (!seeded[a] && leaf->defined()) show_dual(*leaf, ValueRef(), s.dual->level);
  return true;
}

void ForwardJacobian::leave(const tree::Walk& output, const tree::Walk* aux) {
  State& s = *state_;
  const bool first_chunk = s.parts.empty();
  refresh(output);
  {
    const AtLevel outside(s.batch->parent);
    require_differentiable(s.name, output, s.where);
    require_real(s.name, "output", output, s.where, "; Jacobians take real outputs: return view_as_real of it");
  }
  if (first_chunk) s.parts.resize(output.leaves.size());
  for (std::size_t i = 0; i < output.leaves.size(); ++i) {
    Outcome outcome = split(*output.leaves[i], *s.dual);
    const AtLevel outside(s.batch->parent);
    const Type type = outcome.primal.defined() ? type_of(outcome.primal) : Type{};
    if (first_chunk) s.output_types.push_back(type);
    Shape shape = type.shape;
    shape.insert(0, s.rows);
    Tensor rows;
    if (!outcome.tangent.defined()) {
      rows = zeros(shape, TensorOptions{.dtype = type.dtype});
    } else {
      const ValueRef value = value_of(outcome.tangent);
      rows = value->level == s.batch->level ? wrap(static_cast<const Batched&>(*value).value)
                                            : expand(outcome.tangent, shape);
    }
    s.parts[i].push_back(rows);
    if (outcome.primal.defined()) *output.leaves[i] = for_first_tangent(outcome.primal, *s.batch);
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
    const Tensor columns = s.parts[out].size() == 1 ? s.parts[out][0] : cat(s.parts[out], 0);  // [inputs, out shape…]
    std::int64_t offset = 0;
    for (const Type& type : s.leaf_types) {
      Shape shape = s.output_types[out].shape;
      shape.append(type.shape.begin(), type.shape.end());
      if (!is_differentiable(type.dtype)) {
        jacobians.push_back(zeros(shape, TensorOptions{.dtype = s.output_types[out].dtype}));
        continue;
      }
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
  std::atomic<int> refs{1};
  Expected primals;
  Program tangents;  // from the differentiable leaves' tangents to the outputs'
  std::vector<Type> output_types;
  std::vector<int> output_index;  // among the program's outputs; -1 where the tangent is zero
  Place where;
};

Linearized::Linearized(const Linearized& other) : state_(other.state_) {
  if (state_) state_->refs.fetch_add(1, std::memory_order_relaxed);
}
Linearized::~Linearized() {
  if (state_ && state_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete state_;
}

struct LinearizeRun::State {
  Place where;
  std::optional<Expected> primals;
  std::unique_ptr<RecordInterpreter> record;
  std::unique_ptr<DualInterpreter> dual;
  ~State() {
    dual.reset();
    record.reset();
  }
};

LinearizeRun::LinearizeRun(Place where) : state_(new State{.where = where}) {}
LinearizeRun::~LinearizeRun() { delete state_; }

void LinearizeRun::enter(std::span<const tree::Walk> primals) {
  State& s = *state_;
  s.primals.emplace(primals);
  s.record = std::make_unique<RecordInterpreter>(false, Entry{});
  s.dual = std::make_unique<DualInterpreter>(entry_of("linearize", s.where));
  for (const tree::Walk& walk : primals)
    for (Tensor* leaf : walk.leaves) {
      if (!leaf->defined()) continue;
      const Type type = type_of(*leaf);
      show_dual(*leaf, is_differentiable(type.dtype) ? s.record->add_input(type) : ValueRef(), s.dual->level);
    }
}

Linearized LinearizeRun::leave(const tree::Walk& output) {
  State& s = *state_;
  refresh(output);
  {
    const AtLevel outside(s.record->parent);
    require_differentiable("linearize", output, s.where);
  }
  Linearized result;
  result.state_ = new Linearized::State{.primals = *s.primals, .where = s.where};
  for (Tensor* leaf : output.leaves) {
    Outcome outcome = split(*leaf, *s.dual);
    const AtLevel outside(s.record->parent);
    result.state_->output_types.push_back(outcome.primal.defined() ? type_of(outcome.primal) : Type{});
    result.state_->output_index.push_back(outcome.tangent.defined() ? static_cast<int>(s.record->body->outputs.size())
                                                                    : -1);
    if (outcome.tangent.defined()) s.record->body->outputs.push_back(s.record->variable_of(value_of(outcome.tangent)));
    if (outcome.primal.defined()) *leaf = outcome.primal;
  }
  s.dual.reset();
  result.state_->tangents = Program(std::make_shared<ProgramBody>(without_dead_equations(*s.record->body)));
  s.record.reset();
  return result;
}

void LinearizeRun::refuse(const char* found) {
  state_->dual.reset();
  state_->record.reset();
  raise_no_tensor("linearize", found, state_->where);
}

void Linearized::apply(std::span<const tree::Walk> tangents, const tree::Walk& output) const {
  const State& s = *state_;
  const std::vector<Tensor> fitted = checked_tangents("linearize", s.primals, tangents, s.where);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < fitted.size(); ++i)
    if (is_differentiable(s.primals.types[i].dtype))
      inputs.push_back(fitted[i].defined() ? fitted[i] : zeros_of(s.primals.types[i]));
  const std::vector<Tensor> results = s.tangents(inputs);
  for (std::size_t i = 0; i < output.leaves.size(); ++i) {
    if (!output.leaves[i]->defined()) continue;
    const int index = s.output_index[i];
    *output.leaves[i] = index >= 0 ? results[static_cast<std::size_t>(index)] : zeros_of(s.output_types[i]);
  }
}

}  // namespace ricci::runs
