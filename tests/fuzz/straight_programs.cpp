// The operations of straight programs, and how they are put together.
#include "straight_programs.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace fuzz {

using Forms = std::vector<Form>;

struct StraightOperation {
  std::string text;  // $0 and $1 are the operands
  std::size_t operands;
  bool is_exact;                                 // elementwise, or moves elements
  bool needs_exact;                              // jumps, or has a kink: what was rounded may fall on the other side
  std::optional<Form> (*form)(const Forms& of);  // of the result; none: it takes no such operands
  Tensor (*run)(const List& x);
};

namespace {

std::optional<Form> same(const Forms& of) { return of[0]; }
std::optional<Form> alike(const Forms& of) {
  if (of[0] != of[1]) return {};
  return of[0];
}
std::optional<Form> number(const Forms& of) {
  if (of[0].empty()) return {};
  return "";
}
std::optional<Form> with_axes(const Forms& of) {
  if (of[0].empty()) return {};
  return of[0];
}
std::optional<Form> without_first(const Forms& of) {
  if (of[0].empty()) return {};
  return of[0].substr(1);
}
std::optional<Form> without_last(const Forms& of) {
  if (of[0].empty()) return {};
  return of[0].substr(0, of[0].size() - 1);
}
std::optional<Form> without_first_of_two(const Forms& of) {
  if (of[0] != of[1]) return {};
  return without_first(of);
}
std::optional<Form> matrix(const Forms& of) {
  if (of[0].size() != 2) return {};
  return of[0];
}
std::optional<Form> turned(const Forms& of) {
  if (of[0].size() != 2) return {};
  return Form{of[0][1], of[0][0]};
}
std::optional<Form> number_of_matrix(const Forms& of) {
  if (of[0].size() != 2) return {};
  return "";
}
std::optional<Form> of_diagonal(const Forms& of) {
  if (of[0].size() != 2) return {};
  return of[0][0] == of[0][1] ? of[0].substr(1) : "d";
}
std::optional<Form> of_rows(const Forms& of) {  // a vector beside each row
  if (of[0].size() != 2 || of[1] != of[0].substr(1)) return {};
  return of[0];
}
std::optional<Form> of_columns(const Forms& of) {
  if (of[0].size() != 2 || of[1] != of[0].substr(0, 1)) return {};
  return of[0];
}
std::optional<Form> with_number(const Forms& of) {
  if (!of[1].empty()) return {};
  return of[0];
}
std::optional<Form> of_product(const Forms& of) {
  if (of[0].empty() || of[1].empty() || of[0].back() != of[1].front()) return {};
  return of[0].substr(0, of[0].size() - 1) + of[1].substr(1);
}
std::optional<Form> of_outer(const Forms& of) {
  if (of[0].size() != 1 || of[1].size() != 1 || of[0] == "d" || of[1] == "d") return {};
  return of[0] + of[1];
}

Tensor damped(const Tensor& x) { return rc::exp(-rc::square(x)); }

const std::vector<StraightOperation>& operations() {
  constexpr bool exact = true, rounded = false, anywhere = false, where_exact = true;
  static const std::vector<StraightOperation> all = {
      {"sin($0)", 1, exact, anywhere, same, [](const List& x) { return rc::sin(x[0]); }},
      {"cos($0)", 1, exact, anywhere, same, [](const List& x) { return rc::cos(x[0]); }},
      {"tanh($0)", 1, exact, anywhere, same, [](const List& x) { return rc::tanh(x[0]); }},
      {"sigmoid($0)", 1, exact, anywhere, same, [](const List& x) { return rc::sigmoid(x[0]); }},
      {"exp(-square($0))", 1, exact, anywhere, same, [](const List& x) { return damped(x[0]); }},
      {"square($0)", 1, exact, anywhere, same, [](const List& x) { return rc::square(x[0]); }},
      {"sqrt(1 + square($0))", 1, exact, anywhere, same, [](const List& x) { return rc::sqrt(1 + rc::square(x[0])); }},
      {"-$0", 1, exact, anywhere, same, [](const List& x) { return -x[0]; }},
      {"$0 * 0.5", 1, exact, anywhere, same, [](const List& x) { return x[0] * 0.5; }},
      {"$0 * -3", 1, exact, anywhere, same, [](const List& x) { return x[0] * -3; }},
      {"1 - $0", 1, exact, anywhere, same, [](const List& x) { return 1 - x[0]; }},
      {"relu($0)", 1, exact, where_exact, same, [](const List& x) { return rc::relu(x[0]); }},
      {"where($0 > 0.25, sin($0), $0 * 2)", 1, exact, where_exact, same,
       [](const List& x) { return rc::where(x[0] > 0.25, rc::sin(x[0]), x[0] * 2); }},
      {"$0 + rand_like($0)", 1, exact, anywhere, same, [](const List& x) { return x[0] + rc::rand_like(x[0]); }},
      {"$0 * randn_like($0)", 1, exact, anywhere, same, [](const List& x) { return x[0] * rc::randn_like(x[0]); }},

      {"flip($0, {0})", 1, exact, anywhere, with_axes, [](const List& x) { return rc::flip(x[0], {0}); }},
      {"flip($0, {-1})", 1, exact, anywhere, with_axes, [](const List& x) { return rc::flip(x[0], {-1}); }},
      {"roll($0, {1}, {0})", 1, exact, anywhere, with_axes, [](const List& x) { return rc::roll(x[0], {1}, {0}); }},
      {"t($0)", 1, exact, anywhere, turned, [](const List& x) { return rc::t(x[0]); }},
      {"tril($0)", 1, exact, anywhere, matrix, [](const List& x) { return rc::tril(x[0]); }},
      {"diagonal($0)", 1, exact, anywhere, of_diagonal, [](const List& x) { return rc::diagonal(x[0]); }},
      {"$0[0]", 1, exact, anywhere, without_first, [](const List& x) { return rc::select(x[0], 0, 0); }},
      {"$0[-1]", 1, exact, anywhere, without_first, [](const List& x) { return rc::select(x[0], 0, -1); }},
      {"$0[:, 0]", 1, exact, anywhere, without_last, [](const List& x) { return rc::select(x[0], -1, 0); }},

      {"sum($0)", 1, rounded, anywhere, number, [](const List& x) { return rc::sum(x[0]); }},
      {"mean($0)", 1, rounded, anywhere, number, [](const List& x) { return rc::mean(x[0]); }},
      {"trace($0)", 1, rounded, anywhere, number_of_matrix, [](const List& x) { return rc::trace(x[0]); }},
      {"sum($0, {0})", 1, rounded, anywhere, without_first, [](const List& x) { return rc::sum(x[0], {0}); }},
      {"sum($0, {-1})", 1, rounded, anywhere, without_last, [](const List& x) { return rc::sum(x[0], {-1}); }},
      {"mean($0, {-1})", 1, rounded, anywhere, without_last, [](const List& x) { return rc::mean(x[0], {-1}); }},
      {"sum($0[::2], {0})", 1, rounded, anywhere, without_first,
       [](const List& x) { return rc::sum(rc::slice(x[0], 0, 0, std::nullopt, 2), {0}); }},
      {"cumsum($0, 0)", 1, rounded, anywhere, with_axes, [](const List& x) { return rc::cumsum(x[0], 0); }},
      {"cumsum($0, -1)", 1, rounded, anywhere, with_axes, [](const List& x) { return rc::cumsum(x[0], -1); }},
      {"softmax($0, -1)", 1, rounded, anywhere, with_axes, [](const List& x) { return rc::softmax(x[0], -1); }},

      {"$0 + $1", 2, exact, anywhere, alike, [](const List& x) { return x[0] + x[1]; }},
      {"$0 - $1", 2, exact, anywhere, alike, [](const List& x) { return x[0] - x[1]; }},
      {"$0 * $1", 2, exact, anywhere, alike, [](const List& x) { return x[0] * x[1]; }},
      {"$0 / (1 + square($1))", 2, exact, anywhere, alike, [](const List& x) { return x[0] / (1 + rc::square(x[1])); }},
      {"maximum($0, $1)", 2, exact, where_exact, alike, [](const List& x) { return rc::maximum(x[0], x[1]); }},
      {"where($0 > $1, $0, sin($1))", 2, exact, where_exact, alike,
       [](const List& x) { return rc::where(x[0] > x[1], x[0], rc::sin(x[1])); }},
      {"$0 * $1", 2, exact, anywhere, with_number, [](const List& x) { return x[0] * x[1]; }},
      {"$0 + $1", 2, exact, anywhere, of_rows, [](const List& x) { return x[0] + x[1]; }},
      {"$0 * $1", 2, exact, anywhere, of_rows, [](const List& x) { return x[0] * x[1]; }},
      {"$0 * unsqueeze($1, 1)", 2, exact, anywhere, of_columns,
       [](const List& x) { return x[0] * rc::unsqueeze(x[1], 1); }},
      {"sum(cat({$0, $1}), {0})", 2, rounded, anywhere, without_first_of_two,
       [](const List& x) { return rc::sum(rc::cat({x[0], x[1]}), {0}); }},
      {"matmul($0, $1)", 2, rounded, anywhere, of_product, [](const List& x) { return rc::matmul(x[0], x[1]); }},
      {"outer($0, $1)", 2, exact, anywhere, of_outer, [](const List& x) { return rc::outer(x[0], x[1]); }},
  };
  return all;
}

std::string name_of(std::size_t value) { return "x" + std::to_string(value); }

std::string listed(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string axes_of(const Form& form) {
  std::vector<std::string> axes;
  for (const char letter : form) axes.emplace_back(1, letter);
  return "[" + listed(axes) + "]";
}

/// Adds the step, if the operation takes these operands.
bool add_step(StraightProgram& program, const StraightOperation& operation, std::vector<std::size_t> from) {
  Forms forms;
  bool all_exact = true;
  for (const std::size_t value : from) {
    forms.push_back(program.form(value));
    all_exact = all_exact && program.is_exact(value);
  }
  if (operation.needs_exact && !all_exact) return false;
  const std::optional<Form> form = operation.form(forms);
  if (!form) return false;
  program.steps.push_back({&operation, std::move(from), *form, operation.is_exact && all_exact});
  return true;
}

/// The last three at most.
void return_what_no_step_reads(StraightProgram& program) {
  for (std::size_t i = program.values(); i-- > program.arguments.size() && program.results.size() < 3;)
    if (!program.is_read(i)) program.results.push_back(i);
}

}  // namespace

rc::Shape FormSizes::shape(const Form& form) const {
  std::vector<std::int64_t> sizes;
  for (const char letter : form) sizes.push_back(letter == 'n' ? n : letter == 'm' ? m : std::min(n, m));
  return rc::Shape(sizes);
}

const Form& StraightProgram::form(std::size_t value) const {
  return value < arguments.size() ? arguments[value] : steps[value - arguments.size()].form;
}

bool StraightProgram::is_exact(std::size_t value) const {
  return value < arguments.size() || steps[value - arguments.size()].is_exact;
}

List StraightProgram::run(const List& inputs) const {
  List values = inputs, found;
  for (const StraightStep& step : steps) {
    List operands;
    for (const std::size_t value : step.from) operands.push_back(values[value]);
    values.push_back(step.operation->run(operands));
  }
  for (const std::size_t value : results) found.push_back(values[value]);
  return found;
}

std::string StraightProgram::text() const {
  std::vector<std::string> names, returned;
  for (std::size_t i = 0; i < arguments.size(); ++i) names.push_back(name_of(i) + ": " + axes_of(arguments[i]));
  std::string all = "(" + listed(names) + ") { ";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    all += name_of(arguments.size() + i) + " = ";
    const std::string& text = steps[i].operation->text;
    for (std::size_t at = 0; at < text.size(); ++at)
      if (text[at] == '$') all += name_of(steps[i].from[static_cast<std::size_t>(text[++at] - '0')]);
      else all += text[at];
    all += "; ";
  }
  for (const std::size_t value : results) returned.push_back(name_of(value));
  return all + "return " + listed(returned) + " }";
}

