// The algebra of symbolic sizes, and the slow paths of Size, which use the table of this thread.
#include "tensor/symbols.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <iterator>
#include <utility>

#include "ricci/error.h"

namespace ricci {
namespace {

[[noreturn]] void refuse_outside() {
  throw Error("a size of a recorded program was used outside its recording; read it as a number first");
}
SymbolTable& table() {
  if (!this_thread.symbols) refuse_outside();
  return *this_thread.symbols;
}
SymbolTable& owner_of(Size symbol) {
  SymbolTable* const owner = table().owner(symbol);
  if (!owner) refuse_outside();
  return *owner;
}

}  // namespace

namespace {

const std::map<std::vector<int>, std::int64_t> one{{{}, 1}}, minus_one{{{}, -1}};

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw ValueError("an expression of sizes is beyond what memory can hold");
  return sum;
}
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw ValueError("an expression of sizes is beyond what memory can hold");
  return product;
}
Size plus(Size a, Size b) { return any_symbol(a, b) ? a + b : Size(plus(a.raw(), b.raw())); }
Size times(Size a, Size b) { return any_symbol(a, b) ? a * b : Size(times(a.raw(), b.raw())); }

}  // namespace

std::function<std::string()> (*origin_of_guards)() = nullptr;

bool Guard::holds(Size left, Size right) const {
  switch (relation) {
    case Relation::equal: return left == right;
    case Relation::different: return left != right;
    case Relation::less: return left < right;
    case Relation::at_least: return left >= right;
  }
  return false;
}

const char* to_string(Guard::Relation relation) {
  constexpr const char* words[] = {" is ", " is not ", " is less than ", " is at least "};
  return words[static_cast<std::size_t>(relation)];
}

std::int64_t SymbolTable::next_id() {
  static std::atomic<std::int64_t> made = 0;
  return made.fetch_add(1, std::memory_order_relaxed) % tables;
}

SymbolTable* SymbolTable::owner(Size symbol) {
  if (has(symbol)) return this;
  return around_ ? around_->owner(symbol) : nullptr;
}

Size SymbolTable::add_input(std::int64_t hint) {
  const auto unknown = static_cast<int>(unknowns_.size());
  unknowns_.push_back({.input = inputs_++, .numerator = {}, .denominator = {}, .hint = hint});
  return unknowns_.back().size = size_of({{{unknown}, 1}});
}

SymbolTable::Polynomial SymbolTable::polynomial_of(Size size) const {
  if (size.is_symbol()) return expression(size);
  return size.raw() == 0 ? Polynomial{} : Polynomial{{{}, size.raw()}};
}

std::optional<int> SymbolTable::unknown_of(Size size) const {
  if (!size.is_symbol()) return std::nullopt;
  const Polynomial& polynomial = expression(size);
  if (polynomial.size() != 1) return std::nullopt;
  const auto& [monomial, coefficient] = *polynomial.begin();
  const bool is_one = monomial.size() == 1 && coefficient == 1;
  return is_one && unknowns_[static_cast<std::size_t>(monomial[0])].input >= 0 ? std::optional(monomial[0])
                                                                               : std::nullopt;
}

std::optional<std::int64_t> SymbolTable::plain_number(const Polynomial& polynomial) {
  if (polynomial.empty()) return 0;
  if (polynomial.size() == 1 && polynomial.begin()->first.empty()) return polynomial.begin()->second;
  return std::nullopt;
}

Size SymbolTable::size_of(const Polynomial& polynomial) {
  if (const auto number = plain_number(polynomial)) return *number;
  if (const auto known = index_.find(polynomial); known != index_.end()) return symbol(known->second);
  // In this order, since either may run out of memory: no symbol is without its expression.
  expressions_.push_back(polynomial);
  return symbol(index_.try_emplace(polynomial, std::ssize(expressions_) - 1).first->second);
}

SymbolTable::Polynomial SymbolTable::sum(Polynomial a, const Polynomial& b, std::int64_t factor) {
  for (const auto& [monomial, coefficient] : b)
    if ((a[monomial] = plus(a[monomial], times(factor, coefficient))) == 0) a.erase(monomial);
  return a;
}

