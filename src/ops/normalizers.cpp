// Softmax and its relatives: exponentials whose greatest is taken out before they are summed.
#include <limits>

#include "kernels/reduce.h"
#include "ops/dense.h"
#include "ops/exponential_sums.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/primitive/element_rules.h"
#include "ricci/primitive/scalar.h"

namespace ricci {
namespace {

/// f(places of the elements that are summed for one result), for each result in its order.
template <class F>
void for_each_sum(const Shape& shape, const SmallVector<bool, 8>& reduced, const F& f) {
  std::int64_t count = 1;
  std::vector<std::vector<std::int64_t>> places(1);
  for (std::size_t i = 0; i < shape.size(); ++i) count *= reduced[i] ? 1 : shape[i].host();
  places.resize(at(count));
  for (std::int64_t place = 0; place < shape.numel().host(); ++place) {
    std::int64_t left = place, result = 0, step = 1;
    for (std::size_t i = shape.size(); i-- > 0; left /= shape[i].host()) {
      if (reduced[i]) continue;
      result += left % shape[i].host() * step;
      step *= shape[i].host();
    }
    places[at(result)].push_back(place);
  }
  for (const std::vector<std::int64_t>& of : places) f(of);
}

/// log Σ exp x.
struct LogSumExp {
  using kind = Explicit;
  static constexpr const char* name = "logsumexp";
  static constexpr unsigned keeps = input(0) | output(0);
  Axes axes;

  Type type(const Type& x) const {
    require_real(name, x);
    require_floating(name, x);
    return without_axes(x, axes, x.dtype);
  }
  void eval(Outputs out, Inputs in) const { kernels::logsumexp(out[0], in[0], is_reduced(axes, in[0].rank).data()); }
  Tensors jvp(const Forward& f) const { return {inner_along(weights(f.inputs[0], f.outputs[0]), f.tangents[0], axes)}; }
  Tensors vjp(const Reverse& r) const {
    return {beside(r.cotangents[0], axes, r.input_types[0].rank()) * weights(r.inputs[0], r.outputs[0])};
  }
  Tensors simpler(std::span<const Tensor> operands) const {
    const Tensor& x = operands[0];
    const Tensor v = to(x, computed_dtype(x.dtype())), most = amax(v, axes, true);
    const Tensor taken = where(isinf(most), 0, most), total = log(sum(exp(v - taken), axes, true)) + taken;
    return {reshape(to(total, x.dtype()), without_axes(type_of(x), axes, x.dtype()).shape)};
  }
  LogSumExp lifted() const { return {behind_batch(axes)}; }
  template <class T>
  Elements<T> on_elements(const Elements<T>& x) const {
    Elements<T> y{{}, {}};
    for_each_sum(x.shape, is_reduced(axes, x.shape.rank()), [&](const std::vector<std::int64_t>& places) {
      const SumOfExponentials<T> s(x, places,
                                   [](const T& most) { return scalar::select(scalar::isinf(most), T(0), most); });
      y.of.push_back(scalar::log(s.sum) + s.subtracted);
    });
    return y;
  }
  static std::vector<Sample<LogSumExp>> samples() {
    return {{{{0}}, {real_sample({3})}},
            {{{1}}, {real_sample({2, 3})}},
            {{{0, 2}}, {real_sample({2, 3, 2})}},
            {{{1}}, {real_sample({0, 2})}},
            {{{}}, {real_sample({})}}};
  }

 private:
  /// exp(x - y), the derivative by x; 0 where every x is -inf.
  Tensor weights(const Tensor& x, const Tensor& y) const {
    constexpr double lowest = -std::numeric_limits<double>::infinity();
    return exp(x - beside(where(y == lowest, 0, y), axes, type_of(x).rank()));
  }
};

/// t less its mean of weights p that sum to 1, along an axis. Where a weight is all but 1, one subtraction leaves only
/// what t and the mean were rounded by; the second subtracts the mean of what is left, and its error is relative to the
/// other elements.
Tensor without_mean(const Tensor& p, const Tensor& t, std::int64_t axis) {
  const int rank = type_of(t).rank();
  const auto less_mean = [&](const Tensor& v) { return v - beside(inner_along(p, v, {axis}), {axis}, rank); };
  return less_mean(less_mean(t));
}

/// The transpose of that in t: ct less p times the sum of ct, twice.
Tensor without_sum(const Tensor& p, const Tensor& ct, std::int64_t axis) {
  const auto less_sum = [&](const Tensor& v) {
    return v - p * beside(sum_along(v, {axis}), {axis}, type_of(v).rank());
  };
  return less_sum(less_sum(ct));
}

/// x less its greatest along an axis, in the type that it is computed in.
Tensor below_greatest(const Tensor& x, std::int64_t axis) {
  const Tensor v = to(x, computed_dtype(x.dtype()));
  return v - amax(v, {axis}, true);
}

/// f(x, sum of exponentials) for each element, along an axis.
template <class T, class F>
Elements<T> along(const Elements<T>& x, std::int64_t axis, const F& f) {
  Elements<T> y = x;
  for_each_sum(x.shape, is_reduced({axis}, x.shape.rank()), [&](const std::vector<std::int64_t>& places) {
    const SumOfExponentials<T> s(x, places, [](const T& most) { return most; });
    for (const std::int64_t place : places) y.of[at(place)] = f(x.of[at(place)], s);
  });
  return y;
}

struct Softmax {
  using kind = Explicit;
  static constexpr const char* name = "softmax";
  static constexpr unsigned keeps = output(0);
  std::int64_t axis;

