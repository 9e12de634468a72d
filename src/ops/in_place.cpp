// Writes of whole tensors. In-place forms of an operation stand beside it.
#include "ricci/primitive.h"

namespace ricci::ops {

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

const Tensor& copy_(const Tensor& x, const Tensor& source) { return x.copy_(source); }
const Tensor& fill_(const Tensor& x, const Tensor& value) { return x.fill_(value); }
const Tensor& zero_(const Tensor& x) { return x.zero_(); }

}  // namespace ricci::ops
