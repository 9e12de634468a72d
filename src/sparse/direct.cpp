// Factors L D U of sparse matrices and what they solve, one row after another, all in double.
#include "ricci/sparse/direct.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "interpreters/batch.h"
#include "kernels/elementwise.h"
#include "ops/dense.h"
#include "ops/factorizations.h"
#include "ops/samples.h"
#include "primitive/interpreter.h"
#include "primitive/promotion.h"
#include "ricci/ops.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"
#include "sparse/analysis.h"

namespace ricci::sparse {
namespace {

using Data = Analysis::Data;
using kernels::Scratch;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The factors of one matrix: D, and below the diagonal the columns of L and the rows of U, unless U is Lᵀ.
template <class T>
struct Triangles {
  T *d, *l, *u;
  Triangles(const Data& a, T* numbers) : d(numbers), l(d + a.size()), u(a.is_symmetric ? l : l + a.triangle()) {}
};

/// Memory for one factorisation after another.
struct FactorMemory {
  Scratch<double> upper, lower;  // what remains of column and row k of the matrix; zeros between factorisations
  Scratch<std::int64_t> next;    // where the next row of each column of L goes
  explicit FactorMemory(std::int64_t n) : upper(n), lower(n), next(n) {
    std::fill_n(upper.data(), n, 0.), std::fill_n(lower.data(), n, 0.);
  }
};

/// Row k of L and column k of U from those before, for k = 0, 1, …. Returns the k of a pivot that is zero, or -1.
template <bool symmetric>
std::int64_t factor_one(const Data& a, const double* values, Triangles<double> f, const FactorMemory& memory) {
  double *upper = memory.upper.data(), *lower = memory.lower.data();
  std::int64_t* next = memory.next.data();
  std::copy_n(a.of_column.begin.data(), a.size(), next);
  const std::int32_t* rows = a.of_column.of.data();
  for (std::int64_t k = 0; k < a.size(); ++k) {
    for (const Placed& x : a.upper[k]) upper[x.at] = values[x.place];
    if constexpr (!symmetric)
      for (const Placed& x : a.lower[k]) lower[x.at] = values[x.place];
    double pivot = a.diagonal[at(k)] < 0 ? 0 : values[a.diagonal[at(k)]];
    for (const std::int32_t i : a.of_row[k]) {
      const double above = std::exchange(upper[i], 0), left = symmetric ? above : std::exchange(lower[i], 0);
      std::int64_t& end = next[i];
      for (std::int64_t p = a.of_column.begin[at(i)]; p < end; ++p) {
        upper[rows[p]] -= f.l[p] * above;
        if constexpr (!symmetric) lower[rows[p]] -= f.u[p] * left;
      }
      const double scaled = left / f.d[i];
      pivot -= scaled * above;
      f.l[end] = scaled;
      if constexpr (!symmetric) f.u[end] = above / f.d[i];
      ++end;
    }
    if (pivot == 0) return k;
    f.d[k] = pivot;
  }
  return -1;
}
std::int64_t factor_one(const Data& a, const double* values, double* numbers, const FactorMemory& memory) {
  return (a.is_symmetric ? factor_one<true> : factor_one<false>)(a, values, {a, numbers}, memory);
}

/// x [n, columns], in the order of elimination, becomes (L D U)⁻¹ x.
void substitute(const Data& a, Triangles<const double> f, double* x, std::int64_t columns) {
  const std::int64_t n = a.size();
  const std::int32_t* rows = a.of_column.of.data();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t p = a.of_column.begin[at(i)]; p < a.of_column.begin[at(i + 1)]; ++p)
      for (std::int64_t c = 0; c < columns; ++c) x[rows[p] * columns + c] -= f.l[p] * x[i * columns + c];
  for (std::int64_t i = n; i-- > 0;) {
    for (std::int64_t c = 0; c < columns; ++c) x[i * columns + c] /= f.d[i];
    for (std::int64_t p = a.of_column.begin[at(i)]; p < a.of_column.begin[at(i + 1)]; ++p)
      for (std::int64_t c = 0; c < columns; ++c) x[i * columns + c] -= f.u[p] * x[rows[p] * columns + c];
  }
}

/// One matrix A, or Aᵀ, and its right-hand sides b [n, columns].
struct System {
  const Data& analysis;
  const double *values, *numbers;
  bool transpose;
  std::int64_t columns;

