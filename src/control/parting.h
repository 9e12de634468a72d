// The erasure boundary of control flow: where examples of a vmap disagree on a branch, they part, run one group after
// the other, and are joined again. Compiled code that sees only the tensors of a tree.
#pragma once

#include <cstdint>

#include "control/checks.h"
#include "custom/closure.h"
#include "ricci/owned.h"

namespace ricci::runs {

/// Where a conditional or loop draws random numbers from: streams of its own; those of the loop around it, of which it
/// is a segment; or the same, and its steps are those segments.
enum class DrawsFrom : std::uint8_t { own, around, segments };

/// One run of a conditional or a loop. Outside vmap, and where all examples agree, nothing ever parts.
class Parting {
 public:
  /// `name` is the operation errors speak of.
  /// `first_step`: the number that its first step has in the loop.
  explicit Parting(const char* name, DrawsFrom draws = DrawsFrom::own, std::uint64_t first_step = 0);
  Parting(const Parting&) = delete;
  ~Parting();

  /// What the running examples answer to `question`, of one element, as an integer. Where they disagree, one group that
  /// agrees goes on, the others wait, in an order of their own.
  std::int64_t choose(const Tensor& question);
  /// Whether the running examples go on with `state`. Where they disagree, those that do not are done, their share of
  /// the state is their result; the others go on with theirs. TransformError as `next`.
  bool goes_on(const Tensor& question, const ErasedTree& state);
  /// The running examples are done, with this result. True: other examples go on, `answer()` and, in a loop, `result`
  /// are theirs. False: all are done, and `result` is that of all: new tensors, as an operation's are. TransformError
  /// if the results of two groups hold different values that are no Tensors.
  bool next(const ErasedTree& result);
  std::int64_t answer() const;  ///< the last one
  /// Whether the question was each example's own, and no group of them has given this answer.
  bool is_left_out(std::int64_t answer) const;
  /// One step more of the running examples; gives how many they had done before. Groups that wait keep their count.
  std::int64_t step();
  /// The steps that are left, for a loop whose rest is recorded.
  function::Steps rest();

 private:
  struct State;
  Owned<State> state_;
};

/// Whether examples that have this state may part, whatever is asked later: a part of a loop that is computed as one
/// operation gives all of its results for each example.
bool may_part(const tree::Walk& state);

}  // namespace ricci::runs
