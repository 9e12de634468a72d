// What is made of singular values and of QR: pseudo-inverses, least squares, ranks, condition numbers, matrix norms.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "kernels/lapack.h"
#include "kernels/matmul.h"
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

/// Below this share of the greatest singular value, one counts as 0.
double usual_tolerance(const Type& a) {
  const Size m = a.shape[a.shape.size() - 2], n = a.shape.back();
  return static_cast<double>(std::max(m.host(), n.host())) * epsilon_of(a.dtype);
}

/// x with its last two axes swapped.
struct Swapped {
  SmallVector<std::int64_t, 6> shape, strides;
  Strided view;
  explicit Swapped(Strided x)
      : shape(x.shape, x.shape + x.rank),
        strides(x.strides, x.strides + x.rank),
        view{x.data, x.dtype, x.rank, &shape[0], &strides[0]} {
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  }
  Swapped(const Swapped&) = delete;
};

std::int64_t count_of_matrices(Strided stack) {
  std::int64_t count = 1;
  for (int axis = 0; axis + 2 < stack.rank; ++axis) count *= stack.shape[axis];
  return count;
}

/// Number i, in row-major order of the leading axes.
Strided matrix_of(Strided stack, std::int64_t i) {
  std::int64_t offset = 0;
  for (int axis = stack.rank - 2; axis-- > 0;) {
    offset += i % stack.shape[axis] * stack.strides[axis];
    i /= stack.shape[axis];
  }
  const int last = stack.rank - 2;
  return {advance(stack.data, stack.dtype, offset), stack.dtype, 2, stack.shape + last, stack.strides + last};
}

/// Conjugates a row-major x in place; nothing if it is real.
void conjugate(Strided x) {
  visit_computed(x.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_floating_point_v<T>) {
      T* element = static_cast<T*>(x.data);
      const std::int64_t count = shape_of(x).numel().host();
      for (std::int64_t i = 0; i < count; ++i) element[i] = std::conj(element[i]);
    }
  });
}

/// Rows of vh times 1 / s, or 0; both are row-major.
template <class T>
void scale_rows(Strided vh, Strided s, double least) {
  const std::int64_t k = s.shape[s.rank - 1], n = vh.shape[vh.rank - 1];
  if (k == 0 || n == 0) return;
  using Real = decltype(std::real(T()));
  T* rows = static_cast<T*>(vh.data);
  const Real* value = static_cast<const Real*>(s.data);
  for (std::int64_t matrix = 0; matrix < count_of_matrices(vh); ++matrix, value += k)
    for (std::int64_t i = 0; i < k; ++i, rows += n) {
      const Real factor = value[i] > value[0] * static_cast<Real>(least) ? Real(1) / value[i] : Real(0);
      for (std::int64_t j = 0; j < n; ++j) rows[j] *= factor;
    }
}

/// y = a⁺ by singular values; those that are the greatest one times `least`, or less, count as 0.
void invert_by_values(const char* name, Strided y, Strided a, double least) {
  const Shape shape = shape_of(a);
  const std::size_t rank = shape.size();
  const Size k = std::min(shape[rank - 2], shape[rank - 1]);
  Shape left = shape, values(shape.begin(), shape.end() - 1), right = shape;
  left[rank - 1] = values[rank - 2] = right[rank - 2] = k;
  const ArrayRef u = make_array({a.dtype, left}), s = make_array({real_dtype(a.dtype), values}),
                 vh = make_array({a.dtype, right});
  MatrixInfo info(a);
  kernels::svd(u->strided(), s->strided(), vh->strided(), a, info.data());
  require_convergence(name, info);
  visit_computed(a.dtype, [&]<class T>(std::type_identity<T>) { scale_rows<T>(vh->strided(), s->strided(), least); });
  conjugate(u->strided());
  conjugate(vh->strided());
  kernels::matmul(Swapped(y).view, u->strided(), vh->strided());  // yᵀ = conj(u s⁻¹ vh)
}

/// The root of the sum of squares of a row-major [n, n]; squares neither overflow nor underflow.
template <class T>
double frobenius_norm(Strided x) {
  const std::span elements(static_cast<const T*>(x.data), static_cast<std::size_t>(x.shape[0] * x.shape[1]));
  double greatest = 0, sum = 0;
  for (const T& element : elements) greatest = std::max(greatest, static_cast<double>(std::abs(element)));
  if (greatest == 0) return 0;
  for (const T& element : elements) {
    const double share = static_cast<double>(std::abs(element)) / greatest;
    sum += share * share;
  }
  return greatest * std::sqrt(sum);
}

