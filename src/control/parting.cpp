// The frames of a parting: one for each disagreement that is not settled yet. The group that runs has the lanes of its
// frame's vmap for itself; when the last group of a frame is done, their leaves are joined. Groups that leave a loop
// need no turn of their own: they share a frame, however many leave it.
#include "control/parting.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "control/checks.h"
#include "custom/closure.h"
#include "interpreters/answers.h"
#include "interpreters/batch.h"
#include "interpreters/lanes.h"
#include "interpreters/record.h"
#include "interpreters/replay.h"
#include "interpreters/streams.h"
#include "ops/axes.h"
#include "ops/reading.h"

namespace ricci::runs {
namespace {

using Leaves = std::vector<Tensor>;

/// What a group has of a state or result.
struct Share {
  Leaves leaves;
  tree::CopiedValues values;
};

/// What groups that take turns begin with, each of them.
struct StateOfTurns {
  Tensor question;
  std::optional<Share> state;  // of all groups, in a loop
  StreamScope::Positions first_draw, last_draw;
  std::int64_t steps;  // that all had done when they parted
};

struct Frame {
  BatchInterpreter* batch;
  LaneSetRef whole;  // those that ran when it began, less those that have parted for runs of their own since
  std::vector<LaneSetRef> groups;
  std::vector<Leaves> results;        // of the groups that are done, the first ones
  tree::CopiedValues values;          // in the result of each of them
  std::optional<StateOfTurns> turns;  // none: the groups have left a loop, and those that run are none of them yet
};

/// The leaves with the rows of the examples that run, though they were computed by more.
Leaves running_rows(const char* name, const tree::Walk& walk) {
  Leaves rows;
  for (const Tensor* leaf : walk.leaves) {
    rows.emplace_back();
    if (!leaf->defined()) continue;
    ValueRef value = read(*leaf, name);
    require_running_throughout(*value, name);
    rows.back() = wrap(std::move(value));
  }
  return rows;
}

/// What the parts must be: the first one's type, but that of a tensor before that of a number.
Type common_type(const std::vector<Tensor>& parts) {
  for (const Tensor& part : parts)
    if (!type_of(part).weak) return type_of(part);
  return type_of(parts[0]);
}

void write(const Leaves& from, const tree::Walk& into) {
  for (std::size_t i = 0; i < from.size(); ++i) *into.leaves[i] = from[i];
}

}  // namespace

struct Parting::State {
  const char* name;
  std::int64_t answer = 0, steps = 0;
  bool asks_examples = false;                // each of a vmap, in a conditional
  SmallVector<std::int64_t, 4> given = {};   // the answers of those
  std::optional<tree::Structure> structure;  // of the first group's result
  std::vector<Frame> frames;
  std::vector<std::unique_ptr<LaneScope>> scopes;  // one for each vmap whose examples have parted
  const DrawsFrom draws_from;
  const std::uint64_t first_step;
  std::optional<StreamScope> draws, step;

