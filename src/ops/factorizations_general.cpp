// Systems of equations with general matrices, inverses and powers.
#include "kernels/lapack.h"
#include "ops/factorizations.h"
#include "ops/samples.h"
#include "ops/small_lu.h"
#include "primitive/called.h"
#include "ricci/ops/decompositions.h"
#include "ricci/primitive/element_rules.h"
#include "ricci/primitive/scalar.h"

namespace ricci {
namespace {

void require_regular(const char* op, const MatrixInfo& info) {
  if (const int pivot = info.first_failure())
    raise<ValueError>(std::string(op) + ": " + info.text() + " is singular: pivot " + std::to_string(pivot) +
                      " of its LU factorisation is zero");
}

/// x with a x = b for each member, as batches of small systems are solved: rows are exchanged lane by lane.
template <class T>
Elements<T> solved(Checks& checks, Elements<T> a, Elements<T> x) {
  const std::int64_t n = x.size(2), columns = x.size(1);
  for (std::int64_t member = 0; member * n * columns < std::ssize(x.of); ++member) {
    const auto in_a = [&](std::int64_t i, std::int64_t k) -> T& { return a.of[at((member * n + i) * n + k)]; };
    const auto in_x = [&](std::int64_t i, std::int64_t c) -> T& { return x.of[at((member * n + i) * columns + c)]; };
    const auto exchange = [&](const auto& here, std::int64_t j, std::int64_t i) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const T upper = in_x(j, c), lower = in_x(i, c);
        in_x(j, c) = scalar::select(here, lower, upper);
        in_x(i, c) = scalar::select(here, upper, lower);
      }
    };
    const auto subtract = [&](const T& factor, std::int64_t j, std::int64_t i) {
      for (std::int64_t c = 0; c < columns; ++c) in_x(i, c) = scalar::fma(-factor, in_x(j, c), in_x(i, c));
    };
    eliminate<T>(n, in_a, exchange, subtract, [&](const T& pivot) {
      checks.require(scalar::not_equal(pivot, T(0)));
      return pivot;
    });
    for (std::int64_t k = n; k-- > 0;)
      for (std::int64_t c = 0; c < columns; ++c) {
        in_x(k, c) = in_x(k, c) / in_a(k, k);
        for (std::int64_t i = 0; i < k; ++i) in_x(i, c) = scalar::fma(-in_a(i, k), in_x(k, c), in_x(i, c));
      }
  }
  return x;
}

/// x with a x = b.
struct Solve {
  using kind = Explicit;
  static constexpr const char* name = "solve";
  static constexpr unsigned keeps[] = {input(0) | output(0), input(0)};

  Type type(const Type& a, const Type& b) const {
    require_right_sides(name, a, b);
    return {b.dtype, b.shape};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs x, Inputs operand) {
      MatrixInfo info(operand[0]);
      const LuFactors factors(operand[0], info);
      require_regular(name, info);
      kernels::lu_solve(x[0], factors.lu->strided(), factors.pivots->strided(), operand[1]);
    });
  }
  Tensors jvp(const Forward& f) const {
    Tensor right = f.tangents[1];
    if (f.tangents[0].defined()) {
      const Tensor product = matmul(f.tangents[0], f.outputs[0]);
      right = right.defined() ? right - product : neg(product);
    }
    return {apply(Solve{}, f.inputs[0], right)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor ct = apply(Solve{}, adjoint(r.inputs[0]), r.cotangents[0]);
    return {r.wants(0) ? neg(matmul(ct, adjoint(r.outputs[0]))) : Tensor(), ct};
  }
  BatchedOutputs batch(const Batch& b) const { return batch_right_hand_sides(*this, b); }
  template <class T>
  Elements<T> on_elements(Checks& checks, const Elements<T>& a, const Elements<T>& b) const {
    return solved(checks, a, b);
  }
  static std::vector<Sample<Solve>> samples() {
    return {{{}, {regular({}, 3), uniform_around_zero({3, 2})}},
            {{}, {regular({2}, 2), uniform_around_zero({2, 2, 1})}},
            {{}, {regular({}, 1), uniform_around_zero({1, 1})}},
            {{}, {regular({}, 0), uniform_around_zero({0, 2})}},
            {{}, {regular({}, 2), uniform_around_zero({2, 0})}}};
  }
};

struct Inverse {
  using kind = Explicit;
  static constexpr const char* name = "inverse";
  static constexpr unsigned keeps = output(0);

  Type type(const Type& a) const {
    require_square_type(name, a);
    return {a.dtype, a.shape};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs x, Inputs a) {
      MatrixInfo info(a[0]);
      kernels::inverse(x[0], a[0], info.data());
      require_regular(name, info);
    });
  }
  Tensors jvp(const Forward& f) const { return {neg(matmul(matmul(f.outputs[0], f.tangents[0]), f.outputs[0]))}; }
  Tensors vjp(const Reverse& r) const {
    const Tensor x = adjoint(r.outputs[0]);
    return {neg(matmul(matmul(x, r.cotangents[0]), x))};
  }
  Inverse lifted() const { return {}; }
  template <class T>
  Elements<T> on_elements(Checks& checks, const Elements<T>& a) const {
    Elements<T> identity{a.shape, {}};
    const std::int64_t n = a.size(1);
    for (std::int64_t i = 0; i < std::ssize(a.of); ++i) identity.of.push_back(T(i % (n * n) % (n + 1) == 0 ? 1 : 0));
    return solved(checks, a, identity);
  }
  static std::vector<Sample<Inverse>> samples() {
    return {{{}, {regular({}, 3)}}, {{}, {regular({2}, 2)}}, {{}, {regular({}, 1)}}, {{}, {regular({}, 0)}}};
  }
};

}  // namespace

namespace ops {

Tensor solve(const Tensor& a, const Tensor& b) {
  const RightHandSide side("solve", a, b, Vectors::one_for_each_matrix);
  return side.result(apply(Solve{}, side.a, side.b));
}

Tensor solve(const Tensor& a, const Tensor& b, bool left) {
  if (left) return solve(a, b);
  require_right_factor("solve", a, b);
  return mT(solve(mT(a), mT(b)));
}

Tensor inverse(const Tensor& a) {
  require_square("inverse", a);
  return apply(Inverse{}, a);
}

Tensor inv(const Tensor& a) {
  const Called as("inv", a);
  return inverse(a);
}

Tensor matrix_power(const Tensor& a, std::int64_t n) {
  const Called as("matrix_power", a);
  require_square("matrix_power", a);
  const Type type = type_of(a);
  if (n == 0) return expand(eye(type.shape.back(), type.dtype), type.shape);
  Tensor power = n < 0 ? inverse(a) : a, product;  // power = a^(2^i), product = a^(the bits of n below i)
  for (auto bits = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);;) {
    if (bits & 1U) product = product.defined() ? matmul(product, power) : power;
    bits >>= 1U;
    if (bits == 0) return product;
    power = matmul(power, power);
  }
}

}  // namespace ops
}  // namespace ricci
