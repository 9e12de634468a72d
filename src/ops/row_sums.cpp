// Sums and products of rows. Under vmap the tables, weights and places have more axes in front; where all examples read
// one table, or add to one, that axis of the table has size 1 (kernels/row_sums.h).
#include "ops/row_sums.h"

#include "kernels/row_sums.h"
#include "ops/dense.h"
#include "ops/samples.h"
#include "primitive/promotion.h"

namespace ricci {
namespace {

/// Throws IndexError unless `places` [p…, S] name rows of a table [q…, N, D], where each of q is that of p, or 1.
void require_rows(const char* name, const Type& table, const Type& places) {
  require_real(name, table);
  require_floating(name, table);
  require_dtype(DType::int64, places);
  require_rank_of_at_least(1, places);
  require_between(places.rank() + 1, table.rank(), places.rank() + 1);
  for (std::size_t i = 0; i + 1 < places.shape.size(); ++i)
    if (table.shape[i].raw() != 1) require_shape({table.shape[i]}, {places.shape[i]});
}

/// All but the last axis.
Shape shape_of_rows(const Type& table) { return Shape(table.shape.begin(), table.shape.end() - 1); }

/// kernel(out), in a contiguous array of its own where `out` is not contiguous.
template <class Kernel>
void run_contiguous(const Strided& out, const Kernel& kernel) {
  if (is_row_major(out)) return kernel(out);
  const ArrayRef found = array_like(out, out.dtype);
  kernel(found->strided());
  kernels::copy(out, found->strided());
}

/// A table of a mapped operation, with the examples as axis 0: one for all if it is not mapped.
Tensor table_of(const Batch& b, int i) {
  const Tensor& table = b.inputs[static_cast<std::size_t>(i)];
  return b.is_mapped(i) ? table : unsqueeze(table, 0);
}

Tensor sum_rows(const Tensor& table, const Tensor& weights, const Tensor& from, const Tensor& to, const Shape& rows,
                const IndexPlace& told_from, const IndexPlace& told_to);
Tensor multiply_rows(const Tensor& a, const Tensor& b, const Tensor& from, const Tensor& to,
                     const IndexPlace& told_from, const IndexPlace& told_to);

/// Inputs: table [q…, N, D], weights [p…, S], from [p…, S], to [p…, S]. The result is [rows…, D].
struct SumOfRows {
  using kind = Multilinear;
  static constexpr const char* name = "sum_of_rows";
  Shape rows;
  IndexPlace told_from, told_to;

  Type type(const Types& in) const {
    require_between(4, std::ssize(in), 4);
    require_rows(name, in[0], in[2]);
    require_dtype(in[0].dtype, in[1]);
    require_shape(in[1].shape, in[2].shape);
    require_shape(in[3].shape, in[2].shape);
    Type result{in[0].dtype, rows};
    result.shape.push_back(in[0].shape.back());
    require_rows(name, result, in[3]);
    return result;
  }
  void eval(Outputs out, Inputs in) const {
    const int axis = in[0].rank - 2;
    check_indices(told_from, 0, in[2], in[0], axis);
    check_indices(told_to, 0, in[3], out[0], axis);
    run_contiguous(out[0], [&](const Strided& sums) { kernels::sum_rows(sums, in[0], in[1], in[2], in[3]); });
  }
  Tensor transpose(int i, const Tensor& ct, const Reverse& r) const {
    if (i == 0)
      return sum_rows(ct, r.inputs[1], r.inputs[3], r.inputs[2], shape_of_rows(r.input_types[0]), told_to, told_from);
    return multiply_rows(r.inputs[0], ct, r.inputs[2], r.inputs[3], told_from, told_to);
  }
  BatchedOutputs batch(const Batch& b) const {
    Shape of_examples = rows;
    of_examples.insert(0, b.size);
    return {.outputs = {sum_rows(table_of(b, 0), b.input(1), b.input(2), b.input(3), of_examples,
                                 told_from.in_examples(), told_to.in_examples())}};
  }
  static std::vector<Sample<SumOfRows>> samples() {
    const IndexPlace of_three{"sample", {0}, {3, 2}, false}, of_two{"sample", {0}, {2, 2}, false};
    const Tensor from = tensor({0, 2, 2, 1}), to = tensor({1, 0, 1, 1});
    return {
        {{{2}, of_three, of_two}, {uniform_around_zero({3, 2}), uniform_around_zero({4}), from, to}},
        {{{3}, of_two, of_three}, {uniform_around_zero({2, 9}), uniform_around_zero({4}), to, from}},
        {{{1, 2}, of_three, of_two},
         {uniform_around_zero({2, 3, 1}), uniform_around_zero({2, 4}), stack({from, flip(from, 0)}), stack({to, to})}},
        {{{2, 2}, of_three, of_two},
         {uniform_around_zero({1, 3, 2}), uniform_around_zero({2, 4}), stack({from, flip(from, 0)}), stack({to, to})}},
        {{{2}, of_three, of_two},
         {uniform_around_zero({3, 2}), uniform_around_zero({0}), zeros({0}, DType::int64), zeros({0}, DType::int64)}}};
  }
};

/// Inputs: a [q…, N, D], b [r…, M, D], from [p…, S], to [p…, S]. Of each pair, Σ a[from, d] b[to, d]: [p…, S].
struct ProductsOfRows {
  using kind = Multilinear;
  static constexpr const char* name = "products_of_rows";
  IndexPlace told_from, told_to;

