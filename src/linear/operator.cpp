// What each kind of matrix does to a vector, and the matrix of a function.
#include "ricci/linear/operator.h"

#include <string>

#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/transforms.h"

namespace ricci {
namespace {

using namespace operators;
using sparse::LinearFunction;

/// Throws unless the Tensor is numbers with derivatives, of as many axes.
void require_entries(const char* kind, const char* name, const Tensor& values, int axes) {
  const auto refuse = [&] { return std::string("LinearOperator: the ") + name + " of a " + kind + " "; };
  if (!values.defined()) raise<ValueError>(refuse() + "are undefined; pass a Tensor");
  if (!is_differentiable(values.dtype()))
    raise<TypeError>(refuse() + "are " + tree::type_of(values) + "; convert them to a floating dtype");
  if (values.dim() != axes)
    raise<ValueError>(refuse() + "are " + tree::type_of(values) + "; they must have " + std::to_string(axes) +
                      (axes == 1 ? " axis" : " axes") + ": map over many operators with vmap");
}

Type vector_of(const Tensor& values, const Size& n) { return {values.dtype(), {n}}; }

/// One more or one less element at an end, as products with diagonals beside the main one need.
Tensor shifted_down(const Tensor& x) { return cat({zeros({1}, x.dtype()), x}, 0); }
Tensor shifted_up(const Tensor& x) { return cat({x, zeros({1}, x.dtype())}, 0); }
Tensor without_first(const Tensor& x) { return x.slice(0, 1, x.shape()[0]); }
Tensor without_last(const Tensor& x) { return x.slice(0, 0, x.shape()[0] - 1); }

Tensor triangle(const Triangular& a) { return a.upper ? triu(a.values) : tril(a.values); }
Tensor dense(const Tridiagonal& a) { return diag_embed(a.diagonal) + diag_embed(a.lower, -1) + diag_embed(a.upper, 1); }

/// The operands' common argument, where either knows it.
std::optional<Type> argument_of_both(const LinearOperator& a, const LinearOperator& b) {
  return a.argument ? a.argument : b.argument;
}
LinearOperator sum_of(const LinearOperator& a, const LinearOperator& b, bool is_difference) {
  LinearOperator sum([a = a.apply, b = b.apply, is_difference](const Tensor& x) {
    const Tensor first = a(x), second = b(x);
    if (first.shape() != second.shape())
      raise<ValueError>("LinearOperator: the operands of a sum give " + tree::type_of(first) + " and " +
                        tree::type_of(second) + "; their results must have the same shape");
    return is_difference ? first - second : first + second;
  });
  sum.tags = {.symmetric = a.tags.is_symmetric() && b.tags.is_symmetric(),
              .positive = a.tags.positive && b.tags.positive && !is_difference};
  sum.argument = argument_of_both(a, b);
  return sum;
}

/// x ↦ conj(f(conj(x))): the transpose of a map from its conjugate transpose. Of real numbers f itself.
LinearFunction conjugated(const LinearFunction& f) {
  return [f](const Tensor& x) { return conj(f(conj(x))); };
}

}  // namespace

LinearOperator::LinearOperator(const Matrix& a)
    : LinearOperator([values = a.values](const Tensor& x) { return matmul(values, x); }) {
  require_entries("Matrix", "values", a.values, 2);
  tags = a.tags, entries = a, argument = vector_of(a.values, a.values.shape()[1]);
}

LinearOperator::LinearOperator(const Diagonal& a)
    : LinearOperator([values = a.values](const Tensor& x) { return values * x; }) {
  require_entries("Diagonal", "values", a.values, 1);
  const bool is_real = !a.values.is_complex();  // else it is Hermitian only if it is positive
  tags = {.symmetric = a.tags.symmetric && is_real, .positive = a.tags.positive};
  entries = a, argument = vector_of(a.values, a.values.shape()[0]);
}

LinearOperator::LinearOperator(const Triangular& a)
    : LinearOperator([a](const Tensor& x) { return matmul(triangle(a), x); }) {
  require_entries("Triangular", "values", a.values, 2);
  if (a.values.shape()[0] != a.values.shape()[1])
    raise<ValueError>("LinearOperator: the values of a Triangular are " + tree::type_of(a.values) +
                      "; the matrix must be square");
  entries = a, argument = vector_of(a.values, a.values.shape()[0]);
}

LinearOperator::LinearOperator(const Tridiagonal& a)
    : LinearOperator([a](const Tensor& x) {
        return a.diagonal * x + shifted_down(a.lower * without_last(x)) + shifted_up(a.upper * without_first(x));
      }) {
  require_entries("Tridiagonal", "lower elements", a.lower, 1);
  require_entries("Tridiagonal", "diagonal elements", a.diagonal, 1);
  require_entries("Tridiagonal", "upper elements", a.upper, 1);
  const Size beside = a.diagonal.shape()[0] - 1;
  if (a.lower.shape()[0] != beside || a.upper.shape()[0] != beside)
    raise<ValueError>("LinearOperator: a Tridiagonal has a diagonal " + tree::type_of(a.diagonal) + ", below it " +
                      tree::type_of(a.lower) + " and above it " + tree::type_of(a.upper) +
                      "; these must have one element fewer than the diagonal");
  tags = a.tags, entries = a;
  argument = {promote(promote(a.lower.dtype(), a.upper.dtype()), a.diagonal.dtype()), {a.diagonal.shape()[0]}};
}

LinearOperator::LinearOperator(const Sparse& a, LinearFunction near_inverse, LinearFunction transposed)
    : LinearOperator([a](const Tensor& x) { return matmul(a, x); }, std::move(near_inverse), std::move(transposed)) {
  entries = a;
  if (a.values.defined()) argument = vector_of(a.values, a.sparsity.columns());
}

LinearOperator operator+(const LinearOperator& a, const LinearOperator& b) { return sum_of(a, b, false); }
LinearOperator operator-(const LinearOperator& a, const LinearOperator& b) { return sum_of(a, b, true); }
LinearOperator operator*(const Tensor& number, const LinearOperator& a) {
  LinearOperator multiple([number, a = a.apply](const Tensor& x) { return number * a(x); });
  multiple.tags = {.symmetric = a.tags.is_symmetric()};
  multiple.argument = a.argument;
  return multiple;
}
LinearOperator operator-(const LinearOperator& a) { return -1 * a; }

namespace operators {

LinearOperator identity(const Tensor& like) {
  LinearOperator result = with_argument([](const Tensor& x) { return x; }, like);
  result.tags = {.symmetric = true, .positive = true};
  return result;
}

LinearOperator compose(const LinearOperator& a, const LinearOperator& b) {
  LinearOperator both([a = a.apply, b = b.apply](const Tensor& x) { return a(b(x)); });
  both.argument = b.argument;
  return both;
}

LinearOperator with_argument(LinearOperator map, const Tensor& x) {
  map.argument = Type{x.dtype(), x.shape()};
  return map;
}

LinearOperator transposed(const LinearOperator& a) {
  const bool is_real = a.argument && !is_complex(a.argument->dtype);
  if (std::holds_alternative<Diagonal>(a.entries) || (a.tags.is_symmetric() && is_real)) return a;
  if (const auto* matrix = std::get_if<Matrix>(&a.entries)) return Matrix{mT(matrix->values), matrix->tags};
  if (const auto* triangular = std::get_if<Triangular>(&a.entries))
    return Triangular{mT(triangular->values), !triangular->upper};
  if (const auto* diagonals = std::get_if<Tridiagonal>(&a.entries))
    return Tridiagonal{diagonals->upper, diagonals->diagonal, diagonals->lower, diagonals->tags};
  if (const auto* matrix = std::get_if<Sparse>(&a.entries)) return matrix->transpose();
  if (a.tags.is_symmetric()) {
    LinearOperator result = a;
    result.apply = conjugated(a.apply);
    if (a.preconditioner) result.preconditioner = conjugated(a.preconditioner);
    return result;
  }
  if (!a.argument && !a.transpose)
    raise<ValueError>("transposed: the function's argument is not known; set the operator's argument or transpose");
  if (!a.argument) return LinearOperator(a.transpose, {}, a.apply);
  const auto back = [a = a.apply, like = *a.argument](const Tensor& y) {
    const auto [value, pullback] = vjp(a, zeros(like.shape, like.dtype));
    return pullback(y);
  };
  LinearOperator result(a.transpose ? a.transpose : conjugated(back), {}, a.apply);
  return with_argument(std::move(result), a.apply(zeros(a.argument->shape, a.argument->dtype)));
}

Tensor as_matrix(const LinearOperator& a) {
  if (const auto* matrix = std::get_if<Matrix>(&a.entries)) return matrix->values;
  if (const auto* diagonal = std::get_if<Diagonal>(&a.entries)) return diag_embed(diagonal->values);
  if (const auto* triangular = std::get_if<Triangular>(&a.entries)) return triangle(*triangular);
  if (const auto* diagonals = std::get_if<Tridiagonal>(&a.entries)) return dense(*diagonals);
  if (const auto* matrix = std::get_if<Sparse>(&a.entries)) return matrix->to_dense();
  if (!a.argument)
    raise<ValueError>(
        "as_matrix: the function's argument is not known; set the operator's argument, a shape and dtype");
  const auto& [dtype, shape, weak] = *a.argument;
  const Size n = shape.numel();
  const auto column = [&](const Tensor& x) { return flatten(a.apply(x.reshape(shape))); };
  return vmap(column, {.out_dims = 1})(eye(n, dtype));
}

}  // namespace operators
}  // namespace ricci
