// From a pattern to its factors: rows exchanged, an order of elimination, panels, and where each nonzero enters them.
#include "sparse/analysis.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ostream>

#include "primitive/interpreter.h"
#include "ricci/ops.h"
#include "ricci/primitive/parameters.h"
#include "ricci/primitive/raise.h"
#include "sparse/elimination.h"
#include "tensor/at.h"

namespace ricci::sparse {
namespace {

/// The nonzeros of each column: their rows, ascending, and their places among the values.
struct ByColumn {
  Lists<std::int32_t> rows;
  std::vector<std::int64_t> places;

  explicit ByColumn(const Sparsity& sparsity) : places(at(sparsity.nnz())) {
    rows.begin.assign(at(sparsity.columns() + 1), 0), rows.of.resize(places.size());
    for (const std::int64_t j : sparsity.col()) ++rows.begin[at(j + 1)];
    std::partial_sum(rows.begin.begin(), rows.begin.end(), rows.begin.begin());
    std::vector<std::int64_t> next(rows.begin.begin(), rows.begin.end() - 1);
    std::int64_t place = 0;
    for (std::int32_t i = 0; i < sparsity.rows(); ++i)
      for (const std::int64_t j : sparsity.row(i)) {
        const std::size_t to = at(next[at(j)]++);
        rows.of[to] = i, places[to] = place++;
      }
  }

