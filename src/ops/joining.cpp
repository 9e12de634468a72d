// Joining, repeating and rearranging: cat, stack and what is made of them, flips, triangles, padding, diagonals, and
// writing into a region of a copy. Results never share elements with their inputs, except meshgrid's and contiguous's.
#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/elementwise.h"
#include "kernels/flip.h"
#include "ops/axes.h"
#include "ops/put.h"
#include "primitive/eager.h"
#include "primitive/writing.h"

namespace ricci {
namespace {

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

std::byte* advance(void* data, DType dtype, std::int64_t elements) {
  return static_cast<std::byte*>(data) + elements * static_cast<std::int64_t>(element_size(dtype));
}

struct Cat {
  using kind = Linear;
  static constexpr const char* name = "cat";
  static constexpr unsigned linear_in = ~0U;
  std::int64_t axis;

  Type type(const Types& in) const {
    Type type{in[0].dtype, in[0].shape};
    for (std::size_t i = 1; i < in.size(); ++i) type.shape[at(axis)] = type.shape[at(axis)] + in[i].shape[at(axis)];
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
    std::int64_t start = 0;
    for (int k = 0; k < i; ++k) start += r.input_types[at(k)].shape[at(axis)].host();
    return narrow(ct, axis, start, r.input_types[at(i)].shape[at(axis)]);
  }
  Cat lifted() const { return {axis + 1}; }
  static std::vector<Sample<Cat>> samples() {
    return {{{0}, {rand({2, 3}), rand({1, 3})}}, {{1}, {rand({2, 1}), rand({2, 0}), rand({2, 3})}}, {{0}, {rand({3})}}};
  }
};

/// Each input becomes one place of a new axis.
struct Stack {
  using kind = Linear;
  static constexpr const char* name = "stack";
  static constexpr unsigned linear_in = ~0U;
  std::int64_t axis;

