// Further shapes, joins, products and ways of indexing, made of other operations.
#include "ricci/ops/arrangement.h"

#include <algorithm>

#include "ops/axes.h"
#include "primitive/called.h"

namespace ricci {
namespace {

void require_rank(const char* op, const Tensor& x, int least) {
  if (type_of(x).rank() < least)
    raise<ValueError>(std::string(op) + ": " + type_text(x) + " must have at least " + count_of(least, "axis", "axes"));
}

template <class F>
std::vector<Tensor> each(const char* op, const std::vector<Tensor>& tensors, const F& f) {
  std::vector<Tensor> all;
  for (const Tensor& x : tensors) {
    require_defined(op, x, static_cast<int>(all.size()));
    all.push_back(f(x));
  }
  return all;
}

/// `sections` must divide the axis.
std::vector<Tensor> even_split(const char* op, const Tensor& x, std::int64_t sections, std::int64_t axis) {
  const Size size = type_of(x).shape[at(axis)];
  if (sections < 1 || !(size / sections * sections == size))
    raise<ValueError>(std::string(op) + ": axis " + std::to_string(axis) + " of " + type_text(x) +
                      " cannot be split into " + std::to_string(sections) + " parts of one size");
  return tensor_split(x, sections, axis);
}

std::int64_t axis_of_columns(const Tensor& x) { return type_of(x).rank() == 1 ? 0 : 1; }

/// Places [count, r] of choices of r among n, ascending.
std::vector<std::int64_t> choices(std::int64_t n, std::int64_t r, bool with_replacement) {
  std::vector<std::int64_t> all, choice;
  const auto extend = [&](auto& self, std::int64_t from) -> void {
    if (static_cast<std::int64_t>(choice.size()) == r) {
      all.insert(all.end(), choice.begin(), choice.end());
      return;
    }
    for (std::int64_t i = from; i < n; ++i) {
      choice.push_back(i);
      self(self, with_replacement ? i : i + 1);
      choice.pop_back();
    }
  };
  extend(extend, 0);
  return all;
}

/// int64 [rows, columns].
Tensor matrix_of(const std::vector<std::int64_t>& numbers, std::int64_t rows, std::int64_t columns) {
  return reshape(numbers.empty() ? zeros({0}, DType::int64) : tensor(numbers), {rows, columns});
}

/// The places of a triangle: whether column - row is at most, or at least, the offset.
Tensor places_of_triangle(const char* op, std::int64_t rows, std::int64_t columns, std::int64_t offset, bool is_lower) {
  if (rows < 0 || columns < 0)
    raise<ValueError>(std::string(op) + ": a matrix of " + std::to_string(rows) + " rows and " +
                      std::to_string(columns) + " columns has no places; neither may be negative");
  __extension__ using Wide = __int128;
  constexpr Wide most = Wide{1} << 40;  // rows that are gone through, and places
  const auto too_many = [&] {
    raise<ValueError>(std::string(op) + ": the places of a matrix of " + std::to_string(rows) + " rows and " +
                      std::to_string(columns) + " columns are more than memory holds");
  };
  // Row i has the columns from `first` up to `last`; rows before `begin` and from `end` on have none.
  const Wide begin = is_lower ? std::clamp<Wide>(-Wide{offset}, 0, rows) : 0;
  const Wide end = is_lower ? Wide{rows} : std::clamp<Wide>(Wide{columns} - offset, 0, rows);
  if (columns > 0 && end - begin > most) too_many();
  std::vector<std::int64_t> above, below;
  for (Wide i = begin; columns > 0 && i < end; ++i) {
    const Wide first = is_lower ? 0 : std::clamp<Wide>(i + offset, 0, columns);
    const Wide last = is_lower ? std::clamp<Wide>(i + offset + 1, 0, columns) : Wide{columns};
    if (static_cast<Wide>(above.size()) + last - first > most) too_many();
    above.insert(above.end(), static_cast<std::size_t>(last - first), static_cast<std::int64_t>(i));
    for (Wide j = first; j < last; ++j) below.push_back(static_cast<std::int64_t>(j));
  }
  const auto count = static_cast<std::int64_t>(above.size());
  above.insert(above.end(), below.begin(), below.end());
  return matrix_of(above, 2, count);
}

}  // namespace

namespace ops {

Tensor atleast_1d(const Tensor& x) {
  const Called as("atleast_1d", x);
  return type_of(x).rank() == 0 ? reshape(x, {1}) : x;
}
Tensor atleast_2d(const Tensor& x) {
  const Called as("atleast_2d", x);
  return type_of(x).rank() >= 2 ? x : unsqueeze(atleast_1d(x), 0);
}
Tensor atleast_3d(const Tensor& x) {
  const Called as("atleast_3d", x);
  return type_of(x).rank() >= 3 ? x : unsqueeze(atleast_2d(x), -1);
}
std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors) {
  const Called as("broadcast_tensors");
  Tensor common = zeros({}, DType::boolean);
  each("broadcast_tensors", tensors, [&](const Tensor& x) {
    common = logical_or(common, expand(zeros({}, DType::boolean), type_of(x).shape));
    return x;
  });
  return each("broadcast_tensors", tensors, [&](const Tensor& x) { return expand(x, type_of(common).shape); });
}
Tensor fliplr(const Tensor& x) {
  const Called as("fliplr", x);
  require_rank("fliplr", x, 2);
  return flip(x, 1);
}
Tensor flipud(const Tensor& x) {
  const Called as("flipud", x);
  require_rank("flipud", x, 1);
  return flip(x, 0);
}
Tensor rot90(const Tensor& x) { return rot90(x, 1); }
Tensor rot90(const Tensor& x, std::int64_t k) { return rot90(x, k, {0, 1}); }
Tensor rot90(const Tensor& x, std::int64_t k, const Axes& dims) {
  const Called as("rot90", x);
  require_rank("rot90", x, 2);
  const Axes axes = wrap_axes("rot90", dims, x);
  if (axes.size() != 2 || dims.size() != 2)
    raise<ValueError>("rot90: takes two axes, found " + count_of(dims.size(), "axis", "axes"));
  switch ((k % 4 + 4) % 4) {
    case 1: return transpose(flip(x, axes[1]), axes[0], axes[1]);
    case 2: return flip(x, axes);
    case 3: return flip(transpose(x, axes[0], axes[1]), axes[1]);
    default: return clone(x);
  }
}
Tensor diagflat(const Tensor& x) { return diagflat(x, 0); }
Tensor diagflat(const Tensor& x, Size offset) {
  const Called as("diagflat", x);
  return diag_embed(flatten(x), offset, -2, -1);
}
Tensor mH(const Tensor& x) {
  const Called as("mH", x);
  return conj(mT(x));
}
Tensor sum_to_size(const Tensor& x, const Shape& shape) {
  const Called as("sum_to_size", x);
  const Shape& from = type_of(x).shape;
  const std::size_t more = from.size() - std::min(from.size(), shape.size());
  bool fits = shape.size() <= from.size();
  Axes ones;
  for (std::size_t i = 0; fits && i < from.size(); ++i) {
    const bool is_gone = i < more, is_one = !is_gone && shape[i - more] == 1 && !(from[i] == 1);
    if (is_gone || is_one) ones.push_back(static_cast<std::int64_t>(i));
    else fits = from[i] == shape[i - more];
  }
  if (!fits) raise<ValueError>("sum_to_size: " + to_string(shape) + " does not broadcast to " + type_text(x));
  return ones.empty() ? x : reshape(sum(x, ones), shape);
}

Tensor hstack(const std::vector<Tensor>& tensors) {
  const Called as("hstack");
  const std::vector<Tensor> all = each("hstack", tensors, [](const Tensor& x) { return atleast_1d(x); });
  return cat(all, all.empty() ? 0 : axis_of_columns(all[0]));
}
Tensor vstack(const std::vector<Tensor>& tensors) {
  const Called as("vstack");
  return cat(each("vstack", tensors, [](const Tensor& x) { return atleast_2d(x); }), 0);
}
Tensor dstack(const std::vector<Tensor>& tensors) {
  const Called as("dstack");
  return cat(each("dstack", tensors, [](const Tensor& x) { return atleast_3d(x); }), tensors.empty() ? 0 : 2);
}
Tensor column_stack(const std::vector<Tensor>& tensors) {
  const Called as("column_stack");
  const auto as_columns = [](const Tensor& x) { return type_of(x).rank() < 2 ? reshape(x, {-1, 1}) : x; };
  return cat(each("column_stack", tensors, as_columns), tensors.empty() ? 0 : 1);
}
std::vector<Tensor> hsplit(const Tensor& x, std::int64_t sections) {
  const Called as("hsplit", x);
  require_rank("hsplit", x, 1);
  return even_split("hsplit", x, sections, axis_of_columns(x));
}
std::vector<Tensor> hsplit(const Tensor& x, const Shape& indices) {
  const Called as("hsplit", x);
  require_rank("hsplit", x, 1);
  return tensor_split(x, indices, axis_of_columns(x));
}
std::vector<Tensor> vsplit(const Tensor& x, std::int64_t sections) {
  const Called as("vsplit", x);
  require_rank("vsplit", x, 2);
  return even_split("vsplit", x, sections, 0);
}
std::vector<Tensor> vsplit(const Tensor& x, const Shape& indices) {
  const Called as("vsplit", x);
  require_rank("vsplit", x, 2);
  return tensor_split(x, indices, 0);
}
std::vector<Tensor> dsplit(const Tensor& x, std::int64_t sections) {
  const Called as("dsplit", x);
  require_rank("dsplit", x, 3);
  return even_split("dsplit", x, sections, 2);
}
std::vector<Tensor> dsplit(const Tensor& x, const Shape& indices) {
  const Called as("dsplit", x);
  require_rank("dsplit", x, 3);
  return tensor_split(x, indices, 2);
}

Tensor addmv(const Tensor& x, const Tensor& a, const Tensor& v) {
  const Called as("addmv", x, a, v);
  return x + mv(a, v);
}
Tensor addr(const Tensor& x, const Tensor& a, const Tensor& b) {
  const Called as("addr", x, a, b);
  return x + outer(a, b);
}
Tensor addbmm(const Tensor& x, const Tensor& a, const Tensor& b) {
  const Called as("addbmm", x, a, b);
  return x + sum(bmm(a, b), 0);
}
Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b) {
  const Called as("baddbmm", x, a, b);
  return x + bmm(a, b);
}
Tensor block_diag(const std::vector<Tensor>& matrices) {
  const Called as("block_diag");
  if (matrices.empty()) raise<ValueError>("block_diag: takes at least one matrix");
  Size columns = 0;
  const std::vector<Tensor> all = each("block_diag", matrices, [&](const Tensor& x) {
    if (type_of(x).rank() > 2) raise<ValueError>("block_diag: " + type_text(x) + " is no matrix");
    const Tensor matrix = atleast_2d(x);
    columns = columns + type_of(matrix).shape[1];
    return matrix;
  });
  std::vector<Tensor> rows;
  Size before = 0;
  for (const Tensor& x : all) {
    const Size width = type_of(x).shape[1];
    rows.push_back(pad(x, Sizes{before, columns - before - width}));
    before = before + width;
  }
  return cat(rows, 0);
}
Tensor cartesian_prod(const std::vector<Tensor>& vectors) {
  const Called as("cartesian_prod");
  if (vectors.empty()) raise<ValueError>("cartesian_prod: takes at least one vector");
  each("cartesian_prod", vectors, [](const Tensor& x) {
    if (type_of(x).rank() != 1) raise<ValueError>("cartesian_prod: " + type_text(x) + " is no vector");
    return x;
  });
  if (vectors.size() == 1) return vectors[0];
  std::vector<Tensor> columns;
  for (const Tensor& x : meshgrid(vectors)) columns.push_back(flatten(x));
  return stack(columns, 1);
}
Tensor combinations(const Tensor& x) { return combinations(x, 2); }
Tensor combinations(const Tensor& x, std::int64_t r) { return combinations(x, r, false); }
Tensor combinations(const Tensor& x, std::int64_t r, bool with_replacement) {
  const Called as("combinations", x);
  if (type_of(x).rank() != 1) raise<ValueError>("combinations: " + type_text(x) + " is no vector");
  if (r < 0) raise<ValueError>("combinations: r is " + std::to_string(r) + "; it must be at least 0");
  if (r == 0) return zeros({0}, type_of(x).dtype);
  const std::vector<std::int64_t> places = choices(type_of(x).shape[0], r, with_replacement);
  const auto count = static_cast<std::int64_t>(places.size()) / r;
  return reshape(index_select(x, 0, reshape(matrix_of(places, count, r), {count * r})), {count, r});
}

