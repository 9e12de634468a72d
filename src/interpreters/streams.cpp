// How a scope derives its streams, and turns them back.
#include "interpreters/streams.h"

#include <algorithm>
#include <cassert>
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

StreamScope::StreamScope(const Kind& kind)
    : kind_(kind),
      root_(!kind.around || kind.is_derived || kind.takes_positions || kind.source ||
                    !kind.around->serve_runs(kind.passes_on)
                ? *this
                : kind.around->root_),
      base_(kind.is_derived  ? kind.around->base_
            : &root_ == this ? *this
                             : root_.base_),
      apart_(kind.is_derived && (kind.apart || kind.around->root_.apart_)),
      open_(nullptr),
      resumed_(root_.open_),
      replaced_(kind.replaces ? *kind.replaces : nullptr),
      number_(kind.number),
      start_(positions()) {
  if (kind.is_derived)
    for (const Stream& stream : kind.around->root_.streams_) streams_.push_back(inside(stream));
  root_.open_ = this;
  if (kind.replaces) *kind.replaces = this;
}
StreamScope::StreamScope(StreamScope* outer, Randomness mode)
    : StreamScope(Kind{.around = outer,
                       .passes_on = mode != Randomness::different,
                       .began = current_level(),
                       .source = source_of_run(outer, mode != Randomness::different)}) {}
StreamScope::StreamScope(RecordInterpreter& step) : StreamScope(Kind{.began = step.level, .step = &step}) {}
StreamScope::StreamScope(StreamScope* outer, OfEndedRun run)
    : StreamScope(Kind{.around = outer, .passes_on = true, .began = current_level(), .is_shared = run.different}) {}
StreamScope::StreamScope(Branch branch, const AroundDraws& around) : StreamScope(kind_of(branch, around)) {
  if (kind_.computes_twice)
    twice_.reset(new StreamScope(Kind{.around = this,
                                      .began = current_level(),
                                      .source = kind_.computes_twice,
                                      .begins_as_around = true,
                                      .replaces = &around.innermost()}));
}
StreamScope::StreamScope(Step step, const AroundDraws& around) : StreamScope(kind_of(step, around)) {}
StreamScope::StreamScope(Repeatable, const AroundDraws& around)
    : StreamScope(Kind{.around = around.innermost(),
                       .passes_on = true,
                       .began = current_level(),
                       .source = source_of_run(around.innermost(), true),
                       .replaces = &around.innermost()}) {}

StreamScope::Kind StreamScope::derived_from(StreamScope*& innermost) {
  const Kind& around = innermost->root_.kind_;
  return {.around = innermost,
          .passes_on = around.passes_on,
          .began = around.began,
          .is_derived = true,
          .is_shared = around.is_shared,
          .replaces = &innermost};
}

StreamScope::Kind StreamScope::kind_of(const Branch& branch, const AroundDraws& around) {
  StreamScope* const streams = around.innermost();
  DrawSource* const source = source_of_twice(streams);
  const bool is_repeated = draws_are_repeated(streams);
  const auto number = [&](std::uint64_t* counts) {
    if (!counts) return std::uint64_t{0};
    const ProgramRun* const program = ProgramRun::innermost(counts);
    if (branch.number_in_program)
      return program ? program->number_of(*branch.number_in_program) : *branch.number_in_program;
    std::uint64_t& next = ProgramRun::next_of(*counts);
    return is_repeated ? next : next++;
  };
  if (!streams || (!branch.apart && streams->draws_of_function()))
    return {.around = streams,
            .began = streams            ? streams->began()
                     : around.recording ? around.recording->level
                                        : 0,
            .takes_positions = true,
            .number = number(around.branches()),
            .replaces = &around.innermost(),
            .computes_twice = source};
  // The rule of a loop records its step inside the streams of a vmap: draws come from those of the step then.
  RecordInterpreter* const recording = innermost_recording();
  const bool is_in_step = recording && recording->level > streams->began() && recording->streams_of_step();
  StreamScope*& innermost = is_in_step ? AroundDraws{recording->streams_of_step()}.innermost() : around.innermost();
  Kind kind = derived_from(innermost);
  kind.apart = branch.apart;
  kind.number = first_branch + number(innermost->branches());
  kind.computes_twice = source;
  return kind;
}

/// A generator that one step makes is none of the loop's in the next one either.
StreamScope::Kind StreamScope::kind_of(const Step& step, const AroundDraws& around) {
  Kind kind = derived_from(around.innermost());
  kind.number = step.number;
  kind.youngest = kind.around->root_.kind_.youngest;
  return kind;
}

