// How a scope derives its streams, and turns them back.
#include "interpreters/streams.h"

#include <algorithm>
#include <utility>

#include "interpreters/batch.h"
#include "interpreters/places.h"
#include "interpreters/record.h"
#include "interpreters/replay.h"
#include "kernels/random.h"
#include "primitive/interpreter.h"

namespace ricci {

namespace {

std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t position) {
  return kernels::derived_source({seed, position}, 0, kernels::Purpose::scope).seed;
}

/// Positions that no draw and no step reaches: from here on, each stands for a conditional or loop.
constexpr std::uint64_t first_branch = std::uint64_t{1} << 62;

}  // namespace

StreamScope::StreamScope(StreamScope* outer, bool passes_on, Level began, RecordInterpreter* step,
                         std::optional<std::uint64_t> takes_positions, const Special& special)
    : began_(began),
      step_(step),
      takes_positions_(takes_positions.has_value()),
      around_(outer),
      passes_on_(passes_on),
      special_(special),
      number_(takes_positions.value_or(0)),
      root_(outer && !special.source && !takes_positions && outer->serve_runs(passes_on) ? outer->root_ : *this),
      youngest_(youngest_generator()),
      open_(nullptr),
      resumed_(root_.open_),
      start_(positions()) {
  root_.open_ = this;
}
StreamScope::StreamScope(StreamScope* outer, Randomness mode)
    : StreamScope(outer, mode != Randomness::different, current_level(), nullptr, {},
                  {.source = source_of_run(outer, mode != Randomness::different)}) {}
StreamScope::StreamScope(RecordInterpreter& step) : StreamScope(nullptr, false, step.level, &step, {}, {}) {}
StreamScope::StreamScope(StreamScope* outer, Level began, std::uint64_t number)
    : StreamScope(outer, false, began, nullptr, number, {}) {}
StreamScope::StreamScope(StreamScope& alone, DrawSource& source)
    : StreamScope(&alone, false, current_level(), nullptr, {}, {.source = &source, .begins_as_around = true}) {}
StreamScope::StreamScope(StreamScope* outer, OfEndedRun run)
    : StreamScope(outer, true, current_level(), nullptr, {}, {.is_shared = run.different}) {}
/// Allocates nothing: streams that `furthest_` does not know yet are at their furthest.
StreamScope::~StreamScope() {
  std::vector<Stream>& streams = root_.streams_;
  for (std::size_t i = 0; i < std::min(furthest_.draws.size(), streams.size()); ++i)
    streams[i].position = std::max(streams[i].position, furthest_.draws[i]);
  root_.branches_ = std::max(root_.branches_, furthest_.branches);
  root_.open_ = resumed_;
  if (&root_ == this && around_)
    for (const Stream& stream : streams) around_->root_.note_seeded(stream);
}

StreamScope::Stream& StreamScope::stream_of(Generator& generator) {
  if (Stream* const known = known_stream_of(generator)) return *known;
  const bool made_inside = root_.was_made_inside(generator);
  Stream stream{.generator = &generator,
                .identity = generator.identity(),
                .first_identity = generator.identity(),
                .apart = !made_inside && root_.draws_apart(),
                .seed = 0,
                .position = 0,
                .place = {},
                .taken = {}};
  RecordInterpreter* const recording = root_.takes_positions_ && !root_.around_ ? innermost_recording() : nullptr;
  if (recording && !made_inside && recording->knows(generator)) {
    stream.place = recording->begin_streams(generator, root_.number_);
  } else if (root_.special_.begins_as_around && !made_inside) {
    const StreamPosition start = start_inside(*root_.special_.source, generator, *root_.around_);
    stream.seed = start.seed;
    if (start.place.defined()) stream.place = place_of(start);
  } else if (stream.apart) {
    StreamPosition from = start_of_streams(*root_.around_, generator);
    from.position += first_branch + root_.number_;
    begin_at(stream, from);
  } else {
    const StreamPosition from = root_.next_around(generator);
    if (root_.passes_on_ || made_inside) note(stream, from);
    begin_at(stream, from);
  }
  // All that may throw comes first, so that the lists keep in step.
  std::vector<Stream> stages{std::move(stream)};
  for (StreamBranch* branch : root_.inside_of_) stages.push_back(branch->inside(stages.back()));
  for (StreamBranch* branch : root_.inside_of_) branch->around_.reserve(branch->around_.size() + 1);
  root_.streams_.reserve(root_.streams_.size() + 1);
  auto stage = stages.begin();
  for (StreamBranch* branch : root_.inside_of_) branch->around_.push_back(std::move(*stage++));
  return root_.streams_.emplace_back(std::move(*stage));
}

StreamScope::Stream* StreamScope::known_stream_of(const Generator& generator) const {
  const bool apart = !root_.was_made_inside(generator) && root_.draws_apart();
  for (Stream& stream : root_.streams_)
    if (stream.identity == generator.identity() && stream.apart == apart) return &stream;
  return nullptr;
}

