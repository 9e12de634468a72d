// Recording a function to find what it captures.
#include "ricci/function/closure.h"

#include <memory>

#include "interpreters/record.h"

namespace ricci::function {
struct ClosureRun::State {
  const char* name;
  std::unique_ptr<RecordInterpreter> record;
};

ClosureRun::ClosureRun(const char* name)
    : state_(new State{.name = name, .record = std::make_unique<RecordInterpreter>(false, Entry{.name = name})}) {}
ClosureRun::~ClosureRun() { delete state_; }

void ClosureRun::enter(const tree::Walk& argument) {
  for (Tensor* leaf : argument.leaves)
    if (leaf->defined()) *leaf = wrap(state_->record->add_input(type_of(*leaf)));
}

Closure ClosureRun::leave(const tree::Walk& result) {
  RecordInterpreter& record = *state_->record;
  for (const Tensor* leaf : result.leaves)
    if (leaf->defined()) record.body->outputs.push_back(record.variable_of(read(*leaf, state_->name)));
  Owned<ProgramBody> body(new ProgramBody(without_dead_equations(*record.body)));
  state_->record.reset();
  fix_sizes(*body);
  Closure closure;
  for (const Capture& capture : body->captures) {
    body->inputs.push_back(capture.variable);
    closure.captured.push_back(wrap(capture.value));
  }
  body->captures.clear();
  closure.program = Program(Shared<const ProgramBody>(Owned<const ProgramBody>(body.release())));
  return closure;
}

}  // namespace ricci::function
