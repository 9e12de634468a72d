// The regions of a nest, their kernels, and their runs.
#include "compile/nest.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "primitive/interpreter.h"
#include "program/element_sources.h"
#include "ricci/interruption.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::compiled {
namespace {

constexpr std::size_t most_regions = 130, most_reads = 100;
constexpr std::int64_t few_positions = 512;  // which one index after the other serves
constexpr std::int64_t fewest_lanes = 8;

/// Thrown: along this range a register's elements do not lie as code reads them.
struct NoLanes {};

/// A number of a graph as bits; none where it is no number.
std::optional<std::uint64_t> finished(const SumOfRuns& sum, double total) {
  ScalarGraph graph;
  const std::array<Node, 2> of{graph.number(sum.added_in, static_cast<long double>(total)),
                               graph.number(sum.added_in, static_cast<long double>(sum.elements))};
  const Node n = graph.convert(sum.type.dtype, graph.read(sum.finish, sum.added_in, of));
  return graph.is_number(n) ? std::optional(graph[n].payload) : std::nullopt;
}

SumOfRuns sum_of(const ProgramBody& body, const Equation& e) {
  const Type &type = body.types[at(e.outputs[0])], &x = body.types[at(e.inputs[0])];
  return {type, computed_dtype(type.dtype), e.rules->accumulation()(e.parameters.get()).finish, x.shape.numel().raw()};
}

/// One region, for lanes along one range.
class RegionMaker {
 public:
  RegionMaker(const ProgramBody& body, const SaidBy& said, const NestResults& results, const Ranges& ranges, int lanes,
              std::int64_t unrolled)
      : body_(body),
        results_(results),
        region_{.ranges = ranges, .first = ranges.begin[0], .unrolled = unrolled, .lanes = lanes, .in = {}, .out = {}},
        said_(body, said, region_.ranges, program_.graph) {
    region_.ranges.begin[0] = 0, region_.ranges.end[0] = ranges.size(0) / unrolled;
    for (std::size_t k = 1; k < ranges.count(); ++k)
      if (static_cast<int>(k) != lanes && ranges.size(k) > 1) region_.walked.push_back(k);
    program_.has_lanes = lanes >= 0;
  }

  Region made(Nest& nest) {
    try {
      for (std::size_t k = 0; k < results_.stored.size(); ++k) store(k);
      for (std::size_t k = 0; k < results_.sums.size(); ++k) add_up(k);
    } catch (CutAt& cut) {
      if (cut.range == 0) cut.position = region_.first + cut.position * region_.unrolled;
      throw;
    }
    for (std::size_t i = 0; i < said_.times_said().size(); ++i)
      nest.most_times[i] = std::max(nest.most_times[i], times_for_one(said_.times_said()[i]));
    if (said_.reads().size() > most_reads) throw TooLong();
    for (const ElementRead& read : said_.reads()) program_.inputs.push_back(input(nest, read));
    multiply_what_lanes_share();
    list_rows();
    LanePlan plan = planned_for_code(program_, program_.has_lanes ? lane_count() : 0);
    if (program_.has_lanes && (plan.lanes_together() > lane_count() || plan.width > window)) throw NoLanes();
    plan.walks = may_walk(plan);
    region_.kernel = std::make_shared<const LaneKernel>(std::move(plan));
    return std::move(region_);
  }

 private:
  std::int64_t lane_count() const { return region_.ranges.size(static_cast<std::size_t>(region_.lanes)); }
  const Type& type(Variable v) const { return body_.types[at(v)]; }

  /// Of the positions that are computed together.
  int times_for_one(int times) const { return static_cast<int>((times + region_.unrolled - 1) / region_.unrolled); }
  Index index_of(std::int64_t copy) const {
    Index index(region_.ranges.count());
    for (std::size_t k = 0; k < index.size(); ++k) {
      index[k].by_range.assign(index.size(), 0);
      index[k].by_range[k] = k == 0 ? region_.unrolled : 1;
    }
    index[0].offset = region_.first + copy;
    return index;
  }

