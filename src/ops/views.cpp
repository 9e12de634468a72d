// Views: each is a change of layout, written once as `alias`; its value, its batching and what a write through it does
// follow. Every view is linear: its transpose puts the cotangent back into zeros.
#include <algorithm>
#include <optional>

#include "ops/axes.h"
#include "ops/patterns.h"
#include "ops/put.h"
#include "primitive/called.h"
#include "primitive/writing.h"
#include "program/structure.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

/// The transpose of a view that shows every element at most once.
template <class View>
Tensor put_into_zeros(const View& view, const Tensor& ct, const Type& input) {
  return put_giving_away(zeros_of(input), ct, ViewParameter{InnerOp({&rules_of<View>, &view})});
}

/// The type that follows from the layout rule, for views whose alias needs no elements.
template <class View>
Type type_by_alias(const View& view, const Type& x) {
  Type type = x;
  Strides strides;
  strides.resize(x.shape.size(), 1);
  void* data = nullptr;
  view.alias(type, strides, data);
  return type;
}

/// Throws IndexError unless two shapes, the first of a tensor, hold as many elements; symbols are taken to fit.
void require_as_many_elements(const Shape& have, const Shape& wanted) {
  std::int64_t found = 1, asked = 1;
  bool countable = true;
  for (Size s : have)
    if (s.is_symbol()) return;
    else found *= s.raw();
  for (Size s : wanted)
    if (s.is_symbol()) return;
    else countable &= !__builtin_mul_overflow(asked, s.raw(), &asked);
  require_between(found, countable ? asked : -1, found);
}

struct Permute {
  using kind = Linear;
  static constexpr const char* name = "permute";
  Axes axes;

  Type type(const Type& x) const {
    require_axes(axes, x.rank());
    require_between(x.rank(), static_cast<std::int64_t>(axes.size()), x.rank());
    return type_by_alias(*this, x);
  }
  void alias(Type& type, Strides& strides, void*&) const {
    const Shape shape = type.shape;
    const Strides old = strides;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      type.shape[i] = shape[static_cast<std::size_t>(axes[i])];
      strides[i] = old[static_cast<std::size_t>(axes[i])];
    }
  }
  Permute inverse() const {
    Permute p{axes};
    for (std::size_t i = 0; i < axes.size(); ++i)
      p.axes[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
    return p;
  }
  Tensor transpose(const Tensor& ct) const { return apply(inverse(), ct); }
  Permute lifted() const {
    Permute p;
    p.axes.push_back(0);
    for (std::int64_t a : axes) p.axes.push_back(a + 1);
    return p;
  }
  static std::vector<Sample<Permute>> samples() {
    return {{{{1, 0}}, {rand({2, 3})}},
            {{{2, 0, 1}}, {rand({2, 3, 4})}},
            {{{0}}, {rand({3})}},
            {{{}}, {rand({})}},
            {{{1, 0}}, {rand({0, 3})}}};
  }
};

struct Reshape {
  using kind = Linear;
  static constexpr const char* name = "reshape";
  Shape shape;

  Type type(const Type& x) const {
    require_as_many_elements(x.shape, shape);
    return {x.dtype, shape};
  }
  /// False where the old strides cannot express the new shape.
  bool alias(Type& type, Strides& strides, void*&) const {
    Strides merged;
    if (!restride(type.shape, strides, merged)) return false;
    type.shape = shape;
    type.weak = false;
    strides = merged;
    return true;
  }
  Tensor transpose(const Tensor& ct, const Type& input) const { return apply(Reshape{input.shape}, ct); }
  Reshape lifted(Size batch) const {
    Reshape r{shape};
    r.shape.insert(0, batch);
    return r;
  }
  static std::vector<Sample<Reshape>> samples() {
    return {{{{6}}, {rand({2, 3})}},
            {{{3, 2}}, {rand({2, 3})}},
            {{{1, 1}}, {rand({})}},
            {{{0, 4}}, {rand({2, 0})}},
            {{{2, 2, 3}}, {rand({4, 3})}}};
  }

