// The erasure boundary of control flow: where examples of a vmap disagree on a branch, they part, run one group after
// the other, and are joined again. Compiled code that sees only the tensors of a tree. Not for users; control.h is
// written with it.
#pragma once

#include <cstdint>

#include "ricci/owned.h"
#include "ricci/tree.h"

namespace ricci::runs {

/// Throws ValueError unless two branches return one structure.
void require_same_tree(const char* name, const tree::Structure& one, const tree::Structure& other);
/// The same with a Tensor at the same places.
void require_same_tree(const char* name, const tree::Walk& one, const tree::Walk& other);

/// One run of a conditional or a loop. Outside vmap, and where all examples agree, nothing ever parts.
class Parting {
 public:
  /// `name` is the operation errors speak of.
  explicit Parting(const char* name);
  Parting(const Parting&) = delete;
  ~Parting();

  /// What the running examples answer to `question`, of one element, as an integer. Where they disagree, one group that
  /// agrees goes on, false before true. Where something is carried, the question is whether to go on with it: examples
  /// that say no are done, with their share as the result; `carried` then has that of the group that goes on.
  std::int64_t ask(const Tensor& question, const tree::Walk& carried);
  std::int64_t answer() const;  ///< the last one
  /// The running examples are done: `leaves` is their result. True: other examples go on, `answer()` and, where
  /// something is carried, `leaves` are theirs. False: all are done, and `leaves` is the result of all.
  bool next(const tree::Walk& leaves);
  /// One step more of the running examples; gives how many they had done before. Groups that wait keep their count.
  std::int64_t step();

 private:
  struct State;
  Owned<State> state_;
};

}  // namespace ricci::runs
