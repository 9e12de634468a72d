// Images of other sizes, and images read at any place, with PyTorch's conventions. x is [N, C, …] with one to three
// spatial axes. All are linear in x; `grid_sample` is differentiable in its grid too.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "ricci/ops/nn.h"
#include "ricci/tensor.h"

namespace ricci {

/// Factors of sizes, one for all spatial axes or one for each: `2`, `{1.5, 2}`.
class Factors : public SmallVector<double, 3> {
 public:
  Factors() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  Factors(T factor) {
    push_back(static_cast<double>(factor));
  }
  Factors(std::initializer_list<double> factors) : SmallVector(factors) {}
  Factors(const std::vector<double>& factors) : SmallVector(factors.begin(), factors.end()) {}
};

/// `{.size = {128, 128}, .mode = "bilinear"}`, `{.scale_factor = 2}`
struct InterpolateOptions {
  ByName by_name = ByName();
  Sizes size = {};            ///< of the spatial axes, one for all or one for each; or
  Factors scale_factor = {};  ///< of the sizes, rounded down: exactly one of the two is given
  std::string mode = "nearest";
  std::optional<bool> align_corners = {};  ///< whether corners, not borders, of the images meet; false if not given
  bool recompute_scale_factor = false;     ///< steps follow from the sizes, not from scale_factor
  bool antialias = false;                  ///< "bilinear" and "bicubic": where an axis shrinks the windows grow with it
};
/// Of `upsample_nearest` and `upsample_bilinear`.
struct UpsampleOptions {
  Sizes size = {};
  Factors scale_factor = {};
};
/// `{.mode = "bicubic", .padding_mode = "border", .align_corners = true}`
struct GridSampleOptions {
  std::string mode = "bilinear";
  std::string padding_mode = "zeros";
  bool align_corners = false;  ///< -1 and 1 are the middle of the outermost elements, not their outer borders
};

namespace ops {

/// x [N, C, n…] with other spatial sizes: [N, C, m…]. Modes: "nearest" and "nearest-exact" take the element whose
/// border, or middle, is next (any dtype); "linear", "bilinear" and "trilinear" (one, two and three spatial axes) weigh
/// two elements along each axis; "bicubic" (two) four, by Keys' kernel with a = -0.75, or -0.5 with antialias; "area"
/// takes means of windows as adaptive_avg_pool2d. Those weigh real floating elements; each is one linear operation
/// along an axis. ValueError for another rank, mode or number of sizes, an empty result, or an option that the mode
/// does not take.
///   Tensor large = rc::interpolate(x, {.scale_factor = 2, .mode = "bilinear"});  // f32[4,3,8,8] → f32[4,3,16,16]
Tensor interpolate(const Tensor& x, InterpolateOptions options);
Tensor upsample_nearest(const Tensor& x, UpsampleOptions options);
Tensor upsample_bilinear(const Tensor& x, UpsampleOptions options);  ///< with align_corners, as PyTorch's

/// x [N, C, H, W] read at the places grid [N, h, w, 2], which hold (column, row) with -1 and 1 at the image's ends:
/// [N, C, h, w]; or [N, C, D, H, W] at [N, d, h, w, 3] (column, row, plane). Modes: "bilinear" (of eight elements in
/// space), "nearest" (of two equally near ones the even place), "bicubic" (images only, a = -0.75). Outside there are
/// "zeros", the "border"'s elements, or the image mirrored at its ends ("reflection"). Differentiable in x and grid.
/// ValueError for shapes or words that do not fit.
///   Tensor turned = rc::grid_sample(x, rc::affine_grid(theta, {4, 16, 64, 64}));
Tensor grid_sample(const Tensor& x, const Tensor& grid);
Tensor grid_sample(const Tensor& x, const Tensor& grid, GridSampleOptions options);
/// The grid of an image of shape `size` [N, C, H, W] under affine maps theta [N, 2, 3]: [N, H, W, 2]; of a body
/// [N, C, D, H, W] and [N, 3, 4]: [N, D, H, W, 3]. align_corners as in grid_sample. ValueError for shapes that do not
/// fit.
Tensor affine_grid(const Tensor& theta, const Shape& size);
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners);

/// [..., C r², H, W] → [..., C, H r, W r]: each group of r² channels fills squares. ValueError unless r² divides them.
Tensor pixel_shuffle(const Tensor& x, Size upscale_factor);
/// The inverse. ValueError unless the factor divides height and width.
Tensor pixel_unshuffle(const Tensor& x, Size downscale_factor);
/// [N, groups n, …] with the channels of the groups interleaved: channel g n + i goes to i groups + g.
Tensor channel_shuffle(const Tensor& x, Size groups);

}  // namespace ops
}  // namespace ricci
