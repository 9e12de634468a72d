// Sorting and selecting along an axis. Values come with their places, and so do derivatives: a tangent is gathered from
// where its value was, a cotangent is put back there. Only the median of all elements shares it among ties.
#include "kernels/index.h"
#include "kernels/sort.h"
#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/indexing.h"
#include "ops/sums.h"
#include "program/element_writer.h"
#include "ricci/ops/statistics.h"

namespace ricci {
namespace {

kernels::Order order_of(bool descending) { return descending ? kernels::Order::descending : kernels::Order::ascending; }

Types picked_types(const Type& x, std::int64_t axis, Size size) {
  require_real("sort", x);
  require_axis(axis, x.rank());
  Shape shape = x.shape;
  shape[static_cast<std::size_t>(axis)] = size;
  return {Type{x.dtype, shape}, Type{DType::int64, shape}};
}
Tensors picked_tangents(const Forward& f, std::int64_t axis) {
  return {gather(f.tangents[0], axis, f.outputs[1]), Tensor()};
}
Tensors returned_cotangents(const Reverse& r, std::int64_t axis) {
  const Type& x = r.input_types[0];
  return {scatter_add(zeros_of({x.dtype, x.shape}), axis, r.outputs[1], r.cotangents[0])};
}

/// The element of the result, of the first `count` places of the sorted axis; `place`: which of these it is, where the
/// result has no coordinate of its own for it. No more than a few elements are sorted so: neighbours exchange places,
/// from the back, until the first place has its own, then the second.
Scalar sorted_element(ElementWriter& y, std::int64_t axis, kernels::Order order, std::int64_t place) {
  using scalar::Word;
  constexpr std::int64_t most = 10;
  const std::int64_t count = y.type(0).rank() == 0 ? 1 : y.known_size(0, static_cast<int>(axis));
  if (count > most) return no_scalar;
  const DType computed = computed_dtype(y.type(0).dtype);
  const auto word = [](Word w, Scalar a, Scalar b = no_scalar) {
    return TypedMask{this_thread.scalars->word(w, a, b, no_scalar)};
  };
  struct Record {
    Scalar element, wide, place;
  };
  std::vector<Record> records;
  std::vector<Coordinate> where = y.coordinates(y.type(0).rank());
  for (std::int64_t i = 0; i < count; ++i) {
    if (!where.empty()) where[at(axis)] = i;
    const Scalar x = y.element_of(0, where);
    records.push_back({x, this_thread.scalars->converted(computed, x, false), Whole(i).scalar()});
  }
  for (std::int64_t first = 0; first <= place; ++first)
    for (std::int64_t i = count - 1; i > first; --i) {
      Record &upper = records[at(i - 1)], &lower = records[at(i)];
      const Record a = upper, b = lower;
      const TypedMask a_nan = word(Word::isnan, a.wide), b_nan = word(Word::isnan, b.wide);
      const TypedMask exchanges = order == kernels::Order::ascending
                                      ? word(Word::less, b.wide, a.wide) || (a_nan && !b_nan)
                                      : word(Word::greater, b.wide, a.wide) || (b_nan && !a_nan);
      const auto pick = [&](Scalar yes, Scalar no) { return this_thread.scalars->select(exchanges.scalar, yes, no); };
      upper = {pick(b.element, a.element), pick(b.wide, a.wide), pick(b.place, a.place)};
      lower = {pick(a.element, b.element), pick(a.wide, b.wide), pick(a.place, b.place)};
    }
  const Record& found = records[at(place)];
  return y.result() == 0 ? found.element : found.place;
}
/// The same where the result has a coordinate along the axis.
Scalar sorted_element(ElementWriter& y, std::int64_t axis, kernels::Order order) {
  if (y.type(0).rank() == 0) return sorted_element(y, axis, order, 0);
  const Coordinate own = y.coordinate(static_cast<int>(axis));
  return own.is_lane ? no_scalar : sorted_element(y, axis, order, own.number);
}

struct Sort {
  using kind = Explicit;
  static constexpr const char* name = "sort";
  static constexpr unsigned keeps = output(1);
  std::int64_t axis;
  bool descending;

  Types type(const Type& x) const {
    require_axis(axis, x.rank());
    return picked_types(x, axis, x.shape[static_cast<std::size_t>(axis)]);
  }
  void eval(Outputs out, Inputs in) const {
    kernels::sort(out[0], out[1], in[0], static_cast<int>(axis), order_of(descending));
  }
  Tensors jvp(const Forward& f) const { return picked_tangents(f, axis); }
  Tensors vjp(const Reverse& r) const { return returned_cotangents(r, axis); }
  Scalar element(ElementWriter& y) const { return sorted_element(y, axis, order_of(descending)); }
  Sort lifted() const { return {axis + 1, descending}; }
  static std::vector<Sample<Sort>> samples() {
    return {{{0, false}, {real_sample({4})}},
            {{1, true}, {real_sample({2, 3})}},
            {{0, false}, {real_sample({3, 2})}},
            {{0, false}, {tensor({2, 1, 2, 0})}},
            {{1, false}, {real_sample({2, 0})}}};
  }
};

struct TopK {
  using kind = Explicit;
  static constexpr const char* name = "topk";
  static constexpr unsigned keeps = output(1);
  std::int64_t axis;
  Size count;
  bool largest;

