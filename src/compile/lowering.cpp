// Values that write the elementary formulas into a scalar graph.
#include "compile/lowering.h"

#include "compile/graph_writer.h"
#include "ricci/primitive/scalar.h"

namespace ricci::compiled {
namespace {

#if RICCI_PACK_FMA
template <class E>
Node formula_of(Word word, Node operand) {
  namespace elementary = scalar::elementary;
  const auto x = Typed<E>::at(operand);
  switch (word) {
    case Word::exp: return elementary::exp(x).scalar();
    case Word::expm1: return elementary::expm1(x).scalar();
    case Word::log: return elementary::log(x).scalar();
    case Word::tanh: return elementary::tanh(x).scalar();
    case Word::sin: return elementary::sin(x).scalar();
    default: return elementary::cos(x).scalar();
  }
}

bool is_lowered(const ScalarStep& s) {
  if (s.kind != StepKind::word || (s.dtype != DType::float32 && s.dtype != DType::float64)) return false;
  switch (s.word) {
    case Word::sin:
    case Word::cos:
    case Word::exp:
    case Word::expm1:
    case Word::log:
    case Word::tanh: return true;
    default: return false;
  }
}
#endif

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
  LaneProgram to{.graph = {},
                 .inputs = program.inputs,
                 .givens = program.givens,
                 .outputs = program.outputs,
                 .has_lanes = program.has_lanes,
                 .output_dtypes = program.output_dtypes,
                 .required = {},
                 .turns = program.turns,
                 .rows = program.rows};
  GraphWriter writer(to.graph);
  const WritingScalars writing(&writer);
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
      if (s.is_circular()) s.from[1] = formula, result = to.graph.as_it_is(s);
      else result = formula;
      continue;
    }
#endif
    result = to.graph.as_it_is(s);
  }
  if (program.turns)
    for (const int state : program.turns->state_of_output)  // also one that no turn reads
      if (state >= 0)
        to.graph.input(static_cast<std::uint64_t>(state), program.inputs[static_cast<std::size_t>(state)].dtype);
  for (Output& output : to.outputs) output.node = made[static_cast<std::size_t>(output.node)];
  return to;
}

}  // namespace ricci::compiled
