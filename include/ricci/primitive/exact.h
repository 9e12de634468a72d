// Exact: a number with more digits than any element type has. A formula instantiated with it says what the operation
// should have given, so that errors can be counted. Whoever counts them brings the arithmetic (tests/laws/exact.cpp):
// the library has none. Knows nothing of operations.
#pragma once

#include "ricci/primitive/symbolic.h"

namespace ricci {

/// A symbolic value in the sense of symbolic.h. Requires for every use: `arithmetic` is set.
struct Exact {
  using symbolic_mask = bool;

  struct Arithmetic {
    Exact (*number)(long double);
    /// The number as an element of the type whose results are counted holds it.
    Exact (*in_element)(double);
    /// Of the element type.
    Exact (*smallest_normal)();
    Exact (*word)(scalar::Word, const Exact*);
    bool (*test)(scalar::Word, const Exact*);
  };
  static inline const Arithmetic* arithmetic = nullptr;

  alignas(16) unsigned char bits[16];

  Exact() = default;
  explicit Exact(long double constant) : Exact(arithmetic->number(constant)) {}
  static Exact in_element(double constant) { return arithmetic->in_element(constant); }
  static Exact smallest_normal() { return arithmetic->smallest_normal(); }

  template <class... T>
  static Exact word(scalar::Word name, const T&... x) {
    const Exact operands[] = {x...};
    return arithmetic->word(name, operands);
  }
  template <class... T>
  static bool test(scalar::Word name, const T&... x) {
    const Exact operands[] = {x...};
    return arithmetic->test(name, operands);
  }
  static Exact select(bool mask, const Exact& yes, const Exact& no) { return mask ? yes : no; }

  friend Exact operator+(const Exact& a, const Exact& b) { return word(scalar::Word::add, a, b); }
  friend Exact operator-(const Exact& a, const Exact& b) { return word(scalar::Word::subtract, a, b); }
  friend Exact operator*(const Exact& a, const Exact& b) { return word(scalar::Word::multiply, a, b); }
  friend Exact operator/(const Exact& a, const Exact& b) { return word(scalar::Word::divide, a, b); }
  friend Exact operator-(const Exact& x) { return word(scalar::Word::negative, x); }
};

/// What an operation should have given, and what the error is counted in units in the last place of where that is
/// larger than the value.
struct ExactValue {
  Exact value, unit;
};

}  // namespace ricci
