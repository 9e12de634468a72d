// Running sums and products, and products: their derivatives are running sums and products again, and linear
// recurrences, which are right where factors are zero.
#include <cmath>
#include <limits>

#include "kernels/scan.h"
#include "ops/constants.h"
#include "ops/dense.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "program/structure.h"
#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/element_rules.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

/// Which way a scan runs: from the first element to the last, or from the last to the first.
struct Way {
  std::int64_t axis;
  bool reverse;

  Way back() const { return {axis, !reverse}; }
  Way lifted() const { return {axis + 1, reverse}; }
  kernels::Direction direction() const { return reverse ? kernels::Direction::reverse : kernels::Direction::forward; }
};

/// Element i becomes what was one step before it on the way; `first` where nothing was.
Tensor one_before(const Tensor& x, Way way, double first) {
  const Type type = type_of(x);
  const Size n = type.shape[static_cast<std::size_t>(way.axis)];
  if (n == 0) return x;
  Shape edge = type.shape;
  edge[static_cast<std::size_t>(way.axis)] = 1;
  const Tensor start = full(edge, first, type.dtype);
  const Tensor rest = narrow(x, way.axis, way.reverse ? 1 : 0, n - 1);
  return way.reverse ? cat({rest, start}, way.axis) : cat({start, rest}, way.axis);
}

/// a times t, but 0 if either is 0, even where the other is infinite or NaN: a zero tangent contributes nothing.
struct ProductOrZero {
  using kind = Elementwise;
  static constexpr const char* name = "product_or_zero";
  static constexpr unsigned linear_in_each = input(0) | input(1);
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T a, T t) const {
    return scalar::select(scalar::equal(a, T(0)) || scalar::equal(t, T(0)), T(0), a * t);
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return apply(ProductOrZero{}, x[i == 0 ? 1 : 0], t);
  }
  static double reference(double a, double t) { return a * t; }
};
Tensor product_or_zero(const Tensor& a, const Tensor& t) { return apply(ProductOrZero{}, a, t); }

/// One element after the other along each lane: of the last result and the next element, whose place is given too.
template <class T, class Join>
Elements<T> running(Way way, const Elements<T>& x, const Join& join) {
  Elements<T> y = x;
  const std::int64_t n = x.shape[at(way.axis)].host();
  std::int64_t step = 1;
  for (std::size_t i = x.shape.size(); i-- > at(way.axis) + 1;) step *= x.shape[i].host();
  const std::int64_t by = way.reverse ? -step : step;
  for (std::int64_t first = 0; first < std::ssize(x.of); ++first) {
    if (first / step % n != (way.reverse ? n - 1 : 0)) continue;
    for (std::int64_t k = 1; k < n; ++k) {
      const std::int64_t place = first + k * by;
      y.of[at(place)] = join(place, y.of[at(place - by)], x.of[at(place)]);
    }
  }
  return y;
}

// ── linear recurrences ──

/// s = a s + b along one lane; nothing is made of an s of 0, though a be infinite.
template <class T>
void recur(T* s, std::int64_t s_step, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step,
           std::int64_t n) {
  using A = kernels::accumulator<T>;
  A last = A(0);
  for (std::int64_t i = 0; i < n; ++i) {
    last = last == A(0) ? A(b[i * b_step]) : A(a[i * a_step]) * last + A(b[i * b_step]);
    s[i * s_step] = T(last);
  }
}

/// The first element of every lane, one after the other.
class Lanes {
 public:
  Lanes(const Strided& like, int axis) : like_(like), axis_(axis), index_(static_cast<std::size_t>(like.rank), 0) {
    for (int i = 0; i < like.rank; ++i) done = done || like.shape[i] == 0;
  }
  std::int64_t offset(const Strided& x) const {
    std::int64_t at = 0;
    for (int i = 0; i < like_.rank; ++i) at += index_[static_cast<std::size_t>(i)] * x.strides[i];
    return at;
  }
  void next() {
    for (int i = like_.rank - 1; i >= 0; --i) {
      if (i == axis_) continue;
      std::int64_t& at = index_[static_cast<std::size_t>(i)];
      if (++at < like_.shape[i]) return;
      at = 0;
    }
    done = true;
  }
  bool done = false;

