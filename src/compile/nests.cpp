// Grouping, and the operation that runs a nest.
#include "compile/nests.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compile/apart.h"
#include "compile/costs.h"
#include "compile/levels.h"
#include "compile/nest.h"
#include "compile/switches.h"
#include "kernels/elementwise.h"
#include "kernels/strided.h"
#include "primitive/interpreter.h"
#include "program/structure.h"
#include "ricci/primitive/formula.h"

namespace ricci::compiled {
namespace {

/// A nest as a parameter.
struct NestParameter {
  std::shared_ptr<const Nest> nest;
  Program apart;  // the same results by equations, for where a kernel has no code
  void print_parameter(std::string& out) const { out += std::to_string(nest->steps()); }
  void walk_parameter(ParameterVisitor& visitor) { visitor.program(apart); }
  bool operator==(const NestParameter& other) const { return nest == other.nest; }
};

struct NestStep {
  using kind = Explicit;
  static constexpr const char* name = "nest";
  static constexpr bool locally_constant = true;  // no rule derives from it
  NestParameter steps;

  Types type(const Types&) const {
    Types types;
    for (const Type& stored : steps.nest->stored) types.push_back(stored);
    for (const SumOfRuns& sum : steps.nest->sums) types.push_back(sum.type);
    return types;
  }
  void eval(Outputs out, Inputs in) const {
    std::vector<Strided> inputs(in.begin(), in.end());
    std::deque<kernels::RowMajorCopy> copies;
    for (Strided& x : inputs)
      if (!kernels::is_contiguous(x)) x = copies.emplace_back(x).view();
    if (!steps.nest->run(inputs, {out.begin(), out.end()})) run_apart(steps.apart, out, inputs);
  }
  /// Elementary functions are taken apart.
  double flops() const {
    double flops = 0;
    for (const Region& region : steps.nest->regions)
      flops += static_cast<double>(region.kernel->steps()) * static_cast<double>(region.ranges.positions());
    return flops;
  }
  Structure structure() const {
    return KernelRun{[](const void* op, const Types&) { return std::optional(erase::as<NestStep>(op).flops()); }};
  }
  BatchedOutputs batch(const Batch&) const { throw TransformError("a program with nests runs outside transforms"); }
};

constexpr std::int64_t few_elements = 64;  // a value of fewer is made by an equation

/// Thrown: a nest of so many equations one behind the other is too long. Two of half its length need this value in
/// memory.
struct StoresToo {
  Variable value;
  int length;
};

/// Nests of one program. Throws CannotSay, StoresToo, and TooLong where nothing is left to be stored.
class Nests {
 public:
  /// `body`: sizes are numbers. `said`, `sums`: by equation, whether it may be said where its result is read, and
  /// whether it may be a sum of a nest. `in_memory`: by variable, whether it is stored though it may be said.
  /// `most_length`: of a nest that is not known to be too long.
  Nests(const ProgramBody& body, const std::vector<bool>& said, const std::vector<bool>& sums,
        const std::vector<bool>& in_memory, int most_length)
      : body_(body),
        said_(said),
        sums_(sums),
        in_memory_(in_memory),
        most_length_(most_length),
        by_variable_(body.types.size(), -1),
        readers_(body.types.size()) {
    for (std::size_t i = 0; i < body_.equations.size(); ++i)
      if (said_[i] && !is_in_memory(i))
        by_variable_[at(body_.equations[i].outputs[0])] = static_cast<std::ptrdiff_t>(i);
    for (const Equation& e : body_.equations)
      for (const Variable v : e.inputs) ++readers_[at(v)];
    for (const Variable v : body_.outputs) ++readers_[at(v)];
    give_levels();
    find_results();
  }

  /// The equations in order; a nest stands in front of the equations of its level. `made`: gets the nests.
  std::vector<Equation> equations(const std::vector<Equation>& original,
                                  std::vector<std::shared_ptr<const Nest>>& made) {
    for (const auto& [of_level, results] : nests_)
      if (const StoresToo half = half_way_to(results); half.value >= 0 && half.length > most_length_) throw half;
    std::vector<Equation> all;
    const int last_level = level_.empty() ? 0 : std::ranges::max(level_);
    for (int level = 0; level <= last_level; ++level) {
      for (const auto& [of_level, results] : nests_)
        if (of_level == level) all.push_back(nest(results, made));
      for (std::size_t i = 0; i < body_.equations.size(); ++i)
        if (is_kept_[i] && level_[i] == level) all.push_back(original[i]);
    }
    return all;
  }

 private:
  bool is_in_memory(std::size_t i) const { return in_memory_[at(body_.equations[i].outputs[0])]; }
  std::int64_t elements(Variable v) const { return body_.types[at(v)].shape.numel().raw(); }

