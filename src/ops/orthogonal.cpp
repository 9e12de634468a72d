// QR factorisation: an orthonormal basis of the columns of a matrix, from left to right.
#include <algorithm>

#include "kernels/lapack.h"
#include "ops/factorizations.h"
#include "ops/orthonormal.h"
#include "ops/samples.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "primitive/derive.h"
#include "ricci/ops/decompositions.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

/// x R⁻¹ and x R⁻ᴴ for an upper triangular R.
Tensor over(const Tensor& x, const Tensor& r) { return mT(solve_triangular(mT(r), mT(x), false)); }
Tensor over_adjoint(const Tensor& x, const Tensor& r) { return adjoint(solve_triangular(r, adjoint(x), true)); }

Tensor real_diagonal(const Tensor& x) { return x.is_complex() ? to(real(x), type_of(x).dtype) : x; }

/// a [..., m, n] = q r with orthonormal columns q [..., m, k] and r [..., k, n] upper triangular, k the lesser of m and
/// n. Rules: Walter and Lehmann, "Algorithmic differentiation of linear algebra functions", 2012, for complex ones
/// Roberts and Roberts, "QR and LQ decomposition matrix backpropagation algorithms", 2020. They hold for k = n; the
/// columns of a behind the first k only follow: qᴴ a₂. `complete`, for m > n: q is [..., m, m], r [..., m, n].
struct Qr {
  using kind = Explicit;
  static constexpr const char* name = "qr";
  static constexpr unsigned keeps = output(0) | output(1);
  bool complete;

  Types type(const Type& a) const {
    require_matrix_type(name, a);
    require_sizes_of_lapack(name, a);
    const std::size_t rank = a.shape.size();
    const Size m = a.shape[rank - 2], n = a.shape[rank - 1];
    Type q = a, r = a;
    q.shape[rank - 1] = r.shape[rank - 2] = complete ? m : smaller(n, m);
    return {q, r};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) { kernels::qr(y[0], y[1], a[0]); });
  }
  /// With C = qᴴ da r⁻¹ = X + U, X skew-Hermitian and U upper triangular with a real diagonal: dr = U r and
  /// dq = da r⁻¹ - q U.
  Tensors jvp(const Forward& f) const {
    const Parts y(*this, f.outputs[0], f.outputs[1]);
    const Tensor& t = f.tangents[0];
    const Tensor scaled = over(front(t, y.k), y.square), c = matmul(adjoint(y.q), scaled);
    const Tensor below = tril(c, -1), above = triu(c, 1);
    const Tensor change = above + real_diagonal(c - below - above) + adjoint(below);
    Tensor dq = scaled - matmul(y.q, change), dr = matmul(change, y.square);
    if (y.is_wide)
      dr = cat({dr, matmul(adjoint(dq), matmul(y.q, y.others)) + matmul(adjoint(y.q), behind(t, y.k))}, -1);
    if (complete) {
      dr = cat({dr, zeros_of(type_of(narrow(f.outputs[1], -2, y.k, y.more())))}, -2);
      dq = cat({dq, tangent_of_rest(y.q, y.rest, dq)}, -1);
    }
    return {dq, dr};
  }
  /// (Q̄ + q H) r⁻ᴴ, H being Hermitian with the lower triangle of r R̄ᴴ - Q̄ᴴ q.
  Tensors vjp(const Reverse& v) const {
    const Parts y(*this, v.outputs[0], v.outputs[1]);
    Tensor ct_q = v.cotangents[0], ct_r = v.cotangents[1], m, ct_others;
    if (complete && ct_q.defined()) {
      const Tensor ct_rest = behind(ct_q, y.k);
      ct_q = front(ct_q, y.k) + cotangent_by_rest(y.q, y.rest, ct_rest);
    }
    if (complete && ct_r.defined()) ct_r = narrow(ct_r, -2, 0, y.k);
    if (y.is_wide && ct_r.defined()) {
      const Tensor ct = behind(ct_r, y.k);
      ct_others = matmul(y.q, ct);
      accumulate(ct_q, matmul(matmul(y.q, y.others), adjoint(ct)));
    }
    if (ct_r.defined()) m = matmul(y.square, adjoint(triu(front(ct_r, y.k))));
    if (ct_q.defined()) accumulate(m, neg(matmul(adjoint(ct_q), y.q)));
    const Tensor below = tril(m, -1);
    Tensor total = matmul(y.q, below + adjoint(below) + real_diagonal(tril(m) - below));
    if (ct_q.defined()) total = total + ct_q;
    total = over_adjoint(total, y.square);
    if (!y.is_wide) return {total};
    if (!ct_others.defined()) ct_others = zeros_of(type_of(matmul(y.q, y.others)));
    return {cat({total, ct_others}, -1)};
  }
  Qr lifted() const { return {complete}; }
  static std::vector<Sample<Qr>> samples() {
    return {{{false}, {regular({}, 3)}},
            {{false}, {uniform_around_zero({2, 4, 2}) + eye(4, 2)}},
            {{false}, {uniform_around_zero({2, 3}) + eye(2, 3)}},
            {{false}, {complex_sample({4, 3}) + eye(4, 3)}},
            {{false}, {complex_sample({2, 3}) + eye(2, 3)}},
            {{false}, {uniform_around_zero({3, 0})}},
            {{false}, {uniform_around_zero({0, 3})}},
            {{false}, {regular({0}, 2)}}};
  }

 private:
  /// The results by what the rules hold for: q [..., m, k] with r's square part, then r's other columns and q's.
  struct Parts {
    Size k;
    Tensor q, square, others, rest;
    bool is_wide;

    Parts(const Qr& op, const Tensor& all_q, const Tensor& r) {
      k = op.complete ? columns_of(r) : rows_of(r);
      is_wide = !(columns_of(r) == k);
      q = front(all_q, k);
      square = front(op.complete ? narrow(r, -2, 0, k) : r, k);
      if (is_wide) others = behind(r, k);
      if (op.complete) rest = behind(all_q, k);
    }
    Size more() const { return columns_of(rest); }
  };
};