/// A bound on the greatest singular value of r⁻¹, in n² steps: with |r_ii| on the diagonal and -|r_ij| beside it, the
/// inverse has sums of rows that are no smaller. Infinite where it overflows. Higham, "A survey of condition number
/// estimation for triangular matrices", 1987.
template <class T>
double bound_of_inverse(Strided triangle) {
  const std::int64_t n = triangle.shape[0];
  const T* r = static_cast<const T*>(triangle.data);
  std::vector<double> sums(static_cast<std::size_t>(n));
  double greatest = 0;
  for (std::int64_t i = n; i-- > 0;) {
    double sum = 1;
    for (std::int64_t j = i + 1; j < n; ++j)
      sum += static_cast<double>(std::abs(r[i * n + j])) * sums[static_cast<std::size_t>(j)];
    sum /= static_cast<double>(std::abs(r[i * n + i]));
    if (!std::isfinite(sum)) return std::numeric_limits<double>::infinity();
    sums[static_cast<std::size_t>(i)] = sum;
    greatest = std::max(greatest, sum);
  }
  return greatest * std::sqrt(static_cast<double>(n));
}

template <class T>
T conjugate_of(T x) {
  if constexpr (std::is_floating_point_v<T>) return x;
  else return std::conj(x);
}

/// Products of an upper triangular r [n, n], row-major, and of its inverse, with a vector in place.
template <class T>
struct Triangle {
  const T* r;
  std::int64_t n;

  T at(std::int64_t i, std::int64_t j) const { return r[i * n + j]; }
  void multiply(std::vector<T>& x) const {
    for (std::int64_t i = 0; i < n; ++i) {
      T sum{};
      for (std::int64_t j = i; j < n; ++j) sum += at(i, j) * x[static_cast<std::size_t>(j)];
      x[static_cast<std::size_t>(i)] = sum;
    }
  }
  void multiply_adjoint(std::vector<T>& x) const {
    for (std::int64_t i = n; i-- > 0;) {
      const T own = x[static_cast<std::size_t>(i)];
      x[static_cast<std::size_t>(i)] = conjugate_of(at(i, i)) * own;
      for (std::int64_t j = i + 1; j < n; ++j) x[static_cast<std::size_t>(j)] += conjugate_of(at(i, j)) * own;
    }
  }
  void solve(std::vector<T>& x) const {
    for (std::int64_t i = n; i-- > 0;) {
      T sum = x[static_cast<std::size_t>(i)];
      for (std::int64_t j = i + 1; j < n; ++j) sum -= at(i, j) * x[static_cast<std::size_t>(j)];
      x[static_cast<std::size_t>(i)] = sum / at(i, i);
    }
  }
  void solve_adjoint(std::vector<T>& x) const {
    for (std::int64_t i = 0; i < n; ++i) {
      const T own = x[static_cast<std::size_t>(i)] /= conjugate_of(at(i, i));
      for (std::int64_t j = i + 1; j < n; ++j) x[static_cast<std::size_t>(j)] -= conjugate_of(at(i, j)) * own;
    }
  }
};

template <class T>
double length(const std::vector<T>& x) {
  double square = 0;
  for (const T& element : x) square += std::norm(std::complex<double>(element));
  return std::sqrt(square);
}

