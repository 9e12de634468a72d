// Eigenvalues and eigenvectors of general matrices.
#include <algorithm>

#include "kernels/lapack.h"
#include "ops/factorizations.h"
#include "ops/orthonormal.h"
#include "ops/samples.h"
#include "primitive/called.h"
#include "primitive/derive.h"
#include "ricci/ops/decompositions.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

/// 1 / (w_j - w_i) at row i and column j; 0 on the diagonal.
Tensor reciprocal_gaps(const Tensor& w) {
  const Tensor apart = unsqueeze(w, -2) - unsqueeze(w, -1), one = eye(type_of(w).shape.back(), type_of(w).dtype);
  return (1 - one) / (apart + one);
}

/// Matrices whose eigenvalues are well apart.
template <class P>
std::vector<Sample<P>> samples_of_matrices() {
  const auto spread = [](Shape shape) {
    const std::int64_t n = shape.back();
    return uniform_around_zero(shape) + eye(n) * (arange(n) * 2 + 1);
  };
  const Tensor turns = tensor({{0.5, -1.5, 0.1}, {1.2, 0.4, -0.2}, {0.3, 0.2, 2.}});
  const Tensor complex = add(spread({2, 2}), mul(uniform_around_zero({2, 2}), std::complex<double>(0, 1)));
  return {{{}, {spread({3, 3})}}, {{}, {turns}},        {{}, {complex}},        {{}, {spread({2, 2, 2})}},
          {{}, {spread({1, 1})}}, {{}, {rand({0, 0})}}, {{}, {rand({0, 2, 2})}}};
}

/// Values w [..., n] and vectors v [..., n, n] in columns, complex: a v = v diag(w). A vector has length 1 and a real
/// greatest element; the derivative keeps to that. With P = v⁻¹ da v, w changes by P's diagonal, and v_j by
/// u_j - v_j (Re v_jᴴ u_j + i Im (u_kj / v_kj)), where u = v (F ∘ P), F being the reciprocal gaps of w, k the place of
/// the greatest element: Magnus, "On differentiating eigenvalues and eigenvectors", 1985.
struct Eig {
  using kind = Explicit;
  static constexpr const char* name = "eig";
  static constexpr unsigned keeps = output(0) | output(1);

  Types type(const Type& a) const {
    require_square_type(name, a);
    require_sizes_of_lapack(name, a);
    const DType dtype = complex_dtype(computed_dtype(a.dtype));
    return {{dtype, Shape(a.shape.begin(), a.shape.end() - 1)}, {dtype, a.shape}};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::eig(y[0], y[1], a[0], info.data());
      require_convergence(name, info);
    });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor &w = f.outputs[0], &v = f.outputs[1];
    const Tensor change = solve(v, matmul(to(f.tangents[0], type_of(v).dtype), v));
    const Tensor u = matmul(v, change * reciprocal_gaps(w));
    const Tensor along = sum(real(conj(v) * u), {-2}, true);
    return {diagonal(change, 0, -2, -1), u - v * complex(along, Phases(v).turn(u))};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor &w = r.outputs[0], &v = r.outputs[1];
    Tensor inner;
    if (r.cotangents[0].defined()) inner = diag_embed(r.cotangents[0]);
    if (const Tensor& ct = r.cotangents[1]; ct.defined()) {
      const Tensor both = sum(conj(v) * ct, {-2}, true);
      const Tensor u = ct - v * real(both) + Phases(v).cotangent(neg(imag(both)));
      accumulate(inner, matmul(adjoint(v), u) * conj(reciprocal_gaps(w)));
    }
    const Tensor total = solve(adjoint(v), matmul(inner, adjoint(v)));
    return {is_complex(r.input_types[0].dtype) ? total : to(real(total), r.input_types[0].dtype)};
  }
  Eig lifted() const { return {}; }
  static std::vector<Sample<Eig>> samples() { return samples_of_matrices<Eig>(); }
};

/// The values alone, which is faster. A derivative needs the vectors, so it computes both. A tangent adds 0 times the
/// values of Eig: only so does its own derivative see values and vectors read together, and is NaN, not wrong, where
/// values are equal.
struct Eigvals {
  using kind = Explicit;
  static constexpr const char* name = "eigvals";
  static constexpr unsigned keeps = nothing;

  Type type(const Type& a) const { return Eig().type(a)[0]; }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::eigvals(y[0], a[0], info.data());
      require_convergence(name, info);
    });
  }
  Kept keep(std::span<const Tensor> in, const Mask&) const {
    const auto [w, v] = eig(in[0]);
    return {.outputs = {w}, .residual = {{v}, nullptr}};
  }
  Tensors jvp(const Forward& f) const {
    const Tensor &w = f.outputs[0], &v = f.outputs[1];
    return {diagonal(solve(v, matmul(to(f.tangents[0], type_of(v).dtype), v)), 0, -2, -1) + 0 * w};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor rows = adjoint(r.residual->tensors[0]), total = solve(rows, unsqueeze(r.cotangents[0], -1) * rows);
    return {is_complex(r.input_types[0].dtype) ? total : to(real(total), r.input_types[0].dtype)};
  }
  Eigvals lifted() const { return {}; }
  static std::vector<Sample<Eigvals>> samples() { return samples_of_matrices<Eigvals>(); }
};

}  // namespace

namespace ops {

std::pair<Tensor, Tensor> eig(const Tensor& a) {
  require_square("eig", a);
  const Tensors both = ricci::apply(Eig{}, std::span(&a, 1));
  return {both[0], both[1]};
}
Tensor eigvals(const Tensor& a) {
  const Called as("eigvals", a);
  require_square("eigvals", a);
  return ricci::apply(Eigvals{}, a);
}

}  // namespace ops
}  // namespace ricci
