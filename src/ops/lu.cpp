// LU factors with partial pivoting, and what is solved with them.
#include <numeric>

#include "kernels/lapack.h"
#include "ops/factorizations.h"
#include "ops/orthonormal.h"
#include "ops/samples.h"
#include "primitive/called.h"
#include "ricci/ops/decompositions.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

/// The order of the rows after exchanges, [..., rows] of pivots [..., k]: row i of Pᵀ a is row order[i] of a.
struct OrderOfRows {
  using kind = Explicit;
  static constexpr const char* name = "order_of_rows";
  static constexpr bool locally_constant = true;
  Size rows;

  Type type(const Type& pivots) const {
    require_dtype(DType::int32, pivots);
    require_rank_of_at_least(1, pivots);
    if (rows < pivots.shape.back())
      raise<ValueError>("lu_unpack: " + to_string(pivots) + " has more pivots than " + hint_text(rows) + " rows");
    Type order{DType::int64, pivots.shape};
    order.shape.back() = rows;
    return order;
  }
  void eval(Outputs out, Inputs in) const {
    const Shape shape = shape_of(in[0]);
    const Shape leading(shape.begin(), shape.end() - 1);
    const std::int64_t matrices = leading.numel().host(), exchanges = shape.back().host(), n = rows.host();
    const ArrayRef pivots = array_like(in[0], DType::int32), order = array_like(out[0], DType::int64);
    kernels::copy(pivots->strided(), in[0]);
    auto* to = static_cast<std::int64_t*>(order->data);
    const auto* pivot = static_cast<const std::int32_t*>(pivots->data);
    for (std::int64_t matrix = 0; matrix < matrices; ++matrix, to += n, pivot += exchanges) {
      std::iota(to, to + n, 0);
      for (std::int64_t i = 0; i < exchanges; ++i) {
        if (pivot[i] < 1 || pivot[i] > n)
          raise<ValueError>("lu_unpack: pivot " + std::to_string(pivot[i]) + " is no row of a matrix of " +
                            std::to_string(n) + " rows; pass the pivots that lu_factor gives, which count from 1");
        std::swap(to[i], to[pivot[i] - 1]);
      }
    }
    kernels::copy(out[0], order->strided());
  }
  OrderOfRows lifted() const { return *this; }
  static std::vector<Sample<OrderOfRows>> samples() {
    return {{{3}, {tensor({3, 3, 3}).to(DType::int32)}},
            {{4}, {tensor({{2, 2}, {1, 4}}).to(DType::int32)}},
            {{2}, {zeros({0}, DType::int32)}}};
  }
};

/// The rows of x [..., m, n] in the order [..., m] of their places.
Tensor rows_in_order(const Tensor& x, const Tensor& order) {
  return gather(x, -2, expand(unsqueeze(order, -1), type_of(x).shape));
}

Tensor order_of(const Tensor& pivots, Size rows) { return apply(OrderOfRows{rows}, pivots); }

Tensor without_exchanges(const Tensor& x, const Tensor& pivots) {
  return rows_in_order(x, order_of(pivots, rows_of(x)));
}
Tensor with_exchanges(const Tensor& x, const Tensor& pivots) {
  return rows_in_order(x, argsort(order_of(pivots, rows_of(x)), -1));
}

Tensor top(const Tensor& x, Size k) { return narrow(x, -2, 0, k); }
Tensor below(const Tensor& x, Size k) { return narrow(x, -2, k, rows_of(x) - k); }

/// op(L)⁻¹ x and x op(U)⁻¹, L and U being the square factors in lu [..., k, k].
Tensor solve_unit_lower(const Tensor& lu, const Tensor& x) {
  return triangular_solve(x, lu, {.upper = false, .unitriangular = true});
}
Tensor solve_unit_lower_adjoint(const Tensor& lu, const Tensor& x) {
  return triangular_solve(x, conj_if_complex(lu), {.upper = false, .transpose = true, .unitriangular = true});
}
Tensor over_upper(const Tensor& x, const Tensor& lu) {
  return mT(triangular_solve(mT(x), lu, {.upper = true, .transpose = true}));
}
Tensor over_upper_adjoint(const Tensor& x, const Tensor& lu) {
  return mT(triangular_solve(mT(x), conj_if_complex(lu)));
}

/// The square part of the factors, and what is below or beside it.
struct LuParts {
  Size k;
  bool is_tall, is_wide;
  Tensor square, rest;

