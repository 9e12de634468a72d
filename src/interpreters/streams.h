// The streams that random operations draw from inside mapped functions, conditionals and loops. Where each example of a
// mapped function draws numbers of its own, its run takes one position of each generator and gives its draws a stream
// derived from that. Where all examples share their draws, a run draws what the function alone would draw, and notes
// the positions. So a part of a run can be run again, and again draw the same, without turning back a generator that
// other threads share. Conditionals, loops and their steps derive streams in their turn, by number: also where they are
// recorded, so that a program draws what the function draws.
// Knows nothing of what is drawn. Start with `StreamScope`; how a function draws again later is in replay.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/running.h"
#include "ricci/dims.h"
#include "ricci/random.h"
#include "ricci/tensor.h"
#include "tensor/thread_context.h"
#include "tensor/value.h"

namespace ricci {

/// One draw out of 2^128: which seed, and which position of its stream; in a recorded program, how far it lies behind a
/// place that the program computes (interpreters/places.h).
struct StreamPosition {
  std::uint64_t seed = 0, position = 0;
  Tensor place;  // undefined: seed and position are known
};

struct AroundDraws;
class DrawSource;
class RecordInterpreter;
class StreamBranch;

/// One run of a mapped function, or the outermost conditional or loop. A scope inside another one shares its streams:
/// nested runs draw what one run over all pairs of examples would. Its end leaves them at the furthest position that
/// any of its parts has reached. A run that draws for each example, inside one that does not, has streams of its own,
/// derived from one draw of the run around it, as it would have alone.
class StreamScope {
 public:
  /// How far the streams are.
  struct Positions {
    std::vector<std::uint64_t> draws;  // that each stream has given
    std::uint64_t branches = 0;        // conditionals and loops so far
  };

  /// Requires: `outer`, null for none, outlives this.
  StreamScope(StreamScope* outer, Randomness mode);
  /// Of a step that is being recorded: each stream begins at a place that is an input.
  explicit StreamScope(RecordInterpreter& step);
  /// Of a conditional or loop that takes positions. `began`: the level at which its streams begin. `number`: among
  /// those around it.
  StreamScope(StreamScope* outer, Level began, std::uint64_t number);
  /// Of a conditional or loop inside what is computed twice. Each stream begins where that of `alone` does, which would
  /// be its streams elsewhere: `source` notes the start, or has noted it.
  StreamScope(StreamScope& alone, DrawSource& source);
  /// Of a rule that runs in place of a run of vmap which has ended. The rule draws at places that were noted.
  /// `different`: in the ended run each example drew, and runs inside had its streams.
  struct OfEndedRun {
    bool different;
  };
  StreamScope(StreamScope* outer, OfEndedRun run);
  StreamScope(const StreamScope&) = delete;
  ~StreamScope();

  /// The place of the next draw from `generator`. A generator that manual_seed has set back since its last draw in this
  /// scope starts a new stream. A draw from an outer scope (a mapped function's own batching rule makes such) ignores
  /// open inner scopes and uses the generator directly, since an inner scope's restart could not repeat it.
  StreamPosition next(Generator& generator);
  /// The level at which its streams begin: a recording further in began inside.
  Level began() const { return root_.began_; }
  /// Whether the next draw is the one that the function alone would make: no run around it draws for each example, and
  /// no conditional or loop that its examples part in.
  bool draws_of_function() const { return root_.passes_on_ && root_.inside_of_.empty(); }
  /// Whether they begin inside this source: what is drawn from them is no draw of the source.
  bool begin_in(const DrawSource& source) const {
    return root_.special_.source == &source || (root_.around_ && root_.around_->begin_in(source));
  }
  /// Whether a run inside has these streams. `passes_on`: its examples share their draws.
  bool serve_runs(bool passes_on) const { return root_.passes_on_ <= passes_on || root_.special_.is_shared; }
  /// Whether streams of these scopes are the same.
  bool shares_streams_with(const StreamScope& other) const { return &root_ == &other.root_; }
  /// Where the stream of `generator` begins in the innermost conditional or loop, or in its current step.
  StreamPosition start(Generator& generator);
  /// How many draws the stream of `generator` has given; 0 where it has none.
  std::uint64_t draws_from(const Generator& generator) const;
  /// It has given as many as that: other processes run other examples.
  void move_on(Generator& generator, std::uint64_t draws);
  /// What is drawn next repeats what was drawn since the scope began: before every part of the run but the first.
  void restart();

