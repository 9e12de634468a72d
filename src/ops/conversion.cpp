// The same values in another element type, in memory of their own, or without their derivative. Start with `Cast`.
#include <complex>

#include "interpreters/batch.h"
#include "interpreters/node_memory.h"
#include "kernels/elementwise.h"
#include "ops/axes.h"

namespace ricci {
namespace {

struct Cast {
  using kind = Linear;
  static constexpr const char* name = "to";
  DType dtype;

  Type type(const Type& x) const { return {dtype, x.shape}; }
  void eval(Outputs out, Inputs in) const { kernels::copy(out[0], in[0]); }
  Tensor transpose(const Tensor& ct, const Type& input) const { return to(ct, input.dtype); }
  Cast lifted() const { return *this; }
  static std::vector<Sample<Cast>> samples() {
    const Tensor z = mul(rand({2, 3}), std::complex<double>(1, 2));
    return {{{DType::float64}, {rand({2, 3})}},
            {{DType::complex128}, {rand({3})}},
            {{DType::float64}, {z}},
            {{DType::int64}, {mul(rand({4}), 5)}},
            {{DType::boolean}, {rand({})}}};
  }
};

struct Clone {
  using kind = Linear;
  static constexpr const char* name = "clone";

  Type type(const Type& x) const { return x; }
  void eval(Outputs out, Inputs in) const { kernels::copy(out[0], in[0]); }
  Tensor transpose(const Tensor& ct) const { return ct; }
  Clone lifted() const { return {}; }
  static std::vector<Sample<Clone>> samples() {
    return {{{}, {rand({2, 3})}}, {{}, {rand({})}}, {{}, {mT(rand({2, 3}))}}};
  }
};

/// What recorded programs hold for `detach`: replayed, it cuts the innermost differentiating level of where that happens.
/// Its samples are integers, as it breaks the laws of derivatives on purpose.
struct Detach {
  using kind = Explicit;
  static constexpr const char* name = "detach";
  static constexpr bool locally_constant = true;

  Type type(const Type& x) const { return x; }
  void eval(Outputs out, Inputs in) const { kernels::copy(out[0], in[0]); }
  static Tensor replay(const Tensor& x) { return detach(x); }
  Detach lifted() const { return {}; }
  static std::vector<Sample<Detach>> samples() { return {{{}, {tensor({{1, 2, 3}, {4, 5, 6}})}}}; }
};

/// The value as it is inside all batched levels deeper than `level`.
const Value& inside_batches(const Value& value, Level level) {
  const Value* v = &value;
  while (v->level > level && v->kind == ValueKind::batched) v = inner_of(*v)->get();
  return *v;
}

/// `value` without its derivative at `level`; batched levels around it stay.
ValueRef without_derivative(const ValueRef& value, Level level) {
  if (value->level > level) {
    const LaneSetRef& lanes = static_cast<const Batched&>(*value).lanes;
    return new_node<Batched>(value->level, without_derivative(*inner_of(*value), level), lanes);
  }
  return value->level == level && level > 0 ? *inner_of(*value) : value;
}

}  // namespace

namespace ops {

Tensor to(const Tensor& x, DType dtype) {
  require_defined("to", x, 0);
  const Type& have = value_of(x)->type;
  return have.dtype == dtype && !have.weak ? x : apply(Cast{dtype}, x);
}
Tensor clone(const Tensor& x) { return apply(Clone{}, x); }
Tensor detach(const Tensor& x) {
  require_defined("detach", x, 0);
  const ValueRef value = read(x, "detach");
  const Level level = innermost_derivative();
  const Value& inside = inside_batches(*value, level);
  if (inside.kind == ValueKind::recorded && inside.level > level) return apply(Detach{}, x);
  return wrap(without_derivative(value, level));
}

}  // namespace ops
}  // namespace ricci
