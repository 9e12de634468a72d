// Eigenvalues of symmetric matrices and singular values, with their vectors. Vectors are determined up to their sign,
// and are differentiable where the values are distinct; then so are derivatives of any order.
#include <algorithm>
#include <limits>

#include "kernels/lapack.h"
#include "ops/factorizations.h"
#include "ops/samples.h"
#include "primitive/called.h"
#include "primitive/derive.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

/// c [..., n] as [..., 1, n], beside the columns of a matrix, and as [..., n, 1].
Tensor by_columns(const Tensor& c) { return unsqueeze(c, -2); }
Tensor by_rows(const Tensor& c) { return unsqueeze(c, -1); }

/// 1 / (c_j - c_i) at row i and column j; 0 on the diagonal.
Tensor reciprocal_gaps(const Tensor& c) {
  const Tensor identity = eye(type_of(c).shape.back(), type_of(c).dtype);
  return reciprocal(by_columns(c) - by_rows(c) + identity) - identity;
}

void require_convergence(const char* op, const MatrixInfo& info) {
  const int failure = info.first_failure();
  if (failure < 0)
    raise<ValueError>(std::string(op) + ": " + info.text() + " holds an infinity or NaN; pass finite elements only");
  if (failure > 0)
    raise<ValueError>(std::string(op) + ": " + std::to_string(failure) + " values of " + info.text() +
                      " did not converge; scale the matrix, or compute in float64");
}

/// LAPACK counts its workspace, up to four times the square of the smaller size, in 32 bits.
constexpr std::int64_t greatest_size = 23000;

void require_sizes_of_lapack(const char* op, const Type& a) {
  const Size m = a.shape[a.shape.size() - 2], n = a.shape.back();
  if (any_symbol(m, n)) return;
  if (std::min(m, n) > greatest_size || std::max(m, n) > std::numeric_limits<int>::max())
    raise<ValueError>(std::string(op) + ": " + to_string(a) + " is greater than LAPACK's 32-bit sizes; the smaller " +
                      "size may be " + std::to_string(greatest_size));
}

/// Matrices [leading..., m, n] whose eigenvalues and singular values are well apart.
Tensor with_gaps(Shape leading, std::int64_t m, std::int64_t n) {
  leading.push_back(m);
  leading.push_back(n);
  return uniform_around_zero(leading) * 0.5 + eye(m, n) * (arange(n) * 3 + 2);
}

/// Of the symmetric part (a + aᵀ) / 2: values, ascending, and vectors in columns. With P = Vᵀ da V for a symmetric
/// change da, the values change by P's diagonal and the vectors by V (F ∘ P), F being the reciprocal gaps: Magnus,
/// "On differentiating eigenvalues and eigenvectors", 1985.
struct Eigh {
  using kind = Explicit;
  static constexpr const char* name = "eigh";
  static constexpr unsigned keeps = output(0) | output(1);

  Types type(const Type& a) const {
    require_real(name, a);
    require_square_type(name, a);
    require_sizes_of_lapack(name, a);
    return {{a.dtype, Shape(a.shape.begin(), a.shape.end() - 1)}, {a.dtype, a.shape}};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(Layout::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::eigh(y[0], y[1], a[0], info.data());
      require_convergence(name, info);
    });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor& v = f.outputs[1];
    const Tensor change = matmul(mT(v), matmul(hermitian(f.tangents[0]), v));
    return {diagonal(change, 0, -2, -1), matmul(v, reciprocal_gaps(f.outputs[0]) * change)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor& v = r.outputs[1];
    Tensor inner;
    if (r.cotangents[0].defined()) inner = diag_embed(r.cotangents[0]);
    if (r.cotangents[1].defined()) {
      const Tensor turned = reciprocal_gaps(r.outputs[0]) * matmul(mT(v), r.cotangents[1]);
      inner = inner.defined() ? inner + turned : turned;
    }
    return {hermitian(matmul(v, matmul(inner, mT(v))))};
  }
  Eigh lifted() const { return {}; }
  static std::vector<Sample<Eigh>> samples() {
    return {{{}, {with_gaps({}, 3, 3)}},
            {{}, {with_gaps({2}, 2, 2)}},
            {{}, {with_gaps({}, 1, 1)}},
            {{}, {with_gaps({}, 0, 0)}},
            {{}, {with_gaps({0}, 2, 2)}}};
  }
};

/// a [..., m, n] = u diag(s) vh, thin. With P = uᵀ da v, s changes by P's diagonal, u by u (F ∘ (P s + s Pᵀ)) and v by
/// v (F ∘ (s P + Pᵀ s)), F being the reciprocal gaps of s²; where a is not square, also by what da adds to the space
/// that the vectors span: Townsend, "Differentiating the singular value decomposition", 2016.
struct Svd {
  using kind = Explicit;
  static constexpr const char* name = "svd";
  static constexpr unsigned keeps = output(0) | output(1) | output(2);

