// Forms of operations that PyTorch has and C++ writes as two operations: `add(x, y, alpha=2)`. The declarations are
// read by tools/python_operations.py, like those of include/ricci/ops: names and defaults here are those of Python, and
// what stands behind `Named` is given by name. An undefined Tensor is one that is not given.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "object.h"
#include "ricci/error.h"
#include "ricci/ops.h"
#include "ricci/ops/arrangement.h"
#include "ricci/ops/attention.h"
#include "ricci/ops/convolution.h"
#include "ricci/ops/decompositions.h"
#include "ricci/ops/embedding.h"
#include "ricci/ops/losses.h"
#include "ricci/ops/padding.h"
#include "ricci/ops/pooling.h"
#include "ricci/ops/recurrent.h"
#include "ricci/ops/resampling.h"
#include "ricci/ops/statistics.h"
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
inline OneOrSeveral nonzero(const Tensor& input, Named, bool as_tuple = false) {
  if (as_tuple) return ops::unbind(ops::nonzero(input), 1);
  return ops::nonzero(input);
}
/// Where the input is not zero, row-major: int64 [count, input.dim()].
inline Tensor argwhere(const Tensor& input) { return ops::nonzero(input); }
/// The values are sorted in any case.
OneOrSeveral unique(const Tensor& input, bool sorted = true, bool return_inverse = false, bool return_counts = false);
OneOrSeveral unique_consecutive(const Tensor& input, bool return_inverse = false, bool return_counts = false);
/// Of input's shape: 1 with the probability p, else 0.
inline Tensor bernoulli(const Tensor& input, double p, RandomOptions options) {
  return ops::bernoulli(p, input.shape(), {.dtype = input.dtype(), .generator = options.generator});
}

// ── reductions in another dtype, which the result has too, where sums of small integers are int64 else ──

inline Tensor sum(const Tensor& input, const Axes& dim = {}, bool keepdim = false, Named = {},
                  std::optional<DType> dtype = {}) {
  return dtype ? ops::sum(input, dim, keepdim, *dtype) : ops::sum(input, dim, keepdim);
}
inline Tensor mean(const Tensor& input, const Axes& dim = {}, bool keepdim = false, Named = {},
                   std::optional<DType> dtype = {}) {
  return dtype ? ops::mean(input, dim, keepdim, *dtype) : ops::mean(input, dim, keepdim);
}
inline Tensor norm(const Tensor& input, double p = 2.0, const Axes& dim = {}, bool keepdim = false, Named = {},
                   std::optional<DType> dtype = {}) {
  return ops::norm(in_dtype(input, dtype), p, dim, keepdim);
}
inline Tensor prod(const Tensor& input, Named, std::optional<DType> dtype = {}) {
  return dtype ? ops::prod(input, *dtype) : ops::prod(input);
}
inline Tensor prod(const Tensor& input, std::int64_t dim, bool keepdim = false, Named = {},
                   std::optional<DType> dtype = {}) {
  return dtype ? ops::prod(input, dim, keepdim, *dtype) : ops::prod(input, dim, keepdim);
}
inline Tensor cumsum(const Tensor& input, std::int64_t dim, Named, std::optional<DType> dtype = {}) {
  return dtype ? ops::cumsum(input, dim, *dtype) : ops::cumsum(input, dim);
}
inline Tensor cumprod(const Tensor& input, std::int64_t dim, Named, std::optional<DType> dtype = {}) {
  return dtype ? ops::cumprod(input, dim, *dtype) : ops::cumprod(input, dim);
}
inline Tensor softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {}) {
  return dtype ? ops::softmax(input, dim, *dtype) : ops::softmax(input, dim);
}
inline Tensor log_softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {}) {
  return dtype ? ops::log_softmax(input, dim, *dtype) : ops::log_softmax(input, dim);
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
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& input, Named, bool out_int32 = false,
                    bool right = false, const std::optional<std::string>& side = {}, const Tensor& sorter = {});

// ── differences ──

