// Custom operations under a transform: `call` under forward mode or a tape, and, for operations with rules, a batching
// rule in which `call` and every rule runs under a batch level of its own.
#include "interpreters/lifted.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "interpreters/batch_level.h"
#include "interpreters/dual.h"
#include "interpreters/node_memory.h"
#include "interpreters/recorder.h"
#include "primitive/custom.h"

namespace ricci {

void InnerOp::print_parameter(std::string& out) const {
  if (rules->function_name) {
    out += rules->function_name(parameters.get());
    return;
  }
  out += rules->name;
  std::string text;
  rules->parameters.print(parameters.get(), text);
  if (!text.empty()) out += "[" + text + "]";
}

void InnerOp::walk_parameter(ParameterVisitor& visitor) {
  if (visitor.mode == ParameterVisitor::Mode::reads) rules->parameters.walk(parameters.get(), visitor);
  else parameters = OwnedParameters(rules->parameters, parameters.get(), visitor);
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

Tensors by_flag(std::span<const Tensor> found, const Flags& flags) {
  Tensors all;
  auto next = found.begin();
  for (const bool flag : flags) all.push_back(flag ? *next++ : Tensor());
  return all;
}

Pushed paired(const Tensors& found, const Flags& has) {
  const auto first_tangent = found.begin() + static_cast<std::ptrdiff_t>(has.size());
  return {Tensors(found.begin(), first_tangent), by_flag({first_tangent, found.end()}, has)};
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

TapedCall::TapedCall(const TensorFunction& f, std::span<const Tensor> inputs, const Flags& wanted, const char* name) {
  TapeInterpreter tape{Entry{}};
  record = tape.record;
  Tensors watched;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ValueRef value = read(inputs[i], name);
    if (wanted[i]) {
      value = tape.watch(std::move(value));
      wanted_slots.push_back(static_cast<const Taped&>(*value).place.slot);
    }
    watched.push_back(wrap(std::move(value)));
  }
  for (const Tensor& t : f(watched)) {
    const ValueRef value = read(t, name);
    const bool is_taped = value->level == tape.level;
    output_slots.push_back(is_taped ? record->keep(static_cast<const Taped&>(*value)) : -1);
    const AtLevel outside(tape.parent);
    outputs.push_back(wrap(is_taped ? static_cast<const Taped&>(*value).value : value));
  }
}

Flags differentiable_in(const Flags& watched, std::span<const Tensor> inputs) {
  Flags flags;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    flags.push_back(!watched.empty() && watched[i] && is_differentiable(type_of(inputs[i]).dtype));
  return flags;
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

/// An opaque operation under vmap: its rules, each under vmap. Inputs: the operation's; then, where only a part of the
/// examples takes part, which ones.
struct VmappedRules {
  using kind = Custom;
  static constexpr const char* name = "vmap_rules";
  InnerOp of;
  Flags mapped;
  MappedExamples examples;
  bool in_part;

  struct Rest {
    std::shared_ptr<const void> inner;
    Flags mapped;  // among the saved tensors
  };

  std::string function_name() const {
    std::string inner;
    of.print_parameter(inner);
    return "vmap(" + inner + ")";
  }
  Tensors call(std::span<const Tensor> inputs) const {
    const BatchLevel level = level_of(inputs);
    return level.take_rows(of.call(level.show(own(inputs), mapped)));
  }
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const {
    const BatchLevel level = level_of(inputs);
    const Kept inner = of.rules->keep(of.parameters.get(), level.show(own(inputs), mapped), wanted);
    Kept kept{.outputs = level.take_rows(inner.outputs), .residual = {}, .constant = inner.constant};
    Rest rest{.inner = inner.residual.rest, .mapped = {}};
    for (const Tensor& t : inner.residual.tensors) {
      BatchLevel::Taken taken = level.take(t);
      kept.residual.tensors.push_back(std::move(taken.value));
      rest.mapped.push_back(taken.mapped);
    }
    if (in_part) kept.residual.tensors.push_back(inputs.back());
    kept.residual.rest = std::make_shared<const Rest>(std::move(rest));
    return kept;
  }
  Tensors vjp(const Reverse& rule) const {
    const auto& rest = *static_cast<const Rest*>(rule.residual->rest.get());
    const BatchLevel level = level_of(rule.residual->tensors);
    const auto inner = [&rest](const Tensors& saved) {
      return Residual{.tensors = {saved.begin(), saved.end()}, .rest = rest.inner};
    };
    const Residual residual = inner(level.show(own(rule.residual->tensors), rest.mapped));
    const Residual kept = inner(level.show_all(own(rule.kept->tensors), rest.mapped));
    const Tensors cotangents = level.show(rule.cotangents, Mask(~0U));
    const Types input_types = without_batch(own(std::span<const Type>(rule.input_types)), &mapped);
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
    if (in_part) found.push_back(Tensor());
    return found;
  }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    const BatchLevel level = level_of(inputs);
    const Pushed inner =
        of.rules->push(of.parameters.get(), level.show(own(inputs), mapped), level.show(own(tangents), mapped));
    return {level.take_rows(inner.outputs), level.take_rows(inner.tangents)};
  }
  BatchedOutputs batch(const Batch& batch) const { return batch_by_lifting({&rules_of<VmappedRules>, this}, batch); }

 private:
  /// Without what says which examples take part, the last one.
  template <class T>
  std::span<const T> own(std::span<const T> all) const {
    return all.first(all.size() - (in_part ? 1 : 0));
  }
  std::span<const Tensor> own(const std::vector<Tensor>& all) const { return own(std::span(all)); }
  /// `all`: the inputs, or what is saved of them.
  BatchLevel level_of(std::span<const Tensor> all) const {
    return in_part ? BatchLevel(examples, all.back()) : BatchLevel(examples);
  }
};

}  // namespace

BatchedOutputs batch_by_lifting(Op op, const Batch& batch) {
  const MappedExamples examples(batch);
  const BatchInterpreter* const run = examples.interpreter();
  const bool in_part = run && run->takes_part.defined();
  const VmappedRules lifted{.of = InnerOp(op),
                            .mapped = flags_of(batch.mapped, batch.inputs.size()),
                            .examples = examples,
                            .in_part = in_part};
  if (!in_part) return {.outputs = apply(lifted, batch.inputs)};
  Tensors inputs(batch.inputs.begin(), batch.inputs.end());
  inputs.push_back(run->takes_part);
  return {.outputs = apply(lifted, inputs)};
}

Kept keep_by_calling(Op op, std::span<const Tensor> inputs) {
  return {.outputs = apply_all(op, inputs), .residual = {{inputs.begin(), inputs.end()}, nullptr}};
}

Tensors vjp_by_calling(Op op, const Reverse& rule) {
  const std::vector<Tensor>& inputs = rule.kept->tensors;
  const auto call = [op](std::span<const Tensor> x) { return op.rules->call(op.parameters, x); };
  const Flags wanted = flags_of(rule.wanted, inputs.size());
  std::optional<TapedCall> taped;
  {  // for whom, and where, it ran the first time
    const auto lanes = in_lanes_of(inputs, true);
    const PassedRecordings all{0};
    const With<&ThreadContext::passed_recordings> passed(&all);
    taped.emplace(call, inputs, wanted);
  }
  const Tensors cotangents(rule.cotangents.begin(), rule.cotangents.end());
  return by_flag(taped->record->pull_back(taped->output_slots, cotangents, taped->wanted_slots, true), wanted);
}

Pushed jvp_by_calling(Op op, std::span<const Tensor> inputs, std::span<const Tensor> tangents) {
  return push_through([op](std::span<const Tensor> x) { return op.rules->call(op.parameters, x); }, inputs, tangents);
}

Types types_by_calling(Op op, const Types& inputs) {
  return in_rule([&] {
    const Recorder scratch(op.rules->name, Records::program);
    Types types;
    for (const Tensor& t : op.rules->call(op.parameters, scratch.inputs(inputs))) types.push_back(type_of(t));
    return types;
  });
}

}  // namespace ricci