  void store(std::size_t k) {
    const Type& to = type(body_.equations[results_.stored[k]].outputs[0]);
    for (std::int64_t copy = 0; copy < region_.unrolled; ++copy) {
      const Index index = index_of(copy);
      if (!said_.is_inside(to.shape, index)) continue;
      const Node n = said_.made(results_.stored[k], index);
      Moving moving{static_cast<int>(k), 0, {}};
      const Place place = placed(to.shape, index, Place::output_row, moving);
      put_output(n, to.dtype, std::move(moving), place);
    }
  }
  void add_up(std::size_t k) {
    const Equation& e = body_.equations[results_.sums[k]];
    const Accumulation a = e.rules->accumulation()(e.parameters.get());
    const DType dtype = computed_dtype(type(e.outputs[0]).dtype);
    ScalarGraph& graph = program_.graph;
    Node sum = no_node;
    for (std::int64_t copy = 0; copy < region_.unrolled; ++copy) {
      const Index index = index_of(copy);
      if (!said_.is_inside(type(e.inputs[0]).shape, index)) continue;
      std::vector<Node> x;
      for (const Variable v : e.inputs) x.push_back(graph.convert(dtype, said_.value(v, index)));
      const Node term = graph.read(a.term, dtype, x);
      sum = sum == no_node ? term : graph.word(Word::add, sum, term);
    }
    if (sum == no_node) return;
    sums_.push_back(program_.outputs.size());
    put_output(sum, dtype, {static_cast<int>(results_.stored.size() + k), 0, {}}, {});
  }
  void put_output(Node n, DType dtype, Moving moving, Place place) {
    place.tensor = static_cast<int>(region_.out.size());
    program_.outputs.push_back({n, place});
    program_.output_dtypes.push_back(dtype);
    region_.out.push_back(std::move(moving));
  }

  /// Elements that the lanes read alike do not differ by lane: a sum of all lanes is so many times them.
  void multiply_what_lanes_share() {
    if (!program_.has_lanes) return;
    ScalarGraph& graph = program_.graph;
    std::vector<bool> differs;
    for (const ScalarStep& s : graph.steps()) {
      const auto differs_there = [&](Node n) { return n != no_node && differs[at(n)]; };
      differs.push_back((s.kind == StepKind::input && program_.inputs[s.payload].place.stride != 0) ||
                        std::ranges::any_of(s.from, differs_there));
    }
    for (const std::size_t k : sums_) {
      Output& output = program_.outputs[k];
      const DType dtype = program_.output_dtypes[k];
      const bool is_shared = !differs[at(output.node)];
      output.node = is_shared ? graph.word(Word::multiply, output.node,
                                           graph.number(dtype, static_cast<long double>(lane_count())))
                              : graph.total(Word::add, output.node, graph.number(dtype, 0.0L));
    }
  }

  /// Code for one size serves others: it asks how long rows are.
  void list_rows() {
    for (const std::vector<Moving>& tensors : {std::cref(region_.out), std::cref(region_.in)})
      for (const Moving& tensor : tensors) region_.rows.push_back(tensor.row);
    const bool some_are_rows = std::ranges::any_of(region_.rows, [](std::int64_t row) { return row != 0; });
    if (some_are_rows) program_.rows = static_cast<int>(region_.in.size());
    else region_.rows.clear();
  }

  /// Large arguments of sin and cos are computed again by who knows the position; what serves all lanes is read once.
  bool may_walk(const LanePlan& plan) const {
    if (!plan.program.has_lanes || region_.walked.empty()) return false;
    const auto moves_for_all = [&](const Input& input) {
      return input.place.stride == 0 && region_.in[at(input.place.tensor)].by_range[region_.walked.back()] != 0;
    };
    return std::ranges::none_of(plan.program.graph.steps(), &ScalarStep::is_circular) &&
           std::ranges::none_of(plan.program.inputs, moves_for_all);
  }

