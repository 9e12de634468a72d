// The streams that random operations draw from while a mapped function runs. A run takes one position of each generator
// it draws from and gives its own draws positions of a stream derived from that, so that a part of the run can be run
// again, and again draw the same, without turning back a generator that other threads share. Conditionals and loops
// inside a run derive streams in their turn.
// Knows nothing of what is drawn. Start with `StreamScope`; how a function draws again later is in replay.h.
#pragma once

#include <cstdint>
#include <vector>

#include "ricci/random.h"
#include "ricci/tensor.h"

namespace ricci {

/// One draw out of 2^128: which seed, and which position of its stream; in a recorded program, how far it lies behind a
/// place that the program computes (interpreters/places.h).
struct StreamPosition {
  std::uint64_t seed = 0, position = 0;
  Tensor place;  // undefined: seed and position are known
};

class StreamBranch;

/// One run of a mapped function. A scope inside another one shares its streams, so that nested runs draw what one run
/// over all pairs of examples would; its end leaves them at the furthest position that any of its parts has reached.
class StreamScope {
 public:
  /// How far the streams are.
  struct Positions {
    std::vector<std::uint64_t> draws;  // that each stream has given
    std::uint64_t branches = 0;        // conditionals and loops so far
  };

  /// Requires: `outer`, null for none, outlives this.
  explicit StreamScope(StreamScope* outer);
  StreamScope(const StreamScope&) = delete;
  ~StreamScope();

  /// The place of the next draw from `generator`. A generator that manual_seed has set back since its last draw in this
  /// scope starts a new stream. A draw from an outer scope (a mapped function's own batching rule makes such) ignores
  /// open inner scopes and uses the generator directly, since an inner scope's restart could not repeat it.
  StreamPosition next(Generator& generator);
  /// What is drawn next repeats what was drawn since the scope began: before every part of the run but the first.
  void restart();

  /// For groups of examples that take turns: each starts at the positions the first started at,
  /// and what follows them continues at the furthest.
  Positions positions() const;
  void set_positions(const Positions& positions);
  static Positions furthest(const Positions& a, const Positions& b);

 private:
  friend StreamBranch;
  struct Stream {
    const Generator* generator;
    std::uint64_t state;  // the generator's `state()` that this stream answers to
    std::uint64_t seed, position;
    Tensor place;  // in a recorded program, what it begins at
  };
  Stream& stream_of(Generator& generator);

  StreamScope& root_;           // the outermost scope, which owns the streams
  StreamScope* open_;           // of the root: the innermost scope
  StreamScope* const resumed_;  // the one that is open again when this ends
  std::vector<Stream> streams_;
  std::uint64_t branches_ = 0;            // of the root: conditionals and loops so far, in the innermost one
  std::vector<StreamBranch*> inside_of_;  // of the root: those that run now, the outermost first
  Positions start_, furthest_;
};

/// One conditional or loop inside a run. It draws from streams of its own, derived from its number among those of the
/// run or of the one around it, and its end leaves the streams around it as they were: so an example's draws, inside
/// and after it, depend neither on the branch that other examples take nor on how many steps they need.
class StreamBranch {
 public:
  /// Requires: `scope` outlives this.
  explicit StreamBranch(StreamScope& scope);
  StreamBranch(const StreamBranch&) = delete;
  ~StreamBranch();

 private:
  friend StreamScope;
  /// The stream that takes the place of this one.
  StreamScope::Stream derived(StreamScope::Stream stream) const;

  StreamScope& root_;
  const std::uint64_t number_;
  std::vector<StreamScope::Stream> around_;
};

}  // namespace ricci
