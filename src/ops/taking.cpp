// Reading and writing at tuples of indices over the leading axes: the primitives behind index, index_put, index_select,
// index_add and embedding.
#include <algorithm>

#include "kernels/elementwise.h"
#include "kernels/index.h"
#include "ops/axes.h"
#include "ops/indexing.h"
#include "ops/patterns.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "primitive/given.h"
#include "primitive/promotion.h"
#include "primitive/writing.h"
#include "program/structure.h"
#include "ricci/primitive/element_rules.h"

namespace ricci {
namespace {

std::vector<Tensor> from(std::span<const Tensor> tensors, std::size_t first) {
  return {tensors.begin() + static_cast<std::ptrdiff_t>(first), tensors.end()};
}

Shape index_shape(const Types& types, std::size_t first) { return types[first].shape; }

/// [B, p…]: which example an index tuple belongs to.
Tensor example_numbers(Size batch, int index_rank) {
  Shape shape = Shape::filled(static_cast<std::size_t>(index_rank), 1);
  shape.insert(0, batch);
  return reshape(places_along(batch), shape);
}

bool any_mapped(const Batch& b, int first) {
  for (int i = first; i < b.count(); ++i)
    if (b.is_mapped(i)) return true;
  return false;
}

/// The indices of a mapped operation whose table is mapped too: one more in front, the number of the example.
std::vector<Tensor> with_example_numbers(const Batch& b, int first) {
  std::vector<Tensor> indices;
  for (int i = first; i < b.count(); ++i) indices.push_back(b.input(i));
  Tensor numbers = example_numbers(b.size, static_cast<int>(indices[0].dim()) - 1);
  indices.insert(indices.begin(), expand(numbers, type_of(indices[0]).shape));
  return indices;
}

IndexPlace with_batch_axis(IndexPlace place) {
  // The example's number is always in range; errors go on to speak of one example.
  place.axes.insert(0, -1);
  return place.in_examples();
}

/// Throws unless there is an index for each axis behind the first `others` operands, all of one shape.
void require_an_index_each(const char* op, const Types& in, std::size_t others, const IndexPlace& place) {
  const std::size_t wanted = others + std::max<std::size_t>(place.axes.size(), 1);
  if (in.size() != wanted)
    raise<ValueError>(std::string(op) + ": " + std::to_string(in.size()) + " operands; it takes " +
                      std::to_string(wanted));
  for (std::size_t i = others; i < in.size(); ++i) {
    require_dtype(DType::int64, in[i]);
    require_shape(in[i].shape, in[others].shape);
  }
  require_between(1, std::ssize(place.axes), in[0].rank());
}

/// [p…, r…]: what the indices p of n… are of [n…, r…].
Shape rows_shape(const Types& in, std::size_t first, const IndexPlace& place) {
  Shape shape = index_shape(in, first);
  shape.append(in[0].shape.begin() + std::ssize(place.axes), in[0].shape.end());
  return shape;
}

void check_all(const IndexPlace& place, Inputs in, std::size_t first) {
  for (std::size_t k = 0; k < place.axes.size(); ++k)
    check_indices(place, k, in[first + k], in[0], static_cast<std::int64_t>(k));
}

/// Whether the first index is the number of the lane, and of its row of the table: so it is where each example has a
/// table of its own. `first`: the operand that is the first index.
bool names_own_row(ElementWriter& y, std::span<const Coordinate> tuple, const Whole& index, int first) {
  return !tuple.empty() && tuple[0].is_lane && index.scalar() == y.lane().scalar() &&
         y.size(0, 0).scalar() == y.size(first, 0).scalar();
}

struct Take {
  using kind = Linear;
  static constexpr const char* name = "index";
  static constexpr unsigned moves_elements = input(0);
  IndexPlace place;