  Input input(Nest& nest, const ElementRead& read) {
    Moving moving{read.is_on_diagonal ? diagonal(nest, read) : number_of(nest, read.from), 0, {}};
    const Shape& shape = read.is_on_diagonal ? Shape::filled(1, 2) : type(read.from).shape;
    Place place = placed(shape, read.at, Place::input_row, moving);
    const auto same = std::ranges::find(region_.in, moving);
    place.tensor = static_cast<int>(same - region_.in.begin());
    if (same == region_.in.end()) region_.in.push_back(std::move(moving));
    return {type(read.from).dtype, place};
  }

  static int number_of(Nest& nest, Variable v) {
    const auto known = std::ranges::find(nest.inputs, v);
    const auto number = static_cast<int>(known - nest.inputs.begin());
    if (known == nest.inputs.end()) nest.inputs.push_back(v);
    return number;
  }
  int diagonal(Nest& nest, const ElementRead& read) const {
    const DType dtype = type(read.from).dtype;
    std::int64_t most = std::abs(read.at[0].offset);
    for (std::size_t k = 0; k < region_.ranges.count(); ++k)
      most += std::abs(read.at[0].by_range[k]) * region_.ranges.end[k];
    nest.reach = std::max(nest.reach, most);
    nest.diagonals[dtype];
    return -1 - static_cast<int>(dtype);
  }

  /// So many elements of a row are read together, at most, by code that does not know how long the row is. They are
  /// counted from the nearer end of the row, so that code for another size counts alike. Code reads as many as lanes
  /// are in a register: registers with more lanes would read beyond the end.
  static constexpr std::int64_t window = 16;
  static std::int64_t begin_of_window(std::int64_t element, std::int64_t row) {
    return element < row / 2 ? element / window * window : row - window - (row - 1 - element) / window * window;
  }

  /// The place of an element beside where the kernel's pointer is. Where lanes are rows, the pointer stands in a row,
  /// code reads neighbours in the row together, and the stride is `row`.
  Place placed(const Shape& shape, Index index, std::int64_t row, Moving& moving) const {
    const Ranges& ranges = region_.ranges;
    moving.by_range.assign(ranges.count(), 0);
    const Strides strides = contiguous_strides(shape);
    Place place{0, 0, 0, 0};
    std::size_t axis_of_lanes = index.size();
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      if (shape[axis].raw() == 1) index[axis] = {0, std::vector<std::int64_t>(ranges.count(), 0)};
      if (region_.lanes < 0) continue;
      const std::int64_t along = index[axis].by_range[at(region_.lanes)];
      if (along == 0) continue;
      if (along != 1 || axis_of_lanes != index.size()) throw NoLanes();
      axis_of_lanes = axis;
    }
    const std::size_t last = std::max<std::size_t>(1, index.size()) - 1;
    const bool are_rows = axis_of_lanes < last && shape[last].raw() >= window;
    if (are_rows) moving.row = strides[axis_of_lanes];
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      std::int64_t first = index[axis].offset;
      for (std::size_t k = 0; k < ranges.count(); ++k) {
        const std::int64_t along = index[axis].by_range[k];
        first += along * ranges.begin[k];
        if (static_cast<int>(k) == region_.lanes) {
          if (along != 0) place.stride = are_rows ? row : strides[axis];
        } else if (along != 0 && ranges.size(k) > 1) {
          const bool is_along_lanes = axis == axis_of_lanes && strides[axis] == 1;
          if (axis >= axis_of_lanes && !is_along_lanes) throw NoLanes();
          moving.by_range[k] += along * strides[axis];
        }
      }
      if (are_rows && axis == last) {
        const std::int64_t begin = begin_of_window(first, shape[last].raw());
        moving.begin += begin, place.base += first - begin;
      } else {
        (axis >= axis_of_lanes && !are_rows ? place.base : moving.begin) += first * strides[axis];
      }
    }
    return place;
  }

  const ProgramBody& body_;
  const NestResults& results_;
  LaneProgram program_{
      .graph = {}, .inputs = {}, .givens = {}, .outputs = {}, .has_lanes = false, .output_dtypes = {}, .required = {}};
  Region region_;
  SaidInRegion said_;
  std::vector<std::size_t> sums_;  // outputs
};

