// An operation's way: from tensors to values, to the interpreter that handles it, and back into a new cell.
// Names no operation.
#include <algorithm>
#include <atomic>

#include "kernels/elementwise.h"
#include "primitive/custom.h"
#include "primitive/eager.h"
#include "primitive/promotion.h"
#include "primitive/running.h"
#include "primitive/writing.h"
#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/pool.h"
#include "ricci/primitive/raise.h"
#include "tensor/default_dtype.h"
#include "tensor/profile.h"
#include "tensor/symbols.h"

namespace ricci {

namespace {

/// Shared by all threads, so that a value that meets another thread's transforms never passes for one of theirs.
constinit std::atomic<Level> last_count = 0;
constinit std::atomic<Level> last_thread = 0;

/// An operation passes through one transform after the other, by recursion.
constexpr int most_running = 1000;

/// How many transforms of all threads were given up.
constinit std::atomic<std::size_t> given_up = 0;

/// The number of this thread, in the lower bits of its levels.
Level thread_number() {
  constexpr Level numbers = (Level{1} << thread_bits) - 1;
  if (this_thread.number == 0) this_thread.number = last_thread.fetch_add(1, std::memory_order_relaxed) % numbers + 1;
  return this_thread.number;
}

/// The entry that errors name: the interpreter's own, or that of the transform which stands for it.
Entry shown_entry(const Interpreter* interpreter) {
  while (interpreter && !interpreter->entry.name) interpreter = interpreter->parent;
  return interpreter ? interpreter->entry : Entry{};
}

Values read_all(Op op, const Tensor* const* inputs, std::size_t count) {
  Values values;
  for (std::size_t i = 0; i < count; ++i) {
    require_defined(op.rules->name, *inputs[i], static_cast<int>(i));
    values.push_back(read(*inputs[i], op.rules->name));
  }
  return values;
}

struct FindSymbol final : ParameterVisitor {
  FindSymbol() : ParameterVisitor(Mode::reads) {}
  bool found = false;
  void size(Size& size) override { found = found || size.is_symbol(); }
};

Level deepest_level(std::span<const ValueRef> values) {
  Level deepest = 0;
  for (const ValueRef& v : values) deepest = std::max(deepest, v->level);
  return deepest;
}

/// The innermost recording that these values are from outside of. Arrays that were not read from a tensor, such as
/// numbers, need not wait for it.
Interpreter* recorder_around(Level deepest) {
  if (this_thread.recordings_of_programs == 0 || deepest == 0) return nullptr;
  Interpreter* recorder = recorder_of_everything();
  return recorder && recorder->level > deepest ? recorder : nullptr;
}

/// The recording that an operation on values from outside it belongs to, because it captures them, or because the
/// operation has no inputs at all, acts each time it runs, or has a size of the recording among its parameters; null:
/// none.
Interpreter* recorder_from_inside(Op op, std::span<const ValueRef> inputs, Level deepest) {
  if (!this_thread.innermost || op.rules->home) return nullptr;  // what moves lanes belongs to its vmap
  if (Interpreter* recorder = recorder_around(deepest)) return recorder;
  const bool runs_each_time = inputs.empty() || op.rules->effect == Effect::acts;
  const bool wanted = runs_each_time ? deepest == 0 : inside_symbol_scope();
  Interpreter* recorder = wanted ? recorder_of_everything() : nullptr;
  return recorder && recorder->level > deepest && (runs_each_time || any_symbol(op)) ? recorder : nullptr;
}

/// The innermost vmap inside the innermost recording that the operation is up to because it draws; 0: none.
Level level_of_draws(Op op) {
  if (!op.rules->draws || !op.rules->draws(op.parameters)) return 0;
  for (const Interpreter* i = this_thread.innermost; i && !i->sees_everything(); i = i->parent)
    if (i->answers_draws()) return i->level;
  return 0;
}

}  // namespace

Level innermost_derivative() {
  const Interpreter* i = this_thread.innermost;
  while (i && (!i->differentiates() || switched_off(*i))) i = i->parent;
  return i ? i->level : 0;
}

bool Interpreter::is_passed_by() const {
  for (const PassedRecordings* passed = this_thread.passed_recordings; passed; passed = passed->outer)
    if (level > passed->outside && level <= passed->innermost) return true;
  return false;
}

Interpreter* recorder_of_everything(Interpreter* from) {
  while (from && !from->sees_everything()) from = from->parent;
  return from;
}

bool any_symbol(Op op) {
  FindSymbol find;
  op.rules->parameters.walk(op.parameters, find);
  return find.found;
}

bool is_recorded(std::span<const ValueRef> values) {
  if (values.empty()) return recorder_of_everything() != nullptr;
  if (recorder_around(deepest_level(values))) return true;
  return std::any_of(values.begin(), values.end(),
                     [](const ValueRef& value) { return innermost_part(*value, ValueKind::recorded); });
}

Interpreter* Interpreter::innermost_with_room(const Entry& entry) {
  if (this_thread.running >= most_running || this_thread.given_up_seen != given_up.load(std::memory_order_acquire))
      [[unlikely]]
    sweep();
  if (this_thread.running >= most_running)
    throw TransformError(
        (entry.name ? entry.name + std::string(": ") : std::string()) + std::to_string(most_running) +
        " transforms run one inside the other on this thread, which is as many as there may be; end one "
        "before the next begins, or use one tape for all steps" +
        (entry.name ? at(entry.file, entry.line) : std::string()));
  return this_thread.innermost;
}

void Interpreter::sweep() {
  this_thread.given_up_seen = given_up.load(std::memory_order_acquire);
  for (Interpreter** place = &this_thread.innermost; *place;) {
    Interpreter& interpreter = **place;
    if (interpreter.is_given_up()) interpreter.leave(*place, interpreter);
    else place = &interpreter.parent;
  }
}

/// The count is released after the flag: a thread that sees the one finds the other.
void Interpreter::give_up() noexcept {
  given_up_.store(true, std::memory_order_relaxed);
  given_up.fetch_add(1, std::memory_order_release);
}

Interpreter::Interpreter(ValueKind kind, const Entry& entry)
    : level((last_count.fetch_add(1, std::memory_order_relaxed) + 1) << thread_bits | thread_number()),
      kind(kind),
      entry(entry),
      parent(innermost_with_room(entry)),
      row_(level, entry) {
  this_thread.innermost = this;
  ++this_thread.running;
}

Interpreter::Interpreter(const Interpreter& other)
    : level(other.level), kind(other.kind), entry(other.entry), parent(nullptr), ended_(true) {}

void Interpreter::enter() {
  parent = innermost_with_room(entry);
  this_thread.innermost = this;
  ++this_thread.running;
  ended_.store(false, std::memory_order_relaxed);
}

bool Interpreter::end() {
  if (has_ended()) return true;
  Interpreter** place = &this_thread.innermost;
  while (*place && *place != this) place = &(*place)->parent;
  if (!*place || is_around_rule(*this)) return false;
  leave(*place, *this);
  return true;
}

/// Ends it with itself or a transform that it ran inside, unless it has ended before and a scope has put it back. That
/// it has ended is said last: from then on another thread may destroy it.
void Interpreter::leave(Interpreter*& place, const Interpreter& with) {
  place = parent;
  if (has_ended()) return;
  --this_thread.running;
  row_.end(shown_entry(this));
  ended_by_ = shown_entry(&with);
  ended_.store(true, std::memory_order_release);
}

void Interpreter::end_inside() {
  if (!find_interpreter(level)) return;
  while (this_thread.innermost != this) this_thread.innermost->leave(this_thread.innermost, *this);
}

Interpreter::~Interpreter() {
  if (has_ended()) return;
  end_inside();
  end();
}

bool of_this_thread(Level level) { return same_thread(level, thread_number()); }

Level birth_of(const Cell& cell) { return of_this_thread(cell.birth) || find_interpreter(cell.birth) ? cell.birth : 0; }

ValueRef Interpreter::capture(const Tensor&, const ValueRef& value) { return value; }

std::string stale_description(Level level) {
  if (!of_this_thread(level)) return "belongs to a transform of another thread";
  return "left " + to_string(ended_here(level));
}

std::string transform_text(const Interpreter* interpreter) {
  const Entry shown = shown_entry(interpreter);
  if (shown.name) return to_string(shown);
  for (const Interpreter* i : whole_nest())  // the transform for which a rule entered a level of its own
    if (i->entry.name && interpreter && i->kind == interpreter->kind) return to_string(i->entry);
  return to_string(shown);
}

std::string to_string(const Entry& entry) {
  if (!entry.name) return "a transform";
  std::string text = entry.name;
  if (text == "vmap") text += " over axis " + std::to_string(entry.axis) + " of " + std::to_string(entry.size);
  return text + at(entry.file, entry.line);
}

Interpreter* find_interpreter(Level level) {
  Interpreter* i = this_thread.innermost;
  while (i && i->level > level) i = i->parent;
  return i && i->level == level && !i->is_given_up() ? i : nullptr;
}

namespace {

/// A derivative that runs on another thread would not see what is computed here, and its value would pass for a
/// constant.
void require_not_elsewhere(const Value& value, const char* op) {
  if (is_set_aside(value.level)) return;
  if (const std::optional<Entry> there = find_on_another_thread(value.level))
    raise<TransformError>(std::string(op) + ": an operand " + to_string(value.type) + " belongs to " +
                          (there->name ? there->name + at(there->file, there->line) : "a transform") +
                          ", which runs on another thread; take rc::current_nest() there and enter it here with "
                          "rc::Inside, or pass what does not depend on it");
}

}  // namespace

const ValueRef& live(const ValueRef& value, const char* op) {
  const ValueRef* seen = &value;
  while ((*seen)->level != 0) {
    const Value* v = seen->get();
    const Interpreter* interpreter = find_interpreter(v->level);
    if (interpreter) break;
    require_not_set_aside(*v, op);
    require_not_elsewhere(*v, op);
    if (v->kind == ValueKind::dual || v->kind == ValueKind::taped) {
      seen = inner_of(*v);
      continue;
    }
    const std::string start = std::string(op) + ": an operand " + to_string(v->type), why = stale_description(v->level);
    if (this_thread.stand_ins && this_thread.rule && v->kind == ValueKind::recorded)
      raise<TransformError>(start + " was captured by a rule of " + *this_thread.rule +
                            " alone, not by its value: it " + why + ", which has ended; pass it as an argument");
    raise<TransformError>(of_this_thread(v->level)
                              ? start + " is stale: it " + why +
                                    ", which has ended; return it from the function instead"
                              : start + " " + why + "; return it from that function before another thread uses it");
  }
  return *seen;
}

namespace {

/// What `read` gives of the tensor's value, with the rows of all examples.
ValueRef read_whole(const Tensor& tensor, const ValueRef& value, const char* op) {
  const ValueRef& alive = live(value, op);
  const Link* link = tensor.cell()->link;
  const Level cut_below = link ? std::max(link->cut_below, this_thread.no_grad_below) : this_thread.no_grad_below;
  return cut_below == 0 ? alive : without_derivatives(alive, 0, cut_below);
}

/// The tensor's value as a variable of the recordings, `from` and around it, that the tensor is from outside of: of the
/// outermost first, whose variables the next one captures. A number that the function writes is born inside.
ValueRef captured(const Tensor& tensor, ValueRef value, Interpreter* from = this_thread.innermost) {
  Interpreter* recorder = recorder_of_everything(from);
  if (!recorder || recorder->level <= std::max(value->level, birth_of(*tensor.cell()))) return value;
  return recorder->capture(tensor, captured(tensor, std::move(value), recorder->parent));
}

/// What `read` gives of a value that `live` has given.
ValueRef as_it_runs(const Tensor& tensor, ValueRef alive) {
  if (this_thread.narrowed_levels != 0 && alive->level != 0) alive = in_running_lanes(std::move(alive));
  return this_thread.recordings_of_programs == 0 ? alive : captured(tensor, std::move(alive));
}

}  // namespace

ValueRef read(const Tensor& tensor, const char* op) {
  const ValueRef& value = value_of(tensor);
  if (value->level == 0) return this_thread.recordings_of_programs == 0 ? value : captured(tensor, value);
  return as_it_runs(tensor, read_whole(tensor, value, op));
}

Tensor shown_through(std::span<const Op> views, Tensor base) {
  for (Op view : views) {
    const Tensor of = std::move(base), *const pointer = &of;
    base = apply_one(view, &pointer, 1);
  }
  return base;
}

Tensor without_switched_off(const Tensor& tensor, const char* op) {
  const ValueRef& value = value_of(tensor);
  if (value->level == 0) return tensor;
  ValueRef left = read_whole(tensor, value, op);
  return left.get() == value.get() ? tensor : wrap(std::move(left));
}

Tensor wrap(ValueRef value) { return make_tensor(std::move(value), current_level()); }

namespace {

/// One level further out than the handler.
Values processed(Interpreter& handler, Op op, std::span<const ValueRef> inputs) {
  const With<&ThreadContext::of_the_user> user(this_thread.of_the_user ? this_thread.of_the_user
                                                                       : this_thread.innermost);
  const AtLevel below(handler.parent);
  return handler.process(op, inputs);
}

}  // namespace

Values dispatch(Op op, std::span<const ValueRef> inputs) {
  const Level home = op.rules->home ? op.rules->home(op.parameters) : 0,
              deepest = std::max({home, deepest_level(inputs), level_of_draws(op)});
  if (Interpreter* recorder = recorder_from_inside(op, inputs, deepest)) [[unlikely]] {
    return processed(*recorder, op, inputs);
  }
  if (deepest == 0) return evaluate(op, inputs);
  Interpreter* handler = find_interpreter(deepest);
  if (!handler && home == deepest)
    raise<TransformError>(std::string(op.rules->name) + ": its vmap has ended; call it while the vmap runs");
  if (!handler || switched_off(*handler)) {
    Values alive;
    for (const ValueRef& v : inputs)
      alive.push_back(without_derivatives(live(v, op.rules->name), 0, this_thread.no_grad_below));
    return dispatch(op, {alive.data(), alive.size()});
  }
  return processed(*handler, op, inputs);
}

namespace {

/// Gives a part elements of its own where it shows less than half of the array behind it.
void keep_part(ValueRef& part) {
  for_each_place(part, [](ValueRef& value) {
    const auto& shown = static_cast<const Array&>(*value);
    const auto bytes = static_cast<std::size_t>(bytes_of(shown.type));
    if (shown.storage == shown.home || 2 * bytes > shown.storage->bytes) return;
    ArrayRef copy = make_array(shown.type);
    kernels::copy(copy->strided(), shown.strided());
    value = std::move(copy);
  });
}

/// The same for its tangents.
void keep_tangents(ValueRef& part) {
  if (!part->refs.is(1)) return;
  if (const ValueRef* tangent = tangent_of(*part); tangent && *tangent) keep_part(const_cast<ValueRef&>(*tangent));
  if (const ValueRef* inner = inner_of(*part)) keep_tangents(const_cast<ValueRef&>(*inner));
}

}  // namespace

ValueRef part_to_keep(const Tensor& base, ValueRef part) {
  const Cell* const root = root_of(base.cell());
  if (!this_thread.innermost || root->version == 0) return part;
  const Level birth = birth_of(*root);
  const auto may_keep = [&](const Interpreter& i) {
    const bool holds_on = i.kind == ValueKind::taped || (i.kind == ValueKind::recorded && !i.sees_everything());
    return holds_on && (i.level <= birth || i.lets_write(root));
  };
  const Interpreter* keeper = this_thread.innermost;
  while (keeper && !may_keep(*keeper)) keeper = keeper->parent;
  if (keeper) keep_part(part);
  else keep_tangents(part);
  return part;
}

namespace {

/// A view follows its base with all derivatives; whoever reads it leaves what no_grad has switched off.
Tensor view_of(Op op, const Tensor& base) {
  require_defined(op.rules->name, base, 0);
  Owned<Link> link = view_link(base, op);
  const ValueRef whole = as_it_runs(base, live(value_of(base), op.rules->name));
  const NoGradBelow none(0);
  return make_view(part_to_keep(base, std::move(dispatch(op, {&whole, 1})[0])), current_level(), std::move(link));
}

}  // namespace

Tensors converted_to_default(Op op, const Tensor* const* inputs, std::size_t count) {
  if (op.rules->kind != Kind::elementwise) return {};
  const LoopTable& table = *op.rules->loops();
  const auto promotes = [&](std::size_t i) { return ((table.conditions >> i) & 1U) == 0; };
  Types types;
  bool integers = false;
  for (std::size_t i = 0; i < count; ++i) {
    require_defined(op.rules->name, *inputs[i], static_cast<int>(i));
    if (promotes(i)) types.push_back(type_of(*inputs[i]));
  }
  SmallVector<const Type*, 4> pointers;
  for (const Type& type : types) {
    pointers.push_back(&type);
    if (!type.weak && !is_integral(type.dtype)) return {};
    integers |= !type.weak;
  }
  if (!integers || is_integral(table.compute_dtype(result_dtype({pointers.data(), pointers.size()})))) return {};
  Tensors converted;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_integer = promotes(i) && !type_of(*inputs[i]).weak;
    converted.push_back(is_integer ? inputs[i]->to(default_dtype()) : *inputs[i]);
  }
  return converted;
}

