// One operation on batched values: elementwise ones align their axes, the others follow their batching rule, or the
// same operation with one more leading axis.
#include "interpreters/batch.h"

#include <algorithm>

#include "interpreters/node_memory.h"

namespace ricci {
namespace {

Type without_batch(const Type& hidden) {
  Type type = hidden;
  type.shape.erase(0);
  return type;
}

}  // namespace

Batched::Batched(Level level, ValueRef value)
    : Value(ValueKind::batched, level, without_batch(value->type)), value(std::move(value)) {}
void Batched::destroy() noexcept { destroy_node(this); }

StreamScope* streams_of(const Interpreter* interpreter) {
  while (interpreter && interpreter->kind != ValueKind::batched) interpreter = interpreter->parent;
  return interpreter ? static_cast<const BatchInterpreter*>(interpreter)->examples.streams : nullptr;
}

Values BatchInterpreter::process(Op op, std::span<const ValueRef> inputs) {
  return op.rules->kind == Kind::elementwise ? process_elementwise(op, inputs) : process_by_rule(op, inputs);
}

Values BatchInterpreter::process_elementwise(Op op, std::span<const ValueRef> inputs) {
  SmallVector<const Type*, 4> types;
  for (const ValueRef& v : inputs) types.push_back(&v->type);
  const Operands operands = operands_of(*op.rules, {types.data(), types.size()});  // throws if they do not broadcast

  Values hidden;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = inputs[i]->type;
    const bool mapped = inputs[i]->level == level;
    ValueRef value = mapped ? static_cast<const Batched*>(inputs[i].get())->value : inputs[i];
    const bool cast = operands.promoted(static_cast<int>(i)) && !type.weak && type.dtype != operands.dtype;
    const bool pad = mapped && type.rank() < operands.rank;
    if (cast || pad) {
      Tensor t = wrap(std::move(value));
      if (cast) t = to(t, operands.dtype);
      if (pad) {
        Shape shape = t.shape();
        for (int k = type.rank(); k < operands.rank; ++k) shape.insert(1, 1);
        t = reshape(t, shape);
      }
      value = read(t, op.rules->name);
    }
    hidden.push_back(std::move(value));
  }
  Values results = dispatch(op, {hidden.data(), hidden.size()});
  return {new_node<Batched>(level, std::move(results[0]))};
}

Values BatchInterpreter::process_by_rule(Op op, std::span<const ValueRef> inputs) {
  Types types;
  Tensors tensors;
  unsigned mapped = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    types.push_back(inputs[i]->type);
    const bool is_mapped = inputs[i]->level == level;
    if (is_mapped && i < 32) mapped |= 1U << i;
    tensors.push_back(wrap(is_mapped ? static_cast<const Batched*>(inputs[i].get())->value : inputs[i]));
  }
  types_of(op, types);  // what is wrong is said in terms of one example

  Batch batch{.size = size, .inputs = {tensors.data(), tensors.size()}, .mapped = mapped};
  BatchedOutputs out;
  if (op.rules->batch) {
    out = op.rules->batch(op.parameters, batch);
  } else {
    Tensors expanded;
    for (int i = 0; i < batch.count(); ++i) expanded.push_back(batch.input(i));
    const OwnedParameters lifted = op.rules->lifted(op.parameters, size);
    out.outputs = apply_all({op.rules, lifted.get()}, {expanded.data(), expanded.size()});
  }
  Values results;
  for (std::size_t i = 0; i < out.outputs.size(); ++i) {
    ValueRef value = read(out.outputs[i], op.rules->name);
    results.push_back((out.mapped >> i) & 1U ? new_node<Batched>(level, std::move(value)) : std::move(value));
  }
  return results;
}

}  // namespace ricci