  std::size_t count() const { return place.axes.size(); }
  Type type(const Types& in) const {
    require_an_index_each(name, in, 1, place);
    return {in[0].dtype, rows_shape(in, 1, place)};
  }
  void eval(Outputs out, Inputs in) const {
    check_all(place, in, 1);
    kernels::take(out[0], in[0], in.subspan(1));
  }
  Structure structure() const { return AtPlaces{AtPlaces::What::reads, std::nullopt, place.wraps}; }
  Scalar element(ElementWriter& y) const {
    const int tuple_axes = y.type(1).rank();
    const std::vector<Coordinate> tuple = y.coordinates(tuple_axes);
    std::vector<Coordinate> where;
    for (int k = 0; k < static_cast<int>(count()); ++k) {
      const Whole index = Whole::at(y.element_of(1 + k, tuple));
      if (k == 0 && names_own_row(y, tuple, index, 1)) where.push_back(tuple[0]);
      else where.push_back(named(y, place, index, y.size(0, k)));
    }
    for (int i = static_cast<int>(count()); i < y.type(0).rank(); ++i)
      where.push_back(y.coordinate(tuple_axes + i - static_cast<int>(count())));
    return y.element_of(0, where);
  }
  Tensor transpose(int, const Tensor& ct, const Reverse& r) const {
    const Tensor begun = r.begun();
    return GivenAway::from_handle(begun, [&] { return put_front(begun, ct, r.inputs.subspan(1), true, place); });
  }
  BatchedOutputs batch(const Batch& b) const {
    const std::vector<Tensor> indices = from(b.inputs, 1);
    if (!any_mapped(b, 1)) {  // [B, n…, r…] → [n…, B, r…] → [p…, B, r…]
      const Tensor rows = take_front(movedim(b.inputs[0], 0, static_cast<std::int64_t>(count())), indices, place);
      return {.outputs = {movedim(rows, indices[0].dim(), 0)}};
    }
    if (!b.is_mapped(0)) {
      std::vector<Tensor> mapped;
      for (int i = 1; i < b.count(); ++i) mapped.push_back(b.input(i));
      return {.outputs = {take_front(b.inputs[0], mapped, place.in_examples())}};
    }
    return {.outputs = {take_front(b.inputs[0], with_example_numbers(b, 1), with_batch_axis(place))}};
  }
  static std::vector<Sample<Take>> samples();
};

/// As kernels::put, tuple by tuple, without allocating. Requires: the operands have at most axes_on_the_stack axes.
void put_back(const Strided& table, std::span<const Strided> indices, const Strided& values) {
  const Strided& tuples = indices[0];
  const auto indexed = static_cast<int>(indices.size());
  std::int64_t tuple[axes_on_the_stack] = {}, count = 1;
  for (int i = 0; i < tuples.rank; ++i) count *= tuples.shape[i];
  for (; count > 0; --count) {
    const auto step = [&](const Strided& of) {
      std::int64_t offset = 0;
      for (int i = 0; i < tuples.rank; ++i) offset += tuple[i] * of.strides[i];
      return offset;
    };
    std::int64_t place = 0;
    for (int k = 0; k < indexed; ++k) {
      const std::int64_t index = static_cast<const std::int64_t*>(indices[at(k)].data)[step(indices[at(k)])];
      place += (index < 0 ? index + table.shape[k] : index) * table.strides[k];
    }
    const int rank = table.rank - indexed;
    kernels::copy(
        {advance(table.data, table.dtype, place), table.dtype, rank, table.shape + indexed, table.strides + indexed},
        {advance(values.data, values.dtype, step(values)), values.dtype, rank, values.shape + tuples.rank,
         values.strides + tuples.rank});
    for (int i = tuples.rank; i-- > 0 && ++tuple[i] == tuples.shape[i];) tuple[i] = 0;
  }
}

/// Linear jointly in the base and the values.
struct PutAt {
  using kind = Linear;
  static constexpr const char* name = "index_put";
  static constexpr unsigned linear_in = input(0) | input(1);
  bool accumulate;
  IndexPlace place;