 private:
  bool restride(const Shape& old_shape, const Strides& old, Strides& strides) const {
    strides.resize(shape.size());
    if (shape.numel() == 0) {
      strides = contiguous_strides(shape);
      return true;
    }
    // Walk both shapes from the back, group by group: axes that merge must be contiguous among themselves.
    std::size_t o = old_shape.size(), n = shape.size();
    while (o > 0 || n > 0) {
      while (o > 0 && old_shape[o - 1] == 1) --o;
      if (o == 0) {
        while (n > 0) strides[--n] = 1;
        return true;
      }
      std::int64_t step = old[o - 1], have = old_shape[o - 1], want = 1;
      --o;
      while (true) {
        while (n > 0 && want < have) {
          --n;
          strides[n] = step * want;
          want *= shape[n].host();
        }
        if (want == have) break;
        while (o > 0 && old_shape[o - 1] == 1) --o;
        if (o == 0 || want < have) return false;
        const bool merges = old[o - 1] == step * have;
        if (!merges) return false;
        have *= old_shape[o - 1].host();
        --o;
      }
    }
    return true;
  }
};

struct Expand {
  using kind = Linear;
  static constexpr const char* name = "expand";
  Shape shape;

  Type type(const Type& x) const {
    require_between(x.rank(), shape.rank(), beyond_memory);
    const std::size_t extra = shape.size() - x.shape.size();
    for (std::size_t i = 0; i < x.shape.size(); ++i)
      if (x.shape[i].raw() != shape[extra + i].raw() && x.shape[i].raw() != 1)
        require_shape({x.shape[i]}, {shape[extra + i]});
    return {x.dtype, shape};
  }
  void alias(Type& type, Strides& strides, void*&) const {
    Strides wide;
    wide.resize(shape.size(), 0);
    const std::size_t extra = shape.size() - strides.size();
    for (std::size_t i = 0; i < strides.size(); ++i)
      wide[extra + i] = type.shape[i] == shape[extra + i] ? strides[i] : 0;
    type = {type.dtype, shape};
    strides = wide;
  }
  Tensor transpose(const Tensor& ct, const Type& input) const { return fit(ct, input); }
  BatchedOutputs batch(const Batch& b) const {
    // [B, x…] → [B, 1…, x…] → [B, shape…]
    Shape padded = type_of(b.inputs[0]).shape, wide = shape;
    while (padded.size() < shape.size() + 1) padded.insert(1, 1);
    wide.insert(0, b.size);
    return {.outputs = {expand(reshape(b.inputs[0], padded), wide)}};
  }
  static std::vector<Sample<Expand>> samples() {
    return {{{{2, 3}}, {rand({3})}},
            {{{2, 3}}, {rand({2, 1})}},
            {{{4}}, {rand({})}},
            {{{0, 3}}, {rand({1, 3})}},
            {{{2, 3}}, {rand({2, 3})}}};
  }
};

/// Along every axis: from `start`, every `step`-th, `size` of them.
struct SliceView {
  using kind = Linear;
  static constexpr const char* name = "slice";
  std::int64_t axis;
  Size start, size, step;

  Type type(const Type& x) const {
    require_axis(axis, x.rank());
    const Size n = x.shape[at(axis)];
    if (!any_symbol(n, size) && !any_symbol(start, step)) require_inside(n.raw());
    return type_by_alias(*this, x);
  }
  void alias(Type& type, Strides& strides, void*& data) const {
    const auto a = static_cast<std::size_t>(axis);
    if (data) data = advance(data, type.dtype, start.raw() * strides[a]);
    if (size.raw() > 1 && !step.is_symbol()) strides[a] *= step.raw();
    type.shape[a] = size;
  }
  Tensor transpose(const Tensor& ct, const Type& input) const { return put_into_zeros(*this, ct, input); }
  SliceView lifted() const { return {axis + 1, start, size, step}; }
  Structure structure() const {
    const bool is_run = !step.is_symbol() && step.raw() == 1;
    return is_run ? Structure(AxisRun{axis, start, size}) : Structure();
  }
  static std::vector<Sample<SliceView>> samples() {
    return {{{0, 1, 2, 1}, {rand({4})}}, {{1, 0, 2, 2}, {rand({2, 4})}}, {{0, 2, 0, 1}, {rand({2, 3})}}};
  }

