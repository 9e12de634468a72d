// The methods of Tensor that are operations: each is the free function of the same name. What a tensor is and how its
// values are read stands in reading.cpp, new_… in create.cpp and views.cpp, in-place methods in in_place.cpp.
#include <utility>

#include "ricci/ops.h"

namespace ricci::ops {

Tensor Tensor::operator[](std::int64_t i) const { return ops::select(*this, 0, i); }

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
Tensor Tensor::movedim(const Axes& from, const Axes& to) const { return ops::movedim(*this, from, to); }
Tensor Tensor::slice(std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> stop) const {
  return ops::slice(*this, dim, start, stop);
}
Tensor Tensor::slice(std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                     std::int64_t step) const {
  return ops::slice(*this, dim, start, stop, step);
}
Tensor Tensor::select(std::int64_t dim, std::int64_t index) const { return ops::select(*this, dim, index); }
Tensor Tensor::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const {
  return ops::narrow(*this, dim, start, length);
}
Tensor Tensor::diagonal() const { return ops::diagonal(*this); }
Tensor Tensor::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
  return ops::diagonal(*this, offset, dim1, dim2);
}
Tensor Tensor::unfold(std::int64_t dim, std::int64_t size, std::int64_t step) const {
  return ops::unfold(*this, dim, size, step);
}
Tensor Tensor::squeeze() const { return ops::squeeze(*this); }
Tensor Tensor::squeeze(std::int64_t dim) const { return ops::squeeze(*this, dim); }
Tensor Tensor::unsqueeze(std::int64_t dim) const { return ops::unsqueeze(*this, dim); }
Tensor Tensor::flatten() const { return ops::flatten(*this); }
Tensor Tensor::flatten(std::int64_t start, std::int64_t end) const { return ops::flatten(*this, start, end); }
Tensor Tensor::as_strided(const Shape& size, const Axes& stride) const { return ops::as_strided(*this, size, stride); }
Tensor Tensor::as_strided(const Shape& size, const Axes& stride, std::int64_t offset) const {
  return ops::as_strided(*this, size, stride, offset);
}
std::vector<Tensor> Tensor::unbind() const { return ops::unbind(*this); }
std::vector<Tensor> Tensor::unbind(std::int64_t dim) const { return ops::unbind(*this, dim); }
std::vector<Tensor> Tensor::split(std::int64_t size, std::int64_t dim) const { return ops::split(*this, size, dim); }
std::vector<Tensor> Tensor::chunk(std::int64_t chunks, std::int64_t dim) const {
  return ops::chunk(*this, chunks, dim);
}

// ── rearranged copies ──

Tensor Tensor::flip(const Axes& dims) const { return ops::flip(*this, dims); }
Tensor Tensor::roll(std::int64_t shift) const { return ops::roll(*this, shift); }
Tensor Tensor::roll(const Axes& shifts, const Axes& dims) const { return ops::roll(*this, shifts, dims); }
Tensor Tensor::repeat(const Shape& repeats) const { return ops::repeat(*this, repeats); }
Tensor Tensor::tile(const Shape& repeats) const { return ops::tile(*this, repeats); }

// ── new tensors of the same kind ──

Tensor Tensor::clone() const { return ops::clone(*this); }
Tensor Tensor::contiguous() const { return ops::contiguous(*this); }
Tensor Tensor::detach() const { return ops::detach(*this); }
Tensor Tensor::to(DType dtype) const { return ops::to(*this, dtype); }

// ── chained arithmetic ──

