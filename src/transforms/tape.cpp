// rc::Tape.
#include "ricci/tape.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include "interpreters/node_memory.h"
#include "interpreters/tape.h"
#include "primitive/running.h"
#include "ricci/primitive.h"
#include "transforms/arguments.h"

namespace ricci {

struct Tape::State {
  runs::Place where;
  std::unique_ptr<TapeInterpreter> interpreter;
  struct Watched {
    Tensor tensor;            // keeps the cell
    ValueRef before, inside;  // what it held, and what that is inside a recording that captures it
  };
  std::vector<Watched> watched;

  void require_running() const;
  [[noreturn]] void raise_inside(const char* what, const Value& value, const char* remedy) const;
  ValueRef watched_value(const ValueRef& value) const;
  int slot_of(const ValueRef& value) const;
  int slot_of_leaf(const Tensor& leaf) const;
  int slot_of_output(const Tensor& output) const;
  void pull_back(std::span<const int> roots, std::span<const Tensor> cotangents, const tree::Walk& into) const;
};

namespace {

/// The value without the differentiating levels around it that have ended.
ValueRef without_ended(ValueRef value) {
  while (value && (value->kind == ValueKind::taped || value->kind == ValueKind::dual) && !is_running(value->level))
    value = *inner_of(*value);
  return value;
}

/// The part of the value that differs per example of a vmap inside this level; null if there is none.
const Value* batched_inside(const Value& value, Level level) {
  const Value* batched = innermost_part(value, ValueKind::batched);
  return batched && batched->level > level ? batched : nullptr;
}

/// With the derivatives that no_grad switches off now: watching cuts none, and a loss is asked for after it was
/// recorded.
ValueRef whole_value(const Tensor& tensor) {
  const NoGradBelow none(0);
  return read(tensor, "Tape");
}

/// Marks a watched view of which nothing is cut: no transform has this level.
constexpr Level cuts_nothing = 1;

void count_as_watched(Link& view) { view.cut_of_base = std::max(view.cut_of_base, cuts_nothing); }

/// A view that was made under no_grad is a variable of the tape that watches it: what is cut from the tape inwards is
/// cut of what the base gives, not of the view.
void keep_what_is_watched(Link& view, const Interpreter* around) {
  const Level last = around ? around->level : 0;
  count_as_watched(view);
  if (view.cut_below > last) view.cut_of_base = std::max(view.cut_of_base, view.cut_below);
  view.cut_below = std::min(view.cut_below, last);
}

/// Once no tape watches the view, a write to it is one to its base again.
void forget_that_it_is_watched(Cell& cell) {
  if (cell.link && cell.link->cut_of_base == cuts_nothing && cell.value->kind != ValueKind::taped)
    cell.link->cut_of_base = 0;
}

std::atomic<TapeInterpreter*> given_up = nullptr;

/// Holds it, without what it has recorded, until the process ends: the stack of its own thread still points to it.
void give_up(TapeInterpreter* interpreter) noexcept {
  interpreter->record->close();
  interpreter->record->clear();
  interpreter->given_up_before = given_up.load();
  while (!given_up.compare_exchange_weak(interpreter->given_up_before, interpreter)) {}
  interpreter->give_up();
}

}  // namespace

Tape::Tape(where_t where)
    : state_(new State{
          .where = where, .interpreter = std::make_unique<TapeInterpreter>(entry_of("Tape", where)), .watched = {}}) {
  state_->interpreter->record->let_others_end();
}

/// Watched tensors become plain again. An interpreter that cannot leave its stack, as on another thread, is given up.
Tape::~Tape() {
  const bool ended = state_->interpreter->end();
  if (!ended) count_as_ended(state_->interpreter->level);
  for (const auto& [tensor, before, inside] : state_->watched) {
    ValueRef left = without_ended(tensor.cell()->value);
    tensor.cell()->value = left.get() == inside.get() ? before : std::move(left);
    forget_that_it_is_watched(*tensor.cell());
    show_lent_elements(*tensor.cell());
  }
  if (!ended) give_up(state_->interpreter.release());
}

void Tape::State::require_running() const {
  if (interpreter->has_ended())
    raise_own<TransformError>("Tape: it was made inside " + to_string(interpreter->ended_by()) +
                                  ", which has ended; use a tape inside the function that makes it",
                              where);
  if (!of_this_thread(interpreter->level))
    raise_own<TransformError>("Tape: it was made on another thread; watch tensors and ask for gradients on that one",
                              where);
}

void Tape::State::raise_inside(const char* what, const Value& value, const char* remedy) const {
  raise_own<TransformError>(std::string("Tape: ") + what + " " + to_string(value.type) + " belongs to " +
                                transform_text(find_interpreter(value.level)) + ", which runs inside the tape; " +
                                remedy,
                            where);
}

/// `value` with a place on this tape: under the levels of tapes inside this one.
ValueRef Tape::State::watched_value(const ValueRef& value) const {
  if (value->level < interpreter->level) return interpreter->watch(value);
  if (value->kind == ValueKind::taped) {
    const auto& taped = static_cast<const Taped&>(*value);
    return new_node<Taped>(taped, watched_value(taped.value));
  }
  raise_inside("the tensor", *value, "watch it before, or make the tape there");
}

void Tape::watch_leaves(const tree::Walk& walk) {
  State& s = *state_;
  s.require_running();
  bool any = false;
  for (const Tensor* leaf : walk.leaves) {
    if (!leaf->defined()) continue;
    Cell* cell = leaf->cell();
    const ValueRef value = whole_value(*leaf);
    if (!is_differentiable(value->type.dtype)) continue;
    any = true;
    const bool on_tape = taped_at(value, s.interpreter->level) != nullptr;
    const ValueRef shown = on_tape ? value : s.watched_value(value);
    const int slot = s.interpreter->record->keep(*taped_at(shown, s.interpreter->level));
    if (s.interpreter->watched.insert_or_assign(cell, slot).second)
      s.watched.push_back({*leaf, value_of(*leaf), value});
    if (on_tape) {
      if (cell->link) count_as_watched(*cell->link);  // a view of a watched base is a variable of its own from here on
      continue;
    }
    cell->value = shown;
    if (cell->link) keep_what_is_watched(*cell->link, s.interpreter->parent);
    if (root_of(cell) == cell) ++cell->version;  // its views show the watched value too
  }
  if (!any)
    raise_own<TypeError>("Tape: nothing to watch: " + tree::to_string(walk) +
                             " holds no floating tensor; convert one, for example with x.to(rc::float32)",
                         s.where);
}

/// The tape's place for a value; -1 where it has none. No output of this level depends on one example of a vmap inside
/// it.
int Tape::State::slot_of(const ValueRef& value) const {
  const Taped* taped = batched_inside(*value, interpreter->level) ? nullptr : taped_at(value, interpreter->level);
  return taped ? taped->place.slot : -1;
}

int Tape::State::slot_of_leaf(const Tensor& leaf) const {
  if (!leaf.defined()) return -1;
  const auto found = interpreter->watched.find(leaf.cell());
  if (found != interpreter->watched.end()) return found->second;
  const ValueRef left = without_ended(value_of(leaf));  // of a vmap, ended or not: on no tape
  return slot_of(left->kind == ValueKind::batched ? left : live(left, "Tape"));
}

int Tape::State::slot_of_output(const Tensor& output) const {
  const ValueRef value = whole_value(output);
  if (const Value* inside = batched_inside(*value, interpreter->level))
    raise_inside("the output", *inside, "take the gradient of what that returns");
  return slot_of(value);
}

/// Writes the gradients of the outputs at `roots` over the leaves of `into`. The pass runs at the level of the
/// cotangents, or around the tape if they come from there: what it computes is on no tape but older ones.
void Tape::State::pull_back(std::span<const int> roots, std::span<const Tensor> cotangents,
                            const tree::Walk& into) const {
  Level deepest = 0;
  for (const Tensor& cotangent : cotangents)
    if (cotangent.defined()) deepest = std::max(deepest, value_of(cotangent)->level);
  std::vector<int> slots;
  for (const Tensor* leaf : into.leaves) slots.push_back(slot_of_leaf(*leaf));
  std::vector<Tensor> found;
  {
    const AtLevel there(deepest > interpreter->level ? find_interpreter(deepest) : interpreter->parent);
    const BackwardPass pass{interpreter->entry};
    const With<&ThreadContext::backward> runs(&pass);
    found = interpreter->record->pull_back(roots, cotangents, slots, false);
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Tensor& leaf = *into.leaves[i];
    if (!leaf.defined()) continue;
    const Type t = type_of(leaf);
    if (!is_differentiable(t.dtype)) continue;
    leaf = found[i].defined() ? wrap(value_of(found[i])) : zeros_of(t);  // made here: it may be written here
  }
}

void Tape::write_gradients(const Tensor& loss, const tree::Walk& into) const {
  const State& s = *state_;
  s.require_running();
  const Type type = whole_value(loss)->type;
  require_loss("Tape", type, s.where, "pass a cotangent: gradient(output, tree, cotangent)");
  const int root = s.slot_of_output(loss);
  Tensor one;
  {
    const AtLevel outside(s.interpreter->parent);
    one = ones({}, TensorOptions{.dtype = type.dtype});
  }
  s.pull_back({&root, 1}, {&one, 1}, into);
}

void Tape::write_gradients(const tree::Walk& outputs, const tree::Walk& cotangents, const tree::Walk& into) const {
  const State& s = *state_;
  s.require_running();
  const Misfit misfit{.name = "Tape",
                      .what = "the cotangent does not fit the output",
                      .remedy = "pass a cotangent like the output",
                      .where = s.where};
  if (!(tree::Structure(cotangents) == tree::Structure(outputs)))
    misfit.raise<ValueError>("the cotangent is " + tree::to_string(cotangents) + ", the output is " +
                             tree::to_string(outputs));
  std::vector<int> roots;
  std::vector<Tensor> fitted;
  for (std::size_t i = 0; i < outputs.leaves.size(); ++i) {
    const Tensor& output = *outputs.leaves[i];
    std::optional<Type> type;
    if (output.defined()) type = whole_value(output)->type;
    const Tensor cotangent = fitted_leaf(misfit, "cotangent", "output", cotangents, i, type);
    if (!cotangent.defined() || !is_differentiable(type->dtype)) continue;
    roots.push_back(s.slot_of_output(output));
    const Level level = s.interpreter->level;  // what the pass computes is not on its own tape
    fitted.push_back(wrap(without_derivatives(live(value_of(cotangent), "Tape"), level, level)));
  }
  s.pull_back(roots, fitted, into);
}

}  // namespace ricci
