// In-place operations: compute the new value, check that the target may take it, assign it through the view to its
// base. Outside transforms, where nobody else needs the old elements, the kernel writes into them directly.
#include "primitive/writing.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>

#include "kernels/elementwise.h"
#include "primitive/called.h"
#include "primitive/custom.h"
#include "primitive/eager.h"
#include "primitive/given.h"
#include "primitive/promotion.h"
#include "ricci/primitive/pool.h"
#include "ricci/primitive/raise.h"
#include "tensor/default_dtype.h"
#include "tensor/lent.h"
#include "tensor/profile.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

bool has_level(const Value& value, Level level) { return part_at(value, level) != nullptr; }

/// Where the target's elements are inside its base's array.
struct Place {
  Array* array;
  Type type;
  Strides strides;
  void* data;
  Strided strided() const { return {data, type.dtype, type.rank(), type.shape.host(), strides.data()}; }
};

/// Turns the layout of a root into that of the first of these views of it; false where one of them says so.
bool locate_views(const SmallVector<Cell*, 8>& views, Type& type, Strides& strides, void*& data) {
  for (std::size_t i = views.size(); i-- > 0;)
    if (!views[i]->link->locate(type, strides, data)) return false;
  return true;
}

/// Requires: the array is that of the cell's root.
bool locate_in(Cell* cell, Array* array, Place& place) {
  if (root_of(cell)->link) return false;
  place = {array, array->type, array->strides, array->data};
  return locate_views(views_to_root(cell), place.type, place.strides, place.data);
}

/// Whether what the view shows can be the value of its root, if nobody sees the root: no tape or no_grad has touched
/// the view, and its elements lie in row-major order.
bool can_be_value_of_root(const Cell& view) {
  const Link& link = *view.link;
  if (!view.value || !link.operation() || link.seen != link.root->version || link.cut_below || link.cut_of_base)
    return false;
  const Type& type = view.value->type;
  const bool is_open = std::any_of(type.shape.begin(), type.shape.end(), [](Size s) { return s.is_symbol(); });
  const auto* elements = static_cast<const Array*>(innermost_part(*view.value, ValueKind::array));
  return !is_open && !type.weak && (!elements || is_contiguous(elements->type.shape, elements->strides));
}

/// The first of these views of the root, counted from the cell, whose elements are copies of the root's, if the cells
/// between it and the root are held by one another alone; else null.
Cell* copy_of_unseen(const SmallVector<Cell*, 8>& views, const Value& root) {
  Shape shape = root.type.shape;
  for (Size& size : shape) size = size.hint();
  Type type{root.type.dtype, shape};
  Strides strides = root.kind == ValueKind::array ? static_cast<const Array&>(root).strides : contiguous_strides(shape);
  void* nowhere = nullptr;
  Cell* copy = nullptr;
  for (std::size_t i = views.size(); i-- > 0;) {
    if (!views[i]->link->locate(type, strides, nowhere)) {
      if (!can_be_value_of_root(*views[i])) return copy;
      copy = views[i];
      type = copy->value->type;
      strides = contiguous_strides(type.shape);
    }
    if (!views[i]->refs.is(1)) break;
  }
  return copy;
}

/// After `y = y.t().reshape({-1, 3})`, which copies, no handle reaches the old y. The copy's value then becomes
/// the root's, and the copy a view of all of it: a write to y passes through no other view, and the old elements end.
void give_copy_to_unseen_root(Cell* cell) {
  Cell* const root = root_of(cell);
  if (!root->refs.is(1) || root == cell || root->link || home_of(root)->lends || this_thread.narrowed_levels != 0)
    return;
  const SmallVector<Cell*, 8> views = views_to_root(cell);
  Cell* const copy = copy_of_unseen(views, *root->value);
  if (!copy) return;
  const Tensor handle = views.back()->link->base;
  const ValueRef value = copy->value;
  Owned<Link> all = link_to_all(wrap(value), value->type.shape, *copy->link->operation());
  all->base = handle;
  all->root = root;
  all->seen = Link::never;
  forget_views(root);
  root->value = value;
  delete std::exchange(copy->link, all.release());
}

