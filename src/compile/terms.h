// Values of a program as products, and what adds them up. Start with `Terms`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "program/program.h"
#include "ricci/primitive/formula.h"
#include "tensor/at.h"

namespace ricci::compiled {

/// A part of an index. An axis of 6 that is two axes of 2 and 3 in another value has two digits.
using Digit = int;
using Digits = std::vector<Digit>;  // outermost first

/// Digits by number. One that turns out to be several, or to be another one, stands for these from then on.
class DigitTable {
 public:
  Digit add(std::int64_t size) {
    sizes_.push_back(size), stands_for_.emplace_back();
    return static_cast<Digit>(sizes_.size() - 1);
  }
  std::int64_t size(Digit d) const { return sizes_[at(d)]; }
  std::int64_t positions(const Digits& digits) const {
    std::int64_t all = 1;
    for (const Digit d : digits) all *= size(d);
    return all;
  }
  /// The digits that these stand for by now.
  Digits now(const Digits& digits) const {
    Digits all;
    for (const Digit d : digits) {
      if (stands_for_[at(d)].empty()) {
        all.push_back(d);
      } else {
        const Digits parts = now(stands_for_[at(d)]);
        all.insert(all.end(), parts.begin(), parts.end());
      }
    }
    return all;
  }
  /// Two digits, the inner one of that size.
  void split(Digit d, std::int64_t inner) {
    const Digit outer_part = add(size(d) / inner), inner_part = add(inner);
    stands_for_[at(d)] = {outer_part, inner_part};
  }
  /// Makes two axes of one length have the same digits. False where neither is cut as the other one.
  bool join(const Digits& one, const Digits& other) {
    for (std::size_t k = 0;; ++k) {
      const Digits a = now(one), b = now(other);
      if (k == a.size() || k == b.size()) return a.size() == b.size();
      if (a[k] == b[k]) continue;
      const std::int64_t of_a = size(a[k]), of_b = size(b[k]);
      if (of_a == of_b) stands_for_[at(a[k])] = {b[k]};
      else if (of_a % of_b == 0) split(a[k], of_a / of_b), --k;
      else if (of_b % of_a == 0) split(b[k], of_b / of_a), --k;
      else return false;
    }
  }

 private:
  std::vector<std::int64_t> sizes_;
  std::vector<Digits> stands_for_;  // none: itself
};

using AxisDigits = std::vector<Digits>;  // by axis; none of an axis of one element
/// The digits of all axes.
inline Digits all_of(const AxisDigits& axes) {
  Digits all;
  for (const Digits& axis : axes) all.insert(all.end(), axis.begin(), axis.end());
  return all;
}

inline bool has(const Digits& digits, Digit d) { return std::ranges::find(digits, d) != digits.end(); }

/// A value of the program, read at an index.
struct Factor {
  Variable value;
  AxisDigits axes;
  bool divides = false;
};

/// A value as a product.
struct Term {
  std::vector<Factor> factors;
  AxisDigits axes;               // of the value
  std::int64_t most_spared = 0;  // elements of the largest product that needs no memory; 0: it is no product
};

/// What adds up terms.
struct Sum {
  Term term;
  AxisDigits added;  // the axes that are added up
  Formula finish;    // of the total and the number of elements; none: the total is the result
  Type type;         // of the result
};
/// What a sum gives of its total: the total, or the total divided by the number of elements.
enum class Ending { total, mean, other };
Ending ending_of(const Formula& finish);
/// Whether each digit that is added up is one of a factor. If it were not, the sum would be so many times as large.
bool reads_all(const Sum& sum);

/// Says values of a program as products. Requires: sizes are numbers.
class Terms {
 public:
  explicit Terms(const ProgramBody& body);

  /// None where the equation adds nothing up, or does so where digits do not fit.
  std::optional<Sum> sum(const Equation& e);
  /// A value as the sum that gives it, seen through views. Where no sum does: as one product, perhaps of one factor.
  Sum total(Variable v);
  const DigitTable& digits() const { return digits_; }

 private:
  static constexpr std::size_t most_factors = 8;
  const Type& type(Variable v) const { return body_.types[at(v)]; }
  std::int64_t elements(Variable v) const { return type(v).shape.numel().raw(); }
  void resolve(AxisDigits& axes) const;
  Digits new_axis(Size size) { return size.raw() == 1 ? Digits() : Digits{digits_.add(size.raw())}; }
  Term as_it_is(Variable v);
  /// With at most so many factors.
  Term term(Variable v, std::size_t most);
  std::optional<Term> said_by(const Equation& e, std::size_t most);
  bool has_dtype_of(Variable operand, Variable result) const;
  /// Of a formula that is one multiplication or division. A result no larger than an operand stays a factor: none,
  /// unless an operand is a product.
  std::optional<Term> product(Variable y, const Formula& formula, std::span<const Variable> operands, std::size_t most);
  std::optional<Term> outer_product(const Equation& e, std::size_t most);
  Term joined(Variable y, Term left, Term right, AxisDigits axes) const;
  /// The axes of two values that broadcast against each other.
  std::optional<AxisDigits> spread(const AxisDigits& a, const AxisDigits& b);
  /// The view of a value that is a product. None where it shows a part, or an element twice along axes of its own.
  std::optional<Term> shown(const Equation& e, Term term);
  /// The digit of a value that lies row by row whose neighbours are so far apart, or a part of it that divides `most`;
  /// -1: there is none.
  Digit digit_with(const AxisDigits& axes, std::int64_t stride, std::int64_t most);
  std::optional<Sum> sum_behind_views(Variable v);
  void resolve(Sum& sum) const;
  std::optional<Sum> added_up(const Equation& e);
  std::optional<Sum> product_of_matrices(const Equation& e);
  /// A sum, a mean, a sum of squares or an inner product.
  std::optional<Sum> reduction(const Equation& e);

  const ProgramBody& body_;
  std::vector<std::ptrdiff_t> made_by_;  // by variable: its equation; -1: none
  DigitTable digits_;
};

}  // namespace ricci::compiled
