// grad, vjp and jacrev, compiled side: watch the arguments, take the outputs out, run the tape backwards.
#include <memory>
#include <string_view>

#include "interpreters/batch.h"
#include "interpreters/node_memory.h"
#include "interpreters/tape.h"
#include "primitive/derive.h"
#include "ricci/primitive/raise.h"
#include "transforms/arguments.h"

namespace ricci::runs {

struct Recording::State {
  std::atomic<int> refs{1};
  std::shared_ptr<TapeRecord> record;
  std::vector<int> leaf_slots;    // one per leaf of the differentiated arguments; -1 where it is not floating
  std::vector<int> output_slots;  // one per output leaf; -1 where it does not depend on them
  std::vector<Type> output_types;
  std::vector<Type> leaf_types;
  tree::Structure output_structure;
  std::string output_text;
  const char* name;
  Place where;
};

Recording::Recording(const Recording& other) : state_(other.state_) {
  if (state_) state_->refs.fetch_add(1, std::memory_order_relaxed);
}
Recording::~Recording() {
  if (state_ && state_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete state_;
}

struct ReverseRun::State {
  const char* name;
  Place where;
  Entry entry;
  std::unique_ptr<TapeInterpreter> interpreter;
  std::vector<int> leaf_slots;
  std::vector<Type> leaf_types;
};

ReverseRun::ReverseRun(const char* name, Place where, bool shown)
    : state_(new State{.name = name, .where = where, .entry = entry_of(shown ? name : nullptr, where)}) {}
ReverseRun::~ReverseRun() { delete state_; }

void ReverseRun::enter(std::span<const tree::Walk> arguments, std::span<const int> differentiated) {
  State& s = *state_;
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
      ValueRef value = read(*leaf, s.name);
      s.leaf_types.back() = value->type;
      if (is_differentiable(value->type.dtype)) {
        value = s.interpreter->watch(std::move(value));
        s.leaf_slots.back() = static_cast<const Taped&>(*value).slot;
      }
      show(*leaf, std::move(value));
    }
  }
  for (std::size_t a = 0; a < arguments.size(); ++a)
    for (Tensor* leaf : arguments[a].leaves)
      if (!watched[a] && leaf->defined()) show(*leaf, read(*leaf, s.name));
}

void ReverseRun::refuse(const char* found) {
  state_->interpreter.reset();
  raise_no_tensor(state_->name, found, state_->where);
}

void ReverseRun::check_loss(const tree::Walk& output, bool is_tensor) {
  const State& s = *state_;
  const auto fail = [&]<class E>(std::type_identity<E>, const std::string& found, const char* remedy) {
    state_->interpreter.reset();
    raise_own<E>(
        std::string(s.name) + ": the output must be one real floating 0-dim tensor, found " + found + "; " + remedy,
        s.where);
  };
  if (!is_tensor || !output.leaves[0]->defined()) refuse_loss(tree::to_string(output));
  const Type type = type_of(*output.leaves[0]);
  if (is_complex(type.dtype))
    fail(std::type_identity<TypeError>(), to_string(type), "return its real part or its absolute value");
  if (!is_differentiable(type.dtype))
    fail(std::type_identity<TypeError>(), to_string(type), "compute the loss in a floating dtype");
  if (type.rank() != 0)
    fail(std::type_identity<ValueError>(), to_string(type), "reduce it to one number, or use vjp or jacrev");
}

void ReverseRun::refuse_loss(const std::string& found) {
  state_->interpreter.reset();
  raise_own<TypeError>(std::string(state_->name) + ": the output must be one real floating 0-dim tensor, found " +
                           found + "; return the loss alone, or a pair {loss, aux} with rc::has_aux",
                       state_->where);
}

void ReverseRun::check_outputs(const tree::Walk& output) {
  refresh(output);
  const AtLevel outside(state_->interpreter->parent);
  require_differentiable(state_->name, output, state_->where);
}

namespace {

/// The caller's view of a result: without the level, and the caller's own tensor where an argument is given back.
Tensor taken_out(const Tensor& leaf, const Interpreter& interpreter) {
  const AtLevel outside(interpreter.parent);
  Cell* cell = leaf.cell();
  const ValueRef value = without_level(value_of(leaf), interpreter.level);
  if (cell->link && cell->link->is_argument() &&
      static_cast<const ArgumentLink*>(cell->link)->level == interpreter.level)
    return cell->link->base;
  if (value.get() == cell->value.get()) return leaf;
  return wrap(value);
}

}  // namespace

Recording ReverseRun::leave(const tree::Walk& output, const tree::Walk* aux) {
  State& s = *state_;
  Recording recording;
  recording.state_ = new Recording::State{.record = s.interpreter->record,
                                          .leaf_slots = std::move(s.leaf_slots),
                                          .leaf_types = std::move(s.leaf_types),
                                          .name = s.name,
                                          .where = s.where};
  const Level level = s.interpreter->level;
  for (Tensor* leaf : output.leaves) {
    int slot = -1;
    Type type;
    if (leaf->defined()) {
      const ValueRef value = read(*leaf, s.name);
      type = value->type;
      if (value->level == level && value->kind == ValueKind::taped) slot = static_cast<const Taped&>(*value).slot;
      *leaf = taken_out(*leaf, *s.interpreter);
    }
    recording.state_->output_slots.push_back(slot);
    recording.state_->output_types.push_back(type);
  }
  if (aux)
    for (Tensor* leaf : aux->leaves)
      if (leaf->defined()) *leaf = taken_out(*leaf, *s.interpreter);
  s.interpreter.reset();
  if (std::string_view(s.name) == "vjp") {  // the only one whose cotangents come from the user
    recording.state_->output_structure = tree::Structure(output);
    recording.state_->output_text = tree::to_string(output);
  }
  return recording;
}

