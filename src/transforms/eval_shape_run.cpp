// eval_shape, compiled side: a function is written down, and only the types of what it gives are kept. Sizes are those
// of the arguments: numbers, or symbols of a recording around.
#include <optional>

#include "interpreters/recorder.h"
#include "ricci/ops.h"
#include "ricci/transforms/eval_shape.h"
#include "transforms/arguments.h"

namespace ricci::runs {

struct TypesRun::State {
  Place where;
  std::optional<Recorder> recorder;
};

TypesRun::TypesRun(Place where) : state_(new State{.where = where, .recorder = {}}) {}

void TypesRun::enter(const tree::Walk& arguments) {
  State& s = *state_;
  const ArgumentTypes inputs(arguments.leaves);
  s.recorder.emplace("eval_shape", Records::program, entry_of("eval_shape", s.where));
  s.recorder->show(arguments.leaves, inputs);
}

void TypesRun::leave(const tree::Walk& output) {
  State& s = *state_;
  s.recorder->interpreter().end_inside();
  require_tensors("eval_shape", "result", output, s.where);
  Types types;
  for (const Tensor* leaf : output.leaves) types.push_back(type_of(*leaf));
  s.recorder.reset();
  for (std::size_t i = 0; i < types.size(); ++i) *output.leaves[i] = expand(zeros({}, types[i].dtype), types[i].shape);
}

void TypesRun::refuse(const char* found) {
  state_->recorder.reset();
  raise_no_tensor("eval_shape", found, state_->where);
}

AnyTree eval_shape(const AnyFunction& f, Arguments arguments, Place where) {
  TypesRun run(where);
  run.enter(tree::walk_of(arguments));
  AnyTree result = f(arguments);
  if (!result) run.refuse("nothing");
  tree::Walk walk;
  result.walk(walk);
  run.leave(walk);
  return result;
}

}  // namespace ricci::runs
