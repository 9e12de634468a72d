// Reading and writing along one axis with an index of the result's rank: gather, scatter, scatter_add.
#include "kernels/elementwise.h"
#include "kernels/index.h"
#include "ops/dense.h"
#include "ops/indexing.h"
#include "ops/patterns.h"
#include "ops/reading.h"
#include "primitive/called.h"
#include "primitive/given.h"
#include "primitive/wording.h"
#include "primitive/writing.h"
#include "program/structure.h"
#include "ricci/primitive/element_rules.h"

namespace ricci {

namespace {

/// `vmaps` are those whose rows are the first axes of the index.
void check(const IndexPlace& place, std::size_t k, const Strided& index, std::int64_t size, DType dtype,
           const Vmaps& vmaps) {
  const std::int64_t lowest = place.wraps ? -size : 0;
  const auto bad = kernels::find_out_of_range(index, lowest, size);
  if (!bad) return;
  const auto where = [&] {
    const std::int64_t first = first_place(index, [&](std::int64_t n) { return n == *bad; });
    return place_text(first, Shape(index.shape, index.shape + index.rank), vmaps);
  };
  raise<IndexError>(place.op + ": index " + std::to_string(*bad) + (vmaps.empty() ? "" : where()) +
                    " is out of range for axis " + std::to_string(place.axes[k]) + " of " +
                    to_string(Type{dtype, place.shape}) + "; " + legal_range(lowest, size - 1));
}

}  // namespace

void check_indices(const IndexPlace& place, std::size_t k, Strided index, const Strided& x, std::int64_t axis) {
  // A text of a program may say any number.
  const auto vmaps = std::clamp(place.vmaps, std::int64_t{0}, std::int64_t{index.rank});
  check(place, k, index, x.rank == 0 ? 1 : x.shape[axis], x.dtype, Vmaps(at(vmaps), nullptr));
}

DType dtype_of_total(bool accumulate, DType dtype) {
  if (!accumulate) return dtype;
  return is_floating(dtype) ? DType::float64 : computed_dtype(dtype);
}

Scalar written(bool accumulate, DType total, const TypedMask& is_here, Scalar old, Scalar value) {
  Scalar put = this_thread.scalars->converted(total, value, false);
  if (accumulate) put = this_thread.scalars->word(scalar::Word::add, old, put, no_scalar);
  return this_thread.scalars->select(is_here.scalar, put, old);
}

Coordinate named(ElementWriter& y, const IndexPlace& place, const Whole& index, const Whole& size) {
  const TypedMask is_negative = scalar::less(index, Whole(0));
  const Whole from_front = place.wraps ? scalar::select(is_negative, index + size, index) : index;
  const TypedMask is_inside = scalar::greater_equal(from_front, Whole(0)) && scalar::less(from_front, size);
  y.require(is_inside);
  return scalar::select(is_inside, from_front, Whole(0));
}

void check_indices_of_examples(const IndexPlace& place, std::span<const Tensor> indices, DType dtype) {
  if (!this_thread.innermost || this_thread.of_the_user) return;  // in a rule, the user's call is further out
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const auto [seen, vmaps] = elements_of_all_examples(place.op.c_str(), indices[k]);
    if (!seen || vmaps.empty()) continue;
    check(place, k, seen->strided(), place.shape.empty() ? 1 : place.shape[at(place.axes[k])].host(), dtype, vmaps);
  }
}

Tensor require_indices(const char* op, const Tensor& index, int operand) {
  require_defined(op, index, operand);
  const DType dtype = type_of(index).dtype;
  if (category(dtype) != 1)
    raise<TypeError>(std::string(op) + ": the index " + type_text(index) +
                     " is not of integers; convert it, for example with x.to(rc::int64)");
  return dtype == DType::int64 ? index : to(index, DType::int64);
}

namespace {

Tensor test_index(std::vector<std::int64_t> values, Shape shape) { return reshape(tensor(values), shape); }
IndexPlace test_place(std::int64_t axis, Shape shape) { return {"sample", {axis}, shape, false}; }

/// Throws IndexError unless `index` has the axes of `table` and is along none of them larger, `except` one.
void require_no_larger(const Type& index, const Type& table, std::int64_t except) {
  require_between(table.rank(), index.rank(), table.rank());
  for (int i = 0; i < table.rank(); ++i) {
    const Size have = table.shape[at(i)], wanted = index.shape[at(i)];
    if (i != except && !any_symbol(have, wanted)) require_between(0, wanted.raw(), have.raw());
  }
}

/// Throws IndexError unless `index` can name places along `axis` of x.
void require_places(const IndexPlace& place, std::int64_t axis, const Type& x, const Type& index) {
  require_between(1, std::ssize(place.axes), 1);
  require_axis(axis, std::max(x.rank(), 1));
  require_dtype(DType::int64, index);
  require_no_larger(index, x, axis);
}

/// out[i…] = x[i… with i[axis] replaced by index[i…]]; linear in x.
struct Gather {
  using kind = Linear;
  static constexpr const char* name = "gather";
  static constexpr unsigned moves_elements = input(0);
  std::int64_t axis;
  IndexPlace place;

