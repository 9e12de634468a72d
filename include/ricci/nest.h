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

/// The transforms that run on this thread, whether no_grad switches them off, and the default dtype that a scope
/// (DefaultDType) has set. Throws NotImplementedError where one thread alone can run them: in a function that is being
/// recorded (trace, a branch or step of a recorded loop), and where only a part of the examples of a vmap runs.
Nest current_nest();

/// While it lives, this thread runs inside the nest: what it computes is differentiated and mapped as where the nest
/// was taken, under the no_grad and the scope's default dtype of there. Any number of threads may be inside one nest at
/// once, also the one that took it. Their work must have ended when the function under the nest's transforms returns:
/// what they still compute then is lost, or a TransformError. On another thread, inside vmap and in what a checkpoint
/// computes, draws from generators are a TransformError, for threads come in no order; keys (rc::Key) and what was
/// drawn before work. A tape watches and gives gradients on the thread that made it. Several threads add to one
/// gradient in the order in which they come, so its last bits may differ from run to run. TransformError if a transform
/// of the nest has ended, or if this thread runs others.
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