SymbolTable::Polynomial SymbolTable::product(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [left, p] : a)
    for (const auto& [right, q] : b) {
      Monomial monomial = left;
      monomial.insert(monomial.end(), right.begin(), right.end());
      std::sort(monomial.begin(), monomial.end());
      result = sum(std::move(result), {{std::move(monomial), times(p, q)}}, 1);
    }
  return result;
}

/// Of two numbers, or by one monomial, term by term: sizes are divided by products of sizes.
std::optional<SymbolTable::Polynomial> SymbolTable::known_quotient(const Polynomial& dividend,
                                                                   const Polynomial& divisor) const {
  if (dividend == divisor) return one;
  Polynomial quotient;
  if (divides(divisor, dividend, quotient)) return quotient;
  const auto above = plain_number(dividend), below = plain_number(divisor);
  if (!above || !below || *below == 0) return std::nullopt;
  return polynomial_of(*above / *below);
}

/// By one monomial, term by term.
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
  const auto number = [this](int i) { return Size(unknowns_[static_cast<std::size_t>(i)].hint); };
  const std::int64_t below = value_of(denominator, number);
  assert(below != 0 || is_text_);
  unknowns_.push_back({-1, numerator, denominator, below == 0 ? Size(0) : value_of(numerator, number) / below});
  return static_cast<int>(unknowns_.size()) - 1;
}

Size SymbolTable::combine(char op, Size a, Size b) {
  const Polynomial left = polynomial_of(a), right = polynomial_of(b);
  if (op == '+') return size_of(sum(left, right, 1));
  if (op == '-') return size_of(sum(left, right, -1));
  if (op == '*') return size_of(product(left, right));
  if (const auto quotient = known_quotient(left, right)) return size_of(*quotient);
  if (is_text_) return size_of({{{unknown_of_quotient(left, right)}, 1}});
  // Unknowns are never negative.
  for (const Size term : {a, b})
    if (less(term, 0)) return fix(a) / fix(b);
  // A guard may have said what they are.
  const Polynomial numerator = polynomial_of(a), denominator = polynomial_of(b);
  if (const auto quotient = known_quotient(numerator, denominator)) return size_of(*quotient);
  return size_of({{{unknown_of_quotient(numerator, denominator)}, 1}});
}

/// Unknowns are sizes, so never negative: terms of one sign, a plain number among them, cannot add up to 0.
bool SymbolTable::is_never_zero(const Polynomial& polynomial) {
  const auto positive =
      std::count_if(polynomial.begin(), polynomial.end(), [](const auto& term) { return term.second > 0; });
  return polynomial.contains(Monomial()) &&
         (positive == 0 || positive == static_cast<std::ptrdiff_t>(polynomial.size()));
}

bool SymbolTable::is_never_negative(const Polynomial& polynomial) {
  return std::all_of(polynomial.begin(), polynomial.end(), [](const auto& term) { return term.second > 0; });
}

bool SymbolTable::equal(Size a, Size b) {
  using enum Guard::Relation;
  const Polynomial difference = sum(polynomial_of(a), polynomial_of(b), -1);
  if (difference.empty()) return true;
  if (is_never_zero(difference)) return false;
  if (const Guard* g = known(difference)) return g->relation == equal;
  if (const Guard* g = known(sum({}, difference, -1))) return g->relation == equal;
  if (is_known_not_negative(sum(difference, one, -1))) return false;
  if (is_known_not_negative(sum(minus_one, difference, -1))) return false;
  const bool same = !is_text_ && hint(a) == hint(b);
  guard(a, same ? equal : different, b);
  return same;
}

bool SymbolTable::less(Size a, Size b) {
  const Polynomial difference = sum(polynomial_of(a), polynomial_of(b), -1), if_less = sum(minus_one, difference, -1);
  if (is_known_not_negative(difference)) return false;
  if (is_known_not_negative(if_less)) return true;
  const bool is_less = hint(a) < hint(b);
  rely_on_not_negative(is_less ? if_less : difference);
  return is_less;
}

