// Recording an operation on the tape, and running the tape backwards.
#include "interpreters/tape.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <thread>
#include <utility>

#include "interpreters/node_memory.h"
#include "interpreters/record.h"
#include "primitive/custom.h"
#include "primitive/derive.h"
#include "primitive/given.h"
#include "primitive/writing.h"

namespace ricci {

/// Where the function does not run here, nobody counts: what its end has left stays.
void Taped::destroy() noexcept {
  if (place.node && !whole)
    if (Interpreter* const tape = find_interpreter(level))
      static_cast<TapeInterpreter*>(tape)->record->let_go(*place.node);
  destroy_node(this);
}

int TapeRecord::add_leaf() {
  const auto lock = threads.lock_if_open();
  return slots_++;
}

namespace {

/// Values as a tape may keep them: of memory that the user lent, copies.
struct KeptValues {
  template <class IsKept>
  KeptValues(std::span<const ValueRef> given, const IsKept& is_kept) : values(given) {
    for (std::size_t i = 0; i < given.size(); ++i)
      if (is_kept(i) && is_lent(*given[i])) [[unlikely]] {
        if (copies_.empty()) copies_.append(given.begin(), given.end());
        copies_[i] = with_own_elements(given[i]);
        values = {copies_.data(), copies_.size()};
      }
  }
  KeptValues(const KeptValues&) = delete;
  std::span<const ValueRef> values;

