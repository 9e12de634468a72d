// What factorisations share, and Cholesky's with the triangular solves that it and its derivatives need.
#include "ops/factorizations.h"

#include <algorithm>
#include <limits>

#include "interpreters/batch.h"
#include "kernels/lapack.h"
#include "ops/samples.h"
#include "ricci/ops/decompositions.h"
#include "ricci/primitive/element_rules.h"
#include "ricci/primitive/scalar.h"
#include "tensor/symbols.h"

namespace ricci {

void require_square(const char* op, const Tensor& a) {
  require_floating(op, a);
  const Shape shape = type_of(a).shape;
  if (shape.size() < 2 || !(shape.back() == shape[shape.size() - 2]))
    raise<ValueError>(std::string(op) + ": needs square matrices, found " + type_text(a));
}

void require_square_type(const char* op, const Type& a) {
  require_floating(op, a);
  require_rank_of_at_least(2, a);
  require_shape({a.shape.back()}, {a.shape[a.shape.size() - 2]});
}

void require_right_sides(const char* op, const Type& a, const Type& b) {
  require_square_type(op, a);
  require_dtype(a.dtype, b);
  require_rank_of_at_least(2, b);
  require_shape(Shape(b.shape.begin(), b.shape.end() - 1), Shape(a.shape.begin(), a.shape.end() - 1));
}

void require_matrices(const char* op, const Tensor& a) {
  require_floating(op, a);
  if (type_of(a).rank() < 2) raise<ValueError>(std::string(op) + ": needs matrices, found " + type_text(a));
}

void require_matrix_type(const char* op, const Type& a) {
  require_floating(op, a);
  require_rank_of_at_least(2, a);
}

void require_sizes_of_lapack(const char* op, const Type& a, std::int64_t greatest) {
  const Size m = a.shape[a.shape.size() - 2], n = a.shape.back();
  if (any_symbol(m, n)) return;
  if (std::min(m, n) > greatest || std::max(m, n) > std::numeric_limits<int>::max())
    raise<ValueError>(std::string(op) + ": " + to_string(a) + " is greater than LAPACK's 32-bit sizes; the smaller " +
                      "size may be " + std::to_string(greatest));
}

MatrixInfo::MatrixInfo(Strided a)
    : matrix_{a.dtype, Shape(a.shape + a.rank - 2, a.shape + a.rank)}, leading_(a.shape, a.shape + a.rank - 2) {
  info_.resize(static_cast<std::size_t>(leading_.numel().host()), 0);
}

std::size_t MatrixInfo::first_failed() const {
  return static_cast<std::size_t>(std::find_if(info_.begin(), info_.end(), [](auto info) { return info != 0; }) -
                                  info_.begin());
}

int MatrixInfo::first_failure() const { return first_failed() < info_.size() ? info_[first_failed()] : 0; }

std::string MatrixInfo::text() const {
  const auto place = static_cast<std::int64_t>(first_failed());
  return to_string(matrix_) + place_text(place, leading_, vmaps_of_kernel(leading_));
}

void require_convergence(const char* op, const MatrixInfo& info) {
  const int failure = info.first_failure();
  if (failure < 0)
    raise<ValueError>(std::string(op) + ": " + info.text() + " holds an infinity or NaN; pass finite elements only");
  if (failure > 0)
    raise<ValueError>(std::string(op) + ": " + std::to_string(failure) + " values of " + info.text() +
                      " did not converge; scale the matrix, or compute in float64");
}

Tensor regular(Shape leading, std::int64_t n) {
  leading.push_back(n);
  leading.push_back(n);
  return rand(leading) + eye(n) * static_cast<double>(n);
}

double epsilon_of(DType dtype) {
  switch (real_dtype(dtype)) {
    case DType::float64: return 0x1p-52;
    case DType::float32: return 0x1p-23;
    case DType::float16: return 0x1p-10;
    default: return 0x1p-7;  // bfloat16
  }
}

LuFactors::LuFactors(Strided a, MatrixInfo& info)
    : lu(array_like(a, a.dtype)), pivots(make_array({DType::int32, Shape(a.shape, a.shape + a.rank - 1)})) {
  kernels::lu_factor(lu->strided(), pivots->strided(), a, info.data());
}

Tensor adjoint(const Tensor& x) { return mT(conj_if_complex(x)); }
Tensor hermitian(const Tensor& x) { return x * 0.5 + adjoint(x) * 0.5; }

Tensor examples_to_columns(const Tensor& b) {
  Shape shape = type_of(b).shape;  // [B, ..., n, k]
  shape.back() = shape.back() * shape[0];
  shape.erase(0);
  return reshape(movedim(b, 0, -2), shape);
}

Tensor columns_to_examples(const Tensor& x, Size examples, Size columns) {
  Shape shape = type_of(x).shape;  // [..., n, B k]
  shape.back() = examples;
  shape.push_back(columns);
  return movedim(reshape(x, shape), -2, 0);
}

namespace {

Shape leading_axes(const Tensor& x) {
  const Shape shape = type_of(x).shape;
  return Shape(shape.begin(), shape.end() - 2);
}

/// The leading axes of both, broadcast.
Shape common_leading_axes(const char* op, const Tensor& a, const Tensor& b) {
  const Shape left = leading_axes(a), right = leading_axes(b);
  Shape common = left.size() >= right.size() ? left : right;
  const Shape& other = left.size() >= right.size() ? right : left;
  const std::size_t extra = common.size() - other.size();
  for (std::size_t i = 0; i < other.size(); ++i) {
    Size& size = common[extra + i];
    if (size == 1) size = other[i];
    if (!(size == other[i]) && !(other[i] == 1))
      raise<ValueError>(std::string(op) + ": the leading axes of " + type_text(a) + " and " + type_text(b) +
                        " do not broadcast");
  }
  return common;
}

Tensor with_leading_axes(const Tensor& x, const Shape& leading) {
  const Shape have = type_of(x).shape;
  Shape wanted = leading;
  wanted.append(have.end() - 2, have.end());
  return have == wanted ? x : expand(x, wanted);
}

/// Whether b is [..., n] with the very leading axes of a.
bool is_one_vector_for_each(const Tensor& a, const Tensor& b) {
  const Shape matrices = type_of(a).shape, shape = type_of(b).shape;
  return shape.size() + 1 == matrices.size() && shape == Shape(matrices.begin(), matrices.end() - 1);
}

void require_rows(const char* op, const Tensor& matrix, const Tensor& right, const Shape& sizes, Size n) {
  if (sizes.size() >= 2 && sizes[sizes.size() - 2] == n) return;
  const std::string rows = std::to_string(n.hint());
  const bool vectors = is_one_vector_for_each(matrix, right);
  raise<ValueError>(std::string(op) + ": the right-hand side " + type_text(right) + " does not fit the matrix " +
                    type_text(matrix) + "; it must be [..., " + rows + ", k] or [" + rows + "]" +
                    (vectors ? "; pass one vector for each matrix with .unsqueeze(-1)" : ""));
}

}  // namespace

RightHandSide::RightHandSide(const char* op, const Tensor& matrix, const Tensor& right, Vectors vectors,
                             Matrices matrices) {
  if (matrices == Matrices::square) require_square(op, matrix);
  else require_matrices(op, matrix);
  require_floating(op, right);
  is_vector =
      type_of(right).rank() == 1 || (vectors == Vectors::one_for_each_matrix && is_one_vector_for_each(matrix, right));
  const DType dtype = promote(type_of(matrix).dtype, type_of(right).dtype);
  a = to(matrix, dtype);
  b = to(is_vector ? unsqueeze(right, -1) : right, dtype);
  const Shape sizes = type_of(b).shape;
  const Size n = type_of(a).shape[type_of(a).rank() - 2];
  require_rows(op, matrix, right, sizes, n);
  if (type_of(a).rank() == 2 && sizes.size() > 2) {
    leading = leading_axes(b);
    columns = sizes.back();
    b = examples_to_columns(reshape(b, {leading.numel(), n, sizes.back()}));
    return;
  }
  const Shape common = common_leading_axes(op, a, b);
  a = with_leading_axes(a, common);
  b = with_leading_axes(b, common);
}

void require_right_factor(const char* op, const Tensor& a, const Tensor& b) {
  require_square(op, a);
  if (type_of(b).rank() >= 2 && type_of(b).shape.back() == type_of(a).shape.back()) return;
  const std::string columns = std::to_string(type_of(a).shape.back().hint());
  raise<ValueError>(std::string(op) + ": " + type_text(b) + " has no factor " + type_text(a) +
                    " on its right; it must be [..., k, " + columns + "]");
}

Tensor RightHandSide::result(const Tensor& solution) const {
  Tensor x = solution;
  if (!leading.empty()) {
    x = columns_to_examples(x, leading.numel(), columns);
    const Shape flat = type_of(x).shape;
    Shape shape = leading;
    shape.append(flat.begin() + 1, flat.end());
    x = reshape(x, shape);
  }
  return is_vector ? squeeze(x, -1) : x;
}

namespace {

/// The lower triangle with half the diagonal: Φ of Murray's paper.
Tensor half_lower(const Tensor& x) { return (tril(x) + tril(x, -1)) * 0.5; }

/// x with a x = b, or aᵀ x = b, for the triangle of a.
struct TriangularSolve {
  using kind = Explicit;
  static constexpr const char* name = "triangular_solve";
  static constexpr unsigned keeps[] = {input(0) | output(0), input(0)};
  bool upper, transpose, unitriangular;

