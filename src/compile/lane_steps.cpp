// Which equations go together, and the operation that runs their kernel.
#include "compile/lane_steps.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "compile/apart.h"
#include "compile/axes_apart.h"
#include "compile/costs.h"
#include "compile/levels.h"
#include "compile/switches.h"
#include "control/checks.h"
#include "kernels/elementwise.h"
#include "kernels/strided.h"
#include "primitive/interpreter.h"
#include "program/element_writer.h"
#include "program/programs_run.h"
#include "program/structure.h"
#include "ricci/interruption.h"
#include "tensor/at.h"

namespace ricci::compiled {
namespace {

/// A size of a result: `number + per_lane * lanes`.
struct Extent {
  std::int64_t number, per_lane;
};
struct Result {
  DType dtype;
  std::vector<Extent> sizes;  // but the outer one, which stands in front
  bool has_outer, weak;       // of a loop: a stack of rows has the outer axis, which counts the turns
};

/// An open size in a call: that of an operand, or one of the sizes of the call, or a number.
struct SizeInCall {
  std::int64_t number = 1;
  int operand = -1, axis = -1;
  int of_call = -1;

  bool is_known() const { return operand >= 0 || of_call >= 0; }
  /// `size(operand, axis)` gives that of an operand, as it is known: a Size or a number.
  template <class SizeOf>
  auto in(const Shape& call, const SizeOf& size) const {
    using Known = decltype(size(0, 0));
    if (operand >= 0) return size(operand, axis);
    return of_call >= 0 ? Known(call[at(of_call)]) : Known(number);
  }
};

}  // namespace

/// A group with its kernel.
struct Group {
  std::shared_ptr<const LaneKernel> kernel;
  std::vector<Result> results;
  SizeInCall lanes, outer;
  std::vector<bool> has_outer;  // by operand
  // At each position of an outer axis, or of a loop: with fewer, the equations do better.
  std::int64_t fewest_lanes = 0;
  bool is_pointwise = false;  // with an outer axis, which the lanes go through, too
  ProgramBody whole;          // its symbols and inputs alone: the plan of the whole program holds this group
  Program part;               // to learn what it throws
  ExpandOptions options;

  bool asks_call() const { return lanes.of_call >= 0 || outer.of_call >= 0; }
  Types types(Size lanes, Size outer) const {
    Types types;
    for (const Result& result : results) {
      Shape shape;
      if (result.has_outer) shape.push_back(outer);
      for (const Extent& e : result.sizes)
        shape.push_back(e.per_lane == 0 ? Size(e.number) : Size(e.number) + Size(e.per_lane) * lanes);
      types.push_back({result.dtype, shape, result.weak});
    }
    return types;
  }
  /// `call`: the sizes of the call. False where the equations are to run: there are no lanes or too few of them, or the
  /// kernel gives no results.
  bool run(std::span<const Strided> in, std::span<const Strided> out, const Shape& call) const {
    const auto size = [&](int operand, int axis) { return in[at(operand)].shape[axis]; };
    const std::int64_t count = lanes.in(call, size), times = outer.in(call, size);
    if (count == 0 || times == 0) return false;
    if (kernel->has_turns()) return run_turns(in, out, count);
    if (!options.outer.is_given()) return kernel->run(in, out, count);
    if (std::ranges::any_of(in, kernels::is_empty) || std::ranges::any_of(out, kernels::is_empty)) return false;
    if (is_pointwise) return kernel->run(in, out, count * times);
    if (count < fewest_lanes) return false;
    SmallVector<std::int64_t, 16> of_in, of_out;
    for (std::size_t k = 0; k < in.size(); ++k) of_in.push_back(has_outer[k] ? bytes_of_position(in[k]) : 0);
    for (const Strided& y : out) of_out.push_back(bytes_of_position(y));
    return kernel->run(in, out, count, {times, {of_in.data(), of_in.size()}, {of_out.data(), of_out.size()}});
  }
  /// Throws where lanes are left after the most turns: to go through them once more, equation by equation, takes long.
  bool run_turns(std::span<const Strided> in, std::span<const Strided> out, std::int64_t count) const {
    if (count < fewest_lanes || !kernel->code()) return false;
    const bool holds = kernel->run(in, out, count);
    if (const auto limit = kernel->limit_of_turns(); !holds && limit) raise_limit(*limit);
    return holds;
  }
  [[noreturn]] void raise_limit(std::int64_t limit) const {
    const Equation& loop = part.body().equations[0];
    runs::raise_at_limit(run_as<Turns>(loop)->name, limit, loop.origin);
  }
  /// The part for so many lanes, in numbers. `of_inputs`: the sizes of the call's inputs; none where the lanes alone
  /// are open.
  Program part_in_numbers(std::int64_t count, const Shape& of_inputs) const {
    const std::lock_guard lock(mutex_);
    if (!last_ || last_lanes_ != count || !(last_sizes_ == of_inputs)) {
      last_ = make_part(count, of_inputs);
      last_lanes_ = count, last_sizes_ = of_inputs;
    }
    return *last_;
  }

 private:
  Program make_part(std::int64_t count, const Shape& of_inputs) const {
    const SymbolScope scope(or_those_here(whole.symbols));
    ExpandOptions known = options;
    known.outer = {};
    for (const Size size : of_inputs) known.sizes.push_back(size.raw());
    const LaneSizes sizes(whole, count, known);
    auto body = std::make_unique<ProgramBody>(part.body());
    for (Type& type : body->types) type = sizes.put(type);
    for (Equation& e : body->equations) e.parameters = sizes.put(e, part.body().types), e.has_symbols = false;
    body->symbols = nullptr;
    return Program(Shared<const ProgramBody>(body.release()));
  }
  static std::int64_t bytes_of_position(const Strided& x) {
    return kernels::element_count(x) / x.shape[0] * static_cast<std::int64_t>(element_size(x.dtype));
  }

