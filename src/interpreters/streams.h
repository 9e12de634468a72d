// The streams that random operations draw from inside mapped functions, conditionals and loops. Where each example of a
// mapped function draws numbers of its own, its run takes one position of each generator and gives its draws a stream
// derived from that. Where all examples share their draws, a run draws what the function alone would draw, and notes
// the positions. So a part of a run can be run again, and again draw the same, without turning back a generator that
// other threads share. Conditionals, loops and their steps derive streams in their turn, by number: also where they are
// recorded, so that a program draws what the function draws.
// Knows nothing of what is drawn. Start with `StreamScope`; how a function draws again later is in replay.h.
#pragma once

#include <cstdint>
#include <memory>
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

/// The state of the last generator that was made. The default one is made first, so that it is older than any
/// recording.
std::uint64_t youngest_generator();

class DrawSource;
class RecordInterpreter;
class StreamScope;

/// What draws come from: the streams of a run of vmap, or of a step that is recorded. Without these, a recording of a
/// whole program; without that, the generators.
struct AroundDraws {
  StreamScope* streams = nullptr;
  RecordInterpreter* recording = nullptr;
  /// The conditional, loop or step that began last in just these and has not ended; where there is none, `streams`.
  StreamScope*& innermost() const;
  std::uint64_t* branches() const;  // how many conditionals and loops there were in it; null: nobody counts
};
/// Of what runs at `interpreter`.
AroundDraws around_draws(Interpreter* interpreter = this_thread.innermost);

/// One run of a mapped function, a conditional, a loop, or a step of one.
///
/// An inner run shares the streams of the outer run: nested runs draw what one run over all pairs of examples would.
/// The end of the inner run leaves the streams at the furthest position that any part of the run has reached. A run
/// that draws for each example, inside a run that does not, has streams of its own. They are derived from one draw of
/// the outer run, as the streams of a run alone are derived from one draw of the generator.
///
/// A conditional, loop or step has streams of its own, derived from the outer streams by its number among them. Its end
/// leaves the outer streams as they were: so an example's draws, inside and after it, depend neither on the branch
/// that other examples take nor on how many steps they need. Outside a run of vmap, and where a run draws what the
/// function alone would draw, a conditional or loop takes one position of each generator at its first draw instead.
class StreamScope {
 public:
  /// How far the streams are.
  struct Positions {
    std::vector<std::uint64_t> draws;  // that each stream has given
    std::uint64_t branches = 0;        // conditionals and loops so far
  };

  /// A run. Requires, here and below: `outer`, null for none, outlives this.
  StreamScope(StreamScope* outer, Randomness mode);
  /// Of a step that is being recorded: each stream begins at a place that is an input.
  explicit StreamScope(RecordInterpreter& step);
  /// Of a rule that runs in place of a run of vmap which has ended. The rule draws at places that were noted.
  /// `different`: in the ended run each example drew, and runs inside had its streams.
  struct OfEndedRun {
    bool different;
  };
  StreamScope(StreamScope* outer, OfEndedRun run);
  /// A conditional or loop. What is computed twice notes where the streams begin, and begins there again.
  struct Branch {
    bool apart = false;  // it has a number also where a run draws what the function alone would: examples may part
    std::optional<std::uint64_t> number_in_program = {};  // of one that a program holds which runs
  };
  explicit StreamScope(Branch branch, const AroundDraws& around = around_draws());
  /// The step with this number of the innermost loop.
  struct Step {
    std::uint64_t number;
  };
  explicit StreamScope(Step step, const AroundDraws& around = around_draws());
  /// Draws come from the streams around this scope; after `restart` the same numbers are drawn again.
  struct Repeatable {};
  explicit StreamScope(Repeatable, const AroundDraws& around = around_draws());
  StreamScope(const StreamScope&) = delete;
  ~StreamScope();

  /// The place of the next draw from `generator`. A generator that manual_seed has set back since its last draw in this
  /// scope starts a new stream. A draw from an outer scope (a mapped function's own batching rule makes such) ignores
  /// open inner scopes and uses the generator directly, since an inner scope's restart could not repeat it.
  StreamPosition next(Generator& generator);
  /// The level at which its streams begin: a recording further in began inside.
  Level began() const { return root_.kind_.began; }
  /// Whether the next draw is the one that the function alone would make: no run around it draws for each example, and
  /// no conditional or loop that its examples part in.
  bool draws_of_function() const { return root_.kind_.passes_on && !root_.kind_.is_derived; }
  /// Whether they begin inside this source: what is drawn from them is no draw of the source.
  bool begin_in(const DrawSource& source) const {
    return root_.kind_.source == &source || (root_.kind_.around && root_.kind_.around->begin_in(source));
  }
  /// Whether a run inside has these streams. `passes_on`: its examples share their draws.
  bool serve_runs(bool passes_on) const { return root_.kind_.passes_on <= passes_on || root_.kind_.is_shared; }
  /// Whether streams of these scopes are the same, or derived from the same.
  bool shares_streams_with(const StreamScope& other) const { return &base_ == &other.base_; }
  /// Of a conditional or loop: whether it draws from other streams where examples may part.
  bool may_go_apart() const;
  /// What draws inside a conditional or loop come from: this, or the streams that it begins again.
  StreamScope* streams() { return twice_ ? twice_.get() : this; }
  /// Where the stream of `generator` begins in the innermost conditional or loop, or in its current step.
  StreamPosition start(Generator& generator);
  /// How many draws the stream of `generator` has given; 0 where it has none.
  std::uint64_t draws_from(const Generator& generator) const;
  /// It has given as many as that: other processes run other examples.
  void move_on(Generator& generator, std::uint64_t draws);
  /// What is drawn next repeats what was drawn since the scope began: before every part of the run but the first.
  void restart();
  /// Of a step: from now on another one. Requires: nothing has begun inside the step before that still runs.
  void move_to(std::uint64_t step);