  Types type(const Type& x) const {
    require_axis(axis, x.rank());
    const Size n = x.shape[at(axis)];
    require_between(0, count, n.is_symbol() ? beyond_memory : n.raw());
    return picked_types(x, axis, count);
  }
  void eval(Outputs out, Inputs in) const {
    kernels::topk(out[0], out[1], in[0], static_cast<int>(axis), order_of(largest));
  }
  Tensors jvp(const Forward& f) const { return picked_tangents(f, axis); }
  Tensors vjp(const Reverse& r) const { return returned_cotangents(r, axis); }
  Scalar element(ElementWriter& y) const { return sorted_element(y, axis, order_of(largest)); }
  TopK lifted() const { return {axis + 1, count, largest}; }
  static std::vector<Sample<TopK>> samples() {
    return {{{0, 2, true}, {real_sample({4})}},
            {{1, 1, false}, {real_sample({2, 3})}},
            {{0, 3, true}, {real_sample({3, 2})}},
            {{0, 0, true}, {real_sample({3})}}};
  }
};

/// What an ascending sort would put at a place; the axis stays with size 1.
struct KthValue {
  using kind = Explicit;
  static constexpr const char* name = "kth_value";
  static constexpr unsigned keeps = output(1);
  std::int64_t axis, place;

  Types type(const Type& x) const {
    require_axis(axis, x.rank());
    const Size n = x.shape[at(axis)];
    require_between(0, place, (n.is_symbol() ? beyond_memory : n.raw()) - 1);
    return picked_types(x, axis, 1);
  }
  void eval(Outputs out, Inputs in) const {
    kernels::kth_value(out[0], out[1], in[0], static_cast<int>(axis), place, kernels::Order::ascending);
  }
  Tensors jvp(const Forward& f) const { return picked_tangents(f, axis); }
  Tensors vjp(const Reverse& r) const { return returned_cotangents(r, axis); }
  Scalar element(ElementWriter& y) const { return sorted_element(y, axis, kernels::Order::ascending, place); }
  KthValue lifted() const { return {axis + 1, place}; }
  static std::vector<Sample<KthValue>> samples() {
    return {{{0, 2}, {real_sample({4})}}, {{1, 0}, {real_sample({2, 3})}}, {{0, 1}, {real_sample({3, 2})}}};
  }
};

/// The elements of x at one place of each lane, which elements that tie with them share the derivative of; the axis
/// stays with size 1.
struct PickShared {
  using kind = Explicit;
  static constexpr const char* name = "pick_shared";
  static constexpr unsigned keeps = input(0) | output(0);
  std::int64_t axis;

