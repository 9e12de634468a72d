// The chain of sources that a draw asks.
#include "interpreters/replay.h"

#include <algorithm>

#include "interpreters/batch.h"
#include "interpreters/places.h"
#include "interpreters/record.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

/// The innermost recording, if it began inside these streams: what draws in there is a part of what draws from them.
RecordInterpreter* part_of(const StreamScope& streams) {
  RecordInterpreter* const recording = innermost_recording();
  return recording && recording->level > streams.began() ? recording : nullptr;
}

/// Of the innermost recording; 0: there is none.
Level level_of_recording() {
  const Interpreter* const recording = innermost_recording();
  return recording ? recording->level : 0;
}

StreamPosition next(const DrawWanted& draw) { return DrawSource::asked(DrawSource::current(), draw); }

/// The sources that are asked for a draw from these streams, the innermost first.
template <class Is>
bool any_asked(const StreamScope* streams, const Is& is) {
  for (const DrawSource* source = DrawSource::current(); source; source = source->outer()) {
    if (streams && streams->begin_in(*source)) return false;
    if (is(*source)) return true;
  }
  return false;
}

}  // namespace

bool DrawWanted::is_inside(const DrawSource& source) const {
  if (is_outermost) return false;
  const StreamScope* const from = streams ? streams : streams_of(this_thread.innermost);
  return from && from->begin_in(source);
}

StreamPosition DrawWanted::fresh() const {
  if (own) return *own;
  if (is_outermost) return next_position(generator);
  if (is_start && streams) return start_of_streams(*streams, generator);
  StreamScope* const from = streams ? streams : streams_of(this_thread.innermost);
  return from ? next_draw_of(*from, generator) : next_position(generator);
}

StreamPosition next_draw_of(StreamScope& streams, Generator& generator) {
  RecordInterpreter* const part = part_of(streams);
  return part ? part->from_around(generator, streams, false) : streams.next(generator);
}

StreamPosition start_of_streams(StreamScope& streams, Generator& generator) {
  RecordInterpreter* const part = part_of(streams);
  return part ? part->from_around(generator, streams, true) : streams.start(generator);
}

/// A source that began inside a recording is skipped while that recording runs code outside of itself.
DrawSource* DrawSource::asked_here(DrawSource* source) {
  while (source && source->recording_ > current_level()) source = source->outer_;
  return source && level_of_recording() <= source->began_ ? source : nullptr;
}

StreamPosition next_draw(Generator& generator, StreamScope* streams) { return next({generator, streams}); }

StreamPosition next_inside(DrawSource& source, Generator& generator, StreamScope* around) {
  return DrawSource::asked(&source, {.generator = generator, .streams = around, .is_outermost = !around});
}

StreamPosition start_inside(DrawSource& source, Generator& generator, StreamScope& around) {
  return DrawSource::asked(&source, {.generator = generator, .streams = &around, .is_start = true});
}

StreamPosition next_draw_from(Generator& generator, const StreamPosition& own) {
  return next({.generator = generator, .streams = nullptr, .own = &own});
}

StreamPosition start_of_draws(Generator& generator, StreamScope* streams) { return next({generator, streams, true}); }

DrawSource* source_of_twice(const StreamScope* streams) {
  const auto is_twice = [](const DrawSource& source) { return source.noted() != nullptr; };
  return any_asked(streams, is_twice) ? DrawSource::current() : nullptr;
}

DrawSource* source_of_run(const StreamScope* outer, bool passes_on) {
  if (outer && outer->serve_runs(passes_on)) return nullptr;
  const auto had_others = [&](const DrawSource& source) {
    const Draws* const noted = source.noted();
    return noted && (passes_on ? noted->served.same : noted->served.each);
  };
  return any_asked(outer, had_others) ? nullptr : source_of_twice(outer);
}

bool draws_are_repeated(const StreamScope* streams) {
  return any_asked(streams, [](const DrawSource& source) { return source.repeats(); });
}

std::vector<std::size_t> counts_of_draws() {
  std::vector<std::size_t> counts;
  const auto count = [&](const DrawSource& source) {
    counts.push_back(source.count());
    return false;
  };
  any_asked(streams_of(this_thread.innermost), count);
  return counts;
}