  mutable std::mutex mutex_;
  mutable std::optional<Program> last_;
  mutable std::int64_t last_lanes_ = 0;
  mutable Shape last_sizes_;
};

namespace {

/// A group as a parameter.
struct GroupParameter {
  std::shared_ptr<const Group> group;
  Shape sizes = {};                   // of the whole program's inputs, where an operand does not tell all that is open
  std::optional<Program> apart = {};  // what runs where the kernel does not; none: the group's equations
  void print_parameter(std::string& out) const { out += std::to_string(group->kernel->steps()); }
  void walk_parameter(ParameterVisitor& visitor) {
    for (Size& size : sizes) visitor.size(size);
    if (apart) visitor.program(*apart);
  }
  bool operator==(const GroupParameter& other) const { return group == other.group && sizes == other.sizes; }
};

/// A group of equations, run by its kernel.
struct LaneStep {
  using kind = Explicit;
  static constexpr const char* name = "lanes";
  static constexpr bool locally_constant = true;  // no rule derives from it
  GroupParameter steps;

  Types type(const Types& in) const {
    const Group& group = *steps.group;
    const auto size = [&](int operand, int axis) { return in[at(operand)].shape[at(axis)]; };
    return group.types(group.lanes.in(steps.sizes, size), group.outer.in(steps.sizes, size));
  }
  void eval(Outputs out, Inputs in) const {
    if (std::ranges::all_of(in, kernels::is_contiguous)) run(out, in);
    else run_copies(out, in);
  }
  /// Elementary functions are taken apart. How many turns a lane takes that has a condition of its own, values tell.
  std::optional<double> flops(const Types& in) const {
    const Group& group = *steps.group;
    const LanePlan& plan = group.kernel->plan();
    const auto size = [&](int operand, int axis) { return in[at(operand)].shape[at(axis)]; };
    const auto lanes = static_cast<double>(group.lanes.in(steps.sizes, size).hint());
    double flops = 0, turns = 1, positions = static_cast<double>(group.outer.in(steps.sizes, size).hint());
    if (const auto& loop = plan.program.turns) {
      if (loop->goes_on >= 0) return std::nullopt;
      turns = loop->count_given < 0 ? static_cast<double>(loop->count) : positions;
      positions = 1;
    }
    for (const Stage& stage : plan.stages)
      flops += static_cast<double>(stage.once.size()) +
               (static_cast<double>(stage.lane.size()) + static_cast<double>(stage.turn.size()) * turns) * lanes;
    return flops * positions;
  }
  Structure structure() const {
    return KernelRun{[](const void* op, const Types& in) { return erase::as<LaneStep>(op).flops(in); }};
  }
  BatchedOutputs batch(const Batch&) const {
    throw TransformError("a program with lane kernels runs outside transforms");
  }

 private:
  /// Requires: the inputs are contiguous.
  void run(Outputs out, Inputs in) const {
    if (!steps.group->run(in, out, steps.sizes)) run_part(out, in);
  }
  void run_copies(Outputs out, Inputs in) const {
    std::vector<Strided> inputs(in.begin(), in.end());
    std::deque<kernels::RowMajorCopy> copies;
    for (Strided& x : inputs)
      if (!kernels::is_contiguous(x)) x = copies.emplace_back(x).view();
    run(out, inputs);
  }
  /// Equation by equation: throws what is wrong with the values, if anything is.
  void run_part(Outputs out, Inputs in) const {
    const auto size = [&](int operand, int axis) { return in[at(operand)].shape[axis]; };
    const std::int64_t lanes = steps.group->lanes.in(steps.sizes, size);
    run_apart(steps.apart ? *steps.apart : steps.group->part_in_numbers(lanes, steps.sizes), out, in);
  }
};

/// Whether the equation computes anything: by views and copies alone, no group is worth a kernel, unless all are taken.
bool computes(const Equation& e, const ExpandOptions& options) {
  if (options.takes_all) return !e.rules->is_view();
  const Rules& rules = *e.rules;
  const bool moves = rules.moves_elements && rules.moves_elements(e.parameters.get()) != 0;
  return rules.element() ? !moves : !std::holds_alternative<std::monostate>(rules.written);
}

/// Whether results depend on which lanes there are, where no input does.
bool counts_lanes(const LaneKernel& kernel) {
  return std::ranges::any_of(kernel.plan().program.graph.steps(),
                             [](const ScalarStep& s) { return s.kind == StepKind::lane || s.kind == StepKind::lanes; });
}

/// Whether an element of a result needs the elements at its own place, and what serves all. `moves`: by operand,
/// whether its elements lie as those of the results do.
bool is_pointwise(const LaneKernel& kernel, const std::vector<bool>& moves) {
  const LaneProgram& program = kernel.plan().program;
  const auto serves_all = [](const Place& p) { return p.stride == 0; };
  const auto is_own = [](const Place& p) { return p.stride == 1 && p.base == 0 && p.per_lane_count == 0; };
  const auto knows_others = [](const ScalarStep& s) {
    return s.kind == StepKind::total || s.kind == StepKind::lane || s.kind == StepKind::lanes ||
           s.kind == StepKind::given;
  };
  return !program.turns && program.required.empty() && std::ranges::none_of(program.graph.steps(), knows_others) &&
         std::ranges::all_of(kernel.places_read(),
                             [&](const Place& p) { return moves[at(p.tensor)] ? is_own(p) : serves_all(p); }) &&
         std::ranges::all_of(program.outputs, [&](const Output& y) { return y.place.tensor < 0 || is_own(y.place); });
}

using Because = NotExpandable::Because;
/// Equations as one that runs a kernel, or why they are not.
using OneStep = std::variant<Equation, NotExpandable>;

class Grouping {
 public:
  /// `lanes`: what they lie along; none: any size.
  Grouping(const Program& program, const ExpandOptions& options, const std::optional<OpenSize>& lanes = {})
      : Grouping(program, options, lanes, 0) {}
  /// Along these lanes. Gives up, with nothing in groups, where fewer equations would be in groups than of `rival`.
  Grouping(const Program& program, const ExpandOptions& options, const OpenSize& lanes, const Grouping& rival)
      : Grouping(program, options, lanes, rival.grouped_) {}
  /// Nothing is grouped: only loops are looked at.
  static Grouping of_loops(const Program& program, const ExpandOptions& options) { return {program, options, Only()}; }
  /// The loop that is equation number `i`, with its turns in the lanes of a kernel, if it can be. `apart`: the same
  /// loop, for where the kernel does not run.
  std::optional<Equation> loop_in_lanes(std::size_t i, const Equation& apart) const {
    if (!runs_as<Turns>(apart)) return std::nullopt;
    const ProgramBody part = part_of({i});
    ProgramBody same = part;
    same.equations = {apart};
    const Program others = with_own_numbers(same);
    for (const OpenSize& lanes : open_sizes()) {
      ExpandOptions options = options_;
      options.lanes = lanes, options.outer = {};
      OneStep loop = with_kernel(part, options, others);
      if (auto* const lanes = std::get_if<Equation>(&loop)) return std::move(*lanes);
    }
    return std::nullopt;
  }