  /// Adds A⁻¹ b, as the factors give it, to x. `work` has room for b.
  void add_solution(double* x, const double* b, double* work) const {
    const Nodes &from = transpose ? analysis.columns : analysis.rows,
                &to = transpose ? analysis.rows : analysis.columns;
    Triangles<const double> f(analysis, numbers);
    if (transpose) std::swap(f.l, f.u);
    for (std::int64_t k = 0; k < analysis.size(); ++k)
      std::copy_n(b + from[at(k)] * columns, columns, work + k * columns);
    substitute(analysis, f, work, columns);
    for (std::int64_t k = 0; k < analysis.size(); ++k)
      for (std::int64_t c = 0; c < columns; ++c) x[to[at(k)] * columns + c] += work[k * columns + c];
  }

  /// Calls f(row, column, value) for each nonzero of A, or of Aᵀ.
  template <class F>
  void for_each(const F& f) const {
    const Sparsity& sparsity = analysis.sparsity;
    for (std::int64_t i = 0, p = 0; i < analysis.size(); ++i)
      for (const std::int64_t j : sparsity.row(i)) {
        f(transpose ? j : i, transpose ? i : j, values[p]);
        ++p;
      }
  }
};

/// What remains of a system, and how large it is.
class Remainder {
 public:
  explicit Remainder(const System& of)
      : of_(of),
        size_(of.analysis.size() * of.columns),
        greatest_(of.analysis.size()),
        scale_(size_),
        size_of_x_(of.columns),
        b_minus_ax_(size_),
        errors_(of.columns) {
    std::fill_n(greatest_.data(), of.analysis.size(), 0.);
    of.for_each([&](std::int64_t i, std::int64_t, double value) {
      greatest_.data()[i] = std::max(greatest_.data()[i], std::fabs(value));
    });
  }

  /// Of each column: the part of each element of A and b whose change explains b - A x, the greatest
  /// |b - A x| / (|A| |x| + |b|). Rows where this divides rounding errors by each other are compared with the greatest
  /// of |A| and |x| instead. NaN where an element is.
  const double* at_solution(const double* x, const double* b) {
    double *r = b_minus_ax_.data(), *scale = scale_.data(), *errors = errors_.data();
    const std::int64_t columns = of_.columns;
    std::fill_n(size_of_x_.data(), columns, 0.);
    std::fill_n(errors, columns, 0.);
    for (std::int64_t i = 0; i < size_; ++i) {
      r[i] = b[i], scale[i] = std::fabs(b[i]);
      double& greatest = size_of_x_.data()[i % columns];
      greatest = std::max(greatest, std::fabs(x[i]));
    }
    of_.for_each([&](std::int64_t i, std::int64_t j, double value) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const double product = value * x[j * columns + c];
        r[i * columns + c] -= product, scale[i * columns + c] += std::fabs(product);
      }
    });
    const double rounding = 1000 * 0x1p-53 * static_cast<double>(of_.analysis.size());
    for (std::int64_t i = 0; i < size_; ++i) {
      const double most = greatest_.data()[i / columns] * size_of_x_.data()[i % columns];
      const double by = scale[i] > rounding * most ? scale[i] : scale[i] + most;
      if (by == 0) continue;
      const double part = std::fabs(r[i]) / by;
      double& error = errors[i % columns];
      if (part > error || std::isnan(part)) error = part;  // a NaN stays: nothing is greater
    }
    return errors;
  }
  const double* b_minus_ax() const { return b_minus_ax_.data(); }  ///< at the last x

 private:
  const System& of_;
  std::int64_t size_;
  Scratch<double> greatest_;  // of each row
  Scratch<double> scale_;
  Scratch<double> size_of_x_;  // the greatest of each column
  Scratch<double> b_minus_ax_;
  Scratch<double> errors_;  // of each column
};

constexpr double too_much = 1e-8;
bool is_too_much(double error) { return !(error <= too_much); }