  /// The rows of nonzeros that `may` stand on the diagonal, given their places.
  template <class May>
  Lists<std::int32_t> rows_where(const May& may) const {
    Lists<std::int32_t> all;
    for (std::int64_t j = 0; j < rows.count(); ++j) {
      for (std::int64_t k = rows.begin[at(j)]; k < rows.begin[at(j + 1)]; ++k)
        if (may(places[at(k)])) all.of.push_back(rows.of[at(k)]);
      all.end_list();
    }
    return all;
  }
};

/// By column: the row whose element of that column comes on the diagonal. Row j for column j where the pattern has that
/// element; no_node where all rows that have the column are taken.
Nodes rows_on_diagonal(const Lists<std::int32_t>& rows, std::int64_t n) {
  Nodes found(at(n), no_node);
  for (std::int32_t j = 0; j < n; ++j)
    if (std::ranges::binary_search(rows[j], j)) found[at(j)] = j;
  return matching(std::move(found), n, [&](std::int32_t column) { return rows[column]; });
}
Nodes rows_on_diagonal(const ByColumn& by_column) {
  Nodes found = rows_on_diagonal(by_column.rows, by_column.rows.count());
  const auto alone = std::ranges::find(found, no_node);
  if (alone != found.end())
    raise<ValueError>("sparse::Analysis: every matrix of this pattern is singular: column " +
                      std::to_string(alone - found.begin()) +
                      " and others have, all together, nonzeros in fewer rows than they are");
  return found;
}

/// Each nonzero as a part of its column's greatest; of several matrices, the least of these.
std::vector<double> parts_of_columns(const Sparse& a) {
  const std::vector<double> values = abs(to(a.values, float64)).to_vector<double>();
  const std::int64_t nnz = a.sparsity.nnz();
  std::vector<double> parts(at(nnz), 1);
  for (std::int64_t begin = 0; begin < std::ssize(values); begin += nnz) {
    std::vector<double> greatest(at(a.sparsity.columns()), 0);
    const auto column = [&](std::int64_t p) { return at(a.sparsity.col()[at(p)]); };
    for (std::int64_t p = 0; p < nnz; ++p) greatest[column(p)] = std::max(greatest[column(p)], values[at(begin + p)]);
    for (std::int64_t p = 0; p < nnz; ++p)
      if (greatest[column(p)] > 0) parts[at(p)] = std::min(parts[at(p)], values[at(begin + p)] / greatest[column(p)]);
  }
  return parts;
}

/// The same by values: each element on the diagonal is at least a tenth of the greatest in its column. Where no choice
/// of rows gives that, the smallest of these parts is as great as any choice makes it.
Nodes rows_on_diagonal(const ByColumn& by_column, const Sparse& a) {
  constexpr double enough = 0.1;
  const std::vector<double> parts = parts_of_columns(a);
  const auto of_at_least = [&](double least) {
    const auto is_great = [&](std::int64_t place) { return parts[at(place)] >= least; };
    return rows_on_diagonal(by_column.rows_where(is_great), a.sparsity.rows());
  };
  const auto is_complete = [](const Nodes& found) { return std::ranges::find(found, no_node) == found.end(); };
  Nodes best = of_at_least(enough);
  if (is_complete(best)) return best;
  best = rows_on_diagonal(by_column);
  std::vector<double> below = parts;
  std::erase_if(below, [](double part) { return part >= enough; });
  std::ranges::sort(below);
  below.erase(std::unique(below.begin(), below.end()), below.end());
  std::size_t reached = 0, missed = below.size();  // below[0] is reached by the pattern alone
  while (missed - reached > 1) {
    const std::size_t middle = (reached + missed) / 2;
    if (Nodes found = of_at_least(below[middle]); is_complete(found)) best = std::move(found), reached = middle;
    else missed = middle;
  }
  return best;
}

/// The unknowns of a symmetric pattern without a place on the diagonal, such as constraints: their pivots are nonzero
/// once all their neighbours with such a place are eliminated.
std::vector<bool> without_diagonal(const Sparsity& sparsity) {
  std::vector<bool> without(at(sparsity.rows()));
  for (std::int64_t i = 0; i < sparsity.rows(); ++i)
    without[at(i)] = !std::ranges::binary_search(sparsity.row(i), i);
  return without;
}

/// Columns, and rows by the columns on whose diagonal `row_of` puts them: who is next to whom, in either direction.
Graph neighbours_of(const Sparsity& sparsity, const ByColumn& by_column, const Nodes& row_of, bool symmetric) {
  Graph graph;
  graph.of.reserve(at((symmetric ? 1 : 2) * sparsity.nnz()));
  Nodes column_of(row_of.size()), met_by(row_of.size(), no_node);
  for (std::int32_t j = 0; j < std::ssize(row_of); ++j) column_of[at(row_of[at(j)])] = j;
  for (std::int32_t j = 0; j < std::ssize(row_of); ++j) {
    const auto add = [&](std::int32_t k) {
      if (k != j && std::exchange(met_by[at(k)], j) != j) graph.of.push_back(k);
    };
    for (const std::int64_t k : sparsity.row(row_of[at(j)])) add(static_cast<std::int32_t>(k));
    if (!symmetric)
      for (const std::int32_t i : by_column.rows[j]) add(column_of[at(i)]);
    graph.end_list();
  }
  return graph;
}

void require_memory(std::int64_t numbers) {
  if (numbers > std::int64_t{1} << 30)
    raise<ValueError>(
        "sparse::Analysis: the factors would have more than 2^30 numbers, 8 GB; use sparse::cg or "
        "sparse::gmres, which need none");
}

/// Panels one after another.
void place_panels(Analysis::Data& data) {
  const Supernodes& nodes = data.supernodes;
  data.panels.push_back(0);
  for (std::int32_t s = 0; s < nodes.count(); ++s)
    data.panels.push_back(data.panels.back() + nodes.rows(s) * nodes.columns(s) * (data.is_symmetric ? 1 : 2));
  require_memory(data.numbers());
}

/// Where each nonzero of the matrix enters the panels.
void place_nonzeros(Analysis::Data& data, const ByColumn& by_column) {
  const Supernodes& nodes = data.supernodes;
  const Elimination row_places(data.rows), column_places(data.columns);
  data.entries.of.reserve(at(data.sparsity.nnz() + (data.is_symmetric ? data.size() : 0)));
  Nodes local(at(data.size()));  // the rows of the panel at hand
  for (std::int32_t s = 0; s < nodes.count(); ++s) {
    const std::int32_t first = nodes.first[at(s)], columns = nodes.columns(s);
    const auto rows = static_cast<std::int32_t>(nodes.rows(s));
    for (std::int32_t k = 0; k < columns; ++k) local[at(first + k)] = k;
    for (std::int32_t k = columns; k < rows; ++k) local[at(nodes.below[s][at(k - columns)])] = k;
    const std::int32_t upper = data.is_symmetric ? 0 : rows * columns;
    for (std::int32_t k = first; k < first + columns; ++k) {
      const std::int32_t row = data.rows[at(k)], column = data.columns[at(k)], begin = (k - first) * rows;
      const auto add = [&](std::int32_t to, std::int64_t place) {
        data.entries.of.push_back({to, static_cast<std::int32_t>(place)});
      };
      for (std::int64_t i = by_column.rows.begin[at(column)]; i < by_column.rows.begin[at(column + 1)]; ++i)
        if (const std::int32_t to = row_places.place[at(by_column.rows.of[at(i)])]; to >= k)
          add(begin + local[at(to)], by_column.places[at(i)]);
      std::int64_t place = data.sparsity.crow()[at(row)];
      for (const std::int64_t j : data.sparsity.row(row)) {
        if (const std::int32_t to = column_places.place[at(j)]; to > k || (to == k && data.is_symmetric))
          add(upper + begin + local[at(to)], place);
        ++place;
      }
    }
    data.entries.end_list();
  }
}

/// The second nonzero of a pair is read far from the first, in the longer of two rows, which is read on where it was
/// left: from a long row, many short ones would be read at one place each.
Lists<Pair> pairs_of(const Sparsity& sparsity, const ByColumn& by_column) {
  Lists<Pair> pairs;
  pairs.of.reserve(at((sparsity.nnz() + sparsity.rows()) / 2));
  const auto length = [&](std::int64_t i) { return by_column.rows.size(i); };
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < sparsity.rows(); ++i) {
    for (const std::int64_t j : sparsity.row(i)) {
      if (std::pair(length(i), i) <= std::pair(length(j), j))
        pairs.of.push_back({static_cast<std::int32_t>(j), static_cast<std::int32_t>(place),
                            static_cast<std::int32_t>(by_column.places[at(place)])});
      ++place;
    }
    pairs.end_list();
  }
  return pairs;
}

void require_analysable(const Sparsity& sparsity) {
  const std::int64_t n = sparsity.rows();
  if (n != sparsity.columns())
    raise<ValueError>("sparse::Analysis: the pattern has " + std::to_string(n) + " rows and " +
                      std::to_string(sparsity.columns()) + " columns; only a square matrix has an inverse");
  if (std::max(n, sparsity.nnz()) > std::numeric_limits<std::int32_t>::max())
    raise<ValueError>("sparse::Analysis: the pattern has " + std::to_string(n) + " rows and " +
                      std::to_string(sparsity.nnz()) + " nonzeros; there may be 2^31 - 1 of either");
}
void require_symmetric(const Sparsity& sparsity, const ByColumn& by_column) {
  if (!std::ranges::equal(sparsity.crow(), by_column.rows.begin) ||
      !std::ranges::equal(sparsity.col(), by_column.rows.of))
    raise<ValueError>(
        "sparse::Analysis: the pattern is not symmetric; leave .symmetric out, or have both triangles in "
        "the pattern");
}

/// Requires: row `row_of[j]` is to stand at column j's place on the diagonal; of a symmetric pattern, row j.
std::shared_ptr<const Analysis::Data> analysed(const Sparsity& sparsity, const ByColumn& by_column, bool symmetric,
                                               const Nodes& row_of) {
  const Graph graph = neighbours_of(sparsity, by_column, row_of, symmetric);
  const std::vector<bool> comes_after = symmetric ? without_diagonal(sparsity) : std::vector<bool>(row_of.size());
  EliminationTree tree(graph, elimination_order(graph, comes_after));
  std::int64_t nonzeros = 0;
  double products = 0;
  for (const std::int64_t count : tree.count) {
    nonzeros += (symmetric ? 1 : 2) * (count - 1) + 1;
    products += (symmetric ? 0.5 : 1) * static_cast<double>((count - 1) * count);
  }
  require_memory(nonzeros);
  Analysis::Data data{.sparsity = sparsity,
                      .is_symmetric = symmetric,
                      .supernodes = Supernodes(graph, tree),
                      .nonzeros = nonzeros,
                      .products = products};
  data.columns = std::move(tree.elimination.order);
  for (const std::int32_t j : data.columns) data.rows.push_back(row_of[at(j)]);
  place_panels(data);
  place_nonzeros(data, by_column);
  if (symmetric) data.pairs = pairs_of(sparsity, by_column);
  return std::make_shared<const Analysis::Data>(std::move(data));
}

Nodes as_they_stand(std::int64_t n) {
  Nodes all(at(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Analysis::Analysis(const Sparsity& sparsity, AnalysisOptions options) {
  require_analysable(sparsity);
  const ByColumn by_column(sparsity);
  if (options.symmetric) require_symmetric(sparsity, by_column);
  data_ = analysed(sparsity, by_column, options.symmetric,
                   options.symmetric ? as_they_stand(sparsity.rows()) : rows_on_diagonal(by_column));
}

Analysis::Analysis(const Sparse& a, AnalysisOptions options) {
  if (options.symmetric) {
    *this = Analysis(a.sparsity, options);
    return;
  }
  require_analysable(a.sparsity);
  (void)a.shape();
  if (!a.values.is_floating_point())
    raise<TypeError>("sparse::Analysis: the values are " + to_string(type_of(a.values)) + "; pass floating numbers");
  const ByColumn by_column(a.sparsity);
  data_ = analysed(a.sparsity, by_column, false, rows_on_diagonal(by_column, a));
}

bool Analysis::is_equal(const Analysis& other) const {
  const Data &a = *data_, &b = *other.data_;
  return a.is_symmetric == b.is_symmetric && a.sparsity == b.sparsity && a.rows == b.rows && a.columns == b.columns;
}

const Sparsity& Analysis::sparsity() const { return data_->sparsity; }
bool Analysis::is_symmetric() const { return data_->is_symmetric; }
std::int64_t Analysis::factor_nnz() const { return data_->nonzeros; }
std::vector<std::int64_t> Analysis::order() const { return {data_->columns.begin(), data_->columns.end()}; }

void Analysis::print_parameter(std::string& out) const {
  const auto print = [&](const auto& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) out += (i > 0 ? "," : "(") + std::to_string(numbers[i]);
    out += numbers.empty() ? "()" : ")";
  };
  out += is_symmetric() ? "symmetric" : "general";
  print(sparsity().crow());
  print(sparsity().col());
  if (is_symmetric()) return;
  Nodes row_of(data_->rows.size());
  for (std::size_t k = 0; k < row_of.size(); ++k) row_of[at(data_->columns[k])] = data_->rows[k];
  print(row_of);
}

void Analysis::parse_parameter(std::string_view& text) {
  const auto parse = [&] {
    std::vector<std::int64_t> numbers;
    parameters::expect(text, "(");
    while (!parameters::take(text, ")")) {
      if (!numbers.empty()) parameters::expect(text, ",");
      parameters::parse(numbers.emplace_back(), text);
    }
    return numbers;
  };
  const bool symmetric = parameters::take(text, "symmetric");
  if (!symmetric) parameters::expect(text, "general");
  std::vector<std::int64_t> crow = parse(), col = parse();
  const std::int64_t rows = std::ssize(crow) - 1;
  const Sparsity sparsity(rows, rows, std::move(crow), std::move(col));
  require_analysable(sparsity);
  const ByColumn by_column(sparsity);
  if (symmetric) require_symmetric(sparsity, by_column);
  Nodes row_of = as_they_stand(rows);
  if (!symmetric) {
    const std::vector<std::int64_t> read = parse();
    std::vector<bool> is_read(at(rows));
    const auto is_new = [&](std::int64_t i) {
      if (i < 0 || i >= rows || is_read[at(i)]) return false;
      is_read[at(i)] = true;
      return true;
    };
    if (std::ssize(read) != rows || !std::ranges::all_of(read, is_new))
      raise<ValueError>("sparse::Analysis: the rows on the diagonal are not those from 0 to " +
                        std::to_string(rows - 1) + ", each once; write an analysis as it is printed");
    row_of.assign(read.begin(), read.end());
  }
  data_ = analysed(sparsity, by_column, symmetric, row_of);
}

std::ostream& operator<<(std::ostream& out, const Analysis& analysis) {
  return out << "Analysis of Sparsity " << analysis.sparsity().rows() << " x " << analysis.sparsity().columns() << ", "
             << analysis.sparsity().nnz() << " nonzeros: L D " << (analysis.is_symmetric() ? "Lᵀ" : "U") << " of "
             << analysis.factor_nnz() << " nonzeros";
}

}  // namespace ricci::sparse