  unsigned moves_elements() const { return accumulate ? nothing : input(0) | input(1); }
  Type type(const Types& in) const {
    require_an_index_each(name, in, 2, place);
    require_dtype(in[0].dtype, in[1]);
    require_shape(in[1].shape, rows_shape(in, 2, place));
    return {in[0].dtype, in[0].shape};
  }
  std::size_t count() const { return place.axes.size(); }
  void eval(Outputs out, Inputs in) const {
    check_all(place, in, 2);
    kernels::copy(out[0], in[0]);
    kernels::put(accumulate ? kernels::Write::add : kernels::Write::set, out[0], in.subspan(2), in[1]);
  }
  bool overwrite(Overwriting step, const Strided& kept, Inputs in) const {
    switch (step) {
      case Overwriting::is_done: return false;
      case Overwriting::keep:
        check_all(place, in, 2);
        kernels::take(kept, in[0], in.subspan(2));
        break;
      case Overwriting::replace:
        check_all(place, in, 2);
        kernels::put(accumulate ? kernels::Write::add : kernels::Write::set, in[0], in.subspan(2), in[1]);
        break;
      case Overwriting::restore: put_back(in[0], in.subspan(2), kept); break;
    }
    return true;
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor& ct = r.cotangents[0];
    Tensors cotangents(r.input_types.size(), Tensor());
    if (r.wants(1)) cotangents[1] = cotangent_of_values(ct, r);
    if (!r.wants(0)) return cotangents;
    const auto cleared = [&] { return put_front(ct, zeros_of(r.input_types[1]), r.inputs.subspan(2), false, place); };
    if (accumulate) cotangents[0] = ct;
    else cotangents[0] = r.last_use ? GivenAway::from_handle(ct, cleared) : cleared();
    return cotangents;
  }
  Tensor cotangent_of_values(const Tensor& ct, const Reverse& r) const {
    const std::span<const Tensor> indices = r.inputs.subspan(2);
    const Tensor rows = take_front(ct, indices, place);
    const Shape& written = type_of(indices[0]).shape;
    const bool is_written_once = std::ranges::all_of(written, [](Size size) { return size.raw() == 1; });
    if (accumulate || is_written_once) return rows;
    const Shape& table = r.input_types[0].shape;
    const Type numbers{DType::int64, Shape(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(count()))};
    return of_last_writes(
        rows, written,
        [&](const Tensor& values) { return put_front(zeros_of(numbers), values, indices, false, place); },
        [&](const Tensor& numbered) { return take_front(numbered, indices, place); });
  }
  Structure structure() const {
    return AtPlaces{accumulate ? AtPlaces::What::adds : AtPlaces::What::sets, std::nullopt, place.wraps};
  }
  /// Each element looks at all tuples that may name its place. Where examples have a table each, the first index is the
  /// example's number: those of other examples name other places.
  Scalar element(ElementWriter& y) const {
    const auto indexed = static_cast<int>(count());
    const std::vector<Coordinate> own = y.coordinates(y.type(0).rank());
    const bool is_of_lane = indexed > 0 && own[0].is_lane;
    const Shape& tuples = y.type(2).shape;
    const DType total = dtype_of_total(accumulate, y.type(0).dtype);
    Scalar value = this_thread.scalars->converted(total, y.element_of(0, own), false);
    std::int64_t looked_at = 1;
    for (int i = is_of_lane ? 1 : 0; i < tuples.rank(); ++i) looked_at *= tuples[at(i)].raw();
    for (int k = is_of_lane ? 1 : 0; k < indexed; ++k) {
      if (own[at(k)].is_lane) return no_scalar;
      if (looked_at * y.type(0).shape[at(k)].raw() > most_pairs_looked_at) return no_scalar;
    }
    if (is_of_lane && tuples.empty()) return no_scalar;
    for (std::int64_t n = 0; n < looked_at; ++n) {
      std::vector<Coordinate> from;  // of the value: the tuple, then the rest
      std::int64_t step = looked_at;
      for (int i = 0; i < tuples.rank(); ++i) {
        if (i == 0 && is_of_lane) from.push_back(own[0]);
        else step /= tuples[at(i)].raw(), from.emplace_back(n / step % tuples[at(i)].raw());
      }
      const std::span<const Coordinate> tuple(from.data(), at(tuples.rank()));
      if (is_of_lane && !names_own_row(y, tuple, Whole::at(y.element_of(2, tuple)), 2)) return no_scalar;
      TypedMask is_here = scalar::equal(Whole(0), Whole(0));
      for (int k = is_of_lane ? 1 : 0; k < indexed; ++k) {
        const Whole index = Whole::at(y.element_of(2 + k, tuple));
        is_here = is_here && scalar::equal(named(y, place, index, y.size(0, k)).value(), own[at(k)].value());
      }
      std::vector<Coordinate> of_value(from);
      of_value.insert(of_value.end(), own.begin() + indexed, own.end());
      value = written(accumulate, total, is_here, value, y.element_of(1, of_value));
    }
    return this_thread.scalars->converted(y.type(0).dtype, value, false);
  }
  BatchedOutputs batch(const Batch& b) const {
    const auto axes = static_cast<std::int64_t>(count());
    if (!any_mapped(b, 2)) {
      const std::vector<Tensor> indices = from(b.inputs, 2);
      const Tensor rows =
          put_front(movedim(b.input(0), 0, axes), movedim(b.input(1), 0, indices[0].dim()), indices, accumulate, place);
      return {.outputs = {movedim(rows, axes, 0)}};
    }
    return {.outputs = {put_front(b.input(0), b.input(1), with_example_numbers(b, 2), accumulate,
                                  with_batch_axis(place))}};
  }
  static std::vector<Sample<PutAt>> samples();
};

Tensor places(std::vector<std::int64_t> values) { return tensor(values); }

std::vector<Sample<Take>> Take::samples() {
  return {{{{"sample", {0}, {3}, true}}, {rand({3}), places({2, 0, -3, 2})}},
          {{{"sample", {0, 1}, {2, 3, 2}, true}}, {rand({2, 3, 2}), places({1, 0}), places({2, 2})}},
          {{{"sample", {0}, {2, 3}, true}}, {rand({2, 3}), reshape(places({1, 1, 0, 1}), {2, 2})}},
          {{{"sample", {0}, {2, 3}, true}}, {rand({2, 3}), zeros({0}, DType::int64)}}};
}

std::vector<Sample<PutAt>> PutAt::samples() {
  return {
      {{true, {"sample", {0}, {3}, true}}, {rand({3}), rand({4}), places({2, 0, 1, 2})}},
      {{false, {"sample", {0, 1}, {2, 3, 2}, true}}, {rand({2, 3, 2}), rand({2, 2}), places({1, 0}), places({2, 1})}},
      {{false, {"sample", {0}, {3, 2}, true}}, {rand({3, 2}), rand({4, 2}), places({2, 0, 2, -1})}}};
}

std::vector<Tensor> broadcast_together(const char* op, std::span<const Tensor> indices) {
  Shape shape;
  for (const Tensor& index : indices) {
    const Shape own = type_of(index).shape;
    while (shape.size() < own.size()) shape.insert(0, 1);
    for (std::size_t back = 1; back <= own.size(); ++back) {
      Size& size = shape[shape.size() - back];
      const Size n = own[own.size() - back];
      if (size == n || n == 1) continue;
      if (!(size == 1))
        raise<ValueError>(std::string(op) + ": the index tensors do not broadcast: " + type_text(indices[0]) + " and " +
                          type_text(index));
      size = n;
    }
  }
  std::vector<Tensor> wide;
  for (const Tensor& index : indices) wide.push_back(type_of(index).shape == shape ? index : expand(index, shape));
  return wide;
}

}  // namespace

Tensor take_front(const Tensor& x, std::span<const Tensor> indices, const IndexPlace& place) {
  std::vector<Tensor> inputs = broadcast_together(place.op.c_str(), indices);
  inputs.insert(inputs.begin(), x);
  return naming_the_example(place, indices, x,
                            [&] { return ricci::apply(Take{place}, std::span<const Tensor>(inputs))[0]; });
}

Tensor put_front(const Tensor& base, const Tensor& values, std::span<const Tensor> indices, bool accumulate,
                 const IndexPlace& place) {
  std::vector<Tensor> inputs = broadcast_together(place.op.c_str(), indices);
  Shape shape = type_of(inputs[0]).shape;
  const Type type = type_of(base), given = type_of(values);
  shape.append(type.shape.begin() + static_cast<std::ptrdiff_t>(place.axes.size()), type.shape.end());
  Tensor fitted = converted(values, type.dtype, place.op.c_str());
  if (!(given.shape == shape)) fitted = expand(fitted, shape);
  inputs.insert(inputs.begin(), fitted);
  inputs.insert(inputs.begin(), base);
  return naming_the_example(place, indices, base,
                            [&] { return ricci::apply(PutAt{accumulate, place}, std::span<const Tensor>(inputs))[0]; });
}

namespace ops {

namespace {

/// The index as a vector of places along an axis of x; a 0-dim x has one place, which is named once.
Tensor places_named(const char* op, const Tensor& index, const Tensor& x) {
  const Tensor places = require_indices(op, index, 2);
  if (type_of(places).rank() > 1)
    raise<ValueError>(std::string(op) + ": the index " + type_text(index) + " must have 1 axis");
  const Tensor vector = type_of(places).rank() == 0 ? reshape(places, {1}) : places;
  if (type_of(x).rank() == 0 && !(type_of(vector).shape[0] == 1))
    raise<ValueError>(std::string(op) + ": the index " + type_text(index) + " must name 1 place, as " + type_text(x) +
                      " has no axis");
  return vector;
}

/// `src` as [places, …rest of x behind the axis moved to the front], broadcast.
Tensor rows_for(const char* op, const Tensor& src, const Tensor& x, std::int64_t axis, const Tensor& places) {
  require_defined(op, src, 3);
  Shape shape = type_of(x).shape;
  shape[at(axis)] = type_of(places).shape[0];
  if (!broadcasts_to(type_of(src).shape, shape))
    raise<ValueError>(std::string(op) + ": the source " + type_text(src) + " does not broadcast to " +
                      to_string(shape) + ", one place for each index along axis " + std::to_string(axis) + " of " +
                      type_text(x));
  return axis == 0 ? src : movedim(expand(src, shape), axis, 0);
}

/// x with rows written, or added, at places along an axis.
Tensor put_along(const Tensor& x, const Tensor& rows, const Tensor& places, bool accumulate, const IndexPlace& place) {
  const std::int64_t axis = place.axes[0];
  if (axis == 0) return put_front(x, rows, {&places, 1}, accumulate, place);
  return movedim(put_front(movedim(x, axis, 0), rows, {&places, 1}, accumulate, place), 0, axis);
}

}  // namespace

Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index) {
  return along_axis("index_select", x, dim, [&](const Tensor& v, std::int64_t axis) {
    const Tensor places = places_named("index_select", index, x);
    const IndexPlace place{"index_select", {axis}, type_of(x).shape, false};
    if (axis == 0) return take_front(v, {&places, 1}, place);
    return movedim(take_front(movedim(v, axis, 0), {&places, 1}, place), 0, axis);
  });
}

Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src) {
  return along_axis("index_add", x, dim, [&](const Tensor& v, std::int64_t axis) {
    const Tensor places = places_named("index_add", index, x);
    return put_along(v, rows_for("index_add", src, v, axis, places), places, true,
                     {"index_add", {axis}, type_of(x).shape, false});
  });
}

Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src, double alpha) {
  const Called as("index_add", x, index, src);
  return index_add(x, dim, index, times(alpha, src));
}