  Type type(const Type& x, const Type& places) const {
    const Type picked = picked_types(x, axis, 1)[0];
    require_shape(places.shape, picked.shape);
    require_dtype(DType::int64, places);
    return picked;
  }
  void eval(Outputs out, Inputs in) const {
    const Strided& x = in[0];
    check_indices({name, {axis}, std::vector(x.shape, x.shape + x.rank), false}, 0, in[1], x, axis);
    kernels::gather(out[0], x, static_cast<int>(axis), in[1]);
  }
  Tensors jvp(const Forward& f) const {
    return {unsqueeze(inner_along(even_share(f.inputs[0], f.outputs[0], {axis}), f.tangents[0], {axis}), axis)};
  }
  Tensors vjp(const Reverse& r) const {
    return {r.cotangents[0] * even_share(r.inputs[0], r.outputs[0], {axis}), Tensor()};
  }
  Scalar element(ElementWriter& y) const {
    std::vector<Coordinate> where = y.coordinates(y.type(0).rank());
    const Whole index = Whole::at(y.element_of(1, where));
    where[at(axis)] = named(y, {name, {axis}, {}, false}, index, y.size(0, static_cast<int>(axis)));
    return y.element_of(0, where);
  }
  PickShared lifted() const { return {axis + 1}; }
  static std::vector<Sample<PickShared>> samples() {
    return {{{0}, {real_sample({4}), tensor(std::vector<std::int64_t>{2})}},
            {{1}, {real_sample({2, 3}), zeros({2, 1}, DType::int64)}},
            {{0}, {real_sample({3, 2}), zeros({1, 2}, DType::int64)}}};
  }
};

std::pair<Tensor, Tensor> pair_of(Tensors outputs) { return {outputs[0], outputs[1]}; }

/// The place of the lower median, or of the first NaN. The axis stays with size 1.
Tensor place_of_median(const Tensor& x, std::int64_t axis) {
  require_elements("median", x, {axis});
  const std::int64_t n = type_of(x).shape[static_cast<std::size_t>(axis)];
  const Tensor place = ricci::apply(KthValue{axis, (n - 1) / 2}, std::span(&x, 1))[1];
  if (!is_floating(type_of(x).dtype)) return place;
  const Tensor top = argmax(x, axis, true);
  return where(isnan(gather(x, axis, top)), top, place);
}

}  // namespace

namespace ops {

std::pair<Tensor, Tensor> sort(const Tensor& x) { return sort(x, -1, false); }
std::pair<Tensor, Tensor> sort(const Tensor& x, std::int64_t dim) { return sort(x, dim, false); }
std::pair<Tensor, Tensor> sort(const Tensor& x, std::int64_t dim, bool descending) {
  require_order("sort", x);
  return along_axis("sort", x, dim, [&](const Tensor& v, std::int64_t axis) {
    return pair_of(ricci::apply(Sort{axis, descending}, std::span(&v, 1)));
  });
}

Tensor argsort(const Tensor& x) { return argsort(x, -1, false); }
Tensor argsort(const Tensor& x, std::int64_t dim) { return argsort(x, dim, false); }
Tensor argsort(const Tensor& x, std::int64_t dim, bool descending) {
  require_order("argsort", x);
  return along_axis("argsort", x, dim, [&](const Tensor& v, std::int64_t axis) {
    return ricci::apply(Sort{axis, descending}, std::span(&v, 1))[1];
  });
}

std::pair<Tensor, Tensor> topk(const Tensor& x, Size k) { return topk(x, k, -1, true); }
std::pair<Tensor, Tensor> topk(const Tensor& x, Size k, std::int64_t dim) { return topk(x, k, dim, true); }
std::pair<Tensor, Tensor> topk(const Tensor& x, Size k, std::int64_t dim, bool largest) {
  require_order("topk", x);
  return along_axis("topk", x, dim, [&](const Tensor& v, std::int64_t axis) {
    const Size n = type_of(v).shape[static_cast<std::size_t>(axis)];
    if (k < 0 || k > n)
      raise<ValueError>("topk: k is " + std::to_string(k.hint()) + ", but axis " + std::to_string(axis) + " of " +
                        type_text(x) + " has " + count_of(n.hint(), "element", "elements") +
                        "; choose k between 0 and that");
    if (type_of(x).rank() == 0 && k == 0)
      raise<ValueError>("topk: k is 0, but " + type_text(x) + " has no axis to shorten; choose k = 1");
    return pair_of(ricci::apply(TopK{axis, k, largest}, std::span(&v, 1)));
  });
}

std::pair<Tensor, Tensor> kthvalue(const Tensor& x, std::int64_t k) { return kthvalue(x, k, -1); }
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, std::int64_t k, std::int64_t dim) {
  return kthvalue(x, k, dim, false);
}
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, std::int64_t k, std::int64_t dim, bool keepdim) {
  require_order("kthvalue", x);
  return along_axis("kthvalue", x, dim, [&](const Tensor& v, std::int64_t axis) {
    const Size n = type_of(v).shape[static_cast<std::size_t>(axis)];
    if (k < 1 || n < k)
      raise<ValueError>("kthvalue: k is " + std::to_string(k) + ", but axis " + std::to_string(axis) + " of " +
                        type_text(x) + " has " + count_of(n.hint(), "element", "elements") +
                        "; choose k between 1 and that");
    const Tensors found = ricci::apply(KthValue{axis, k - 1}, std::span(&v, 1));
    if (keepdim && type_of(x).rank() > 0) return pair_of(found);
    return std::pair{squeeze(found[0], axis), squeeze(found[1], axis)};
  });
}

std::pair<Tensor, Tensor> median(const Tensor& x, std::int64_t dim) { return median(x, dim, false); }
std::pair<Tensor, Tensor> median(const Tensor& x, std::int64_t dim, bool keepdim) {
  require_order("median", x);
  return along_axis("median", x, dim, [&](const Tensor& v, std::int64_t axis) {
    const Tensor place = place_of_median(v, axis), value = gather(v, axis, place);
    if (keepdim && type_of(x).rank() > 0) return std::pair{value, place};
    return std::pair{squeeze(value, axis), squeeze(place, axis)};
  });
}
Tensor median(const Tensor& x) {
  require_order("median", x);
  const Tensor all = flatten(x);
  return squeeze(apply(PickShared{0}, all, place_of_median(all, 0)), 0);
}

}  // namespace ops
}  // namespace ricci