/// The greatest singular value of a matrix m, estimated from below by the power method: `step(x)` makes m x of x, then
/// mᴴ m x. Not finite where it overflows.
template <class T, class Step>
double estimated_norm(std::int64_t n, const Step& step) {
  constexpr int steps = 10;
  std::vector<T> x;
  for (std::int64_t i = 0; i < n; ++i)  // no direction of a user's own
    x.push_back(static_cast<T>(static_cast<float>(1 + static_cast<double>((i * 7919 + 13) % 101) / 101)));
  double norm = 0;
  for (int k = 0; k < steps; ++k) {
    const auto scale = static_cast<decltype(std::real(T()))>(1 / length(x));
    for (T& element : x) element *= scale;
    norm = step(x);
    if (!std::isfinite(norm) || norm == 0) break;
  }
  return norm;
}
/// About the greatest singular value of r times that of its inverse.
template <class T>
double estimated_condition(Strided triangle) {
  const Triangle<T> r{static_cast<const T*>(triangle.data), triangle.shape[0]};
  const double greatest = estimated_norm<T>(r.n, [&](std::vector<T>& x) {
    r.multiply(x);
    const double found = length(x);
    r.multiply_adjoint(x);
    return found;
  });
  const double of_inverse = estimated_norm<T>(r.n, [&](std::vector<T>& x) {
    r.solve_adjoint(x);
    const double found = length(x);
    r.solve(x);
    return found;
  });
  return greatest * of_inverse;
}

/// Whether an upper triangular r [n, n], row-major, has a singular value that is the greatest one times `least`, or
/// less. A bound answers for most small matrices, an estimate of the condition for most others, as in LAPACK's gelsy;
/// the singular values decide where that comes near. False if an element is not finite.
template <class T>
bool is_deficient(const char* name, Strided r, double least) {
  constexpr double margin = 4;  // of the estimate
  if (r.shape[0] == 0) return false;
  const double size = frobenius_norm<T>(r);
  if (!std::isfinite(size)) return false;
  if (size * bound_of_inverse<T>(r) * least < 1) return false;
  const double condition = estimated_condition<T>(r);
  if (std::isfinite(condition) && condition > 0 && margin * condition * least < 1) return false;
  require_sizes_of_lapack(name, {r.dtype, shape_of(r)}, greatest_spectrum);
  using Real = decltype(std::real(T()));
  const ArrayRef values = make_array({real_dtype(r.dtype), {r.shape[0]}});
  MatrixInfo info(r);
  kernels::svdvals(values->strided(), r, info.data());
  if (info.first_failure() < 0) return false;
  require_convergence(name, info);
  const Real* s = static_cast<const Real*>(values->strided().data);
  return !(s[r.shape[0] - 1] > s[0] * static_cast<Real>(least));
}

/// x = r⁺ b, or rᴴ⁺ b with QrForm::adjoint, for the upper triangles r [..., n, n], row-major, of a QR factorisation: by
/// substitution, and by singular values those of too small a rank. Conjugates r for the adjoint.
enum class QrForm : std::uint8_t { plain, adjoint };
void solve_by_rank(const char* name, Strided x, Strided r, Strided b, QrForm form, double least) {
  if (form == QrForm::adjoint) conjugate(r);
  const Swapped transposed(r);
  const Strided a = form == QrForm::adjoint ? transposed.view : r;
  kernels::triangular_solve(x, a, b, form == QrForm::adjoint ? kernels::Triangle::lower : kernels::Triangle::upper);
  visit_computed(r.dtype, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t i = 0; i < count_of_matrices(r); ++i) {
      const Strided triangle = matrix_of(r, i);
      if (!is_deficient<T>(name, triangle, least)) continue;
      const ArrayRef inverse = array_like(triangle, r.dtype);
      invert_by_values(name, inverse->strided(), matrix_of(a, i), least);
      kernels::matmul(matrix_of(x, i), inverse->strided(), matrix_of(b, i));
    }
  });
}

/// a [..., m, n] = q r for m >= n.
struct QrFactors {
  ArrayRef q, r;
  explicit QrFactors(Strided a) : q(array_like(a, a.dtype)) {
    Shape shape = shape_of(a);
    shape[shape.size() - 2] = shape.back();
    r = make_array({a.dtype, shape});
    kernels::qr(q->strided(), r->strided(), a);
  }
};

/// y = a⁺ for m >= n.
void invert_by_qr(const char* name, Strided y, Strided a, double least) {
  const QrFactors factors(a);
  conjugate(factors.q->strided());
  const Swapped right(factors.q->strided());
  solve_by_rank(name, y, factors.r->strided(), right.view, QrForm::plain, least);
}

/// The pseudo-inverse y of a; singular values that are the greatest one times `tolerance`, or less, count as 0. As long
/// as the rank stays, it changes by -y da y + y yᴴ daᴴ (1 - a y) + (1 - y a) daᴴ yᴴ y: no gap between singular values
/// divides that. Golub and Pereyra, 1973.
struct Pinv {
  using kind = Explicit;
  static constexpr const char* name = "pinv";
  static constexpr unsigned keeps = input(0) | output(0);
  std::optional<double> tolerance;  // `usual_tolerance` if not given
  bool by_qr = false;               // without singular values where m >= n and the rank is n beyond doubt

