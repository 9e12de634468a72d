// L D Lᵀ and L D Lᴴ factors of symmetric and Hermitian matrices, and what is solved with them. D has blocks of one or
// two rows. LAPACK leaves the columns of L without the exchanges of rows that came after them: `LdlLayout` says where
// an element of the factors proper stands.
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

/// Of pivots [..., n]: the order of the rows after exchanges [..., n]; the rows [..., n, n] at which the elements of L
/// stand in LAPACK's matrix, column by column; the other row [..., n] of a block of D, or the row itself.
struct LdlLayout {
  using kind = Explicit;
  static constexpr const char* name = "ldl_layout";
  static constexpr bool locally_constant = true;

  Types type(const Type& pivots) const {
    require_dtype(DType::int32, pivots);
    require_rank_of_at_least(1, pivots);
    Type row{DType::int64, pivots.shape}, square = row;
    square.shape.push_back(pivots.shape.back());
    return {row, square, row};
  }
  void eval(Outputs out, Inputs in) const {
    const ArrayRef pivots = array_like(in[0], DType::int32);
    kernels::copy(pivots->strided(), in[0]);
    ArrayRef made[3];
    for (std::size_t i = 0; i < 3; ++i) made[i] = array_like(out[i], DType::int64);
    const Shape shape = shape_of(in[0]);
    const std::int64_t n = shape.back().host();
    const std::int64_t matrices = Shape(shape.begin(), shape.end() - 1).numel().host();
    for (std::int64_t matrix = 0; matrix < matrices; ++matrix) {
      const auto at = [&](std::size_t i, std::int64_t each) {
        return static_cast<std::int64_t*>(made[i]->data) + matrix * each;
      };
      fill(static_cast<const std::int32_t*>(pivots->data) + matrix * n, n, at(0, n), at(1, n * n), at(2, n));
    }
    for (std::size_t i = 0; i < 3; ++i) kernels::copy(out[i], made[i]->strided());
  }
  LdlLayout lifted() const { return {}; }
  static std::vector<Sample<LdlLayout>> samples() {
    return {{{}, {tensor({2, 3, 3}).to(DType::int32)}},
            {{}, {tensor({{-3, -3, 3, 4}, {4, 2, -4, -4}}).to(DType::int32)}},
            {{}, {zeros({0}, DType::int32)}}};
  }

 private:
  static void fill(const std::int32_t* pivots, std::int64_t n, std::int64_t* order, std::int64_t* places,
                   std::int64_t* partner) {
    std::iota(order, order + n, 0);
    std::iota(partner, partner + n, 0);
    for (std::int64_t i = 0; i < n * n; ++i) places[i] = i / n;
    for (std::int64_t k = 0; k < n; ++k) {
      const bool is_pair = pivots[k] < 0;
      const std::int64_t row = is_pair ? k + 1 : k, other = std::abs(std::int64_t{pivots[k]}) - 1;
      if (other < 0 || other >= n || (is_pair && (row >= n || pivots[row] != pivots[k])))
        raise<ValueError>("ldl_solve: the pivots of a matrix have " + std::to_string(pivots[k]) + " at " +
                          std::to_string(k) + "; pass those that ldl_factor gives");
      std::swap(order[row], order[other]);
      for (std::int64_t column = 0; column < k; ++column)
        std::swap(places[row * n + column], places[other * n + column]);
      if (is_pair) {
        std::swap(partner[k], partner[row]);
        ++k;
      }
    }
  }
};

Tensor in_rows(const Tensor& x, const Tensor& order) {
  return gather(x, -2, expand(unsqueeze(order, -1), type_of(x).shape));
}

/// The factors of a stack of matrices, as LAPACK left them.
class Ldl {
 public:
  Ldl(const Tensor& ld, const Tensor& pivots, bool hermitian) : hermitian_(hermitian) {
    const Tensors layout = ricci::apply(LdlLayout{}, std::span(&pivots, 1));
    order_ = layout[0];
    places_ = layout[1];
    partner_ = layout[2];
    const DType dtype = type_of(ld).dtype;
    const Tensor row = arange(rows_of(ld), DType::int64), one = eye(rows_of(ld), dtype);
    pairs_ = to(eq(unsqueeze(partner_, -1), row), dtype) * (1 - one);
    const Tensor proper = tril(proper_of(ld));
    l_ = tril(proper, -1) * (1 - pairs_) + one;
    off_ = sum(proper * pairs_, {-1}) + beside(sum(proper * pairs_, {-2}));
    diagonal_ = diagonal(proper, 0, -2, -1);
  }

