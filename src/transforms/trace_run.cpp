// trace, compiled side: every size of every input a symbol, every operation an equation. Inside another trace sizes are
// those of that one, and become numbers when the inner program is complete.
#include <memory>
#include <optional>

#include "interpreters/recorder.h"
#include "transforms/arguments.h"

namespace ricci::runs {

struct TraceRun::State {
  Place where;
  std::shared_ptr<SymbolTable> symbols = inside_symbol_scope() ? nullptr : std::make_shared<SymbolTable>();
  std::optional<Recorder> recorder;
};

TraceRun::TraceRun(Place where) : state_(new State{.where = where}) {}

void TraceRun::enter(const tree::Walk& arguments) {
  State& s = *state_;
  ArgumentTypes inputs(arguments.leaves);
  if (s.symbols)
    for (Type& type : inputs.types)
      for (Size& size : type.shape) size = s.symbols->add_input(size.host());
  s.recorder.emplace("trace", Records::program, entry_of("trace", s.where), s.symbols);
  s.recorder->show(arguments.leaves, inputs);
}

Program TraceRun::leave(const tree::Walk& output) {
  State& s = *state_;
  s.recorder->interpreter().end_inside();
  require_tensors("trace", "result", output, s.where);
  for (const Tensor* leaf : output.leaves)
    if (leaf->defined()) s.recorder->output(*leaf);
  Program program = s.recorder->end();
  return s.symbols ? program : with_fixed_sizes(std::move(program));
}

void TraceRun::refuse(const char* found) {
  state_->recorder.reset();
  raise_no_tensor("trace", found, state_->where);
}

}  // namespace ricci::runs
