// Sizes that are symbols: expressions over the sizes of a recorded program's inputs, each with the number it has in the
// recording (its hint), and the guards under which the recording holds for other numbers. Sums, differences and
// products are kept as polynomials, so that equal ones are one symbol; a division that is not exact is an unknown of
// its own. Knows nothing of tensors or programs. Start with `SymbolTable`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ricci/shape.h"
#include "tensor/thread_context.h"

namespace ricci {

/// What a recording has found and relied on.
struct Guard {
  enum class Relation : std::uint8_t { equal, different, less, at_least };
  Size left;
  Relation relation;
  Size right;
  std::function<std::string()> origin = {};                  // says which call relied on it: `reshape (train.cpp:89)`
  std::string remedy = {};                                   // how the user leaves it open; empty: nobody knows
  std::map<std::vector<int>, std::int64_t> difference = {};  // left - right, before anything was solved for

  bool holds(Size left, Size right) const;
};
/// ` is `, ` is not `, ` is less than `, ` is at least `.
const char* to_string(Guard::Relation relation);

/// Gives the origin of a guard that is left now; set by the layer that knows the user's calls.
extern std::function<std::string()> (*origin_of_guards)();

/// The symbols of one recording, or of a program's text. A size that turns out to be a plain number is given as one.
/// Where a guard says what a size of the inputs is (`s1 = 3`, `s2 = 2*s0`), that size is known from then on: all
/// expressions are rewritten, so that equal ones print alike.
class SymbolTable {
 public:
  SymbolTable() = default;
  /// Of a recording that begins inside the one with the table `around`; null: in none. Symbols of `around` become
  /// numbers in this table (`here`).
  explicit SymbolTable(SymbolTable* around) : around_(around) {}
  /// The recording has ended: it has no symbols of the table around it.
  void forget_around() { around_ = nullptr; }
  /// The size of an input, `hint` in this recording: the next unknown.
  Size add_input(std::int64_t hint);
  /// The next size of the inputs is no unknown, but one that can be said in others.
  void skip_input() { ++inputs_; }
  /// Of a text, whose hints are made up: its guards and algebra alone decide what is equal, sizes that differ by those
  /// are unequal, and reading a size as a number throws.
  void read_from_text() { is_text_ = true; }
  /// The size that the text calls `s<number>`: what add_input gave, in order. None if there are fewer.
  std::optional<Size> named(std::int64_t number) const;
  /// Relies on it from here on.
  void guard(Size left, Guard::Relation relation, Size right);
  /// a op b for one of + - * /. A quotient that rounds relies on its terms not being negative; where one is, both are
  /// read as numbers. Requires: a divisor is not 0 in this recording.
  Size combine(char op, Size a, Size b);
  /// Decided by algebra where possible; else by the hints, leaving a guard.
  bool equal(Size a, Size b);
  /// The same of a < b.
  bool less(Size a, Size b);
  /// The smaller one, under a guard that lets the two be equal.
  Size smaller(Size a, Size b);
  /// The hint, with the guard that the size is that. `remedy` says what would leave it open: `use x.shape()[0]`.
  std::int64_t fix(Size size, const std::string& remedy = {});
  std::int64_t hint(Size size) const;

  /// The sizes of the inputs in this recording, in order; 0 for those that are no unknowns.
  std::vector<std::int64_t> hints_of_inputs() const;
  /// The same symbols as in another recording, where the inputs have these sizes.
  SymbolTable seen_at(std::span<const std::int64_t> inputs) const;
  /// The sizes of the inputs as symbols, in order; 0 for those that are no unknowns.
  std::vector<Size> inputs() const;
  /// The number of the unknown that the size is: an input's size that no guard has said in others. Equal sizes have one
  /// number. None of other sizes: `2*s0`, 3.
  std::optional<int> unknown_of(Size size) const;
  /// How many symbols there are, and the number of one of them, from 0.
  std::size_t symbols() const { return expressions_.size(); }
  static std::size_t number(Size symbol) {
    return static_cast<std::size_t>(symbol.symbol_index() & (symbols_of_a_table - 1));
  }
  /// Whether the symbol is one of this table, or of a copy.
  bool has(Size symbol) const { return id_of(symbol) == id_ && number(symbol) < symbols(); }
  /// The table that made the symbol: this table, or a table around this one. Null: no such table made the symbol.
  SymbolTable* owner(Size symbol);
  /// Guards in the order in which they were found, none twice.
  const std::vector<Guard>& guards() const { return guards_; }
  bool is_text() const { return is_text_; }
  /// Whether what the recording relied on holds for these sizes of the inputs: its guards, and what it knows sizes to
  /// be.
  bool serves(std::span<const Size> inputs) const;
  /// The first of the guards that do not hold for these sizes of the inputs; null if all do.
  const Guard* broken(std::span<const Size> inputs) const;
  /// ` where s0!=1, s0*s1=6`: those that the types of the inputs do not show; nothing where there are none.
  std::string print_guards() const;
  /// A size, given the sizes of the inputs in the order of `add_input`: numbers, or symbols of the table that is
  /// installed, where the program is called inside another recording.
  Size evaluate(Size size, std::span<const Size> inputs) const;
  /// `s0`, `2*s0*s1+1`, `(s0+1)/2`.
  std::string print(Size size) const;

