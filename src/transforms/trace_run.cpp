// trace, compiled side: every size of every input a symbol, every operation an equation. Inside another trace sizes are
// those of that one, and become numbers when the inner program is complete.
#include <memory>

#include "interpreters/layout.h"
#include "interpreters/record.h"
#include "transforms/arguments.h"

namespace ricci::runs {

struct TraceRun::State {
  Place where;
  std::shared_ptr<SymbolTable> symbols = inside_symbol_scope() ? nullptr : std::make_shared<SymbolTable>();
  std::unique_ptr<SymbolScope> scope;
  std::unique_ptr<RecordInterpreter> record;
};

TraceRun::TraceRun(Place where) : state_(new State{.where = where}) {}

void TraceRun::enter(const tree::Walk& arguments) {
  State& s = *state_;
  std::vector<Type> types;
  std::vector<Layout> layouts;
  for (Tensor* leaf : arguments.leaves) {
    types.push_back(leaf->defined() ? Type{type_of(*leaf)} : Type{});
    layouts.push_back(leaf->defined() ? layout_of(*leaf) : Layout{});
  }
  if (s.symbols)
    for (Type& type : types)
      for (Size& size : type.shape) size = s.symbols->add_input(size.host());
  s.record = std::make_unique<RecordInterpreter>(Records::program, entry_of("trace", s.where));
  s.record->body->symbols = s.symbols;
  if (s.symbols) s.scope = std::make_unique<SymbolScope>(*s.symbols);
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!arguments.leaves[i]->defined()) continue;
    const Tensor input = wrap(s.record->add_input(types[i]));
    if (!layouts[i].is_row_major()) s.record->note_strides(input, layouts[i].strides);
    *arguments.leaves[i] = input;
  }
}

Program TraceRun::leave(const tree::Walk& output) {
  State& s = *state_;
  s.record->end_inside();
  require_tensors("trace", "result", output, s.where);
  for (const Tensor* leaf : output.leaves)
    if (leaf->defined()) s.record->body->outputs.push_back(s.record->variable_of(read(*leaf, "trace")));
  Program program(Shared<const ProgramBody>(new ProgramBody(without_dead_equations(*s.record->body))));
  s.record.reset();
  if (!s.symbols) program = with_fixed_sizes(std::move(program));
  s.scope.reset();
  return program;
}

void TraceRun::refuse(const char* found) {
  state_->scope.reset();
  state_->record.reset();
  raise_no_tensor("trace", found, state_->where);
}

}  // namespace ricci::runs