  Type type(const Type& a, const Type& b) const {
    require_right_sides(name, a, b);
    return {b.dtype, b.shape};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs x, Inputs operand) {
      kernels::triangular_solve(x[0], operand[0], operand[1],
                                upper ? kernels::Triangle::upper : kernels::Triangle::lower,
                                transpose ? kernels::Transpose::yes : kernels::Transpose::no,
                                unitriangular ? kernels::Diagonal::unit : kernels::Diagonal::stored);
    });
  }
  Tensors jvp(const Forward& f) const {
    Tensor right = f.tangents[1];
    if (f.tangents[0].defined()) {
      const Tensor change = triangle(f.tangents[0]);
      const Tensor product = matmul(transpose ? mT(change) : change, f.outputs[0]);
      right = right.defined() ? right - product : neg(product);
    }
    return {apply(*this, f.inputs[0], right)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor ct =
        apply(TriangularSolve{upper, !transpose, unitriangular}, conj_if_complex(r.inputs[0]), r.cotangents[0]);
    if (!r.wants(0)) return {Tensor(), ct};
    const Tensor &x = r.outputs[0], outer = transpose ? matmul(conj_if_complex(x), mT(ct)) : matmul(ct, adjoint(x));
    return {neg(triangle(outer)), ct};
  }
  BatchedOutputs batch(const Batch& b) const { return batch_right_hand_sides(*this, b); }
  /// Row by row of the solution, as batches of small systems are solved.
  template <class T>
  Elements<T> on_elements(const Elements<T>& a, const Elements<T>& b) const {
    Elements<T> x = b;
    const std::int64_t n = b.size(2), columns = b.size(1), row_step = transpose ? 1 : n,
                       column_step = transpose ? n : 1;
    const bool forward = upper == transpose;
    for (std::int64_t member = 0; member * n * columns < std::ssize(x.of); ++member) {
      const auto in_a = [&](std::int64_t i, std::int64_t k) {
        return a.of[at(member * n * n + i * row_step + k * column_step)];
      };
      const auto in_x = [&](std::int64_t i, std::int64_t c) -> T& { return x.of[at((member * n + i) * columns + c)]; };
      for (std::int64_t step = 0; step < n; ++step) {
        const std::int64_t k = forward ? step : n - 1 - step;
        for (std::int64_t c = 0; c < columns && !unitriangular; ++c) in_x(k, c) = in_x(k, c) / in_a(k, k);
        for (std::int64_t i = forward ? k + 1 : 0; i < (forward ? n : k); ++i)
          for (std::int64_t c = 0; c < columns; ++c) in_x(i, c) = scalar::fma(-in_a(i, k), in_x(k, c), in_x(i, c));
      }
    }
    return x;
  }
  static std::vector<Sample<TriangularSolve>> samples() {
    return {{{false, false, false}, {regular({}, 3), uniform_around_zero({3, 2})}},
            {{true, false, false}, {regular({2}, 2), uniform_around_zero({2, 2, 1})}},
            {{false, true, true}, {uniform_around_zero({3, 3}), uniform_around_zero({3, 2})}},
            {{true, true, false}, {regular({}, 1), uniform_around_zero({1, 2})}},
            {{false, false, false}, {regular({}, 0), uniform_around_zero({0, 2})}},
            {{false, false, false}, {regular({}, 2), uniform_around_zero({2, 0})}}};
  }

 private:
  Tensor triangle(const Tensor& x) const {
    return upper ? triu(x, unitriangular ? 1 : 0) : tril(x, unitriangular ? -1 : 0);
  }
};

/// L⁻¹ b and L⁻ᴴ b.
Tensor solve_lower(const Tensor& l, const Tensor& b) { return apply(TriangularSolve{false, false, false}, l, b); }
Tensor solve_lower_adjoint(const Tensor& l, const Tensor& b) {
  return apply(TriangularSolve{false, true, false}, conj_if_complex(l), b);
}

// Rules of L with L Lᴴ = (a + aᴴ) / 2: Iain Murray, "Differentiation of the Cholesky decomposition", 2016.

/// L Φ(L⁻¹ da L⁻ᴴ).
Tensor cholesky_tangent(const Tensor& l, const Tensor& t) {
  const Tensor half = solve_lower(l, hermitian(t));
  return matmul(l, half_lower(solve_lower(l, adjoint(half))));
}
/// The Hermitian part of L⁻ᴴ Φ(Lᴴ ct) L⁻¹.
Tensor cholesky_cotangent(const Tensor& l, const Tensor& ct) {
  const Tensor half = solve_lower_adjoint(l, half_lower(matmul(adjoint(l), ct)));
  return hermitian(solve_lower_adjoint(l, adjoint(half)));
}

/// L with L Lᴴ = (a + aᴴ) / 2.
struct Cholesky {
  using kind = Explicit;
  static constexpr const char* name = "cholesky";
  static constexpr unsigned keeps = output(0);

