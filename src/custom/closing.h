// One recording that becomes a closure: of a user's function, or of a program made from another. Start with `Recorder`.
#pragma once

#include <memory>
#include <vector>

#include "custom/closure.h"
#include "interpreters/record.h"

namespace ricci::function {

class Recorder {
 public:
  /// `name` is what errors speak of. `entry`: how they name it among the transforms around what is recorded.
  Recorder(const char* name, Runs runs, const Entry& entry = {})
      : name_(name),
        record_(std::make_unique<RecordInterpreter>(runs == Runs::many ? Records::step : Records::part, entry)) {}

  Tensor input(const Type& type) const { return wrap(record_->add_input(type)); }
  Variable variable(const Tensor& x) const { return record_->variable_of(read(with_dtype(x), name_)); }
  void output(const Tensor& x) const { record_->body->outputs.push_back(variable(x)); }
  /// What is written so far.
  const std::shared_ptr<ProgramBody>& body() const { return record_->body; }
  /// The inputs, of a step, that its draws are derived from.
  const std::vector<RecordInterpreter::StepStream>& streams() const { return record_->step_streams(); }
  /// Adds to the outputs, for each of these, the place that the next step's draws are derived from. Returns the
  /// generators.
  std::vector<Generator*> end_streams() const;
  /// Ends the recording. `steps` as in `closed`.
  Closure end(const Steps* steps = nullptr);

 private:
  const char* name_;
  std::unique_ptr<RecordInterpreter> record_;
};

/// The live equations of a body whose recording has ended, what it captured among the inputs. `streams`: the generators
/// that a step draws from. `steps`: null for a loop that is derived from another.
Closure closed(const ProgramBody& body, const std::vector<Generator*>& streams, const Steps* steps = nullptr);

}  // namespace ricci::function