/// Allocates nothing: streams that `furthest_` does not know yet are at their furthest. A generator that was set back
/// inside has one stream more, or the state of the last one.
StreamScope::~StreamScope() {
  twice_.reset();
  if (kind_.replaces) *kind_.replaces = replaced_;
  std::vector<Stream>& streams = root_.streams_;
  for (std::size_t i = 0; i < std::min(furthest_.draws.size(), streams.size()); ++i)
    streams[i].position = std::max(streams[i].position, furthest_.draws[i]);
  std::uint64_t& branches = ProgramRun::next_of(root_.branches_);
  branches = std::max(branches, furthest_.branches);
  root_.open_ = resumed_;
  if (kind_.is_derived) forget_those_made_inside();
  else if (&root_ == this && kind_.around)
    for (const Stream& stream : streams) kind_.around->root_.note_seeded(stream);
}

StreamScope::Stream& StreamScope::own_stream_of(Generator& generator, bool apart) {
  if (Stream* const known = known_stream_of(generator, apart)) return *known;
  return streams_.emplace_back(new_stream_of(generator, apart));
}

StreamScope::Stream StreamScope::new_stream_of(Generator& generator, bool apart) {
  const bool made_inside = was_made_inside(generator);
  if (kind_.is_derived && !made_inside) return inside(kind_.around->root_.own_stream_of(generator, apart));
  Stream stream{.generator = &generator,
                .identity = generator.identity(),
                .first_identity = generator.identity(),
                .apart = apart,
                .seed = 0,
                .position = 0,
                .place = {},
                .taken = {}};
  RecordInterpreter* const recording = kind_.takes_positions && !kind_.around ? innermost_recording() : nullptr;
  if (recording && !made_inside && recording->knows(generator)) {
    stream.place = recording->begin_streams(generator, kind_.number);
  } else if (kind_.begins_as_around && !made_inside) {
    const StreamPosition start = start_inside(*kind_.source, generator, *kind_.around);
    stream.seed = start.seed;
    if (start.place.defined()) stream.place = place_of(start);
  } else if (apart) {
    StreamPosition from = start_of_streams(*kind_.around, generator);
    from.position += first_branch + kind_.number;
    begin_at(stream, from);
  } else {
    const StreamPosition from = base_.next_around(generator);
    if (kind_.passes_on || made_inside) note(stream, from);
    begin_at(stream, from);
  }
  return stream;
}

StreamScope::Stream* StreamScope::known_stream_of(const Generator& generator, bool apart) const {
  for (const Stream& stream : streams_)
    if (stream.identity == generator.identity() && stream.apart == apart) return const_cast<Stream*>(&stream);
  return nullptr;
}

bool StreamScope::draws_apart(const Generator& generator) const {
  return apart_ && base_.kind_.takes_positions && base_.kind_.around && !base_.was_made_inside(generator);
}

bool StreamScope::was_made_inside(const Generator& generator) const { return generator.identity() > kind_.youngest; }

bool StreamScope::is_open() const {
  return root_.open_ == this && (!root_.kind_.is_derived || root_.kind_.around->is_open());
}

StreamPosition StreamScope::next_around(Generator& generator) const {
  if (base_.was_made_inside(generator)) return next_position(generator);
  const Kind& kind = base_.kind_;
  if (kind.step) return {.seed = 0, .position = 0, .place = kind.step->start_of_steps(generator)};
  if (kind.source) return next_inside(*kind.source, generator, kind.around);
  return kind.around ? next_draw_of(*kind.around, generator) : next_position(generator);
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
  if (stream.position == stream.count) note(stream, next_around(generator));
  const std::uint64_t number = stream.position++;
  const auto behind = std::upper_bound(stream.taken.begin(), stream.taken.end(), number,
                                       [](std::uint64_t n, const Taken& taken) { return n < taken.number; });
  const Taken& taken = *std::prev(behind);
  return {taken.at.seed, taken.at.position + (number - taken.number), taken.at.place};
}

StreamPosition StreamScope::next(Generator& generator) {
  if (!is_open()) return next_around(generator);
  Stream& stream = stream_of(generator);
  if (stream.passes_on()) return next_passed_on(stream, generator);
  return {stream.seed, stream.position++, stream.place};
}

StreamPosition StreamScope::start(Generator& generator) {
  const Stream& stream = stream_of(generator);
  return {stream.seed, 0, stream.place};
}

std::uint64_t StreamScope::draws_from(const Generator& generator) const {
  const Stream* const stream = root_.known_stream_of(generator, root_.draws_apart(generator));
  return stream ? stream->position : 0;
}

void StreamScope::move_on(Generator& generator, std::uint64_t draws) {
  if (draws == draws_from(generator)) return;
  Stream& stream = stream_of(generator);
  while (stream.passes_on() && stream.count < draws) note(stream, next_around(generator));
  stream.position = draws;
}

