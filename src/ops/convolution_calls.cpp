// What users call for convolutions and transposed ones: options and operands checked, one image as several, bias added.
#include <algorithm>
#include <array>
#include <string>

#include "ops/convolution.h"
#include "ops/spatial.h"
#include "primitive/called.h"
#include "ricci/ops/convolution.h"

namespace ricci {
namespace {

using kernels::ConvolutionShape;

/// What the weights of a convolution and of a transposed one look like.
constexpr const char* weights[] = {"[O, C / groups, K]", "[O, C / groups, KH, KW]", "[O, C / groups, KD, KH, KW]"};
constexpr const char* transposed_weights[] = {"[C, O / groups, K]", "[C, O / groups, KH, KW]",
                                              "[C, O / groups, KD, KH, KW]"};

/// Throws TypeError unless x is of numbers that are convolved: floating, complex or int64.
void require_numbers(const char* op, const Tensor& x) {
  if (type_of(x).dtype != DType::int64) require_floating(op, x);
}

/// The operands, of one element type, and whether the input is one image, to which an axis was added.
struct Operands {
  Tensor x, weight;
  bool is_one;
};

Operands operands_of(const char* op, int spatial, const Tensor& x, const Tensor& weight, const char* weight_axes) {
  require_numbers(op, x);
  require_numbers(op, weight);
  require_images(op, x, spatial);
  require_axes(op, "weight", weight, type_of(weight).rank() == spatial + 2, weight_axes);
  for (Size size : spatial_sizes(type_of(weight), spatial))
    if (size < 1) raise<ValueError>(std::string(op) + ": the weight " + type_text(weight) + " has an empty kernel");
  const bool is_one = is_one_image(x, spatial);
  const DType dtype = promote(type_of(x).dtype, type_of(weight).dtype);
  return {to(is_one ? unsqueeze(x, 0) : x, dtype), to(weight, dtype), is_one};
}

/// x, as the user gave it, has as many channels as the weight takes.
void require_channels(const char* op, int spatial, const Tensor& x, const Tensor& weight, Size takes, Size groups) {
  const Size channels = *(type_of(x).shape.end() - spatial - 1);
  if (!(channels == takes))
    raise<ValueError>(std::string(op) + ": the input " + type_text(x) + " has " +
                      count_of(channels.hint(), "channel", "channels") + ", the weight " + type_text(weight) +
                      " takes " + std::to_string(takes.hint()) + " (groups " + std::to_string(groups.hint()) + ")");
}

void require_groups(const char* op, const Tensor& weight, Size groups, const char* does) {
  const Size channels = type_of(weight).shape[0];
  if (!(channels / groups * groups == channels))
    raise<ValueError>(std::string(op) + ": the weight " + type_text(weight) + " " + does + " " +
                      count_of(channels.hint(), "channel", "channels") + ", which do not divide into groups " +
                      std::to_string(groups.hint()));
}

/// y with the bias added to its channels, as one image if the input was.
Tensor finished(const char* op, int spatial, const Tensor& y, const Tensor& bias, bool is_one) {
  const Size channels = type_of(y).shape[1];
  Tensor result = y;
  if (bias.defined()) {
    if (!(type_of(bias).shape == Shape{channels}))
      raise<ValueError>(std::string(op) + ": the bias must be " + to_string(Shape{channels}) +
                        ", one number for each channel of the result, it is " + type_text(bias));
    Shape column = Shape::filled(static_cast<std::size_t>(spatial + 1), 1);
    column[0] = channels;
    result = y + reshape(bias, column);
  }
  return is_one ? squeeze(result, 0) : result;
}

/// Sets the padding of the shape, whose other members are set, for a kernel of these sizes.
void set_padding(const char* op, const ConvPadding& padding, const Shape& kernel, ConvolutionShape& shape) {
  if (const Sizes* widths = padding.numbers()) {
    shape.padding_low = shape.padding_high = array_per_axis(op, "padding", *widths, shape.spatial, 0);
    return;
  }
  const std::string& word = padding.word();
  if (word == "valid") return;
  if (word != "same")
    raise<ValueError>(std::string(op) + ": there is no padding \"" + shortened(word) +
                      R"("; pass "same", "valid" or numbers)");
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (!(shape.stride[i] == 1))
      raise<ValueError>(std::string(op) + ": the padding \"same\" needs a stride of 1, it is " +
                        std::to_string(shape.stride[i].hint()) + "; pass numbers");
    const Size all = shape.dilation[i] * (kernel[i] - 1);
    shape.padding_low[i] = all / 2;
    shape.padding_high[i] = all - all / 2;
  }
}

Tensor convolve(const char* op, int spatial, const Tensor& x, const Tensor& weight, const Tensor& bias,
                const Sizes& stride, const ConvPadding& padding, const Sizes& dilation, Size groups) {
  const Called as(op, x, weight);
  const Operands o = operands_of(op, spatial, x, weight, weights[spatial - 1]);
  require_of_a_window(op, "groups", groups, 1);
  const Shape kernel = spatial_sizes(type_of(weight), spatial), sizes = spatial_sizes(type_of(x), spatial);
  ConvolutionShape shape{spatial, array_per_axis(op, "stride", stride, spatial, 1), {}, {}, {}, groups};
  shape.dilation = array_per_axis(op, "dilation", dilation, spatial, 1);
  set_padding(op, padding, kernel, shape);
  require_channels(op, spatial, x, weight, type_of(weight).shape[1] * groups, groups);
  require_groups(op, weight, groups, "gives");
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const Size padded = sizes[i] + shape.padding_low[i] + shape.padding_high[i],
               reach = shape.dilation[i] * (kernel[i] - 1) + 1;
    if (reach > padded)
      raise<ValueError>(std::string(op) + ": the kernel of the weight " + type_text(weight) +
                        " does not fit the input " + type_text(x) + ": on spatial axis " + std::to_string(i) +
                        " it reaches over " + count_of(reach.hint(), "element", "elements") +
                        ", the padded input has " + std::to_string(padded.hint()));
  }
  return finished(op, spatial, convolution(o.x, o.weight, shape), bias, o.is_one);
}

