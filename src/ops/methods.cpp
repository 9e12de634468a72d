// The methods of Tensor that are operations: each is the free function of the same name. What a tensor is and how its
// values are read stands in reading.cpp, new_… in create.cpp and views.cpp, in-place methods in in_place.cpp.
#include <utility>

#include "primitive/called.h"
#include "primitive/wording.h"
#include "ricci/ops.h"
#include "ricci/ops/arrangement.h"
#include "ricci/primitive/raise.h"

namespace ricci::ops {

// ── views ──

Tensor Tensor::view(const Shape& shape) const { return ops::view(*this, shape); }
Tensor Tensor::reshape(const Shape& shape) const { return ops::reshape(*this, shape); }
Tensor Tensor::view_as(const Tensor& other) const { return ops::view(*this, other.shape()); }
Tensor Tensor::reshape_as(const Tensor& other) const { return ops::reshape(*this, other.shape()); }
Tensor Tensor::expand(const Shape& shape) const { return ops::expand(*this, shape); }
Tensor Tensor::expand_as(const Tensor& other) const { return ops::expand(*this, other.shape()); }
Tensor Tensor::permute(const Axes& axes) const { return ops::permute(*this, axes); }
Tensor Tensor::transpose(std::int64_t a, std::int64_t b) const { return ops::transpose(*this, a, b); }
Tensor Tensor::t() const { return ops::t(*this); }
Tensor Tensor::T() const {
  Axes reversed;
  for (std::int64_t axis = dim(); axis-- > 0;) reversed.push_back(axis);
  return ops::permute(*this, reversed);
}
Tensor Tensor::mT() const { return ops::mT(*this); }
Tensor Tensor::mH() const { return ops::mH(*this); }
Tensor Tensor::H() const {
  if (dim() == 0) return ops::conj(*this);
  if (dim() != 2)
    raise<ValueError>("H: needs a matrix, found " + type_text(*this) +
                      "; mH() serves matrices along the last two axes");
  return ops::mH(*this);
}
Tensor Tensor::movedim(const Axes& from, const Axes& to) const { return ops::movedim(*this, from, to); }
Tensor Tensor::slice(std::int64_t dim, std::optional<Size> start, std::optional<Size> stop) const {
  return ops::slice(*this, dim, start, stop);
}
Tensor Tensor::slice(std::int64_t dim, std::optional<Size> start, std::optional<Size> stop, Size step) const {
  return ops::slice(*this, dim, start, stop, step);
}
Tensor Tensor::select(std::int64_t dim, Size index) const { return ops::select(*this, dim, index); }
Tensor Tensor::narrow(std::int64_t dim, Size start, Size length) const {
  return ops::narrow(*this, dim, start, length);
}
Tensor Tensor::diagonal() const { return ops::diagonal(*this); }
Tensor Tensor::diagonal(Size offset, std::int64_t dim1, std::int64_t dim2) const {
  return ops::diagonal(*this, offset, dim1, dim2);
}
Tensor Tensor::unfold(std::int64_t dim, Size size, Size step) const { return ops::unfold(*this, dim, size, step); }
Tensor Tensor::squeeze() const { return ops::squeeze(*this); }
Tensor Tensor::squeeze(std::int64_t dim) const { return ops::squeeze(*this, dim); }
Tensor Tensor::unsqueeze(std::int64_t dim) const { return ops::unsqueeze(*this, dim); }
Tensor Tensor::unflatten(std::int64_t dim, const Shape& sizes) const { return ops::unflatten(*this, dim, sizes); }
Tensor Tensor::flatten() const { return ops::flatten(*this); }
Tensor Tensor::flatten(std::int64_t start, std::int64_t end) const { return ops::flatten(*this, start, end); }
Tensor Tensor::as_strided(const Shape& size, const Sizes& stride) const { return ops::as_strided(*this, size, stride); }
Tensor Tensor::as_strided(const Shape& size, const Sizes& stride, Size offset) const {
  return ops::as_strided(*this, size, stride, offset);
}
std::vector<Tensor> Tensor::unbind() const { return ops::unbind(*this); }
std::vector<Tensor> Tensor::unbind(std::int64_t dim) const { return ops::unbind(*this, dim); }
Tensor Tensor::broadcast_to(const Shape& shape) const { return ops::broadcast_to(*this, shape); }
std::vector<Tensor> Tensor::split(Size size) const { return ops::split(*this, size); }
std::vector<Tensor> Tensor::split(Size size, std::int64_t dim) const { return ops::split(*this, size, dim); }
std::vector<Tensor> Tensor::split(const Shape& sizes, std::int64_t dim) const { return ops::split(*this, sizes, dim); }
std::vector<Tensor> Tensor::split(std::initializer_list<Size> sizes, std::int64_t dim) const {
  return ops::split(*this, sizes, dim);
}
std::vector<Tensor> Tensor::chunk(std::int64_t chunks) const { return ops::chunk(*this, chunks); }
std::vector<Tensor> Tensor::chunk(std::int64_t chunks, std::int64_t dim) const {
  return ops::chunk(*this, chunks, dim);
}
std::vector<Tensor> Tensor::tensor_split(std::int64_t sections) const { return ops::tensor_split(*this, sections); }
std::vector<Tensor> Tensor::tensor_split(std::int64_t sections, std::int64_t dim) const {
  return ops::tensor_split(*this, sections, dim);
}
std::vector<Tensor> Tensor::tensor_split(const Shape& indices) const { return ops::tensor_split(*this, indices); }
std::vector<Tensor> Tensor::tensor_split(const Shape& indices, std::int64_t dim) const {
  return ops::tensor_split(*this, indices, dim);
}

// ── rearranged copies ──

Tensor Tensor::flip(const Axes& dims) const { return ops::flip(*this, dims); }
Tensor Tensor::roll(Size shift) const { return ops::roll(*this, shift); }
Tensor Tensor::roll(const Sizes& shifts, const Axes& dims) const { return ops::roll(*this, shifts, dims); }
Tensor Tensor::repeat(const Shape& repeats) const { return ops::repeat(*this, repeats); }
Tensor Tensor::tile(const Shape& repeats) const { return ops::tile(*this, repeats); }
Tensor Tensor::repeat_interleave(Size repeats, std::int64_t dim) const {
  return ops::repeat_interleave(*this, repeats, dim);
}
Tensor Tensor::tril() const { return ops::tril(*this); }
Tensor Tensor::tril(Size diagonal) const { return ops::tril(*this, diagonal); }
Tensor Tensor::triu() const { return ops::triu(*this); }
Tensor Tensor::triu(Size diagonal) const { return ops::triu(*this, diagonal); }
Tensor Tensor::diag() const { return ops::diag(*this); }
Tensor Tensor::diag_embed() const { return ops::diag_embed(*this); }
Tensor Tensor::diag_embed(Size offset, std::int64_t dim1, std::int64_t dim2) const {
  return ops::diag_embed(*this, offset, dim1, dim2);
}
Tensor Tensor::slice_scatter(const Tensor& value, std::int64_t dim, Size start, Size stop, Size step) const {
  return ops::slice_scatter(*this, value, dim, start, stop, step);
}
Tensor Tensor::select_scatter(const Tensor& value, std::int64_t dim, Size index) const {
  return ops::select_scatter(*this, value, dim, index);
}
Tensor Tensor::diagonal_scatter(const Tensor& value, Size offset, std::int64_t dim1, std::int64_t dim2) const {
  return ops::diagonal_scatter(*this, value, offset, dim1, dim2);
}

// ── new tensors ──

Tensor Tensor::clone() const { return ops::clone(*this); }
Tensor Tensor::contiguous() const { return ops::contiguous(*this); }
Tensor Tensor::detach() const { return ops::detach(*this); }
Tensor Tensor::to(DType dtype) const { return ops::to(*this, dtype); }
Tensor Tensor::type_as(const Tensor& other) const {
  require_defined("type_as", *this, 0);
  require_defined("type_as", other, 1);
  return ops::to(*this, other.dtype());
}

// ── elementwise ──

Tensor Tensor::neg() const { return ops::neg(*this); }
Tensor Tensor::positive() const { return ops::positive(*this); }
Tensor Tensor::abs() const { return ops::abs(*this); }
Tensor Tensor::sign() const { return ops::sign(*this); }
Tensor Tensor::sgn() const { return ops::sgn(*this); }
Tensor Tensor::floor() const { return ops::floor(*this); }
Tensor Tensor::ceil() const { return ops::ceil(*this); }
Tensor Tensor::round() const { return ops::round(*this); }
Tensor Tensor::trunc() const { return ops::trunc(*this); }
Tensor Tensor::frac() const { return ops::frac(*this); }
Tensor Tensor::nan_to_num() const { return ops::nan_to_num(*this); }
Tensor Tensor::square() const { return ops::square(*this); }
Tensor Tensor::sqrt() const { return ops::sqrt(*this); }
Tensor Tensor::rsqrt() const { return ops::rsqrt(*this); }
Tensor Tensor::reciprocal() const { return ops::reciprocal(*this); }
Tensor Tensor::exp() const { return ops::exp(*this); }
Tensor Tensor::exp2() const { return ops::exp2(*this); }
Tensor Tensor::expm1() const { return ops::expm1(*this); }
Tensor Tensor::log() const { return ops::log(*this); }
Tensor Tensor::log2() const { return ops::log2(*this); }
Tensor Tensor::log10() const { return ops::log10(*this); }
Tensor Tensor::log1p() const { return ops::log1p(*this); }
Tensor Tensor::sin() const { return ops::sin(*this); }
Tensor Tensor::cos() const { return ops::cos(*this); }
Tensor Tensor::tan() const { return ops::tan(*this); }
Tensor Tensor::asin() const { return ops::asin(*this); }
Tensor Tensor::acos() const { return ops::acos(*this); }
Tensor Tensor::atan() const { return ops::atan(*this); }
Tensor Tensor::deg2rad() const { return ops::deg2rad(*this); }
Tensor Tensor::rad2deg() const { return ops::rad2deg(*this); }
Tensor Tensor::sinh() const { return ops::sinh(*this); }
Tensor Tensor::cosh() const { return ops::cosh(*this); }
Tensor Tensor::tanh() const { return ops::tanh(*this); }
Tensor Tensor::asinh() const { return ops::asinh(*this); }
Tensor Tensor::acosh() const { return ops::acosh(*this); }
Tensor Tensor::atanh() const { return ops::atanh(*this); }
Tensor Tensor::erf() const { return ops::erf(*this); }
Tensor Tensor::erfc() const { return ops::erfc(*this); }
Tensor Tensor::lgamma() const { return ops::lgamma(*this); }
Tensor Tensor::digamma() const { return ops::digamma(*this); }
Tensor Tensor::polygamma(std::int64_t n) const { return ops::polygamma(n, *this); }
Tensor Tensor::sigmoid() const { return ops::sigmoid(*this); }
Tensor Tensor::relu() const { return ops::relu(*this); }
Tensor Tensor::real() const { return ops::real(*this); }
Tensor Tensor::imag() const { return ops::imag(*this); }
Tensor Tensor::conj() const { return ops::conj(*this); }
Tensor Tensor::angle() const { return ops::angle(*this); }
Tensor Tensor::isnan() const { return ops::isnan(*this); }
Tensor Tensor::isinf() const { return ops::isinf(*this); }
Tensor Tensor::isfinite() const { return ops::isfinite(*this); }
Tensor Tensor::logical_not() const { return ops::logical_not(*this); }
Tensor Tensor::bitwise_not() const { return ops::bitwise_not(*this); }
Tensor Tensor::add(const Tensor& other) const { return ops::add(*this, other); }
Tensor Tensor::sub(const Tensor& other) const { return ops::sub(*this, other); }
Tensor Tensor::mul(const Tensor& other) const { return ops::mul(*this, other); }
Tensor Tensor::div(const Tensor& other) const { return ops::div(*this, other); }
Tensor Tensor::pow(const Tensor& exponent) const { return ops::pow(*this, exponent); }
Tensor Tensor::floor_divide(const Tensor& other) const { return ops::floor_divide(*this, other); }
Tensor Tensor::remainder(const Tensor& other) const { return ops::remainder(*this, other); }
Tensor Tensor::fmod(const Tensor& other) const { return ops::fmod(*this, other); }
Tensor Tensor::addcmul(const Tensor& a, const Tensor& b) const { return ops::addcmul(*this, a, b); }
Tensor Tensor::addcdiv(const Tensor& a, const Tensor& b) const { return ops::addcdiv(*this, a, b); }
Tensor Tensor::lerp(const Tensor& end, const Tensor& weight) const { return ops::lerp(*this, end, weight); }
Tensor Tensor::hypot(const Tensor& other) const { return ops::hypot(*this, other); }
Tensor Tensor::atan2(const Tensor& x) const { return ops::atan2(*this, x); }
Tensor Tensor::copysign(const Tensor& sign) const { return ops::copysign(*this, sign); }
Tensor Tensor::logaddexp(const Tensor& other) const { return ops::logaddexp(*this, other); }
Tensor Tensor::xlogy(const Tensor& y) const { return ops::xlogy(*this, y); }
Tensor Tensor::where(const Tensor& condition, const Tensor& other) const { return ops::where(condition, *this, other); }
Tensor Tensor::maximum(const Tensor& other) const { return ops::maximum(*this, other); }
Tensor Tensor::minimum(const Tensor& other) const { return ops::minimum(*this, other); }
Tensor Tensor::fmax(const Tensor& other) const { return ops::fmax(*this, other); }
Tensor Tensor::fmin(const Tensor& other) const { return ops::fmin(*this, other); }
Tensor Tensor::clamp(const Tensor& low, const Tensor& high) const { return ops::clamp(*this, low, high); }
Tensor Tensor::clamp_min(const Tensor& low) const { return ops::clamp_min(*this, low); }
Tensor Tensor::clamp_max(const Tensor& high) const { return ops::clamp_max(*this, high); }
Tensor Tensor::eq(const Tensor& other) const { return ops::eq(*this, other); }
Tensor Tensor::ne(const Tensor& other) const { return ops::ne(*this, other); }
Tensor Tensor::lt(const Tensor& other) const { return ops::lt(*this, other); }
Tensor Tensor::le(const Tensor& other) const { return ops::le(*this, other); }
Tensor Tensor::gt(const Tensor& other) const { return ops::gt(*this, other); }
Tensor Tensor::ge(const Tensor& other) const { return ops::ge(*this, other); }
Tensor Tensor::isclose(const Tensor& other) const { return ops::isclose(*this, other); }
Tensor Tensor::isclose(const Tensor& other, double rtol, double atol) const {
  return ops::isclose(*this, other, rtol, atol);
}
bool Tensor::allclose(const Tensor& other) const { return ops::allclose(*this, other); }
bool Tensor::allclose(const Tensor& other, double rtol, double atol) const {
  return ops::allclose(*this, other, rtol, atol);
}
bool Tensor::equal(const Tensor& other) const { return ops::equal(*this, other); }
Tensor Tensor::logical_and(const Tensor& other) const { return ops::logical_and(*this, other); }
Tensor Tensor::logical_or(const Tensor& other) const { return ops::logical_or(*this, other); }
Tensor Tensor::logical_xor(const Tensor& other) const { return ops::logical_xor(*this, other); }
Tensor Tensor::bitwise_and(const Tensor& other) const { return ops::bitwise_and(*this, other); }
Tensor Tensor::bitwise_or(const Tensor& other) const { return ops::bitwise_or(*this, other); }
Tensor Tensor::bitwise_xor(const Tensor& other) const { return ops::bitwise_xor(*this, other); }
Tensor Tensor::bitwise_left_shift(const Tensor& other) const { return ops::bitwise_left_shift(*this, other); }
Tensor Tensor::bitwise_right_shift(const Tensor& other) const { return ops::bitwise_right_shift(*this, other); }

// ── products and factorisations ──

Tensor Tensor::matmul(const Tensor& other) const { return ops::matmul(*this, other); }
Tensor Tensor::mm(const Tensor& other) const { return ops::mm(*this, other); }
Tensor Tensor::mv(const Tensor& other) const { return ops::mv(*this, other); }
Tensor Tensor::dot(const Tensor& other) const { return ops::dot(*this, other); }
Tensor Tensor::bmm(const Tensor& other) const { return ops::bmm(*this, other); }
Tensor Tensor::vdot(const Tensor& other) const { return ops::vdot(*this, other); }
Tensor Tensor::inner(const Tensor& other) const { return ops::inner(*this, other); }
Tensor Tensor::outer(const Tensor& other) const { return ops::outer(*this, other); }
Tensor Tensor::kron(const Tensor& other) const { return ops::kron(*this, other); }
Tensor Tensor::cross(const Tensor& other) const { return ops::cross(*this, other); }
Tensor Tensor::cross(const Tensor& other, std::int64_t dim) const { return ops::cross(*this, other, dim); }
Tensor Tensor::addmm(const Tensor& a, const Tensor& b) const { return ops::addmm(*this, a, b); }
Tensor Tensor::inverse() const { return ops::inverse(*this); }
Tensor Tensor::det() const { return ops::det(*this); }
Tensor Tensor::logdet() const { return ops::logdet(*this); }
std::pair<Tensor, Tensor> Tensor::slogdet() const { return ops::slogdet(*this); }
Tensor Tensor::matrix_power(std::int64_t n) const { return ops::matrix_power(*this, n); }
Tensor Tensor::cholesky() const { return ops::cholesky(*this); }
Tensor Tensor::cholesky_solve(const Tensor& l) const { return ops::cholesky_solve(*this, l); }
std::tuple<Tensor, Tensor, Tensor> Tensor::svd() const { return ops::svd(*this); }

// ── reductions, scans and sorting ──

Tensor Tensor::sum() const { return ops::sum(*this); }
Tensor Tensor::sum(const Axes& dims) const { return ops::sum(*this, dims); }
Tensor Tensor::sum(const Axes& dims, bool keepdim) const { return ops::sum(*this, dims, keepdim); }
Tensor Tensor::mean() const { return ops::mean(*this); }
Tensor Tensor::mean(const Axes& dims) const { return ops::mean(*this, dims); }
Tensor Tensor::mean(const Axes& dims, bool keepdim) const { return ops::mean(*this, dims, keepdim); }
Tensor Tensor::prod() const { return ops::prod(*this); }
Tensor Tensor::prod(std::int64_t dim) const { return ops::prod(*this, dim); }
Tensor Tensor::prod(std::int64_t dim, bool keepdim) const { return ops::prod(*this, dim, keepdim); }
Tensor Tensor::trace() const { return ops::trace(*this); }
Tensor Tensor::max() const { return ops::max(*this); }
Tensor Tensor::max(const Tensor& other) const { return ops::max(*this, other); }
Tensor Tensor::min() const { return ops::min(*this); }
Tensor Tensor::min(const Tensor& other) const { return ops::min(*this, other); }
Tensor Tensor::amax() const { return ops::amax(*this); }
Tensor Tensor::amax(const Axes& dims) const { return ops::amax(*this, dims); }
Tensor Tensor::amax(const Axes& dims, bool keepdim) const { return ops::amax(*this, dims, keepdim); }
Tensor Tensor::amin() const { return ops::amin(*this); }
Tensor Tensor::amin(const Axes& dims) const { return ops::amin(*this, dims); }
Tensor Tensor::amin(const Axes& dims, bool keepdim) const { return ops::amin(*this, dims, keepdim); }
Tensor Tensor::argmax() const { return ops::argmax(*this); }
Tensor Tensor::argmax(std::int64_t dim) const { return ops::argmax(*this, dim); }
Tensor Tensor::argmax(std::int64_t dim, bool keepdim) const { return ops::argmax(*this, dim, keepdim); }
Tensor Tensor::argmin() const { return ops::argmin(*this); }
Tensor Tensor::argmin(std::int64_t dim) const { return ops::argmin(*this, dim); }
Tensor Tensor::argmin(std::int64_t dim, bool keepdim) const { return ops::argmin(*this, dim, keepdim); }
Tensor Tensor::any() const { return ops::any(*this); }
Tensor Tensor::any(const Axes& dims) const { return ops::any(*this, dims); }
Tensor Tensor::any(const Axes& dims, bool keepdim) const { return ops::any(*this, dims, keepdim); }
Tensor Tensor::all() const { return ops::all(*this); }
Tensor Tensor::all(const Axes& dims) const { return ops::all(*this, dims); }
Tensor Tensor::all(const Axes& dims, bool keepdim) const { return ops::all(*this, dims, keepdim); }
Tensor Tensor::count_nonzero() const { return ops::count_nonzero(*this); }
Tensor Tensor::var() const { return ops::var(*this); }
Tensor Tensor::var(const Axes& dims) const { return ops::var(*this, dims); }
Tensor Tensor::var(const Axes& dims, Size correction, bool keepdim) const {
  return ops::var(*this, dims, correction, keepdim);
}
Tensor Tensor::std() const { return ops::std(*this); }
Tensor Tensor::std(const Axes& dims) const { return ops::std(*this, dims); }
Tensor Tensor::std(const Axes& dims, Size correction, bool keepdim) const {
  return ops::std(*this, dims, correction, keepdim);
}
Tensor Tensor::norm() const { return ops::norm(*this); }
Tensor Tensor::norm(double p) const { return ops::norm(*this, p); }
Tensor Tensor::norm(double p, const Axes& dims) const { return ops::norm(*this, p, dims); }
Tensor Tensor::norm(double p, const Axes& dims, bool keepdim) const { return ops::norm(*this, p, dims, keepdim); }
Tensor Tensor::softmax(std::int64_t dim) const { return ops::softmax(*this, dim); }
Tensor Tensor::log_softmax(std::int64_t dim) const { return ops::log_softmax(*this, dim); }
Tensor Tensor::logsumexp() const { return ops::logsumexp(*this); }
Tensor Tensor::logsumexp(const Axes& dims) const { return ops::logsumexp(*this, dims); }
Tensor Tensor::logsumexp(const Axes& dims, bool keepdim) const { return ops::logsumexp(*this, dims, keepdim); }
Tensor Tensor::cumsum(std::int64_t dim) const { return ops::cumsum(*this, dim); }
Tensor Tensor::cumprod(std::int64_t dim) const { return ops::cumprod(*this, dim); }
Tensor Tensor::logcumsumexp(std::int64_t dim) const { return ops::logcumsumexp(*this, dim); }
std::pair<Tensor, Tensor> Tensor::sort() const { return ops::sort(*this); }
std::pair<Tensor, Tensor> Tensor::sort(std::int64_t dim) const { return ops::sort(*this, dim); }
std::pair<Tensor, Tensor> Tensor::sort(std::int64_t dim, bool descending) const {
  return ops::sort(*this, dim, descending);
}
Tensor Tensor::argsort() const { return ops::argsort(*this); }
Tensor Tensor::argsort(std::int64_t dim) const { return ops::argsort(*this, dim); }
Tensor Tensor::argsort(std::int64_t dim, bool descending) const { return ops::argsort(*this, dim, descending); }
std::pair<Tensor, Tensor> Tensor::topk(Size k) const { return ops::topk(*this, k); }
std::pair<Tensor, Tensor> Tensor::topk(Size k, std::int64_t dim) const { return ops::topk(*this, k, dim); }
std::pair<Tensor, Tensor> Tensor::topk(Size k, std::int64_t dim, bool largest) const {
  return ops::topk(*this, k, dim, largest);
}
Tensor Tensor::median() const { return ops::median(*this); }
std::pair<Tensor, Tensor> Tensor::median(std::int64_t dim) const { return ops::median(*this, dim); }

// ── indexing by tensors ──

Tensor Tensor::gather(std::int64_t dim, const Tensor& index) const { return ops::gather(*this, dim, index); }
Tensor Tensor::index_select(std::int64_t dim, const Tensor& index) const {
  return ops::index_select(*this, dim, index);
}
Tensor Tensor::scatter(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  return ops::scatter(*this, dim, index, src);
}
Tensor Tensor::scatter_add(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  return ops::scatter_add(*this, dim, index, src);
}
Tensor Tensor::take(const Tensor& index) const { return ops::take(*this, index); }
Tensor Tensor::take_along_dim(const Tensor& index, std::int64_t dim) const {
  return ops::take_along_dim(*this, index, dim);
}
Tensor Tensor::index_add(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  return ops::index_add(*this, dim, index, src);
}
Tensor Tensor::index_fill(std::int64_t dim, const Tensor& index, const Tensor& value) const {
  return ops::index_fill(*this, dim, index, value);
}
Tensor Tensor::index_put(const std::vector<Index>& indices, const Tensor& value) const {
  return ops::index_put(*this, indices, value);
}
Tensor Tensor::index_put(const std::vector<Index>& indices, const Tensor& value, bool accumulate) const {
  return ops::index_put(*this, indices, value, accumulate);
}
Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const {
  return ops::masked_fill(*this, mask, value);
}
Tensor Tensor::nonzero() const { return ops::nonzero(*this); }
Tensor Tensor::nonzero(SizeOptions options) const { return ops::nonzero(*this, options); }
Tensor Tensor::masked_select(const Tensor& mask) const { return ops::masked_select(*this, mask); }
Tensor Tensor::masked_select(const Tensor& mask, SizeOptions options) const {
  return ops::masked_select(*this, mask, options);
}
Tensor Tensor::unique() const { return ops::unique(*this); }
Tensor Tensor::unique(SizeOptions options) const { return ops::unique(*this, options); }
Tensor Tensor::multinomial(Size samples) const { return ops::multinomial(*this, samples); }
Tensor Tensor::multinomial(Size samples, bool replacement) const {
  return ops::multinomial(*this, samples, replacement);
}
Tensor Tensor::multinomial(Size samples, bool replacement, RandomOptions options) const {
  return ops::multinomial(*this, samples, replacement, options);
}

// ── where the free function's arguments are others ──

Tensor Tensor::operator[](std::int64_t i) const { return (*this)[Size(i)]; }
Tensor Tensor::operator[](Size i) const {
  const Called as("index", *this);
  return ops::select(*this, 0, i);
}
std::pair<Tensor, Tensor> Tensor::extreme_along(bool greatest, std::int64_t dim, bool keepdim) const {
  return ops::extreme_along(*this, greatest, dim, keepdim);
}
Tensor Tensor::bernoulli() const { return ops::bernoulli(*this); }
Tensor Tensor::bernoulli(RandomOptions options) const { return ops::bernoulli(*this, options); }
Tensor Tensor::bernoulli(double p) const { return ops::bernoulli(*this, p); }
Rows Tensor::begin() const {
  if (dim() == 0) raise<ValueError>("begin: " + type_text(*this) + " has no rows to go over; reshape it to {-1}");
  return {*this, 0};
}
Rows Tensor::end() const { return {{}, size(0)}; }

// ── options of operations ──

Tensor Tensor::diagonal(Size offset) const { return ops::diagonal(*this, offset); }
Tensor Tensor::squeeze(const Axes& dims) const { return ops::squeeze(*this, dims); }
Tensor Tensor::flatten(std::int64_t start) const { return ops::flatten(*this, start); }
Tensor Tensor::repeat_interleave(Size repeats) const { return ops::repeat_interleave(*this, repeats); }
Tensor Tensor::repeat_interleave(RepeatOptions options) const { return ops::repeat_interleave(*this, options); }
Tensor Tensor::diag(Size k) const { return ops::diag(*this, k); }
Tensor Tensor::diag_embed(Size offset) const { return ops::diag_embed(*this, offset); }
Tensor Tensor::isclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return ops::isclose(*this, other, rtol, atol, equal_nan);
}
bool Tensor::allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return ops::allclose(*this, other, rtol, atol, equal_nan);
}
Tensor Tensor::addmm(const Tensor& a, const Tensor& b, double beta, double alpha) const {
  return ops::addmm(*this, a, b, beta, alpha);
}
Tensor Tensor::sum(DType dtype) const { return ops::sum(*this, dtype); }
Tensor Tensor::sum(const Axes& dims, bool keepdim, DType dtype) const { return ops::sum(*this, dims, keepdim, dtype); }
Tensor Tensor::mean(DType dtype) const { return ops::mean(*this, dtype); }
Tensor Tensor::mean(const Axes& dims, bool keepdim, DType dtype) const {
  return ops::mean(*this, dims, keepdim, dtype);
}
Tensor Tensor::prod(DType dtype) const { return ops::prod(*this, dtype); }
Tensor Tensor::prod(std::int64_t dim, bool keepdim, DType dtype) const { return ops::prod(*this, dim, keepdim, dtype); }
Tensor Tensor::count_nonzero(const Axes& dims) const { return ops::count_nonzero(*this, dims); }
Tensor Tensor::softmax(std::int64_t dim, DType dtype) const { return ops::softmax(*this, dim, dtype); }
Tensor Tensor::log_softmax(std::int64_t dim, DType dtype) const { return ops::log_softmax(*this, dim, dtype); }
Tensor Tensor::cumsum(std::int64_t dim, DType dtype) const { return ops::cumsum(*this, dim, dtype); }
Tensor Tensor::cumprod(std::int64_t dim, DType dtype) const { return ops::cumprod(*this, dim, dtype); }
std::pair<Tensor, Tensor> Tensor::median(std::int64_t dim, bool keepdim) const {
  return ops::median(*this, dim, keepdim);
}
Tensor Tensor::take_along_dim(const Tensor& index) const { return ops::take_along_dim(*this, index); }
Tensor Tensor::index_add(std::int64_t dim, const Tensor& index, const Tensor& src, double alpha) const {
  return ops::index_add(*this, dim, index, src, alpha);
}

}  // namespace ricci::ops
