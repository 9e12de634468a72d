// rc::Tape and rc::no_grad.
#include "ricci/tape.h"

#include <algorithm>
#include <memory>

#include "interpreters/tape.h"
#include "transforms/arguments.h"

namespace ricci {

struct Tape::State {
  runs::Place where;
  std::unique_ptr<TapeInterpreter> interpreter;
  std::vector<Tensor> watched;
};

Tape::Tape(where_t where)
    : state_(new State{.where = where, .interpreter = std::make_unique<TapeInterpreter>(entry_of("Tape", where))}) {}

/// Watched tensors become plain again.
Tape::~Tape() {
  const Level level = state_->interpreter->level;
  for (const Tensor& t : state_->watched) t.cell()->value = without_level(t.cell()->value, level);
  delete state_;
}

void Tape::watch_leaves(const tree::Walk& walk) {
  for (const Tensor* leaf : walk.leaves) {
    if (!leaf->defined()) continue;
    const ValueRef value = read(*leaf, "Tape");
    if (!is_differentiable(value->type.dtype) || value->level == state_->interpreter->level) continue;
    leaf->cell()->value = state_->interpreter->watch(value);
    state_->watched.push_back(*leaf);
  }
}

namespace {

/// The value's place on the tape of this level, under the levels of tapes inside it; -1 if it has none.
int slot_at(const ValueRef& value, Level level) {
  const Value* v = value.get();
  while (v && v->level > level) {
    const ValueRef* inner = inner_of(*v);
    v = inner ? inner->get() : nullptr;
  }
  return v && v->level == level && v->kind == ValueKind::taped ? static_cast<const Taped*>(v)->slot : -1;
}

}  // namespace

void Tape::write_gradients(const Tensor& loss, const tree::Walk& into) const {
  const TapeInterpreter& tape = *state_->interpreter;
  const ValueRef value = read(loss, "Tape");
  const Type type = value->type;
  const std::string start = "Tape: the output must be one real floating 0-dim tensor, found " + to_string(type);
  if (!is_floating(type.dtype)) raise_own<TypeError>(start + "; compute the loss in a floating dtype", state_->where);
  if (type.rank() != 0) raise_own<ValueError>(start + "; reduce it to one number, or use vjp or jacrev", state_->where);

  std::vector<int> slots;
  for (const Tensor* leaf : into.leaves) {
    slots.push_back(leaf->defined() ? slot_at(value_of(*leaf), tape.level) : -1);
  }
  const AtLevel outside(tape.parent);
  const int root = slot_at(value, tape.level);
  const Tensor one = ones({}, TensorOptions{.dtype = type.dtype});
  const std::vector<Tensor> found = tape.record->pull_back({&root, 1}, {&one, 1}, slots, false);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Tensor& leaf = *into.leaves[i];
    if (!leaf.defined()) continue;
    const Type t = type_of(leaf);
    if (is_differentiable(t.dtype))
      leaf = found[i].defined() ? found[i] : zeros(t.shape, TensorOptions{.dtype = t.dtype});
  }
}

no_grad::no_grad() : saved_(no_grad_below) { no_grad_below = std::max(no_grad_below, current_level()); }
no_grad::~no_grad() { no_grad_below = saved_; }

}  // namespace ricci