Size SymbolTable::smaller(Size a, Size b) {
  const Polynomial more = sum(polynomial_of(b), polynomial_of(a), -1), less = sum({}, more, -1);
  if (is_known_not_negative(more)) return a;
  if (is_known_not_negative(less)) return b;
  const bool is_first = hint(a) <= hint(b);
  rely_on_not_negative(is_first ? more : less);
  return is_first ? a : b;
}

/// The guard that says of a difference whether it is 0; null if there is none.
const Guard* SymbolTable::known(const Polynomial& difference) const {
  for (const Guard& g : guards_)
    if (g.relation <= Guard::Relation::different &&
        sum(polynomial_of(g.left), polynomial_of(g.right), -1) == difference)
      return &g;
  return nullptr;
}

/// What a guard makes 0 or more, if it is an inequality.
std::optional<SymbolTable::Polynomial> SymbolTable::never_negative(const Guard& guard) const {
  const Polynomial left = polynomial_of(guard.left), right = polynomial_of(guard.right);
  switch (guard.relation) {
    case Guard::Relation::equal: return std::nullopt;
    case Guard::Relation::less: return sum(sum(right, left, -1), minus_one, 1);
    case Guard::Relation::at_least: return sum(left, right, -1);
    case Guard::Relation::different: break;
  }
  const Polynomial difference = sum(left, right, -1), opposite = sum({}, difference, -1);
  if (is_never_negative(difference)) return sum(difference, minus_one, 1);
  if (is_never_negative(opposite)) return sum(opposite, minus_one, 1);
  return std::nullopt;
}

/// By algebra, or since a guard says so.
bool SymbolTable::is_known_not_negative(const Polynomial& polynomial) const {
  if (is_never_negative(polynomial)) return true;
  return std::any_of(guards_.begin(), guards_.end(), [&](const Guard& g) {
    const std::optional<Polynomial> least = never_negative(g);
    return least && is_never_negative(sum(polynomial, *least, -1));
  });
}

/// Whether an inequality holds wherever the polynomial is not negative.
bool SymbolTable::follows(const Guard& guard, const Polynomial& not_negative) const {
  if (guard.relation == Guard::Relation::equal) return false;
  if (guard.relation != Guard::Relation::different)
    return is_never_negative(sum(*never_negative(guard), not_negative, -1));
  const Polynomial difference = sum(polynomial_of(guard.left), polynomial_of(guard.right), -1);
  return is_never_negative(sum(sum(difference, one, -1), not_negative, -1)) ||
         is_never_negative(sum(sum(minus_one, difference, -1), not_negative, -1));
}

/// Adds the guard for it, without minus signs, and drops those that follow from it. What can be neither below 0 nor
/// above is 0.
void SymbolTable::rely_on_not_negative(const Polynomial& polynomial) {
  using enum Guard::Relation;
  Polynomial greater, smaller, number;
  for (const auto& [monomial, coefficient] : polynomial)
    if (monomial.empty()) number = {{monomial, coefficient}};
    else if (coefficient > 0) greater.emplace(monomial, coefficient);
    else smaller.emplace(monomial, times(-1, coefficient));
  const bool is_zero = is_known_not_negative(sum({}, polynomial, -1));
  const bool is_less = !is_zero && (greater.empty() || (number == minus_one && !smaller.empty()));
  const bool adds_number = number.contains(Monomial()) && number.at(Monomial()) > 0;
  if (is_less) greater = sum(sum(greater, number, 1), one, 1);
  else if (adds_number) greater = sum(greater, number, 1);
  else smaller = sum(smaller, number, -1);
  const Size above = size_of(greater), below = size_of(smaller);
  std::erase_if(guards_, [&](const Guard& g) { return follows(g, polynomial); });
  if (is_less) guard(below, less, above);
  else guard(above, is_zero ? equal : at_least, below);
}

std::int64_t SymbolTable::fix(Size size, const std::string& remedy) {
  if (const auto number = plain_number(polynomial_of(size))) return *number;
  if (is_text_)
    throw ValueError("the program needs the number " + print(size) + ", which its text leaves open; write it there");
  const std::int64_t number = hint(size);
  const std::size_t before = guards_.size();
  equal(size, number);
  if (guards_.size() > before) guards_.back().remedy = remedy;
  return number;
}

