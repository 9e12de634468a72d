// Factors of sparse matrices and what they solve as operations on tensors, all in double: solutions are put back into
// the system, and refined where that shows an error.
#include "ricci/sparse/direct.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "interpreters/batch.h"
#include "kernels/elementwise.h"
#include "kernels/machine.h"
#include "ops/dense.h"
#include "ops/factorizations.h"
#include "ops/samples.h"
#include "primitive/interpreter.h"
#include "primitive/promotion.h"
#include "ricci/ops.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"
#include "sparse/factors.h"
#include "tensor/at.h"

namespace ricci::sparse {
namespace {

using Data = Analysis::Data;
using kernels::Cuts, kernels::Scratch;

/// One matrix A, or Aᵀ, and some of the columns of its right-hand sides b, a part of rows of `step` numbers.
struct System {
  const Data& analysis;
  const double *values, *numbers;
  bool transpose;
  std::int64_t columns, step;

  /// Adds A⁻¹ b, as the factors give it, to x [n, columns].
  void add_solution(double* x, const double* b, std::int64_t step_of_b) const {
    const Nodes &from = transpose ? analysis.columns : analysis.rows,
                &to = transpose ? analysis.rows : analysis.columns;
    const std::int64_t wide = padded(columns);
    const Scratch<double> moved(analysis.size() * wide), work(most_rows(analysis) * wide);
    for (std::int64_t k = 0; k < analysis.size(); ++k) {
      double* const row = std::copy_n(b + from[at(k)] * step_of_b, columns, moved.data() + k * wide);
      std::fill_n(row, wide - columns, 0.);
    }
    substitute(analysis, numbers, transpose, moved.data(), work.data(), columns);
    for (std::int64_t k = 0; k < analysis.size(); ++k)
      for (std::int64_t c = 0; c < columns; ++c) x[to[at(k)] * columns + c] += moved.data()[k * wide + c];
  }

  /// Calls f(column, value) for each nonzero of a row of A. A symmetric matrix has the mean of an element and that
  /// across the diagonal; f is called for one of the two.
  template <class F>
  void for_each_in_row(std::int64_t i, const F& f) const {
    if (analysis.is_symmetric) {
      for (const Pair& pair : analysis.pairs[i])
        f(pair.column, values[pair.place] * 0.5 + values[pair.across] * 0.5);
      return;
    }
    const std::span<const std::int64_t> crow = analysis.sparsity.crow(), col = analysis.sparsity.col();
    for (std::int64_t p = crow[at(i)]; p < crow[at(i + 1)]; ++p) f(col[at(p)], values[p]);
  }
};

/// Right-hand sides that go through the factors together: so many that those of a panel's rows stay in the cache.
constexpr std::int64_t most_columns = 4 * kernels::max_lanes<double>;

/// What remains of a system, and how large it is.
class Remainder {
 public:
  explicit Remainder(const System& of)
      : of_(of), size_(of.analysis.size() * of.columns), b_minus_ax_(size_), scale_(size_), errors_(of.columns) {}