 private:
  void require_inside(std::int64_t n) const {
    const std::int64_t first = start.raw(), count = size.raw(), every = step.raw();
    if (every == 1 && first >= 0 && count >= 0 && count <= n - first) return;  // the common case, in line
    require_between(0, first, n);
    require_between(1, every, INT64_MAX);
    if (count < 1) return;
    std::int64_t last = 0;  // counted from the first
    if (__builtin_mul_overflow(count - 1, every, &last)) last = n;
    require_between(0, last, n - 1 - first);
  }
};

struct Select {
  using kind = Linear;
  static constexpr const char* name = "select";
  std::int64_t axis;
  Size index;

  Type type(const Type& x) const {
    require_axis(axis, x.rank());
    const Size n = x.shape[at(axis)];
    if (!any_symbol(n, index) && (index.raw() < 0 || index.raw() >= n.raw())) [[unlikely]]
      require_between(0, index.raw(), n.raw() - 1);
    return type_by_alias(*this, x);
  }
  void alias(Type& type, Strides& strides, void*& data) const {
    const auto a = static_cast<std::size_t>(axis);
    if (data) data = advance(data, type.dtype, index.raw() * strides[a]);
    strides.erase(a);
    type.shape.erase(a);
  }
  Tensor transpose(const Tensor& ct, const Type& input) const { return put_into_zeros(*this, ct, input); }
  Select lifted() const { return {axis + 1, index}; }
  static std::vector<Sample<Select>> samples() {
    return {{{0, 1}, {rand({3})}}, {{1, 2}, {rand({2, 3, 2})}}, {{1, 0}, {rand({0, 3})}}};
  }
};

struct Diagonal {
  using kind = Linear;
  static constexpr const char* name = "diagonal";
  Size offset;
  std::int64_t axis1, axis2;

  Type type(const Type& x) const {
    require_axes({axis1, axis2}, x.rank());
    return type_by_alias(*this, x);
  }
  void alias(Type& type, Strides& strides, void*& data) const {
    const auto a = static_cast<std::size_t>(axis1), b = static_cast<std::size_t>(axis2);
    const Size rows = type.shape[a], columns = type.shape[b];
    const Size shift = offset.is_symbol() ? offset : Size(std::clamp(offset.raw(), -beyond_memory, beyond_memory));
    const Size length = std::max(shift >= 0 ? smaller(rows, columns - shift) : smaller(rows + shift, columns), Size(0));
    if (data && length.raw() > 0)
      data = advance(data, type.dtype, shift.raw() >= 0 ? shift.raw() * strides[b] : -shift.raw() * strides[a]);
    const std::int64_t stride = strides[a] + strides[b];
    for (std::size_t axis : {std::max(a, b), std::min(a, b)}) {
      strides.erase(axis);
      type.shape.erase(axis);
    }
    strides.push_back(stride);
    type.shape.push_back(length);
  }
  Tensor transpose(const Tensor& ct, const Type& input) const { return put_into_zeros(*this, ct, input); }
  Diagonal lifted() const { return {offset, axis1 + 1, axis2 + 1}; }
  static std::vector<Sample<Diagonal>> samples() {
    return {{{0, 0, 1}, {rand({3, 3})}},
            {{1, 0, 1}, {rand({2, 4})}},
            {{-1, 2, 0}, {rand({3, 2, 4})}},
            {{5, 0, 1}, {rand({2, 2})}},
            {{INT64_MIN, 0, 1}, {rand({2, 2})}}};
  }
};

struct Unfold {
  using kind = Linear;
  static constexpr const char* name = "unfold";
  std::int64_t axis;
  Size size, step;