namespace {

[[gnu::always_inline]] inline Tensor apply_as_asked(Op op, const Tensor* const* inputs, std::size_t count) {
  if (this_thread.innermost && this_thread.innermost->is_given_up()) [[unlikely]]
    Interpreter::sweep();
  if (!this_thread.innermost) [[likely]] {
    Tensor result;
    if (evaluate_directly(op, inputs, count, result)) return result;
  }
  if (op.rules->kind == Kind::custom) {
    Tensors operands;
    for (std::size_t i = 0; i < count; ++i) operands.push_back(*inputs[i]);
    return apply_all(op, operands)[0];
  }
  if (op.rules->is_view()) return view_of(op, *inputs[0]);
  const Values values = read_all(op, inputs, count);
  return wrap(std::move(dispatch(op, {values.data(), values.size()})[0]));
}

/// Under a profile, or another default dtype.
[[gnu::noinline]] Tensor apply_carefully(Op op, const Tensor* const* inputs, std::size_t count) {
  const profile::Noted noted(op.rules->name, "operation");
  if (!default_is_float32()) {
    const Tensors converted = converted_to_default(op, inputs, count);
    SmallVector<const Tensor*, 4> pointers;
    for (const Tensor& t : converted) pointers.push_back(&t);
    if (!converted.empty()) return apply_as_asked(op, pointers.data(), count);
  }
  return apply_as_asked(op, inputs, count);
}

}  // namespace

