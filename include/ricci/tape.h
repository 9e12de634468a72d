// Imperative differentiation.
#pragma once

#include "ricci/no_grad.h"
#include "ricci/owned.h"
#include "ricci/transforms/call.h"

namespace ricci {

/// While it lives, the tape records what the thread that made it computes from watched tensors. It works inside any
/// transform, and any transform works inside it. Tapes may end in any order. A tape that was made in a function under a
/// transform throws TransformError when it is used after that function has returned. Another thread may destroy a tape
/// while the tape's own thread records nothing on it.
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
  /// The gradient of `loss`, a real floating 0-dim tensor, in the form of `tree`. For a watched tensor of the tree it
  /// is the gradient at the value that the tensor had when it was last watched; for a tensor computed from watched
  /// ones, at its present value; for any other tensor it is zero. Tapes that are older than this one record the
  /// computation of the gradient; this tape and younger ones do not. TypeError or ValueError for another loss.
  template <class T>
  tree::plain_t<T> gradient(const Tensor& loss, const T& tree) const {
    tree::plain_t<T> gradients = tree;
    tree::Walk into;
    tree::walk(gradients, into);
    write_gradients(loss, into);
    return gradients;
  }
  /// The same for outputs of any shape, a Tensor or a tree of them: the gradient of the sum of cotangent · output over
  /// all elements, torch.autograd.grad's grad_outputs. The cotangents have the outputs' C++ type, shapes and dtypes; a
  /// tensor of integers among the outputs takes an undefined one. Where the cotangents differ per example of a vmap
  /// inside the tape, so does the gradient, and no example's tape is run again. ValueError or TypeError where a
  /// cotangent does not fit.
  ///   Tensor g = tape.gradient(y, x, v);
  ///   Tensor rows = rc::vmap([&](Tensor v) { return tape.gradient(y, x, v); })(vs);
  template <class O, class T>
  tree::plain_t<T> gradient(const O& outputs, const T& tree,
                            const std::type_identity_t<tree::plain_t<O>>& cotangents) const {
    tree::plain_t<O> of = outputs, given = cotangents;
    tree::plain_t<T> gradients = tree;
    tree::Walk output_walk, cotangent_walk, into;
    tree::walk(of, output_walk);
    tree::walk(given, cotangent_walk);
    tree::walk(gradients, into);
    write_gradients(output_walk, cotangent_walk, into);
    return gradients;
  }

 private:
  void watch_leaves(const tree::Walk& walk);
  void write_gradients(const Tensor& loss, const tree::Walk& into) const;
  void write_gradients(const tree::Walk& outputs, const tree::Walk& cotangents, const tree::Walk& into) const;
  struct State;
  Owned<State> state_;
};

}  // namespace ricci
