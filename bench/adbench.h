// ADBench's input files, as its README beside them describes them, for W12 to W14. Numbers are float64. Knows nothing
// of the objectives.
#pragma once

#include <ricci/ricci.h>

#include <filesystem>
#include <string>
#include <vector>

namespace bench::adbench {

using ricci::Tensor;

/// The project's copy: ba/…, hand/…, lstm/….
std::filesystem::path folder();

/// One more file to measure, which the environment's RICCI_BENCH_ADBENCH names, if it lies in a folder `kind` (ba) or
/// in one inside such a folder (hand/simple_big). Empty if it does not.
std::filesystem::path file_of_user(const std::string& kind);

/// Every observation has the same camera, point, weight and feature.
struct BundleAdjustment {
  std::int64_t cameras, points, observations;
  Tensor camera, point, weight, feature;  // [11], [3], [], [2]
};
BundleAdjustment read_bundle_adjustment(const std::filesystem::path& file);

struct Lstm {
  Tensor main, extra, state, sequence;  // [2 layers, 4 bits], [3, bits], [2 layers, bits], [characters, bits]
};
Lstm read_lstm(const std::filesystem::path& file);

struct HandModel {
  std::vector<int> parents;  // of each bone; the root's is -1
  Tensor relative, inverse;  // [bones, 4, 4]: in the parent's frame; from the resting place to the bone's frame
  Tensor vertices, weights;  // [vertices, 4] with a last 1, [vertices, bones]
  Tensor triangles;          // int64 [triangles, 3]
};
struct Hand {
  HandModel model;
  Tensor correspondences;  // int64 [N]: a vertex each, or a triangle
  Tensor points;           // [N, 3]
  Tensor places;           // [N, 2]: weights of two corners of the triangle; undefined unless is_complicated
  Tensor theta;            // [26]
};
/// Whether the points correspond to places in triangles, not to vertices.
bool is_complicated(const std::filesystem::path& hand);
/// The model lies beside the file, in model/, or, shared by files of its size, in ../model_small/ or ../model_big/.
Hand read_hand(const std::filesystem::path& file);

}  // namespace bench::adbench