 private:
  const Strided& like_;
  int axis_;
  Strides index_;
};

/// sᵢ = aᵢ sᵢ₋₁ + bᵢ, and s₀ = b₀ (forward); the derivative of everything that is multiplied on and on.
struct Recurrence {
  using kind = Explicit;
  static constexpr const char* name = "linear_recurrence";
  static constexpr unsigned keeps[] = {input(0) | output(0), input(0)};
  Way way;

  Type type(const Type& a, const Type& b) const {
    require_axis(way.axis, a.rank());
    require_floating(name, a);
    require_dtype(a.dtype, b);
    require_shape(b.shape, a.shape);
    return {a.dtype, a.shape};
  }
  void eval(Outputs out, Inputs in) const {
    const int axis = static_cast<int>(way.axis);
    const std::int64_t n = out[0].shape[axis];
    kernels::visit_inexact(out[0].dtype, [&]<class T>(std::type_identity<T>) {
      for (Lanes lanes(out[0], axis); !lanes.done; lanes.next()) {
        const auto first = [&](const Strided& x) {
          return static_cast<T*>(x.data) + lanes.offset(x) + (way.reverse ? (n - 1) * x.strides[axis] : 0);
        };
        const auto step = [&](const Strided& x) { return way.reverse ? -x.strides[axis] : x.strides[axis]; };
        recur<T>(first(out[0]), step(out[0]), first(in[0]), step(in[0]), first(in[1]), step(in[1]), n);
      }
    });
  }
  template <class T>
  Elements<T> on_elements(const Elements<T>& a, const Elements<T>& b) const {
    return running(way, b, [&a](std::int64_t place, const T& last, const T& next) {
      return scalar::select(scalar::equal(last, T(0)), next, a.of[at(place)] * last + next);
    });
  }
  Tensors jvp(const Forward& f) const {
    Tensor driven = f.tangents[1];
    if (f.tangents[0].defined()) {
      const Tensor by_a = product_or_zero(one_before(f.outputs[0], way, 0), f.tangents[0]);
      driven = driven.defined() ? driven + by_a : by_a;
    }
    return {of(f.inputs[0], driven, way)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor ct_b = adjoint(r.inputs[0], r.cotangents[0], way);
    if (!r.wants(0)) return {Tensor(), ct_b};
    return {product_or_zero(conj_if_complex(one_before(r.outputs[0], way, 0)), ct_b), ct_b};
  }
  Recurrence lifted() const { return {way.lifted()}; }

  static Tensor of(const Tensor& a, const Tensor& b, Way way) { return apply(Recurrence{way}, a, b); }
  /// The cotangent of b.
  static Tensor adjoint(const Tensor& a, const Tensor& ct, Way way) {
    return of(conj_if_complex(one_before(a, way.back(), 0)), ct, way.back());
  }
  static std::vector<Sample<Recurrence>> samples() {
    return {{{{0, false}}, {real_sample({3}), real_sample({3})}},
            {{{1, true}}, {real_sample({2, 3}), real_sample({2, 3})}},
            {{{0, false}}, {real_sample({3, 2}), real_sample({3, 2})}},
            {{{0, false}}, {complex_sample({3}), complex_sample({3})}},
            {{{0, true}}, {real_sample({0, 2}), real_sample({0, 2})}}};
  }
};

// ── scans ──

struct RunningSum {
  using kind = Linear;
  static constexpr const char* name = "cumsum";
  Way way;