  Types type(const Type& a) const {
    require_real(name, a);
    require_floating(name, a);
    require_rank_of_at_least(2, a);
    require_sizes_of_lapack(name, a);
    const std::size_t rank = a.shape.size();
    const Size k = smaller(a.shape[rank - 2], a.shape[rank - 1]);
    Type u = a, s{a.dtype, Shape(a.shape.begin(), a.shape.end() - 1)}, vh = a;
    u.shape[rank - 1] = k;
    s.shape[rank - 2] = k;
    vh.shape[rank - 2] = k;
    return {u, s, vh};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(Layout::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::svd(y[0], y[1], y[2], a[0], info.data());
      require_convergence(name, info);
    });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor &u = f.outputs[0], &s = f.outputs[1], v = mT(f.outputs[2]), &t = f.tangents[0];
    const Tensor tv = matmul(t, v), tu = matmul(mT(t), u), change = matmul(mT(u), tv);  // [m,k] [n,k] [k,k]
    const Tensor gaps = reciprocal_gaps(square(s)), right = change * by_columns(s), left = by_rows(s) * change;
    Tensor du = matmul(u, gaps * (right + mT(right))), dv = matmul(v, gaps * (left + mT(left)));
    add_outside(du, u, tv / by_columns(s));
    add_outside(dv, v, tu / by_columns(s));
    return {du, diagonal(change, 0, -2, -1), mT(dv)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor &u = r.outputs[0], &s = r.outputs[1], &vh = r.outputs[2], v = mT(vh);
    const Tensor &du = r.cotangents[0], &ds = r.cotangents[1];
    Tensor total;
    if (ds.defined()) total = matmul(u * by_columns(ds), vh);
    if (du.defined()) {
      const Tensor turn = antisymmetric(reciprocal_gaps(square(s)), matmul(mT(u), du)) * by_columns(s);
      Tensor left = matmul(u, turn);
      add_outside(left, u, du / by_columns(s));
      accumulate(total, matmul(left, vh));
    }
    if (r.cotangents[2].defined()) {
      const Tensor dv = mT(r.cotangents[2]);
      const Tensor turn = by_rows(s) * antisymmetric(reciprocal_gaps(square(s)), matmul(vh, dv));
      Tensor right = matmul(v, mT(turn));
      add_outside(right, v, dv / by_columns(s));
      accumulate(total, matmul(u, mT(right)));
    }
    return {total};
  }
  Svd lifted() const { return {}; }
  static std::vector<Sample<Svd>> samples() {
    return {{{}, {with_gaps({}, 3, 3)}}, {{}, {with_gaps({}, 3, 2)}}, {{}, {with_gaps({2}, 2, 3)}},
            {{}, {with_gaps({}, 1, 2)}}, {{}, {with_gaps({}, 0, 2)}}, {{}, {with_gaps({0}, 2, 2)}}};
  }

 private:
  /// Adds the part of x [..., n, k] outside the space that the orthonormal columns of basis [..., n, k] span.
  static void add_outside(Tensor& sum, const Tensor& basis, const Tensor& x) {
    const Shape shape = type_of(basis).shape;
    if (shape.back() == shape[shape.size() - 2]) return;  // they span all
    sum = sum + (x - matmul(basis, matmul(mT(basis), x)));
  }
  /// F ∘ (x - xᵀ), for an antisymmetric F.
  static Tensor antisymmetric(const Tensor& gaps, const Tensor& x) { return gaps * (x - mT(x)); }
};

void require_real_matrices(const char* op, const Tensor& a) {
  require_floating(op, a);
  require_real(op, type_of(a));
  if (type_of(a).rank() < 2) raise<ValueError>(std::string(op) + ": needs matrices, found " + type_text(a));
}

}  // namespace

namespace ops {

std::pair<Tensor, Tensor> eigh(const Tensor& a) {
  require_square("eigh", a);
  require_real_matrices("eigh", a);
  const Tensors both = ricci::apply(Eigh{}, std::span(&a, 1));
  return {both[0], both[1]};
}
Tensor eigvalsh(const Tensor& a) {
  const Called as("eigvalsh", a);
  return eigh(a).first;
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a) {
  require_real_matrices("svd", a);
  const Tensors all = ricci::apply(Svd{}, std::span(&a, 1));
  return {all[0], all[1], all[2]};
}
Tensor svdvals(const Tensor& a) {
  const Called as("svdvals", a);
  return std::get<1>(svd(a));
}

}  // namespace ops
}  // namespace ricci