Tensor Tensor::abs() const { return ops::abs(*this); }
Tensor Tensor::exp() const { return ops::exp(*this); }
Tensor Tensor::log() const { return ops::log(*this); }
Tensor Tensor::sqrt() const { return ops::sqrt(*this); }
Tensor Tensor::square() const { return ops::square(*this); }
Tensor Tensor::sin() const { return ops::sin(*this); }
Tensor Tensor::cos() const { return ops::cos(*this); }
Tensor Tensor::tanh() const { return ops::tanh(*this); }
Tensor Tensor::sigmoid() const { return ops::sigmoid(*this); }
Tensor Tensor::relu() const { return ops::relu(*this); }
Tensor Tensor::neg() const { return ops::neg(*this); }
Tensor Tensor::conj() const { return ops::conj(*this); }
Tensor Tensor::add(const Tensor& other) const { return ops::add(*this, other); }
Tensor Tensor::sub(const Tensor& other) const { return ops::sub(*this, other); }
Tensor Tensor::mul(const Tensor& other) const { return ops::mul(*this, other); }
Tensor Tensor::div(const Tensor& other) const { return ops::div(*this, other); }
Tensor Tensor::pow(const Tensor& exponent) const { return ops::pow(*this, exponent); }
Tensor Tensor::clamp(const Tensor& low, const Tensor& high) const { return ops::clamp(*this, low, high); }
Tensor Tensor::eq(const Tensor& other) const { return ops::eq(*this, other); }
Tensor Tensor::ne(const Tensor& other) const { return ops::ne(*this, other); }
Tensor Tensor::lt(const Tensor& other) const { return ops::lt(*this, other); }
Tensor Tensor::le(const Tensor& other) const { return ops::le(*this, other); }
Tensor Tensor::gt(const Tensor& other) const { return ops::gt(*this, other); }
Tensor Tensor::ge(const Tensor& other) const { return ops::ge(*this, other); }
Tensor Tensor::matmul(const Tensor& other) const { return ops::matmul(*this, other); }
Tensor Tensor::mm(const Tensor& other) const { return ops::mm(*this, other); }
Tensor Tensor::mv(const Tensor& other) const { return ops::mv(*this, other); }
Tensor Tensor::dot(const Tensor& other) const { return ops::dot(*this, other); }
Tensor Tensor::inverse() const { return ops::inverse(*this); }
Tensor Tensor::bmm(const Tensor& other) const { return ops::bmm(*this, other); }

// ── reductions ──

Tensor Tensor::sum() const { return ops::sum(*this); }
Tensor Tensor::sum(const Axes& dims) const { return ops::sum(*this, dims); }
Tensor Tensor::sum(const Axes& dims, bool keepdim) const { return ops::sum(*this, dims, keepdim); }
Tensor Tensor::mean() const { return ops::mean(*this); }
Tensor Tensor::mean(const Axes& dims) const { return ops::mean(*this, dims); }
Tensor Tensor::mean(const Axes& dims, bool keepdim) const { return ops::mean(*this, dims, keepdim); }
Tensor Tensor::prod() const { return ops::prod(*this); }
Tensor Tensor::prod(std::int64_t dim) const { return ops::prod(*this, dim); }
Tensor Tensor::max() const { return ops::max(*this); }
Tensor Tensor::min() const { return ops::min(*this); }
std::pair<Tensor, Tensor> Tensor::max(std::int64_t dim) const { return ops::max(*this, dim); }
std::pair<Tensor, Tensor> Tensor::min(std::int64_t dim) const { return ops::min(*this, dim); }
Tensor Tensor::amax(const Axes& dims) const { return ops::amax(*this, dims); }
Tensor Tensor::amin(const Axes& dims) const { return ops::amin(*this, dims); }
Tensor Tensor::argmax() const { return ops::argmax(*this); }
Tensor Tensor::argmax(std::int64_t dim) const { return ops::argmax(*this, dim); }
Tensor Tensor::argmin() const { return ops::argmin(*this); }
Tensor Tensor::argmin(std::int64_t dim) const { return ops::argmin(*this, dim); }
Tensor Tensor::any() const { return ops::any(*this); }
Tensor Tensor::any(const Axes& dims) const { return ops::any(*this, dims); }
Tensor Tensor::all() const { return ops::all(*this); }
Tensor Tensor::all(const Axes& dims) const { return ops::all(*this, dims); }
Tensor Tensor::var() const { return ops::var(*this); }
Tensor Tensor::var(const Axes& dims) const { return ops::var(*this, dims); }
Tensor Tensor::std() const { return ops::std(*this); }
Tensor Tensor::std(const Axes& dims) const { return ops::std(*this, dims); }
Tensor Tensor::norm() const { return ops::norm(*this); }
Tensor Tensor::softmax(std::int64_t dim) const { return ops::softmax(*this, dim); }
Tensor Tensor::log_softmax(std::int64_t dim) const { return ops::log_softmax(*this, dim); }
Tensor Tensor::logsumexp(std::int64_t dim) const { return ops::logsumexp(*this, dim); }
Tensor Tensor::cumsum(std::int64_t dim) const { return ops::cumsum(*this, dim); }
Tensor Tensor::cumprod(std::int64_t dim) const { return ops::cumprod(*this, dim); }

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
Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const {
  return ops::masked_fill(*this, mask, value);
}
Tensor Tensor::nonzero() const { return ops::nonzero(*this); }
Tensor Tensor::masked_select(const Tensor& mask) const { return ops::masked_select(*this, mask); }

}  // namespace ricci::ops
