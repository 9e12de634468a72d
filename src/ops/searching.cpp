// Places of values among sorted ones, by bisection, and what is made of them.
#include <algorithm>

#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/dynamic_shapes.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "primitive/promotion.h"
#include "program/element_writer.h"
#include "ricci/ops/arrangement.h"
#include "ricci/ops/statistics.h"
#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/scalar.h"

namespace ricci {
namespace {

/// The number of elements of `sorted` [leading…, n] that stand before each of the values [leading…, rest…]: those that
/// are less or, from the right, not greater. NaN is greater than every number.
struct SearchSorted {
  using kind = Explicit;
  static constexpr const char* name = "searchsorted";
  static constexpr bool locally_constant = true;
  bool right;
  std::int64_t leading;

  Type type(const Type& sorted, const Type& values) const {
    require_real(name, sorted);
    require_dtype(sorted.dtype, values);
    require_between(1, sorted.rank() - leading, 1);
    require_between(leading, values.rank(), INT64_MAX);
    for (std::int64_t axis = 0; axis < leading; ++axis)
      if (const Size rows = sorted.shape[at(axis)], wanted = values.shape[at(axis)]; !any_symbol(rows, wanted))
        require_between(rows.raw(), wanted.raw(), rows.raw());
    return {DType::int64, values.shape};
  }
  void eval(Outputs out, Inputs in) const {
    run_row_major(out, in, [&](void* to, Inputs given) {
      kernels::visit_real(given[0].dtype,
                          [&]<class T>(std::type_identity<T>) { search<T>(static_cast<std::int64_t*>(to), given); });
    });
  }
  Scalar element(ElementWriter& y) const {
    using scalar::Word;
    constexpr std::int64_t most = 64;
    const std::int64_t count = y.known_size(0, static_cast<int>(leading));
    if (count > most) return no_scalar;
    const auto word = [](Word w, Scalar a, Scalar b = no_scalar) {
      return TypedMask{this_thread.scalars->word(w, a, b, no_scalar)};
    };
    const DType computed = computed_dtype(y.type(0).dtype);
    std::vector<Coordinate> where = y.coordinates(y.type(1).rank());
    const Scalar value = this_thread.scalars->converted(computed, y.element_of(1, where), false);
    const TypedMask is_nan = word(Word::isnan, value);
    where.resize(at(leading), Coordinate(0));
    where.push_back(Coordinate(0));
    Whole before(0);
    for (std::int64_t k = 0; k < count; ++k) {
      where.back() = k;
      const Scalar one = this_thread.scalars->converted(computed, y.element_of(0, where), false);
      const TypedMask is_before = right ? is_nan || word(Word::less_equal, one, value)
                                        : word(Word::less, one, value) || (is_nan && !word(Word::isnan, one));
      before = before + scalar::select(is_before, Whole(1), Whole(0));
    }
    return before.scalar();
  }
  SearchSorted lifted() const { return {right, leading + 1}; }
  static std::vector<Sample<SearchSorted>> samples() {
    const DType dtype = default_dtype();
    const Tensor table = tensor({-1., 0., 0., 0.5}, dtype), rows = tensor({{-1., 0.}, {0.25, 2.}}, dtype);
    return {{{false, 0}, {table, real_sample({2, 3})}},
            {{true, 0}, {table, tensor({0., 0.5, 7., -1.}, dtype)}},
            {{false, 1}, {rows, real_sample({2, 3})}},
            {{false, 0}, {zeros({0}, dtype), real_sample({2})}}};
  }

