// Scalar operations as a graph: what a compiler makes of a program once every tensor is taken apart into elements.
// Equal operations are one node, and a node is simplified when it is made. Plain data: the code generator reads it
// without the rest of the library. Knows nothing of tensors. Start with `ScalarGraph`.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ricci/dtype.h"
#include "ricci/primitive/symbolic.h"

namespace ricci {

struct Formula;

namespace compiled {

using scalar::Word;

inline bool is_float(DType d) { return d == DType::float32 || d == DType::float64; }

/// A number of a node.
using Node = std::int32_t;
inline constexpr Node no_node = -1;

/// What a scalar operation is.
enum class StepKind : std::uint8_t {
  input,    ///< element number `payload` of what the graph is given
  number,   ///< the bits of an element of the type in `payload`
  word,     ///< of one to three operands of one type
  select,   ///< from[0] ? from[1] : from[2]
  convert,  ///< to this type
  lanes,    ///< how many lanes there are, an int64
  total,    ///< from[0] of all lanes joined by `word`; from[1] joined with an element is that element
  lane,     ///< the number of the lane, an int64; from[0]: how many lanes stand in front that only fill a register
  given,    ///< number `payload` of what a run of the code is given beside elements, an int64
  load,     ///< the element at the address from[0], there at place from[1] + offset of `payload`
  bits,     ///< the same bits as an element of this type
};

/// One scalar operation. Truth values are of type boolean, half precision is computed in float32: a `convert` to
/// float16 rounds, and one back to float32 reads what was rounded.
struct ScalarStep {
  StepKind kind;
  Word word{};
  DType dtype = DType::float32;  ///< of the result
  bool is_structural = false;    ///< of a number: a rule put this zero there, so that 0 * x is 0 for every x
  std::array<Node, 3> from = {no_node, no_node, no_node};
  std::uint64_t payload = 0;  // of convert: 1 where the operand is a whole number without a sign

  /// Of a load: elements [from[1], from[1] + row) lie in one row.
  std::int64_t row() const { return static_cast<std::int64_t>(payload >> 32); }
  std::int64_t offset() const { return static_cast<std::int64_t>(payload & 0xffffffffU); }
  /// A sine or cosine: code computes lanes again whose arguments are larger than its formula holds for.
  bool is_circular() const { return kind == StepKind::word && (word == Word::sin || word == Word::cos); }

  bool operator==(const ScalarStep&) const = default;
};

/// The rules that hold bit for bit are applied always: constants, equal operations, 1 and -1 as factors, signs. A
/// structural zero vanishes from sums and makes products vanish.
class ScalarGraph {
 public:
  const std::vector<ScalarStep>& steps() const { return steps_; }
  const ScalarStep& operator[](Node n) const { return steps_[static_cast<std::size_t>(n)]; }

  Node input(std::uint64_t element, DType dtype);
  /// `bits`: an element of the type, in the first bytes.
  Node number(DType dtype, std::uint64_t bits, bool is_structural = false);
  /// Rounded to the type; infinities are the limits of integers.
  Node number(DType dtype, long double value, bool is_structural = false);
  /// Throws NoSuchWord where elements of the type have no such word.
  Node word(Word word, Node a, Node b = no_node, Node c = no_node);
  Node select(Node mask, Node yes, Node no);
  Node convert(DType to, Node x, bool is_unsigned = false);
  /// Requires: both types have elements of the same size.
  Node bits(DType to, Node x);
  Node lanes();
  Node lane(Node filling);
  Node given(std::uint64_t number);
  /// Requires: 0 <= offset < row < 2^31.
  Node load(DType dtype, Node address, Node place, std::int64_t offset, std::int64_t row);
  Node total(Word join, Node x, Node start);
  /// What a formula makes of these operands. Its numbers are of type `dtype`. Throws NoSuchWord.
  Node read(const Formula& formula, DType dtype, std::span<const Node> operands);

  bool is_number(Node n) const { return (*this)[n].kind == StepKind::number; }
  /// Whether it is this number, and not -0 for 0.
  bool is(Node n, double value) const;
  bool is_structural_zero(Node n) const;
  /// The step, not simplified any more.
  Node as_it_is(const ScalarStep& step) { return add(step); }
  /// The nodes that these need, operands first: each behind what it needs, the first output's before the second's.
  std::vector<Node> order(std::span<const Node> outputs) const;

 private:
  void make_room();
  Node add(const ScalarStep& step);
  Node plain(Word word, Node a, Node b = no_node, Node c = no_node);
  Node fold(const ScalarStep& step);
  Node sum(Node a, Node b);
  Node difference(Node a, Node b);
  Node product(Node a, Node b);
  Node quotient(Node a, Node b);
  Node negative(Node a);
  Node fused(Node a, Node b, Node c);
  Node truth_word(Word word, Node a, Node b);
  bool adds_nothing(Node n) const;
  bool is_negated(Node n) const;
  Node behind_sign(Node n) const { return (*this)[n].from[0]; }

  std::vector<ScalarStep> steps_;
  /// Nodes by the hash of their step, in the first free place behind it; as many places as a power of two, at least
  /// half of them free. A program of some thousand equations makes a million nodes, too many for memory of its own for
  /// each.
  std::vector<Node> places_;
};

// Inline, as the generator of machine code calls it too, which does not see the library's symbols.
inline std::vector<Node> ScalarGraph::order(std::span<const Node> outputs) const {
  std::vector<Node> order, open;
  std::vector<bool> seen(steps_.size()), is_open(steps_.size());
  for (const Node output : outputs) {
    open.push_back(output);
    while (!open.empty()) {
      const Node n = open.back();
      const auto at = static_cast<std::size_t>(n);
      if (seen[at] || is_open[at]) {
        open.pop_back();
        if (!seen[at]) order.push_back(n);
        seen[at] = true;
        continue;
      }
      is_open[at] = true;
      for (auto from = steps_[at].from.rbegin(); from != steps_[at].from.rend(); ++from)
        if (*from != no_node && !seen[static_cast<std::size_t>(*from)]) open.push_back(*from);
    }
  }
  return order;
}

/// Elements of the type have no such word.
struct NoSuchWord {
  Word word;
  DType dtype;
};

/// One operation a line: `a: f32 = mul x0 2`. Structural zeros print as `0!`.
std::string to_string(const ScalarGraph& graph, std::span<const Node> outputs);

}  // namespace compiled
}  // namespace ricci