bool StreamScope::draws_apart() const {
  return takes_positions_ && around_ && std::ranges::any_of(inside_of_, &StreamBranch::apart_);
}

bool StreamScope::was_made_inside(const Generator& generator) const { return generator.identity() > youngest_; }

StreamPosition StreamScope::next_around(Generator& generator) const {
  if (was_made_inside(generator)) return next_position(generator);
  if (step_) return {.seed = 0, .position = 0, .place = step_->start_of_steps(generator)};
  if (special_.source) return next_inside(*special_.source, generator, around_);
  return around_ ? next_draw_of(*around_, generator) : next_position(generator);
}

/// In a program, the place is derived where it is known: a part of the program takes it from there.
void StreamScope::begin_at(Stream& stream, const StreamPosition& from) {
  stream.position = 0;
  if (!from.place.defined()) {
    stream.seed = derived_seed(from.seed, from.position);
    return;
  }
  Interpreter* const known = find_interpreter(value_of(from.place)->level);
  const AtLevel there(known ? known : this_thread.innermost);
  stream.place = derived_place(place_of(from));
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
  if (stream.passes_on()) return next_passed_on(stream, generator);
  return {stream.seed, stream.position++, stream.place};
}

StreamPosition StreamScope::start(Generator& generator) {
  const Stream& stream = stream_of(generator);
  return {stream.seed, 0, stream.place};
}

std::uint64_t StreamScope::draws_from(const Generator& generator) const {
  const Stream* const stream = known_stream_of(generator);
  return stream ? stream->position : 0;
}

void StreamScope::move_on(Generator& generator, std::uint64_t draws) {
  if (draws == draws_from(generator)) return;
  Stream& stream = stream_of(generator);
  while (stream.passes_on() && stream.count < draws) note(stream, root_.next_around(generator));
  stream.position = draws;
}

void StreamScope::note_seeded(const Stream& inside) {
  for (const bool apart : {false, true}) {
    const auto is_first = [&](const Stream& s) { return s.generator == inside.generator && s.apart == apart; };
    const auto known = std::ranges::find_if(streams_, is_first);
    if (known != streams_.end() && known->identity < inside.identity)
      known->left_as = std::max(known->left_as, inside.identity);
  }
  if (around_) around_->root_.note_seeded(inside);
}

