// Who holds what: a value is known to be held by nobody else if all its references are found behind the cells at hand.
#include "primitive/given.h"

#include <algorithm>

#include "kernels/elementwise.h"
#include "tensor/lent.h"

namespace ricci {

namespace {

/// The values behind some cells, and how often each is referred to from there.
class Holders {
 public:
  /// Of a root: its value and the current values of its views. After a write, the views compute theirs anew.
  void add_cell(const Cell& cell) {
    cells_.push_back(&cell);
    if (cell.value) add(*cell.value);
    for (const Link* view = cell.current; view; view = view->next) add(*view->view->value);
  }
  void add(const Value& value) {
    auto found = std::find_if(held_.begin(), held_.end(), [&](const Held& h) { return h.value == &value; });
    if (found != held_.end()) {
      ++found->references;
      return;
    }
    held_.push_back({&value, 1, false});
    for (const ValueRef* part : {inner_of(value), tangent_of(value)})
      if (part && *part) add(**part);
  }
  /// Requires: everything has been added. Says which values others hold too, or hold something that holds them.
  void find_shared() {
    for (Held& h : held_) h.shared = !h.value->refs.is(h.references);
    for (std::size_t pass = 0; pass < held_.size(); ++pass)
      for (const Held& h : held_) {
        if (!h.shared) continue;
        for (const ValueRef* part : {inner_of(*h.value), tangent_of(*h.value)})
          if (part && *part) at(**part).shared = true;
      }
  }
  /// Whether nobody else can see the elements of the array, which is among the values.
  bool are_all_of(const Array& array) {
    std::uint32_t references = 0;
    for (const Cell* cell : cells_) references += home_of(cell) == array.storage ? 1U : 0U;
    for (const Held& h : held_) {
      if (h.value->kind != ValueKind::array || static_cast<const Array*>(h.value)->storage != array.storage) continue;
      if (h.shared) return false;
      ++references;
    }
    return array.storage->refs.is(references);
  }

