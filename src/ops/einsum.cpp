// Einstein summation: parsed into letters, each pair of operands contracted by one batched matrix product.
#include <algorithm>
#include <array>
#include <map>

#include "ops/axes.h"

namespace ricci {
namespace {

/// One character an axis. The axes behind `...` are numbered from the back, as broadcasting counts them.
using Letters = std::string;
constexpr char first_dot_axis = '\x01';

struct Summation {
  std::vector<Letters> operands;
  Letters output;
};

[[noreturn]] void raise_einsum(std::string_view equation, const std::string& finding) {
  raise<ValueError>("einsum: \"" + shortened(equation) + "\" " + finding);
}

Letters read_letters(std::string_view equation, std::string_view term, int dot_axes) {
  Letters letters;
  for (std::size_t i = 0; i < term.size(); ++i) {
    const char c = term[i];
    if (c == ' ') continue;
    if (term.substr(i, 3) == "...") {
      for (int k = dot_axes; k-- > 0;) letters += static_cast<char>(first_dot_axis + k);
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      letters += c;
    } else {
      std::size_t end = i + 1;
      while (end < term.size() && continues_character(term[end])) ++end;
      raise_einsum(equation,
                   "holds '" + std::string(term.substr(i, end - i)) + "'; write letters, commas, one -> and ...");
    }
  }
  return letters;
}

int named_axes(std::string_view term) {
  return static_cast<int>(std::count_if(term.begin(), term.end(), [](char c) { return c != '.' && c != ' '; }));
}

std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  while (true) {
    const std::size_t comma = text.find(',');
    terms.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return terms;
    text.remove_prefix(comma + 1);
  }
}

/// Without an arrow: the axes behind `...`, then every letter that appears once, in alphabetical order.
Letters implicit_output(const std::vector<Letters>& operands) {
  std::map<char, int> counts;
  for (const Letters& letters : operands)
    for (char c : letters) ++counts[c];
  Letters dots, output;
  for (const auto& [c, n] : counts) {
    if (c < 'A') dots.insert(dots.begin(), c);
    else if (n == 1) output += c;
  }
  return dots + output;
}

Summation parse(std::string_view text, const std::vector<Tensor>& operands) {
  const std::size_t arrow = text.find("->");
  const std::vector<std::string_view> terms = split_terms(text.substr(0, arrow));
  if (terms.size() != operands.size())
    raise_einsum(text, "describes " + count_of(static_cast<std::int64_t>(terms.size()), "operand", "operands") +
                           ", found " + std::to_string(operands.size()));
  Summation equation;
  int most_dots = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    require_defined("einsum", operands[i], static_cast<int>(i));
    const int rank = type_of(operands[i]).rank(), named = named_axes(terms[i]);
    const bool dots = terms[i].find("...") != std::string_view::npos;
    equation.operands.push_back(read_letters(text, terms[i], std::max(0, rank - named)));
    if (dots ? named > rank : named != rank)
      raise_einsum(text, "gives operand " + std::to_string(i) + " " + count_of(named, "axis", "axes") + ", but it is " +
                             type_text(operands[i]));
    if (dots) most_dots = std::max(most_dots, rank - named);
  }
  if (arrow == std::string_view::npos) {
    equation.output = implicit_output(equation.operands);
    return equation;
  }
  equation.output = read_letters(text, text.substr(arrow + 2), most_dots);
  for (char c : equation.output) {
    const bool known = std::any_of(equation.operands.begin(), equation.operands.end(),
                                   [c](const Letters& l) { return l.find(c) != Letters::npos; });
    if (!known) raise_einsum(text, std::string("names ") + c + " in its result, which no operand has");
    if (std::count(equation.output.begin(), equation.output.end(), c) > 1)
      raise_einsum(text, std::string("names ") + c + " twice in its result");
  }
  return equation;
}

/// The operand that gives a letter its size, and the size.
struct Seen {
  std::size_t operand;
  Size size;
};

/// The size of every letter; one of 1 broadcasts, unless the same operand has the letter twice.
std::map<char, Seen> sizes_of(std::string_view text, const Summation& equation, const std::vector<Tensor>& operands) {
  std::map<char, Seen> seen;
  for (std::size_t i = 0; i < operands.size(); ++i)
    for (std::size_t k = 0; k < equation.operands[i].size(); ++k) {
      const char c = equation.operands[i][k];
      const Size size = type_of(operands[i]).shape[k];
      const std::size_t first = equation.operands[i].find(c);
      const bool repeats = first != k;
      const auto [at, is_new] = repeats ? std::pair{seen.find(c), false} : seen.try_emplace(c, Seen{i, size});
      const Seen before = repeats ? Seen{i, type_of(operands[i]).shape[first]} : at->second;
      if (is_new || before.size == size) continue;
      if (repeats || !(size == 1 || before.size == 1))
        raise_einsum(text, std::string("needs one size for ") + (c < 'A' ? '.' : c) + ": operand " +
                               std::to_string(before.operand) + " " + type_text(operands[before.operand]) + " has " +
                               std::to_string(before.size.hint()) + ", operand " + std::to_string(i) + " " +
                               type_text(operands[i]) + " has " + std::to_string(size.hint()));
      if (before.size == 1) at->second = {i, size};
    }
  return seen;
}