  /// For groups of examples that take turns: each starts at the positions the first started at,
  /// and what follows them continues at the furthest.
  Positions positions() const;
  void set_positions(const Positions& positions);
  static Positions furthest(const Positions& a, const Positions& b);

  /// How many conditionals and loops there were in these streams.
  std::uint64_t* branches() { return &root_.branches_; }

 private:
  friend AroundDraws;
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
    bool apart;                    // derived from the number of the base, not from a position: examples part here
    std::uint64_t seed, position;
    Tensor place;              // in a recorded program, what it begins at
    std::vector<Taken> taken;  // if it passes draws on: those so far
    std::uint64_t count = 0;   // of them
    bool passes_on() const { return !taken.empty(); }
    /// Whether a scope inside the other's has this one in its place.
    bool stands_for(const Stream& other) const {
      return first_identity == other.first_identity && apart == other.apart;
    }
  };
  struct Kind {
    StreamScope* around = nullptr;      // what it takes positions from, or is derived from; null: the generator itself
    bool passes_on = false;             // its streams give the positions themselves, and derive none
    Level began = 0;                    // the level at which its streams begin
    RecordInterpreter* step = nullptr;  // the recording of a step, whose inputs streams begin at
    bool takes_positions = false;       // of generators, or of what is around: a conditional or loop
    bool is_derived = false;            // by its number: a conditional, loop or step
    bool apart = false;                 // as in Branch
    std::uint64_t number = 0;           // of a conditional, loop or step, among those around it
    DrawSource* source = nullptr;       // what notes, or has noted, what it takes from around
    bool begins_as_around = false;      // its streams begin where those around it do
    bool is_shared = false;             // by runs inside that draw for each example, though it passes draws on
    std::uint64_t youngest = youngest_generator();  // the youngest generator that was there before
    StreamScope** replaces = nullptr;               // what it is the innermost one of while it lives
    DrawSource* computes_twice = nullptr;           // what notes where a conditional or loop begins, or has noted it
  };
  explicit StreamScope(const Kind& kind);
  /// Of a branch or step: its streams come from those of the innermost scope, whose place it takes.
  static Kind derived_from(StreamScope*& innermost);
  static Kind kind_of(const Branch& branch, const AroundDraws& around);
  static Kind kind_of(const Step& step, const AroundDraws& around);

  Stream& stream_of(Generator& generator) { return root_.own_stream_of(generator, root_.draws_apart(generator)); }
  /// Of a root, as is all below. Null: there is none yet.
  Stream* known_stream_of(const Generator& generator, bool apart) const;
  Stream& own_stream_of(Generator& generator, bool apart);
  /// The generator's own, where it was made inside; else one that begins as this scope's streams do.
  Stream new_stream_of(Generator& generator, bool apart);
  /// Whether draws come from streams that no position tells, as what is drawn depends on the example.
  bool draws_apart(const Generator& generator) const;
  /// The stream begins at its start that is derived from this place.
  static void begin_at(Stream& stream, const StreamPosition& from);
  /// The stream of this scope for a stream of the scope around: derived from that stream, or a copy of it if its
  /// generator was made inside.
  Stream inside(Stream stream) const;
  /// The generator was made or seeded inside a conditional or loop that runs. Its stream passes on the generator's own
  /// positions there; a conditional or loop further in derives streams from the first of them.
  bool was_made_inside(const Generator& generator) const;
  /// Whether draws through this scope come from its streams.
  bool is_open() const;
  /// The next draw from what is around it, or around the conditional or loop that the generator was made in.
  StreamPosition next_around(Generator& generator) const;
  StreamPosition next_passed_on(Stream& stream, Generator& generator) const;
  static void note(Stream& stream, const StreamPosition& at);
  /// A conditional or loop ends that has seeded the generator of this stream.
  void note_seeded(const Stream& inside);
  /// f(scope) for the scopes that it is derived from, the innermost first.
  template <class F>
  void each_around(const F& f) const {
    for (const StreamScope* scope = this; scope->kind_.is_derived; scope = &scope->kind_.around->root_)
      f(scope->kind_.around->root_);
  }
  /// What is around knows the generators as they are here.
  void keep_identities();
  /// The stream with this number, here and in what it is derived from.
  Stream forget(std::size_t number);
  void forget_those_made_inside();

  const Kind kind_;
  StreamScope& root_;           // the outermost scope that shares streams with this one, and owns them
  StreamScope& base_;           // the root that its own is derived from, by conditionals, loops and steps; else its own
  const bool apart_;            // of a root: examples from around the base may part in it
  StreamScope* open_;           // of a root: the innermost scope that shares its streams
  StreamScope* const resumed_;  // the one that is open again when this ends
  StreamScope* innermost_ = this;  // of a run or a step that is recorded (AroundDraws)
  StreamScope* const replaced_;
  std::uint64_t number_;  // of a conditional, loop or step; the current one
  std::vector<Stream> streams_;
  std::uint64_t branches_ = 0;  // of a root: conditionals and loops so far
  Positions start_, furthest_;
  std::unique_ptr<StreamScope> twice_;  // inside what is computed twice: the streams in place of these
};

/// From now on the innermost loop's step with this number runs, which draws from streams of its own. `step`: the one
/// before; none: none ran.
void begin_step(std::optional<StreamScope>& step, std::uint64_t number);

}  // namespace ricci