  /// For groups of examples that take turns: each starts at the positions the first started at,
  /// and what follows them continues at the furthest.
  Positions positions() const;
  void set_positions(const Positions& positions);
  static Positions furthest(const Positions& a, const Positions& b);

 private:
  friend AroundDraws;
  friend StreamBranch;
  friend class OwnStreams;
  /// Draws that a run has taken from what is around it: the `number`th of them, and those up to the next such record,
  /// are at consecutive positions from `at` on.
  struct Taken {
    std::uint64_t number;
    StreamPosition at;
  };
  struct Stream {
    const Generator* generator;
    std::uint64_t identity;        // the generator's `identity()` that this stream answers to
    std::uint64_t first_identity;  // the one that it began for
    std::uint64_t left_as = 0;     // the one that a conditional or loop has given the generator since; 0: none has
    bool apart;                    // derived from the number of the root, not from a position: examples part here
    std::uint64_t seed, position;
    Tensor place;              // in a recorded program, what it begins at
    std::vector<Taken> taken;  // if it passes draws on: those so far
    std::uint64_t count = 0;   // of them
    bool passes_on() const { return !taken.empty(); }
  };
  Stream& stream_of(Generator& generator);
  /// Null: there is none yet.
  Stream* known_stream_of(const Generator& generator) const;
  /// Of a root: draws come from streams that no position tells, as what is drawn depends on the example.
  bool draws_apart() const;
  /// The stream begins at its start that is derived from this place.
  static void begin_at(Stream& stream, const StreamPosition& from);
  /// Of a root: the generator was made or seeded inside a conditional or loop that runs. Its stream passes on the
  /// generator's own positions there; a conditional or loop further in derives streams from the first of them.
  bool was_made_inside(const Generator& generator) const;
  /// Of a root: the next draw from what is around it, or around the conditional or loop that the generator was made in.
  StreamPosition next_around(Generator& generator) const;
  StreamPosition next_passed_on(Stream& stream, Generator& generator) const;
  static void note(Stream& stream, const StreamPosition& at);
  /// Of a root: a conditional or loop ends that has seeded the generator of this stream.
  void note_seeded(const Stream& inside);

  /// What a root may be besides.
  struct Special {
    DrawSource* source = nullptr;   // what notes, or has noted, what it takes from around; null: there is none
    bool begins_as_around = false;  // its streams begin where those around it do
    bool is_shared = false;         // by runs inside that draw for each example, though it passes draws on
  };
  StreamScope(StreamScope* outer, bool passes_on, Level began, RecordInterpreter* step,
              std::optional<std::uint64_t> takes_positions, const Special& special);
  BranchCounter branches() { return {&root_.branches_, &root_.program_}; }
  const Level began_;
  RecordInterpreter* const step_;  // the recording of a step, whose inputs streams begin at; else null
  const bool takes_positions_;     // of generators, or of what is around: a conditional or loop
  StreamScope* const around_;      // of a root: the scope that it takes positions from; null: the generator itself
  const bool passes_on_;           // a root's streams give the positions themselves, and derive none
  const Special special_;
  const std::uint64_t number_;    // of a conditional or loop that takes positions, among those around it
  StreamScope& root_;             // the outermost scope that shares streams with this one, and owns them
  const std::uint64_t youngest_;  // of a root: the identity of the youngest generator that was there before
  StreamScope* open_;             // of the root: the innermost scope
  StreamScope* const resumed_;    // the one that is open again when this ends
  std::vector<Stream> streams_;
  std::uint64_t branches_ = 0;            // of the root: conditionals and loops so far, in the innermost one
  NumberedBranches* program_ = nullptr;   // of the root: the innermost one that runs
  std::vector<StreamBranch*> inside_of_;  // of the root: those that run now, the outermost first
  Positions start_, furthest_;
};

/// A conditional, a loop, or a step of one, inside a scope. It draws from streams of its own, derived from its number
/// among those of the scope or of the one around it, and its end leaves the streams around it as they were: so an
/// example's draws, inside and after it, depend neither on the branch that others take nor on how many steps they need.
class StreamBranch {
 public:
  /// A conditional or loop, the next one of the scope. Requires: `scope` outlives this.
  explicit StreamBranch(StreamScope& scope);
  /// The one with this number, which was counted. `apart`: examples from around the streams may part in it.
  StreamBranch(StreamScope& scope, std::uint64_t number, bool apart);
  /// A step of the innermost loop.
  StreamBranch(StreamScope& scope, std::uint64_t step);
  StreamBranch(const StreamBranch&) = delete;
  ~StreamBranch();
  /// From now on another step.
  void move_to(std::uint64_t step);

