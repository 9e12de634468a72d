// Where the time of a plan's run goes, as a table. Start with `ProgramPlan::explain`.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "compile/costs.h"
#include "compile/lane_steps.h"
#include "compile/program_plan.h"
#include "primitive/interpreter.h"
#include "program/running.h"
#include "ricci/primitive/pool.h"
#include "ricci/threads.h"
#include "tensor/thread_context.h"

namespace ricci::compiled {
namespace {

using Row = std::array<std::string, 6>;

std::string in_columns(const std::vector<Row>& rows) {
  std::array<std::size_t, 6> widths = {};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      text += std::string(widths[i] - row[i].size(), ' ') + row[i] + "  ";
    text += row.back() + "\n";
  }
  return text;
}

std::string digits(double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3g%s", value, unit);
  return text;
}
std::string share(double part, double whole) { return digits(100 * part / whole, " %"); }

template <class F>
double seconds_of(const F& f) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  f();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The most bytes at one time that f asks for, results included.
template <class F>
std::size_t most_held(const F& f) {
  const pool::Costs costs;
  f();
  return costs.peak;
}

/// An equation with all its runs.
struct Timed {
  const Equation* equation = nullptr;
  std::string text = {};
  Cost cost = {};  // of all runs
  DType dtype = DType::float32;
  double seconds = 0;
  std::int64_t runs = 0;
  std::deque<Timed> inside = {};  // of the programs that it runs

  void add(const Program& program, const Equation& e, double time) {
    if (runs == 0) {
      equation = &e, text = e.rules->name;
      for (const Variable v : e.outputs) text += " " + to_string(type_of_variable(program, v));
      if (!e.outputs.empty()) dtype = type_of_variable(program, e.outputs[0]).dtype;
    }
    const Cost once = cost_of(program, e);
    cost.bytes += once.bytes;
    cost.flops =
        once.flops && (runs == 0 || cost.flops) ? std::optional(cost.flops.value_or(0) + *once.flops) : std::nullopt;
    seconds += time, ++runs;
  }
  /// The equation among those inside.
  Timed& of(const Equation& e) {
    const auto known = std::ranges::find(inside, &e, &Timed::equation);
    return known == inside.end() ? inside.emplace_back() : *known;
  }
  /// Of one equation inside of those inside.
  std::int64_t most_runs() const {
    std::int64_t most = 0;
    for (const Timed& step : inside)
      for (const Timed& in_turn : step.inside) most = std::max(most, in_turn.runs);
    return most;
  }
};

/// Of a step that takes long, all threads may do a part.
ExplainedStep explained(const Timed& step) {
  constexpr double long_seconds = 50e-6;
  const auto runs = static_cast<double>(step.runs);
  const bool by_all_threads = step.seconds / runs > long_seconds;
  ExplainedStep all{.text = step.text,
                    .runs = step.runs,
                    .seconds = step.seconds,
                    .operations = step.cost.flops,
                    .bytes = step.cost.bytes,
                    .operations_per_second = operations_per_second(step.dtype) * (by_all_threads ? num_threads() : 1),
                    .bytes_per_second = copied_bytes_per_second(step.cost.bytes / runs, by_all_threads)};
  for (const Timed& inner : step.inside) all.inside.push_back(explained(inner));
  return all;
}

/// What memory and arithmetic would allow at best: the larger share is the one that limits the step. One that computes
/// less than is counted reaches the limit, and no more.
std::string share_of_limit(const ExplainedStep& step) {
  const double by_memory = step.bytes / step.bytes_per_second,
               by_arithmetic = step.operations.value_or(0) / step.operations_per_second;
  const auto of_time = [&](double seconds) { return share(std::min(seconds, step.seconds), step.seconds); };
  return by_memory >= by_arithmetic ? of_time(by_memory) + " of memory's speed"
                                    : of_time(by_arithmetic) + " of arithmetic's";
}

void add_rows(std::vector<Row>& rows, const ExplainedStep& step, double total, std::size_t depth) {
  const std::string times = depth == 0 ? "" : std::string(2 * depth, ' ') + std::to_string(step.runs) + " x ";
  rows.push_back({digits(step.seconds * 1e6, ""), share(step.seconds, total),
                  step.operations ? digits(*step.operations, "") : "-", digits(step.bytes, ""), share_of_limit(step),
                  times + step.text});
  for (const ExplainedStep& inner : step.inside) add_rows(rows, inner, total, depth + 1);
}

bool runs_programs(const Program& program) {
  return std::ranges::any_of(program.body().equations,
                             [](const Equation& e) { return is_loop_in_lanes(e) || holds_programs(e.op()); });
}

/// The steps of one run, and under a loop or a branch the steps inside. A loop that is one kernel has no steps inside:
/// the loop is run again, turn by turn, to count its turns.
Timed watched(const Program& program, std::span<const Tensor> inputs) {
  Timed all, *now = &all;
  const auto within = [&](Timed& step, const auto& f) {
    Timed* const before = std::exchange(now, &step);
    f();
    now = before;
  };
  const AroundAllEquations time = [&](const Program& of, const Equation& e, Tensors& operands,
                                      const std::function<void()>& run) {
    Timed& step = now->of(e);
    const bool is_in_lanes = is_loop_in_lanes(e);
    const Tensors kept = is_in_lanes ? operands : Tensors();
    double seconds = 0;
    within(step, [&] { seconds = seconds_of(run); });
    step.add(of, e, seconds);
    if (!is_in_lanes || step.runs > 1) return;
    Types types;
    for (const Tensor& x : kept) types.push_back(type_of(x));
    Timed apart;
    Equation loop = e;
    loop.parameters = parameters_in_call(e, of.shared_call_sizes());
    const KernelCall call = *kernel_call(loop, types);
    within(apart, [&] { (*call.apart)({kept.data(), kept.size()}); });
    const std::int64_t unanswered =
        call.kernel->plan().program.turns->goes_on >= 0 ? 1 : 0;  // the condition is asked once more
    step.text += ", " + std::to_string(apart.most_runs() - unanswered) + " turns";
  };
  const WatchedPrograms watching(&time);
  run_program(program, inputs);
  return all;
}

}  // namespace