  /// Nothing is left that other lanes could do more for.
  bool does_all_in_lanes() const { return grouped_ == computing_ && options_.lanes.is_given(); }
  /// Whether more equations that compute find a place in groups; where none has lanes, the same number in fewer steps.
  bool does_more_than(const Grouping& other) const {
    if (grouped_ != other.grouped_) return grouped_ > other.grouped_;
    return !other.uses_lanes(other.options_) && steps() < other.steps();
  }
  /// Lanes that fill a register of each floating type.
  std::int64_t lanes_of_registers() const {
    std::int64_t lanes = lanes_in_register(DType::float64, *options_.target);
    for (const Type& type : body_.types)
      if (is_floating(type.dtype)) lanes = std::max(lanes, lanes_in_register(type.dtype, *options_.target));
    return lanes;
  }
  /// All elements are taken apart into one lane, in many steps: code of them takes long, and runs slower than lanes do.
  bool is_long_in_one_lane() const { return !uses_lanes(options_) && is_long(steps_); }

  /// What moves to its reader may keep the reader's group from having a kernel: then nothing moves.
  Program result() {
    const std::vector<int> levels = level_;
    move_to_readers();
    bool all_have_kernels = true;
    const std::size_t work_left = options_.work_left ? *options_.work_left : 0;
    Program moved = put_together(all_have_kernels);
    if (all_have_kernels || levels == level_) return moved;
    level_ = levels;
    if (options_.work_left) *options_.work_left = work_left;
    return put_together(all_have_kernels);
  }

 private:
  struct Only {};
  Grouping(const Program& program, const ExpandOptions& options, Only) : body_(program.body()), options_(options) {}
  Grouping(const Program& program, const ExpandOptions& options, const std::optional<OpenSize>& lanes,
           std::ptrdiff_t fewest)
      : Grouping(program, options, Only()) {
    lanes_ = lanes;
    computing_ = std::ranges::count_if(body_.equations, [&](const Equation& e) { return computes(e, options_); });
    choose_lanes(fewest);
    leave_out_views();
    level_ = levels_of(body_, apart_);
    last_level_ = level_.empty() ? 0 : std::ranges::max(level_);
  }

  Program put_together(bool& all_have_kernels) const {
    auto to = std::make_unique<ProgramBody>(body_);
    to->equations.clear();
    struct Level {
      std::vector<std::size_t> views, once, by_outer, others;  // equations
    };
    std::vector<Level> levels(static_cast<std::size_t>(last_level_) + 1);
    for (std::size_t i = 0; i < body_.equations.size(); ++i) {
      Level& level = levels[static_cast<std::size_t>(level_[i])];
      auto& group = has_outer_[i] ? level.by_outer : level.once;
      (stays_view_[i] ? level.views : apart_[i] ? level.others : group).push_back(i);
    }
    for (const auto& [views, once, by_outer, others] : levels) {
      allow_interruption();
      for (const std::size_t i : views) to->equations.push_back(body_.equations[i]);
      // Equations without the outer axis come first: they read nothing that has it.
      for (const auto* group : {&once, &by_outer})
        add_group(*group, group == &by_outer, to->equations, all_have_kernels);
      for (const std::size_t i : others) to->equations.push_back(body_.equations[i]);
    }
    return Program(Shared<const ProgramBody>(to.release()));
  }

  /// These equations, operands first, as one kernel. Where they are too long for one, each half by itself. What gets no
  /// kernel stands as it is.
  void add_group(const std::vector<std::size_t>& group, bool by_outer, std::vector<Equation>& to,
                 bool& all_have_kernels) const {
    const auto computes_here = [&](std::size_t i) { return computes(body_.equations[i], options_); };
    const std::ptrdiff_t least = options_.takes_all ? 1 : by_outer ? least_of_walked : 2;
    constexpr std::size_t little_work = 2'000;  // a plan that has less left gets no more kernels
    const bool is_done = work_left() < little_work;
    all_have_kernels = all_have_kernels && !is_done;
    if (!is_done && std::ranges::count_if(group, computes_here) >= least) {
      // A quarter more than is allowed: some of it may fall away.
      const bool is_surely_too_long = group.size() > 1 && 4 * steps_of(group) > 5 * most_steps_now();
      OneStep one = is_surely_too_long ? OneStep(NotExpandable{"long", Because::too_long}) : as_one(group, by_outer);
      if (auto* const lanes = std::get_if<Equation>(&one)) return to.push_back(std::move(*lanes));
      if (std::get<NotExpandable>(one).because == Because::too_long && group.size() > 1) {
        const auto middle = group.begin() + half_of(group);
        add_group({group.begin(), middle}, by_outer, to, all_have_kernels);
        return add_group({middle, group.end()}, by_outer, to, all_have_kernels);
      }
      all_have_kernels = false;
    }
    for (const std::size_t i : group) {
      const bool is_alone = !is_done && options_.takes_all && group.size() > 1 && computes_here(i);
      OneStep alone = is_alone ? as_one({i}, by_outer) : OneStep(NotExpandable{});
      auto* const lanes = std::get_if<Equation>(&alone);
      to.push_back(lanes ? std::move(*lanes) : body_.equations[i]);
    }
  }