/// The elements of a tensor outside transforms, if no one else can see them but the caller, who may read `reader`.
std::optional<Place> sole_place(Cell* cell, const Value* reader = nullptr) {
  give_copy_to_unseen_root(cell);
  Cell* root = root_of(cell);
  forget_views(root);
  Array* array = sole_array(root, reader);
  Place place;
  if (!array || !locate_in(cell, array, place) || overlaps_itself(place.type.shape, place.strides)) return std::nullopt;
  return place;
}

/// False only where no element of the one can be one of the other.
bool may_share_elements(const Strided& a, const Strided& b) {
  const auto end = [](const Strided& x) {
    std::int64_t last = 0;
    for (int i = 0; i < x.rank; ++i) last += x.strides[i] * (x.shape[i] - 1);
    return static_cast<const std::byte*>(advance(x.data, x.dtype, last + 1));
  };
  return a.data < end(b) && b.data < end(a);
}

bool write_directly(const Tensor& target, Op op, const Tensor* const* inputs, std::size_t count) {
  if (op.rules->kind != Kind::elementwise) return false;
  const profile::Noted noted(op.rules->name, "write");
  if (!default_is_float32() && !converted_to_default(op, inputs, count).empty()) [[unlikely]]
    return false;
  SmallVector<const Array*, 4> arrays;
  for (std::size_t i = 0; i < count; ++i) {
    if (!inputs[i]->defined()) return false;
    if (inputs[i]->cell() == target.cell()) {
      arrays.push_back(nullptr);
      continue;
    }
    if (root_of(inputs[i]->cell()) == root_of(target.cell())) return false;  // another view of the same elements
    const ValueRef& value = value_of(*inputs[i]);
    if (value->kind != ValueKind::array) return false;
    arrays.push_back(static_cast<const Array*>(value.get()));
  }
  const auto place = sole_place(target.cell());
  if (!place || !run_elementwise_into(op, place->type, place->strided(), arrays)) return false;
  ++root_of(target.cell())->version;
  return true;
}

/// Every running transform younger than the target, from the innermost outwards: those that a write to it concerns.
template <class Visit>
void for_each_younger(Cell* target, const Interpreter* from, const Visit& visit) {
  Cell* root = root_of(target);
  const Level birth = birth_of(*root);
  for (const Interpreter* i = from; i && i->level > birth; i = i->parent) visit(*i, root);
  const ArgumentLink* argument = root->link ? root->link->argument() : nullptr;
  if (!argument) return;
  const Interpreter* transform = find_interpreter(argument->level);
  if (transform) for_each_younger(argument->base.cell(), transform->parent, visit);
}

/// The rule: each of them must allow the write.
void check_levels(Cell* target, const Value& value, const Type& target_type, const char* name) {
  const std::string start = std::string(name) + ": the target " + to_string(target_type);
  for_each_younger(target, this_thread.innermost, [&](const Interpreter& i, const Cell* root) {
    if (i.differentiates() && !switched_off(i) && !i.lets_write(root)) {
      const SmallVector<Cell*, 8> views = views_to_root(target);
      if (std::any_of(views.begin(), views.end(), [&](const Cell* view) { return i.lets_write(view); }))
        raise<TransformError>(start + " is a watched view of a tensor from outside " + transform_text(&i) +
                              ", which it would write to; watch that tensor before the view, or write to a clone()");
      raise<TransformError>(start + " was captured from outside " + transform_text(&i) +
                            "; a function under differentiation writes only to its arguments and to what it "
                            "creates: pass it as an argument, or write to a clone()");
    }
    if (i.kind == ValueKind::batched && has_level(value, i.level))
      raise<TransformError>(start + " holds one value for all examples of " + transform_text(&i) +
                            ", but the new value " + to_string(target_type) +
                            " has one per example; use the "
                            "out-of-place operation, map the target, or create it inside the mapped function");
    if (i.narrows())
      raise<TransformError>(start + " is from before a branch that only a part of the examples of " +
                            transform_text(find_interpreter(i.narrows())) +
                            " takes; return the new value from the branch instead");
    if (i.kind == ValueKind::recorded && i.sees_everything())
      raise<NotImplementedError>(start + " was captured from outside " + transform_text(&i) +
                                 "; a recorded function writes only to its arguments and to what it creates: pass it "
                                 "as an argument (in a loop, make it a part of the state), or return the new value");
  });
}

