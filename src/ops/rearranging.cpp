// Rearranging within one tensor: flips, padding, diagonals, and writing into a region of a copy. Results
// never share elements with their inputs, except contiguous's.
#include <algorithm>
#include <memory>

#include "kernels/elementwise.h"
#include "kernels/flip.h"
#include "ops/axes.h"
#include "ops/put.h"
#include "primitive/called.h"
#include "primitive/writing.h"
#include "program/structure.h"
#include "ricci/primitive/element_rules.h"

namespace ricci {
namespace {

struct Flip {
  using kind = Linear;
  static constexpr const char* name = "flip";
  static constexpr unsigned moves_elements = all_inputs;
  Axes axes;

  Type type(const Type& x) const {
    require_axes(axes, x.rank());
    return {x.dtype, x.shape};
  }
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
  Structure structure() const { return UndoesItself{}; }
  static std::vector<Sample<Flip>> samples() {
    return {{{{0}}, {rand({3})}}, {{{0, 2}}, {rand({2, 3, 4})}}, {{{1}}, {rand({2, 0})}}};
  }
};

/// `low` elements of `value` before and `high` behind every axis.
struct Pad {
  using kind = Explicit;
  static constexpr const char* name = "pad";
  static constexpr unsigned moves_elements = all_inputs;
  Sizes low, high;
  double value;

