// Reads the views' sizes and chooses: floats by oneDNN, halves as floats, everything else by unfolding.
#include "kernels/convolution.h"

#include <algorithm>
#include <cassert>
#include <complex>

#include "kernels/alone.h"
#include "kernels/convolution_geometry.h"
#include "kernels/convolution_onednn.h"
#include "kernels/convolution_unfold.h"
#include "kernels/strided.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

/// The spatial part of x, which axes it lacks leads with `fill`.
template <class Sizes>
Spatial spatial(const Sizes& x, int count, std::int64_t fill) {
  Spatial result = {fill, fill, fill};
  for (int i = 0; i < count; ++i) result[3 - count + i] = x[i];
  return result;
}

ConvolutionGeometry geometry_of(ConvolutionKind kind, const Strided& input, const Strided& weight, const Strided& out,
                                const ConvolutionShape& shape) {
  const int s = shape.spatial;
  return {kind,
          input.shape[0],
          input.shape[1],
          out.shape[1],
          shape.groups,
          spatial(input.shape + 2, s, 1),
          spatial(weight.shape + 2, s, 1),
          spatial(out.shape + 2, s, 1),
          spatial(shape.stride, s, 1),
          spatial(shape.padding_low, s, 0),
          spatial(shape.padding_high, s, 0),
          spatial(shape.dilation, s, 1)};
}

[[maybe_unused]] bool agree(const Strided& input, const Strided& weight, const Strided& out,
                            const ConvolutionShape& shape) {
  const int rank = shape.spatial + 2;
  if (shape.spatial < 1 || shape.spatial > 3 || shape.groups < 1) return false;
  for (const Strided* x : {&input, &weight, &out}) {
    if (x->rank != rank || x->dtype != input.dtype || !is_contiguous(*x)) return false;
  }
  if (input.shape[0] != out.shape[0] || weight.shape[0] != out.shape[1]) return false;
  if (weight.shape[1] * shape.groups != input.shape[1] || weight.shape[0] % shape.groups != 0) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.spatial); ++i) {
    if (shape.padding_low[i] < 0 || shape.padding_high[i] < 0 || shape.stride[i] < 1 || shape.dilation[i] < 1)
      return false;
    if (out.shape[i + 2] != convolution_size(input.shape[i + 2], weight.shape[i + 2], shape, i)) return false;
  }
  return true;
}

/// Where oneDNN has kernels of its own; elsewhere it unfolds too, or fills registers with zeros. Unfolding is as fast
/// for pointwise convolutions (250 GF/s), and faster for a single channel (64 x 1 x 28 x 28 to 32: input gradient
/// 0.18 ms, oneDNN 0.34) and for groups of few channels, which is what per-sample gradients of first layers are.
/// Where rows stand alone, everything is unfolded: oneDNN's sums may depend on how many images there are, and examples
/// may be groups.
bool suits_onednn(const ConvolutionGeometry& g) {
  if (g.is_pointwise() || rows_stand_alone()) return false;
  if (g.groups == 1) return g.channels > 3 || g.kind == ConvolutionKind::weight_gradient;
  const bool is_depthwise = g.group_channels() == 1 && g.group_out_channels() == 1;
  return is_depthwise || (g.group_channels() % 16 == 0 && g.group_out_channels() % 16 == 0);
}

void convolve_floats(const ConvolutionGeometry& g, float* input, float* weight, float* out) {
  if (suits_onednn(g) && convolve_by_onednn(g, input, weight, out)) return;
  convolve_by_unfolding(g, DType::float32, input, weight, out);
}

/// Converts all three arrays: that of the result only to have a place for it.
template <class T>
void convolve_halves(const ConvolutionGeometry& g, const Strided& input, const Strided& weight, const Strided& out) {
  const Strided* views[] = {&input, &weight, &out};
  const Scratch<float> floats[] = {Scratch<float>(element_count(input)), Scratch<float>(element_count(weight)),
                                   Scratch<float>(element_count(out))};
  for (int i = 0; i < 3; ++i) {
    const T* from = static_cast<const T*>(views[i]->data);
    std::copy_n(from, element_count(*views[i]), floats[i].data());
  }
  convolve_floats(g, floats[0].data(), floats[1].data(), floats[2].data());
  const int result = g.kind == ConvolutionKind::forward ? 2 : g.kind == ConvolutionKind::input_gradient ? 0 : 1;
  std::copy_n(floats[result].data(), element_count(*views[result]), static_cast<T*>(views[result]->data));
}

void convolve(ConvolutionKind kind, const Strided& input, const Strided& weight, const Strided& out,
              const ConvolutionShape& shape) {
  assert(agree(input, weight, out, shape));
  const Strided& result = kind == ConvolutionKind::forward          ? out
                          : kind == ConvolutionKind::input_gradient ? input
                                                                    : weight;
  if (element_count(input) == 0 || element_count(weight) == 0 || element_count(out) == 0) {
    std::fill_n(static_cast<char*>(result.data),
                element_count(result) * static_cast<std::int64_t>(element_size(result.dtype)), 0);
    return;
  }
  const ConvolutionGeometry g = geometry_of(kind, input, weight, out, shape);
  switch (result.dtype) {
    case DType::float32:
      return convolve_floats(g, static_cast<float*>(input.data), static_cast<float*>(weight.data),
                             static_cast<float*>(out.data));
    case DType::float16: return convolve_halves<Half>(g, input, weight, out);
    case DType::bfloat16: return convolve_halves<BFloat16>(g, input, weight, out);
    default: return convolve_by_unfolding(g, result.dtype, input.data, weight.data, out.data);
  }
}

}  // namespace

void convolution(Strided out, Strided input, Strided weight, const ConvolutionShape& shape) {
  convolve(ConvolutionKind::forward, input, weight, out, shape);
}

void convolution_input_gradient(Strided input_gradient, Strided cotangent, Strided weight,
                                const ConvolutionShape& shape) {
  convolve(ConvolutionKind::input_gradient, input_gradient, weight, cotangent, shape);
}

void convolution_weight_gradient(Strided weight_gradient, Strided input, Strided cotangent,
                                 const ConvolutionShape& shape) {
  convolve(ConvolutionKind::weight_gradient, input, weight_gradient, cotangent, shape);
}

}  // namespace ricci::kernels
