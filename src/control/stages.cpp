// Transforms of loops of unknown length: of each stage's step with its tangents, of the step on all examples, of the
// step that keeps what the way back reads and, the way back, of the step's cotangents.
#include "control/stages.h"

#include <optional>

#include "control/assembly.h"
#include "control/rows.h"
#include "ops/axes.h"

namespace ricci::runs {
namespace {

using function::Runs;

constexpr std::int64_t no_row = -1;

/// Stages with their operands, as they are put together one by one.
struct Built {
  Stages stages;
  std::vector<State> carries, streams, captures;  // by stage
  State condition;

  Built(const Stages& like, std::span<const Tensor> operands)
      : stages{.condition = like.condition, .all = {}, .max_steps = like.max_steps, .checkpoint = like.checkpoint} {
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
  const Stage& stage = stages.all[s];
  Flags flags;
  for (std::size_t i = 0; i < stage.step.inputs(); ++i) {
    const bool is_row = i >= stage.carries() && i < stage.slices_end();
    const bool draws = i >= stage.slices_end() && i < stage.captures_begin();
    flags.push_back(is_row ? of_row(stage.reads[i - stage.carries()]) : !draws && of_operand[stages.operand(s, i)]);
  }
  return flags;
}

/// The program with inputs like `more` put in behind its first ones. It does not use them.
Program with_inputs(const Program& program, std::size_t behind, const State& more) {
  ProgramBody body = program.body();
  auto at = body.inputs.begin() + static_cast<std::ptrdiff_t>(behind);
  for (const Tensor& t : more) {
    at = body.inputs.insert(at, static_cast<Variable>(body.types.size())) + 1;
    body.types.push_back(type_of(t));
  }
  return Program(Shared<const ProgramBody>(new ProgramBody(std::move(body))));
}

}  // namespace

void Stage::print_parameter(std::string& out) const {
  out += '{';
  parameters::print_members(*this, out);
  out += '}';
}

void Stage::parse_parameter(std::string_view& text) {
  parameters::expect(text, "{");
  parameters::parse_members(*this, text);
  parameters::expect(text, "}");
}

std::size_t Stages::operand(std::size_t stage, std::size_t i) const {
  std::size_t begin = 0;
  for (std::size_t s = 0; s < stage; ++s) begin += all[s].step.inputs() - all[s].reads.size();
  const Stage& own = all[stage];
  if (i >= own.slices_end()) begin -= own.reads.size();
  const bool is_behind_condition = stage > 0 || i >= own.captures_begin();
  return begin + i + (is_behind_condition ? captured_by_condition() : 0);
}

// ── forward mode ──

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

// ── vmap ──

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
    return runs::flags_of_step(stages_, s, given_, [this](std::int64_t r) { return rows_[at(r)].is_mapped; });
  }
  bool keeps_answers() const { return differs_ && stages_.all.size() > 1; }
  static std::size_t at(std::int64_t r) { return static_cast<std::size_t>(r); }
  /// Whether steps leave this part of the carry as it is.
  bool is_constant(std::size_t s, std::size_t i) const {
    const ProgramBody& step = stages_.all[s].step.body();
    return step.outputs[i] == step.inputs[i];
  }
  /// All examples that step on their own have parts of the carry of their own.
  void map_carry(std::size_t s) {
    for (std::size_t i = 0; i < stages_.all[s].carries(); ++i) is_mapped_[i] = is_mapped_[i] || !is_constant(s, i);
  }
  function::Derived mapped_step(std::size_t s) {
    const Stage& stage = stages_.all[s];
    return until_stable(is_mapped_, stage.carries(), stage.outputs(), [&](const Flags& at_least) {
      return function::mapped(stage.step, is_mapped_, at_least, examples_, Runs::many);
    });
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
      answer_ = function::mapped(stages_.condition, asked, Flags(1, false), examples_, Runs::many);
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

  /// What the examples that have this carry answer.
  Tensor answer(const State& carry) const {
    const auto captured = batch_.inputs.subspan(stages_.condition_begin(), stages_.captured_by_condition());
    State inputs(captured.begin(), captured.end());
    inputs.insert(inputs.end(), answer_.closure.captured.begin(), answer_.closure.captured.end());
    const Tensor found = run(answer_.closure.program, carry, inputs)[0];
    if (!differs_) return found;
    return one_for_each(type_of(found).dtype == DType::boolean ? found : ne(found, 0));
  }

  /// The step that was derived last, at these inputs in the order of the operation's stage: with the captures that are
  /// at hand here.
  State step(std::size_t s, State inputs) const {
    const Stage& stage = stages_.all[s];
    const std::size_t reads = stage.reads.size();
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
    const State rows = take(reads);
    if (reads_answers) goes_on = take(1)[0];
    const State streams = take(static_cast<std::size_t>(stage.streams)), new_streams(next, inputs.end());

    const auto filled = [&](const Tensor& x, std::size_t i) {
      return differs_ && is_mapped_[i] ? filled_rows(goes_on, x) : x;
    };
    State all;
    for (std::size_t i = 0; i < carry.size(); ++i) all.push_back(filled(carry[i], i));
    all.insert(all.end(), rows.begin(), rows.end());
    all.insert(all.end(), streams.begin(), streams.end());
    for (std::size_t i = stage.captures_begin(); i < stage.step.inputs(); ++i) all.push_back(filled(input(s, i), i));
    all.insert(all.end(), new_streams.begin(), new_streams.end());
    State found = run(step_.closure.program, all, step_.closure.captured);
    if (!differs_) return found;
    for (std::size_t i = 0; i < carry.size(); ++i)
      found[i] = is_mapped_[i] && !is_constant(s, i) ? chosen_rows(goes_on, found[i], carry[i]) : carry[i];
    if (!carries_answers) return found;
    const State after(found.begin(), found.begin() + stage.carried);
    if (keeps_answers()) found.insert(found.begin() + static_cast<std::ptrdiff_t>(stage.rows_end()), goes_on);
    found.insert(found.begin() + stage.carried, answer(after));
    return found;
  }

  void add_stage(Built& built, std::size_t s) {
    const Stage& stage = stages_.all[s];
    State carry, streams, slices;
    for (std::size_t i = 0; i < stage.carries(); ++i)
      carry.push_back(is_mapped_[i] ? batch_.input(static_cast<int>(stages_.operand(s, i))) : input(s, i));
    std::vector<std::int64_t> reads;
    for (const std::int64_t r : stage.reads) reads.push_back(rows_[at(r)].number);
    if (s == 0) {
      if (differs_) carry.push_back(answer(carry));
      std::optional<Tensor> asked;
      const function::Closure condition = function::write_down(
          "while_loop",
          [this, &stage](const State& now) {
            return differs_ ? any(now.back()) : answer({now.begin(), now.begin() + stage.carried});
          },
          std::tuple<State>(carry), asked, Runs::many);
      built.stages.condition = condition.program;
      built.condition = condition.captured;
    } else if (differs_) reads.push_back(answers_);
    for (const std::int64_t r : reads) slices.push_back(shape_alone_[at(r)]);
    for (std::size_t i = stage.slices_end(); i < stage.captures_begin(); ++i) streams.push_back(input(s, i));
    streams.insert(streams.end(), step_.closure.streams.begin(), step_.closure.streams.end());

    State shown = carry;
    for (const State* more : {&slices, &streams}) shown.insert(shown.end(), more->begin(), more->end());
    std::optional<State> found;
    const function::Closure closure = function::write_down(
        "while_loop", [this, s](const State& inputs) { return step(s, inputs); }, std::tuple<State>(shown), found,
        Runs::many);
    const Types types = output_types(closure.program);
    for (std::size_t k = 0; k < stage.rows(); ++k)
      rows_.push_back({.number = std::ssize(shape_alone_) + static_cast<std::int64_t>(k),
                       .is_mapped = step_.outputs[stage.carries() + k]});
    const bool keeps_more = s == 0 && keeps_answers();
    const std::size_t kept = stage.rows() + keeps_more;
    if (keeps_more) answers_ = std::ssize(shape_alone_) + static_cast<std::int64_t>(stage.rows());
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

// ── reverse mode ──

Tensors pulled_back(const Stages& stages, const Reverse& rule) {
  const std::vector<Tensor>& inputs = rule.residual->tensors;
  const Flags wanted = flags_of(rule.wanted, inputs.size());
  Built built(stages, inputs);

  // The stages again, which keep what the way back reads.
  struct Half {
    function::Split split;
    Flags outputs;  // those that depend on active inputs
    std::vector<std::int64_t> kept;
  };
  std::vector<Half> halves;
  std::vector<std::int64_t> row;  // the new numbers of the old rows
  Flags is_active;                // the old rows
  std::int64_t rows = 0;
  for (std::size_t s = 0; s < stages.all.size(); ++s) {
    const Stage& stage = stages.all[s];
    const auto of_row = [&](std::int64_t r) { return is_active[static_cast<std::size_t>(r)]; };
    Flags active = flags_of_step(stages, s, wanted, of_row), at_hand;
    for (std::size_t i = 0; i < stage.step.inputs(); ++i)
      at_hand.push_back((i >= stage.carries() && i < stage.slices_end()) || i >= stage.captures_begin());
    halves.push_back(until_stable(active, stage.carries(), stage.outputs(), [&](const Flags&) {
      function::Split split(stage.step, active, at_hand, Runs::many);
      Flags found = split.active_outputs();
      return Half{std::move(split), std::move(found), {}};
    }));
    Half& half = halves.back();
    const function::Closure& forward = half.split.forward();
    Assembly step(forward.program);
    std::vector<std::int64_t> reads;
    for (std::size_t i = 0; i < stage.step.inputs(); ++i) {
      if (i >= stage.carries() && i < stage.slices_end()) {
        step.slice(step.in(i));
        reads.push_back(row[static_cast<std::size_t>(stage.reads[i - stage.carries()])]);
        continue;
      }
      const Tensor& x = inputs[stages.operand(s, i)];
      if (i < stage.carries()) step.carry(step.in(i), step.out(i), x);
      else if (i < stage.captures_begin())
        step.stream(step.in(i), step.out(stage.rows_end() + i - stage.slices_end()), x);
      else step.capture(step.in(i), x);
    }
    for (std::size_t i = stage.carries(); i < stage.rows_end(); ++i) {
      step.row(step.out(i));
      row.push_back(rows + static_cast<std::int64_t>(i - stage.carries()));
      is_active.push_back(half.outputs[i]);
    }
    for (std::size_t i = 0; i < half.split.kept(); ++i)
      half.kept.push_back(rows + static_cast<std::int64_t>(step.shared_row(step.out(stage.outputs() + i))));
    step.rest(forward, stage.step.inputs(), stage.outputs() + half.split.kept());
    rows += static_cast<std::int64_t>(step.rows());
    built.add(step, std::move(reads));
  }

  // Each stage's way back, the last one's first.
  std::vector<std::int64_t> row_of_cotangent(row.size(), no_row);  // by old row
  std::vector<std::size_t> first_output, first_row;
  std::size_t outputs = 0, old_rows = 0;
  for (const Stage& stage : stages.all) {
    first_output.push_back(outputs);
    first_row.push_back(old_rows);
    outputs += stage.carries();
    old_rows += stage.rows();
  }
  std::vector<Flags> has_gradient(stages.all.size());  // of each stage's carry, then its captures
  for (std::size_t s = stages.all.size(); s-- > 0;) {
    const Stage& stage = stages.all[s];
    const std::size_t count = stage.step.inputs();
    const auto cotangent_of_row = [&](std::size_t k) -> std::int64_t& { return row_of_cotangent[first_row[s] + k]; };
    const auto cotangent_of_read = [&](std::size_t i) -> std::int64_t& {
      return row_of_cotangent[static_cast<std::size_t>(stage.reads[i - stage.carries()])];
    };
    Flags has, summed;
    for (std::size_t i = 0; i < stage.carries(); ++i) has.push_back(rule.cotangents[first_output[s] + i].defined());
    for (std::size_t k = 0; k < stage.rows(); ++k) has.push_back(cotangent_of_row(k) != no_row);
    has.resize(stage.outputs(), false);
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_read = i >= stage.carries() && i < stage.slices_end();
      summed.push_back(is_read ? cotangent_of_read(i) != no_row : i >= stage.captures_begin());
    }
    struct Stable {
      function::Backward backward;
      Flags outputs;
    };
    const Stable stable = until_stable(has, stage.carries(), count, [&](const Flags& at_least) {
      function::Backward backward = halves[s].split.backward(has, at_least, summed);
      Flags found = backward.given;
      for (std::size_t i = 0; i < stage.carries(); ++i) found[i] = found[i] || backward.taken[i];
      return Stable{std::move(backward), std::move(found)};
    });
    const function::Backward& found = stable.backward;
    Assembly step(found.closure.program);
    const std::vector<std::size_t> cts = places_of(found.taken, found.reads.size()), out = places_of(found.given, 0);
    std::size_t sums = cts.back();
    std::vector<std::int64_t> reads;
    const auto read = [&](std::size_t i, std::int64_t number) {
      step.slice(step.in(i));
      reads.push_back(number);
    };
    for (std::size_t i = 0; i < stage.carries(); ++i) {
      if (!has[i]) continue;
      const auto output = static_cast<int>(first_output[s] + i);
      const Variable ct = found.taken[i] ? step.in(cts[i]) : step.unused(rule.output_types[first_output[s] + i]);
      step.carry(ct, step.out(out[i]), rule.cotangent(output));
    }
    for (std::size_t i = 0; i < found.reads.size(); ++i) {
      const auto [of_input, index] = found.reads[i];
      if (!of_input) read(i, halves[s].kept[index]);
      else if (index < stage.slices_end()) read(i, row[static_cast<std::size_t>(stage.reads[index - stage.carries()])]);
      else step.capture(step.in(i), inputs[stages.operand(s, index)]);
    }
    for (std::size_t k = 0; k < stage.rows(); ++k)
      if (found.taken[stage.carries() + k]) read(cts[stage.carries() + k], cotangent_of_row(k));
    for (std::size_t i = stage.carries(); i < count; ++i) {
      if (!found.given[i]) continue;
      if (i >= stage.captures_begin()) {
        const Type type = type_of(inputs[stages.operand(s, i)]);
        step.carry(step.in(sums++), step.out(out[i]), zeros_of({type.dtype, type.shape}));
        continue;
      }
      if (summed[i]) read(sums++, cotangent_of_read(i));
      step.row(step.out(out[i]));
      cotangent_of_read(i) = rows++;
    }
    step.rest(found.closure, sums, 0);
    built.add(step, std::move(reads));
    has_gradient[s] = Flags(has.begin(), has.begin() + stage.carried);
    for (std::size_t i = stage.captures_begin(); i < count; ++i) has_gradient[s].push_back(found.given[i]);
  }

  const Tensors results = built.apply();
  auto next = results.begin() + static_cast<std::ptrdiff_t>(outputs);
  Tensors gradients;
  for (std::size_t i = 0; i < inputs.size(); ++i) gradients.push_back(Tensor());
  for (std::size_t s = stages.all.size(); s-- > 0;) {
    const Stage& stage = stages.all[s];
    for (std::size_t k = 0; k < has_gradient[s].size(); ++k) {
      const std::size_t i = k < stage.carries() ? k : k - stage.carries() + stage.captures_begin();
      if (has_gradient[s][k]) gradients[stages.operand(s, i)] = *next++;
    }
  }
  return gradients;
}

}  // namespace ricci::runs