/// Spacings are a number for all axes, or for each axis a number or the coordinates of its elements.
std::vector<Tensor> gradient(const Tensor& input, Named, const Tensor& spacing = 1, const Axes& dim = {},
                             std::int64_t edge_order = 1);
std::vector<Tensor> gradient(const Tensor& input, Named, const std::vector<Tensor>& spacing, const Axes& dim = {},
                             std::int64_t edge_order = 1);

// ── matrices ──

/// Operands are each followed by the list of their axes' numbers; at the end stands that of the result, if it is given.
Tensor einsum(const Terms& operands);

/// One triangle is read, the lower one if not given.
inline std::pair<Tensor, Tensor> eigh(const Tensor& input, const std::string& UPLO = "L") {
  return ops::eigh(input, UPLO);
}
inline Tensor eigvalsh(const Tensor& input, const std::string& UPLO = "L") { return ops::eigvalsh(input, UPLO); }
inline Tensor solve(const Tensor& A, const Tensor& B, Named, bool left = true) { return ops::solve(A, B, left); }
inline Tensor solve_triangular(const Tensor& input, const Tensor& B, Named, bool upper = true, bool left = true,
                               bool unitriangular = false) {
  return ops::solve_triangular(input, B, {.upper = upper, .left = left, .unitriangular = unitriangular});
}
/// Over these axes of each.
inline Tensor tensordot(const Tensor& a, const Tensor& b, const std::pair<Axes, Axes>& dims) {
  return ops::tensordot(a, b, dims.first, dims.second);
}
inline Tensor norm(const Tensor& input, const std::string& p, const Axes& dim = {}, bool keepdim = false, Named = {},
                   std::optional<DType> dtype = {}) {
  const Axes axes = dim.empty() && p != "fro" ? Axes{-2, -1} : dim;
  return ops::norm(in_dtype(input, dtype), p, axes, keepdim);
}

// ── shapes ──

inline Tensor squeeze(const Tensor& input, const std::optional<Axes>& dim) {
  return dim ? ops::squeeze(input, *dim) : ops::squeeze(input);
}
/// All elements along one axis, row-major.
inline Tensor ravel(const Tensor& input) { return ops::flatten(input); }
inline Tensor pad(const Tensor& input, const Sizes& pad, const std::string& mode = "constant",
                  std::optional<double> value = {}) {
  return ops::pad(input, pad, mode, value.value_or(0));
}
/// A view of the same elements without derivatives.
Tensor without_derivative(const Tensor& x);
/// The Python object becomes this view of the tensor that it was.
inline Rebound unsqueeze_(const Tensor& self, std::int64_t dim) { return {ops::unsqueeze(self, dim)}; }
inline Rebound squeeze_(const Tensor& self, const std::optional<Axes>& dim = {}) {
  return {dim ? ops::squeeze(self, *dim) : ops::squeeze(self)};
}
inline Rebound transpose_(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  return {ops::transpose(self, dim0, dim1)};
}
inline Rebound t_(const Tensor& self) { return {ops::t(self)}; }
inline Rebound detach_(const Tensor& self) { return {without_derivative(self)}; }
Tensor slice_scatter(const Tensor& input, const Tensor& src, std::int64_t dim = 0, std::optional<Size> start = {},
                     std::optional<Size> end = {}, Size step = 1);
