// A level of vmap that stands for a run around it: where a rule, or a program, runs on all of its examples at once.
#pragma once

#include <optional>

#include "interpreters/batch.h"
#include "interpreters/node_memory.h"
#include "interpreters/replay.h"

namespace ricci {

/// The examples that a lifted operation stands for: of which run of vmap, and which of its examples, so that the rules
/// draw what the function would if the run saw through it.
struct MappedExamples {
  Level run = 0;
  Size size = 0;   // of these examples
  Size count = 0;  // of the whole run
  std::int64_t first = 0;
  SmallVector<std::int64_t, 1> scattered;  // where they are not consecutive
  Randomness randomness = Randomness::error;

  explicit MappedExamples(const Batch& batch)
      : run(batch.level), size(batch.size), count(batch.size), randomness(batch.randomness) {
    const BatchInterpreter* of_batch = interpreter();
    if (!of_batch) return;
    if (!has_part_in_draws(*of_batch)) randomness = Randomness::same;
    count = of_batch->examples.count;
    const ExampleNumbers numbers = of_batch->numbers();
    if (numbers.each == size) first = numbers.starts[0];
    else scattered = numbers.starts;
  }
  MappedExamples() = default;

  /// The level of the run; null if it has ended.
  const BatchInterpreter* interpreter() const {
    const Interpreter* running = find_interpreter(run);
    if (!running) running = find_set_aside(run);
    return static_cast<const BatchInterpreter*>(running);
  }
  /// Without the run, which no two programs share.
  void print_parameter(std::string& out) const {
    parameters::print(size, out);
    out += " of ";
    parameters::print(count, out);
    out += scattered.empty() ? " from " + std::to_string(first) : " scattered";
  }
  void walk_parameter(ParameterVisitor& visitor) {
    visitor.size(size);
    visitor.size(count);
  }
  bool operator==(const MappedExamples&) const = default;
};

/// A batch level for one rule, with what goes in and comes out of it.
class BatchLevel {
 public:
  explicit BatchLevel(const MappedExamples& of) : level_(of.size, Entry{}, examples(of)) {
    if (const BatchInterpreter* run = of.interpreter()) level_.takes_part = run->takes_part;
  }
  /// `takes_part`: BatchInterpreter::takes_part, in place of that of the run.
  BatchLevel(const MappedExamples& of, const Tensor& takes_part) : level_(of.size, Entry{}, examples(of)) {
    level_.takes_part = takes_part;
  }

  /// One example of `rows`, whose axis 0 is the batch.
  Tensor show(const ValueRef& rows) const { return wrap(new_node<Batched>(level_.level, rows)); }
  Tensor show(const Tensor& rows) const { return rows.defined() ? show(read(rows, "vmap")) : Tensor(); }
  template <class Flagged>
  Tensors show(std::span<const Tensor> tensors, const Flagged& mapped) const {
    Tensors shown;
    for (std::size_t i = 0; i < tensors.size(); ++i) shown.push_back(mapped[i] ? show(tensors[i]) : tensors[i]);
    return shown;
  }

  /// With the rows of all examples of the vmaps around it that it has rows for, not of those alone that run.
  template <class Flagged>
  Tensors show_all(std::span<const Tensor> tensors, const Flagged& mapped) const {
    Tensors shown;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      shown.push_back(mapped[i] ? show(live(value_of(tensors[i]), "vmap")) : tensors[i]);
    return shown;
  }

  struct Taken {
    Tensor value;
    bool mapped;
  };
  /// `shown` seen from outside: rows if it differs per example.
  Taken take(const Tensor& shown) const {
    if (!shown.defined()) return {Tensor(), false};
    const ValueRef value = read(shown, "vmap");
    const AtLevel outside(level_.parent);
    if (value->level != level_.level) return {wrap(value), false};
    return {wrap(static_cast<const Batched&>(*value).value), true};
  }
  /// The same with axis 0 in any case.
  Tensor take_rows(const Tensor& shown) const {
    const Taken taken = take(shown);
    if (taken.mapped || !taken.value.defined()) return taken.value;
    const AtLevel outside(level_.parent);
    return rows_of(level_, value_of(taken.value));
  }
  Tensors take_rows(const Tensors& shown) const {
    Tensors rows;
    for (const Tensor& t : shown) rows.push_back(take_rows(t));
    return rows;
  }
  /// The cotangent of an input: of one that is not mapped, the sum over the examples.
  Tensor take_cotangent(const Tensor& shown, bool input_is_mapped) const {
    const Tensor rows = take_rows(shown);
    if (input_is_mapped || !rows.defined()) return rows;
    const AtLevel outside(level_.parent);
    return sum(rows, 0);
  }

 private:
  /// While the run lasts, draws come from the run's streams. After the run has ended, draws come from places that were
  /// noted before: these places belong to the run's stream already, so no stream is derived from them.
  Examples examples(const MappedExamples& of) {
    const BatchInterpreter* run = of.interpreter();
    if (!run) {
      const StreamScope::OfEndedRun ended{of.randomness == Randomness::different};
      own_streams_.emplace(streams_of(this_thread.innermost), ended);
    }
    return {.count = of.count,
            .first = of.first,
            .randomness = of.randomness,
            .streams = own_streams_ ? &*own_streams_ : run->examples.streams,
            .scattered = of.scattered,
            .run = of.run};
  }

  std::optional<StreamScope> own_streams_;
  BatchInterpreter level_;
};

}  // namespace ricci
