// Lanes that part: Newton's method for square roots in 4,096 lanes with a number of steps each, written as a plain loop
// under Lanes::split, as while_loop, as the loop over the lanes, and with the mean number of steps in every lane.
#include <cmath>

#include "cases.h"
#include "inputs.h"
#include "loops_by_hand.h"

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

/// Numbers of steps, from `least` to `most`, evenly spread over the logarithm; in order unless shuffled.
struct Counts {
  std::int64_t least, most;
  bool shuffled = false;

  std::string name() const {
    return std::to_string(least) + "_to_" + std::to_string(most) + (shuffled ? "_shuffled" : "");
  }
  Tensor steps() const {
    const auto first = static_cast<double>(least), ratio = static_cast<double>(most) / first;
    std::vector<std::int64_t> steps;
    for (std::int64_t i = 0; i < lanes; ++i) {
      const std::int64_t place = shuffled ? 1597 * i % lanes : i;
      steps.push_back(std::llround(first * std::pow(ratio, static_cast<double>(place) / (lanes - 1))));
    }
    return rc::tensor(steps);
  }
  std::int64_t mean() const { return static_cast<std::int64_t>(std::ceil(steps().to(rc::float64).mean().item())); }
};

/// `each` numbers a lane: how much a step computes.
Tensor numbers(std::int64_t each) {
  return each == 1 ? bench::uniform({lanes}, 200, 1, 100) : bench::uniform({lanes, each}, 200, 1, 100);
}

}  // namespace

std::vector<bench::Case> bench::parting_lanes() {
  const Counts wide{1, 1000}, even{wide.mean(), wide.mean()};
  std::vector<Case> cases;
  for (const std::int64_t each : {1, 64}) {
    for (const Counts counts : {even, Counts{1, 10}, wide}) {
      const auto name = [&](const std::string& wording) {
        return "lanes/" + wording + "/of_" + std::to_string(each) + "/" + counts.name();
      };
      cases.push_back(make_case(name("fixed_mean"), [=] { return call(fixed_steps, numbers(each), counts.mean()); }));
      cases.push_back(
          make_case(name("while_loop"), [=] { return call(rc::vmap(by_while_loop), numbers(each), counts.steps()); }));
      if (each > 1) continue;
      cases.push_back(make_case(name("split"), [=] {
        return call(rc::vmap(by_plain_loop, {.lanes = rc::Lanes::split}), numbers(each), counts.steps());
      }));
      cases.push_back(
          make_case(name("one_at_a_time"), [=] { return call(one_lane_at_a_time, numbers(each), counts.steps()); }));
    }
  }
  const Counts shuffled{1, 1000, true};
  const auto step = [=] { return call(rc::vmap(by_while_loop), numbers(1), shuffled.steps()); };
  cases.push_back(beside_loop(make_case("lanes/while_loop/of_1/" + shuffled.name(), step), [=] {
    return [a = numbers(1), steps = shuffled.steps()] { return by_hand::roots_by_counts(a, steps); };
  }));
  return cases;
}