void check_not_expanded(Cell* cell, const Type& type, const char* name) {
  for (Cell* c = cell; c->link; c = c->link->base.cell()) {
    if (c->link->is_argument()) continue;  // the caller's tensor may be expanded
    const ValueRef& base = value_of(c->link->base);
    // The layout rule of the view alone tells: applied to a contiguous base it makes strides 0.
    Type viewed = base->type;
    for (Size& s : viewed.shape) s = s.hint();
    Strides strides = contiguous_strides(viewed.shape);
    void* data = nullptr;
    if (c->link->locate(viewed, strides, data) && overlaps_itself(viewed.shape, strides))
      raise<ValueError>(std::string(name) + ": the target " + to_string(type) +
                        " is expanded: several of its elements are one in memory; write to a clone() of it");
  }
}

/// The end of all links, those of arguments too.
Cell* callers_root(Cell* cell) {
  while (cell->link) cell = cell->link->base.cell();
  return cell;
}

/// The user's memory holds elements alone, of all examples of vmaps that the handle came in through, but no more.
void check_lent(Cell* target, const Value& value, const Type& type, const char* name) {
  if (!lent_elements(*callers_root(target))) return;
  const std::string start =
      std::string(name) + ": the target " + to_string(type) + " is memory that was lent by from_blob, ";
  const auto came_in_through = [&](Level level) {
    for (const Cell* c = target; c->link; c = c->link->base.cell())
      if (c->link->is_argument() && c->link->argument()->level == level) return true;
    return false;
  };
  const Value* misfit = innermost_part(value, [&](const Value& part) {
    return part.kind == ValueKind::recorded || (part.kind == ValueKind::batched && !came_in_through(part.level));
  });
  if (!misfit) return;
  if (misfit->kind == ValueKind::recorded)
    raise<NotImplementedError>(start + "which a recorded function does not write; write to a clone() of it");
  raise<TransformError>(start + "which holds one value for all examples of " +
                        transform_text(find_interpreter(misfit->level)) +
                        ", but the new value has one per example; write to a clone() of it");
}

}  // namespace

OperationLink::OperationLink(const Tensor& base_tensor, Op op)
    : rules(op.rules), parameters(op.rules->parameters, op.parameters) {
  base = base_tensor;
  seen = root_of(base.cell())->version;
  cut_below = this_thread.no_grad_below;
}

OperationLink::OperationLink(const Tensor& base_tensor, Op op, const OperationLink& replaced)
    : OperationLink(base_tensor, op) {
  cut_below = replaced.cut_below;
  made_at_ = replaced.made_at_;
}

/// Computed where the view was made: a branch or a recording that has begun since may be the first to look at it, but
/// has no part in it.
ValueRef OperationLink::value_of(const ValueRef& base_value) const {
  const NoGradBelow none(0);
  const Level deepest = std::max(made_at_, base_value->level);
  Interpreter* there = this_thread.innermost;
  while (there && there->level > deepest) there = there->parent;
  const AtLevel outside(there);
  std::vector<std::unique_ptr<Interpreter>> all;
  if (this_thread.narrowed_levels != 0) {
    const Tensor of_base = wrap(base_value);
    all = in_lanes_of({&of_base, 1}, true);
  }
  const ValueRef value = part_to_keep(base, std::move(dispatch(op(), {&base_value, 1})[0]));
  return cut_of_base == 0 ? value : without_derivatives(value, 0, cut_of_base);
}

ValueRef OperationLink::base_after(const ValueRef& base_value, const ValueRef& value) const {
  const NoGradBelow none(0);  // of the elements that the view does not show
  const Op self = op();
  return put_through_views({&self, 1}, base_value, value);
}

namespace {

/// A layout is one of numbers: those that this recording has seen.
struct SeenSizes final : ParameterVisitor {
  SeenSizes() : ParameterVisitor(Mode::edits) {}
  void size(Size& size) override { size = size.hint(); }
};

}  // namespace

bool OperationLink::locate(Type& type, Strides& strides, void*& data) const {
  if (!inside_symbol_scope()) return rules->alias(parameters.get(), type, strides, data);
  SeenSizes seen_sizes;
  const OwnedParameters numbers(rules->parameters, parameters.get(), seen_sizes);
  return rules->alias(numbers.get(), type, strides, data);
}

