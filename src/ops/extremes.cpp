// The greatest and the smallest elements along axes, and where they are.
#include <cmath>

#include "kernels/index.h"
#include "ops/dense.h"
#include "ops/patterns.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "program/element_writer.h"

namespace ricci {
namespace {

/// The greatest (smallest) element. Elements that tie share its derivative evenly.
template <bool greatest>
struct Extreme {
  using kind = Explicit;
  using elements = reduction::Ordered;
  static constexpr const char* name = greatest ? "amax" : "amin";
  static constexpr double infinity = std::numeric_limits<double>::infinity(), start = greatest ? -infinity : infinity;
  static constexpr unsigned keeps = input(0) | output(0);
  Axes axes;

  template <class T> auto join(T a, T b) const { return greatest ? scalar::max(a, b) : scalar::min(a, b); }
  Type type(const Type& x) const {
    require_real(name, x);
    return reduced_type(*this, axes, x);
  }
  void eval(Outputs out, Inputs in) const {
    reduce_by(greatest ? kernels::greatest : kernels::smallest, axes, out, in);
  }
  Tensors jvp(const Forward& f) const { return {inner_along(share(f.inputs[0], f.outputs[0]), f.tangents[0], axes)}; }
  Tensors vjp(const Reverse& r) const {
    return {beside(r.cotangents[0], axes, r.input_types[0].rank()) * share(r.inputs[0], r.outputs[0])};
  }
  Extreme lifted() const { return {behind_batch(axes)}; }
  static std::vector<Sample<Extreme>> samples() {
    return {{{{0}}, {real_sample({3})}},    {{{1}}, {real_sample({2, 3})}}, {{{0, 2}}, {real_sample({2, 3, 2})}},
            {{{1}}, {real_sample({0, 2})}}, {{{0}}, {tensor({3, 1, 2})}},   {{{}}, {real_sample({})}}};
  }

 private:
  Tensor share(const Tensor& x, const Tensor& y) const {
    return even_share(x, beside(y, axes, type_of(x).rank()), axes);
  }
};

/// The type of a place for each lane along an axis, which must not be empty.
Type place_type(const Type& x, std::int64_t axis) {
  require_real("argmax", x);
  Type places = without_axes(x, {axis}, DType::int64);
  bool is_empty = false;
  for (Size size : places.shape) is_empty |= !size.is_symbol() && size.raw() == 0;
  if (const Size n = x.shape[at(axis)]; !n.is_symbol()) require_between(is_empty ? 0 : 1, n.raw(), beyond_memory);
  return places;
}

/// The first greatest (smallest) element along an axis of the operand, or the first NaN, and its place, as
/// kernels::argreduce finds it. `y`: the axis is left out of its coordinates. No scalars where there are many elements.
struct Best {
  Scalar element, place;
};
Best best_along(ElementWriter& y, std::int64_t axis, bool greatest) {
  using scalar::Word;
  constexpr std::int64_t most = 64;
  const std::int64_t count = y.known_size(0, static_cast<int>(axis));
  if (count > most) return {no_scalar, no_scalar};
  const auto word = [](Word w, Scalar a, Scalar b = no_scalar) {
    return this_thread.scalars->word(w, a, b, no_scalar);
  };
  const DType computed = computed_dtype(y.type(0).dtype);
  std::vector<Coordinate> where = y.coordinates(y.type(0).rank() - 1);
  where.insert(where.begin() + axis, Coordinate(0));
  const auto element = [&](std::int64_t i) {
    where[at(axis)] = i;
    return y.element_of(0, where);
  };
  Best best{element(0), Whole(0).scalar()};
  for (std::int64_t i = 1; i < count; ++i) {
    const Scalar x = element(i), wide = this_thread.scalars->converted(computed, x, false),
                 before = this_thread.scalars->converted(computed, best.element, false);
    const TypedMask is_better{word(greatest ? Word::greater : Word::less, wide, before)};
    const TypedMask is_nan{word(Word::isnan, wide)}, was_nan{word(Word::isnan, before)};
    const Scalar is_best = (is_better || (is_nan && !was_nan)).scalar;
    best = {this_thread.scalars->select(is_best, x, best.element),
            this_thread.scalars->select(is_best, Whole(i).scalar(), best.place)};
  }
  return best;
}

/// The place that best_along finds, in operations.
Tensor first_best(const Tensor& x, std::int64_t axis, bool greatest) {
  const Tensor v = x.dtype() == DType::boolean ? to(x, DType::uint8) : x;
  const Tensor best = greatest ? amax(v, {axis}, true) : amin(v, {axis}, true);
  const Size count = type_of(x).shape[at(axis)];
  const Tensor places = places_along(count), is_best = logical_or(eq(v, best), isnan(v));
  Shape along = Shape::filled(type_of(x).shape.size(), 1);
  along[at(axis)] = count;
  return amin(where(is_best, reshape(places, along), Tensor(count)), {axis});
}

/// The place of the first greatest (smallest) element along an axis.
template <bool greatest>
struct ArgExtreme {
  using kind = Explicit;
  static constexpr const char* name = greatest ? "argmax" : "argmin";
  static constexpr bool locally_constant = true;
  std::int64_t axis;

