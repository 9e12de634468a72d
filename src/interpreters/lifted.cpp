// Custom operations under a transform. The transparent ones become the transformed `call`, one equation of a recorded
// program; the opaque ones get a batching rule in which `call` and every rule runs under a batch level of its own.
#include "interpreters/lifted.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "interpreters/batch_level.h"
#include "interpreters/dual.h"
#include "interpreters/node_memory.h"
#include "interpreters/record.h"
#include "primitive/custom.h"

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
  if (op.rules->transparent && records_tangents_alone(inputs, tangents)) outputs = apply_all(op, inputs);
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

/// A transparent operation under vmap.
struct Vmapped {
  using kind = Custom;
  static constexpr const char* name = "vmap";
  InnerOp op;
  Flags mapped;
  MappedExamples examples;

  bool draws() const { return op.draws(); }
  Types type(const Types& inputs) const {
    Types types = types_of(op.op(), without_batch(inputs, &mapped));
    for (Type& type : types) type.shape.insert(0, examples.size);
    return types;
  }
  Tensors call(std::span<const Tensor> inputs) const {
    const BatchLevel level(examples);
    return level.take_rows(op.call(level.show(inputs, mapped)));
  }
};

/// An opaque operation under vmap: its rules, each under vmap.
struct VmappedRules {
  using kind = Custom;
  static constexpr const char* name = "vmap_rules";
  InnerOp op;
  Flags mapped;
  MappedExamples examples;

  struct Rest {
    std::shared_ptr<const void> inner;
    Flags mapped;  // among the saved tensors
  };

  Tensors call(std::span<const Tensor> inputs) const {
    const BatchLevel level(examples);
    return level.take_rows(op.call(level.show(inputs, mapped)));
  }
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const {
    const BatchLevel level(examples);
    const Kept inner = op.rules->keep(op.parameters.get(), level.show(inputs, mapped), wanted);
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
    Tensors found = op.rules->vjp(op.parameters.get(), {.inputs = {},
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
    const Pushed inner = op.rules->push(op.parameters.get(), level.show(inputs, mapped), level.show(tangents, mapped));
    return {level.take_rows(inner.outputs), level.take_rows(inner.tangents)};
  }
  BatchedOutputs batch(const Batch& batch) const { return batch_by_lifting({&rules_of<VmappedRules>, this}, batch); }
};

// ── under jvp ──

/// From the inputs of a transparent operation, then the tangents that are not zero, to its outputs, then their
/// tangents.
struct Jvp {
  using kind = Custom;
  static constexpr const char* name = "jvp";
  InnerOp op;
  Flags has_tangent;  // among the inputs

  bool draws() const { return op.draws(); }
  Types type(const Types& given) const {
    Types types = types_of(op.op(), {given.begin(), given.begin() + has_tangent.size()});
    const Types tangents = types;
    types.append(tangents.begin(), tangents.end());
    return types;
  }
  Tensors call(std::span<const Tensor> given) const {
    const auto inputs = static_cast<std::ptrdiff_t>(has_tangent.size());
    Tensors tangents;
    auto next = given.begin() + inputs;
    for (bool has : has_tangent) tangents.push_back(has ? *next++ : Tensor());
    const auto call = [this](std::span<const Tensor> x) { return op.call(x); };
    Pushed pushed = push_through(call, {given.begin(), given.begin() + inputs}, tangents);
    for (std::size_t i = 0; i < pushed.outputs.size(); ++i)
      if (!pushed.tangents[i].defined()) pushed.tangents[i] = zeros_of(type_of(pushed.outputs[i]));
    pushed.outputs.append(pushed.tangents.begin(), pushed.tangents.end());
    return pushed.outputs;
  }
};

// ── under vjp ──

/// From the inputs of a transparent operation, then the cotangents that are not zero, to the cotangents of the wanted
/// inputs. Computes the operation again.
struct Vjp {
  using kind = Custom;
  static constexpr const char* name = "vjp";
  InnerOp op;
  Flags wanted;         // among the inputs
  Flags has_cotangent;  // among the outputs

  bool draws() const { return op.draws(); }
  Types type(const Types& given) const {
    Types types;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) types.push_back(given[i]);
    return types;
  }
  Tensors call(std::span<const Tensor> given) const {
    std::optional<TapedCall> taped;
    {
      const bool again = !op.op().rules->transparent;  // for whom, and where, it ran the first time
      const InLanesOf lanes(again ? given.first(wanted.size()) : std::span<const Tensor>(), true);
      std::optional<OutsideRecordings> outside;
      if (again) outside.emplace(0);
      const auto call = [this](std::span<const Tensor> x) { return op.call(x); };
      taped.emplace(call, given.first(wanted.size()), wanted);
    }
    Tensors cotangents;
    std::size_t next = wanted.size();
    for (bool has : has_cotangent) cotangents.push_back(has ? given[next++] : Tensor());
    const std::vector<Tensor> found =
        taped->record->pull_back(taped->output_slots, cotangents, taped->wanted_slots, true);
    Tensors gradients;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) {
        const Tensor& gradient = found[gradients.size()];
        gradients.push_back(gradient.defined() ? gradient : zeros_of(type_of(given[i])));
      }
    return gradients;
  }
};

/// A transparent operation's, which may be an equation of a program. An opaque one is computed here and now, with the
/// draws that were noted, also where cotangents or tangents are being recorded.
template <class Lifted>
Tensors lifted_result(Op op, const Lifted& lifted, const Tensors& given) {
  return op.rules->transparent ? apply(lifted, given) : lifted.call(given);
}

template <class Lifted>
BatchedOutputs lift(Op op, const Batch& batch) {
  const Lifted lifted{
      .op = InnerOp(op), .mapped = flags_of(batch.mapped, batch.inputs.size()), .examples = MappedExamples(batch)};
  return {.outputs = apply(lifted, batch.inputs)};
}

}  // namespace

BatchedOutputs batch_by_lifting(Op op, const Batch& batch) { return lift<VmappedRules>(op, batch); }
BatchedOutputs batch_by_calling(Op op, const Batch& batch) { return lift<Vmapped>(op, batch); }

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
  const Residual& kept = op.rules->transparent ? *rule.residual : *rule.kept;
  Tensors given(kept.tensors.begin(), kept.tensors.end());
  const Vjp vjp{.op = InnerOp(op),
                .wanted = flags_of(rule.wanted, rule.input_types.size()),
                .has_cotangent = defined_among(rule.cotangents)};
  for (const Tensor& ct : rule.cotangents)
    if (ct.defined()) given.push_back(ct);
  return by_flag(lifted_result(op, vjp, given), vjp.wanted);
}

Pushed jvp_by_calling(Op op, std::span<const Tensor> inputs, std::span<const Tensor> tangents) {
  Tensors given(inputs.begin(), inputs.end());
  const Jvp jvp{.op = InnerOp(op), .has_tangent = defined_among(tangents)};
  for (const Tensor& t : tangents)
    if (t.defined()) given.push_back(t);
  const Tensors found = lifted_result(op, jvp, given);
  return paired(op, inputs, tangents, found, Flags(found.size() / 2, true));
}

Types types_by_calling(Op op, const Types& inputs) {
  const UserFunctionInRule in_rule;
  const ForTypesAlone trial;
  RecordInterpreter scratch(Records::program, Entry{});
  Tensors shown;
  for (const Type& type : inputs) shown.push_back(wrap(scratch.add_input(type)));
  Types types;
  for (const Tensor& t : op.rules->call(op.parameters, shown)) types.push_back(type_of(t));
  return types;
}

}  // namespace ricci
