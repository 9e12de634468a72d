// Reverse mode of stages: steps that keep what the way back reads, then the pass back of each.
#include <vector>

#include "control/built_stages.h"
#include "ops/axes.h"
#include "ops/debug.h"

namespace ricci::runs {

namespace {

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
        gradients_(stages.all.size()) {
    built_.stages.condition = without_prints(stages.condition);
    std::size_t old_rows = 0;
    for (const Stage& stage : stages.all) {
      first_output_.push_back(outputs_);
      first_row_.push_back(old_rows);
      outputs_ += stage.carries();
      old_rows += stage.by_role().rows();
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
      const Step own = stages_.all[s].by_role();
      for (std::size_t i = 0; i < own.inputs(); ++i)
        if (gradients_[s][i] && !own.is_slice(i)) gradients[stages_.operand(s, i)] = *next++;
    }
    return gradients;
  }

 private:
  TensorOf operands_of(std::size_t s) const {
    return [this, s](std::size_t i) { return inputs_[stages_.operand(s, i)]; };
  }

  void keep_rows(std::size_t s) {
    const Stage& stage = stages_.all[s];
    const Step own = stage.by_role();
    const ForwardHalf half =
        forward_half(own, flags_of_step(stages_, s, wanted_, [&](std::size_t r) { return is_active_[r]; }),
                     operands_of(s), false);
    std::vector<std::int64_t> reads;
    for (std::size_t i = 0; i < own.slices; ++i) reads.push_back(row_[stage.row_read(i)]);
    for (std::size_t k = 0; k < own.rows(); ++k) {
      row_.push_back(rows_ + static_cast<std::int64_t>(k));
      is_active_.push_back(half.outputs[own.carried + k]);
    }
    kept_.emplace_back();
    for (const std::size_t k : half.kept) kept_.back().push_back(rows_ + static_cast<std::int64_t>(k));
    rows_ += static_cast<std::int64_t>(half.assembly.rows());
    splits_.push_back(half.split);
    built_.add(half.assembly, std::move(reads));
  }

  void go_back(std::size_t s) {
    const Stage& stage = stages_.all[s];
    const Step own = stage.by_role();
    Flags of_rows, of_slices;
    for (std::size_t k = 0; k < own.rows(); ++k) of_rows.push_back(row_of_cotangent_[first_row_[s] + k] != no_row);
    for (std::size_t i = 0; i < own.slices; ++i) of_slices.push_back(row_of_cotangent_[stage.row_read(i)] != no_row);
    const BackwardHalf back =
        backward_half(own, splits_[s], rule_, first_output_[s], of_rows, of_slices, operands_of(s));
    std::vector<std::int64_t> reads;
    for (const auto [of, number] : back.slices) {
      using enum BackwardSlice::Of;
      switch (of) {
        case slice: reads.push_back(row_[stage.row_read(number)]); break;
        case kept: reads.push_back(kept_[s][number]); break;
        case row: reads.push_back(row_of_cotangent_[first_row_[s] + number]); break;
        case sum: reads.push_back(row_of_cotangent_[stage.row_read(number)]); break;
      }
    }
    for (const std::size_t i : back.rows) row_of_cotangent_[stage.row_read(i)] = rows_++;
    built_.add(back.assembly, std::move(reads));
    gradients_[s] = back.gradients;
  }

  const Stages& stages_;
  const Reverse& rule_;
  const std::vector<Tensor>& inputs_;
  const Flags wanted_;
  Built built_;
  std::vector<function::Split> splits_;                // by stage
  std::vector<std::vector<std::int64_t>> kept_;        // by stage: the rows of what the way back reads
  std::vector<std::int64_t> row_;                      // the new numbers of the old rows
  Flags is_active_;                                    // the old rows
  std::int64_t rows_ = 0;                              // new ones so far
  std::vector<std::int64_t> row_of_cotangent_;         // by old row
  std::vector<std::size_t> first_output_, first_row_;  // by stage
  std::size_t outputs_ = 0;
  std::vector<Flags> gradients_;  // by stage: the inputs of its step that have one
};

}  // namespace

Tensors pulled_back(const Stages& stages, const Reverse& rule) { return Reversed(stages, rule).gradients(); }

}  // namespace ricci::runs