inline std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, Named, const std::string& indexing = "ij") {
  return ops::meshgrid(tensors, indexing);
}
inline Tensor to(const Tensor& input, std::optional<DType> dtype = {}, bool non_blocking = false, bool copy = false) {
  (void)non_blocking;
  const DType wanted = dtype.value_or(input.dtype());
  return copy && wanted == input.dtype() ? ops::clone(input) : input.to(wanted);
}
inline Tensor to(const Tensor& input, const OnlyDevice& device, std::optional<DType> dtype = {},
                 bool non_blocking = false, bool copy = false) {
  (void)device;
  return to(input, dtype, non_blocking, copy);
}
inline Tensor to(const Tensor& input, const Tensor& other, bool non_blocking = false, bool copy = false) {
  return to(input, other.dtype(), non_blocking, copy);
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

/// With the padding as a word.
inline Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, const Sizes& stride = 1,
                     const std::string& padding = "valid", const Sizes& dilation = 1, Size groups = 1) {
  return ops::conv1d(input, weight, bias, stride, padding, dilation, groups);
}
inline Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, const Sizes& stride = 1,
                     const std::string& padding = "valid", const Sizes& dilation = 1, Size groups = 1) {
  return ops::conv2d(input, weight, bias, stride, padding, dilation, groups);
}
inline Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, const Sizes& stride = 1,
                     const std::string& padding = "valid", const Sizes& dilation = 1, Size groups = 1) {
  return ops::conv3d(input, weight, bias, stride, padding, dilation, groups);
}

// ── networks ──

inline Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                           const Tensor& attn_mask = {}, double dropout_p = 0.0, bool is_causal = false,
                                           std::optional<double> scale = {}, bool enable_gqa = false) {
  return ops::scaled_dot_product_attention(query, key, value, {attn_mask, dropout_p, is_causal, scale, enable_gqa});
}
/// The separate weights are used if they are given.
inline std::pair<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value, Size embed_dim_to_check, Size num_heads,
    const Tensor& in_proj_weight, const Tensor& in_proj_bias, const Tensor& bias_k, const Tensor& bias_v,
    bool add_zero_attn, double dropout_p, const Tensor& out_proj_weight, const Tensor& out_proj_bias,
    bool training = true, const Tensor& key_padding_mask = {}, bool need_weights = true, const Tensor& attn_mask = {},
    bool use_separate_proj_weight = false, const Tensor& q_proj_weight = {}, const Tensor& k_proj_weight = {},
    const Tensor& v_proj_weight = {}, bool average_attn_weights = true, bool is_causal = false) {
  if (!(query.size(-1) == embed_dim_to_check))
    throw ValueError("multi_head_attention_forward: embed_dim_to_check is " +
                     std::to_string(embed_dim_to_check.hint()) + ", the query has " + std::to_string(query.size(-1)) +
                     " numbers along its last axis");
  return ops::multi_head_attention_forward(
      query, key, value, num_heads,
      {use_separate_proj_weight ? Tensor() : in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias,
       bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training, key_padding_mask,
       need_weights, attn_mask, average_attn_weights, is_causal});
}
inline std::vector<Tensor> list_of(std::pair<Tensor, Tensor> both) {
  return {std::move(both.first), std::move(both.second)};
}
inline OneOrSeveral max_pool1d(const Tensor& input, const Sizes& kernel_size, const Sizes& stride = {},
                               const Sizes& padding = 0, const Sizes& dilation = 1, bool ceil_mode = false,
                               bool return_indices = false) {
  if (!return_indices) return ops::max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode);
  return list_of(ops::max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode));
}
inline OneOrSeveral adaptive_max_pool1d(const Tensor& input, const Sizes& output_size, bool return_indices = false) {
  if (!return_indices) return ops::adaptive_max_pool1d(input, output_size);
  return list_of(ops::adaptive_max_pool1d_with_indices(input, output_size));
}
inline OneOrSeveral max_pool2d(const Tensor& input, const Sizes& kernel_size, const Sizes& stride = {},
                               const Sizes& padding = 0, const Sizes& dilation = 1, bool ceil_mode = false,
                               bool return_indices = false) {
  if (!return_indices) return ops::max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode);
  return list_of(ops::max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode));
}
inline OneOrSeveral adaptive_max_pool2d(const Tensor& input, const Sizes& output_size, bool return_indices = false) {
  if (!return_indices) return ops::adaptive_max_pool2d(input, output_size);
  return list_of(ops::adaptive_max_pool2d_with_indices(input, output_size));
}
inline OneOrSeveral max_pool3d(const Tensor& input, const Sizes& kernel_size, const Sizes& stride = {},
                               const Sizes& padding = 0, const Sizes& dilation = 1, bool ceil_mode = false,
                               bool return_indices = false) {
  if (!return_indices) return ops::max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode);
  return list_of(ops::max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode));
}
inline OneOrSeveral adaptive_max_pool3d(const Tensor& input, const Sizes& output_size, bool return_indices = false) {
  if (!return_indices) return ops::adaptive_max_pool3d(input, output_size);
  return list_of(ops::adaptive_max_pool3d_with_indices(input, output_size));
}
inline Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<Size> padding_idx = {}) {
  return padding_idx ? ops::embedding(input, weight, *padding_idx) : ops::embedding(input, weight);
}
inline Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets = {}, Named = {},
                            const std::string& mode = "mean", const Tensor& per_sample_weights = {},
                            bool include_last_offset = false, std::optional<Size> padding_idx = {}) {
  return ops::embedding_bag(input, weight, {offsets, mode, per_sample_weights, include_last_offset, padding_idx});
}

