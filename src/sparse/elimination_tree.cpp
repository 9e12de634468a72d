// Trees in nearly linear time: Liu, "The role of elimination trees in sparse factorization", SIAM J. Matrix Anal. 11,
// 1990; counts after Gilbert, Ng and Peyton, SIAM J. Matrix Anal. 15, 1994.
#include "sparse/elimination_tree.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tensor/at.h"

namespace ricci::sparse {
namespace {

Nodes as_they_stand(std::size_t n) {
  Nodes all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Calls f(row) for the nodes next to a column's that are eliminated after it.
template <class F>
void for_each_below(const Graph& graph, const Elimination& by, std::int32_t column, const F& f) {
  for (const std::int32_t neighbour : graph[by.order[at(column)]])
    if (const std::int32_t row = by.place[at(neighbour)]; row > column) f(row);
}
/// Calls f(column) for the nodes next to a row's that are eliminated before it.
template <class F>
void for_each_before(const Graph& graph, const Elimination& by, std::int32_t row, const F& f) {
  for (const std::int32_t neighbour : graph[by.order[at(row)]])
    if (const std::int32_t column = by.place[at(neighbour)]; column < row) f(column);
}

Nodes parents(const Graph& graph, const Elimination& by) {
  const std::size_t n = by.order.size();
  Nodes parent(n, no_node), ancestor(n, no_node);
  for (std::int32_t row = 0; row < std::ssize(by.order); ++row)
    for_each_before(graph, by, row, [&](std::int32_t column) {
      while (column != row) {  // from here to the root, which is given a parent
        const std::int32_t above = std::exchange(ancestor[at(column)], row);
        if (above == no_node) {
          parent[at(column)] = row;
          return;
        }
        column = above;
      }
    });
  return parent;
}

/// The columns, children before their parents, the child of least weight first: the last one stands right before its
/// parent, so it should be the one that is most like it.
Nodes postorder(const Nodes& parent, const Nodes& weight) {
  const std::size_t n = parent.size();
  Nodes heads(n + 2, no_node), next(n), of_weight(n + 2, no_node);
  for (std::int32_t v = 0; v < std::ssize(parent); ++v) next[at(v)] = std::exchange(of_weight[at(weight[at(v)])], v);
  Nodes sibling(n, no_node);
  std::int32_t& first_root = heads[n];
  for (std::size_t w = of_weight.size(); w-- > 0;)
    for (std::int32_t v = of_weight[w]; v != no_node; v = next[at(v)])
      sibling[at(v)] = std::exchange(parent[at(v)] == no_node ? first_root : heads[at(parent[at(v)])], v);
  Nodes order, path;
  order.reserve(n);
  for (std::int32_t root = first_root; root != no_node; root = sibling[at(root)]) {
    path.push_back(root);
    while (!path.empty()) {
      const std::int32_t v = path.back(), child = heads[at(v)];
      if (child == no_node) {
        order.push_back(v);
        path.pop_back();
      } else {
        heads[at(v)] = sibling[at(child)];
        path.push_back(child);
      }
    }
  }
  return order;
}

/// Requires: children stand right before their parents. Row i of L has a column for each node of a subtree of the
/// elimination tree, whose root is i. Its leaves are among i's neighbours. Each leaf counts along its path to the root,
/// and no longer where the path meets that of the leaf before.
Nodes counts(const Graph& graph, const Elimination& by, const Nodes& parent) {
  const std::size_t n = parent.size();
  Nodes first = as_they_stand(n);  // the first column of the subtree of each
  for (std::int32_t j = 0; j < std::ssize(parent); ++j)
    if (parent[at(j)] != no_node) first[at(parent[at(j)])] = std::min(first[at(parent[at(j)])], first[at(j)]);
  Nodes count(n), ancestor = as_they_stand(n), last_leaf(n, no_node), first_of_leaf(n, no_node);
  const auto found = [&](std::int32_t j) {
    std::int32_t root = j;
    while (ancestor[at(root)] != root) root = ancestor[at(root)];
    while (ancestor[at(j)] != root) j = std::exchange(ancestor[at(j)], root);
    return root;
  };
  for (std::int32_t j = 0; j < std::ssize(parent); ++j) {
    if (first[at(j)] == j) ++count[at(j)];
    for_each_below(graph, by, j, [&](std::int32_t row) {
      if (first[at(j)] <= first_of_leaf[at(row)]) return;  // a leaf of this row is below j
      ++count[at(j)];
      if (last_leaf[at(row)] != no_node) --count[at(found(last_leaf[at(row)]))];
      last_leaf[at(row)] = j, first_of_leaf[at(row)] = first[at(j)];
    });
    if (parent[at(j)] != no_node) --count[at(parent[at(j)])], ancestor[at(j)] = parent[at(j)];
  }
  for (std::int32_t j = 0; j < std::ssize(parent); ++j)
    if (parent[at(j)] != no_node) count[at(parent[at(j)])] += count[at(j)];
  return count;
}

/// What each column has, as the columns are put in another order.
Nodes moved(const Nodes& of_column, const Nodes& columns) {
  Nodes all;
  all.reserve(columns.size());
  for (const std::int32_t j : columns) all.push_back(of_column[at(j)]);
  return all;
}
Nodes moved_parents(const Nodes& parent, const Nodes& columns) {
  const Nodes place = Elimination(columns).place;
  Nodes all = moved(parent, columns);
  for (std::int32_t& j : all)
    if (j != no_node) j = place[at(j)];
  return all;
}

/// Some columns side by side, as a dense panel of which `zeros` are no nonzeros of L.
struct Panel {
  std::int32_t first, columns;
  double zeros;
  double numbers(std::int32_t rows_of_last) const {
    const double n = columns;
    return n * rows_of_last + n * (n - 1) / 2;
  }
};

/// Whether it pays to store these zeros: wide panels are multiplied fast, zeros are multiplied in vain.
bool is_worth(std::int32_t columns, double part_of_zeros) {
  return (columns <= 16 && part_of_zeros < 0.25) || (columns <= 48 && part_of_zeros < 0.1) || part_of_zeros < 0.05;
}

/// The first columns of supernodes: a panel takes in the one before it, whose parent it is, where that makes few zeros.
Nodes first_columns(const EliminationTree& tree) {
  const Nodes &parent = tree.parent, &count = tree.count;
  std::vector<Panel> panels;
  for (std::int32_t j = 0; j < std::ssize(parent); ++j) {
    Panel now{j, 1, 0};
    while (!panels.empty()) {
      const Panel& before = panels.back();
      const std::int32_t last = now.first - 1;
      if (parent[at(last)] == no_node || parent[at(last)] > j) break;
      Panel joined{before.first, before.columns + now.columns, 0};
      const double all = joined.numbers(count[at(j)]);
      joined.zeros = before.zeros + now.zeros + all - before.numbers(count[at(last)]) - now.numbers(count[at(j)]);
      if (joined.zeros > 0 && !is_worth(joined.columns, joined.zeros / all)) break;
      now = joined;
      panels.pop_back();
    }
    panels.push_back(now);
  }
  Nodes first;
  for (const Panel& panel : panels) first.push_back(panel.first);
  first.push_back(static_cast<std::int32_t>(parent.size()));
  return first;
}

}  // namespace

Elimination::Elimination(Nodes given) : order(std::move(given)), place(order.size()) {
  for (std::int32_t k = 0; k < std::ssize(order); ++k) place[at(order[at(k)])] = k;
}

EliminationTree::EliminationTree(const Graph& graph, Nodes order) : elimination(std::move(order)) {
  const auto put = [&](const Nodes& columns) {
    elimination = Elimination(moved(elimination.order, columns));
    parent = moved_parents(parent, columns);
  };
  parent = parents(graph, elimination);
  put(postorder(parent, Nodes(parent.size())));
  count = counts(graph, elimination, parent);
  const Nodes columns = postorder(parent, count);
  put(columns);
  count = moved(count, columns);
}

Supernodes::Supernodes(const Graph& graph, const EliminationTree& tree)
    : first(first_columns(tree)), of_column(tree.parent.size()) {
  const std::int32_t supernodes = static_cast<std::int32_t>(first.size()) - 1;
  Nodes parent;  // of each supernode
  for (std::int32_t s = 0; s < supernodes; ++s) {
    std::fill(of_column.begin() + first[at(s)], of_column.begin() + first[at(s + 1)], s);
    below.begin.push_back(below.begin.back() + tree.count[at(first[at(s + 1)] - 1)] - 1);
  }
  for (std::int32_t s = 0; s < supernodes; ++s) {
    const std::int32_t above = tree.parent[at(first[at(s + 1)] - 1)];
    parent.push_back(above == no_node ? no_node : of_column[at(above)]);
  }
  below.of.resize(at(below.begin.back()));
  std::vector<std::int64_t> next(below.begin.begin(), below.begin.end() - 1);
  Nodes reached_by(at(supernodes), no_node);
  for (std::int32_t row = 0; row < std::ssize(of_column); ++row) {  // is below those on the way from its neighbours
    reached_by[at(of_column[at(row)])] = row;
    for_each_before(graph, tree.elimination, row, [&](std::int32_t column) {
      for (std::int32_t s = of_column[at(column)]; reached_by[at(s)] != row; s = parent[at(s)]) {
        reached_by[at(s)] = row;
        below.of[at(next[at(s)]++)] = row;
      }
    });
  }
}

}  // namespace ricci::sparse
