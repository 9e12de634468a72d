// Entering the transforms of another thread: each gets a copy of its interpreter on the stack of this one. What they
// write to in common, a tape or the equations of a linearized function, is shared under a lock.
#include "ricci/nest.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "interpreters/replay.h"
#include "primitive/custom.h"
#include "primitive/running.h"
#include "ricci/primitive/raise.h"

namespace ricci {

struct Nest::State {
  std::vector<std::unique_ptr<Interpreter>> transforms;  // copies, outermost first; none enters a stack
  Level no_grad_below;
  int searches_for_nan;
  bool prints_nothing;
  std::optional<DType> default_dtype;  // of a scope
  bool refuses_draws;                  // their places would depend on which thread comes first
  SetAside set_aside;                  // by the rule that the nest was taken in
};

namespace {

/// The transforms that run on this thread, outermost first.
std::vector<Interpreter*> running_here() {
  std::vector<Interpreter*> running;
  for (Interpreter* i = this_thread.innermost; i; i = i->parent)
    if (!i->is_given_up()) running.insert(running.begin(), i);
  return running;
}

}  // namespace

Nest current_nest() {
  Owned<Nest::State> state(new Nest::State{.transforms = {},
                                           .no_grad_below = this_thread.no_grad_below,
                                           .searches_for_nan = this_thread.searches_for_nan,
                                           .prints_nothing = this_thread.lines_printed == ThreadContext::all_lines,
                                           .default_dtype = this_thread.default_dtype,
                                           .refuses_draws = DrawSource::current() != nullptr,
                                           .set_aside = set_aside_here()});
  for (Interpreter* i : running_here()) {
    state->transforms.push_back(i->copy());
    state->refuses_draws |= i->kind == ValueKind::batched;
  }
  return Nest(Shared<const Nest::State>(Owned<const Nest::State>(state.release())));
}

struct Inside::State {
  const Shared<const Nest::State> nest;  // what is set aside there is looked up while this lives
  const AtLevel transforms{this_thread.innermost};
  const With<&ThreadContext::of_the_user> user{this_thread.of_the_user};
  const With<&ThreadContext::no_grad_below> no_grad{this_thread.no_grad_below};
  const With<&ThreadContext::searches_for_nan> searches{std::max(this_thread.searches_for_nan, nest->searches_for_nan)};
  const With<&ThreadContext::lines_printed> printed{nest->prints_nothing ? ThreadContext::all_lines
                                                                         : this_thread.lines_printed};
  const With<&ThreadContext::set_aside_elsewhere> set_aside{this_thread.set_aside_elsewhere};
  const With<&ThreadContext::rule> rule{this_thread.rule};
  const With<&ThreadContext::default_dtype> dtype{nest->default_dtype};
  std::vector<std::unique_ptr<Interpreter>> entered;  // outermost first
  std::optional<DrawSource> no_draws;
  const With<&ThreadContext::draws> draws{this_thread.draws};

  ~State() {
    while (!entered.empty()) entered.pop_back();
  }
};

Inside::Inside(const Nest& nest) : state_(new State{.nest = nest.state_}) {
  const auto& wanted = nest.state_->transforms;
  const std::vector<Interpreter*> here = running_here();
  std::size_t common = 0;
  while (common < std::min(here.size(), wanted.size()) && here[common]->level == wanted[common]->level) ++common;
  for (const auto& transform : wanted)
    if (!is_running(transform->level))
      raise<TransformError>("Inside: " + transform_text(transform.get()) +
                            " of the nest has ended; enter a nest while the function that took it runs");
  if (common < std::min(here.size(), wanted.size()))
    raise<TransformError>("Inside: this thread runs " + transform_text(here[common]) +
                          ", which is no part of the nest; enter the nest outside it");
  const Level last = wanted.empty() ? 0 : wanted.back()->level;
  if (this_thread.no_grad_below <= last)
    this_thread.no_grad_below = nest.state_->no_grad_below;  // else it is one inside the nest's last
  if (const SetAside& set_aside = state_->nest->set_aside; !set_aside.transforms.empty()) {
    this_thread.set_aside_elsewhere = &set_aside;
    this_thread.rule = set_aside.rule.empty() ? nullptr : &set_aside.rule;
  }
  if (common == wanted.size()) return;
  this_thread.of_the_user = nullptr;
  for (std::size_t i = common; i < wanted.size(); ++i) {
    state_->entered.push_back(wanted[i]->copy());
    state_->entered.back()->enter();
  }
  if (nest.state_->refuses_draws) this_thread.draws = &state_->no_draws.emplace(DrawSource::of_other_thread());
}

Inside::~Inside() = default;

}  // namespace ricci