  Type type(const Type& x) const {
    Type type{x.dtype, x.shape};
    require_between(x.rank(), static_cast<std::int64_t>(low.size()), x.rank());
    require_between(x.rank(), static_cast<std::int64_t>(high.size()), x.rank());
    for (std::size_t i = 0; i < low.size(); ++i) {
      require_between(0, low[i], beyond_memory);
      require_between(0, high[i], beyond_memory);
    }
    for (std::size_t i = 0; i < low.size(); ++i) type.shape[i] = type.shape[i] + low[i] + high[i];
    return type;
  }
  void eval(Outputs out, Inputs in) const {
    kernels::fill(out[0], value, 0);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < low.size(); ++i) first += low[i].host() * out[0].strides[i];
    void* inside = advance(out[0].data, out[0].dtype, first);
    kernels::copy({inside, out[0].dtype, out[0].rank, in[0].shape, out[0].strides}, in[0]);
  }
  Tensors jvp(const Forward& f) const {
    return {f.tangents[0].defined() ? apply(Pad{low, high, 0}, f.tangents[0]) : Tensor()};
  }
  Tensors vjp(const Reverse& r) const {
    Tensor ct = r.cotangent(0);
    for (std::size_t i = 0; i < low.size(); ++i)
      if (low[i].raw() != 0 || high[i].raw() != 0)
        ct = narrow(ct, static_cast<std::int64_t>(i), low[i], r.input_types[0].shape[i]);
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

/// `base` with the part that `view`, made from it by one operation, shows replaced by `value`.
Tensor put_where(const char* op, const Tensor& base, const Tensor& view, const Tensor& value) {
  const OperationLink* link = view.cell()->link ? view.cell()->link->operation() : nullptr;
  const Tensor fitted = conform(value, type_of(view), op);
  return link ? put(base, fitted, ViewParameter{InnerOp(link->op())}) : fitted;  // the view shows all of it
}

/// x without the elements that negative widths cut off; those widths become 0.
Tensor cropped(const Tensor& x, Sizes& low, Sizes& high) {
  Tensor inside = x;
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (low[i] >= 0 && high[i] >= 0) continue;
    const auto cut = [](Size width) { return width < 0 ? 0 - width : Size(0); };
    const Size start = cut(low[i]), stop = type_of(x).shape[i] - cut(high[i]);
    if (stop < start)
      raise<ValueError>("pad: the widths cut more than axis " + std::to_string(i) + " of " + type_text(x) + " has");
    inside = narrow(inside, static_cast<std::int64_t>(i), start, stop - start);
    low[i] = std::max(Size(0), low[i]);
    high[i] = std::max(Size(0), high[i]);
  }
  return inside;
}

}  // namespace

namespace ops {

Tensor flip(const Tensor& x, const Axes& dims) {
  require_defined("flip", x, 0);
  return apply(Flip{dims.empty() ? dims : wrap_axes("flip", dims, x)}, x);
}

Tensor diag_embed(const Tensor& x) { return diag_embed(x, 0, -2, -1); }
Tensor diag_embed(const Tensor& x, Size offset) { return diag_embed(x, offset, -2, -1); }
Tensor diag_embed(const Tensor& x, Size offset, std::int64_t dim1, std::int64_t dim2) {
  const Called as("diag_embed", x);
  const Type type = type_of(x);
  if (type.rank() == 0) raise<ValueError>("diag_embed: needs at least 1 axis, found " + to_string(type));
  const std::int64_t a = wrap_new_axis("diag_embed", dim1, x), b = wrap_new_axis("diag_embed", dim2, x);
  if (a == b)
    raise<ValueError>("diag_embed: both axes are axis " + std::to_string(a) + " of the result; they must differ");
  Shape shape = type.shape;
  const Size side = shape.back() + (offset < 0 ? 0 - offset : offset);
  shape.pop_back();
  shape.insert(at(std::min(a, b)), side);
  shape.insert(at(std::max(a, b)), side);
  return diagonal_scatter(zeros_of({type.dtype, shape}), x, offset, a, b);
}

Tensor diag(const Tensor& x) { return diag(x, 0); }
Tensor diag(const Tensor& x, Size k) {
  require_defined("diag", x, 0);
  const int rank = type_of(x).rank();
  if (rank == 1) return diag_embed(x, k);
  if (rank != 2) raise<ValueError>("diag: needs a vector or a matrix, found " + type_text(x));
  return clone(diagonal(x, k));
}

Tensor pad(const Tensor& x, const Sizes& widths) { return pad(x, widths, 0); }
Tensor pad(const Tensor& x, const Sizes& widths, double value) {
  require_defined("pad", x, 0);
  const auto rank = at(type_of(x).rank());
  if (widths.size() % 2 != 0 || widths.size() > 2 * rank)
    raise<ValueError>("pad: the widths " + to_string(Shape(widths.begin(), widths.end())) + " do not fit " +
                      type_text(x) + "; give two for each axis, the last axis first");
  Sizes low, high;
  low.resize(rank, 0);
  high.resize(rank, 0);
  for (Size width : widths)
    if (!width.is_symbol() && width > beyond_memory)
      raise<ValueError>("pad: a width of " + std::to_string(width.raw()) + " is more than memory can hold; pad less");
  for (std::size_t i = 0; i < widths.size(); i += 2) {
    low[rank - 1 - i / 2] = widths[i];
    high[rank - 1 - i / 2] = widths[i + 1];
  }
  const Tensor inside = cropped(x, low, high);
  return apply(Pad{low, high, value}, inside);
}

Tensor contiguous(const Tensor& x) {
  const Called as("contiguous", x);
  return x.is_contiguous() ? x : clone(x);
}

Tensor slice_scatter(const Tensor& base, const Tensor& value, std::int64_t dim, Size start, Size stop, Size step) {
  const Called as("slice_scatter", base, value);
  return put_where("slice_scatter", base, slice(base, dim, start, stop, step), value);
}
Tensor select_scatter(const Tensor& base, const Tensor& value, std::int64_t dim, Size index) {
  const Called as("select_scatter", base, value);
  return put_where("select_scatter", base, select(base, dim, index), value);
}
Tensor diagonal_scatter(const Tensor& base, const Tensor& value, Size offset, std::int64_t dim1, std::int64_t dim2) {
  const Called as("diagonal_scatter", base, value);
  return put_where("diagonal_scatter", base, diagonal(base, offset, dim1, dim2), value);
}

}  // namespace ops
}  // namespace ricci