  /// D⁻¹ x. A block of two is divided by its elements off the diagonal first: its determinant may overflow.
  Tensor over_d(const Tensor& x) const {
    const Tensor is_alone = eq(partner_, arange(type_of(partner_).shape.back(), DType::int64));
    const Tensor mine = where(is_alone, 1, off_), others = beside(mine), pair = unsqueeze(where(is_alone, 0, 1), -1);
    const Tensor row = unsqueeze(diagonal_ / others, -1);
    const Tensor other = unsqueeze(where(is_alone, 1, gather(diagonal_, -1, partner_)) / mine, -1);
    const Tensor scaled = x / unsqueeze(others, -1), beside_it = in_rows(x, partner_) / unsqueeze(others, -1);
    return (other * scaled - pair * beside_it) / (row * other - pair);
  }
  Tensor over_l(const Tensor& x) const { return triangular_solve(x, l_, {.upper = false, .unitriangular = true}); }
  Tensor over_l_adjoint(const Tensor& x) const {
    return triangular_solve(x, conj_if_complex(l_), {.upper = false, .transpose = true, .unitriangular = true});
  }
  /// Over L*, which is Lᴴ or Lᵀ.
  Tensor over_star(const Tensor& x) const {
    return triangular_solve(x, beside(l_), {.upper = false, .transpose = true, .unitriangular = true});
  }
  /// x*, for matrices of any sizes.
  Tensor star(const Tensor& x) const { return hermitian_ ? adjoint(x) : mT(x); }
  /// The symmetric or Hermitian part.
  Tensor symmetric(const Tensor& x) const { return x * 0.5 + star(x) * 0.5; }

  Tensor exchanged(const Tensor& x) const { return in_rows(x, order_); }
  Tensor restored(const Tensor& x) const { return in_rows(x, argsort(order_, -1)); }
  /// From LAPACK's matrix, and back.
  Tensor proper_of(const Tensor& ld) const { return gather(ld, -2, places_); }
  Tensor packed_of(const Tensor& proper) const { return gather(proper, -2, argsort(places_, -2)); }

  /// The parts of a matrix that belong to L, and to the lower half of D.
  Tensor part_of_l(const Tensor& x) const { return tril(x, -1) * (1 - pairs_); }
  Tensor part_of_d(const Tensor& x) const { return tril(x) * (pairs_ + eye(rows_of(x), type_of(x).dtype)); }
  const Tensor& l() const { return l_; }

 private:
  Tensor beside(const Tensor& x) const { return hermitian_ ? conj_if_complex(x) : x; }

  bool hermitian_;
  Tensor order_, places_, partner_;  // see LdlLayout
  Tensor pairs_;                     // ones beside the diagonal in blocks of two
  Tensor l_, diagonal_, off_;        // off: of row i, D's element in the column of the other row
};

/// P L D L* Pᵀ of the symmetric or Hermitian part of a. With the rows and columns of da exchanged and M = L⁻¹ da L⁻*, D
/// changes by M's blocks on the diagonal, and L by L (the part of M below them) D⁻¹.
struct LdlFactor {
  using kind = Explicit;
  static constexpr const char* name = "ldl_factor";
  static constexpr unsigned keeps = output(0) | output(1);
  bool hermitian, must_be_regular;

