// The order in which a sparse system's unknowns are eliminated, so that few nonzeros arise. Knows nothing of values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ricci::sparse {

using Nodes = std::vector<std::int32_t>;
inline constexpr std::int32_t no_node = -1;

/// For each node on the left, one of its neighbours on the right, or no_node: none twice, and as many as can be. Begins
/// at `found`, which it completes by augmenting paths.
Nodes matching(Nodes found, std::int64_t right, const std::function<std::span<const std::int32_t>(std::int32_t)>& of);

/// An approximate minimum degree order of a graph without loops, from each node's neighbours. A node that waits for
/// another, `waits_for[node]` unless no_node, comes after it; no node that waits is waited for.
Nodes elimination_order(std::vector<Nodes> neighbours, const Nodes& waits_for);

}  // namespace ricci::sparse