/// Solves for the columns whose errors are too much, and refines each until its error is as small as it can be, or has
/// not halved in two steps. x and `errors` become those of each column's best step.
void refine(const System& of, double* x, const double* b, double* errors) {
  constexpr double small_enough = 4 * 0x1p-53;
  constexpr int most_steps = 30, patience = 2;
  const std::int64_t columns = of.columns, count = of.analysis.size() * columns;
  const Scratch<double> work(count), now(count);
  std::vector<int> steps_left(at(columns));  // of each column, without halving
  for (std::int64_t c = 0; c < columns; ++c)
    if (is_too_much(errors[c])) steps_left[at(c)] = patience, errors[c] = std::numeric_limits<double>::infinity();
  std::vector<bool> is_better(at(columns));
  std::fill_n(now.data(), count, 0.);
  of.add_solution(now.data(), b, work.data());
  Remainder remainder(of);
  for (int step = 0;; ++step) {
    const double* found = remainder.at_solution(now.data(), b);
    for (std::int64_t c = 0; c < columns; ++c) {
      int& left = steps_left[at(c)];
      is_better[at(c)] = left > 0 && (step == 0 || found[c] < errors[c]);
      if (left == 0) continue;
      left = found[c] <= errors[c] / 2 ? patience : left - 1;
      if (is_better[at(c)]) errors[c] = found[c];
      if (!(found[c] > small_enough)) left = 0;  // a NaN stays one
    }
    for (std::int64_t i = 0; i < count; ++i)
      if (is_better[at(i % columns)]) x[i] = now.data()[i];
    if (step == most_steps || std::ranges::all_of(steps_left, [](int left) { return left == 0; })) return;
    of.add_solution(now.data(), remainder.b_minus_ax(), work.data());
  }
}

/// x of one system. Where the given factors do not lead to it, they may be of another matrix: factors of A's own values
/// are tried then. Returns a column that neither solves, or -1; where b's column or A has a NaN or infinity, that is no
/// failure.
std::int64_t solve_one(const System& of, double* x, const double* b) {
  const Data& a = of.analysis;
  const std::int64_t columns = of.columns;
  std::vector<double> errors(at(columns), std::numeric_limits<double>::infinity());
  refine(of, x, b, errors.data());
  if (std::ranges::none_of(errors, is_too_much)) return -1;
  const Scratch<double> own(a.numbers());
  if (factor_one(a, of.values, own.data(), FactorMemory(a.size())) >= 0)
    return std::ranges::find_if(errors, is_too_much) - errors.begin();
  refine({a, of.values, own.data(), of.transpose, columns}, x, b, errors.data());
  const auto is_finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(of.values, of.values + a.sparsity.nnz(), is_finite)) return -1;
  for (std::int64_t c = 0; c < columns; ++c) {
    if (!is_too_much(errors[at(c)])) continue;
    bool has_b = true;
    for (std::int64_t i = 0; i < a.size(); ++i) has_b = has_b && is_finite(b[i * columns + c]);
    if (has_b) return c;
  }
  return -1;
}

/// The elements of an input row by row, as T: its own memory, or a copy.
template <class T>
class RowMajorElements {
 public:
  RowMajorElements(const Strided& x, DType dtype) : data_(static_cast<T*>(x.data)) {
    if (x.dtype == dtype && is_row_major(x)) return;
    copy_ = array_like(x, dtype);
    kernels::copy(copy_->strided(), x);
    data_ = static_cast<T*>(copy_->data);
  }
  const T* data() const { return data_; }

 private:
  ArrayRef copy_;
  T* data_;
};

/// The values [..., nnz] of matrices, row by row: of symmetric ones, the mean of each element and that across the
/// diagonal.
class MatrixValues {
 public:
  MatrixValues(const Data& a, const Strided& x)
      : given_(x, DType::float64), nnz_(a.sparsity.nnz()), means_(a.is_symmetric ? shape_of(x).numel().host() : 0) {
    for (std::int64_t i = 0; a.is_symmetric && nnz_ > 0 && i < shape_of(x).numel().host(); ++i)
      means_.data()[i] = given_.data()[i] * 0.5 + given_.data()[i - i % nnz_ + a.across[at(i % nnz_)]] * 0.5;
  }
  const double* of(std::int64_t matrix) const {
    return (means_.data() ? means_.data() : given_.data()) + matrix * nnz_;
  }

 private:
  RowMajorElements<double> given_;
  std::int64_t nnz_;
  Scratch<double> means_;
};
/// The same in Tensors, for derivatives.
Tensor as_read(const Analysis& analysis, const Tensor& values) {
  if (!analysis.is_symmetric()) return values;
  return values * 0.5 + index_select(values, -1, tensor(analysis.data().across)) * 0.5;
}

Shape leading_of(const Strided& x, int last) { return Shape(x.shape, x.shape + x.rank - last); }

/// `f64[3,3] in example 2`
std::string matrix_text(const Data& a, DType dtype, std::int64_t place, const Shape& leading) {
  return to_string(Type{dtype, Shape{a.size(), a.size()}}) + place_text(place, leading, vmaps_of_kernel(leading));
}

