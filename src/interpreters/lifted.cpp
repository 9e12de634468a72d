// Custom operations under a transform. The transparent ones become the transformed `call`, one equation of a recorded
// program; the opaque ones get a batching rule in which `call` and every rule runs under a batch level of its own.
#include "interpreters/lifted.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "interpreters/batch_level.h"
#include "interpreters/dual.h"
#include "interpreters/node_memory.h"
#include "interpreters/places.h"
#include "interpreters/record.h"
#include "primitive/custom.h"
#include "ricci/primitive/raise.h"

namespace ricci {

void InnerOp::print_parameter(std::string& out) const {
  out += rules->name;
  std::string text;
  rules->parameters.print(parameters.get(), text);
  if (!text.empty()) out += "[" + text + "]";
}

void InnerOp::visit_parameter_sizes(SizeVisitor& visitor) {
  parameters = OwnedParameters(rules->parameters, parameters.get());  // the old ones may be shared
  rules->parameters.visit_sizes(parameters.mutable_get(), visitor);
}

Flags flags_of(const Mask& mask, std::size_t count) {
  Flags flags;
  for (std::size_t i = 0; i < count; ++i) flags.push_back(mask[i]);
  return flags;
}

Flags defined_among(std::span<const Tensor> tensors) {
  Flags flags;
  for (const Tensor& t : tensors) flags.push_back(t.defined());
  return flags;
}

namespace {

/// The level of the innermost recording that any of these values is a variable of; 0: none.
Level recording_of(std::span<const Tensor> tensors) {
  Level innermost_one = 0;
  for (const Tensor& t : tensors) {
    const Value* recorded = t.defined() ? innermost_part(*value_of(t), ValueKind::recorded) : nullptr;
    if (recorded) innermost_one = std::max(innermost_one, recorded->level);
  }
  return innermost_one;
}

}  // namespace

bool records_tangents_alone(std::span<const Tensor> inputs, std::span<const Tensor> tangents) {
  return recording_of(tangents) > recording_of(inputs);
}

Tensors by_flag(std::span<const Tensor> found, const Flags& flags) {
  Tensors all;
  auto next = found.begin();
  for (const bool flag : flags) all.push_back(flag ? *next++ : Tensor());
  return all;
}

Pushed paired(Op op, std::span<const Tensor> inputs, std::span<const Tensor> tangents, const Tensors& found,
              const Flags& has) {
  const auto first_tangent = found.begin() + static_cast<std::ptrdiff_t>(has.size());
  Tensors outputs(found.begin(), first_tangent);
  if (records_tangents_alone(inputs, tangents)) outputs = apply_all(op, inputs);
  return {std::move(outputs), by_flag({first_tangent, found.end()}, has)};
}

Pushed push_through(const TensorFunction& f, std::span<const Tensor> inputs, std::span<const Tensor> tangents) {
  const DualInterpreter dual{Entry{}};
  Tensors duals;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ValueRef value = read(inputs[i], "jvp");
    if (tangents[i].defined()) value = new_node<Dual>(dual.level, value, read(tangents[i], "jvp"));
    duals.push_back(wrap(std::move(value)));
  }
  Pushed pushed;
  for (const Tensor& t : f(duals)) {
    const ValueRef value = read(t, "jvp");
    const AtLevel outside(dual.parent);
    const bool is_dual = value->level == dual.level;
    pushed.outputs.push_back(wrap(is_dual ? static_cast<const Dual&>(*value).primal : value));
    pushed.tangents.push_back(is_dual ? wrap(static_cast<const Dual&>(*value).tangent) : Tensor());
  }
  return pushed;
}

TapedCall::TapedCall(const TensorFunction& f, std::span<const Tensor> inputs, const Flags& wanted) {
  TapeInterpreter tape{Entry{}};
  record = tape.record;
  Tensors watched;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ValueRef value = read(inputs[i], "vjp");
    if (wanted[i]) {
      value = tape.watch(std::move(value));
      wanted_slots.push_back(static_cast<const Taped&>(*value).slot);
    }
    watched.push_back(wrap(std::move(value)));
  }
  for (const Tensor& t : f(watched)) {
    const ValueRef value = read(t, "vjp");
    const bool is_taped = value->level == tape.level;
    output_slots.push_back(is_taped ? static_cast<const Taped&>(*value).slot : -1);
    const AtLevel outside(tape.parent);
    outputs.push_back(wrap(is_taped ? static_cast<const Taped&>(*value).value : value));
  }
}

