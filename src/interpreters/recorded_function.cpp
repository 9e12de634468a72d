// A custom function in a recorded program: one operation, which holds the function's value as a program.
#include <algorithm>

#include "interpreters/batch_level.h"
#include "interpreters/lifted.h"
#include "interpreters/places.h"
#include "interpreters/recorder.h"
#include "interpreters/replay.h"
#include "primitive/custom.h"
#include "program/programs_run.h"
#include "ricci/primitive/raise.h"
#include "tensor/stand_ins.h"

namespace ricci {
namespace {

/// The operands behind the function's inputs: how many the function captures, which of them are places of draws, and
/// what the function's closures hold in place of the others.
struct Captured {
  struct Draw {
    std::int64_t place;  // the number of the operand; -1: no output needs the draw
    std::int64_t further;
    bool operator==(const Draw&) const = default;
  };
  struct Original {
    std::size_t operand;
    ValueRef value;  // of a transform around, which may have ended
    bool operator==(const Original& o) const { return operand == o.operand && value.get() == o.value.get(); }
  };
  std::int64_t count = 0;
  std::vector<Draw> draws = {};
  std::vector<Original> originals = {};
  ServedRuns served;  // where it was written down

  void print_parameter(std::string& out) const {
    out += std::to_string(count);
    if (!draws.empty()) out += " with draws at";
    for (const Draw& draw : draws)
      out += draw.place < 0 ? " unused" : " " + std::to_string(draw.place) + "+" + std::to_string(draw.further);
  }
};

/// A function with rules of its own as a program has it: with what it computes, written down. The rules stay functions
/// of the user's, for transforms of the program.
struct RecordedFunction {
  using kind = Custom;
  static constexpr const char* name = "custom";
  InnerOp function;
  Program value;  // inputs: the operation's, then what was captured
  Captured captured;

  Types type(const Types& inputs) const {
    if (value.inputs() != static_cast<std::size_t>(inputs.size()))
      throw IndexError("takes " + std::to_string(value.inputs()) + " operands, found " + std::to_string(inputs.size()));
    return output_types(value);
  }
  bool draws() const { return ricci::draws(value); }
  ProgramsRun programs_run() const { return CalledProgram{&value}; }
  Tensors call(std::span<const Tensor> inputs) const {
    const std::vector<Tensor> outputs = value(inputs);
    return {outputs.begin(), outputs.end()};
  }
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const {
    for (std::size_t i = own(); i < inputs.size(); ++i)
      if (wanted[i]) refuse_captured(type_of(inputs[i]), "is differentiated");
    Kept kept = with_operands(inputs, [&] { return table().keep(parameters(), inputs.first(own()), wanted); });
    for (const Tensor& operand : stand_ins_among(inputs)) kept.residual.tensors.push_back(operand);
    return kept;
  }
  Tensors vjp(const Reverse& rule) const {
    const Residual residual = without_stand_ins(*rule.residual), kept = without_stand_ins(*rule.kept);
    const std::span<const Tensor> operands = std::span(rule.residual->tensors).subspan(residual.tensors.size());
    Reverse of_own = rule;
    of_own.input_types = rule.input_types.first(own());
    of_own.residual = &residual;
    of_own.kept = &kept;
    Tensors found = with_stand_ins(operands, [&] { return table().vjp(parameters(), of_own); });
    while (found.size() < value.inputs()) found.push_back(Tensor());
    return found;
  }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    for (std::size_t i = own(); i < inputs.size(); ++i)
      if (tangents[i].defined()) refuse_captured(type_of(inputs[i]), "is differentiated");
    return with_operands(inputs,
                         [&] { return table().push(parameters(), inputs.first(own()), tangents.first(own())); });
  }
  BatchedOutputs batch(const Batch& batch) const {
    Tensors inputs(batch.inputs.begin(), batch.inputs.end());
    for (std::size_t i = own(); i < inputs.size(); ++i) {
      if (!batch.mapped[i]) continue;
      Type of_example = type_of(inputs[i]);
      of_example.shape.erase(0);
      if (!is_place(i)) refuse_captured(of_example, "differs per example");
      // Every row is the same place: the examples share it and draw by their numbers.
      inputs[i] = batch.size == 0 ? zeros_of(of_example) : select(inputs[i], 0, 0);
    }
    Batch of_own = batch;
    of_own.inputs = batch.inputs.first(own());
    return with_operands(inputs, [&] { return table().batch(parameters(), of_own); });
  }

