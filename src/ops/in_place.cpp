// Writes of whole tensors, and in-place forms of operations that are not elementwise: the new value is computed, then
// written. Those of elementwise operations, which write into the elements where they can, stand beside the operation.
#include <functional>

#include "primitive/called.h"
#include "primitive/writing.h"
#include "ricci/ops.h"
#include "ricci/primitive.h"
#include "ricci/primitive/raise.h"

namespace ricci::ops {
namespace {

template <class Compute>
const Tensor& written(const Tensor& target, const char* name, const Compute& compute) {
  const Called as(name, target);
  write_result(target, compute(), name);
  return target;
}

/// Where the operation replaces some of the target's elements.
template <class Compute>
const Tensor& overwritten(const Tensor& target, const char* name, const Compute& compute) {
  const Called as(name, target);
  overwrite_some(target, name, std::cref(compute));
  return target;
}

}  // namespace

const Tensor& Tensor::copy_(const Tensor& source) const {
  assign_into(*this, source, "copy_");
  return *this;
}
const Tensor& Tensor::fill_(const Tensor& value) const {
  assign_into(*this, value, "fill_");
  return *this;
}
const Tensor& Tensor::zero_() const {
  assign_into(*this, 0, "zero_");
  return *this;
}

const Tensor& Tensor::sgn_() const {
  return written(*this, "sgn_", [&] { return ops::sgn(*this); });
}
const Tensor& Tensor::nan_to_num_() const {
  return written(*this, "nan_to_num_", [&] { return ops::nan_to_num(*this); });
}
const Tensor& Tensor::polygamma_(std::int64_t n) const {
  return written(*this, "polygamma_", [&] { return ops::polygamma(n, *this); });
}
const Tensor& Tensor::addmm_(const Tensor& a, const Tensor& b) const {
  return written(*this, "addmm_", [&] { return ops::addmm(*this, a, b); });
}
const Tensor& Tensor::cumsum_(std::int64_t dim) const {
  return written(*this, "cumsum_", [&] { return ops::cumsum(*this, dim); });
}
const Tensor& Tensor::cumprod_(std::int64_t dim) const {
  return written(*this, "cumprod_", [&] { return ops::cumprod(*this, dim); });
}
const Tensor& Tensor::tril_() const { return tril_(0); }
const Tensor& Tensor::tril_(Size diagonal) const {
  return written(*this, "tril_", [&] { return ops::tril(*this, diagonal); });
}
const Tensor& Tensor::triu_() const { return triu_(0); }
const Tensor& Tensor::triu_(Size diagonal) const {
  return written(*this, "triu_", [&] { return ops::triu(*this, diagonal); });
}
const Tensor& Tensor::index_add_(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  return overwritten(*this, "index_add_", [&] { return ops::index_add(*this, dim, index, src); });
}
const Tensor& Tensor::index_fill_(std::int64_t dim, const Tensor& index, const Tensor& value) const {
  return overwritten(*this, "index_fill_", [&] { return ops::index_fill(*this, dim, index, value); });
}

const Tensor& copy_(const Tensor& x, const Tensor& source) { return x.copy_(source); }
const Tensor& fill_(const Tensor& x, const Tensor& value) { return x.fill_(value); }
const Tensor& zero_(const Tensor& x) { return x.zero_(); }

}  // namespace ricci::ops
