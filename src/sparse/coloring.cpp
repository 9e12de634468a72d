// Colors of columns, of rows, of both, and of symmetric matrices, each the first that is free in some order.
#include "ricci/sparse/coloring.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>
#include <ostream>

#include "ricci/interruption.h"
#include "ricci/primitive/raise.h"
#include "tensor/at.h"

namespace ricci {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Things that may not have the color of their neighbours: `f(neighbour)` for each neighbour of one, perhaps more than
/// once, and for itself.
struct Columns {
  const Sparsity &rows, &columns;  // a matrix, and its transpose
  std::int64_t count() const { return columns.rows(); }
  template <class F>
  void for_each_neighbour(std::int64_t column, const F& f) const {
    for (const std::int64_t row : columns.row(column))
      for (const std::int64_t other : rows.row(row)) f(other);
  }
};
struct Adjacent {
  const Sparsity& edges;
  std::int64_t count() const { return edges.rows(); }
  template <class F>
  void for_each_neighbour(std::int64_t vertex, const F& f) const {
    for (const std::int64_t other : edges.row(vertex)) f(other);
  }
};

template <class Graph>
Numbers degrees_of(const Graph& graph) {
  Numbers degrees(at(graph.count())), seen(at(graph.count()), -1);
  for (std::int64_t v = 0; v < graph.count(); ++v)
    graph.for_each_neighbour(v, [&](std::int64_t other) {
      if (other != v && std::exchange(seen[at(other)], v) != v) ++degrees[at(v)];
    });
  return degrees;
}

/// The one with the fewest neighbours goes last; then the others as if it were not there.
template <class Graph>
Numbers smallest_last(const Graph& graph) {
  Numbers degree = degrees_of(graph);
  const std::int64_t count = graph.count();
  // Vertices by degree; `place` says where each stands, `first` where each degree begins.
  const std::int64_t most = count == 0 ? 0 : *std::max_element(degree.begin(), degree.end());
  Numbers first(at(most + 2)), by_degree(at(count)), place(at(count)), seen(at(count), -1);
  for (const std::int64_t d : degree) ++first[at(d + 1)];
  std::partial_sum(first.begin(), first.end(), first.begin());
  Numbers next(first.begin(), first.end() - 1);
  for (std::int64_t v = 0; v < count; ++v) {
    place[at(v)] = next[at(degree[at(v)])]++;
    by_degree[at(place[at(v)])] = v;
  }
  Numbers order(at(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t v = by_degree[at(i)];  // all before it are gone
    order[at(count - 1 - i)] = v;
    graph.for_each_neighbour(v, [&](std::int64_t w) {
      if (place[at(w)] <= i || std::exchange(seen[at(w)], v) == v || degree[at(w)] <= degree[at(v)]) return;
      // w changes places with the first of its degree, and that degree begins one later.
      const std::int64_t d = degree[at(w)]--, head = first[at(d)], other = by_degree[at(head)];
      std::swap(by_degree[at(head)], by_degree[at(place[at(w)])]);
      std::swap(place[at(w)], place[at(other)]);
      first[at(d)] = head + 1;
    });
  }
  return order;
}

template <class Graph>
Numbers order_of(const Graph& graph, ColorOrder order) {
  if (order == ColorOrder::smallest_last) return smallest_last(graph);
  Numbers all(at(graph.count()));
  std::iota(all.begin(), all.end(), 0);
  if (order == ColorOrder::natural) return all;
  const Numbers degrees = degrees_of(graph);
  std::ranges::stable_sort(all, std::greater<>(), [&](std::int64_t v) { return degrees[at(v)]; });
  return all;
}

struct Colored {
  Numbers color_of;
  std::int64_t colors = 0;
};

/// Columns without nonzeros have color 0 if there is any.
Colored colored_columns(const Sparsity& matrix, ColorOrder order) {
  const Sparsity transposed = matrix.transposed();
  const Columns graph{matrix, transposed};
  Colored found{Numbers(at(matrix.columns()), -1)};
  if (matrix.nnz() == 0) {
    std::ranges::fill(found.color_of, 0);
    return found;
  }
  Numbers taken_by(at(matrix.columns() + 1), -1);
  for (const std::int64_t v : order_of(graph, order)) {
    allow_interruption();
    graph.for_each_neighbour(v, [&](std::int64_t other) {
      if (const std::int64_t c = found.color_of[at(other)]; c >= 0) taken_by[at(c)] = v;
    });
    std::int64_t color = 0;
    while (taken_by[at(color)] == v) ++color;
    found.color_of[at(v)] = color;
    found.colors = std::max(found.colors, color + 1);
  }
  return found;
}

/// The rows that are chosen, at their places; the others are empty.
Sparsity with_rows(const Sparsity& matrix, const std::vector<bool>& chosen) {
  Numbers crow{0}, col;
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    if (chosen[at(i)]) col.insert(col.end(), matrix.row(i).begin(), matrix.row(i).end());
    crow.push_back(std::ssize(col));
  }
  return {matrix.rows(), matrix.columns(), std::move(crow), std::move(col)};
}

std::int64_t most_in_a_row(const Sparsity& matrix) {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < matrix.rows(); ++i) most = std::max(most, std::ssize(matrix.row(i)));
  return most;
}

