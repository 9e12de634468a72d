// How a scope derives its streams, and turns them back.
#include "interpreters/streams.h"

#include <algorithm>

#include "interpreters/places.h"
#include "kernels/random.h"

namespace ricci {

StreamScope::StreamScope(StreamScope* outer)
    : root_(outer ? outer->root_ : *this), open_(nullptr), resumed_(root_.open_), start_(positions()) {
  root_.open_ = this;
}
/// Allocates nothing: streams that `furthest_` does not know yet are at their furthest.
StreamScope::~StreamScope() {
  std::vector<Stream>& streams = root_.streams_;
  for (std::size_t i = 0; i < std::min(furthest_.size(), streams.size()); ++i)
    streams[i].position = std::max(streams[i].position, furthest_[i]);
  root_.open_ = resumed_;
}

StreamScope::Stream& StreamScope::stream_of(Generator& generator) {
  for (Stream& stream : root_.streams_)
    if (stream.state == generator.state()) return stream;
  const StreamPosition from = next_position(generator);
  Stream stream{.generator = &generator, .state = generator.state(), .seed = 0, .position = 0, .place = {}};
  if (from.place.defined()) stream.place = derived_place(place_of(from));
  else stream.seed = kernels::derived_source({from.seed, from.position}, 0, kernels::Purpose::scope).seed;
  return root_.streams_.emplace_back(std::move(stream));
}

StreamPosition StreamScope::next(Generator& generator) {
  if (root_.open_ != this) return next_position(generator);
  Stream& stream = stream_of(generator);
  return {stream.seed, stream.position++, stream.place};
}

void StreamScope::restart() {
  furthest_ = furthest(furthest_, positions());
  // A generator that was set back within the part is met again as it was left: it stands for its first stream.
  std::vector<Stream>& streams = root_.streams_;
  for (std::size_t i = start_.size(); i < streams.size();) {
    const auto first = std::find_if(streams.begin(), streams.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](const Stream& s) { return s.generator == streams[i].generator; });
    if (first == streams.begin() + static_cast<std::ptrdiff_t>(i)) {
      ++i;
      continue;
    }
    first->state = streams[i].state;
    streams.erase(streams.begin() + static_cast<std::ptrdiff_t>(i));
    furthest_.erase(furthest_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  set_positions(start_);
}

StreamScope::Positions StreamScope::positions() const {
  Positions all;
  for (const Stream& stream : root_.streams_) all.push_back(stream.position);
  return all;
}

void StreamScope::set_positions(const Positions& positions) {
  for (std::size_t i = 0; i < root_.streams_.size(); ++i)
    root_.streams_[i].position = i < positions.size() ? positions[i] : 0;
}

StreamScope::Positions StreamScope::furthest(const Positions& a, const Positions& b) {
  Positions most = a.size() < b.size() ? b : a;
  const Positions& other = a.size() < b.size() ? a : b;
  for (std::size_t i = 0; i < other.size(); ++i) most[i] = std::max(most[i], other[i]);
  return most;
}

}  // namespace ricci