namespace {

/// The link of a view of a long chain's last one that ties it to the root at once, so that the views in between, which
/// nobody else may hold, can end; null where one of them is more than a layout of the root's elements in row-major
/// order, or was made elsewhere.
Owned<Link> link_past(const Tensor& base, Op op) {
  const SmallVector<Cell*, 8> views = views_to_root(base.cell());
  for (const Cell* view : views) {
    const OperationLink* link = view->link->operation();
    if (!link || !link->made_here() || link->cut_of_base != 0) return nullptr;
  }
  const Tensor& root = views.back()->link->base;
  const Type whole = type_of(root);
  for (Size size : whole.shape)
    if (size.is_symbol()) return nullptr;
  Type type = whole;
  Strides strides = contiguous_strides(whole.shape);
  std::byte* const origin = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 32);  // stands for the first element
  void* data = origin;
  if (!locate_views(views, type, strides, data) || !op.rules->alias(op.parameters, type, strides, data)) return nullptr;
  if (type.dtype != whole.dtype || whole.weak || any_symbol(op)) return nullptr;
  const auto offset = (static_cast<std::byte*>(data) - origin) / static_cast<std::int64_t>(element_size(type.dtype));
  Owned<Link> link = strided_link(root, type.shape, strides, offset);
  link->cut_below = std::max(link->cut_below, base.cell()->link->cut_below);
  return link;
}

}  // namespace

Owned<Link> view_link(const Tensor& base, Op op) {
  constexpr int long_chain = 16;
  const Link* link = base.cell()->link;
  const bool is_long = link && !link->is_argument() && link->depth >= long_chain;
  if (is_long && std::has_single_bit(static_cast<unsigned>(link->depth)))
      [[unlikely]]  // what fails is seldom tried anew
    if (Owned<Link> past = link_past(base, op); past.get()) return past;
  return new OperationLink(base, op);
}

bool is_lent(const Value& value) {
  const Value* elements = innermost_part(value, ValueKind::array);
  return elements && is_lent(static_cast<const Array&>(*elements));
}

ValueRef with_own_elements(ValueRef value) {
  return is_lent(*value) ? read(clone(wrap(std::move(value))), "clone") : value;
}

Tensor in_own_cell(Tensor result) {
  result = without_switched_off(result, "return");
  const Cell* cell = result.cell();
  const bool is_alone = !cell->link && cell->refs.is(1);
  return is_alone && !is_lent(*value_of(result)) ? result : wrap(with_own_elements(value_of(result)));
}

void show_lent_elements(Cell& handle) {
  const ArrayRef memory = lent_elements(handle);
  if (!memory || handle.value->kind != ValueKind::array || handle.value.get() == memory.get()) return;
  handle.value = memory;
  ++handle.version;
}

void* OperationLink::operator new(std::size_t bytes) { return pool::allocate(bytes); }
void OperationLink::operator delete(void* link, std::size_t bytes) { pool::release(link, bytes); }

const Interpreter* vmap_that_forbids(const Tensor& target, const ValueRef& value) {
  const Interpreter* found = nullptr;
  for_each_younger(target.cell(), this_thread.innermost, [&](const Interpreter& i, const Cell*) {
    if (!found && i.kind == ValueKind::batched && has_level(*value, i.level)) found = &i;
  });
  return found;
}

namespace {

/// `named`: the type that errors call the target by.
void check_write(const Tensor& target, const ValueRef& value, const char* name, const Type& named) {
  require_not_set_aside(*value_of(target), name);
  check_levels(target.cell(), *value, named, name);
  check_not_expanded(target.cell(), named, name);
  check_lent(target.cell(), *value, named, name);
  if (this_thread.recordings_of_programs == 0) return;
  const Cell& root = *callers_root(target.cell());
  for (Interpreter* i = this_thread.innermost; i; i = i->parent) i->note_write(root, named, name);
}

}  // namespace

void check_write(const Tensor& target, const ValueRef& value, const char* name) {
  const Type type = value_of(target)->type;
  check_write(target, value, name, type);
}

Tensor applied_in_place(Op op, const Tensors& operands) {
  SmallVector<const Tensor*, 4> pointers;
  for (const Tensor& t : operands) {
    if (!t.defined()) return {};
    pointers.push_back(&t);
  }
  // A small block that has just ended is still in the cache: the next result gets it for less than these checks cost.
  constexpr std::int64_t fewest_bytes = 1 << 13;
  for (const Tensor& t : operands) {
    const Array* own = t.cell()->refs.is(1) ? sole_array(t.cell()) : nullptr;
    if (own && bytes_of(own->type) < fewest_bytes) return {};
    if (own && !own->type.weak && !is_lent(*own) && write_directly(t, op, pointers.data(), pointers.size())) return t;
  }
  return {};
}

