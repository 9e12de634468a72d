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
  const Step own = all[stage].by_role();
  if (i >= own.slices_end()) begin -= own.slices;
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
    const Step own = stage.by_role();
    const PushedStep both = pushed(
        own, flags_of_step(stages, s, has_tangent, [&](std::size_t r) { return row_of_tangent[r] != no_row; }),
        [&](std::size_t i) { return inputs[stages.operand(s, i)]; },
        [&](std::size_t i) { return tangents[stages.operand(s, i)]; });
    const State& carry = both.assembly.first_carry();
    if (s == 0)
      built.stages.condition =
          with_inputs(stages.condition, own.carried, {carry.begin() + stage.carried, carry.end()});
    std::vector<std::int64_t> reads;
    for (std::size_t i = 0; i < own.slices; ++i) {
      reads.push_back(row[stage.row_read(i)]);
      if (both.active[own.carried + i]) reads.push_back(row_of_tangent[stage.row_read(i)]);
    }
    for (std::size_t k = 0; k < own.rows(); ++k) row.push_back(rows++);
    for (std::size_t k = 0; k < own.rows(); ++k)
      row_of_tangent.push_back(both.outputs[own.carried + k] ? rows++ : no_row);
    built.add(both.assembly, std::move(reads));
    active_carries.emplace_back(both.active.begin(), both.active.begin() + stage.carried);
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