  Type type(const Type& x) const {
    require_axis(way.axis, x.rank());
    return {kernels::scanned_dtype(kernels::Scan::sum, x.dtype), x.shape};
  }
  void eval(Outputs out, Inputs in) const {
    kernels::scan(kernels::Scan::sum, out[0], in[0], static_cast<int>(way.axis), way.direction());
  }
  Tensor transpose(const Tensor& ct) const { return apply(RunningSum{way.back()}, ct); }
  RunningSum lifted() const { return {way.lifted()}; }
  static DType computed_in(DType dtype) { return kernels::total_dtype(dtype); }
  Structure structure() const { return Running{scalar::Word::add, way.axis, way.reverse, computed_in}; }
  /// One element after the other.
  template <class T>
  Elements<T> on_elements(const Elements<T>& x) const {
    return running(way, x, [](std::int64_t, const T& last, const T& next) { return last + next; });
  }
  static std::vector<Sample<RunningSum>> samples() {
    return {{{{0, false}}, {real_sample({3})}},
            {{{1, true}}, {real_sample({2, 3})}},
            {{{0, false}}, {real_sample({3, 2})}},
            {{{1, false}}, {real_sample({2, 0})}}};
  }
};

/// x in the type that its kernel multiplies in, as derivatives must: rounded to x's own type, a product may be infinite
/// where the factor that follows it makes it finite again, or 0.
Tensor as_multiplied(const Tensor& x) { return to(x, kernels::total_dtype(x.dtype())); }

struct RunningProduct {
  using kind = Explicit;
  static constexpr const char* name = "cumprod";
  static constexpr unsigned keeps = input(0) | output(0);
  Way way;

  Type type(const Type& x) const {
    require_axis(way.axis, x.rank());
    return {kernels::scanned_dtype(kernels::Scan::prod, x.dtype), x.shape};
  }
  void eval(Outputs out, Inputs in) const {
    kernels::scan(kernels::Scan::prod, out[0], in[0], static_cast<int>(way.axis), way.direction());
  }
  Tensors jvp(const Forward& f) const {
    const Tensor x = as_multiplied(f.inputs[0]), t = as_multiplied(f.tangents[0]);
    return {to(Recurrence::of(x, product_or_zero(before(x, f.outputs[0]), t), way), f.outputs[0].dtype())};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor x = as_multiplied(r.inputs[0]), ct = as_multiplied(r.cotangents[0]);
    const Tensor of_products = Recurrence::adjoint(x, ct, way);
    return {to(product_or_zero(conj_if_complex(before(x, r.outputs[0])), of_products), r.outputs[0].dtype())};
  }
  /// The products of what comes before each element, for products y in the type of x or rounded.
  Tensor before(const Tensor& x, const Tensor& y) const {
    return one_before(x.dtype() == y.dtype() ? y : of(x, way), way, 1);
  }
  static DType computed_in(DType dtype) { return kernels::total_dtype(dtype); }
  Structure structure() const { return Running{scalar::Word::multiply, way.axis, way.reverse, computed_in}; }
  template <class T>
  Elements<T> on_elements(const Elements<T>& x) const {
    return running(way, x, [](std::int64_t, const T& last, const T& next) { return last * next; });
  }
  RunningProduct lifted() const { return {way.lifted()}; }
  static Tensor of(const Tensor& x, Way way) { return apply(RunningProduct{way}, x); }
  static std::vector<Sample<RunningProduct>> samples() {
    return {{{{0, false}}, {real_sample({3})}},
            {{{1, true}}, {real_sample({2, 3})}},
            {{{0, false}}, {tensor({2., 0., 3., 0., 1.})}},
            {{{0, true}}, {complex_sample({3})}},
            {{{1, false}}, {real_sample({2, 0})}}};
  }
};

/// log Σ exp of what has been passed.
struct RunningLogSumExp {
  using kind = Explicit;
  static constexpr const char* name = "logcumsumexp";
  static constexpr unsigned keeps = input(0) | output(0);
  std::int64_t axis;

  Type type(const Type& x) const { return type_along(name, axis, x); }
  void eval(Outputs out, Inputs in) const {
    kernels::scan(kernels::Scan::logsumexp, out[0], in[0], static_cast<int>(axis));
  }
  Tensors jvp(const Forward& f) const {
    const Weights w = weights(f.inputs[0], f.outputs[0]);
    return {Recurrence::of(w.old, w.added * f.tangents[0], way())};
  }
  Tensors vjp(const Reverse& r) const {
    const Weights w = weights(r.inputs[0], r.outputs[0]);
    return {w.added * Recurrence::adjoint(w.old, r.cotangents[0], way())};
  }
  RunningLogSumExp lifted() const { return {axis + 1}; }
  static std::vector<Sample<RunningLogSumExp>> samples() { return samples_along_axes<RunningLogSumExp>(); }

