// What sparse matrices do, in operations on their values: gathers at the places of the pattern, and sums by rows.
#include "ricci/sparse/sparse.h"

#include <algorithm>
#include <ostream>

#include "primitive/interpreter.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "tensor/at.h"

namespace ricci {
namespace {

using Numbers = std::vector<std::int64_t>;

/// ValueError unless the values are those of the pattern.
void require_values(const char* call, const Sparse& a) {
  if (!a.values.defined())
    raise<ValueError>(std::string(call) + ": the matrix has no values; give it [batch…, " +
                      std::to_string(a.sparsity.nnz()) + "]");
  const Type type = type_of(a.values);
  if (type.rank() > 0 && type.shape[at(type.rank() - 1)] == a.sparsity.nnz()) return;
  raise<ValueError>(std::string(call) + ": the matrix has " + std::to_string(a.sparsity.nnz()) +
                    " nonzeros and values " + to_string(type) + "; the last axis must have one for each nonzero");
}

/// [batch…, of the last axes].
Shape batch_of(const Tensor& x, int last) {
  const Shape shape = x.shape();
  return Shape(shape.begin(), shape.end() - last);
}

/// Sums of elements along an axis, those with one number together: zeros of `count` there, and what is added.
Tensor summed_at(const Tensor& terms, std::int64_t axis, const Tensor& numbers, std::int64_t count) {
  Shape shape = terms.shape();
  shape[at(axis < 0 ? axis + terms.dim() : axis)] = count;
  return index_add(zeros_of({terms.dtype(), shape}), axis, numbers, terms);
}

[[noreturn]] void raise_sizes(const char* call, const Sparse& a, const Tensor& x, const char* which,
                              std::int64_t size) {
  raise<ValueError>(std::string(call) + ": inner sizes differ: the sparse matrix is [" +
                    std::to_string(a.sparsity.rows()) + "," + std::to_string(a.sparsity.columns()) +
                    "], the other is " + to_string(type_of(x)) + "; its " + which + " axis must be of " +
                    std::to_string(size));
}

/// Places of one pattern among those of another, which has them all.
Tensor places_among(const Sparsity& some, const Sparsity& all) {
  Numbers places;
  for (std::int64_t i = 0; i < some.rows(); ++i) {
    const auto row = all.row(i);
    for (const std::int64_t j : some.row(i))
      places.push_back(all.crow()[at(i)] + (std::ranges::lower_bound(row, j) - row.begin()));
  }
  return tensor(places);
}

Tensor flat_places(const Sparsity& of) {
  Numbers places;
  for (std::int64_t i = 0; i < of.rows(); ++i)
    for (const std::int64_t j : of.row(i)) places.push_back(i * of.columns() + j);
  return tensor(places);
}

template <class Combine>
Sparse combined(const char* call, const Sparse& a, const Sparse& b, const Combine& combine) {
  require_values(call, a), require_values(call, b);
  if (a.sparsity.rows() != b.sparsity.rows() || a.sparsity.columns() != b.sparsity.columns())
    raise<ValueError>(std::string(call) + ": the matrices have " + std::to_string(a.sparsity.rows()) + " x " +
                      std::to_string(a.sparsity.columns()) + " and " + std::to_string(b.sparsity.rows()) + " x " +
                      std::to_string(b.sparsity.columns()) + " elements; pass matrices of one size");
  if (a.sparsity == b.sparsity) return {a.sparsity, combine(a.values, b.values)};
  const Sparsity all = sparse::united(a.sparsity, b.sparsity);
  const auto placed = [&](const Sparse& x) {
    return summed_at(x.values, -1, places_among(x.sparsity, all), all.nnz());
  };
  return {all, combine(placed(a), placed(b))};
}

}  // namespace

Sparse Sparse::of_coordinates(const Tensor& rows, const Tensor& columns, const Tensor& values, std::int64_t row_count,
                              std::int64_t column_count) {
  for (const Tensor& places : {rows, columns})
    if (!is_integral(places.dtype()) || places.dtype() == DType::boolean)
      raise<TypeError>("Sparse::of_coordinates: places are " + to_string(type_of(places)) + "; pass whole numbers");
  const Numbers i = rows.to_vector<std::int64_t>(), j = columns.to_vector<std::int64_t>();
  const std::int64_t count = values.dim() == 0 ? -1 : values.size(-1);
  if (i.size() != j.size() || std::ssize(i) != count)
    raise<ValueError>("Sparse::of_coordinates: " + std::to_string(i.size()) + " rows, " + std::to_string(j.size()) +
                      " columns and values " + to_string(type_of(values)) + "; the last axis of each must be as long");
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::size_t k = 0; k < i.size(); ++k) pairs.emplace_back(i[k], j[k]);
  Sparsity sparsity = Sparsity::of_pairs(row_count, column_count, pairs);
  Numbers places;
  for (const auto& [row, column] : pairs) {
    const auto of_row = sparsity.row(row);
    places.push_back(sparsity.crow()[at(row)] + (std::ranges::lower_bound(of_row, column) - of_row.begin()));
  }
  Tensor summed = summed_at(values, -1, tensor(places), sparsity.nnz());
  return {std::move(sparsity), std::move(summed)};
}

