// Tangents and cotangents, kind by kind.
#include "primitive/derive.h"

#include <atomic>
#include <utility>

#include "primitive/anomaly.h"
#include "primitive/custom.h"

namespace ricci {
namespace {

/// `scaled(i)` is the tangent of input i times the partial derivative.
template <class Scaled>
Tensors elementwise_tangents(const Forward& rule, const Scaled& scaled) {
  const Tensor& y = rule.outputs[0];
  Tensor total;
  for (std::size_t i = 0; i < rule.inputs.size(); ++i)
    if (rule.tangents[i].defined()) accumulate(total, scaled(i));
  if (!total.defined()) return {Tensor()};
  const Type want = type_of(y), have = type_of(total);
  Tensor t = have.dtype == want.dtype ? total : to(total, want.dtype);
  return {have.shape == want.shape ? t : expand(t, want.shape)};
}

Tensors linear_tangents(Op op, const Forward& rule) {
  Tensors inputs;
  for (std::size_t i = 0; i < rule.inputs.size(); ++i)
    inputs.push_back((op.rules->linear_in >> i) & 1U ? rule.tangent(static_cast<int>(i)) : rule.inputs[i]);
  return apply_all(op, {inputs.data(), inputs.size()});
}

Tensors multilinear_tangents(Op op, const Forward& rule) {
  Tensor total;
  for (std::size_t i = 0; i < rule.inputs.size(); ++i) {
    if (!rule.tangents[i].defined()) continue;
    Tensors inputs(rule.inputs.begin(), rule.inputs.end());
    inputs[i] = rule.tangents[i];
    accumulate(total, apply_all(op, {inputs.data(), inputs.size()})[0]);
  }
  return {total};
}

/// A cotangent multiplies by the conjugate of the partial derivative.
Tensor scale_back(Op op, int i, const Reverse& rule) {
  const Tensor& ct = rule.cotangents[0];
  if (!is_complex(type_of(ct).dtype)) return op.rules->scale(op.parameters, i, ct, rule.inputs, rule.outputs[0]);
  const Tensor forward = op.rules->scale(op.parameters, i, conj(ct), rule.inputs, rule.outputs[0]);
  if (!forward.defined()) return {};
  const Tensor scaled = conj(forward);
  return is_complex(rule.input_types[static_cast<std::size_t>(i)].dtype) ? scaled : real(scaled);
}

}  // namespace

Tensor conj_if_complex(const Tensor& x) { return is_complex(type_of(x).dtype) ? conj(x) : x; }

Tensor Forward::tangent(int i) const {
  const auto at = static_cast<std::size_t>(i);
  return tangents[at].defined() ? tangents[at] : zeros_of(type_of(inputs[at]));
}

Tensor Reverse::cotangent(int i) const {
  const auto at = static_cast<std::size_t>(i);
  return cotangents[at].defined() ? cotangents[at] : zeros_of(output_types[at]);
}

Tensor Reverse::begun() const {
  return so_far && so_far->defined() ? std::exchange(*so_far, Tensor()) : zeros_of(input_types[0]);
}

Tensor Batch::input(int i) const {
  const Tensor& x = inputs[static_cast<std::size_t>(i)];
  return is_mapped(i) ? x : repeated(x, size);
}

Tensor repeated(const Tensor& x, Size examples) {
  Shape shape = type_of(x).shape;
  shape.insert(0, examples);
  return expand(x, shape);
}

Tensor fit(const Tensor& x, const Type& type) {
  const Type have = type_of(x);
  Tensor fitted = x;
  if (!(have.shape == type.shape)) {
    const int extra = have.rank() - type.rank();
    Axes dims;
    for (int i = 0; i < have.rank(); ++i)
      if (i < extra || !(have.shape[static_cast<std::size_t>(i)] == type.shape[static_cast<std::size_t>(i - extra)]))
        dims.push_back(i);
    if (!dims.empty()) fitted = sum(fitted, dims, true);
    if (extra > 0) fitted = reshape(fitted, type.shape);
  }
  if (is_complex(have.dtype) && !is_complex(type.dtype)) fitted = real(fitted);
  return fitted.dtype() == type.dtype ? fitted : to(fitted, type.dtype);
}

namespace {

Tensors tangents_by_kind(Op op, const Forward& rule) {
  switch (op.rules->kind) {
    case Kind::elementwise:
      return elementwise_tangents(rule, [&](std::size_t i) {
        return op.rules->scale(op.parameters, static_cast<int>(i), rule.tangents[i], rule.inputs, rule.outputs[0]);
      });
    case Kind::linear: return linear_tangents(op, rule);
    case Kind::multilinear: return multilinear_tangents(op, rule);
    case Kind::explicit_: return op.rules->jvp(op.parameters, rule);
    case Kind::custom: break;  // gives value and tangents together: custom::push
  }
  __builtin_unreachable();
}

Tensors cotangents_by_kind(Op op, const Reverse& rule) {
  if (op.rules->kind == Kind::custom) return custom::vjp(op, rule);
  if (op.rules->vjp) return op.rules->vjp(op.parameters, rule);
  Tensors cts;
  for (std::size_t i = 0; i < rule.input_types.size(); ++i) {
    const int index = static_cast<int>(i);
    Tensor ct;
    if (rule.wants(index)) {
      ct = op.rules->kind == Kind::elementwise ? scale_back(op, index, rule)
                                               : op.rules->transpose(op.parameters, index, rule.cotangents[0], rule);
      if (ct.defined() && !(type_of(ct) == rule.input_types[i])) ct = fit(ct, rule.input_types[i]);
    }
    cts.push_back(std::move(ct));
  }
  return cts;
}

}  // namespace

Tensors tangents_of(Op op, const Forward& rule) {
  if (op.rules->is_locally_constant()) return Tensors(rule.outputs.size(), Tensor());
  Tensors tangents = tangents_by_kind(op, rule);
  look_for_nan(op, "tangent of result", {tangents.data(), tangents.size()});
  return tangents;
}

Tensors tangents_by_factors(Op op, const Forward& rule) {
  const unsigned linear = op.rules->linear_in | op.rules->linear_in_each;
  const auto is_complex_tensor = [](const Tensor& x) { return is_complex(type_of(x).dtype); };
  bool is_nonlinear = false;
  for (std::size_t i = 0; i < rule.inputs.size(); ++i)
    is_nonlinear |= rule.tangents[i].defined() && (linear >> i & 1U) == 0;
  const bool has_factors = op.rules->kind == Kind::elementwise && is_nonlinear && !op.rules->is_locally_constant() &&
                           std::ranges::none_of(rule.inputs, is_complex_tensor);
  if (!has_factors) return tangents_of(op, rule);
  Tensors tangents = elementwise_tangents(rule, [&](std::size_t i) {
    const Tensor factor =
        op.rules->scale(op.parameters, static_cast<int>(i), Tensor(1.0), rule.inputs, rule.outputs[0]);
    return factor.defined() ? mul(factor, rule.tangents[i]) : Tensor();
  });
  look_for_nan(op, "tangent of result", {tangents.data(), tangents.size()});
  return tangents;
}

Tensors cotangents_of(Op op, const Reverse& rule) {
  Tensors cotangents = cotangents_by_kind(op, rule);
  look_for_nan(op, "gradient of operand", {cotangents.data(), cotangents.size()});
  return cotangents;
}

void accumulate(Tensor& sum, Tensor term) {
  if (!term.defined()) return;
  if (!sum.defined()) {
    sum = std::move(term);
    return;
  }
  const bool unshared =
      sum.cell()->refs.is(1) && sole_array(sum.cell()) && !this_thread.innermost && type_of(sum) == type_of(term);
  if (unshared) sum.add_(term);
  else sum = add(sum, term);
}

}  // namespace ricci