Tensor index_copy(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src) {
  const Called as("index_copy", x, index, src);
  const std::int64_t axis = wrap_own_axis("index_copy", dim, x);
  const Tensor places = atleast_1d(index);
  Shape wanted = type_of(x).shape, beside = Shape::filled(wanted.size(), 1);
  if (type_of(places).rank() != 1)
    raise<ValueError>("index_copy: the index " + type_text(index) + " must have one axis");
  wanted[at(axis)] = beside[at(axis)] = type_of(places).shape[0];
  if (!(type_of(src).shape == wanted))
    raise<ValueError>("index_copy: src " + type_text(src) + " must have the shape " + to_string(wanted));
  return scatter(x, axis, expand(reshape(places, beside), wanted), src);
}
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source) {
  const Called as("masked_scatter", x, mask, source);
  if (type_of(source).shape.numel() == 0)
    raise<ValueError>("masked_scatter: the source " + type_text(source) + " has no elements");
  const Tensor chosen = expand(to(mask, DType::boolean), type_of(x).shape);
  const Tensor count = cumsum(to(flatten(chosen), DType::int64), 0);  // of those up to each place
  const Tensor place = where(flatten(chosen), count - 1, 0);
  return where(chosen, reshape(to(take(source, place), type_of(x).dtype), type_of(x).shape), x);
}
Tensor put(const Tensor& x, const Tensor& index, const Tensor& source) { return put(x, index, source, false); }
Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate) {
  const Called as("put", x, index, source);
  if (!(type_of(index).shape.numel() == type_of(source).shape.numel()))
    raise<ValueError>("put: the index " + type_text(index) + " and the source " + type_text(source) +
                      " must have as many elements");
  return reshape(index_put(flatten(x), {flatten(index)}, flatten(source), accumulate), type_of(x).shape);
}
Tensor as_strided_scatter(const Tensor& x, const Tensor& src, const Shape& size, const Sizes& stride) {
  return as_strided_scatter(x, src, size, stride, 0);
}
Tensor as_strided_scatter(const Tensor& x, const Tensor& src, const Shape& size, const Sizes& stride, Size offset) {
  const Called as("as_strided_scatter", x, src);
  if (!(type_of(src).shape == size))
    raise<ValueError>("as_strided_scatter: src " + type_text(src) + " must have the shape " + to_string(size));
  const Tensor places = as_strided(arange(Tensor(type_of(x).shape.numel())), size, stride, offset);
  return put(x, places, to(src, type_of(x).dtype));
}
std::vector<Tensor> unravel_index(const Tensor& index, const Shape& shape) {
  const Called as("unravel_index", index);
  if (!is_integral(type_of(index).dtype) || type_of(index).dtype == DType::boolean)
    raise<TypeError>("unravel_index: " + type_text(index) + " does not hold integers");
  std::vector<Tensor> coordinates(shape.size());
  Tensor rest = to(index, DType::int64);
  const Size count = type_of(index).shape.numel();
  const bool divides = count.is_symbol() || count != 0;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (divides && !shape[i].is_symbol() && shape[i] == 0)
      raise<ValueError>("unravel_index: the shape " + to_string(shape) + " has no places; its sizes must be above 0");
    coordinates[i] = remainder(rest, Tensor(shape[i]));
    rest = floor_divide(rest, Tensor(shape[i]));
  }
  return coordinates;
}
Tensor tril_indices(std::int64_t rows, std::int64_t columns) { return tril_indices(rows, columns, 0); }
Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  return places_of_triangle("tril_indices", rows, columns, offset, true);
}
Tensor triu_indices(std::int64_t rows, std::int64_t columns) { return triu_indices(rows, columns, 0); }
Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  return places_of_triangle("triu_indices", rows, columns, offset, false);
}

}  // namespace ops
}  // namespace ricci