  static bool is_long(const std::vector<std::size_t>& steps) {
    constexpr std::size_t many = 250;
    return std::accumulate(steps.begin(), steps.end(), std::size_t{0}) > many;
  }
  /// Whether a result of the equation lies along the lanes.
  bool has_lanes(const LaneSizes& sizes, std::size_t i) const {
    return std::ranges::any_of(body_.equations[i].outputs, [&](Variable v) {
      return std::ranges::any_of(body_.types[at(v)].shape, [&](Size size) { return sizes.depends_on_lanes(size); });
    });
  }
  /// Whether anything that may stand in a group does: [205] may be the argument alone, and [40,5] what is computed.
  bool uses_lanes(const ExpandOptions& options) const {
    if (!options.lanes.is_given()) return false;
    const LaneSizes sizes(body_, 3, options);
    for (std::size_t i = 0; i < apart_.size(); ++i)
      if (!apart_[i] && has_lanes(sizes, i)) return true;
    return false;
  }
  std::size_t work_left() const { return options_.work_left ? *options_.work_left : SIZE_MAX; }
  /// Of a kernel that is made now: each step is at least as much work as one plain operation.
  std::size_t most_steps_now() const { return std::min(options_.most_steps, work_left()); }
  std::size_t steps() const { return std::accumulate(steps_.begin(), steps_.end(), std::size_t{0}); }
  std::size_t steps_of(const std::vector<std::size_t>& group) const {
    std::size_t steps = 0;
    for (const std::size_t i : group) steps += steps_[i];
    return steps;
  }
  /// How many equations have half of the steps; some are in each half.
  std::ptrdiff_t half_of(const std::vector<std::size_t>& group) const {
    const std::size_t all = steps_of(group);
    std::size_t steps = 0, count = 0;
    while (count + 1 < group.size() && (count == 0 || 2 * (steps + steps_[group[count]]) <= all))
      steps += steps_[group[count++]];
    return static_cast<std::ptrdiff_t>(count);
  }