/// Where most of the work is, two positions of the outermost range are computed together: they read the same elements,
/// and so each is read once from a cache that is further away.
std::int64_t unrolled_for(const Ranges& ranges, int lanes, std::int64_t all_positions) {
  constexpr std::int64_t few = 8;
  const bool is_most = 2 * ranges.positions() > all_positions;
  return is_most && ranges.count() > 2 && lanes > 0 && ranges.size(0) >= few ? 2 : 1;
}

/// The innermost range fills registers from neighbours in memory; else the longest does.
std::vector<int> ranges_for_lanes(const Ranges& ranges) {
  std::vector<int> all;
  if (ranges.positions() < few_positions) return {-1};
  for (std::size_t k = 0; k < ranges.count(); ++k)
    if (ranges.size(k) >= fewest_lanes) all.push_back(static_cast<int>(k));
  std::ranges::stable_sort(all, std::greater<>(), [&](int k) {
    const std::int64_t size = ranges.size(static_cast<std::size_t>(k));
    return static_cast<std::size_t>(k) + 1 == ranges.count() && size >= 64 ? INT64_MAX : size;
  });
  return all;
}

/// No range can have lanes. Cuts one position off the innermost short range: with that range fixed, another may have
/// them.
[[noreturn]] void cut_short_range(const Ranges& ranges) {
  for (std::size_t k = ranges.count(); k-- > 0;)
    if (ranges.size(k) >= fewest_lanes) break;
    else if (ranges.size(k) > 1) throw CutAt{k, ranges.begin[k] + 1};
  throw TooLong();
}

void fill_diagonals(Nest& nest) {
  for (auto& [dtype, row] : nest.diagonals) {
    ScalarGraph graph;
    const std::uint64_t one = graph[graph.number(dtype, 1.0L)].payload;
    const std::int64_t size = static_cast<std::int64_t>(element_size(dtype));
    row.resize(at((2 * nest.reach + 1) * size / 8 + 1));
    std::memcpy(advance(row.data(), dtype, nest.reach), &one, at(size));
  }
}

}  // namespace

bool adds_up_all(const ProgramBody& body, const Equation& e) {
  if (!e.rules->accumulation() || e.outputs.size() != 1 || e.rules->effect != Effect::no_effect) return false;
  const Type& y = body.types[at(e.outputs[0])];
  const Accumulation a = e.rules->accumulation()(e.parameters.get());
  if (y.shape.numel().raw() != 1 || !is_floating(y.dtype) || is_complex(y.dtype) || !adds_totals(a)) return false;
  Types operands;
  for (const Variable v : e.inputs) {
    const Type& x = body.types[at(v)];
    if (!is_floating(x.dtype) || is_complex(x.dtype) || !(x.shape == body.types[at(e.inputs[0])].shape)) return false;
    operands.push_back(x);
  }
  const auto reduced = reduced_axes(e.op(), operands, y.rank());
  if (!reduced) return false;
  for (std::size_t k = 0; k < reduced->size(); ++k)
    if (!(*reduced)[k] && operands[0].shape[k].raw() != 1) return false;
  return finished(sum_of(body, e), 1).has_value();
}