/// Rows by reverse mode, the others by columns.
struct Split {
  std::vector<bool> by_reverse;
  Colored columns, rows;
  std::int64_t colors() const { return columns.colors + rows.colors; }
};

/// None if it takes `fewer_than` colors or more. Rows of at most `most` nonzeros are found by columns.
std::optional<Split> split_at(const Sparsity& matrix, std::int64_t most, ColorOrder order, std::int64_t fewer_than) {
  Split split;
  std::vector<bool> by_columns;
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    split.by_reverse.push_back(std::ssize(matrix.row(i)) > most);
    by_columns.push_back(!split.by_reverse.back());
  }
  const Sparsity reversed = with_rows(matrix, split.by_reverse).transposed();
  split.columns = colored_columns(with_rows(matrix, by_columns), order);
  if (split.columns.colors + most_in_a_row(reversed) >= fewer_than) return std::nullopt;
  split.rows = colored_columns(reversed, order);
  if (split.colors() >= fewer_than) return std::nullopt;
  return split;
}

/// How many colors `split_at` takes at least: one for each nonzero of the longest row, and of the longest column among
/// the rows that reverse mode finds.
std::int64_t fewest_colors_at(const Sparsity& matrix, std::int64_t most) {
  std::int64_t longest_row = 0;
  Numbers in_column(at(matrix.columns() + 1));
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    if (const auto row = matrix.row(i); std::ssize(row) <= most) longest_row = std::max(longest_row, std::ssize(row));
    else
      for (const std::int64_t j : row) ++in_column[at(j)];
  }
  return longest_row + *std::ranges::max_element(in_column);
}

/// Of all ways that find rows up to some length by columns: all, none, and up to 1, 2, 4, …. What may take the fewest
/// colors is tried first: a full row or column takes long to color, where it must not be split off.
Split fewest_split(const Sparsity& matrix, ColorOrder order) {
  const std::int64_t longest = most_in_a_row(matrix);
  std::vector<std::pair<std::int64_t, std::int64_t>> ways;  // at least so many colors, at most so many in a row
  std::vector<std::int64_t> known;  // how many rows each way leaves to columns
  const auto add = [&](std::int64_t most) {
    std::int64_t left = 0;
    for (std::int64_t i = 0; i < matrix.rows(); ++i) left += std::ssize(matrix.row(i)) <= most;
    if (std::ranges::find(known, left) != known.end()) return;
    known.push_back(left);
    ways.emplace_back(fewest_colors_at(matrix, most), most);
  };
  add(longest);
  for (std::int64_t most = 1; most < longest; most *= 2) add(most);
  add(0);
  std::ranges::stable_sort(ways, std::less<>(), &std::pair<std::int64_t, std::int64_t>::first);
  std::optional<Split> best;
  for (const auto& [fewest, most] : ways)
    if (!best || fewest < best->colors())
      if (auto split = split_at(matrix, most, order, best ? best->colors() : INT64_MAX)) best = std::move(split);
  return std::move(*best);
}

/// A symmetric matrix whose vertices get colors, one after the other.
class ColoredEdges {
 protected:
  explicit ColoredEdges(const Sparsity& edges) : edges_(edges), color_(at(edges.rows()), -1) {
    Numbers next(edges.crow().begin(), edges.crow().end() - 1);
    for (const std::int64_t j : edges.col()) across_.push_back(next[at(j)]++);
  }
  /// f(neighbour, edge) for the neighbours that have colors.
  template <class F>
  void each_colored(std::int64_t v, const F& f) const {
    for (std::int64_t k = edges_.crow()[at(v)]; k < edges_.crow()[at(v + 1)]; ++k)
      if (const std::int64_t w = edges_.col()[at(k)]; w != v && color_[at(w)] >= 0) f(w, k);
  }
  /// One number for an edge and for the same edge from its other end.
  std::int64_t one_of(std::int64_t edge) const { return std::min(edge, across_[at(edge)]); }
  /// The first color that v does not have in `forbidden`.
  std::int64_t give_color(std::int64_t v, const Numbers& forbidden) {
    std::int64_t& color = color_[at(v)] = 0;
    while (forbidden[at(color)] == v) ++color;
    colors_ = std::max(colors_, color + 1);
    return color;
  }

