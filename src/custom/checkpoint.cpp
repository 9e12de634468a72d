// A checkpoint in a recorded function: an operation whose parameter is the program that is computed again.
#include "interpreters/batch.h"
#include "program/program.h"
#include "ricci/custom_derivatives.h"

namespace ricci::function {
namespace {

struct RecordedCheckpoint {
  using kind = Custom;
  static constexpr const char* name = "checkpoint";
  Program f;

  Types type(const Types& inputs) const {
    if (f.inputs() != static_cast<std::size_t>(inputs.size()))
      throw IndexError("takes " + std::to_string(f.inputs()) + " operands, found " + std::to_string(inputs.size()));
    return output_types(f);
  }
  Tensors call(std::span<const Tensor> inputs) const {
    const auto run = [f = f](const std::vector<Tensor>& x) { return f(x); };
    const std::vector<Tensor> outputs = checkpoint(run)(std::vector<Tensor>(inputs.begin(), inputs.end()));
    return {outputs.begin(), outputs.end()};
  }
};

}  // namespace

bool is_drawn_further_in(const tree::Walk& arguments) {
  const Tensors leaves = defined_leaves(arguments);
  const Interpreter* const handler = handler_of(leaves);
  for (const Interpreter* i = innermost; i && i != handler; i = i->parent)
    if (i->kind == ValueKind::batched &&
        static_cast<const BatchInterpreter*>(i)->examples.randomness != Randomness::error)
      return true;
  return false;
}

void run_recorded_checkpoint(const Closure& f, const tree::Walk& arguments, const tree::Walk& result) {
  Tensors inputs = defined_leaves(arguments);
  inputs.append(f.captured.begin(), f.captured.end());
  const Tensors outputs = ricci::apply(RecordedCheckpoint{f.program}, inputs);
  std::span<const Tensor> rest = outputs;
  write_leaves(rest, result);
}

}  // namespace ricci::function
