// Writes scalars into a graph.
#pragma once

#include "compile/scalar_graph.h"
#include "program/scalar_writer.h"

namespace ricci::compiled {

/// `Base`: ScalarWriter, or one that asks for more.
template <class Base>
class GraphWriterOf : public Base {
 public:
  explicit GraphWriterOf(ScalarGraph& graph) : graph_(graph) {}

  Scalar number(DType dtype, long double value) override { return graph_.number(dtype, value); }
  Scalar word(scalar::Word word, Scalar a, Scalar b, Scalar c) override { return graph_.word(word, a, b, c); }
  Scalar select(Scalar mask, Scalar yes, Scalar no) override { return graph_.select(mask, yes, no); }
  Scalar converted(DType to, Scalar x, bool is_unsigned) override { return graph_.convert(to, x, is_unsigned); }
  Scalar bits(DType to, Scalar x) override { return graph_.bits(to, x); }

 protected:
  ~GraphWriterOf() = default;
  ScalarGraph& graph_;
};

class GraphWriter final : public GraphWriterOf<ScalarWriter> {
  using GraphWriterOf::GraphWriterOf;
};

}  // namespace ricci::compiled