std::int64_t SymbolTable::hint(Size size) const {
  const std::int64_t number =
      value_of(polynomial_of(size), [this](int i) { return Size(unknowns_[static_cast<std::size_t>(i)].hint); });
  return is_text_ ? std::max<std::int64_t>(number, 1) : number;  // a text's numbers are made up
}

void SymbolTable::guard(Size left, Guard::Relation relation, Size right) {
  const Polynomial difference = sum(polynomial_of(left), polynomial_of(right), -1);
  guards_.push_back({.left = left,
                     .relation = relation,
                     .right = right,
                     .origin = origin_of_guards && !is_text_ ? origin_of_guards() : nullptr,
                     .difference = difference});
  if (relation == Guard::Relation::equal) solve(difference);
}

// ── what a guard says of a size ──

bool SymbolTable::depends_on(int unknown, int on) const {
  const Unknown& u = unknowns_[static_cast<std::size_t>(unknown)];
  return unknown == on || (u.input < 0 && (depends_on(u.numerator, on) || depends_on(u.denominator, on)));
}

bool SymbolTable::depends_on(const Polynomial& polynomial, int on) const {
  for (const auto& [monomial, coefficient] : polynomial)
    for (int unknown : monomial)
      if (depends_on(unknown, on)) return true;
  return false;
}

/// The polynomial is 0: if that says what one size of the inputs is, the last of them goes.
bool SymbolTable::solve(const Polynomial& zero) {
  for (auto term = zero.rbegin(); term != zero.rend(); ++term) {
    const auto& [monomial, coefficient] = *term;
    if (monomial.size() != 1 || unknowns_[static_cast<std::size_t>(monomial[0])].input < 0) continue;
    Polynomial value;
    if (!divides({{{}, -coefficient}}, sum(zero, {{monomial, coefficient}}, -1), value)) continue;
    if (depends_on(value, monomial[0])) continue;
    substitute(monomial[0], value);
    return true;
  }
  return false;
}

void SymbolTable::substitute(int unknown, const Polynomial& by) {
  const auto rewrite = [&](Polynomial& polynomial) {
    Polynomial result;
    for (const auto& [monomial, coefficient] : polynomial) {
      Polynomial factor{{{}, coefficient}};
      for (int i : monomial) factor = product(factor, i == unknown ? by : Polynomial{{{i}, 1}});
      result = sum(std::move(result), factor, 1);
    }
    polynomial = std::move(result);
  };
  unknowns_[static_cast<std::size_t>(unknown)].is_solved = true;
  for (Unknown& u : unknowns_) {
    rewrite(u.numerator);
    rewrite(u.denominator);
  }
  index_.clear();
  for (std::size_t i = 0; i < expressions_.size(); ++i) {
    rewrite(expressions_[i]);
    index_.try_emplace(expressions_[i], static_cast<std::int64_t>(i));
  }
  simplify();
}

/// Quotients that have become exact, or the same as another, and guards that have come to say what a size is.
void SymbolTable::simplify() {
  for (std::size_t i = 0; i < unknowns_.size(); ++i) {
    const Unknown& u = unknowns_[i];
    if (u.input >= 0 || u.is_solved) continue;
    if (const auto quotient = known_quotient(u.numerator, u.denominator))
      return substitute(static_cast<int>(i), *quotient);
    for (std::size_t k = 0; k < i; ++k) {
      const Unknown& other = unknowns_[k];
      if (other.input < 0 && !other.is_solved && other.numerator == u.numerator && other.denominator == u.denominator)
        return substitute(static_cast<int>(i), {{{static_cast<int>(k)}, 1}});
    }
  }
  for (const Guard& g : guards_)
    if (g.relation == Guard::Relation::equal && solve(sum(polynomial_of(g.left), polynomial_of(g.right), -1))) return;
}

template <class SizeOfUnknown>
Size SymbolTable::value_of(const Polynomial& polynomial, const SizeOfUnknown& size_of_unknown) const {
  Size total = 0;
  for (const auto& [monomial, coefficient] : polynomial) {
    Size term = coefficient;
    for (int i : monomial) term = times(term, size_of_unknown(i));
    total = plus(total, term);
  }
  return total;
}

