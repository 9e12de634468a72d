// Stages under vmap: each step on all examples.
#include <optional>

#include "control/built_stages.h"
#include "control/rows.h"
#include "ops/axes.h"
#include "ops/debug.h"
#include "tensor/at.h"

namespace ricci::runs {

using function::Runs;

namespace {

/// The condition and the steps on all examples. Where examples answer differently, those that are done stay as they
/// are, and their rows are filled before each step; the answers are the last part of the loop's carry, and a row that
/// the other stages read.
class Mapped {
 public:
  Mapped(const Stages& stages, const Batch& batch)
      : stages_(stages), batch_(batch), examples_(batch), given_(flags_of(batch.mapped, batch.inputs.size())) {}

  BatchedOutputs outputs() {
    derive_loop();
    Built built(stages_, batch_.inputs);
    BatchedOutputs all{.outputs = {}, .mapped = 0};
    for (std::size_t s = 0; s < stages_.all.size(); ++s) {
      if (s > 0) derive_pass(s);
      add_stage(built, s);
      const Stage& stage = stages_.all[s];
      for (std::size_t i = 0; i < stage.carries(); ++i) all.mapped.push_back(is_mapped_[i]);
    }
    const Tensors found = built.apply();
    auto next = found.begin();
    for (std::size_t s = 0; s < stages_.all.size(); ++s) {
      const std::int64_t carried = stages_.all[s].carried;
      all.outputs.append(next, next + carried);
      next += carried + (s == 0 && differs_);
    }
    return all;
  }

 private:
  const Tensor& input(std::size_t s, std::size_t i) const { return batch_.inputs[stages_.operand(s, i)]; }
  Flags flags_of_step(std::size_t s) const {
    return runs::flags_of_step(stages_, s, given_, [this](std::size_t r) { return rows_[r].is_mapped; });
  }
  bool keeps_answers() const { return differs_ && stages_.all.size() > 1; }
  /// Whether steps leave this part of the carry as it is.
  bool is_constant(std::size_t s, std::size_t i) const {
    const ProgramBody& step = stages_.all[s].step.body();
    return step.outputs[i] == step.inputs[i];
  }
  /// All examples that step on their own have parts of the carry of their own.
  void map_carry(std::size_t s) {
    for (std::size_t i = 0; i < stages_.all[s].carries(); ++i) is_mapped_[i] = is_mapped_[i] || !is_constant(s, i);
  }
  /// Whether the program says which examples it runs for: those that go on.
  bool says_whose(const Program& f) const { return differs_ && prints(f); }
  function::Derived mapped(const Program& f, const Flags& is_mapped, const Flags& at_least) const {
    return function::mapped(f, is_mapped, at_least, examples_, Runs::many, says_whose(f));
  }
  function::Derived mapped_step(std::size_t s) {
    const Stage& stage = stages_.all[s];
    return until_stable(is_mapped_, stage.carries(), stage.by_role().outputs(),
                        [&](const Flags& at_least) { return mapped(stage.step, is_mapped_, at_least); });
  }

  void derive_loop() {
    const Stage& loop = stages_.all[0];
    is_mapped_ = flags_of_step(0);
    Flags asked(is_mapped_.begin(), is_mapped_.begin() + loop.carried);
    for (std::size_t i = 0; i < stages_.captured_by_condition(); ++i)
      asked.push_back(given_[stages_.condition_begin() + i]);
    for (;;) {
      step_ = mapped_step(0);
      for (std::size_t i = 0; i < loop.carries(); ++i) asked[i] = is_mapped_[i];
      answer_ = mapped(stages_.condition, asked, Flags(1, false));
      if (differs_ || !answer_.outputs[0]) return;
      differs_ = true;
      map_carry(0);
    }
  }
  void derive_pass(std::size_t s) {
    is_mapped_ = flags_of_step(s);
    if (differs_) map_carry(s);
    step_ = mapped_step(s);
  }

  /// What the examples that have this carry answer. `asked`: those that go on, bool; undefined: all.
  Tensor answer(const State& carry, const Tensor& asked = {}) const {
    const auto captured = batch_.inputs.subspan(stages_.condition_begin(), stages_.captured_by_condition());
    State inputs(captured.begin(), captured.end());
    if (says_whose(stages_.condition)) inputs.push_back(asked.defined() ? asked : full({examples_.size}, true));
    inputs.insert(inputs.end(), answer_.closure.captured.begin(), answer_.closure.captured.end());
    const Tensor found = run(answer_.closure.program, carry, inputs)[0];
    if (!differs_) return found;
    return one_for_each(type_of(found).dtype == DType::boolean ? found : ne(found, 0));
  }