  Type type(const Type& a) const {
    require_matrix_type(name, a);
    require_sizes_of_lapack(name, a, greatest_spectrum);
    Type y = a;
    std::swap(y.shape[y.shape.size() - 1], y.shape[y.shape.size() - 2]);
    return y;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) {
      const double least = tolerance.value_or(usual_tolerance({a[0].dtype, shape_of(a[0])}));
      const bool is_tall = a[0].shape[a[0].rank - 2] >= a[0].shape[a[0].rank - 1];
      if (by_qr && is_tall) invert_by_qr(name, y[0], a[0], least);
      else invert_by_values(name, y[0], a[0], least);
    });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor &a = f.inputs[0], &y = f.outputs[0], &t = f.tangents[0];
    const Tensor rows = matmul(y, adjoint(matmul(t, y)));              // y yᴴ daᴴ
    const Tensor columns = matmul(matmul(adjoint(t), adjoint(y)), y);  // daᴴ yᴴ y
    return {rows - matmul(matmul(rows, a), y) + columns - matmul(y, matmul(a, columns)) - matmul(matmul(y, t), y)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor &a = r.inputs[0], &y = r.outputs[0], ct = adjoint(r.cotangents[0]);  // [m, n]
    const Tensor yt = adjoint(y), inner = matmul(matmul(yt, r.cotangents[0]), yt);
    const Tensor left = matmul(matmul(ct, y), yt), right = matmul(yt, matmul(y, ct));
    return {left - matmul(a, matmul(y, left)) + right - matmul(matmul(right, y), a) - inner};
  }
  Pinv lifted() const { return *this; }
  static std::vector<Sample<Pinv>> samples() {
    return {{{}, {regular({}, 3)}},
            {{1e-15}, {narrow(regular({2}, 3), -1, 0, 2)}},
            {{1e-15}, {narrow(regular({}, 3), 0, 0, 2)}},
            {{1e-15}, {rand({0, 2})}},
            {{{}, true}, {narrow(regular({2}, 3), -1, 0, 2)}},
            {{{}, true}, {narrow(regular({}, 3), 0, 0, 2)}},
            {{{}, true}, {complex_sample({3, 2}) + eye(3, 2)}}};
  }
};

/// a⁺ where only a derivative needs it.
Tensor pinv_by_qr(const Tensor& a) {
  if (rows_of(a) >= columns_of(a)) return apply(Pinv{{}, true}, a);
  return adjoint(apply(Pinv{{}, true}, adjoint(a)));
}

/// x = a⁺ b. By QR, of aᴴ for m < n; matrices whose rank is less than the smaller of m and n by singular values of the
/// triangle. The rules are those of `Pinv`, times b.
struct Lstsq {
  using kind = Explicit;
  static constexpr const char* name = "lstsq";
  static constexpr unsigned keeps[] = {input(0) | input(1) | output(0), input(0)};

