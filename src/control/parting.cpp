// The frames of a parting: one for each disagreement that is not settled yet. The group that runs has the lanes of its
// frame's vmap for itself; when the last group of a frame is done, their leaves are joined. Groups that leave a loop
// need no turn of their own: they share a frame, however many leave it.
#include "ricci/control/parting.h"

#include <algorithm>
#include <memory>
#include <span>

#include "interpreters/answers.h"
#include "interpreters/lanes.h"
#include "ops/axes.h"
#include "ops/reading.h"
#include "ricci/primitive/raise.h"

namespace ricci::runs {
namespace {

using Leaves = std::vector<Tensor>;

struct Frame {
  BatchInterpreter* batch;
  LaneSetRef whole;
  std::vector<LaneSetRef> groups;
  std::vector<Leaves> results;  // of the groups that are done, the first ones
  bool is_loop;                 // groups have left it one by one; those that run are none of them yet
  Tensor question;              // undefined in a loop
  Leaves carried;               // of all groups
  StreamScope* streams;         // every group draws from where the first one began
  StreamScope::Positions first_draw, last_draw;
  std::int64_t steps;  // that all groups had done when they parted

  std::size_t running() const { return results.size(); }
  void note_draws() { last_draw = StreamScope::furthest(last_draw, streams->positions()); }
};

/// The leaves with the rows of the examples that run, though they were computed by more.
Leaves running_rows(const char* name, const tree::Walk& walk) {
  Leaves rows;
  for (const Tensor* leaf : walk.leaves) rows.push_back(leaf->defined() ? wrap(read(*leaf, name)) : Tensor());
  return rows;
}

/// As many groups as one operation can join: the last one may be of examples that disagree, who part in their turn.
void merge_beyond(std::size_t most, Disagreement& parts) {
  if (parts.groups.size() <= most) return;
  std::vector<std::int64_t> rows;
  for (std::size_t i = most - 1; i < parts.groups.size(); ++i)
    for (const std::int64_t row : parts.groups[i]->rows.to_vector<std::int64_t>()) rows.push_back(row);
  std::sort(rows.begin(), rows.end());
  parts.groups.resize(most - 1);
  parts.groups.push_back(make_lanes(parts.batch->level, parts.batch->lanes, std::move(rows)));
}

/// What the parts must be: the first one's type, but that of a tensor before that of a number.
Type common_type(const std::vector<Tensor>& parts) {
  for (const Tensor& part : parts)
    if (!type_of(part).weak) return type_of(part);
  return type_of(parts[0]);
}

[[noreturn]] void raise_undefined_in_one(const char* name, const Type& type) {
  raise<ValueError>(std::string(name) + ": one branch returns an undefined Tensor where another returns " +
                    to_string(type) + "; return a value in each");
}

void write(const Leaves& from, const tree::Walk& into) {
  for (std::size_t i = 0; i < from.size(); ++i) *into.leaves[i] = from[i];
}

}  // namespace

void require_same_tree(const char* name, const tree::Structure& one, const tree::Structure& other) {
  if (!(one == other))
    raise<ValueError>(std::string(name) + ": the branches return different trees: " + one.to_string() + " and " +
                      other.to_string() + "; they must agree");
}

void require_same_tree(const char* name, const tree::Walk& one, const tree::Walk& other) {
  require_same_tree(name, tree::Structure(one), tree::Structure(other));
  for (std::size_t i = 0; i < one.leaves.size(); ++i)
    if (one.leaves[i]->defined() != other.leaves[i]->defined())
      raise_undefined_in_one(name, type_of(one.leaves[i]->defined() ? *one.leaves[i] : *other.leaves[i]));
}

struct Parting::State {
  const char* name;
  std::int64_t answer = 0, steps = 0;
  tree::Structure structure;  // of the first group's result
  bool has_structure = false;
  std::vector<Frame> frames;
  std::vector<std::unique_ptr<LaneScope>> scopes;  // one for each vmap whose examples have parted

