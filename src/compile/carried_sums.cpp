// Additions to a part of the state, followed through the body of a loop, and the rows that stand for what they add.
#include "compile/carried_sums.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "program/edit.h"
#include "program/programs_run.h"
#include "program/sample_sizes.h"
#include "ricci/primitive/formula.h"

namespace ricci::compiled {
namespace {

/// The operands of an equation that is one addition. None: `e` is no addition.
std::optional<std::pair<Variable, Variable>> addends(const Equation& e) {
  if (e.rules->kind != Kind::elementwise || !e.rules->formula() || e.inputs.size() != 2) return std::nullopt;
  const Formula formula = e.rules->formula()(e.parameters.get());
  const Formula::Step& last = formula.steps[at(formula.result)];
  if (last.kind != Formula::Kind::word || last.word != scalar::Word::add) return std::nullopt;
  const Formula::Step &left = formula.steps[at(last.from[0])], &right = formula.steps[at(last.from[1])];
  if (left.kind != Formula::Kind::input || right.kind != Formula::Kind::input) return std::nullopt;
  return std::pair{e.inputs[at(left.from[0])], e.inputs[at(right.from[0])]};
}

double bytes(const Type& type) { return static_cast<double>(type.shape.numel().raw() * element_size(type.dtype)); }

/// Finds the sums that one loop carries, and writes their factors as values outside the loop.
class SumsOfLoop {
 public:
  /// `turns`: those of the loop `e`. `to`: the program that `e` stands in.
  SumsOfLoop(const Turns& turns, const Equation& e, ProgramBody& to)
      : turns_(turns),
        body_(turns.body->body()),
        to_(to),
        count_(turns.most_turns->raw()),
        loop_(e),
        terms_(body_),
        uses_(body_.types.size()),
        made_by_(body_.types.size(), -1),
        outside_(body_.types.size(), -1),
        differs_(body_.types.size()) {
    for (std::size_t i = 0; i < body_.equations.size(); ++i) {
      for (const Variable v : body_.equations[i].outputs) made_by_[at(v)] = static_cast<std::ptrdiff_t>(i);
      for (const Variable v : body_.equations[i].inputs) ++uses_[at(v)];
    }
    for (const Variable v : body_.outputs) ++uses_[at(v)];
    find_values_outside();
  }

  std::optional<LoopWithRows> result() {
    std::vector<Found> found;
    for (std::size_t k = 0; k < turns_.state; ++k)
      if (std::optional<Found> sum = sum_carried(k); sum && is_worth_it(*sum)) found.push_back(std::move(*sum));
    if (found.empty() || !has_memory_for_rows(found)) return std::nullopt;
    DigitTable digits = terms_.digits();
    const Digit turn = digits.add(count_);
    std::vector<CarriedSum> sums;
    for (Found& of : found) {
      for (Sum& term : of.terms)
        for (Factor& f : term.term.factors) {
          if (differs_[at(f.value)]) f.axes.insert(f.axes.begin(), Digits{turn});
          f.value = value_outside(f.value);
        }
      // The loop's own result is one that nobody reads.
      Variable& of_loop = loop_.outputs[of.state];
      sums.push_back({loop_.inputs[of.state], of_loop, std::move(of.terms)});
      to_.types.push_back(to_.types[at(of_loop)]);
      of_loop = static_cast<Variable>(to_.types.size() - 1);
    }
    give_rows();
    return LoopWithRows{std::move(loop_), std::move(sums), std::move(digits)};
  }

 private:
  struct Found {
    std::size_t state;
    std::vector<Sum> terms;
  };

  /// Finds the value outside for each input of a turn, and for each row that it gives.
  void find_values_outside() {
    differs_.assign(differs_.size(), true);
    const std::size_t captured = turns_.state + turns_.rows;
    for (std::size_t i = turns_.state; i < body_.inputs.size(); ++i) {
      const bool is_row = i < captured;
      outside_[at(body_.inputs[i])] = loop_.inputs[is_row ? i : turns_.read_by_body + i - captured];
      differs_[at(body_.inputs[i])] = is_row;
    }
    for (const Constant& c : body_.constants) differs_[at(c.variable)] = false;
    for (std::size_t i = turns_.state; i < body_.outputs.size(); ++i)
      if (const Variable v = body_.outputs[i]; is_new_row(v)) outside_[at(v)] = loop_.outputs[i];
  }

  /// The equation that uses the value, if one equation does and nothing else. Else null.
  const Equation* only_reader(Variable v) const {
    if (uses_[at(v)] != 1) return nullptr;
    const auto reads = [v](const Equation& e) { return std::ranges::find(e.inputs, v) != e.inputs.end(); };
    const auto reader = std::ranges::find_if(body_.equations, reads);
    return reader != body_.equations.end() ? &*reader : nullptr;
  }

