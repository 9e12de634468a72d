// The frames of a parting: one for each disagreement that is not settled yet. The child that runs has the lanes of its
// frame's vmap for itself; when the last child of a frame is done, their leaves are joined.
#include "ricci/control/parting.h"

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
  std::unique_ptr<LaneScope> scope;  // of the group that runs

  std::size_t running() const { return results.size(); }
  void note_draws() { last_draw = StreamScope::furthest(last_draw, streams->positions()); }
};

/// The leaves with the rows of the examples that run, though they were computed by more.
std::vector<Tensor> running_rows(const char* name, const tree::Walk& walk) {
  std::vector<Tensor> rows;
  for (const Tensor* leaf : walk.leaves) rows.push_back(leaf->defined() ? wrap(read(*leaf, name)) : Tensor());
  return rows;
}

void write(const std::vector<Tensor>& from, const tree::Walk& into) {
  for (std::size_t i = 0; i < from.size(); ++i) *into.leaves[i] = from[i];
}

}  // namespace

struct Parting::State {
  const char* name;
  std::int64_t answer = 0;
  tree::Structure structure;  // of the first group's result
  bool has_structure = false;
  std::vector<Frame> frames;

  void enter(const tree::Walk& carried);
  std::vector<Tensor> joined(const Frame& frame) const;
  void require_fit(const tree::Walk& result);
  void require_equal(const Type& one, const Type& other) const;
};

Parting::Parting(const char* name) : state_(new State{.name = name}) {}
Parting::~Parting() {
  while (!state_->frames.empty()) state_->frames.pop_back();  // scopes end innermost first
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
    if (!parts.batch)
      return s.answer =
                 answers.elements->numel() == 0 ? 0 : only_element<std::int64_t>(s.name, *one_answer(answers), "");
    s.frames.push_back({.batch = parts.batch,
                        .parts = make_parts(*parts.batch, parts.batch->lanes, parts.groups),
                        .question = question,
                        .carried = tree::copy_leaves(carried),
                        .results = {},
                        .streams = streams_of(parts.batch),
                        .first_draw = streams_of(parts.batch)->positions(),
                        .last_draw = {},
                        .scope = nullptr});
    s.enter(carried);
  }
}

/// The next group of the innermost frame runs from now on, with its share of what is carried.
void Parting::State::enter(const tree::Walk& into) {
  Frame& frame = frames.back();
  frame.streams->set_positions(frame.first_draw);
  frame.scope = std::make_unique<LaneScope>(*frame.batch, frame.parts->parts[frame.running()]);
  for (std::size_t i = 0; i < frame.carried.size(); ++i)
    if (frame.carried[i].defined()) *into.leaves[i] = wrap(read(frame.carried[i], name));
}

bool Parting::next(const tree::Walk& leaves) {
  State& s = *state_;
  if (s.frames.empty()) return false;
  s.require_fit(leaves);
  for (std::vector<Tensor> results = running_rows(s.name, leaves); !s.frames.empty();) {
    Frame& frame = s.frames.back();
    frame.results.push_back(std::move(results));
    frame.scope.reset();
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
    write(results, leaves);
  }
  return false;
}

std::vector<Tensor> Parting::State::joined(const Frame& frame) const {
  std::vector<Tensor> results;
  for (std::size_t leaf = 0; leaf < frame.results[0].size(); ++leaf) {
    std::vector<Tensor> parts;
    for (const std::vector<Tensor>& result : frame.results) {
      if (!result[leaf].defined()) continue;
      parts.push_back(result[leaf]);
      require_equal(type_of(parts[0]), type_of(parts.back()));
    }
    if (parts.empty()) {
      results.emplace_back();
      continue;
    }
    if (parts.size() != frame.parts->parts.size())
      raise<ValueError>(std::string(name) + ": one branch returns an undefined Tensor where another returns " +
                        to_string(type_of(parts[0])) + "; return a value in each");
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
  if (has_structure && !(found == structure))
    raise<ValueError>(std::string(name) + ": the branches return different trees: " + structure.to_string() + " and " +
                      found.to_string() + "; they must agree");
  structure = found;
  has_structure = true;
}

}  // namespace ricci::runs
