// ba: bundle adjustment's residuals and their sparse Jacobian, by the functions of W12.
#include "evals.h"
#include "w12_bundle_adjustment.h"

namespace gradbench {
namespace {

using bench::Observations;

bench::adbench::BundleAdjustment read_problem(const json& input) {
  return {.cameras = input.at("n"),
          .points = input.at("m"),
          .observations = input.at("p"),
          .camera = read_numbers(input.at("cam")),
          .point = read_numbers(input.at("x")),
          .weight = read_numbers(input.at("w")),
          .feature = read_numbers(input.at("feat"))};
}

struct Errors {
  Tensor residuals, weights;  // [p, 2], [p]
};
Errors errors(const Observations& o) {
  return {rc::vmap(bench::residual)(bench::variables(o), o.features), 1 - square(o.weights)};
}

/// Where the values of the sparse Jacobian lie, in compressed rows: where each row begins [3 p + 1], then the columns
/// [31 p]: 11 of each camera, then 3 of each point, then one of each weight.
struct Places {
  Tensor rows, cols;
};
Places places(const Observations& o) {
  const std::int64_t n = o.cameras.size(0), m = o.points.size(0), p = o.weights.size(0);
  const Tensor of_weight = 11 * n + 3 * m + rc::arange(p).unsqueeze(1);  // [p, 1]
  const Tensor of_camera = 11 * o.camera_of.unsqueeze(1) + rc::arange(11);
  const Tensor of_point = 11 * n + 3 * o.point_of.unsqueeze(1) + rc::arange(3);
  const Tensor of_residual = rc::cat({of_camera, of_point, of_weight}, 1);  // [p, 15]
  return {rc::cat({15 * rc::arange(2 * p), 30 * p + rc::arange(p + 1)}),
          rc::cat({of_residual.unsqueeze(1).expand({p, 2, 15}).flatten(), of_weight.flatten()})};
}

/// Two functions: together, places keep the values from being computed in vector lanes.
auto jacobian() {
  return [places = rc::compile(places), values = rc::compile(bench::values_by(rc::jacrev(bench::residual)))](
             const Observations& o) { return std::pair{places(o), values(o)}; };
}

/// All observations are equal, so an answer holds the first one and the last term of a weight.
Tensor first_and_last(const Tensor& x) { return rc::cat({x.slice(0, 0, 30), x.slice(0, -1, x.size(0))}); }

}  // namespace

Eval ba() {
  return {{"objective",
           [](const json& input) {
             const auto [found, timings] = timed(input, rc::compile(errors), bench::observations(read_problem(input)));
             const json repeated = input.at("p");
             return Answer{{{"reproj_error", {{"elements", write(found.residuals[0])}, {"repeated", repeated}}},
                            {"w_err", {{"element", write(found.weights[0])}, {"repeated", repeated}}}},
                           timings};
           }},
          {"jacobian", [](const json& input) {
             const auto [found, timings] = timed(input, jacobian(), bench::observations(read_problem(input)));
             const auto& [places, values] = found;
             return Answer{{{"rows", write(first_and_last(places.rows))},
                            {"cols", write(first_and_last(places.cols))},
                            {"vals", write(first_and_last(values))}},
                           timings};
           }}};
}

}  // namespace gradbench
