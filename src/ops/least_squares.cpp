// What is made of singular values and of QR: pseudo-inverses, least squares, ranks, condition numbers, matrix norms.
#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/lapack.h"
#include "kernels/matmul.h"
#include "ops/factorizations.h"
#include "ops/samples.h"
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

/// The pseudo-inverse y of a; singular values that are the greatest one times `tolerance`, or less, count as 0. As long
/// as the rank stays, it changes by -y da y + y yᴴ daᴴ (1 - a y) + (1 - y a) daᴴ yᴴ y: no gap between singular values
/// divides that. Golub and Pereyra, 1973.
struct Pinv {
  using kind = Explicit;
  static constexpr const char* name = "pinv";
  static constexpr unsigned keeps = input(0) | output(0);
  std::optional<double> tolerance;  // `usual_tolerance` if not given

  Type type(const Type& a) const {
    require_matrix_type(name, a);
    require_sizes_of_lapack(name, a, greatest_spectrum);
    Type y = a;
    std::swap(y.shape[y.shape.size() - 1], y.shape[y.shape.size() - 2]);
    return y;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(Layout::any, out, in, [&](Outputs y, Inputs a) { invert(y[0], a[0]); });
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
            {{1e-15}, {rand({0, 2})}}};
  }

 private:
  void invert(Strided y, Strided a) const {
    const Shape shape = shape_of(a);
    const std::size_t rank = shape.size();
    const Size k = std::min(shape[rank - 2], shape[rank - 1]);
    Shape left = shape, values(shape.begin(), shape.end() - 1), right = shape;
    left[rank - 1] = values[rank - 2] = right[rank - 2] = k;
    const ArrayRef u = make_array({a.dtype, left}), s = make_array({real_dtype(a.dtype), values}),
                   vh = make_array({a.dtype, right});
    const double least = tolerance.value_or(usual_tolerance({a.dtype, shape}));
    MatrixInfo info(a);
    kernels::svd(u->strided(), s->strided(), vh->strided(), a, info.data());
    require_convergence(name, info);
    visit_computed(a.dtype, [&]<class T>(std::type_identity<T>) {
      scale_rows<T>(vh->strided(), s->strided(), least);
      if constexpr (!std::is_floating_point_v<T>) {
        conjugate<T>(u->strided());
        conjugate<T>(vh->strided());
      }
    });
    SmallVector<std::int64_t, 6> sizes(y.shape, y.shape + y.rank), steps(y.strides, y.strides + y.rank);
    std::swap(sizes[rank - 1], sizes[rank - 2]);
    std::swap(steps[rank - 1], steps[rank - 2]);
    kernels::matmul({y.data, y.dtype, y.rank, &sizes[0], &steps[0]}, u->strided(),
                    vh->strided());  // yᵀ = conj(u s⁻¹ vh)
  }
  template <class T>
  static void conjugate(Strided x) {
    T* element = static_cast<T*>(x.data);
    const std::int64_t count = shape_of(x).numel().host();
    for (std::int64_t i = 0; i < count; ++i) element[i] = std::conj(element[i]);
  }
  /// Rows of vh times 1 / s, or 0; both are row-major.
  template <class T>
  static void scale_rows(Strided vh, Strided s, double least) {
    const std::int64_t k = s.shape[s.rank - 1], n = vh.shape[vh.rank - 1];
    if (k == 0 || n == 0) return;
    std::int64_t count = 1;
    for (int i = 0; i + 1 < s.rank; ++i) count *= s.shape[i];
    using Real = decltype(std::real(T()));
    T* rows = static_cast<T*>(vh.data);
    const Real* value = static_cast<const Real*>(s.data);
    for (std::int64_t matrix = 0; matrix < count; ++matrix, value += k)
      for (std::int64_t i = 0; i < k; ++i, rows += n) {
        const Real factor = value[i] > value[0] * static_cast<Real>(least) ? Real(1) / value[i] : Real(0);
        for (std::int64_t j = 0; j < n; ++j) rows[j] *= factor;
      }
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

Tensor condition_number(const Tensor& a) {
  const Called as("condition_number", a);
  require_matrices("condition_number", a);
  const Tensor s = svdvals(a);
  return select(s, -1, 0) / select(s, -1, -1);
}
Tensor condition_number(const Tensor& a, std::string_view p) {
  const Called as("condition_number", a);
  return matrix_norm(a, p) * matrix_norm(inverse(a), p);
}
Tensor condition_number(const Tensor& a, double p) {
  const Called as("condition_number", a);
  if (p == 2) return condition_number(a);
  if (p == -2) return 1 / condition_number(a);
  return matrix_norm(a, p) * matrix_norm(inverse(a), p);
}

Tensor lstsq(const Tensor& a, const Tensor& b) {
  const Called as("lstsq", a, b);
  require_matrices("lstsq", a);
  require_floating("lstsq", b);
  const Shape left = type_of(a).shape, right = type_of(b).shape;
  const Size m = left[left.size() - 2], n = left.back();
  const bool is_vector = right.size() == 1;
  if (!(right.size() > 0 && right[right.size() - (is_vector ? 1 : 2)] == m))
    raise<ValueError>("lstsq: the right-hand side " + type_text(b) + " does not fit the matrix " + type_text(a) +
                      "; it must be [..., " + std::to_string(m.hint()) + ", k] or [" + std::to_string(m.hint()) + "]");
  const Tensor columns = is_vector ? unsqueeze(b, -1) : b;
  Tensor x;
  if (m >= n) {
    const auto [q, r] = qr(a);
    x = solve_triangular(r, matmul(adjoint(q), columns), true);
  } else {
    const auto [q, r] = qr(adjoint(a));
    x = matmul(q, solve_triangular(adjoint(r), columns, false));
  }
  return is_vector ? squeeze(x, -1) : x;
}

}  // namespace ops
}  // namespace ricci
