// Patterns as lists of places, checked; and the pattern of a derivative, from the program that computes it.
#include "ricci/sparse/sparsity.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <ostream>

#include "primitive/interpreter.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/sparse/sparse.h"
#include "ricci/transforms.h"
#include "sparse/dependence.h"
#include "sparse/tangent_program.h"
#include "tensor/at.h"

namespace ricci {
namespace {

void require_size(std::int64_t rows, std::int64_t columns) {
  if (rows >= 0 && columns >= 0) return;
  raise<ValueError>("Sparsity: " + std::to_string(rows) + " rows and " + std::to_string(columns) +
                    " columns; a size cannot be negative");
}

[[noreturn]] void raise_outside(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
  raise<IndexError>("Sparsity: there is a nonzero at row " + std::to_string(row) + ", column " +
                    std::to_string(column) + " of a matrix of " + std::to_string(rows) + " rows and " +
                    std::to_string(columns) + " columns; rows and columns count from 0");
}

}  // namespace

Sparsity::Sparsity(std::int64_t rows, std::int64_t columns, std::vector<std::int64_t> crow,
                   std::vector<std::int64_t> col) {
  require_size(rows, columns);
  if (crow.empty() || std::ssize(crow) - 1 != rows)
    raise<ValueError>("Sparsity: crow_indices has " + std::to_string(crow.size()) + " numbers for " +
                      std::to_string(rows) + " rows; it needs one more than there are rows");
  if (crow.front() != 0 || crow.back() != std::ssize(col))
    raise<ValueError>("Sparsity: crow_indices goes from " + std::to_string(crow.front()) + " to " +
                      std::to_string(crow.back()) + "; it must go from 0 to the number of col_indices, " +
                      std::to_string(col.size()));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t begin = crow[at(i)], end = crow[at(i + 1)];
    if (begin > end || end > std::ssize(col))
      raise<ValueError>("Sparsity: crow_indices falls or passes its end at row " + std::to_string(i) + ", from " +
                        std::to_string(begin) + " to " + std::to_string(end) + "; it must ascend");
    for (std::int64_t k = begin; k < end; ++k) {
      if (col[at(k)] < 0 || col[at(k)] >= columns) raise_outside(i, col[at(k)], rows, columns);
      if (k > begin && col[at(k)] <= col[at(k - 1)])
        raise<ValueError>("Sparsity: the columns of row " + std::to_string(i) + " do not ascend: " +
                          std::to_string(col[at(k - 1)]) + " stands before " + std::to_string(col[at(k)]) +
                          "; sort them and leave out repeated ones, or use Sparsity::of_pairs");
    }
  }
  data_ = std::make_shared<const Data>(Data{rows, columns, std::move(crow), std::move(col)});
}

Sparsity Sparsity::of_pairs(std::int64_t rows, std::int64_t columns,
                            std::vector<std::pair<std::int64_t, std::int64_t>> pairs) {
  require_size(rows, columns);
  for (const auto& [row, column] : pairs)
    if (row < 0 || row >= rows || column < 0 || column >= columns) raise_outside(row, column, rows, columns);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<std::int64_t> crow(at(rows + 1)), col;
  for (const auto& [row, column] : pairs) {
    ++crow[at(row + 1)];
    col.push_back(column);
  }
  std::partial_sum(crow.begin(), crow.end(), crow.begin());
  return {rows, columns, std::move(crow), std::move(col)};
}

Sparsity Sparsity::of_dense(const Tensor& matrix) {
  if (matrix.dim() != 2)
    raise<ValueError>("Sparsity::of_dense: found " + to_string(type_of(matrix)) + "; pass a matrix, of two axes");
  const std::int64_t rows = matrix.size(0), columns = matrix.size(1);
  const std::vector<bool> is_nonzero = ne(matrix, 0).to_vector<bool>();
  std::vector<std::int64_t> crow{0}, col;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      if (is_nonzero[at(i * columns + j)]) col.push_back(j);
    crow.push_back(std::ssize(col));
  }
  return {rows, columns, std::move(crow), std::move(col)};
}

std::span<const std::int64_t> Sparsity::row(std::int64_t i) const {
  if (i < 0 || i >= rows())
    raise<IndexError>("Sparsity::row: there is no row " + std::to_string(i) + " of " + std::to_string(rows()));
  const auto begin = data_->crow_indices[at(i)], end = data_->crow_indices[at(i + 1)];
  return std::span(data_->col_indices).subspan(at(begin), at(end - begin));
}

