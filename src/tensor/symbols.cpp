// The algebra of symbolic sizes, and the slow paths of Size, which use the table installed on this thread.
#include "tensor/symbols.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "ricci/error.h"

namespace ricci {
namespace {

thread_local constinit SymbolTable* installed = nullptr;

SymbolTable& table() {
  if (!installed) throw Error("a size of a recorded program was used outside its recording; read it as a number first");
  return *installed;
}

}  // namespace

Size SymbolTable::add_input(std::int64_t hint) {
  unknowns_.push_back({.input = inputs_++, .numerator = {}, .denominator = {}, .hint = hint});
  return size_of({{{static_cast<int>(unknowns_.size()) - 1}, 1}});
}

SymbolTable::Polynomial SymbolTable::polynomial_of(Size size) const {
  if (size.is_symbol()) return expressions_[static_cast<std::size_t>(size.symbol_index())];
  return size.raw() == 0 ? Polynomial{} : Polynomial{{{}, size.raw()}};
}

Size SymbolTable::size_of(const Polynomial& polynomial) {
  if (polynomial.empty()) return 0;
  if (polynomial.size() == 1 && polynomial.begin()->first.empty()) return polynomial.begin()->second;
  const auto [at, is_new] = index_.try_emplace(polynomial, static_cast<std::int64_t>(expressions_.size()));
  if (is_new) expressions_.push_back(polynomial);
  return Size::symbol(at->second);
}

SymbolTable::Polynomial SymbolTable::sum(Polynomial a, const Polynomial& b, std::int64_t factor) {
  for (const auto& [monomial, coefficient] : b)
    if ((a[monomial] += factor * coefficient) == 0) a.erase(monomial);
  return a;
}

SymbolTable::Polynomial SymbolTable::product(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [left, p] : a)
    for (const auto& [right, q] : b) {
      Monomial monomial = left;
      monomial.insert(monomial.end(), right.begin(), right.end());
      std::sort(monomial.begin(), monomial.end());
      result = sum(std::move(result), {{std::move(monomial), p * q}}, 1);
    }
  return result;
}

/// By one monomial, term by term: sizes are divided by products of sizes.
bool SymbolTable::divides(const Polynomial& divisor, const Polynomial& dividend, Polynomial& quotient) {
  if (divisor.size() != 1) return false;
  const auto& [unknowns, factor] = *divisor.begin();
  for (const auto& [monomial, coefficient] : dividend) {
    if (coefficient % factor != 0 || !std::includes(monomial.begin(), monomial.end(), unknowns.begin(), unknowns.end()))
      return false;
    Monomial rest;
    std::set_difference(monomial.begin(), monomial.end(), unknowns.begin(), unknowns.end(), std::back_inserter(rest));
    quotient[std::move(rest)] = coefficient / factor;
  }
  return true;
}

int SymbolTable::unknown_of_quotient(const Polynomial& numerator, const Polynomial& denominator) {
  const auto same = [&](const Unknown& u) {
    return u.input < 0 && u.numerator == numerator && u.denominator == denominator;
  };
  const auto at = std::find_if(unknowns_.begin(), unknowns_.end(), same);
  if (at != unknowns_.end()) return static_cast<int>(at - unknowns_.begin());
  const auto number = [this](int i) { return unknowns_[static_cast<std::size_t>(i)].hint; };
  const std::int64_t below = value_of(denominator, number);
  assert(below != 0);
  unknowns_.push_back({-1, numerator, denominator, value_of(numerator, number) / below});
  return static_cast<int>(unknowns_.size()) - 1;
}

Size SymbolTable::combine(char op, Size a, Size b) {
  const Polynomial left = polynomial_of(a), right = polynomial_of(b);
  if (op == '+') return size_of(sum(left, right, 1));
  if (op == '-') return size_of(sum(left, right, -1));
  if (op == '*') return size_of(product(left, right));
  Polynomial quotient;
  if (left == right) return 1;
  if (divides(right, left, quotient)) return size_of(quotient);
  return size_of({{{unknown_of_quotient(left, right)}, 1}});
}

