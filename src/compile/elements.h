// Elements of values, while a program is taken apart. Knows nothing of operations.
#pragma once

#include <vector>

#include "compile/scalar_graph.h"
#include "ricci/type.h"
#include "tensor/at.h"

namespace ricci::compiled {

/// An element of a value: its node and its lane. The lane is -1 where one element serves all lanes, as a weight does.
struct Element {
  Node node;
  int lane;
  bool operator==(const Element&) const = default;
};
inline constexpr int uniform = -1;

/// All of one value, row by row. None where it cannot have any, as it lies in memory and its size may be another.
struct Elements {
  Type type;  // sizes are numbers
  std::vector<Element> of = {};
  int tensor = -1;  // the input that it is; -1: it is computed here
};

}  // namespace ricci::compiled