namespace {

/// What is wrong with the operands of an operation that has thrown, said under the name that the user wrote.
void check_operands(const char* name, Op op, const Tensor* const* inputs, std::size_t count) {
  if (op.rules->kind != Kind::elementwise) return;
  Types types;
  SmallVector<const Type*, 4> pointers;
  for (std::size_t i = 0; i < count; ++i) {
    require_defined(name, *inputs[i], static_cast<int>(i));
    types.push_back(type_of(*inputs[i]));
  }
  for (const Type& type : types) pointers.push_back(&type);
  operands_of(name, *op.rules, {pointers.data(), pointers.size()});
}

}  // namespace

void apply_into(const Tensor& target, Op op, const Tensor* const* inputs, std::size_t count) {
  if (!target.defined()) require_defined(in_place_name(op.rules->name, target, inputs).c_str(), target, 0);
  Tensor result;
  try {
    if (!this_thread.innermost && write_directly(target, op, inputs, count)) return;
    result = apply_one(op, inputs, count);
  } catch (const Error&) {
    check_operands(in_place_name(op.rules->name, target, inputs).c_str(), op, inputs, count);
    throw;
  }
  write_result(target, result, in_place_name(op.rules->name, target, inputs).c_str());
}

std::string in_place_name(const char* name, const Tensor& target, const Tensor* const* inputs) {
  const bool in_place = inputs[0] == &target || (target.defined() && inputs[0]->is_same(target));
  return std::string(name) + (in_place ? "_" : "_out");
}

void require_fit(const Type& got, const Tensor& target, const char* name) {
  const Type have = value_of(target)->type;
  if (!(have.shape == got.shape))
    raise<ValueError>(std::string(name) + ": the result " + to_string(got) + " does not fit the target " +
                      to_string(have) + "; a write keeps its target's shape");
  if (category(got.dtype) > category(have.dtype) && !got.weak)
    raise<TypeError>(std::string(name) + ": the result is " + short_name(got.dtype) +
                     ", which does not convert to the target " + to_string(have) +
                     "; convert an operand, or use the out-of-place operation");
}
void write_result(const Tensor& target, const Tensor& result, const char* name) {
  require_fit(value_of(result)->type, target, name);
  assign_into(target, result, name);
}