  /// Of several open sizes, the one along which most equations are independent; then another to walk around it, if
  /// that makes them more. Lanes along which fewer than `fewest` are independent are passed over.
  void choose_lanes(std::ptrdiff_t fewest) {
    const std::vector<OpenSize> all = open_sizes();
    apart_.assign(body_.equations.size(), true);  // where the guards hold along no axis
    steps_.assign(body_.equations.size(), 0);
    ExpandOptions chosen = options_;
    std::ptrdiff_t most = -1;
    bool is_used = true;  // does anything lie along the chosen lanes?
    const auto try_out = [&](const ExpandOptions& options) {
      if (!LaneSizes(body_, 2, options).choices_hold()) return;  // along another axis they may
      const std::ptrdiff_t least = std::max(most + is_used, fewest);
      std::ptrdiff_t count = computing_;
      std::optional<Expandability> found = expandability(body_, options, [&](std::size_t i) {
        count -= computes(body_.equations[i], options_);
        return count >= least;
      });
      if (!found || count < least) return;
      // One lane that is long must do much more than lanes do.
      if (!options.lanes.is_given() && is_long(found->steps) && count < 2 * most) return;
      most = count;
      apart_ = std::move(found->apart);
      steps_ = std::move(found->steps);
      chosen = options;
    };
    const auto try_lanes = [&](const OpenSize& lanes, const OpenSize& outer) {
      ExpandOptions options = options_;
      options.lanes = lanes, options.outer = outer;
      try_out(options);
    };
    for (const OpenSize& lanes : all) try_lanes(lanes, {});
    is_used = most < 0 || chosen.lanes.number == 0 || uses_lanes(chosen);
    // All may fit into one lane: few examples, or what is computed from a table, of which only single places are read.
    const auto is_large = [&](const OpenSize& size) {
      return size.unknown || size.number > options_.most_unrolled_number;
    };
    if (std::ranges::none_of(all, is_large) || !is_used) try_out(options_);
    is_used = true;
    if (most < computing_)
      for (const auto& [outer, lanes] : frequent_pairs(all)) try_lanes(lanes, outer);
    options_ = chosen;
    grouped_ = most;
    const LaneSizes sizes(body_, 3, options_);
    for (const Equation& e : body_.equations)
      has_outer_.push_back(std::ranges::any_of(e.outputs, [&](Variable v) {
        return std::ranges::any_of(body_.types[at(v)].shape, [&](Size size) { return sizes.is_outer(size); });
      }));
  }
  /// A kernel would copy what it shows of an operand. Where the library alone reads a view, of what lies in memory
  /// anyway, it stays one: of `matmul(x, W)` the library reads W where it lies.
  void leave_out_views() {
    stays_view_.assign(body_.equations.size(), false);
    if (options_.takes_all) return;
    std::vector<bool> is_read_here(body_.types.size()), is_made_here(body_.types.size());
    for (const Variable v : body_.outputs) is_read_here[at(v)] = true;
    for (std::size_t i = body_.equations.size(); i-- > 0;) {
      const Equation& e = body_.equations[i];
      stays_view_[i] = !apart_[i] && e.rules->is_view() && !is_read_here[at(e.outputs[0])];
      if (apart_[i] || stays_view_[i]) continue;
      for (const Variable v : e.inputs) is_read_here[at(v)] = true;
    }
    for (std::size_t i = 0; i < body_.equations.size(); ++i) {
      const Equation& e = body_.equations[i];
      stays_view_[i] = stays_view_[i] && !is_made_here[at(e.inputs[0])];
      if (apart_[i] || stays_view_[i]) continue;
      for (const Variable v : e.outputs) is_made_here[at(v)] = true;
    }
  }
  /// Pairs of open sizes of equations that no group holds: results have the first size in front and the second behind
  /// it, as n and m in x [n, m]. The two most frequent pairs of those that are worth a kernel.
  std::vector<std::pair<OpenSize, OpenSize>> frequent_pairs(const std::vector<OpenSize>& all) const {
    constexpr std::size_t most_pairs = 2;
    const LaneSizes sizes(body_, 2, options_);
    std::map<std::pair<std::size_t, std::size_t>, std::ptrdiff_t> counts;
    for (std::size_t i = 0; i < apart_.size(); ++i) {
      const Equation& e = body_.equations[i];
      if (!apart_[i] || e.outputs.empty() || !computes(e, options_)) continue;
      const Shape& shape = body_.types[at(e.outputs[0])].shape;
      std::vector<std::size_t> open;  // numbers in `all`, by axis
      for (const Size size : shape) {
        const auto is = [&](const OpenSize& o) { return sizes.is(size, o); };
        open.push_back(static_cast<std::size_t>(std::ranges::find_if(all, is) - all.begin()));
      }
      if (open.empty() || open[0] == all.size()) continue;
      std::set<std::size_t> behind(open.begin() + 1, open.end());
      behind.erase(all.size()), behind.erase(open[0]);
      for (const std::size_t lanes : behind) ++counts[{open[0], lanes}];
    }
    std::vector<std::pair<std::ptrdiff_t, std::pair<std::size_t, std::size_t>>> frequent;
    for (const auto& [pair, count] : counts)
      if (count >= (options_.takes_all ? 1 : least_of_walked)) frequent.emplace_back(-count, pair);
    std::ranges::sort(frequent);
    if (frequent.size() > most_pairs) frequent.resize(most_pairs);
    std::vector<std::pair<OpenSize, OpenSize>> pairs;
    for (const auto& [count, pair] : frequent) pairs.emplace_back(all[pair.first], all[pair.second]);
    return pairs;
  }
  std::vector<OpenSize> open_sizes() const {
    if (lanes_) return {*lanes_};
    std::vector<OpenSize> all;
    const LaneSizes sizes(body_, 3, options_);
    for (const int unknown : sizes.unknowns()) all.push_back({.unknown = unknown});
    for (const std::int64_t number : large_numbers()) all.push_back({.number = number});
    return all;
  }
  /// A kernel of fewer equations gains too little on them for what it costs to be made.
  static constexpr std::ptrdiff_t least_of_walked = 4;
  /// Sizes that stand in types as larger numbers, and numbers of examples that fill a register, or half of a long one:
  /// at most four, the most frequent first.
  std::vector<std::int64_t> large_numbers() const {
    std::map<std::int64_t, int> counts;
    constexpr std::int64_t few = 8;
    const std::int64_t fewest_examples = std::min(few, lanes_of_registers());
    for (std::size_t v = 0; v < body_.types.size(); ++v) {
      const Shape& shape = body_.types[v].shape;
      const std::size_t axes_of_examples = body_.vmaps.of(static_cast<Variable>(v)).size();
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const bool is_large = shape[axis].raw() > options_.most_unrolled_number;
        const bool has_examples = axis < axes_of_examples && shape[axis].raw() >= fewest_examples;
        if (!shape[axis].is_symbol() && (is_large || has_examples)) ++counts[shape[axis].raw()];
      }
    }
    std::vector<std::int64_t> numbers;
    for (const auto& [number, count] : counts) numbers.push_back(number);
    std::ranges::stable_sort(numbers, [&](std::int64_t a, std::int64_t b) { return counts[a] > counts[b]; });
    if (numbers.size() > 4) numbers.resize(4);
    return numbers;
  }

  /// What is not larger to read than its results are is made where it is read first: so small values, and what is
  /// spread out of them, are no results of a group before.
  void move_to_readers() {
    constexpr int nobody = std::numeric_limits<int>::max();
    constexpr std::int64_t many_lanes = 1000;
    constexpr double small = 64;
    const LaneSizes sizes(body_, many_lanes, options_);
    const auto weight = [&](const auto& variables) {
      double all = 0;
      for (const Variable v : variables) {
        double elements = 1;
        for (const Size size : sizes.put(body_.types[at(v)]).shape) elements *= static_cast<double>(size.raw());
        if (elements > small) all += elements;
      }
      return all;
    };
    std::vector<int> reader(body_.types.size(), nobody);
    for (const Variable v : body_.outputs) reader[at(v)] = 0;
    for (std::size_t i = body_.equations.size(); i-- > 0;) {
      const Equation& e = body_.equations[i];
      int first = nobody;
      for (const Variable v : e.outputs) first = std::min(first, reader[at(v)]);
      const bool moves = !apart_[i] && first != nobody && first > level_[i] && weight(e.inputs) <= weight(e.outputs);
      if (moves) level_[i] = first;
      for (const Variable v : e.inputs) reader[at(v)] = std::min(reader[at(v)], level_[i]);
    }
  }

