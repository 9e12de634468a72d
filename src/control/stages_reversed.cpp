// Reverse mode of stages: steps that keep what the way back reads, then the pass back of each.
#include <vector>

#include "control/built_stages.h"
#include "ops/axes.h"
#include "ops/debug.h"

namespace ricci::runs {

using function::Runs;

namespace {

/// A stage's step in two parts.
struct Half {
  function::Split split;
  Flags outputs;  // those that depend on active inputs
  std::vector<std::int64_t> kept;
};
/// What until_stable derives: the pass back over a stage, and which outputs have a cotangent there.
struct BackwardStep {
  function::Backward backward;
  Flags outputs;
};

/// The stages again, which print nothing and keep what the way back reads; then each stage's way back, the last one's
/// first.
class Reversed {
 public:
  Reversed(const Stages& stages, const Reverse& rule)
      : stages_(stages),
        rule_(rule),
        inputs_(rule.residual->tensors),
        wanted_(flags_of(rule.wanted, inputs_.size())),
        built_(stages, inputs_),
        has_gradient_(stages.all.size()) {
    built_.stages.condition = without_prints(stages.condition);
    std::size_t old_rows = 0;
    for (const Stage& stage : stages.all) {
      first_output_.push_back(outputs_);
      first_row_.push_back(old_rows);
      outputs_ += stage.carries();
      old_rows += stage.rows();
    }
    row_of_cotangent_.assign(old_rows, no_row);
  }

  Tensors gradients() {
    for (std::size_t s = 0; s < stages_.all.size(); ++s) keep_rows(s);
    for (std::size_t s = stages_.all.size(); s-- > 0;) go_back(s);
    const Tensors results = built_.apply();
    auto next = results.begin() + static_cast<std::ptrdiff_t>(outputs_);
    Tensors gradients;
    for (std::size_t i = 0; i < inputs_.size(); ++i) gradients.push_back(Tensor());
    for (std::size_t s = stages_.all.size(); s-- > 0;) {
      const Stage& stage = stages_.all[s];
      for (std::size_t k = 0; k < has_gradient_[s].size(); ++k) {
        const std::size_t i = k < stage.carries() ? k : k - stage.carries() + stage.captures_begin();
        if (has_gradient_[s][k]) gradients[stages_.operand(s, i)] = *next++;
      }
    }
    return gradients;
  }

 private:
  void keep_rows(std::size_t s) {
    const Stage& stage = stages_.all[s];
    const auto of_row = [&](std::int64_t r) { return is_active_[static_cast<std::size_t>(r)]; };
    Flags active = flags_of_step(stages_, s, wanted_, of_row), at_hand;
    for (std::size_t i = 0; i < stage.step.inputs(); ++i)
      at_hand.push_back((i >= stage.carries() && i < stage.slices_end()) || i >= stage.captures_begin());
    halves_.push_back(until_stable(active, stage.carries(), stage.outputs(), [&](const Flags&) {
      function::Split split(stage.step, active, at_hand, Runs::many);
      Flags found = split.active_outputs();
      return Half{std::move(split), std::move(found), {}};
    }));
    Half& half = halves_.back();
    function::Closure forward = half.split.forward();
    forward.program = without_prints(forward.program);
    Assembly step(forward.program);
    std::vector<std::int64_t> reads;
    for (std::size_t i = 0; i < stage.step.inputs(); ++i) {
      if (i >= stage.carries() && i < stage.slices_end()) {
        step.slice(step.in(i));
        reads.push_back(row_[static_cast<std::size_t>(stage.reads[i - stage.carries()])]);
        continue;
      }
      const Tensor& x = inputs_[stages_.operand(s, i)];
      if (i < stage.carries()) step.carry(step.in(i), step.out(i), x);
      else if (i < stage.captures_begin())
        step.stream(step.in(i), step.out(stage.rows_end() + i - stage.slices_end()), x);
      else step.capture(step.in(i), x);
    }
    for (std::size_t i = stage.carries(); i < stage.rows_end(); ++i) {
      step.row(step.out(i));
      row_.push_back(rows_ + static_cast<std::int64_t>(i - stage.carries()));
      is_active_.push_back(half.outputs[i]);
    }
    for (std::size_t i = 0; i < half.split.kept(); ++i)
      half.kept.push_back(rows_ + static_cast<std::int64_t>(step.shared_row(step.out(stage.outputs() + i))));
    step.rest(forward, stage.step.inputs(), stage.outputs() + half.split.kept());
    rows_ += static_cast<std::int64_t>(step.rows());
    built_.add(step, std::move(reads));
  }