  Type type(const Types& in) const {
    require_between(4, std::ssize(in), 4);
    require_rows(name, in[0], in[2]);
    require_rows(name, in[1], in[3]);
    require_dtype(in[0].dtype, in[1]);
    require_shape({in[1].shape.back()}, {in[0].shape.back()});
    require_shape(in[3].shape, in[2].shape);
    return {in[0].dtype, in[2].shape};
  }
  void eval(Outputs out, Inputs in) const {
    const int axis = in[0].rank - 2;
    check_indices(told_from, 0, in[2], in[0], axis);
    check_indices(told_to, 0, in[3], in[1], axis);
    run_contiguous(out[0], [&](const Strided& y) { kernels::multiply_rows(y, in[0], in[1], in[2], in[3]); });
  }
  Tensor transpose(int i, const Tensor& ct, const Reverse& r) const {
    const Shape rows = shape_of_rows(r.input_types[static_cast<std::size_t>(i)]);
    if (i == 0) return sum_rows(r.inputs[1], ct, r.inputs[3], r.inputs[2], rows, told_to, told_from);
    return sum_rows(r.inputs[0], ct, r.inputs[2], r.inputs[3], rows, told_from, told_to);
  }
  BatchedOutputs batch(const Batch& b) const {
    return {.outputs = {multiply_rows(table_of(b, 0), table_of(b, 1), b.input(2), b.input(3), told_from.in_examples(),
                                      told_to.in_examples())}};
  }
  static std::vector<Sample<ProductsOfRows>> samples() {
    const IndexPlace of_three{"sample", {0}, {3, 2}, false}, of_two{"sample", {0}, {2, 2}, false};
    const Tensor from = tensor({0, 2, 2, 1}), to = tensor({1, 0, 1, 1});
    return {{{of_three, of_two}, {uniform_around_zero({3, 2}), uniform_around_zero({2, 2}), from, to}},
            {{of_three, of_two}, {uniform_around_zero({3, 9}), uniform_around_zero({2, 9}), from, to}},
            {{of_three, of_two},
             {uniform_around_zero({2, 3, 1}), uniform_around_zero({1, 2, 1}), stack({from, flip(from, 0)}),
              stack({to, to})}},
            {{of_three, of_two},
             {uniform_around_zero({3, 2}), uniform_around_zero({2, 2}), zeros({0}, DType::int64),
              zeros({0}, DType::int64)}}};
  }
};

Tensor sum_rows(const Tensor& table, const Tensor& weights, const Tensor& from, const Tensor& to, const Shape& rows,
                const IndexPlace& told_from, const IndexPlace& told_to) {
  const Tensor inputs[] = {table, weights, from, to};
  return ricci::apply(SumOfRows{rows, told_from, told_to}, std::span<const Tensor>(inputs))[0];
}
Tensor multiply_rows(const Tensor& a, const Tensor& b, const Tensor& from, const Tensor& to,
                     const IndexPlace& told_from, const IndexPlace& told_to) {
  const Tensor inputs[] = {a, b, from, to};
  return ricci::apply(ProductsOfRows{told_from, told_to}, std::span<const Tensor>(inputs))[0];
}

}  // namespace

Tensor sum_rows(const Tensor& table, const Tensor& weights, const RowPlaces& from, const RowPlaces& to,
                const Shape& rows) {
  const Type of_table = type_of(table), of_weights = type_of(weights);
  const Type* const types[] = {&of_table, &of_weights};
  const DType dtype = result_dtype(types);
  return sum_rows(ops::to(table, dtype), ops::to(weights, dtype), from.places, to.places, rows, from.told, to.told);
}

}  // namespace ricci
