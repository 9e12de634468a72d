// The Schur form of general matrices: a = z t zᴴ with z unitary and t upper triangular, or, of real matrices, with
// blocks of two rows on its diagonal. Columns of z are determined up to a factor of size 1, which makes their greatest
// element real and positive. LAPACK's own signs change with the number of its iterations.
#include "kernels/lapack.h"
#include "ops/factorizations.h"
#include "ops/orthonormal.h"
#include "ops/samples.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/decompositions.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

/// The elements of quasi-triangular matrices below their blocks, and other matrices without these.
Tensor below_blocks(const Tensor& t) {
  const Tensor place = arange(rows_of(t), DType::int64);
  return logical_and(lt(place, unsqueeze(place, -1)), eq(t, 0));
}
Tensor without(const Tensor& below, const Tensor& x) { return where(below, 0, x); }

/// Some roundings of the Frobenius norm [..., 1, 1], of which no square overflows.
Tensor rounding_of(const Tensor& t) {
  const DType dtype = type_of(t).dtype;
  const Tensor size = abs(to(detach(t), computed_dtype(dtype)));
  const Tensor greatest = amax(pad(size, {0, 1, 0, 1}), {-2, -1}, true);
  return 16 * epsilon_of(dtype) * greatest * sqrt(sum(square(size / greatest), {-2, -1}, true));
}

/// x y - y x.
Tensor commutator(const Tensor& x, const Tensor& y) { return matmul(x, y) - matmul(y, x); }

/// x of which only elements in `below` are not 0, with x t - t x = c there: what a derivative of Schur's is made of,
/// its own included. Of t, only elements that are not in `below` are read. With `adjoint`, t is tᴴ: that is the
/// adjoint, as a function of c.
struct MaskedSylvester {
  using kind = Explicit;
  static constexpr const char* name = "masked_sylvester";
  static constexpr unsigned keeps[] = {input(0) | input(1) | output(0), nothing, input(0) | input(1)};
  bool adjoint;

  Type type(const Type& t, const Type& below, const Type& c) const {
    require_square_type(name, t);
    require_right_sides(name, t, c);
    require_square_type(name, c);
    require_dtype(DType::boolean, below);
    if (!(below.shape == t.shape))
      raise<ValueError>("masked_sylvester: the mask " + to_string(below) + " must have the shape of " + to_string(t));
    return c;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs x, Inputs operand) {
      kernels::masked_sylvester(x[0], operand[0], operand[1], operand[2], adjoint);
    });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor &t = f.inputs[0], &below = f.inputs[1];
    Tensor right = f.tangents[2];
    if (f.tangents[0].defined()) {
      const Tensor change = without(below, f.tangents[0]);
      accumulate(right, commutator(adjoint ? ricci::adjoint(change) : change, f.outputs[0]));
    }
    return {apply(*this, t, below, right)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor &t = r.inputs[0], &below = r.inputs[1];
    const Tensor ct = apply(MaskedSylvester{!adjoint}, t, below, r.cotangents[0]);
    if (!r.wants(0)) return {Tensor(), Tensor(), ct};
    const Tensor by_t = commutator(ct, ricci::adjoint(r.outputs[0]));
    return {without(below, adjoint ? ricci::adjoint(by_t) : by_t), Tensor(), ct};
  }
  MaskedSylvester lifted() const { return *this; }
  static std::vector<Sample<MaskedSylvester>> samples() {
    const auto triangle = [](Shape leading, std::int64_t n) {
      return triu(regular(std::move(leading), n) + eye(n) * (arange(n) * 2));
    };
    const Tensor complex = triu(complex_sample({3, 3}) + eye(3) * (arange(3) * 3));
    const auto sample = [](bool adjoint, const Tensor& t, const Tensor& c) -> Sample<MaskedSylvester> {
      return {{adjoint}, {t, below_blocks(t), c}};
    };
    return {sample(false, triangle({}, 3), uniform_around_zero({3, 3})),
            sample(true, triangle({2}, 3), uniform_around_zero({2, 3, 3})),
            sample(false, form_with_pairs(), uniform_around_zero({5, 5})),
            sample(true, form_with_pairs(), uniform_around_zero({5, 5})),
            sample(false, complex, complex_sample({3, 3})),
            sample(true, complex, complex_sample({3, 3})),
            sample(false, triangle({}, 1), rand({1, 1})),
            sample(true, rand({0, 0}), rand({0, 0})),
            sample(false, rand({0, 2, 2}), rand({0, 2, 2}))};
  }

 private:
  /// Quasi-triangular, with eigenvalues that are well apart, two of them real.
  static Tensor form_with_pairs() {
    return tensor({{1., 2., 0.3, 0.4, 0.2},
                   {-1., 1., -0.2, 0.1, 0.3},
                   {0., 0., 5., 0.5, -0.7},
                   {0., 0., 0., -3., 0.8},
                   {0., 0., 0., -2., -3.}});
  }
};

