// Eigenvalues of Hermitian matrices and singular values, with their vectors. Real vectors are determined up to their
// sign, complex ones up to a factor of size 1, which makes the greatest element real. They are differentiable where the
// values are distinct; then so are derivatives of any order. `shares_of_vectors` says what holds where two values are
// equal.
#include <cmath>

#include "kernels/lapack.h"
#include "ops/factorizations.h"
#include "ops/orthonormal.h"
#include "ops/samples.h"
#include "primitive/called.h"
#include "primitive/derive.h"
#include "ricci/ops/decompositions.h"
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
  static constexpr double ulps = 0.5;
  template <class T> auto formula(T x, T gap) const {
    const T zero(0);
    return scalar::select(scalar::equal(x, zero) && scalar::equal(gap, zero), zero, x / gap);
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) const {
    return i == 0 ? apply(*this, t, x[1]) : neg(apply(*this, t * y, x[1]));
  }
  static double reference(double x, double gap) { return x == 0 && gap == 0 ? 0 : x / gap; }
  static std::vector<Sample<ShareOfPair>> samples() {
    const auto x = [](Shape shape) { return rand(shape) * 1.5 + 0.5; };
    return {{{}, {x({2, 3}), x({3})}}, {{}, {x({4}), x({4})}}};
  }
};
Tensor share(const Tensor& x, const Tensor& gap) {
  if (is_complex(type_of(x).dtype)) return complex(share(real(x), gap), share(imag(x), gap));
  return apply(ShareOfPair{}, x, gap);
}

Tensor identity_like(const Tensor& matrices) {
  const Type type = type_of(matrices);
  return eye(type.shape.back(), type.dtype);
}
double few_roundings(const Tensor& x) { return 4 * epsilon_of(type_of(x).dtype); }
Tensor without_diagonal(const Tensor& x) { return x * (1 - identity_like(x)); }

/// The greatest |x| of each column, 0 where there is none.
Tensor greatest_of_columns(const Tensor& x) { return amax(pad(abs(detach(x)), {0, 0, 0, 1}), {-2}); }

/// Of pairs of values, in units of the greatest.
class Gaps {
 public:
  explicit Gaps(const Tensor& c) {
    const Tensor greatest = by_rows(by_rows(amax(pad(abs(detach(c)), {0, 1}), {-1})));
    unit_ = where(eq(greatest, 0), 1, greatest);
    apart = (by_columns(c) - by_rows(c)) / unit_;
    const Tensor is_noise = le(abs(apart), few_roundings(c));
    apart = apart - detach(where(is_noise, apart, 0)) + identity_like(apart);
    close_ = 4 * std::sqrt(epsilon_of(type_of(c).dtype));
  }
  /// c_j - c_i at row i and column j; 1 on the diagonal, where no pair is. Exactly 0 where it is no more than the
  /// values' rounding error: they are equal then as far as anyone knows. Its derivatives are those of c_j - c_i.
  Tensor apart;

  /// Pairs whose shares have derivatives without a right digit. Such a derivative divides twice by the gap. In a
  /// function that does not depend on how a pair's vectors turn, terms of the size of the second quotient cancel and
  /// leave their rounding errors, of size ε / gap²: for gaps below 4 √ε, more than a few per cent of the result.
  Tensor are_close() const { return logical_and(lt(abs(apart), close_), ne(apart, 0)); }
  /// The same, of a function that hands back x = vᴴ ct to the vectors. x - xᴴ is its derivative along a turn. Where
  /// that is not small, nothing cancels: the second quotient is the result. Where both columns of x are 0, nothing is
  /// read.
  Tensor are_close(const Tensor& x) const {
    const Tensor size = greatest_of_columns(x), turn = detach(abs(x - adjoint(x))) * 0.5;
    return logical_and(are_close(), lt(turn, close_ * (by_columns(size) + by_rows(size))));
  }

  /// x / (c_j - c_i), and x itself, in these units, on the diagonal. For pairs of `are_lost`, derivatives are infinite
  /// or NaN where `source`, of which x is made, or the gap has one.
  Tensor share_of(const Tensor& x, const Tensor& are_lost, const Tensor& source) const {
    const Tensor y = share(x / unit_, apart), value = detach(y), none = zeros({}, {.dtype = type_of(apart).dtype});
    const Tensor change = share(source - detach(source), none) - share(value * (apart - detach(apart)), none);
    return where(are_lost, value + change, y);  // the change is 0, but not its derivatives
  }