  Frame& push_frame(BatchInterpreter* batch);
  void open_scope(BatchInterpreter& batch);
  void close_scopes();
  void enter(const tree::Walk& carried);
  void leave(const Disagreement& parts, const tree::Walk& state);
  Leaves joined(const Frame& frame) const;
  Leaves joined(const Frame& frame, const LaneSetRef& whole, std::span<const LaneSetRef> groups,
                std::span<const Leaves> results) const;
  void require_fit(const tree::Walk& result);
  void require_equal(const Type& one, const Type& other) const;
};

Parting::Parting(const char* name) : state_(new State{.name = name}) {}
Parting::~Parting() { state_->close_scopes(); }

void Parting::State::open_scope(BatchInterpreter& batch) {
  for (const auto& scope : scopes)
    if (scope->narrows() == batch.level) return;
  scopes.push_back(std::make_unique<LaneScope>(batch, batch.lanes));
}

/// The innermost first.
void Parting::State::close_scopes() {
  while (!scopes.empty()) scopes.pop_back();
}

std::int64_t Parting::answer() const { return state_->answer; }

std::int64_t Parting::ask(const Tensor& question, const tree::Walk& carried) {
  State& s = *state_;
  for (;;) {
    require_defined(s.name, question, 0);
    const ValueRef seen = read(question, s.name);
    if (seen->type.shape.numel() != 1)
      raise<ValueError>(std::string(s.name) + ": the predicate or index is " + to_string(seen->type) +
                        "; it must have one element");
    const Answers answers = answers_behind(s.name, seen);
    if (!carried.leaves.empty()) {
      if (const Disagreement refusal = refusal_in(answers); refusal.batch) {
        s.leave(refusal, carried);
        continue;
      }
    }
    Disagreement parts = disagreement_on(answers);
    if (!parts.batch) return s.answer = only_element<std::int64_t>(s.name, *one_answer(answers), "");
    merge_beyond(max_operands, parts);
    Frame& frame = s.push_frame(parts.batch);
    frame.question = question;
    frame.carried = tree::copy_leaves(carried);
    frame.groups = std::move(parts.groups);
    s.enter(carried);
  }
}

Frame& Parting::State::push_frame(BatchInterpreter* batch) {
  StreamScope* streams = streams_of(batch);
  frames.push_back({.batch = batch,
                    .whole = batch->lanes,
                    .groups = {},
                    .results = {},
                    .is_loop = false,
                    .question = {},
                    .carried = {},
                    .streams = streams,
                    .first_draw = streams->positions(),
                    .last_draw = {},
                    .steps = steps});
  open_scope(*batch);
  return frames.back();
}

/// The first group of the two has its share of `state` as its result; the second goes on with its own.
void Parting::State::leave(const Disagreement& parts, const tree::Walk& state) {
  const bool has_left_before = !frames.empty() && frames.back().is_loop && frames.back().batch == parts.batch;
  Frame& frame = has_left_before ? frames.back() : push_frame(parts.batch);
  frame.is_loop = true;
  parts.batch->run_lanes(parts.groups[0]);
  frame.groups.push_back(parts.groups[0]);
  frame.results.push_back(running_rows(name, state));
  parts.batch->run_lanes(parts.groups[1]);
  write(running_rows(name, state), state);
}

/// The next group of the innermost frame runs from now on, with its share of what is carried.
void Parting::State::enter(const tree::Walk& into) {
  Frame& frame = frames.back();
  steps = frame.steps;
  frame.streams->set_positions(frame.first_draw);
  frame.batch->run_lanes(frame.groups[frame.running()]);
  for (std::size_t i = 0; i < frame.carried.size(); ++i)
    if (frame.carried[i].defined()) *into.leaves[i] = wrap(read(frame.carried[i], name));
}

std::int64_t Parting::step() { return state_->steps++; }

bool Parting::next(const tree::Walk& leaves) {
  State& s = *state_;
  if (s.frames.empty()) return false;
  s.require_fit(leaves);
  for (Leaves results = running_rows(s.name, leaves); !s.frames.empty();) {
    Frame& frame = s.frames.back();
    if (frame.is_loop) frame.groups.push_back(frame.batch->lanes);
    frame.results.push_back(std::move(results));
    frame.batch->run_lanes(frame.whole);
    frame.note_draws();
    if (frame.running() < frame.groups.size()) {
      const Tensor question = frame.question;
      const bool carries = !frame.carried.empty();
      s.enter(leaves);
      ask(question, carries ? leaves : tree::Walk());
      return true;
    }
    frame.streams->set_positions(frame.last_draw);
    results = s.joined(frame);
    s.frames.pop_back();
    if (s.frames.empty()) s.close_scopes();
    write(results, leaves);
  }
  return false;
}

/// More groups than one operation can join are joined to larger ones first.
Leaves Parting::State::joined(const Frame& frame) const {
  std::vector<LaneSetRef> groups = frame.groups;
  std::vector<Leaves> results = frame.results;
  while (groups.size() > max_operands) {
    std::vector<LaneSetRef> larger;
    std::vector<Leaves> larger_results;
    for (std::size_t i = 0; i < groups.size(); i += max_operands) {
      const std::size_t count = std::min(max_operands, groups.size() - i);
      const std::span some(&groups[i], count);
      larger.push_back(united(frame.batch->level, frame.whole, some));
      larger_results.push_back(joined(frame, larger.back(), some, {&results[i], count}));
    }
    groups = std::move(larger);
    results = std::move(larger_results);
  }
  return joined(frame, frame.whole, groups, results);
}

Leaves Parting::State::joined(const Frame& frame, const LaneSetRef& whole, std::span<const LaneSetRef> groups,
                              std::span<const Leaves> results) const {
  const auto lanes = make_parts(*frame.batch, whole, {groups.begin(), groups.end()});
  Leaves joined;
  for (std::size_t leaf = 0; leaf < results[0].size(); ++leaf) {
    std::vector<Tensor> parts;
    for (const Leaves& result : results)
      if (result[leaf].defined()) parts.push_back(result[leaf]);
    if (parts.empty()) {
      joined.emplace_back();
      continue;
    }
    const Type type = common_type(parts);
    if (parts.size() != groups.size()) raise_undefined_in_one(name, type);
    for (Tensor& part : parts) {
      if (type_of(part).weak && !type.weak) part = to(part, type.dtype);
      require_equal(type, type_of(part));
    }
    joined.push_back(join_lanes(lanes, parts));
  }
  return joined;
}

void Parting::State::require_equal(const Type& one, const Type& other) const {
  if (one.shape == other.shape && one.dtype == other.dtype) return;
  raise<ValueError>(std::string(name) + ": the examples' results differ in type: " + to_string(one) + " and " +
                    to_string(other) + "; every branch must return one shape and dtype");
}

void Parting::State::require_fit(const tree::Walk& result) {
  const tree::Structure found(result);
  if (has_structure) require_same_tree(name, structure, found);
  structure = found;
  has_structure = true;
}

}  // namespace ricci::runs
