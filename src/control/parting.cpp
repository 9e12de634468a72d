// The frames of a parting: one for each disagreement that is not settled yet. The group that runs has the lanes of its
// frame's vmap for itself; when the last group of a frame is done, their leaves are joined.
#include "ricci/control/parting.h"

#include <algorithm>
#include <memory>

#include "interpreters/answers.h"
#include "interpreters/lanes.h"
#include "ops/axes.h"
#include "ops/reading.h"
#include "ricci/primitive/raise.h"

namespace ricci::runs {
namespace {

struct Frame {
  BatchInterpreter* batch;
  std::shared_ptr<const LaneParts> parts;
  Tensor question;
  std::vector<Tensor> carried;               // of all groups
  std::vector<std::vector<Tensor>> results;  // of the groups that are done
  StreamScope* streams;                      // every group draws from where the first one began
  StreamScope::Positions first_draw, last_draw;
  std::int64_t steps;  // that all groups had done when they parted

  std::size_t running() const { return results.size(); }
  void note_draws() { last_draw = StreamScope::furthest(last_draw, streams->positions()); }
};

/// The leaves with the rows of the examples that run, though they were computed by more.
std::vector<Tensor> running_rows(const char* name, const tree::Walk& walk) {
  std::vector<Tensor> rows;
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
  parts.groups.push_back(make_lanes(parts.batch->level, parts.batch->lanes, rows));
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

void write(const std::vector<Tensor>& from, const tree::Walk& into) {
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

  void open_scope(BatchInterpreter& batch);
  void close_scopes();
  void enter(const tree::Walk& carried);
  std::vector<Tensor> joined(const Frame& frame) const;
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
    Disagreement parts = disagreement_on(answers);
    if (!parts.batch) return s.answer = only_element<std::int64_t>(s.name, *one_answer(answers), "");
    merge_beyond(max_operands, parts);
    s.frames.push_back({.batch = parts.batch,
                        .parts = make_parts(*parts.batch, parts.batch->lanes, parts.groups),
                        .question = question,
                        .carried = tree::copy_leaves(carried),
                        .results = {},
                        .streams = streams_of(parts.batch),
                        .first_draw = streams_of(parts.batch)->positions(),
                        .last_draw = {},
                        .steps = s.steps});
    s.open_scope(*s.frames.back().batch);
    s.enter(carried);
  }
}

/// The next group of the innermost frame runs from now on, with its share of what is carried.
void Parting::State::enter(const tree::Walk& into) {
  Frame& frame = frames.back();
  steps = frame.steps;
  frame.streams->set_positions(frame.first_draw);
  frame.batch->run_lanes(frame.parts->parts[frame.running()]);
  for (std::size_t i = 0; i < frame.carried.size(); ++i)
    if (frame.carried[i].defined()) *into.leaves[i] = wrap(read(frame.carried[i], name));
}

std::int64_t Parting::step() { return state_->steps++; }

bool Parting::next(const tree::Walk& leaves) {
  State& s = *state_;
  if (s.frames.empty()) return false;
  s.require_fit(leaves);
  for (std::vector<Tensor> results = running_rows(s.name, leaves); !s.frames.empty();) {
    Frame& frame = s.frames.back();
    frame.results.push_back(std::move(results));
    frame.batch->run_lanes(frame.parts->whole);
    frame.note_draws();
    if (frame.running() < frame.parts->parts.size()) {
      const Tensor question = frame.question;
      s.enter(leaves);
      ask(question, leaves);
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

std::vector<Tensor> Parting::State::joined(const Frame& frame) const {
  std::vector<Tensor> results;
  for (std::size_t leaf = 0; leaf < frame.results[0].size(); ++leaf) {
    std::vector<Tensor> parts;
    for (const std::vector<Tensor>& result : frame.results)
      if (result[leaf].defined()) parts.push_back(result[leaf]);
    if (parts.empty()) {
      results.emplace_back();
      continue;
    }
    const Type type = common_type(parts);
    if (parts.size() != frame.parts->parts.size()) raise_undefined_in_one(name, type);
    for (Tensor& part : parts) {
      if (type_of(part).weak && !type.weak) part = to(part, type.dtype);
      require_equal(type, type_of(part));
    }
    results.push_back(join_lanes(frame.parts, parts));
  }
  return results;
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