  Type type(const Types& in) const {
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

struct Flip {
  using kind = Linear;
  static constexpr const char* name = "flip";
  Axes axes;

  Type type(const Type& x) const { return {x.dtype, x.shape}; }
  void eval(Outputs out, Inputs in) const {
    const std::unique_ptr<bool[]> flipped(new bool[at(in[0].rank) + 1]());
    for (std::int64_t axis : axes) flipped[at(axis)] = true;
    kernels::flip(out[0], in[0], flipped.get());
  }
  Tensor transpose(const Tensor& ct) const { return apply(*this, ct); }
  Flip lifted() const {
    Flip flip{axes};
    for (std::int64_t& axis : flip.axes) ++axis;
    return flip;
  }
  static std::vector<Sample<Flip>> samples() {
    return {{{{0}}, {rand({3})}}, {{{0, 2}}, {rand({2, 3, 4})}}, {{{1}}, {rand({2, 0})}}};
  }
};

/// The elements on and above (or on and below) a diagonal of the matrices in the last two axes; zeros elsewhere.
struct Triangle {
  using kind = Linear;
  static constexpr const char* name = "triangle";
  bool upper;
  std::int64_t diagonal;

  Type type(const Type& x) const { return {x.dtype, x.shape}; }
  void eval(Outputs out, Inputs in) const {
    kernels::copy(out[0], in[0]);
    const Strided& to = out[0];
    const std::int64_t rows = to.shape[to.rank - 2], columns = to.shape[to.rank - 1];
    std::int64_t matrices = 1;
    for (int i = 0; i < to.rank - 2; ++i) matrices *= to.shape[i];
    for (std::int64_t row = 0; row < matrices * rows; ++row) {
      const std::int64_t split = std::clamp<std::int64_t>(row % rows + diagonal + (upper ? 0 : 1), 0, columns);
      const std::int64_t from = upper ? 0 : split, until = upper ? split : columns;
      std::memset(advance(to.data, to.dtype, row * columns + from), 0, at(until - from) * element_size(to.dtype));
    }
  }
  Tensor transpose(const Tensor& ct) const { return apply(*this, ct); }
  Triangle lifted() const { return *this; }
  static std::vector<Sample<Triangle>> samples() {
    return {{{true, 0}, {rand({3, 3})}},
            {{false, 1}, {rand({2, 3, 4})}},
            {{true, -1}, {rand({3, 2})}},
            {{false, -5}, {rand({2, 2})}}};
  }
};

/// `low` elements of `value` before and `high` behind every axis.
struct Pad {
  using kind = Explicit;
  static constexpr const char* name = "pad";
  Axes low, high;
  double value;

  Type type(const Type& x) const {
    Type type{x.dtype, x.shape};
    for (std::size_t i = 0; i < low.size(); ++i) type.shape[i] = type.shape[i] + low[i] + high[i];
    return type;
  }
  void eval(Outputs out, Inputs in) const {
    kernels::fill(out[0], value, 0);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < low.size(); ++i) first += low[i] * out[0].strides[i];
    void* inside = advance(out[0].data, out[0].dtype, first);
    kernels::copy({inside, out[0].dtype, out[0].rank, in[0].shape, out[0].strides}, in[0]);
  }
  Tensors jvp(const Forward& f) const {
    return {f.tangents[0].defined() ? apply(Pad{low, high, 0}, f.tangents[0]) : Tensor()};
  }
  Tensors vjp(const Reverse& r) const {
    Tensor ct = r.cotangent(0);
    for (std::size_t i = 0; i < low.size(); ++i)
      if (low[i] != 0 || high[i] != 0) ct = narrow(ct, static_cast<std::int64_t>(i), low[i], r.input_types[0].shape[i]);
    return {ct};
  }
  Pad lifted() const {
    Pad pad = *this;
    pad.low.insert(0, 0);
    pad.high.insert(0, 0);
    return pad;
  }
  static std::vector<Sample<Pad>> samples() {
    return {{{{1, 0}, {0, 2}, 0}, {rand({2, 3})}}, {{{2}, {1}, -1.5}, {rand({3})}}, {{{1}, {1}, 7}, {rand({0})}}};
  }
};

// ── cat and stack ──

/// Joins by P, Cat or Stack, as many at once as a rule's masks can name; outside transforms no rule looks.
template <class P>
Tensor joined(const std::vector<Tensor>& parts, std::int64_t axis) {
  constexpr std::size_t most = 30;
  const auto join = [axis](std::span<const Tensor> some) { return ricci::apply(P{axis}, some)[0]; };
  if (!inside_transform() || parts.size() <= most) return join(parts);
  std::vector<Tensor> groups;
  for (std::size_t i = 0; i < parts.size(); i += most)
    groups.push_back(join(std::span(parts).subspan(i, std::min(most, parts.size() - i))));
  return joined<Cat>(groups, axis);
}

void require_tensors(const char* op, const std::vector<Tensor>& tensors) {
  if (tensors.empty()) raise<ValueError>(std::string(op) + ": needs at least one tensor");
  for (std::size_t i = 0; i < tensors.size(); ++i) require_defined(op, tensors[i], static_cast<int>(i));
}

std::string operands_text(const char* op, std::size_t i, const Type& type, const Type& first) {
  return std::string(op) + ": operand " + std::to_string(i) + " is " + to_string(type) + ", operand 0 is " +
         to_string(first) + "; ";
}

void require_joinable(const std::vector<Tensor>& tensors, std::int64_t axis) {
  const Type first = type_of(tensors[0]);
  if (first.rank() == 0)
    raise<ValueError>("cat: operand 0 is " + to_string(first) + ", which has no axis to join along; use stack");
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const Type type = type_of(tensors[i]);
    bool fits = type.rank() == first.rank();
    for (std::size_t k = 0; fits && k < first.shape.size(); ++k)
      fits = k == at(axis) || type.shape[k] == first.shape[k];
    if (!fits)
      raise<ValueError>(operands_text("cat", i, type, first) + "all sizes but those of axis " + std::to_string(axis) +
                        " must agree");
  }
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

// ── diagonals and regions ──

/// `base` with the part that `view`, made from it by one operation, shows replaced by `value`.
Tensor put_where(const char* op, const Tensor& base, const Tensor& view, const Tensor& value) {
  const auto& link = static_cast<const OperationLink&>(*view.cell()->link);
  return put(base, conform(value, type_of(view), op), ViewParameter{link.rules, link.parameters});
}

Tensor triangle(const char* op, const Tensor& x, bool upper, std::int64_t diagonal) {
  require_defined(op, x, 0);
  if (type_of(x).rank() < 2) raise<ValueError>(std::string(op) + ": needs matrices, found " + type_text(x));
  return apply(Triangle{upper, diagonal}, x);
}

/// x without the elements that negative widths cut off; those widths become 0.
Tensor cropped(const Tensor& x, Axes& low, Axes& high) {
  Tensor inside = x;
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (low[i] >= 0 && high[i] >= 0) continue;
    const std::int64_t n = type_of(x).shape[i], start = std::max<std::int64_t>(0, -low[i]),
                       stop = n + std::min<std::int64_t>(0, high[i]);
    if (stop < start)
      raise<ValueError>("pad: the widths cut more than axis " + std::to_string(i) + " of " + type_text(x) + " has");
    inside = narrow(inside, static_cast<std::int64_t>(i), start, stop - start);
    low[i] = std::max<std::int64_t>(0, low[i]);
    high[i] = std::max<std::int64_t>(0, high[i]);
  }
  return inside;
}

std::string text_of(const Axes& numbers) {
  std::string text;
  for (std::int64_t n : numbers) text += (text.empty() ? "" : ",") + std::to_string(n);
  return "[" + text + "]";
}

}  // namespace

namespace ops {

Tensor cat(const std::vector<Tensor>& tensors) { return cat(tensors, 0); }
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim) {
  require_tensors("cat", tensors);
  const std::int64_t axis = wrap_axis("cat", dim, tensors[0]);
  require_joinable(tensors, axis);
  return joined<Cat>(promoted(tensors), axis);
}

Tensor stack(const std::vector<Tensor>& tensors) { return stack(tensors, 0); }
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim) {
  require_tensors("stack", tensors);
  const std::int64_t axis = wrap_new_axis("stack", dim, tensors[0]);
  const Type first = type_of(tensors[0]);
  for (std::size_t i = 1; i < tensors.size(); ++i)
    if (const Type type = type_of(tensors[i]); !(type.shape == first.shape))
      raise<ValueError>(operands_text("stack", i, type, first) + "all shapes must agree");
  return joined<Stack>(promoted(tensors), axis);
}