namespace {

std::vector<Tensor> pull_back(const Recording::State& s, std::span<const Tensor> cotangents, bool consume) {
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
    gradients.push_back(g.defined() ? std::move(g) : zeros_of(s.leaf_types[i]));
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

void write_gradients(Recording& recording, std::span<const tree::Walk> gradients) {
  const Recording::State& s = *recording.state_;
  const Tensor one = ones({}, TensorOptions{.dtype = s.output_types[0].dtype});
  write(gradients, pull_back(s, {&one, 1}, true));
}

void forget_floating(std::span<const tree::Walk> primals) {
  for (const tree::Walk& walk : primals)
    for (Tensor* leaf : walk.leaves)
      if (leaf->defined() && is_differentiable(type_of(*leaf).dtype)) *leaf = Tensor();
}

void write_pullback(const Recording& recording, const tree::Walk& cotangents, std::span<const tree::Walk> gradients) {
  const Recording::State& s = *recording.state_;
  if (!(tree::Structure(cotangents) == s.output_structure))
    raise_own<ValueError>("vjp: the cotangent does not fit the output: the cotangent is " +
                              tree::to_string(cotangents) + ", the output is " + s.output_text +
                              "; pass a cotangent like the output",
                          s.where);
  std::vector<Tensor> cts;
  for (std::size_t i = 0; i < cotangents.leaves.size(); ++i) {
    const Tensor& ct = *cotangents.leaves[i];
    if (!ct.defined()) {
      cts.emplace_back();
      continue;
    }
    const Type have = type_of(ct), want = s.output_types[i];
    const std::string text = "vjp: the cotangent does not fit the output: " + path_of("cotangent", cotangents, i) +
                             " is " + to_string(have) + ", " + path_of("output", cotangents, i) + " is " +
                             to_string(want) + "; pass a cotangent like the output";
    if (!(have.shape == want.shape)) raise_own<ValueError>(text, s.where);
    if (have.dtype != want.dtype && !have.weak) raise_own<TypeError>(text, s.where);
    cts.push_back(have.dtype == want.dtype ? ct : to(ct, want.dtype));
  }
  write(gradients, pull_back(s, cts, false));
}

std::vector<Tensor> reverse_jacobian(Recording& recording, const tree::Walk& output, std::span<const tree::Walk> inputs,
                                     std::span<const int> positions, const JacobianOptions& options, const char* name,
                                     Place where) {
  const Recording::State& s = *recording.state_;
  if (options.chunk_size && *options.chunk_size < 1)
    raise_own<ValueError>(
        std::string(name) + ": chunk_size is " + std::to_string(*options.chunk_size) + "; it must be at least 1",
        where);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    require_real(name, ("argument " + std::to_string(positions[i])).c_str(), inputs[i], where,
                 "; Jacobians take real inputs: pass view_as_real of it");
  require_real(name, "output", output, where, "; Jacobians take real outputs: return view_as_real of it");

  StreamScope streams(streams_of(innermost));
  std::vector<Tensor> jacobians;
  for (std::size_t leaf = 0; leaf < output.leaves.size(); ++leaf) {
    const Type& out = s.output_types[leaf];
    const std::int64_t count = out.shape.numel();
    const std::int64_t at_once = options.chunk_size.value_or(count);
    std::vector<std::vector<Tensor>> parts(s.leaf_slots.size());
    for (std::int64_t from = 0; from < count || from == 0; from += at_once ? at_once : 1) {
      const std::int64_t rows = std::min(at_once, count - from);
      Shape seed_shape = out.shape;
      seed_shape.insert(0, rows);
      const Tensor seeds = reshape(eye_rows(from, rows, count, out.dtype), seed_shape);
      std::vector<Tensor> gradients;
      {
        if (from > 0) streams.restart();
        BatchInterpreter batch(rows, Entry{},
                               {.count = count, .first = from, .randomness = options.randomness, .streams = &streams});
        std::vector<Tensor> cts(output.leaves.size());
        cts[leaf] = wrap(new_node<Batched>(batch.level, value_of(seeds)));
        gradients = pull_back(s, cts, false);
        for (Tensor& g : gradients) {
          if (!g.defined()) continue;
          const ValueRef value = read(g, name);
          const AtLevel outside(batch.parent);
          if (value->level == batch.level) {
            g = wrap(static_cast<const Batched&>(*value).value);
          } else {
            Shape shape = value->type.shape;
            shape.insert(0, rows);
            g = expand(wrap(value), shape);
          }
        }
      }
      for (std::size_t i = 0; i < gradients.size(); ++i) parts[i].push_back(gradients[i]);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (s.leaf_slots[i] < 0) {
        Shape shape = out.shape;
        shape.append(s.leaf_types[i].shape.begin(), s.leaf_types[i].shape.end());
        jacobians.push_back(zeros(shape, TensorOptions{.dtype = out.dtype}));
        continue;
      }
      Shape shape = out.shape;
      shape.append(s.leaf_types[i].shape.begin(), s.leaf_types[i].shape.end());
      jacobians.push_back(reshape(parts[i].size() == 1 ? parts[i][0] : cat(parts[i], 0), shape));
    }
  }
  return jacobians;
}

}  // namespace ricci::runs