  void go_back(std::size_t s) {
    const Stage& stage = stages_.all[s];
    const std::size_t count = stage.step.inputs();
    const auto cotangent_of_row = [&](std::size_t k) -> std::int64_t& { return row_of_cotangent_[first_row_[s] + k]; };
    const auto cotangent_of_read = [&](std::size_t i) -> std::int64_t& {
      return row_of_cotangent_[static_cast<std::size_t>(stage.reads[i - stage.carries()])];
    };
    Flags has, summed;
    for (std::size_t i = 0; i < stage.carries(); ++i) has.push_back(rule_.cotangents[first_output_[s] + i].defined());
    for (std::size_t k = 0; k < stage.rows(); ++k) has.push_back(cotangent_of_row(k) != no_row);
    has.resize(stage.outputs(), false);
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_read = i >= stage.carries() && i < stage.slices_end();
      summed.push_back(is_read ? cotangent_of_read(i) != no_row : i >= stage.captures_begin());
    }
    const BackwardStep stable = until_stable(has, stage.carries(), count, [&](const Flags& at_least) {
      function::Backward backward = halves_[s].split.backward(has, at_least, summed);
      Flags found = backward.given;
      for (std::size_t i = 0; i < stage.carries(); ++i) found[i] = found[i] || backward.taken[i];
      return BackwardStep{std::move(backward), std::move(found)};
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
      const auto output = static_cast<int>(first_output_[s] + i);
      const Variable ct = found.taken[i] ? step.in(cts[i]) : step.unused(rule_.output_types[first_output_[s] + i]);
      step.carry(ct, step.out(out[i]), rule_.cotangent(output));
    }
    for (std::size_t i = 0; i < found.reads.size(); ++i) {
      const auto [of_input, index] = found.reads[i];
      if (!of_input) read(i, halves_[s].kept[index]);
      else if (index < stage.slices_end())
        read(i, row_[static_cast<std::size_t>(stage.reads[index - stage.carries()])]);
      else step.capture(step.in(i), inputs_[stages_.operand(s, index)]);
    }
    for (std::size_t k = 0; k < stage.rows(); ++k)
      if (found.taken[stage.carries() + k]) read(cts[stage.carries() + k], cotangent_of_row(k));
    for (std::size_t i = stage.carries(); i < count; ++i) {
      if (!found.given[i]) continue;
      if (i >= stage.captures_begin()) {
        const Type type = type_of(inputs_[stages_.operand(s, i)]);
        step.carry(step.in(sums++), step.out(out[i]), zeros_of({type.dtype, type.shape}));
        continue;
      }
      if (summed[i]) read(sums++, cotangent_of_read(i));
      step.row(step.out(out[i]));
      cotangent_of_read(i) = rows_++;
    }
    step.rest(found.closure, sums, 0);
    built_.add(step, std::move(reads));
    has_gradient_[s] = Flags(has.begin(), has.begin() + stage.carried);
    for (std::size_t i = stage.captures_begin(); i < count; ++i) has_gradient_[s].push_back(found.given[i]);
  }

  const Stages& stages_;
  const Reverse& rule_;
  const std::vector<Tensor>& inputs_;
  const Flags wanted_;
  Built built_;
  std::vector<Half> halves_;
  std::vector<std::int64_t> row_;                      // the new numbers of the old rows
  Flags is_active_;                                    // the old rows
  std::int64_t rows_ = 0;                              // new ones so far
  std::vector<std::int64_t> row_of_cotangent_;         // by old row
  std::vector<std::size_t> first_output_, first_row_;  // by stage
  std::size_t outputs_ = 0;
  std::vector<Flags> has_gradient_;  // of each stage's carry, then its captures
};

}  // namespace

Tensors pulled_back(const Stages& stages, const Reverse& rule) { return Reversed(stages, rule).gradients(); }

}  // namespace ricci::runs