void StreamScope::restart() {
  furthest_ = furthest(furthest_, positions());
  // A generator that was set back within the part is met again as it was left: it stands for its first stream.
  std::vector<Stream>& streams = root_.streams_;
  for (std::size_t i = start_.draws.size(); i < streams.size();) {
    const auto first = std::find_if(
        streams.begin(), streams.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const Stream& s) { return s.generator == streams[i].generator && s.apart == streams[i].apart; });
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
  for (Stream& stream : streams) {
    const std::uint64_t left_as = std::exchange(stream.left_as, 0);
    const auto has_it = [&](const Stream& s) { return s.identity == left_as && s.apart == stream.apart; };
    if (left_as > stream.identity && std::ranges::none_of(streams, has_it)) stream.identity = left_as;
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

StreamBranch::StreamBranch(StreamScope& root, std::uint64_t position, std::uint64_t branches_after,
                           std::uint64_t youngest, bool apart)
    : root_(root),
      position_(position),
      branches_after_(branches_after),
      youngest_(youngest),
      apart_(apart),
      around_(root.streams_) {
  std::vector<StreamScope::Stream> streams;
  for (const StreamScope::Stream& stream : around_) streams.push_back(inside(stream));
  root_.inside_of_.push_back(this);
  root_.streams_ = std::move(streams);
  root_.branches_ = 0;
}
StreamBranch::StreamBranch(StreamScope& scope) : StreamBranch(scope, scope.root_.branches_++, false) {}
StreamBranch::StreamBranch(StreamScope& scope, std::uint64_t number, bool apart)
    : StreamBranch(scope.root_, first_branch + number, scope.root_.branches_, youngest_generator(), apart) {}
/// A generator that one step makes is none of the loop's in the next one either.
StreamBranch::StreamBranch(StreamScope& scope, std::uint64_t step)
    : StreamBranch(scope.root_, step, scope.root_.branches_,
                   scope.root_.inside_of_.empty() ? scope.root_.youngest_ : scope.root_.inside_of_.back()->youngest_,
                   false) {}

/// Allocates nothing. A generator that was set back inside has one stream more, or the state of the last one.
StreamBranch::~StreamBranch() {
  forget_those_made_inside();
  root_.inside_of_.pop_back();
  keep_identities();
  root_.streams_.swap(around_);
  root_.branches_ = branches_after_;
}

/// Requires: nothing has begun inside the step before that still runs.
void StreamBranch::move_to(std::uint64_t step) {
  forget_those_made_inside();
  position_ = step;
  root_.branches_ = 0;
  keep_identities();
  for (std::size_t i = 0; i < around_.size(); ++i) root_.streams_[i] = inside(around_[i]);
}

StreamScope::Stream StreamBranch::inside(StreamScope::Stream stream) const {
  if (stream.first_identity > youngest_) return stream;
  StreamScope::begin_at(stream, {stream.seed, position_, stream.place});
  stream.taken.clear();
  return stream;
}

void StreamBranch::keep_identities() {
  for (std::size_t i = 0; i < around_.size(); ++i) {
    around_[i].identity = root_.streams_[i].identity;
    around_[i].left_as = root_.streams_[i].left_as;
  }
}

void StreamBranch::forget_those_made_inside() {
  for (std::size_t i = root_.streams_.size(); i-- > 0;) {
    if (root_.streams_[i].first_identity <= youngest_) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    const StreamScope::Stream forgotten = std::move(root_.streams_[i]);
    root_.streams_.erase(root_.streams_.begin() + at);
    root_.note_seeded(forgotten);
    for (StreamBranch* branch : root_.inside_of_) branch->around_.erase(branch->around_.begin() + at);
  }
}

OwnStreams::OwnStreams(bool apart) : OwnStreams(around_draws(), apart, {}) {}

OwnStreams::OwnStreams(Repeatable) : around_(around_draws()), outer_(this_thread.own_streams) {
  streams_ = &scope_.emplace(around_.innermost(), Randomness::same);
  innermost_.emplace(this);
  counts_ = counts_of_draws();
}

void OwnStreams::repeat() {
  scope_->restart();
  set_counts_of_draws(counts_);
}

OwnStreams::OwnStreams(const AroundDraws& around, bool apart, std::optional<std::uint64_t> number_in_program)
    : around_(around), outer_(this_thread.own_streams) {
  StreamScope* streams = around.innermost();
  const bool is_repeated = draws_are_repeated(streams);
  DrawSource* const source = source_of_twice(streams);
  const auto number = [&](const BranchCounter& branches) {
    if (!branches.count) return std::uint64_t{0};
    if (!number_in_program) return is_repeated ? *branches.count : (*branches.count)++;
    return *branches.program ? (*branches.program)->here(*number_in_program) : *number_in_program;
  };
  if (streams && (apart || !streams->draws_of_function())) {
    // The rule of a loop records its step inside the streams of a vmap: draws come from those of the step then.
    RecordInterpreter* const recording = innermost_recording();
    if (recording && recording->level > streams->began() && recording->streams_of_step())
      streams = recording->streams_of_step();
    branch_.emplace(*streams, number(streams->branches()), apart);
    streams_ = streams;
  } else {
    const Level outside = around.recording ? around.recording->level : 0;
    streams_ = &scope_.emplace(streams, streams ? streams->began() : outside, number(around.branches()));
  }
  if (source) streams_ = &twice_.emplace(*streams_, *source);
  if (!branch_ || source) innermost_.emplace(this);
}

StreamScope* AroundDraws::innermost() const {
  StreamScope* const own = OwnStreams::inside(*this);
  return own ? own : streams;
}

BranchCounter AroundDraws::branches() const {
  if (StreamScope* const streams = innermost()) return streams->branches();
  return recording ? static_cast<RecordInterpreter*>(recording)->branches() : BranchCounter();
}

NumberedBranches::NumberedBranches(const ProgramBody& of)
    : counter_(this_thread.innermost || this_thread.own_streams ? around_draws().branches() : BranchCounter()),
      before_(counter_.count ? *counter_.count : 0),
      count_(of.branches),
      around_(counter_.count ? std::exchange(*counter_.program, this) : nullptr) {}

NumberedBranches::~NumberedBranches() {
  if (!counter_.count) return;
  *counter_.program = around_;
  *counter_.count = before_ + count_;
}

std::uint64_t NumberedBranches::here(std::uint64_t branch) {
  count_ = std::max(count_, branch + 1);
  return before_ + branch;
}

bool OwnStreams::may_go_apart() const {
  return scope_ || (branch_ && !branch_->apart_ && branch_->root_.takes_positions_ && branch_->root_.around_);
}

void begin_step(std::optional<StreamBranch>& step, std::uint64_t number) {
  if (step) return step->move_to(number);
  StreamScope* const streams = streams_of(this_thread.innermost);
  if (streams && !draws_are_repeated(streams)) step.emplace(*streams, number);
}

Tensor OwnStreams::start(Generator& generator) const { return place_of(start_of_draws(generator, streams_)); }

StreamScope* OwnStreams::inside(const AroundDraws& around) {
  for (OwnStreams* own = this_thread.own_streams; own; own = own->outer_)
    if (own->around_ == around) return own->streams_;
  return nullptr;
}

}  // namespace ricci
