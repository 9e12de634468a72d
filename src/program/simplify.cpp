// Simplifying programs: program in, program out. It knows what the rules of operations say, no operation by name. Each
// rule looks at one equation whose operands are simplified already, so that one pass over the equations is enough.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "primitive/interpreter.h"
#include "program/constants.h"
#include "program/program.h"
#include "program/pruning.h"

namespace ricci {
namespace {

std::size_t at(Variable v) { return static_cast<std::size_t>(v); }

/// The same symbols and numbers, not only sizes that happen to be equal in this recording.
bool are_same(const Type& a, const Type& b) {
  const auto is_same = [](Size x, Size y) { return x.raw() == y.raw(); };
  return a.dtype == b.dtype && a.weak == b.weak && std::ranges::equal(a.shape, b.shape, is_same);
}

std::int64_t prime_above(std::int64_t number) {
  const auto is_prime = [](std::int64_t n) {
    for (std::int64_t d = 2; d * d <= n; ++d)
      if (n % d == 0) return false;
    return true;
  };
  while (!is_prime(++number)) {}
  return number;
}

/// Sizes in numbers: as they were recorded, and then twice as larger ones. What holds of all three is no coincidence:
/// each larger size is the recorded one and a prime of its own, so that no two keep their difference or ratio, and no
/// remainder stays what it was.
struct SampleSizes {
  static constexpr int samples = 3;  // number 0 is the recorded one
  const SymbolTable* table = nullptr;  // null: there are no symbols
  std::array<std::vector<Size>, samples - 1> larger;  // of the inputs

  SampleSizes() = default;
  explicit SampleSizes(const ProgramBody& body) : table(body.symbols.get()) {
    std::int64_t prime = 100;
    for (const Variable v : body.inputs)
      for (const Size size : body.types[at(v)].shape)
        for (std::vector<Size>& sizes : larger) sizes.push_back(size.hint() + (prime = prime_above(prime)));
  }
  void put(Size& size, int sample) const {
    if (size.is_symbol())
      size = sample == 0 ? Size(size.hint()) : table->evaluate(size, larger[static_cast<std::size_t>(sample - 1)]);
  }
  Type put(Type type, int sample) const {
    for (Size& size : type.shape) put(size, sample);
    return type;
  }
  /// The parameters of the equation in numbers.
  OwnedParameters put(const Equation& e, int sample) const {
    struct Numbers final : SizeVisitor {
      const SampleSizes& sizes;
      int sample;
      Numbers(const SampleSizes& sizes, int sample) : sizes(sizes), sample(sample) {}
      void visit(Size& size) override { sizes.put(size, sample); }
    } numbers(*this, sample);
    OwnedParameters parameters(e.rules->parameters, e.parameters.get());
    e.rules->parameters.visit_sizes(parameters.mutable_get(), numbers);
    return parameters;
  }
  /// Whether it holds of all; not if an operation that it asks about does not fit its operands.
  template <class Question>
  static bool of_all(const Question& question) try {
    for (int sample = 0; sample < samples; ++sample)
      if (!question(sample)) return false;
    return true;
  } catch (const Error&) { return false; }
};

/// Where elements lie, counted from those of an array in row-major order.
class ElementLayout {
 public:
  ElementLayout(const Type& whole, const SampleSizes& sizes, int sample)
      : type_(sizes.put(whole, sample)),
        strides_(contiguous_strides(type_.shape)),
        data_(reinterpret_cast<void*>(std::uintptr_t{1} << 32)),
        sizes_(&sizes),
        sample_(sample) {}
  /// False where no strides can say how the view lies. Throws what a run would, if the view does not fit.
  bool pass(const Equation& view) {
    const OwnedParameters numbers = sizes_->put(view, sample_);
    types_of({view.rules, numbers.get()}, {type_});
    return view.rules->alias(numbers.get(), type_, strides_, data_);
  }
  /// Where there is no element, places tell nothing.
  bool is_empty() const { return type_.shape.numel() == 0; }
  bool operator==(const ElementLayout& other) const {
    return are_same(type_, other.type_) && std::ranges::equal(strides_, other.strides_) && data_ == other.data_;
  }