  Type type(const Type& x) const { return place_type(x, axis); }
  void eval(Outputs out, Inputs in) const { kernels::argreduce(greatest, out[0], in[0], static_cast<int>(axis)); }
  Scalar element(ElementWriter& y) const { return best_along(y, axis, greatest).place; }
  Tensors simpler(std::span<const Tensor> x) const { return {first_best(x[0], axis, greatest)}; }
  ArgExtreme lifted() const { return {axis + 1}; }
  static std::vector<Sample<ArgExtreme>> samples() {
    return {{{0}, {real_sample({3})}},
            {{1}, {real_sample({2, 3})}},
            {{0}, {tensor({2, 1, 2})}},
            {{1}, {real_sample({0, 2})}}};
  }
};

/// A view of `x` with an axis of size 1 put in.
struct WithUnitAxis {
  Shape shape;
  Strides strides;
  Strided view;
  WithUnitAxis(const Strided& x, std::int64_t axis)
      : shape(x.shape, x.shape + x.rank), strides(x.strides, x.strides + x.rank) {
    shape.insert(static_cast<std::size_t>(axis), 1);
    strides.insert(static_cast<std::size_t>(axis), 1);
    view = {x.data, x.dtype, x.rank + 1, shape.host(), strides.data()};
  }
};

/// The first greatest (smallest) element along an axis, and its place, to which its derivative belongs.
template <bool greatest>
struct FirstExtreme {
  using kind = Explicit;
  static constexpr const char* name = greatest ? "max_with_place" : "min_with_place";
  static constexpr unsigned keeps = output(1);
  std::int64_t axis;

