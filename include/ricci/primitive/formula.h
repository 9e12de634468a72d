// A formula as data: what an elementwise operation makes of one element, or a reduction of many, written down word by
// word. A symbolic value writes it; a compiler reads it and needs no C++ of the operation. Knows no operation. Start
// with `Formula`.
#pragma once

#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "ricci/primitive/symbolic.h"

namespace ricci {

/// What an operation makes of one real element of each operand. It holds for every element type of the operation;
/// half precision is computed in float. A complex element has another formula, which is not written down.
struct Formula {
  enum class Kind : std::uint8_t { input, number, word, select };
  struct Step {
    Kind kind;
    bool is_mask;                            // a truth value, not an element
    scalar::Word word{};                     // of Kind::word
    std::array<int, 3> from = {-1, -1, -1};  // the operands: earlier steps. Of Kind::input: which input
    long double number = 0;                  // of Kind::number: rounded to the element type
  };
  std::vector<Step> steps;
  int result = -1;
};

/// What a reduction makes of real elements, in the order that its loops choose. join(start, t) is t. Elements of a
/// reduction to truth values, and its totals, are masks; elements that are counted are 1 and 0.
struct Accumulation {
  long double start;    // infinite: the limits of an integer
  long double nothing;  // the total of no elements
  int operands;
  Formula term;    // of an element of each operand
  Formula add;     // of a total, then an element of each operand
  Formula join;    // of two totals
  Formula finish;  // of a total and the number of elements, the result
};

/// One word a line, inputs as x0, x1 and numbers where they are used: `a = exp x0`. The last line names the result.
std::string to_string(const Formula& formula);

/// A symbolic value in the sense of symbolic.h that writes each word down. Used by what `into` runs, and nowhere else.
class Written {
 public:
  class Mask;
  using symbolic_mask = Mask;

  /// run(), whose written values go to `formula`.
  template <class Run>
  static void into(Formula& formula, const Run& run) {
    into(formula, [](const void* it) { (*static_cast<const Run*>(it))(); }, &run);
  }

  template <class Number>
    requires std::is_arithmetic_v<Number>
  explicit Written(Number constant)
      : step_(add({.kind = Formula::Kind::number, .is_mask = false, .number = static_cast<long double>(constant)})) {}
  static Written input(int i) {
    return Written(At{add({.kind = Formula::Kind::input, .is_mask = false, .from = {i}})});
  }

  template <class... T>
  static Written word(scalar::Word name, const T&... x) {
    return Written(At{add_word(name, false, x...)});
  }
  template <class... T>
  static Mask test(scalar::Word name, const T&... x);
  static Written select(const Mask& mask, const Written& yes, const Written& no);

  friend Written operator+(const Written& a, const Written& b) { return word(scalar::Word::add, a, b); }
  friend Written operator-(const Written& a, const Written& b) { return word(scalar::Word::subtract, a, b); }
  friend Written operator*(const Written& a, const Written& b) { return word(scalar::Word::multiply, a, b); }
  friend Written operator/(const Written& a, const Written& b) { return word(scalar::Word::divide, a, b); }
  friend Written operator-(const Written& x) { return word(scalar::Word::negative, x); }

  int step() const { return step_; }

 private:
  struct At {
    int step;
  };
  explicit Written(At at) : step_(at.step) {}
  static int add(const Formula::Step& step);
  template <class... T>
  static int add_word(scalar::Word name, bool is_mask, const T&... x) {
    Formula::Step step{.kind = Formula::Kind::word, .is_mask = is_mask, .word = name};
    auto place = step.from.begin();
    ((*place++ = x.step()), ...);
    return add(step);
  }
  static void into(Formula& formula, void (*run)(const void*), const void* it);

  int step_;
};

/// What comparing two written values gives.
class Written::Mask {
 public:
  static Mask input(int i) { return Mask(add({.kind = Formula::Kind::input, .is_mask = true, .from = {i}})); }

  friend Mask operator&&(const Mask& a, const Mask& b) { return Written::test(scalar::Word::logical_and, a, b); }
  friend Mask operator||(const Mask& a, const Mask& b) { return Written::test(scalar::Word::logical_or, a, b); }
  friend Mask operator^(const Mask& a, const Mask& b) { return Written::test(scalar::Word::logical_xor, a, b); }
  friend Mask operator!(const Mask& x) { return Written::test(scalar::Word::logical_not, x); }

  int step() const { return step_; }

 private:
  friend class Written;
  explicit Mask(int step) : step_(step) {}
  int step_;
};

template <class... T>
Written::Mask Written::test(scalar::Word name, const T&... x) {
  return Mask(add_word(name, true, x...));
}

inline Written Written::select(const Mask& mask, const Written& yes, const Written& no) {
  return Written(
      At{add({.kind = Formula::Kind::select, .is_mask = false, .from = {mask.step(), yes.step(), no.step()}})});
}

}  // namespace ricci
