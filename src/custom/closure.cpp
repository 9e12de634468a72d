// Recording a function to find what it captures.
#include "custom/closure.h"

#include <algorithm>
#include <memory>

#include "interpreters/places.h"
#include "interpreters/replay.h"
#include "primitive/writing.h"

namespace ricci::function {
bool is_recorded(const char* name, const Tensor& x) {
  if (!x.defined()) return false;
  const ValueRef value = read(x, name);
  return ricci::is_recorded({&value, 1});
}

bool is_recorded(const char* name, const tree::Walk& leaves) {
  return std::any_of(leaves.leaves.begin(), leaves.leaves.end(),
                     [name](const Tensor* leaf) { return is_recorded(name, *leaf); });
}

std::vector<Generator*> end_streams(const Recorder& recorder) {
  std::vector<Generator*> generators;
  for (const RecordInterpreter::StepStream& stream : recorder.interpreter().step_streams()) {
    recorder.output(advanced_place(wrap(stream.start), 1));
    generators.push_back(stream.generator);
  }
  return generators;
}

Closure closed(Recorder& recorder, const Steps* steps) {
  const std::vector<Generator*> generators = end_streams(recorder);
  return closed(recorder.end().body(), generators, steps);
}

Closure closed(const ProgramBody& whole, const std::vector<Generator*>& streams, const Steps* steps) {
  if (!streams.empty() && !steps) {
    StreamScope own{StreamScope::Branch()};
    const Steps of_own{own.streams()};
    return closed(whole, streams, &of_own);
  }
  Closure closure;
  Values captured;
  closure.program = ricci::closed(whole, captured);
  for (Generator* generator : streams) {
    const Tensor start = place_of(start_of_draws(*generator, steps->streams));
    closure.streams.push_back(advanced_place(start, steps->first));
  }
  for (const ValueRef& value : captured) closure.captured.push_back(wrap(value));
  return closure;
}

Closure closed(Recorder& recorder, const tree::Walk& result, const Steps* steps) {
  std::vector<bool> numbers;
  for (const Tensor* leaf : result.leaves) {
    if (!leaf->defined()) continue;
    numbers.push_back(type_of(*leaf).weak);
    recorder.output(with_dtype(*leaf));
  }
  Closure closure = closed(recorder, steps);
  closure.numbers = std::move(numbers);
  return closure;
}

Closure write_down(const char* name, const AnyFunction& f, Arguments arguments, AnyTree& result, Runs runs,
                   const Steps* steps) {
  Recorder recorder(name, records_for(runs), {.name = name});
  recorder.show(tree::walk_of(arguments).leaves);
  result = f(std::move(arguments));
  return closed(recorder, call::walk(result), steps);
}

AnyTree on_copies(const char* name, const AnyFunction& f, Arguments arguments) {
  own_cells(name, tree::walk_of(arguments));
  return f(std::move(arguments));
}

Tensor with_dtype(const Tensor& x) { return type_of(x).weak ? to(x, type_of(x).dtype) : x; }

Tensors defined_leaves(const tree::Walk& walk) {
  Tensors leaves;
  for (const Tensor* leaf : walk.leaves)
    if (leaf->defined()) leaves.push_back(*leaf);
  return leaves;
}

void own_cells(const char* name, const tree::Walk& leaves) {
  for (Tensor* leaf : leaves.leaves)
    if (leaf->defined()) *leaf = wrap(with_own_elements(read(*leaf, name)));
}

void write_leaves(std::span<const Tensor>& values, const tree::Walk& into) {
  for (Tensor* leaf : into.leaves) {
    if (!leaf->defined()) continue;
    *leaf = values.front();
    values = values.subspan(1);
  }
}

}  // namespace ricci::function
