// Products of Householder's reflections, as QR by LAPACK leaves them: H_i = 1 - tau_i v_i v_iᴴ, v_i in column i below
// the diagonal, where it has a 1. All at once are 1 - V T Vᴴ with an upper triangular T = (1 + D S)⁻¹ D, D being
// the diagonal matrix of tau and S the part of VᴴV above the diagonal: Schreiber and Van Loan, "A storage-efficient WY
// representation for products of Householder transformations", 1989.
#include "ops/factorizations.h"
#include "ops/orthonormal.h"
#include "primitive/called.h"
#include "ricci/ops/decompositions.h"

namespace ricci {
namespace {

struct Reflections {
  Tensor v;        // [..., m, k]
  Tensor product;  // 1 + D S [..., k, k]
  Tensor tau;      // [..., k, 1]

  Reflections(const Tensor& a, const Tensor& scales) {
    const Size k = columns_of(scales);
    const DType dtype = type_of(a).dtype;
    v = tril(front(a, k), -1) + eye(rows_of(a), k, dtype);
    tau = unsqueeze(scales, -1);
    product = tau * triu(matmul(adjoint(v), v), 1) + eye(k, dtype);
  }
  /// V T x, or V Tᴴ x.
  Tensor times_triangle(const Tensor& x, bool is_adjoint) const {
    if (!is_adjoint) return matmul(v, solve_triangular(product, tau * x, true));
    return matmul(v, conj_if_complex(tau) * solve_triangular(adjoint(product), x, false));
  }
  /// Q x or Qᴴ x.
  Tensor apply(const Tensor& x, bool is_adjoint) const { return x - times_triangle(matmul(adjoint(v), x), is_adjoint); }
};

void require_reflections(const char* op, const Tensor& a, const Tensor& tau) {
  require_floating(op, a);
  require_floating(op, tau);
  const Type matrices = type_of(a), scales = type_of(tau);
  bool fits = matrices.rank() >= 2 && scales.rank() + 1 == matrices.rank() && scales.dtype == matrices.dtype;
  for (int i = 0; fits && i + 1 < scales.rank(); ++i) fits = scales.shape[at(i)] == matrices.shape[at(i)];
  if (!fits)
    raise<ValueError>(std::string(op) + ": the scales " + type_text(tau) + " do not fit the reflections " +
                      type_text(a) + "; pass [..., m, n] and [..., k] of one element type");
  if (!(columns_of(tau) <= columns_of(a)) || !(columns_of(a) <= rows_of(a)))
    raise<ValueError>(std::string(op) + ": " + type_text(a) + " with the scales " + type_text(tau) +
                      " are no reflections; there must be at least as many rows as columns, and as many columns as " +
                      "scales");
}

}  // namespace

namespace ops {

Tensor householder_product(const Tensor& a, const Tensor& tau) {
  const Called as("householder_product", a, tau);
  require_reflections("householder_product", a, tau);
  const Tensor one = eye(rows_of(a), columns_of(a), type_of(a).dtype);
  return Reflections(a, tau).apply(expand(one, type_of(a).shape), false);
}

Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& other) { return ormqr(a, tau, other, {}); }
Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& other, OrmqrOptions options) {
  const Called as("ormqr", a, tau, other);
  require_reflections("ormqr", a, tau);
  const bool is_matrix = type_of(other).rank() >= 2;
  if (!is_matrix || !((options.left ? rows_of(other) : columns_of(other)) == rows_of(a)))
    raise<ValueError>("ormqr: " + type_text(other) + " does not fit the reflections " + type_text(a) + "; it must be " +
                      (options.left ? "[..., m, k]" : "[..., k, m]") + " for their m rows");
  const Reflections q(a, tau);
  if (options.left) return q.apply(other, options.transpose);
  return adjoint(q.apply(adjoint(other), !options.transpose));
}

}  // namespace ops
}  // namespace ricci
