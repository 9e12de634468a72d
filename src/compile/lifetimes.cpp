// From the last equation to the first: who reads a memory last.
#include "compile/lifetimes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "compile/folding.h"
#include "program/structure.h"
#include "tensor/value.h"

namespace ricci::compiled {
namespace {

/// Whether its first result shows elements of its first operand, or may.
bool shows(const Equation& e) { return e.rules->is_view() || (structure_as<Allowed>(e.op()) && !e.outputs.empty()); }

/// Where a view of a value lies; none: the view has to copy.
std::optional<Lies> seen(const Equation& view, Lies of, Type type) {
  if (!view.rules->is_view()) return of;
  std::byte first{};  // an address to count from
  void* data = &first;
  if (!view.rules->alias(view.parameters.get(), type, of.strides, data)) return std::nullopt;
  of.offset += static_cast<std::byte*>(data) - &first;
  return of;
}

bool replaces_elements(const Equation& e) {
  const auto places = structure_as<AtPlaces>(e.op());
  return e.rules->overwrite || (places && places->what != AtPlaces::What::reads);
}

}  // namespace

bool Lies::is_whole(const Type& type) const { return offset == 0 && is_contiguous(type.shape, strides); }

Lifetimes::Lifetimes(const ProgramBody& body, const Flags& may_overwrite,
                     const std::function<MadeIn(const Equation& e)>& made_in)
    : body_(body), lies_(body.types.size()), made_in_(body.types.size()), last_use_(body.types.size(), 0) {
  follow_views();
  find_last_uses(may_overwrite, made_in);
  follow_views();
}

void Lifetimes::follow_views() {
  for (std::size_t v = 0; v < lies_.size(); ++v)
    lies_[v] = {static_cast<Variable>(v), 0, contiguous_strides(body_.types[v].shape)};
  for (const Equation& e : body_.equations) {
    for (const Variable v : e.outputs)
      if (const auto& operand = made_in_[at(v)]) lies_[at(v)] = lies_[at(*operand)];
    if (!shows(e)) continue;
    if (auto place = seen(e, lies_[at(e.inputs[0])], type(e.inputs[0]))) lies_[at(e.outputs[0])] = *std::move(place);
  }
}

bool Lifetimes::is_read_by_another(const Equation& e, std::size_t operand) const {
  const Variable memory = lies(e.inputs[operand]).in;
  return std::ranges::count_if(e.inputs, [&](Variable v) { return lies(v).in == memory; }) > 1;
}

void Lifetimes::find_last_uses(const Flags& may_overwrite,
                               const std::function<MadeIn(const Equation& e)>& of_programs) {
  std::vector<bool> is_own(body_.types.size(), false);
  for (std::size_t i = 0; i < body_.inputs.size(); ++i) is_own[at(body_.inputs[i])] = may_overwrite[i];
  for (const Equation& e : body_.equations)
    for (const Variable v : e.outputs) is_own[at(v)] = !gives_constants(e);
  const auto use = [&](Variable v, std::size_t at_equation) {
    std::size_t& last = last_use_[at(lies(v).in)];
    last = std::max(last, at_equation);
  };
  for (const Variable v : body_.outputs) use(v, body_.equations.size());
  for (std::size_t i = body_.equations.size(); i-- > 0;) {
    const Equation& e = body_.equations[i];
    const MadeIn operands = replaces_elements(e) ? MadeIn{0} : of_programs(e);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k]) continue;
      const Variable operand = e.inputs[*operands[k]], memory = lies(operand).in, result = e.outputs[k];
      const bool is_last = last_use_[at(memory)] <= i && !is_read_by_another(e, *operands[k]);
      if (!is_last || !is_own[at(memory)] || overlaps_itself(type(operand).shape, lies(operand).strides)) continue;
      made_in_[at(result)] = operand;
      use(operand, last_use_[at(result)]);
    }
    for (const Variable v : e.outputs) use(v, i);  // read by none
    for (const Variable v : e.inputs) use(v, i);
    // Where a view has to copy, it shows a copy of its operand, which takes the operand's place.
    if (shows(e)) use(e.inputs[0], last_use_[at(lies(e.outputs[0]).in)]);
  }
  const std::vector<std::size_t> of_memory = last_use_;
  for (std::size_t v = 0; v < last_use_.size(); ++v) last_use_[v] = of_memory[at(lies_[v].in)];
}

std::optional<std::size_t> Lifetimes::replaced_by(std::size_t k) const {
  const Lies& own = lies(body_.outputs[k]);
  const auto input = std::ranges::find(body_.inputs, own.in);
  const auto lies_there = [&](Variable v) { return lies(v).in == own.in; };
  if (input == body_.inputs.end() || !own.is_whole(type(body_.outputs[k]))) return std::nullopt;
  if (std::ranges::count_if(body_.outputs, lies_there) > 1) return std::nullopt;
  return static_cast<std::size_t>(input - body_.inputs.begin());
}

}  // namespace ricci::compiled
