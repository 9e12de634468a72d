// One operation on batched values: elementwise ones align their axes, the others follow their batching rule, or the
// same operation with one more leading axis.
#include "interpreters/batch.h"

#include <algorithm>

#include "interpreters/node_memory.h"
#include "interpreters/record.h"
#include "interpreters/replay.h"
#include "primitive/custom.h"
#include "primitive/derive.h"
#include "primitive/origin.h"
#include "primitive/promotion.h"
#include "primitive/writing.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

Type without_batch(const Type& hidden) {
  return {hidden.dtype, Shape(hidden.shape.begin() + 1, hidden.shape.end()), hidden.weak};
}

}  // namespace

Batched::Batched(Level level, ValueRef value, LaneSetRef lanes, bool is_computed)
    : Value(ValueKind::batched, level, without_batch(value->type)),
      value(std::move(value)),
      lanes(std::move(lanes)),
      is_computed(is_computed) {
  if (this_thread.recordings_of_programs > 0) [[unlikely]]
    note_vmaps(*this);
}
void Batched::destroy() noexcept { destroy_node(this); }

/// The copy has a stream scope of its own, which nobody may draw from: `Inside` refuses draws while it stands.
BatchInterpreter::BatchInterpreter(BatchInterpreter& other, std::unique_ptr<StreamScope> streams)
    : Interpreter(other),
      size(other.size),
      examples{.count = other.examples.count,
               .first = other.examples.first,
               .randomness = other.examples.randomness,
               .streams = streams.get(),
               .scattered = other.examples.scattered,
               .run = other.run()},
      parts(Parts::nowhere),
      was_asked(true),
      most_groups_(0),
      own_streams_(std::move(streams)) {}

std::unique_ptr<Interpreter> BatchInterpreter::copy() {
  if (lanes) raise_part_has_one_thread(*this);
  if (!was_asked) was_asked = true;  // the other thread may ask; it need not tell
  auto streams = std::make_unique<StreamScope>(nullptr, examples.randomness);
  return std::unique_ptr<Interpreter>(new BatchInterpreter(*this, std::move(streams)));
}

void raise_part_has_one_thread(const BatchInterpreter& batch) {
  raise<NotImplementedError>("current_nest: only a part of the examples of " + transform_text(&batch) +
                             " runs here, on this thread alone; start threads outside the branch or loop");
}

void BatchInterpreter::raise_left_its_branch(const Value& value, const char* op) const {
  raise<TransformError>(std::string(op) + ": an operand " + to_string(value.type) +
                        " has left the branch it was computed in, which only a part of the examples of " +
                        transform_text(this) + " took; return it from the branch instead");
}

void BatchInterpreter::require_running(const Value& value, const char* op) const {
  if (static_cast<const Batched&>(value).lanes != lanes) raise_left_its_branch(value, op);
}

void require_running_throughout(const Value& value, const char* op) {
  for (const Value* v = &value; v; v = inner_of(*v) ? inner_of(*v)->get() : nullptr)
    if (v->kind == ValueKind::batched)
      static_cast<const BatchInterpreter*>(find_interpreter(v->level))->require_running(*v, op);
}

const LaneSetRef& BatchInterpreter::lanes_of(Op op, std::span<const ValueRef> inputs) const {
  const LaneSetRef* found = nullptr;
  for (const ValueRef& v : inputs) {
    if (v->level != level) continue;
    const LaneSetRef& of_input = static_cast<const Batched&>(*v).lanes;
    if (found && *found != of_input) raise_left_its_branch(*v, op.rules->name);
    found = &of_input;
  }
  return found ? *found : lanes;
}

bool BatchInterpreter::answers_draws() const {
  return examples.randomness != Randomness::same && has_part_in_draws(*this);
}

ExampleNumbers BatchInterpreter::numbers() const {
  const auto& scattered = examples.scattered;
  if (!lanes) return scattered.empty() ? ExampleNumbers{{examples.first}, size} : ExampleNumbers{scattered, 1};
  ExampleNumbers numbers{{}, 1};
  for (std::int64_t number : lanes->numbers)
    numbers.starts.push_back(scattered.empty() ? examples.first + number : scattered[static_cast<std::size_t>(number)]);
  return numbers;
}

Tensor rows_of(const BatchInterpreter& batch, const ValueRef& value) {
  if (value->level == batch.level) return wrap(static_cast<const Batched&>(*value).value);
  return repeated(wrap(value), batch.count(batch.lanes));
}

