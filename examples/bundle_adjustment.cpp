// Bundle adjustment: the Jacobian of how far each observed point lies from where its camera should see it. The residual
// is written for one observation; `vmap(jacfwd(residual))` gives every observation's small dense block. Values and
// Jacobian are compared with ADBench's reference values (data/adbench), to rounding error.
#include <ricci/ricci.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rc = ricci;
using rc::Tensor;

namespace {

const std::string folder = RICCI_DATA_DIR "/adbench/";

struct Problem {
  Tensor cameras, points, weights, features;  // of each observation: [p, 11], [p, 3], [p], [p, 2]
};

/// The file holds counts and one camera, point, weight and feature, which all observations share.
Problem read_problem(const std::string& name) {
  std::ifstream file(folder + name);
  std::int64_t cameras = 0, points = 0, observations = 0;
  std::vector<double> numbers(17);
  file >> cameras >> points >> observations;
  for (double& number : numbers) file >> number;
  if (!file) throw std::runtime_error("cannot read " + folder + name);
  const Tensor all = rc::tensor(numbers), i = rc::arange(observations);
  return {all.slice(0, 0, 11).expand({cameras, 11}).index_select(0, i % cameras),
          all.slice(0, 11, 14).expand({points, 3}).index_select(0, i % points), all[14].expand({observations}),
          all.slice(0, 15, 17).expand({observations, 2})};
}

/// Rodrigues' formula: x turned about the axis r by |r|, which must not be 0.
Tensor rotate(const Tensor& r, const Tensor& x) {
  const Tensor angle = rc::norm(r), axis = r / angle;
  return x * rc::cos(angle) + rc::cross(axis, x) * rc::sin(angle) + axis * (rc::dot(axis, x) * (1.0 - rc::cos(angle)));
}

/// camera: rotation 3, centre 3, focal length, principal point 2, radial distortion 2. Gives [2].
Tensor residual(const Tensor& camera, const Tensor& point, const Tensor& weight, const Tensor& feature) {
  const Tensor seen = rotate(camera.slice(0, 0, 3), point - camera.slice(0, 3, 6));
  const Tensor flat = seen.slice(0, 0, 2) / seen[2];
  const Tensor square = rc::dot(flat, flat);
  const Tensor distorted = flat * (1.0 + square * (camera[9] + square * camera[10]));
  return weight * (camera[6] * distorted + camera.slice(0, 7, 9) - feature);
}

/// Nonzeros row by row, as ADBench orders them: 15 for each of the 2 p residuals, then those of the p weight terms.
Tensor jacobian_values(const Problem& p) {
  const auto blocks = rc::vmap(rc::jacfwd<0, 1, 2>(residual))(p.cameras, p.points, p.weights, p.features);
  const auto& [camera, point, weight] = blocks;  // [p, 2, 11], [p, 2, 3], [p, 2]
  return rc::cat({rc::cat({camera, point, weight.unsqueeze(-1)}, -1).flatten(), -2.0 * p.weights});
}

/// Sum and 2-norm within 1e-10, relative to the norm.
bool agrees(const char* what, const Tensor& values, const nlohmann::json& reference) {
  const double sum = values.sum().item<double>(), norm = rc::norm(values).item<double>();
  const double expected_sum = reference["sum"], expected_norm = reference["l2"];
  std::printf("%-10s %8ld values  sum %.15g  norm %.15g\n", what, static_cast<long>(values.numel()), sum, norm);
  return values.numel() == reference["size"].get<std::int64_t>() &&
         std::abs(norm - expected_norm) <= 1e-10 * expected_norm &&
         std::abs(sum - expected_sum) <= 1e-10 * expected_norm * std::sqrt(static_cast<double>(values.numel()));
}

}  // namespace

int main(int argc, char** argv) try {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  const std::string name = quick ? "ba/test.txt" : "ba/ba1_n49_m7776_p31843.txt";
  const auto reference = nlohmann::json::parse(std::ifstream(folder + "reference_values.json"))[name];
  const Problem problem = read_problem(name);
  const Tensor errors = rc::vmap(residual)(problem.cameras, problem.points, problem.weights, problem.features);
  const bool right = agrees("residuals", errors, reference["reproj_err"]) &&
                     agrees("weights", 1.0 - problem.weights * problem.weights, reference["w_err"]) &&
                     agrees("jacobian", jacobian_values(problem), reference["J_vals"]);
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bundle_adjustment: %s\n", error.what());
  return 1;
}