  void give_levels() {
    std::vector<bool> apart;
    for (std::size_t i = 0; i < body_.equations.size(); ++i) apart.push_back(!said_[i] || is_in_memory(i));
    level_ = levels_of(body_, apart);
  }

  /// What others need of values that are said is stored, unless a view or a small equation gives it.
  void find_results() {
    std::vector<bool> needed(body_.types.size());
    for (const Variable v : body_.outputs) needed[at(v)] = true;
    is_kept_.assign(body_.equations.size(), false);
    for (std::size_t i = body_.equations.size(); i-- > 0;) {
      const Equation& e = body_.equations[i];
      const auto is_needed = [&](Variable v) { return needed[at(v)]; };
      if (sums_[i] && is_needed(e.outputs[0])) {
        results_for(level_[i], body_.types[at(e.inputs[0])].shape).sums.push_back(i);
        continue;
      }
      if (said_[i]) {
        const bool is_stored = is_in_memory(i) || is_needed(e.outputs[0]);
        if (!is_stored) continue;
        const bool is_small = elements(e.outputs[0]) <= few_elements;
        if ((!e.rules->is_view() || shows_a_little(e)) && !e.inputs.empty() && !is_small) {
          results_for(level_[i], body_.types[at(e.outputs[0])].shape).stored.push_back(i);
          continue;
        }
      }
      is_kept_[i] = true;
      for (const Variable v : e.inputs) needed[at(v)] = true;
    }
  }
  /// Of a value that is computed for it alone, as the diagonal of a Jacobian.
  bool shows_a_little(const Equation& view) const {
    constexpr std::int64_t times_fewer = 4;
    Variable whole = view.inputs[0];
    if (times_fewer * elements(view.outputs[0]) > elements(whole)) return false;
    for (;;) {
      const std::ptrdiff_t made_by = by_variable_[at(whole)];
      if (made_by < 0 || readers_[at(whole)] != 1) return false;
      const Equation& e = body_.equations[at(made_by)];
      if (!e.rules->is_view()) return true;
      whole = e.inputs[0];
    }
  }
  NestResults& results_for(int level, const Shape& shape) {
    constexpr std::int64_t near = 8;
    for (std::size_t k = 0; k < nests_.size(); ++k) {
      const Shape& other = shapes_[k];
      bool is_near = nests_[k].first == level && other.size() == shape.size();
      for (std::size_t axis = 0; is_near && axis < shape.size(); ++axis)
        is_near = std::abs(shape[axis].raw() - other[axis].raw()) <= std::min(near, shape[axis].raw() / 4);
      if (is_near) return nests_[k].second;
    }
    shapes_.push_back(shape);
    return nests_.emplace_back(level, NestResults{}).second;
  }

  Equation nest(const NestResults& results, std::vector<std::shared_ptr<const Nest>>& made) const {
    auto nest = std::make_shared<const Nest>(made_of(results));
    made.push_back(nest);
    Equation e{.rules = &rules_of<NestStep>, .parameters = {}, .inputs = {}, .outputs = {}};
    for (const std::size_t i : results.stored) e.outputs.push_back(body_.equations[i].outputs[0]);
    for (const std::size_t i : results.sums) e.outputs.push_back(body_.equations[i].outputs[0]);
    Apart apart = equation_by_equation(e.outputs, nest->inputs);
    for (const Variable v : apart.inputs) e.inputs.push_back(v);
    e.parameters = own(NestStep{{std::move(nest), std::move(apart.program)}});
    return e;
  }

  Nest made_of(const NestResults& results) const try {
    return nest_of(body_, by_variable_, results);
  } catch (const TooLong&) {
    const StoresToo half = half_way_to(results);
    if (half.value >= 0) throw half;
    throw;
  }
  /// On the longest way from memory to a result: the value in the middle. -1: there is none.
  StoresToo half_way_to(const NestResults& results) const {
    std::vector<int> length(body_.types.size());  // by variable: equations that compute, since memory
    const auto longest = [&](const Equation& e) {
      return *std::ranges::max_element(e.inputs, {}, [&](Variable v) { return length[at(v)]; });
    };
    for (const Equation& e : body_.equations)
      if (!e.inputs.empty() && by_variable_[at(e.outputs[0])] >= 0)
        length[at(e.outputs[0])] = length[at(longest(e))] + (e.rules->is_view() ? 0 : 1);
    Variable v = -1;
    for (const auto& equations : {results.stored, results.sums})
      for (const std::size_t i : equations) {
        const Variable from = longest(body_.equations[i]);
        if (v < 0 || length[at(from)] > length[at(v)]) v = from;
      }
    const int all = length[at(v)] + 1;
    while (by_variable_[at(v)] >= 0) {
      const Equation& e = body_.equations[at(by_variable_[at(v)])];
      if (e.inputs.empty()) break;
      if (length[at(v)] <= all / 2 && !e.rules->is_view() && elements(v) > few_elements) return {v, all};
      v = longest(e);
    }
    return {-1, all};
  }

