// Joining and repeating: cat and stack, and what is made of them. Results never share elements with their inputs,
// except meshgrid's.
#include <algorithm>
#include <utility>

#include "kernels/elementwise.h"
#include "ops/axes.h"
#include "ops/patterns.h"
#include "ops/reading.h"
#include "primitive/called.h"
#include "primitive/promotion.h"
#include "program/structure.h"
#include "ricci/primitive/element_rules.h"

namespace ricci {
namespace {

struct Cat {
  using kind = Linear;
  static constexpr const char* name = "cat";
  static constexpr unsigned linear_in = ~0U;
  static constexpr unsigned moves_elements = all_inputs;
  std::int64_t axis;

  Type type(const Types& in) const {
    require_axis(axis, in[0].rank());
    Type type{in[0].dtype, in[0].shape};
    for (std::size_t i = 1; i < in.size(); ++i) {
      require_dtype(type.dtype, in[i]);
      require_between(type.rank(), in[i].rank(), type.rank());
      const Size size = in[i].shape[at(axis)], before = std::exchange(type.shape[at(axis)], size);
      require_shape(in[i].shape, type.shape);
      type.shape[at(axis)] = before + size;
    }
    return type;
  }
  void eval(Outputs out, Inputs in) const {
    std::int64_t done = 0;
    for (const Strided& part : in) {
      void* to = advance(out[0].data, out[0].dtype, done * out[0].strides[axis]);
      kernels::copy({to, out[0].dtype, part.rank, part.shape, out[0].strides}, part);
      done += part.shape[axis];
    }
  }
  Tensor transpose(int i, const Tensor& ct, const Reverse& r) const {
    Size start = 0;
    for (int k = 0; k < i; ++k) start = start + r.input_types[at(k)].shape[at(axis)];
    return narrow(ct, axis, start, r.input_types[at(i)].shape[at(axis)]);
  }
  Cat lifted() const { return {axis + 1}; }
  Structure structure() const { return Joined{axis}; }
  static std::vector<Sample<Cat>> samples() {
    return {{{0}, {rand({2, 3}), rand({1, 3})}}, {{1}, {rand({2, 1}), rand({2, 0}), rand({2, 3})}}, {{0}, {rand({3})}}};
  }
};

/// Each input becomes one place of a new axis.
struct Stack {
  using kind = Linear;
  static constexpr const char* name = "stack";
  static constexpr unsigned linear_in = ~0U;
  static constexpr unsigned moves_elements = all_inputs;
  std::int64_t axis;

  Type type(const Types& in) const {
    require_axis(axis, in[0].rank() + 1);
    for (const Type& x : in) {
      require_dtype(in[0].dtype, x);
      require_shape(x.shape, in[0].shape);
    }
    Type type{in[0].dtype, in[0].shape};
    type.shape.insert(at(axis), static_cast<std::int64_t>(in.size()));
    return type;
  }
  void eval(Outputs out, Inputs in) const {
    Strides strides;  // of one place
    for (int i = 0; i < out[0].rank; ++i)
      if (i != axis) strides.push_back(out[0].strides[i]);
    std::int64_t place = 0;
    for (const Strided& part : in) {
      void* to = advance(out[0].data, out[0].dtype, place++ * out[0].strides[axis]);
      kernels::copy({to, out[0].dtype, part.rank, part.shape, strides.data()}, part);
    }
  }
  Tensor transpose(int i, const Tensor& ct, const Reverse&) const { return select(ct, axis, i); }
  Stack lifted() const { return {axis + 1}; }
  static std::vector<Sample<Stack>> samples() {
    return {{{0}, {rand({2, 3}), rand({2, 3})}}, {{1}, {rand({2}), rand({2}), rand({2})}}, {{0}, {rand({})}}};
  }
};

/// The reverse of Stack along axis 0: one output for each place. One operation, so that its reverse is one too.
struct Unstack {
  using kind = Explicit;
  static constexpr const char* name = "unstack";
  static constexpr unsigned keeps = nothing;
  static constexpr unsigned moves_elements = all_inputs;
  std::int64_t axis;