/// The same, and which right-hand side: `f64[3,3], for column 1 of 4 right-hand sides,`. A vmap over right-hand sides
/// alone makes columns of its examples.
std::string system_text(const Data& a, DType dtype, std::int64_t place, const Shape& leading, std::int64_t column,
                        std::int64_t columns) {
  const std::string matrix = matrix_text(a, dtype, place, leading);
  if (columns == 1) return matrix;
  if (const Vmaps vmaps = vmaps_of_kernel({columns}); leading.empty() && !vmaps.empty())
    return matrix + place_text(column, {columns}, vmaps);
  return matrix + ", for column " + std::to_string(column) + " of " + std::to_string(columns) + " right-hand sides,";
}

/// What to do about pivots that are zero or small.
std::string remedies(const Data& a) {
  return a.is_symmetric ? "Leave .symmetric out and make an Analysis of a matrix like it, which exchanges rows by "
                          "value, or use sparse::minres"
                        : "Make an Analysis of a matrix like it, which exchanges rows by value, or use sparse::gmres";
}

constexpr double nanoseconds_of_product = 1;

void require_last(const char* name, const Type& x, int from_end, std::int64_t size) {
  if (x.rank() >= from_end && x.shape[at(x.rank() - from_end)] == size) return;
  raise<ValueError>(std::string(name) + ": found " + to_string(x) + "; axis -" + std::to_string(from_end) +
                    " must be of " + std::to_string(size));
}

/// Of values [..., nnz]: the bits of D, L and U, [..., numbers].
struct SparseFactor {
  using kind = Explicit;
  static constexpr const char* name = "sparse_factor";
  static constexpr bool locally_constant = true;
  Analysis analysis;

  Type type(const Type& values) const {
    require_floating(name, values);
    require_real(name, values);
    require_last(name, values, 1, analysis.sparsity().nnz());
    Shape shape = values.shape;
    shape.back() = analysis.factor_nnz();
    return {DType::int64, shape};
  }
  void eval(Outputs out, Inputs in) const {
    const Data& a = analysis.data();
    const MatrixValues values(a, in[0]);
    const ArrayRef found = array_like(out[0], DType::int64);
    auto* numbers = static_cast<double*>(found->data);
    const Shape leading = leading_of(in[0], 1);
    const std::int64_t count = leading.numel().host();
    std::vector<std::int64_t> failures(at(count), -1);
    kernels::parallel_for({count, nanoseconds_of_product * a.products}, [&](std::int64_t begin, std::int64_t end) {
      const FactorMemory memory(a.size());
      for (std::int64_t i = begin; i < end; ++i)
        failures[at(i)] = factor_one(a, values.of(i), numbers + i * a.numbers(), memory);
    });
    const auto failed = std::ranges::find_if(failures, [](std::int64_t k) { return k >= 0; });
    if (failed != failures.end()) raise_zero_pivot(in[0].dtype, failed - failures.begin(), *failed, leading);
    kernels::copy(out[0], found->strided());
  }
  SparseFactor lifted() const { return *this; }
  static std::vector<Sample<SparseFactor>> samples();

 private:
  [[noreturn]] void raise_zero_pivot(DType dtype, std::int64_t place, std::int64_t k, const Shape& leading) const {
    const Data& a = analysis.data();
    raise<ValueError>(
        "sparse::factor: the pivot of " + matrix_text(a, dtype, place, leading) + " at row " +
        std::to_string(a.rows[at(k)]) + ", column " + std::to_string(a.columns[at(k)]) +
        " is zero: the matrix is singular, or its rows must be exchanged. Leave the zeros of the diagonal out of the "
        "pattern. " +
        remedies(a));
  }
};

/// x with A x = b, or Aᵀ x = b: of values [..., nnz] of A, its factors [..., numbers], and b [..., n, k]. Refined, so x
/// does not depend on the factors and has no derivative by them: factors of another matrix take longer at most.
struct SparseSolve {
  using kind = Explicit;
  static constexpr const char* name = "sparse_solve";
  static constexpr unsigned keeps[] = {input(0) | input(1) | output(0), nothing, input(0) | input(1)};
  Analysis analysis;
  bool transpose = false;

