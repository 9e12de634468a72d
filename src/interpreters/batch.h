// vmap: values that hold one value per example.
#pragma once

#include "interpreters/streams.h"
#include "primitive/interpreter.h"
#include "ricci/dims.h"

namespace ricci {

/// One value per example: `value` is one level down and has the batch as axis 0. (Moving an axis is a change of
/// strides, so other positions are never stored.)
struct Batched final : Value {
  ValueRef value;

  Batched(Level level, ValueRef value);
  void destroy() noexcept override;
};

/// What random operations must know of a run of vmap, and of the part of it that a level is.
struct Examples {
  Size count;          // of the whole run
  std::int64_t first;  // of this level
  Randomness randomness;
  StreamScope* streams;  // of the run
};

/// Numbers of examples, in runs of consecutive ones: `each` from every start on.
struct ExampleNumbers {
  SmallVector<std::int64_t, 1> starts;
  Size each;
};

class BatchInterpreter final : public Interpreter {
 public:
  BatchInterpreter(Size size, const Entry& entry, const Examples& examples)
      : Interpreter(ValueKind::batched, entry), size(size), examples(examples) {}
  Values process(Op op, std::span<const ValueRef> inputs) override;

  /// Which of the run's examples are the rows of this level's values.
  ExampleNumbers numbers() const { return {{examples.first}, size}; }

  const Size size;
  const Examples examples;

 private:
  Values process_elementwise(Op op, std::span<const ValueRef> inputs);
  Values process_by_rule(Op op, std::span<const ValueRef> inputs);
};

/// The streams of the innermost run of vmap among `interpreter` and those around it; null if there is none.
StreamScope* streams_of(const Interpreter* interpreter);

}  // namespace ricci