namespace {

/// The value that a target takes, in row-major order: what has been written lies in it no other way than before.
ValueRef read_to_write(const Tensor& source, const char* name) {
  const ValueRef value = read(source, name);
  const auto* elements = static_cast<const Array*>(innermost_part(*value, ValueKind::array));
  if (!elements || (is_contiguous(elements->type.shape, elements->strides) && !is_lent(*elements))) return value;
  return read(clone(source), name);
}

/// After a write: the user's memory takes the elements, and the handle and its views show them there.
void write_to_lender(Cell* target) {
  Cell* handle = callers_root(target);
  const ArrayRef memory = lent_elements(*handle);
  if (!memory || handle->value.get() == memory.get()) return;  // written where they are
  const auto& written = static_cast<const Array&>(*innermost_part(*handle->value, ValueKind::array));
  kernels::copy(memory->strided(), written.strided());
  show_lent_elements(*handle);
}

/// Whether no_grad leaves less of the tensor than it is.
bool loses_derivative(const Tensor& tensor, const char* op) {
  const ValueRef& alive = live(value_of(tensor), op);
  const Tensor left = without_switched_off(tensor, op);
  return !left.is_same(tensor) && value_of(left).get() != alive.get();
}

using Operations = SmallVector<Op, 2>;

/// The operations of views, that of the root's first, where what is written through all of them replaces a part of the
/// root's elements; else none.
Operations as_one_view(const SmallVector<Cell*, 8>& views) {
  Operations ops;
  for (std::size_t i = views.size(); i-- > 0;) {
    const OperationLink* link = views[i]->link->operation();
    if (!link || !link->rules->lifted) return {};
    if (i > 0 && link->cut_of_base != 0) return {};  // watched: it takes the new value itself
    ops.push_back(link->op());
  }
  if (ops.empty()) return ops;
  Type type = root_of(views[0])->value->type;
  for (Size& size : type.shape) size = size.hint();
  Strides strides = contiguous_strides(type.shape);
  for (std::int64_t& stride : strides) stride *= 2;  // as among examples of a vmap, which not every view can show
  void* data = reinterpret_cast<void*>(std::uintptr_t{1} << 32);  // stands for the first element
  return locate_views(views, type, strides, data) ? ops : Operations{};
}

/// A transform's argument may have been given elements of its own, since it was shown.
bool have_other_elements(const Value& a, const Value& b) {
  const Value *x = innermost_part(a, ValueKind::array), *y = innermost_part(b, ValueKind::array);
  return x && y && static_cast<const Array*>(x)->storage != static_cast<const Array*>(y)->storage;
}

/// So that none of their values is taken for a reader of the elements.
void forget_views_up_to_caller(Cell* root) {
  forget_views(root);
  while (root->link) forget_views(root = root_of(root->link->base.cell()));
}

struct Change {
  Cell* cell;
  ValueRef value;
};
using Changes = SmallVector<Change, 3>;  // each cell's base behind it

void make(Changes& changes, const GivenAway* given) noexcept {
  for (; !changes.empty(); changes.pop_back()) {
    Change& change = changes.back();
    ++change.cell->version;
    if (root_of(change.cell) == change.cell) {
      change.cell->value = std::move(change.value);
      continue;
    }
    // A part of what has been overwritten may have been read from another part: the view shows its own.
    const bool is_overwritten = given && given->has_overwritten(*change.value);
    show(change.cell, is_overwritten ? ValueRef() : std::move(change.value));
  }
}

/// Gives the cell `value` and passes it on to its base. All that may throw is computed before the first cell changes,
/// and elements that were overwritten on the way get their values back. `given`: the root's elements, among which
/// `value` has been computed.
void assign(Cell* cell, ValueRef value, GivenAway* given = nullptr) {
  if (!given) give_copy_to_unseen_root(cell);
  const SmallVector<Cell*, 8> views = views_to_root(cell);
  Cell* const root = root_of(cell);
  const Operations ops = as_one_view(views);
  const bool is_watched = cell->link && cell->link->cut_of_base != 0;
  const bool is_large = root->value && GivenAway::pays_for(*root->value);
  if (is_large) forget_views_up_to_caller(root);
  std::optional<GivenAway> own;
  if (!given && is_large && !views.empty() && !is_watched) {
    given = &own.emplace(*root, value.get());
    given->keep_what_is_overwritten();
  }
  Changes changes;
  changes.push_back({cell, std::move(value)});
  const auto pass_on = [&](const Cell* from) {  // to the base
    Cell* const base = from->link->base.cell();
    const ValueRef before = value_of(from->link->base);
    changes.push_back({base, from->link->base_after(before, changes.back().value)});
  };
  try {
    {
      const GivenAway::Offer offer(given);
      if (!ops.empty()) {
        const NoGradBelow none(0);  // of the elements that the views do not show
        const Value* elements = innermost_part(*changes[0].value, ValueKind::array);
        const auto base_after =
            given && elements && given->has_overwritten(*elements) ? base_of_shown : put_through_views;
        changes.push_back({root, base_after({ops.begin(), ops.size()}, root->value, changes[0].value)});
      }
      while (changes.back().cell != root) pass_on(changes.back().cell);
      if (given) changes.back().value = given->settled(std::move(changes.back().value));
    }
    const ArgumentLink* const argument = root->link ? root->link->argument() : nullptr;
    Interpreter* const transform = argument ? find_interpreter(argument->level) : nullptr;
    if (transform && is_large && !ops.empty() && have_other_elements(*root->value, *value_of(argument->base))) {
      const AtLevel outside(transform->parent);
      const Tensor part = argument->part_of_caller(*transform, {ops.begin(), ops.size()});
      assign(part.cell(), argument->value_of_caller(*transform, changes[0].value));
    } else {
      while (changes.back().cell->link) pass_on(changes.back().cell);
    }
  } catch (...) {
    if (own) own->undo();
    throw;
  }
  make(changes, given);
}

/// `named`: the type that errors call the target by; null: its own.
void assign_as(const Tensor& target, const Tensor& source, const char* name, const Type* named) {
  if (target.is_same(source) && !loses_derivative(source, name)) return;
  if (!this_thread.innermost && copy_directly(target, source, name)) return;
  const Type have = value_of(target)->type;
  ValueRef value = read_to_write(conform(source, have, name), name);
  check_write(target, value, name, named ? *named : have);
  const Called as(name);
  assign(target.cell(), std::move(value));
  write_to_lender(target.cell());
}

}  // namespace

