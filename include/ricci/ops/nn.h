// Convolution, pooling, normalisation and losses, with PyTorch's conventions and names. All are differentiable to any
// order, in both modes. Element types are floating; convolution takes complex ones too.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>

#include "ricci/tensor.h"

namespace ricci {

/// The padding of a convolution, zeros on both sides: as many as the numbers say, one for every spatial axis or one for
/// each of them, or a word. "valid" is none; "same" is as many as keep the sizes at a stride of 1, an odd one of them
/// behind.
class ConvPadding {
 public:
  template <std::convertible_to<Sizes> N>
  ConvPadding(const N& numbers) : given_(Sizes(numbers)) {}
  ConvPadding(std::initializer_list<Size> numbers) : given_(Sizes(numbers)) {}
  template <std::size_t n>
  ConvPadding(const char (&word)[n]) : given_(std::string(word)) {}
  ConvPadding(std::string word) : given_(std::move(word)) {}

  const Sizes* numbers() const { return std::get_if<Sizes>(&given_); }       ///< null for a word
  const std::string& word() const { return std::get<std::string>(given_); }  ///< requires: there are no numbers

 private:
  std::variant<Sizes, std::string> given_;
};

/// First in options that are given by name alone. Else `conv2d(x, weight, {2, 2})` would set stride and padding, while
/// a list of torch is one number for each axis.
struct ByName {
  explicit ByName() = default;
};

/// `{.stride = 2, .padding = {1, 1}, .dilation = 1, .groups = 1}`, `{.padding = "same"}`; one number serves every
/// spatial axis.
struct ConvOptions {
  ByName by_name = ByName();
  Sizes stride = 1;
  ConvPadding padding = 0;
  Sizes dilation = 1;
  Size groups = 1;
};

/// What becomes of the losses of the elements or examples: nothing, their mean, or their sum.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // g++ takes Reduction::none for a shadow of rc::none
enum class Reduction : std::uint8_t { none, mean, sum };
#pragma GCC diagnostic pop

namespace ops {

// ── convolution ──

/// y[n, o, i] = bias[o] + Σ weight[o, c, k] x[n, c, stride i + dilation k - padding] over the channels c of o's group
/// and the kernel's elements k: a cross-correlation, as everywhere in this field.
/// x [N, C, L] or one example [C, L], weight [O, C / groups, K], bias [O] or undefined; y [N, O, L'] or [O, L'] with
/// L' = (L + 2 padding - dilation (K - 1) - 1) / stride + 1, rounded down. ValueError if sizes do not fit.
/// Under vmap, examples join the rows, the channels or the groups of one larger convolution.
Tensor conv1d(const Tensor& x, const Tensor& weight);
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias);
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, ConvOptions options);
Tensor conv1d(const Tensor& x, const Tensor& weight, ConvOptions options);
/// As torch: conv1d(x, weight, bias, stride, padding, dilation, groups).
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Sizes& stride,
              const ConvPadding& padding, const Sizes& dilation = 1, Size groups = 1);
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, WholeNumber auto stride) {
  return conv1d(x, weight, bias, Sizes(stride), 0);
}

/// The same over images [N, C, H, W] or [C, H, W], weight [O, C / groups, KH, KW].
Tensor conv2d(const Tensor& x, const Tensor& weight);
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias);
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, ConvOptions options);
Tensor conv2d(const Tensor& x, const Tensor& weight, ConvOptions options);
/// As torch: conv2d(x, weight, bias, stride, padding, dilation, groups).
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Sizes& stride,
              const ConvPadding& padding, const Sizes& dilation = 1, Size groups = 1);
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, WholeNumber auto stride) {
  return conv2d(x, weight, bias, Sizes(stride), 0);
}

// ── pooling: [N, C, H, W] or [C, H, W]; one number serves both axes ──

/// The greatest element of each window; NaN wins, and of equal ones the first gets the gradient. The stride is the
/// kernel if not given; padding, at most half the kernel, is never chosen.
Tensor max_pool2d(const Tensor& x, const Sizes& kernel);
Tensor max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride);
Tensor max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding);
Tensor max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                  const Sizes& dilation);
/// The mean of each window, zeros of the padding included.
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel);
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride);
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding);

/// The mean of each of output_size windows that divide the plane: along an axis of n elements, window i of k begins at
/// i n / k rounded down and ends before (i + 1) n / k rounded up. x is [N, C, H, W] or [C, H, W], output_size [h, w] or
/// one number for both; the result ends in [h, w]. ValueError for another rank, an empty plane, or a size below 1.
///   Tensor features = rc::flatten(rc::adaptive_avg_pool2d(x, 1), 1, -1);  // [N, C, H, W] → [N, C]
Tensor adaptive_avg_pool2d(const Tensor& x, const Sizes& output_size);

