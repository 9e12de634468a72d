// Determinants, by LU with partial pivoting: a = P L U, so det a is the product of U's diagonal with P's sign.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/lapack.h"
#include "ops/axes.h"
#include "ops/factorizations.h"

namespace ricci {
namespace {

Type without_matrix(const Type& a, DType dtype) {
  require_square_type("det", a);
  return {dtype, Shape(a.shape.begin(), a.shape.end() - 2)};
}

/// c [...] as [..., 1, 1].
Tensor beside_matrix(const Tensor& c) { return unsqueeze(unsqueeze(c, -1), -1); }

/// tr(a b), without the product.
Tensor trace_of_product(const Tensor& a, const Tensor& b) { return sum(mT(a) * b, {-2, -1}); }

/// The LU factors of a stack of matrices, element by element.
struct Factors {
  MatrixInfo info;  // a zero pivot is no error here
  LuFactors factors;
  std::int64_t n, count;

  explicit Factors(Strided a) : info(a), factors(a, info), n(a.shape[a.rank - 1]), count(info.count()) {}

  template <class T>
  T* matrix(std::int64_t i) const {
    return static_cast<T*>(factors.lu->data) + i * n * n;
  }
  template <class T>
  T& pivot(std::int64_t i, std::int64_t row) const {
    return matrix<T>(i)[row * (n + 1)];
  }
  /// det P: row k was exchanged with the row that exchanges[k] counts from 1.
  float sign(std::int64_t i) const {
    const auto* exchanges = static_cast<const std::int32_t*>(factors.pivots->data) + i * n;
    float sign = 1;
    for (std::int64_t row = 0; row < n; ++row) sign = exchanges[row] == row + 1 ? sign : -sign;
    return sign;
  }
  template <class T>
  T determinant(std::int64_t i) const {
    T product = static_cast<T>(sign(i));
    for (std::int64_t row = 0; row < n; ++row) product *= pivot<T>(i, row);
    return product;
  }
};

/// adj a, the transposed cofactors: det(a) a⁻¹ where a is regular. Its own derivative divides by det a.
struct Adjugate {
  using kind = Explicit;
  static constexpr const char* name = "adjugate";
  static constexpr unsigned keeps = input(0) | output(0);

  Type type(const Type& a) const {
    require_square_type(name, a);
    return {a.dtype, a.shape};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(Layout::any, out, in, [](Outputs y, Inputs a) {
      const Factors factors(a[0]);
      const ArrayRef scaled_identity = array_like(a[0], a[0].dtype);
      visit_computed(a[0].dtype, [&](auto t) {
        using T = typename decltype(t)::type;
        for (std::int64_t i = 0; i < factors.count; ++i) {
          replace_zero_pivots<T>(factors, i);
          write_diagonal(static_cast<T*>(scaled_identity->data) + i * factors.n * factors.n, factors.n,
                         factors.determinant<T>(i));
        }
      });
      kernels::lu_solve(y[0], factors.factors.lu->strided(), factors.factors.pivots->strided(),
                        scaled_identity->strided());
    });
  }
  /// (tr(adj da) adj - adj da adj) / det.
  Tensors jvp(const Forward& f) const {
    const Tensor &y = f.outputs[0], &t = f.tangents[0];
    const Tensor change = beside_matrix(trace_of_product(y, t)) * y - matmul(matmul(y, t), y);
    return {change / beside_matrix(det(f.inputs[0]))};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor y = adjoint(r.outputs[0]), &ct = r.cotangents[0];
    const Tensor change = beside_matrix(trace_of_product(y, ct)) * y - matmul(matmul(y, ct), y);
    return {change / beside_matrix(conj_if_complex(det(r.inputs[0])))};
  }
  Adjugate lifted() const { return {}; }
  static std::vector<Sample<Adjugate>> samples() {
    return {{{}, {regular({}, 3)}}, {{}, {regular({2}, 2)}}, {{}, {regular({}, 1)}}, {{}, {regular({}, 0)}}};
  }

 private:
  /// adj is a polynomial in U's elements, so a pivot of rounding error's size instead of 0 changes it by no more.
  template <class T>
  static void replace_zero_pivots(const Factors& factors, std::int64_t i) {
    using Real = decltype(std::real(T()));
    using Limits = std::numeric_limits<Real>;
    Real greatest = 0;
    for (std::int64_t k = 0; k < factors.n * factors.n; ++k)
      greatest = std::max(greatest, std::abs(factors.matrix<T>(i)[k]));
    const Real tiny = greatest > 0 ? greatest * Limits::epsilon() : std::sqrt(Limits::min());
    for (std::int64_t row = 0; row < factors.n; ++row)
      if (factors.pivot<T>(i, row) == T(0)) factors.pivot<T>(i, row) = T(tiny);
  }
  template <class T>
  static void write_diagonal(T* to, std::int64_t n, T value) {
    for (std::int64_t i = 0; i < n * n; ++i) to[i] = T(0);
    for (std::int64_t i = 0; i < n; ++i) to[i * (n + 1)] = value;
  }
};

struct Determinant {
  using kind = Explicit;
  static constexpr const char* name = "det";
  static constexpr unsigned keeps = input(0);

