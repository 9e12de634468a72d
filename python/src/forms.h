// Forms of operations that PyTorch has and C++ writes as two operations: `add(x, y, alpha=2)`. The declarations are
// read by tools/python_operations.py, like those of include/ricci/ops: names and defaults here are those of Python, and
// what stands behind `Named` is given by name. An undefined Tensor is one that is not given.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "object.h"
#include "ricci/error.h"
#include "ricci/ops.h"
#include "ricci/ops/losses.h"
#include "ricci/tensor.h"

namespace ricci::python::forms {

/// Stands for the `*` of a signature.
struct Named {};

/// Throws ValueError unless the option has the value that there is.
void require_option(const char* name, const char* option, const std::string& given, const std::string& only);

/// Throws ValueError, that names `more` options besides, unless it is "none", "mean" or "sum".
Reduction reduction_named(const char* name, const std::string& given, const char* more = "");

/// What a result is written to, in words for errors.
struct Target {
  const char* text;    ///< "out"
  const char* remedy;  ///< "make out with the result's shape and dtype"
};
/// Throws ValueError where the shapes differ, TypeError where `to` cannot hold the result: integers hold no floats.
void require_room(const std::string& name, const Target& target, const Tensor& to, const Tensor& result);
/// Writes the result of an operation in place, if it has room there.
const Tensor& overwritten(const char* name, const Tensor& self, const Tensor& result);

inline Tensor in_dtype(const Tensor& x, std::optional<DType> dtype) { return dtype ? x.to(*dtype) : x; }

// ── sums and products with factors ──

inline Tensor add(const Tensor& input, const Tensor& other, Named, const Tensor& alpha = 1) {
  return ops::add(input, ops::mul(other, alpha));
}
inline Tensor sub(const Tensor& input, const Tensor& other, Named, const Tensor& alpha = 1) {
  return ops::sub(input, ops::mul(other, alpha));
}
inline const Tensor& add_(const Tensor& self, const Tensor& other, Named, const Tensor& alpha = 1) {
  return self.add_(ops::mul(other, alpha));
}
inline const Tensor& sub_(const Tensor& self, const Tensor& other, Named, const Tensor& alpha = 1) {
  return self.sub_(ops::mul(other, alpha));
}
inline Tensor addcmul(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2, Named,
                      const Tensor& value = 1) {
  return ops::addcmul(input, ops::mul(tensor1, value), tensor2);
}
inline Tensor addcdiv(const Tensor& input, const Tensor& tensor1, const Tensor& tensor2, Named,
                      const Tensor& value = 1) {
  return ops::addcdiv(input, ops::mul(tensor1, value), tensor2);
}
inline const Tensor& addcmul_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Named,
                              const Tensor& value = 1) {
  return self.addcmul_(ops::mul(tensor1, value), tensor2);
}
inline const Tensor& addcdiv_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Named,
                              const Tensor& value = 1) {
  return self.addcdiv_(ops::mul(tensor1, value), tensor2);
}
/// beta · input + alpha · product. With the number 0 as beta, only the input's shape and dtype count: its NaN are gone,
/// as in PyTorch.
Tensor with_factors(const Tensor& input, const In& beta, const Tensor& product, const In& alpha);
inline Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, Named, const In& beta = 1,
                    const In& alpha = 1) {
  return with_factors(input, beta, ops::mm(mat1, mat2), alpha);
}
inline const Tensor& addmm_(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Named, const In& beta = 1,
                            const In& alpha = 1) {
  return overwritten("addmm_", self, addmm(self, mat1, mat2, {}, beta, alpha));
}
inline Tensor addmv(const Tensor& input, const Tensor& mat, const Tensor& vec, Named, const In& beta = 1,
                    const In& alpha = 1) {
  return with_factors(input, beta, ops::mv(mat, vec), alpha);
}
inline Tensor addr(const Tensor& input, const Tensor& vec1, const Tensor& vec2, Named, const In& beta = 1,
                   const In& alpha = 1) {
  return with_factors(input, beta, ops::outer(vec1, vec2), alpha);
}
inline Tensor addbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, Named, const In& beta = 1,
                     const In& alpha = 1) {
  return with_factors(input, beta, ops::sum(ops::bmm(batch1, batch2), 0), alpha);
}
inline Tensor baddbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, Named, const In& beta = 1,
                      const In& alpha = 1) {
  return with_factors(input, beta, ops::bmm(batch1, batch2), alpha);
}
inline Tensor index_add(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& source, Named,
                        const Tensor& alpha = 1) {
  return ops::index_add(input, dim, index, ops::mul(source, alpha));
}
inline const Tensor& index_add_(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, Named,
                                const Tensor& alpha = 1) {
  return self.index_add_(dim, index, ops::mul(source, alpha));
}

