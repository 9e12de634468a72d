// Reductions of what is scattered to one place.
#include <cmath>
#include <limits>
#include <string_view>

#include "kernels/elementwise.h"
#include "kernels/index.h"
#include "ops/dense.h"
#include "ops/indexing.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/arrangement.h"
#include "ricci/primitive/accumulators.h"

namespace ricci {
namespace {

/// The greatest (smallest) of x's element and those of src that belong to its place along an axis. Those that tie share
/// the derivative evenly.
template <bool greatest>
struct ScatterExtreme {
  using kind = Explicit;
  static constexpr const char* name = greatest ? "scatter_greatest" : "scatter_least";
  static constexpr unsigned keeps = input(0) | input(1) | input(2) | output(0);
  std::int64_t axis;
  IndexPlace place;

  Type type(const Type& x, const Type& src, const Type& index) const {
    require_between(1, std::ssize(place.axes), 1);
    require_real(name, x);
    require_axis(axis, x.rank());
    require_dtype(x.dtype, src);
    require_dtype(DType::int64, index);
    require_shape(index.shape, src.shape);
    require_between(x.rank(), index.rank(), x.rank());
    for (int i = 0; i < x.rank(); ++i)
      if (const Size have = x.shape[at(i)], wanted = index.shape[at(i)]; i != axis && !any_symbol(have, wanted))
        require_between(0, wanted.raw(), have.raw());
    return {x.dtype, x.shape};
  }
  void eval(Outputs out, Inputs in) const {
    check_indices(place, 0, in[2], in[0], axis);
    kernels::scatter(greatest ? kernels::Write::greatest : kernels::Write::least, out[0], in[0], static_cast<int>(axis),
                     in[2], in[1]);
  }
  Tensors jvp(const Forward& f) const {
    const auto [of_x, of_src] = shares(f.inputs, f.outputs[0]);
    Tensor y = zeros_like(f.outputs[0]);
    if (f.tangents[0].defined()) y = y + of_x * f.tangents[0];
    if (f.tangents[1].defined()) y = scatter_add(y, axis, f.inputs[2], of_src * f.tangents[1]);
    return {y};
  }
  Tensors vjp(const Reverse& r) const {
    const auto [of_x, of_src] = shares(r.inputs, r.outputs[0]);
    return {r.wants(0) ? of_x * r.cotangents[0] : Tensor(),
            r.wants(1) ? of_src * gather(r.cotangents[0], axis, r.inputs[2]) : Tensor(), Tensor()};
  }
  ScatterExtreme lifted() const { return {axis + 1, place.in_examples()}; }
  static std::vector<Sample<ScatterExtreme>> samples() {
    const auto places = [](std::vector<std::int64_t> values, const Shape& shape) {
      return reshape(tensor(values), shape);
    };
    return {{{0, {"sample", {0}, {4}, false}}, {real_sample({4}), real_sample({3}), places({3, 0, 3}, {3})}},
            {{1, {"sample", {1}, {2, 3}, false}},
             {real_sample({2, 3}), real_sample({2, 2}), places({0, 0, 2, 1}, {2, 2})}}};
  }

 private:
  /// What elements of x and of src have of the result's derivative.
  template <class Operands>
  std::pair<Tensor, Tensor> shares(const Operands& in, const Tensor& y) const {
    const Tensor &x = in[0], &src = in[1], &index = in[2];
    const auto wins = [&](const Tensor& a, const Tensor& best) {
      return to(logical_or(eq(a, best), logical_and(isnan(a), isnan(best))), y.dtype());
    };
    const Tensor of_x = wins(x, y), of_src = wins(src, gather(y, axis, index));
    const Tensor winners = clamp_min(scatter_add(of_x, axis, index, of_src), 1);
    return {of_x / winners, of_src / gather(winners, axis, index)};
  }
};

enum class Reduced : std::uint8_t { sum, prod, mean, amax, amin };
Reduced reduction_of(const char* op, std::string_view name) {
  return static_cast<Reduced>(word_among(op, "the reduction", name, {"sum", "prod", "mean", "amax", "amin"}));
}

/// x times the product of what belongs to each place: what belongs together is sorted to stand side by side, and each
/// product doubles its reach until it begins where its place does.
Tensor multiplied(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& src) {
  const std::int64_t n = type_of(index).shape[at(axis)];
  if (n == 0) return x;
  const auto [place, order] = sort(index, axis);
  Tensor product = gather(src, axis, order);
  const auto from_before = [&](const Tensor& t, std::int64_t reach) { return slice(t, axis, std::nullopt, n - reach); };
  for (std::int64_t reach = 1; reach < n; reach *= 2) {
    const Tensor is_same = eq(slice(place, axis, reach, std::nullopt), from_before(place, reach));
    const Tensor later = slice(product, axis, reach, std::nullopt);
    product =
        cat({slice(product, axis, std::nullopt, reach), later * where(is_same, from_before(product, reach), 1)}, axis);
  }
  const Tensor differs = ne(from_before(place, 1), slice(place, axis, 1, std::nullopt));
  const Tensor is_last = cat({differs, ones_like(slice(place, axis, 0, 1), DType::boolean)}, axis);
  const Tensor total = scatter_add(zeros_like(x), axis, place, where(is_last, product, 0));
  const Tensor is_named = gt(scatter_add(zeros_like(x, DType::int64), axis, place, to(is_last, DType::int64)), 0);
  return x * where(is_named, total, 1);
}

/// What a greatest (least) element starts from: a number that no other one of the type is below (above).
Tensor neutral_of(bool greatest, DType dtype) {
  if (!is_integral(dtype)) return greatest ? -INFINITY : INFINITY;
  Tensor number;
  kernels::visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>)
      number = static_cast<std::int64_t>(greatest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max());
  });
  return dtype == DType::boolean ? Tensor(!greatest) : number;
}