  Types type(const Type& a) const {
    require_square_type(name, a);
    require_sizes_of_lapack(name, a);
    return {a,
            {DType::int32, Shape(a.shape.begin(), a.shape.end() - 1)},
            {DType::int32, Shape(a.shape.begin(), a.shape.end() - 2)}};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::ldl_factor(y[0], y[1], a[0], hermitian, info.data());
      if (const int zero = info.first_failure(); zero != 0 && must_be_regular)
        raise<ValueError>("ldl_factor: " + info.text() + " is singular: element " + std::to_string(zero) +
                          " of D is zero, by which ldl_solve would divide; ldl_factor_ex factors it all the same");
      const ArrayRef zeros = array_like(y[2], DType::int32);
      for (std::int64_t i = 0; i < info.count(); ++i) static_cast<std::int32_t*>(zeros->data)[i] = info.of(i);
      kernels::copy(y[2], zeros->strided());
    });
  }
  Tensors jvp(const Forward& f) const {
    const Ldl y(f.outputs[0], f.outputs[1], hermitian);
    const Tensor change = mT(y.exchanged(mT(y.exchanged(y.symmetric(f.tangents[0])))));
    const Tensor inner = y.star(y.over_l(y.star(y.over_l(change))));
    const Tensor dl = matmul(y.l(), y.star(y.over_d(y.star(y.part_of_l(inner)))));
    return {y.packed_of(dl + y.part_of_d(inner)), Tensor(), Tensor()};
  }
  Tensors vjp(const Reverse& r) const {
    const Ldl y(r.outputs[0], r.outputs[1], hermitian);
    const Tensor ct = y.proper_of(tril(r.cotangents[0]));
    const Tensor by_l = matmul(adjoint(y.l()), y.part_of_l(ct));
    const Tensor inner = y.part_of_l(adjoint(y.over_d(adjoint(by_l)))) + y.part_of_d(ct);
    const Tensor total = y.star(y.over_l_adjoint(y.star(y.over_l_adjoint(inner))));
    return {y.symmetric(mT(y.restored(mT(y.restored(total)))))};
  }
  LdlFactor lifted() const { return *this; }
  static std::vector<Sample<LdlFactor>> samples() {
    const Tensor apart = eye(3) * tensor({3., -2., 1.});
    const Tensor pairs = tensor({{0.1, 2., 0.3}, {2., 0., 0.2}, {0.3, 0.2, -1.}});
    const auto near = [](const Tensor& x) { return x + uniform_around_zero(type_of(x).shape) * 0.2; };
    const Tensor imaginary = mul(uniform_around_zero({3, 3}) * 0.2, std::complex<double>(0, 1));
    return {{{false, true}, {near(apart)}},
            {{false, true}, {near(pairs)}},
            {{true, false}, {near(stack({pairs, apart}))}},
            {{false, false}, {add(near(pairs), imaginary)}},
            {{true, false}, {add(near(pairs), imaginary)}},
            {{true, false}, {add(near(flip(pairs, {0, 1})), imaginary)}},
            {{false, true}, {rand({0, 0})}},
            {{true, true}, {rand({0, 2, 2})}}};
  }
};

std::tuple<Tensor, Tensor, Tensor> factored(const char* op, const Tensor& a, LdlOptions options, bool must_be_regular) {
  require_square(op, a);
  const Tensors all = ricci::apply(LdlFactor{options.hermitian, must_be_regular}, std::span(&a, 1));
  return {all[0], all[1], all[2]};
}

}  // namespace

namespace ops {

std::pair<Tensor, Tensor> ldl_factor(const Tensor& a) { return ldl_factor(a, LdlOptions{}); }
std::pair<Tensor, Tensor> ldl_factor(const Tensor& a, LdlOptions options) {
  const Called as("ldl_factor", a);
  const auto [ld, pivots, info] = factored("ldl_factor", a, options, true);
  return {ld, pivots};
}
std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& a) { return ldl_factor_ex(a, LdlOptions{}); }
std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& a, LdlOptions options) {
  const Called as("ldl_factor_ex", a);
  return factored("ldl_factor_ex", a, options, false);
}

Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b) {
  return ldl_solve(ld, pivots, b, LdlOptions{});
}
Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, LdlOptions options) {
  const Called as("ldl_solve", ld, pivots, b);
  require_square("ldl_solve", ld);
  const Type factors = type_of(ld), exchanges = type_of(pivots);
  if (exchanges.dtype != DType::int32 || !(exchanges.shape == Shape(factors.shape.begin(), factors.shape.end() - 1)))
    raise<ValueError>("ldl_solve: the pivots " + type_text(pivots) + " do not fit the factors " + type_text(ld) +
                      "; pass those that ldl_factor gives");
  if (type_of(b).rank() < 2)
    raise<ValueError>("ldl_solve: the right-hand side " + type_text(b) + " must be matrices; pass a vector with " +
                      ".unsqueeze(-1)");
  require_floating("ldl_solve", b);
  if (!(rows_of(b) == rows_of(ld)))
    raise<ValueError>("ldl_solve: the right-hand side " + type_text(b) + " does not fit the factors " + type_text(ld) +
                      "; it must have as many rows");
  const RightHandSide side("ldl_solve", ld, b);
  Shape places = type_of(side.b).shape;
  places.pop_back();
  const Ldl y(side.a, expand(pivots, places), options.hermitian);
  return side.result(y.restored(y.over_star(y.over_d(y.over_l(y.exchanged(side.b))))));
}

}  // namespace ops
}  // namespace ricci
