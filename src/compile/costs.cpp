// Costs of equations, of the machine's memory, and of lanes that are refilled.
#include "compile/costs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iterator>
#include <mutex>
#include <vector>

#include "program/structure.h"
#include "ricci/primitive/formula.h"
#include "ricci/primitive/pack.h"
#include "ricci/primitive/parallel.h"

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
  if (rules.is_view()) return 0;
  if (const auto kernel = structure_as<KernelRun>({&rules, parameters.get()}))
    return kernel->flops(parameters.get(), in);
  if (rules.formula()) return words_of(rules.formula()(parameters.get())) * elements(out[0]);
  if (rules.accumulation()) {
    const Accumulation sums = rules.accumulation()(parameters.get());
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
  if (!e.rules->is_view())
    for (const Types* types : {&in, &out})
      for (const Type& type : *types) cost.bytes += elements(type) * static_cast<double>(element_size(type.dtype));
  cost.flops = flops_of(*e.rules, parameters_in_call(e, program.shared_call_sizes()), in, out);
  return cost;
}

bool is_elementary(const Formula::Step& step) {
  return step.kind == Formula::Kind::word && (step.word == Word::pow || step.word == Word::atan2 ||
                                              (step.word >= Word::cbrt && step.word <= Word::mills));
}

double nanoseconds_in_library(const Program& program, const Equation& e) {
  // Measured on a Zen 4, where values lie in the second cache: so much is done in a nanosecond. An elementary function
  // is some 20 operations, and what does not tell its operations, as softmax, has more of an element.
  constexpr double of_call = 250, of_view = 100, bytes = 64, operations_of_function = 20, unknown_operations = 40;
  const double operations = this_machine().register_bytes, flops_of_product = 0.6 * operations;
  const Rules& rules = *e.rules;
  if (rules.is_view()) return of_view;
  const Cost cost = cost_of(program, e);
  const auto of = [&](double computing) { return of_call + std::max(cost.bytes / bytes, computing); };
  if (rules.kind == Kind::multilinear) return of(cost.flops.value_or(0) / flops_of_product);
  double of_element = cost.flops ? 1 : unknown_operations;
  if (rules.formula()) {
    const Formula formula = rules.formula()(e.parameters.get());
    of_element = words_of(formula) +
                 operations_of_function * static_cast<double>(std::ranges::count_if(formula.steps, is_elementary));
  }
  double count = 0;
  for (const Variable v : e.inputs) count = std::max(count, elements(type_of_variable(program, v)));
  return of(of_element * count / operations);
}

double bytes_moved(const Program& program) {
  double bytes = 0;
  for (const Equation& e : program.body().equations) bytes += cost_of(program, e).bytes;
  return bytes;
}

bool may_stand_in_place(const LanePlan& plan, double operations_of_others) {
  constexpr double most_operations = 4'000;  // LLVM's time grows faster than the length of a function
  if (plan.program.has_lanes || plan.program.turns || plan.stages.size() != 1) return false;
  return plan.operations(plan.stages[0].once) + operations_of_others <= most_operations;
}

// Measured on a Zen 4: an operation of one register takes some 0.16 ns here.
std::optional<Refill> refill_of(const LanePlan& plan) {
  constexpr std::size_t most_elements = 64;  // of a lane, which lie on the stack
  constexpr int most_lanes = 64;             // that one word has a bit for
  constexpr std::int64_t of_look = 20, looks_apart = 50, of_all = 100, of_lane = 24, of_element = 3;
  const LaneProgram& program = plan.program;
  if (!program.turns || program.turns->goes_on < 0 || plan.width == 1 || plan.lanes_together() > most_lanes) return {};
  const std::size_t elements = program.inputs.size() + program.outputs.size();
  const bool has_rows =
      std::ranges::any_of(program.turns->in_rows, &LaneTurns::RowStep::is_stack) ||
      std::ranges::any_of(program.turns->state_of_output, [](int state) { return state == LaneTurns::row; });
  const bool serves_all =
      std::ranges::any_of(program.outputs, [](const Output& y) { return y.place.tensor >= 0 && y.place.stride == 0; });
  const bool is_circular = std::ranges::any_of(program.graph.steps(), &ScalarStep::is_circular);
  if (elements > most_elements || has_rows || serves_all || is_circular) return {};
  const auto of_turn = std::max<std::int64_t>(1, plan.registers * plan.operations(plan.stages[0].turn));
  const auto turns = [&](std::int64_t time) { return time / of_turn + 1; };
  return Refill{.most_turns = turns(of_look * looks_apart),
                .fewest_turns = turns(of_all),
                .of_turn = of_turn,
                .of_all = of_all,
                .of_lane = of_lane + of_element * static_cast<std::int64_t>(elements)};
}

namespace {

/// So many bytes, half of them read.
double measured_bytes_per_second(std::size_t bytes, bool by_all_threads) {
  constexpr std::size_t least = std::size_t{32} << 20;
  const std::size_t half = bytes / 2, times = std::max<std::size_t>(1, least / bytes);
  const std::int64_t pieces = by_all_threads ? kernels::thread_count() : 1;
  const std::size_t piece = half / static_cast<std::size_t>(pieces);
  const std::vector<char> from(half, 1);
  std::vector<char> to(half);
  double best = 0;
  for (int i = 0; i < 4; ++i) {
    const auto start = std::chrono::steady_clock::now();
    kernels::parallel_for({pieces, 1e9}, [&](std::int64_t begin, std::int64_t end) {
      const std::size_t first = static_cast<std::size_t>(begin) * piece;
      const std::size_t count = static_cast<std::size_t>(end - begin) * piece;
      for (std::size_t k = 0; k < times; ++k) std::memcpy(to.data() + first, from.data() + first, count);
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, 2 * static_cast<double>(times * piece * static_cast<std::size_t>(pieces)) / seconds.count());
  }
  return best;
}

}  // namespace

double copied_bytes_per_second(double bytes, bool by_all_threads) {
  constexpr std::size_t levels[] = {16 << 10, 512 << 10, 8 << 20, 128 << 20};  // in each cache, and in none
  static std::mutex mutex;
  static double speeds[2][std::size(levels)] = {};
  std::size_t level = 0;
  while (level + 1 < std::size(levels) && bytes > static_cast<double>(levels[level])) ++level;
  const std::lock_guard lock(mutex);
  double& speed = speeds[by_all_threads ? 1 : 0][level];
  if (speed == 0) speed = measured_bytes_per_second(levels[level], by_all_threads);
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