  explicit LuParts(const Tensor& lu) {
    k = smaller(rows_of(lu), columns_of(lu));
    is_tall = !(rows_of(lu) == k);
    is_wide = !(columns_of(lu) == k);
    square = top(front(lu, k), k);
    if (is_tall) rest = below(lu, k);
    if (is_wide) rest = behind(lu, k);
  }
  Tensor lower() const { return tril(square, -1) + eye(k, type_of(square).dtype); }
  Tensor upper() const { return triu(square); }
};

}  // namespace

Tensor lu_tangent(const Tensor& lu, const Tensor& t) {
  const LuParts y(lu);
  const Tensor inner = over_upper(solve_unit_lower(y.square, top(front(t, y.k), y.k)), y.square);
  const Tensor dl = matmul(y.lower(), tril(inner, -1)), du = matmul(triu(inner), y.upper());
  Tensor total = dl + du;
  if (y.is_tall) total = cat({total, over_upper(below(t, y.k) - matmul(y.rest, du), y.square)}, -2);
  if (y.is_wide) total = cat({total, solve_unit_lower(y.square, behind(t, y.k) - matmul(dl, y.rest))}, -1);
  return total;
}

Tensor lu_cotangent(const Tensor& lu, const Tensor& all) {
  const LuParts y(lu);
  const Tensor ct = top(front(all, y.k), y.k);
  Tensor ct_l = tril(ct, -1), ct_u = triu(ct), ct_rest;
  if (y.is_tall) {
    ct_rest = over_upper_adjoint(below(all, y.k), y.square);
    ct_u = ct_u - triu(matmul(adjoint(y.rest), ct_rest));
  }
  if (y.is_wide) {
    ct_rest = solve_unit_lower_adjoint(y.square, behind(all, y.k));
    ct_l = ct_l - tril(matmul(ct_rest, adjoint(y.rest)), -1);
  }
  const Tensor inner = tril(matmul(adjoint(y.lower()), ct_l), -1) + triu(matmul(ct_u, adjoint(y.upper())));
  const Tensor total = over_upper_adjoint(solve_unit_lower_adjoint(y.square, inner), y.square);
  return ct_rest.defined() ? cat({total, ct_rest}, y.is_tall ? -2 : -1) : total;
}

namespace {

/// a [..., m, n] = P L U in one matrix, pivots [..., k], and in info [...] the first zero of U's diagonal, counted from
/// 1, or 0; k is the smaller of m and n.
struct LuFactor {
  using kind = Explicit;
  static constexpr const char* name = "lu_factor";
  static constexpr unsigned keeps = output(0) | output(1);
  bool must_be_regular;

  Types type(const Type& a) const {
    require_matrix_type(name, a);
    require_sizes_of_lapack(name, a);
    const Size m = a.shape[a.shape.size() - 2], n = a.shape.back();
    const Shape leading(a.shape.begin(), a.shape.end() - 2);
    Shape exchanges = leading;
    exchanges.push_back(smaller(m, n));
    return {a, {DType::int32, exchanges}, {DType::int32, leading}};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::lu_factor(y[0], y[1], a[0], info.data());
      if (const int pivot = info.first_failure(); pivot != 0 && must_be_regular)
        raise<ValueError>("lu_factor: " + info.text() + " is singular: pivot " + std::to_string(pivot) +
                          " is zero, by which lu_solve would divide; lu and lu_factor_ex factor it all the same");
      const ArrayRef places = array_like(y[2], DType::int32);
      for (std::int64_t i = 0; i < info.count(); ++i) static_cast<std::int32_t*>(places->data)[i] = info.of(i);
      kernels::copy(y[2], places->strided());
    });
  }
  Tensors jvp(const Forward& f) const {
    return {lu_tangent(f.outputs[0], without_exchanges(f.tangents[0], f.outputs[1])), Tensor(), Tensor()};
  }
  Tensors vjp(const Reverse& r) const {
    return {with_exchanges(lu_cotangent(r.outputs[0], r.cotangents[0]), r.outputs[1])};
  }
  LuFactor lifted() const { return *this; }
  static std::vector<Sample<LuFactor>> samples() {
    const Tensor imaginary = mul(uniform_around_zero({3, 3}), std::complex<double>(0, 1));
    return {{{true}, {regular({}, 3)}},
            {{false}, {flip(regular({2}, 2), {1})}},
            {{false}, {flip(narrow(regular({}, 4), -1, 0, 2), {0})}},
            {{false}, {narrow(flip(regular({}, 3), {0}), 0, 0, 2)}},
            {{false}, {add(flip(regular({}, 3), {0}), imaginary)}},
            {{true}, {regular({}, 0)}},
            {{false}, {rand({2, 3, 0})}}};
  }
};