namespace {

// ── under vmap ──

Types without_batch(std::span<const Type> types, const Flags* mapped) {
  Types examples;
  for (std::size_t i = 0; i < types.size(); ++i) {
    examples.push_back(types[i]);
    if (!mapped || (*mapped)[i]) examples.back().shape.erase(0);
  }
  return examples;
}

/// An opaque operation under vmap: its rules, each under vmap.
struct VmappedRules {
  using kind = Custom;
  static constexpr const char* name = "vmap_rules";
  static constexpr bool is_function = true;
  InnerOp of;
  Flags mapped;
  MappedExamples examples;

  struct Rest {
    std::shared_ptr<const void> inner;
    Flags mapped;  // among the saved tensors
  };

  Tensors call(std::span<const Tensor> inputs) const {
    const BatchLevel level(examples);
    return level.take_rows(of.call(level.show(inputs, mapped)));
  }
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const {
    const BatchLevel level(examples);
    const Kept inner = of.rules->keep(of.parameters.get(), level.show(inputs, mapped), wanted);
    Kept kept{.outputs = level.take_rows(inner.outputs), .residual = {}, .constant = inner.constant};
    Rest rest{.inner = inner.residual.rest, .mapped = {}};
    for (const Tensor& t : inner.residual.tensors) {
      BatchLevel::Taken taken = level.take(t);
      kept.residual.tensors.push_back(std::move(taken.value));
      rest.mapped.push_back(taken.mapped);
    }
    kept.residual.rest = std::make_shared<const Rest>(std::move(rest));
    return kept;
  }
  Tensors vjp(const Reverse& rule) const {
    const auto& rest = *static_cast<const Rest*>(rule.residual->rest.get());
    const BatchLevel level(examples);
    const auto inner = [&rest](const Tensors& saved) {
      return Residual{.tensors = {saved.begin(), saved.end()}, .rest = rest.inner};
    };
    const Residual residual = inner(level.show(rule.residual->tensors, rest.mapped));
    const Residual kept = inner(level.show_all(rule.kept->tensors, rest.mapped));
    const Tensors cotangents = level.show(rule.cotangents, Mask(~0U));
    const Types input_types = without_batch(rule.input_types, &mapped);
    const Types output_types = without_batch(rule.output_types, nullptr);
    Tensors found = of.rules->vjp(of.parameters.get(), {.inputs = {},
                                                        .outputs = {},
                                                        .cotangents = cotangents,
                                                        .input_types = input_types,
                                                        .output_types = output_types,
                                                        .wanted = rule.wanted,
                                                        .residual = &residual,
                                                        .kept = &kept});
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = level.take_cotangent(found[i], mapped[i]);
    return found;
  }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    const BatchLevel level(examples);
    const Pushed inner = of.rules->push(of.parameters.get(), level.show(inputs, mapped), level.show(tangents, mapped));
    return {level.take_rows(inner.outputs), level.take_rows(inner.tangents)};
  }
  BatchedOutputs batch(const Batch& batch) const { return batch_by_lifting({&rules_of<VmappedRules>, this}, batch); }
};

}  // namespace

BatchedOutputs batch_by_lifting(Op op, const Batch& batch) {
  const VmappedRules lifted{
      .of = InnerOp(op), .mapped = flags_of(batch.mapped, batch.inputs.size()), .examples = MappedExamples(batch)};
  return {.outputs = apply(lifted, batch.inputs)};
}

namespace {

bool has_tangent(const Tensor& t) { return innermost_part(*value_of(t), ValueKind::dual) != nullptr; }

/// A checkpoint under a tape that is dropped: what it is made of sees reverse mode inside forward mode, and need not
/// have a forward rule.
Tensors outputs_under_tape(Op op, std::span<const Tensor> inputs) {
  TapeInterpreter tape{Entry{}};
  Tensors watched, outputs;
  for (const Tensor& t : inputs) {
    const ValueRef value = read(t, op.rules->name);
    watched.push_back(wrap(is_differentiable(value->type.dtype) ? tape.watch(value) : value));
  }
  for (const Tensor& t : op.rules->call(op.parameters, watched)) {
    const ValueRef value = read(t, op.rules->name);
    const AtLevel outside(tape.parent);
    outputs.push_back(wrap(value->level == tape.level ? *inner_of(*value) : value));
  }
  return outputs;
}

}  // namespace

Kept keep_by_calling(Op op, std::span<const Tensor> inputs) {
  return {.outputs = apply_all(op, inputs), .residual = {{inputs.begin(), inputs.end()}, nullptr}};
}

Kept keep_to_call_again(Op op, std::span<const Tensor> inputs) {
  if (std::none_of(inputs.begin(), inputs.end(), has_tangent)) return keep_by_calling(op, inputs);
  return {.outputs = outputs_under_tape(op, inputs), .residual = {{inputs.begin(), inputs.end()}, nullptr}};
}