Size SymbolTable::size_of(int unknown, std::span<const Size> inputs, Sizes& known) const {
  const Unknown& u = unknowns_[static_cast<std::size_t>(unknown)];
  if (u.input >= 0) return inputs[static_cast<std::size_t>(u.input)];
  std::optional<Size>& result = known[static_cast<std::size_t>(unknown)];
  if (result) return *result;
  const auto size_of_unknown = [&](int i) { return size_of(i, inputs, known); };
  const Size below = value_of(u.denominator, size_of_unknown);
  result = below == 0 ? Size(0) : value_of(u.numerator, size_of_unknown) / below;
  return *result;
}

Size SymbolTable::evaluate(Size size, std::span<const Size> inputs) const {
  if (!size.is_symbol()) return size;
  if (const std::optional<int> unknown = unknown_of(size))
    return inputs[static_cast<std::size_t>(unknowns_[static_cast<std::size_t>(*unknown)].input)];
  Sizes known(unknowns_.size());
  return value_of(expression(size), [&](int i) { return size_of(i, inputs, known); });
}

const Guard* SymbolTable::broken(std::span<const Size> inputs) const {
  Sizes known(unknowns_.size());
  const auto holds = [&](const Guard& g) {
    return g.holds(value_of(g.difference, [&](int i) { return size_of(i, inputs, known); }), 0);
  };
  const auto at = std::find_if_not(guards_.begin(), guards_.end(), holds);
  return at == guards_.end() ? nullptr : &*at;
}

SymbolTable SymbolTable::seen_at(std::span<const std::int64_t> inputs) const {
  SymbolTable table = *this;
  table.forget_around();
  const auto hint_of = [&](int i) { return Size(table.unknowns_[static_cast<std::size_t>(i)].hint); };
  for (Unknown& u : table.unknowns_)  // a quotient stands behind the unknowns in it
    if (u.input >= 0) u.hint = inputs[static_cast<std::size_t>(u.input)];
  for (Unknown& u : table.unknowns_) {
    if (u.input >= 0) continue;
    const std::int64_t below = value_of(u.denominator, hint_of).raw();
    u.hint = below == 0 ? 0 : value_of(u.numerator, hint_of).raw() / below;
  }
  return table;
}

std::vector<Size> SymbolTable::inputs() const {
  std::vector<Size> sizes(static_cast<std::size_t>(inputs_));
  for (const Unknown& u : unknowns_)
    if (u.input >= 0) sizes[static_cast<std::size_t>(u.input)] = u.size;
  return sizes;
}

bool SymbolTable::serves(std::span<const Size> inputs) const {
  const auto is_known = [&](const Unknown& u) {
    return u.input < 0 || !u.is_solved || evaluate(u.size, inputs) == inputs[static_cast<std::size_t>(u.input)];
  };
  const auto holds = [&](const Guard& g) { return g.holds(evaluate(g.left, inputs), evaluate(g.right, inputs)); };
  return std::ranges::all_of(unknowns_, is_known) && std::ranges::all_of(guards_, holds);
}

std::vector<std::int64_t> SymbolTable::hints_of_inputs() const {
  std::vector<std::int64_t> hints(static_cast<std::size_t>(inputs_));
  for (const Unknown& u : unknowns_)
    if (u.input >= 0) hints[static_cast<std::size_t>(u.input)] = u.hint;
  return hints;
}

std::optional<Size> SymbolTable::named(std::int64_t number) const {
  for (const Unknown& u : unknowns_)
    if (u.input >= 0 && number-- == 0) return u.size;
  return std::nullopt;
}

std::string SymbolTable::print(int unknown) const {
  const Unknown& u = unknowns_[static_cast<std::size_t>(unknown)];
  if (u.input < 0) return "((" + print(u.numerator) + ")/(" + print(u.denominator) + "))";
  const auto is_before = [](const Unknown& other) { return other.input >= 0 && !other.is_solved; };
  return "s" + std::to_string(std::count_if(unknowns_.begin(), unknowns_.begin() + unknown, is_before));
}

