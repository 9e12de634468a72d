// Stages that a transform builds, with their operands. Knows nothing of which transform. Start with `Built`.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "control/assembly.h"
#include "control/stages.h"

namespace ricci::runs {

/// No row has this number.
inline constexpr std::int64_t no_row = -1;

/// Stages are added one by one.
struct Built {
  Stages stages;
  std::vector<State> carries, streams, captures;  // by stage
  State condition;

  Built(const Stages& like, std::span<const Tensor> operands)
      : stages{.condition = like.condition,
               .all = {},
               .max_steps = like.max_steps,
               .checkpoint = like.checkpoint,
               .asks_each_example = false} {
    const auto captured = operands.subspan(like.condition_begin(), like.captured_by_condition());
    condition.assign(captured.begin(), captured.end());
  }
  void add(Stage stage, State carry, State drawn, State captured) {
    stages.all.push_back(std::move(stage));
    carries.push_back(std::move(carry));
    streams.push_back(std::move(drawn));
    captures.push_back(std::move(captured));
  }
  void add(const Assembly& step, std::vector<std::int64_t> reads) {
    add({.step = step.program(),
         .carried = std::ssize(step.first_carry()),
         .streams = std::ssize(step.first_streams()),
         .reads = std::move(reads)},
        step.first_carry(), step.first_streams(), step.captured());
  }
  Tensors apply() const {
    Tensors operands;
    for (std::size_t s = 0; s < stages.all.size(); ++s) {
      operands.append(carries[s].begin(), carries[s].end());
      operands.append(streams[s].begin(), streams[s].end());
      if (s == 0) operands.append(condition.begin(), condition.end());
      operands.append(captures[s].begin(), captures[s].end());
    }
    return apply_stages(stages, operands);
  }
};

/// Flags of the inputs of the step of stage number `s`: `of_operand` flags operands, `of_row` rows.
template <class List, class OfRow>
Flags flags_of_step(const Stages& stages, std::size_t s, const List& of_operand, const OfRow& of_row) {
  const Step step = stages.all[s].by_role();
  Flags flags;
  for (std::size_t i = 0; i < step.inputs(); ++i) {
    if (step.is_slice(i)) flags.push_back(of_row(stages.all[s].row_read(i - step.carried)));
    else flags.push_back(!step.draws(i) && of_operand[stages.operand(s, i)]);
  }
  return flags;
}

}  // namespace ricci::runs
