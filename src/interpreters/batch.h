// vmap: values that hold one value per example.
#pragma once

#include "interpreters/lanes.h"
#include "interpreters/streams.h"
#include "primitive/interpreter.h"
#include "ricci/dims.h"

namespace ricci {

/// One value per example: `value` is one level down and has the batch as axis 0. (Moving an axis is a change of
/// strides, so other positions are never stored.) Where only a part of the examples runs, it has rows for those.
struct Batched final : Value {
  ValueRef value;
  LaneSetRef lanes;
  const bool is_computed;  // by an operation that is no view: an example is in row-major order, however its rows lie

  Batched(Level level, ValueRef value, LaneSetRef lanes = {}, bool is_computed = false);
  void destroy() noexcept override;
};

/// What random operations must know of a run of vmap, and of the part of it that a level is.
struct Examples {
  Size count;          // of the whole run
  std::int64_t first;  // of this level
  Randomness randomness;
  StreamScope* streams;                         // of the run
  SmallVector<std::int64_t, 1> scattered = {};  // those of this level, where they are not consecutive; else none
  Level run = 0;                                // the level of vmap that this one stands for; 0: it is that itself
};

/// Numbers of examples, in runs of consecutive ones: `each` from every start on.
struct ExampleNumbers {
  SmallVector<std::int64_t, 1> starts;
  Size each;
};

/// Where examples may part ways for the rest of a run of the mapped function: nowhere; where the size of a result
/// depends on values; wherever the host looks at a value.
enum class Parts : std::uint8_t { nowhere, sizes, values };

class BatchInterpreter final : public Interpreter {
 public:
  BatchInterpreter(Size size, const Entry& entry, const Examples& examples, Parts parts = Parts::nowhere,
                   std::int64_t most_groups = 0)
      : Interpreter(ValueKind::batched, entry),
        size(size),
        examples(examples),
        parts(parts),
        most_groups_(most_groups) {}
  ~BatchInterpreter() { run_lanes({}); }
  Values process(Op op, std::span<const ValueRef> inputs) override;
  std::unique_ptr<Interpreter> copy() override;
  bool answers_draws() const override;

  /// Throws unless a value of this level has rows for the examples that run; `op` uses it.
  void require_running(const Value& value, const char* op) const;
  /// From now on only these examples run; values from before are narrowed when they are read.
  void run_lanes(LaneSetRef set);

  /// How many examples a set of lanes has.
  Size count(const LaneSetRef& set) const { return set ? Size(static_cast<std::int64_t>(set->numbers.size())) : size; }
  /// Tells runs of vmap apart, also where other levels stand for them.
  Level run() const { return examples.run ? examples.run : level; }
  /// Which of the run's examples are the rows of the values that run now.
  ExampleNumbers numbers() const;

  /// The run goes on with the largest of these groups; the others wait for a run of their own. `op` looked at a value.
  void go_on_with_largest(const char* op, const std::vector<LaneSetRef>& groups);

  const Size size;  // of all examples
  const Examples examples;
  const Parts parts;
  LaneSetRef lanes;                 // those that run
  Tensor takes_part;                // where a program runs a branch or a step on all rows: bool, by row; undefined: all
  std::vector<LaneSetRef> waiting;  // groups that have parted from this run
  bool was_asked = false;           // whether what has run so far may depend on answers of its examples

 private:
  BatchInterpreter(BatchInterpreter& other, std::unique_ptr<StreamScope> streams);
  /// The lanes that the batched ones of these inputs have rows for, those that run if none is batched; throws if they
  /// differ.
  const LaneSetRef& lanes_of(Op op, std::span<const ValueRef> inputs) const;
  [[noreturn]] void raise_left_its_branch(const Value& value, const char* op) const;
  Values move_lanes(Op op, std::span<const ValueRef> inputs);
  Values process_elementwise(Op op, std::span<const ValueRef> inputs);
  Values process_by_rule(Op op, std::span<const ValueRef> inputs);

  const std::int64_t most_groups_;
  const std::unique_ptr<StreamScope> own_streams_;  // of a copy
};

/// Row numbers along the leading axes that vmaps added, as the examples' own numbers (they differ in chunks and
/// branches). Gives the count of those axes. For error texts, in a kernel that runs for a user's call.
std::size_t number_examples(const Shape& leading, Shape& at);

/// Throws NotImplementedError: no other thread can run what only a part of the examples does.
[[noreturn]] void raise_part_has_one_thread(const BatchInterpreter& batch);

/// Throws unless the value has rows for the examples that run, at every level that it is batched at; `op` uses it.
void require_running_throughout(const Value& value, const char* op);

/// The rows of the examples that run at this level, with the batch as axis 0: of a value that is the same for all of
/// them, expanded without copying. Requires: the value is of this level or further out. Call it outside the level.
Tensor rows_of(const BatchInterpreter& batch, const ValueRef& value);

/// The numbers of the examples that the rows are of, int64, -1 for those that take no part. Call it outside the level.
Tensor row_numbers(const BatchInterpreter& batch);

/// The streams that draws at `interpreter` come from: of the innermost conditional, loop or run of vmap; null: there is
/// none inside the innermost recording of a program that has draws of its own.
StreamScope* streams_of(Interpreter* interpreter);

/// Running vmaps, outermost first.
using Vmaps = SmallVector<const BatchInterpreter*, 4>;

/// For errors of a kernel that runs for a user's call: the vmaps whose rows are the first axes of `leading`; none if
/// these axes are not their rows.
Vmaps vmaps_of_kernel(const Shape& leading);
/// For errors: ` at [0,2] in example 3`, ` in example [2,1]`. `place` is a row-major place in `shape`, whose first axes
/// are the rows of `vmaps`. The number of an example counts all examples of its vmap, not those of a chunk or a branch.
/// A vmap that is null stands in a program: all its examples run, or are copies of one that runs (origin.h).
std::string place_text(std::int64_t place, const Shape& shape, const Vmaps& vmaps);

}  // namespace ricci