  Types type(const Type& x) const {
    const Type places = place_type(x, axis);
    return {{x.dtype, places.shape}, places};
  }
  void eval(Outputs out, Inputs in) const {
    kernels::argreduce(greatest, out[1], in[0], static_cast<int>(axis));
    kernels::gather(WithUnitAxis(out[0], axis).view, in[0], static_cast<int>(axis), WithUnitAxis(out[1], axis).view);
  }
  Tensors jvp(const Forward& f) const {
    return {squeeze(gather(f.tangents[0], axis, unsqueeze(f.outputs[1], axis)), axis), Tensor()};
  }
  Tensors vjp(const Reverse& r) const {
    const Type& x = r.input_types[0];
    return {scatter_add(zeros_of({x.dtype, x.shape}), axis, unsqueeze(r.outputs[1], axis),
                        unsqueeze(r.cotangents[0], axis))};
  }
  Scalar element(ElementWriter& y) const {
    const Best best = best_along(y, axis, greatest);
    return y.result() == 0 ? best.element : best.place;
  }
  Tensors simpler(std::span<const Tensor> operands) const {
    const Tensor& x = operands[0];
    const Tensor place = first_best(x, axis, greatest);
    return {squeeze(gather(x, axis, unsqueeze(place, axis)), axis), place};
  }
  FirstExtreme lifted() const { return {axis + 1}; }
  static std::vector<Sample<FirstExtreme>> samples() {
    return {{{0}, {real_sample({3})}},
            {{1}, {real_sample({2, 3})}},
            {{0}, {tensor({2, 1, 2})}},
            {{1}, {real_sample({0, 2})}}};
  }
};

template <bool greatest>
std::pair<Tensor, Tensor> first_extreme(const Tensor& x, std::int64_t axis, bool keepdim) {
  Tensors outputs = ricci::apply(FirstExtreme<greatest>{axis}, std::span(&x, 1));
  return {kept(std::move(outputs[0]), {axis}, keepdim), kept(std::move(outputs[1]), {axis}, keepdim)};
}

template <bool greatest>
Tensor extreme(const Tensor& x, const Axes& dims, bool keepdim) {
  const char* name = Extreme<greatest>::name;
  require_order(name, x);
  const Extreme<greatest> op{wrap_axes(name, dims, x)};
  require_elements(name, x, op.axes);
  return kept(apply(op, x), op.axes, keepdim);
}

template <bool greatest>
Tensor place_of_extreme(const char* name, const Tensor& x, std::int64_t axis) {
  require_elements(name, x, {axis});
  return apply(ArgExtreme<greatest>{axis}, x);
}

template <bool greatest>
Tensor arg_extreme(const Tensor& x, std::int64_t dim, bool keepdim) {
  const char* name = ArgExtreme<greatest>::name;
  require_order(name, x);
  return along_axis(name, x, dim, [&](const Tensor& v, std::int64_t axis) {
    return kept(place_of_extreme<greatest>(name, v, axis), {axis}, keepdim && type_of(x).rank() > 0);
  });
}

template <bool greatest>
Tensor arg_extreme_of_all(const Tensor& x) {
  const char* name = ArgExtreme<greatest>::name;
  require_order(name, x);
  const Tensor all = flatten(x);
  require_elements(name, x.dim() == 0 ? all : x, wrap_axes(name, {}, x));
  return place_of_extreme<greatest>(name, all, 0);
}

}  // namespace

namespace ops {

Tensor amax(const Tensor& x) { return extreme<true>(x, {}, false); }
Tensor amax(const Tensor& x, const Axes& dims) { return extreme<true>(x, dims, false); }
Tensor amax(const Tensor& x, const Axes& dims, bool keepdim) { return extreme<true>(x, dims, keepdim); }
Tensor amin(const Tensor& x) { return extreme<false>(x, {}, false); }
Tensor amin(const Tensor& x, const Axes& dims) { return extreme<false>(x, dims, false); }
Tensor amin(const Tensor& x, const Axes& dims, bool keepdim) { return extreme<false>(x, dims, keepdim); }
Tensor max(const Tensor& x) {
  const Called as("max", x);
  return amax(x);
}
Tensor min(const Tensor& x) {
  const Called as("min", x);
  return amin(x);
}
Tensor max(const Tensor& a, const Tensor& b) {
  const Called as("max", a, b);
  return maximum(a, b);
}
Tensor min(const Tensor& a, const Tensor& b) {
  const Called as("min", a, b);
  return minimum(a, b);
}

Tensor argmax(const Tensor& x) { return arg_extreme_of_all<true>(x); }
Tensor argmax(const Tensor& x, std::int64_t dim) { return arg_extreme<true>(x, dim, false); }
Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim) { return arg_extreme<true>(x, dim, keepdim); }
Tensor argmin(const Tensor& x) { return arg_extreme_of_all<false>(x); }
Tensor argmin(const Tensor& x, std::int64_t dim) { return arg_extreme<false>(x, dim, false); }
Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim) { return arg_extreme<false>(x, dim, keepdim); }

std::pair<Tensor, Tensor> extreme_along(const Tensor& x, bool greatest, std::int64_t dim, bool keepdim) {
  const char* name = greatest ? "max" : "min";
  require_order(name, x);
  return along_axis(name, x, dim, [&](const Tensor& v, std::int64_t axis) {
    require_elements(name, v, {axis});
    const bool keep = keepdim && type_of(x).rank() > 0;
    return greatest ? first_extreme<true>(v, axis, keep) : first_extreme<false>(v, axis, keep);
  });
}

}  // namespace ops
}  // namespace ricci
