// Recording a function to find what it captures.
#include "ricci/function/closure.h"

#include <memory>

#include "interpreters/record.h"

namespace ricci::function {
namespace {

struct FixSizes final : SizeVisitor {
  void visit(Size& size) override { size = size.host(); }
};

/// A number as a tensor of its dtype.
Tensor strong(const Tensor& x) { return type_of(x).weak ? to(x, type_of(x).dtype) : x; }

}  // namespace

struct ClosureRun::State {
  const char* name;
  std::unique_ptr<RecordInterpreter> record;
};

ClosureRun::ClosureRun(const char* name)
    : state_(new State{.name = name, .record = std::make_unique<RecordInterpreter>(true, Entry{.name = name})}) {}
ClosureRun::~ClosureRun() { delete state_; }

void ClosureRun::enter(const tree::Walk& arguments) {
  for (Tensor* leaf : arguments.leaves)
    if (leaf->defined()) *leaf = wrap(state_->record->add_input(type_of(*leaf)));
}

Closure ClosureRun::leave(const tree::Walk& result) {
  RecordInterpreter& record = *state_->record;
  for (const Tensor* leaf : result.leaves)
    if (leaf->defined()) record.body->outputs.push_back(record.variable_of(read(strong(*leaf), state_->name)));
  Owned<ProgramBody> body(new ProgramBody(without_dead_equations(*record.body)));
  state_->record.reset();
  Closure closure;
  for (const Capture& capture : body->captures) {
    body->inputs.push_back(capture.variable);
    closure.captured.push_back(wrap(capture.value));
  }
  body->captures.clear();
  closure.program = Program(Shared<const ProgramBody>(Owned<const ProgramBody>(body.release())));
  return closure;
}

Closure with_fixed_sizes(Closure closure) {
  FixSizes fix;
  closure.program.visit_parameter_sizes(fix);
  return closure;
}

}  // namespace ricci::function
