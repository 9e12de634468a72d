// Functions of matrices whose derivatives divide by no gap between eigenvalues or singular values: exponential, roots,
// polar factors, the nuclear norm.
#include "kernels/lapack.h"
#include "ops/factorizations.h"
#include "ops/orthonormal.h"
#include "ops/samples.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/decompositions.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

/// exp(a) = 1 + a + a² / 2 + …. Its derivative along e is the upper right quarter of exp([[a, e], [0, a]]): Van Loan,
/// "Computing integrals involving the matrix exponential", 1978.
struct MatrixExp {
  using kind = Explicit;
  static constexpr const char* name = "matrix_exp";
  static constexpr unsigned keeps = input(0);

  Type type(const Type& a) const {
    require_square_type(name, a);
    require_sizes_of_lapack(name, a, greatest_spectrum);
    return a;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [](Outputs y, Inputs a) { kernels::matrix_exp(y[0], a[0]); });
  }
  Tensors jvp(const Forward& f) const { return {along(f.inputs[0], f.tangents[0])}; }
  Tensors vjp(const Reverse& r) const { return {along(adjoint(r.inputs[0]), r.cotangents[0])}; }
  MatrixExp lifted() const { return {}; }
  static std::vector<Sample<MatrixExp>> samples() {
    return {{{}, {uniform_around_zero({3, 3})}},
            {{}, {uniform_around_zero({2, 2, 2}) * 3}},
            {{}, {complex_sample({2, 2})}},
            {{}, {uniform_around_zero({1, 1})}},
            {{}, {rand({0, 0})}},
            {{}, {rand({0, 2, 2})}}};
  }

 private:
  static Tensor along(const Tensor& a, const Tensor& direction) {
    const Size n = rows_of(a);
    const Tensor e = to(direction, type_of(a).dtype);
    const Tensor both = cat({cat({a, e}, -1), cat({zeros_of(type_of(a)), a}, -1)}, -2);
    return narrow(narrow(apply(MatrixExp{}, both), -2, 0, n), -1, n, n);
  }
};

/// x with s x + x s = c, s being h's Hermitian part: what derivatives of roots and polar factors are made of, its own
/// included. Linear in c, and its own adjoint there.
struct HermitianSylvester {
  using kind = Explicit;
  static constexpr const char* name = "hermitian_sylvester";
  static constexpr unsigned keeps[] = {input(0) | output(0), input(0)};

  Type type(const Type& h, const Type& c) const {
    require_right_sides(name, h, c);
    require_square_type(name, c);
    require_sizes_of_lapack(name, c, greatest_spectrum);
    return c;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [](Outputs x, Inputs operand) {
      MatrixInfo info(operand[0]);
      kernels::hermitian_sylvester(x[0], operand[0], operand[1], info.data());
      require_convergence("matrix_sqrth or polar_decomposition", info);
    });
  }
  Tensors jvp(const Forward& f) const {
    Tensor right = f.tangents[1];
    if (f.tangents[0].defined()) {
      const Tensor dh = hermitian(f.tangents[0]), &x = f.outputs[0];
      const Tensor product = matmul(dh, x) + matmul(x, dh);
      right = right.defined() ? right - product : neg(product);
    }
    return {apply(HermitianSylvester{}, f.inputs[0], right)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor ct = apply(HermitianSylvester{}, r.inputs[0], r.cotangents[0]);
    if (!r.wants(0)) return {Tensor(), ct};
    const Tensor x = adjoint(r.outputs[0]);
    return {neg(hermitian(matmul(ct, x) + matmul(x, ct))), ct};
  }
  HermitianSylvester lifted() const { return {}; }
  static std::vector<Sample<HermitianSylvester>> samples() {
    return {{{}, {regular({}, 3), uniform_around_zero({3, 3})}},
            {{}, {regular({2}, 2), uniform_around_zero({2, 2, 2})}},
            {{}, {complex_sample({2, 2}) + eye(2) * 3, complex_sample({2, 2})}},
            {{}, {regular({}, 0), rand({0, 0})}}};
  }
};
Tensor solve_sylvester(const Tensor& h, const Tensor& c) { return apply(HermitianSylvester{}, h, c); }