Tensor repeat(const Tensor& x, const Shape& repeats) {
  require_defined("repeat", x, 0);
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
    result.push_back(repeats[i] * size);
  }
  return reshape(clone(expand(reshape(x, apart), wide)), result);
}

Tensor repeat_interleave(const Tensor& x, std::int64_t repeats, std::int64_t dim) {
  const std::int64_t axis = wrap_axis("repeat_interleave", dim, x);
  if (repeats < 0)
    raise<ValueError>("repeat_interleave: repeats is " + std::to_string(repeats) + "; it must be at least 0");
  const Tensor rows = type_of(x).rank() == 0 ? reshape(x, {1}) : x;
  Shape wide = type_of(rows).shape, result = wide;
  wide.insert(at(axis) + 1, repeats);
  result[at(axis)] = result[at(axis)] * repeats;
  return reshape(clone(expand(unsqueeze(rows, axis + 1), wide)), result);
}

Tensor tile(const Tensor& x, const Shape& repeats) {
  require_defined("tile", x, 0);
  Shape all = repeats;
  while (all.size() < type_of(x).shape.size()) all.insert(0, 1);
  return repeat(x, all);
}

Tensor flip(const Tensor& x, const Axes& dims) {
  require_defined("flip", x, 0);
  return apply(Flip{dims.empty() ? dims : wrap_axes("flip", dims, x)}, x);
}

