// Sums and means, and what reductions share.
#include "ops/sums.h"

#include <atomic>
#include <complex>

#include "kernels/elementwise.h"
#include "ops/axes.h"
#include "ops/dense.h"
#include "primitive/called.h"

namespace ricci {

// ── what reductions share ──

namespace {

/// `y` with an axis of size 1 put in at each of `places`, which ascend. A result that nobody else holds changes its
/// layout; any other gets a view.
Tensor with_unit_axes(Tensor y, const Axes& places) {
  Array* own = y.cell()->refs.is(1) ? sole_array(y.cell()) : nullptr;
  if (own) {
    for (std::int64_t place : places) {
      own->type.shape.insert(static_cast<std::size_t>(place), 1);
      own->strides.insert(static_cast<std::size_t>(place), 1);
    }
    return y;
  }
  Shape shape = type_of(y).shape;
  for (std::int64_t place : places) shape.insert(static_cast<std::size_t>(place), 1);
  return reshape(y, shape);
}

}  // namespace

void reduce_by(ReduceKernel kernel, const Axes& axes, Outputs out, Inputs in) {
  kernel(out[0], in[0], is_reduced(axes, in[0].rank).data());
}

Tensor beside(Tensor y, const Axes& axes, int rank) {
  const auto reduced = is_reduced(axes, rank);
  std::size_t first_kept = 0;
  while (first_kept < reduced.size() && reduced[first_kept]) ++first_kept;
  if (first_kept == axes.size()) return y;  // broadcasting puts leading axes back by itself
  return with_unit_axes(std::move(y), sorted(axes));
}

Tensor spread(const Tensor& y, const Axes& axes, const Shape& shape) {
  return axes.empty() ? y : expand(beside(y, axes, shape.rank()), shape);
}

Tensor kept(Tensor y, const Axes& axes, bool keepdim) {
  return keepdim && !axes.empty() ? with_unit_axes(std::move(y), sorted(axes)) : y;
}

Size size_along(const Axes& axes, const Shape& shape) {
  Size n = 1;
  for (std::int64_t axis : axes) n = n * shape[static_cast<std::size_t>(axis)];
  return n;
}

void require_order(const char* op, const Tensor& x) {
  require_defined(op, x, 0);
  if (is_complex(type_of(x).dtype))
    raise<TypeError>(std::string(op) + ": " + type_text(x) +
                     " is complex and has no order; compare its real part or its absolute value");
}

void require_elements(const char* op, const Tensor& x, const Axes& axes) {
  const Type type = type_of(x);
  for (std::int64_t axis : axes)
    if (type.shape[static_cast<std::size_t>(axis)] == 0)
      raise<ValueError>(std::string(op) + ": " + type_text(x) + " has no elements along axis " + std::to_string(axis) +
                        "; reduce at least 1 element");
}

void require_real_floating(const char* op, const Tensor& x) {
  require_floating(op, x);
  if (is_complex(type_of(x).dtype))
    raise<TypeError>(std::string(op) + ": " + type_text(x) + " is complex; pass its real part or its absolute value");
}

Type type_along(const char* name, std::int64_t axis, const Type& x) {
  require_axis(axis, x.rank());
  require_real(name, x);
  require_floating(name, x);
  return {x.dtype, x.shape};
}

Tensor real_sample(const Shape& shape) { return rand(shape) * 2 - 1; }
Tensor complex_sample(const Shape& shape) {
  return real_sample(shape) + real_sample(shape) * Tensor(std::complex<double>(0, 1));
}

namespace {

// ── linear ──

struct Sum {
  using kind = Linear;
  using elements = reduction::Summed;
  static constexpr const char* name = "sum";
  static constexpr double start = -0.0, nothing = 0;  // 0 + -0 is not -0
  Axes axes;