  void draw_apart(bool parts);
  static StreamScope* streams() { return streams_of(this_thread.innermost); }
  void settle(const Tensor& question, const ErasedTree* state);
  void leave(BatchInterpreter& batch, const Disagreement::Leaving& leaving, const ErasedTree& state);
  void add_result(Frame& frame, Leaves leaves, const ErasedTree& tree) const;
  Frame& push_frame(BatchInterpreter& batch);
  void open_scope(BatchInterpreter& batch);
  void close_scopes();
  void end_group(Leaves results, const ErasedTree& tree);
  void leave_scopes();
  void enter(const ErasedTree& into);
  Leaves joined(const Frame& frame) const;
  Leaves joined(const Frame& frame, const LaneSetRef& whole, std::span<const LaneSetRef> groups,
                std::span<const Leaves> results) const;
  void require_fit(const tree::Walk& result);
};

Parting::Parting(const char* name, DrawsFrom draws, std::uint64_t first_step)
    : state_(new State{.name = name, .draws_from = draws, .first_step = first_step}) {
  const bool may_part = around_draws().streams != nullptr;
  if (!may_part || !State::streams()->draws_of_function()) state_->draw_apart(false);
}
Parting::~Parting() { state_->close_scopes(); }

/// What is drawn from now on is this conditional's or loop's own. `parts`: examples may part. A loop that took
/// positions has a number once it asks a question of each example.
void Parting::State::draw_apart(bool parts) {
  if (draws_from != DrawsFrom::own || (draws && !(parts && draws->may_go_apart()))) return;
  step.reset();
  draws.emplace(StreamScope::Branch{.apart = parts});
}

void Parting::State::open_scope(BatchInterpreter& batch) {
  for (const auto& scope : scopes)
    if (scope->narrows() == batch.level) return;
  scopes.push_back(std::make_unique<LaneScope>(batch, batch.lanes));
}

/// The innermost first.
void Parting::State::close_scopes() {
  while (!scopes.empty()) scopes.pop_back();
}

/// Those who have parted inside do not come back.
void Parting::State::leave_scopes() {
  std::vector<std::pair<BatchInterpreter*, LaneSetRef>> running;
  for (const auto& scope : scopes) running.emplace_back(&scope->batch(), scope->batch().lanes);
  close_scopes();
  for (auto& [batch, lanes] : running) batch->run_lanes(std::move(lanes));
}

/// `tree` holds the values that are no Tensors.
void Parting::State::add_result(Frame& frame, Leaves leaves, const ErasedTree& tree) const {
  const bool is_branch = frame.turns && !frame.turns->state;
  const char* finding = is_branch ? "examples take branches that return" : "examples leave at different steps with";
  if (frame.results.empty()) frame.values = tree::copy_values(tree.values);
  else require_same_values(name, finding, one_for_all_examples, tree, frame.values);
  frame.results.push_back(std::move(leaves));
}

/// The group that runs has these results. Its examples are those that run: some may have parted for a run of their own.
void Parting::State::end_group(Leaves results, const ErasedTree& tree) {
  Frame& frame = frames.back();
  const std::size_t group = frame.results.size();
  if (!frame.turns) frame.groups.emplace_back();
  frame.groups[group] = frame.batch->lanes;
  add_result(frame, std::move(results), tree);
  if (frame.results.size() == frame.groups.size()) {
    std::size_t count = 0;
    for (const LaneSetRef& lanes : frame.groups) count += lanes->numbers.size();
    if (static_cast<std::int64_t>(count) < frame.batch->count(frame.whole).host()) frame.whole = united(frame.groups);
  }
  frame.batch->run_lanes(frame.whole);
}

std::int64_t Parting::answer() const { return state_->answer; }

bool Parting::is_left_out(std::int64_t answer) const {
  const auto& given = state_->given;
  return state_->asks_examples && std::find(given.begin(), given.end(), answer) == given.end();
}

bool may_part(const tree::Walk& state) {
  return std::ranges::any_of(state.leaves, [](const Tensor* leaf) {
    return leaf->defined() && innermost_part(*value_of(*leaf), ValueKind::batched);
  });
}

std::int64_t Parting::choose(const Tensor& question) {
  state_->settle(question, nullptr);
  return state_->answer;
}

bool Parting::goes_on(const Tensor& question, const ErasedTree& state) {
  state_->settle(question, &state);
  return state_->answer != 0;
}

/// Examples that may part draw apart from then on, whether they do part or not: a chunk cannot know of the others.
/// Afterwards the running examples agree on the answer. `state`, null in a conditional, is then theirs.
void Parting::State::settle(const Tensor& question, const ErasedTree* state) {
  for (;;) {
    require_defined(name, question, 0);
    const ValueRef seen = read(question, name);
    require_one_element(name, seen->type);
    const Answers answers = answers_behind(name, seen);
    const StreamScope* const of_all = streams();
    draw_apart(std::ranges::any_of(answers.batches, [&](const BatchInterpreter* batch) {
      return !of_all || !batch->examples.streams || of_all->draws_of_function() ||
             !of_all->shares_streams_with(*batch->examples.streams);
    }));
    const Disagreement differing(answers);
    if (!differing.batch()) {
      answer = only_element<std::int64_t>(name, *one_answer(answers), "");
      if (!state && !answers.batches.empty() && !innermost_recording()) {
        asks_examples = true;
        given.push_back(answer);
      }
      return;
    }
    if (state)
      if (const auto leaving = differing.leaving()) {
        leave(*differing.batch(), *leaving, *state);
        continue;
      }
    Frame& frame = push_frame(*differing.batch());
    frame.groups = differing.groups();
    frame.turns = {
        .question = question, .state = {}, .first_draw = streams()->positions(), .last_draw = {}, .steps = steps};
    if (state) frame.turns->state = {tree::copy_leaves(state->tensors), tree::copy_values(state->values)};
    enter(state ? *state : ErasedTree());
  }
}

/// The examples that are done with a loop have their share of `state` as their result, the others go on with theirs.
void Parting::State::leave(BatchInterpreter& batch, const Disagreement::Leaving& leaving, const ErasedTree& state) {
  const bool is_first = frames.empty() || frames.back().turns || frames.back().batch != &batch;
  Frame& frame = is_first ? push_frame(batch) : frames.back();
  batch.run_lanes(leaving.done);
  frame.groups.push_back(leaving.done);
  add_result(frame, running_rows(name, state.tensors), state);
  batch.run_lanes(leaving.going_on);
  write(running_rows(name, state.tensors), state.tensors);
}

Frame& Parting::State::push_frame(BatchInterpreter& batch) {
  frames.push_back({.batch = &batch, .whole = batch.lanes});
  open_scope(batch);
  return frames.back();
}

/// The next group of the innermost frame runs from now on, with its share of the state. Every group draws from where
/// the first one began.
void Parting::State::enter(const ErasedTree& into) {
  const Frame& frame = frames.back();
  steps = frame.turns->steps;
  streams()->set_positions(frame.turns->first_draw);
  frame.batch->run_lanes(frame.groups[frame.results.size()]);
  if (!frame.turns->state) return;
  const auto& [leaves, values] = *frame.turns->state;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i].defined()) *into.tensors.leaves[i] = wrap(read(leaves[i], name));
  tree::assign_values(into.values, values);
}