  Type type(const Type& x, const Type& index) const {
    require_places(place, axis, x, index);
    return {x.dtype, index.shape};
  }
  void eval(Outputs out, Inputs in) const {
    check_indices(place, 0, in[1], in[0], axis);
    kernels::gather(out[0], in[0], static_cast<int>(axis), in[1]);
  }
  Structure structure() const { return AtPlaces{AtPlaces::What::reads, axis, place.wraps}; }
  Scalar element(ElementWriter& y) const {
    std::vector<Coordinate> where = y.coordinates(y.type(1).rank());
    const Whole index = Whole::at(y.element_of(1, where));
    where[at(axis)] = named(y, place, index, y.size(0, static_cast<int>(axis)));
    return y.element_of(0, where);
  }
  Tensor transpose(int, const Tensor& ct, const Reverse& r) const;
  Gather lifted() const { return {axis + 1, place.in_examples()}; }
  static std::vector<Sample<Gather>> samples() {
    return {{{1, test_place(1, {2, 3})}, {rand({2, 3}), test_index({0, 2, 2, 1}, {2, 2})}},
            {{0, test_place(0, {4})}, {rand({4}), test_index({3, 3, 0}, {3})}},
            {{0, test_place(0, {4})}, {rand({4}), test_index({}, {0})}}};
  }
};

/// x with src written or added where the index says; linear jointly in x and src.
struct Scatter {
  using kind = Linear;
  static constexpr const char* name = "scatter";
  static constexpr unsigned linear_in = input(0) | input(1);
  std::int64_t axis;
  bool accumulate;
  IndexPlace place;