Tensor apply_one(Op op, const Tensor* const* inputs, std::size_t count) try {
  if (asked_first.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return apply_carefully(op, inputs, count);
  return apply_as_asked(op, inputs, count);
} catch (const TooLarge& error) { raise<ValueError>(std::string(op.rules->name) + ": " + error.what()); }

void require_operand_count(const Rules& rules, std::size_t count) {
  const auto fail = [&](const std::string& limit) {
    raise<ValueError>(std::string(rules.name) + ": " + std::to_string(count) + " operands; it takes " + limit);
  };
  const int wanted = rules.kind == Kind::elementwise ? rules.loops()->inputs : rules.operands;
  if (wanted < 0 && count == 0 && rules.kind != Kind::custom) fail("at least 1");
  if (wanted >= 0 && count != static_cast<std::size_t>(wanted)) fail(std::to_string(wanted));
  if (count > max_operands && this_thread.innermost && rules.kind != Kind::custom)
    fail("at most " + std::to_string(max_operands) + " inside a transform");
}

namespace {

/// The outermost level of vmap that these values differ at; where there is none, the deepest of theirs.
Level outermost_mapped_level(std::span<const ValueRef> values) {
  Level outermost = deepest_level(values);
  for (const ValueRef& value : values)
    for (const ValueRef* v = &value; v; v = inner_of(**v))
      if ((*v)->kind == ValueKind::batched) outermost = std::min(outermost, (*v)->level);
  return outermost;
}

/// Whether `call` runs in place of an equation. An operation without rules is inlined in three cases:
/// - it takes a value of a transform that runs inside a recording;
/// - it has no operands, so that its result may be drawn;
/// - it draws or acts besides, and a transform runs inside the recording whose values the operation does not take.
///   Example: under a vmap inside, each example has a draw of its own.
/// Requires: one of the values is recorded, or there are no values.
bool is_inlined(Op op, std::span<const ValueRef> values) {
  const Rules& rules = *op.rules;
  const bool differs_each_time =
      !rules.keep && (rules.effect == Effect::acts || (rules.draws && rules.draws(op.parameters)));
  if (values.empty() && !rules.keep) return true;
  const Level deepest = deepest_level(values);
  const auto is_of_transform = [=](const ValueRef& v) { return v->level == deepest && v->kind != ValueKind::recorded; };
  if (!rules.keep && std::any_of(values.begin(), values.end(), is_of_transform)) return true;
  const Interpreter* recording = differs_each_time ? recorder_of_everything() : nullptr;
  return recording && recording != this_thread.innermost && deepest <= recording->level;
}

/// A transparent operation on values that no recording knows runs outside the recordings that are further in: it may
/// look at what the examples of a vmap around them answer.
Tensors call_unrecorded(Op op, std::span<const Tensor> inputs, const Values& values) {
  const Level level = recorder_of_everything() ? outermost_mapped_level({values.data(), values.size()}) : 0;
  if (level == 0) return op.rules->call(op.parameters, inputs);
  FixSizes fix;
  const OwnedParameters fixed =
      inside_symbol_scope() ? OwnedParameters(op.rules->parameters, op.parameters, fix) : OwnedParameters();
  const PassedRecordings inside{level};
  const With<&ThreadContext::passed_recordings> passed(&inside);
  return op.rules->call(inside_symbol_scope() ? fixed.get() : op.parameters, inputs);
}

}  // namespace

Tensors apply_all(Op op, std::span<const Tensor> inputs) try {
  const profile::Noted noted(op.rules->name, "operation");
  require_operand_count(*op.rules, inputs.size());
  SmallVector<const Tensor*, 4> pointers;
  for (const Tensor& t : inputs) pointers.push_back(&t);
  if (!this_thread.innermost && !op.rules->is_view()) {
    Tensor result;
    if (evaluate_directly(op, pointers.data(), pointers.size(), result)) return Tensors{std::move(result)};
  }
  const Values values = read_all(op, pointers.data(), pointers.size());
  if (op.rules->transparent) {
    const std::span<const ValueRef> all{values.data(), values.size()};
    if (!is_recorded(all)) return call_unrecorded(op, inputs, values);
    if (is_inlined(op, all)) return op.rules->call(op.parameters, inputs);
  }
  Tensors out;
  for (ValueRef& v : dispatch(op, {values.data(), values.size()})) out.push_back(v ? wrap(std::move(v)) : Tensor());
  return out;
} catch (const TooLarge& error) { raise<ValueError>(std::string(op.rules->name) + ": " + error.what()); }

Types types_of(Op op, const Types& inputs) {
  if (op.rules->kind == Kind::custom && !op.rules->type) return types_by_calling(op, inputs);
  require_operand_count(*op.rules, inputs.size());
  if (op.rules->kind != Kind::elementwise) return op.rules->type(op.parameters, inputs);
  SmallVector<const Type*, 4> pointers;
  for (const Type& t : inputs) pointers.push_back(&t);
  return Types{operands_of(op.rules->name, *op.rules, {pointers.data(), pointers.size()}).result};
}

bool inside_transform() {
  if (this_thread.innermost && this_thread.innermost->is_given_up()) Interpreter::sweep();
  return this_thread.innermost != nullptr;
}

std::vector<const Rules*>& registry() {
  static std::vector<const Rules*> all;
  return all;
}

struct OwnedParameters::Box {
  RefCount refs;
  const ParameterRules* rules;
  std::size_t offset;
  void* parameters() { return reinterpret_cast<std::byte*>(this) + offset; }
};

OwnedParameters::OwnedParameters(const ParameterRules& rules, const void* from) {
  if (rules.size == 0) return;
  const std::size_t offset = (sizeof(Box) + rules.align - 1) / rules.align * rules.align;
  box_ = new (pool::allocate(offset + rules.size)) Box{.refs = {}, .rules = &rules, .offset = offset};
  try {
    rules.copy(box_->parameters(), from);
  } catch (...) {
    pool::release(std::exchange(box_, nullptr), offset + rules.size);
    throw;
  }
}
OwnedParameters::OwnedParameters(const ParameterRules& rules, const void* from, ParameterVisitor& edits)
    : OwnedParameters(rules, from) {
  rules.walk_members(mutable_get(), edits);
}
OwnedParameters::OwnedParameters(const OwnedParameters& other) : box_(other.box_) {
  if (box_) box_->refs.add();
}
OwnedParameters::~OwnedParameters() {
  if (!box_ || !box_->refs.drop()) return;
  const std::size_t bytes = box_->offset + box_->rules->size;
  box_->rules->destroy(box_->parameters());
  box_->~Box();
  pool::release(box_, bytes);
}
const void* OwnedParameters::get() const { return box_ ? box_->parameters() : this; }

}  // namespace ricci