void StreamScope::note_seeded(const Stream& inside) {
  for (const bool apart : {false, true}) {
    const auto is_first = [&](const Stream& s) { return s.generator == inside.generator && s.apart == apart; };
    const auto known = std::ranges::find_if(streams_, is_first);
    if (known != streams_.end() && known->identity < inside.identity)
      known->left_as = std::max(known->left_as, inside.identity);
  }
  if (kind_.around) kind_.around->root_.note_seeded(inside);
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
    root_.forget(i);
    furthest_.draws.erase(furthest_.draws.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (Stream& stream : streams) {
    const std::uint64_t left_as = std::exchange(stream.left_as, 0);
    const auto has_it = [&](const Stream& s) { return s.identity == left_as && s.apart == stream.apart; };
    if (left_as > stream.identity && std::ranges::none_of(streams, has_it)) stream.identity = left_as;
  }
  root_.keep_identities();
  set_positions(start_);
}

StreamScope::Positions StreamScope::positions() const {
  Positions all{.draws = {}, .branches = ProgramRun::next_of(root_.branches_)};
  for (const Stream& stream : root_.streams_) all.draws.push_back(stream.position);
  return all;
}

void StreamScope::set_positions(const Positions& positions) {
  for (std::size_t i = 0; i < root_.streams_.size(); ++i)
    root_.streams_[i].position = i < positions.draws.size() ? positions.draws[i] : 0;
  ProgramRun::next_of(root_.branches_) = positions.branches;
}

StreamScope::Positions StreamScope::furthest(const Positions& a, const Positions& b) {
  Positions most = a.draws.size() < b.draws.size() ? b : a;
  const Positions& other = a.draws.size() < b.draws.size() ? a : b;
  for (std::size_t i = 0; i < other.draws.size(); ++i) most.draws[i] = std::max(most.draws[i], other.draws[i]);
  most.branches = std::max(a.branches, b.branches);
  return most;
}

void StreamScope::move_to(std::uint64_t step) {
  forget_those_made_inside();
  number_ = step;
  branches_ = 0;
  for (Stream& stream : streams_) {
    const std::vector<Stream>& around = kind_.around->root_.streams_;
    const auto known = std::ranges::find_if(around, [&](const Stream& s) { return s.stands_for(stream); });
    assert(known != around.end());
    stream = inside(*known);
  }
}

StreamScope::Stream StreamScope::inside(Stream stream) const {
  if (stream.first_identity > kind_.youngest) return stream;
  begin_at(stream, {stream.seed, number_, stream.place});
  stream.taken.clear();
  return stream;
}

void StreamScope::keep_identities() {
  each_around([&](StreamScope& around) {
    for (const Stream& stream : streams_)
      for (Stream& known : around.streams_)
        if (known.stands_for(stream)) {
          known.identity = stream.identity;
          known.left_as = stream.left_as;
        }
  });
}

StreamScope::Stream StreamScope::forget(std::size_t number) {
  Stream forgotten = std::move(streams_[number]);
  streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(number));
  each_around([&](StreamScope& around) {
    std::erase_if(around.streams_, [&](const Stream& s) { return s.stands_for(forgotten); });
  });
  return forgotten;
}

void StreamScope::forget_those_made_inside() {
  for (std::size_t i = streams_.size(); i-- > 0;)
    if (streams_[i].first_identity > kind_.youngest) note_seeded(forget(i));
}

bool StreamScope::may_go_apart() const {
  if (!kind_.is_derived) return kind_.takes_positions;
  return !kind_.apart && base_.kind_.takes_positions && base_.kind_.around;
}

StreamScope*& AroundDraws::innermost() const {
  return streams ? streams->innermost_ : recording ? recording->innermost_streams() : this_thread.streams;
}

std::uint64_t* AroundDraws::branches() const {
  if (StreamScope* const inside = innermost()) return inside->branches();
  return recording ? recording->branches() : nullptr;
}

ProgramRun::ProgramRun(const ProgramBody& of)
    : counts(this_thread.innermost || this_thread.streams ? around_draws().branches() : nullptr) {
  if (!counts) return;
  behind = &next_of(*counts);
  first = next = *behind;
  *behind += of.branches;
}

std::uint64_t ProgramRun::number_of(std::uint64_t branch) const {
  *behind = std::max(*behind, first + branch + 1);
  return first + branch;
}

const ProgramRun* ProgramRun::innermost(const std::uint64_t* counts) {
  const ProgramRun* run = this_thread.program_run;
  while (run && run->counts != counts) run = run->outer;
  return run;
}

std::uint64_t& ProgramRun::next_of(std::uint64_t& counts) {
  const ProgramRun* const program = innermost(&counts);
  return program ? program->next : counts;
}

void begin_step(std::optional<StreamScope>& step, std::uint64_t number) {
  if (step) return step->move_to(number);
  const AroundDraws around = around_draws();
  if (const StreamScope* const streams = around.innermost(); streams && !draws_are_repeated(streams))
    step.emplace(StreamScope::Step{number}, around);
}

}  // namespace ricci