  /// These equations with what they read and what others read of them.
  ProgramBody part_of(const std::vector<std::size_t>& equations) const {
    std::vector<bool> made(body_.types.size()), read(body_.types.size()), is_number(body_.types.size());
    for (const Constant& c : body_.constants) is_number[at(c.variable)] = true;
    ProgramBody part{.symbols = body_.symbols,
                     .types = body_.types,
                     .inputs = {},
                     .constants = body_.constants,
                     .captures = {},
                     .equations = {},
                     .outputs = {},
                     .vmaps = body_.vmaps};
    std::vector<bool> is_inside(body_.equations.size());
    for (const std::size_t i : equations) {
      const Equation& e = body_.equations[i];
      is_inside[i] = true;
      for (const Variable v : e.inputs) {
        if (!made[at(v)] && !read[at(v)] && !is_number[at(v)]) part.inputs.push_back(v);
        read[at(v)] = true;
      }
      for (const Variable v : e.outputs) made[at(v)] = true;
      part.equations.push_back(e);
    }
    std::vector<bool> wanted(body_.types.size());
    for (const Variable v : body_.outputs) wanted[at(v)] = true;
    for (std::size_t i = 0; i < body_.equations.size(); ++i)
      if (!is_inside[i])
        for (const Variable v : body_.equations[i].inputs) wanted[at(v)] = true;
    for (const std::size_t i : equations)
      for (const Variable v : body_.equations[i].outputs)
        if (wanted[at(v)]) part.outputs.push_back(v);
    return part;
  }
  /// Made once, though the groups are put together twice. `by_outer`: for one position of the outer axis after the
  /// other.
  OneStep as_one(const std::vector<std::size_t>& equations, bool by_outer) const {
    const auto known = made_.find({equations, by_outer});
    if (known != made_.end()) {
      const auto& [step, work] = known->second;
      if (work > work_left()) return NotExpandable{"many steps", Because::no_work_left};
      if (options_.work_left) *options_.work_left -= work;
      return step;
    }
    const std::size_t before = work_left();
    OneStep made = made_one(equations, by_outer);
    const auto* const why = std::get_if<NotExpandable>(&made);
    if (!why || why->because != Because::no_work_left)
      made_.emplace(std::pair(equations, by_outer), std::pair(made, before - work_left()));
    return made;
  }
  OneStep made_one(const std::vector<std::size_t>& equations, bool by_outer) const {
    const ProgramBody part = part_of(equations);
    ExpandOptions options = options_;
    if (!by_outer) options.outer = {};
    const LaneSizes sizes(body_, 3, options_);
    const bool some_have_lanes = std::ranges::any_of(equations, [&](std::size_t i) { return has_lanes(sizes, i); });
    if (by_outer && !some_have_lanes) {
      options.lanes = options.outer, options.outer = {};
      OneStep along_outer = with_kernel(part, options);
      if (std::holds_alternative<Equation>(along_outer)) return along_outer;
      options = options_;
    }
    return with_kernel(part, options);
  }

  /// `apart`: the part is one loop, whose turns the kernel runs; this runs where the kernel does not.
  OneStep with_kernel(const ProgramBody& part, const ExpandOptions& options,
                      const std::optional<Program>& apart = {}) const {
    const LaneSizes more(body_, 3, options), fewer(body_, 2, options);
    if (part.inputs.empty()) return NotExpandable{"it reads nothing"};
    if (!more.choices_hold() || !fewer.choices_hold()) return NotExpandable{"it holds for some numbers of lanes alone"};
    const std::vector<Size> of_call = LaneSizes::of_inputs(body_, options);
    auto group = std::make_shared<Group>();
    group->has_outer.resize(part.inputs.size());
    for (std::size_t i = 0; i < part.inputs.size(); ++i) {
      const Shape& shape = body_.types[at(part.inputs[i])].shape;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const SizeInCall here{.operand = static_cast<int>(i), .axis = static_cast<int>(axis)};
        if (group->lanes.operand < 0 && more.is_lane(shape[axis])) group->lanes = here;
        if (!more.is_outer(shape[axis])) continue;
        group->outer = here;
        group->has_outer[i] = true;
      }
    }
    const auto find_in_call = [&](SizeInCall& size, const auto& is) {
      const auto found = std::ranges::find_if(of_call, is);
      if (!size.is_known() && found != of_call.end()) size.of_call = static_cast<int>(found - of_call.begin());
    };
    const auto find_lanes = [&] {
      if (options.lanes.unknown) find_in_call(group->lanes, [&](Size size) { return more.is_lane(size); });
      return group->lanes.is_known() || options.lanes.number > 0;
    };
    if (options.outer.unknown) find_in_call(group->outer, [&](Size size) { return more.is_outer(size); });
    for (const Variable v : part.outputs) {
      const Type& type = body_.types[at(v)];
      const bool has_axes = type.shape.rank() > 0;
      const bool has_outer = has_axes && (apart ? more.is_open(type.shape[0]) : more.is_outer(type.shape[0]));
      Result result{type.dtype, {}, has_outer, type.weak};
      for (std::size_t axis = result.has_outer ? 1 : 0; axis < type.shape.size(); ++axis) {
        Size three = type.shape[axis], two = three;
        more.put(three), fewer.put(two);
        const std::int64_t per_lane = three.raw() - two.raw();
        if (per_lane != 0 && !find_lanes()) return NotExpandable{"no operand tells how many lanes there are"};
        result.sizes.push_back({three.raw() - 3 * per_lane, per_lane});
      }
      group->results.push_back(result);
    }
    if (options.outer.is_given()) {
      if (options.outer.number > 0) group->outer = {.number = options.outer.number};
      const bool all_have_outer = std::ranges::all_of(group->results, &Result::has_outer);
      if (!all_have_outer || (!group->outer.is_known() && options.outer.number == 0))
        return NotExpandable{"a result leaves the outer axis, or no operand has it"};
    }
    group->part = with_own_numbers(part);
    const MadeKernel made =
        apart ? turn_kernel(group->part.body(), body_, options) : lane_kernel(group->part.body(), body_, options);
    const auto* const kernel = std::get_if<std::shared_ptr<const LaneKernel>>(&made);
    if (!kernel) return std::get<NotExpandable>(made);
    if (counts_lanes(**kernel) && !find_lanes()) return NotExpandable{"no operand tells how many lanes there are"};
    if (apart && std::ranges::any_of(group->results, &Result::has_outer)) {
      const LaneTurns& turns = *(*kernel)->plan().program.turns;
      if (turns.count_given < 0) return NotExpandable{"no operand tells how many turns there are"};
      group->outer = {.operand = (*kernel)->plan().program.givens[at(turns.count_given)].tensor, .axis = 0};
    }
    if (options.lanes.number > 0) group->lanes = {.number = options.lanes.in_call()};
    if (options_.work_left) *options_.work_left -= (*kernel)->work();
    group->kernel = *kernel;
    group->fewest_lanes = apart ? (*kernel)->fewest_lanes_of_turns()
                                : (*kernel)->fewest_lanes(std::ranges::count_if(
                                      part.equations, [&](const Equation& e) { return computes(e, options_); }));
    const auto has_both = [&](Variable v) {
      const Shape& shape = body_.types[at(v)].shape;
      return shape.rank() == 2 && more.is_outer(shape[0]) && more.is_lane(shape[1]);
    };
    std::vector<bool> moves;
    for (const Variable v : part.inputs) moves.push_back(has_both(v));
    group->is_pointwise = options.outer.is_given() && moves == group->has_outer &&
                          std::ranges::all_of(part.outputs, has_both) && is_pointwise(**kernel, moves);
    const bool asks_call = group->asks_call();
    group->whole.symbols = body_.symbols;
    group->whole.types = body_.types;
    group->whole.inputs = body_.inputs;
    group->options = options;
    LaneStep step{{std::move(group), {}, apart}};
    if (asks_call || more.unknowns().size() > (more.has_lanes() && options.lanes.number == 0 ? 1U : 0U))
      for (const Size size : of_call) step.steps.sizes.push_back(size);
    const bool has_symbols = (apart && part.equations[0].has_symbols) ||
                             std::ranges::any_of(step.steps.sizes, [](Size size) { return size.is_symbol(); });
    Equation e{
        .rules = &rules_of<LaneStep>, .parameters = own(step), .inputs = {}, .outputs = {}, .has_symbols = has_symbols};
    for (const Variable v : part.inputs) e.inputs.push_back(v);
    for (const Variable v : part.outputs) e.outputs.push_back(v);
    return e;
  }