 private:
  Tensor unit_;
  double close_;
};

Tensor real_part(const Tensor& x) { return x.is_complex() ? real(x) : x; }

/// change, which is made of elements of x, without what is rounding error there and would be divided by a gap of 0.
/// Derivatives keep it: their numerators are others.
Tensor without_noise(const Tensor& change, const Tensor& x, const Tensor& apart) {
  const Tensor size = sum(abs(x), {-2});
  const Tensor is_noise =
      logical_and(le(abs(change), few_roundings(x) * (by_columns(size) + by_rows(size))), eq(apart, 0));
  return change - detach(where(is_noise, change, 0));
}

/// F ∘ change off the diagonal. Where values are equal and the change would part them, it is infinite: how the vectors
/// turn depends on where else the matrix goes. A function that reads neither of them, such as a projector, has a
/// gradient there, and NaN for a tangent.
Tensor shares_of_change(const Tensor& change, const Tensor& c) {
  const Gaps gaps(c);
  return gaps.share_of(without_noise(without_diagonal(change), change, gaps.apart), gaps.are_close(), change);
}

/// The Hermitian part of F ∘ x for x = vᴴ ct, F_ij = 1 / (c_j - c_i): (x_ij - conj(x_ji)) / (c_j - c_i) / 2.
///
/// At equal values of a pair this is 0 / 0 for every smooth function. A function of the vectors alone, ct_values
/// undefined, has the share 0 there: by invariance under rotations of the pair, the share is half the derivative of the
/// cotangent of one value along such a rotation, and that cotangent is 0 throughout. So a numerator of rounding error's
/// size over a gap of rounding error's size is taken for 0. Where values are read too the share is not known: log a at
/// the identity hands back the same 0 for x as what does not read the vectors at all. There it is 0 if all that the
/// pair hands back is 0, of values and of vectors, and NaN otherwise.
///
/// `all`: the sum of all x of which shares are added up; they may cancel.
Tensor shares_of_vectors(const Tensor& x, const Tensor& c, const Tensor& ct_values, const Tensor& all) {
  const Gaps gaps(c);
  const Tensor lost = gaps.are_close(all);
  if (!ct_values.defined()) return gaps.share_of(without_noise((x - adjoint(x)) * 0.5, x, gaps.apart), lost, x);
  const Tensor each = gaps.share_of(without_diagonal(x) * 0.5, lost, x), size = abs(ct_values);
  const Tensor sizes = without_diagonal(by_columns(size) + by_rows(size));
  return each + adjoint(each) + 0 * gaps.share_of(sizes, lost, sizes);
}
Tensor shares_of_vectors(const Tensor& x, const Tensor& c, const Tensor& ct_values) {
  return shares_of_vectors(x, c, ct_values, x);
}

/// Matrices [leading..., m, n] whose eigenvalues and singular values are well apart.
Tensor with_gaps(Shape leading, std::int64_t m, std::int64_t n) {
  leading.push_back(m);
  leading.push_back(n);
  return uniform_around_zero(leading) * 0.5 + eye(m, n) * (arange(n) * 3 + 2);
}

/// Complex ones, with another real part for every seed of the generator.
Tensor complex_with_gaps(Shape leading, std::int64_t m, std::int64_t n) {
  Tensor re = with_gaps(leading, m, n);
  return complex(re, uniform_around_zero(type_of(re).shape));
}

template <class P>
std::vector<Sample<P>> samples_of_squares() {
  return {{{}, {with_gaps({}, 3, 3)}}, {{}, {with_gaps({2}, 2, 2)}}, {{}, {complex_with_gaps({}, 3, 3)}},
          {{}, {with_gaps({}, 1, 1)}}, {{}, {with_gaps({}, 0, 0)}},  {{}, {with_gaps({0}, 2, 2)}}};
}

/// Of the Hermitian part (a + aᴴ) / 2: values, ascending, and vectors in columns. With P = Vᴴ da V for a Hermitian
/// change da, the values change by P's diagonal and the vectors by V (F ∘ P), F being the reciprocal gaps: Magnus,
/// "On differentiating eigenvalues and eigenvectors", 1985.
struct Eigh {
  using kind = Explicit;
  static constexpr const char* name = "eigh";
  static constexpr unsigned keeps = output(0) | output(1);