  Type type(const Type& x) const { return type_along(name, axis, x); }
  void eval(Outputs out, Inputs in) const { kernels::softmax(out[0], in[0], static_cast<int>(axis)); }
  Tensors jvp(const Forward& f) const { return {derivative(f.outputs[0], f.tangents[0])}; }
  Tensors vjp(const Reverse& r) const { return {derivative(r.outputs[0], r.cotangents[0])}; }
  Tensors simpler(std::span<const Tensor> operands) const {
    const Tensor& x = operands[0];
    const Tensor e = exp(below_greatest(x, axis));
    return {to(e / sum(e, {axis}, true), x.dtype())};
  }
  Softmax lifted() const { return {axis + 1}; }
  template <class T>
  Elements<T> on_elements(const Elements<T>& x) const {
    return along(x, axis,
                 [](const T& v, const SumOfExponentials<T>& s) { return scalar::exp(v - s.subtracted) / s.sum; });
  }
  static std::vector<Sample<Softmax>> samples() { return samples_along_axes<Softmax>(); }

 private:
  /// The Jacobian, diag(y) - y yᵀ, is symmetric.
  Tensor derivative(const Tensor& y, const Tensor& t) const { return y * without_mean(y, t, axis); }
};

struct LogSoftmax {
  using kind = Explicit;
  static constexpr const char* name = "log_softmax";
  static constexpr unsigned keeps = output(0);
  std::int64_t axis;

  Type type(const Type& x) const { return type_along(name, axis, x); }
  void eval(Outputs out, Inputs in) const { kernels::log_softmax(out[0], in[0], static_cast<int>(axis)); }
  Tensors jvp(const Forward& f) const { return {without_mean(exp(f.outputs[0]), f.tangents[0], axis)}; }
  Tensors vjp(const Reverse& r) const { return {without_sum(exp(r.outputs[0]), r.cotangents[0], axis)}; }
  Tensors simpler(std::span<const Tensor> operands) const {
    const Tensor& x = operands[0];
    const Tensor rest = below_greatest(x, axis);
    return {to(rest - log(sum(exp(rest), {axis}, true)), x.dtype())};
  }
  LogSoftmax lifted() const { return {axis + 1}; }
  template <class T>
  Elements<T> on_elements(const Elements<T>& x) const {
    return along(x, axis,
                 [](const T& v, const SumOfExponentials<T>& s) { return (v - s.subtracted) - scalar::log(s.sum); });
  }
  static std::vector<Sample<LogSoftmax>> samples() { return samples_along_axes<LogSoftmax>(); }
};

/// Complex x less the greatest real part along `axes`, so that no exponential overflows; and what was taken.
struct Shifted {
  Tensor rest, most;
};
Shifted shifted(const Tensor& x, const Axes& axes) {
  const bool is_empty = size_along(axes, type_of(x).shape) == 0;
  if (is_empty) return {x, zeros_like(sum(real(x), axes, true))};
  const Tensor most = detach(amax(real(x), axes, true)), finite = where(isfinite(most), most, 0);
  return {x - finite, finite};
}

}  // namespace

namespace ops {

Tensor logsumexp(const Tensor& x) { return logsumexp(x, {}, false); }
Tensor logsumexp(const Tensor& x, const Axes& dims) { return logsumexp(x, dims, false); }
Tensor logsumexp(const Tensor& x, const Axes& dims, bool keepdim) {
  const Called as("logsumexp", x);
  if (is_integral(type_of(x).dtype)) return logsumexp(to(x, default_dtype()), dims, keepdim);
  if (x.is_complex()) {
    const Axes axes = wrap_axes("logsumexp", dims, x);
    const Shifted s = shifted(x, axes);
    const Tensor y = log(sum(exp(s.rest), axes, true)) + s.most;
    return keepdim ? y : reshape(y, without_axes(type_of(x), axes, type_of(x).dtype).shape);
  }
  const LogSumExp op{wrap_axes("logsumexp", dims, x)};
  return kept(apply(op, x), op.axes, keepdim);
}

Tensor softmax(const Tensor& x, std::int64_t dim, DType dtype) {
  const Called as("softmax", x);
  return softmax(to(x, dtype), dim);
}
Tensor log_softmax(const Tensor& x, std::int64_t dim, DType dtype) {
  const Called as("log_softmax", x);
  return log_softmax(to(x, dtype), dim);
}
Tensor softmax(const Tensor& x, std::int64_t dim) {
  const Called as("softmax", x);
  if (x.is_complex())
    return along_axis("softmax", x, dim, [](const Tensor& v, std::int64_t axis) {
      const Tensor e = exp(shifted(v, axis).rest);
      return e / sum(e, axis, true);
    });
  require_real_floating("softmax", x);
  return along_axis("softmax", x, dim, [](const Tensor& v, std::int64_t axis) { return apply(Softmax{axis}, v); });
}

Tensor log_softmax(const Tensor& x, std::int64_t dim) {
  const Called as("log_softmax", x);
  if (x.is_complex())
    return along_axis("log_softmax", x, dim, [](const Tensor& v, std::int64_t axis) {
      const Tensor rest = shifted(v, axis).rest;
      return rest - log(sum(exp(rest), axis, true));
    });
  require_real_floating("log_softmax", x);
  return along_axis("log_softmax", x, dim,
                    [](const Tensor& v, std::int64_t axis) { return apply(LogSoftmax{axis}, v); });
}

}  // namespace ops
}  // namespace ricci
