// Every optimiser and schedule gives optax's values: ten steps in float32 and in float64. tools/optax_values.py made
// tests/data/values_of_optax.txt.
#include <gtest/gtest.h>
#include <ricci/optim.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/close.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
namespace optim = ricci::optim;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Parameters {
  Tensor weight, bias;
};
using Numbers = std::vector<double>;

Parameters from(const Numbers& numbers, rc::DType dtype) {
  const Tensor all = rc::tensor(numbers).to(dtype);
  return {all.slice(0, 0, 6).view({2, 3}), all.slice(0, 6, 9)};
}
Numbers numbers_of(const Parameters& p) {
  return rc::cat(std::vector<Tensor>{p.weight.view({-1}), p.bias}, 0).to(rc::float64).to_vector<double>();
}

struct Table {
  Numbers start;
  std::vector<Numbers> gradients;
  std::map<std::string, Numbers> schedules;
  std::map<std::string, std::vector<Numbers>> updates[2];  // in float32, in float64
};

Table read_table() {
  Table table;
  std::ifstream file(RICCI_TEST_DATA "/values_of_optax.txt");
  std::string name;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "schedule" || kind == "optimiser") {
      std::getline(words >> std::ws, name);
      continue;
    }
    Numbers numbers;
    for (double x; words >> x;) numbers.push_back(x);
    if (kind == "parameters") table.start = numbers;
    if (kind == "gradient") table.gradients.push_back(numbers);
    if (kind == "values") table.schedules[name] = numbers;
    if (kind == "float32" || kind == "float64") table.updates[kind == "float64"][name].push_back(numbers);
  }
  return table;
}

const Table& table() {
  static const Table read = read_table();
  return read;
}

TEST(OptimValues, OfSchedulesAreThoseOfOptax) {
  const optim::Schedule constant = [](const Tensor&) { return 0.2; };
  const std::map<std::string, optim::Schedule> ours{
      {"cosine_decay", optim::cosine_decay(0.3, 8)},
      {"cosine_decay alpha exponent", optim::cosine_decay(0.3, 8, {.alpha = 0.1, .exponent = 1.5})},
      {"exponential_decay", optim::exponential_decay(0.3, 4, 0.5)},
      {"exponential_decay staircase",
       optim::exponential_decay(0.3, 3, 0.5, {.transition_begin = 2, .staircase = true})},
      {"exponential_decay end", optim::exponential_decay(0.3, 2, 0.5, {.end_value = 0.05})},
      {"exponential_decay growing", optim::exponential_decay(0.3, 2, 1.5, {.end_value = 0.9})},
      {"warmup_cosine", optim::warmup_cosine(0.01, 0.4, 3, 11, {.end_value = 0.02})},
      {"warmup_cosine exponent", optim::warmup_cosine(0, 0.4, 2, 9, {.exponent = 2})},
      {"piecewise", optim::piecewise(0.3, {{3, 0.5}, {7, 0.1}})},
      {"linear_schedule", optim::linear_schedule(0.3, 0.1, 5, 2)},
      {"join_schedules", optim::join_schedules({constant, optim::cosine_decay(0.3, 6)}, {4})},
  };
  ASSERT_EQ(ours.size(), table().schedules.size());
  for (const auto& [name, schedule] : ours) {
    SCOPED_TRACE(name);
    const Numbers& expected = table().schedules.at(name);
    for (std::size_t count = 0; count < expected.size(); ++count)
      EXPECT_TRUE(
          is_close(schedule(rc::full({}, static_cast<int>(count), rc::int64)).item<double>(), expected[count], 1e-15))
          << count;
  }
}

bool is_weight(const std::string& name) { return name == "weight"; }

std::map<std::string, optim::Optimiser> ours() {
  return {
      {"sgd", optim::sgd(0.1)},
      {"momentum", optim::momentum(0.1)},
      {"nesterov", optim::nesterov(0.1, 0.8)},
      {"adam", optim::adam(0.1)},
      {"adam options", optim::adam(0.1, {.b1 = 0.8, .b2 = 0.95, .eps = 1e-4, .eps_root = 1e-6})},
      {"adam nesterov", optim::adam(0.1, {.nesterov = true})},
      {"adamw", optim::adamw(0.1)},
      {"adamw options", optim::adamw(0.1, {.weight_decay = 0.05, .mask = is_weight, .nesterov = true})},
      {"lamb", optim::lamb(0.1)},
      {"lamb options", optim::lamb(0.1, {.weight_decay = 0.05, .mask = is_weight})},
      {"lion", optim::lion(0.1)},
      {"lion options", optim::lion(0.1, {.b1 = 0.8, .b2 = 0.9, .weight_decay = 0.05, .mask = is_weight})},
      {"rmsprop", optim::rmsprop(0.1)},
      {"rmsprop momentum",
       optim::rmsprop(0.1, {.decay = 0.8, .initial_scale = 0.5, .momentum = 0.9, .nesterov = true})},
      {"rmsprop outside", optim::rmsprop(0.1, {.eps_in_sqrt = false, .bias_correction = true})},
      {"rmsprop centered", optim::rmsprop(0.1, {.centered = true})},
      {"adagrad", optim::adagrad(0.1)},
      {"adagrad options", optim::adagrad(0.1, {.initial_accumulator_value = 0, .eps = 1e-3})},
      {"clip", optim::clip(0.5)},
      {"clip_by_global_norm", optim::clip_by_global_norm(2)},
      {"add_decayed_weights", optim::add_decayed_weights(0.1)},
      {"scale_by_schedule", optim::scale_by_schedule(optim::cosine_decay(0.3, 8))},
      {"chain", optim::chain(optim::clip_by_global_norm(2),
                             optim::adamw(optim::warmup_cosine(0.01, 0.4, 3, 11), {.weight_decay = 0.01}))},
      {"masked", optim::masked(optim::clip_by_global_norm(1), is_weight)},
  };
}

/// How far the updates of ten steps are from optax's, at most, relative to the greatest one of their step. Infinite
/// where an update is no number.
double distance(const std::string& name, const optim::Optimiser& optimiser, rc::DType dtype) {
  Parameters at = from(table().start, dtype);
  auto state = optimiser.init(at);
  const std::vector<Numbers>& expected = table().updates[dtype == rc::float64].at(name);
  double most = 0;
  for (std::size_t n = 0; n < table().gradients.size(); ++n) {
    auto [updates, next] = optimiser.update(from(table().gradients[n], dtype), state, at);
    state = next;
    at = optim::apply_updates(at, updates);
    const Numbers found = numbers_of(updates);
    double greatest = 0;
    for (const double update : expected[n]) greatest = std::max(greatest, std::abs(update));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double off = std::abs(found[i] - expected[n][i]);
      if (!std::isfinite(off)) return HUGE_VAL;
      if (off > 0) most = std::max(most, off / greatest);
    }
  }
  return most;
}

TEST(OptimValues, OfOptimisersAreThoseOfOptax) {
  const std::map<std::string, optim::Optimiser> all = ours();
  ASSERT_EQ(all.size(), table().updates[0].size());
  // Where no root, power or norm is taken, to the bit.
  const std::set<std::string> exact{
      "sgd", "momentum", "nesterov", "lion", "clip", "lion options", "add_decayed_weights", "scale_by_schedule"};
  for (const auto& [name, optimiser] : all) {
    SCOPED_TRACE(name);
    EXPECT_LE(distance(name, optimiser, rc::float32), exact.contains(name) ? 0 : 2.5e-7);
    EXPECT_LE(distance(name, optimiser, rc::float64), exact.contains(name) ? 0 : 1e-14);
  }
}

}  // namespace
