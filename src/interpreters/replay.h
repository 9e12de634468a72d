// Replays a function's random draws when it is computed again for its derivative. The draws are noted as places in
// streams and given again in that order; no generator is turned back, since other threads may share it. Replays nest,
// and belong to one thread. Knows nothing of what is drawn. Start with `next_draw`.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "interpreters/streams.h"
#include "ricci/primitive.h"
#include "tensor/thread_context.h"
#include "tensor/value.h"

namespace ricci {

class BatchInterpreter;
class DrawSource;
class Interpreter;

/// Which runs of vmap draw from the streams around them. The other runs have streams of their own.
struct ServedRuns {
  bool each = false;  ///< the runs in which each example draws numbers of its own
  bool same = false;  ///< the runs whose examples share their numbers
};
ServedRuns served_here();

/// The draws of one run of a function.
struct Draws {
  std::vector<std::optional<StreamPosition>> places;  // in order; none: that draw is new each time
  std::vector<Level> runs;                            // of vmap, that the function ran under
  ServedRuns served;                                  // where the function ran
};
/// None yet, under the runs of vmap that decide over draws here.
Draws draws_here();

/// The place of the next draw from `generator`: what is drawn again, else the next of the innermost run of vmap, else
/// the generator's own. `streams`: those of a run to ask in place of the innermost one.
StreamPosition next_draw(Generator& generator, StreamScope* streams = nullptr);
/// What streams that begin inside a source take from `around`: the place of the next draw, null: of the generator, or
/// of the program that is recorded; and where they begin.
StreamPosition next_inside(DrawSource& source, Generator& generator, StreamScope* around);
StreamPosition start_inside(DrawSource& source, Generator& generator, StreamScope& around);
/// The same where a part of a program that is recorded makes or seeds the generator, and draws from `own`. It is noted,
/// or drawn again, in the order of all draws.
StreamPosition next_draw_from(Generator& generator, const StreamPosition& own);
/// Where the streams begin that a program of a conditional or loop draws from: what is noted of that, else their start.
/// Null: they have none of their own, and begin at the next draw.
StreamPosition start_of_draws(Generator& generator, StreamScope* streams);

/// The next draw of these streams as a part of a program has it that is recorded inside them; and where they begin.
StreamPosition next_draw_of(StreamScope& streams, Generator& generator);
StreamPosition start_of_streams(StreamScope& streams, Generator& generator);

/// A draw that is asked for, or the start of streams.
struct DrawWanted {
  Generator& generator;
  StreamScope* streams;  // as in `next_draw` and `start_of_draws`
  bool is_start = false;
  bool is_outermost = false;            // of no streams
  const StreamPosition* own = nullptr;  // of a generator that a recording does not know: where it is drawn from
  bool is_inside(const DrawSource& source) const;  // of streams that begin in it
  StreamPosition fresh() const;                    // none that is noted
};

/// The innermost source of this thread, if these streams (null: none) begin outside of a source that notes draws or
/// gives them again; else null.
DrawSource* source_of_twice(const StreamScope* streams);
/// The same for a run of vmap inside `outer`. Null also where the run has, or had the first time, the streams of what
/// is around the source.
DrawSource* source_of_run(const StreamScope* outer, bool passes_on);
/// Whether what is drawn from these streams (null: none) is drawn again, at places that were noted.
bool draws_are_repeated(const StreamScope* streams);

/// How many draws the sources have noted or given again that are asked for the next draw, the innermost first; and back
/// to so many.
std::vector<std::size_t> counts_of_draws();
void set_counts_of_draws(const std::vector<std::size_t>& counts);

/// Whether the mode of this running vmap decides over the draws here. What is computed again draws for the vmaps that
/// it ran under the first time, and for those that it runs itself; the others its pullback was called under have no
/// part.
bool has_part_in_draws(const BatchInterpreter& batch);

/// The interpreter, if it is a vmap whose mode decides over the draws here and whose examples have these values in
/// common: an operation on them does not run under it.
const BatchInterpreter* drawing_vmap_that_knows_none(const Interpreter* i, std::span<const Tensor> values);

/// The vmap that refuses all draws here although what is computed does not run under it; null if none does.
const BatchInterpreter* refuses_draws();

/// Each draw of a thread asks the innermost source of that thread first. A recording that has begun inside the source
/// does not ask it: its draws belong to the runs of the program.
///   const Tensor y = drawing_from(DrawSource::noting(draws), [&] { return f(x); });
class DrawSource {
 public:
  /// The draws are noted. `into` becomes what `draws_here` gives. Requires, here and below: it outlives the source.
  static DrawSource noting(Draws& into);
  /// The vmaps that decide over draws are those that ran the first time, and those that begin.
  static DrawSource of_runs(const Draws& first);
  /// The same, and the first draws are those noted; what is drawn beyond them is new.
  static DrawSource repeating(const Draws& noted);
  /// Draws are errors because of a vmap that what is computed does not run under. Null: nothing more is refused than
  /// before.
  static DrawSource refusing(const BatchInterpreter* vmap);
  /// Of a thread that did not begin the transforms which it runs inside: draws are errors.
  static DrawSource of_other_thread();

  /// The innermost one of this thread; null: there is none, or a recording that has begun inside it runs.
  static DrawSource* current() { return asked_here(this_thread.draws); }
  /// The place of the draw. `source`: the one to ask first; null: there is none.
  static StreamPosition asked(DrawSource* source, const DrawWanted& draw) {
    return source && !draw.is_inside(*source) ? source->next(draw) : draw.fresh();
  }
  /// `has_part_in_draws`. The innermost source that knows the run of vmap decides, also where a recording has begun
  /// inside that source.
  static bool decides_here(const BatchInterpreter& batch);

  /// The draws that it notes, or gives again; null: it does neither.
  const Draws* noted() const { return notes_ ? notes_ : again_; }
  bool repeats() const { return again_ != nullptr; }
  const BatchInterpreter* refuses() const;
  /// How many draws it has noted or given again; and back to so many.
  std::size_t count() const { return notes_ ? notes_->places.size() : given_; }
  void set_count(std::size_t count);
  DrawSource* outer() const { return asked_here(outer_); }

 private:
  DrawSource();
  StreamPosition next(const DrawWanted& draw);
  /// None: it says nothing of that.
  std::optional<bool> has_part(const BatchInterpreter& batch) const;
  /// `source`, or the innermost one around it, that is asked here.
  static DrawSource* asked_here(DrawSource* source);

  Draws* notes_ = nullptr;
  const Draws* first_ = nullptr;  // the vmaps of these decide
  const Draws* again_ = nullptr;
  std::size_t given_ = 0;                      // of those
  const BatchInterpreter* refused_ = nullptr;  // draws under it
  bool of_other_thread_ = false;
  Level began_;      // the level it began at: what is further in began inside it
  Level recording_;  // that it began in; 0: in none
  DrawSource* outer_ = this_thread.draws;
};

/// f(), of which the draws ask this source first.
template <class F>
std::invoke_result_t<F> drawing_from(DrawSource source, const F& f) {
  const With<&ThreadContext::draws> innermost(&source);
  return f();
}

/// What is noted of the draws of an operation of a program: whose they are, as their places are values of the program.
/// Null: it draws nothing.
std::shared_ptr<const Draws> note_of_draws(bool draws);
/// What computes such an operation again. `noted`: the note of its draws.
template <class F>
std::invoke_result_t<F> computed_again(const void* noted, const F& again) {
  return noted ? drawing_from(DrawSource::of_runs(*static_cast<const Draws*>(noted)), again) : again();
}

}  // namespace ricci