  unsigned moves_elements() const { return accumulate ? nothing : input(0) | input(1); }
  Type type(const Type& x, const Type& src, const Type& index) const {
    require_places(place, axis, x, index);
    require_dtype(x.dtype, src);
    require_no_larger(index, src, -1);
    return {x.dtype, x.shape};
  }
  void eval(Outputs out, Inputs in) const {
    check_indices(place, 0, in[2], in[0], axis);
    kernels::scatter(accumulate ? kernels::Write::add : kernels::Write::set, out[0], in[0], static_cast<int>(axis),
                     in[2], in[1]);
  }
  bool overwrite(Overwriting step, const Strided& kept, Inputs in) const {
    const Strided &x = in[0], &src = in[1], &index = in[2];
    const Strided of_index{kept.data, kept.dtype, index.rank, index.shape, kept.strides};  // no larger than src
    switch (step) {
      case Overwriting::is_done: return false;
      case Overwriting::keep:
        check_indices(place, 0, index, x, axis);
        kernels::gather(of_index, x, static_cast<int>(axis), index);
        break;
      case Overwriting::replace:
        check_indices(place, 0, index, x, axis);
        kernels::scatter(accumulate ? kernels::Write::add : kernels::Write::set, x, static_cast<int>(axis), index, src);
        break;
      case Overwriting::restore:
        kernels::scatter(kernels::Write::set, x, static_cast<int>(axis), index, of_index);
        break;
    }
    return true;
  }
  /// The indices stand among the inputs of both cotangents.
  Tensors vjp(const Reverse& r) const {
    const Tensor& ct = r.cotangents[0];
    const Tensor of_src = r.wants(1) ? cotangent_of_src(ct, r) : Tensor();
    if (!r.wants(0) || accumulate) return {r.wants(0) ? ct : Tensor(), of_src, Tensor()};
    const auto cleared = [&] {
      return apply(Scatter{axis, false, place}, ct, zeros_of({ct.dtype(), type_of(r.inputs[2]).shape}), r.inputs[2]);
    };
    return {r.last_use ? GivenAway::from_handle(ct, cleared) : cleared(), of_src, Tensor()};
  }
  /// Whether fewer pairs of indices are compared than the table has elements.
  bool pays_in_pairs(const Shape& written, const Shape& table) const {
    const Size pairs = written.numel() * written[at(axis)], elements = table.numel();
    return !place.wraps && !any_symbol(pairs, elements) && pairs <= elements;
  }
  /// Where a later index along the axis names the same place.
  Tensor is_overwritten(const Tensor& index) const {
    const Size count = type_of(index).shape[at(axis)];
    const Tensor number = places_along(count);
    Shape in_pairs = Shape::filled(type_of(index).shape.size() - at(axis) + 1, 1);
    in_pairs[0] = in_pairs[1] = count;
    const Tensor is_later = reshape(gt(reshape(number, {1, count}), reshape(number, {count, 1})), in_pairs);
    const Tensor is_same = eq(unsqueeze(index, axis + 1), unsqueeze(index, axis));
    return any(logical_and(is_same, is_later), axis + 1);
  }
  Tensor cotangent_of_src(const Tensor& ct, const Reverse& r) const {
    const Tensor& index = r.inputs[2];
    // What was written is read back; a src larger than the index has zeros beyond it.
    const auto read_from = [&](const Tensor& x) { return apply(Gather{axis, place}, x, index); };
    Tensor read = read_from(ct);
    const Shape& written = type_of(index).shape;
    const bool is_written_once = accumulate || written[at(axis)].raw() == 1;
    if (!is_written_once && pays_in_pairs(written, r.input_types[0].shape))
      read = where(is_overwritten(index), 0, read);
    else if (!is_written_once)
      read = of_last_writes(
          read, written,
          [&](const Tensor& numbers) {
            const Tensor none = zeros_of({DType::int64, r.input_types[0].shape});
            return apply(Scatter{axis, false, place}, none, numbers, index);
          },
          read_from);
    const Shape& wanted = r.input_types[1].shape;
    if (type_of(read).shape == wanted) return read;
    const Tensor wide = zeros_of({ct.dtype(), wanted});
    Tensor corner = wide;
    for (std::size_t d = 0; d < wanted.size(); ++d)
      corner = narrow(corner, static_cast<std::int64_t>(d), 0, type_of(read).shape[d].host());
    corner.copy_(read);
    return wide;
  }
  Structure structure() const {
    return AtPlaces{accumulate ? AtPlaces::What::adds : AtPlaces::What::sets, axis, place.wraps};
  }
  /// Each element looks at all indices that may name its place.
  Scalar element(ElementWriter& y) const {
    std::vector<Coordinate> where = y.coordinates(y.type(0).rank());
    const Coordinate own = where[at(axis)];
    const Scalar x = y.element_of(0, where);
    const Shape &table = y.type(0).shape, &indices = y.type(2).shape;
    const std::int64_t count = indices[at(axis)].raw();
    if (own.is_lane || count * table[at(axis)].raw() > most_pairs_looked_at) return no_scalar;
    for (std::size_t d = 0; d < where.size(); ++d) {
      if (static_cast<std::int64_t>(d) == axis) continue;
      if (where[d].is_lane && !(indices[d] == table[d])) return no_scalar;
      if (where[d].number >= indices[d].raw()) return x;
    }
    const DType total = dtype_of_total(accumulate, y.type(0).dtype);
    Scalar value = this_thread.scalars->converted(total, x, false);
    for (std::int64_t k = 0; k < count; ++k) {
      where[at(axis)] = k;
      const Whole index = Whole::at(y.element_of(2, where)), size = y.size(0, static_cast<int>(axis));
      const TypedMask is_here = scalar::equal(named(y, place, index, size).value(), own.value());
      value = written(accumulate, total, is_here, value, y.element_of(1, where));
    }
    return this_thread.scalars->converted(y.type(0).dtype, value, false);
  }
  Scatter lifted() const { return {axis + 1, accumulate, place.in_examples()}; }
  static std::vector<Sample<Scatter>> samples() {
    return {{{1, true, test_place(1, {2, 3})}, {rand({2, 3}), rand({2, 2}), test_index({0, 0, 2, 1}, {2, 2})}},
            {{0, false, test_place(0, {4})}, {rand({4}), rand({4}), test_index({3, 0, 3, 3}, {4})}},
            {{0, false, test_place(0, {9})}, {rand({9}), rand({3}), test_index({3, 0, 3}, {3})}},
            {{0, false, test_place(0, {4, 2})}, {rand({4, 2}), rand({2, 2}), test_index({3, 0, 3, 1}, {2, 2})}},
            {{0, true, test_place(0, {4})}, {rand({4}), rand({3}), test_index({1, 1}, {2})}}};
  }
};

Tensor Gather::transpose(int, const Tensor& ct, const Reverse& r) const {
  const Tensor begun = r.begun();
  return GivenAway::from_handle(begun, [&] { return apply(Scatter{axis, true, place}, begun, ct, r.inputs[1]); });
}

void require_rank_of(const char* op, const Tensor& x, const Tensor& index) {
  const int rank = type_of(x).rank(), have = type_of(index).rank();
  if ((rank ? rank : 1) != (have ? have : 1))
    raise<ValueError>(std::string(op) + ": the index " + type_text(index) + " must have as many axes as " +
                      type_text(x));
}

void require_not_larger(const char* op, const Tensor& index, const Tensor& x, std::int64_t except) {
  const Type ti = type_of(index), tx = type_of(x);
  for (std::size_t d = 0; d < ti.shape.size() && d < tx.shape.size(); ++d)
    if (static_cast<std::int64_t>(d) != except && ti.shape[d] > tx.shape[d])
      raise<ValueError>(std::string(op) + ": the index " + to_string(ti) + " is larger than " + to_string(tx) +
                        " along axis " + std::to_string(d));
}

/// A 0-dim index, or x, counts as a vector of one element.
Tensor gathered(const Tensor& x, std::int64_t axis, const Tensor& places, const IndexPlace& place) {
  const bool no_axes = type_of(x).rank() == 0, one_place = type_of(places).rank() == 0;
  return naming_the_example(place, {&places, 1}, x, [&] {
    if (!no_axes && !one_place) return apply(Gather{axis, place}, x, places);
    const Tensor vector =
        apply(Gather{0, place}, no_axes ? reshape(x, {1}) : x, one_place ? reshape(places, {1}) : places);
    return one_place ? reshape(vector, {}) : vector;
  });
}

Tensor scattered(const char* op, bool accumulate, const Tensor& x, std::int64_t dim, const Tensor& index,
                 const Tensor& src) {
  const Scattered s = scattered_operands(op, x, dim, index, src);
  const Tensor y = naming_the_example(s.place, {&s.index, 1}, x,
                                      [&] { return apply(Scatter{s.axis, accumulate, s.place}, s.x, s.src, s.index); });
  return type_of(x).rank() == 0 ? reshape(y, {}) : y;
}

}  // namespace

