// Imperative differentiation, and switching differentiation off.
#pragma once

#include "ricci/transforms/call.h"

namespace ricci {

/// Records what is computed from watched tensors while it lives; works inside any transform, and any transform inside
/// it. Tapes are scopes: the last made ends first.
///   rc::Tape tape; tape.watch(x); Tensor y = f(x); Tensor g = tape.gradient(y, x);
class Tape {
 public:
  explicit Tape(where_t where = where_t::current());
  Tape(const Tape&) = delete;
  ~Tape();

  /// From now on what is computed from the tensors of `tree` is recorded.
  template <class T>
  void watch(const T& tree) {
    tree::Walk walk;
    tree::walk(tree, walk);
    watch_leaves(walk);
  }
  /// The gradient of a real floating 0-dim `loss` with respect to watched tensors, in their tree.
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
  State* state_;
};

/// While it lives, what is computed has no derivative for any transform around it; transforms entered inside are not
/// concerned.
///   { rc::no_grad guard; scale = x.norm(); }
class no_grad {
 public:
  no_grad();
  no_grad(const no_grad&) = delete;
  ~no_grad();

 private:
  std::uint64_t saved_;
};

}  // namespace ricci