bool StraightProgram::is_read(std::size_t value) const {
  return std::ranges::any_of(
      steps, [&](const StraightStep& step) { return std::ranges::find(step.from, value) != step.from.end(); });
}

StraightProgram StraightProgram::without(std::size_t value, std::size_t in_its_place) const {
  StraightProgram less = *this;
  const auto renumber = [&](std::size_t& used) {
    if (used == value) used = in_its_place;
    if (used > value) --used;
  };
  if (value < arguments.size()) less.arguments.erase(less.arguments.begin() + static_cast<std::ptrdiff_t>(value));
  else less.steps.erase(less.steps.begin() + static_cast<std::ptrdiff_t>(value - arguments.size()));
  for (StraightStep& step : less.steps) std::ranges::for_each(step.from, renumber);
  std::ranges::for_each(less.results, renumber);
  return less;
}

std::vector<StraightProgram> StraightProgram::cut() const {
  std::vector<StraightProgram> all;
  for (std::size_t i = 0; results.size() > 1 && i < results.size(); ++i) {
    all.push_back(*this);
    all.back().results.erase(all.back().results.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t value = values(); value-- > 0;) {
    if (!is_read(value) && std::ranges::find(results, value) == results.end()) {
      if (value >= arguments.size() || arguments.size() > 1) all.push_back(without(value, value));
      continue;
    }
    for (std::size_t other = 0; value >= arguments.size() && other < value; ++other)
      if (form(other) == form(value) && is_exact(other) >= is_exact(value)) all.push_back(without(value, other));
  }
  return all;
}

StraightProgram random_straight_program(Dice& dice) {
  static const std::vector<Form> forms = {"n", "n", "nn", "nn", "nm", "nm", "mn", "m", ""};
  StraightProgram program;
  for (int count = 1 + dice.below(3); count > 0; --count) program.arguments.push_back(dice.one_of(forms));
  const auto value = [&] {
    const auto count = static_cast<int>(program.values());
    return static_cast<std::size_t>(dice.chance(40) ? count - 1 : dice.below(count));
  };
  const auto wanted = static_cast<std::size_t>(1 + dice.below(5));
  while (program.steps.size() < wanted) {
    const StraightOperation& operation = dice.one_of(operations());
    std::vector<std::size_t> from;
    while (from.size() < operation.operands) from.push_back(value());
    add_step(program, operation, std::move(from));
  }
  return_what_no_step_reads(program);
  if (program.results.size() < 3 && dice.chance(30)) program.results.push_back(value());
  return program;
}

StraightProgram straight_program(std::vector<Form> arguments, const std::vector<NamedStep>& steps) {
  StraightProgram program{.arguments = std::move(arguments), .steps = {}, .results = {}};
  for (const auto& [text, from] : steps)
    std::ranges::find_if(operations(), [&](const StraightOperation& operation) {
      return operation.text == text && add_step(program, operation, from);
    });
  return_what_no_step_reads(program);
  return program;
}

}  // namespace fuzz