  Types type(const Type& a) const {
    require_square_type(name, a);
    require_sizes_of_lapack(name, a, greatest_spectrum);
    return {{real_dtype(a.dtype), Shape(a.shape.begin(), a.shape.end() - 1)}, {a.dtype, a.shape}};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::eigh(y[0], y[1], a[0], info.data());
      require_convergence(name, info);
    });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor& v = f.outputs[1];
    const Tensor change = matmul(adjoint(v), matmul(hermitian(f.tangents[0]), v));
    Tensor dv = matmul(v, shares_of_change(change, f.outputs[0]));
    if (v.is_complex()) dv = dv - times_i(v * Phases(v).turn(dv));
    return {real_part(diagonal(change, 0, -2, -1)), dv};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor& v = r.outputs[1];
    Tensor inner;
    if (r.cotangents[0].defined()) inner = to(diag_embed(r.cotangents[0]), type_of(v).dtype);
    if (Tensor ct = r.cotangents[1]; ct.defined()) {
      if (v.is_complex()) ct = ct - Phases(v).cotangent(imag(sum(conj(v) * ct, {-2}, true)));
      accumulate(inner, shares_of_vectors(matmul(adjoint(v), ct), r.outputs[0], r.cotangents[0]));
    }
    return {hermitian(matmul(v, matmul(inner, adjoint(v))))};
  }
  Eigh lifted() const { return {}; }
  static std::vector<Sample<Eigh>> samples() { return samples_of_squares<Eigh>(); }
};

/// The values alone, which is faster. A derivative needs the vectors, so it computes both. A tangent adds 0 times the
/// values of Eigh: only so does its own derivative see values and vectors read together, and is NaN, not wrong, where
/// values are equal.
struct Eigvalsh {
  using kind = Explicit;
  static constexpr const char* name = "eigvalsh";
  static constexpr unsigned keeps = nothing;

  Type type(const Type& a) const { return Eigh().type(a)[0]; }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::eigvalsh(y[0], a[0], info.data());
      require_convergence(name, info);
    });
  }
  Kept keep(std::span<const Tensor> in, const Mask&) const {
    const Tensors both = ricci::apply(Eigh{}, in);
    return {.outputs = {both[0]}, .residual = {{both[1]}, nullptr}};
  }
  Tensors jvp(const Forward& f) const {
    const Tensor &w = f.outputs[0], &v = f.outputs[1];
    return {real_part(sum(conj_if_complex(v) * matmul(hermitian(f.tangents[0]), v), {-2})) + 0 * w};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor& v = r.residual->tensors[0];
    return {hermitian(matmul(v * to(by_columns(r.cotangents[0]), type_of(v).dtype), adjoint(v)))};
  }
  Eigvalsh lifted() const { return {}; }
  static std::vector<Sample<Eigvalsh>> samples() { return samples_of_squares<Eigvalsh>(); }
};

/// a [..., m, n] = u diag(s) vh, thin. With P = uᴴ da v, s changes by P's diagonal, u by u (F ∘ (P s + s Pᴴ)) and v by
/// v (F ∘ (s P + Pᴴ s)), F being the reciprocal gaps of s²; where a is not square, also by what da adds to the space
/// that the vectors span: Townsend, "Differentiating the singular value decomposition", 2016. Since s_j² - s_i² is
/// (s_j - s_i)(s_j + s_i), these are S + A and S - A, S being P's Hermitian part over s_j - s_i A its skew part over
/// s_j + s_i: no square overflows, and equal values concern S alone. A's diagonal, which is imaginary, shares between
/// the two vectors of a value how the product of their factors turns. `full`: u is [..., m, m], vh [..., n, n].
struct Svd {
  using kind = Explicit;
  static constexpr const char* name = "svd";
  static constexpr unsigned keeps = output(0) | output(1) | output(2);
  bool full;