  Types type(const Type& in) const {
    constexpr std::int64_t most_results = std::int64_t{1} << 24;
    require_axis(axis, in.rank());
    require_between(0, in.shape[at(axis)].host(), most_results);
    Type one{in.dtype, in.shape};
    one.shape.erase(at(axis));
    return Types(at(in.shape[at(axis)].host()), one);
  }
  void eval(Outputs out, Inputs in) const {
    Strides strides;  // of one place
    for (int i = 0; i < in[0].rank; ++i)
      if (i != axis) strides.push_back(in[0].strides[i]);
    std::int64_t place = 0;
    for (const Strided& part : out) {
      void* from = advance(in[0].data, in[0].dtype, place++ * in[0].strides[axis]);
      kernels::copy(part, {from, part.dtype, part.rank, part.shape, strides.data()});
    }
  }
  Tensors jvp(const Forward& f) const { return apply(*this, f.tangents); }
  Tensors vjp(const Reverse& r) const {
    std::vector<Tensor> places;
    for (std::size_t i = 0; i < r.cotangents.size(); ++i) places.push_back(r.cotangent(static_cast<int>(i)));
    return {stack(places, axis)};
  }
  Unstack lifted() const { return {axis + 1}; }
  static std::vector<Sample<Unstack>> samples() { return {{{0}, {rand({2, 3})}}, {{1}, {rand({2, 2, 1})}}}; }
};

/// Joins by P, Cat or Stack, as many at once as a rule's masks can name; outside transforms no rule looks.
template <class P>
Tensor joined(const std::vector<Tensor>& parts, std::int64_t axis) {
  const auto join = [axis](std::span<const Tensor> some) { return ricci::apply(P{axis}, some)[0]; };
  if (!inside_transform() || parts.size() <= max_operands) return join(parts);
  std::vector<Tensor> groups;
  for (std::size_t i = 0; i < parts.size(); i += max_operands)
    groups.push_back(join(std::span(parts).subspan(i, std::min(max_operands, parts.size() - i))));
  return joined<Cat>(groups, axis);
}

void require_tensors(const char* op, const std::vector<Tensor>& tensors) {
  if (tensors.empty()) raise<ValueError>(std::string(op) + ": needs at least one tensor; pass it in the list");
  for (std::size_t i = 0; i < tensors.size(); ++i) require_defined(op, tensors[i], static_cast<int>(i));
}

std::string operands_text(const char* op, std::size_t i, const Type& type, std::size_t base, const Type& wanted) {
  return std::string(op) + ": operand " + std::to_string(i) + " is " + to_string(type) + ", operand " +
         std::to_string(base) + " is " + to_string(wanted) + "; ";
}

/// `places`: the tensors' numbers as the user counts them.
void require_joinable(const std::vector<Tensor>& tensors, const std::vector<std::size_t>& places, std::int64_t axis) {
  const Type first = type_of(tensors[0]);
  if (first.rank() == 0)
    raise<ValueError>("cat: operand " + std::to_string(places[0]) + " is " + to_string(first) +
                      ", which has no axis to join along; use stack");
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const Type type = type_of(tensors[i]);
    bool fits = type.rank() == first.rank();
    for (std::size_t k = 0; fits && k < first.shape.size(); ++k)
      fits = k == at(axis) || type.shape[k] == first.shape[k];
    if (!fits)
      raise<ValueError>(operands_text("cat", places[i], type, places[0], first) + "all sizes but those of axis " +
                        std::to_string(axis) + " must agree");
  }
}

/// As in PyTorch, a tensor [0] among tensors of another rank adds nothing, whatever their other sizes: a list starts
/// so.
std::vector<std::size_t> without_empty_lists(const std::vector<Tensor>& tensors) {
  int rank = 1;
  for (const Tensor& t : tensors) rank = std::max(rank, value_of(t)->type.rank());
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (const Shape& shape = value_of(tensors[i])->type.shape; rank == 1 || shape.size() != 1 || !(shape[0] == 0))
      places.push_back(i);
  return places;
}

std::vector<Tensor> promoted(const std::vector<Tensor>& tensors) {
  Types types;
  SmallVector<const Type*, 4> pointers;
  for (const Tensor& t : tensors) types.push_back(type_of(t));
  for (const Type& type : types) pointers.push_back(&type);
  const DType dtype = result_dtype({pointers.data(), pointers.size()});
  std::vector<Tensor> same = tensors;
  for (std::size_t i = 0; i < same.size(); ++i)
    if (types[i].dtype != dtype || types[i].weak) same[i] = to(same[i], dtype);
  return same;
}

}  // namespace

