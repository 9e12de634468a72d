// Values said as functions of an index: what stands in the axes of a value at a symbolic place, as a node of the scalar
// graph. Knows the rules of operations, no operation by name. Start with `SaidInRegion`.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compile/elements.h"
#include "compile/expansion.h"
#include "program/program.h"

namespace ricci::compiled {

/// A coordinate: `offset`, and for each range so much times its position.
struct Affine {
  std::int64_t offset = 0;
  std::vector<std::int64_t> by_range;
  bool operator==(const Affine&) const = default;
  auto operator<=>(const Affine&) const = default;
};
/// By axis of a value.
using Index = std::vector<Affine>;

/// The positions of some ranges, outermost first.
struct Ranges {
  std::vector<std::int64_t> begin, end;

  std::size_t count() const { return begin.size(); }
  std::int64_t size(std::size_t range) const { return end[range] - begin[range]; }
  std::int64_t positions() const {
    std::int64_t all = 1;
    for (std::size_t k = 0; k < count(); ++k) all *= size(k);
    return all;
  }
};

/// Thrown: a value begins or ends inside the ranges, in front of this position of a range.
struct CutAt {
  std::size_t range;
  std::int64_t position;
};
/// Thrown: what this equation gives cannot be said at an index of this kind.
struct CannotSay {
  std::size_t equation;
};
/// Thrown: there is too much to compute at one index.
struct TooLong {};

/// Whether rules say what one element is, at an index: elementwise operations by their formulas, views and parts of
/// values by their layouts, and what has one number everywhere.
bool says_elements_at_index(const ProgramBody& body, const Equation& e);

/// By variable: the equation whose result it is, if that is said where it is read; -1: it lies in memory.
using SaidBy = std::vector<std::ptrdiff_t>;

/// An element that a region reads, as it moves with the ranges; in elements of a tensor that lies row by row.
struct ElementRead {
  Variable from;
  Index at;
  bool is_on_diagonal = false;  ///< 1 where the only coordinate is 0, else 0: of a matrix with one diagonal
};

/// Some positions of ranges. Requires: all sizes of the body are numbers.
class SaidInRegion {
 public:
  SaidInRegion(const ProgramBody& body, const SaidBy& said, const Ranges& ranges, ScalarGraph& graph);

  /// Throws CutAt, CannotSay and TooLong.
  Node value(Variable v, Index at);
  /// What an equation gives, also where others read that from memory.
  Node made(std::size_t equation, Index at);
  /// Whether the index is one of a value of this shape. Throws CutAt.
  bool is_inside(const Shape& shape, const Index& at) const;
  /// By the graph's numbers of inputs.
  const std::vector<ElementRead>& reads() const { return reads_; }
  /// How often an equation's result was asked for, each time at another index.
  const std::vector<int>& times_said() const { return times_said_; }

 private:
  enum class Inside : std::uint8_t { yes, no };

  Index simplified(const Shape& shape, Index at) const;
  Node said(std::size_t equation, const Index& at);
  Node elementwise(std::size_t equation, const Index& at);
  Node part_replaced(std::size_t equation, const Index& at);
  Node joined(std::size_t equation, Index at);
  Node number(std::size_t equation);
  Node on_diagonal(std::size_t equation, const Index& at);
  Node read(Variable v, const Index& at);
  Inside inside(std::size_t equation, const Affine& c, std::int64_t first, std::int64_t last) const;
  void simplify(Affine& c) const;
  const Type& type(Variable v) const { return body_.types[at(v)]; }

  const ProgramBody& body_;
  const SaidBy& said_;
  const Ranges& ranges_;
  ScalarGraph& graph_;
  std::map<std::pair<Variable, Index>, Node> known_;
  std::vector<ElementRead> reads_;
  std::vector<int> times_said_;  // by equation
  int depth_ = 0;
};

}  // namespace ricci::compiled