 private:
  Type type_;
  Strides strides_;
  void* data_;
  const SampleSizes* sizes_;
  int sample_;
};

Program pruned(ProgramBody body);

/// False if nothing of the operation can be left out. What is left of a program in it may need less in turn.
template <class IsNeeded>
bool keeps_needed_alone(Equation& e, bool may_have_symbols, const IsNeeded& is_needed) {
  Flags wanted;
  for (const Variable v : e.outputs) wanted.push_back(is_needed(v));
  const PruningOf pruning = Facts<PruningOf>::of(*e.rules);
  const std::optional<Pruned> left =
      pruning ? pruning(e.parameters.get(), wanted, e.inputs.size()) : std::optional<Pruned>();
  if (!left) return false;
  struct PrunePrograms final : SizeVisitor {
    void visit(Size&) override {}
    void visit_program(Program& program) override { program = pruned(program.body()); }
  } programs;
  e.parameters = left->parameters;
  e.rules->parameters.visit_sizes(e.parameters.mutable_get(), programs);
  e.inputs = left_of(e.inputs, left->operands);
  e.outputs = left_of(e.outputs, left->results);
  e.has_symbols = may_have_symbols && any_symbol(e.op());
  return true;
}

/// Results that nobody reads are computed no more, where the operation can do without.
Program pruned(ProgramBody body) {
  std::vector<bool> needed(body.types.size());
  const auto is_needed = [&](Variable v) { return needed[at(v)]; };
  for (const Variable v : body.outputs) needed[at(v)] = true;
  for (auto e = body.equations.rbegin(); e != body.equations.rend(); ++e) {
    if (!is_computed(*e, is_needed)) continue;
    while (!std::ranges::all_of(e->outputs, is_needed) && keeps_needed_alone(*e, body.symbols != nullptr, is_needed)) {}
    for (const Variable v : e->inputs) needed[at(v)] = true;
  }
  return with_own_numbers(without_dead_equations(body));
}

Program simplified(const Program& program, const SampleSizes& sizes);

class Simplifier {
 public:
  Simplifier(const ProgramBody& from, const SampleSizes& sizes)
      : sizes_(sizes), to_(from), same_as_(from.types.size()), made_by_(from.types.size()) {
    for (std::size_t v = 0; v < same_as_.size(); ++v) same_as_[v] = static_cast<Variable>(v);
    to_.equations.clear();
    for (const Constant& c : from.constants) merge_constant(c);
    for (const Equation& e : from.equations) add(e);
    for (Variable& v : to_.outputs) v = same_as_[at(v)];
  }
  Program result() const { return pruned(to_); }

 private:
  void simplify_programs_in(Equation& e) const {
    struct SimplifyPrograms final : SizeVisitor {
      const SampleSizes& sizes;
      explicit SimplifyPrograms(const SampleSizes& sizes) : sizes(sizes) {}
      void visit(Size&) override {}
      void visit_program(Program& program) override { program = simplified(program, sizes); }
    } programs(sizes_);
    e.parameters = OwnedParameters(e.rules->parameters, e.parameters.get());
    e.rules->parameters.visit_sizes(e.parameters.mutable_get(), programs);
  }

  const Type& type_of(Variable v) const { return to_.types[at(v)]; }
  /// What gives the variable; null for an input, a constant or a capture.
  const Equation* maker(Variable v) const {
    return made_by_[at(v)] > 0 ? &to_.equations[made_by_[at(v)] - 1] : nullptr;
  }

  /// From here on, what reads v reads the other variable.
  void replace(Variable v, Variable by) {
    same_as_[at(v)] = by;
    if (const VmapsOfAxes::Row vmaps = to_.vmaps.of(v); !vmaps.empty()) to_.vmaps.set(by, to_.vmaps.number_of(vmaps));
  }

  void merge_constant(const Constant& c) {
    const auto [first, is_new] = constants_.try_emplace(bits_of(*c.value), c.variable);
    if (is_new) numbers_[c.variable] = c.value;
    else replace(c.variable, first->second);
  }

  void add(Equation e) {
    for (Variable& v : e.inputs) v = same_as_[at(v)];
    simplify_programs_in(e);
    while (sees_past_view(e)) {}
    sees_one_element(e);
    if (const std::optional<Variable> operand = operand_it_gives(e)) return replace(e.outputs[0], *operand);
    if (is_number_now(e) || is_merged(e)) return;
    to_.equations.push_back(std::move(e));
    for (const Variable v : to_.equations.back().outputs) made_by_[at(v)] = to_.equations.size();
  }

  /// `reshape[(6)] (reshape[(2,3)] x)` is `reshape[(6)] x`. In general: a view of a view is one of what that shows, if
  /// the second view alone gives the same places.
  bool sees_past_view(Equation& e) const {
    const Equation* const shown = e.rules->is_view ? maker(e.inputs[0]) : nullptr;
    if (!shown || !shown->rules->is_view) return false;
    const bool gives_the_same = SampleSizes::of_all([&](int sample) {
      ElementLayout both(type_of(shown->inputs[0]), sizes_, sample), alone = both;
      return both.pass(*shown) && both.pass(e) && !both.is_empty() && alone.pass(e) && both == alone;
    });
    if (!gives_the_same) return false;
    e.inputs[0] = shown->inputs[0];
    return true;
  }

  /// `expand[(4,3)] (zeros[(3)])` is `expand[(4,3)] (zeros[()])`: where all elements are equal, one is enough, and all
  /// that are shown of it take no more memory.
  void sees_one_element(Equation& e) {
    const Equation* const equal = e.rules->is_view ? maker(e.inputs[0]) : nullptr;
    if (!equal || !equal->rules->filling || type_of(e.inputs[0]).shape.empty()) return;
    const Type one{type_of(e.inputs[0]).dtype, {}, type_of(e.inputs[0]).weak};
    const bool gives_the_same = SampleSizes::of_all([&](int sample) {
      const OwnedParameters numbers = sizes_.put(e, sample);
      return are_same(types_of({e.rules, numbers.get()}, {one})[0], sizes_.put(type_of(e.outputs[0]), sample));
    });
    if (!gives_the_same) return;
    to_.types.push_back(one);
    const auto element = static_cast<Variable>(to_.types.size() - 1);
    same_as_.push_back(element);
    made_by_.push_back(0);
    add({.rules = equal->rules,
         .parameters = equal->rules->filling(equal->parameters.get(), {}),
         .inputs = {},
         .outputs = {element}});
    e.inputs[0] = same_as_[at(element)];
  }

