// Laying in_dims or out_dims over a tree: one Dim for each Tensor leaf. Not for users; vmap and custom functions are
// written with it. Knows nothing of shapes: whether an axis exists is for the caller to check.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ricci/dims.h"
#include "ricci/tree/walk.h"

namespace ricci::tree {

/// How a mismatch is told: `vmap: in_dims does not fit the arguments: …, the arguments are …`.
struct DimsWords {
  std::string_view call, option, tree, verb;
  bool is_argument_list;  ///< the tree is a tuple of arguments; else a lone Tensor may also be given as `{dim}`
};

struct MatchedDims {
  std::vector<Dim> dims;  ///< one for each leaf of the walk, as written: not wrapped, not checked against shapes
  std::string problem;    ///< empty if all fits; else a whole message, and `dims` is of no use
};

MatchedDims try_match_dims(const Dims& dims, const Walk& walk, const DimsWords& words);

/// The same, throwing the problem as a ValueError.
std::vector<Dim> match_dims(const Dims& dims, const Walk& walk, const DimsWords& words);

/// The reverse: the Dims with the nodes of the tree that hold one entry for each of its leaves; values are none.
Dims dims_like(const Walk& walk, const std::vector<Dim>& dims);

}  // namespace ricci::tree
