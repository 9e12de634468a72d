// A checkpoint in a recorded function, an operation whose parameter is the program that is computed again; and where a
// function is no checkpoint.
#include <algorithm>

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

bool draws_for_others(const tree::Walk& arguments) {
  const Tensors leaves = defined_leaves(arguments);
  const auto knows = [&](const Interpreter& vmap) {
    return std::any_of(leaves.begin(), leaves.end(),
                       [&](const Tensor& t) { return part_at(*value_of(t), vmap.level) != nullptr; });
  };
  for (const Interpreter* i = innermost; i; i = i->parent) {
    const bool is_vmap = i->kind == ValueKind::batched &&
                         static_cast<const BatchInterpreter*>(i)->examples.randomness != Randomness::error;
    if (i->sees_factories() || (is_vmap && !knows(*i))) return true;
  }
  return false;
}

void own_cells(const char* name, const tree::Walk& leaves) {
  for (Tensor* leaf : leaves.leaves)
    if (leaf->defined()) *leaf = wrap(read(*leaf, name));
}

void run_recorded_checkpoint(const Closure& f, const tree::Walk& arguments, const tree::Walk& result) {
  Tensors inputs = defined_leaves(arguments);
  inputs.append(f.captured.begin(), f.captured.end());
  const Tensors outputs = ricci::apply(RecordedCheckpoint{f.program}, inputs);
  std::span<const Tensor> rest = outputs;
  write_leaves(rest, result);
}

}  // namespace ricci::function