  const ProgramBody& body_;
  ExpandOptions options_;
  std::vector<int> level_;  // by equation
  std::vector<bool> apart_, has_outer_, stays_view_;
  std::vector<std::size_t> steps_;  // of one lane
  /// By the equations and whether they are walked: the kernel, and what it took of the steps left.
  mutable std::map<std::pair<std::vector<std::size_t>, bool>, std::pair<OneStep, std::size_t>> made_;
  std::optional<OpenSize> lanes_;
  std::ptrdiff_t computing_ = 0, grouped_ = 0;  // equations; those of them that may stand in groups
  int last_level_ = 0;
};

/// Whether programs stand in it that run again and again, or one of several.
bool turns_or_branches(const Equation& e) { return repeats_programs(e) || runs_as<Branches>(e); }

/// Puts kernels into the programs that an operation runs.
struct PutKernels final : ParameterVisitor {
  const ExpandOptions& options;
  explicit PutKernels(const ExpandOptions& options) : ParameterVisitor(Mode::edits), options(options) {}
  void program(Program& program) override { program = with_kernels_throughout(program, options); }
};

}  // namespace

Program with_kernels_throughout(const Program& program, const ExpandOptions& options) {
  const auto runs_programs = [](const Equation& e) { return turns_or_branches(e) || program_apart(e); };
  const Program made = with_lane_kernels(program, options);
  if (!makes_kernels() || std::ranges::none_of(made.body().equations, runs_programs)) return made;
  ExpandOptions inside = options;
  inside.takes_all = true;
  inside.most_steps = 2'000, inside.most_of_one = 512;
  auto body = std::make_unique<ProgramBody>(made.body());
  const Grouping loops = Grouping::of_loops(made, options);
  for (std::size_t i = 0; i < body->equations.size(); ++i) {
    Equation& e = body->equations[i];
    if (!runs_programs(e)) continue;
    PutKernels put(turns_or_branches(e) ? inside : options);
    e.parameters = {e.rules->parameters, e.parameters.get(), put};
    if (std::optional<Equation> lanes = loops.loop_in_lanes(i, e)) e = std::move(*lanes);
  }
  return Program(Shared<const ProgramBody>(body.release()));
}

namespace {

/// The program with the kernels of `made`, for which axes were told apart; all else is as it was.
Program with_kernels_of(const Program& made, const Program& program) {
  auto body = std::make_unique<ProgramBody>(made.body());
  body->types = program.body().types;
  std::map<Variable, const Equation*> by_result;
  for (const Equation& e : program.body().equations)
    if (!e.outputs.empty()) by_result[e.outputs[0]] = &e;
  for (Equation& e : body->equations) {
    const auto before = e.outputs.empty() ? by_result.end() : by_result.find(e.outputs[0]);
    if (before != by_result.end() && before->second->rules == e.rules) e = *before->second;
  }
  return Program(Shared<const ProgramBody>(body.release()));
}

bool is_left_out(const char* pass) { return is_listed("RICCI_COMPILE_WITHOUT", pass); }

/// Where a value has several axes of one size, the lanes may lie along one of them.
Program grouped(const Program& program, const ExpandOptions& options) {
  Grouping plain(program, options);
  const bool is_long = plain.is_long_in_one_lane();
  if (plain.does_all_in_lanes() && !is_long) return plain.result();
  const std::int64_t fewest = plain.lanes_of_registers();
  if (is_long && fewest <= options.most_unrolled_number && !is_left_out("smaller_axes")) {
    ExpandOptions along_smaller = options;
    along_smaller.most_unrolled_number = fewest - 1;
    Grouping smaller(program, along_smaller);
    if (smaller.does_more_than(plain)) return smaller.result();
  }
  if (is_left_out("axes_apart")) return plain.result();
  std::deque<Program> apart;
  std::optional<Grouping> best;
  for (AxesApart& axes : axes_told_apart(program.body(), options, fewest)) {
    apart.emplace_back(Shared<const ProgramBody>(new ProgramBody(std::move(axes.body))));
    const Grouping& rival = best ? *best : plain;
    Grouping along(apart.back(), options, axes.lanes, rival);
    if (along.does_more_than(rival)) best.emplace(std::move(along));
  }
  return best ? with_kernels_of(best->result(), program) : plain.result();
}

}  // namespace

