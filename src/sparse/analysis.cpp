// From a pattern to those of its factors: rows exchanged, an order of elimination, and the new nonzeros it makes.
#include "sparse/analysis.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ostream>

#include "primitive/interpreter.h"
#include "ricci/ops.h"
#include "ricci/primitive/parameters.h"
#include "ricci/primitive/raise.h"

namespace ricci::sparse {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr std::int64_t most_nonzeros = std::int64_t{1} << 30;

bool has_diagonal(const Sparsity& sparsity, std::int64_t i) { return std::ranges::binary_search(sparsity.row(i), i); }

/// The rows of each column's nonzeros that `may` stand on the diagonal, given the nonzero's place.
template <class May>
Lists<std::int32_t> rows_by_column(const Sparsity& sparsity, const May& may) {
  std::vector<Nodes> rows(at(sparsity.columns()));
  std::int64_t place = 0;
  for (std::int32_t i = 0; i < sparsity.rows(); ++i)
    for (const std::int64_t j : sparsity.row(i))
      if (may(place++)) rows[at(j)].push_back(i);
  Lists<std::int32_t> all;
  for (const Nodes& of_column : rows) {
    all.of.insert(all.of.end(), of_column.begin(), of_column.end());
    all.end_list();
  }
  return all;
}

/// By column: the row whose element of that column comes on the diagonal. Row j for column j where the pattern has that
/// element; no_node where all rows that have the column are taken.
Nodes rows_on_diagonal(const Lists<std::int32_t>& rows, std::int64_t n) {
  Nodes found(at(n), no_node);
  for (std::int32_t j = 0; j < n; ++j)
    if (std::ranges::binary_search(rows[j], j)) found[at(j)] = j;
  return matching(std::move(found), n, [&](std::int32_t column) { return rows[column]; });
}
Nodes rows_on_diagonal(const Sparsity& sparsity) {
  const auto any = [](std::int64_t) { return true; };
  Nodes found = rows_on_diagonal(rows_by_column(sparsity, any), sparsity.rows());
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
Nodes rows_on_diagonal(const Sparse& a) {
  constexpr double enough = 0.1;
  const Sparsity& sparsity = a.sparsity;
  const std::vector<double> parts = parts_of_columns(a);
  const auto of_at_least = [&](double least) {
    const auto is_great = [&](std::int64_t place) { return parts[at(place)] >= least; };
    return rows_on_diagonal(rows_by_column(sparsity, is_great), sparsity.rows());
  };
  const auto is_complete = [](const Nodes& found) { return std::ranges::find(found, no_node) == found.end(); };
  Nodes best = of_at_least(enough);
  if (is_complete(best)) return best;
  best = rows_on_diagonal(sparsity);
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
  for (std::int64_t i = 0; i < sparsity.rows(); ++i) without[at(i)] = !has_diagonal(sparsity, i);
  return without;
}

/// Rows and columns after `row_of` has brought the diagonal in place: who is next to whom, in either direction.
std::vector<Nodes> neighbours_of(const Sparsity& sparsity, const Nodes& row_of) {
  std::vector<Nodes> all(at(sparsity.rows()));
  for (std::int32_t i = 0; i < sparsity.rows(); ++i)
    for (const std::int64_t j : sparsity.row(row_of[at(i)]))
      if (j != i) {
        all[at(i)].push_back(static_cast<std::int32_t>(j));
        all[at(j)].push_back(i);
      }
  for (Nodes& nodes : all) {
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }
  return all;
}

/// The rows of L: column i of row k, where k is reached from a neighbour along the elimination tree (Liu, SIAM J.
/// Matrix Anal. 11, 1990).
Lists<std::int32_t> rows_of_factor(const std::vector<Nodes>& neighbours, const Nodes& order, const Nodes& place_of) {
  Lists<std::int32_t> rows;
  Nodes parent(order.size(), no_node), reached_by(order.size(), no_node);
  for (std::int32_t k = 0; k < std::ssize(order); ++k) {
    reached_by[at(k)] = k;
    for (const std::int32_t neighbour : neighbours[at(order[at(k)])])
      for (std::int32_t i = place_of[at(neighbour)]; i < k && reached_by[at(i)] != k; i = parent[at(i)]) {
        if (parent[at(i)] == no_node) parent[at(i)] = k;
        reached_by[at(i)] = k;
        rows.of.push_back(i);
      }
    std::sort(rows.of.begin() + rows.begin.back(), rows.of.end());
    if (std::ssize(rows.of) > most_nonzeros)
      raise<ValueError>(
          "sparse::Analysis: the factors would have more than 2^30 nonzeros, 8 GB; use sparse::cg or "
          "sparse::gmres, which need none");
    rows.end_list();
  }
  return rows;
}

Lists<std::int32_t> transposed(const Lists<std::int32_t>& rows) {
  const std::int64_t size = std::ssize(rows.begin) - 1;
  Lists<std::int32_t> columns{std::vector<std::int64_t>(at(size + 1)), std::vector<std::int32_t>(rows.of.size())};
  for (const std::int32_t i : rows.of) ++columns.begin[at(i + 1)];
  for (std::int64_t i = 0; i < size; ++i) columns.begin[at(i + 1)] += columns.begin[at(i)];
  std::vector<std::int64_t> next(columns.begin.begin(), columns.begin.end() - 1);
  for (std::int32_t k = 0; k < size; ++k)
    for (const std::int32_t i : rows[k]) columns.of[at(next[at(i)]++)] = k;
  return columns;
}

/// Where each nonzero of the matrix enters the elimination.
void place_nonzeros(Analysis::Data& data) {
  const std::int64_t n = data.size();
  std::vector<std::vector<Placed>> lower(at(n)), upper(at(n));
  Nodes row_place(at(n)), column_place(at(n));
  for (std::int32_t k = 0; k < n; ++k) row_place[at(data.rows[at(k)])] = k, column_place[at(data.columns[at(k)])] = k;
  data.diagonal.assign(at(n), -1);
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (const std::int64_t j : data.sparsity.row(i)) {
      const std::int32_t row = row_place[at(i)], column = column_place[at(j)];
      if (row == column) data.diagonal[at(row)] = place;
      else if (row > column) lower[at(row)].push_back({column, place});
      else upper[at(column)].push_back({row, place});
      ++place;
    }
  const auto gathered = [](const std::vector<std::vector<Placed>>& lists) {
    Lists<Placed> all;
    for (const std::vector<Placed>& list : lists) {
      all.of.insert(all.of.end(), list.begin(), list.end());
      all.end_list();
    }
    return all;
  };
  data.lower = gathered(lower), data.upper = gathered(upper);
  if (!data.is_symmetric) return;
  std::vector<std::int64_t> next(data.sparsity.crow().begin(), data.sparsity.crow().end());
  for (std::int64_t i = 0; i < n; ++i)  // row by row, the columns of each row ascend
    for (const std::int64_t j : data.sparsity.row(i)) data.across.push_back(next[at(j)]++);
}

void require_analysable(const Sparsity& sparsity, bool symmetric) {
  const std::int64_t n = sparsity.rows();
  if (n != sparsity.columns())
    raise<ValueError>("sparse::Analysis: the pattern has " + std::to_string(n) + " rows and " +
                      std::to_string(sparsity.columns()) + " columns; only a square matrix has an inverse");
  if (n > std::numeric_limits<std::int32_t>::max())
    raise<ValueError>("sparse::Analysis: the pattern has " + std::to_string(n) + " rows; there may be 2^31 - 1");
  if (symmetric && !(sparsity == sparsity.transposed()))
    raise<ValueError>(
        "sparse::Analysis: the pattern is not symmetric; leave .symmetric out, or have both triangles in "
        "the pattern");
}

/// Requires: row `row_of[j]` is to stand at column j's place on the diagonal; of a symmetric pattern, row j.
std::shared_ptr<const Analysis::Data> analysed(const Sparsity& sparsity, bool symmetric, const Nodes& row_of) {
  const std::int64_t n = sparsity.rows();
  Analysis::Data data{.sparsity = sparsity, .is_symmetric = symmetric};
  const std::vector<Nodes> neighbours = neighbours_of(sparsity, row_of);
  data.columns = elimination_order(neighbours, symmetric ? without_diagonal(sparsity) : std::vector<bool>(at(n)));
  Nodes place_of(at(n));
  for (std::int32_t k = 0; k < n; ++k) {
    place_of[at(data.columns[at(k)])] = k;
    data.rows.push_back(row_of[at(data.columns[at(k)])]);
  }
  data.of_row = rows_of_factor(neighbours, data.columns, place_of);
  data.of_column = transposed(data.of_row);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto below = static_cast<double>(data.of_column[i].size());
    data.products += (symmetric ? 0.5 : 1) * below * (below + 1);
  }
  place_nonzeros(data);
  return std::make_shared<const Analysis::Data>(std::move(data));
}

Nodes as_they_stand(std::int64_t n) {
  Nodes all(at(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Analysis::Analysis(const Sparsity& sparsity, AnalysisOptions options) {
  require_analysable(sparsity, options.symmetric);
  data_ = analysed(sparsity, options.symmetric,
                   options.symmetric ? as_they_stand(sparsity.rows()) : rows_on_diagonal(sparsity));
}

Analysis::Analysis(const Sparse& a, AnalysisOptions options) {
  if (options.symmetric) {
    *this = Analysis(a.sparsity, options);
    return;
  }
  require_analysable(a.sparsity, false);
  (void)a.shape();
  if (!a.values.is_floating_point())
    raise<TypeError>("sparse::Analysis: the values are " + to_string(type_of(a.values)) + "; pass floating numbers");
  data_ = analysed(a.sparsity, false, rows_on_diagonal(a));
}

bool Analysis::is_equal(const Analysis& other) const {
  const Data &a = *data_, &b = *other.data_;
  return a.is_symmetric == b.is_symmetric && a.sparsity == b.sparsity && a.rows == b.rows && a.columns == b.columns;
}

const Sparsity& Analysis::sparsity() const { return data_->sparsity; }
bool Analysis::is_symmetric() const { return data_->is_symmetric; }
std::int64_t Analysis::factor_nnz() const { return data_->numbers(); }
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
  require_analysable(sparsity, symmetric);
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
  data_ = analysed(sparsity, symmetric, row_of);
}

std::ostream& operator<<(std::ostream& out, const Analysis& analysis) {
  return out << "Analysis of Sparsity " << analysis.sparsity().rows() << " x " << analysis.sparsity().columns() << ", "
             << analysis.sparsity().nnz() << " nonzeros: L D " << (analysis.is_symmetric() ? "Lᵀ" : "U") << " of "
             << analysis.factor_nnz() << " nonzeros";
}

}  // namespace ricci::sparse