Tensor roll(const Tensor& x, std::int64_t shift) {
  require_defined("roll", x, 0);
  return reshape(roll(flatten(x), shift, 0), type_of(x).shape);
}
Tensor roll(const Tensor& x, const Axes& shifts, const Axes& dims) {
  require_defined("roll", x, 0);
  if (shifts.size() != dims.size())
    raise<ValueError>("roll: the shifts " + text_of(shifts) + " and the axes " + text_of(dims) +
                      " are not as many; give one shift for each axis");
  Tensor rolled = x;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t axis = wrap_axis("roll", dims[i], x);
    const std::int64_t n = type_of(x).rank() == 0 ? 1 : type_of(x).shape[at(axis)].host();
    const std::int64_t shift = n == 0 ? 0 : (shifts[i] % n + n) % n;
    if (shift != 0)
      rolled = joined<Cat>({narrow(rolled, axis, n - shift, shift), narrow(rolled, axis, 0, n - shift)}, axis);
  }
  return rolled.is_same(x) ? clone(x) : rolled;
}

Tensor tril(const Tensor& x) { return triangle("tril", x, false, 0); }
Tensor tril(const Tensor& x, std::int64_t diagonal) { return triangle("tril", x, false, diagonal); }
Tensor triu(const Tensor& x) { return triangle("triu", x, true, 0); }
Tensor triu(const Tensor& x, std::int64_t diagonal) { return triangle("triu", x, true, diagonal); }

Tensor diag_embed(const Tensor& x) { return diag_embed(x, 0, -2, -1); }
Tensor diag_embed(const Tensor& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const std::int64_t a = wrap_new_axis("diag_embed", dim1, x), b = wrap_new_axis("diag_embed", dim2, x);
  const Type type = type_of(x);
  if (type.rank() == 0) raise<ValueError>("diag_embed: needs at least 1 axis, found " + to_string(type));
  if (a == b)
    raise<ValueError>("diag_embed: both axes are axis " + std::to_string(a) + " of the result; they must differ");
  Shape shape = type.shape;
  const Size side = shape.back() + std::abs(offset);
  shape.pop_back();
  shape.insert(at(std::min(a, b)), side);
  shape.insert(at(std::max(a, b)), side);
  return diagonal_scatter(zeros(shape, TensorOptions{.dtype = type.dtype}), x, offset, a, b);
}

Tensor diag(const Tensor& x) {
  require_defined("diag", x, 0);
  const int rank = type_of(x).rank();
  if (rank == 1) return diag_embed(x);
  if (rank != 2) raise<ValueError>("diag: needs a vector or a matrix, found " + type_text(x));
  return clone(diagonal(x));
}

Tensor pad(const Tensor& x, const Axes& widths) { return pad(x, widths, 0); }
Tensor pad(const Tensor& x, const Axes& widths, double value) {
  require_defined("pad", x, 0);
  const auto rank = at(type_of(x).rank());
  if (widths.size() % 2 != 0 || widths.size() > 2 * rank)
    raise<ValueError>("pad: the widths " + text_of(widths) + " do not fit " + type_text(x) +
                      "; give two for each axis, the last axis first");
  Axes low, high;
  low.resize(rank, 0);
  high.resize(rank, 0);
  for (std::size_t i = 0; i < widths.size(); i += 2) {
    low[rank - 1 - i / 2] = widths[i];
    high[rank - 1 - i / 2] = widths[i + 1];
  }
  const Tensor inside = cropped(x, low, high);
  return apply(Pad{low, high, value}, inside);
}

Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : clone(x); }

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

Tensor slice_scatter(const Tensor& base, const Tensor& value, std::int64_t dim, std::int64_t start, std::int64_t stop,
                     std::int64_t step) {
  require_defined("slice_scatter", value, 1);
  return put_where("slice_scatter", base, slice(base, dim, start, stop, step), value);
}
Tensor select_scatter(const Tensor& base, const Tensor& value, std::int64_t dim, std::int64_t index) {
  require_defined("select_scatter", value, 1);
  return put_where("select_scatter", base, select(base, dim, index), value);
}
Tensor diagonal_scatter(const Tensor& base, const Tensor& value, std::int64_t offset, std::int64_t dim1,
                        std::int64_t dim2) {
  require_defined("diagonal_scatter", value, 1);
  return put_where("diagonal_scatter", base, diagonal(base, offset, dim1, dim2), value);
}

}  // namespace ops
}  // namespace ricci
