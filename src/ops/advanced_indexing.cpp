// NumPy's indexing: integers, slices, new axes and an ellipsis make views; index tensors among them read and write by
// take_front and put_front; boolean masks stand for the places where they are true.
#include <algorithm>
#include <exception>
#include <optional>

#include "ops/dynamic_shapes.h"
#include "ops/indexing.h"
#include "primitive/called.h"
#include "primitive/interpreter.h"
#include "primitive/writing.h"

namespace ricci {
namespace {

using EntryKind = Index::Kind;

bool is_mask(const Index& i) {
  return i.kind == EntryKind::tensor && i.tensor.defined() && i.tensor.dtype() == DType::boolean;
}

/// A mask without axes.
bool is_lone_truth_value(const std::vector<Index>& indices) {
  return indices.size() == 1 && is_mask(indices[0]) && indices[0].tensor.dim() == 0;
}

/// The number of axes an entry uses up.
int axes_of(const Index& i) {
  if (i.kind == EntryKind::new_axis || i.kind == EntryKind::all_others) return 0;
  return is_mask(i) ? static_cast<int>(i.tensor.dim()) : 1;
}

/// What becomes of a mask in an index: the places where it is true, which reads it, or it is kept as it is.
enum class Masks : std::uint8_t { as_places, kept };

/// x after the parts that make views, and the index tensors by the axis they stand at. A kept mask stands at the first
/// of its axes.
struct Resolved {
  Tensor view;
  std::vector<Tensor> indices;
  Axes axes;             // of the view, ascending
  Axes own_axes;         // the same, as axes of x
  bool adjacent = true;  // the result's new axes stand where the first index stood, else in front
};

/// Throws unless the mask has the sizes of x's axes from `axis` on. `own_axis` is the same axis as the user counts it.
void require_mask_fits(const Tensor& mask, const Tensor& x, std::int64_t axis, std::int64_t own_axis,
                       const Tensor& own) {
  const Type tx = type_of(x), tm = type_of(mask);
  for (std::size_t d = 0; d < tm.shape.size(); ++d)
    if (!(tm.shape[d] == tx.shape[at(axis) + d]))
      raise<IndexError>("index: the mask " + type_text(mask) + " does not fit " +
                        (own_axis == 0 ? "" : "axis " + std::to_string(own_axis) + " of ") + type_text(own));
}

/// A mask as one index tensor an axis. Reads its values.
std::vector<Tensor> places_of_mask(const Tensor& mask) {
  const Tensor where = nonzero_of("index", mask, mask);  // [count, axes]
  return unbind(where, 1);
}

Resolved resolve(const Tensor& x, const std::vector<Index>& indices, Masks masks = Masks::as_places) {
  const Called as("index", x);
  int used = 0, ellipses = 0;
  for (const Index& i : indices) {
    used += axes_of(i);
    ellipses += i.kind == EntryKind::all_others;
  }
  const int rank = type_of(x).rank();
  if (used > rank)
    raise<IndexError>("index: " + count_of(used, "index is", "indices are") + " too many for " + type_text(x) +
                      ", which has " + count_of(rank, "axis", "axes"));
  if (ellipses > 1) raise<IndexError>("index: an index may hold one ellipsis, found " + std::to_string(ellipses));

  Resolved r{.view = x, .indices = {}, .axes = {}, .own_axes = {}};
  std::int64_t axis = 0, own_axis = 0;  // of the view, of x
  std::int64_t last_entry = -2, entry = -1;
  for (const Index& i : indices) {
    ++entry;
    switch (i.kind) {
      case EntryKind::new_axis: r.view = unsqueeze(r.view, axis++); break;
      case EntryKind::all_others: axis += rank - used; break;
      case EntryKind::slice:
        r.view = slice(r.view, axis, i.slice.start, i.slice.stop, i.slice.step);
        ++axis;
        break;
      case EntryKind::integer: r.view = select(r.view, axis, wrap_index("index", i.integer, own_axis, x)); break;
      case EntryKind::tensor: {
        require_defined("index", i.tensor, static_cast<int>(entry) + 1);
        if (!r.indices.empty() && last_entry != entry - 1) r.adjacent = false;
        last_entry = entry;
        if (is_mask(i)) {
          if (i.tensor.dim() == 0)
            raise<IndexError>("index: a mask without axes must stand alone; write where(mask, value, x) or x[mask]");
          require_mask_fits(i.tensor, r.view, axis, own_axis, x);
          if (masks == Masks::kept) {
            r.own_axes.push_back(own_axis);
            r.indices.push_back(i.tensor);
            r.axes.push_back(axis);
            axis += axes_of(i);
            break;
          }
        }
        const std::vector<Tensor> places =
            is_mask(i) ? places_of_mask(i.tensor)
                       : std::vector<Tensor>{require_indices("index", i.tensor, static_cast<int>(entry) + 1)};
        for (const Tensor& place : places) {
          r.own_axes.push_back(own_axis + static_cast<std::int64_t>(&place - places.data()));
          r.indices.push_back(place);
          r.axes.push_back(axis++);
        }
        break;
      }
    }
    own_axis += i.kind == EntryKind::all_others ? rank - used : axes_of(i);
  }
  return r;
}

/// The indexed axes in front, the rest behind in order.
Axes front_order(const Resolved& r) {
  Axes order = r.axes;
  for (std::int64_t i = 0; i < type_of(r.view).rank(); ++i)
    if (std::find(r.axes.begin(), r.axes.end(), i) == r.axes.end()) order.push_back(i);
  return order;
}

/// As permute, but x itself where the axes stand so already.
Tensor in_order(const Tensor& x, const Axes& order) {
  return std::ranges::is_sorted(order) ? x : ops::permute(x, order);
}

IndexPlace place_of(const Tensor& x, const Resolved& r) { return {"index", r.own_axes, type_of(x).shape, true}; }

std::int64_t index_rank(const Resolved& r) {
  std::int64_t rank = 0;
  for (const Tensor& i : r.indices) rank = std::max<std::int64_t>(rank, i.dim());
  return rank;
}

/// Where the index axes stand in the result; they come out in front.
std::int64_t result_axis(const Resolved& r) { return r.adjacent ? r.axes[0] : 0; }

Tensor moved_block(const Tensor& x, std::int64_t from, std::int64_t to, std::int64_t count) {
  if (from == to || count == 0) return x;
  Axes source, target;
  for (std::int64_t i = 0; i < count; ++i) {
    source.push_back(from + i);
    target.push_back(to + i);
  }
  return movedim(x, source, target);
}

/// A view and a mask over some of its axes, laid out over all of them, with a value that broadcasts against both.
struct MaskedView {
  Tensor view, mask, value;
};

/// A value for where a mask stands in front of `behind` axes, laid out to broadcast over the axes of the mask: the
/// value's axis that counts true elements has one element, or the value does not reach so far. None for other values.
/// `rank` is that of what the index gives.
std::optional<Tensor> over_mask(const Tensor& value, std::int64_t rank, std::int64_t behind, std::int64_t mask_rank) {
  const Type type = type_of(value);
  if (type.rank() <= behind) return value;
  const std::int64_t counting = type.rank() - 1 - behind;
  const Size count = type.shape[at(counting)];
  if (type.rank() > rank || !(count == 1)) return std::nullopt;
  Tensor laid_out = value;
  for (std::int64_t axis = 1; axis < mask_rank; ++axis) laid_out = unsqueeze(laid_out, counting);
  return laid_out;
}

/// Where one mask stands among indices that make views, and the value does not tell its true elements apart: written
/// by `where`, the mask is not read, so that it may be any value of a transform.
std::optional<MaskedView> masked_view(const Tensor& x, const std::vector<Index>& indices, const Tensor& value) {
  const auto is_tensor = [](const Index& i) { return i.kind == EntryKind::tensor; };
  const auto mask_entry = std::find_if(indices.begin(), indices.end(), is_mask);
  const auto tensors = std::count_if(indices.begin(), indices.end(), is_tensor);
  if (mask_entry == indices.end() || tensors != 1) return std::nullopt;
  const std::int64_t mask_rank = mask_entry->tensor.dim();
  if (mask_rank == 0) return std::nullopt;
  const Resolved r = resolve(x, indices, Masks::kept);
  const std::int64_t rank = type_of(r.view).rank(), behind = rank - r.axes[0] - mask_rank;
  const std::optional<Tensor> laid_out = over_mask(value, rank - mask_rank + 1, behind, mask_rank);
  if (!laid_out) return std::nullopt;
  Tensor mask = mask_entry->tensor;
  for (std::int64_t axis = 0; axis < behind; ++axis) mask = unsqueeze(mask, -1);
  return MaskedView{.view = r.view, .mask = mask, .value = *laid_out};
}

void put_by_mask(const MaskedView& masked, bool accumulate) {
  const Tensor value = converted(masked.value, type_of(masked.view).dtype, "index_put_");
  const Tensor chosen = accumulate ? masked.view + value : value;
  assign_into(masked.view, where(masked.mask, chosen, masked.view), "index_put_");
}

}  // namespace

namespace ops {

Tensor index(const Tensor& x, const std::vector<Index>& indices) {
  // As in PyTorch, one truth value keeps all of x, as the only row of a new axis, or nothing.
  if (is_lone_truth_value(indices)) return index(unsqueeze(x, 0), {Index(reshape(indices[0].tensor, {1}))});
  const Resolved r = resolve(x, indices);
  if (r.indices.empty()) return r.view;
  const Tensor rows = take_front(in_order(r.view, front_order(r)), r.indices, place_of(x, r));
  return moved_block(rows, 0, result_axis(r), index_rank(r));
}

Tensor index_put(const Tensor& x, const std::vector<Index>& indices, const Tensor& value) {
  return index_put(x, indices, value, false);
}
Tensor index_put(const Tensor& x, const std::vector<Index>& indices, const Tensor& value, bool accumulate) {
  const Called as("index_put", x, value);
  const Tensor result = clone(x);
  result.index_put_(indices, value, accumulate);
  return result;
}

const Tensor& Tensor::index_put_(const std::vector<Index>& indices, const Tensor& value) const {
  return index_put_(indices, value, false);
}
const Tensor& Tensor::index_put_(const std::vector<Index>& indices, const Tensor& value, bool accumulate) const {
  const Called as("index_put_", *this, value);
  if (is_lone_truth_value(indices)) {
    ops::unsqueeze(*this, 0).index_put_({Index(indices[0].tensor.reshape({1}))}, value, accumulate);
    return *this;
  }
  if (const auto masked = masked_view(*this, indices, value)) {
    put_by_mask(*masked, accumulate);
    return *this;
  }
  const Resolved r = resolve(*this, indices);
  if (r.indices.empty()) {
    accumulate ? r.view.add_(value) : r.view.copy_(value);
    return *this;
  }
  // [result axes…] → [index axes…, rest…], as put_front takes its values.
  const Axes order = front_order(r);
  const std::int64_t count = index_rank(r),
                     rank = type_of(r.view).rank() - static_cast<std::int64_t>(r.axes.size()) + count;
  Tensor values = value;
  if (result_axis(r) != 0) {
    while (type_of(values).rank() < rank) values = ops::unsqueeze(values, 0);
    values = moved_block(values, result_axis(r), 0, count);
  }
  Axes back = order;
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  overwrite_some(r.view, "index_put_", [&] {
    return ops::permute(put_front(ops::permute(r.view, order), values, r.indices, accumulate, place_of(*this, r)),
                        back);
  });
  return *this;
}

Tensor Tensor::write_through(const Tensor& value) const {
  const Source* source = defined() ? source_of(*this) : nullptr;
  if (!source) return copy_(value);
  const Tensor base = source->base;  // writing may index
  const std::vector<Index> indices = source->indices;
  base.index_put_(indices, value);
  return value;
}

namespace {

/// What a mask that differs per example would show: it can be written to, and reading it is the error.
struct Unreadable final : Link {
  std::exception_ptr error;
  Unreadable(const Tensor& x, std::exception_ptr e) : error(std::move(e)) { base = x; }
  ValueRef value_of(const ValueRef&) const override { std::rethrow_exception(error); }
  ValueRef base_after(const ValueRef&, const ValueRef&) const override { std::rethrow_exception(error); }
  bool locate(Type&, Strides&, void*&) const override { return false; }
};

/// As `x.index({…}) += other` with a mask that is not read: the elements beside it take part in nothing, so that no NaN
/// comes from them into a derivative. False where the value has rows of its own for the true elements.
bool update_by_mask(const Tensor& x, const std::vector<Index>& indices, const Tensor& other,
                    const Tensor& (Tensor::*write)(const Tensor&) const) {
  const auto masked = masked_view(x, indices, other);
  if (!masked) return false;
  const Type type = type_of(masked->view), given = type_of(masked->value);
  const bool is_number = given.rank() == 0 && category(given.dtype) <= category(type.dtype);
  const Tensor value = is_number ? to(masked->value, type.dtype) : masked->value;
  const int neutral = write == &Tensor::add_ || write == &Tensor::sub_ ? 0 : 1;
  const Tensor updated = clone(masked->view);
  (updated.*write)(where(masked->mask, value, neutral));
  put_by_mask({.view = masked->view, .mask = masked->mask, .value = updated}, false);
  return true;
}

}  // namespace

Tensor Tensor::write_through(const Tensor& other, Write write) const {
  if (const Source* source = defined() ? source_of(*this) : nullptr;
      source && dynamic_cast<const Unreadable*>(cell_->link)) {
    const Source place = *source;
    if (update_by_mask(place.base, place.indices, other, write)) return *this;
  }
  const Tensor& updated = (this->*write)(other);
  return defined() && source_of(*this) ? write_through(updated) : updated;
}

namespace {

/// A view, or a copy that knows its source until the next index.
Tensor indexed(const Tensor& x, std::vector<Index> indices) {
  const bool by_tensor =
      std::any_of(indices.begin(), indices.end(), [](const Index& i) { return i.kind == Index::Kind::tensor; });
  if (!by_tensor) return index(x, indices);
  Tensor result;
  try {
    result = index(x, indices);
  } catch (const TransformError&) {
    result = make_view({}, current_level(), new Unreadable(x, std::current_exception()));
  }
  remember_source(result, {x, std::move(indices)});
  return result;
}

}  // namespace

Tensor Tensor::operator[](const Tensor& i) const { return indexed(*this, {Index(i)}); }
Tensor Tensor::operator[](const Index& i) const { return indexed(*this, {i}); }
Tensor Tensor::operator[](std::nullopt_t) const {
  const Called as("index", *this);
  return ops::unsqueeze(*this, 0);
}
Tensor Tensor::index(std::initializer_list<Index> indices) const { return indexed(*this, indices); }
Tensor Tensor::index(const std::vector<Index>& indices) const { return indexed(*this, indices); }

}  // namespace ops
}  // namespace ricci