  Type type(const Type& x) const {
    require_axis(axis, x.rank());
    const Size n = x.shape[at(axis)];
    require_between(1, step, INT64_MAX);
    require_between(0, size, n.is_symbol() ? INT64_MAX : n.raw());
    return type_by_alias(*this, x);
  }
  void alias(Type& type, Strides& strides, void*&) const {
    const auto a = static_cast<std::size_t>(axis);
    const Size every = step.is_symbol() ? step : Size(std::min(step.raw(), beyond_memory));
    const Size windows = (type.shape[a] - size) / every + 1;
    strides.push_back(strides[a]);
    if (windows.raw() > 1 && !step.is_symbol()) strides[a] *= step.raw();
    type.shape[a] = windows;
    type.shape.push_back(size);
  }
  /// Windows overlap: each window is added to its place.
  Tensor transpose(const Tensor& ct, const Type& input) const {
    const Tensor total = zeros_of(input);
    const Tensor index = places_along(input.shape[at(axis)]).unfold(0, size, step);  // [windows, size]
    const Tensor rows = flatten(movedim(movedim(ct, axis, 0), -1, 1), 0, 1);         // [windows·size, …]
    return movedim(index_add(movedim(total, axis, 0), 0, flatten(index), rows), 0, axis);
  }
  Unfold lifted() const { return {axis + 1, size, step}; }
  static std::vector<Sample<Unfold>> samples() {
    return {{{0, 2, 1}, {rand({5})}}, {{1, 3, 2}, {rand({2, 7})}}, {{0, 3, INT64_MAX}, {rand({4})}}};
  }
};

bool any_symbol(const SmallVector<Size, 6>& sizes) {
  return std::any_of(sizes.begin(), sizes.end(), [](Size s) { return s.is_symbol(); });
}

/// The last element that a view of these strides shows, counted from its first; -1 if it shows none.
Size reach(const char* op, const Shape& size, const Sizes& stride);

/// Element (i, j, …) of the result is element offset + i·stride₀ + j·stride₁ + … of x in row-major order.
struct AsStrided {
  using kind = Linear;
  static constexpr const char* name = "as_strided";
  Shape size;
  Sizes stride;
  Size offset;
  Size elements;  // of x: one example's stride when x gains a batch axis

  Type type(const Type& x) const {
    if (!any_symbol(size) && !any_symbol(x.shape) && !any_symbol(stride)) {
      const std::int64_t last = reach(name, size, stride), numel = x.shape.numel().raw();
      require_between(0, offset, last < 0 ? beyond_memory : numel - 1 - last);
      require_shape({elements}, {numel});
    }
    return {x.dtype, size};
  }
  bool alias(Type& type, Strides& strides, void*& data) const {
    if (data && !is_contiguous(type.shape, strides)) return false;
    if (data) data = advance(data, type.dtype, offset);
    type = {type.dtype, size};
    strides.clear();
    for (Size s : stride) strides.push_back(s.raw());
    return true;
  }
  /// Elements may be shown many times: each adds to its place.
  Tensor transpose(const Tensor& ct, const Type& input) const {
    Tensor places = Tensor(offset).to(DType::int64);  // of every element of the result
    for (std::size_t i = 0; i < size.size(); ++i) {
      Shape shape = Shape::filled(size.size(), 1);
      shape[i] = size[i];
      places = places + reshape(places_along(size[i]) * stride[i], shape);
    }
    const Tensor flat = zeros_of({input.dtype, {input.shape.numel()}});
    return reshape(index_add(flat, 0, flatten(expand(places, size)), flatten(ct)), input.shape);
  }
  AsStrided lifted(Size batch) const {
    AsStrided l{size, stride, offset, elements * batch};
    l.size.insert(0, batch);
    l.stride.insert(0, elements);
    return l;
  }
  static std::vector<Sample<AsStrided>> samples() {
    return {{{{2, 2}, {2, 1}, 1, 6}, {rand({6})}},
            {{{3, 2}, {1, 1}, 0, 6}, {rand({2, 3})}},
            {{{2}, {0}, 3, 4}, {rand({4})}}};
  }
};

}  // namespace

Tensor seen_back(Op view, const Type& base, const Tensor& shown) {
  if (view.rules == &rules_of<Permute>) return apply(erase::as<Permute>(view.parameters).inverse(), shown);
  const bool shows_all = view.rules == &rules_of<Reshape> ||
                         (view.rules == &rules_of<Expand> && type_of(shown).shape.numel() == base.shape.numel());
  return shows_all ? apply(Reshape{base.shape}, shown) : Tensor();
}