/// Unknowns are sizes, so never negative: terms of one sign, a plain number among them, cannot add up to 0.
bool SymbolTable::is_never_zero(const Polynomial& polynomial) {
  const auto positive =
      std::count_if(polynomial.begin(), polynomial.end(), [](const auto& term) { return term.second > 0; });
  return polynomial.contains(Monomial()) &&
         (positive == 0 || positive == static_cast<std::ptrdiff_t>(polynomial.size()));
}

bool SymbolTable::equal(Size a, Size b) {
  const Polynomial difference = sum(polynomial_of(a), polynomial_of(b), -1);
  if (difference.empty()) return true;
  if (is_never_zero(difference)) return false;
  const bool same = hint(a) == hint(b);
  guard(a, b, same);
  return same;
}

std::int64_t SymbolTable::fix(Size size) {
  const std::int64_t number = hint(size);
  if (size.is_symbol()) guard(size, number, true);
  return number;
}

std::int64_t SymbolTable::hint(Size size) const {
  return value_of(polynomial_of(size), [this](int i) { return unknowns_[static_cast<std::size_t>(i)].hint; });
}

void SymbolTable::guard(Size left, Size right, bool equal) {
  for (const Guard& g : guards_)
    if (g.left.raw() == left.raw() && g.right.raw() == right.raw()) return;
  guards_.push_back({left, right, equal});
}

template <class Number>
std::int64_t SymbolTable::value_of(const Polynomial& polynomial, const Number& number) const {
  std::int64_t total = 0;
  for (const auto& [monomial, coefficient] : polynomial) {
    std::int64_t term = coefficient;
    for (int i : monomial) term *= number(i);
    total += term;
  }
  return total;
}

std::int64_t SymbolTable::evaluate(Size size, std::span<const std::int64_t> inputs) const {
  // An unknown's parts are made of earlier unknowns.
  std::vector<std::int64_t> numbers;
  const auto number = [&](int i) { return numbers[static_cast<std::size_t>(i)]; };
  for (const Unknown& u : unknowns_) {
    if (u.input >= 0) {
      numbers.push_back(inputs[static_cast<std::size_t>(u.input)]);
      continue;
    }
    const std::int64_t below = value_of(u.denominator, number);
    numbers.push_back(below == 0 ? 0 : value_of(u.numerator, number) / below);
  }
  return value_of(polynomial_of(size), number);
}

std::string SymbolTable::print(const Polynomial& polynomial) const {
  std::string text;
  for (auto term = polynomial.rbegin(); term != polynomial.rend(); ++term) {  // a plain number comes last
    const auto& [monomial, coefficient] = *term;
    if (!text.empty() && coefficient > 0) text += '+';
    if (coefficient == -1 && !monomial.empty()) text += '-';
    else if (coefficient != 1 || monomial.empty()) text += std::to_string(coefficient) + (monomial.empty() ? "" : "*");
    for (std::size_t i = 0; i < monomial.size(); ++i) {
      const Unknown& u = unknowns_[static_cast<std::size_t>(monomial[i])];
      if (i) text += '*';
      if (u.input >= 0) text += "s" + std::to_string(u.input);
      else text += "((" + print(u.numerator) + ")/(" + print(u.denominator) + "))";
    }
  }
  return text.empty() ? "0" : text;
}

std::string SymbolTable::print(Size size) const { return print(polynomial_of(size)); }

bool inside_symbol_scope() { return installed != nullptr; }

SymbolScope::SymbolScope(SymbolTable& table) : saved_(std::exchange(installed, &table)) {}
SymbolScope::~SymbolScope() { installed = saved_; }

std::string symbol_text(Size size) {
  if (!size.is_symbol()) return std::to_string(size.raw());
  return installed ? installed->print(size) : "?";
}

std::string hint_text(Size size) { return size.is_symbol() && !installed ? "?" : std::to_string(size.hint()); }

std::int64_t Size::guarded_value() const { return table().fix(*this); }
std::int64_t Size::symbol_hint() const { return table().hint(*this); }

namespace symbols {
Size combine(char op, Size a, Size b) { return table().combine(op, a, b); }
bool equal(Size a, Size b) { return table().equal(a, b); }
}  // namespace symbols

}  // namespace ricci
