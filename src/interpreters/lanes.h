// Lanes: which examples of a vmap run at the moment. Where examples disagree on a branch only a part of them runs, and
// a value batched at that vmap has rows for some examples only. Two linear operations move values between sets of
// lanes; they go through the other transforms like any operation and are answered by the vmap they belong to.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "primitive/interpreter.h"

namespace ricci {

class BatchInterpreter;

/// Some of the examples of one vmap. A set keeps no other alive, so that a loop which its examples leave one by one
/// keeps none of those before.
struct LaneSet {
  Level level;                        // of the vmap
  std::vector<std::int64_t> numbers;  // of the examples in the running chunk, ascending
  std::uint64_t id;                   // no other set has it; 0 stands for all examples
  std::uint64_t parted_from;          // the set it was made from, which may be gone
  Tensor rows;                        // int64: the row of each lane among those of that set
};
using LaneSetRef = std::shared_ptr<const LaneSet>;  // null: all examples

/// The lanes in these rows of `whole`, ascending.
LaneSetRef make_lanes(Level level, const LaneSetRef& whole, std::vector<std::int64_t> rows);
/// All lanes of sets that do not overlap.
LaneSetRef united(std::span<const LaneSetRef> parts);

/// A set of lanes in parts that do not overlap, and where the rows of the whole are in the parts' rows one after the
/// other.
struct LaneParts {
  Level level;
  LaneSetRef whole;
  std::vector<LaneSetRef> parts;
  Tensor order;  // int64
};
std::shared_ptr<const LaneParts> make_parts(const BatchInterpreter& batch, const LaneSetRef& whole,
                                            std::vector<LaneSetRef> parts);
/// `values[i]` has rows for part i: one tensor with the rows of all. Shapes and dtypes must agree; a value that is not
/// batched serves all examples of its part.
Tensor join_lanes(const std::shared_ptr<const LaneParts>& parts, const std::vector<Tensor>& values);

/// While it lives, only these examples of `batch` run. A level of its own on the stack, so that cells from before are
/// known as such: what has values for some lanes only may not be written to them.
class LaneScope final : public Interpreter {
 public:
  LaneScope(BatchInterpreter& batch, LaneSetRef lanes);
  ~LaneScope();
  Values process(Op op, std::span<const ValueRef> inputs) override;  // no value is of this level
  std::unique_ptr<Interpreter> copy() override;                      // throws
  Level narrows() const override;
  BatchInterpreter& batch() const { return batch_; }
  const LaneSetRef& before() const { return before_; }  ///< the lanes that ran when it began

 private:
  BatchInterpreter& batch_;
  const LaneSetRef before_;
};

}  // namespace ricci