namespace {

template <class View, class... Replaced>
Owned<Link> link_of(const Tensor& root, const View& view, const Replaced&... replaced) {
  (void)&registered<View>;
  return new OperationLink(root, {&rules_of<View>, &view}, replaced...);
}

/// The permutation of an array of this shape, in row-major order, that lies like the view; none if there is none.
std::optional<Axes> axes_in_order_of(const Shape& whole, const Shape& view, const Strides& strides) {
  if (whole.size() != view.size()) return std::nullopt;
  const Strides of_whole = contiguous_strides(whole);
  Axes axes;
  SmallVector<bool, 6> is_used(whole.size());
  for (std::size_t i = 0; i < view.size(); ++i) {
    std::size_t a = 0;
    while (a < whole.size() && (is_used[a] || of_whole[a] != strides[i] || whole[a].raw() != view[i].raw())) ++a;
    if (a == whole.size()) return std::nullopt;
    is_used[a] = true;
    axes.push_back(static_cast<std::int64_t>(a));
  }
  return axes;
}

}  // namespace

Owned<Link> link_to_all(const Tensor& root, const Shape& shape, const OperationLink& replaced) {
  return link_of(root, Reshape{shape}, replaced);
}

/// All elements, in order or permuted, need no strides: a write to a row of them is one to a row of the root, and the
/// way back moves none of them.
Owned<Link> strided_link(const Tensor& root, const Shape& shape, const Strides& strides, std::int64_t offset) {
  const Shape& whole = type_of(root).shape;
  const bool shows_all = offset == 0 && shape.numel() == whole.numel();
  if (shows_all && is_contiguous(shape, strides)) return link_of(root, Reshape{shape});
  if (const auto axes = shows_all ? axes_in_order_of(whole, shape, strides) : std::nullopt)
    return link_of(root, Permute{*axes});
  Sizes stride;
  stride.append(strides.begin(), strides.end());
  return link_of(root, AsStrided{shape, stride, offset, whole.numel()});
}

namespace {

Axes identity_axes(std::int64_t rank) {
  Axes axes;
  for (std::int64_t i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

Tensor permuted(const Tensor& x, const Axes& axes) { return apply(Permute{axes}, x); }

/// A shape with at most one -1, completed from the number of elements.
Shape complete_shape(const char* op, const Tensor& x, const Shape& wanted) {
  require_defined(op, x, 0);
  require_countable(op, wanted);
  Shape shape = wanted;
  const Size count = type_of(x).shape.numel();
  Size known = 1;
  int inferred = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].raw() != -1) {
      if (!shape[i].is_symbol() && shape[i].raw() < 0)
        raise<ValueError>(std::string(op) + ": the shape " + to_string(wanted) +
                          " has a negative size; sizes are at least 0, and one may be -1, which is inferred");
      known = known * shape[i];
      continue;
    }
    if (inferred >= 0)
      raise<ValueError>(std::string(op) + ": the shape " + to_string(wanted) + " leaves more than one size to infer");
    inferred = static_cast<int>(i);
  }
  if (inferred >= 0) {
    if (known == 0 || !(count / known * known == count))
      raise<ValueError>(std::string(op) + ": " + type_text(x) + " has " +
                        count_of(count.host(), "element", "elements") + ", which do not fill the shape " +
                        to_string(wanted));
    shape[static_cast<std::size_t>(inferred)] = count / known;
  } else if (!(known == count)) {
    raise<ValueError>(std::string(op) + ": " + type_text(x) + " has " + count_of(count.host(), "element", "elements") +
                      ", the shape " + to_string(wanted) + " needs " + std::to_string(known.hint()));
  }
  return shape;
}

Size reach(const char* op, const Shape& size, const Sizes& stride) {
  require_sizes(op, size);
  if (size.size() != stride.size())
    raise<ValueError>(std::string(op) + ": " + count_of(static_cast<std::int64_t>(stride.size()), "stride", "strides") +
                      " for the sizes " + to_string(size) + "; give one for each");
  Size last = 0;
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (stride[i] < 0)
      raise<ValueError>(std::string(op) + ": stride " + std::to_string(stride[i].hint()) +
                        " is negative; strides count from 0");
    if (size[i] == 0) return -1;
    last = last + (size[i] - 1) * stride[i];
    if (!last.is_symbol() && last == overflowed_size)
      raise<ValueError>(std::string(op) + ": the sizes " + to_string(size) + " and strides " +
                        to_string(Shape(stride.begin(), stride.end())) +
                        " reach further than a 64-bit number counts; make them smaller");
  }
  return last;
}