  Type type(const Type& a) const { return without_matrix(a, a.dtype); }
  void eval(Outputs out, Inputs in) const {
    run_computed(Layout::any, out, in, [](Outputs y, Inputs a) {
      const Factors factors(a[0]);
      visit_computed(a[0].dtype, [&](auto t) {
        using T = typename decltype(t)::type;
        for (std::int64_t i = 0; i < factors.count; ++i) static_cast<T*>(y[0].data)[i] = factors.determinant<T>(i);
      });
    });
  }
  /// Jacobi's formula: tr(adj a da).
  Tensors jvp(const Forward& f) const { return {trace_of_product(apply(Adjugate{}, f.inputs[0]), f.tangents[0])}; }
  Tensors vjp(const Reverse& r) const {
    return {beside_matrix(r.cotangents[0]) * adjoint(apply(Adjugate{}, r.inputs[0]))};
  }
  Determinant lifted() const { return {}; }
  static std::vector<Sample<Determinant>> samples() {
    return {{{}, {regular({}, 3)}},
            {{}, {regular({2}, 2)}},
            {{}, {regular({}, 1)}},
            {{}, {regular({}, 0)}},
            {{}, {regular({0}, 2)}}};
  }
};

/// sign and log |det|.
struct SignLogDeterminant {
  using kind = Explicit;
  static constexpr const char* name = "slogdet";
  static constexpr unsigned keeps = input(0) | output(0);

  Types type(const Type& a) const { return {without_matrix(a, a.dtype), without_matrix(a, real_dtype(a.dtype))}; }
  void eval(Outputs out, Inputs in) const {
    run_computed(Layout::any, out, in, [](Outputs y, Inputs a) {
      const Factors factors(a[0]);
      visit_computed(a[0].dtype, [&](auto t) {
        using T = typename decltype(t)::type;
        for (std::int64_t i = 0; i < factors.count; ++i)
          accumulate(factors, i, static_cast<T*>(y[0].data)[i], static_cast<decltype(std::real(T()))*>(y[1].data)[i]);
      });
    });
  }
  /// With z = tr(a⁻¹ da), the logarithm changes by re z and the sign turns by im z.
  Tensors jvp(const Forward& f) const {
    const Tensor z = trace_of_product(inverse(f.inputs[0]), f.tangents[0]);
    if (!is_complex(type_of(z).dtype)) return {Tensor(), z};
    return {f.outputs[0] * imag(z) * i(), real(z)};
  }
  Tensors vjp(const Reverse& r) const {
    Tensor weight = r.cotangents[1];
    if (is_complex(r.input_types[0].dtype) && r.cotangents[0].defined()) {
      const Tensor turn = imag(conj(r.outputs[0]) * r.cotangents[0]) * i();
      weight = weight.defined() ? weight + turn : turn;
    }
    if (!weight.defined()) return {Tensor()};
    return {beside_matrix(weight) * adjoint(inverse(r.inputs[0]))};
  }
  SignLogDeterminant lifted() const { return {}; }
  static std::vector<Sample<SignLogDeterminant>> samples() {
    return {{{}, {regular({}, 3)}}, {{}, {regular({2}, 2) * -1}}, {{}, {regular({}, 1)}}, {{}, {regular({}, 0)}}};
  }

 private:
  static Tensor i() { return Tensor(std::complex<double>(0, 1)); }

  template <class T, class Real>
  static void accumulate(const Factors& factors, std::int64_t matrix, T& sign, Real& log) {
    sign = static_cast<T>(factors.sign(matrix));
    log = 0;
    for (std::int64_t row = 0; row < factors.n; ++row) {
      const T pivot = factors.pivot<T>(matrix, row);
      const Real size = std::abs(pivot);
      sign *= size == 0 ? T(0) : pivot / size;
      log += std::log(size);
    }
  }
};

}  // namespace

namespace ops {

Tensor det(const Tensor& a) {
  require_square("det", a);
  return apply(Determinant{}, a);
}

std::pair<Tensor, Tensor> slogdet(const Tensor& a) {
  require_square("slogdet", a);
  const Tensors both = ricci::apply(SignLogDeterminant{}, std::span(&a, 1));
  return {both[0], both[1]};
}

Tensor logdet(const Tensor& a) {
  require_square("logdet", a);
  const auto [sign, log_size] = slogdet(a);
  return log(sign) + log_size;
}

}  // namespace ops
}  // namespace ricci