bool Sparsity::is_equal(const Sparsity& other) const {
  const Data &a = *data_, &b = *other.data_;
  return a.rows == b.rows && a.columns == b.columns && a.crow_indices == b.crow_indices &&
         a.col_indices == b.col_indices;
}

Tensor Sparsity::shown(const std::vector<std::int64_t>& numbers) const {
  return from_blob(const_cast<std::int64_t*>(numbers.data()), {std::ssize(numbers)}, int64, [keep = data_](void*) {});
}
Tensor Sparsity::crow_indices() const { return shown(data_->crow_indices); }
Tensor Sparsity::col_indices() const { return shown(data_->col_indices); }
Tensor Sparsity::row_indices() const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(data_->col_indices.size());
  for (std::int64_t i = 0; i < rows(); ++i) numbers.insert(numbers.end(), row(i).size(), i);
  return tensor(numbers);
}

Sparsity Sparsity::transposed() const {
  std::vector<std::int64_t> crow(at(columns() + 1)), col(at(nnz()));
  for (const std::int64_t j : data_->col_indices) ++crow[at(j + 1)];
  std::partial_sum(crow.begin(), crow.end(), crow.begin());
  std::vector<std::int64_t> next(crow.begin(), crow.end() - 1);
  for (std::int64_t i = 0; i < rows(); ++i)
    for (const std::int64_t j : row(i)) col[at(next[at(j)]++)] = i;
  return {columns(), rows(), std::move(crow), std::move(col)};
}

Tensor Sparsity::to_dense() const {
  return to(Sparse{*this, ones({nnz()}, uint8)}.to_dense(), boolean);
}

std::ostream& operator<<(std::ostream& out, const Sparsity& sparsity) {
  out << "Sparsity " << sparsity.rows() << " x " << sparsity.columns() << ", " << sparsity.nnz() << " nonzeros";
  constexpr std::int64_t few = 32;
  if (sparsity.rows() > few || sparsity.columns() > few) return out;
  for (std::int64_t i = 0; i < sparsity.rows(); ++i) {
    std::string line(at(sparsity.columns()), '.');
    for (const std::int64_t j : sparsity.row(i)) line[at(j)] = '*';
    out << "\n" << line;
  }
  return out;
}

namespace sparse {

Sparsity united(const Sparsity& a, const Sparsity& b) {
  std::vector<std::int64_t> crow{0}, col;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    std::ranges::set_union(a.row(i), b.row(i), std::back_inserter(col));
    crow.push_back(std::ssize(col));
  }
  return {a.rows(), a.columns(), std::move(crow), std::move(col)};
}

namespace {

ValueRef values_at_hand(const char* name, const Tensor& x) {
  const ValueRef value = read(detach(x), name);
  if (value->kind != ValueKind::array)
    raise<TransformError>(std::string(name) + ": at_point reads the values of the argument, which " +
                          to_string(value->type) + " of a transform does not have; find the pattern outside");
  return value;
}

}  // namespace

Sparsity sparsity_of(const char* name, const VectorFunction& f, const Tensor& x, where_t where, Holds holds) {
  require_real(name, "argument", type_of(x));
  const std::int64_t columns = type_of(x).shape.numel().host();
  if (columns > INT32_MAX - 1)
    raise<ValueError>("jacobian_sparsity: the argument has " + std::to_string(columns) +
                      " elements; there may be 2,147,483,646");
  const Program program = tangent_program(name, f, x, columns, where);
  ElementSets sets(static_cast<std::int32_t>(columns));
  Dependences inputs(2, {.type = {x.dtype(), {columns}}, .of = {}, .all = empty_set, .number = {}});
  if (holds == Holds::at_point) inputs[0].number = values_at_hand(name, x);
  for (std::int64_t i = 0; i < columns; ++i) inputs[1].of.push_back(ElementSets::single(i));
  const Dependence found = std::move(dependences_of(program, std::move(inputs), sets)[0]);
  require_real(name, "result", found.type);
  const std::int64_t rows = found.type.shape.numel().raw();
  std::vector<std::int64_t> crow{0}, col;
  crow.reserve(at(rows + 1));
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto row = sets.of(found[at(i)]);
    col.insert(col.end(), row.begin(), row.end());
    crow.push_back(std::ssize(col));
  }
  return {rows, columns, std::move(crow), std::move(col)};
}

Sparsity hessian_sparsity_of(const VectorFunction& loss, const Tensor& x, where_t where, Holds holds) {
  const auto gradient = [&](const Tensor& v) { return grad(loss, where)(v); };
  const Sparsity found = sparsity_of("hessian_sparsity", gradient, x, where, holds);
  return united(found, found.transposed());
}

}  // namespace sparse
}  // namespace ricci