  Type type(const Type& a, const Type& b) const {
    require_matrix_type(name, a);
    require_sizes_of_lapack(name, a);
    require_dtype(a.dtype, b);
    require_rank_of_at_least(2, b);
    require_shape(Shape(b.shape.begin(), b.shape.end() - 1), Shape(a.shape.begin(), a.shape.end() - 1));
    Type x = b;
    x.shape[x.shape.size() - 2] = a.shape.back();
    return x;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs x, Inputs operand) {
      const Strided a = operand[0];
      if (a.shape[a.rank - 2] >= a.shape[a.rank - 1]) solve_tall(x[0], a, operand[1]);
      else solve_wide(x[0], a, operand[1]);
    });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor &a = f.inputs[0], &x = f.outputs[0], &ta = f.tangents[0], y = pinv_by_qr(a);
    Tensor change = f.tangents[1], total;
    if (ta.defined()) {
      const Tensor star = adjoint(ta), yt = adjoint(y);
      const Tensor residual = matmul(yt, matmul(star, f.inputs[1] - matmul(a, x)));
      const Tensor inside = matmul(star, matmul(yt, x));
      change = change.defined() ? change - matmul(ta, x) : neg(matmul(ta, x));
      total = matmul(y, residual) + inside - matmul(y, matmul(a, inside));
    }
    accumulate(total, matmul(y, change));
    return {total};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor &a = r.inputs[0], &ct = r.cotangents[0], y = pinv_by_qr(a), yt = adjoint(y);
    const Tensor ct_b = matmul(yt, ct);
    if (!r.wants(0)) return {Tensor(), ct_b};
    const Tensor& x = r.outputs[0];
    const Tensor residual = r.inputs[1] - matmul(a, x), outside = ct - matmul(y, matmul(a, ct));
    return {
        matmul(residual, adjoint(matmul(y, ct_b))) + matmul(matmul(yt, x), adjoint(outside)) - matmul(ct_b, adjoint(x)),
        ct_b};
  }
  BatchedOutputs batch(const Batch& b) const { return batch_right_hand_sides(*this, b); }
  static std::vector<Sample<Lstsq>> samples() {
    return {{{}, {narrow(regular({}, 3), -1, 0, 2), uniform_around_zero({3, 2})}},
            {{}, {narrow(regular({2}, 3), -2, 0, 2), uniform_around_zero({2, 2, 1})}},
            {{}, {complex_sample({3, 2}) + eye(3, 2), complex_sample({3, 1})}},
            {{}, {complex_sample({2, 3}) + eye(2, 3), complex_sample({2, 1})}},
            {{}, {rand({0, 2}), rand({0, 1})}},
            {{}, {rand({2, 0}), rand({2, 1})}}};
  }

 private:
  static double least_of(Strided a) { return usual_tolerance({a.dtype, shape_of(a)}); }
  /// r⁺ qᴴ b.
  static void solve_tall(Strided x, Strided a, Strided b) {
    const QrFactors factors(a);
    conjugate(factors.q->strided());
    const ArrayRef right = array_like(x, x.dtype);
    kernels::matmul(right->strided(), Swapped(factors.q->strided()).view, b);
    solve_by_rank(name, x, factors.r->strided(), right->strided(), QrForm::plain, least_of(a));
  }
  /// q rᴴ⁺ b, with aᴴ = q r.
  static void solve_wide(Strided x, Strided a, Strided b) {
    ArrayRef conjugated;
    if (is_complex(a.dtype)) {
      conjugated = array_like(a, a.dtype);
      kernels::copy(conjugated->strided(), a);
      conjugate(conjugated->strided());
    }
    const QrFactors factors(Swapped(conjugated ? conjugated->strided() : a).view);
    const ArrayRef inner = array_like(b, b.dtype);
    solve_by_rank(name, inner->strided(), factors.r->strided(), b, QrForm::adjoint, least_of(a));
    kernels::matmul(x, factors.q->strided(), inner->strided());
  }
};

constexpr const char* orders = R"("fro", "nuc", 1, -1, 2, -2 or an infinity)";

/// f of the matrices along two axes, which stay with size 1 or go.
template <class F>
Tensor of_matrices(const Tensor& a, const Axes& dims, bool keepdim, const F& f) {
  require_matrices("matrix_norm", a);
  const Axes axes = wrap_axes("matrix_norm", dims, a);
  if (dims.size() != 2)
    raise<ValueError>("matrix_norm: takes the two axes of matrices, found " + std::to_string(dims.size()));
  const Tensor y = f(movedim(a, axes, {-2, -1}));
  if (!keepdim) return y;
  return unsqueeze(unsqueeze(y, std::min(axes[0], axes[1])), std::max(axes[0], axes[1]));
}

}  // namespace