/// The Hermitian x without values below 0 whose square is a's Hermitian part: x dx + dx x = da.
struct HermitianSqrt {
  using kind = Explicit;
  static constexpr const char* name = "matrix_sqrth";
  static constexpr unsigned keeps = output(0);

  Type type(const Type& a) const {
    require_square_type(name, a);
    require_sizes_of_lapack(name, a, greatest_spectrum);
    return a;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [](Outputs x, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::hermitian_sqrt(x[0], a[0], info.data());
      require_convergence(name, info);
    });
  }
  Tensors jvp(const Forward& f) const { return {solve_sylvester(f.outputs[0], hermitian(f.tangents[0]))}; }
  Tensors vjp(const Reverse& r) const { return {hermitian(solve_sylvester(r.outputs[0], r.cotangents[0]))}; }
  HermitianSqrt lifted() const { return {}; }
  static std::vector<Sample<HermitianSqrt>> samples() {
    return {{{}, {regular({}, 3)}},
            {{}, {regular({2}, 2)}},
            {{}, {complex_sample({2, 2}) + eye(2) * 4}},
            {{}, {eye(2) * 2}},
            {{}, {regular({}, 0)}}};
  }
};

void require_tall(const Type& a) {
  if (a.shape[a.shape.size() - 2] < a.shape.back())
    raise<ValueError>("polar_decomposition: " + to_string(a) + " has more columns than rows; pass its transpose");
}

/// a [..., m, n] = q h, m >= n: orthonormal columns q, Hermitian h without values below 0. With P = qᴴ da and the skew
/// W that solves h W + W h = P - Pᴴ, h changes by P - W h and q by q W, and by (da - q P) h⁻¹ outside its own span.
struct Polar {
  using kind = Explicit;
  static constexpr const char* name = "polar_decomposition";
  static constexpr unsigned keeps = output(0) | output(1);

  Types type(const Type& a) const {
    require_matrix_type(name, a);
    require_sizes_of_lapack(name, a, greatest_spectrum);
    require_tall(a);
    Type h = a;
    h.shape[h.shape.size() - 2] = a.shape.back();
    return {a, h};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::polar(y[0], y[1], a[0], info.data());
      require_convergence("polar_decomposition", info);
    });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor &q = f.outputs[0], &h = f.outputs[1], p = matmul(adjoint(q), f.tangents[0]);
    const Tensor w = solve_sylvester(h, p - adjoint(p));
    Tensor dq = matmul(q, w);
    if (is_tall(q)) dq = dq + over(f.tangents[0] - matmul(q, p), h);
    return {dq, hermitian(p - matmul(w, h))};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor &q = r.outputs[0], &h = r.outputs[1], &ct_q = r.cotangents[0];
    Tensor ct_p, ct_w, total;
    if (ct_q.defined()) {
      ct_w = matmul(adjoint(q), ct_q);
      if (is_tall(q)) {
        total = over(ct_q, h);
        ct_p = neg(matmul(adjoint(q), total));
      }
    }
    if (r.cotangents[1].defined()) {
      const Tensor ct_h = hermitian(r.cotangents[1]);
      accumulate(ct_p, ct_h);
      accumulate(ct_w, neg(matmul(ct_h, h)));
    }
    const Tensor by_turn = solve_sylvester(h, ct_w - adjoint(ct_w));
    accumulate(ct_p, by_turn);
    accumulate(total, matmul(q, ct_p));
    return {total};
  }
  Polar lifted() const { return {}; }
  static std::vector<Sample<Polar>> samples() {
    return {{{}, {regular({}, 3)}},
            {{}, {narrow(regular({2}, 3), -1, 0, 2)}},
            {{}, {complex_sample({3, 2}) + eye(3, 2) * 2}},
            {{}, {eye(2)}},
            {{}, {rand({2, 0})}}};
  }

 private:
  static bool is_tall(const Tensor& q) { return !(rows_of(q) == columns_of(q)); }
  /// x h⁻¹; NaN where h is singular, as q has no derivative there.
  static Tensor over(const Tensor& x, const Tensor& h) { return adjoint(solve_ex(h, adjoint(x)).first); }
};