struct Factored {
  Tensor lu, pivots, info;
};
Factored factored(const Tensor& a, bool must_be_regular) {
  const Tensors all = ricci::apply(LuFactor{must_be_regular}, std::span(&a, 1));
  return {all[0], all[1], all[2]};
}

void require_pivots(const char* op, const Tensor& lu, const Tensor& pivots) {
  const Type matrices = type_of(lu), exchanges = type_of(pivots);
  Shape wanted(matrices.shape.begin(), matrices.shape.end() - 1);
  wanted.back() = smaller(rows_of(lu), columns_of(lu));
  if (exchanges.dtype != DType::int32 || !(exchanges.shape == wanted))
    raise<ValueError>(std::string(op) + ": the pivots " + type_text(pivots) + " do not fit the factors " +
                      type_text(lu) + "; pass those that lu_factor gives");
}

/// x with a x = b or aᴴ x = b.
Tensor solved(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool adjoint_of_a) {
  Shape exchanges = type_of(b).shape;
  exchanges.pop_back();
  const Tensor expanded = expand(pivots, exchanges);
  if (!adjoint_of_a) return triangular_solve(solve_unit_lower(lu, without_exchanges(b, expanded)), lu);
  const Tensor upper = triangular_solve(b, conj_if_complex(lu), {.upper = true, .transpose = true});
  return with_exchanges(solve_unit_lower_adjoint(lu, upper), expanded);
}

}  // namespace

namespace ops {

std::pair<Tensor, Tensor> lu_factor(const Tensor& a) {
  const Called as("lu_factor", a);
  require_matrices("lu_factor", a);
  const Factored all = factored(a, true);
  return {all.lu, all.pivots};
}
std::tuple<Tensor, Tensor, Tensor> lu_factor_ex(const Tensor& a) {
  const Called as("lu_factor_ex", a);
  require_matrices("lu_factor_ex", a);
  const Factored all = factored(a, false);
  return {all.lu, all.pivots, all.info};
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& lu, const Tensor& pivots) {
  const Called as("lu_unpack", lu, pivots);
  require_matrices("lu_unpack", lu);
  require_pivots("lu_unpack", lu, pivots);
  const Size m = rows_of(lu), k = smaller(m, columns_of(lu));
  const DType dtype = type_of(lu).dtype;
  const Tensor rows = unsqueeze(arange(m, DType::int64), -1), order = unsqueeze(order_of(pivots, m), -2);
  return {to(eq(rows, order), dtype), tril(front(lu, k), -1) + eye(m, k, dtype), triu(top(lu, k))};
}
std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& a) {
  const Called as("lu", a);
  require_matrices("lu", a);
  const Factored all = factored(a, false);
  return lu_unpack(all.lu, all.pivots);
}

Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b) { return lu_solve(lu, pivots, b, {}); }
Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, LuSolveOptions options) {
  const Called as("lu_solve", lu, pivots, b);
  require_square("lu_solve", lu);
  require_pivots("lu_solve", lu, pivots);
  if (type_of(b).rank() < 2)
    raise<ValueError>("lu_solve: the right-hand side " + type_text(b) + " must be matrices; pass a vector with " +
                      ".unsqueeze(-1)");
  if (!options.left) return adjoint(lu_solve(lu, pivots, adjoint(b), {.adjoint = !options.adjoint}));
  require_floating("lu_solve", b);
  if (!(rows_of(b) == rows_of(lu)))
    raise<ValueError>("lu_solve: the right-hand side " + type_text(b) + " does not fit the factors " + type_text(lu) +
                      "; it must have as many rows, or columns with .left = false");
  const RightHandSide side("lu_solve", lu, b);
  return side.result(solved(side.a, pivots, side.b, options.adjoint));
}

std::pair<Tensor, Tensor> inv_ex(const Tensor& a) {
  const Called as("inv_ex", a);
  require_square("inv_ex", a);
  const Factored f = factored(a, false);
  return {solved(f.lu, f.pivots, expand(eye(rows_of(a), type_of(a).dtype), type_of(a).shape), false), f.info};
}
std::pair<Tensor, Tensor> solve_ex(const Tensor& a, const Tensor& b) {
  const Called as("solve_ex", a, b);
  const RightHandSide side("solve_ex", a, b, Vectors::one_for_each_matrix);
  const Factored f = factored(side.a, false);
  return {side.result(solved(f.lu, f.pivots, side.b, false)), f.info};
}

}  // namespace ops
}  // namespace ricci