  const Sparsity& edges_;
  Numbers color_, across_;
  std::int64_t colors_ = 0;
};

/// Star coloring: each path of four vertices has three colors, so that two colors form stars.
class Stars : ColoredEdges {
 public:
  explicit Stars(const Sparsity& edges) : ColoredEdges(edges), star_(at(edges.nnz()), -1) {}

  Colored color(const Numbers& order) {
    const auto n = at(edges_.rows());
    Numbers forbidden(n + 1, -1), treated(n, -1);
    std::vector<std::pair<std::int64_t, std::int64_t>> first(n + 1, {-1, -1});  // by color: a vertex, its edge there
    for (const std::int64_t v : order) {
      allow_interruption();
      const auto treat = [&](std::int64_t w) {
        each_colored(w, [&](std::int64_t x, std::int64_t) {
          if (x != v) forbidden[at(color_[at(x)])] = v;
        });
        treated[at(w)] = v;
      };
      each_colored(v, [&](std::int64_t w, std::int64_t edge) {
        const std::int64_t c = color_[at(w)];
        forbidden[at(c)] = v;
        if (auto& [of, before] = first[at(c)]; of == v) {
          if (const std::int64_t q = edges_.col()[at(before)]; treated[at(q)] != v) treat(q);
          treat(w);
        } else {
          of = v, before = edge;
          each_colored(w, [&](std::int64_t x, std::int64_t other) {
            if (x != v && hub_[at(star(other))] == x) forbidden[at(color_[at(x)])] = v;
          });
        }
      });
      give_color(v, forbidden);
      join_stars(v, first);
    }
    return {std::move(color_), colors_};
  }

 private:
  std::int64_t& star(std::int64_t edge) { return star_[at(one_of(edge))]; }

  /// The edges of v, which has its color now, join the stars of their two colors.
  void join_stars(std::int64_t v, const std::vector<std::pair<std::int64_t, std::int64_t>>& first) {
    each_colored(v, [&](std::int64_t w, std::int64_t edge) {
      std::int64_t joined = -1;
      each_colored(w, [&](std::int64_t x, std::int64_t other) {
        if (joined < 0 && x != v && color_[at(x)] == color_[at(v)]) joined = star(other);
      });
      if (joined >= 0) {
        hub_[at(joined)] = w;
      } else if (const auto [of, before] = first[at(color_[at(w)])]; of == v && before != edge) {
        joined = star(before);
        hub_[at(joined)] = v;
      } else {
        joined = std::ssize(hub_);
        hub_.push_back(-1);  // one edge: either end may be its hub
      }
      star(edge) = joined;
    });
  }

  Numbers star_, hub_;  // by edge, by star
};

/// Acyclic coloring: each cycle has three colors, so that two colors form trees.
class Trees : ColoredEdges {
 public:
  explicit Trees(const Sparsity& edges) : ColoredEdges(edges), above_(at(edges.nnz())) {
    std::iota(above_.begin(), above_.end(), 0);
  }

  Colored color(const Numbers& order) {
    const auto n = at(edges_.rows());
    Numbers forbidden(n + 1, -1);
    std::vector<std::pair<std::int64_t, std::int64_t>> first(n + 1, {-1, -1});  // by color: a vertex, its edge there
    std::vector<std::pair<std::int64_t, std::int64_t>> met(above_.size(), {-1, -1});  // by tree: a vertex, a neighbour
    for (const std::int64_t v : order) {
      allow_interruption();
      each_colored(v, [&](std::int64_t w, std::int64_t) { forbidden[at(color_[at(w)])] = v; });
      // Two neighbours in one tree: the color of the tree that they do not have would close a cycle.
      each_colored(v, [&](std::int64_t w, std::int64_t) {
        each_colored(w, [&](std::int64_t x, std::int64_t edge) {
          if (x == v || forbidden[at(color_[at(x)])] == v) return;
          auto& [by, through] = met[at(tree_of(edge))];
          if (by != v) by = v, through = w;
          else if (through != w) forbidden[at(color_[at(x)])] = v;
        });
      });
      const std::int64_t color = give_color(v, forbidden);
      each_colored(v, [&](std::int64_t w, std::int64_t edge) {
        if (auto& [of, before] = first[at(color_[at(w)])]; of == v) join(edge, before);
        else of = v, before = edge;
        each_colored(w, [&](std::int64_t x, std::int64_t other) {
          if (x != v && color_[at(x)] == color) join(edge, other);
        });
      });
    }
    return {std::move(color_), colors_};
  }