Tensor convolve(const char* op, int spatial, const Tensor& x, const Tensor& weight, const Tensor& bias,
                const ConvOptions& options) {
  return convolve(op, spatial, x, weight, bias, options.stride, options.padding, options.dilation, options.groups);
}

/// x with zeros behind it, `more` along each spatial axis.
Tensor padded_behind(const Tensor& x, const Sizes& more) {
  Sizes widths;
  for (std::size_t i = more.size(); i-- > 0;) {
    widths.push_back(0);
    widths.push_back(more[i]);
  }
  return pad(x, widths);
}

Tensor convolve_transposed(const char* op, int spatial, const Tensor& x, const Tensor& weight, const Tensor& bias,
                           const ConvTransposeOptions& options) {
  const Called as(op, x, weight);
  Operands o = operands_of(op, spatial, x, weight, transposed_weights[spatial - 1]);
  require_of_a_window(op, "groups", options.groups, 1);
  ConvolutionShape shape{spatial, array_per_axis(op, "stride", options.stride, spatial, 1), {}, {}, {}, options.groups};
  shape.padding_low = shape.padding_high = array_per_axis(op, "padding", options.padding, spatial, 0);
  shape.dilation = array_per_axis(op, "dilation", options.dilation, spatial, 1);
  const Sizes more = one_per_axis(op, "output_padding", options.output_padding, spatial, 0);
  require_groups(op, weight, options.groups, "takes");
  require_channels(op, spatial, x, weight, type_of(weight).shape[0], options.groups);
  const Shape kernel = spatial_sizes(type_of(weight), spatial), from = spatial_sizes(type_of(x), spatial);
  // The convolution that this is the transpose of must give x's size: an output padding of more than a stride is that
  // of an input with zeros behind it.
  Sizes zeros_behind;
  Shape sizes;
  bool has_zeros_behind = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (more[i] >= shape.stride[i] && more[i] >= shape.dilation[i])
      raise<ValueError>(std::string(op) + ": output_padding " + list_of(more) +
                        " must be less than the stride or the dilation, which are " +
                        std::to_string(shape.stride[i].hint()) + " and " + std::to_string(shape.dilation[i].hint()) +
                        " on spatial axis " + std::to_string(i));
    const bool is_wide = more[i] >= shape.stride[i];
    zeros_behind.push_back(is_wide ? more[i] / shape.stride[i] : Size(0));
    has_zeros_behind = has_zeros_behind || is_wide;
    const Size size =
        (from[i] - 1) * shape.stride[i] - 2 * shape.padding_low[i] + shape.dilation[i] * (kernel[i] - 1) + more[i] + 1;
    if (from[i] < 1 || size < 1)
      raise<ValueError>(std::string(op) + ": of the input " + type_text(x) + " the result has no elements on spatial " +
                        "axis " + std::to_string(i) + "; pass a larger input or less padding");
    sizes.push_back(size);
  }
  if (has_zeros_behind) o.x = padded_behind(o.x, zeros_behind);
  return finished(op, spatial, convolution_input(o.x, o.weight, shape, sizes), bias, o.is_one);
}

}  // namespace

