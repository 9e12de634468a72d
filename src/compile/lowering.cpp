// Values that write the elementary formulas into a scalar graph.
#include "compile/lowering.h"

#include "compile/words.h"
#include "ricci/primitive/scalar.h"

namespace ricci::compiled {
namespace {

using Kind = ScalarStep::Kind;

/// The graph that values of this thread are written into.
thread_local ScalarGraph* written_graph = nullptr;

class WritingInto {
 public:
  explicit WritingInto(ScalarGraph& graph) { written_graph = &graph; }
  WritingInto(const WritingInto&) = delete;
  ~WritingInto() { written_graph = nullptr; }
};

struct Truth {
  Node node;
  friend Truth operator&&(Truth a, Truth b) { return {written_graph->word(Word::logical_and, a.node, b.node)}; }
  friend Truth operator||(Truth a, Truth b) { return {written_graph->word(Word::logical_or, a.node, b.node)}; }
  friend Truth operator^(Truth a, Truth b) { return {written_graph->word(Word::logical_xor, a.node, b.node)}; }
  friend Truth operator!(Truth a) { return {written_graph->word(Word::logical_not, a.node)}; }
};

/// A symbolic value in the sense of symbolic.h.
template <class E>
struct Value {
  using element = E;
  using symbolic_mask = Truth;
  Node node;

  explicit Value(double constant) : node(written_graph->number(dtype_of<E>, static_cast<long double>(constant))) {}
  struct Is {
    Node node;
  };
  explicit Value(Is is) : node(is.node) {}

  template <class... T>
  static Value word(Word word, const T&... x) {
    return Value(Is{written_graph->word(word, x.node...)});
  }
  template <class... T>
  static Truth test(Word word, const T&... x) {
    return {written_graph->word(word, x.node...)};
  }
  static Value select(const Truth& mask, const Value& yes, const Value& no) {
    return Value(Is{written_graph->select(mask.node, yes.node, no.node)});
  }
  friend Value operator+(const Value& a, const Value& b) { return word(Word::add, a, b); }
  friend Value operator-(const Value& a, const Value& b) { return word(Word::subtract, a, b); }
  friend Value operator*(const Value& a, const Value& b) { return word(Word::multiply, a, b); }
  friend Value operator/(const Value& a, const Value& b) { return word(Word::divide, a, b); }
  friend Value operator-(const Value& a) { return word(Word::negative, a); }
};

#if RICCI_PACK_FMA
template <class E>
Node formula_of(Word word, Node operand) {
  namespace elementary = scalar::elementary;
  using V = Value<E>;
  const V x(typename V::Is{operand});
  switch (word) {
    case Word::exp: return elementary::exp(x).node;
    case Word::expm1: return elementary::expm1(x).node;
    case Word::log: return elementary::log(x).node;
    case Word::tanh: return elementary::tanh(x).node;
    case Word::sin: return elementary::sin(x).node;
    default: return elementary::cos(x).node;
  }
}
#endif

bool is_lowered(const ScalarStep& s) {
  if (s.kind != Kind::word || (s.dtype != DType::float32 && s.dtype != DType::float64)) return false;
  switch (s.word) {
    case Word::sin:
    case Word::cos: return true;
    case Word::exp:
    case Word::expm1:
    case Word::log:
    case Word::tanh: return knows_exponents();
    default: return false;
  }
}

}  // namespace

double circular_limit(DType dtype) {
#if RICCI_PACK_FMA
  return dtype == DType::float32 ? scalar::elementary::circular_limit<float>
                                 : scalar::elementary::circular_limit<double>;
#else
  return dtype == DType::float32 ? 0 : 0;
#endif
}

LaneProgram lowered(const LaneProgram& program) {
  LaneProgram to{{}, program.inputs, program.outputs, program.has_lanes, program.output_dtypes, {}};
  const WritingInto writing(to.graph);
  std::vector<Node> outputs, made(program.graph.steps().size(), no_node);
  for (const Output& output : program.outputs) outputs.push_back(output.node);
  for (const Node n : program.graph.order(outputs)) {
    ScalarStep s = program.graph[n];
    for (Node& from : s.from)
      if (from != no_node) from = made[static_cast<std::size_t>(from)];
    Node& result = made[static_cast<std::size_t>(n)];
#if RICCI_PACK_FMA
    if (is_lowered(s)) {
      const Node formula =
          s.dtype == DType::float32 ? formula_of<float>(s.word, s.from[0]) : formula_of<double>(s.word, s.from[0]);
      if (s.word == Word::sin || s.word == Word::cos) s.from[1] = formula, result = to.graph.as_it_is(s);
      else result = formula;
      continue;
    }
#endif
    result = to.graph.as_it_is(s);
  }
  for (Output& output : to.outputs) output.node = made[static_cast<std::size_t>(output.node)];
  return to;
}

}  // namespace ricci::compiled