 private:
  std::int64_t tree_of(std::int64_t edge) {
    std::int64_t top = one_of(edge);
    while (above_[at(top)] != top) top = above_[at(top)] = above_[at(above_[at(top)])];
    return top;
  }
  void join(std::int64_t edge, std::int64_t other) { above_[at(tree_of(edge))] = tree_of(other); }

  Numbers above_;  // of each edge another of its tree, or itself
};

/// How the nonzeros of an acyclic coloring are found. The product of color c has at row v the sum of v's elements in
/// columns of color c: a bundle. A bundle gives the one element of it that is not known yet.
struct Substitution {
  Numbers places;  // of each nonzero: in the products, or behind them in the solution of the system
  Numbers sums;    // of each equation of the system: its right side's place in the products
  Sparsity system;
};
Substitution substitution_of(const Sparsity& matrix, const Colored& colored) {
  const std::int64_t n = matrix.rows();
  const auto nnz = at(matrix.nnz());
  struct Bundle {
    std::int64_t place, unknown = 0, mixed = 0;  // in the products; how many of its edges, and these by exclusive or
    Numbers edges;
  };
  std::vector<Bundle> bundles;
  Numbers edge_of(nnz), bundle_of(nnz), first(at(colored.colors), -1), next(matrix.crow().begin(), matrix.crow().end());
  for (std::int64_t v = 0; v < n; ++v) {
    const auto begin = std::ssize(bundles);
    for (std::int64_t k = matrix.crow()[at(v)]; k < matrix.crow()[at(v + 1)]; ++k) {
      const std::int64_t w = matrix.col()[at(k)], c = colored.color_of[at(w)];
      edge_of[at(k)] = std::min(k, next[at(w)]++);
      if (first[at(c)] < begin) {
        first[at(c)] = std::ssize(bundles);
        bundles.push_back({.place = c * n + v, .edges = {}});
      }
      bundle_of[at(k)] = first[at(c)];
      Bundle& bundle = bundles[at(first[at(c)])];
      ++bundle.unknown;
      bundle.mixed ^= edge_of[at(k)];
      bundle.edges.push_back(edge_of[at(k)]);
    }
  }
  Numbers across(nnz, -1);
  for (std::size_t k = 0; k < nnz; ++k)
    if (edge_of[k] != std::int64_t(k)) across[at(edge_of[k])] = bundle_of[k];
  Numbers found_by(nnz, -1), ready, order;
  for (std::size_t b = 0; b < bundles.size(); ++b)
    if (bundles[b].unknown == 1) ready.push_back(std::int64_t(b));
  for (std::size_t k = 0; k < ready.size(); ++k) {  // leaves first, so that few elements are found from others
    const std::int64_t b = ready[k];
    if (bundles[at(b)].unknown == 0) continue;
    const std::int64_t edge = bundles[at(b)].mixed;
    found_by[at(edge)] = b;
    order.push_back(edge);
    for (const std::int64_t of : {bundle_of[at(edge)], across[at(edge)]}) {
      if (of < 0) continue;
      bundles[at(of)].mixed ^= edge;
      if (--bundles[at(of)].unknown == 1) ready.push_back(of);
    }
  }
  // The system has the elements that are sums of several, and those that they are found with.
  Numbers row_of(nnz, -1);
  Substitution found;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  const auto row = [&](std::int64_t edge) {
    if (row_of[at(edge)] < 0) {
      row_of[at(edge)] = std::ssize(found.sums);
      found.sums.push_back(bundles[at(found_by[at(edge)])].place);
      pairs.emplace_back(row_of[at(edge)], row_of[at(edge)]);
    }
    return row_of[at(edge)];
  };
  for (const std::int64_t edge : order)
    if (const Numbers& edges = bundles[at(found_by[at(edge)])].edges; edges.size() > 1)
      for (const std::int64_t other : edges) pairs.emplace_back(row(edge), row(other));
  const std::int64_t products = colored.colors * n;
  for (const std::int64_t edge : edge_of)
    found.places.push_back(row_of[at(edge)] >= 0 ? products + row_of[at(edge)]
                                                 : bundles[at(found_by[at(edge)])].place);
  found.system = Sparsity::of_pairs(std::ssize(found.sums), std::ssize(found.sums), std::move(pairs));
  return found;
}