  /// The step that was derived last, at these inputs in the order of the operation's stage: with the captures that are
  /// at hand here.
  State step(std::size_t s, State inputs) const {
    const Stage& stage = stages_.all[s];
    const Step own = stage.by_role();
    const bool carries_answers = differs_ && s == 0, reads_answers = differs_ && s > 0;
    auto next = inputs.begin();
    const auto take = [&next](std::size_t count) {
      const auto first = next;
      next += static_cast<std::ptrdiff_t>(count);
      return State(first, next);
    };
    const State carry = take(stage.carries());
    Tensor goes_on;
    if (carries_answers) goes_on = take(1)[0];
    const State rows = take(own.slices);
    if (reads_answers) goes_on = take(1)[0];
    const State streams = take(own.streams), new_streams(next, inputs.end());

    const auto filled = [&](const Tensor& x, std::size_t i) {
      return differs_ && is_mapped_[i] ? filled_rows(goes_on, x) : x;
    };
    State all;
    for (std::size_t i = 0; i < carry.size(); ++i) all.push_back(filled(carry[i], i));
    all.insert(all.end(), rows.begin(), rows.end());
    all.insert(all.end(), streams.begin(), streams.end());
    for (std::size_t i = own.captures_begin(); i < own.inputs(); ++i) all.push_back(filled(input(s, i), i));
    if (says_whose(stage.step)) all.push_back(goes_on);
    all.insert(all.end(), new_streams.begin(), new_streams.end());
    State found = run(step_.closure.program, all, step_.closure.captured);
    if (!differs_) return found;
    for (std::size_t i = 0; i < carry.size(); ++i)
      found[i] = is_mapped_[i] && !is_constant(s, i) ? chosen_rows(goes_on, found[i], carry[i]) : carry[i];
    if (!carries_answers) return found;
    const State after(found.begin(), found.begin() + stage.carried);
    if (keeps_answers()) found.insert(found.begin() + static_cast<std::ptrdiff_t>(own.rows_end()), goes_on);
    found.insert(found.begin() + stage.carried, answer(after, goes_on));
    return found;
  }

  void add_stage(Built& built, std::size_t s) {
    const Stage& stage = stages_.all[s];
    const Step own = stage.by_role();
    State carry, streams, slices;
    for (std::size_t i = 0; i < own.carried; ++i)
      carry.push_back(is_mapped_[i] ? batch_.input(static_cast<int>(stages_.operand(s, i))) : input(s, i));
    std::vector<std::int64_t> reads;
    for (const std::int64_t r : stage.reads) reads.push_back(rows_[at(r)].number);
    if (s == 0) {
      if (differs_) carry.push_back(answer(carry));
      std::optional<Tensor> asked;
      const function::Closure condition = function::write_down(
          stages_.max_steps.loop(),
          [this, &stage](const State& now) {
            return differs_ ? any(now.back()) : answer({now.begin(), now.begin() + stage.carried});
          },
          std::tuple<State>(carry), asked, Runs::many);
      built.stages.condition = condition.program;
      built.stages.asks_each_example = differs_;
      built.condition = condition.captured;
    } else if (differs_) reads.push_back(answers_);
    for (const std::int64_t r : reads) slices.push_back(shape_alone_[at(r)]);
    for (std::size_t i = own.slices_end(); i < own.captures_begin(); ++i) streams.push_back(input(s, i));
    streams.insert(streams.end(), step_.closure.streams.begin(), step_.closure.streams.end());

    State shown = carry;
    for (const State* more : {&slices, &streams}) shown.insert(shown.end(), more->begin(), more->end());
    std::optional<State> found;
    const function::Closure closure = function::write_down(
        stages_.max_steps.loop(), [this, s](const State& inputs) { return step(s, inputs); }, std::tuple<State>(shown),
        found, Runs::many);
    const Types types = output_types(closure.program);
    for (std::size_t k = 0; k < own.rows(); ++k)
      rows_.push_back({.number = std::ssize(shape_alone_) + static_cast<std::int64_t>(k),
                       .is_mapped = step_.outputs[own.carried + k]});
    const bool keeps_more = s == 0 && keeps_answers();
    const std::size_t kept = own.rows() + keeps_more;
    if (keeps_more) answers_ = std::ssize(shape_alone_) + static_cast<std::int64_t>(own.rows());
    for (std::size_t k = 0; k < kept; ++k) {
      const Type& type = types[carry.size() + k];
      shape_alone_.push_back(expand(zeros_of({type.dtype, {}}), type.shape));
    }
    streams.insert(streams.end(), closure.streams.begin(), closure.streams.end());
    built.add({.step = closure.program,
               .carried = std::ssize(carry),
               .streams = std::ssize(streams),
               .reads = std::move(reads)},
              carry, streams, closure.captured);
  }

  const Stages& stages_;
  const Batch& batch_;
  const MappedExamples examples_;
  const Flags given_;
  bool differs_ = false;
  Flags is_mapped_;  // the inputs of the step that was derived last
  function::Derived step_, answer_;
  struct Row {
    std::int64_t number;
    bool is_mapped;
  };
  std::vector<Row> rows_;  // the old ones
  State shape_alone_;      // tensors like one row of each new number
  std::int64_t answers_ = no_row;
};

}  // namespace

BatchedOutputs mapped(const Stages& stages, const Batch& batch) { return Mapped(stages, batch).outputs(); }

}  // namespace ricci::runs
