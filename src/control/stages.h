// A loop of unknown length together with passes over the steps that it took. The derivative of a loop by reverse mode
// is the loop, which keeps rows at each step, and a pass back over the steps, which reads them. The derivative of that
// is a loop with three passes, and so on. Forward mode and vmap leave the number of passes as it is. Start with
// `Stages`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/step.h"
#include "ricci/control.h"

namespace ricci::runs {

/// One way through the steps. Inputs of the program: the carry, the rows it reads, the streams that it draws from, then
/// what it captures. Outputs: the carry, the rows it keeps, the streams.
struct Stage {
  Program step;
  std::int64_t carried = 0, streams = 0;
  std::vector<std::int64_t> reads;  // numbers of rows: all that the stages before it keep, in order

  std::size_t carries() const { return static_cast<std::size_t>(carried); }
  Step by_role() const { return {step, carries(), reads.size(), static_cast<std::size_t>(streams)}; }
  std::size_t row_read(std::size_t slice) const { return static_cast<std::size_t>(reads[slice]); }
  bool operator==(const Stage&) const = default;

  void print_parameter(std::string& out) const;
  void parse_parameter(std::string_view& text);
  void walk_parameter(ParameterVisitor& visitor) { visitor.program(step); }
};

/// The most steps of a loop.
struct LoopLimit {
  std::int64_t steps;
  bool is_of_fori_loop = false;  // of unknown length

  operator std::int64_t() const { return steps; }
  const char* loop() const { return is_of_fori_loop ? "fori_loop" : "while_loop"; }  // as errors name it
  /// `9`, or `9 of fori_loop`.
  void print_parameter(std::string& out) const;
  void parse_parameter(std::string_view& text);
  bool operator==(const LoopLimit&) const = default;
};

/// Operands: the carry and the streams of stage 0, the captures of the condition, those of stage 0; then of each other
/// stage its carry, its streams and its captures. Outputs: the carry of each stage as it leaves the last step.
/// Stage 0 is the loop; the condition takes its carry, then what it captures. The stages after it run over its steps,
/// the last step first, then the first step first, and so on in turn.
struct Stages {
  Program condition;
  std::vector<Stage> all;
  LoopLimit max_steps;
  Checkpoints checkpoint;
  bool asks_each_example;  // the last part of the carry says of each example whether it goes on

  /// The number of the operand that a stage's step takes as input number `i`, which is none of its rows.
  std::size_t operand(std::size_t stage, std::size_t i) const;
  std::size_t captured_by_condition() const { return condition.inputs() - all[0].carries(); }
  std::size_t condition_begin() const { return all[0].carries() + static_cast<std::size_t>(all[0].streams); }
};

/// As one operation of a program: `while_loop` where stage 0 is alone, else `unwind`.
Tensors apply_stages(const Stages& stages, std::span<const Tensor> operands);

// The rules of both operations.
Pushed pushed(const Stages& stages, std::span<const Tensor> inputs, std::span<const Tensor> tangents);
BatchedOutputs mapped(const Stages& stages, const Batch& batch);
/// The residual is the operands.
Tensors pulled_back(const Stages& stages, const Reverse& rule);

}  // namespace ricci::runs