  Type type(const Type& a) const {
    require_square_type(name, a);
    return {a.dtype, a.shape};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs l, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::cholesky(l[0], a[0], info.data());
      if (const int order = info.first_failure())
        raise<ValueError>("cholesky: " + info.text() + " is not positive definite: its leading minor of order " +
                          std::to_string(order) + " is not positive");
    });
  }
  Tensors jvp(const Forward& f) const { return {cholesky_tangent(f.outputs[0], f.tangents[0])}; }
  Tensors vjp(const Reverse& r) const { return {cholesky_cotangent(r.outputs[0], r.cotangents[0])}; }
  Cholesky lifted() const { return {}; }
  /// Column by column, as batches of small matrices are factored.
  template <class T>
  Elements<T> on_elements(Checks& checks, const Elements<T>& a) const {
    Elements<T> l = a;
    const std::int64_t n = a.size(1);
    for (std::int64_t member = 0; member * n * n < std::ssize(l.of); ++member) {
      const auto in = [&](std::int64_t i, std::int64_t k) -> T& { return l.of[at((member * n + i) * n + k)]; };
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < i; ++k) {
          in(i, k) = T(0.5) * in(i, k) + T(0.5) * in(k, i);
          in(k, i) = T(0);
        }
      for (std::int64_t j = 0; j < n; ++j) {
        checks.require(scalar::greater(in(j, j), T(0)));
        const T root = scalar::sqrt(in(j, j)), inverse = T(1) / root;
        in(j, j) = root;
        for (std::int64_t i = j + 1; i < n; ++i) in(i, j) = in(i, j) * inverse;
        for (std::int64_t i = j + 1; i < n; ++i)
          for (std::int64_t k = j + 1; k <= i; ++k) in(i, k) = scalar::fma(-in(i, j), in(k, j), in(i, k));
      }
    }
    return l;
  }
  static std::vector<Sample<Cholesky>> samples() {
    return {{{}, {regular({}, 3)}},
            {{}, {regular({2}, 2)}},
            {{}, {regular({}, 1)}},
            {{}, {regular({}, 0)}},
            {{}, {regular({0}, 2)}}};
  }
};

