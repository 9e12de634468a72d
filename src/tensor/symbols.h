// Sizes that are symbols: expressions over the sizes of a recorded program's inputs, each with the number it has in the
// recording (its hint), and the guards under which the recording holds for other numbers. Sums, differences and
// products are kept as polynomials, so that equal ones are one symbol; a division that is not exact is an unknown of
// its own. Knows nothing of tensors or programs. Start with `SymbolTable`.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ricci/shape.h"

namespace ricci {

/// What a recording has found and relied on: the two were equal, or they were not.
struct Guard {
  Size left, right;
  bool equal;
};

/// The symbols of one recording. A size that turns out to be a plain number is given as one.
class SymbolTable {
 public:
  /// The size of an input, `hint` in this recording: the next unknown.
  Size add_input(std::int64_t hint);
  /// a op b for one of + - * /. Requires: a divisor is not 0 in this recording.
  Size combine(char op, Size a, Size b);
  /// Decided by algebra where possible; else by the hints, leaving a guard.
  bool equal(Size a, Size b);
  /// The hint, with the guard that the size is that.
  std::int64_t fix(Size size);
  std::int64_t hint(Size size) const;

  /// Guards in the order in which they were found, none twice.
  const std::vector<Guard>& guards() const { return guards_; }
  /// The number of a size, given the sizes of the inputs in the order of `add_input`.
  std::int64_t evaluate(Size size, std::span<const std::int64_t> inputs) const;
  /// `s0`, `2*s0*s1+1`, `(s0+1)/2`.
  std::string print(Size size) const;

 private:
  using Monomial = std::vector<int>;                    // unknowns, ascending, repeated for powers; none: a number
  using Polynomial = std::map<Monomial, std::int64_t>;  // to coefficients, none of them 0
  struct Unknown {
    int input;  // -1: the quotient of two expressions, rounded down
    Polynomial numerator, denominator;
    std::int64_t hint;
  };

  Polynomial polynomial_of(Size size) const;
  Size size_of(const Polynomial& polynomial);
  int unknown_of_quotient(const Polynomial& numerator, const Polynomial& denominator);
  void guard(Size left, Size right, bool equal);
  template <class Number>
  std::int64_t value_of(const Polynomial& polynomial, const Number& number) const;
  std::string print(const Polynomial& polynomial) const;
  static Polynomial sum(Polynomial a, const Polynomial& b, std::int64_t factor);
  static Polynomial product(const Polynomial& a, const Polynomial& b);
  static bool is_never_zero(const Polynomial& polynomial);
  static bool divides(const Polynomial& divisor, const Polynomial& dividend, Polynomial& quotient);

  int inputs_ = 0;
  std::vector<Unknown> unknowns_;
  std::vector<Polynomial> expressions_;  // by symbol index
  std::map<Polynomial, std::int64_t> index_;
  std::vector<Guard> guards_;
};

/// While it lives, symbols on this thread are those of `table`.
class SymbolScope {
 public:
  explicit SymbolScope(SymbolTable& table);
  SymbolScope(const SymbolScope&) = delete;
  ~SymbolScope();

 private:
  SymbolTable* saved_;
};

/// Whether a table is installed on this thread: elsewhere there are no symbols.
bool inside_symbol_scope();

/// As in the installed table; for printing programs.
std::string symbol_text(Size size);
/// The number that errors show: its hint inside its recording, else `?`.
std::string hint_text(Size size);

}  // namespace ricci