  Types type(const Type& a) const {
    require_matrix_type(name, a);
    require_sizes_of_lapack(name, a, greatest_spectrum);
    const std::size_t rank = a.shape.size();
    const Size m = a.shape[rank - 2], n = a.shape[rank - 1], k = smaller(m, n);
    Type u = a, s{real_dtype(a.dtype), Shape(a.shape.begin(), a.shape.end() - 1)}, vh = a;
    u.shape[rank - 1] = full ? m : k;
    s.shape[rank - 2] = k;
    vh.shape[rank - 2] = full ? n : k;
    return {u, s, vh};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::svd(y[0], y[1], y[2], a[0], info.data());
      require_convergence(name, info);
    });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor &s = f.outputs[1], &t = f.tangents[0], all_v = adjoint(f.outputs[2]);
    const Tensor u = front(f.outputs[0], columns_of(s)), v = front(all_v, columns_of(s));
    const Tensor tv = matmul(t, v), tu = matmul(adjoint(t), u), change = matmul(adjoint(u), tv);  // [m,k] [n,k] [k,k]
    const Tensor half = change * 0.5, together = shares_of_change(half + adjoint(half), s);
    const Tensor against = share(half - adjoint(half), by_columns(s) + by_rows(s));
    Tensor du = matmul(u, together + against), dv = matmul(v, together - against);
    add_outside(du, u, share(tv, by_columns(s)));
    add_outside(dv, v, share(tu, by_columns(s)));
    if (u.is_complex()) {
      const Tensor turn = Phases(u).turn(du);
      du = du - times_i(u * turn);
      dv = dv - times_i(v * turn);
    }
    return {with_rest(f.outputs[0], u, du), real_part(diagonal(change, 0, -2, -1)), adjoint(with_rest(all_v, v, dv))};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor &s = r.outputs[1], &ds = r.cotangents[1], all_v = adjoint(r.outputs[2]);
    const Tensor u = front(r.outputs[0], columns_of(s)), v = front(all_v, columns_of(s));
    Tensor du = without_rest(r.outputs[0], u, r.cotangents[0]);
    const Tensor dv = without_rest(all_v, v, r.cotangents[2].defined() ? adjoint(r.cotangents[2]) : Tensor());
    Tensor inner, total;  // total = u inner vh, and what is outside the spaces of the vectors
    if (ds.defined()) inner = to(diag_embed(ds), type_of(u).dtype);
    if (du.defined() || dv.defined()) {
      Tensor turn_u, turn_v;
      if (u.is_complex()) {
        Tensor along;
        if (du.defined()) along = sum(conj(u) * du, {-2}, true);
        if (dv.defined()) accumulate(along, sum(conj(v) * dv, {-2}, true));
        accumulate(du, neg(Phases(u).cotangent(imag(along))));
      }
      if (du.defined()) turn_u = matmul(adjoint(u), du);
      if (dv.defined()) turn_v = matmul(adjoint(v), dv);
      accumulate(inner, shares_of_pairs(turn_u, turn_v, s, ds));
    }
    if (inner.defined()) total = matmul(matmul(u, inner), adjoint(v));
    if (du.defined() && !spans_all(u)) accumulate(total, matmul(outside(u, share(du, by_columns(s))), adjoint(v)));
    if (dv.defined() && !spans_all(v)) accumulate(total, matmul(u, adjoint(outside(v, share(dv, by_columns(s))))));
    return {total};
  }
  Svd lifted() const { return {full}; }
  static std::vector<Sample<Svd>> samples() {
    return {{{false}, {with_gaps({}, 3, 3)}},         {{false}, {with_gaps({}, 3, 2)}},
            {{false}, {with_gaps({2}, 2, 3)}},        {{false}, {complex_with_gaps({}, 2, 2)}},
            {{false}, {complex_with_gaps({}, 3, 2)}}, {{false}, {complex_with_gaps({}, 2, 3)}},
            {{false}, {with_gaps({}, 1, 2)}},         {{false}, {with_gaps({}, 0, 2)}},
            {{false}, {with_gaps({0}, 2, 2)}},        {{true}, {with_gaps({}, 2, 2)}}};
  }

 private:
  /// (X + Y) / (s_j - s_i) / 2 + (X - Y) / (s_j + s_i) / 2, X and Y being x - xᴴ and y - yᴴ; either may be undefined.
  static Tensor shares_of_pairs(const Tensor& x, const Tensor& y, const Tensor& s, const Tensor& ct_values) {
    const Tensor sums = by_columns(s) + by_rows(s);
    if (!y.defined()) return shares_of_vectors(x, s, ct_values) + share((x - adjoint(x)) * 0.5, sums);
    if (!x.defined()) return shares_of_vectors(y, s, ct_values) - share((y - adjoint(y)) * 0.5, sums);
    const Tensor against = share((x - y - adjoint(x - y)) * 0.5, sums);
    if (!ct_values.defined()) return shares_of_vectors(x + y, s, ct_values) + against;
    // Each alone, so that two that cancel at equal values are not taken for two that are 0.
    return shares_of_vectors(x, s, ct_values, x + y) + shares_of_vectors(y, s, ct_values, x + y) + against;
  }

  static bool spans_all(const Tensor& basis) { return columns_of(basis) == rows_of(basis); }
  /// The part of x [..., n, k] outside the space that the orthonormal columns of basis [..., n, k] span.
  static Tensor outside(const Tensor& basis, const Tensor& x) { return x - matmul(basis, matmul(adjoint(basis), x)); }
  static void add_outside(Tensor& sum, const Tensor& basis, const Tensor& x) {
    if (!spans_all(basis)) sum = sum + outside(basis, x);
  }
  /// The change of all columns, of which the vectors of values are the first, and the other way round.
  Tensor with_rest(const Tensor& all, const Tensor& basis, const Tensor& change) const {
    if (!full || spans_all(basis)) return change;
    return cat({change, tangent_of_rest(basis, behind(all, columns_of(basis)), change)}, -1);
  }
  Tensor without_rest(const Tensor& all, const Tensor& basis, const Tensor& ct) const {
    if (!full || spans_all(basis) || !ct.defined()) return ct;
    const Size k = columns_of(basis);
    return front(ct, k) + cotangent_by_rest(basis, behind(all, k), behind(ct, k));
  }
};