/// The same factors as LAPACK leaves them: packed [..., m, n] holds r and, below it, vectors v of the reflections of
/// which q is the product, and tau [..., k] their scales. With the lower trapezoid V of these vectors, its diagonal
/// ones, q - 1 = V U for the upper triangular U = -T Vᴴ, the diagonal of which is -tau (Ballard and others,
/// "Reconstructing Householder vectors from tall-skinny QR", 2015): the rules of QR and then of LU hold.
struct Geqrf {
  using kind = Explicit;
  static constexpr const char* name = "geqrf";
  static constexpr unsigned keeps = output(0) | output(1);

  Types type(const Type& a) const {
    require_matrix_type(name, a);
    require_sizes_of_lapack(name, a);
    Type tau{a.dtype, Shape(a.shape.begin(), a.shape.end() - 1)};
    tau.shape.back() = smaller(a.shape[a.shape.size() - 2], a.shape.back());
    return {a, tau};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) { kernels::geqrf(y[0], y[1], a[0]); });
  }
  Tensors jvp(const Forward& f) const {
    const Factors y(f.outputs[0], f.outputs[1]);
    const Tensors changes = Qr{false}.jvp({.inputs = {}, .tangents = f.tangents, .outputs = y.factors});
    const Tensor d = lu_tangent(y.lu, changes[0]);
    return {onto_rows(tril(d, -1), f.outputs[0]) + below_zeros(changes[1], f.outputs[0]), neg(diagonal(d, 0, -2, -1))};
  }
  Tensors vjp(const Reverse& r) const {
    const Factors y(r.outputs[0], r.outputs[1]);
    Tensor ct_lu, ct_r;
    if (const Tensor& ct = r.cotangents[0]; ct.defined()) {
      ct_lu = tril(front(ct, y.k), -1);
      ct_r = triu(narrow(ct, -2, 0, y.k));
    }
    if (const Tensor& ct = r.cotangents[1]; ct.defined())
      accumulate(ct_lu, neg(below_zeros(diag_embed(ct), y.factors[0])));
    const Tensor ct_q = lu_cotangent(y.lu, ct_lu);
    const Tensor cotangents[] = {ct_q, ct_r};
    return Qr{false}.vjp({.inputs = {}, .outputs = y.factors, .cotangents = cotangents, .wanted = r.wanted});
  }
  Geqrf lifted() const { return {}; }
  static std::vector<Sample<Geqrf>> samples() {
    return {{{}, {regular({}, 3)}},
            {{}, {uniform_around_zero({2, 4, 2}) + eye(4, 2)}},
            {{}, {uniform_around_zero({2, 3}) + eye(2, 3)}},
            {{}, {complex_sample({4, 2}) + eye(4, 2)}},
            {{}, {uniform_around_zero({3, 0})}},
            {{}, {regular({0}, 2)}}};
  }

 private:
  /// q, r and the LU factors of q - 1; a zero on U's diagonal, which is that of a last reflection of one element, has
  /// nothing below it to be divided.
  struct Factors {
    Size k;
    Tensor factors[2], lu;

    Factors(const Tensor& packed, const Tensor& tau) {
      k = columns_of(tau);
      const DType dtype = type_of(packed).dtype;
      const Tensor v = front(packed, k), one = eye(rows_of(packed), k, dtype);
      factors[0] = householder_product(v, tau);
      factors[1] = triu(narrow(packed, -2, 0, k));
      const Tensor lower = tril(narrow(v, -2, 0, k), -1) + eye(k, dtype);
      const Tensor u = triu(triangular_solve(narrow(factors[0], -2, 0, k) - eye(k, dtype), lower,
                                             {.upper = false, .unitriangular = true}));
      const Tensor scales = where(eq(tau, 0), 1, neg(tau));
      lu = tril(v, -1) + below_zeros(triu(u, 1) + diag_embed(scales), one);
    }
  };
  /// x with rows of zeros below, and with columns of zeros behind, as far as `like` has rows or columns.
  static Tensor below_zeros(const Tensor& x, const Tensor& like) {
    return rows_of(x) == rows_of(like) ? x : cat({x, zeros_like_rows(x, rows_of(like) - rows_of(x), -2)}, -2);
  }
  static Tensor onto_rows(const Tensor& x, const Tensor& like) {
    return columns_of(x) == columns_of(like) ? x
                                             : cat({x, zeros_like_rows(x, columns_of(like) - columns_of(x), -1)}, -1);
  }
  static Tensor zeros_like_rows(const Tensor& x, Size count, std::int64_t axis) {
    Type type = type_of(x);
    type.shape[type.shape.size() - (axis == -2 ? 2 : 1)] = count;
    return zeros_of(type);
  }
};

}  // namespace

namespace ops {

std::pair<Tensor, Tensor> qr(const Tensor& a) { return qr(a, "reduced"); }
std::pair<Tensor, Tensor> qr(const Tensor& a, std::string_view mode) {
  const Called as("qr", a);
  require_matrices("qr", a);
  if (mode != "reduced" && mode != "complete" && mode != "r")
    raise<ValueError>(R"(qr: there is no mode ")" + shortened(mode) + R"("; pass "reduced", "complete" or "r")");
  const Shape shape = type_of(a).shape;
  const bool complete = mode == "complete" && shape[shape.size() - 2] > shape.back();  // else there is nothing to add
  const Tensors outputs = ricci::apply(Qr{complete}, std::span(&a, 1));
  std::pair both{outputs[0], outputs[1]};
  if (mode == "r") both.first = empty({0}, type_of(a).dtype);
  return both;
}

std::pair<Tensor, Tensor> geqrf(const Tensor& a) {
  require_matrices("geqrf", a);
  const Tensors both = ricci::apply(Geqrf{}, std::span(&a, 1));
  return {both[0], both[1]};
}

}  // namespace ops
}  // namespace ricci