Tensor row_numbers(const BatchInterpreter& batch) {
  const auto [starts, each] = batch.numbers();  // runs of `each` consecutive ones; one run, or each is 1
  const Tensor numbers = starts.size() == 1 ? arange(starts[0], starts[0] + each) : tensor(starts);
  return batch.takes_part.defined() ? where(batch.takes_part, numbers, -1) : numbers;
}

AroundDraws around_draws(Interpreter* interpreter) {
  for (Interpreter* i = interpreter; i; i = i->parent) {
    if (i->kind == ValueKind::batched) {
      const auto& vmap = static_cast<const BatchInterpreter&>(*i);
      if (has_part_in_draws(vmap)) return {.streams = vmap.examples.streams};
    }
    if (!i->sees_everything()) continue;
    auto* const recording = static_cast<RecordInterpreter*>(i);  // only recordings see factories
    if (StreamScope* const streams = recording->streams_of_step()) return {.streams = streams};
    if (!recording->is_part()) return {.recording = recording};
  }
  return {};
}

StreamScope* streams_of(Interpreter* interpreter) { return around_draws(interpreter).innermost(); }

Values BatchInterpreter::process(Op op, std::span<const ValueRef> inputs) {
  if (op.rules->home && op.rules->home(op.parameters) == level) return move_lanes(op, inputs);
  return op.rules->kind == Kind::elementwise ? process_elementwise(op, inputs) : process_by_rule(op, inputs);
}

namespace {

/// What is behind mapped values, which keep it alive for as long as this lives: nothing is counted.
class BorrowedValues {
 public:
  BorrowedValues(std::span<const ValueRef> inputs, Level level) {
    values_.reserve(inputs.size());
    for (const ValueRef& v : inputs) {
      const ValueRef& hidden = v->level == level ? static_cast<const Batched&>(*v).value : v;
      values_.push_back(ValueRef::adopt(hidden.get()));
    }
  }
  BorrowedValues(const BorrowedValues&) = delete;
  ~BorrowedValues() {
    for (ValueRef& v : values_) v.leak();
  }
  operator std::span<const ValueRef>() const { return {values_.data(), values_.size()}; }

 private:
  Values values_;
};

/// Whether the values one level down are aligned as they are: mapped ones of one shape, numbers beside them, and one
/// dtype that none of them changes.
bool are_aligned(std::span<const ValueRef> inputs, Level level) {
  const Type* lead = nullptr;
  for (const ValueRef& v : inputs)
    if (v->level == level && !lead) lead = &v->type;
  for (const ValueRef& v : inputs) {
    const Type& type = v->type;
    if (v->level == level ? !(type.shape == lead->shape) : !type.shape.empty()) return false;
    if (type.weak ? category(type.dtype) > category(lead->dtype) : type.dtype != lead->dtype) return false;
  }
  return !lead->weak;
}

}  // namespace

Values BatchInterpreter::process_elementwise(Op op, std::span<const ValueRef> inputs) {
  const LaneSetRef& rows = lanes_of(op, inputs);
  if (are_aligned(inputs, level)) {
    const BorrowedValues hidden(inputs, level);
    return one_value(new_node<Batched>(level, std::move(dispatch(op, hidden)[0]), rows));
  }
  SmallVector<const Type*, 4> types;
  for (const ValueRef& v : inputs) types.push_back(&v->type);
  const Operands operands =
      operands_of(op.rules->name, *op.rules, {types.data(), types.size()});  // throws if they do not broadcast
  const int rank = operands.result.rank();

  Values hidden;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = inputs[i]->type;
    const bool mapped = inputs[i]->level == level;
    ValueRef value = mapped ? static_cast<const Batched*>(inputs[i].get())->value : inputs[i];
    const bool pad = mapped && type.rank() < rank;  // a number that is padded is one no longer
    const bool cast = operands.promoted(static_cast<int>(i)) && (!type.weak || pad) && type.dtype != operands.dtype;
    if (cast || pad) {
      Tensor t = wrap(std::move(value));
      if (cast) t = to(t, operands.dtype);
      if (pad) {
        Shape shape = type_of(t).shape;
        for (int k = type.rank(); k < rank; ++k) shape.insert(1, 1);
        t = reshape(t, shape);
        if (operands.result.weak) t = to_type(t, operands.dtype, true);
      }
      value = read(t, op.rules->name);
    }
    hidden.push_back(std::move(value));
  }
  Values results = dispatch(op, {hidden.data(), hidden.size()});
  return one_value(new_node<Batched>(level, std::move(results[0]), rows));
}