 private:
  Way way() const { return {axis, false}; }
  /// y is a mean of the y before it and x: the derivatives by both, 0 where both are -inf.
  struct Weights {
    Tensor old, added;
  };
  Weights weights(const Tensor& x, const Tensor& y) const {
    constexpr double lowest = -std::numeric_limits<double>::infinity();
    const Tensor finite = where(y == lowest, 0, y);
    return {exp(one_before(y, way(), lowest) - finite), exp(x - finite)};
  }
};

// ── the whole product ──

/// For each element the product of all others along an axis: of those before it and those behind it. The derivative of
/// that by every other element is the product without both.
struct ProductOfOthers {
  using kind = Explicit;
  static constexpr const char* name = "product_of_others";
  static constexpr unsigned keeps = input(0);
  std::int64_t axis;

  Type type(const Type& x) const {
    require_axis(axis, x.rank());
    require_floating(name, x);
    return {x.dtype, x.shape};
  }
  void eval(Outputs out, Inputs in) const {
    const int along_axis = static_cast<int>(axis);
    const std::int64_t n = out[0].shape[along_axis], x_step = in[0].strides[along_axis],
                       y_step = out[0].strides[along_axis];
    kernels::visit_inexact(out[0].dtype, [&]<class T>(std::type_identity<T>) {
      for (Lanes lanes(out[0], along_axis); !lanes.done; lanes.next())
        multiply_others<T>(static_cast<T*>(out[0].data) + lanes.offset(out[0]), y_step,
                           static_cast<const T*>(in[0].data) + lanes.offset(in[0]), x_step, n);
    });
  }
  Tensors jvp(const Forward& f) const { return {change(f.inputs[0], f.tangents[0])}; }
  Tensors vjp(const Reverse& r) const { return {change(conj_if_complex(r.inputs[0]), r.cotangents[0])}; }
  ProductOfOthers lifted() const { return {axis + 1}; }
  static std::vector<Sample<ProductOfOthers>> samples() {
    return {{{0}, {real_sample({3})}},
            {{1}, {real_sample({2, 3})}},
            {{0}, {tensor({2., 0., 3.})}},
            {{0}, {complex_sample({3})}},
            {{0}, {real_sample({0, 2})}}};
  }

 private:
  template <class T>
  static void multiply_others(T* y, std::int64_t y_step, const T* x, std::int64_t x_step, std::int64_t n) {
    using A = kernels::accumulator<T>;
    A before = A(1), behind = A(1);
    for (std::int64_t i = 0; i < n; ++i, before *= A(x[(i - 1) * x_step])) y[i * y_step] = T(before);
    for (std::int64_t i = n; i-- > 0; behind *= A(x[i * x_step])) y[i * y_step] = T(A(y[i * y_step]) * behind);
  }
  /// Symmetric: what a tangent does to the outputs, and a cotangent to the inputs.
  Tensor change(const Tensor& x, const Tensor& t) const {
    const Way forth{axis, false}, back{axis, true};
    return part(x, t, forth, back) + part(x, t, back, forth);
  }
  /// What the elements that come before an element on `way` add to its change.
  static Tensor part(const Tensor& x, const Tensor& t, Way way, Way rest) {
    const Tensor before = one_before(RunningProduct::of(x, way), way, 1);
    const Tensor moved = one_before(Recurrence::of(x, product_or_zero(before, t), way), way, 0);
    return product_or_zero(one_before(RunningProduct::of(x, rest), rest, 1), moved);
  }
};

struct WholeProduct {
  using kind = Explicit;
  using elements = reduction::Summed;
  static constexpr const char* name = "prod";
  static constexpr double start = 1;
  static constexpr unsigned keeps = input(0);
  std::int64_t axis;