  /// None where a turn does anything else with that part of the state than add sums of products to it.
  std::optional<Found> sum_carried(std::size_t k) {
    Variable now = body_.inputs[k];
    const Type& type = body_.types[at(now)];
    std::vector<Variable> added;
    while (now != body_.outputs[k] || added.empty()) {
      const Equation* const reader = only_reader(now);
      const auto both = reader ? addends(*reader) : std::nullopt;
      if (!both || !are_same(body_.types[at(reader->outputs[0])], type)) return std::nullopt;
      added.push_back(both->first == now ? both->second : both->first);
      now = reader->outputs[0];
    }
    if (uses_[at(now)] != 1) return std::nullopt;
    Found found{k, {}};
    while (!added.empty()) {
      const Variable v = added.back();
      added.pop_back();
      const std::ptrdiff_t i = made_by_[at(v)];
      const auto both = i >= 0 ? addends(body_.equations[at(i)]) : std::nullopt;
      if (body_.types[at(v)].dtype != type.dtype) return std::nullopt;
      if (both && uses_[at(v)] == 1) added.insert(added.end(), {both->first, both->second});
      else found.terms.push_back(terms_.total(v));
    }
    return found;
  }

  bool is_new_row(Variable v) const { return outside_[at(v)] < 0 && differs_[at(v)]; }
  /// Whether each term is much larger than the rows of its factors, which are read behind the loop, and written if they
  /// are new. And whether the products of matrices behind the loop are no small ones: a state that fits into registers
  /// is not read and written at each turn.
  bool is_worth_it(const Found& found) const {
    constexpr std::int64_t least_matrix = 1024;
    constexpr double least_moved = 1 << 20, times_larger = 2;
    return std::ranges::all_of(found.terms, [&](const Sum& term) {
      double of_rows = 0;
      bool reads_rows = false;
      for (const Factor& f : term.term.factors) {
        of_rows += bytes(body_.types[at(f.value)]) * (is_new_row(f.value) ? 2 : 1);
        reads_rows = reads_rows || differs_[at(f.value)];
      }
      const double of_term = bytes(term.type), moved = 2 * of_term * static_cast<double>(count_);
      return reads_rows && reads_all(term) && ending_of(term.finish) == Ending::total &&
             elements_of_matrix(term) >= least_matrix && moved >= least_moved && of_term >= times_larger * of_rows;
    });
  }
  /// The elements along axes that not all factors have.
  std::int64_t elements_of_matrix(const Sum& sum) const {
    Digits of_some = all_of(sum.term.axes);
    std::erase_if(of_some, [&](Digit d) {
      return std::ranges::all_of(sum.term.factors, [d](const Factor& f) {
        const Digits digits = all_of(f.axes);
        return digits.empty() || has(digits, d);
      });
    });
    return terms_.digits().positions(of_some);
  }
  /// New rows take no more than what the loop reads and gives, or than a megabyte.
  bool has_memory_for_rows(const std::vector<Found>& found) const {
    constexpr double always = 1 << 20;
    std::vector<bool> is_counted(body_.types.size());
    double of_rows = 0, of_loop = 0;
    for (const Found& of : found)
      for (const Sum& term : of.terms)
        for (const Factor& f : term.term.factors) {
          if (is_new_row(f.value) && !is_counted[at(f.value)])
            of_rows += static_cast<double>(count_) * bytes(body_.types[at(f.value)]);
          is_counted[at(f.value)] = true;
        }
    for (const Variable v : loop_.inputs) of_loop += bytes(to_.types[at(v)]);
    for (const Variable v : loop_.outputs) of_loop += bytes(to_.types[at(v)]);
    return of_rows <= std::max(always, of_loop);
  }

  Variable value_outside(Variable v) {
    Variable& value = outside_[at(v)];
    if (value >= 0) return value;
    value = static_cast<Variable>(to_.types.size());
    Type type = body_.types[at(v)];
    if (differs_[at(v)]) {
      type.shape.insert(0, count_);
      new_rows_.push_back(v);
      loop_.outputs.push_back(value);
    } else {
      const auto constant = std::ranges::find(body_.constants, v, &Constant::variable);
      to_.constants.push_back({value, constant->value});
    }
    to_.types.push_back(std::move(type));
    return value;
  }
  void give_rows() {
    if (new_rows_.empty()) return;
    loop_.parameters = with_each_program(loop_.op(), [&](const Program& step) {
      auto body = std::make_unique<ProgramBody>(step.body());
      body->outputs.insert(body->outputs.end(), new_rows_.begin(), new_rows_.end());
      return Program(Shared<const ProgramBody>(body.release()));
    });
  }

  const Turns& turns_;
  const ProgramBody& body_;
  ProgramBody& to_;
  const std::int64_t count_;
  Equation loop_;
  Terms terms_;
  std::vector<int> uses_;                // by variable of the body, as the following
  std::vector<std::ptrdiff_t> made_by_;  // -1: no equation
  std::vector<Variable> outside_;        // the value of all turns, in the program; -1: there is none
  std::vector<bool> differs_;            // from turn to turn
  std::vector<Variable> new_rows_;
};

}  // namespace

std::optional<LoopWithRows> with_sums_taken_out(const Equation& e, ProgramBody& to) {
  if (!runs_as<Turns>(e) || has_effect(e.op())) return std::nullopt;
  Types operands;
  for (const Variable v : e.inputs) operands.push_back(to.types[at(v)]);
  const std::optional<Turns> turns = turns_of(e, operands);
  if (turns->condition || turns->streams > 0 || turns->most_turns->raw() < 2) return std::nullopt;
  return SumsOfLoop(*turns, e, to).result();
}

}  // namespace ricci::compiled