Tensor reshaped(const char* op, const Tensor& x, const Shape& wanted) {
  const Shape shape = complete_shape(op, x, wanted);
  require_sizes(op, shape);
  return apply(Reshape{shape}, x);
}

}  // namespace

namespace ops {

Tensor reshape(const Tensor& x, const Shape& shape) { return reshaped("reshape", x, shape); }
Tensor view(const Tensor& x, const Shape& shape) { return reshaped("view", x, shape); }

Tensor expand(const Tensor& x, const Shape& wanted) {
  require_defined("expand", x, 0);
  const Type type = type_of(x);
  if (type.rank() > wanted.rank())
    raise<ValueError>("expand: " + type_text(x) + " has " + count_of(type.rank(), "axis", "axes") + ", the shape " +
                      to_string(wanted) + " has only " + std::to_string(wanted.rank()));
  Shape shape = wanted;
  for (std::size_t back = 1; back <= shape.size(); ++back) {
    Size& size = shape[shape.size() - back];
    const bool is_new = back > type.shape.size();
    const Size have = is_new ? Size(1) : type.shape[type.shape.size() - back];
    if (size.raw() == -1 && !is_new) size = have;
    if (!(have == size) && !(have == 1))
      raise<ValueError>("expand: " + type_text(x) + " does not expand to " + to_string(wanted) + "; axis -" +
                        std::to_string(back) + " is " + std::to_string(have.hint()) + " against " +
                        std::to_string(size.hint()) + ", and is not 1");
  }
  require_sizes("expand", shape);
  return apply(Expand{shape}, x);
}
Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  const Called as("broadcast_to", x);
  return expand(x, shape);
}

Tensor permute(const Tensor& x, const Axes& axes) {
  require_defined("permute", x, 0);
  const std::int64_t rank = type_of(x).rank();
  Axes wrapped;
  for (std::int64_t a : axes) wrapped.push_back(a < 0 ? a + rank : a);
  if (!(sorted(wrapped) == identity_axes(rank))) {
    std::string list;
    for (std::int64_t a : axes) list += (list.empty() ? "" : ",") + std::to_string(a);
    raise<ValueError>("permute: [" + list + "] is not a permutation of the " + count_of(rank, "axis", "axes") + " of " +
                      type_text(x));
  }
  return permuted(x, wrapped);
}

Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b) {
  const auto i = static_cast<std::size_t>(wrap_axis("transpose", a, x)),
             j = static_cast<std::size_t>(wrap_axis("transpose", b, x));
  Axes axes = identity_axes(type_of(x).rank());
  if (i != j) std::swap(axes[i], axes[j]);
  return permuted(x, axes);
}
Tensor t(const Tensor& x) {
  const Called as("t", x);
  if (x.dim() > 2)
    raise<ValueError>("t: needs a matrix or a vector, found " + type_text(x) +
                      "; use mT(x) for the last two axes, or permute");
  return x.dim() < 2 ? permuted(x, identity_axes(x.dim())) : transpose(x, 0, 1);
}
Tensor mT(const Tensor& x) {
  const Called as("mT", x);
  return transpose(x, -2, -1);
}

Tensor movedim(const Tensor& x, const Axes& from, const Axes& to) {
  const Axes source = wrap_axes("movedim", from, x), target = wrap_axes("movedim", to, x);
  if (source.size() != target.size()) raise<ValueError>("movedim: as many axes must be moved as places are given");
  const std::int64_t rank = type_of(x).rank();
  Axes axes, rest;
  for (std::int64_t i = 0; i < rank; ++i)
    if (std::find(source.begin(), source.end(), i) == source.end()) rest.push_back(i);
  std::size_t next = 0;
  for (std::int64_t i = 0; i < rank; ++i) {
    const auto at = std::find(target.begin(), target.end(), i);
    axes.push_back(at == target.end() ? rest[next++] : source[static_cast<std::size_t>(at - target.begin())]);
  }
  return permuted(x, axes);
}