namespace ops {

Tensor pinv(const Tensor& a) {
  require_matrices("pinv", a);
  return apply(Pinv{}, a);
}
Tensor pinv(const Tensor& a, double rtol) {
  require_matrices("pinv", a);
  if (!(rtol >= 0)) raise<ValueError>("pinv: the tolerance is " + std::to_string(rtol) + "; it must be at least 0");
  return apply(Pinv{rtol}, a);
}

Tensor matrix_rank(const Tensor& a) {
  require_matrices("matrix_rank", a);
  return matrix_rank(a, usual_tolerance(type_of(a)));
}
Tensor matrix_rank(const Tensor& a, double rtol) {
  const Called as("matrix_rank", a);
  require_matrices("matrix_rank", a);
  const Shape shape = type_of(a).shape;
  if (shape.back() == 0 || shape[shape.size() - 2] == 0)
    return zeros(Shape(shape.begin(), shape.end() - 2), DType::int64);
  const Tensor s = svdvals(detach(a));
  return sum(gt(s, narrow(s, -1, 0, 1) * rtol), {-1}, false);
}

Tensor matrix_norm(const Tensor& a) { return matrix_norm(a, "fro"); }
Tensor matrix_norm(const Tensor& a, std::string_view ord) { return matrix_norm(a, ord, {-2, -1}); }
Tensor matrix_norm(const Tensor& a, std::string_view ord, const Axes& dims) { return matrix_norm(a, ord, dims, false); }
Tensor matrix_norm(const Tensor& a, std::string_view ord, const Axes& dims, bool keepdim) {
  const Called as("matrix_norm", a);
  if (ord != "fro" && ord != "nuc")
    raise<ValueError>(R"(matrix_norm: there is no norm ")" + shortened(ord) + R"("; pass )" + orders);
  return of_matrices(a, dims, keepdim,
                     [&](const Tensor& x) { return ord == "fro" ? norm(x, 2, {-2, -1}, false) : nuclear_norm(x); });
}
Tensor matrix_norm(const Tensor& a, double ord) { return matrix_norm(a, ord, {-2, -1}); }
Tensor matrix_norm(const Tensor& a, double ord, const Axes& dims) { return matrix_norm(a, ord, dims, false); }
Tensor matrix_norm(const Tensor& a, double ord, const Axes& dims, bool keepdim) {
  const Called as("matrix_norm", a);
  const auto extreme = [&](const Tensor& x) { return ord > 0 ? amax(x, {-1}, false) : amin(x, {-1}, false); };
  if (std::abs(ord) != 2 && std::abs(ord) != 1 && !std::isinf(ord))
    raise<ValueError>("matrix_norm: there is no norm " + std::to_string(ord) + "; pass " + orders);
  return of_matrices(a, dims, keepdim, [&](const Tensor& x) {
    return extreme(std::abs(ord) == 2 ? svdvals(x) : sum(abs(x), {std::abs(ord) == 1 ? -2 : -1}, false));
  });
}

Tensor norm(const Tensor& x, std::string_view p) {
  const Called as("norm", x);
  return p == "fro" ? norm(x, 2) : matrix_norm(x, p, {-2, -1});
}
Tensor norm(const Tensor& x, std::string_view p, const Axes& dims) { return norm(x, p, dims, false); }
Tensor norm(const Tensor& x, std::string_view p, const Axes& dims, bool keepdim) {
  const Called as("norm", x);
  return p == "fro" ? norm(x, 2, dims, keepdim) : matrix_norm(x, p, dims, keepdim);
}

/// The norm of a matrix times that of its inverse. The inverse comes first, or compilers differ in what they refuse.
template <class P>
static Tensor norms_of_both(const Tensor& a, P p) {
  const Tensor of_inverse = matrix_norm(inverse(a), p);
  return matrix_norm(a, p) * of_inverse;
}
Tensor condition_number(const Tensor& a) {
  const Called as("condition_number", a);
  require_matrices("condition_number", a);
  const Tensor s = svdvals(a);
  if (type_of(s).shape.back() == 0)
    raise<ValueError>("condition_number: " + type_text(a) + " has no singular values; it must have a row and a column");
  return select(s, -1, 0) / select(s, -1, -1);
}
Tensor condition_number(const Tensor& a, std::string_view p) {
  const Called as("condition_number", a);
  return norms_of_both(a, p);
}
Tensor condition_number(const Tensor& a, double p) {
  const Called as("condition_number", a);
  if (p == 2) return condition_number(a);
  if (p == -2) return 1 / condition_number(a);
  return norms_of_both(a, p);
}

Tensor lstsq(const Tensor& a, const Tensor& b) {
  const Called as("lstsq", a, b);
  const RightHandSide side("lstsq", a, b, Vectors::alone, Matrices::any);
  return side.result(apply(Lstsq{}, side.a, side.b));
}

}  // namespace ops
}  // namespace ricci