// ── normalisation ──

/// (x - mean) / sqrt(variance + eps) · weight + bias, with mean and (biased) variance over the trailing axes, whose
/// sizes are `normalized_shape`; weight and bias have that shape or are undefined. eps is 1e-5 if not given.
/// `layer_norm(x, {512}, weight, bias)`.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape);
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias);
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias, double eps);

/// [batch, channels, …], each channel to mean 0 and variance 1, times weight plus bias ([channels], undefined for
/// none). In training by the statistics of x, towards which the running ones ([channels], undefined for none) move in
/// place: running = (1 - momentum) running + momentum statistic, the variance unbiased; else by the running ones.
/// momentum 0.1, eps 1e-5 if not given. ValueError for shapes that do not fit; TransformError where x has a value per
/// example of a vmap and the running statistics, which training writes, have not. Ioffe and Szegedy, 2015.
/// Without `training` it does not train: `batch_norm(x, mean, variance)` uses the running statistics as they are.
///   Tensor y = rc::batch_norm(x, model.running_mean, model.running_var, model.weight, model.bias, training);
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var);
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, bool training);
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, bool training, double momentum, double eps);
/// The same over each example's groups of consecutive channels, without statistics of its own. ValueError unless
/// `groups` divides the channels. Wu and He, 2018.
Tensor group_norm(const Tensor& x, Size groups);
Tensor group_norm(const Tensor& x, Size groups, const Tensor& weight, const Tensor& bias);
Tensor group_norm(const Tensor& x, Size groups, const Tensor& weight, const Tensor& bias, double eps);
/// The same over each example's channels one by one, with arguments in batch_norm's and PyTorch's order: by each
/// example's own statistics, towards whose means over the batch the running ones move, if they are given; or, unless
/// `use_input_stats` (true if not given), by the running ones.
///   Tensor y = rc::instance_norm(x, {}, {}, weight, bias);
Tensor instance_norm(const Tensor& x);
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                     const Tensor& bias);
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                     const Tensor& bias, bool use_input_stats);
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                     const Tensor& bias, bool use_input_stats, double momentum, double eps);
/// Does not compile: weight and bias once stood where PyTorch has the running statistics.
template <std::convertible_to<Tensor>... T>
  requires(sizeof...(T) == 2 || sizeof...(T) == 3)
Tensor instance_norm(const Tensor&, const T&...) {
  static_assert(sizeof...(T) == 0,
                "ricci: instance_norm takes running statistics before weight and bias, as torch: "
                "instance_norm(x, {}, {}, weight, bias)");
  return {};
}

// ── losses; the reduction is the mean if not given ──

Tensor mse_loss(const Tensor& input, const Tensor& target);  ///< (input - target)²; the two broadcast
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction);
Tensor l1_loss(const Tensor& input, const Tensor& target);  ///< |input - target|; derivative 0 at 0
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction);
/// -log softmax(input)[target] over the axis of classes C. input [C], [N, C] or [N, C, …] holds logits; target holds
/// integer classes, of the input's shape without C, or probabilities of the input's shape, for which it is
/// -Σ target log softmax(input). The mean is over examples. IndexError if a class is not in [0, C).
Tensor cross_entropy(const Tensor& input, const Tensor& target);
Tensor cross_entropy(const Tensor& input, const Tensor& target, Reduction reduction);
/// -log_probabilities[target], with shapes as in `cross_entropy` of classes.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target);
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, Reduction reduction);
/// -target log σ(input) - (1 - target) log(1 - σ(input)), without over- or underflow. ValueError unless both have one
/// shape.
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target);
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, Reduction reduction);
/// -target log input - (1 - target) log(1 - input) with logarithms of at least -100, so that input 0 and 1 are fine. In
/// derivatives input (1 - input) counts as 1e-12 at least; PyTorch's second ones are those of another function there.
/// ValueError unless both have one shape.
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target);
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, Reduction reduction);
/// difference² / 2 where |difference| < delta (1 if not given), else delta (|difference| - delta / 2). The two
/// broadcast. ValueError unless delta > 0. Where |difference| is delta, the second derivative is 0, as in PyTorch.
Tensor huber_loss(const Tensor& input, const Tensor& target);
Tensor huber_loss(const Tensor& input, const Tensor& target, double delta);
Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction, double delta);

}  // namespace ops
}  // namespace ricci
