// The sizes of one convolution, with three spatial axes: axes it lacks have size 1. Knows nothing of how it is
// computed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ricci::kernels {

using Spatial = std::array<std::int64_t, 3>;

enum class ConvolutionKind : std::int64_t { forward, input_gradient, weight_gradient };

struct ConvolutionGeometry {
  ConvolutionKind kind;
  std::int64_t batch, channels, out_channels, groups;  // channels of all groups together
  Spatial input, kernel, out, stride, low, high, dilation;

  std::int64_t group_channels() const { return channels / groups; }
  std::int64_t group_out_channels() const { return out_channels / groups; }
  static std::int64_t volume(const Spatial& size) { return size[0] * size[1] * size[2]; }

  /// Whether every output sees one input: then a convolution is a matrix product of its channels.
  bool is_pointwise() const {
    constexpr Spatial ones = {1, 1, 1}, zeros = {};
    return kernel == ones && stride == ones && low == zeros && high == zeros;
  }

  bool operator==(const ConvolutionGeometry&) const = default;
};

}  // namespace ricci::kernels
