// The streams that random operations draw from while a mapped function runs. Where each example draws numbers of its
// own, a run takes one position of each generator and gives its draws a stream derived from that. Where all examples
// share their draws, a run draws what the function alone would draw, and notes the positions. So a part of a run can be
// run again, and again draw the same, without turning back a generator that other threads share. Conditionals and loops
// inside a run derive streams in their turn.
// Knows nothing of what is drawn. Start with `StreamScope`; how a function draws again later is in replay.h.
#pragma once

#include <cstdint>
#include <vector>

#include "ricci/dims.h"
#include "ricci/random.h"
#include "ricci/tensor.h"
#include "tensor/value.h"

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
/// Where the examples of a run share their draws but those of a run inside it do not, the run inside has streams of its
/// own, derived from one draw of the run around it, as it would have alone.
class StreamScope {
 public:
  /// How far the streams are.
  struct Positions {
    std::vector<std::uint64_t> draws;  // that each stream has given
    std::uint64_t branches = 0;        // conditionals and loops so far
  };

  /// Requires: `outer`, null for none, outlives this.
  StreamScope(StreamScope* outer, Randomness mode);
  StreamScope(const StreamScope&) = delete;
  ~StreamScope();

  /// The place of the next draw from `generator`. A generator that manual_seed has set back since its last draw in this
  /// scope starts a new stream. A draw from an outer scope (a mapped function's own batching rule makes such) ignores
  /// open inner scopes and uses the generator directly, since an inner scope's restart could not repeat it.
  StreamPosition next(Generator& generator);
  /// The level that the run was called at: a recording further in began inside the run.
  Level began() const { return began_; }
  /// Whether the next draw is the one that the function alone would make: no run around it draws for each example, and
  /// no conditional or loop that its examples part in.
  bool draws_of_function() const { return root_.passes_on_ && root_.inside_of_.empty(); }
  /// What is drawn next repeats what was drawn since the scope began: before every part of the run but the first.
  void restart();

  /// For groups of examples that take turns: each starts at the positions the first started at,
  /// and what follows them continues at the furthest.
  Positions positions() const;
  void set_positions(const Positions& positions);
  static Positions furthest(const Positions& a, const Positions& b);

 private:
  friend StreamBranch;
  /// Draws that a run has taken from what is around it: the `number`th of them, and those up to the next such record,
  /// are at consecutive positions from `at` on.
  struct Taken {
    std::uint64_t number;
    StreamPosition at;
  };
  struct Stream {
    const Generator* generator;
    std::uint64_t identity;  // the generator's `identity()` that this stream answers to
    std::uint64_t seed, position;
    Tensor place;              // in a recorded program, what it begins at
    std::vector<Taken> taken;  // if it passes draws on: those so far
    std::uint64_t count = 0;   // of them
  };
  Stream& stream_of(Generator& generator);
  /// The next draw from what is around the root.
  StreamPosition next_around(Generator& generator) const;
  StreamPosition next_passed_on(Stream& stream, Generator& generator) const;
  static void note(Stream& stream, const StreamPosition& at);

  const Level began_;
  StreamScope* const around_;   // of a root: the scope that it takes positions from; null: the generator itself
  const bool passes_on_;        // a root's streams give the positions themselves, and derive none
  StreamScope& root_;           // the outermost scope that shares streams with this one, and owns them
  StreamScope* open_;           // of the root: the innermost scope
  StreamScope* const resumed_;  // the one that is open again when this ends
  std::vector<Stream> streams_;
  std::uint64_t branches_ = 0;            // of the root: conditionals and loops so far, in the innermost one
  std::vector<StreamBranch*> inside_of_;  // of the root: those that run now, the outermost first
  Positions start_, furthest_;
};

/// A conditional or loop inside a run, in which examples may part. It draws from streams of its own, derived from its
/// number among those of the run or of the one around it, and its end leaves the streams around it as they were: so an
/// example's draws, inside and after it, depend neither on the branch that others take nor on how many steps they need.
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
