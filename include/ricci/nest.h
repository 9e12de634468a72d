// Transforms on a thread that a function under them starts. A thread begins outside all transforms; there, a tensor of
// one that runs elsewhere is a TransformError, since its derivative would be lost or its examples unknown.
#pragma once

#include "ricci/owned.h"

namespace ricci {

/// The transforms a function runs under, for another thread to enter. Copies are one nest.
class Nest {
 public:
  /// Not for users: what current_nest() gives.
  struct State;
  explicit Nest(Shared<const State> state) : state_(std::move(state)) {}

 private:
  friend class Inside;
  Shared<const State> state_;
};

/// Gives the transforms that run on this thread, the levels that no_grad switches off, and the scope's default dtype
/// (DefaultDType). Throws NotImplementedError where one thread alone can run them: in a function that is being
/// recorded (trace, a branch or step of a recorded loop), and where only a part of the examples of a vmap runs.
Nest current_nest();

/// While it lives, this thread runs inside the nest: what the thread computes is differentiated and mapped as in the
/// function that took the nest, under that function's no_grad and default dtype. Any number of threads may be inside
/// one nest at once, the one that took it included. They must end their work before the function under the nest's
/// transforms returns; what they compute later is lost, or throws TransformError.
/// On another thread, a draw from a generator throws TransformError inside vmap and inside a checkpoint, because the
/// order of threads is not fixed. Draw from keys (rc::Key), or draw before the threads start. A tape watches and gives
/// gradients only on the thread that made it. Several threads add to one gradient in any order, so its last bits may
/// differ from run to run.
/// If this thread already runs the nest, transforms that began further in go on. TransformError if the thread runs
/// another nest, or if a transform of the nest has ended.
///   rc::Nest here = rc::current_nest();
///   auto part = std::async(std::launch::async, [&] { rc::Inside scope(here); return (w * x).sum(); });
class Inside {
 public:
  explicit Inside(const Nest& nest);
  Inside(const Inside&) = delete;
  ~Inside();

 private:
  struct State;
  Owned<State> state_;
};

}  // namespace ricci
