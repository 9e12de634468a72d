// Lanes that part: Newton's method for square roots in 4,096 lanes with a number of steps each, written as a plain loop
// under Lanes::split, as while_loop, as the loop over the lanes, and with the same number of steps in every lane.
#include <cmath>

#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

constexpr std::int64_t lanes = 4096;

Tensor newton_step(const Tensor& x, const Tensor& a) { return 0.5 * (x + a / x); }

/// A step a count; the counts are data, so that the work of every wording is known.
Tensor by_while_loop(const Tensor& a, const Tensor& steps) {
  using State = std::pair<Tensor, Tensor>;
  return rc::while_loop([&](const State& s) { return s.second < steps; },
                        [&](const State& s) { return State{newton_step(s.first, a), s.second + 1}; },
                        State{a, zeros_like(steps)})
      .first;
}

Tensor by_plain_loop(const Tensor& a, const Tensor& steps) {
  Tensor x = a;
  for (Tensor done = zeros_like(steps); done < steps; done = done + 1) x = newton_step(x, a);
  return x;
}

Tensor one_lane_at_a_time(const Tensor& a, const Tensor& steps) {
  std::vector<Tensor> roots;
  for (std::int64_t i = 0; i < lanes; ++i) roots.push_back(by_plain_loop(a[i], steps[i]));
  return rc::stack(roots);
}

Tensor fixed_steps(const Tensor& a, std::int64_t steps) {
  const auto root = [steps](const Tensor& a) {
    Tensor x = a;
    for (std::int64_t i = 0; i < steps; ++i) x = newton_step(x, a);
    return x;
  };
  return rc::vmap(root)(a);
}

Tensor numbers() { return bench::uniform({lanes}, 200, 1, 100); }

/// From 1 to `most`, evenly spread over the logarithm.
Tensor counts(double most) {
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < lanes; ++i)
    steps.push_back(std::llround(std::pow(most, static_cast<double>(i) / (lanes - 1))));
  return rc::tensor(steps);
}

}  // namespace

std::vector<bench::Case> bench::parting_lanes() {
  std::vector<Case> cases;
  for (const double most : {10.0, 1000.0}) {
    const std::string spread = std::to_string(static_cast<int>(most));
    const auto steps = [most] { return counts(most); };
    const auto mean = [steps] { return static_cast<std::int64_t>(std::ceil(steps().to(rc::float64).mean().item())); };
    cases.push_back(
        make_case("lanes/fixed_mean_of_" + spread, [mean] { return call(fixed_steps, numbers(), mean()); }));
    cases.push_back(
        make_case("lanes/while_loop_" + spread, [steps] { return call(rc::vmap(by_while_loop), numbers(), steps()); }));
    cases.push_back(make_case("lanes/split_" + spread, [steps] {
      return call(rc::vmap(by_plain_loop, {.lanes = rc::Lanes::split}), numbers(), steps());
    }));
    cases.push_back(
        make_case("lanes/one_at_a_time_" + spread, [steps] { return call(one_lane_at_a_time, numbers(), steps()); }));
  }
  return cases;
}