  Type type(const Type& values, const Type& numbers, const Type& b) const {
    require_floating(name, values);
    require_real(name, values);
    require_dtype(values.dtype, b);
    require_dtype(DType::int64, numbers);
    require_last(name, values, 1, analysis.sparsity().nnz());
    require_last(name, numbers, 1, analysis.factor_nnz());
    require_last(name, b, 2, analysis.data().size());
    const Shape leading(values.shape.begin(), values.shape.end() - 1);
    require_shape(leading, Shape(numbers.shape.begin(), numbers.shape.end() - 1));
    require_shape(leading, Shape(b.shape.begin(), b.shape.end() - 2));
    return b;
  }
  void eval(Outputs out, Inputs in) const {
    const Data& a = analysis.data();
    const MatrixValues values(a, in[0]);
    const RowMajorElements<double> b(in[2], DType::float64);
    const RowMajorElements<std::int64_t> numbers(in[1], DType::int64);
    const ArrayRef x = array_like(out[0], DType::float64);
    const Shape leading = leading_of(in[0], 1);
    const std::int64_t count = leading.numel().host(), columns = in[2].shape[in[2].rank - 1], each = a.size() * columns;
    std::vector<std::int64_t> failures(at(count), -1);
    const double products = static_cast<double>(4 * columns * (a.numbers() + a.sparsity.nnz()));
    kernels::parallel_for({count, nanoseconds_of_product * products}, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const System system{a, values.of(i), reinterpret_cast<const double*>(numbers.data()) + i * a.numbers(),
                            transpose, columns};
        failures[at(i)] = solve_one(system, static_cast<double*>(x->data) + i * each, b.data() + i * each);
      }
    });
    const auto failed = std::ranges::find_if(failures, [](std::int64_t column) { return column >= 0; });
    if (failed != failures.end())
      raise<ValueError>(
          "sparse::solve: " + system_text(a, in[0].dtype, failed - failures.begin(), leading, *failed, columns) +
          " is singular, or its pivots are too small: no solution was found that is exact for elements "
          "that differ by a part of 1e-8. " +
          remedies(a));
    kernels::copy(out[0], x->strided());
  }

  Tensors jvp(const Forward& f) const {
    Tensor right = f.tangents[2];
    if (f.tangents[0].defined()) {
      const Tensor product = matmul(matrix(as_read(analysis, f.tangents[0])), f.outputs[0]);
      right = right.defined() ? right - product : neg(product);
    }
    if (!right.defined()) return {Tensor()};
    return {apply(*this, f.inputs[0], f.inputs[1], right)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor ct = apply(SparseSolve{analysis, !transpose}, r.inputs[0], r.inputs[1], r.cotangents[0]);
    if (!r.wants(0)) return {Tensor(), Tensor(), ct};
    const Tensor rows = analysis.sparsity().row_indices(), columns = analysis.sparsity().col_indices();
    const Tensor at_rows = index_select(transpose ? r.outputs[0] : ct, -2, rows),
                 at_columns = index_select(transpose ? ct : r.outputs[0], -2, columns);
    return {neg(as_read(analysis, sum(at_rows * at_columns, {-1}))), Tensor(), ct};
  }
  BatchedOutputs batch(const Batch& b) const {
    if (b.is_mapped(0) || b.is_mapped(1)) return {.outputs = {apply(*this, b.input(0), b.input(1), b.input(2))}};
    const Tensor x = apply(*this, b.inputs[0], b.inputs[1], examples_to_columns(b.inputs[2]));
    return {.outputs = {columns_to_examples(x, b.size, type_of(b.inputs[2]).shape.back())}};
  }
  static std::vector<Sample<SparseSolve>> samples();

 private:
  /// The matrix of which x is the solution's product, of these values.
  Sparse matrix(const Tensor& values) const {
    const Sparse a{analysis.sparsity(), values};
    return transpose ? a.transpose() : a;
  }
};

/// Matrices for samples: heavy on the diagonal, or where rows must be exchanged to bring that there.
struct SampleMatrix {
  Analysis analysis;
  Tensor values;
  SampleMatrix(const Tensor& dense, bool symmetric, const Shape& leading = {})
      : analysis(Sparsity::of_dense(dense), {.symmetric = symmetric}) {
    const Tensor own = Sparse::of_dense(dense, analysis.sparsity()).values;
    Shape shape = leading;
    shape.push_back(own.size(0));
    values = own + uniform_around_zero(shape) * 0.2;
  }
};
std::vector<SampleMatrix> sample_matrices() {
  const Tensor chain = tensor({{3., 1., 0., 0.}, {1., -4., 1., 0.}, {0., 1., 5., 1.}, {0., 0., 1., 4.}});
  const Tensor exchanged = tensor({{0., 3., 1.}, {1., 0., 4.}, {5., 0., 0.}}),
               constrained = tensor({{0., 2.}, {2., 3.}});
  return {{chain, true}, {chain, false, {2}}, {exchanged, false}, {constrained, true, {2}}, {zeros({0, 0}), false}};
}

