// How a scope derives its streams, and turns them back.
#include "interpreters/streams.h"

#include <algorithm>

#include "interpreters/places.h"
#include "kernels/random.h"
#include "primitive/interpreter.h"

namespace ricci {

namespace {

std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t position) {
  return kernels::derived_source({seed, position}, 0, kernels::Purpose::scope).seed;
}

/// Positions that no draw reaches: from here on, each stands for a conditional or loop.
constexpr std::uint64_t first_branch = std::uint64_t{1} << 62;

}  // namespace

StreamScope::StreamScope(StreamScope* outer, Randomness mode)
    : began_(current_level()),
      around_(outer),
      passes_on_(mode != Randomness::different),
      root_(outer && outer->root_.passes_on_ <= passes_on_ ? outer->root_ : *this),
      open_(nullptr),
      resumed_(root_.open_),
      start_(positions()) {
  root_.open_ = this;
}
/// Allocates nothing: streams that `furthest_` does not know yet are at their furthest.
StreamScope::~StreamScope() {
  std::vector<Stream>& streams = root_.streams_;
  for (std::size_t i = 0; i < std::min(furthest_.draws.size(), streams.size()); ++i)
    streams[i].position = std::max(streams[i].position, furthest_.draws[i]);
  root_.branches_ = std::max(root_.branches_, furthest_.branches);
  root_.open_ = resumed_;
}

StreamScope::Stream& StreamScope::stream_of(Generator& generator) {
  for (Stream& stream : root_.streams_)
    if (stream.identity == generator.identity()) return stream;
  const StreamPosition from = root_.next_around(generator);
  Stream stream{
      .generator = &generator, .identity = generator.identity(), .seed = 0, .position = 0, .place = {}, .taken = {}};
  if (root_.passes_on_) note(stream, from);
  if (from.place.defined()) stream.place = derived_place(place_of(from));
  else stream.seed = derived_seed(from.seed, from.position);
  // All that may throw comes first, so that the lists keep in step.
  std::vector<Stream> stages{std::move(stream)};
  for (StreamBranch* branch : root_.inside_of_) stages.push_back(branch->derived(stages.back()));
  for (StreamBranch* branch : root_.inside_of_) branch->around_.reserve(branch->around_.size() + 1);
  root_.streams_.reserve(root_.streams_.size() + 1);
  auto stage = stages.begin();
  for (StreamBranch* branch : root_.inside_of_) branch->around_.push_back(std::move(*stage++));
  return root_.streams_.emplace_back(std::move(*stage));
}

StreamPosition StreamScope::next_around(Generator& generator) const {
  return around_ ? around_->next(generator) : next_position(generator);
}

void StreamScope::note(Stream& stream, const StreamPosition& at) {
  const bool goes_on = !at.place.defined() && !stream.taken.empty() && !stream.taken.back().at.place.defined() &&
                       stream.taken.back().at.seed == at.seed &&
                       stream.taken.back().at.position + (stream.count - stream.taken.back().number) == at.position;
  if (!goes_on) stream.taken.push_back({stream.count, at});
  ++stream.count;
}

StreamPosition StreamScope::next_passed_on(Stream& stream, Generator& generator) const {
  if (stream.position == stream.count) note(stream, root_.next_around(generator));
  const std::uint64_t number = stream.position++;
  const auto behind = std::upper_bound(stream.taken.begin(), stream.taken.end(), number,
                                       [](std::uint64_t n, const Taken& taken) { return n < taken.number; });
  const Taken& taken = *std::prev(behind);
  return {taken.at.seed, taken.at.position + (number - taken.number), taken.at.place};
}

StreamPosition StreamScope::next(Generator& generator) {
  if (root_.open_ != this) return root_.next_around(generator);
  Stream& stream = stream_of(generator);
  if (draws_of_function()) return next_passed_on(stream, generator);
  return {stream.seed, stream.position++, stream.place};
}

void StreamScope::restart() {
  furthest_ = furthest(furthest_, positions());
  // A generator that was set back within the part is met again as it was left: it stands for its first stream.
  std::vector<Stream>& streams = root_.streams_;
  for (std::size_t i = start_.draws.size(); i < streams.size();) {
    const auto first = std::find_if(streams.begin(), streams.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](const Stream& s) { return s.generator == streams[i].generator; });
    if (first == streams.begin() + static_cast<std::ptrdiff_t>(i)) {
      ++i;
      continue;
    }
    first->identity = streams[i].identity;
    streams.erase(streams.begin() + static_cast<std::ptrdiff_t>(i));
    furthest_.draws.erase(furthest_.draws.begin() + static_cast<std::ptrdiff_t>(i));
    for (StreamBranch* branch : root_.inside_of_)
      branch->around_.erase(branch->around_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  set_positions(start_);
}

StreamScope::Positions StreamScope::positions() const {
  Positions all{.draws = {}, .branches = root_.branches_};
  for (const Stream& stream : root_.streams_) all.draws.push_back(stream.position);
  return all;
}

void StreamScope::set_positions(const Positions& positions) {
  for (std::size_t i = 0; i < root_.streams_.size(); ++i)
    root_.streams_[i].position = i < positions.draws.size() ? positions.draws[i] : 0;
  root_.branches_ = positions.branches;
}

StreamScope::Positions StreamScope::furthest(const Positions& a, const Positions& b) {
  Positions most = a.draws.size() < b.draws.size() ? b : a;
  const Positions& other = a.draws.size() < b.draws.size() ? a : b;
  for (std::size_t i = 0; i < other.draws.size(); ++i) most.draws[i] = std::max(most.draws[i], other.draws[i]);
  most.branches = std::max(a.branches, b.branches);
  return most;
}

StreamBranch::StreamBranch(StreamScope& scope) : root_(scope.root_), number_(root_.branches_), around_(root_.streams_) {
  std::vector<StreamScope::Stream> inside;
  for (const StreamScope::Stream& stream : around_) inside.push_back(derived(stream));
  root_.inside_of_.push_back(this);
  root_.streams_ = std::move(inside);
  root_.branches_ = 0;
}

/// Allocates nothing. A generator that was set back inside has one stream more, or the state of the last one.
StreamBranch::~StreamBranch() {
  root_.inside_of_.pop_back();
  for (std::size_t i = 0; i < around_.size(); ++i) around_[i].identity = root_.streams_[i].identity;
  root_.streams_.swap(around_);
  root_.branches_ = number_ + 1;
}

StreamScope::Stream StreamBranch::derived(StreamScope::Stream stream) const {
  const std::uint64_t position = first_branch + number_;
  if (stream.place.defined()) stream.place = derived_place(advanced_place(stream.place, position));
  else stream.seed = derived_seed(stream.seed, position);
  stream.position = 0;
  stream.taken.clear();
  return stream;
}

}  // namespace ricci
