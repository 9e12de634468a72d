// jacfwd, compiled side: the tangents of a chunk of input elements run together, as a batch inside the dual level.
#include <memory>

#include "interpreters/batch.h"
#include "interpreters/dual.h"
#include "interpreters/node_memory.h"
#include "ops/patterns.h"
#include "primitive/called.h"
#include "transforms/tangents.h"

namespace ricci::runs {
namespace {

/// A value as it is for the first of the tangents that f runs on together, which draws may tell apart.
Tensor for_first_tangent(const Tensor& x, const BatchInterpreter& batch) {
  if (!x.defined() || value_of(x)->level != batch.level || batch.size == 0) return x;
  const AtLevel outside(batch.parent);
  return select(wrap(static_cast<const Batched&>(*value_of(x)).value), 0, 0);
}

}  // namespace

struct ForwardJacobian::State {
  const char* name;
  JacobianOptions options;
  Place where;
  bool first = true;
  GivenArguments given;          // where there are chunks
  Size count = 0, rows = 0;      // of all tangents, and of the running chunk
  std::int64_t from = 0;         // the chunk's first
  std::vector<Type> leaf_types;  // of the differentiated leaves
  std::vector<Tensor> leaves;    // their values where they have no derivative
  std::vector<Type> output_types;
  std::vector<Tensor> outputs;             // the values of those that have no derivative
  std::vector<std::vector<Tensor>> parts;  // one per output leaf: [rows, out shape…] of each chunk
  StreamScope streams{streams_of(this_thread.innermost), options.randomness};
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
  require_arguments(name, "argument", arguments, differentiated, Chosen::by_number, where);
  if (options.chunk_size)
    for (const tree::Walk& walk : arguments)
      for (const Tensor* leaf : walk.leaves) given.note(*leaf);
  for (int argument : differentiated) {
    const tree::Walk& walk = arguments[static_cast<std::size_t>(argument)];
    require_real(name, ("argument " + std::to_string(argument)).c_str(), walk, where,
                 "; Jacobians take real inputs: pass view_as_real of it");
    for (const Tensor* leaf : walk.leaves) {
      leaf_types.push_back(leaf->defined() ? type_of(*leaf) : Type{.dtype = DType::boolean, .shape = {}});
      const bool differentiable = is_differentiable(leaf_types.back().dtype);
      leaves.push_back(differentiable ? Tensor() : *leaf);
      if (differentiable) count = count + leaf_types.back().shape.numel();
    }
  }
}

/// Rows [from, from + rows) of the identity over all input elements, a part for each leaf: [rows, leaf shape…].
std::vector<Tensor> ForwardJacobian::State::seeds() const {
  std::vector<Tensor> parts;  // undefined where the leaf is not floating
  Size offset = 0;
  for (const Type& type : leaf_types) {
    if (!is_differentiable(type.dtype)) {
      parts.emplace_back();
      continue;
    }
    const Size n = type.shape.numel();
    Shape shape = type.shape;
    shape.insert(0, rows);
    const ricci::Called as(name);
    parts.push_back(reshape(seeds_part(from, offset, rows, n, type.dtype), shape));
    offset = offset + n;
  }
  return parts;
}

bool ForwardJacobian::enter(std::span<const tree::Walk> arguments, std::span<const int> differentiated) {
  State& s = *state_;
  if (!s.first && (!s.options.chunk_size || s.from + *s.options.chunk_size >= s.count)) return false;
  if (s.first) {
    s.measure(arguments, differentiated);
  } else {
    s.from += *s.options.chunk_size;
    s.given.restore();
  }
  s.first = false;
  s.rows = s.options.chunk_size ? Size(std::min(*s.options.chunk_size, s.count.host() - s.from)) : s.count;

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
    if (!outcome.primal.defined()) {
      if (first_chunk) s.output_types.emplace_back(), s.outputs.emplace_back();
      continue;
    }
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
    if (s.parts[out].empty()) {
      const Tensor& value = s.outputs[out];
      for (std::size_t i = 0; i < s.leaf_types.size(); ++i)
        jacobians.push_back(value.defined() ? in_own_cell(value) : Tensor());
      continue;
    }
    const Tensor columns = s.parts[out].size() == 1 ? s.parts[out][0] : cat(s.parts[out], 0);  // [inputs, out shape…]
    Size offset = 0;
    for (std::size_t i = 0; i < s.leaf_types.size(); ++i) {
      const Type& type = s.leaf_types[i];
      if (!is_differentiable(type.dtype)) {
        jacobians.push_back(s.leaves[i]);
        continue;
      }
      Shape shape = s.output_types[out].shape;
      shape.append(type.shape.begin(), type.shape.end());
      const Size n = type.shape.numel();
      const Tensor rows = s.leaf_types.size() == 1 ? columns : narrow(columns, 0, offset, n);
      jacobians.push_back(in_own_cell(reshape(movedim(rows, 0, -1), shape)));
      offset = offset + n;
    }
  }
  return jacobians;
}

void ForwardJacobian::refuse(const char* found) {
  state_->dual.reset();
  state_->batch.reset();
  raise_no_tensor(state_->name, found, state_->where);
}

}  // namespace ricci::runs
