// The rules that all calls of programs share.
#include "custom/call.h"

#include <algorithm>
#include <optional>
#include <string>

#include "interpreters/batch_level.h"
#include "interpreters/lifted.h"
#include "interpreters/record.h"
#include "interpreters/replay.h"
#include "ops/debug.h"
#include "program/edit.h"
#include "program/made_once.h"

namespace ricci::function {
namespace {

std::string text_of(const char* name, const Flags& flags) {
  std::string text = name;
  for (const bool flag : flags) text += flag ? '1' : '0';
  return text;
}

/// Something derived for all sizes that the symbols of `table` may stand for.
template <class Made>
struct ForSizes {
  Made made;
  std::shared_ptr<const SymbolTable> table;
};

bool captures(const Closure& closure) { return !closure.captured.empty() || !closure.streams.empty(); }
bool captures(const Derived& derived) { return captures(derived.closure); }
SmallVector<Program*, 2> programs_of(Closure& closure) { return {&closure.program}; }
SmallVector<Program*, 2> programs_of(Derived& derived) { return {&derived.closure.program}; }

/// What was made, and the sizes at which its programs run; null where these are written into them.
template <class Made>
struct Found {
  std::shared_ptr<const Made> made;
  std::shared_ptr<const CallSizes> sizes;
  Program at_sizes(const Program& program) const { return sizes ? program.in_call(sizes) : program; }
};
/// Whether what is recorded here will stand where derivatives are taken.
bool inside_differentiated() {
  for (const Interpreter* i = this_thread.innermost; i; i = i->parent)
    if (i->kind == ValueKind::recorded && static_cast<const RecordInterpreter*>(i)->is_differentiated) return true;
  return false;
}

constexpr int most_variants = 8;
/// What `make(f, examples)` makes of a program, kept with it under `key`. `examples`: a size besides those of the
/// program's inputs. Where sizes are open, what is made serves all sizes for which its comparisons come out alike; for
/// others there is another variant. A program inside a recording has symbols of that recording: what is made of it is
/// not kept. Nor is a program derived by a rule that captures tensors: the rule may capture others the next time.
template <class Made, class Make>
Found<Made> made_once(const Program& f, std::string key, std::optional<Size> examples, const Make& make) {
  if (inside_differentiated()) key += " where derivatives are taken";
  const auto here = [&] { return std::make_shared<const Made>(make(resolved(f), examples)); };
  const CallSizes* const sizes = f.call_sizes();
  if (!sizes && inside_symbol_scope()) return {here(), nullptr};
  if (!sizes) {
    const std::string of_size = examples ? key + " of " + std::to_string(examples->host()) : key;
    std::shared_ptr<const Made> now;
    const auto known = f.body().made.get<Made>(of_size, [&] {
      now = here();
      return captures(*now) ? nullptr : now;
    });
    return {known ? known : now, nullptr};
  }
  std::vector<Size> inputs(sizes->inputs().begin(), sizes->inputs().end());
  if (examples) inputs.push_back(*examples);
  std::vector<std::int64_t> seen;
  for (const Size size : inputs) seen.push_back(size.hint());
  const auto make_open = [&]() -> std::shared_ptr<const ForSizes<Made>> {
    const auto table = std::make_shared<SymbolTable>(sizes->table().seen_at({seen.data(), sizes->inputs().size()}));
    const SymbolScope scope(table.get());
    std::optional<Size> open;
    if (examples) open = table->add_input(seen.back());
    Made made = make(f.in_call(nullptr), open);
    if (captures(made)) return nullptr;
    for (Program* program : programs_of(made)) *program = simplified_in(*table, *program);
    return std::make_shared<const ForSizes<Made>>(ForSizes<Made>{std::move(made), table});
  };
  for (int variant = 0; variant < most_variants; ++variant) {
    const auto made = f.body().made.get<ForSizes<Made>>("open " + key + " " + std::to_string(variant), make_open);
    if (!made) break;
    auto at = std::make_shared<const CallSizes>(made->table, inputs);
    if (at->table().serves(at->inputs())) return {std::shared_ptr<const Made>(made, &made->made), std::move(at)};
  }
  return {here(), nullptr};
}

/// The inputs, those tensors `along` that are defined, and what the derived program captured.
Tensors operands(const Closure& derived, std::span<const Tensor> inputs, std::span<const Tensor> along) {
  Tensors all(inputs.begin(), inputs.end());
  for (const Tensor& t : along)
    if (t.defined()) all.push_back(t);
  all.append(derived.captured.begin(), derived.captured.end());
  return all;
}

std::size_t outputs_of(const Program& f) { return f.body().outputs.size(); }

/// A program that draws or prints is derived anew for each call: its draws, and the numbers in its lines, belong to the
/// examples that run in that call.
Found<Derived> mapped_once(const Program& f, const Flags& is_mapped, const Batch& batch) {
  const Flags none(outputs_of(f), false);
  const MappedExamples examples(batch);
  if (draws(f) || prints(f))
    return {std::make_shared<const Derived>(mapped(resolved(f), is_mapped, none, examples, Runs::once)), nullptr};
  const auto make = [&](const Program& program, std::optional<Size> size) {
    MappedExamples open;
    open.size = open.count = *size;
    return mapped(program, is_mapped, none, open, Runs::once);
  };
  return made_once<Derived>(f, text_of("mapped ", is_mapped), batch.size, make);
}

}  // namespace

Types type_of_call(const Program& f, const Types& inputs) {
  if (f.inputs() != static_cast<std::size_t>(inputs.size()))
    throw IndexError("takes " + std::to_string(f.inputs()) + " operands, found " + std::to_string(inputs.size()));
  return output_types(f);
}

Pushed push_call(const ApplyCall& apply, const Program& f, std::span<const Tensor> inputs,
                 std::span<const Tensor> tangents) {
  const Flags active = defined_among(tangents);
  const auto make = [&](const Program& program, std::optional<Size>) {
    return pushed(program, active, Flags(outputs_of(f), false), Runs::once);
  };
  const Found<Derived> found = made_once<Derived>(f, text_of("pushed ", active), {}, make);
  const Closure& closure = found.made->closure;
  return paired(apply(found.at_sizes(closure.program), operands(closure, inputs, tangents)), found.made->outputs);
}

BatchedOutputs batch_call(const ApplyCall& apply, const Program& f, const Batch& batch) {
  const Found<Derived> found = mapped_once(f, flags_of(batch.mapped, batch.inputs.size()), batch);
  const Closure& closure = found.made->closure;
  BatchedOutputs all{.outputs = apply(found.at_sizes(closure.program), operands(closure, batch.inputs, {})),
                     .mapped = 0};
  for (const bool one : found.made->outputs) all.mapped.push_back(one);
  return all;
}

bool are_differentiated(std::span<const Tensor> inputs) {
  return inside_differentiated() || std::ranges::any_of(inputs, [](const Tensor& t) {
           return innermost_part(*value_of(t), ValueKind::taped) || innermost_part(*value_of(t), ValueKind::dual);
         });
}

Kept keep_to_compute_again(Op op, std::span<const Tensor> inputs, const std::function<WatchedInside()>& watched) {
  const auto has_own_rules = [](const Rules& rules) { return rules.keep && !rules.transparent; };
  const WatchedInside inside = are_differentiated(inputs) ? watched() : WatchedInside();
  const bool sees_rules = !inside.programs.empty() && any_inside(op, has_own_rules);
  auto next = inside.programs.begin();
  Tensors operands;
  std::size_t taken = 0;
  const auto take_until = [&](std::size_t end) {
    for (; taken < end; ++taken) operands.push_back(inputs[taken]);
  };
  const auto seen = [&](const Program& f) {
    const Watched& of_this = *next++;
    const auto make = [&](const Program& program, std::optional<Size>) {
      return seen_inside_reverse(program, of_this.inputs);
    };
    const auto name = text_of("seen inside reverse mode ", of_this.inputs);
    const Found<Closure> found = made_once<Closure>(f, name, {}, make);
    take_until(of_this.operands_end);
    operands.append(found.made->captured.begin(), found.made->captured.end());
    return found.at_sizes(found.made->program);
  };
  const OwnedParameters parameters = sees_rules ? with_each_program(op, seen) : OwnedParameters();
  take_until(inputs.size());
  Kept kept = keep_by_calling({op.rules, sees_rules ? parameters.get() : op.parameters}, operands);
  kept.residual.tensors.assign(inputs.begin(), inputs.end());
  kept.residual.rest = note_of_draws(op.rules->draws(op.parameters));
  for (const bool depends : inside.outputs) kept.constant.push_back(!depends);
  return kept;
}

Tensors pull_call_again(const ApplyCall& apply, const Program& f, const Reverse& rule) {
  const Flags wanted = flags_of(rule.wanted, f.inputs()), has = defined_among(rule.cotangents);
  const auto make = [&](const Program& program, std::optional<Size>) { return pulled_back(program, wanted, has); };
  const Found<Closure> back = made_once<Closure>(f, text_of("pulled back ", wanted) + text_of(" of ", has), {}, make);
  const Tensors all = operands(*back.made, rule.residual->tensors, rule.cotangents);
  return by_flag(apply(back.at_sizes(back.made->program), all), wanted);
}

namespace {

/// Reverse mode of a program in two. The way back takes the cotangents of all outputs that depend on active inputs.
struct Halves {
  Closure forward;  // outputs: those of the program, then what is kept
  Flags active_outputs;
  Backward backward;
};
bool captures(const Halves& halves) { return captures(halves.forward) || captures(halves.backward.closure); }
SmallVector<Program*, 2> programs_of(Halves& halves) {
  return {&halves.forward.program, &halves.backward.closure.program};
}

Found<Halves> halves_of(const Program& f, const Flags& active) {
  const auto make = [&](const Program& program, std::optional<Size>) {
    const Split split(program, active, Flags(program.inputs(), true), Runs::once);
    const Flags none(program.inputs(), false);
    return Halves{split.forward(), split.active_outputs(), split.backward(split.active_outputs(), none, none)};
  };
  return made_once<Halves>(f, text_of("halves ", active), {}, make);
}

/// What the way back needs besides tensors.
struct KeptHalves {
  std::optional<Found<Halves>> halves;  // none: a rule has thrown, and does so again where its cotangent is asked for
  std::shared_ptr<const Draws> draws;
};

}  // namespace

Kept keep_call(const ApplyCall& apply, const Program& f, std::span<const Tensor> inputs, const Mask& wanted) {
  const Flags active = flags_of(wanted, inputs.size());
  const auto rest = std::make_shared<KeptHalves>();
  rest->draws = note_of_draws(draws(f));
  try {
    rest->halves = halves_of(f, active);
  } catch (const Error&) { return {.outputs = apply(f, inputs), .residual = {{inputs.begin(), inputs.end()}, rest}}; }
  const auto& [forward, active_outputs, backward] = *rest->halves->made;
  const Tensors found = apply(rest->halves->at_sizes(forward.program), operands(forward, inputs, {}));
  const auto kept = found.begin() + static_cast<std::ptrdiff_t>(outputs_of(f));
  Kept result{.outputs = {found.begin(), kept}, .residual = {}};
  for (const Reads& read : backward.reads)
    result.residual.tensors.push_back(read.of_input ? inputs[read.index]
                                                    : kept[static_cast<std::ptrdiff_t>(read.index)]);
  for (const bool depends : active_outputs) result.constant.push_back(!depends);
  result.residual.rest = rest;
  return result;
}

Tensors pull_call(const ApplyCall& apply, const Program& f, const Reverse& rule) {
  const auto& rest = *static_cast<const KeptHalves*>(rule.residual->rest.get());
  if (!rest.halves) return computed_again(rest.draws.get(), [&] { return pull_call_again(apply, f, rule); });
  const Found<Halves>& halves = *rest.halves;
  const Backward& backward = halves.made->backward;
  Tensors cotangents;
  for (std::size_t i = 0; i < backward.taken.size(); ++i)
    if (backward.taken[i]) cotangents.push_back(rule.cotangent(static_cast<int>(i)));
  const Tensors all = operands(backward.closure, rule.residual->tensors, cotangents);
  const auto run = [&] { return apply(halves.at_sizes(backward.closure.program), all); };
  Tensors found = by_flag(computed_again(rest.draws.get(), run), backward.given);
  found.resize(f.inputs());
  return found;
}

}  // namespace ricci::function
