// Images read at the places that a grid gives: sums of the elements around each place, times weights; the transpose of
// these sums; and the derivatives of both by the grid, of every order. Knows nothing of tensors.
//
// Everywhere: images are [b…, C, sizes…] with two or three sizes, none of them 0. A grid is [b…, places…, coordinates],
// whose first coordinate is along the last axis of an image; -1 and 1 are the image's ends. Values are
// [b…, C, places…]. Axes of b that are 1 in the images, and longer in the grid, share an image. All have one type,
// float32 or float64. Any strides, but outputs are contiguous and overlap nothing that is read.
//
// Weights are computed in the elements' type; elements times weights are added in float64, those of an image in the
// order of the places, and rounded at the end. An element outside weighs nothing, and is not read. Working memory
// besides is of the order of an image for each thread.
#pragma once

#include <array>
#include <cstdint>

#include "ricci/strided.h"

namespace ricci::kernels {

enum class Interpolation : std::uint8_t { nearest, linear, cubic };
/// What is read outside of an image.
enum class Outside : std::uint8_t { zeros, border, reflection };

struct GridReading {
  Interpolation interpolation = Interpolation::linear;
  Outside outside = Outside::zeros;
  bool align_corners = false;               // the ends are the middles of the outermost elements
  std::array<std::int64_t, 3> orders = {};  // of the derivative by each coordinate
};

/// values = the images at the grid's places.
void read_grid(Strided values, Strided images, Strided grid, const GridReading& reading);

/// The transpose in the images: images = Σ of the values, each spread over the elements that its place reads.
void spread_grid(Strided images, Strided values, Strided grid, const GridReading& reading);

/// slopes [b…, places…, coordinates] = Σ over channels of values times the derivative of what is read there by each
/// coordinate.
void slopes_of_grid(Strided slopes, Strided images, Strided grid, Strided values, const GridReading& reading);

}  // namespace ricci::kernels
