// Which size is that of the lanes, and whether numbers for the others are worth it.
#include "compile/known_sizes.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "compile/costs.h"
#include "compile/expansion.h"
#include "compile/folding.h"
#include "compile/lane_steps.h"

namespace ricci::compiled {
namespace {

/// Steps run one by one: equations outside kernels, and kernels, also in the programs of loops and branches.
std::size_t count_steps(const Program& program) {
  std::size_t count = program.equations();
  for (const Equation& e : program.body().equations)
    if (!is_loop_in_lanes(e)) for_each_program(e.op(), [&](const Program& p) { count += count_steps(p); });
  return count;
}

/// What a plan is in a call.
struct InCall {
  std::size_t steps;   // a kernel that has too few lanes counts as its equations, which run
  double nanoseconds;  // roughly; 0 where programs run again and again
};
InCall in_call(const Program& program, const std::shared_ptr<const CallSizes>& call) {
  constexpr double of_kernel = 150, of_equation = 400;
  const Program at_sizes = resolved(program.in_call(call));
  InCall all{count_steps(program), 0};
  bool runs_programs = false;
  for (const Equation& e : at_sizes.body().equations) {
    runs_programs = runs_programs || holds_programs(e.op());
    const auto kernel = kernel_call(e, operand_types(at_sizes.body(), e));
    if (kernel && kernel->has_too_few_lanes) {
      all.steps += kernel->equations - 1;
      all.nanoseconds += of_equation * static_cast<double>(kernel->equations);
    } else if (kernel) {
      all.nanoseconds +=
          of_kernel + kernel->kernel->nanoseconds(kernel->lanes) * static_cast<double>(kernel->positions);
    } else {
      all.nanoseconds += nanoseconds_in_library(at_sizes, e);
    }
  }
  if (runs_programs) all.nanoseconds = 0;
  return all;
}

/// With lanes enough, there is nothing to look for.
bool is_one_kernel(const Program& program, const std::shared_ptr<const CallSizes>& call) {
  const Program at_sizes = resolved(program.in_call(call));
  const ProgramBody& body = at_sizes.body();
  if (body.equations.size() != 1) return false;
  const auto kernel = kernel_call(body.equations[0], operand_types(body, body.equations[0]));
  return kernel && !kernel->has_too_few_lanes;
}

/// The unknowns that are large enough for lanes along them, the largest first. A size that the function joins with a
/// number is that number, and no symbol.
std::vector<int> unknowns_for_lanes(std::span<const Size> sizes, const Program& program, const ExpandOptions& options) {
  constexpr std::int64_t fewest_lanes = 16;
  constexpr std::size_t most_tried = 2;
  const std::vector<Size> symbols = options.table->inputs();
  std::vector<std::pair<std::int64_t, int>> found;
  const LaneSizes all(program.body(), 2, options);
  for (const int unknown : all.unknowns()) {
    const auto is_it = [&](Size size) { return size.is_symbol() && options.table->unknown_of(size) == unknown; };
    const auto place = std::ranges::find_if(symbols, is_it) - symbols.begin();
    const std::int64_t size = sizes[static_cast<std::size_t>(place)].raw();
    if (size >= fewest_lanes) found.emplace_back(-size, unknown);
  }
  std::ranges::stable_sort(found, {}, [](const auto& unknown) { return unknown.first; });
  if (found.size() > most_tried) found.resize(most_tried);
  std::vector<int> unknowns;
  for (const auto& [size, unknown] : found) unknowns.push_back(unknown);
  return unknowns;
}

/// By size of the table: its number; -1: it stays open.
std::vector<std::int64_t> numbers_of(std::span<const Size> sizes, const SymbolTable& table, int lanes,
                                     std::int64_t most) {
  const std::vector<Size> symbols = table.inputs();
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool is_open = sizes[i].raw() > most || (symbols[i].is_symbol() && table.unknown_of(symbols[i]) == lanes);
    numbers.push_back(is_open ? -1 : sizes[i].raw());
  }
  return numbers;
}

/// LLVM makes code of so many steps in a tenth of a second or two, which a later call may have to wait for. The work of
/// reading and writing elements comes besides.
constexpr std::size_t most_steps = 3'000, most_work = 12'000;

/// Whether all that stands in kernels outside of loops has at most so many steps, roughly. Else only a part would have
/// kernels, after long work.
bool fits(const Program& program, ExpandOptions options, int lanes) try {
  options.lanes.unknown = lanes;
  options.most_steps = most_steps;
  if (!LaneSizes(program.body(), 2, options).choices_hold()) return false;
  const std::vector<std::size_t> steps = expandability(program.body(), options).steps;
  return std::accumulate(steps.begin(), steps.end(), std::size_t{0}) <= most_steps;
} catch (const NotExpandable&) { return false; }  // a number that has no element

}  // namespace

std::optional<Program> with_kernels_at(const std::shared_ptr<const CallSizes>& call, const Program& program,
                                       const Program& planned) {
  std::optional<Program> best;
  if (is_one_kernel(planned, call)) return best;
  constexpr double much_longer = 1.6;  // than what has more steps: times are rough
  InCall least = in_call(planned, call);
  const ExpandOptions options{.table = call->shared_table()};
  for (const int lanes : unknowns_for_lanes(call->inputs(), program, options)) {
    ExpandOptions known = options;
    known.sizes = numbers_of(call->inputs(), call->table(), lanes, options.most_of_lane);
    known.work_left = std::make_shared<std::size_t>(most_work);
    if (!fits(program, known, lanes)) continue;
    Program at_sizes = with_kernels_throughout(program, known);
    const InCall found = in_call(at_sizes, call);
    const bool takes_longer = least.nanoseconds > 0 && found.nanoseconds > much_longer * least.nanoseconds;
    if (found.steps < least.steps && !takes_longer) least = found, best = std::move(at_sizes);
  }
  return best;
}

}  // namespace ricci::compiled