  template <class T> auto join(T a, T b) const { return a + b; }
  Type type(const Type& x) const { return reduced_type(*this, axes, x); }
  void eval(Outputs out, Inputs in) const { reduce_by(kernels::sum, axes, out, in); }
  Tensor transpose(const Tensor& ct, const Type& x) const { return spread(ct, axes, x.shape); }
  Sum lifted() const { return {behind_batch(axes)}; }
  static std::vector<Sample<Sum>> samples() {
    return {{{{0}}, {real_sample({3})}},          {{{0, 1}}, {real_sample({2, 3})}}, {{{1}}, {real_sample({2, 3})}},
            {{{0, 2}}, {real_sample({2, 3, 2})}}, {{{}}, {real_sample({})}},         {{{0}}, {real_sample({0, 2})}}};
  }
};

struct Mean {
  using kind = Linear;
  using elements = reduction::Fields;
  static constexpr const char* name = "mean";
  static constexpr double start = -0.0, nothing = 0;
  Axes axes;

  template <class T> auto join(T a, T b) const { return a + b; }
  template <class T> auto finish(T total, T count) const { return total / count; }
  Type type(const Type& x) const {
    require_floating(name, x);
    return reduced_type(*this, axes, x);
  }
  void eval(Outputs out, Inputs in) const { reduce_by(kernels::mean, axes, out, in); }
  Tensor transpose(const Tensor& ct, const Type& x) const {
    return spread(ct / size_along(axes, x.shape), axes, x.shape);
  }
  Mean lifted() const { return {behind_batch(axes)}; }
  static std::vector<Sample<Mean>> samples() {
    return {{{{0}}, {real_sample({3})}},
            {{{0, 1}}, {real_sample({2, 3})}},
            {{{1}}, {real_sample({2, 3})}},
            {{{2, 0}}, {real_sample({2, 3, 2})}}};
  }
};

}  // namespace

Tensor sum_along(const Tensor& x, const Axes& axes) { return apply(Sum{axes}, x); }
Tensor even_share(const Tensor& x, const Tensor& y, const Axes& axes) {
  const Type type = type_of(x);
  const Tensor ties = logical_or(x == y, isnan(x));
  return to(ties, type.dtype) / beside(sum_along(ties, axes), axes, type.rank());
}

namespace ops {

Tensor sum(const Tensor& x) { return sum(x, {}, false); }
Tensor sum(const Tensor& x, const Axes& dims) { return sum(x, dims, false); }
Tensor sum(const Tensor& x, const Axes& dims, bool keepdim) {
  const Sum op{wrap_axes("sum", dims, x)};
  return kept(apply(op, x), op.axes, keepdim);
}

Tensor sum(const Tensor& x, DType dtype) { return sum(x, {}, false, dtype); }
Tensor sum(const Tensor& x, const Axes& dims, bool keepdim, DType dtype) {
  const Called as("sum", x);
  return to(sum(to(x, dtype), dims, keepdim), dtype);
}
Tensor mean(const Tensor& x, DType dtype) { return mean(x, {}, false, dtype); }
Tensor mean(const Tensor& x, const Axes& dims, bool keepdim, DType dtype) {
  const Called as("mean", x);
  return mean(to(x, dtype), dims, keepdim);
}
Tensor mean(const Tensor& x) { return mean(x, {}, false); }
Tensor mean(const Tensor& x, const Axes& dims) { return mean(x, dims, false); }
Tensor mean(const Tensor& x, const Axes& dims, bool keepdim) {
  require_floating("mean", x);
  const Mean op{wrap_axes("mean", dims, x)};
  return kept(apply(op, x), op.axes, keepdim);
}

Tensor trace(const Tensor& x) {
  require_defined("trace", x, 0);
  if (type_of(x).rank() != 2)
    raise<ValueError>("trace: needs a matrix, found " + type_text(x) +
                      "; take the sum of diagonal(x, 0, -2, -1) of a stack");
  return apply(Sum{{0}}, diagonal(x));
}

}  // namespace ops
}  // namespace ricci