Explanation ProgramPlan::explain(const std::shared_ptr<const CallSizes>& sizes, std::span<const Tensor> inputs) const {
  const std::optional<Program> at_sizes = native ? native->make_program_at(sizes) : std::nullopt;
  const Program at_call = at_sizes ? *at_sizes : program.in_call(sizes);
  const With<&ThreadContext::lines_printed> quiet(ThreadContext::all_lines);
  run_program(at_call, inputs);  // so that memory is there, as in later calls
  std::deque<Timed> steps;
  double total = 0;
  run_program(at_call, inputs, [&](const Equation& e, const Tensors&, const std::function<void()>& run) {
    steps.emplace_back().add(at_call, e, seconds_of(run));
    total += steps.back().seconds;
  });
  if (runs_programs(at_call)) {  // timers inside take time
    Timed inside = watched(at_call, inputs);
    for (std::size_t i = 0; i < steps.size() && i < inside.inside.size(); ++i) {
      steps[i].inside = std::move(inside.inside[i].inside);
      steps[i].text = inside.inside[i].text;
    }
  }
  std::vector<Row> rows = {{"us", "share", "flops", "bytes", "of the limit", "step"}};
  std::vector<ExplainedStep> shown;
  for (const Timed& step : steps) shown.push_back(explained(step));
  for (const ExplainedStep& step : shown) add_rows(rows, step, total, 0);
  rows.push_back({digits(total * 1e6, ""), "100 %", "", "", "", "in all, equation by equation"});
  Tensors results;
  const bool runs =
      native && !this_thread.innermost && native->run(sizes, inputs, results);  // so that its code is there
  if (runs && native->has_function_at(sizes)) {
    const double seconds = seconds_of([&] { native->run(sizes, inputs, results); });
    rows.push_back({digits(seconds * 1e6, ""), "", "", "", "", "as one function, which calls run"});
  }
  const double held = static_cast<double>(most_held([&] { run(sizes, inputs); }));
  rows.push_back({"", "", "", digits(held, ""), "", "held at one time beside the arguments, at most"});
  return {in_columns(rows), std::move(shown)};
}

}  // namespace ricci::compiled

namespace ricci {

std::ostream& operator<<(std::ostream& out, const Explanation& explanation) { return out << explanation.text_; }

}  // namespace ricci