std::vector<Sample<SparseFactor>> SparseFactor::samples() {
  std::vector<Sample<SparseFactor>> all;
  for (const SampleMatrix& a : sample_matrices()) all.push_back({{a.analysis}, {a.values}});
  return all;
}
std::vector<Sample<SparseSolve>> SparseSolve::samples() {
  std::vector<Sample<SparseSolve>> all;
  for (const SampleMatrix& a : sample_matrices())
    for (const bool transpose : {false, true}) {
      Shape shape = a.values.shape();
      shape.back() = a.analysis.sparsity().rows();
      shape.push_back(2);
      all.push_back(
          {{a.analysis, transpose}, {a.values, apply(SparseFactor{a.analysis}, a.values), uniform_around_zero(shape)}});
    }
  return all;
}

Tensor with_leading(const Tensor& x, const Shape& leading, std::size_t last) {
  const Shape have = type_of(x).shape;
  Shape wanted = leading;
  wanted.append(have.end() - static_cast<std::ptrdiff_t>(last), have.end());
  return have == wanted ? x : expand(x, wanted);
}

/// b [..., n, k] of one matrix for all, or of as many as there are.
Tensor solved(const Factor& f, const Tensor& b) {
  const SparseSolve op{f.analysis};
  const Type matrices = type_of(f.values), type = type_of(b);
  const Shape of_matrices(matrices.shape.begin(), matrices.shape.end() - 1);
  const Shape of_b(type.shape.begin(), type.shape.end() - 2);
  if (of_matrices.empty() && !of_b.empty()) {
    const Size rows = type.shape[at(type.rank() - 2)], columns = type.shape.back();
    const Tensor flat = examples_to_columns(reshape(b, {of_b.numel(), rows, columns}));
    return reshape(columns_to_examples(apply(op, f.values, f.numbers, flat), of_b.numel(), columns), type.shape);
  }
  const Type leads[] = {{matrices.dtype, of_matrices}, {type.dtype, of_b}};
  const Type* const both[] = {&leads[0], &leads[1]};
  const Shape leading = broadcast_shape("sparse::solve", both);
  return apply(op, with_leading(f.values, leading, 1), with_leading(f.numbers, leading, 1),
               with_leading(b, leading, 2));
}

}  // namespace

Factor factor(const Sparse& a, const Analysis& analysis) {
  if (!a.values.is_floating_point())
    raise<TypeError>("sparse::factor: the values are " + to_string(type_of(a.values)) + "; pass floating numbers");
  if (!(a.sparsity == analysis.sparsity()))
    raise<ValueError>("sparse::factor: the matrix has a pattern of " + std::to_string(a.sparsity.nnz()) +
                      " nonzeros that is not the analysed one, of " + std::to_string(analysis.sparsity().nnz()) +
                      "; make an Analysis of its sparsity");
  (void)a.shape();
  return {analysis, a.values, apply(SparseFactor{analysis}, a.values)};
}
Factor factor(const Sparse& a, AnalysisOptions options) { return factor(a, Analysis(a.sparsity, options)); }

Tensor solve(const Factor& f, const Tensor& b) {
  const std::int64_t n = f.analysis.sparsity().rows();
  const bool is_vector = b.dim() == 1;
  if (b.dim() == 0 || b.size(is_vector ? 0 : -2) != n)
    raise<ValueError>("sparse::solve: the right-hand side " + to_string(type_of(b)) + " does not fit a matrix of " +
                      std::to_string(n) + " rows; it must be [" + std::to_string(n) + "] or [..., " +
                      std::to_string(n) + ", k]");
  if (!b.is_floating_point())
    raise<TypeError>("sparse::solve: b is " + to_string(type_of(b)) + "; pass floating numbers");
  const DType dtype = promote(f.values.dtype(), b.dtype());
  const Tensor right = to(b, dtype);
  const Tensor x = solved({f.analysis, to(f.values, dtype), f.numbers}, is_vector ? unsqueeze(right, -1) : right);
  return is_vector ? squeeze(x, -1) : x;
}
Tensor solve(const Sparse& a, const Tensor& b, const Analysis& analysis) { return solve(factor(a, analysis), b); }
Tensor solve(const Sparse& a, const Tensor& b, AnalysisOptions options) { return solve(factor(a, options), b); }

}  // namespace ricci::sparse