Nest nest_of(const ProgramBody& body, const SaidBy& said, const NestResults& results) {
  Nest nest{
      .stored = {}, .sums = {}, .regions = {}, .inputs = {}, .most_times = std::vector<int>(body.equations.size())};
  Ranges all;
  const auto cover = [&](const Shape& shape) {
    all.begin.resize(shape.size(), 0), all.end.resize(shape.size(), 0);
    for (std::size_t k = 0; k < shape.size(); ++k) all.end[k] = std::max(all.end[k], shape[k].raw());
  };
  for (const std::size_t i : results.stored) {
    nest.stored.push_back(body.types[at(body.equations[i].outputs[0])]);
    cover(nest.stored.back().shape);
  }
  for (const std::size_t i : results.sums) {
    nest.sums.push_back(sum_of(body, body.equations[i]));
    cover(body.types[at(body.equations[i].inputs[0])].shape);
  }
  std::vector<Ranges> open{all};
  while (!open.empty()) {
    allow_interruption();
    const Ranges ranges = std::move(open.back());
    open.pop_back();
    try {
      bool is_made = false;
      for (const int lanes : ranges_for_lanes(ranges)) try {
          const std::int64_t unrolled = unrolled_for(ranges, lanes, all.positions());
          if (ranges.size(0) % unrolled != 0) throw CutAt{0, ranges.end[0] - 1};
          Region region = RegionMaker(body, said, results, ranges, lanes, unrolled).made(nest);
          if (!region.out.empty()) nest.regions.push_back(std::move(region));
          is_made = true;
          break;
        } catch (const NoLanes&) {}
      if (!is_made) cut_short_range(ranges);
    } catch (const CutAt& cut) {
      Ranges front = ranges, back = ranges;
      front.end[cut.range] = back.begin[cut.range] = cut.position;
      open.push_back(std::move(back)), open.push_back(std::move(front));
    }
    if (nest.regions.size() + open.size() > most_regions) throw TooLong();
  }
  fill_diagonals(nest);
  return nest;
}

// ── runs ──

std::size_t Nest::steps() const {
  std::size_t steps = 0;
  for (const Region& region : regions) steps = std::max(steps, region.kernel->steps());
  return steps;
}

namespace {

std::int64_t bytes(DType dtype) { return static_cast<std::int64_t>(element_size(dtype)); }

/// Of numbers in a row, by halves.
template <class T>
double added(const T* x, std::int64_t count) {
  constexpr std::int64_t few = 32;
  if (count > few) return added(x, count / 2) + added(x + count / 2, count - count / 2);
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]);
  return sum;
}

}  // namespace

bool Nest::run(std::span<const Strided> in, std::span<const Strided> out) const {
  std::int64_t outermost = 0, totals = 0;
  double nanoseconds = 0;
  std::vector<std::int64_t> first_total;  // by region
  for (const Region& region : regions) {
    if (!region.kernel->code()) return false;
    first_total.push_back(totals);
    totals += region.calls() * region.totals_of_call();
    outermost = std::max(outermost, region.first + region.ranges.size(0) * region.unrolled);
    nanoseconds += region.kernel->nanoseconds(region.lane_count()) *
                   static_cast<double>(region.calls() * region.positions_of_call());
  }
  // What kernels write: stored values, then totals of calls, those of one sum behind the other.
  const kernels::Scratch<double> all_totals(totals * std::max<std::int64_t>(1, std::ssize(sums)));
  std::memset(all_totals.data(), 0, static_cast<std::size_t>(totals) * sums.size() * sizeof(double));
  std::vector<Strided> results(out.begin(), out.begin() + std::ssize(stored));
  for (std::size_t k = 0; k < sums.size(); ++k)
    results.push_back(
        {all_totals.data() + static_cast<std::int64_t>(k) * totals, sums[k].added_in, 0, nullptr, nullptr});

  std::atomic<bool> all_hold = true;
  const auto run_region = [&](std::size_t r, std::int64_t position) {
    std::vector<Strided> to = results;
    for (std::size_t k = stored.size(); k < to.size(); ++k)
      to[k].data = advance(to[k].data, to[k].dtype, first_total[r]);
    if (!run(regions[r], position, in, to)) all_hold = false;
  };
  // Regions go through the outermost range together, so that they find in a cache what they share. Regions whose lanes
  // lie along that range come after, and so do all regions where it is the only range.
  const auto run_together = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      allow_interruption();
      for (std::size_t r = 0; r < regions.size(); ++r) {
        const Region& region = regions[r];
        const std::int64_t beyond = i - region.first, position = beyond / region.unrolled;
        const bool begins_here = beyond >= 0 && beyond % region.unrolled == 0 && position < region.ranges.size(0);
        if (region.lanes != 0 && begins_here) run_region(r, position);
      }
    }
  };
  const auto has_one_range = [](const Region& region) { return region.ranges.count() == 1; };
  const bool is_of_one_range = std::ranges::all_of(regions, has_one_range);
  if (!is_of_one_range) kernels::parallel_for({outermost, nanoseconds / static_cast<double>(outermost)}, run_together);
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const bool has_lanes_outermost = regions[r].lanes == 0;
    if (!is_of_one_range && !has_lanes_outermost) continue;
    allow_interruption();
    const std::int64_t positions = has_lanes_outermost ? 1 : regions[r].ranges.size(0);
    for (std::int64_t position = 0; position < positions; ++position) run_region(r, position);
  }
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const Strided& all = results[stored.size() + k];
    const double sum = all.dtype == DType::float64 ? added(static_cast<const double*>(all.data), totals)
                                                   : added(static_cast<const float*>(all.data), totals);
    const std::uint64_t bits = *finished(sums[k], sum);
    std::memcpy(out[stored.size() + k].data, &bits, element_size(sums[k].type.dtype));
  }
  return all_hold;
}