  template <class T> auto join(T a, T b) const { return a * b; }
  Type type(const Type& x) const { return reduced_type(*this, {axis}, x); }
  void eval(Outputs out, Inputs in) const { reduce_by(kernels::product, {axis}, out, in); }
  Tensors jvp(const Forward& f) const {
    const Tensor x = as_multiplied(f.inputs[0]), t = as_multiplied(f.tangents[0]);
    return {to(sum_along(product_or_zero(others(x), t), {axis}), f.inputs[0].dtype())};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor x = as_multiplied(r.inputs[0]), ct = as_multiplied(r.cotangents[0]);
    const Tensor of_each = product_or_zero(conj_if_complex(others(x)), beside(ct, {axis}, r.input_types[0].rank()));
    return {to(of_each, r.inputs[0].dtype())};
  }
  WholeProduct lifted() const { return {axis + 1}; }
  static std::vector<Sample<WholeProduct>> samples() {
    return {{{0}, {real_sample({3})}},     {{1}, {real_sample({2, 3})}}, {{0}, {tensor({2., 0., 3.})}},
            {{0}, {tensor({0., 0., 3.})}}, {{0}, {complex_sample({3})}}, {{0}, {real_sample({0, 2})}}};
  }

 private:
  Tensor others(const Tensor& x) const { return apply(ProductOfOthers{axis}, x); }
};

}  // namespace

namespace ops {

Tensor cumsum(const Tensor& x, std::int64_t dim) {
  return along_axis("cumsum", x, dim,
                    [](const Tensor& v, std::int64_t axis) { return apply(RunningSum{{axis, false}}, v); });
}
Tensor cumprod(const Tensor& x, std::int64_t dim) {
  return along_axis("cumprod", x, dim,
                    [](const Tensor& v, std::int64_t axis) { return RunningProduct::of(v, {axis, false}); });
}
Tensor cumsum(const Tensor& x, std::int64_t dim, DType dtype) {
  const Called as("cumsum", x);
  return to(cumsum(to(x, dtype), dim), dtype);
}
Tensor cumprod(const Tensor& x, std::int64_t dim, DType dtype) {
  const Called as("cumprod", x);
  return to(cumprod(to(x, dtype), dim), dtype);
}
/// Of complex numbers: each sum doubles its reach until it begins at the first element.
static Tensor complex_logcumsumexp(const Tensor& x, std::int64_t axis) {
  const std::int64_t n = type_of(x).shape[at(axis)];
  Tensor y = x;
  for (std::int64_t reach = 1; reach < n; reach *= 2) {
    const Tensor later = slice(y, axis, reach, {}), earlier = slice(y, axis, {}, n - reach);
    y = cat({slice(y, axis, {}, reach), logaddexp(later, earlier)}, axis);
  }
  return y;
}
Tensor logcumsumexp(const Tensor& x, std::int64_t dim) {
  const Called as("logcumsumexp", x);
  if (x.is_complex()) return along_axis("logcumsumexp", x, dim, complex_logcumsumexp);
  require_real_floating("logcumsumexp", x);
  return along_axis("logcumsumexp", x, dim,
                    [](const Tensor& v, std::int64_t axis) { return apply(RunningLogSumExp{axis}, v); });
}

Tensor prod(const Tensor& x) {
  const Called as("prod", x);
  return apply(WholeProduct{0}, flatten(x));
}
Tensor prod(const Tensor& x, DType dtype) {
  const Called as("prod", x);
  return to(prod(to(x, dtype)), dtype);
}
Tensor prod(const Tensor& x, std::int64_t dim, bool keepdim, DType dtype) {
  const Called as("prod", x);
  return to(prod(to(x, dtype), dim, keepdim), dtype);
}
Tensor prod(const Tensor& x, std::int64_t dim) { return prod(x, dim, false); }
Tensor prod(const Tensor& x, std::int64_t dim, bool keepdim) {
  const Called as("prod", x);
  return along_axis("prod", x, dim, [&](const Tensor& v, std::int64_t axis) {
    return kept(apply(WholeProduct{axis}, v), {axis}, keepdim && type_of(x).rank() > 0);
  });
}

}  // namespace ops
}  // namespace ricci