namespace ops {

#define RICCI_CONVOLUTION(name, spatial)                                                                     \
  Tensor name(const Tensor& x, const Tensor& weight) { return convolve(#name, spatial, x, weight, {}, {}); } \
  Tensor name(const Tensor& x, const Tensor& weight, const Tensor& bias) {                                   \
    return convolve(#name, spatial, x, weight, bias, {});                                                    \
  }                                                                                                          \
  Tensor name(const Tensor& x, const Tensor& weight, ConvOptions options) {                                  \
    return convolve(#name, spatial, x, weight, {}, options);                                                 \
  }                                                                                                          \
  Tensor name(const Tensor& x, const Tensor& weight, const Tensor& bias, ConvOptions options) {              \
    return convolve(#name, spatial, x, weight, bias, options);                                               \
  }                                                                                                          \
  Tensor name(const Tensor& x, const Tensor& weight, const Tensor& bias, const Sizes& stride,                \
              const ConvPadding& padding, const Sizes& dilation, Size groups) {                              \
    return convolve(#name, spatial, x, weight, bias, stride, padding, dilation, groups);                     \
  }

RICCI_CONVOLUTION(conv1d, 1)
RICCI_CONVOLUTION(conv2d, 2)
RICCI_CONVOLUTION(conv3d, 3)
#undef RICCI_CONVOLUTION

#define RICCI_TRANSPOSED_CONVOLUTION(name, spatial)                                                                 \
  Tensor name(const Tensor& x, const Tensor& weight) {                                                              \
    return convolve_transposed(#name, spatial, x, weight, {}, {});                                                  \
  }                                                                                                                 \
  Tensor name(const Tensor& x, const Tensor& weight, const Tensor& bias) {                                          \
    return convolve_transposed(#name, spatial, x, weight, bias, {});                                                \
  }                                                                                                                 \
  Tensor name(const Tensor& x, const Tensor& weight, ConvTransposeOptions options) {                                \
    return convolve_transposed(#name, spatial, x, weight, {}, options);                                             \
  }                                                                                                                 \
  Tensor name(const Tensor& x, const Tensor& weight, const Tensor& bias, ConvTransposeOptions options) {            \
    return convolve_transposed(#name, spatial, x, weight, bias, options);                                           \
  }                                                                                                                 \
  Tensor name(const Tensor& x, const Tensor& weight, const Tensor& bias, const Sizes& stride, const Sizes& padding, \
              const Sizes& output_padding, Size groups, const Sizes& dilation) {                                    \
    return convolve_transposed(#name, spatial, x, weight, bias,                                                     \
                               {.stride = stride,                                                                   \
                                .padding = padding,                                                                 \
                                .output_padding = output_padding,                                                   \
                                .groups = groups,                                                                   \
                                .dilation = dilation});                                                             \
  }

RICCI_TRANSPOSED_CONVOLUTION(conv_transpose1d, 1)
RICCI_TRANSPOSED_CONVOLUTION(conv_transpose2d, 2)
RICCI_TRANSPOSED_CONVOLUTION(conv_transpose3d, 3)
#undef RICCI_TRANSPOSED_CONVOLUTION

}  // namespace ops
}  // namespace ricci