 private:
  friend StreamScope;
  friend class OwnStreams;
  StreamBranch(StreamScope& root, std::uint64_t position, std::uint64_t branches_after, std::uint64_t youngest,
               bool apart);
  /// The stream that takes the place of this one: one derived from it, or itself if its generator was made inside.
  StreamScope::Stream inside(StreamScope::Stream stream) const;
  void forget_those_made_inside();
  /// What is around knows the generators as they are left.
  void keep_identities();

  StreamScope& root_;
  std::uint64_t position_;              // that its streams are derived from
  const std::uint64_t branches_after_;  // how many conditionals and loops of what is around come before what follows it
  const std::uint64_t youngest_;        // the identity of the youngest generator that was there before
  const bool apart_;
  std::vector<StreamScope::Stream> around_;
};

/// What conditionals and loops that take positions take them from.
struct AroundDraws {
  StreamScope* streams;    // of the innermost run of vmap, or of a step that is recorded; null: none
  Interpreter* recording;  // without these, the innermost one of a whole program; null: none
  bool operator==(const AroundDraws&) const = default;
  StreamScope* innermost() const;  // of a conditional or loop that takes positions from just these; else `streams`
  BranchCounter branches() const;  // of these
};
/// Of what runs at `interpreter`.
AroundDraws around_draws(Interpreter* interpreter = this_thread.innermost);

/// While it lives, a conditional or loop draws from streams of its own. Outside a run of vmap, and where a run draws
/// what the function alone would draw, it takes one position of each generator at its first draw; elsewhere it has the
/// number that it has in the scope. What is computed twice notes where the streams begin, and begins there again.
class OwnStreams {
 public:
  /// `apart`: it has the number also where a run draws what the function alone would draw, as examples may part.
  explicit OwnStreams(bool apart = false);
  /// Of no conditional or loop: what is drawn while it lives comes from around it, and can be drawn again.
  struct Repeatable {};
  explicit OwnStreams(Repeatable);
  /// Of a program that runs, the one with this number there.
  static OwnStreams of_program(std::uint64_t number) { return {around_draws(), false, number}; }
  /// Whether it draws from other streams where examples may part.
  bool may_go_apart() const;
  /// The streams that its draws come from; null: none are its own.
  StreamScope* streams() const { return streams_; }
  /// Where the stream of `generator` begins: a place.
  Tensor start(Generator& generator) const;
  OwnStreams(const OwnStreams&) = delete;
  /// What is drawn next repeats what was drawn since it began: for each branch of a conditional that is recorded.
  void restart() {
    if (streams_) streams_->set_positions({});
  }
  /// The same. Requires: it is repeatable.
  void repeat();

 private:
  friend AroundDraws;
  /// The innermost one of this thread that takes positions from just these; null: there is none.
  static StreamScope* inside(const AroundDraws& around);
  OwnStreams(const AroundDraws& around, bool apart, std::optional<std::uint64_t> number_in_program);
  const AroundDraws around_;
  StreamScope* streams_ = nullptr;
  std::optional<StreamScope> scope_;    // where it takes positions
  std::optional<StreamBranch> branch_;  // where it has a number
  std::optional<StreamScope> twice_;    // inside what is computed twice: the streams in place of these
  std::vector<std::size_t> counts_;     // where it is repeatable: of the draws that sources had noted or given again
  OwnStreams* const outer_;
  std::optional<With<&ThreadContext::own_streams>> innermost_;
};

/// From now on the innermost loop's step with this number runs, which draws from streams of its own. `step`: the one
/// before; none: none ran.
void begin_step(std::optional<StreamBranch>& step, std::uint64_t number);

}  // namespace ricci