 private:
  using Monomial = std::vector<int>;                    // unknowns, ascending, repeated for powers; none: a number
  using Polynomial = std::map<Monomial, std::int64_t>;  // to coefficients, none of them 0
  struct Unknown {
    int input;  // its place among the sizes of the inputs; -1: the quotient of two expressions, rounded down
    Polynomial numerator, denominator;
    std::int64_t hint;
    bool is_solved = false;  // stands in no expression any more
    Size size = {};          // of an input
  };
  using Sizes = std::vector<std::optional<Size>>;  // by unknown

  static constexpr std::int64_t symbols_of_a_table = std::int64_t{1} << 40, tables = std::int64_t{1} << 21;
  static std::int64_t next_id();
  static std::int64_t id_of(Size symbol) { return symbol.symbol_index() / symbols_of_a_table; }
  Size symbol(std::int64_t number) const { return Size::symbol(id_ * symbols_of_a_table + number); }

  /// Requires: the size is a symbol of this table.
  const Polynomial& expression(Size size) const { return expressions_[number(size)]; }
  Polynomial polynomial_of(Size size) const;
  Size size_of(const Polynomial& polynomial);
  std::optional<Polynomial> known_quotient(const Polynomial& dividend, const Polynomial& divisor) const;
  int unknown_of_quotient(const Polynomial& numerator, const Polynomial& denominator);
  const Guard* known(const Polynomial& difference) const;
  bool is_known_not_negative(const Polynomial& polynomial) const;
  std::optional<Polynomial> never_negative(const Guard& guard) const;
  bool follows(const Guard& guard, const Polynomial& not_negative) const;
  void rely_on_not_negative(const Polynomial& polynomial);
  bool solve(const Polynomial& zero);
  void substitute(int unknown, const Polynomial& by);
  void simplify();
  bool depends_on(int unknown, int on) const;
  bool depends_on(const Polynomial& polynomial, int on) const;
  template <class SizeOfUnknown>
  Size value_of(const Polynomial& polynomial, const SizeOfUnknown& size_of_unknown) const;
  Size size_of(int unknown, std::span<const Size> inputs, Sizes& known) const;
  std::string print(int unknown) const;
  std::string print(const Polynomial& polynomial) const;
  static std::optional<std::int64_t> plain_number(const Polynomial& polynomial);
  static Polynomial sum(Polynomial a, const Polynomial& b, std::int64_t factor);
  static Polynomial product(const Polynomial& a, const Polynomial& b);
  static bool is_never_zero(const Polynomial& polynomial);
  static bool is_never_negative(const Polynomial& polynomial);
  static bool says_nothing(Guard::Relation relation, const Polynomial& difference);
  static bool divides(const Polynomial& divisor, const Polynomial& dividend, Polynomial& quotient);

  SymbolTable* around_ = nullptr;
  std::int64_t id_ = next_id();  // of this table and its copies. A symbol carries the id of the table that made it
  int inputs_ = 0;
  std::vector<Unknown> unknowns_;
  std::vector<Polynomial> expressions_;  // by symbol index
  std::map<Polynomial, std::int64_t> index_;
  std::vector<Guard> guards_;
  bool is_text_ = false;
};

/// While it lives, symbols on this thread are those of this table.
using SymbolScope = With<&ThreadContext::symbols>;
/// For a SymbolScope: this table, or that of this thread where it is null.
inline SymbolTable* or_those_here(const std::shared_ptr<SymbolTable>& symbols) {
  return symbols ? symbols.get() : this_thread.symbols;
}

/// Whether a table is installed on this thread: elsewhere there are no symbols.
bool inside_symbol_scope();

/// The size for the installed table. A symbol of a table around becomes its number there, and that table gets a guard.
Size here(Size size);
/// As in the installed table, where one is a symbol.
Size smaller(Size a, Size b);
/// The hint of a symbol of the installed table, as `fix`.
std::int64_t fixed(Size symbol, const std::string& remedy);
/// The size as a number; where it is a symbol, under a guard whose error names `remedy()`.
template <class Remedy>
std::int64_t host_of(Size size, const Remedy& remedy) {
  return size.is_symbol() ? fixed(size, remedy()) : size.raw();
}

/// What a text calls `s<number>`; none where no table is installed, or has no such size.
std::optional<Size> symbol_named(std::int64_t number);
/// As in the installed table; for printing programs.
std::string symbol_text(Size size);
/// The number that errors show: its hint inside its recording, else `?`.
std::string hint_text(Size size);

}  // namespace ricci