 private:
  Values copies_;
};

}  // namespace

TapePlace TapeRecord::add(Op op, std::span<const ValueRef> inputs, std::span<const TapePlace> parents,
                          std::span<const ValueRef> outputs, int holders, std::shared_ptr<const Residual> residual) {
  unsigned keeps = nothing;
  for (std::size_t i = 0; i < parents.size(); ++i)
    if (parents[i].slot >= 0) keeps |= kept_for_input(*op.rules, i);
  const KeptValues kept_inputs(inputs, [&](std::size_t i) { return keeps_input(keeps, i); });
  const KeptValues kept_outputs(outputs, [&](std::size_t i) { return keeps_output(keeps, i); });
  const auto lock = threads.lock_if_open();
  TapeNode* const node = nodes_.add({.op = op,
                                     .keeps = keeps,
                                     .first_slot = slots_,
                                     .inputs = kept_inputs.values,
                                     .outputs = kept_outputs.values,
                                     .parents = parents,
                                     .holders = holders,
                                     .residual = std::move(residual),
                                     .copies_few = this_thread.recordings_of_programs == 0});
  slots_ += static_cast<int>(outputs.size());
  return {node, node->first_slot};
}

int TapeRecord::keep(const Taped& output) {
  const auto lock = threads.lock();
  if (output.place.node) ++output.place.node->readers;
  return output.place.slot;
}

/// Says that it is here, then looks whether the tape is open: `clear` on another thread does so the other way round.
void TapeRecord::let_go(TapeNode& node) noexcept {
  const auto lock = threads.lock();
  const bool others_may_end = others_end_ && may_be_other_threads();
  if (others_may_end) letting_go_.fetch_add(1);
  if (open_.load() && TapeNodes::let_go(node) && passes_ == 0) take_off_dropped();
  if (others_may_end) letting_go_.fetch_sub(1);
}

void TapeRecord::close() noexcept {
  threads.close();
  const auto lock = threads.lock();
  open_.store(false);
}

void TapeRecord::clear() noexcept {
  while (letting_go_.load() != 0) std::this_thread::yield();
  nodes_.clear();
}

/// From the end, as far as all are dropped, and their slots with them: those of values that nobody holds.
void TapeRecord::take_off_dropped() noexcept {
  for (const TapeNode* node = nodes_.last(); node && node->is_dropped; node = nodes_.last()) {
    if (slots_ == node->first_slot + static_cast<int>(node->outputs)) slots_ = node->first_slot;
    nodes_.pop_back();
  }
}

namespace {

/// `so_far`: the sum of what has been added to the cotangent of input 0, which the rule may take over; null if input 0
/// has none.
Tensors cotangents_of_node(const TapeNode& node, const UnpackedNode& said, std::span<const Tensor> cotangents,
                           bool last_use, Tensor* so_far) {
  const bool may_add =
      so_far && so_far->defined() && this_thread.narrowed_levels == 0 && type_of(*so_far) == said.input_types[0];
  Mask wanted;
  for (int parent : said.parents) wanted.push_back(parent >= 0);
  return cotangents_of({node.rules, node.parameters.get()},
                       {.inputs = {said.inputs.data(), said.inputs.size()},
                        .outputs = {said.outputs.data(), said.outputs.size()},
                        .cotangents = cotangents,
                        .input_types = {said.input_types.data(), said.input_types.size()},
                        .output_types = {said.output_types.data(), said.output_types.size()},
                        .wanted = wanted,
                        .residual = said.residual,
                        .last_use = last_use,
                        .so_far = may_add ? so_far : nullptr});
}

/// A view of a value that is on the tape: through views one after the other, if the tape has noted several.
struct ViewOnTape {
  SmallVector<Op, 2> views;  // that of the whole first
  int whole = -1;            // its slot
  Type type;                 // of the whole
};

/// Far back, as long as nothing else wants to know the cotangent of what is in between.
template <class MayPass>
ViewOnTape view_on_tape(const TapeNode& node, const UnpackedNode& said, const MayPass& may_pass) {
  constexpr std::size_t most_views = 32;  // views of a longer chain are tied to its root
  ViewOnTape found{{{node.rules, node.parameters.get()}}, said.parents[0], said.input_types[0]};
  const TapeNode* n = said.first;
  while (n && found.views.size() < most_views && !n->is_dropped && n->rules->is_view() && may_pass(n->first_slot)) {
    const UnpackedNode before = TapeNodes::unpack(*n);
    if (before.parents[0] < 0) break;
    found.views.insert(0, Op{n->rules, n->parameters.get()});
    found.whole = before.parents[0];
    found.type = before.input_types[0];
    n = before.first;
  }
  return found;
}

/// Whether what has the shape `part` is few elements beside the whole: to walk over the whole for them does not pay.
bool is_small(const Shape& part, const Type& whole) { return 2 * part.numel() <= whole.shape.numel(); }

/// Whether the views show elements of the whole, each at most once, that one write can reach.
bool shows_each_once(const ViewOnTape& part, DType shown) {
  if (shown != part.type.dtype) return false;
  Type type = part.type;
  Strides strides = contiguous_strides(type.shape);
  void* data = reinterpret_cast<void*>(std::uintptr_t{1} << 32);  // stands for the first element
  for (Op view : part.views)
    if (!view.rules->lifted || !view.rules->alias(view.parameters, type, strides, data)) return false;
  return !overlaps_itself(type.shape, strides);
}

/// Adds the cotangent of a part, which the views show, to the sum for the whole, without a walk over the whole: a loop
/// that reads a row a step adds a row a step on its way back. Requires: the part is small.
void add_to_part(Tensor& sum, const ViewOnTape& part, const Tensor& cotangent) {
  const std::span<const Op> views{part.views.begin(), part.views.size()};
  if (!this_thread.innermost && sum.cell()->refs.is(1) && sole_array(sum.cell())) {
    shown_through(views, sum).add_(cotangent);
    return;
  }
  const ValueRef added = read(add(shown_through(views, sum), cotangent), views.back().rules->name);
  sum = GivenAway::from_handle(sum, [&] { return wrap(put_through_views(views, value_of(sum), added)); });
}

/// The cotangents of an operation that reads a few elements of what the views show. Where its rule adds to the sum that
/// has begun, it adds in the whole's sum, and input 0 is left without a cotangent of its own.
template <class Cotangents>
Tensors cotangents_added_through(Tensor& sum, const ViewOnTape& part, const Cotangents& cotangents) {
  const std::span<const Op> views{part.views.begin(), part.views.size()};
  if (!sum.cell()->refs.is(1) || sum.cell()->link) sum = wrap(value_of(sum));  // what others hold stays what it is
  forget_views(sum.cell());
  GivenAway given = GivenAway::from_ending(*sum.cell());
  const GivenAway::Offer offer(&given);
  Tensor begun = shown_through(views, sum);
  Tensors cts = cotangents(&begun);
  if (begun.defined()) return cts;
  const ValueRef added = read(std::exchange(cts[0], Tensor()), views.back().rules->name);
  const Value* const elements = innermost_part(*added, ValueKind::array);
  const auto whole_of = elements && given.has_overwritten(*elements) ? base_of_shown : put_through_views;
  sum = wrap(given.settled(whole_of(views, value_of(sum), added)));
  return cts;
}

}  // namespace

/// Stops at the first wanted slot. No lock is held while rules run, as they may be users' code; operations recorded
/// meanwhile are not part of this pass.
std::vector<Tensor> TapeRecord::pull_back(std::span<const int> slots, std::span<const Tensor> cotangents,
                                          std::span<const int> wanted, bool consume) {
  int first, last = -1, end;
  const TapeNode* node;
  {
    const auto lock = threads.lock();
    first = end = slots_;
    node = nodes_.last();
    ++passes_;
  }
  const struct Pass {
    TapeRecord& record;
    ~Pass() { --record.passes_; }
  } pass{*this};
  for (int slot : wanted)
    if (slot >= 0) first = std::min(first, slot);
  for (int slot : slots) last = std::max(last, slot);
  const auto count = static_cast<std::size_t>(end - first);
  std::vector<Tensor> by_slot(count);
  SmallVector<bool, 64> kept(count);
  const auto is_passed = [=](int slot) { return slot >= first; };
  const auto at = [=](int slot) { return static_cast<std::size_t>(slot - first); };
  for (int slot : wanted)
    if (is_passed(slot)) kept[at(slot)] = true;
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (is_passed(slots[i])) accumulate(by_slot[at(slots[i])], cotangents[i]);
  const auto may_pass = [&](int slot) { return is_passed(slot) && !kept[at(slot)] && !by_slot[at(slot)].defined(); };
  const auto added_to_whole = [&](const TapeNode& view, const UnpackedNode& said) {
    if (this_thread.recordings_of_programs != 0 || this_thread.narrowed_levels != 0) return false;
    const Tensor& cotangent = by_slot[at(view.first_slot)];
    const Type type = type_of(cotangent);
    if (!is_small(type.shape, said.input_types[0])) return false;
    const ViewOnTape part = view_on_tape(view, said, may_pass);
    if (!is_passed(part.whole) || !is_small(type.shape, part.type) || !shows_each_once(part, type.dtype)) return false;
    Tensor& sum = by_slot[at(part.whole)];
    // For the first term, the view makes zeros itself.
    if (sum.defined() ? !GivenAway::pays_for(*value_of(sum)) : part.views.size() == 1) return false;
    if (!sum.defined()) sum = zeros_of(part.type);
    add_to_part(sum, part, cotangent);
    return true;
  };
  /// For a read at indices of a view: the tensor behind the view, if its cotangent sum has begun.
  const auto whole_behind = [&](const TapeNode& read, const UnpackedNode& said) -> std::optional<ViewOnTape> {
    const TapeNode* const view = said.first;
    const bool may_be_at_indices = read.rules->kind == Kind::linear && said.parents.size() > 1 && read.outputs == 1;
    if (!may_be_at_indices || !view || !view->rules->is_view() || view->is_dropped) return {};
    if (!may_pass(said.parents[0])) return {};
    if (this_thread.recordings_of_programs != 0 || this_thread.narrowed_levels != 0) return {};
    if (!is_small(type_of(by_slot[at(read.first_slot)]).shape, said.input_types[0])) return {};
    ViewOnTape part = view_on_tape(*view, TapeNodes::unpack(*view), may_pass);
    if (!is_passed(part.whole)) return {};
    const Tensor& sum = by_slot[at(part.whole)];
    if (!sum.defined() || !GivenAway::pays_for(*value_of(sum))) return {};
    if (!shows_each_once(part, said.input_types[0].dtype)) return {};
    return part;
  };
  while (node && node->first_slot > first) {
    const std::span<Tensor> outputs{by_slot.data() + at(node->first_slot), node->outputs};
    const bool reached = node->first_slot <= last &&
                         std::any_of(outputs.begin(), outputs.end(), [](const Tensor& ct) { return ct.defined(); });
    if (reached) {
      assert(!node->is_dropped);
      const UnpackedNode said = TapeNodes::unpack(*node);
      bool last_use = true;
      for (std::size_t i = 0; i < outputs.size(); ++i) last_use &= !kept[at(node->first_slot) + i];
      const int parent = said.parents.empty() ? -1 : said.parents[0];
      Tensor* const so_far = is_passed(parent) ? &by_slot[at(parent)] : nullptr;
      const auto cotangents_with = [&](Tensor* begun) {
        return cotangents_of_node(*node, said, outputs, last_use, begun);
      };
      Tensors cts;
      if (node->rules->is_view()) {
        if (!added_to_whole(*node, said)) cts = cotangents_with(so_far);
      } else if (const auto part = whole_behind(*node, said)) {
        cts = cotangents_added_through(by_slot[at(part->whole)], *part, cotangents_with);
      } else {
        cts = cotangents_with(so_far);
      }
      for (std::size_t i = 0; i < cts.size(); ++i)
        if (is_passed(said.parents[i])) accumulate(by_slot[at(said.parents[i])], std::move(cts[i]));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (!kept[at(node->first_slot) + i]) outputs[i] = Tensor();
    const TapeNode* const passed = std::exchange(node, node->previous);
    if (!consume) continue;
    const auto lock = threads.lock();
    if (nodes_.last() == passed) nodes_.pop_back();
  }
  std::vector<Tensor> gradients;
  for (int slot : wanted) gradients.push_back(is_passed(slot) ? by_slot[at(slot)] : Tensor());
  return gradients;
}

TapeInterpreter::TapeInterpreter(const TapeInterpreter& other)
    : Interpreter(other), record(other.record), watched(other.watched), is_copy_(true) {}

TapeInterpreter::~TapeInterpreter() {
  if (!is_copy_) record->close();
}

std::unique_ptr<Interpreter> TapeInterpreter::copy() {
  record->threads.share(entry);
  return std::unique_ptr<Interpreter>(new TapeInterpreter(*this));
}

ValueRef TapeInterpreter::watch(ValueRef value) {
  return new_node<Taped>(level, std::move(value), TapePlace{.slot = record->add_leaf()});
}

const Taped* taped_at(const ValueRef& value, Level level) {
  const Value* part = part_at(*value, level);
  return part && part->kind == ValueKind::taped ? static_cast<const Taped*>(part) : nullptr;
}

Values TapeInterpreter::process(Op op, std::span<const ValueRef> inputs) {
  Values values;
  SmallVector<TapePlace, 3> places;
  for (const ValueRef& v : inputs) {
    const Taped* taped = v->level == level ? static_cast<const Taped*>(v.get()) : nullptr;
    values.push_back(taped ? taped->value : v);
    places.push_back(taped ? taped->place : TapePlace());
  }
  Values results;
  std::shared_ptr<const Residual> residual;
  Mask constant = 0;
  if (op.rules->keep) {
    Mask wanted;
    for (const TapePlace& place : places) wanted.push_back(place.slot >= 0);
    custom::KeptValues kept = custom::keep(op, {values.data(), values.size()}, wanted);
    results = std::move(kept.outputs);
    residual = std::move(kept.residual);
    constant = kept.constant;
  } else {
    results = dispatch(op, {values.data(), values.size()});
  }
  if (op.rules->is_locally_constant()) return results;
  Mask differentiable;
  int count = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    differentiable.push_back(!constant[i] && is_differentiable(results[i]->type.dtype));
    count += differentiable[i];
  }
  if (count == 0) return results;

  TapePlace place = record->add(op, {values.data(), values.size()}, {places.data(), places.size()},
                                {results.data(), results.size()}, count, std::move(residual));
  for (std::size_t i = 0; i < results.size(); ++i, ++place.slot)
    if (differentiable[i]) results[i] = new_node<Taped>(level, std::move(results[i]), place);
  return results;
}

}  // namespace ricci
