// The chain of sources that a draw asks.
#include "interpreters/replay.h"

#include "interpreters/batch.h"
#include "interpreters/places.h"
#include "interpreters/record.h"

namespace ricci {
namespace {

thread_local constinit DrawSource* source = nullptr;

StreamPosition next_of_streams(Generator& generator) {
  StreamScope* streams = streams_of(innermost);
  return streams ? streams->next(generator) : next_position(generator);
}

}  // namespace

DrawSource* DrawSource::current() { return source && source->recording_ == innermost_recording() ? source : nullptr; }

StreamPosition next_draw(Generator& generator) {
  DrawSource* const current = DrawSource::current();
  return current ? current->next(generator) : next_of_streams(generator);
}

bool draws_are_repeated() {
  const DrawSource* const current = DrawSource::current();
  return current && current->repeats();
}

DrawSource::DrawSource() : outer_(current()), resumed_(source), recording_(innermost_recording()) { source = this; }
DrawSource::~DrawSource() { source = resumed_; }

StreamPosition DrawSource::next_of_outer(Generator& generator) const {
  return outer_ ? outer_->next(generator) : next_of_streams(generator);
}

StreamPosition NotedDraws::next(Generator& generator) { return draws_.emplace_back(next_of_outer(generator)); }

StreamPosition RepeatedDraws::next(Generator& generator) {
  return given_ < draws_.size() ? draws_[given_++] : next_of_outer(generator);
}

}  // namespace ricci