/// The values alone, as of `Eigvalsh`.
struct Svdvals {
  using kind = Explicit;
  static constexpr const char* name = "svdvals";
  static constexpr unsigned keeps = nothing;

  Type type(const Type& a) const { return Svd{false}.type(a)[1]; }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::svdvals(y[0], a[0], info.data());
      require_convergence(name, info);
    });
  }
  Kept keep(std::span<const Tensor> in, const Mask&) const {
    const Tensors all = ricci::apply(Svd{false}, in);
    return {.outputs = {all[1]}, .residual = {{all[0], all[2]}, nullptr}};
  }
  Tensors jvp(const Forward& f) const {
    const Tensor &s = f.outputs[0], &u = f.outputs[1], &vh = f.outputs[2];
    const Tensor turned = matmul(f.tangents[0], adjoint(vh));
    return {real_part(sum(conj_if_complex(u) * turned, {-2})) + 0 * s};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor &u = r.residual->tensors[0], &vh = r.residual->tensors[1];
    return {matmul(u * to(by_columns(r.cotangents[0]), type_of(u).dtype), vh)};
  }
  Svdvals lifted() const { return {}; }
  static std::vector<Sample<Svdvals>> samples() {
    return {{{}, {with_gaps({}, 3, 3)}},         {{}, {with_gaps({}, 3, 2)}}, {{}, {with_gaps({2}, 2, 3)}},
            {{}, {complex_with_gaps({}, 2, 3)}}, {{}, {with_gaps({}, 1, 2)}}, {{}, {with_gaps({}, 0, 2)}},
            {{}, {with_gaps({0}, 2, 2)}}};
  }
};

/// The Hermitian matrix of which a has the lower or the upper triangle.
Tensor of_triangle(const char* op, const Tensor& a, std::string_view triangle) {
  require_square(op, a);
  const bool is_lower = triangle == "L" || triangle == "l";
  if (!is_lower && triangle != "U" && triangle != "u")
    raise<ValueError>(std::string(op) + R"(: UPLO must be "L" or "U", not ")" + shortened(triangle) + "\"");
  const Tensor lower = is_lower ? a : adjoint(a);
  return tril(lower) + adjoint(tril(lower, -1));
}

}  // namespace

namespace ops {

std::pair<Tensor, Tensor> eigh(const Tensor& a) {
  require_square("eigh", a);
  const Tensors both = ricci::apply(Eigh{}, std::span(&a, 1));
  return {both[0], both[1]};
}
std::pair<Tensor, Tensor> eigh(const Tensor& a, std::string_view UPLO) {
  const Called as("eigh", a);
  return eigh(of_triangle("eigh", a, UPLO));
}
Tensor eigvalsh(const Tensor& a) {
  const Called as("eigvalsh", a);
  require_square("eigvalsh", a);
  return ricci::apply(Eigvalsh{}, a);
}
Tensor eigvalsh(const Tensor& a, std::string_view UPLO) {
  const Called as("eigvalsh", a);
  return eigvalsh(of_triangle("eigvalsh", a, UPLO));
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a) { return svd(a, false); }
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a, bool full_matrices) {
  require_matrices("svd", a);
  const Tensors all = ricci::apply(Svd{full_matrices}, std::span(&a, 1));
  return {all[0], all[1], all[2]};
}
Tensor svdvals(const Tensor& a) {
  const Called as("svdvals", a);
  require_matrices("svdvals", a);
  return ricci::apply(Svdvals{}, a);
}

}  // namespace ops
}  // namespace ricci