namespace ops {

std::vector<Tensor> unstack(const Tensor& x) {
  require_defined("unstack", x, 0);
  if (type_of(x).rank() == 0) raise<ValueError>("unstack: " + type_text(x) + " has no axis 0 to take apart");
  const Tensors places = apply(Unstack{0}, {&x, 1});
  return {places.begin(), places.end()};
}

Tensor cat(const std::vector<Tensor>& tensors) { return cat(tensors, 0); }
Tensor cat(const std::vector<Tensor>& all, std::int64_t dim) {
  require_tensors("cat", all);
  const std::vector<Tensor> same = promoted(all);
  const std::vector<std::size_t> places = without_empty_lists(same);
  std::vector<Tensor> tensors;
  for (const std::size_t i : places) tensors.push_back(same[i]);
  const std::int64_t axis = wrap_axis("cat", dim, tensors[0]);
  require_joinable(tensors, places, axis);
  return joined<Cat>(tensors, axis);
}

Tensor stack(const std::vector<Tensor>& tensors) { return stack(tensors, 0); }
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim) {
  require_tensors("stack", tensors);
  const std::int64_t axis = wrap_new_axis("stack", dim, tensors[0]);
  const Type first = type_of(tensors[0]);
  for (std::size_t i = 1; i < tensors.size(); ++i)
    if (const Type type = type_of(tensors[i]); !(type.shape == first.shape))
      raise<ValueError>(operands_text("stack", i, type, 0, first) + "all shapes must agree");
  return joined<Stack>(promoted(tensors), axis);
}

Tensor repeat(const Tensor& x, const Shape& repeats) {
  const Called as("repeat", x);
  require_sizes("repeat", repeats);
  const Shape shape = type_of(x).shape;
  if (repeats.size() < shape.size())
    raise<ValueError>("repeat: " + type_text(x) + " has " + count_of(x.dim(), "axis", "axes") + ", the repeats " +
                      to_string(repeats) + " have only " + std::to_string(repeats.size()));
  // [n, m] → [1, n, 1, m] → [r, n, s, m] → [r·n, s·m]
  const std::size_t extra = repeats.size() - shape.size();
  Shape apart, wide, result;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    const Size size = i < extra ? Size(1) : shape[i - extra];
    apart.push_back(1);
    apart.push_back(size);
    wide.push_back(repeats[i]);
    wide.push_back(size);
  }
  require_countable("repeat", wide);
  for (std::size_t i = 0; i < wide.size(); i += 2) result.push_back(wide[i] * wide[i + 1]);
  return reshape(clone(expand(reshape(x, apart), wide)), result);
}

Tensor repeat_interleave(const Tensor& x, Size repeats, std::int64_t dim) {
  const Called as("repeat_interleave", x);
  const std::int64_t axis = wrap_axis("repeat_interleave", dim, x);
  if (repeats < 0)
    raise<ValueError>("repeat_interleave: repeats is " + std::to_string(repeats.hint()) + "; it must be at least 0");
  const Tensor rows = type_of(x).rank() == 0 ? reshape(x, {1}) : x;
  Shape wide = type_of(rows).shape, result = wide;
  wide.insert(at(axis) + 1, repeats);
  require_countable("repeat_interleave", wide);
  result[at(axis)] = result[at(axis)] * repeats;
  return reshape(clone(expand(unsqueeze(rows, axis + 1), wide)), result);
}