Tensor index_fill(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& value) {
  return along_axis("index_fill", x, dim, [&](const Tensor& v, std::int64_t axis) {
    const Tensor places = places_named("index_fill", index, x);
    require_defined("index_fill", value, 3);
    if (type_of(value).rank() != 0)
      raise<ValueError>("index_fill: the value " + type_text(value) + " must be a number or a 0-dim tensor");
    return put_along(v, value, places, false, {"index_fill", {axis}, type_of(x).shape, true});
  });
}

Tensor take(const Tensor& x, const Tensor& index) {
  require_defined("take", x, 0);
  const Tensor where = require_indices("take", index, 1), flat = reshape(x, {-1});
  return take_front(flat, {&where, 1}, {"take", {0}, type_of(flat).shape, true});
}

Tensor embedding(const Tensor& index, const Tensor& weight) {
  const Tensor where = require_indices("embedding", index, 0);
  require_defined("embedding", weight, 1);
  if (!is_differentiable(type_of(weight).dtype))
    raise<TypeError>("embedding: the weight " + type_text(weight) +
                     " is neither floating nor complex; the index stands first, and index_select reads integer tables");
  if (type_of(weight).rank() != 2)
    raise<ValueError>("embedding: the weight " + type_text(weight) + " must have 2 axes");
  return take_front(weight, {&where, 1}, {"embedding", {0}, type_of(weight).shape, false});
}

}  // namespace ops
}  // namespace ricci