  /// Of each column: the part of each element of A and b whose change explains b - A x, the greatest
  /// |b - A x| / (|A| |x| + |b|). If none of these is above `enough`, it is `enough` for each column. Else those of
  /// rows that divide rounding errors by each other are compared with the greatest of |A| and |x| instead. NaN where
  /// an element is, and where a product overflows.
  const double* at_solution(const double* x, const double* b, double enough) {
    double *r = b_minus_ax_.data(), *scale = scale_.data();
    const std::int64_t columns = of_.columns;
    for (std::int64_t i = 0; i < of_.analysis.size(); ++i)
      for (std::int64_t c = 0; c < columns; ++c)
        r[i * columns + c] = b[i * of_.step + c], scale[i * columns + c] = std::fabs(b[i * of_.step + c]);
    if (columns == 1) subtract_products<1>(x);
    else subtract_products<0>(x);
    double* const errors = errors_.data();
    std::fill_n(errors, columns, enough);
    int is_enough = 1;
    constexpr double most = std::numeric_limits<double>::max();  // beyond, each error would be one of infinity
    for (std::int64_t i = 0; i < size_; ++i)
      is_enough &= static_cast<int>(std::fabs(r[i]) <= enough * scale[i]) & static_cast<int>(scale[i] <= most);
    if (is_enough) return errors;
    const std::vector<double> rows = greatest_of_rows(), all = greatest_of_columns(x);
    const double rounding = 1000 * 0x1p-53 * static_cast<double>(of_.analysis.size());
    find_errors([&](std::int64_t i, std::int64_t c) {
      const double most = rows[at(i)] * all[at(c)];
      return scale[i * columns + c] > rounding * most ? 0 : most;
    });
    return errors;
  }
  const double* b_minus_ax() const { return b_minus_ax_.data(); }  ///< at the last x

 private:
  /// Requires: so many columns, or 0 for any number.
  template <std::int64_t known>
  void subtract_products(const double* x) {
    if (of_.analysis.is_symmetric) subtract_products<known, true, true>(x);
    else if (of_.transpose) subtract_products<known, false, true>(x);
    else subtract_products<known, true, false>(x);
  }
  /// An element of A at i, j is multiplied by x_j for row i, or by x_i for row j, or, off the diagonal, both.
  template <std::int64_t known, bool by_rows, bool by_columns>
  void subtract_products(const double* x) {
    double *r = b_minus_ax_.data(), *scale = scale_.data();
    const std::int64_t columns = known > 0 ? known : of_.columns;
    for (std::int64_t i = 0; i < of_.analysis.size(); ++i) {
      double sums[known > 0 ? known : most_columns] = {}, sizes[known > 0 ? known : most_columns] = {};  // of row i
      of_.for_each_in_row(i, [&](std::int64_t j, double value) {
        if constexpr (by_rows)
          for (std::int64_t c = 0; c < columns; ++c) {
            const double product = value * x[j * columns + c];
            sums[c] += product, sizes[c] += std::fabs(product);
          }
        if (by_columns && !(by_rows && i == j))
          for (std::int64_t c = 0; c < columns; ++c) {
            const double product = value * x[i * columns + c];
            r[j * columns + c] -= product, scale[j * columns + c] += std::fabs(product);
          }
      });
      if constexpr (by_rows)
        for (std::int64_t c = 0; c < columns; ++c) r[i * columns + c] -= sums[c], scale[i * columns + c] += sizes[c];
    }
  }
  template <class More>
  void find_errors(const More& more) {
    const std::int64_t columns = of_.columns;
    std::fill_n(errors_.data(), columns, 0.);
    for (std::int64_t i = 0; i < of_.analysis.size(); ++i)
      for (std::int64_t c = 0; c < columns; ++c) {
        const double by = scale_.data()[i * columns + c] + more(i, c);
        if (by == 0) continue;
        const double part = std::fabs(b_minus_ax_.data()[i * columns + c]) / by;
        double& error = errors_.data()[c];
        if (part > error || std::isnan(part)) error = part;  // a NaN stays: nothing is greater
      }
  }
  std::vector<double> greatest_of_rows() const {
    std::vector<double> greatest(at(of_.analysis.size()));
    for (std::int64_t i = 0; i < of_.analysis.size(); ++i)
      of_.for_each_in_row(i, [&](std::int64_t j, double value) {
        const bool is_symmetric = of_.analysis.is_symmetric;
        for (const std::int64_t row : {is_symmetric || !of_.transpose ? i : j, is_symmetric || of_.transpose ? j : i})
          greatest[at(row)] = std::max(greatest[at(row)], std::fabs(value));
      });
    return greatest;
  }
  std::vector<double> greatest_of_columns(const double* x) const {
    std::vector<double> greatest(at(of_.columns));
    for (std::int64_t i = 0; i < of_.analysis.size(); ++i)
      for (std::int64_t c = 0; c < of_.columns; ++c)
        greatest[at(c)] = std::max(greatest[at(c)], std::fabs(x[i * of_.columns + c]));
    return greatest;
  }