Scattered scattered_operands(const char* op, const Tensor& x, std::int64_t dim, const Tensor& index,
                             const Tensor& src) {
  const std::int64_t axis = wrap_axis(op, dim, x);
  Tensor places = require_indices(op, index, 2);
  require_defined(op, src, 3);
  require_rank_of(op, x, places);
  require_not_larger(op, places, x, axis);
  const Type tx = type_of(x), ts = type_of(src);
  Tensor values = converted(src, tx.dtype, op);
  if (type_of(places).rank() == 0) places = reshape(places, {1});
  if (ts.rank() == 0) values = expand(values, type_of(places).shape);
  if (type_of(values).rank() != type_of(places).rank())
    raise<ValueError>(std::string(op) + ": the source " + type_text(src) + " must have as many axes as the index " +
                      type_text(index));
  require_not_larger(op, places, values, -1);
  return {tx.rank() == 0 ? reshape(x, {1}) : x, axis, places, values, {op, {axis}, tx.shape, false}};
}

namespace ops {

Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index) {
  const std::int64_t axis = wrap_axis("gather", dim, x);
  const Tensor places = require_indices("gather", index, 2);
  require_rank_of("gather", x, places);
  require_not_larger("gather", places, x, axis);
  const IndexPlace place{"gather", {axis}, type_of(x).shape, false};
  return gathered(x, axis, places, place);
}

Tensor take_along_dim(const Tensor& x, const Tensor& index, std::int64_t dim) {
  const Called as("take_along_dim", x, index);
  const std::int64_t axis = wrap_axis("take_along_dim", dim, x);
  const Tensor places = require_indices("take_along_dim", index, 1);
  require_rank_of("take_along_dim", x, places);
  Shape wide_x = type_of(x).shape, wide_i = type_of(places).shape;
  for (std::size_t d = 0; d < wide_x.size() && d < wide_i.size(); ++d) {
    if (static_cast<std::int64_t>(d) == axis) continue;
    const Size n = wide_x[d] == 1 ? wide_i[d] : wide_x[d];
    if (!(wide_x[d] == n || wide_x[d] == 1) || !(wide_i[d] == n || wide_i[d] == 1))
      raise<ValueError>("take_along_dim: the index " + type_text(index) + " does not broadcast against " +
                        type_text(x) + " along axis " + std::to_string(d));
    wide_x[d] = wide_i[d] = n;
  }
  const IndexPlace place{"take_along_dim", {axis}, type_of(x).shape, true};
  // An expansion to the shape that x has would stand between the way back and the sum that has begun for x.
  const Tensor wide = wide_x == type_of(x).shape ? x : expand(x, wide_x);
  return gathered(wide, axis, expand(places, wide_i), place);
}

Tensor take_along_dim(const Tensor& x, const Tensor& index) {
  const Called as("take_along_dim", x, index);
  return take_along_dim(flatten(x), flatten(index), 0);
}

Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src) {
  return scattered("scatter", false, x, dim, index, src);
}
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src) {
  return scattered("scatter_add", true, x, dim, index, src);
}

const Tensor& Tensor::scatter_(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  overwrite_some(*this, "scatter_", [&] { return ops::scatter(*this, dim, index, src); });
  return *this;
}
const Tensor& Tensor::scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  overwrite_some(*this, "scatter_add_", [&] { return ops::scatter_add(*this, dim, index, src); });
  return *this;
}

}  // namespace ops
}  // namespace ricci
