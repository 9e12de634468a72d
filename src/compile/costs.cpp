// Costs of equations, and of the machine's memory.
#include "compile/costs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "ricci/primitive/formula.h"
#include "ricci/primitive/pack.h"

namespace ricci::compiled {
namespace {

double elements(const Type& type) { return static_cast<double>(type.shape.numel().hint()); }

double words_of(const Formula& formula) {
  return static_cast<double>(std::ranges::count_if(formula.steps, [](const Formula::Step& step) {
    return step.kind == Formula::Kind::word || step.kind == Formula::Kind::select;
  }));
}

std::optional<double> flops_of(const Rules& rules, const OwnedParameters& parameters, const Types& in,
                               const Types& out) {
  if (rules.is_view) return 0;
  if (const FlopsOf own = Facts<FlopsOf>::of(rules)) return own(parameters.get(), in);
  if (rules.formula) return words_of(rules.formula(parameters.get())) * elements(out[0]);
  if (rules.accumulation) {
    const Accumulation sums = rules.accumulation(parameters.get());
    return std::max(1., words_of(sums.add)) * elements(in[0]);
  }
  if (rules.kind == Kind::multilinear && in.size() == 2 && elements(out[0]) > 0)
    // Of matrices [m,k] and [k,n]: mk kn / mn is k squared. Of a batch it is too much by its root.
    return 2 * elements(out[0]) * std::sqrt(elements(in[0]) * elements(in[1]) / elements(out[0]));
  return std::nullopt;
}

}  // namespace

Cost cost_of(const Program& program, const Equation& e) {
  Types in, out;
  for (const Variable v : e.inputs) in.push_back(type_of_variable(program, v));
  for (const Variable v : e.outputs) out.push_back(type_of_variable(program, v));
  Cost cost;
  if (!e.rules->is_view)
    for (const Types* types : {&in, &out})
      for (const Type& type : *types) cost.bytes += elements(type) * static_cast<double>(element_size(type.dtype));
  cost.flops = flops_of(*e.rules, parameters_in_call(e, program.shared_call_sizes()), in, out);
  return cost;
}

double copied_bytes_per_second() {
  static const double speed = [] {
    constexpr std::size_t bytes = std::size_t{64} << 20;
    const std::vector<char> from(bytes, 1);
    std::vector<char> to(bytes);
    double best = 0;
    for (int i = 0; i < 3; ++i) {
      const auto start = std::chrono::steady_clock::now();
      std::memcpy(to.data(), from.data(), bytes);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      best = std::max(best, 2 * static_cast<double>(bytes) / seconds.count());
    }
    return best;
  }();
  return speed;
}

namespace {

/// By chains of multiplications and additions that do not wait for each other.
template <class E>
double measured_operations_per_second() {
  using P = scalar::Pack<E>;
  constexpr int chains = 8, rounds = 20'000;
  constexpr double count = 2.0 * chains * rounds * static_cast<double>(sizeof(P) / sizeof(E));
  double best = 0;
  volatile E factor = E(0.999), sum = 0;
  for (int i = 0; i < 5; ++i) {
    P x[chains];
    for (int k = 0; k < chains; ++k) x[k] = P(E(k));
    const P a(factor), b(factor);
    const auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; ++round)
      for (P& chain : x) chain = chain * a + b;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    for (const P& chain : x) sum = sum + chain[0];
    best = std::max(best, count / seconds.count());
  }
  return best;
}

}  // namespace

double operations_per_second(DType dtype) {
  static const double of_float = measured_operations_per_second<float>();
  static const double of_double = measured_operations_per_second<double>();
  return element_size(dtype) > sizeof(float) ? of_double : of_float;
}

}  // namespace ricci::compiled
