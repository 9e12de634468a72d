// Errors begin with the name of what was called, also where that is made of other operations. Every operation of the
// index of operations is called with operands of many kinds; most calls are mistakes.
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// What a call is made of: as many of the tensors as it takes, and one number for all that is a number.
struct In {
  Tensor a, b, c;
  std::int64_t n;
  double x;
};

struct Call {
  std::string name;
  std::function<void(const In&)> call;
};

/// What a call may write to.
Tensor copy(const Tensor& x) { return x.defined() ? x.clone() : x; }

std::vector<Call> calls() {
  return {
      {"abs", [](const In& in) { rc::abs(in.a); }},
      {"abs_", [](const In& in) { rc::abs_(copy(in.a)); }},
      {"acos", [](const In& in) { rc::acos(in.a); }},
      {"acosh", [](const In& in) { rc::acosh(in.a); }},
      {"adaptive_avg_pool2d", [](const In& in) { rc::adaptive_avg_pool2d(in.a, in.n); }},
      {"add", [](const In& in) { rc::add(in.a, in.b); }},
      {"add_", [](const In& in) { rc::add_(copy(in.a), in.b); }},
      {"add_out", [](const In& in) { rc::add_out(copy(in.a), in.b, in.c); }},
      {"addcdiv", [](const In& in) { rc::addcdiv(in.a, in.b, in.c); }},
      {"addcmul", [](const In& in) { rc::addcmul(in.a, in.b, in.c); }},
      {"addmm", [](const In& in) { rc::addmm(in.a, in.b, in.c); }},
      {"all", [](const In& in) { rc::all(in.a); }},
      {"all", [](const In& in) { rc::all(in.a, in.n); }},
      {"all", [](const In& in) { rc::all(in.a, in.n, false); }},
      {"allclose", [](const In& in) { rc::allclose(in.a, in.b); }},
      {"allclose", [](const In& in) { rc::allclose(in.a, in.b, in.x, in.x); }},
      {"alpha_dropout", [](const In& in) { rc::alpha_dropout(in.a, in.x, true); }},
      {"amax", [](const In& in) { rc::amax(in.a); }},
      {"amax", [](const In& in) { rc::amax(in.a, in.n); }},
      {"amax", [](const In& in) { rc::amax(in.a, in.n, false); }},
      {"amin", [](const In& in) { rc::amin(in.a); }},
      {"amin", [](const In& in) { rc::amin(in.a, in.n); }},
      {"amin", [](const In& in) { rc::amin(in.a, in.n, false); }},
      {"angle", [](const In& in) { rc::angle(in.a); }},
      {"any", [](const In& in) { rc::any(in.a); }},
      {"any", [](const In& in) { rc::any(in.a, in.n); }},
      {"any", [](const In& in) { rc::any(in.a, in.n, false); }},
      {"arange", [](const In& in) { rc::arange(in.a); }},
      {"arange", [](const In& in) { rc::arange(in.a, in.b); }},
      {"arange", [](const In& in) { rc::arange(in.a, in.b, in.c); }},
      {"arange", [](const In& in) { rc::arange(in.a, in.b, in.c, rc::float32); }},
      {"arange", [](const In& in) { rc::arange(in.a, in.b, rc::float32); }},
      {"arange", [](const In& in) { rc::arange(in.a, rc::float32); }},
      {"argmax", [](const In& in) { rc::argmax(in.a); }},
      {"argmax", [](const In& in) { rc::argmax(in.a, in.n); }},
      {"argmax", [](const In& in) { rc::argmax(in.a, in.n, false); }},
      {"argmin", [](const In& in) { rc::argmin(in.a); }},
      {"argmin", [](const In& in) { rc::argmin(in.a, in.n); }},
      {"argmin", [](const In& in) { rc::argmin(in.a, in.n, false); }},
      {"argsort", [](const In& in) { rc::argsort(in.a); }},
      {"argsort", [](const In& in) { rc::argsort(in.a, in.n); }},
      {"argsort", [](const In& in) { rc::argsort(in.a, in.n, false); }},
      {"as_strided", [](const In& in) { rc::as_strided(in.a, rc::Shape{in.n}, in.n); }},
      {"as_strided", [](const In& in) { rc::as_strided(in.a, rc::Shape{in.n}, in.n, in.n); }},
      {"asin", [](const In& in) { rc::asin(in.a); }},
      {"asinh", [](const In& in) { rc::asinh(in.a); }},
      {"atan", [](const In& in) { rc::atan(in.a); }},
      {"atan2", [](const In& in) { rc::atan2(in.a, in.b); }},
      {"atanh", [](const In& in) { rc::atanh(in.a); }},
      {"avg_pool2d", [](const In& in) { rc::avg_pool2d(in.a, in.n); }},
      {"avg_pool2d", [](const In& in) { rc::avg_pool2d(in.a, in.n, in.n); }},
      {"avg_pool2d", [](const In& in) { rc::avg_pool2d(in.a, in.n, in.n, in.n); }},
      {"batch_norm", [](const In& in) { rc::batch_norm(in.a, in.b, in.c); }},
      {"batch_norm", [](const In& in) { rc::batch_norm(in.a, in.b, in.c, in.a, in.b, false); }},
      {"batch_norm", [](const In& in) { rc::batch_norm(in.a, in.b, in.c, in.a, in.b, false, in.x, in.x); }},
      {"bernoulli", [](const In& in) { rc::bernoulli(in.a); }},
      {"beta", [](const In& in) { rc::beta(in.a, in.b); }},
      {"binary_cross_entropy", [](const In& in) { rc::binary_cross_entropy(in.a, in.b); }},
      {"binary_cross_entropy_with_logits", [](const In& in) { rc::binary_cross_entropy_with_logits(in.a, in.b); }},
      {"binary_cross_entropy_with_logits",
       [](const In& in) { rc::binary_cross_entropy_with_logits(in.a, in.b, rc::Reduction::mean); }},
      {"binomial", [](const In& in) { rc::binomial(in.a, in.b); }},
      {"bitwise_and", [](const In& in) { rc::bitwise_and(in.a, in.b); }},
      {"bitwise_left_shift", [](const In& in) { rc::bitwise_left_shift(in.a, in.b); }},
      {"bitwise_not", [](const In& in) { rc::bitwise_not(in.a); }},
      {"bitwise_or", [](const In& in) { rc::bitwise_or(in.a, in.b); }},
      {"bitwise_right_shift", [](const In& in) { rc::bitwise_right_shift(in.a, in.b); }},
      {"bitwise_xor", [](const In& in) { rc::bitwise_xor(in.a, in.b); }},
      {"bmm", [](const In& in) { rc::bmm(in.a, in.b); }},
      {"broadcast_to", [](const In& in) { rc::broadcast_to(in.a, rc::Shape{in.n}); }},
      {"cat", [](const In& in) { rc::cat({in.a, in.b, in.c}); }},
      {"cat", [](const In& in) { rc::cat({in.a, in.b, in.c}, in.n); }},
      {"cauchy", [](const In& in) { rc::cauchy(in.a, in.b); }},
      {"cbrt", [](const In& in) { rc::cbrt(in.a); }},
      {"ceil", [](const In& in) { rc::ceil(in.a); }},
      {"cholesky", [](const In& in) { rc::cholesky(in.a); }},
      {"cholesky_solve", [](const In& in) { rc::cholesky_solve(in.a, in.b); }},
      {"chunk", [](const In& in) { rc::chunk(in.a, in.n); }},
      {"chunk", [](const In& in) { rc::chunk(in.a, in.n, in.n); }},
      {"clamp", [](const In& in) { rc::clamp(in.a, in.b, in.c); }},
      {"clamp_max", [](const In& in) { rc::clamp_max(in.a, in.b); }},
      {"clamp_min", [](const In& in) { rc::clamp_min(in.a, in.b); }},
      {"clone", [](const In& in) { rc::clone(in.a); }},
      {"complex", [](const In& in) { rc::complex(in.a, in.b); }},
      {"conj", [](const In& in) { rc::conj(in.a); }},
      {"contiguous", [](const In& in) { rc::contiguous(in.a); }},
      {"conv1d", [](const In& in) { rc::conv1d(in.a, in.b); }},
      {"conv1d", [](const In& in) { rc::conv1d(in.a, in.b, in.c); }},
      {"conv1d", [](const In& in) { rc::conv1d(in.a, in.b, in.c, in.n, in.n, in.n, in.n); }},
      {"conv2d", [](const In& in) { rc::conv2d(in.a, in.b); }},
      {"conv2d", [](const In& in) { rc::conv2d(in.a, in.b, in.c); }},
      {"conv2d", [](const In& in) { rc::conv2d(in.a, in.b, in.c, in.n, in.n, in.n, in.n); }},
      {"copy_", [](const In& in) { rc::copy_(copy(in.a), in.b); }},
      {"copysign", [](const In& in) { rc::copysign(in.a, in.b); }},
      {"cos", [](const In& in) { rc::cos(in.a); }},
      {"cos_", [](const In& in) { rc::cos_(copy(in.a)); }},
      {"cosh", [](const In& in) { rc::cosh(in.a); }},
      {"count_nonzero", [](const In& in) { rc::count_nonzero(in.a); }},
      {"cross", [](const In& in) { rc::cross(in.a, in.b); }},
      {"cross", [](const In& in) { rc::cross(in.a, in.b, in.n); }},
      {"cross_entropy", [](const In& in) { rc::cross_entropy(in.a, in.b); }},
      {"cross_entropy", [](const In& in) { rc::cross_entropy(in.a, in.b, rc::Reduction::mean); }},
      {"cumprod", [](const In& in) { rc::cumprod(in.a, in.n); }},
      {"cumsum", [](const In& in) { rc::cumsum(in.a, in.n); }},
      {"deg2rad", [](const In& in) { rc::deg2rad(in.a); }},
      {"det", [](const In& in) { rc::det(in.a); }},
      {"detach", [](const In& in) { rc::detach(in.a); }},
      {"diag", [](const In& in) { rc::diag(in.a); }},
      {"diag_embed", [](const In& in) { rc::diag_embed(in.a); }},
      {"diag_embed", [](const In& in) { rc::diag_embed(in.a, in.n, in.n, in.n); }},
      {"diagonal", [](const In& in) { rc::diagonal(in.a); }},
      {"diagonal", [](const In& in) { rc::diagonal(in.a, in.n, in.n, in.n); }},
      {"diagonal_scatter", [](const In& in) { rc::diagonal_scatter(in.a, in.b, in.n, in.n, in.n); }},
      {"digamma", [](const In& in) { rc::digamma(in.a); }},
      {"dirichlet", [](const In& in) { rc::dirichlet(in.a); }},
      {"div", [](const In& in) { rc::div(in.a, in.b); }},
      {"div_", [](const In& in) { rc::div_(copy(in.a), in.b); }},
      {"div_out", [](const In& in) { rc::div_out(copy(in.a), in.b, in.c); }},
      {"dot", [](const In& in) { rc::dot(in.a, in.b); }},
      {"dropout", [](const In& in) { rc::dropout(in.a, in.x); }},
      {"eigh", [](const In& in) { rc::eigh(in.a); }},
      {"eigvalsh", [](const In& in) { rc::eigvalsh(in.a); }},
      {"einsum", [](const In& in) { rc::einsum("ij,jk->ik", in.a, in.b); }},
      {"einsum", [](const In& in) { rc::einsum("ii,j", in.a, in.b); }},
      {"elu", [](const In& in) { rc::elu(in.a); }},
      {"elu", [](const In& in) { rc::elu(in.a, in.x); }},
      {"embedding", [](const In& in) { rc::embedding(in.a, in.b); }},
      {"empty", [](const In& in) { rc::empty(rc::Shape{in.n}); }},
      {"empty_like", [](const In& in) { rc::empty_like(in.a); }},
      {"eq", [](const In& in) { rc::eq(in.a, in.b); }},
      {"equal", [](const In& in) { rc::equal(in.a, in.b); }},
      {"erf", [](const In& in) { rc::erf(in.a); }},
      {"erfc", [](const In& in) { rc::erfc(in.a); }},
      {"exp", [](const In& in) { rc::exp(in.a); }},
      {"exp2", [](const In& in) { rc::exp2(in.a); }},
      {"exp_", [](const In& in) { rc::exp_(copy(in.a)); }},
      {"expand", [](const In& in) { rc::expand(in.a, rc::Shape{in.n}); }},
      {"expm1", [](const In& in) { rc::expm1(in.a); }},
      {"exponential", [](const In& in) { rc::exponential(in.a); }},
      {"eye", [](const In& in) { rc::eye(in.n); }},
      {"eye", [](const In& in) { rc::eye(in.n, 3); }},
      {"eye_rows", [](const In& in) { rc::eye_rows(in.n, 2, in.n, rc::float32); }},
      {"feature_alpha_dropout", [](const In& in) { rc::feature_alpha_dropout(in.a, in.x, true); }},
      {"feature_dropout", [](const In& in) { rc::feature_dropout(in.a, in.x, true); }},
      {"fill_", [](const In& in) { rc::fill_(copy(in.a), in.b); }},
      {"flatten", [](const In& in) { rc::flatten(in.a); }},
      {"flatten", [](const In& in) { rc::flatten(in.a, in.n, in.n); }},
      {"flip", [](const In& in) { rc::flip(in.a, in.n); }},
      {"floor", [](const In& in) { rc::floor(in.a); }},
      {"floor_divide", [](const In& in) { rc::floor_divide(in.a, in.b); }},
      {"fmax", [](const In& in) { rc::fmax(in.a, in.b); }},
      {"fmin", [](const In& in) { rc::fmin(in.a, in.b); }},
      {"fmod", [](const In& in) { rc::fmod(in.a, in.b); }},
      {"frac", [](const In& in) { rc::frac(in.a); }},
      {"from_blob", [](const In& in) { rc::from_blob(static_cast<void*>(nullptr), rc::Shape{in.n}, rc::float32); }},
      {"full", [](const In& in) { rc::full(rc::Shape{in.n}, in.a); }},
      {"full_like", [](const In& in) { rc::full_like(in.a, in.b); }},
      {"gamma", [](const In& in) { rc::gamma(in.a); }},
      {"gamma", [](const In& in) { rc::gamma(in.a, in.b); }},
      {"gather", [](const In& in) { rc::gather(in.a, in.n, in.b); }},
      {"ge", [](const In& in) { rc::ge(in.a, in.b); }},
      {"gelu", [](const In& in) { rc::gelu(in.a); }},
      {"geometric", [](const In& in) { rc::geometric(in.a); }},
      {"group_norm", [](const In& in) { rc::group_norm(in.a, in.n); }},
      {"group_norm", [](const In& in) { rc::group_norm(in.a, in.n, in.b, in.c); }},
      {"group_norm", [](const In& in) { rc::group_norm(in.a, in.n, in.b, in.c, in.x); }},
      {"gt", [](const In& in) { rc::gt(in.a, in.b); }},
      {"gumbel", [](const In& in) { rc::gumbel(in.a, in.b); }},
      {"huber_loss", [](const In& in) { rc::huber_loss(in.a, in.b, in.x); }},
      {"hypot", [](const In& in) { rc::hypot(in.a, in.b); }},
      {"imag", [](const In& in) { rc::imag(in.a); }},
      {"index", [](const In& in) { rc::index(in.a, {in.b, in.n}); }},
      {"index", [](const In& in) { rc::index(in.a, {in.n, in.n}); }},
      {"index_add", [](const In& in) { rc::index_add(in.a, in.n, in.b, in.c); }},
      {"index_fill", [](const In& in) { rc::index_fill(in.a, in.n, in.b, in.c); }},
      {"index_put", [](const In& in) { rc::index_put(in.a, {in.b}, in.c); }},
      {"index_put", [](const In& in) { rc::index_put(in.a, {in.b, in.n}, in.c, true); }},
      {"index_put", [](const In& in) { rc::index_put(in.a, {in.n}, in.b); }},
      {"index_select", [](const In& in) { rc::index_select(in.a, in.n, in.b); }},
      {"inner", [](const In& in) { rc::inner(in.a, in.b); }},
      {"instance_norm", [](const In& in) { rc::instance_norm(in.a); }},
      {"instance_norm", [](const In& in) { rc::instance_norm(in.a, in.b, in.c, in.b, in.c); }},
      {"instance_norm", [](const In& in) { rc::instance_norm(in.a, {}, {}, in.b, in.c, true, in.x, in.x); }},
      {"inv", [](const In& in) { rc::inv(in.a); }},
      {"inverse", [](const In& in) { rc::inverse(in.a); }},
      {"isclose", [](const In& in) { rc::isclose(in.a, in.b); }},
      {"isclose", [](const In& in) { rc::isclose(in.a, in.b, in.x, in.x); }},
      {"isfinite", [](const In& in) { rc::isfinite(in.a); }},
      {"isinf", [](const In& in) { rc::isinf(in.a); }},
      {"isnan", [](const In& in) { rc::isnan(in.a); }},
      {"kron", [](const In& in) { rc::kron(in.a, in.b); }},
      {"l1_loss", [](const In& in) { rc::l1_loss(in.a, in.b); }},
      {"l1_loss", [](const In& in) { rc::l1_loss(in.a, in.b, rc::Reduction::mean); }},
      {"laplace", [](const In& in) { rc::laplace(in.a, in.b); }},
      {"layer_norm", [](const In& in) { rc::layer_norm(in.a, rc::Shape{in.n}); }},
      {"layer_norm", [](const In& in) { rc::layer_norm(in.a, rc::Shape{in.n}, in.b, in.c); }},
      {"layer_norm", [](const In& in) { rc::layer_norm(in.a, rc::Shape{in.n}, in.b, in.c, in.x); }},
      {"le", [](const In& in) { rc::le(in.a, in.b); }},
      {"leaky_relu", [](const In& in) { rc::leaky_relu(in.a); }},
      {"leaky_relu", [](const In& in) { rc::leaky_relu(in.a, in.x); }},
      {"lerp", [](const In& in) { rc::lerp(in.a, in.b, in.c); }},
      {"lgamma", [](const In& in) { rc::lgamma(in.a); }},
      {"linear", [](const In& in) { rc::linear(in.a, in.b); }},
      {"linear", [](const In& in) { rc::linear(in.a, in.b, in.c); }},
      {"linspace", [](const In& in) { rc::linspace(in.a, in.b, in.n); }},
      {"linspace", [](const In& in) { rc::linspace(in.a, in.b, in.n, rc::float32); }},
      {"log", [](const In& in) { rc::log(in.a); }},
      {"log10", [](const In& in) { rc::log10(in.a); }},
      {"log1p", [](const In& in) { rc::log1p(in.a); }},
      {"log2", [](const In& in) { rc::log2(in.a); }},
      {"log_normal", [](const In& in) { rc::log_normal(in.a, in.b); }},
      {"log_softmax", [](const In& in) { rc::log_softmax(in.a, in.n); }},
      {"logaddexp", [](const In& in) { rc::logaddexp(in.a, in.b); }},
      {"logcumsumexp", [](const In& in) { rc::logcumsumexp(in.a, in.n); }},
      {"logdet", [](const In& in) { rc::logdet(in.a); }},
      {"logical_and", [](const In& in) { rc::logical_and(in.a, in.b); }},
      {"logical_not", [](const In& in) { rc::logical_not(in.a); }},
      {"logical_or", [](const In& in) { rc::logical_or(in.a, in.b); }},
      {"logical_xor", [](const In& in) { rc::logical_xor(in.a, in.b); }},
      {"logsigmoid", [](const In& in) { rc::logsigmoid(in.a); }},
      {"logsumexp", [](const In& in) { rc::logsumexp(in.a); }},
      {"logsumexp", [](const In& in) { rc::logsumexp(in.a, in.n); }},
      {"logsumexp", [](const In& in) { rc::logsumexp(in.a, in.n, false); }},
      {"lt", [](const In& in) { rc::lt(in.a, in.b); }},
      {"mT", [](const In& in) { rc::mT(in.a); }},
      {"masked_fill", [](const In& in) { rc::masked_fill(in.a, in.b, in.c); }},
      {"masked_select", [](const In& in) { rc::masked_select(in.a, in.b); }},
      {"matmul", [](const In& in) { rc::matmul(in.a, in.b); }},
      {"matrix_power", [](const In& in) { rc::matrix_power(in.a, in.n); }},
      {"max", [](const In& in) { rc::max(in.a); }},
      {"max", [](const In& in) { rc::max(in.a, in.b); }},
      {"max_pool2d", [](const In& in) { rc::max_pool2d(in.a, in.n); }},
      {"max_pool2d", [](const In& in) { rc::max_pool2d(in.a, in.n, in.n); }},
      {"max_pool2d", [](const In& in) { rc::max_pool2d(in.a, in.n, in.n, in.n); }},
      {"max_pool2d", [](const In& in) { rc::max_pool2d(in.a, in.n, in.n, in.n, in.n); }},
      {"maximum", [](const In& in) { rc::maximum(in.a, in.b); }},
      {"mean", [](const In& in) { rc::mean(in.a); }},
      {"mean", [](const In& in) { rc::mean(in.a, in.n); }},
      {"mean", [](const In& in) { rc::mean(in.a, in.n, false); }},
      {"median", [](const In& in) { rc::median(in.a); }},
      {"median", [](const In& in) { rc::median(in.a, in.n); }},
      {"meshgrid", [](const In& in) { rc::meshgrid({in.a, in.b, in.c}); }},
      {"min", [](const In& in) { rc::min(in.a); }},
      {"min", [](const In& in) { rc::min(in.a, in.b); }},
      {"minimum", [](const In& in) { rc::minimum(in.a, in.b); }},
      {"mm", [](const In& in) { rc::mm(in.a, in.b); }},
      {"movedim", [](const In& in) { rc::movedim(in.a, in.n, in.n); }},
      {"mse_loss", [](const In& in) { rc::mse_loss(in.a, in.b); }},
      {"mse_loss", [](const In& in) { rc::mse_loss(in.a, in.b, rc::Reduction::mean); }},
      {"mul", [](const In& in) { rc::mul(in.a, in.b); }},
      {"mul_", [](const In& in) { rc::mul_(copy(in.a), in.b); }},
      {"mul_out", [](const In& in) { rc::mul_out(copy(in.a), in.b, in.c); }},
      {"multi_dot", [](const In& in) { rc::multi_dot({in.a, in.b, in.c}); }},
      {"multinomial", [](const In& in) { rc::multinomial(in.a, in.n); }},
      {"multinomial", [](const In& in) { rc::multinomial(in.a, in.n, true); }},
      {"mv", [](const In& in) { rc::mv(in.a, in.b); }},
      {"nan_to_num", [](const In& in) { rc::nan_to_num(in.a); }},
      {"narrow", [](const In& in) { rc::narrow(in.a, in.n, in.n, in.n); }},
      {"ne", [](const In& in) { rc::ne(in.a, in.b); }},
      {"neg", [](const In& in) { rc::neg(in.a); }},
      {"neg_", [](const In& in) { rc::neg_(copy(in.a)); }},
      {"nll_loss", [](const In& in) { rc::nll_loss(in.a, in.b); }},
      {"nll_loss", [](const In& in) { rc::nll_loss(in.a, in.b, rc::Reduction::mean); }},
      {"nonzero", [](const In& in) { rc::nonzero(in.a); }},
      {"norm", [](const In& in) { rc::norm(in.a); }},
      {"norm", [](const In& in) { rc::norm(in.a, in.x); }},
      {"norm", [](const In& in) { rc::norm(in.a, in.x, in.n); }},
      {"norm", [](const In& in) { rc::norm(in.a, in.x, in.n, false); }},
      {"normal", [](const In& in) { rc::normal(in.a, in.b); }},
      {"one_hot", [](const In& in) { rc::one_hot(in.a, in.n); }},
      {"ones", [](const In& in) { rc::ones(rc::Shape{in.n}); }},
      {"ones_like", [](const In& in) { rc::ones_like(in.a); }},
      {"outer", [](const In& in) { rc::outer(in.a, in.b); }},
      {"pad", [](const In& in) { rc::pad(in.a, in.n); }},
      {"pad", [](const In& in) { rc::pad(in.a, in.n, in.x); }},
      {"permute", [](const In& in) { rc::permute(in.a, in.n); }},
      {"poisson", [](const In& in) { rc::poisson(in.a); }},
      {"polygamma", [](const In& in) { rc::polygamma(in.n, in.a); }},
      {"positive", [](const In& in) { rc::positive(in.a); }},
      {"pow", [](const In& in) { rc::pow(in.a, in.b); }},
      {"prod", [](const In& in) { rc::prod(in.a); }},
      {"prod", [](const In& in) { rc::prod(in.a, in.n); }},
      {"prod", [](const In& in) { rc::prod(in.a, in.n, false); }},
      {"rad2deg", [](const In& in) { rc::rad2deg(in.a); }},
      {"rand", [](const In& in) { rc::rand(rc::Shape{in.n}); }},
      {"rand_like", [](const In& in) { rc::rand_like(in.a); }},
      {"randint", [](const In& in) { rc::randint(in.n, rc::Shape{in.n}); }},
      {"randint_like", [](const In& in) { rc::randint_like(in.a, in.n); }},
      {"randn", [](const In& in) { rc::randn(rc::Shape{in.n}); }},
      {"randn_like", [](const In& in) { rc::randn_like(in.a); }},
      {"randperm", [](const In& in) { rc::randperm(in.n); }},
      {"real", [](const In& in) { rc::real(in.a); }},
      {"reciprocal", [](const In& in) { rc::reciprocal(in.a); }},
      {"relu", [](const In& in) { rc::relu(in.a); }},
      {"relu_", [](const In& in) { rc::relu_(copy(in.a)); }},
      {"remainder", [](const In& in) { rc::remainder(in.a, in.b); }},
      {"repeat", [](const In& in) { rc::repeat(in.a, rc::Shape{in.n}); }},
      {"repeat_interleave", [](const In& in) { rc::repeat_interleave(in.a, in.n, in.n); }},
      {"reshape", [](const In& in) { rc::reshape(in.a, rc::Shape{in.n}); }},
      {"roll", [](const In& in) { rc::roll(in.a, in.n); }},
      {"roll", [](const In& in) { rc::roll(in.a, in.n, in.n); }},
      {"round", [](const In& in) { rc::round(in.a); }},
      {"rsqrt", [](const In& in) { rc::rsqrt(in.a); }},
      {"scatter", [](const In& in) { rc::scatter(in.a, in.n, in.b, in.c); }},
      {"scatter_add", [](const In& in) { rc::scatter_add(in.a, in.n, in.b, in.c); }},
      {"searchsorted", [](const In& in) { rc::searchsorted(in.a, in.b); }},
      {"select", [](const In& in) { rc::select(in.a, in.n, in.n); }},
      {"select_scatter", [](const In& in) { rc::select_scatter(in.a, in.b, in.n, in.n); }},
      {"sgn", [](const In& in) { rc::sgn(in.a); }},
      {"sigmoid", [](const In& in) { rc::sigmoid(in.a); }},
      {"sigmoid_", [](const In& in) { rc::sigmoid_(copy(in.a)); }},
      {"sign", [](const In& in) { rc::sign(in.a); }},
      {"silu", [](const In& in) { rc::silu(in.a); }},
      {"sin", [](const In& in) { rc::sin(in.a); }},
      {"sin_", [](const In& in) { rc::sin_(copy(in.a)); }},
      {"sinh", [](const In& in) { rc::sinh(in.a); }},
      {"slice", [](const In& in) { rc::slice(in.a, in.n, in.n, in.n); }},
      {"slice", [](const In& in) { rc::slice(in.a, in.n, in.n, in.n, in.n); }},
      {"slice_scatter", [](const In& in) { rc::slice_scatter(in.a, in.b, in.n, in.n, in.n, in.n); }},
      {"slogdet", [](const In& in) { rc::slogdet(in.a); }},
      {"softmax", [](const In& in) { rc::softmax(in.a, in.n); }},
      {"softplus", [](const In& in) { rc::softplus(in.a); }},
      {"softplus", [](const In& in) { rc::softplus(in.a, in.x, in.x); }},
      {"solve", [](const In& in) { rc::solve(in.a, in.b); }},
      {"sort", [](const In& in) { rc::sort(in.a); }},
      {"sort", [](const In& in) { rc::sort(in.a, in.n); }},
      {"sort", [](const In& in) { rc::sort(in.a, in.n, false); }},
      {"split", [](const In& in) { rc::split(in.a, in.n); }},
      {"split", [](const In& in) { rc::split(in.a, in.n, in.n); }},
      {"split", [](const In& in) { rc::split(in.a, {in.n, 1}, in.n); }},
      {"sqrt", [](const In& in) { rc::sqrt(in.a); }},
      {"square", [](const In& in) { rc::square(in.a); }},
      {"squeeze", [](const In& in) { rc::squeeze(in.a); }},
      {"squeeze", [](const In& in) { rc::squeeze(in.a, in.n); }},
      {"stack", [](const In& in) { rc::stack({in.a, in.b, in.c}); }},
      {"stack", [](const In& in) { rc::stack({in.a, in.b, in.c}, in.n); }},
      {"std", [](const In& in) { rc::std(in.a); }},
      {"std", [](const In& in) { rc::std(in.a, in.n); }},
      {"std", [](const In& in) { rc::std(in.a, in.n, in.n, false); }},
      {"sub", [](const In& in) { rc::sub(in.a, in.b); }},
      {"sum", [](const In& in) { rc::sum(in.a); }},
      {"sum", [](const In& in) { rc::sum(in.a, in.n); }},
      {"sum", [](const In& in) { rc::sum(in.a, in.n, false); }},
      {"svd", [](const In& in) { rc::svd(in.a); }},
      {"svdvals", [](const In& in) { rc::svdvals(in.a); }},
      {"t", [](const In& in) { rc::t(in.a); }},
      {"take", [](const In& in) { rc::take(in.a, in.b); }},
      {"take_along_dim", [](const In& in) { rc::take_along_dim(in.a, in.b, in.n); }},
      {"tan", [](const In& in) { rc::tan(in.a); }},
      {"tanh", [](const In& in) { rc::tanh(in.a); }},
      {"tensor_split", [](const In& in) { rc::tensor_split(in.a, in.n); }},
      {"tensor_split", [](const In& in) { rc::tensor_split(in.a, in.n, in.n); }},
      {"tensor_split", [](const In& in) { rc::tensor_split(in.a, {in.n, 1}); }},
      {"tensor_split", [](const In& in) { rc::tensor_split(in.a, {in.n, 1}, in.n); }},
      {"tensordot", [](const In& in) { rc::tensordot(in.a, in.b, in.n); }},
      {"threshold", [](const In& in) { rc::threshold(in.a, in.b, in.c); }},
      {"tile", [](const In& in) { rc::tile(in.a, rc::Shape{in.n}); }},
      {"to", [](const In& in) { rc::to(in.a, rc::float32); }},
      {"topk", [](const In& in) { rc::topk(in.a, in.n); }},
      {"topk", [](const In& in) { rc::topk(in.a, in.n, in.n); }},
      {"topk", [](const In& in) { rc::topk(in.a, in.n, in.n, false); }},
      {"trace", [](const In& in) { rc::trace(in.a); }},
      {"transpose", [](const In& in) { rc::transpose(in.a, in.n, in.n); }},
      {"solve_triangular", [](const In& in) { rc::solve_triangular(in.a, in.b, false); }},
      {"sqrt_", [](const In& in) { rc::sqrt_(copy(in.a)); }},
      {"square_", [](const In& in) { rc::square_(copy(in.a)); }},
      {"sub_", [](const In& in) { rc::sub_(copy(in.a), in.b); }},
      {"sub_out", [](const In& in) { rc::sub_out(copy(in.a), in.b, in.c); }},
      {"tanh_", [](const In& in) { rc::tanh_(copy(in.a)); }},
      {"tensor", [](const In&) { rc::tensor({{1., 2.}, {3.}}); }},
      {"triangular_solve", [](const In& in) { rc::triangular_solve(in.a, in.b); }},
      {"triangular_solve", [](const In& in) { rc::triangular_solve(in.a, in.b, {.upper = false, .transpose = true}); }},
      {"tril", [](const In& in) { rc::tril(in.a); }},
      {"tril", [](const In& in) { rc::tril(in.a, in.n); }},
      {"tril_pack", [](const In& in) { rc::tril_pack(in.a); }},
      {"tril_pack", [](const In& in) { rc::tril_pack(in.a, in.n); }},
      {"tril_unpack", [](const In& in) { rc::tril_unpack(in.a, in.n); }},
      {"tril_unpack", [](const In& in) { rc::tril_unpack(in.a, in.n, in.n); }},
      {"triu", [](const In& in) { rc::triu(in.a); }},
      {"triu", [](const In& in) { rc::triu(in.a, in.n); }},
      {"trunc", [](const In& in) { rc::trunc(in.a); }},
      {"truncated_normal", [](const In& in) { rc::truncated_normal(in.a, in.b, in.c, in.x); }},
      {"unbind", [](const In& in) { rc::unbind(in.a); }},
      {"unbind", [](const In& in) { rc::unbind(in.a, in.n); }},
      {"unfold", [](const In& in) { rc::unfold(in.a, in.n, in.n, in.n); }},
      {"uniform", [](const In& in) { rc::uniform(in.a, in.b); }},
      {"unique", [](const In& in) { rc::unique(in.a); }},
      {"unsqueeze", [](const In& in) { rc::unsqueeze(in.a, in.n); }},
      {"unstack", [](const In& in) { rc::unstack(in.a); }},
      {"var", [](const In& in) { rc::var(in.a); }},
      {"var", [](const In& in) { rc::var(in.a, in.n); }},
      {"var", [](const In& in) { rc::var(in.a, in.n, in.n, false); }},
      {"vdot", [](const In& in) { rc::vdot(in.a, in.b); }},
      {"view", [](const In& in) { rc::view(in.a, rc::Shape{in.n}); }},
      {"view_as_complex", [](const In& in) { rc::view_as_complex(in.a); }},
      {"view_as_real", [](const In& in) { rc::view_as_real(in.a); }},
      {"where", [](const In& in) { rc::where(in.a, in.b, in.c); }},
      {"xlogy", [](const In& in) { rc::xlogy(in.a, in.b); }},
      {"zero_", [](const In& in) { rc::zero_(copy(in.a)); }},
      {"zeros", [](const In& in) { rc::zeros(rc::Shape{in.n}); }},
      {"zeros_like", [](const In& in) { rc::zeros_like(in.a); }},
  };
}

