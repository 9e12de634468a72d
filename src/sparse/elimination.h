// The order in which a sparse system's unknowns are eliminated, so that few nonzeros arise. Knows nothing of values.
#pragma once

#include <functional>

#include "sparse/lists.h"

namespace ricci::sparse {

/// For each node on the left, one of its neighbours on the right, none twice. Begins at `found`, which it completes by
/// augmenting paths, node by node; it ends at the first node that no such path serves, which keeps no_node.
Nodes matching(Nodes found, std::int64_t right, const std::function<std::span<const std::int32_t>(std::int32_t)>& of);

/// An approximate minimum degree order. A node that `comes_after` stands behind all its neighbours that do not.
Nodes elimination_order(const Graph& graph, const std::vector<bool>& comes_after);

}  // namespace ricci::sparse
