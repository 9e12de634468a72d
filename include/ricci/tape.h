// Imperative differentiation.
#pragma once

#include "ricci/no_grad.h"
#include "ricci/owned.h"
#include "ricci/transforms/call.h"

namespace ricci {

/// Records what is computed from watched tensors while it lives, on the thread that made it; works inside any transform,
/// and any transform inside it. Tapes may end in any order. One that outlives the function under a transform which made
/// it throws TransformError when it is used. Another thread may destroy a tape, while its own records nothing on it.
///   rc::Tape tape; tape.watch(x); Tensor y = f(x); Tensor g = tape.gradient(y, x);
class Tape {
 public:
  explicit Tape(where_t where = where_t::current());
  Tape(const Tape&) = delete;
  ~Tape();

  /// From now on what is computed from the floating and complex tensors of `tree` is recorded; they may be written to.
  /// Watching a view records only uses of that view, until its base is written or watched. Watch a tensor again after
  /// writing it under `no_grad`; if you wrote through a view, watch that view. TypeError if the tree holds no floating
  /// or complex tensor.
  template <class T>
  void watch(const T& tree) {
    tree::Walk walk;
    tree::walk(tree, walk);
    watch_leaves(walk);
  }
  /// The gradient of a real floating 0-dim `loss` with respect to tensors as they were when last watched, or, where
  /// they were computed from those, as they are now; in their tree. Zero for any other. It is recorded by tapes that
  /// were made before this one, not by this one nor later ones. TypeError or ValueError for another loss.
  template <class T>
  tree::plain_t<T> gradient(const Tensor& loss, const T& tree) const {
    tree::plain_t<T> gradients = tree;
    tree::Walk into;
    tree::walk(gradients, into);
    write_gradients(loss, into);
    return gradients;
  }

 private:
  void watch_leaves(const tree::Walk& walk);
  void write_gradients(const Tensor& loss, const tree::Walk& into) const;
  struct State;
  Owned<State> state_;
};

}  // namespace ricci
