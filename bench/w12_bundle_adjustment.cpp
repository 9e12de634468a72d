// W12: the sparse Jacobian of bundle adjustment, in float64: the small dense block of each observation, by vmap of the
// derivative of one observation's residual. The inputs are ADBench's, one more by RICCI_BENCH_ADBENCH (adbench.h).
#include "w12_bundle_adjustment.h"

#include <utility>

#include "adbench.h"
#include "cases.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

/// x: the camera's rotation 3 (an axis times an angle, which is not 0), centre 3, focal length, principal point 2,
/// radial distortion 2; the point 3; the weight. Gives [2].
Tensor residual(const Tensor& x, const Tensor& feature) {
  const Tensor turn = x.slice(0, 0, 3), from_centre = x.slice(0, 11, 14) - x.slice(0, 3, 6);
  const Tensor angle = sqrt((turn * turn).sum()), axis = turn / angle, cosine = cos(angle);
  const Tensor turned =
      from_centre * cosine + cross(axis, from_centre) * sin(angle) + axis * (dot(axis, from_centre) * (1 - cosine));
  const Tensor flat = turned.slice(0, 0, 2) / turned[2], square = dot(flat, flat);
  const Tensor distorted = flat * (1 + square * (x[9] + square * x[10]));
  return x[14] * (distorted * x[6] + x.slice(0, 7, 9) - feature);
}

using bench::Observations;

/// The values of the sparse matrix row by row [31 p]: 15 for each of the 2 p residuals, then the slopes of the p terms
/// 1 - w^2.
template <class Jacobian>
auto values_by(Jacobian jacobian) {
  return [jacobian](const Observations& o) {
    const Tensor x =
        rc::cat({o.cameras.index_select(0, o.camera_of), o.points.index_select(0, o.point_of), o.weights.unsqueeze(1)},
                1);                                           // [p, 15]
    const Tensor blocks = rc::vmap(jacobian)(x, o.features);  // [p, 2, 15]
    return rc::cat({blocks.flatten(), -2 * o.weights});
  };
}

Observations observations(const bench::adbench::BundleAdjustment& b) {
  const std::int64_t p = b.observations;
  return {b.camera.expand({b.cameras, 11}).clone(),
          b.point.expand({b.points, 3}).clone(),
          b.weight.expand({p}).clone(),
          b.feature.expand({p, 2}).clone(),
          rc::arange(p) % b.cameras,
          rc::arange(p) % b.points};
}

}  // namespace

std::vector<bench::Case> bench::bundle_adjustment() {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, auto jacobian, const auto& problem, const std::string& reference) {
    cases.push_back(
        beside_loop(make_case(name, [=] { return call(values_by(jacobian), observations(problem())); }),
                    [=] { return [o = observations(problem())] { return bundle_adjustment_by_hand(o); }; }));
    cases.back().reference = reference;
  };
  const auto add_file = [&](const std::string& name, const std::filesystem::path& file) {
    const auto problem = [file] { return adbench::read_bundle_adjustment(file); };
    const std::string reference = "ba/" + file.filename().string() + "/J_vals";
    add(name + "_jacrev", rc::jacrev(residual), problem, reference);
    add(name + "_jacfwd", rc::jacfwd(residual), problem, reference);
  };
  const std::filesystem::path folder = adbench::folder() / "ba", ba1 = folder / "ba1_n49_m7776_p31843.txt";
  add_file("W12/test", folder / "test.txt");
  add_file("W12/ba1", ba1);
  add_file("W12/ba5", folder / "ba5_n257_m65132_p225911.txt");
  const auto size_of_ba10 = [ba1] {
    adbench::BundleAdjustment b = adbench::read_bundle_adjustment(ba1);
    b.cameras = 1197, b.points = 126327, b.observations = 563734;
    return b;
  };
  add("W12/p563734_synth_jacrev", rc::jacrev(residual), size_of_ba10, "");
  if (const std::filesystem::path file = adbench::file_of_user("ba"); !file.empty())
    add_file("W12/" + file.stem().string(), file);
  return within(1e-8, std::move(cases));
}