Tensor repeat_interleave(const Tensor& x, Size repeats) {
  const Called as("repeat_interleave", x);
  return repeat_interleave(flatten(x), repeats, 0);
}
Tensor repeat_interleave(const Tensor& x, RepeatOptions options) {
  const Called as("repeat_interleave", x, options.repeats);
  const std::int64_t axis = wrap_axis("repeat_interleave", options.dim, x);
  const Tensor rows = type_of(x).rank() == 0 ? reshape(x, {1}) : x;
  const Size count = type_of(rows).shape[at(axis)];
  const Type given = type_of(options.repeats);
  if (category(given.dtype) != 1)
    raise<TypeError>("repeat_interleave: the repeats " + to_string(given) + " are not integers");
  if (given.rank() > 1 || (given.rank() == 1 && !(given.shape[0] == count) && !(given.shape[0] == 1)))
    raise<ValueError>("repeat_interleave: the repeats " + to_string(given) + " must be one number for each of the " +
                      count_of(count.hint(), "slice", "slices") + " along axis " + std::to_string(axis) + " of " +
                      type_text(x));
  const Tensor repeats = expand(to(options.repeats, DType::int64), {count});
  const AllExamples seen = elements_of_all_examples("repeat_interleave", repeats);
  if (seen.elements && any(lt(wrap(seen.elements), 0)).item<bool>())
    raise<ValueError>("repeat_interleave: a number of repeats is negative; it must be at least 0");
  if (seen.elements && options.output_size && !options.output_size->is_symbol() &&
      !all(eq(sum(wrap(seen.elements), -1), Tensor(*options.output_size))).item<bool>())
    raise<ValueError>("repeat_interleave: output_size is " + std::to_string(options.output_size->hint()) +
                      ", the repeats add up to another number; pass their sum");
  const Size total = options.output_size ? *options.output_size
                                         : Size(size_of_result("repeat_interleave", sum(repeats), options.repeats));
  return index_select(rows, axis, searchsorted(cumsum(repeats, 0), places_along(total), {.right = true}));
}

Tensor tile(const Tensor& x, const Shape& repeats) {
  const Called as("tile", x);
  Shape all = repeats;
  while (all.size() < type_of(x).shape.size()) all.insert(0, 1);
  return repeat(x, all);
}

Tensor roll(const Tensor& x, Size shift) {
  require_defined("roll", x, 0);
  return reshape(roll(flatten(x), shift, 0), type_of(x).shape);
}
Tensor roll(const Tensor& x, const Sizes& shifts, const Axes& dims) {
  require_defined("roll", x, 0);
  if (shifts.size() != dims.size())
    raise<ValueError>("roll: the shifts " + to_string(Shape(shifts.begin(), shifts.end())) + " and the axes " +
                      to_string(Shape(dims.begin(), dims.end())) + " are not as many; give one shift for each axis");
  Tensor rolled = x;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t axis = wrap_axis("roll", dims[i], x);
    const Size n = type_of(x).rank() == 0 ? Size(1) : type_of(x).shape[at(axis)];
    const Size by = shifts[i];
    Size shift = by < 0 ? n + by : by;
    if (shift < 0 || shift > n) {  // more than once around
      const std::int64_t rest = n == 0 ? 0 : by.host() % n.host();
      shift = rest < 0 ? n + rest : Size(rest);
    }
    if (!(shift == 0) && !(shift == n))
      rolled = joined<Cat>({narrow(rolled, axis, n - shift, shift), narrow(rolled, axis, 0, n - shift)}, axis);
  }
  return rolled.is_same(x) ? clone(x) : rolled;
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes) {
  require_tensors("meshgrid", axes);
  Shape shape;
  for (const Tensor& axis : axes) {
    const Type type = type_of(axis);
    if (type.rank() > 1) raise<ValueError>("meshgrid: needs vectors, found " + to_string(type));
    shape.push_back(type.shape.numel());
  }
  std::vector<Tensor> grids;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Shape along = Shape::filled(axes.size(), 1);
    along[i] = shape[i];
    grids.push_back(expand(reshape(axes[i], along), shape));
  }
  return grids;
}
std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes, std::string_view indexing) {
  const Called as("meshgrid");
  const bool is_xy = word_among("meshgrid", "the indexing", indexing, {"ij", "xy"}) == 1;
  std::vector<Tensor> grids = meshgrid(axes);
  if (is_xy && grids.size() > 1)
    for (Tensor& grid : grids) grid = transpose(grid, 0, 1);
  return grids;
}

}  // namespace ops
}  // namespace ricci
