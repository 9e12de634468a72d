// What the operands of stages are, and forward mode of them: each step with its tangents.
#include "control/stages.h"

#include "control/built_stages.h"
#include "ops/axes.h"

namespace ricci::runs {

using function::Runs;

namespace {

/// The program with more inputs, like `more`, behind its first ones. The program does not use the new inputs.
Program with_inputs(const Program& program, std::size_t behind, const State& more) {
  ProgramBody body = resolved(program).body();
  auto at = body.inputs.begin() + static_cast<std::ptrdiff_t>(behind);
  for (const Tensor& t : more) {
    at = body.inputs.insert(at, static_cast<Variable>(body.types.size())) + 1;
    body.types.push_back(type_of(t));
  }
  return Program(Shared<const ProgramBody>(new ProgramBody(std::move(body))));
}

constexpr const char* of_fori_loop = " of fori_loop";

}  // namespace

void Stage::print_parameter(std::string& out) const {
  out += '{';
  parameters::print_members(this, parameters::walk_members<Stage>, out);
  out += '}';
}

void Stage::parse_parameter(std::string_view& text) {
  parameters::expect(text, "{");
  parameters::parse_members(this, parameters::walk_members<Stage>, text);
  parameters::expect(text, "}");
}

void LoopLimit::print_parameter(std::string& out) const {
  parameters::print(steps, out);
  if (is_of_fori_loop) out += of_fori_loop;
}

void LoopLimit::parse_parameter(std::string_view& text) {
  parameters::parse(steps, text);
  is_of_fori_loop = text.starts_with(of_fori_loop);
  if (is_of_fori_loop) parameters::expect(text, of_fori_loop);
}

std::size_t Stages::operand(std::size_t stage, std::size_t i) const {
  std::size_t begin = 0;
  for (std::size_t s = 0; s < stage; ++s) begin += all[s].step.inputs() - all[s].reads.size();
  const Stage& own = all[stage];
  if (i >= own.slices_end()) begin -= own.reads.size();
  const bool is_behind_condition = stage > 0 || i >= own.captures_begin();
  return begin + i + (is_behind_condition ? captured_by_condition() : 0);
}

Pushed pushed(const Stages& stages, std::span<const Tensor> inputs, std::span<const Tensor> tangents) {
  const Flags has_tangent = defined_among(tangents);
  Built built(stages, inputs);
  std::vector<std::int64_t> row, row_of_tangent;  // the new numbers of the old rows
  std::int64_t rows = 0;
  std::vector<Flags> active_carries;
  for (std::size_t s = 0; s < stages.all.size(); ++s) {
    const Stage& stage = stages.all[s];
    const auto of_row = [&](std::int64_t r) { return row_of_tangent[static_cast<std::size_t>(r)] != no_row; };
    const auto operand = [&](std::size_t i) { return inputs[stages.operand(s, i)]; };
    const auto tangent = [&](std::size_t i) { return tangents[stages.operand(s, i)]; };
    Flags active = flags_of_step(stages, s, has_tangent, of_row);
    const auto derived = until_stable(active, stage.carries(), stage.outputs(), [&](const Flags& at_least) {
      return function::pushed(stage.step, active, at_least, Runs::many);
    });
    const std::vector<std::size_t> in = places_of(active, stage.step.inputs()),
                                   out = places_of(derived.outputs, stage.outputs());
    Assembly step(derived.closure.program);
    State more;
    for (std::size_t i = 0; i < stage.carries(); ++i) step.carry(step.in(i), step.out(i), operand(i));
    for (std::size_t i = 0; i < stage.carries(); ++i)
      if (active[i]) {
        more.push_back(tangent(i).defined() ? tangent(i) : zeros_of(type_of(operand(i))));
        step.carry(step.in(in[i]), step.out(out[i]), more.back());
      }
    if (s == 0) built.stages.condition = with_inputs(stages.condition, stage.carries(), more);
    std::vector<std::int64_t> reads;
    for (std::size_t i = stage.carries(); i < stage.slices_end(); ++i) {
      const auto old = static_cast<std::size_t>(stage.reads[i - stage.carries()]);
      step.slice(step.in(i));
      reads.push_back(row[old]);
      if (!active[i]) continue;
      step.slice(step.in(in[i]));
      reads.push_back(row_of_tangent[old]);
    }
    for (std::size_t i = stage.slices_end(); i < stage.step.inputs(); ++i) {
      if (i < stage.captures_begin())
        step.stream(step.in(i), step.out(stage.rows_end() + i - stage.slices_end()), operand(i));
      else step.capture(step.in(i), operand(i));
      if (active[i]) step.capture(step.in(in[i]), tangent(i));
    }
    for (std::size_t i = stage.carries(); i < stage.rows_end(); ++i) {
      step.row(step.out(i));
      row.push_back(rows++);
    }
    for (std::size_t i = stage.carries(); i < stage.rows_end(); ++i) {
      if (derived.outputs[i]) step.row(step.out(out[i]));
      row_of_tangent.push_back(derived.outputs[i] ? rows++ : no_row);
    }
    step.rest(derived.closure, in.back(), out.back());
    built.add(step, std::move(reads));
    active_carries.emplace_back(active.begin(), active.begin() + stage.carried);
  }
  const Tensors found = built.apply();
  Pushed all;
  auto next = found.begin();
  for (const Flags& active : active_carries) {
    const auto first_tangent = next + std::ssize(active),
               end = first_tangent + std::count(active.begin(), active.end(), true);
    all.outputs.append(next, first_tangent);
    const Tensors own = by_flag({first_tangent, end}, active);
    all.tangents.append(own.begin(), own.end());
    next = end;
  }
  return all;
}

}  // namespace ricci::runs