/// src has the shape of the index.
Tensor reduced(const char* op, const Scattered& s, Reduced reduction, bool include_self) {
  const DType dtype = type_of(s.x).dtype;
  const bool is_extreme = reduction == Reduced::amax || reduction == Reduced::amin;
  if (is_extreme) require_order(op, s.x);
  const Tensor nothing = is_extreme                   ? neutral_of(reduction == Reduced::amax, dtype)
                         : reduction == Reduced::prod ? 1
                                                      : 0;
  const Tensor start = include_self ? s.x : scatter(s.x, s.axis, s.index, nothing);
  switch (reduction) {
    case Reduced::sum: return scatter_add(start, s.axis, s.index, s.src);
    case Reduced::prod: return to(multiplied(start, s.axis, s.index, s.src), dtype);
    case Reduced::amax: return apply(ScatterExtreme<true>{s.axis, s.place}, start, s.src, s.index);
    case Reduced::amin: return apply(ScatterExtreme<false>{s.axis, s.place}, start, s.src, s.index);
    case Reduced::mean: break;
  }
  const Tensor total = scatter_add(start, s.axis, s.index, s.src);
  const Tensor counts = scatter_add(zeros_like(s.x, DType::int64), s.axis, s.index, ones_like(s.index));
  const Tensor terms = clamp_min(include_self ? counts + 1 : counts, 1);
  return is_differentiable(dtype) ? total / to(terms, real_dtype(dtype)) : to(floor_divide(total, terms), dtype);
}
Tensor reduced_at(const char* op, const Tensor& x, Scattered s, Reduced reduction, bool include_self) {
  for (std::size_t d = 0; d < type_of(s.index).shape.size(); ++d)
    if (const Size wanted = type_of(s.index).shape[d]; !(type_of(s.src).shape[d] == wanted))
      s.src = narrow(s.src, static_cast<std::int64_t>(d), 0, wanted);
  const Tensor y =
      naming_the_example(s.place, {&s.index, 1}, x, [&] { return reduced(op, s, reduction, include_self); });
  return type_of(x).rank() == 0 ? reshape(y, {}) : y;
}

}  // namespace

namespace ops {

Tensor scatter_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduction) {
  return scatter_reduce(x, dim, index, src, reduction, true);
}
Tensor scatter_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduction, bool include_self) {
  const Called as("scatter_reduce", x, index, src);
  const Reduced kind = reduction_of("scatter_reduce", reduction);
  return reduced_at("scatter_reduce", x, scattered_operands("scatter_reduce", x, dim, index, src), kind, include_self);
}

Tensor index_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                    std::string_view reduction) {
  return index_reduce(x, dim, index, src, reduction, true);
}
Tensor index_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src,
                    std::string_view reduction, bool include_self) {
  const Called as("index_reduce", x, index, src);
  const Reduced kind = reduction_of("index_reduce", reduction);
  const std::int64_t axis = wrap_axis("index_reduce", dim, x);
  const Tensor places = require_indices("index_reduce", index, 2);
  if (type_of(places).rank() > 1)
    raise<ValueError>("index_reduce: the index " + type_text(index) + " must be a vector");
  Shape shape = type_of(x).rank() == 0 ? Shape{1} : type_of(x).shape, beside = Shape::filled(shape.size(), 1);
  shape[at(axis)] = beside[at(axis)] = type_of(places).shape.numel();
  const Tensor wide = expand(reshape(places, beside), shape);
  const Tensor values = type_of(src).rank() == 0 ? src : expand(src, shape);
  return reduced_at("index_reduce", x, scattered_operands("index_reduce", x, dim, wide, values), kind, include_self);
}

}  // namespace ops
}  // namespace ricci