Sparsity require_symmetric(const Sparsity& matrix) {
  const Sparsity transposed = matrix.transposed();
  if (matrix == transposed) return transposed;
  for (std::int64_t i = 0; i < matrix.rows() && matrix.rows() == matrix.columns(); ++i)
    for (const std::int64_t j : matrix.row(i))
      if (!std::ranges::binary_search(matrix.row(j), i))
        raise<ValueError>("color: the pattern is not symmetric: it has row " + std::to_string(i) + ", column " +
                          std::to_string(j) + " and not row " + std::to_string(j) + ", column " + std::to_string(i) +
                          "; star and acyclic colorings take the pattern of a Hessian");
  raise<ValueError>("color: the pattern has " + std::to_string(matrix.rows()) + " rows and " +
                    std::to_string(matrix.columns()) + " columns; star and acyclic colorings take the pattern of a "
                    "Hessian");
}

}  // namespace

Coloring color(const Sparsity& sparsity, ColorOptions options) {
  Coloring::Data data{
      .sparsity = sparsity, .color_of_column = {}, .color_of_row = {}, .places = {}, .sums = {}, .system = {}};
  data.is_symmetric = options.mode == ColorMode::star || options.mode == ColorMode::acyclic;
  data.color_of_row.assign(at(sparsity.rows()), -1);
  if (data.is_symmetric) {
    const Sparsity edges = require_symmetric(sparsity);
    const Numbers order = order_of(Adjacent{edges}, options.order);
    Colored found = options.mode == ColorMode::star ? Stars(edges).color(order) : Trees(edges).color(order);
    if (options.mode == ColorMode::acyclic) {
      Substitution by = substitution_of(edges, found);
      data.places = std::move(by.places), data.sums = std::move(by.sums);
      data.system = sparse::Analysis(by.system);
    }
    data.color_of_column = std::move(found.color_of);
    data.column_colors = found.colors;
    if (options.mode == ColorMode::acyclic) return Coloring(std::move(data));
  } else {
    Split split;
    if (options.mode == ColorMode::columns) split = *split_at(sparsity, INT64_MAX, options.order, INT64_MAX);
    else if (options.mode == ColorMode::rows) split = *split_at(sparsity, 0, options.order, INT64_MAX);
    else split = fewest_split(sparsity, options.order);
    data.color_of_column = std::move(split.columns.color_of);
    data.column_colors = split.columns.colors;
    data.row_colors = split.rows.colors;
    for (std::int64_t i = 0; i < sparsity.rows(); ++i)
      if (split.by_reverse[at(i)]) data.color_of_row[at(i)] = split.rows.color_of[at(i)];
  }
  data.places.reserve(at(sparsity.nnz()));
  const std::int64_t reversed = data.column_colors * sparsity.rows();
  Numbers met(at(data.column_colors));  // by color: how many in the row
  for (std::int64_t i = 0; i < sparsity.rows(); ++i) {
    const std::int64_t own = data.color_of_row[at(i)];
    if (data.is_symmetric)
      for (const std::int64_t j : sparsity.row(i)) ++met[at(data.color_of_column[at(j)])];
    for (const std::int64_t j : sparsity.row(i)) {
      const std::int64_t c = data.color_of_column[at(j)];
      if (own >= 0) data.places.push_back(reversed + own * sparsity.columns() + j);
      else if (!data.is_symmetric || met[at(c)] == 1) data.places.push_back(c * sparsity.rows() + i);
      else data.places.push_back(data.color_of_column[at(i)] * sparsity.rows() + j);  // the one across the diagonal
    }
    if (data.is_symmetric)
      for (const std::int64_t j : sparsity.row(i)) met[at(data.color_of_column[at(j)])] = 0;
  }
  return Coloring(std::move(data));
}

std::ostream& operator<<(std::ostream& out, const Coloring& coloring) {
  const Sparsity& of = coloring.sparsity();
  return out << "Coloring of Sparsity " << of.rows() << " x " << of.columns() << ", " << of.nnz()
             << " nonzeros: " << coloring.column_colors() << " colors of columns, " << coloring.row_colors()
             << " of rows";
}

}  // namespace ricci