/// How t and z, the Schur form of a, follow a change of a. With M = zᴴ da z, z changes by z Ω and t by M + t Ω - Ω t, Ω
/// being skew. Below the blocks of t, where t stays 0, only the part X of Ω there counts, Ω = X - Xᴴ elsewhere:
/// X t - t X = M. In a block [[x, b], [c, x]] Ω is the rotation that keeps the two x equal: with R the change of t
/// without it, its angle is (R_22 - R_11) / 2 / (b + c). On the diagonal of a complex Ω are the turns that keep the
/// greatest elements of z real.
class SchurChange {
 public:
  SchurChange(const Tensor& t, const Tensor& z) : t_(t), z_(z), below_(below_blocks(t)) {
    if (t.is_complex()) return;
    const Tensor sums = t + mT(t), is_noise = le(abs(sums), rounding_of(t));
    const Tensor beside = logical_and(logical_not(below_), tril(ones_like(detach(t)), -1));
    angles_ = where(beside, 0.5 / where(beside, sums - detach(where(is_noise, sums, 0)), 1), 0);
  }
  Tensors tangents(const Tensor& da) const {
    const Tensor change = matmul(adjoint(z_), matmul(da, z_));
    Tensor x = apply(MaskedSylvester{false}, t_, below_, change);
    if (!t_.is_complex()) {
      const Tensor moved = diagonal(change + commutator(t_, x - adjoint(x)), 0, -2, -1);
      x = x + angles_ * (unsqueeze(moved, -1) - unsqueeze(moved, -2));
    }
    Tensor turn = x - adjoint(x);
    if (t_.is_complex()) turn = turn - times_i(diag_embed(squeeze(Phases(z_).turn(matmul(z_, turn)), -2)));
    return {without(below_, change + commutator(t_, turn)), matmul(z_, turn)};
  }
  Tensor cotangent(const Tensor& ct_t, const Tensor& ct_z) const {
    Tensor inner, by_turn;  // of the change, and of Ω
    if (ct_t.defined()) {
      inner = without(below_, ct_t);
      by_turn = commutator(adjoint(t_), inner);
    }
    if (ct_z.defined()) accumulate(by_turn, matmul(adjoint(z_), ct_z));
    if (t_.is_complex()) {
      const Tensor along = unsqueeze(imag(diagonal(by_turn, 0, -2, -1)), -2);
      by_turn = by_turn - matmul(adjoint(z_), Phases(z_).cotangent(along));
    }
    Tensor by_x = by_turn - adjoint(by_turn);
    if (!t_.is_complex()) {
      const Tensor by_angles = by_x * angles_;
      const Tensor by_moved = diag_embed(sum(by_angles, {-1}) - sum(by_angles, {-2}));
      const Tensor more = commutator(adjoint(t_), by_moved);
      by_x = by_x + more - adjoint(more);
      accumulate(inner, by_moved);
    }
    accumulate(inner, apply(MaskedSylvester{true}, t_, below_, by_x));
    return matmul(z_, matmul(inner, adjoint(z_)));
  }

 private:
  Tensor t_, z_, below_;
  /// Of real matrices, 1 / 2 / (b + c) in the place of each c; infinite where the sum is a rounding error.
  Tensor angles_;
};

struct Schur {
  using kind = Explicit;
  static constexpr const char* name = "schur";
  static constexpr unsigned keeps = output(0) | output(1);

  Types type(const Type& a) const {
    require_square_type(name, a);
    require_sizes_of_lapack(name, a);
    return {a, a};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::schur(y[0], y[1], a[0], info.data());
      require_convergence(name, info);
    });
  }
  Tensors jvp(const Forward& f) const { return SchurChange(f.outputs[0], f.outputs[1]).tangents(f.tangents[0]); }
  Tensors vjp(const Reverse& r) const {
    return {SchurChange(r.outputs[0], r.outputs[1]).cotangent(r.cotangents[0], r.cotangents[1])};
  }
  Schur lifted() const { return {}; }
  static std::vector<Sample<Schur>> samples() {
    // Nearly triangular, so that LAPACK finds the eigenvalues in the same order for each of them.
    const auto near = [](const Tensor& t) { return t + uniform_around_zero(type_of(t).shape) * 0.1; };
    const auto spread = [&](std::int64_t n) {
      return near(triu(uniform_around_zero({n, n}), 1) + eye(n) * (arange(n) * 2 + 1));
    };
    const Tensor pairs = tensor({{0.5, -1.5, 0.1, 0.2}, {1.2, 0.4, -0.2, 0.3}, {0., 0., 5., 2.}, {0., 0., -1., 6.}});
    const Tensor pair_and_value = tensor({{0.5, -1.5, 0.1}, {1.2, 0.4, -0.2}, {0., 0., 4.}});
    const Tensor complex = triu(complex_sample({3, 3}), 1) + eye(3) * (arange(3) * 3) + complex_sample({3, 3}) * 0.1;
    return {{{}, {spread(3)}},
            {{}, {near(pairs)}},
            {{}, {near(pair_and_value)}},
            {{}, {stack({spread(3), near(pair_and_value)})}},
            {{}, {complex}},
            {{}, {spread(1)}},
            {{}, {rand({0, 0})}},
            {{}, {rand({0, 2, 2})}}};
  }
};

}  // namespace

namespace ops {

std::pair<Tensor, Tensor> schur(const Tensor& a) { return schur(a, "real"); }
std::pair<Tensor, Tensor> schur(const Tensor& a, std::string_view output) {
  const Called as("schur", a);
  require_square("schur", a);
  const bool is_complex = word_among("schur", "the output", output, {"real", "complex"}) == 1;
  const DType dtype = type_of(a).dtype;
  const Tensor given = is_complex ? to(a, complex_dtype(computed_dtype(dtype))) : a;
  const Tensors both = ricci::apply(Schur{}, std::span(&given, 1));
  return {both[0], both[1]};
}

}  // namespace ops
}  // namespace ricci