Program with_lane_kernels(const Program& program, const ExpandOptions& options) try {
  if (!makes_kernels() || program.equations() == 0) return program;
  const SymbolScope scope(or_those_here(program.body().symbols));
  const auto kernels = [](const Program& p) {
    return std::ranges::count(p.body().equations, &rules_of<LaneStep>, &Equation::rules);
  };
  // What is left over may be independent along another axis.
  constexpr int most_rounds = 4;
  Program last = program;
  for (int round = 0; round < most_rounds; ++round) {
    Program next = grouped(last, options);
    const bool has_more = kernels(next) > kernels(last), has_rest = next.equations() > 1;
    last = std::move(next);
    if (!has_more || !has_rest) break;
  }
  return last;
} catch (const NotExpandable&) { return program; }

namespace {
void make_code_of(const Program& program, const std::atomic<bool>* is_dropped, bool is_in_loop) {
  for (const Equation& e : program.body().equations) {
    if (is_dropped && *is_dropped) return;
    allow_interruption();
    if (e.rules != &rules_of<LaneStep>) {
      const bool repeats = is_in_loop || repeats_programs(e);
      for_each_program(e.op(), [&](const Program& inner) { make_code_of(inner, is_dropped, repeats); });
      continue;
    }
    const LaneKernel& kernel = *erase::as<LaneStep>(e.parameters.get()).steps.group->kernel;
    if (!is_in_loop || !may_stand_in_place(kernel.plan(), 0)) kernel.code();
  }
}
}  // namespace

void make_code(const Program& program, const std::atomic<bool>* is_dropped) {
  make_code_of(program, is_dropped, false);
}

bool is_loop_in_lanes(const Equation& e) {
  return e.rules == &rules_of<LaneStep> && erase::as<LaneStep>(e.parameters.get()).steps.apart;
}

std::optional<KernelCall> kernel_call(const Equation& e, const Types& operands) {
  if (e.rules != &rules_of<LaneStep>) return std::nullopt;
  const LaneStep& step = erase::as<LaneStep>(e.parameters.get());
  const Group& group = *step.steps.group;
  const auto size = [&](int operand, int axis) { return operands[at(operand)].shape[at(axis)]; };
  KernelCall call{.kernel = group.kernel,
                  .lanes = Size(group.lanes.in(step.steps.sizes, size)).raw(),
                  .positions = Size(group.outer.in(step.steps.sizes, size)).raw(),
                  .has_outer = group.has_outer,
                  .result_has_outer = {},
                  .has_too_few_lanes = false};
  if (group.kernel->has_turns()) call.positions = 1;
  const bool has_fewest = group.options.outer.is_given() || group.kernel->has_turns();
  if (group.is_pointwise) {
    call.lanes *= std::exchange(call.positions, 1);
    call.has_outer.assign(call.has_outer.size(), false);
  }
  call.has_too_few_lanes = has_fewest && !group.is_pointwise && call.lanes < group.fewest_lanes;
  call.apart = step.steps.apart, call.equations = group.part.equations();
  for (const Result& result : group.results)
    call.result_has_outer.push_back(result.has_outer && !group.kernel->has_turns() && !group.is_pointwise);
  return call;
}

std::optional<KernelAlong> kernel_along(const Equation& e) {
  if (e.rules != &rules_of<LaneStep>) return std::nullopt;
  const Group& group = *erase::as<LaneStep>(e.parameters.get()).steps.group;
  return KernelAlong{group.kernel, group.options.lanes, group.options.outer};
}

OneKernel::OneKernel(std::shared_ptr<const Group> group, SmallVector<int, 8> operands)
    : group_(std::move(group)), operands_(std::move(operands)) {
  if (!group_->lanes.is_known() && !group_->outer.is_known())
    types_ = group_->types(group_->lanes.number, group_->outer.number);
}

std::optional<OneKernel> OneKernel::of(const Program& program) {
  const ProgramBody& body = program.body();
  if (body.equations.size() != 1 || body.equations[0].rules != &rules_of<LaneStep>) return std::nullopt;
  const Equation& e = body.equations[0];
  const auto& group = erase::as<LaneStep>(e.parameters.get()).steps.group;
  if (group->asks_call() || !std::ranges::equal(e.outputs, body.outputs)) return std::nullopt;
  SmallVector<int, 8> operands;
  for (const Variable v : e.inputs) {
    const auto input = std::ranges::find(body.inputs, v);
    if (input == body.inputs.end()) return std::nullopt;
    operands.push_back(static_cast<int>(input - body.inputs.begin()));
  }
  return OneKernel(group, std::move(operands));
}

bool OneKernel::run(std::span<const Tensor> inputs, Tensors& results) const {
  SmallVector<Strided, 8> in, out;
  for (const int i : operands_) {
    const Value& value = *value_of(inputs[at(i)]);
    if (value.kind != ValueKind::array) return false;
    in.push_back(static_cast<const Array&>(value).strided());
    if (!kernels::is_contiguous(in.back())) return false;
  }
  const auto make = [&](const Types& types) {
    for (const Type& type : types) {
      ArrayRef array = make_array(type);
      out.push_back(array->strided());
      results.push_back(make_tensor(std::move(array), 0));
    }
  };
  const auto size = [&](int operand, int axis) { return in[at(operand)].shape[axis]; };
  if (types_) make(*types_);
  else make(group_->types(group_->lanes.in({}, size), group_->outer.in({}, size)));
  const bool holds = group_->run({in.data(), in.size()}, {out.data(), out.size()}, {});
  if (!holds) results.clear();
  return holds;
}

}  // namespace ricci::compiled