Sparse Sparse::of_dense(const Tensor& matrix, const Sparsity& sparsity) {
  if (matrix.dim() < 2 || matrix.size(-2) != sparsity.rows() || matrix.size(-1) != sparsity.columns())
    raise<ValueError>("Sparse::of_dense: found " + to_string(type_of(matrix)) +
                      "; the last two axes must be those of the pattern, " + std::to_string(sparsity.rows()) + " and " +
                      std::to_string(sparsity.columns()));
  return {sparsity, index_select(flatten(matrix, -2, -1), -1, flat_places(sparsity))};
}

Shape Sparse::shape() const {
  require_values("shape", *this);
  Shape shape = batch_of(values, 1);
  shape.push_back(sparsity.rows());
  shape.push_back(sparsity.columns());
  return shape;
}

Tensor Sparse::to_dense() const {
  const Shape all = shape();
  return reshape(summed_at(values, -1, flat_places(sparsity), sparsity.rows() * sparsity.columns()), all);
}

Sparse Sparse::transpose() const {
  require_values("transpose", *this);
  const Sparsity transposed = sparsity.transposed();
  // Where each nonzero of the transposed matrix stands here: they come row by row here too.
  Numbers next(sparsity.crow().begin(), sparsity.crow().end()), places;
  for (std::int64_t j = 0; j < transposed.rows(); ++j)
    for (const std::int64_t i : transposed.row(j)) places.push_back(next[at(i)]++);
  return {transposed, index_select(values, -1, tensor(places))};
}

Tensor Sparse::diagonal() const {
  require_values("diagonal", *this);
  Numbers places, on_diagonal;
  const std::int64_t size = std::min(sparsity.rows(), sparsity.columns());
  for (std::int64_t i = 0; i < size; ++i) {
    const auto row = sparsity.row(i);
    const auto found = std::ranges::lower_bound(row, i);
    if (found == row.end() || *found != i) continue;
    places.push_back(sparsity.crow()[at(i)] + (found - row.begin()));
    on_diagonal.push_back(i);
  }
  return summed_at(index_select(values, -1, tensor(places)), -1, tensor(on_diagonal), size);
}

Tensor Sparse::sum(std::int64_t axis) const {
  require_values("sum", *this);
  if (axis == -1) return summed_at(values, -1, sparsity.row_indices(), sparsity.rows());
  if (axis == -2) return summed_at(values, -1, sparsity.col_indices(), sparsity.columns());
  raise<IndexError>("sum: axis " + std::to_string(axis) +
                    " of a sparse matrix; -1 gives the sums of its rows, -2 those of its columns");
}

Tensor matmul(const Sparse& a, const Tensor& x) {
  require_values("matmul", a);
  const Sparsity& of = a.sparsity;
  if (x.dim() == 1) {
    if (x.size(0) != of.columns()) raise_sizes("matmul", a, x, "only", of.columns());
    return summed_at(a.values * index_select(x, 0, of.col_indices()), -1, of.row_indices(), of.rows());
  }
  if (x.dim() == 0 || x.size(-2) != of.columns()) raise_sizes("matmul", a, x, "last but one", of.columns());
  return summed_at(unsqueeze(a.values, -1) * index_select(x, -2, of.col_indices()), -2, of.row_indices(), of.rows());
}

Tensor matmul(const Tensor& x, const Sparse& a) {
  if (x.dim() == 0 || x.size(-1) != a.sparsity.rows()) raise_sizes("matmul", a, x, "last", a.sparsity.rows());
  const Sparse transposed = a.transpose();
  return x.dim() == 1 ? matmul(transposed, x) : mT(matmul(transposed, mT(x)));
}

Sparse operator+(const Sparse& a, const Sparse& b) {
  return combined("add", a, b, [](const Tensor& x, const Tensor& y) { return x + y; });
}
Sparse operator-(const Sparse& a, const Sparse& b) {
  return combined("sub", a, b, [](const Tensor& x, const Tensor& y) { return x - y; });
}
Sparse operator*(const Sparse& a, const Tensor& number) {
  require_values("mul", a);
  return {a.sparsity, a.values * (number.dim() == 0 ? number : unsqueeze(number, -1))};
}
Sparse operator*(const Tensor& number, const Sparse& a) { return a * number; }

std::ostream& operator<<(std::ostream& out, const Sparse& a) {
  out << "Sparse [" << a.sparsity.rows() << ", " << a.sparsity.columns() << "], " << a.sparsity.nnz() << " nonzeros: ";
  return out << a.values;
}

}  // namespace ricci