  /// What gives `outputs` without the nest. Its inputs are the nest's, and behind them those that only equations read:
  /// of `cat({a, b})` cut to the part that is b, a nest reads b alone.
  Apart equation_by_equation(std::span<const Variable> outputs, std::span<const Variable> inputs) const {
    return equations_between(body_, inputs, outputs, [&](const Equation& e) {
      const Variable y = e.outputs[0];
      return by_variable_[at(y)] >= 0 || std::ranges::find(outputs, y) != outputs.end();
    });
  }

  const ProgramBody& body_;
  const std::vector<bool>&said_, &sums_, &in_memory_;
  const int most_length_;
  SaidBy by_variable_;
  std::vector<int> readers_;  // by variable
  std::vector<int> level_;    // by equation
  std::vector<bool> is_kept_;
  std::vector<std::pair<int, NestResults>> nests_;  // by level
  std::vector<Shape> shapes_;                       // of their results
};

/// Words that take as long as reading and writing an element once more.
bool is_long(const Equation& e) {
  if (e.rules->kind != Kind::elementwise || !e.rules->formula()) return false;
  const Formula formula = e.rules->formula()(e.parameters.get());
  return formula.steps.size() > 12 || std::ranges::any_of(formula.steps, is_elementary);
}

/// Values that take long and are computed several times for one index, the last ones first. One that is stored may
/// spare the others before it: so long as there is time for that, `most` is one.
std::vector<Variable> to_be_stored(const ProgramBody& body, const std::vector<std::shared_ptr<const Nest>>& nests,
                                   const std::vector<bool>& in_memory, std::size_t most) {
  std::vector<Variable> stored;
  for (std::size_t i = body.equations.size(); i-- > 0 && stored.size() < most;) {
    const auto computes_often = [&](const auto& nest) { return nest->most_times[i] > 1; };
    if (!is_long(body.equations[i]) || in_memory[at(body.equations[i].outputs[0])]) continue;
    if (std::ranges::any_of(nests, computes_often)) stored.push_back(body.equations[i].outputs[0]);
  }
  return stored;
}

double calls_of_kernels(const std::vector<std::shared_ptr<const Nest>>& nests) {
  double calls = 0;
  for (const std::shared_ptr<const Nest>& nest : nests)
    for (const Region& region : nest->regions) calls += static_cast<double>(region.calls());
  return calls;
}

}  // namespace

std::optional<WithNests> with_nests_at(const std::shared_ptr<const CallSizes>& sizes, const Program& program,
                                       double most_calls) {
  constexpr int most_tries_by_one = 8, most_tries = 32, most_cuts = 32;
  if (is_listed("RICCI_COMPILE_WITHOUT", "nests")) return std::nullopt;
  const Program at_sizes = resolved(program.in_call(sizes));
  const ProgramBody& body = at_sizes.body();
  std::vector<bool> said, sums, in_memory(body.types.size());
  for (const Equation& e : body.equations) {
    said.push_back(says_elements_at_index(body, e));
    const auto is_large = [&](Variable v) { return body.types[at(v)].shape.numel().raw() > few_elements; };
    sums.push_back(!said.back() && adds_up_all(body, e) && is_large(e.inputs[0]));
  }
  int most_length = std::numeric_limits<int>::max(), cuts = 0;
  for (int tries = 0; tries < most_tries; ++tries) try {
      std::vector<std::shared_ptr<const Nest>> made;
      Nests nests(body, said, sums, in_memory, most_length);
      auto with_nests = std::make_unique<ProgramBody>(program.body());
      with_nests->equations = nests.equations(program.body().equations, made);
      const auto stored = to_be_stored(body, made, in_memory, tries < most_tries_by_one ? 1 : SIZE_MAX);
      const double calls = calls_of_kernels(made);
      if (stored.empty() && (made.empty() || calls > most_calls)) return std::nullopt;
      if (stored.empty()) return WithNests{Program(Shared<const ProgramBody>(with_nests.release())), calls};
      for (const Variable v : stored) in_memory[at(v)] = true;
    } catch (const CannotSay& cannot) {
      said[cannot.equation] = sums[cannot.equation] = false;
    } catch (const StoresToo& too) {
      if (++cuts > most_cuts) return std::nullopt;
      in_memory[at(too.value)] = true;
      if (too.length > most_length) --tries;  // nothing was made
      else most_length = too.length / 2;
    } catch (const TooLong&) { return std::nullopt; }
  return std::nullopt;
}

}  // namespace ricci::compiled