void set_counts_of_draws(const std::vector<std::size_t>& counts) {
  DrawSource* source = DrawSource::current();
  for (const std::size_t count : counts) {
    source->set_count(count);
    source = source->outer();
  }
}

bool DrawSource::decides_here(const BatchInterpreter& batch) {
  for (const DrawSource* source = this_thread.draws; source; source = source->outer_)
    if (source->recording_ <= current_level())
      if (const std::optional<bool> has_part = source->has_part(batch)) return *has_part;
  return true;
}

bool has_part_in_draws(const BatchInterpreter& batch) { return DrawSource::decides_here(batch); }

const BatchInterpreter* drawing_vmap_that_knows_none(const Interpreter* i, std::span<const Tensor> values) {
  if (i->kind != ValueKind::batched) return nullptr;
  const auto* vmap = static_cast<const BatchInterpreter*>(i);
  const auto knows = [i](const Tensor& t) { return part_at(*value_of(t), i->level) != nullptr; };
  return has_part_in_draws(*vmap) && std::none_of(values.begin(), values.end(), knows) ? vmap : nullptr;
}

const BatchInterpreter* refuses_draws() {
  const DrawSource* const current = DrawSource::current();
  return current ? current->refuses() : nullptr;
}

DrawSource::DrawSource() : began_(current_level()), recording_(level_of_recording()) {}

DrawSource DrawSource::noting(Draws& into) {
  into = draws_here();
  DrawSource source;
  source.notes_ = &into;
  return source;
}

DrawSource DrawSource::of_runs(const Draws& first) {
  DrawSource source;
  source.first_ = &first;
  return source;
}

DrawSource DrawSource::repeating(const Draws& noted) {
  DrawSource source = of_runs(noted);
  source.again_ = &noted;
  return source;
}

DrawSource DrawSource::refusing(const BatchInterpreter* vmap) {
  DrawSource source;
  source.refused_ = vmap;
  return source;
}

DrawSource DrawSource::of_other_thread() {
  DrawSource source;
  source.of_other_thread_ = true;
  return source;
}

StreamPosition DrawSource::next(const DrawWanted& draw) {
  if (of_other_thread_)
    raise<TransformError>(
        "draw: another thread runs this vmap or checkpoint, and threads have no fixed order in which to draw; draw "
        "before the thread starts, or use a key (rc::Key)");
  if (again_ && given_ < again_->places.size())
    if (const std::optional<StreamPosition>& noted = again_->places[given_++]) return *noted;
  const StreamPosition at = asked(outer(), draw);
  if (notes_) notes_->places.emplace_back(at);
  return at;
}

std::optional<bool> DrawSource::has_part(const BatchInterpreter& batch) const {
  if (!first_) return {};
  return batch.level > began_ || std::find(first_->runs.begin(), first_->runs.end(), batch.run()) != first_->runs.end();
}

const BatchInterpreter* DrawSource::refuses() const {
  if (first_ || refused_) return refused_;
  return outer() ? outer()->refuses() : nullptr;
}

void DrawSource::set_count(std::size_t count) {
  if (notes_) notes_->places.resize(count);
  else if (again_) given_ = count;
}

ServedRuns served_here() {
  const StreamScope* const around = streams_of(this_thread.innermost);
  if (!around) return {};
  return {.each = around->serve_runs(false), .same = around->serve_runs(true)};
}

Draws draws_here() {
  Draws draws{.places = {}, .runs = {}, .served = served_here()};
  for (const Interpreter* i = this_thread.innermost; i; i = i->parent) {
    if (i->kind != ValueKind::batched) continue;
    const auto& batch = static_cast<const BatchInterpreter&>(*i);
    if (has_part_in_draws(batch)) draws.runs.push_back(batch.run());
  }
  return draws;
}

std::shared_ptr<const Draws> note_of_draws(bool draws) {
  return draws ? std::make_shared<const Draws>(draws_here()) : nullptr;
}

}  // namespace ricci