Tensor slice(const Tensor& x, std::int64_t dim, std::optional<Size> start, std::optional<Size> stop, Size step) {
  const std::int64_t axis = wrap_own_axis("slice", dim, x);
  if (step < 1) raise<ValueError>("slice: step is " + std::to_string(step.hint()) + "; it must be at least 1");
  const Size n = type_of(x).shape[at(axis)];
  const auto clip = [n](Size i) { return std::clamp(i < 0 ? i + n : i, Size(0), n); };
  const Size from = start ? clip(*start) : Size(0), until = std::max(stop ? clip(*stop) : n, from);
  const Size every = step.is_symbol() ? step : Size(std::min(step.raw(), beyond_memory));  // no axis is longer
  const Size size = step.raw() == 1 ? until - from : (until - from + (every - 1)) / every;
  const bool is_short = !size.is_symbol() && size.raw() <= 1;
  return apply(SliceView{axis, from, size, is_short ? Size(1) : step}, x);
}
Tensor slice(const Tensor& x, std::int64_t dim, std::optional<Size> start, std::optional<Size> stop) {
  return slice(x, dim, start, stop, 1);
}

Tensor select(const Tensor& x, std::int64_t dim, Size index) {
  const std::int64_t axis = wrap_own_axis("select", dim, x);
  return apply(Select{axis, wrap_index("select", index, axis, x)}, x);
}

Tensor narrow(const Tensor& x, std::int64_t dim, Size start, Size length) {
  const std::int64_t axis = wrap_own_axis("narrow", dim, x);
  const Size n = type_of(x).shape[at(axis)], from = start < 0 ? start + n : start;
  if (from < 0 || from > n || length < 0 || length > n - from)
    raise<IndexError>("narrow: start " + std::to_string(start.hint()) + " and length " + std::to_string(length.hint()) +
                      " reach outside axis " + std::to_string(axis) + " of " + type_text(x));
  return apply(SliceView{axis, from, length, 1}, x);
}

Tensor diagonal(const Tensor& x) { return diagonal(x, 0, 0, 1); }
Tensor diagonal(const Tensor& x, Size offset) { return diagonal(x, offset, 0, 1); }
Tensor diagonal(const Tensor& x, Size offset, std::int64_t dim1, std::int64_t dim2) {
  const std::int64_t a = wrap_axis("diagonal", dim1, x), b = wrap_axis("diagonal", dim2, x);
  if (a == b)
    raise<ValueError>("diagonal: both axes are axis " + std::to_string(a) + " of " + type_text(x) +
                      "; they must differ");
  return apply(Diagonal{offset, a, b}, x);
}

Tensor unfold(const Tensor& x, std::int64_t dim, Size size, Size step) {
  const std::int64_t axis = wrap_axis("unfold", dim, x);
  const bool has_axes = type_of(x).rank() > 0;
  const Size n = has_axes ? type_of(x).shape[at(axis)] : Size(1);
  if (step < 1) raise<ValueError>("unfold: step is " + std::to_string(step.hint()) + "; it must be at least 1");
  if (size < 0 || size > n)
    raise<ValueError>("unfold: windows of " + std::to_string(size.hint()) + " do not fit axis " + std::to_string(axis) +
                      " of " + type_text(x));
  if (!has_axes) return narrow(reshape(x, {1}), 0, 0, size);  // one window and no axis to count windows along
  Shape windows = type_of(x).shape;
  windows[static_cast<std::size_t>(axis)] = (n - size) / step + 1;
  windows.push_back(size);
  require_countable("unfold", windows);
  return apply(Unfold{axis, size, step}, x);
}