std::int64_t Parting::step() {
  const std::int64_t before = state_->steps++;
  if (state_->draws_from != DrawsFrom::segments)
    begin_step(state_->step, state_->first_step + static_cast<std::uint64_t>(before));
  return before;
}

function::Steps Parting::rest() {
  state_->step.reset();
  return {state_->streams(), state_->first_step + static_cast<std::uint64_t>(state_->steps)};
}

bool Parting::next(const ErasedTree& result) {
  State& s = *state_;
  const tree::Walk& leaves = result.tensors;
  if (s.frames.empty()) {
    function::own_cells(s.name, leaves);
    return false;
  }
  s.require_fit(leaves);
  for (Leaves results = running_rows(s.name, leaves); !s.frames.empty();) {
    Frame& frame = s.frames.back();
    s.end_group(std::move(results), result);
    if (frame.turns) frame.turns->last_draw = StreamScope::furthest(frame.turns->last_draw, s.streams()->positions());
    if (frame.results.size() < frame.groups.size()) {
      const Tensor question = frame.turns->question;
      const bool is_loop = frame.turns->state.has_value();
      s.enter(result);
      s.settle(question, is_loop ? &result : nullptr);
      return true;
    }
    if (frame.turns) s.streams()->set_positions(frame.turns->last_draw);
    results = s.joined(frame);
    s.frames.pop_back();
    if (s.frames.empty()) s.leave_scopes();
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
      larger.push_back(united(some));
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
      const Type found = type_of(part);
      if (found.weak && !type.weak && category(found.dtype) <= category(type.dtype)) part = to(part, type.dtype);
      require_same_type(name, type, type_of(part));
    }
    joined.push_back(join_lanes(lanes, parts));
  }
  return joined;
}

void Parting::State::require_fit(const tree::Walk& result) {
  const tree::Structure found(result);
  if (structure) require_same_tree(name, *structure, found);
  else structure = found;
}

}  // namespace ricci::runs