std::vector<In> inputs() {
  const Tensor undefined, f23 = rc::ones({2, 3}), f45 = rc::ones({4, 5}), f7 = rc::ones({7}), number = rc::ones({}),
                          whole = rc::ones({2, 3}, rc::int64), flags = rc::ones({2}, rc::boolean),
                          pair = rc::ones({2, 3}, rc::complex64), none = rc::ones({0, 2}), zeros = rc::zeros({2, 2, 2});
  std::vector<In> all;
  for (const std::int64_t n : {0, 9, -9, -1})
    for (const double x : {0.5, -1.0}) {
      all.push_back({undefined, undefined, undefined, n, x});
      all.push_back({f23, undefined, f23, n, x});
      all.push_back({f23, f45, f7, n, x});
      all.push_back({f7, f23, f45, n, x});
      all.push_back({f45, f7, number, n, x});
      all.push_back({number, f7, whole, n, x});
      all.push_back({whole, f45, pair, n, x});
      all.push_back({f23, whole, f23, n, x});
      all.push_back({pair, f45, f7, n, x});
      all.push_back({f23, pair, flags, n, x});
      all.push_back({flags, f23, whole, n, x});
      all.push_back({none, f45, none, n, x});
      all.push_back({zeros, zeros, f7, n, x});
      all.push_back({f7, f7, f7, n, x});
      all.push_back({f45, f45, f45, n, x});
    }
  return all;
}