 private:
  template <class T>
  static bool is_less(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a < b || (b != b && a == a);
    else return a < b;
  }
  template <class T>
  void search(std::int64_t* place, Inputs in) const {
    const std::int64_t n = in[0].shape[leading], count = shape_of(in[1]).numel();
    if (count == 0) return;
    std::int64_t lanes = 1;
    for (std::int64_t axis = 0; axis < leading; ++axis) lanes *= in[0].shape[axis];
    const T *sorted = static_cast<const T*>(in[0].data), *values = static_cast<const T*>(in[1].data);
    for (std::int64_t i = 0; i < count; ++i) {
      const T* lane = sorted + i / (count / lanes) * n;
      const T* found = right ? std::upper_bound(lane, lane + n, values[i], is_less<T>)
                             : std::lower_bound(lane, lane + n, values[i], is_less<T>);
      place[i] = found - lane;
    }
  }
};

Tensor placed(const Tensor& sorted_values, const Tensor& values, bool right, std::int64_t leading) {
  const Type of_sorted = type_of(sorted_values), of_values = type_of(values), *types[] = {&of_sorted, &of_values};
  const DType dtype = result_dtype(types);
  return apply(SearchSorted{right, leading}, to(sorted_values, dtype), to(values, dtype));
}

}  // namespace

namespace ops {

Tensor searchsorted(const Tensor& sorted_values, const Tensor& values) {
  return searchsorted(sorted_values, values, SearchOptions{});
}
Tensor searchsorted(const Tensor& sorted_values, const Tensor& values, SearchOptions options) {
  const Called as("searchsorted", sorted_values, values);
  const int rank = type_of(sorted_values).rank();
  if (rank == 0)
    raise<ValueError>("searchsorted: the sorted values " + type_text(sorted_values) + " must have at least 1 axis");
  if (rank > 1 && type_of(values).rank() != rank)
    raise<ValueError>("searchsorted: the values " + type_text(values) + " have " +
                      count_of(type_of(values).rank(), "axis", "axes") + ", the sorted values " +
                      type_text(sorted_values) + " have " + std::to_string(rank) +
                      "; give both the same number of axes, or pass sorted values with 1 axis");
  Shape table = type_of(sorted_values).shape, wanted = type_of(values).shape;
  for (int axis = 0; axis + 1 < rank; ++axis) {
    Size &rows = table[at(axis)], &given = wanted[at(axis)];
    if (!(rows == given) && !(rows == 1) && !(given == 1))
      raise<ValueError>("searchsorted: the values " + type_text(values) + " and the sorted values " +
                        type_text(sorted_values) + " differ along axis " + std::to_string(axis) +
                        "; give both one size there");
    rows = given = rows == 1 ? given : rows;
  }
  const Tensor in_order = options.sorter.defined() ? gather(sorted_values, -1, options.sorter) : sorted_values;
  return placed(expand(in_order, table), expand(values, wanted), options.right, rank - 1);
}

Tensor bucketize(const Tensor& values, const Tensor& boundaries) { return bucketize(values, boundaries, false); }
Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool right) {
  const Called as("bucketize", values, boundaries);
  if (type_of(boundaries).rank() != 1)
    raise<ValueError>("bucketize: the boundaries " + type_text(boundaries) + " must be a vector");
  return placed(boundaries, values, right, 0);
}

std::pair<Tensor, Tensor> unique_inverse(const Tensor& x) {
  const Called as("unique_inverse", x);
  const Tensor values = unique(x);
  return {values, placed(values, x, false, 0)};
}
std::pair<Tensor, Tensor> unique_counts(const Tensor& x) {
  const Called as("unique_counts", x);
  const auto [values, is_new] = sorted_and_new(x);
  const Tensor first = squeeze(nonzero(is_new), 1), count = reshape(Tensor(type_of(values).shape[0]), {1});
  return {index_select(values, 0, first), diff(first, 1, 0, {}, count)};
}

Tensor isin(const Tensor& elements, const Tensor& among) {
  const Called as("isin", elements, among);
  if (elements.is_complex() || among.is_complex()) return any(unsqueeze(elements, -1) == flatten(among), -1);
  const Tensor table = sort(flatten(among)).first;
  const Size count = type_of(table).shape[0];
  if (count == 0) return zeros_like(elements, DType::boolean);
  const Tensor place = minimum(placed(table, elements, false, 0), Tensor(count) - 1);
  return eq(take(table, place), elements);
}

}  // namespace ops
}  // namespace ricci