/// At one position of the region's outermost range, unless the lanes lie along that.
bool Nest::run(const Region& region, std::int64_t position, std::span<const Strided> in,
               std::span<const Strided> out) const {
  const std::vector<std::size_t>& walked = region.walked;
  const auto is_total = [&](const Moving& m) { return at(m.tensor) >= stored.size(); };
  const auto step = [&](const Moving& m) { return walked.empty() ? 0 : m.by_range[walked.back()]; };
  const std::int64_t calls = region.calls() / (region.lanes == 0 ? 1 : region.ranges.size(0));
  SmallVector<std::int64_t, 32> in_steps, out_steps;
  SmallVector<Strided, 32> from, to;
  const auto operand = [&](const Moving& m) -> Strided {
    if (m.tensor >= 0) return in[at(m.tensor)];
    const auto& [dtype, row] = *diagonals.find(static_cast<DType>(-1 - m.tensor));
    return {advance(const_cast<std::uint64_t*>(row.data()), dtype, reach), dtype, 0, nullptr, nullptr};
  };
  for (const Moving& m : region.in) {
    from.push_back(operand(m));
    in_steps.push_back(step(m) * bytes(from.back().dtype));
  }
  if (!region.rows.empty()) {
    from.push_back({const_cast<std::int64_t*>(region.rows.data()), DType::int64, 0, nullptr, nullptr});
    in_steps.push_back(0);
  }
  for (const Moving& m : region.out) {
    to.push_back(out[at(m.tensor)]);
    out_steps.push_back((is_total(m) ? 1 : step(m)) * bytes(to.back().dtype));
  }
  const LaneKernel::Positions positions{
      region.positions_of_call(), {in_steps.data(), in_steps.size()}, {out_steps.data(), out_steps.size()}};
  std::vector<std::int64_t> index(walked.size());
  for (std::int64_t call = 0; call < calls; ++call) {
    const auto moved = [&](const Moving& m) {
      std::int64_t place = m.begin + m.by_range[0] * position;
      for (std::size_t k = 0; k + 1 < walked.size(); ++k) place += index[k] * m.by_range[walked[k]];
      return place;
    };
    for (std::size_t k = 0; k < region.in.size(); ++k)
      from[k].data = advance(operand(region.in[k]).data, from[k].dtype, moved(region.in[k]));
    for (std::size_t k = 0; k < to.size(); ++k) {
      const Moving& m = region.out[k];
      const std::int64_t place = is_total(m) ? (position * calls + call) * region.totals_of_call() : moved(m);
      to[k].data = advance(out[at(m.tensor)].data, to[k].dtype, place);
    }
    if (!region.kernel->run({from.data(), from.size()}, {to.data(), to.size()}, region.lane_count(), positions))
      return false;
    for (std::size_t k = walked.empty() ? 0 : walked.size() - 1; k-- > 0;) {
      if (++index[k] < region.ranges.size(walked[k])) break;
      index[k] = 0;
    }
  }
  return true;
}

}  // namespace ricci::compiled
