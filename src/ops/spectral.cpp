// Eigenvalues of symmetric matrices and singular values, with their vectors. Vectors are determined up to their sign,
// and are differentiable where the values are distinct; then so are derivatives of any order. `shares_of_vectors` says
// what holds where two values are equal.
#include <algorithm>
#include <limits>

#include "kernels/lapack.h"
#include "ops/factorizations.h"
#include "ops/samples.h"
#include "primitive/called.h"
#include "primitive/derive.h"
#include "ricci/primitive/elementwise.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

/// c [..., n] as [..., 1, n], beside the columns of a matrix, and as [..., n, 1].
Tensor by_columns(const Tensor& c) { return unsqueeze(c, -2); }
Tensor by_rows(const Tensor& c) { return unsqueeze(c, -1); }

/// x / gap, but 0 where both are 0, for derivatives too: 0 / 0 is 0 and 1 / 0 infinite in each of them. What a pair of
/// equal values or its vectors hand back is divided by the gap between the values. Where nothing reads the pair, its
/// share is 0; where something does, the share is infinite or NaN, not a finite number that would be wrong.
struct ShareOfPair {
  using kind = Elementwise;
  static constexpr const char* name = "share_of_pair";
  static constexpr unsigned linear_in = input(0);
  static constexpr unsigned keeps = input(1) | output(0);
  static constexpr Interval domain = {0.5, 2};
  static constexpr double ulps = 0.5;
  template <class T> auto formula(T x, T gap) const {
    const auto unread = scalar::equal(x, T(0)) && scalar::equal(gap, T(0));
    return scalar::select(unread, T(0), x / gap);
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) const {
    return i == 0 ? apply(*this, t, x[1]) : neg(apply(*this, t * y, x[1]));
  }
  static double reference(double x, double gap) { return x == 0 && gap == 0 ? 0 : x / gap; }
};
Tensor share(const Tensor& x, const Tensor& gap) { return apply(ShareOfPair{}, x, gap); }

Tensor identity_like(const Tensor& matrices) {
  const Type type = type_of(matrices);
  return eye(type.shape.back(), type.dtype);
}
Tensor without_diagonal(const Tensor& x) { return x * (1 - identity_like(x)); }

/// c_j - c_i at row i and column j; 1 on the diagonal, where no pair is.
Tensor gaps(const Tensor& c) {
  const Tensor apart = by_columns(c) - by_rows(c);
  return apart + identity_like(apart);
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::float64: return 0x1p-52;
    case DType::float32: return 0x1p-23;
    case DType::float16: return 0x1p-10;
    default: return 0x1p-7;  // bfloat16
  }
}

/// change, which is made of elements of x, without what is rounding error there and would be divided by a gap that is
/// rounding error of the values c. Derivatives keep it: their numerators are others.
Tensor without_noise(const Tensor& change, const Tensor& x, const Tensor& apart, const Tensor& c) {
  const double few = 4 * epsilon_of(type_of(x).dtype);
  const Tensor size = sum(abs(x), {-2}), spread = unsqueeze(unsqueeze(sum(abs(c), {-1}), -1), -1);
  const Tensor is_noise =
      logical_and(le(abs(change), few * (by_columns(size) + by_rows(size))), le(abs(apart), few * spread));
  return change - detach(where(is_noise, change, 0));
}

