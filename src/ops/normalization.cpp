// Layer normalisation: every example gets mean 0 and variance 1 over its trailing axes.
#include <cmath>

#include "kernels/reduce.h"
#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/samples.h"
#include "ops/sums.h"

namespace ricci {
namespace {

/// y = (x - mean) r and r = 1 / sqrt(variance + eps), mean and variance over the last `axes` axes, which r keeps with
/// size 1.
struct Normalize {
  using kind = Explicit;
  static constexpr const char* name = "normalize";
  static constexpr unsigned keeps = output(0) | output(1);
  int axes;
  double eps;

  Types type(const Type& x) const {
    require_real(name, x);
    require_floating(name, x);
    require_between(0, axes, x.rank());
    Type scale = x;
    for (int i = 1; i <= axes; ++i) scale.shape[scale.shape.size() - static_cast<std::size_t>(i)] = 1;
    return {x, scale};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::row_major, out, in, [this](Outputs y, Inputs x) {
      if (x[0].dtype == DType::float64) evaluate<double>(y[0], y[1], x[0]);
      else evaluate<float>(y[0], y[1], x[0]);
    });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor &y = f.outputs[0], &scale = f.outputs[1], &t = f.tangents[0];
    return {derivative(y, scale, t), neg(square(scale) * mean_product(y, t))};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor &y = r.outputs[0], &scale = r.outputs[1];
    Tensor total;
    if (r.cotangents[0].defined()) total = derivative(y, scale, r.cotangents[0]);
    if (!r.cotangents[1].defined()) return {total};
    const Tensor of_scale = neg(y * (r.cotangents[1] * square(scale) / count(type_of(y))));
    return {total.defined() ? total + of_scale : of_scale};
  }
  Tensors simpler(std::span<const Tensor> operands) const {
    const Tensor& x = operands[0];
    const Axes reduced = reduced_axes(type_of(x));
    const Tensor v = to(x, computed_dtype(x.dtype())), centred = v - mean(v, reduced, true);
    const Tensor scale = 1 / sqrt(mean(square(centred), reduced, true) + eps);
    return {to(centred * scale, x.dtype()), to(scale, x.dtype())};
  }
  Normalize lifted() const { return *this; }
  static std::vector<Sample<Normalize>> samples() {
    return {{{1, 1e-5}, {uniform_around_zero({4})}},
            {{1, 0.1}, {uniform_around_zero({2, 3})}},
            {{2, 1e-5}, {uniform_around_zero({2, 2, 3})}},
            {{1, 0.5}, {uniform_around_zero({0, 3})}}};
  }

 private:
  /// r (t - mean(t) - y mean(y t)): a symmetric map, so tangents and cotangents share it.
  Tensor derivative(const Tensor& y, const Tensor& scale, const Tensor& t) const {
    return scale * (t - mean(t, reduced_axes(type_of(t)), true) - y * mean_product(y, t));
  }
  Tensor mean_product(const Tensor& y, const Tensor& t) const {
    const Type type = type_of(y);
    const Axes reduced = reduced_axes(type);
    return beside(inner_along(y, t, reduced), reduced, type.rank()) / count(type);
  }
  Axes reduced_axes(const Type& x) const {
    Axes reduced;
    for (int i = x.rank() - axes; i < x.rank(); ++i) reduced.push_back(i);
    return reduced;
  }
  Tensor count(const Type& x) const { return Tensor(size_along(reduced_axes(x), x.shape)); }

  template <class T>
  void evaluate(Strided y, Strided scale, Strided x) const {
    const Type type{x.dtype, shape_of(x)};
    const Axes reduced = reduced_axes(type);
    const ArrayRef mean = make_array(without_axes(type, reduced, type.dtype)), variance = make_array(mean->type);
    kernels::mean_var(mean->strided(), variance->strided(), x, is_reduced(reduced, x.rank).data(), 0);
    const std::int64_t rows = mean->numel(), columns = size_along(reduced, type.shape);
    const T* from = static_cast<const T*>(x.data);
    T* to = static_cast<T*>(y.data);
    for (std::int64_t row = 0; row < rows; ++row) {
      const T centre = static_cast<const T*>(mean->data)[row];
      const T r = T(1) / std::sqrt(static_cast<const T*>(variance->data)[row] + static_cast<T>(eps));
      static_cast<T*>(scale.data)[row] = r;
      for (std::int64_t i = row * columns; i < (row + 1) * columns; ++i) to[i] = (from[i] - centre) * r;
    }
  }
};

void require_normalized_shape(const char* what, const Tensor& x, const Shape& shape) {
  if (!(type_of(x).shape == shape))
    raise<ValueError>(std::string("layer_norm: the ") + what + " " + type_text(x) + " must have the normalized shape " +
                      to_string(shape));
}

Tensor normalized(const Tensor& x, const Shape& shape, double eps) {
  require_real_floating("layer_norm", x);
  const Shape whole = type_of(x).shape;
  if (shape.empty()) raise<ValueError>("layer_norm: the normalized shape [] has no axis; it must hold at least one");
  if (shape.size() > whole.size() || !(Shape(whole.end() - shape.rank(), whole.end()) == shape))
    raise<ValueError>("layer_norm: the input " + type_text(x) + " does not end in the normalized shape " +
                      to_string(shape));
  return ricci::apply(Normalize{shape.rank(), eps}, std::span(&x, 1))[0];
}

}  // namespace

namespace ops {

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape) { return normalized(x, normalized_shape, 1e-5); }
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias) {
  return layer_norm(x, normalized_shape, weight, bias, 1e-5);
}
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps) {
  if (weight.defined()) require_normalized_shape("weight", weight, normalized_shape);
  if (bias.defined()) require_normalized_shape("bias", bias, normalized_shape);
  const Tensor y = normalized(x, normalized_shape, eps);
  if (weight.defined() && bias.defined()) return addcmul(bias, y, weight);
  if (weight.defined()) return y * weight;
  return bias.defined() ? y + bias : y;
}

}  // namespace ops
}  // namespace ricci
