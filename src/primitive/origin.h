// Where an equation of a program comes from, as errors say it: what the user called, at which line, and inside which
// transforms it was recorded. Where the equation runs, errors say the same. Knows nothing of programs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "primitive/call_site.h"
#include "primitive/called.h"
#include "primitive/interpreter.h"
#include "ricci/shape.h"
#include "ricci/tensor.h"
#include "tensor/thread_context.h"

namespace ricci {

class SymbolTable;

/// As errors name it: `vmap over axis 0 of 64 (train.cpp:41)`.
struct RecordedTransform {
  std::string name;              // `grad`, `vmap over axis 0`
  std::optional<Size> examples;  // of vmap
  std::string place;             // ` (train.cpp:41)`
};
/// The innermost first. Null: there are none.
using RecordedNest = std::shared_ptr<const std::vector<RecordedTransform>>;

/// Examples that a call was made for: of a vmap, or of a chunk of it.
struct ExamplesOfCall {
  Size size;
  std::int64_t first = 0;  // the number of the first of them
};

struct Origin {
  const char* called = nullptr;  // the operation that the user called, where it is made of others; else null
  CallSite site = {};            // of that call; unknown of an operation that takes all values of its operands
  RecordedNest nest = nullptr;
  SmallVector<ExamplesOfCall, 2> examples = {};  // of the vmaps of the nest that the call was made in, outermost first
};
/// Null: nothing is known.
using OriginRef = std::shared_ptr<const Origin>;

/// That of an equation inside a program that another equation runs.
OriginRef joined(const OriginRef& inner, const OriginRef& outer);
/// The same with other sizes for its symbols.
OriginRef with_sizes(const OriginRef& origin, const std::function<Size(Size)>& size_of);

/// The numbers that symbols stand for in the call that runs a program. Without a table: as in the run around that call.
struct SizesOfRun {
  const SymbolTable* table = nullptr;
  std::span<const Size> inputs = {};
};

/// An equation that runs; or, without an origin, what was made of a program for these sizes.
struct RunningEquation {
  const Origin* origin;
  SizesOfRun sizes = {};
  Level around = current_level();  // the level it runs at
  const RunningEquation* outer = this_thread.equation;

  /// For each branch or step that runs for some of the examples: which rows take part (bool; rows are the last axis).
  /// Another row holds a copy of the first row that takes part. Tensors with more axes come first. Empty: all do.
  mutable SmallVector<Tensor, 2> takes_part = {};

  /// A size of the origin in this run; a symbol where nobody knows.
  Size size_of(Size size) const;
};
/// f(), while the equation runs: errors name what the user called where it was recorded.
template <class F>
std::invoke_result_t<F> in_equation(const RunningEquation& equation, const F& f) {
  const With<&ThreadContext::equation> innermost(&equation);
  const Called as(equation.origin ? equation.origin->called : nullptr);
  return f();
}

/// Called by an equation that fills the rows of examples that take no part: from now on, errors of the program that
/// holds the equation name the example that a copied row comes from.
void note_rows_that_take_part(const Tensor& takes_part);
/// `place` lies in a tensor whose first axes are rows of the examples of vmaps: `running` of vmaps that run, then
/// `recorded` of vmaps that stand in the program. A place in a copied row becomes the same place in the row that was
/// copied, and a row of a chunk is counted among all examples. Where sizes do not tell whose axes they are, as of two
/// vmaps of 4 examples of which one alone maps the tensor, the place stays.
void replace_rows_by_examples(Shape& place, const Shape& shape, std::size_t running, std::size_t recorded);

/// Where the equations of a recording come from: most have what the one before has.
class OriginsInside {
 public:
  explicit OriginsInside(Level recording) : outside_(recording) {}
  /// Of the equation that is recorded now. `may_fail`: whether errors may speak of values of its operands.
  OriginRef now(bool may_fail, const SmallVector<ExamplesOfCall, 2>& examples);

 private:
  RecordedNest nest();

  const Level outside_;
  std::vector<std::uint64_t> key_ = {};  // of the last nest
  RecordedNest nest_ = nullptr;
  OriginRef last_ = nullptr;
};

}  // namespace ricci
