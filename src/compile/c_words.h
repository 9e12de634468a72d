// Words of formulas and conversions between types as expressions of C99. Knows nothing of plans.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compile/plan.h"

namespace ricci::compiled {

/// Of an element in memory: truth values are bytes, halves are their bits, complex numbers are pairs of these.
const char* type_in_c(DType dtype);
/// The C library's function, or that of NVIDIA's libdevice; null where there is none for elements of the type.
const char* name_in_libm(Word word, DType dtype);
const char* name_in_libdevice(Word word, DType dtype);

/// An expression. `binds`: how tightly its outermost operator does.
struct CText {
  enum class Binds : std::uint8_t { conditional, comparison, sum, product, unary, primary };
  std::string text;
  Binds binds = Binds::primary;
};

/// Writes words, and the static functions that they call, one for each that was needed.
class CWords {
 public:
  /// `prefix`: of the names of these functions.
  explicit CWords(std::string prefix) : prefix_(std::move(prefix)) {}

  /// What a step that computes gives for these operands, the first of which is of type `d`.
  CText result(const ScalarStep& s, DType d, std::span<const CText> x);
  CText word(Word w, DType d, std::span<const CText> x);
  CText converted(const CText& x, DType from, DType to, bool is_unsigned = false);
  /// `bits`: of an element of the type.
  static CText number(DType dtype, std::uint64_t bits);
  /// The type of a value that is computed: truth values are ints.
  static const char* type_of_value(DType dtype);
  /// Between parentheses unless it binds at least so tightly.
  static std::string inside(const CText& x, CText::Binds least);

  /// The functions, in an order in which each comes before its calls.
  const std::string& functions() const { return functions_; }
  const std::vector<std::pair<Word, DType>>& lacking() const { return lacking_; }

 private:
  CText of_truth(Word w, std::span<const CText> x);
  std::optional<CText> of_floats(Word w, DType d, std::span<const CText> x);
  std::optional<CText> of_integers(Word w, DType d, std::span<const CText> x);
  std::optional<CText> test(Word w, DType d, std::span<const CText> x);
  CText by_formula(Word w, DType d, std::span<const CText> x);
  CText bits(const CText& x, DType from, DType to);
  /// A call of a function of ours. `write(name)` gives its text, when it is first called.
  template <class Write>
  CText call(const std::string& name, std::span<const CText> x, const Write& write);

  std::string prefix_, functions_;
  std::map<std::string, bool> written_;
  std::vector<std::pair<Word, DType>> lacking_;
};

/// Statements that compute the nodes `order`, operands first. `values` has those that are known, and gets the others: a
/// node that is read once, and is short, is an expression; else it is a constant of its own.
struct CNodes {
  const ScalarGraph& graph;
  CWords& words;
  std::map<Node, CText> values = {};
  std::vector<int> uses = {};  ///< by node
  int named = 0;               ///< constants so far

  /// `statement(text)` writes a line.
  template <class Statement, class Leaf>
  void compute(std::span<const Node> order, bool are_named, const Leaf& leaf, const Statement& statement) {
    for (const Node n : order) {
      if (values.contains(n)) continue;
      const ScalarStep& s = graph[n];
      CText x;
      if (std::optional<CText> found = leaf(n)) {
        x = std::move(*found);
      } else {
        std::vector<CText> operands;
        for (const Node from : s.from)
          if (from != no_node) operands.push_back(value(from, leaf));
        x = words.result(s, graph[s.from[0]].dtype, operands);
      }
      constexpr std::size_t most = 40;
      const bool is_short = x.text.size() < most;
      if ((uses[static_cast<std::size_t>(n)] > 1 || are_named || !is_short) && !is_name(x.text)) name(n, x, statement);
      else values[n] = x;
    }
  }
  template <class Statement>
  void name(Node n, const CText& x, const Statement& statement) {
    const std::string name = "v" + std::to_string(named++);
    statement("const " + std::string(CWords::type_of_value(graph[n].dtype)) + " " + name + " = " + x.text + ";");
    values[n] = {name};
  }
  template <class Leaf>
  CText value(Node n, const Leaf& leaf) {
    if (const auto known = values.find(n); known != values.end()) return known->second;
    if (graph[n].kind == StepKind::number) return CWords::number(graph[n].dtype, graph[n].payload);
    return *leaf(n);
  }
  static bool is_name(const std::string& text);
};

}  // namespace ricci::compiled
