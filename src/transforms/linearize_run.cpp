// linearize, compiled side: primals are computed, what happens to tangents is recorded.
#include <memory>
#include <optional>

#include "interpreters/dual.h"
#include "interpreters/recorder.h"
#include "interpreters/replay.h"
#include "transforms/tangents.h"

namespace ricci::runs {

struct Linearized::State {
  Expected primals;
  Program tangents;  // from the differentiable leaves' tangents to the outputs'
  std::vector<Type> output_types;
  std::vector<int> output_index;  // among the program's outputs; -1 where the tangent is zero
  Place where;
  std::shared_ptr<const Draws> draws;  // of operations that the program computes again
};

struct LinearizeRun::State {
  Place where;
  std::optional<Expected> primals;
  std::optional<Recorder> recorder;
  std::unique_ptr<DualInterpreter> dual;  // inside it
};

LinearizeRun::LinearizeRun(Place where) : state_(new State{.where = where}) {}

void LinearizeRun::enter(std::span<const tree::Walk> primals) {
  State& s = *state_;
  require_primals("linearize", primals, s.where);
  s.primals.emplace(primals);
  s.recorder.emplace("linearize", Records::tangents, entry_of("linearize", s.where));
  RecordInterpreter& record = s.recorder->interpreter();
  s.dual = std::make_unique<DualInterpreter>(record.entry);
  for (const tree::Walk& walk : primals)
    for (Tensor* leaf : walk.leaves) {
      if (!leaf->defined()) continue;
      const Type type = type_of(*leaf);
      show_dual("linearize", *leaf, is_differentiable(type.dtype) ? record.add_input(type) : ValueRef(), s.dual->level);
    }
}

Linearized LinearizeRun::leave(const tree::Walk& output) {
  State& s = *state_;
  s.dual->end_inside();
  refresh(output);
  RecordInterpreter& record = s.recorder->interpreter();
  {
    const AtLevel outside(record.parent);
    require_differentiable("linearize", output, s.where);
  }
  Owned<Linearized::State> result = new Linearized::State{.primals = *s.primals, .where = s.where};
  for (Tensor* leaf : output.leaves) {
    Outcome outcome = split(*leaf, *s.dual);
    const AtLevel outside(record.parent);
    std::vector<Variable>& outputs = record.body->outputs;
    result->output_types.push_back(type_of(outcome.primal));
    result->output_index.push_back(outcome.tangent.defined() ? static_cast<int>(outputs.size()) : -1);
    if (outcome.tangent.defined()) outputs.push_back(record.variable_of(value_of(outcome.tangent)));
    *leaf = outcome.primal;
  }
  record.close();
  s.dual.reset();
  result->tangents = s.recorder->end();
  result->draws = note_of_draws(draws(result->tangents));
  return {Shared<const Linearized::State>(result.release())};
}

void LinearizeRun::refuse(const char* found) {
  state_->dual.reset();
  state_->recorder.reset();
  raise_no_tensor("linearize", found, state_->where);
}

void Linearized::apply(std::span<const tree::Walk> tangents, const tree::Walk& output) const {
  const State& s = *state;
  const std::vector<Tensor> fitted = checked_tangents("linearize", s.primals, tangents, s.where);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < fitted.size(); ++i)
    if (s.primals.types[i] && is_differentiable(s.primals.types[i]->dtype)) inputs.push_back(fitted[i]);
  const std::vector<Tensor> results = computed_again(s.draws.get(), [&] { return s.tangents(inputs); });
  for (std::size_t i = 0; i < output.leaves.size(); ++i) {
    const int index = s.output_index[i];
    *output.leaves[i] =
        index >= 0 ? in_own_cell(results[static_cast<std::size_t>(index)]) : zeros_of(s.output_types[i]);
  }
}

}  // namespace ricci::runs
