// The inputs of every benchmark, made by one integer hash so that the rivals in peers/ make the same numbers.
// Knows nothing of the workloads. Start with `uniform`.
#pragma once

#include <ricci/ricci.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace bench {

struct Layer {
  ricci::Tensor weight, bias;  // [out, in], [out]
};
using Net = std::vector<Layer>;

/// Word i of stream `seed`: depends on nothing else.
inline std::uint32_t hash(std::uint32_t i, std::uint32_t seed) {
  std::uint32_t x = i * 0x9E3779B9U + seed * 0x85EBCA6BU;
  x ^= x >> 16;
  x *= 0x7FEB352DU;
  x ^= x >> 15;
  x *= 0x846CA68BU;
  x ^= x >> 16;
  return x;
}

/// float32, element i (row-major) = low + (high - low) * hash / 2^32 cut to 24 bits, computed in double.
inline ricci::Tensor uniform(const ricci::Shape& shape, std::uint32_t seed, double low = -1, double high = 1) {
  std::vector<float> values(static_cast<std::size_t>(shape.numel().host()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double u = (hash(static_cast<std::uint32_t>(i), seed) >> 8) * 0x1p-24;
    values[i] = static_cast<float>(low + (high - low) * u);
  }
  return ricci::tensor(values).reshape(shape);
}

/// A fully connected net n0 -> n1 -> …: layer l from seeds `seed` + 2 l and + 1, half-width 1 / sqrt(its inputs).
inline Net dense(const std::vector<std::int64_t>& sizes, std::uint32_t seed) {
  Net net;
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
    const double width = 1 / std::sqrt(static_cast<double>(sizes[l]));
    const auto stream = seed + 2 * static_cast<std::uint32_t>(l);
    net.push_back(
        {uniform({sizes[l + 1], sizes[l]}, stream, -width, width), uniform({sizes[l + 1]}, stream + 1, -width, width)});
  }
  return net;
}

/// [count, classes] float32: example i has class (7 i + 3) mod classes.
inline ricci::Tensor one_hot_labels(std::int64_t count, std::int64_t classes) {
  std::vector<float> values(static_cast<std::size_t>(count * classes), 0.0F);
  for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i * classes + (7 * i + 3) % classes)] = 1;
  return ricci::tensor(values).view({count, classes});
}

}  // namespace bench