void assign_into(const Tensor& target, const Tensor& source, const char* name) {
  require_defined(name, target, 0);
  require_defined(name, source, 1);
  assign_as(target, source, name, nullptr);
}

void assign_whole(const Tensor& target, const Tensor& source, const char* name, const Type& named) {
  assign_as(target, source, name, &named);
}

void overwrite_some(const Tensor& target, const char* name, const std::function<Tensor()>& compute) {
  require_defined(name, target, 0);
  Cell* const root = root_of(target.cell());
  const bool is_watched = target.cell()->link && target.cell()->link->cut_of_base;
  if (!root->value || root->value->type.weak || !GivenAway::pays_for(*root->value) || is_watched)
    return assign_into(target, compute(), name);
  forget_views_up_to_caller(root);
  Tensor apart;  // the result, if it has elements of its own
  {
    GivenAway given(*root, nullptr);
    given.keep_what_is_overwritten();
    const GivenAway::Offer offer(&given);
    try {
      apart = compute();
      ValueRef value = read(apart, name);
      if (given.has_overwritten(*value)) {
        apart = Tensor();
        if (!given.has_overwritten(*innermost_part(*value, ValueKind::array)))
          value = read_to_write(wrap(std::move(value)), name);
        check_write(target, value, name);
        const Called as(name);
        assign(target.cell(), given.settled(std::move(value)), &given);
      }
    } catch (...) {
      given.undo();
      throw;
    }
    if (apart.defined()) given.undo();
  }
  if (apart.defined()) assign_into(target, apart, name);
  else write_to_lender(target.cell());
}

namespace {

void require_no_imaginary_parts(const char* name, const Type& source, DType target) {
  if (!is_complex(source.dtype) || is_complex(target)) return;
  raise<TypeError>(std::string(name) + ": the source " + to_string(source) + " does not convert to " +
                   short_name(target) + ", which has no imaginary parts; write real(source)");
}

void require_broadcast(const char* name, const Type& source, const Type& target) {
  if (!broadcasts_to(source.shape, target.shape))
    raise<ValueError>(std::string(name) + ": the source " + to_string(source) + " does not broadcast to the target " +
                      to_string(target) + "; reshape or expand it to that shape");
}

}  // namespace

Tensor converted(const Tensor& source, DType target, const char* name) {
  require_no_imaginary_parts(name, value_of(source)->type, target);
  return to(source, target);
}

Tensor conform(const Tensor& source, const Type& target, const char* name) {
  const Type type = value_of(source)->type;
  require_broadcast(name, type, target);
  require_no_imaginary_parts(name, type, target.dtype);
  if (type.shape == target.shape) return to_type(source, target.dtype, target.weak);
  const Tensor whole = expand(to(source, target.dtype), target.shape);
  return target.weak ? to_type(whole, target.dtype, true) : whole;
}

bool copy_directly(const Tensor& target, const Tensor& source, const char* name) {
  const ValueRef value = value_of(source);
  if (value->kind != ValueKind::array) return false;
  const auto& array = static_cast<const Array&>(*value);
  const Type have = value_of(target)->type;
  require_broadcast(name, array.type, have);
  require_no_imaginary_parts(name, array.type, have.dtype);
  const auto place = sole_place(target.cell(), value.get());
  if (!place) return false;
  Strides strides = broadcast_strides(array, place->type.shape);
  const Strided out = place->strided(), in{array.data, array.type.dtype, out.rank, out.shape, strides.data()};
  if (array.storage == place->array->storage && may_share_elements(out, in)) {
    const ArrayRef before = make_array({array.type.dtype, array.type.shape});
    kernels::copy(before->strided(), array.strided());
    strides = broadcast_strides(*before, place->type.shape);
    kernels::copy(out, {before->data, in.dtype, out.rank, out.shape, strides.data()});
  } else {
    kernels::copy(out, in);
  }
  ++root_of(target.cell())->version;
  return true;
}

}  // namespace ricci
