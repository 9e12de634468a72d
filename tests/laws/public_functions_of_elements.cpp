// Functions of elementwise.h, as the cases of tools/torch_values_of_core.py call them.
#include "public_functions.h"

namespace laws {

namespace rc = ricci;

const Table& arithmetic() {
  static const Table table = {
      {"add", of(rc::add)},
      {"add complex", of(rc::add)},
      {"add whole", of(rc::add)},
      {"sub", of(rc::sub)},
      {"sub complex", of(rc::sub)},
      {"sub whole", of(rc::sub)},
      {"mul", of(rc::mul)},
      {"mul complex", of(rc::mul)},
      {"mul whole", of(rc::mul)},
      {"div", of(rc::div)},
      {"div complex", of(rc::div)},
      {"div whole", [](X x) { return List{div(x[0], x[1]).to(rc::float64)}; }},
      {"pow", of(rc::pow)},
      {"pow whole", of(rc::pow)},
      {"pow complex", of(rc::pow)},
      {"pow of number", [](X x) { return List{pow(x[0], 3)}; }},
      {"addcmul", of(rc::addcmul)},
      {"addcdiv", of(rc::addcdiv)},
      {"add alpha", [](X x) { return List{x[0].add(x[1], 2)}; }},
      {"sub alpha", [](X x) { return List{x[0].sub(x[1], 0.5)}; }},
      {"addcmul value", [](X x) { return List{x[0].addcmul(x[1], x[2], 0.5)}; }},
      {"addcdiv value", [](X x) { return List{x[0].addcdiv(x[1], x[2], -2)}; }},
      {"div trunc kink", [](X x) { return List{x[0].div(x[1], "trunc")}; }},
      {"div trunc whole", [](X x) { return List{x[0].div(x[1], "trunc")}; }},
      {"div floor kink", [](X x) { return List{x[0].div(x[1], "floor")}; }},
      {"div floor whole", [](X x) { return List{x[0].div(x[1], "floor")}; }},
      {"round 2 kink", [](X x) { return List{x[0].round(2)}; }},
      {"round -1 kink", [](X x) { return List{x[0].round(-1)}; }},
      {"gelu_tanh", of(rc::gelu_tanh)},
      {"nan_to_num kink", [](X x) { return List{nan_to_num(x[0])}; }},
      {"nan_to_num options kink", [](X x) { return List{x[0].nan_to_num({.nan = 7, .posinf = 8, .neginf = -9})}; }},
      {"floor_divide kink", of(rc::floor_divide)},
      {"floor_divide whole", of(rc::floor_divide)},
      {"remainder", of(rc::remainder)},
      {"remainder whole", of(rc::remainder)},
      {"fmod", of(rc::fmod)},
      {"fmod whole", of(rc::fmod)},
      {"copysign", of(rc::copysign)},
      {"hypot", of(rc::hypot)},
      {"xlogy", of(rc::xlogy)},
      {"xlogy of 0 kink", [](X x) { return List{detach(xlogy(x[0], x[1]))}; }},
      {"atan2", of(rc::atan2)},
      {"polygamma", [](X x) { return List{rc::polygamma(1, x[0])}; }},
      {"polygamma 3", [](X x) { return List{rc::polygamma(3, x[0])}; }},
      {"neg", of(rc::neg)},
      {"neg complex", of(rc::neg)},
      {"positive", of(rc::positive)},
      {"abs", of(rc::abs)},
      {"abs complex", of(rc::abs)},
      {"abs whole", of(rc::abs)},
      {"abs kink", of(rc::abs)},
      {"exp", of(rc::exp)},
      {"exp complex", of(rc::exp)},
      {"exp2", of(rc::exp2)},
      {"expm1", of(rc::expm1)},
      {"sin", of(rc::sin)},
      {"sin complex", of(rc::sin)},
      {"cos", of(rc::cos)},
      {"cos complex", of(rc::cos)},
      {"tan", of(rc::tan)},
      {"tan complex", of(rc::tan)},
      {"sinh", of(rc::sinh)},
      {"sinh complex", of(rc::sinh)},
      {"cosh", of(rc::cosh)},
      {"cosh complex", of(rc::cosh)},
      {"tanh", of(rc::tanh)},
      {"tanh complex", of(rc::tanh)},
      {"asin", of(rc::asin)},
      {"acos", of(rc::acos)},
      {"atan", of(rc::atan)},
      {"asinh", of(rc::asinh)},
      {"acosh", of(rc::acosh)},
      {"atanh", of(rc::atanh)},
      {"erf", of(rc::erf)},
      {"erfc", of(rc::erfc)},
      {"deg2rad", of(rc::deg2rad)},
      {"rad2deg", of(rc::rad2deg)},
      {"sigmoid", of(rc::sigmoid)},
      {"sgn", of(rc::sgn)},
      {"sgn complex", of(rc::sgn)},
      {"sgn kink", of(rc::sgn)},
      {"sqrt", of(rc::sqrt)},
      {"sqrt complex", of(rc::sqrt)},
      {"rsqrt", of(rc::rsqrt)},
      {"cbrt", of(rc::cbrt)},
      {"reciprocal", of(rc::reciprocal)},
      {"reciprocal complex", of(rc::reciprocal)},
      {"log", of(rc::log)},
      {"log complex", of(rc::log)},
      {"log2", of(rc::log2)},
      {"log10", of(rc::log10)},
      {"log1p", of(rc::log1p)},
      {"lgamma", of(rc::lgamma)},
      {"digamma", of(rc::digamma)},
      {"angle", of(rc::angle)},
      {"angle complex", of(rc::angle)},
      {"conj complex", of(rc::conj)},
      {"floor kink", of(rc::floor)},
      {"ceil kink", of(rc::ceil)},
      {"round kink", of(rc::round)},
      {"trunc kink", of(rc::trunc)},
      {"frac kink", of(rc::frac)},
      {"sign kink", of(rc::sign)},
      {"sign whole", of(rc::sign)},
      {"logsigmoid", of(rc::logsigmoid)},
      {"logsigmoid of large", of(rc::logsigmoid)},
      {"relu", of(rc::relu)},
      {"relu kink", of(rc::relu)},
      {"leaky_relu", of(rc::leaky_relu)},
      {"leaky_relu slope", [](X x) { return List{leaky_relu(x[0], 0.25)}; }},
      {"elu", of(rc::elu)},
      {"elu alpha", [](X x) { return List{elu(x[0], 0.5)}; }},
      {"gelu", of(rc::gelu)},
      {"threshold", [](X x) { return List{threshold(x[0], 0.25, 7.0)}; }},
      {"softplus", of(rc::softplus)},
      {"softplus beta threshold", [](X x) { return List{softplus(x[0], 2.0, 1.5)}; }},
      {"where", of(rc::where)},
      {"maximum", of(rc::maximum)},
      {"maximum kink", of(rc::maximum)},
      {"maximum of NaN kink", [](X x) { return List{detach(maximum(x[0], x[1]))}; }},
      {"maximum whole", of(rc::maximum)},
      {"minimum", of(rc::minimum)},
      {"minimum kink", of(rc::minimum)},
      {"minimum of NaN kink", [](X x) { return List{detach(minimum(x[0], x[1]))}; }},
      {"minimum whole", of(rc::minimum)},
      {"fmax", of(rc::fmax)},
      {"fmax kink", of(rc::fmax)},
      {"fmax of NaN kink", [](X x) { return List{detach(fmax(x[0], x[1]))}; }},
      {"fmax whole", of(rc::fmax)},
      {"fmin", of(rc::fmin)},
      {"fmin kink", of(rc::fmin)},
      {"fmin of NaN kink", [](X x) { return List{detach(fmin(x[0], x[1]))}; }},
      {"fmin whole", of(rc::fmin)},
      {"clamp", [](X x) { return List{clamp(x[0], -0.5, 1.0)}; }},
      {"clamp tensors", of(rc::clamp)},
      {"clamp kink", [](X x) { return List{clamp(x[0], -1.0, 1.0)}; }},
      {"clamp_min", [](X x) { return List{clamp_min(x[0], 0.3)}; }},
      {"clamp_max", [](X x) { return List{clamp_max(x[0], 0.3)}; }},
  };
  return table;
}

const Table& kinds() {
  static const Table table = {
      {"eq", of(rc::eq)},
      {"eq whole", of(rc::eq)},
      {"eq complex", of(rc::eq)},
      {"ne", of(rc::ne)},
      {"ne whole", of(rc::ne)},
      {"lt", of(rc::lt)},
      {"lt whole", of(rc::lt)},
      {"le", of(rc::le)},
      {"le whole", of(rc::le)},
      {"gt", of(rc::gt)},
      {"gt whole", of(rc::gt)},
      {"ge", of(rc::ge)},
      {"ge whole", of(rc::ge)},
      {"isnan", of(rc::isnan)},
      {"isinf", of(rc::isinf)},
      {"isfinite", of(rc::isfinite)},
      {"isclose", [](X x) { return List{isclose(x[0], x[1])}; }},
      {"isclose bounds", [](X x) { return List{isclose(x[0], x[1], 0.1, 0.01)}; }},
      {"isclose equal_nan", [](X x) { return List{isclose(x[0], x[1], 0.1, 0.01, true)}; }},
      {"allclose reads equal_nan", [](X x) { return List{rc::tensor(allclose(x[0], x[1], 1e-5, 1e-8, true))}; }},
      {"equal reads", [](X x) { return List{rc::tensor(equal(x[0], x[1]))}; }},
      {"equal reads other", [](X x) { return List{rc::tensor(equal(x[0], x[1]))}; }},
      {"allclose reads", [](X x) { return List{rc::tensor(allclose(x[0], x[1]))}; }},
      {"allclose reads bounds", [](X x) { return List{rc::tensor(allclose(x[0], x[1], 0.1, 0.01))}; }},
      {"logical_and", of(rc::logical_and)},
      {"logical_or", of(rc::logical_or)},
      {"logical_xor", of(rc::logical_xor)},
      {"logical_not", of(rc::logical_not)},
      {"bitwise_and", of(rc::bitwise_and)},
      {"bitwise_and truth", of(rc::bitwise_and)},
      {"bitwise_or", of(rc::bitwise_or)},
      {"bitwise_or truth", of(rc::bitwise_or)},
      {"bitwise_xor", of(rc::bitwise_xor)},
      {"bitwise_xor truth", of(rc::bitwise_xor)},
      {"bitwise_not", of(rc::bitwise_not)},
      {"bitwise_not truth", of(rc::bitwise_not)},
      {"bitwise_left_shift", of(rc::bitwise_left_shift)},
      {"bitwise_right_shift", of(rc::bitwise_right_shift)},
      {"real", of(rc::real)},
      {"imag", of(rc::imag)},
      {"complex", of(rc::complex)},
      {"view_as_real", of(rc::view_as_real)},
      {"view_as_complex", of(rc::view_as_complex)},
      {"detach kink", of(rc::detach)},
      {"clone", of(rc::clone)},
      {"to kink", [](X x) { return List{to(to(x[0], rc::float32), rc::float64) * 0.5}; }},
      {"to whole kink", [](X x) { return List{to(x[0], rc::int32)}; }},
      {"to complex", [](X x) { return List{to(x[0], rc::complex128)}; }},
      {"to truth", [](X x) { return List{to(x[0], rc::boolean)}; }},
  };
  return table;
}

namespace {

/// A function that writes to its first tensor, on a copy of it.
Function on_copy(const Tensor& (*f)(const Tensor&)) {
  return [f](X x) {
    const Tensor target = clone(x[0]);
    f(target);
    return List{target};
  };
}
/// The copy has a value for each example where only the source has.
Function on_copy(const Tensor& (*f)(const Tensor&, const Tensor&)) {
  return [f](X x) {
    const Tensor target = x[0] + rc::zeros_like(x[1]);
    f(target, x[1]);
    return List{target};
  };
}
Function into(const Tensor& (*f)(const Tensor&, const Tensor&, const Tensor&)) {
  return [f](X x) {
    const Tensor out = rc::zeros_like(x[0] + x[1]);
    f(out, x[0], x[1]);
    return List{out};
  };
}

}  // namespace

const Table& writes() {
  static const Table table = {
      {"sin_", on_copy(rc::sin_)},       {"cos_", on_copy(rc::cos_)},    {"exp_", on_copy(rc::exp_)},
      {"neg_", on_copy(rc::neg_)},       {"abs_", on_copy(rc::abs_)},    {"sqrt_", on_copy(rc::sqrt_)},
      {"square_", on_copy(rc::square_)}, {"tanh_", on_copy(rc::tanh_)},  {"sigmoid_", on_copy(rc::sigmoid_)},
      {"relu_", on_copy(rc::relu_)},     {"add_", on_copy(rc::add_)},    {"sub_", on_copy(rc::sub_)},
      {"mul_", on_copy(rc::mul_)},       {"div_", on_copy(rc::div_)},    {"add_out", into(rc::add_out)},
      {"sub_out", into(rc::sub_out)},    {"mul_out", into(rc::mul_out)}, {"div_out", into(rc::div_out)},
      {"copy_", on_copy(rc::copy_)},     {"fill_", on_copy(rc::fill_)},  {"zero_", on_copy(rc::zero_)},
  };
  return table;
}

}  // namespace laws
