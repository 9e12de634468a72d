// nonzero, masked_select, unique: they read values, so they are refused where values differ per example.
#include "ops/dynamic_shapes.h"

#include <algorithm>

#include "kernels/index.h"
#include "ops/axes.h"
#include "ops/patterns.h"
#include "ops/reading.h"
#include "primitive/called.h"
#include "program/structure.h"

namespace ricci {

namespace {

/// The coordinates of the first `size` elements that are not zero, -1 where there are fewer; for each place of the
/// leading axes.
struct NonzeroOfSize {
  using kind = Explicit;
  static constexpr const char* name = "nonzero";
  static constexpr bool locally_constant = true;
  Size size;
  std::int64_t leading = 0;

  Type type(const Type& x) const {
    require_between(0, leading, x.rank());
    require_between(0, size, INT64_MAX);
    Shape shape(x.shape.begin(), x.shape.begin() + leading);
    shape.push_back(size);
    shape.push_back(x.rank() - leading);
    return {DType::int64, shape};
  }
  void eval(Outputs out, Inputs in) const {
    const Strided& x = in[0];
    const Strided one{x.data, x.dtype, x.rank - static_cast<int>(leading), x.shape + leading, x.strides + leading};
    auto* to = static_cast<std::int64_t*>(out[0].data);
    const auto width = static_cast<std::size_t>(one.rank), block = static_cast<std::size_t>(size.host()) * width;
    for_each_place(x, leading, [&](void* data) {
      Strided row = one;
      row.data = data;
      const std::int64_t count = kernels::count_nonzero(row);
      std::vector<std::int64_t> found(static_cast<std::size_t>(count) * width);
      const std::int64_t shape[] = {count, row.rank}, strides[] = {row.rank, 1};
      kernels::nonzero({found.data(), DType::int64, 2, shape, strides}, row);
      const std::size_t kept = std::min(found.size(), block);
      std::copy_n(found.begin(), kept, to);
      std::fill(to + kept, to + block, -1);
      to += block;
    });
  }
  NonzeroOfSize lifted() const { return {size, leading + 1}; }
  static std::vector<Sample<NonzeroOfSize>> samples() {
    const Tensor x = gt(rand({3, 4}), 0.5);
    return {{{5, 0}, {x}}, {{20, 0}, {x}}, {{2, 1}, {x}}};
  }

 private:
  /// Calls f with the data of each place of the leading axes, row-major.
  template <class F>
  static void for_each_place(const Strided& x, std::int64_t leading, const F& f) {
    std::vector<std::int64_t> place(static_cast<std::size_t>(leading));
    std::int64_t places = 1;
    for (std::int64_t axis = 0; axis < leading; ++axis) places *= x.shape[axis];
    for (std::int64_t n = 0; n < places; ++n) {
      std::int64_t rest = n, offset = 0;
      for (std::int64_t axis = leading; axis-- > 0; rest /= x.shape[axis])
        offset += rest % x.shape[axis] * x.strides[axis];
      f(static_cast<std::byte*>(x.data) + offset * static_cast<std::int64_t>(element_size(x.dtype)));
    }
  }
};

void require_options(const char* op, const SizeOptions& options) {
  if (options.size < 0)
    raise<ValueError>(std::string(op) + ": size is " + std::to_string(options.size.hint()) +
                      "; it must not be negative");
  if (options.fill.defined() && options.fill.dim() != 0)
    raise<ValueError>(std::string(op) + ": fill is " + type_text(options.fill) + "; it must be a number or 0-dim");
}

/// The elements of the 1-dim x at `places` [n, 1], `fill` where a place is negative.
Tensor taken(const Tensor& x, const Tensor& places, const Tensor& fill) {
  const Tensor at = squeeze(places, 1);
  const Type type = type_of(x);
  const Tensor one = full({1}, fill.defined() ? fill : Tensor(0), type.dtype);
  const Tensor filled = cat(std::vector{x, one}, 0);
  return index_select(filled, 0, where(lt(at, 0), type.shape.numel(), at));
}

/// x and the mask under one shape, as rows of elements.
std::pair<Tensor, Tensor> aligned(const char* op, const Tensor& x, const Tensor& mask) {
  require_defined(op, x, 0);
  require_defined(op, mask, 1);
  const Shape shape = type_of(add(zeros_like(x), mask)).shape;
  const auto spread = [&](const Tensor& t) { return type_of(t).shape == shape ? t : expand(t, shape); };
  return {reshape(spread(x), {-1}), reshape(spread(mask), {-1})};
}

/// `about` is what errors speak of.
Tensor masked_select_of(const char* op, const Tensor& x, const Tensor& mask, const Tensor& about) {
  const auto [elements, chosen] = aligned(op, x, mask);
  return index_select(elements, 0, squeeze(nonzero_of(op, chosen, about), 1));
}

struct IndexOfClass {
  static constexpr const char* name = "check_class";
  Size classes;