/// The sum of the singular values of a [..., m, n]. The gradient is the polar factor, where values are equal too; where
/// values are 0 that is one of the subgradients.
struct NuclearNorm {
  using kind = Explicit;
  static constexpr const char* name = "nuclear_norm";
  static constexpr unsigned keeps = input(0);

  Type type(const Type& a) const {
    require_matrix_type(name, a);
    require_sizes_of_lapack("matrix_norm", a, greatest_spectrum);
    return {real_dtype(a.dtype), Shape(a.shape.begin(), a.shape.end() - 2)};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [](Outputs y, Inputs in_a) {
      const Strided& a = in_a[0];
      const Shape shape = shape_of(a);
      const std::size_t rank = shape.size();
      const Size k = std::min(shape[rank - 2], shape[rank - 1]);
      Shape left = shape, values(shape.begin(), shape.end() - 1), right = shape;
      left[rank - 1] = values[rank - 2] = right[rank - 2] = k;
      const ArrayRef u = make_array({a.dtype, left}), s = make_array({y[0].dtype, values}),
                     vh = make_array({a.dtype, right}), sums = array_like(y[0], y[0].dtype);
      MatrixInfo info(a);
      kernels::svd(u->strided(), s->strided(), vh->strided(), a, info.data());
      require_convergence("matrix_norm", info);
      visit_computed(y[0].dtype, [&](auto t) {
        using T = typename decltype(t)::type;
        const T* value = static_cast<const T*>(s->data);
        for (std::int64_t i = 0; i < info.count(); ++i) {
          T sum = 0;
          for (std::int64_t j = 0; j < k.host(); ++j) sum += *value++;
          static_cast<T*>(sums->data)[i] = sum;
        }
      });
      kernels::copy(y[0], sums->strided());
    });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor product = conj_if_complex(gradient(f.inputs[0])) * f.tangents[0];
    return {sum(product.is_complex() ? real(product) : product, {-2, -1}, false)};
  }
  Tensors vjp(const Reverse& r) const {
    return {unsqueeze(unsqueeze(r.cotangents[0], -1), -1) * gradient(r.inputs[0])};
  }
  NuclearNorm lifted() const { return {}; }
  static std::vector<Sample<NuclearNorm>> samples() {
    return {{{}, {regular({}, 3)}},
            {{}, {narrow(regular({2}, 3), -1, 0, 2)}},
            {{}, {uniform_around_zero({2, 3}) + eye(2, 3) * 2}},
            {{}, {complex_sample({2, 2}) + eye(2) * 2}},
            {{}, {eye(3) * 2}},
            {{}, {rand({2, 0})}}};
  }

 private:
  static Tensor gradient(const Tensor& a) {
    if (columns_of(a) <= rows_of(a)) return ricci::apply(Polar{}, std::span(&a, 1))[0];
    const Tensor turned = adjoint(a);
    return adjoint(ricci::apply(Polar{}, std::span(&turned, 1))[0]);
  }
};

}  // namespace

Tensor nuclear_norm(const Tensor& a) { return apply(NuclearNorm{}, a); }

namespace ops {

Tensor matrix_exp(const Tensor& a) {
  require_square("matrix_exp", a);
  return apply(MatrixExp{}, a);
}

Tensor matrix_sqrth(const Tensor& a) {
  require_square("matrix_sqrth", a);
  return apply(HermitianSqrt{}, a);
}

std::pair<Tensor, Tensor> polar_decomposition(const Tensor& a) {
  require_matrices("polar_decomposition", a);
  const Tensors both = ricci::apply(Polar{}, std::span(&a, 1));
  return {both[0], both[1]};
}

}  // namespace ops
}  // namespace ricci