Values BatchInterpreter::process_by_rule(Op op, std::span<const ValueRef> inputs) {
  const LaneSetRef& rows = lanes_of(op, inputs);
  Types types;
  Tensors tensors;
  Mask mapped;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    types.push_back(inputs[i]->type);
    const bool is_mapped = inputs[i]->level == level;
    mapped.push_back(is_mapped);
    tensors.push_back(wrap(is_mapped ? static_cast<const Batched*>(inputs[i].get())->value : inputs[i]));
  }
  const Batch batch{.size = count(rows),
                    .inputs = {tensors.data(), tensors.size()},
                    .mapped = mapped,
                    .randomness = examples.randomness,
                    .level = level};
  const bool is_custom = op.rules->kind == Kind::custom;
  if (!is_custom) types_of(op, types);  // what is wrong is said in terms of one example
  BatchedOutputs out;
  if (is_custom) {
    out = custom::batch(op, batch);
  } else if (op.rules->batch) {
    out = op.rules->batch(op.parameters, batch);
  } else {
    Tensors expanded;
    for (int i = 0; i < batch.count(); ++i) expanded.push_back(batch.input(i));
    const OwnedParameters lifted = op.rules->lifted(op.parameters, batch.size);
    out.outputs = apply_all({op.rules, lifted.get()}, {expanded.data(), expanded.size()});
  }
  Values results;
  for (std::size_t i = 0; i < out.outputs.size(); ++i) {
    ValueRef value = read(out.outputs[i], op.rules->name);
    results.push_back(out.mapped[i] ? new_node<Batched>(level, std::move(value), rows, !op.rules->is_view())
                                    : std::move(value));
  }
  return results;
}

namespace {

std::int64_t number_of_row(const ExampleNumbers& numbers, std::int64_t row) {
  const std::int64_t each = numbers.each.host();
  return numbers.starts[static_cast<std::size_t>(row / each)] + row % each;
}

}  // namespace

Vmaps vmaps_of_kernel(const Shape& leading) {
  Vmaps vmaps;
  SmallVector<Size, 4> sizes;
  for (const Interpreter* i = this_thread.of_the_user; i && i != this_thread.innermost; i = i->parent) {
    if (i->kind != ValueKind::batched) continue;
    vmaps.insert(0, static_cast<const BatchInterpreter*>(i));
    const ExampleNumbers numbers = vmaps[0]->numbers();
    sizes.insert(0, static_cast<std::int64_t>(numbers.starts.size()) * numbers.each.host());
  }
  if (const RunningEquation* const run = this_thread.equation; run && run->origin)
    for (const ExamplesOfCall& examples : run->origin->examples) {
      vmaps.push_back(nullptr);
      sizes.push_back(run->size_of(examples.size));
    }
  if (vmaps.size() > leading.size()) return {};
  for (std::size_t axis = 0; axis < vmaps.size(); ++axis)
    if (leading[axis].raw() != sizes[axis].raw()) return {};
  return vmaps;
}

std::string place_text(std::int64_t place, const Shape& shape, const Vmaps& vmaps) {
  Shape at = shape;
  for (std::size_t axis = shape.size(); axis-- > 0; place /= shape[axis].host()) at[axis] = place % shape[axis].host();
  const auto recorded = static_cast<std::size_t>(std::ranges::count(vmaps, nullptr));
  if (recorded > 0) replace_rows_by_examples(at, shape, vmaps.size() - recorded, recorded);
  for (std::size_t axis = 0; axis < vmaps.size(); ++axis)
    if (vmaps[axis]) at[axis] = number_of_row(vmaps[axis]->numbers(), at[axis].host());
  const Shape example(at.begin(), at.begin() + vmaps.size()), inside(at.begin() + vmaps.size(), at.end());
  std::string text;
  if (!inside.empty()) text += " at " + to_string(inside);
  if (example.size() == 1) text += " in example " + std::to_string(example[0].host());
  if (example.size() > 1) text += " in example " + to_string(example);
  return text;
}

}  // namespace ricci
