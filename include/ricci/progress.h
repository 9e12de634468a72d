// How far a long loop is, as a bar on a terminal.
#pragma once

#include "ricci/tensor.h"

namespace ricci {

/// A bar for a loop of so many steps, made by `progress`.
class Progress {
 public:
  /// Says that step i, counted from 0, has come: an integer, or a 0-dim tensor of one. An operation like
  /// rc::debug::print, which runs where the function runs: in loops, recorded programs and compiled functions. It draws
  /// `[=====     ]  51 %  512 of 1000, 3.2 s` on the standard error output where the whole percentage has changed, and
  /// nothing if that is no terminal. Of examples that differ in i the one furthest behind counts. TypeError if i is no
  /// integer, ValueError if it has axes.
  void operator()(const Tensor& i) const;

 private:
  explicit Progress(std::int64_t steps) : steps_(steps) {}
  friend Progress progress(std::int64_t steps);
  std::int64_t steps_;
};

/// ValueError unless there is a step at least.
///   const auto show = rc::progress(1000);
///   rc::fori_loop(0, 1000, [&](Tensor i, Tensor x) { show(i); return step(x); }, x);
Progress progress(std::int64_t steps);

}  // namespace ricci