/// `std` of an error of `standard_deviation: …`; "" where nothing is thrown.
std::string name_in_error(const Call& call, const In& in, std::string& text) {
  try {
    call.call(in);
  } catch (const rc::Error& error) {
    text = error.what();
    return text.substr(0, text.find(": "));
  }
  return "";
}

/// The names of the index of operations: those in the first column of its tables, before an opening parenthesis.
std::set<std::string> names_of_the_index() {
  std::set<std::string> names;
  std::ifstream page(RICCI_OPERATIONS_PAGE);
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    line.resize(line.find(" | "));
    for (std::size_t at = line.find('`'); at != std::string::npos; at = line.find('`', line.find('`', at + 1) + 1))
      names.insert(line.substr(at + 1, line.find('(', at) - at - 1));
  }
  return names;
}

TEST(NamesOfCalls, AreThoseOfTheIndexOfOperations) {
  std::set<std::string> names;
  for (const Call& call : calls()) names.insert(call.name);
  EXPECT_EQ(names, names_of_the_index());
}

TEST(NamesOfCalls, StandFirstInTheErrorsOfEveryOperation) {
  int errors = 0;
  for (const Call& call : calls()) {
    bool said = false;  // once for each operation
    for (const In& in : inputs()) {
      std::string text;
      const std::string name = name_in_error(call, in, text);
      errors += !name.empty();
      if (name.empty() || name == call.name || said) continue;
      said = true;
      ADD_FAILURE() << call.name << " says " << text;
    }
  }
  EXPECT_GT(errors, 5000);
}

TEST(NamesOfCalls, StandFirstWhereAResultIsTooLarge) {
  const Tensor long_row = rc::zeros({1}).expand({std::int64_t{1} << 24});
  expect_error<rc::ValueError>([&] { rc::outer(long_row, long_row); },
                               "outer: f32[16777216,16777216] has more elements than memory can hold; make it smaller");
  const auto square = [](const Tensor& x) { return x * x; };
  const auto sum_of_squares = [](const Tensor& x) { return (x * x).sum(); };
  const std::string too_large = ": f32[16777216,16777216] has more elements than memory can hold; make it smaller";
  expect_error<rc::ValueError>([&] { rc::jacrev(square)(long_row); }, "jacrev" + too_large);
  expect_error<rc::ValueError>([&] { rc::jacfwd(square)(long_row); }, "jacfwd" + too_large);
  expect_error<rc::ValueError>([&] { rc::hessian(sum_of_squares)(long_row); }, "hessian" + too_large);
}

}  // namespace