// ── rounding and choice ──

Tensor div(const Tensor& input, const Tensor& other, Named, const std::optional<std::string>& rounding_mode = {});
inline const Tensor& div_(const Tensor& self, const Tensor& other, Named,
                          const std::optional<std::string>& rounding_mode = {}) {
  return overwritten("div_", self, div(self, other, {}, rounding_mode));
}
inline Tensor round(const Tensor& input, Named, std::int64_t decimals = 0) { return input.round(decimals); }
Tensor nan_to_num(const Tensor& input, const Tensor& nan = {}, const Tensor& posinf = {}, const Tensor& neginf = {});
inline const Tensor& nan_to_num_(const Tensor& self, const Tensor& nan = {}, const Tensor& posinf = {},
                                 const Tensor& neginf = {}) {
  return overwritten("nan_to_num_", self, nan_to_num(self, nan, posinf, neginf));
}
Tensor gelu(const Tensor& input, const std::string& approximate = "none");
inline std::vector<Tensor> where(const Tensor& condition) { return ops::unbind(ops::nonzero(condition), 1); }

// ── reductions in another dtype, which the result has too, where sums of small integers are int64 else ──

inline Tensor sum(const Tensor& input, const Axes& dim = {}, bool keepdim = false, Named = {},
                  std::optional<DType> dtype = {}) {
  return in_dtype(ops::sum(in_dtype(input, dtype), dim, keepdim), dtype);
}
inline Tensor mean(const Tensor& input, const Axes& dim = {}, bool keepdim = false, Named = {},
                   std::optional<DType> dtype = {}) {
  return ops::mean(in_dtype(input, dtype), dim, keepdim);
}
inline Tensor norm(const Tensor& input, double p = 2.0, const Axes& dim = {}, bool keepdim = false, Named = {},
                   std::optional<DType> dtype = {}) {
  return ops::norm(in_dtype(input, dtype), p, dim, keepdim);
}
inline Tensor prod(const Tensor& input, Named, std::optional<DType> dtype = {}) {
  return in_dtype(ops::prod(in_dtype(input, dtype)), dtype);
}
inline Tensor prod(const Tensor& input, std::int64_t dim, bool keepdim = false, Named = {},
                   std::optional<DType> dtype = {}) {
  return in_dtype(ops::prod(in_dtype(input, dtype), dim, keepdim), dtype);
}
inline Tensor cumsum(const Tensor& input, std::int64_t dim, Named, std::optional<DType> dtype = {}) {
  return in_dtype(ops::cumsum(in_dtype(input, dtype), dim), dtype);
}
inline Tensor cumprod(const Tensor& input, std::int64_t dim, Named, std::optional<DType> dtype = {}) {
  return in_dtype(ops::cumprod(in_dtype(input, dtype), dim), dtype);
}
inline Tensor softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {}) {
  return ops::softmax(in_dtype(input, dtype), dim);
}
inline Tensor log_softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {}) {
  return ops::log_softmax(in_dtype(input, dtype), dim);
}
inline std::pair<Tensor, Tensor> median(const Tensor& input, std::int64_t dim, bool keepdim = false) {
  return ops::median(input, dim, keepdim);
}
/// Every sort is stable.
inline std::pair<Tensor, Tensor> sort(const Tensor& input, std::int64_t dim = -1, bool descending = false, Named = {},
                                      bool stable = false) {
  (void)stable;
  return ops::sort(input, dim, descending);
}
inline Tensor argsort(const Tensor& input, std::int64_t dim = -1, bool descending = false, Named = {},
                      bool stable = false) {
  (void)stable;
  return ops::argsort(input, dim, descending);
}
/// They are always sorted.
inline std::pair<Tensor, Tensor> topk(const Tensor& input, Size k, std::int64_t dim = -1, bool largest = true,
                                      bool sorted = true) {
  (void)sorted;
  return ops::topk(input, k, dim, largest);
}

// ── losses ──

/// "batchmean": the sum over the number of examples.
Tensor kl_div(const Tensor& input, const Tensor& target, Named, const std::string& reduction = "mean",
              bool log_target = false);

// ── indices ──

inline Tensor scatter(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& value) {
  return ops::scatter(input, dim, index, value);
}
inline const Tensor& scatter_(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value) {
  return self.scatter_(dim, index, value);
}
/// As many classes as the greatest index needs.
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& input, Named, bool out_int32 = false,
                    bool right = false, const std::optional<std::string>& side = {}, const Tensor& sorter = {});