 private:
  struct Held {
    const Value* value;
    std::uint32_t references;
    bool shared;
  };
  Held& at(const Value& value) {
    return *std::find_if(held_.begin(), held_.end(), [&](const Held& h) { return h.value == &value; });
  }
  SmallVector<Held, 8> held_;
  SmallVector<const Cell*, 3> cells_;
};

template <class Visit>
void for_each_array(const Value& value, const Visit& visit) {
  if (value.kind == ValueKind::array) visit(const_cast<Array&>(static_cast<const Array&>(value)));
  for (const ValueRef* part : {inner_of(value), tangent_of(value)})
    if (part && *part) for_each_array(**part, visit);
}

bool lies_as_made(const Array& array) {
  return array.storage == array.home && is_contiguous(array.type.shape, array.strides);
}

/// What is undone may not allocate: the layouts have to fit on the stack.
bool can_be_undone(std::span<const ValueRef> inputs) {
  const auto fits = [](const ValueRef& v) { return v->type.shape.size() <= axes_on_the_stack; };
  return inputs.size() <= max_loop_inputs && std::all_of(inputs.begin(), inputs.end(), fits);
}

bool is_laid_out_as(const Array& a, const Array& b) {
  return a.data == b.data && a.type == b.type && std::equal(a.strides.begin(), a.strides.end(), b.strides.begin());
}

}  // namespace

bool GivenAway::pays_for(const Value& whole) {
  constexpr std::int64_t few = 1024;
  const Value* elements = innermost_part(whole, ValueKind::array);
  std::int64_t count = 1;
  for (Size size : (elements ? elements : &whole)->type.shape) count *= size.hint();
  return count >= few;
}

GivenAway::GivenAway(const Cell& owner, const Value* incoming, bool as_made) {
  if (!owner.value) return;
  Holders holders;
  holders.add_cell(owner);
  // A transform's argument and the tensor that it shows take the new value together.
  for (const Cell* c = &owner; c->link && c->link->is_argument();) {
    c = c->link->base.cell();
    if (!c->link || c->link->is_argument()) holders.add_cell(*c);
  }
  if (incoming) holders.add(*incoming);
  holders.find_shared();
  // One storage behind two parts, as in jvp(f, x, x), cannot take the new elements of both.
  SmallVector<const Block*, 4> parts;
  for_each_array(*owner.value, [&](const Array& array) { parts.push_back(array.storage); });
  for_each_array(*owner.value, [&](Array& array) {
    const bool is_its_own = !is_lent(array) || home_of(&owner) == array.storage;  // lent memory is its handle's
    if (!is_its_own || array.type.weak || (as_made && !lies_as_made(array)) || !holders.are_all_of(array)) return;
    if (std::count(parts.begin(), parts.end(), array.storage) > 1) return;
    elements_.push_back({});
    elements_.back().array = ArrayRef::share(&array);
  });
}

Cell* GivenAway::sole_root(const Tensor& handle) {
  Cell* cell = handle.cell();
  for (;; cell = cell->link->base.cell()) {
    if (!cell->refs.is(1)) return nullptr;
    if (!cell->link) return cell;
    if (cell->link->is_argument()) return nullptr;
  }
}

GivenAway::Elements* GivenAway::find(const Value& value) {
  if (value.kind != ValueKind::array) return nullptr;
  const Block* storage = static_cast<const Array&>(value).storage;
  for (Elements& e : elements_)
    if (e.array->storage == storage) return &e;
  return nullptr;
}

ValueRef GivenAway::overwritten(Op op, std::span<const ValueRef> inputs) {
  GivenAway* const offered = this_thread.given_away;
  Elements* const found = offered ? offered->find(*inputs[0]) : nullptr;
  if (!found) return {};
  const auto& base = static_cast<const Array&>(*inputs[0]);
  if (overlaps_itself(base.type.shape, base.strides)) return {};
  if (offered->keeps_ && !can_be_undone(inputs)) return {};
  SmallVector<Strided, 4> in;
  const auto lay_out = [&](const Values& values) {
    in.clear();
    for (const ValueRef& v : values) in.push_back(static_cast<const Array&>(*v).strided());
  };
  const auto overwrite = [&](Overwriting step, const Strided& kept) {
    return op.rules->overwrite(op.parameters, step, kept, {in.data(), in.size()});
  };
  Values operands;
  for (const ValueRef& v : inputs) operands.push_back(v);
  lay_out(operands);
  const auto result = [&] { return is_laid_out_as(base, *found->array) ? ValueRef(found->array) : inputs[0]; };
  if (found->rules) return overwrite(Overwriting::is_done, {}) ? result() : ValueRef();
  for (std::size_t i = 1; i < operands.size(); ++i) {  // what is read before it is overwritten
    const auto& operand = static_cast<const Array&>(*operands[i]);
    if (operand.storage != base.storage) continue;
    ArrayRef copy = make_array({operand.type.dtype, operand.type.shape});
    kernels::copy(copy->strided(), operand.strided());
    operands[i] = std::move(copy);
  }
  lay_out(operands);
  if (offered->keeps_) {
    found->before = make_array({base.type.dtype, inputs[1]->type.shape});
    found->parameters = OwnedParameters(op.rules->parameters, op.parameters);
    if (!overwrite(Overwriting::keep, found->before->strided())) return {};
    found->inputs = std::move(operands);
    found->rules = op.rules;
  }
  if (!overwrite(Overwriting::replace, {})) return {};
  found->rules = op.rules;
  return result();
}

void GivenAway::undo() noexcept {
  for (const Elements& e : elements_) {
    if (!e.rules || !e.before) continue;
    Strided in[max_loop_inputs];
    for (std::size_t i = 0; i < e.inputs.size(); ++i) in[i] = static_cast<const Array&>(*e.inputs[i]).strided();
    e.rules->overwrite(e.parameters.get(), Overwriting::restore, e.before->strided(), {in, e.inputs.size()});
  }
}

bool GivenAway::has_overwritten(const Value& value) const {
  bool found = false;
  for_each_array(value, [&](const Array& array) {
    for (const Elements& e : elements_) found |= e.rules && e.array->storage == array.storage;
  });
  return found;
}

ValueRef GivenAway::settled(ValueRef result) const {
  for_each_place(result, [&](ValueRef& value) {
    for (const Elements& e : elements_)
      if (is_laid_out_as(static_cast<const Array&>(*value), *e.array)) value = e.array;
  });
  return result;
}

}  // namespace ricci
