// Determinants, by LU with partial pivoting: a = P L U, so det a is the product of U's diagonal with P's sign.
#include <array>
#include <cmath>
#include <functional>

#include "kernels/lapack.h"
#include "kernels/matmul_offsets.h"
#include "kernels/minors.h"
#include "ops/axes.h"
#include "ops/factorizations.h"
#include "ops/samples.h"
#include "ops/small_lu.h"
#include "ops/sums.h"
#include "primitive/derive.h"
#include "program/element_writer.h"
#include "ricci/primitive/element_rules.h"

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
struct MatrixFactors {
  MatrixInfo info;  // a zero pivot is no error here
  LuFactors factors;
  std::int64_t n, count;

  explicit MatrixFactors(Strided a) : info(a), factors(a, info), n(a.shape[a.rank - 1]), count(info.count()) {}

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

/// adj a, the transposed cofactors: det(a) a⁻¹ where a is regular; and its derivative of any order along directions, a
/// matrix that is linear in each direction and symmetric in all. The operands are a and the directions. Since
/// tr(adj a · b) is the derivative of det a along b, a further direction may also take the place of the trace: so all
/// derivatives of all orders are this operation again, and nothing divides by det a, which may be 0.
struct Adjugate {
  using kind = Explicit;
  static constexpr const char* name = "adjugate";
  static constexpr std::size_t most_operands = keepable_inputs;      // the reverse rule reads them all
  static constexpr std::array<unsigned, most_operands> keeps = [] {  // every input; it is linear in all but the first
    std::array<unsigned, most_operands> masks;
    masks.fill(output(0) - 1);
    for (int i = 1; i < static_cast<int>(most_operands); ++i) masks[static_cast<std::size_t>(i)] &= ~input(i);
    return masks;
  }();

  Type type(const Types& in) const {
    require_square_type(name, in[0]);
    for (const Type& direction : in) {
      require_dtype(in[0].dtype, direction);
      require_shape(direction.shape, in[0].shape);
    }
    if (in.size() > most_operands)
      raise<ValueError>("det: has derivatives up to order " + std::to_string(most_operands) + " only");
    return {in[0].dtype, in[0].shape};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [](Outputs y, Inputs operands) {
      if (operands.size() == 1) of_no_direction(y[0], operands[0]);
      else kernels::adjugate_derivative(y[0], operands);
    });
  }
  Tensors jvp(const Forward& f) const {
    Tensor total;
    if (f.tangents[0].defined()) total = along(f.inputs, f.tangents[0]);
    for (std::size_t i = 1; i < f.inputs.size(); ++i)
      if (f.tangents[i].defined()) accumulate(total, instead(f.inputs, i, f.tangents[i]));
    return {total};
  }
  /// <ct, adj> is the trace of adj ctᴴ, in which ctᴴ is one more direction.
  Tensors vjp(const Reverse& r) const {
    const Tensor direction = adjoint(r.cotangents[0]);
    Tensors cts;
    for (std::size_t i = 0; i < r.inputs.size(); ++i) {
      if (!r.wants(static_cast<int>(i))) cts.push_back(Tensor());
      else cts.push_back(adjoint(i == 0 ? along(r.inputs, direction) : instead(r.inputs, i, direction)));
    }
    return cts;
  }
  /// Of regular matrices of no direction.
  Scalar element(ElementWriter& y) const {
    const std::int64_t n = y.known_size(0, y.type(0).rank() - 1);
    if (y.operands() > 1 || n == 0 || n > 4) return no_scalar;
    return y.type(0).dtype == DType::float64 ? element_in<double>(y, n) : element_in<float>(y, n);
  }
  Adjugate lifted() const { return {}; }
  static std::vector<Sample<Adjugate>> samples() {
    const Tensor singular = matmul(rand({3, 1}) + 1, rand({1, 3}) + 1);
    return {{{}, {regular({}, 3)}},
            {{}, {regular({2}, 2)}},
            {{}, {regular({}, 1)}},
            {{}, {regular({}, 0)}},
            {{}, {singular}},
            {{}, {regular({}, 4), uniform_around_zero({4, 4})}},
            {{}, {singular, uniform_around_zero({3, 3})}},
            {{}, {regular({2}, 2), uniform_around_zero({2, 2, 2})}},
            {{}, {zeros({4, 4}), uniform_around_zero({4, 4}), uniform_around_zero({4, 4})}},
            {{}, {regular({}, 1), uniform_around_zero({1, 1})}}};
  }