/// The symmetric part of F ∘ x for x = vᵀ ct, F_ij = 1 / (c_j - c_i), which is (x_ij - x_ji) / (c_j - c_i) / 2.
///
/// At equal values of a pair this is 0 / 0 for every smooth function. A function of the vectors alone, ct_values
/// undefined, has the share 0 there: by invariance under rotations of the pair, the share is half the derivative of the
/// cotangent of one value along such a rotation, and that cotangent is 0 throughout. So a numerator of rounding error's
/// size over a gap of rounding error's size is taken for 0. Where values are read too the share is not known: log a at
/// the identity hands back the same 0 for x as what does not read the vectors at all. There it is 0 if all that the
/// pair hands back is 0, of values and of vectors, and NaN otherwise.
Tensor shares_of_vectors(const Tensor& x, const Tensor& c, const Tensor& ct_values) {
  const Tensor apart = gaps(c);
  if (!ct_values.defined()) return share(without_noise((x - mT(x)) * 0.5, x, apart, c), apart);
  const Tensor each = share(without_diagonal(x) * 0.5, apart), size = abs(ct_values);
  return each + mT(each) + 0 * share(without_diagonal(by_columns(size) + by_rows(size)), apart);
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
    return {diagonal(change, 0, -2, -1), matmul(v, share(without_diagonal(change), gaps(f.outputs[0])))};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor& v = r.outputs[1];
    Tensor inner;
    if (r.cotangents[0].defined()) inner = diag_embed(r.cotangents[0]);
    if (r.cotangents[1].defined())
      accumulate(inner, shares_of_vectors(matmul(mT(v), r.cotangents[1]), r.outputs[0], r.cotangents[0]));
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
/// that the vectors span: Townsend, "Differentiating the singular value decomposition", 2016. Since s_j² - s_i² is
/// (s_j - s_i)(s_j + s_i), these are S + A and S - A, S being P's symmetric part over s_j - s_i and A its antisymmetric
/// part over s_j + s_i: no square overflows, and equal values concern S alone.
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
    const Tensor half = change * 0.5, together = share(without_diagonal(half + mT(half)), gaps(s));
    const Tensor against = share(half - mT(half), by_columns(s) + by_rows(s));
    Tensor du = matmul(u, together + against), dv = matmul(v, together - against);
    add_outside(du, u, share(tv, by_columns(s)));
    add_outside(dv, v, share(tu, by_columns(s)));
    return {du, diagonal(change, 0, -2, -1), mT(dv)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor &u = r.outputs[0], &s = r.outputs[1], &vh = r.outputs[2], v = mT(vh);
    const Tensor &du = r.cotangents[0], &ds = r.cotangents[1];
    const Tensor dv = r.cotangents[2].defined() ? mT(r.cotangents[2]) : Tensor();
    Tensor inner, total;  // total = u inner vh, and what is outside the spaces of the vectors
    if (ds.defined()) inner = diag_embed(ds);
    if (du.defined() || dv.defined()) {
      Tensor turn_u, turn_v;
      if (du.defined()) turn_u = matmul(mT(u), du);
      if (dv.defined()) turn_v = matmul(vh, dv);
      accumulate(inner, shares_of_pairs(turn_u, turn_v, s, ds));
    }
    if (inner.defined()) total = matmul(matmul(u, inner), vh);
    if (du.defined() && !spans_all(u)) accumulate(total, matmul(outside(u, share(du, by_columns(s))), vh));
    if (dv.defined() && !spans_all(v)) accumulate(total, matmul(u, mT(outside(v, share(dv, by_columns(s))))));
    return {total};
  }
  Svd lifted() const { return {}; }
  static std::vector<Sample<Svd>> samples() {
    return {{{}, {with_gaps({}, 3, 3)}}, {{}, {with_gaps({}, 3, 2)}}, {{}, {with_gaps({2}, 2, 3)}},
            {{}, {with_gaps({}, 1, 2)}}, {{}, {with_gaps({}, 0, 2)}}, {{}, {with_gaps({0}, 2, 2)}}};
  }

 private:
  /// (X + Y) / (s_j - s_i) / 2 + (X - Y) / (s_j + s_i) / 2, X and Y being x - xᵀ and y - yᵀ; either may be undefined.
  static Tensor shares_of_pairs(const Tensor& x, const Tensor& y, const Tensor& s, const Tensor& ct_values) {
    const Tensor sums = by_columns(s) + by_rows(s);
    if (!y.defined()) return shares_of_vectors(x, s, ct_values) + share((x - mT(x)) * 0.5, sums);
    if (!x.defined()) return shares_of_vectors(y, s, ct_values) - share((y - mT(y)) * 0.5, sums);
    const Tensor against = share((x - y - mT(x - y)) * 0.5, sums);
    if (!ct_values.defined()) return shares_of_vectors(x + y, s, ct_values) + against;
    // Each alone, so that two that cancel at equal values are not taken for two that are 0.
    return shares_of_vectors(x, s, ct_values) + shares_of_vectors(y, s, ct_values) + against;
  }

  static bool spans_all(const Tensor& basis) {
    const Shape shape = type_of(basis).shape;
    return shape.back() == shape[shape.size() - 2];
  }
  /// The part of x [..., n, k] outside the space that the orthonormal columns of basis [..., n, k] span.
  static Tensor outside(const Tensor& basis, const Tensor& x) { return x - matmul(basis, matmul(mT(basis), x)); }
  static void add_outside(Tensor& sum, const Tensor& basis, const Tensor& x) {
    if (!spans_all(basis)) sum = sum + outside(basis, x);
  }
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