/// The same text whatever the order in which the quotients were met.
std::string SymbolTable::print(const Polynomial& polynomial) const {
  using Factor = std::pair<int, std::string>;  // a quotient follows the sizes of the inputs
  std::map<std::vector<Factor>, std::int64_t> terms;
  for (const auto& [monomial, coefficient] : polynomial) {
    std::vector<Factor> factors;
    for (int i : monomial) {
      const bool is_quotient = unknowns_[static_cast<std::size_t>(i)].input < 0;
      factors.emplace_back(is_quotient ? static_cast<int>(unknowns_.size()) : i, print(i));
    }
    std::sort(factors.begin(), factors.end());
    terms[std::move(factors)] = coefficient;
  }
  std::string text;
  for (auto term = terms.rbegin(); term != terms.rend(); ++term) {  // a plain number comes last
    const auto& [factors, coefficient] = *term;
    if (!text.empty() && coefficient > 0) text += '+';
    if (coefficient == -1 && !factors.empty()) text += '-';
    else if (coefficient != 1 || factors.empty()) text += std::to_string(coefficient) + (factors.empty() ? "" : "*");
    for (std::size_t i = 0; i < factors.size(); ++i) text += (i ? "*" : "") + factors[i].second;
  }
  return text.empty() ? "0" : text;
}

std::string SymbolTable::print_guards() const {
  constexpr const char* signs[] = {"=", "!=", "<", ">="};
  std::string text;
  std::vector<std::string> printed;
  for (const Guard& g : guards_) {
    Polynomial left = polynomial_of(g.left), right = polynomial_of(g.right);
    if (says_nothing(g.relation, sum(left, right, -1))) continue;
    if (plain_number(left) && g.relation <= Guard::Relation::different) std::swap(left, right);
    const std::string guard = print(left) + signs[static_cast<std::size_t>(g.relation)] + print(right);
    if (std::find(printed.begin(), printed.end(), guard) != printed.end()) continue;
    text += (printed.empty() ? " where " : ", ") + guard;
    printed.push_back(guard);
  }
  return text;
}

/// Whether algebra says it too.
bool SymbolTable::says_nothing(Guard::Relation relation, const Polynomial& difference) {
  switch (relation) {
    case Guard::Relation::equal: return difference.empty();
    case Guard::Relation::different: return is_never_zero(difference);
    case Guard::Relation::less: return is_never_negative(sum({{{}, -1}}, difference, -1));
    case Guard::Relation::at_least: return is_never_negative(difference);
  }
  return false;
}

std::string SymbolTable::print(Size size) const { return print(polynomial_of(size)); }

bool inside_symbol_scope() { return this_thread.symbols != nullptr; }

std::int64_t fixed(Size symbol, const std::string& remedy) { return owner_of(symbol).fix(symbol, remedy); }

Size here(Size size) {
  if (!size.is_symbol() || !this_thread.symbols) return size;
  SymbolTable& owner = owner_of(size);
  return &owner == this_thread.symbols ? size : Size(owner.fix(size));
}

Size smaller(Size a, Size b) {
  if (any_symbol(a, b)) return table().smaller(here(a), here(b));
  return a.raw() < b.raw() ? a : b;
}

std::optional<Size> symbol_named(std::int64_t number) {
  return this_thread.symbols ? this_thread.symbols->named(number) : std::nullopt;
}

std::string symbol_text(Size size) {
  if (!size.is_symbol()) return std::to_string(size.raw());
  const SymbolTable* const owner = this_thread.symbols ? this_thread.symbols->owner(size) : nullptr;
  return owner ? owner->print(size) : "?";
}

std::string hint_text(Size size) {
  if (!size.is_symbol()) return std::to_string(size.raw());
  if (!this_thread.symbols) return "?";
  return this_thread.symbols->is_text() ? symbol_text(size) : std::to_string(size.hint());
}

std::int64_t Size::guarded_value() const { return fixed(*this, {}); }
std::int64_t Size::symbol_hint() const { return owner_of(*this).hint(*this); }

namespace symbols {
Size combine(char op, Size a, Size b) { return table().combine(op, here(a), here(b)); }
bool equal(Size a, Size b) { return table().equal(here(a), here(b)); }
bool less(Size a, Size b) { return table().less(here(a), here(b)); }
}  // namespace symbols

}  // namespace ricci