  const System& of_;
  std::int64_t size_;
  Scratch<double> b_minus_ax_, scale_;
  Scratch<double> errors_;  // of each column
};

constexpr double too_much = 1e-8;
bool is_too_much(double error) { return !(error <= too_much); }

/// Solves for the columns whose errors are too much, and refines each until its error is small enough, or has not
/// halved in two steps. x [n, columns] and `errors` become those of each column's best step.
void refine(const System& of, double* x, const double* b, double* errors) {
  constexpr double small_enough = 64 * 0x1p-53;
  constexpr int most_steps = 30, patience = 2;
  const std::int64_t columns = of.columns, count = of.analysis.size() * columns;
  const Scratch<double> now(count);
  std::vector<int> steps_left(at(columns));  // of each column, without halving
  for (std::int64_t c = 0; c < columns; ++c)
    if (is_too_much(errors[c])) steps_left[at(c)] = patience, errors[c] = std::numeric_limits<double>::infinity();
  std::vector<bool> is_better(at(columns));
  std::fill_n(now.data(), count, 0.);
  of.add_solution(now.data(), b, of.step);
  Remainder remainder(of);
  for (int step = 0;; ++step) {
    const double* found = remainder.at_solution(now.data(), b, small_enough);
    for (std::int64_t c = 0; c < columns; ++c) {
      int& left = steps_left[at(c)];
      is_better[at(c)] = left > 0 && (step == 0 || found[c] < errors[c]);
      if (left == 0) continue;
      left = found[c] <= errors[c] / 2 ? patience : left - 1;
      if (is_better[at(c)]) errors[c] = found[c];
      if (!(found[c] > small_enough)) left = 0;  // a NaN stays one
    }
    for (std::int64_t i = 0; i < of.analysis.size(); ++i)
      for (std::int64_t c = 0; c < columns; ++c)
        if (is_better[at(c)]) x[i * of.step + c] = now.data()[i * columns + c];
    if (step == most_steps || std::ranges::all_of(steps_left, [](int left) { return left == 0; })) return;
    of.add_solution(now.data(), remainder.b_minus_ax(), columns);
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
  if (factor_matrix(a, of.values, own.data(), FactorMemory(a)) >= 0)
    return std::ranges::find_if(errors, is_too_much) - errors.begin();
  refine({a, of.values, own.data(), of.transpose, columns, of.step}, x, b, errors.data());
  const auto is_finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(of.values, of.values + a.sparsity.nnz(), is_finite)) return -1;
  for (std::int64_t c = 0; c < columns; ++c) {
    if (!is_too_much(errors[at(c)])) continue;
    bool has_b = true;
    for (std::int64_t i = 0; i < a.size(); ++i) has_b = has_b && is_finite(b[i * of.step + c]);
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

/// Memory for the elements of a result row by row, as T: its own, or other memory that `finish` copies from.
template <class T>
class RowMajorResult {
 public:
  RowMajorResult(const Strided& x, DType dtype) : result_(x), data_(static_cast<T*>(x.data)) {
    if (x.dtype == dtype && is_row_major(x)) return;
    copy_ = array_like(x, dtype);
    data_ = static_cast<T*>(copy_->data);
  }
  T* data() const { return data_; }
  void finish() const {
    if (copy_) kernels::copy(result_, copy_->strided());
  }

 private:
  const Strided& result_;
  ArrayRef copy_;
  T* data_;
};

/// Values as the operations read them, for derivatives: of a symmetric matrix, the mean of each element and that across
/// the diagonal.
Tensor as_read(const Analysis& analysis, const Tensor& values) {
  if (!analysis.is_symmetric()) return values;
  std::vector<std::int64_t> across(at(analysis.sparsity().nnz()));
  for (const Pair& pair : analysis.data().pairs.of)
    across[at(pair.place)] = pair.across, across[at(pair.across)] = pair.place;
  return values * 0.5 + index_select(values, -1, tensor(across)) * 0.5;
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

constexpr double nanoseconds_of_product = 0.3;

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
    shape.back() = analysis.data().numbers();
    return {DType::int64, shape};
  }
  void eval(Outputs out, Inputs in) const {
    const Data& a = analysis.data();
    const RowMajorElements<double> values(in[0], DType::float64);
    const RowMajorResult<std::int64_t> found(out[0], DType::int64);
    auto* numbers = reinterpret_cast<double*>(found.data());
    const Shape leading = leading_of(in[0], 1);
    const std::int64_t count = leading.numel().host();
    std::vector<std::int64_t> failures(at(count), -1);
    kernels::parallel_for({count, nanoseconds_of_product * a.products}, [&](std::int64_t begin, std::int64_t end) {
      const FactorMemory memory(a);
      for (std::int64_t i = begin; i < end; ++i)
        failures[at(i)] = factor_matrix(a, values.data() + i * a.sparsity.nnz(), numbers + i * a.numbers(), memory);
    });
    const auto failed = std::ranges::find_if(failures, [](std::int64_t k) { return k >= 0; });
    if (failed != failures.end()) raise_zero_pivot(in[0].dtype, failed - failures.begin(), *failed, leading);
    found.finish();
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
    require_last(name, numbers, 1, analysis.data().numbers());
    require_last(name, b, 2, analysis.data().size());
    const Shape leading(values.shape.begin(), values.shape.end() - 1);
    require_shape(leading, Shape(numbers.shape.begin(), numbers.shape.end() - 1));
    require_shape(leading, Shape(b.shape.begin(), b.shape.end() - 2));
    return b;
  }
  void eval(Outputs out, Inputs in) const {
    const Data& a = analysis.data();
    const RowMajorElements<double> values(in[0], DType::float64);
    const RowMajorElements<double> b(in[2], DType::float64);
    const RowMajorElements<std::int64_t> numbers(in[1], DType::int64);
    const RowMajorResult<double> x(out[0], DType::float64);
    const Shape leading = leading_of(in[0], 1);
    const std::int64_t matrices = leading.numel().host(), columns = in[2].shape[in[2].rank - 1];
    const std::int64_t blocks = std::max<std::int64_t>(1, (columns + most_columns - 1) / most_columns);
    std::vector<std::int64_t> failures(at(matrices * blocks), -1);
    const double products = static_cast<double>(4 * std::min(most_columns, columns) * (a.numbers() + a.sparsity.nnz()));
    const Cuts cuts{matrices * blocks, nanoseconds_of_product * products};
    kernels::parallel_for(cuts, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t matrix = i / blocks, first = i % blocks * most_columns;
        const std::int64_t offset = matrix * a.size() * columns + first;
        const System system{a,
                            values.data() + matrix * a.sparsity.nnz(),
                            reinterpret_cast<const double*>(numbers.data()) + matrix * a.numbers(),
                            transpose,
                            std::min(most_columns, columns - first),
                            columns};
        const std::int64_t failed = solve_one(system, x.data() + offset, b.data() + offset);
        if (failed >= 0) failures[at(i)] = first + failed;
      }
    });
    const auto failed = std::ranges::find_if(failures, [](std::int64_t column) { return column >= 0; });
    if (failed != failures.end())
      raise<ValueError>(
          "sparse::solve: " +
          system_text(a, in[0].dtype, (failed - failures.begin()) / blocks, leading, *failed, columns) +
          " is singular, or its pivots are too small: no solution was found that is exact for elements "
          "that differ by a part of 1e-8. " +
          remedies(a));
    x.finish();
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