 private:
  static Tensor along(std::span<const Tensor> operands, const Tensor& direction) {
    std::vector<Tensor> all(operands.begin(), operands.end());
    all.push_back(direction);
    return ricci::apply(Adjugate{}, all)[0];
  }
  static Tensor instead(std::span<const Tensor> operands, std::size_t i, const Tensor& direction) {
    std::vector<Tensor> all(operands.begin(), operands.end());
    all[i] = direction;
    return ricci::apply(Adjugate{}, all)[0];
  }

  /// The same for one element: the column of the identity, scaled by the determinant, goes the way of the rows.
  template <class E>
  static Scalar element_in(ElementWriter& y, std::int64_t n) {
    using T = Typed<E>;
    std::vector<Coordinate> where = y.coordinates(y.type(0).rank());
    Coordinate &row = where[where.size() - 2], &column = where.back();
    if (row.is_lane || column.is_lane) return no_scalar;
    const std::int64_t own_row = row.number, own_column = column.number;
    std::vector<T> factors, x;
    for (std::int64_t i = 0; i < n * n; ++i) {
      row = i / n, column = i % n;
      factors.push_back(T::at(this_thread.scalars->converted(dtype_of<E>, y.element_of(0, where), false)));
    }
    const auto in_a = [&](std::int64_t i, std::int64_t k) -> T& { return factors[at(i * n + k)]; };
    std::vector<std::function<void()>> steps;
    T product = eliminate<T>(
        n, in_a,
        [&](const TypedMask& here, std::int64_t j, std::int64_t i) {
          steps.emplace_back([&x, here, j, i] {
            const T upper = x[at(j)], lower = x[at(i)];
            x[at(j)] = scalar::select(here, lower, upper), x[at(i)] = scalar::select(here, upper, lower);
          });
        },
        [&](const T& factor, std::int64_t j, std::int64_t i) {
          steps.emplace_back([&x, factor, j, i] { x[at(i)] = scalar::fma(-factor, x[at(j)], x[at(i)]); });
        },
        [](const T& pivot) { return pivot; });
    for (std::int64_t i = 0; i < n; ++i) {
      y.require(scalar::not_equal(in_a(i, i), T(0)));
      product = product * in_a(i, i);
    }
    for (std::int64_t i = 0; i < n; ++i) x.push_back(i == own_column ? product : T(0));
    for (const std::function<void()>& step : steps) step();
    for (std::int64_t k = n; k-- > 0;) {
      x[at(k)] = x[at(k)] / in_a(k, k);
      for (std::int64_t i = 0; i < k; ++i) x[at(i)] = scalar::fma(-in_a(i, k), x[at(k)], x[at(i)]);
    }
    return this_thread.scalars->converted(y.type(0).dtype, x[at(own_row)].scalar(), false);
  }

  /// det(a) a⁻¹; where a pivot is 0, by minors.
  static void of_no_direction(Strided y, Strided a) {
    const MatrixFactors factors(a);
    const ArrayRef scaled_identity = array_like(a, a.dtype);
    visit_computed(a.dtype, [&](auto t) {
      using T = typename decltype(t)::type;
      const std::int64_t n = factors.n;
      for (std::int64_t i = 0; i < factors.count; ++i) {
        T* const to = static_cast<T*>(scaled_identity->data) + i * n * n;
        for (std::int64_t k = 0; k < n * n; ++k) to[k] = k % (n + 1) == 0 ? factors.determinant<T>(i) : T(0);
      }
    });
    kernels::lu_solve(y, factors.factors.lu->strided(), factors.factors.pivots->strided(), scaled_identity->strided());
    const kernels::BatchOffsets to(y, 2), from(a, 2);
    for (std::int64_t i = 0; i < factors.count; ++i) {
      if (factors.info.of(i) == 0) continue;
      const Strided singular = one_matrix(a, from(i));
      kernels::adjugate_derivative(one_matrix(y, to(i)), {&singular, 1});
    }
  }
  static Strided one_matrix(Strided all, std::int64_t offset) {
    const int leading = all.rank - 2;
    return {advance(all.data, all.dtype, offset), all.dtype, 2, all.shape + leading, all.strides + leading};
  }
};