  void look(const Strided& index, const Vmaps& vmaps) const {
    const auto bad = kernels::find_out_of_range(index, 0, classes.host());
    if (!bad) return;
    const std::int64_t place = first_place(index, [&](std::int64_t n) { return n == *bad; });
    raise<IndexError>("one_hot: index " + std::to_string(*bad) +
                      place_text(place, Shape(index.shape, index.shape + index.rank), vmaps) + " is out of range for " +
                      count_of(classes.host(), "class", "classes") + "; " + legal_range(0, classes.host() - 1));
  }
  Allowed allowed() const { return {0, classes.host() - 1}; }
};

}  // namespace

std::pair<Tensor, Tensor> sorted_and_new(const Tensor& x) {
  const Tensor values = sort(reshape(x, {-1})).first;
  if (type_of(values).shape.numel() < 2) return {values, ones_like(ne(values, 0))};
  const Tensor differs = ne(slice(values, 0, 1, std::nullopt), slice(values, 0, std::nullopt, -1));
  return {values, cat({ones({1}, DType::boolean), differs}, 0)};
}

Tensor nonzero_of(const char* op, const Tensor& x, const Tensor& about) {
  if (differs_per_example(op, x)) return apply(NonzeroOfSize{size_of_result(op, count_nonzero(x), about)}, x);
  const ArrayRef array = concrete_for_size(op, x);
  const std::int64_t rank = array->type.rank();
  const ArrayRef out = make_array({DType::int64, {kernels::count_nonzero(array->strided()), rank}});
  kernels::nonzero(out->strided(), array->strided());
  return wrap(out);
}

namespace ops {

Tensor nonzero(const Tensor& x) { return nonzero_of("nonzero", x, x); }
Tensor nonzero(const Tensor& x, SizeOptions options) {
  require_options("nonzero", options);
  const Tensor found = apply(NonzeroOfSize{options.size}, x);
  return options.fill.defined() ? where(lt(found, 0), to(options.fill, DType::int64), found) : found;
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  const Called as("masked_select", x, mask);
  return masked_select_of("masked_select", x, mask, mask);
}
Tensor masked_select(const Tensor& x, const Tensor& mask, SizeOptions options) {
  const Called as("masked_select", x, mask);
  require_options("masked_select", options);
  const auto [elements, chosen] = aligned("masked_select", x, mask);
  return taken(elements, apply(NonzeroOfSize{options.size}, chosen), options.fill);
}

Tensor unique(const Tensor& x) {
  const Called as("unique", x);
  const auto [values, is_new] = sorted_and_new(x);
  return masked_select_of("unique", values, is_new, x);
}
Tensor unique(const Tensor& x, SizeOptions options) {
  const Called as("unique", x);
  require_options("unique", options);
  const auto [values, is_new] = sorted_and_new(x);
  return taken(values, apply(NonzeroOfSize{options.size}, is_new), options.fill);
}

Tensor one_hot(const Tensor& index) {
  const Called as("one_hot", index);
  if (type_of(index).shape.numel() == 0)
    raise<ValueError>("one_hot: " + type_text(index) + " has no elements that say how many classes there are; pass it");
  const std::int64_t most = size_of_result("one_hot", to(amax(index), DType::int64), index);
  return one_hot(index, std::max<std::int64_t>(most, 0) + 1);  // an index below 0 is refused there
}
Tensor one_hot(const Tensor& index, Size classes) {
  const Called as("one_hot", index);
  if (category(type_of(index).dtype) != 1)
    raise<TypeError>("one_hot: the index " + type_text(index) + " is not of integers");
  if (classes < 1)
    raise<ValueError>("one_hot: classes is " + std::to_string(classes.hint()) + "; it must be at least 1");
  const Tensor places = to(index, DType::int64);
  check_elements("one_hot", places, IndexOfClass{classes}, !classes.is_symbol());
  return to(eq(unsqueeze(places, -1), places_along(classes)), DType::int64);
}

}  // namespace ops
}  // namespace ricci
