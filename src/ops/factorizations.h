// What factorisations and solvers have in common: square matrices checked, triangles and adjoints, right-hand sides
// brought together. Knows nothing of any one factorisation.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>

#include "ops/axes.h"
#include "ops/dense.h"

namespace ricci {

/// Throws unless a is [..., n, n] and floating or complex.
void require_square(const char* op, const Tensor& a);

/// What type rules hold of matrices: a is [..., n, n], floating or complex.
void require_square_type(const char* op, const Type& a);
/// And of the right-hand sides b of a solver: [..., n, k], of a's leading axes and element type.
void require_right_sides(const char* op, const Type& a, const Type& b);

/// Throws unless a is [..., m, n] and floating or complex.
void require_matrices(const char* op, const Tensor& a);
void require_matrix_type(const char* op, const Type& a);

/// Of eigenvalues and singular values LAPACK counts working memory, up to four times the square of the smaller size,
/// in 32 bits.
inline constexpr std::int64_t greatest_spectrum = 23000;
/// Throws ValueError if LAPACK cannot count the sizes or, with a smaller size above `greatest`, its working memory.
void require_sizes_of_lapack(const char* op, const Type& a, std::int64_t greatest = std::numeric_limits<int>::max());

/// What a kernel says of each matrix of a stack: 0, or where it failed, counted from 1.
class MatrixInfo {
 public:
  explicit MatrixInfo(Strided a);
  std::int32_t* data() { return info_.data(); }
  std::int64_t count() const { return static_cast<std::int64_t>(info_.size()); }
  std::int32_t of(std::int64_t matrix) const { return info_[static_cast<std::size_t>(matrix)]; }
  /// Of the first matrix that failed; 0 if none did.
  int first_failure() const;
  /// How errors speak of that matrix: `f32[2,2]`, of a stack `f32[2,2] at [1]`, under vmap `f32[2,2] in example 1`.
  std::string text() const;

 private:
  std::size_t first_failed() const;

  Type matrix_;
  Shape leading_;  // of the stack
  SmallVector<std::int32_t, 8> info_;
};

/// Throws if eigenvalues or singular values of a matrix could not be found, as `info` of kernels::eigh says.
void require_convergence(const char* op, const MatrixInfo& info);

/// Random matrices [leading..., n, n] with a heavy diagonal, for samples.
Tensor regular(Shape leading, std::int64_t n);

/// From 1 to the next number of the type, or of that of its parts.
double epsilon_of(DType dtype);

/// a = P L U of every matrix of a stack, as kernels::lu_factor gives it.
struct LuFactors {
  ArrayRef lu, pivots;
  LuFactors(Strided a, MatrixInfo& info);
};

/// The conjugate transpose of the last two axes.
Tensor adjoint(const Tensor& x);
/// The Hermitian part: (x + xᴴ) / 2.
Tensor hermitian(const Tensor& x);

/// The tangent of L and U in one matrix from that of their product, and the other way round. With the square parts L
/// and U, of k rows and columns, and F = L⁻¹ d(L U) U⁻¹, L changes by L (F's part below the diagonal) and U by (F's
/// upper triangle) U; what is below L or beside U follows.
Tensor lu_tangent(const Tensor& lu, const Tensor& tangent);
Tensor lu_cotangent(const Tensor& lu, const Tensor& cotangent);

/// The sum of the singular values of a [..., m, n]; its derivative divides by no gap between them.
Tensor nuclear_norm(const Tensor& a);

/// f(std::type_identity<T>{}) with the C++ type of a computed element type: float, double or a complex of these.
template <class F>
void visit_computed(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float32: return f(std::type_identity<float>{});
    case DType::float64: return f(std::type_identity<double>{});
    case DType::complex64: return f(std::type_identity<std::complex<float>>{});
    default: return f(std::type_identity<std::complex<double>>{});
  }
}

/// b [B, ..., n, k] with the examples B as further columns, [..., n, B k], and back.
Tensor examples_to_columns(const Tensor& b);
Tensor columns_to_examples(const Tensor& x, Size examples, Size columns);

/// The batching rule of a solver (a [..., n, n], b [..., n, k]) → x: one matrix for all examples is factored once.
template <class Solver>
BatchedOutputs batch_right_hand_sides(const Solver& solver, const Batch& b) {
  if (b.is_mapped(0)) return {.outputs = {apply(solver, b.inputs[0], b.input(1))}};
  const Tensor x = apply(solver, b.inputs[0], examples_to_columns(b.inputs[1]));
  return {.outputs = {columns_to_examples(x, b.size, type_of(b.inputs[1]).shape.back())}};
}

/// Which right-hand sides are vectors: [n] alone, or, as torch.linalg.solve has it, also [..., n] with the very leading
/// axes of the matrices. By the second rule a batch of 2 matrices of size 2 takes [2, 2] for two vectors, and a batch
/// of 3 takes it for one matrix.
enum class Vectors : std::uint8_t { alone, one_for_each_matrix };

/// What a solver takes; of matrices that are not square, b has the rows.
enum class Matrices : std::uint8_t { square, any };

/// Throws unless x a = b can be solved for x: b is [..., k, n].
void require_right_factor(const char* op, const Tensor& a, const Tensor& b);

/// The operands of a solver as users pass them, b being [..., n, k] or a vector, made ready: leading axes broadcast,
/// one element type. One matrix for many right-hand sides takes them as columns.
struct RightHandSide {
  Tensor a, b;
  bool is_vector;
  Shape leading;  // the axes of b that have become columns
  Size columns;   // of b before that

  RightHandSide(const char* op, const Tensor& matrix, const Tensor& right, Vectors vectors = Vectors::alone,
                Matrices matrices = Matrices::square);
  /// What the user gets of the solver's result.
  Tensor result(const Tensor& solution) const;
};

}  // namespace ricci