  bool shows_all_as_it_is(const Equation& view) const {
    return SampleSizes::of_all([&](int sample) {
      const ElementLayout before(type_of(view.inputs[0]), sizes_, sample);
      ElementLayout after = before;
      return after.pass(view) && before == after;
    });
  }

  /// A view that shows all of its base as it is gives its base; what an operation undoes that undoes itself is given.
  std::optional<Variable> operand_it_gives(const Equation& e) const {
    if (e.inputs.size() != 1 || e.outputs.size() != 1) return std::nullopt;
    if (e.rules->is_view && are_same(type_of(e.inputs[0]), type_of(e.outputs[0])) && shows_all_as_it_is(e))
      return e.inputs[0];
    const Equation* const first = e.rules->undoes_itself ? maker(e.inputs[0]) : nullptr;
    if (!first || !are_same_operation(*first, e)) return std::nullopt;
    return are_same(type_of(first->inputs[0]), type_of(e.outputs[0])) ? std::optional(first->inputs[0]) : std::nullopt;
  }

  /// Not so an operation that has an effect, asks the transforms around it, or may run functions of the user's: that is
  /// computed as often as it was written.
  static bool depends_on_operands_alone(const Equation& e) {
    return e.rules->kind != Kind::custom && e.rules->effect == Effect::no_effect && !e.rules->home;
  }

  /// `mul 2 3` is 6: what is computed from numbers alone, and is a number as C++ has them, is computed here.
  bool is_number_now(const Equation& e) {
    if (!depends_on_operands_alone(e) || any_symbol(e.op()) || e.outputs.size() != 1) return false;
    const Type& type = type_of(e.outputs[0]);
    if (!type.weak || !type.shape.empty()) return false;
    Tensors operands;
    for (const Variable v : e.inputs) {
      const auto number = numbers_.find(v);
      if (number == numbers_.end()) return false;
      operands.push_back(wrap(number->second));
    }
    const AtLevel outside(nullptr);
    ValueRef value;
    try {
      value = value_of(apply_all(e.op(), {operands.data(), operands.size()})[0]);
    } catch (const Error&) { return false; }  // each run throws it
    if (!is_number(*value) || !are_same(value->type, type)) return false;
    to_.constants.push_back({e.outputs[0], value});
    merge_constant(to_.constants.back());
    return true;
  }

  /// Whether an equation that gives the same stands there already, and gives this one's results too.
  bool is_merged(const Equation& e) {
    if (!depends_on_operands_alone(e)) return false;
    std::vector<std::size_t>& alike = equations_[text_of(e, e.inputs)];
    const auto is_same = [&](std::size_t number) { return are_same_operation(to_.equations[number], e); };
    const auto first = std::ranges::find_if(alike, is_same);
    if (first == alike.end()) {
      alike.push_back(to_.equations.size());
      return false;
    }
    const auto& results = to_.equations[*first].outputs;
    for (std::size_t i = 0; i < results.size(); ++i) replace(e.outputs[i], results[i]);
    return true;
  }

  /// Equal sizes print alike, and parameters may print less than they are: both must agree.
  static bool are_same_operation(const Equation& a, const Equation& b) {
    if (a.rules != b.rules || text_of(a, {}) != text_of(b, {})) return false;
    const ParameterRules& parameters = a.rules->parameters;
    return parameters.size == 0 || parameters.equal(a.parameters.get(), b.parameters.get());
  }

  static std::string text_of(const Equation& e, const SmallVector<Variable, 3>& inputs) {
    std::string text = e.rules->name;
    text += '[';
    e.rules->parameters.print(e.parameters.get(), text);
    for (const Variable v : inputs) text += ' ' + std::to_string(v);
    return text;
  }

  const SampleSizes& sizes_;
  ProgramBody to_;
  std::vector<Variable> same_as_;     // by variable: the one that has its value
  std::vector<std::size_t> made_by_;  // by variable: the number of its equation, counted from 1; 0: none
  std::unordered_map<std::string, std::vector<std::size_t>> equations_;  // numbers, by the text of what they compute
  std::map<NumberBits, Variable> constants_;
  std::unordered_map<Variable, ValueRef> numbers_;  // the values of constants
};

Program simplified(const Program& program, const SampleSizes& sizes) {
  return Simplifier(program.body(), sizes).result();
}

}  // namespace

Program Program::simplified() const {
  std::optional<SymbolScope> scope;
  if (body_->symbols) scope.emplace(*body_->symbols);
  return ricci::simplified(*this, body_->symbols ? SampleSizes(*body_) : SampleSizes());
}

}  // namespace ricci
