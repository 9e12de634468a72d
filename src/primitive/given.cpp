// Who holds what: a value is known to be held by nobody else if all its references are found behind the cells at hand.
#include "primitive/given.h"

#include <algorithm>

#include "kernels/elementwise.h"

namespace ricci {

thread_local constinit GivenAway* GivenAway::offered_ = nullptr;

namespace {

/// The values behind some cells, and how often each is referred to from there.
class Holders {
 public:
  void add_cell(const Cell& cell) {
    cells_.push_back(&cell);
    if (cell.value) add(*cell.value);
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

/// Whether elements may be written to as if the array had just been made.
bool is_as_made(const Array& array) {
  return array.storage == array.home && !array.storage->lends && !array.type.weak &&
         is_contiguous(array.type.shape, array.strides);
}

}  // namespace

GivenAway::GivenAway(const Cell& owner, const Value* incoming) {
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
    if (is_as_made(array) && holders.are_all_of(array) && std::count(parts.begin(), parts.end(), array.storage) == 1)
      elements_.push_back({.array = &array});
  });
}

ValueRef GivenAway::overwritten(Op op, std::span<const ValueRef> inputs) {
  if (!offered_) return {};
  const auto is_first = [&](const Elements& e) { return e.array == inputs[0].get() && !e.rules; };
  auto& all = offered_->elements_;
  Elements* const found = std::find_if(all.begin(), all.end(), is_first);
  if (found == all.end()) return {};
  SmallVector<Strided, 3> in;
  SmallVector<ArrayRef, 1> copies;
  for (const ValueRef& v : inputs) {
    const auto* array = static_cast<const Array*>(v.get());
    if (array != found->array && array->storage == found->array->storage) {  // read before it is overwritten
      copies.push_back(make_array({array->type.dtype, array->type.shape}));
      kernels::copy(copies.back()->strided(), array->strided());
      array = copies.back().get();
    }
    in.push_back(array->strided());
  }
  if (offered_->keeps_) {
    found->before = make_array({found->array->type.dtype, inputs[1]->type.shape});
    found->parameters = OwnedParameters(op.rules->parameters, op.parameters);
  }
  const Strided before = found->before ? found->before->strided() : Strided{};
  op.rules->overwrite(op.parameters, before, {in.data(), in.size()});
  found->rules = op.rules;
  return ValueRef::share(found->array);
}

void GivenAway::undo() noexcept {
  for (const Elements& e : elements_) {
    if (!e.rules || !e.before) continue;
    const Strided in[] = {e.array->strided(), e.before->strided()};
    e.rules->overwrite(e.parameters.get(), {}, {in, 2});
  }
}

}  // namespace ricci