Tensors vjp_by_calling(Op op, const Reverse& rule) {
  const std::vector<Tensor>& inputs = rule.kept->tensors;
  const auto call = [op](std::span<const Tensor> x) { return op.rules->call(op.parameters, x); };
  const Flags wanted = flags_of(rule.wanted, inputs.size());
  std::optional<TapedCall> taped;
  {  // for whom, and where, it ran the first time
    const InLanesOf lanes(inputs, true);
    const OutsideRecordings outside(0);
    taped.emplace(call, inputs, wanted);
  }
  const Tensors cotangents(rule.cotangents.begin(), rule.cotangents.end());
  return by_flag(taped->record->pull_back(taped->output_slots, cotangents, taped->wanted_slots, true), wanted);
}

Pushed jvp_by_calling(Op op, std::span<const Tensor> inputs, std::span<const Tensor> tangents) {
  return push_through([op](std::span<const Tensor> x) { return op.rules->call(op.parameters, x); }, inputs, tangents);
}

namespace {

/// A function with rules of its own as a program has it: with what it computes, written down. The rules stay functions
/// of the user's, for transforms of the program.
struct Written {
  using kind = Custom;
  static constexpr const char* name = "custom";
  InnerOp rules;
  Program value;  // inputs: the operation's, then what was captured
  std::int64_t captured;

  Types type(const Types& inputs) const {
    if (value.inputs() != static_cast<std::size_t>(inputs.size()))
      throw IndexError("takes " + std::to_string(value.inputs()) + " operands, found " + std::to_string(inputs.size()));
    return output_types(value);
  }
  bool draws() const { return ricci::draws(value); }
  Tensors call(std::span<const Tensor> inputs) const {
    const std::vector<Tensor> outputs = value(inputs);
    return {outputs.begin(), outputs.end()};
  }
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const {
    for (std::size_t i = own(); i < inputs.size(); ++i)
      if (wanted[i]) refuse_captured(inputs[i], "is differentiated");
    return table().keep(parameters(), inputs.first(own()), wanted);
  }
  Tensors vjp(const Reverse& rule) const {
    Reverse of_own = rule;
    of_own.input_types = rule.input_types.first(own());
    Tensors found = table().vjp(parameters(), of_own);
    while (found.size() < value.inputs()) found.push_back(Tensor());
    return found;
  }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    for (std::size_t i = own(); i < inputs.size(); ++i)
      if (tangents[i].defined()) refuse_captured(inputs[i], "is differentiated");
    return table().push(parameters(), inputs.first(own()), tangents.first(own()));
  }
  BatchedOutputs batch(const Batch& batch) const {
    for (std::size_t i = own(); i < batch.inputs.size(); ++i)
      if (batch.mapped[i] && !is_place(batch.inputs[i])) refuse_captured(batch.inputs[i], "differs per example");
    Batch of_own = batch;
    of_own.inputs = batch.inputs.first(own());
    return table().batch(parameters(), of_own);
  }

 private:
  std::size_t own() const { return value.inputs() - static_cast<std::size_t>(captured); }
  const Rules& table() const { return *rules.rules; }
  const void* parameters() const { return rules.parameters.get(); }
  /// Whether it is where examples draw: the rules draw for them anew.
  bool is_place(const Tensor& rows) const {
    Type type = type_of(rows);
    type.shape.erase(0);
    return draws() && type == place_type;
  }
  [[noreturn]] void refuse_captured(const Tensor& x, const char* why) const {
    std::string function;
    rules.print_parameter(function);
    raise<TransformError>("custom: " + function + " captures an operand " + to_string(type_of(x)) + " that " + why +
                          "; pass it as an argument");
  }
};

}  // namespace

WrittenDown written_down(Op op, const Types& inputs) {
  const UserFunctionInRule in_rule;
  const OwnStreams own_streams;
  RecordInterpreter inner(Records::part, Entry{});
  Tensors shown;
  for (const Type& type : inputs) shown.push_back(wrap(inner.add_input(type)));
  for (const Tensor& t : op.rules->call(op.parameters, shown))
    inner.body->outputs.push_back(inner.variable_of(read(t, op.rules->name)));
  Values captured;
  const Program value = closed(*inner.body, captured);
  const Written written{.rules = InnerOp(op), .value = value, .captured = std::ssize(captured)};
  (void)&registered<Written>;
  return {&rules_of<Written>, own(written), std::move(captured)};
}

Types types_by_calling(Op op, const Types& inputs) {
  const UserFunctionInRule in_rule;
  const OwnStreams own_streams;
  RecordInterpreter scratch(Records::program, Entry{});
  Tensors shown;
  for (const Type& type : inputs) shown.push_back(wrap(scratch.add_input(type)));
  Types types;
  for (const Tensor& t : op.rules->call(op.parameters, shown)) types.push_back(type_of(t));
  return types;
}

}  // namespace ricci