// ── matrices ──

inline Tensor adjoint(const Tensor& a) { return ops::conj(ops::mT(a)); }
inline Tensor cholesky(const Tensor& input, bool upper = false) {
  return upper ? adjoint(ops::cholesky(input)) : ops::cholesky(input);
}
inline Tensor cholesky_solve(const Tensor& input, const Tensor& input2, bool upper = false) {
  return ops::cholesky_solve(input, upper ? adjoint(input2) : input2);
}
/// The matrix of which the named triangle is a half.
Tensor of_triangle(const char* name, const Tensor& a, const std::string& triangle);
inline std::pair<Tensor, Tensor> eigh(const Tensor& input, const std::string& UPLO = "L") {
  return ops::eigh(of_triangle("eigh", input, UPLO));
}
inline Tensor eigvalsh(const Tensor& input, const std::string& UPLO = "L") {
  return ops::eigvalsh(of_triangle("eigvalsh", input, UPLO));
}
inline Tensor solve(const Tensor& A, const Tensor& B, Named, bool left = true) {
  return left ? ops::solve(A, B) : ops::mT(ops::solve(ops::mT(A), ops::mT(B)));
}
inline Tensor solve_triangular(const Tensor& input, const Tensor& B, Named, bool upper = true, bool left = true,
                               bool unitriangular = false) {
  if (left) return ops::triangular_solve(B, input, {.upper = upper, .unitriangular = unitriangular});
  const TriangularOptions options{.upper = !upper, .unitriangular = unitriangular};
  return ops::mT(ops::triangular_solve(ops::mT(B), ops::mT(input), options));
}
/// Over these axes of each.
Tensor tensordot(const Tensor& a, const Tensor& b, const std::pair<Axes, Axes>& dims);
inline Tensor norm(const Tensor& input, const std::string& p, const Axes& dim = {}, bool keepdim = false, Named = {},
                   std::optional<DType> dtype = {}) {
  require_option("norm", "p", p, "fro");
  return norm(input, 2.0, dim, keepdim, {}, dtype);
}

// ── shapes ──

Tensor squeeze(const Tensor& input, const std::optional<Axes>& dim);
inline Tensor pad(const Tensor& input, const Sizes& pad, const std::string& mode = "constant", Named = {},
                  double value = 0.0) {
  require_option("pad", "mode", mode, "constant");
  return ops::pad(input, pad, value);
}
Tensor slice_scatter(const Tensor& input, const Tensor& src, std::int64_t dim = 0, std::optional<Size> start = {},
                     std::optional<Size> end = {}, Size step = 1);
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, Named, const std::string& indexing = "ij");
inline Tensor to(const Tensor& input, DType dtype, bool non_blocking = false, bool copy = false) {
  (void)non_blocking;
  return copy && dtype == input.dtype() ? ops::clone(input) : input.to(dtype);
}
inline Tensor new_zeros(const Tensor& self, const Shape& size, Named, std::optional<DType> dtype) {
  (void)self;
  return ops::zeros(size, dtype.value());
}
inline Tensor new_ones(const Tensor& self, const Shape& size, Named, std::optional<DType> dtype) {
  (void)self;
  return ops::ones(size, dtype.value());
}
inline Tensor new_empty(const Tensor& self, const Shape& size, Named, std::optional<DType> dtype) {
  (void)self;
  return ops::empty(size, dtype.value());
}
inline Tensor new_full(const Tensor& self, const Shape& size, const Tensor& fill_value, Named,
                       std::optional<DType> dtype) {
  (void)self;
  return ops::full(size, fill_value, dtype.value());
}

/// The stride is that of the kernel's size if none is given.
inline Tensor max_pool2d(const Tensor& input, const Sizes& kernel_size, const Sizes& stride = {},
                         const Sizes& padding = 0, const Sizes& dilation = 1) {
  return ops::max_pool2d(input, kernel_size, stride.empty() ? kernel_size : stride, padding, dilation);
}
inline Tensor avg_pool2d(const Tensor& input, const Sizes& kernel_size, const Sizes& stride = {},
                         const Sizes& padding = 0) {
  return ops::avg_pool2d(input, kernel_size, stride.empty() ? kernel_size : stride, padding);
}

/// "valid", or "same": as many elements out as in, with a stride of 1.
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, const Sizes& stride = 1,
              const std::string& padding = "valid", const Sizes& dilation = 1, Size groups = 1);
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, const Sizes& stride = 1,
              const std::string& padding = "valid", const Sizes& dilation = 1, Size groups = 1);

}  // namespace ricci::python::forms
