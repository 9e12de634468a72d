// grad, vjp and jacrev, compiled side: watch the arguments, take the outputs out, run the tape backwards.
#include <algorithm>
#include <memory>
#include <optional>

#include "interpreters/batch.h"
#include "interpreters/node_memory.h"
#include "interpreters/tape.h"
#include "ops/patterns.h"
#include "primitive/called.h"
#include "primitive/derive.h"
#include "ricci/primitive/raise.h"
#include "transforms/arguments.h"

namespace ricci::runs {

struct Recording::State {
  std::shared_ptr<TapeRecord> record;
  std::vector<int> leaf_slots;    // one per leaf of the differentiated arguments; -1 where it is not floating
  std::vector<int> output_slots;  // one per output leaf; -1 where it does not depend on them
  std::vector<Type> output_types;
  std::vector<Type> leaf_types;
  tree::Structure output_structure;
  std::string output_text;
  const char* name;
  Place where;
  Entry entry;
};

struct ReverseRun::State {
  const char* name;
  Place where;
  Entry entry;
  bool cotangents_are_given;
  std::unique_ptr<TapeInterpreter> interpreter;
  std::vector<int> leaf_slots;
  std::vector<Type> leaf_types;
};

ReverseRun::ReverseRun(const char* name, Place where, ReverseKind kind)
    : state_(new State{.name = name,
                       .where = where,
                       .entry = entry_of(kind.shown ? name : nullptr, where),
                       .cotangents_are_given = kind.cotangents_are_given}) {}

void ReverseRun::enter(std::span<const tree::Walk> arguments, std::span<const int> differentiated) {
  State& s = *state_;
  require_arguments(s.name, "argument", arguments, differentiated,
                    s.cotangents_are_given ? Chosen::together : Chosen::by_number, s.where);
  s.interpreter = std::make_unique<TapeInterpreter>(s.entry);
  const auto show = [&](Tensor& leaf, ValueRef value) {
    leaf = show_argument(std::move(value), new DifferentiatedArgument(leaf, s.interpreter->level));
  };
  std::vector<bool> watched(arguments.size());
  for (int argument : differentiated) {
    watched[static_cast<std::size_t>(argument)] = true;
    for (Tensor* leaf : arguments[static_cast<std::size_t>(argument)].leaves) {
      s.leaf_slots.push_back(-1);
      s.leaf_types.emplace_back();
      if (!leaf->defined()) continue;
      ValueRef value = with_own_elements(read(*leaf, s.name));
      s.leaf_types.back() = value->type;
      if (is_differentiable(value->type.dtype)) {
        value = s.interpreter->watch(std::move(value));
        s.leaf_slots.back() = static_cast<const Taped&>(*value).place.slot;
      }
      show(*leaf, std::move(value));
    }
  }
  for (std::size_t a = 0; a < arguments.size(); ++a)
    for (Tensor* leaf : arguments[a].leaves)
      if (!watched[a] && leaf->defined()) show(*leaf, with_own_elements(read(*leaf, s.name)));
}

void ReverseRun::refuse(const char* found) {
  state_->interpreter.reset();
  raise_no_tensor(state_->name, found, state_->where);
}

void ReverseRun::check_loss(const tree::Walk& output, bool is_tensor) {
  if (!is_tensor) refuse_loss(tree::to_string(output));
  if (!output.leaves[0]->defined()) {
    const AtLevel outside(state_->interpreter->parent);
    require_tensors(state_->name, "output", output, state_->where);
  }
  const Type type = type_of(*output.leaves[0]);
  const AtLevel outside(state_->interpreter->parent);  // errors do not name the transform twice
  require_loss(state_->name, type, state_->where);
}

void ReverseRun::refuse_loss(const std::string& found) {
  state_->interpreter.reset();
  raise_no_loss(state_->name, found, state_->where);
}

void ReverseRun::check_outputs(const tree::Walk& output) {
  refresh(output);
  const AtLevel outside(state_->interpreter->parent);
  require_differentiable(state_->name, output, state_->where);
}

void ReverseRun::check_jacobian_outputs(const tree::Walk& output) {
  refresh(output);
  const AtLevel outside(state_->interpreter->parent);
  require_some_differentiable(state_->name, output, state_->where);
}

namespace {

/// The caller's view of a result: without the level, and the caller's own tensor where an argument is given back.
Tensor taken_out(const Tensor& leaf, const Interpreter& interpreter) {
  const ValueRef value = without_level(read(leaf, "return"), interpreter.level);
  const AtLevel outside(interpreter.parent);
  if (Tensor argument = shown_argument(leaf, interpreter.level); argument.defined())
    return without_switched_off(argument, "return");
  if (value.get() == leaf.cell()->value.get()) return leaf;
  return wrap(with_own_elements(value));
}

}  // namespace

Recording ReverseRun::leave(const tree::Walk& output, const tree::Walk* aux) {
  State& s = *state_;
  s.interpreter->end_inside();
  Owned<Recording::State> recorded = new Recording::State{.record = s.interpreter->record,
                                                          .leaf_slots = std::move(s.leaf_slots),
                                                          .leaf_types = std::move(s.leaf_types),
                                                          .name = s.name,
                                                          .where = s.where,
                                                          .entry = s.entry};
  const Level level = s.interpreter->level;
  for (Tensor* leaf : output.leaves) {
    int slot = -1;
    Type type;
    if (leaf->defined()) {
      const ValueRef value = read(*leaf, s.name);
      type = value->type;
      if (value->level == level && value->kind == ValueKind::taped)
        slot = recorded->record->keep(static_cast<const Taped&>(*value));
      *leaf = taken_out(*leaf, *s.interpreter);
    }
    recorded->output_slots.push_back(slot);
    recorded->output_types.push_back(type);
  }
  if (aux)
    for (Tensor* leaf : aux->leaves)
      if (leaf->defined()) *leaf = taken_out(*leaf, *s.interpreter);
  s.interpreter.reset();
  if (s.cotangents_are_given) {
    recorded->output_structure = tree::Structure(output);
    recorded->output_text = tree::to_string(output);
  }
  return {Shared<const Recording::State>(recorded.release())};
}

namespace {

std::vector<Tensor> pull_back(const Recording::State& s, std::span<const Tensor> cotangents, bool consume) {
  const BackwardPass pass{s.entry};
  const With<&ThreadContext::backward> runs(&pass);
  std::vector<int> wanted;
  for (int slot : s.leaf_slots)
    if (slot >= 0) wanted.push_back(slot);
  std::vector<Tensor> found = s.record->pull_back(s.output_slots, cotangents, wanted, consume);
  std::vector<Tensor> gradients;
  std::size_t next = 0;
  for (std::size_t i = 0; i < s.leaf_slots.size(); ++i) {
    if (s.leaf_slots[i] < 0) {
      gradients.emplace_back();
      continue;
    }
    Tensor& g = found[next++];
    gradients.push_back(g.defined() ? in_own_cell(std::move(g)) : zeros_of(s.leaf_types[i]));
  }
  return gradients;
}

void write(std::span<const tree::Walk> into, std::vector<Tensor> gradients) {
  std::size_t next = 0;
  for (const tree::Walk& walk : into)
    for (Tensor* leaf : walk.leaves) {
      Tensor& g = gradients[next++];
      if (g.defined()) *leaf = std::move(g);
    }
}

}  // namespace

void write_gradients(const Recording& recording, std::span<const tree::Walk> gradients) {
  const Recording::State& s = *recording.state;
  const Tensor one = ones({}, TensorOptions{.dtype = s.output_types[0].dtype});
  write(gradients, pull_back(s, {&one, 1}, true));
}

void forget_floating(std::span<const tree::Walk> primals) {
  for (const tree::Walk& walk : primals)
    for (Tensor* leaf : walk.leaves)
      if (leaf->defined() && is_differentiable(type_of(*leaf).dtype)) *leaf = Tensor();
}

void write_pullback(const Recording& recording, const tree::Walk& cotangents, std::span<const tree::Walk> gradients) {
  const Recording::State& s = *recording.state;
  const Misfit misfit{.name = "vjp",
                      .what = "the cotangent does not fit the output",
                      .remedy = "pass a cotangent like the output",
                      .where = s.where};
  if (!(tree::Structure(cotangents) == s.output_structure))
    misfit.raise<ValueError>("the cotangent is " + tree::to_string(cotangents) + ", the output is " + s.output_text);
  std::vector<Tensor> cts;
  for (std::size_t i = 0; i < cotangents.leaves.size(); ++i)
    cts.push_back(fitted_leaf(misfit, "cotangent", "output", cotangents, i, s.output_types[i]));
  write(gradients, pull_back(s, cts, false));
}

namespace {

/// The gradients of `rows` elements of an output leaf, from element `examples.first` on: for each input leaf
/// [rows, in shape…].
std::vector<Tensor> rows_from(const Recording::State& s, std::size_t leaf, Size rows, const Examples& examples,
                              const char* name) {
  const Type& out = s.output_types[leaf];
  Shape seed_shape = out.shape;
  seed_shape.insert(0, rows);
  const auto seeds_of_rows = [&] {
    const ricci::Called as(name);
    return reshape(seeds_part(examples.first, 0, rows, out.shape.numel(), out.dtype), seed_shape);
  };
  const Tensor seeds = seeds_of_rows();
  BatchInterpreter batch(rows, Entry{}, examples);
  std::vector<Tensor> cts(s.output_types.size());
  cts[leaf] = wrap(new_node<Batched>(batch.level, value_of(seeds)));
  std::vector<Tensor> gradients = pull_back(s, cts, false);
  for (Tensor& g : gradients) {
    if (!g.defined()) continue;
    const ValueRef value = read(g, name);
    const AtLevel outside(batch.parent);
    g = rows_of(batch, value);
  }
  return gradients;
}

/// The gradients of one element of an output leaf, by a pullback that no vmap maps, so that its rules may look at
/// values: for each input leaf [1, in shape…].
std::vector<Tensor> row_from(const Recording::State& s, std::size_t leaf, std::int64_t element, const char* name) {
  const Type& out = s.output_types[leaf];
  std::vector<Tensor> cts(s.output_types.size());
  {
    const ricci::Called as(name);
    cts[leaf] = reshape(seeds_part(element, 0, 1, out.shape.numel(), out.dtype), out.shape);
  }
  std::vector<Tensor> gradients = pull_back(s, cts, false);
  for (Tensor& g : gradients)
    if (g.defined()) g = unsqueeze(g, 0);
  return gradients;
}

/// All rows of an output leaf, chunk by chunk; one list for each input leaf.
std::vector<std::vector<Tensor>> rows_of_leaf(const Recording::State& s, std::size_t leaf,
                                              const JacobianOptions& options, StreamScope& streams, const char* name) {
  const Size count = s.output_types[leaf].shape.numel();
  std::vector<std::vector<Tensor>> parts(s.leaf_slots.size());
  // A draw of an example needs the vmap that has examples; where draws are refused, none does.
  const bool one_by_one = options.chunk_size == 1 && options.randomness == Randomness::error;
  const auto add_chunk = [&](std::int64_t from, Size at_once) {
    if (from > 0) streams.restart();
    const Examples examples{.count = count, .first = from, .randomness = options.randomness, .streams = &streams};
    std::vector<Tensor> rows =
        one_by_one && at_once == 1 ? row_from(s, leaf, from, name) : rows_from(s, leaf, at_once, examples, name);
    for (std::size_t i = 0; i < rows.size(); ++i) parts[i].push_back(std::move(rows[i]));
  };
  if (!options.chunk_size) add_chunk(0, count);
  else
    for (std::int64_t from = 0, all = count; from < all || from == 0; from += *options.chunk_size)
      add_chunk(from, std::min(*options.chunk_size, all - from));
  return parts;
}

}  // namespace

std::vector<Tensor> reverse_jacobian(const Recording& recording, const tree::Walk& output,
                                     std::span<const tree::Walk> inputs, std::span<const int> positions,
                                     const JacobianOptions& options, const char* name, Place where) {
  const Recording::State& s = *recording.state;
  require_chunk_size(name, options.chunk_size, where);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    require_real(name, ("argument " + std::to_string(positions[i])).c_str(), inputs[i], where,
                 "; Jacobians take real inputs: pass view_as_real of it");
  require_real(name, "output", output, where, "; Jacobians take real outputs: return view_as_real of it");

  std::vector<Tensor> kept;  // of leaves without a derivative, the values
  for (const tree::Walk& walk : inputs)
    for (const Tensor* leaf : walk.leaves) kept.push_back(*leaf);

  StreamScope streams(streams_of(this_thread.innermost), options.randomness);
  std::vector<Tensor> jacobians;
  for (std::size_t leaf = 0; leaf < output.leaves.size(); ++leaf) {
    const Type& out = s.output_types[leaf];
    const Tensor& value = *output.leaves[leaf];
    if (!value.defined() || !is_differentiable(out.dtype)) {
      for (std::size_t i = 0; i < kept.size(); ++i)
        jacobians.push_back(value.defined() ? in_own_cell(value) : Tensor());
      continue;
    }
    const std::vector<std::vector<Tensor>> parts = rows_of_leaf(s, leaf, options, streams, name);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (s.leaf_slots[i] < 0) {
        jacobians.push_back(kept[i]);
        continue;
      }
      Shape shape = out.shape;
      shape.append(s.leaf_types[i].shape.begin(), s.leaf_types[i].shape.end());
      jacobians.push_back(in_own_cell(reshape(parts[i].size() == 1 ? parts[i][0] : cat(parts[i], 0), shape)));
    }
  }
  return jacobians;
}

}  // namespace ricci::runs