Tensor squeeze(const Tensor& x) {
  const Called as("squeeze", x);
  Shape shape;
  for (Size s : type_of(x).shape)
    if (!(s == 1)) shape.push_back(s);
  return apply(Reshape{shape}, x);
}
Tensor squeeze(const Tensor& x, std::int64_t dim) {
  const Called as("squeeze", x);
  const std::int64_t axis = wrap_axis("squeeze", dim, x);
  Shape shape = type_of(x).shape;
  if (!shape.empty() && shape[static_cast<std::size_t>(axis)] == 1) shape.erase(static_cast<std::size_t>(axis));
  return apply(Reshape{shape}, x);
}
Tensor squeeze(const Tensor& x, const Axes& dims) {
  const Called as("squeeze", x);
  const Axes axes = dims.empty() ? Axes() : wrap_axes("squeeze", dims, x);
  const Shape old = type_of(x).shape;
  Shape shape;
  for (std::size_t i = 0; i < old.size(); ++i)
    if (!(old[i] == 1) || std::ranges::find(axes, static_cast<std::int64_t>(i)) == axes.end()) shape.push_back(old[i]);
  return apply(Reshape{shape}, x);
}
Tensor unsqueeze(const Tensor& x, std::int64_t dim) {
  const std::int64_t axis = wrap_new_axis("unsqueeze", dim, x);
  Shape shape = type_of(x).shape;
  shape.insert(static_cast<std::size_t>(axis), 1);
  return apply(Reshape{shape}, x);
}
Tensor flatten(const Tensor& x) { return flatten(x, 0, -1); }
Tensor flatten(const Tensor& x, std::int64_t start) { return flatten(x, start, -1); }
Tensor flatten(const Tensor& x, std::int64_t start, std::int64_t end) {
  const auto from = static_cast<std::size_t>(wrap_axis("flatten", start, x)),
             until = static_cast<std::size_t>(wrap_axis("flatten", end, x));
  const Shape old = type_of(x).shape;
  if (old.empty()) return apply(Reshape{{1}}, x);
  if (from > until) raise<ValueError>("flatten: the first axis must not stand behind the last");
  Shape shape;
  for (std::size_t i = 0; i < old.size(); ++i)
    if (i > from && i <= until) shape.back() = shape.back() * old[i];
    else shape.push_back(old[i]);
  return apply(Reshape{shape}, x);
}
Tensor unflatten(const Tensor& x, std::int64_t dim, const Shape& sizes) {
  const auto axis = at(wrap_own_axis("unflatten", dim, x));
  Shape shape = type_of(x).shape, parts = sizes;
  const auto open = std::ranges::find_if(parts, [](const Size& s) { return !s.is_symbol() && s == -1; });
  if (open != parts.end()) {
    *open = 1;
    *open = parts.numel() == 0 ? Size(0) : shape[axis] / parts.numel();
  }
  const bool has_negative = std::ranges::any_of(parts, [](const Size& s) { return !s.is_symbol() && s < 0; });
  if (has_negative || !(parts.numel() == shape[axis]))
    raise<ValueError>("unflatten: axis " + std::to_string(dim) + " has the size " + to_string(Shape{shape[axis]}) +
                      ", which the sizes " + to_string(sizes) +
                      " do not make up; give sizes whose product it is, one of them -1 to be found");
  shape.erase(axis);
  for (std::size_t i = 0; i < parts.size(); ++i) shape.insert(axis + i, parts[i]);
  return reshaped("unflatten", x, shape);
}

Tensor as_strided(const Tensor& x, const Shape& size, const Sizes& stride) { return as_strided(x, size, stride, 0); }
Tensor as_strided(const Tensor& x, const Shape& size, const Sizes& stride, Size offset) {
  require_defined("as_strided", x, 0);
  const Size last = reach("as_strided", size, stride), elements = type_of(x).shape.numel();
  if (offset < 0 || (last >= 0 && offset >= elements - last))
    raise<ValueError>("as_strided: the view reaches from element " + std::to_string(offset.hint()) + " " +
                      std::to_string(last.hint()) + " further, " + type_text(x) + " has " +
                      count_of(elements.hint(), "element", "elements") + "; stay inside them");
  return apply(AsStrided{size, stride, last < 0 ? Size(0) : offset, elements}, x);
}

Tensor Tensor::new_empty_strided(const Shape& size, const Sizes& stride) const {
  const Called as("new_empty_strided", *this);
  return new_empty({reach("new_empty_strided", size, stride) + 1}).as_strided(size, stride);
}

}  // namespace ops
}  // namespace ricci