/// The same and, for each matrix, info [...]: 0, or the order of the first leading minor that is not positive.
struct CholeskyEx {
  using kind = Explicit;
  static constexpr const char* name = "cholesky_ex";
  static constexpr unsigned keeps = output(0);

  Types type(const Type& a) const {
    require_square_type(name, a);
    return {a, {DType::int32, Shape(a.shape.begin(), a.shape.end() - 2)}};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::cholesky(y[0], a[0], info.data());
      const ArrayRef orders = array_like(y[1], DType::int32);
      std::copy_n(info.data(), info.count(), static_cast<std::int32_t*>(orders->data));
      kernels::copy(y[1], orders->strided());
    });
  }
  Tensors jvp(const Forward& f) const { return {cholesky_tangent(f.outputs[0], f.tangents[0]), Tensor()}; }
  Tensors vjp(const Reverse& r) const { return {cholesky_cotangent(r.outputs[0], r.cotangents[0])}; }
  CholeskyEx lifted() const { return {}; }
  static std::vector<Sample<CholeskyEx>> samples() {
    return {{{}, {regular({}, 3)}}, {{}, {regular({2}, 2)}}, {{}, {regular({}, 0)}}, {{}, {regular({0}, 2)}}};
  }
};

}  // namespace

namespace ops {

Tensor cholesky(const Tensor& a) {
  require_square("cholesky", a);
  return apply(Cholesky{}, a);
}
Tensor cholesky(const Tensor& a, bool upper) { return upper ? adjoint(cholesky(a)) : cholesky(a); }

std::pair<Tensor, Tensor> cholesky_ex(const Tensor& a) { return cholesky_ex(a, false); }
std::pair<Tensor, Tensor> cholesky_ex(const Tensor& a, bool upper) {
  require_square("cholesky_ex", a);
  const Tensors both = ricci::apply(CholeskyEx{}, std::span(&a, 1));
  return {upper ? adjoint(both[0]) : both[0], both[1]};
}

Tensor cholesky_solve(const Tensor& b, const Tensor& l) {
  const RightHandSide side("cholesky_solve", l, b);
  return side.result(solve_lower_adjoint(side.a, solve_lower(side.a, side.b)));
}
Tensor cholesky_solve(const Tensor& b, const Tensor& l, bool upper) {
  if (!upper) return cholesky_solve(b, l);
  require_square("cholesky_solve", l);
  return cholesky_solve(b, adjoint(l));
}

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper) {
  return solve_triangular(a, b, SolveTriangularOptions{.upper = upper});
}
Tensor solve_triangular(const Tensor& a, const Tensor& b, SolveTriangularOptions options) {
  if (!options.left) {
    require_right_factor("solve_triangular", a, b);
    return mT(solve_triangular(mT(a), mT(b), {.upper = !options.upper, .unitriangular = options.unitriangular}));
  }
  const RightHandSide side("solve_triangular", a, b);
  return side.result(apply(TriangularSolve{options.upper, false, options.unitriangular}, side.a, side.b));
}
Tensor triangular_solve(const Tensor& b, const Tensor& a) { return triangular_solve(b, a, TriangularOptions{}); }
Tensor triangular_solve(const Tensor& b, const Tensor& a, TriangularOptions options) {
  const RightHandSide side("triangular_solve", a, b);
  return side.result(apply(TriangularSolve{options.upper, options.transpose, options.unitriangular}, side.a, side.b));
}

}  // namespace ops
}  // namespace ricci