inline std::pair<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params,
                                          bool has_biases = true, std::int64_t num_layers = 1, double dropout = 0.0,
                                          bool train = false, bool bidirectional = false, bool batch_first = false) {
  return ops::rnn_tanh(input, hx, params, {has_biases, num_layers, dropout, train, bidirectional, batch_first});
}
inline std::pair<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params,
                                          bool has_biases = true, std::int64_t num_layers = 1, double dropout = 0.0,
                                          bool train = false, bool bidirectional = false, bool batch_first = false) {
  return ops::rnn_relu(input, hx, params, {has_biases, num_layers, dropout, train, bidirectional, batch_first});
}
inline std::pair<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params,
                                     bool has_biases = true, std::int64_t num_layers = 1, double dropout = 0.0,
                                     bool train = false, bool bidirectional = false, bool batch_first = false) {
  return ops::gru(input, hx, params, {has_biases, num_layers, dropout, train, bidirectional, batch_first});
}
inline std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const std::vector<Tensor>& hx,
                                               const std::vector<Tensor>& params, bool has_biases = true,
                                               std::int64_t num_layers = 1, double dropout = 0.0, bool train = false,
                                               bool bidirectional = false, bool batch_first = false) {
  return ops::lstm(input, hx, params, {has_biases, num_layers, dropout, train, bidirectional, batch_first});
}
inline Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                       const Tensor& target_lengths, Size blank = 0, const std::string& reduction = "mean",
                       bool zero_infinity = false) {
  return ops::ctc_loss(log_probs, targets, input_lengths, target_lengths,
                       {blank, reduction_named("ctc_loss", reduction), zero_infinity});
}

inline Tensor interpolate(const Tensor& input, const Sizes& size = {}, const std::vector<double>& scale_factor = {},
                          const std::string& mode = "nearest", std::optional<bool> align_corners = {},
                          std::optional<bool> recompute_scale_factor = {}, bool antialias = false) {
  return ops::interpolate(input, {.size = size,
                                  .scale_factor = scale_factor,
                                  .mode = mode,
                                  .align_corners = align_corners,
                                  .recompute_scale_factor = recompute_scale_factor.value_or(false),
                                  .antialias = antialias});
}
inline Tensor upsample_nearest(const Tensor& input, const Sizes& size = {},
                               const std::vector<double>& scale_factor = {}) {
  return ops::upsample_nearest(input, {size, scale_factor});
}
inline Tensor upsample_bilinear(const Tensor& input, const Sizes& size = {},
                                const std::vector<double>& scale_factor = {}) {
  return ops::upsample_bilinear(input, {size, scale_factor});
}
inline Tensor grid_sample(const Tensor& input, const Tensor& grid, const std::string& mode = "bilinear",
                          const std::string& padding_mode = "zeros", bool align_corners = false) {
  return ops::grid_sample(input, grid, {mode, padding_mode, align_corners});
}

}  // namespace ricci::python::forms