struct Term {
  Tensor x;
  Letters letters;
  bool has(char c) const { return letters.find(c) != Letters::npos; }
  Size size(char c) const { return type_of(x).shape[letters.find(c)]; }
};

/// Without the letters whose size of 1 broadcasts: they are the other operands' then. Axes behind `...` stay, as
/// `matmul` broadcasts them.
Term without_broadcast_letters(Term term, const std::map<char, Seen>& sizes) {
  for (std::size_t i = term.letters.size(); i-- > 0;) {
    const char c = term.letters[i];
    if (c < 'A' || !(term.size(c) == 1) || sizes.at(c).size == 1) continue;
    term.x = select(term.x, static_cast<std::int64_t>(i), 0);
    term.letters.erase(i, 1);
  }
  return term;
}

/// Repeated letters become diagonals.
Term without_repeats(Term term) {
  for (std::size_t i = 0; i < term.letters.size(); ++i) {
    const std::size_t again = term.letters.find(term.letters[i], i + 1);
    if (again == Letters::npos) continue;
    const char c = term.letters[i];
    term.x = diagonal(term.x, 0, static_cast<std::int64_t>(i), static_cast<std::int64_t>(again));
    term.letters.erase(again, 1);
    term.letters.erase(i, 1);
    term.letters += c;
    return without_repeats(std::move(term));
  }
  return term;
}

/// Sums over the letters that nothing else needs.
Term summed(Term term, const Letters& needed) {
  Axes axes;
  Letters kept;
  for (std::size_t i = 0; i < term.letters.size(); ++i)
    if (needed.find(term.letters[i]) == Letters::npos) axes.push_back(static_cast<std::int64_t>(i));
    else kept += term.letters[i];
  if (axes.empty()) return term;
  return {sum(term.x, axes), kept};
}

Tensor permuted_to(const Term& term, const Letters& order) {
  Axes axes;
  for (char c : order) axes.push_back(static_cast<std::int64_t>(term.letters.find(c)));
  return permute(term.x, axes);
}

Term contract(const Term& a, const Term& b, const Letters& needed) {
  Letters batch, contracted, left, right;
  for (char c : a.letters) {
    if (!b.has(c)) left += c;
    else if (needed.find(c) == Letters::npos) contracted += c;
    else batch += c;
  }
  for (char c : b.letters)
    if (!a.has(c)) right += c;
  if (contracted.empty()) {  // nothing to sum: a broadcast product
    Tensor x = permuted_to(a, batch + left), y = permuted_to(b, batch + right);
    for (std::size_t i = 0; i < right.size(); ++i) x = unsqueeze(x, -1);
    for (std::size_t i = 0; i < left.size(); ++i) y = unsqueeze(y, static_cast<std::int64_t>(batch.size()));
    return {mul(x, y), batch + left + right};
  }
  // Sizes of 1 behind `...` broadcast in the batch, so batch axes stay axes and the rest is merged.
  const auto merged = [&](const Term& t, const Letters& first, const Letters& second) {
    Shape shape;
    for (char c : batch) shape.push_back(t.size(c));
    for (const Letters* group : {&first, &second}) {
      Size n = 1;
      for (char c : *group) n = n * t.size(c);
      shape.push_back(n);
    }
    return reshape(permuted_to(t, batch + first + second), shape);
  };
  const Tensor y = matmul(merged(a, left, contracted), merged(b, contracted, right));
  Shape shape = type_of(y).shape;
  shape.pop_back();
  shape.pop_back();
  for (char c : left) shape.push_back(a.size(c));
  for (char c : right) shape.push_back(b.size(c));
  return {reshape(y, shape), batch + left + right};
}

}  // namespace

namespace ops {

Tensor einsum(std::string_view text, const std::vector<Tensor>& operands) {
  const Summation equation = parse(text, operands);
  const std::map<char, Seen> sizes = sizes_of(text, equation, operands);
  const auto term = [&](std::size_t i) {
    return without_broadcast_letters(without_repeats({operands[i], equation.operands[i]}), sizes);
  };
  const auto needed_after = [&](std::size_t i) {
    Letters letters = equation.output;
    for (std::size_t k = i + 1; k < operands.size(); ++k) letters += equation.operands[k];
    return letters;
  };
  Term total = summed(term(0), needed_after(0));
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const Term next = summed(term(i), needed_after(i) + total.letters);
    total = summed(contract(total, next, needed_after(i)), needed_after(i));
  }
  return permuted_to(total, equation.output);
}

}  // namespace ops
}  // namespace ricci