 private:
  std::size_t own() const { return value.inputs() - static_cast<std::size_t>(captured.count); }
  const Rules& table() const { return *function.rules; }
  const void* parameters() const { return function.parameters.get(); }
  bool is_place(std::size_t input) const {
    return std::any_of(captured.draws.begin(), captured.draws.end(),
                       [=](const Captured::Draw& draw) { return draw.place == static_cast<std::int64_t>(input); });
  }
  /// While a program is recorded, the place as a tensor. Else its seed and position, read now: the rule runs below the
  /// vmaps that the tensor belongs to.
  static StreamPosition further_on(const Tensor& place, std::int64_t further) {
    const auto draws = static_cast<std::uint64_t>(further);
    const ValueRef value = read(place, name);
    if (is_recorded({&value, 1})) return {.seed = 0, .position = draws, .place = place};
    StreamPosition at = position_at(place);
    at.position += draws;
    return at;
  }
  template <class F>
  std::invoke_result_t<F> with_operands(std::span<const Tensor> inputs, const F& rule) const {
    return with_stand_ins(stand_ins_among(inputs), [&] { return with_draws(inputs, rule); });
  }
  /// The operand for each of the originals.
  Tensors stand_ins_among(std::span<const Tensor> inputs) const {
    Tensors operands;
    for (const Captured::Original& original : captured.originals) operands.push_back(inputs[original.operand]);
    return operands;
  }
  /// What the function's own rule kept: these operands were kept behind it.
  Residual without_stand_ins(const Residual& kept) const {
    const auto end = kept.tensors.end() - std::ssize(captured.originals);
    return {.tensors = {kept.tensors.begin(), end}, .rest = kept.rest};
  }
  /// A rule reads the operands in place of what it captured.
  template <class F>
  std::invoke_result_t<F> with_stand_ins(std::span<const Tensor> operands, const F& rule) const {
    StandIns all{.pairs = {}, .outer = this_thread.stand_ins ? *this_thread.stand_ins : nullptr};
    for (std::size_t i = 0; i < operands.size(); ++i)
      all.pairs.push_back({captured.originals[i].value, value_of(operands[i])});
    const auto shared = std::make_shared<const StandIns>(std::move(all));
    const With<&ThreadContext::stand_ins> in_rule(&shared);
    return rule();
  }
  /// A rule draws what the value draws, so that the two agree where both are computed.
  template <class F>
  std::invoke_result_t<F> with_draws(std::span<const Tensor> inputs, const F& rule) const {
    if (captured.draws.empty()) return rule();
    Draws draws = draws_here();
    draws.served = captured.served;
    for (const auto& [place, further] : captured.draws) {
      if (place < 0) draws.places.push_back(std::nullopt);
      else draws.places.push_back(further_on(inputs[static_cast<std::size_t>(place)], further));
    }
    return drawing_from(DrawSource::repeating(draws), rule);
  }
  [[noreturn]] void refuse_captured(const Type& type, const char* why) const {
    raise<TransformError>(table().function_name(parameters()) + ": captures " + to_string(type) + " that " + why +
                          "; pass it as an argument");
  }
};

WrittenDown written_down_here(Op op, const Types& inputs) {
  const ServedRuns served = served_here();
  const Recorder inner(op.rules->name, Records::part);
  for (const Tensor& t : op.rules->call(op.parameters, inner.inputs(inputs))) inner.output(t);
  Values captured;
  RecordedFunction recorded{.function = InnerOp(op), .value = closed(inner.body(), captured), .captured = {}};
  recorded.captured.served = served;
  recorded.captured.count = std::ssize(captured);
  const std::vector<Variable>& operands = recorded.value.body().inputs;
  for (const auto& [value, variable] : inner.interpreter().outer_values()) {
    const auto at = std::find(operands.begin() + std::ssize(inputs), operands.end(), variable);
    if (at != operands.end())
      recorded.captured.originals.push_back({static_cast<std::size_t>(at - operands.begin()), value});
  }
  for (const RecordInterpreter::Draw& draw : inner.interpreter().draws()) {
    const auto is_it = [&](const ValueRef& v) { return v.get() == draw.place.get(); };
    const auto at = std::find_if(captured.begin(), captured.end(), is_it);
    const auto place = at == captured.end() ? -1 : std::ssize(inputs) + (at - captured.begin());
    recorded.captured.draws.push_back({place, static_cast<std::int64_t>(draw.position)});
  }
  (void)&registered<RecordedFunction>;
  return {&rules_of<RecordedFunction>, own(recorded), std::move(captured)};
}

}  // namespace

WrittenDown written_down(Op op, const Types& inputs) {
  return in_rule([&] { return written_down_here(op, inputs); });
}

}  // namespace ricci