Tensor adjugate(const Tensor& a) { return ricci::apply(Adjugate{}, std::span(&a, 1))[0]; }

struct Determinant {
  using kind = Explicit;
  static constexpr const char* name = "det";
  static constexpr unsigned keeps = input(0);

  Type type(const Type& a) const { return without_matrix(a, a.dtype); }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [](Outputs y, Inputs a) {
      const MatrixFactors factors(a[0]);
      visit_computed(a[0].dtype, [&](auto t) {
        using T = typename decltype(t)::type;
        for (std::int64_t i = 0; i < factors.count; ++i) static_cast<T*>(y[0].data)[i] = factors.determinant<T>(i);
      });
    });
  }
  /// Jacobi's formula: tr(adj a da).
  Tensors jvp(const Forward& f) const { return {trace_of_product(adjugate(f.inputs[0]), f.tangents[0])}; }
  Tensors vjp(const Reverse& r) const { return {beside_matrix(r.cotangents[0]) * adjoint(adjugate(r.inputs[0]))}; }
  /// The pivots one after the other, from the sign of the exchanges on.
  template <class T>
  Elements<T> on_elements(const Elements<T>& a) const {
    const std::int64_t n = a.size(1);
    Elements<T> y{without_matrix({DType::float32, a.shape}, DType::float32).shape, {}}, factors = a;
    for (std::int64_t member = 0; member < y.shape.numel(); ++member) {
      const auto in_a = [&](std::int64_t i, std::int64_t k) -> T& { return factors.of[at((member * n + i) * n + k)]; };
      T product = eliminate<T>(
          n, in_a, [](const auto&, std::int64_t, std::int64_t) {}, [](const T&, std::int64_t, std::int64_t) {},
          [](const T& pivot) { return scalar::select(scalar::equal(pivot, T(0)), T(1), pivot); });
      for (std::int64_t i = 0; i < n; ++i) product = product * in_a(i, i);
      y.of.push_back(product);
    }
    return y;
  }
  Determinant lifted() const { return {}; }
  static std::vector<Sample<Determinant>> samples() {
    return {{{}, {regular({}, 3)}}, {{}, {regular({2}, 2)}}, {{}, {regular({}, 1)}},
            {{}, {regular({}, 0)}}, {{}, {regular({0}, 2)}}, {{}, {matmul(rand({3, 1}) + 1, rand({1, 3}) + 1)}},
            {{}, {zeros({2, 2})}}};
  }
};

/// sign and log |det|.
struct SignLogDeterminant {
  using kind = Explicit;
  static constexpr const char* name = "slogdet";
  static constexpr unsigned keeps = input(0) | output(0);

  Types type(const Type& a) const { return {without_matrix(a, a.dtype), without_matrix(a, real_dtype(a.dtype))}; }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [](Outputs y, Inputs a) {
      const MatrixFactors factors(a[0]);
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
    return {{{}, {regular({}, 3)}},
            {{}, {regular({2}, 2) * -1}},
            {{}, {regular({}, 1)}},
            {{}, {regular({}, 0)}},
            {{}, {complex_sample({2, 2}) + eye(2) * 3}}};
  }

 private:
  static Tensor i() { return Tensor(std::complex<double>(0, 1)); }

  template <class T, class Real>
  static void accumulate(const MatrixFactors& factors, std::int64_t matrix, T& sign, Real& log) {
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
