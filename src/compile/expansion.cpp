// Programs run over numbers of elements. The size of the lane axis is bound to a small number; each element of a value
// is a node of the scalar graph and the lane that it belongs to. What only moves elements is moved by its own eval. A
// second run with another number of lanes must give the same nodes: so nothing depends on how many lanes there are, and
// the places of elements follow from both. What so few lanes do not tell is refused (`is_mixed`).
#include "compile/expansion.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <map>
#include <optional>

#include "compile/folding.h"
#include "compile/lane_sizes.h"
#include "compile/result_writer.h"
#include "compile/words.h"
#include "primitive/interpreter.h"
#include "primitive/promotion.h"
#include "program/constants.h"
#include "program/element_sources.h"
#include "program/programs_run.h"
#include "program/structure.h"
#include "ricci/interruption.h"
#include "ricci/primitive/element_rules.h"
#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/reduction_axes.h"
#include "ricci/primitive/reduction_loop.h"

namespace ricci::compiled {
namespace {

/// Memory of a contiguous tensor.
struct Memory {
  Type type;
  Strides strides;
  std::vector<std::uint64_t> words;

  explicit Memory(Type t)
      : type(std::move(t)),
        strides(contiguous_strides(type.shape)),
        words(at(type.shape.numel().raw()) * element_size(type.dtype) / 8 + 2) {}
  Strided view() { return {words.data(), type.dtype, type.rank(), type.shape.host(), strides.data()}; }
  void* element(std::int64_t i) { return advance(words.data(), type.dtype, i); }
};

/// f(index of the element in the view's shape, its place by the strides), row by row.
template <class F>
void for_each_place(const Shape& shape, const Strides& strides, const F& f) {
  const std::int64_t count = shape.numel().raw();
  std::vector<std::int64_t> index(shape.size());
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    f(i, place);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      place += strides[axis];
      if (++index[axis] < shape[axis].raw()) break;
      place -= strides[axis] * shape[axis].raw();
      index[axis] = 0;
    }
  }
}

/// Strides that show a contiguous operand under the shape it broadcasts to.
Strides broadcast_strides(const Shape& from, const Shape& to) {
  const Strides own = contiguous_strides(from);
  Strides strides;
  strides.resize(to.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) strides[to.size() - from.size() + i] = from[i].raw() == 1 ? 0 : own[i];
  return strides;
}

/// By place: which element of the inputs it is.
using InputNumbers = std::map<std::array<std::int64_t, 4>, std::uint64_t>;

/// A run throws this where `goes_on` says false.
struct GivenUp {};

/// One run of the program, for one number of lanes. Without `found`, an equation that cannot be said element by
/// element refuses the run. With `found`, the equation is noted there as apart. The results of all equations that are
/// apart, since before this run or in it, are like inputs.
class Run {
 public:
  Run(const ProgramBody& body, const ProgramBody& whole, const LaneSizes& sizes, LaneProgram& to, InputNumbers& numbers,
      const ExpandOptions& options, Expandability* found = nullptr,
      const std::function<bool(std::size_t)>& goes_on = {})
      : body_(body),
        whole_(whole),
        sizes_(sizes),
        lanes_(sizes.has_lanes() ? sizes.lanes() : 1),
        to_(to),
        graph_(to.graph),
        options_(options),
        most_nodes_((found ? 100 : 8) * options.most_steps),  // of many kernels; of one, before dead ones go
        values_(body.types.size()),
        is_mixed_(body.types.size()),
        input_numbers_(numbers) {
    for (const Constant& c : body.constants) constant(c);
    int tensor = 0;
    const auto take = [&](Variable v) { opaque(v, found ? v : tensor++); };
    for (const Variable v : body.inputs) take(v);
    for (const Capture& c : body.captures) take(c.variable);
    for (std::size_t i = 0; i < body.equations.size(); ++i) {
      allow_interruption();
      const Equation& e = body.equations[i];
      const std::size_t before = graph_.steps().size();
      std::optional<NotExpandable> why = found && found->apart[i] ? NotExpandable{"it is apart"} : said(e);
      if (found) found->steps[i] = (graph_.steps().size() - before) / at(positions_said(e));
      if (!why) continue;
      if (!found) throw NotExpandable{std::string(e.rules->name) + ": " + why->why, why->because};
      if (!found->apart[i] && goes_on && !goes_on(i)) throw GivenUp{};
      found->apart[i] = true;
      for (const Variable v : e.outputs) opaque(v, v);
    }
  }

  std::int64_t lanes() const { return lanes_; }
  /// Refuses a value without elements here: an input with two axes of lanes that is a result as it is.
  const Elements& value(Variable v) const { return operand(v); }
  /// The axis that is the lane axis as it is; -1: none.
  int lane_axis(Variable v) const {
    const Shape& shape = body_.types[at(v)].shape;
    for (int i = 0; i < shape.rank(); ++i)
      if (sizes_.is_lane(shape[at(i)])) return i;
    return -1;
  }
  bool depends_on_lanes(Variable v) const {
    return std::ranges::any_of(body_.types[at(v)].shape, [&](Size size) { return sizes_.depends_on_lanes(size); });
  }
  /// How many of the elements stand at the first position of the outer axis: all where the value has none. Refuses a
  /// value that has it elsewhere than in front.
  std::int64_t first_of_outer(Variable v) const {
    const Shape& shape = body_.types[at(v)].shape;
    const std::int64_t count = sizes_.put(body_.types[at(v)]).shape.numel().raw();
    if (options_.are_independent) return count;  // here the outer axis is the lanes, and theirs is a small number
    const auto is_outer = [&](Size size) { return sizes_.is_outer(size); };
    const std::ptrdiff_t times = std::ranges::count_if(shape, is_outer);
    if (times == 0) return count;
    if (times > 1 || !is_outer(shape[0])) refuse("the outer axis is not the first one");
    return count / LaneSizes::outer_count;
  }

 private:
  /// Once for each position of the outer axis. Lanes share their nodes.
  std::int64_t positions_said(const Equation& e) const { return has_outer(e.outputs) ? LaneSizes::outer_count : 1; }
  /// Refuses an equation that takes more than half of what a kernel may have. `steps`: for all positions.
  void require_few_steps(const Equation& e, std::size_t steps) const {
    if (steps > options_.most_steps / 2 * at(positions_said(e))) refuse("its elements take too many steps");
  }
  /// Why the equation cannot be said element by element; none: it was.
  std::optional<NotExpandable> said(const Equation& e) try {
    equation(e);
    return std::nullopt;
  } catch (const NotExpandable& not_said) { return not_said; } catch (const NoSuchWord& none) {
    return NotExpandable{"elements of type " + to_string(none.dtype) + " have no " + name_of(none.word)};
  } catch (const Error& error) { return NotExpandable{error.what()}; }

  /// Elements that come from elsewhere. Where it cannot have any, it still lies in memory.
  void opaque(Variable v, int tensor) {
    try {
      input(v, tensor);
    } catch (const NotExpandable&) { values_[at(v)] = {.type = sizes_.put(body_.types[at(v)])}; }
    values_[at(v)].tensor = tensor;
    is_mixed_[at(v)] = false;
  }
  static bool has_elements(const Elements& x) { return !x.of.empty() || x.type.shape.numel() == 0; }
  const Elements& operand(Variable v) const {
    const Elements& x = values_[at(v)];
    if (!has_elements(x)) refuse("a value that has no elements here");
    return x;
  }

  Elements made(Variable v) const {
    for (const Size size : body_.types[at(v)].shape) {
      if (sizes_.is_open(size)) refuse("a size that may be another and is not that of the lanes");
      if (sizes_.depends_on_outer(size) && !sizes_.is_outer(size)) refuse("a size that follows from the outer one");
    }
    const auto is_of_lanes = [&](Size size) { return sizes_.depends_on_lanes(size); };
    if (std::ranges::count_if(body_.types[at(v)].shape, is_of_lanes) > 1) refuse("two axes of lanes");
    first_of_outer(v);
    Elements e{sizes_.put(body_.types[at(v)]), {}};
    if (std::ranges::any_of(e.type.shape, [](Size size) { return size.raw() < 0; }))
      refuse("a size that is negative for so few lanes");
    if (is_complex(e.type.dtype)) refuse("complex elements");
    const std::int64_t count = e.type.shape.numel().raw();
    const std::int64_t most = sizes_.has_lanes() ? options_.most_of_lane : options_.most_of_one;
    if (count > most * (depends_on_lanes(v) ? lanes_ : 1) * (has_outer(std::array{v}) ? LaneSizes::outer_count : 1))
      refuse(to_string(e.type) + " is too large to be taken apart into elements");
    e.of.resize(at(count), Element{no_node, uniform});
    return e;
  }

  template <class Variables>
  bool has_outer(const Variables& variables) const {
    return std::ranges::any_of(variables, [&](Variable v) {
      return std::ranges::any_of(body_.types[at(v)].shape, [&](Size size) { return sizes_.is_outer(size); });
    });
  }

  void constant(const Constant& c) {
    Elements e = made(c.variable);
    e.of[0] = {graph_.number(e.type.dtype, bits_of(*c.value).bits[0]), uniform};
    values_[at(c.variable)] = std::move(e);
  }

  /// Elements of the inputs are numbered by where they lie.
  void input(Variable v, int tensor) {
    Elements e = made(v);
    const int axis = lane_axis(v);
    if (axis < 0 && depends_on_lanes(v)) refuse("an input whose size follows from the number of lanes");
    const Shape& shape = e.type.shape;
    const Strides strides = contiguous_strides(shape);
    std::int64_t i = 0;
    for (Element& element : e.of) {
      Place place{tensor, 0, 0, 0};
      for (int k = 0; k < shape.rank(); ++k) {
        const std::int64_t index = i / strides[at(k)] % shape[at(k)].raw();
        if (k == axis) element.lane = static_cast<int>(index), place.stride = strides[at(k)];
        else if (k < axis) place.per_lane_count += index * (strides[at(k)] / lanes_);
        else place.base += index * strides[at(k)];
      }
      element.node = graph_.input(number_of_input(e.type.dtype, place), e.type.dtype);
      ++i;
    }
    values_[at(v)] = std::move(e);
  }
  std::uint64_t number_of_input(DType dtype, const Place& place) {
    const std::array<std::int64_t, 4> key{place.tensor, place.base, place.per_lane_count, place.stride};
    const auto [found, is_new] = input_numbers_.try_emplace(key, to_.inputs.size());
    if (is_new) to_.inputs.push_back({dtype, place});
    return found->second;
  }

  void equation(const Equation& e) {
    if (gives_nothing(body_, e) && may_be_wrong(body_, e))
      refuse("it has no elements whose lanes would look at operands");
    const Rules& rules = *e.rules;
    if (const auto copied = structure_as<Copied>(e.op()); copied && copied->fills_rows && options_.are_independent) {
      Elements y = operand(e.inputs[copied->operand]);
      y.tensor = -1;
      values_[at(e.outputs[0])] = std::move(y);
      is_mixed_[at(e.outputs[0])] = is_mixed_[at(e.inputs[copied->operand])];
      return;
    }
    const Rules::ElementRule rule = rules.element();
    if (!rule && (rules.kind == Kind::custom || rules.effect != Effect::no_effect || rules.home))
      refuse("it is more than a function of its operands");
    if (graph_.steps().size() > most_nodes_)
      throw NotExpandable{"more than " + std::to_string(options_.most_steps) + " steps",
                          NotExpandable::Because::too_long};
    if ((!rule || e.inputs.empty()) && sizes_.reads_open(e)) refuse("a size among its parameters may be another");
    const auto lacks_outer = [&](Variable v) { return !has_outer(std::array{v}); };
    if (!options_.are_independent && has_outer(e.inputs) && std::ranges::any_of(e.outputs, lacks_outer))
      refuse("it leaves the outer axis");
    const bool is_of_lanes = std::ranges::any_of(e.outputs, [&](Variable v) { return depends_on_lanes(v); });
    if (e.inputs.empty() && !is_of_lanes && sizes_.reads_lanes(e)) refuse("it counts the lanes");
    const OwnedParameters numbers = sizes_.put(e, body_.types);
    const Op op{&rules, numbers.get()};
    const std::size_t required = to_.required.size();
    std::vector<const Elements*> operands;
    for (const Variable v : e.inputs) operands.push_back(rule ? &values_[at(v)] : &operand(v));
    std::vector<Elements> results;
    for (const Variable v : e.outputs) results.push_back(made(v));
    Types in;
    for (const Elements* x : operands) in.push_back(x->type);
    require_shapes(op, in, types_of_elements(results));
    const unsigned moved = rules.moves_elements ? rules.moves_elements(op.parameters) : 0;
    if (rules.kind == Kind::elementwise && rules.formula()) elementwise(op, operands, results[0]);
    else if (rules.is_view()) view(e, op, *operands[0], results[0]);
    else if (moved && (!rule || can_move(moved, operands))) move(e, op, moved, operands, results);
    else if (rule && (is_of_lanes || !are_numbers(operands))) write(rule, e, op, operands, results);
    else if (rules.accumulation()) reduce(op, operands, results[0]);
    else if (rules.on_elements()) expand(e, op, operands, results[0]);
    else if (are_numbers(operands)) compute(e, op, operands, results);
    else refuse("it does not say what one element of its result is");
    // What must hold would have to hold at each position; the kernel looks at the first one alone.
    if (to_.required.size() > required && options_.outer.is_given()) refuse("it may throw");
    const bool of_mixed = std::ranges::any_of(e.inputs, [&](Variable v) { return is_mixed_[at(v)]; });
    for (std::size_t k = 0; k < results.size(); ++k)
      is_mixed_[at(e.outputs[k])] = is_mixed(e.outputs[k], results[k], of_mixed);
    for (std::size_t k = 0; k < results.size(); ++k) values_[at(e.outputs[k])] = std::move(results[k]);
  }

  /// Elements along the axis of lanes that belong together: `count` of them, from `first` on, so far apart.
  struct Line {
    std::int64_t first, step, count;
  };
  enum class Lies : std::uint8_t { one_for_all, one_of_each, shared, mixed };
  /// How the elements of a line lie along the lanes. `one_for_all`: one element serves all lanes. `one_of_each`: lane i
  /// has element i. `shared`: two neighbours differ, and each serves all lanes. `mixed`: none of these.
  static Lies how_lies(const Elements& y, const Line& line) {
    bool serves_all = true, are_each = true, are_shared = false;
    const Element &first = y.of[at(line.first)], *before = &first;
    for (std::int64_t i = 0; i < line.count; ++i) {
      const Element& now = y.of[at(line.first + i * line.step)];
      serves_all = serves_all && now == first && now.lane == uniform;
      are_each = are_each && now.node == first.node && now.lane == i;
      are_shared = are_shared || (before->lane == uniform && now.lane == uniform && before->node != now.node);
      before = &now;
    }
    return serves_all ? Lies::one_for_all : are_each ? Lies::one_of_each : are_shared ? Lies::shared : Lies::mixed;
  }
  /// Whether few lanes do not tell what stands along many: of six zeros with x behind them, the first three are zeros,
  /// and three lanes do not show that the first twelve are not. A value is not mixed if each line along its lanes has
  /// one element that serves all lanes, or one of each lane in their order; [lanes k] may lie so as [lanes, k], and as
  /// [k, lanes]. What is computed from mixed values is mixed, too, until it has one element of each lane again.
  /// Refuses elements for all lanes, or without lanes, of mixed values. Refuses elements that all lanes share where
  /// each lane has one, as the first 40 rows of [41,5], which all of 40 lanes share: no kernel can give those, nor what
  /// is computed from them row by row.
  bool is_mixed(Variable v, const Elements& y, bool of_mixed) const {
    const Shape& shape = body_.types[at(v)].shape;
    const auto axis = std::ranges::find_if(shape, [&](Size size) { return sizes_.depends_on_lanes(size); });
    if (axis == shape.end()) {
      if (of_mixed) refuse("it takes some elements along the lanes");
      return false;
    }
    const Size size = *axis;
    const auto place = at(axis - shape.begin());
    const std::int64_t step = contiguous_strides(y.type.shape)[place], length = y.type.shape[place].raw();
    const std::int64_t of_lane = sizes_.size_of_lane(size), all = std::ssize(y.of);
    bool serve_all = false;
    const auto is_found = [&](std::int64_t inner) {  // with so many elements of a lane side by side
      bool found = true;
      serve_all = false;
      for (std::int64_t begin = 0; begin < all; begin += length * step)
        for (std::int64_t i = 0; i < length * step && (found || of_lane == 1); ++i) {
          if (i / (inner * step) % lanes_ != 0) continue;  // no first one of a line
          const Lies lies = how_lies(y, {begin + i, inner * step, lanes_});
          if (lies == Lies::shared && of_lane == 1) refuse("its lanes are elements that all lanes share");
          found = found && (lies == Lies::one_for_all || lies == Lies::one_of_each);
          serve_all = serve_all || lies == Lies::one_for_all;
        }
      return found;
    };
    for (std::int64_t inner = 1; inner <= of_lane; ++inner)
      if (of_lane % inner == 0 && is_found(inner)) {
        if (of_mixed && serve_all && of_lane == 1) refuse("few lanes do not tell whether an element serves all");
        return of_mixed && serve_all;
      }
    if (of_lane > 0 || of_mixed) return true;
    for (std::int64_t begin = 0; begin < all; begin += length * step)
      for (std::int64_t i = 0; i < step; ++i)
        if (how_lies(y, {begin + i, step, length}) != Lies::one_for_all) return true;
    return false;
  }

  /// The type rule holds for so many lanes too, and gives what the recording says: a slice may be longer than they are.
  /// Halves of the lanes, as an associative scan reads them, fit for some numbers of lanes alone.
  static void require_shapes(Op op, const Types& operands, const Types& results) {
    const auto has_shape = [](const Type& a, const Type& b) { return a.shape == b.shape; };
    if (!std::ranges::equal(types_of(op, operands), results, has_shape))
      refuse("for another number of lanes its result has another shape");
  }
  static Types types_of_elements(const auto& all) {
    Types types;
    for (const auto& x : all) types.push_back(x.type);
    return types;
  }

  // ── element by element ──

  /// The lane of what is computed from both.
  static int join(int a, int b) {
    if (a == uniform || a == b) return b;
    if (b != uniform) refuse("it mixes lanes");
    return a;
  }

  void elementwise(Op op, const std::vector<const Elements*>& operands, Elements& y) {
    SmallVector<const Type*, 4> types;
    for (const Elements* x : operands) types.push_back(&x->type);
    const Operands promoted = operands_of(op.rules->name, *op.rules, {types.data(), types.size()});
    if (is_complex(promoted.dtype)) refuse("complex elements");
    const Formula formula = op.rules->formula()(op.parameters);
    const DType element = computed_dtype(promoted.dtype);
    std::vector<Node> row(operands.size());
    std::vector<int> lanes(y.of.size(), uniform);
    std::vector<std::vector<Node>> columns;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const bool is_promoted = promoted.promoted(static_cast<int>(k));
      std::vector<Node>& column = columns.emplace_back(y.of.size());
      for_each_place(y.type.shape, broadcast_strides(operands[k]->type.shape, y.type.shape),
                     [&](std::int64_t i, std::int64_t place) {
                       const Element& x = operands[k]->of[at(place)];
                       lanes[at(i)] = join(lanes[at(i)], x.lane);
                       column[at(i)] = is_promoted ? graph_.convert(element, graph_.convert(promoted.dtype, x.node))
                                                   : graph_.convert(DType::boolean, x.node);
                     });
    }
    for (std::size_t i = 0; i < y.of.size(); ++i) {
      for (std::size_t k = 0; k < operands.size(); ++k) row[k] = columns[k][i];
      const std::size_t before = graph_.steps().size();
      y.of[i] = {graph_.convert(y.type.dtype, graph_.read(formula, element, row)), lanes[i]};
      if (graph_.steps().size() - before > options_.most_of_formula) refuse("its formula is long");
    }
  }

  void write(Rules::ElementRule rule, const Equation& e, Op op, const std::vector<const Elements*>& operands,
             std::vector<Elements>& results) {
    constexpr std::size_t most_of_one = 128;
    const std::size_t before = graph_.steps().size();
    for (std::size_t r = 0; r < results.size(); ++r) {
      Elements& y = results[r];
      if (!depends_on_lanes(e.outputs[r]) && y.of.size() > most_of_one)
        refuse("its elements are better computed side by side");
      ResultWriter writer(to_, body_, sizes_, options_.are_independent, e, operands, r);
      for (std::size_t i = 0; i < y.of.size(); ++i) {
        require_few_steps(e, graph_.steps().size() - before);
        y.of[i] = writer.element(rule, op, y, static_cast<std::int64_t>(i));
      }
    }
  }

  // ── moving ──

  /// What chooses places is known, and what moves has elements.
  bool can_move(unsigned moved, const std::vector<const Elements*>& operands) const {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const bool chooses = !((moved >> k) & 1U);
      if (chooses ? !are_numbers({operands[k]}) : !has_elements(*operands[k])) return false;
    }
    return true;
  }
  Element in_type(Element e, DType dtype) { return {graph_.convert(dtype, e.node), e.lane}; }

  /// By element of a view of x, row by row, which one of x it is.
  static std::vector<ElementSource> sources_of_view(Op op, const Shape& x) {
    Type type{DType::int64, x};
    Strides strides = contiguous_strides(type.shape);
    Memory places(type);
    for (std::int64_t i = 0; i < x.numel().raw(); ++i) *static_cast<std::int64_t*>(places.element(i)) = i;
    void* data = places.element(0);
    if (!op.rules->alias(op.parameters, type, strides, data)) refuse("a view that is none of contiguous elements");
    std::vector<ElementSource> sources(at(type.shape.numel().raw()));
    for_each_place(type.shape, strides, [&](std::int64_t i, std::int64_t place) {
      sources[at(i)] = {0, static_cast<const std::int64_t*>(data)[place]};
    });
    return sources;
  }
  void view(const Equation& e, Op op, const Elements& x, Elements& y) {
    const std::vector<ElementSource> sources = sources_of_view(op, x.type.shape);
    for (std::size_t i = 0; i < sources.size(); ++i) y.of[i] = in_type(x.of[at(sources[i].element)], y.type.dtype);
    require_no_lanes_of_one(e, 0, sources);
    require_same_part_of_many(e, op, sources);
  }
  /// Of [4 lanes], which are four parts, six elements behind the first begins the third part where there are three
  /// lanes, and the fourth where there are two; where there are twelve, no part.
  void require_same_part_of_many(const Equation& e, Op op, const std::vector<ElementSource>& of_few) const {
    const Shape& shape = body_.types[at(e.inputs[0])].shape;
    if (std::ranges::none_of(shape, [&](Size size) { return sizes_.size_of_lane(size) > 1; })) return;
    const AxisOfLanes few = axis_of_lanes(e.outputs[0], sizes_);
    if (!few.is_there || few.lanes < 2) return;
    const LaneSizes sizes(whole_, lanes_that_tell(e, {e.rules->parameters, op.parameters}), options_);
    const OwnedParameters numbers = sizes.put(e, body_.types);
    const std::vector<ElementSource> of_many =
        sources_of_view({e.rules, numbers.get()}, sizes.put(body_.types[at(e.inputs[0])]).shape);
    const AxisOfLanes many = axis_of_lanes(e.outputs[0], sizes), x = axis_of_lanes(e.inputs[0], sizes_),
                      many_x = axis_of_lanes(e.inputs[0], sizes);
    const auto along = [](const AxisOfLanes& axis, const ElementSource& source) {
      return source.element / axis.stride % axis.lanes;
    };
    for (std::int64_t fixed = 0; fixed < std::ssize(of_few) / few.lanes; ++fixed) {
      const std::int64_t begin = along(x, of_few[place_of(few, fixed, 0)]);
      const std::int64_t side_by_side = along(x, of_few[place_of(few, fixed, 1)]) - begin;
      const std::int64_t moved = along(many_x, of_many[place_of(many, fixed, 0)]) - begin;
      const std::int64_t parts = moved / (sizes.lanes() - lanes_), rest = begin - parts * lanes_;
      if (moved != parts * (sizes.lanes() - lanes_) || rest < 0 || rest >= std::max<std::int64_t>(side_by_side, 1))
        refuse("it takes elements that are lanes for few lanes alone");
    }
  }
  /// What has no lanes gives each lane the same: of twelve elements, the first three stand for no three lanes.
  void require_no_lanes_of_one(const Equation& e, std::size_t r, const std::vector<ElementSource>& sources) const {
    const AxisOfLanes axis = axis_of_lanes(e.outputs[r], sizes_);
    if (!axis.is_there) return;
    for (std::int64_t fixed = 0; fixed < std::ssize(sources) / std::max<std::int64_t>(axis.lanes, 1); ++fixed)
      for (std::int64_t lane = 1; lane < axis.lanes; ++lane) {
        const ElementSource &first = sources[place_of(axis, fixed, 0)], &now = sources[place_of(axis, fixed, lane)];
        const auto has_no_lanes = [&](int operand) { return operand >= 0 && !depends_on_lanes(e.inputs[at(operand)]); };
        if (now.operand == first.operand && now.element != first.element && has_no_lanes(now.operand))
          refuse("its lanes are elements that all lanes share");
      }
  }

  /// How an axis of lanes lies in a shape: so many lanes, so far apart. No axis: one.
  struct AxisOfLanes {
    bool is_there = false;
    std::int64_t lanes = 1, stride = 1;
  };
  AxisOfLanes axis_of_lanes(Variable v, const LaneSizes& sizes) const {
    const Shape& symbolic = body_.types[at(v)].shape;
    const Shape shape = sizes.put(body_.types[at(v)]).shape;
    const Strides strides = contiguous_strides(shape);
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (sizes.depends_on_lanes(symbolic[i])) return {true, shape[i].raw(), strides[i]};
    return {};
  }
  /// As many lanes as an operation can tell apart: more than a size of its operands and results, and than a number
  /// among its parameters, such as that of a diagonal.
  std::int64_t lanes_that_tell(const Equation& e, const OwnedParameters& parameters) const {
    constexpr std::int64_t most = 4096, beyond_all_sizes = std::int64_t{1} << 40;
    struct Largest final : ParameterVisitor {
      std::int64_t value = 0;
      Largest() : ParameterVisitor(Mode::reads) {}
      void integer(std::int64_t& i) override { size_of(i); }
      void size(Size& size) override { size_of(size.raw()); }
      void size_of(std::int64_t i) {
        if (i > -beyond_all_sizes && i < beyond_all_sizes) value = std::max(value, i < 0 ? -i : i);
      }
    } largest;
    e.rules->parameters.walk(parameters.get(), largest);
    for (const auto& variables : {std::span<const Variable>(e.inputs.begin(), e.inputs.end()),
                                  std::span<const Variable>(e.outputs.begin(), e.outputs.end())})
      for (const Variable v : variables)
        for (const Size size : sizes_.put(body_.types[at(v)]).shape) largest.size_of(size.raw());
    if (largest.value > most) refuse("it may move elements by numbers too large to try");
    return largest.value + 3;
  }
  /// What moves elements by where they stand, as a triangle does, may treat the few lanes of a run alike and not those
  /// behind them. What it does with all of the few, it must do with all of many.
  void require_same_of_many(const Equation& e, Op op, unsigned moved, const std::vector<const Elements*>& operands,
                            const std::vector<std::vector<ElementSource>>& of_few) const {
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (!((moved >> k) & 1U) && depends_on_lanes(e.inputs[k])) return;
    const LaneSizes sizes(whole_, lanes_that_tell(e, {e.rules->parameters, op.parameters}), options_);
    const OwnedParameters numbers = sizes.put(e, body_.types);
    std::vector<Memory> in;
    std::vector<Strided> values;
    Types types;
    for (std::size_t k = 0; k < operands.size(); ++k)
      in.push_back(((moved >> k) & 1U) ? Memory(sizes.put(body_.types[at(e.inputs[k])])) : memory_of(*operands[k]));
    for (Memory& m : in) values.push_back(m.view());
    for (const Variable v : e.outputs) types.push_back(sizes.put(body_.types[at(v)]));
    require_shapes({e.rules, numbers.get()}, types_of_elements(in), types);
    const std::vector<std::vector<ElementSource>> of_many = sources_of({e.rules, numbers.get()}, moved, values, types);
    std::vector<AxisOfLanes> few_of_operands, many_of_operands;
    for (const Variable v : e.inputs) {
      few_of_operands.push_back(axis_of_lanes(v, sizes_));
      many_of_operands.push_back(axis_of_lanes(v, sizes));
    }
    for (std::size_t r = 0; r < e.outputs.size(); ++r) {
      const AxisOfLanes few = axis_of_lanes(e.outputs[r], sizes_), many = axis_of_lanes(e.outputs[r], sizes);
      if (!few.is_there || few.lanes <= 0) continue;
      // Where element `fixed` of a lane comes from: the operand, the element of its lane there, and how many lanes on.
      const auto source = [](const std::vector<AxisOfLanes>& axes, const std::vector<ElementSource>& all,
                             const AxisOfLanes& axis, std::int64_t fixed,
                             std::int64_t lane) -> std::array<std::int64_t, 3> {
        const ElementSource s = all[place_of(axis, fixed, lane)];
        if (s.operand < 0) return {-1, 0, 0};
        const AxisOfLanes& x = axes[at(s.operand)];
        const std::int64_t in_lane = s.element / (x.stride * x.lanes) * x.stride + s.element % x.stride;
        return {s.operand, in_lane, x.is_there ? s.element / x.stride % x.lanes - lane : 0};
      };
      const std::int64_t count = std::ssize(of_few[r]) / few.lanes;
      for (std::int64_t fixed = 0; fixed < count; ++fixed) {
        const auto first = source(few_of_operands, of_few[r], few, fixed, 0);
        bool are_alike = true;
        for (std::int64_t lane = 1; lane < few.lanes; ++lane)
          are_alike = are_alike && source(few_of_operands, of_few[r], few, fixed, lane) == first;
        for (std::int64_t lane = 0; are_alike && lane < many.lanes; ++lane)
          if (source(many_of_operands, of_many[r], many, fixed, lane) != first)
            refuse("it moves elements by the number of their lane");
      }
    }
  }

  void move(const Equation& e, Op op, unsigned moved, const std::vector<const Elements*>& operands,
            std::vector<Elements>& results) {
    std::vector<Memory> in;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const bool chooses = !((moved >> k) & 1U);
      if (chooses && !are_numbers({operands[k]})) refuse("places that are computed");
      in.push_back(chooses ? memory_of(*operands[k]) : Memory(operands[k]->type));
    }
    std::vector<Strided> values;
    for (Memory& m : in) values.push_back(m.view());
    Types types;
    for (const Elements& y : results) types.push_back(y.type);
    const std::vector<std::vector<ElementSource>> sources = sources_of(op, moved, values, types);
    if (sizes_.has_lanes()) require_same_of_many(e, op, moved, operands, sources);
    for (std::size_t r = 0; r < results.size(); ++r) require_no_lanes_of_one(e, r, sources[r]);
    std::optional<std::vector<Memory>> own;
    for (std::size_t r = 0; r < results.size(); ++r)
      for (std::size_t i = 0; i < results[r].of.size(); ++i) {
        const auto [operand, element] = sources[r][i];
        Element& y = results[r].of[i];
        if (operand >= 0) y = in_type(operands[at(operand)]->of[at(element)], results[r].type.dtype);
        else {
          if (!own) own = numbers_it_writes(op, moved, operands, results);
          y = {number_at((*own)[r], i, true), uniform};
        }
      }
  }
  /// What the operation writes by itself, as it gives it for operands that are 0.
  std::vector<Memory> numbers_it_writes(Op op, unsigned moved, const std::vector<const Elements*>& operands,
                                        const std::vector<Elements>& results) const {
    std::vector<Memory> in, out;
    for (std::size_t k = 0; k < operands.size(); ++k)
      in.push_back(((moved >> k) & 1U) ? Memory(operands[k]->type) : memory_of(*operands[k]));
    for (const Elements& y : results) out.emplace_back(y.type);
    run(op, out, in);
    return out;
  }

  // ── numbers ──

  bool are_numbers(const std::vector<const Elements*>& operands) const {
    return std::ranges::all_of(operands, [&](const Elements* x) {
      return has_elements(*x) && std::ranges::all_of(x->of, [&](const Element& e) { return graph_.is_number(e.node); });
    });
  }
  Memory memory_of(const Elements& x) const {
    Memory memory(x.type);
    for (std::size_t i = 0; i < x.of.size(); ++i)
      std::memcpy(memory.element(static_cast<std::int64_t>(i)), &graph_[x.of[i].node].payload,
                  element_size(x.type.dtype));
    return memory;
  }
  Node number_at(Memory& memory, std::size_t i, bool is_structural) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, memory.element(static_cast<std::int64_t>(i)), element_size(memory.type.dtype));
    const Node n = graph_.number(memory.type.dtype, bits, is_structural && bits == 0);
    return n;
  }
  static void run(Op op, std::vector<Memory>& out, std::vector<Memory>& in) {
    std::vector<Strided> outputs, inputs;
    for (Memory& m : out) outputs.push_back(m.view());
    for (Memory& m : in) inputs.push_back(m.view());
    op.rules->eval(op.parameters, outputs, inputs);
  }
  void compute(const Equation& e, Op op, const std::vector<const Elements*>& operands, std::vector<Elements>& results) {
    std::vector<Memory> in, out;
    for (const Elements* x : operands) in.push_back(memory_of(*x));
    for (const Elements& y : results) out.emplace_back(y.type);
    run(op, out, in);
    const bool is_structural = has_structural_zeros(op);
    for (std::size_t r = 0; r < results.size(); ++r)
      for (std::size_t i = 0; i < results[r].of.size(); ++i)
        results[r].of[i] = {number_at(out[r], i, is_structural), uniform};
    if (std::ranges::any_of(e.outputs, [&](Variable v) { return depends_on_lanes(v); }))
      require_same_numbers_of_many(e, op, operands, results);
  }
  /// Where `fixed`, an element of each lane, stands for a lane.
  static std::size_t place_of(const AxisOfLanes& axis, std::int64_t fixed, std::int64_t lane) {
    return at(fixed / axis.stride * axis.stride * axis.lanes + lane * axis.stride + fixed % axis.stride);
  }
  /// Whether all lanes have the same nodes.
  static bool are_alike(const Elements& x, const AxisOfLanes& axis) {
    for (std::int64_t fixed = 0; fixed < std::ssize(x.of) / axis.lanes; ++fixed)
      for (std::int64_t lane = 1; lane < axis.lanes; ++lane)
        if (x.of[place_of(axis, fixed, lane)].node != x.of[place_of(axis, fixed, 0)].node) return false;
    return true;
  }
  /// What the few lanes of a run have alike, all of many lanes must have: row 3 of an identity is 0 in three lanes, and
  /// 1 in the fourth.
  void require_same_numbers_of_many(const Equation& e, Op op, const std::vector<const Elements*>& operands,
                                    const std::vector<Elements>& results) const {
    const LaneSizes sizes(whole_, lanes_that_tell(e, {e.rules->parameters, op.parameters}), options_);
    const OwnedParameters numbers = sizes.put(e, body_.types);
    std::vector<Memory> in, out;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const AxisOfLanes few = axis_of_lanes(e.inputs[k], sizes_), many = axis_of_lanes(e.inputs[k], sizes);
      if (!are_alike(*operands[k], few)) return;  // nor are its results
      Memory& memory = in.emplace_back(sizes.put(body_.types[at(e.inputs[k])]));
      const DType dtype = memory.type.dtype;
      for (std::int64_t fixed = 0; fixed < std::ssize(operands[k]->of) / few.lanes; ++fixed)
        for (std::int64_t lane = 0; lane < many.lanes; ++lane)
          std::memcpy(memory.element(static_cast<std::int64_t>(place_of(many, fixed, lane))),
                      &graph_[operands[k]->of[place_of(few, fixed, 0)].node].payload, element_size(dtype));
    }
    for (const Variable v : e.outputs) out.emplace_back(sizes.put(body_.types[at(v)]));
    run({e.rules, numbers.get()}, out, in);
    for (std::size_t r = 0; r < results.size(); ++r) {
      const AxisOfLanes few = axis_of_lanes(e.outputs[r], sizes_), many = axis_of_lanes(e.outputs[r], sizes);
      if (few.lanes == 0) continue;
      for (std::int64_t fixed = 0; fixed < std::ssize(results[r].of) / few.lanes; ++fixed) {
        const Node first = results[r].of[place_of(few, fixed, 0)].node;
        bool alike = true;
        for (std::int64_t lane = 1; lane < few.lanes; ++lane)
          alike = alike && results[r].of[place_of(few, fixed, lane)].node == first;
        for (std::int64_t lane = 0; alike && lane < many.lanes; ++lane)
          if (std::memcmp(out[r].element(static_cast<std::int64_t>(place_of(many, fixed, lane))),
                          &graph_[first].payload, element_size(out[r].type.dtype)) != 0)
            refuse("its numbers depend on which lane it is");
      }
    }
  }

  // ── reductions ──

  /// What elements are before they are added: truth values, or numbers of the type that totals have.
  struct ReducedAs {
    DType element;
    bool counts;  // elements are 1 where they are not 0
  };
  static ReducedAs reduced_as(Op op, const Accumulation& a, const Type& x, const Type& y) {
    if (a.join.steps[at(a.join.result)].is_mask) return {DType::boolean, false};
    if (y.dtype != DType::int64) return {computed_dtype(y.dtype), false};
    if (!is_integral(x.dtype)) return {DType::int64, true};
    if (x.dtype == DType::boolean) return {DType::int64, false};
    std::vector<Memory> in, out;  // of one element, 2: counted, it is 1
    in.emplace_back(Type{x.dtype, Shape::filled(x.shape.size(), 1)});
    out.emplace_back(Type{y.dtype, Shape::filled(y.shape.size(), 1)});
    *static_cast<std::int8_t*>(in[0].element(0)) = 2;
    run(op, out, in);
    return {DType::int64, *static_cast<const std::int64_t*>(out[0].element(0)) == 1};
  }

  void reduce(Op op, const std::vector<const Elements*>& operands, Elements& y) {
    const Accumulation a = op.rules->accumulation()(op.parameters);
    const Elements& x = *operands[0];
    Types types;
    for (const Elements* of : operands) types.push_back(of->type);
    const std::optional<std::vector<bool>> axes = reduced_axes(op, types, y.type.rank());
    if (!axes) refuse("a reduction that keeps no axes as they are");
    const std::vector<bool>& reduced = *axes;
    const ReducedAs as = reduced_as(op, a, x.type, y.type);
    Reduction reduction{a, as.element, graph_.number(as.element, a.start), {}, operands.size()};
    Strides kept, gone;
    Shape kept_shape, gone_shape;
    const Strides strides = contiguous_strides(x.type.shape);
    for (std::size_t i = 0; i < reduced.size(); ++i) {
      (reduced[i] ? gone : kept).push_back(strides[i]);
      (reduced[i] ? gone_shape : kept_shape).push_back(x.type.shape[i]);
    }
    std::vector<std::int64_t> of_group;
    std::int64_t row = 1;  // the elements of the innermost loop
    loops_of(x.type, gone_shape, gone, of_group, row);
    std::vector<std::int64_t> starts(y.of.size());
    for_each_place(kept_shape, kept, [&](std::int64_t i, std::int64_t place) { starts[at(i)] = place; });
    for (std::size_t i = 0; i < y.of.size(); ++i) {
      std::vector<std::vector<Element>> group(operands.size());
      for (const std::int64_t offset : of_group)
        for (std::size_t k = 0; k < operands.size(); ++k) {
          const Element& e = operands[k]->of[at(starts[i] + offset)];
          Node n = e.node;
          if (as.counts) n = graph_.convert(DType::boolean, n);
          group[k].push_back({graph_.convert(as.element, n), e.lane});
        }
      y.of[i] = in_type(total_of(reduction, group, row), y.type.dtype);
    }
  }

  /// Offsets of the elements of one total, in the order in which the library adds them; `row`: how many are one loop.
  static void loops_of(const Type& x, const Shape& shape, const Strides& strides, std::vector<std::int64_t>& offsets,
                       std::int64_t& row) {
    kernels::AxisList list;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i].raw() != 1) kernels::insert_axis(list, {shape[i].raw(), 0, strides[i], strides[i]});
    kernels::merge_axes(list);
    (void)x;
    row = list.last().size;
    const std::int64_t count = shape.numel().raw();
    if (count == 0) return;
    for (kernels::Walk walk(list.axis, list.count); !walk.done; walk.next()) offsets.push_back(walk.at.x);
  }

  struct Reduction {
    const Accumulation& a;
    DType dtype;
    Node start;
    std::vector<Node> row;
    std::size_t operands;
  };
  Node term(Reduction& r, const std::vector<Node>& x) { return graph_.read(r.a.term, r.dtype, x); }
  Node add(Reduction& r, Node total, const std::vector<Node>& x) {
    r.row.assign(1, total);
    r.row.insert(r.row.end(), x.begin(), x.end());
    return graph_.read(r.a.add, r.dtype, r.row);
  }
  Node joined(Reduction& r, Node a, Node b) {
    if (a == no_node || b == no_node) return a == no_node ? b : a;
    r.row = {a, b};
    return graph_.read(r.a.join, r.dtype, r.row);
  }

  /// The elements of one result, as the library adds them: in each block one after the other to the partial sum of
  /// their place in a register, blocks four by four, partial sums by halves.
  Node within_lane(Reduction& r, const std::vector<std::vector<Node>>& elements, std::int64_t row) {
    using Block = std::vector<Node>;
    const std::int64_t width = 64 / static_cast<std::int64_t>(element_size(r.dtype)), longest = 16 * width;
    std::vector<Block> levels(32, Block(at(width), no_node));
    const auto join = [&](const Block& older, Block& newer) {
      for (std::size_t i = 0; i < newer.size(); ++i) newer[i] = joined(r, older[i], newer[i]);
    };
    kernels::Cascade cascade(levels.data(), join);
    const auto count = static_cast<std::int64_t>(elements.size());
    for (std::int64_t begin = 0; begin < count; begin += row)
      for (std::int64_t from = 0; from < row; from += longest) {
        Block block(at(width), no_node);
        for (std::int64_t k = 0; k < std::min(longest, row - from); ++k) {
          Node& sum = block[at(k % width)];
          const std::vector<Node>& x = elements[at(begin + from + k)];
          sum = sum == no_node ? term(r, x) : add(r, sum, x);
        }
        cascade.push(block);
      }
    Block sums;
    cascade.total(sums);
    for (std::size_t step = sums.size() / 2; step > 0; step /= 2)
      for (std::size_t i = 0; i < step; ++i) sums[i] = joined(r, sums[i], sums[i + step]);
    return sums[0];
  }

  Element total_of(Reduction& r, const std::vector<std::vector<Element>>& group, std::int64_t row) {
    const std::size_t count = group[0].size();
    if (count == 0) return {finished(r, graph_.number(r.dtype, r.a.nothing), graph_.number(r.dtype, 0.0L)), uniform};
    std::vector<int> lanes(count, uniform);
    int lane = uniform;
    bool mixes = false;
    for (std::size_t i = 0; i < count; ++i) {
      for (const auto& operand : group) lanes[i] = join(lanes[i], operand[i].lane);
      mixes = mixes || (i > 0 && lanes[i] != lanes[0]);
      if (lanes[i] != uniform) lane = lanes[i];
    }
    const auto nodes = [&](std::size_t i) {
      std::vector<Node> x;
      for (const auto& operand : group) x.push_back(operand[i].node);
      return x;
    };
    const bool of_several_lanes = mixes && std::ranges::any_of(lanes, [&](int l) { return l != uniform && l != lane; });
    if (!of_several_lanes) {
      std::vector<std::vector<Node>> elements;
      for (std::size_t i = 0; i < count; ++i) elements.push_back(nodes(i));
      const Node total = within_lane(r, elements, row);
      return {finished(r, total, graph_.number(r.dtype, static_cast<long double>(count))), lane};
    }
    if (options_.are_independent) refuse("it adds up lanes");
    std::vector<std::vector<std::vector<Node>>> by_lane(at(lanes_));
    for (std::size_t i = 0; i < count; ++i) {
      if (lanes[i] == uniform) refuse("it adds lanes and what serves all of them");
      by_lane[at(lanes[i])].push_back(nodes(i));
    }
    for (const auto& elements : by_lane)
      if (elements != by_lane[0]) refuse("it adds up a part of the lanes, or not the same of all");
    const Formula& join = r.a.join;
    const Formula::Step& word = join.steps[at(join.result)];
    if (word.kind != Formula::Kind::word || join.steps.size() != 3)
      refuse("totals of lanes are joined by more than one word");
    const auto of_lane = static_cast<std::int64_t>(by_lane[0].size());
    const Node partial = within_lane(r, by_lane[0], of_lane);
    const Node total = graph_.total(word.word, partial, r.start);
    const Node counted = graph_.word(Word::multiply, graph_.lanes(), graph_.number(DType::int64, of_lane * 1.0L));
    return {finished(r, total, graph_.convert(r.dtype, counted)), uniform};
  }
  Node finished(Reduction& r, Node total, Node count) {
    r.row = {total, count};
    return graph_.read(r.a.finish, r.dtype, r.row);
  }

  // ── small dense algorithms ──

  void expand(const Equation& e, Op op, const std::vector<const Elements*>& operands, Elements& y) {
    std::vector<Shape> shapes;
    std::vector<Element> elements;
    for (const Elements* x : operands) {
      shapes.push_back(x->type.shape);
      elements.insert(elements.end(), x->of.begin(), x->of.end());
    }
    const ElementFormula all = op.rules->on_elements()(op.parameters, shapes);
    require_few_steps(e, all.formula.steps.size() / at(depends_on_lanes(e.outputs[0]) ? lanes_ : 1));
    const DType dtype = all.computed_in ? all.computed_in(y.type.dtype) : computed_dtype(y.type.dtype);
    std::vector<Element> made;
    for (const Formula::Step& step : all.formula.steps) {
      if (step.kind == Formula::Kind::input) {
        made.push_back(in_type(elements[at(step.from[0])], dtype));
        continue;
      }
      if (step.kind == Formula::Kind::number) {
        made.push_back({graph_.number(dtype, step.number), uniform});
        continue;
      }
      int lane = uniform;
      std::array<Node, 3> from = {no_node, no_node, no_node};
      for (std::size_t k = 0; k < 3; ++k)
        if (step.from[k] >= 0) {
          from[k] = made[at(step.from[k])].node;
          lane = join(lane, made[at(step.from[k])].lane);
        }
      const bool selects = step.kind == Formula::Kind::select;
      made.push_back(
          {selects ? graph_.select(from[0], from[1], from[2]) : graph_.word(step.word, from[0], from[1], from[2]),
           lane});
    }
    for (std::size_t i = 0; i < y.of.size(); ++i) y.of[i] = in_type(made[at(all.results[i])], y.type.dtype);
    for (const int step : all.required) to_.required.push_back(made[at(step)].node);
  }

  const ProgramBody &body_, &whole_;
  const LaneSizes& sizes_;
  const std::int64_t lanes_;
  LaneProgram& to_;
  ScalarGraph& graph_;
  const ExpandOptions& options_;
  const std::size_t most_nodes_;
  std::vector<Elements> values_;
  std::vector<bool> is_mixed_;  // by variable
  InputNumbers& input_numbers_;
};

/// The places of one lane's elements in a result, in ascending order, at the first position of the outer axis.
struct OfLane {
  std::vector<std::int64_t> places;
  std::vector<Node> nodes;
};

std::vector<OfLane> by_lane(const Run& run, Variable v) {
  const Elements& y = run.value(v);
  std::vector<OfLane> lanes(at(run.lanes()));
  const int axis = run.lane_axis(v);
  const Strides strides = contiguous_strides(y.type.shape);
  const std::size_t count = at(run.first_of_outer(v));
  for (std::size_t i = 0; i < count; ++i) {
    int lane = y.of[i].lane;
    if (axis >= 0) {
      const auto along = static_cast<int>(static_cast<std::int64_t>(i) / strides[at(axis)] % run.lanes());
      if (lane != uniform && lane != along) refuse("a result has its lanes in another order");
      lane = along;
    }
    if (lane == uniform) refuse("a result holds what serves all lanes beside lanes");
    lanes[at(lane)].places.push_back(static_cast<std::int64_t>(i));
    lanes[at(lane)].nodes.push_back(y.of[i].node);
  }
  return lanes;
}

/// By node: whether lanes may have different values.
std::vector<bool> differs_by_lane(const LaneProgram& program) {
  std::vector<bool> differs;
  for (const ScalarStep& s : program.graph.steps()) {
    const bool is_of_lane =
        s.kind == StepKind::lane || (s.kind == StepKind::input && program.inputs[s.payload].place.stride != 0);
    const auto differs_there = [&](Node n) { return n != no_node && differs[at(n)]; };
    differs.push_back(is_of_lane || (s.kind != StepKind::total && std::ranges::any_of(s.from, differs_there)));
  }
  return differs;
}

/// One truth value: whether every required node holds for which `counts(node)` is true.
template <class Counts>
Node all_that_must_hold(LaneProgram& to, const Counts& counts) {
  Node all = to.graph.number(DType::boolean, std::uint64_t{1});
  std::vector<bool> seen(to.graph.steps().size());
  for (const Node n : to.required) {
    if (!seen[at(n)] && counts(n)) all = to.graph.word(Word::logical_and, all, n);
    seen[at(n)] = true;
  }
  return all;
}

/// What must hold becomes one truth value, behind the outputs. What is the same in all lanes is asked once.
void require(LaneProgram& to) {
  ScalarGraph& graph = to.graph;
  const std::vector<bool> by_lane = differs_by_lane(to);
  const Node yes = graph.number(DType::boolean, std::uint64_t{1});
  const Node once = all_that_must_hold(to, [&](Node n) { return !by_lane[at(n)]; });
  Node in_each = all_that_must_hold(to, [&](Node n) { return by_lane[at(n)]; });
  if (to.has_lanes && !graph.is(in_each, 1)) in_each = graph.total(Word::logical_and, in_each, yes);
  const Node all = graph.word(Word::logical_and, once, in_each);
  if (graph.is(all, 1)) return;
  to.outputs.push_back({all, {static_cast<int>(to.output_dtypes.size()), 0, 0, 0}});
  to.output_dtypes.push_back(DType::boolean);
}

/// The outputs of both runs, as elements of one lane.
void add_output(LaneProgram& to, int tensor, Variable v, const Run& a, const Run& b) {
  if (!a.depends_on_lanes(v)) {
    const Elements &x = a.value(v), &y = b.value(v);
    if (x.of != y.of) refuse("a result depends on the number of lanes");
    const std::size_t count = at(a.first_of_outer(v));
    for (std::size_t i = 0; i < count; ++i) {
      if (x.of[i].lane != uniform) refuse("a result holds one lane alone");
      to.outputs.push_back({x.of[i].node, {tensor, static_cast<std::int64_t>(i), 0, 0}});
    }
    return;
  }
  const std::vector<OfLane> of_a = by_lane(a, v), of_b = by_lane(b, v);
  const auto same = [&](const OfLane& lane) { return lane.nodes == of_a[0].nodes; };
  if (!std::ranges::all_of(of_a, same) || !std::ranges::all_of(of_b, same))
    refuse("a result is not the same of all lanes");
  for (std::size_t j = 0; j < of_a[0].nodes.size(); ++j) {
    const std::int64_t stride = of_a[1].places[j] - of_a[0].places[j];
    const std::int64_t per = (of_a[0].places[j] - of_b[0].places[j]) / (a.lanes() - b.lanes());
    const Place place{tensor, of_a[0].places[j] - per * a.lanes(), per, stride};
    for (const auto& [run, lanes] : {std::pair(&a, &of_a), std::pair(&b, &of_b)})
      for (std::size_t lane = 0; lane < lanes->size(); ++lane)
        if ((*lanes)[lane].places[j] != place.base + per * run->lanes() + static_cast<std::int64_t>(lane) * stride)
          refuse("the lanes of a result lie in no regular order");
    to.outputs.push_back({of_a[0].nodes[j], place});
  }
}

/// Whether all results are the same in all lanes. They may follow from how many there are.
bool is_of_one_lane(const LaneProgram& program) {
  const auto serves_all = [](const Place& p) { return p.stride == 0 && p.per_lane_count == 0; };
  std::vector<Node> results;
  for (const Output& y : program.outputs) {
    if (!serves_all(y.place)) return false;
    results.push_back(y.node);
  }
  return std::ranges::none_of(program.graph.order(results), [&](Node n) {
    const ScalarStep& s = program.graph[n];
    const bool is_of_lanes = s.kind == StepKind::input && !serves_all(program.inputs[s.payload].place);
    return is_of_lanes || s.kind == StepKind::total || s.kind == StepKind::lane;
  });
}

LaneProgram expanded(const ProgramBody& part, const ProgramBody& whole, const ExpandOptions& options) {
  const LaneSizes more(whole, 3, options), fewer(whole, 2, options);
  LaneProgram to;
  InputNumbers numbers;
  const Run first(part, whole, more, to, numbers, options), second(part, whole, fewer, to, numbers, options);
  to.has_lanes = more.has_lanes();
  int tensor = 0;
  for (const Variable v : part.outputs) {
    to.output_dtypes.push_back(part.types[at(v)].dtype);
    add_output(to, tensor++, v, first, second);
  }
  require(to);
  to.has_lanes = to.has_lanes && !is_of_one_lane(to);
  return to;
}

/// A loop with its turns in each lane.
class TurnsInLanes {
 public:
  TurnsInLanes(const ProgramBody& part, const ProgramBody& whole, const ExpandOptions& options)
      : part_(part),
        loop_(part.equations[0]),
        options_(independent(options)),
        more_(whole, 3, options_),
        fewer_(whole, 2, options_) {
    Types operands;
    for (const Variable v : loop_.inputs) operands.push_back(part.types[at(v)]);
    turns_ = *turns_of(loop_, operands);
    if (turns_.streams > 0) refuse("a loop that draws");
    if (!more_.has_lanes()) refuse("a loop without lanes");
    if (turns_.condition && !turns_.asks_each_example) refuse("its condition asks about all lanes");
    InputNumbers numbers;
    const ProgramBody& body = turns_.body->body();
    const Run a(body, whole, more_, to_, numbers, options_), b(body, whole, fewer_, to_, numbers, options_);
    to_.has_lanes = true;
    to_.turns.emplace();
    all().is_backward = turns_.is_backward;
    put_outputs(body, a, b);
    if (std::ranges::all_of(to_.outputs, [](const Output& y) { return y.place.stride == 0; }))
      refuse("a loop that is the same in all lanes");
    put_inputs();
    count_turns();
    put_what_must_hold();
    to_.output_dtypes.push_back(DType::boolean);  // whether the loop has ended
  }
  LaneProgram program() { return std::move(to_); }

 private:
  static ExpandOptions independent(ExpandOptions options) {
    if (options.outer.is_given()) refuse("a loop along two axes");
    options.are_independent = true;
    return options;
  }
  LaneTurns& all() { return *to_.turns; }
  std::size_t rows_end() const { return turns_.state + turns_.rows; }
  /// The loop's operand that the body takes as input number `i`.
  Variable operand(std::size_t i) const {
    return loop_.inputs[i < rows_end() ? i : turns_.read_by_body + i - rows_end()];
  }
  /// Elements of a row; of a whole stack, how far the next row is.
  LaneTurns::RowStep row_step(const Type& row) const {
    const std::int64_t three = more_.put(row).shape.numel().raw(), two = fewer_.put(row).shape.numel().raw();
    if (three == 0) refuse("rows without elements");
    return {three - 3 * (three - two), three - two};
  }

  void put_outputs(const ProgramBody& body, const Run& a, const Run& b) {
    to_.output_dtypes.clear();
    for (const Variable v : part_.outputs) to_.output_dtypes.push_back(part_.types[at(v)].dtype);
    all().out_rows.resize(part_.outputs.size());
    for (std::size_t k = 0; k < body.outputs.size(); ++k) {
      const bool is_state = k < turns_.state;
      const auto result = std::ranges::find(part_.outputs, loop_.outputs[k]);
      const int tensor = result == part_.outputs.end() ? -1 : static_cast<int>(result - part_.outputs.begin());
      if (!is_state && tensor < 0) continue;
      const std::size_t first = to_.outputs.size();
      add_output(to_, tensor, body.outputs[k], a, b);
      if (!is_state) {
        all().out_rows[at(tensor)] = row_step(body.types[at(body.outputs[k])]);
        for (std::size_t i = first; i < to_.outputs.size(); ++i)
          if (to_.outputs[i].place.stride == 0) refuse("rows that serve all lanes");
        all().state_of_output.resize(to_.outputs.size(), LaneTurns::row);
        continue;
      }
      LaneProgram before{.graph = {},
                         .inputs = {},
                         .givens = {},
                         .outputs = {},
                         .has_lanes = true,
                         .output_dtypes = {},
                         .required = {}};
      add_output(before, tensor, body.inputs[k], a, b);
      if (before.outputs.size() != to_.outputs.size() - first) refuse("a state that changes its type");
      for (std::size_t i = 0; i < before.outputs.size(); ++i) {
        const ScalarStep& s = to_.graph[before.outputs[i].node];
        if (s.kind != StepKind::input || !(before.outputs[i].place == to_.outputs[first + i].place) ||
            s.dtype != to_.graph[to_.outputs[first + i].node].dtype)
          refuse("a state that lies otherwise after a turn");
        all().state_of_output.push_back(static_cast<int>(s.payload));
      }
    }
    if (!turns_.asks_each_example) return;
    const Variable answers = body.inputs[turns_.state - 1];
    LaneProgram last{
        .graph = {}, .inputs = {}, .givens = {}, .outputs = {}, .has_lanes = true, .output_dtypes = {}, .required = {}};
    add_output(last, 0, answers, a, b);
    if (last.outputs.size() != 1 || body.types[at(answers)].dtype != DType::boolean ||
        last.outputs[0].place.stride == 0)
      refuse("an answer that is not one for each lane");
    all().goes_on = static_cast<int>(to_.graph[last.outputs[0].node].payload);
  }

  /// The number of the part's input that the body takes as input number `of_body`; -1: a number is the operand.
  int input_of_part(std::size_t of_body) {
    const auto input = std::ranges::find(part_.inputs, operand(of_body));
    if (input == part_.inputs.end()) return -1;
    const auto tensor = input - part_.inputs.begin();
    const bool is_row = of_body >= turns_.state && of_body < rows_end();
    LaneTurns::RowStep& known = all().in_rows[at(tensor)];
    if (is_taken_[at(tensor)] && known.is_stack() != is_row) refuse("an operand that is read whole and row by row");
    is_taken_[at(tensor)] = true;
    if (is_row) known = row_step(turns_.body->body().types[at(turns_.body->body().inputs[of_body])]);
    return static_cast<int>(tensor);
  }
  /// Inputs are numbered as those of the part. A state may begin with a number.
  void put_inputs() {
    all().first_number.resize(to_.inputs.size());
    all().in_rows.resize(part_.inputs.size());
    is_taken_.resize(part_.inputs.size());
    for (std::size_t i = 0; i < to_.inputs.size(); ++i) {
      const auto of_body = at(to_.inputs[i].place.tensor);
      to_.inputs[i].place.tensor = input_of_part(of_body);
      if (to_.inputs[i].place.tensor >= 0) continue;
      const auto number = std::ranges::find(part_.constants, operand(of_body), &Constant::variable);
      if (number == part_.constants.end() || of_body >= turns_.state) refuse("an operand that is a number");
      to_.inputs[i].place = {.tensor = 0, .base = 0, .per_lane_count = 0, .stride = 0};
      assert(number->value->type.dtype == to_.inputs[i].dtype);
      all().first_number[i] = bits_of(*number->value).bits[0];
    }
    for (Given& given : to_.givens) {
      if (at(given.tensor) < rows_end()) refuse("a state or a row is read at places that are computed");
      given.tensor = input_of_part(at(given.tensor));
      if (given.tensor < 0) refuse("an operand that is a number");
    }
  }

  void count_turns() {
    if (!turns_.most_turns->is_symbol()) {
      all().count = turns_.most_turns->raw();
      return;
    }
    if (turns_.rows == 0) refuse("a number of turns that no operand tells");
    const auto stack = std::ranges::find(part_.inputs, loop_.inputs[turns_.state]);
    if (stack == part_.inputs.end()) refuse("a number of turns that no operand tells");
    all().count_given = static_cast<int>(to_.givens.size());
    to_.givens.push_back({Given::What::size, static_cast<int>(stack - part_.inputs.begin()), 0});
  }

  /// In lanes that go on: nobody asks for the others' values.
  void put_what_must_hold() {
    ScalarGraph& graph = to_.graph;
    Node holds = all_that_must_hold(to_, [](Node) { return true; });
    to_.required.clear();
    if (graph.is(holds, 1)) return;
    if (all().goes_on >= 0) {
      const Node is_done = graph.word(Word::logical_not, graph.input(at(all().goes_on), DType::boolean));
      holds = graph.word(Word::logical_or, is_done, holds);
    }
    to_.outputs.push_back({holds, {.tensor = -1, .base = 0, .per_lane_count = 0, .stride = 0}});
    all().state_of_output.push_back(LaneTurns::must_hold);
  }

  const ProgramBody& part_;
  const Equation& loop_;
  const ExpandOptions options_;
  const LaneSizes more_, fewer_;
  Turns turns_;
  LaneProgram to_;
  std::vector<bool> is_taken_;  // by input of the part
};

ExpandOptions along_outer(const ExpandOptions& options) {
  ExpandOptions along = options;
  std::swap(along.lanes, along.outer);
  along.are_independent = true;
  return along;
}

}  // namespace

std::variant<LaneProgram, NotExpandable> expand(const ProgramBody& part, const ProgramBody& whole,
                                                const ExpandOptions& options) try {
  if (options.outer.is_given()) expanded(part, whole, along_outer(options));
  return expanded(part, whole, options);
} catch (const NotExpandable& not_said) { return not_said; }

std::variant<LaneProgram, NotExpandable> expand_turns(const ProgramBody& part, const ProgramBody& whole,
                                                      const ExpandOptions& options) try {
  return TurnsInLanes(part, whole, options).program();
} catch (const NotExpandable& not_said) { return not_said; }

std::variant<LaneProgram, NotExpandable> expand(const Program& program, const ExpandOptions& options) try {
  const ProgramBody& body = program.body();
  const SymbolScope scope(or_those_here(body.symbols));
  for (const std::int64_t lanes : {3, 2}) {
    const LaneSizes sizes(body, lanes, options);
    sizes.require_guards();
    sizes.require_no_open();
  }
  return expand(body, body, options);
} catch (const NotExpandable& not_said) { return not_said; }

std::optional<Expandability> expandability(const ProgramBody& body, const ExpandOptions& options,
                                           const std::function<bool(std::size_t)>& goes_on) try {
  const std::size_t count = body.equations.size();
  Expandability found{std::vector<bool>(count), std::vector<std::size_t>(count)};
  const auto finds_more = [&](const ExpandOptions& how) {
    LaneProgram to;
    InputNumbers numbers;
    const std::vector<bool> before = found.apart;
    const LaneSizes sizes(body, 2, how);  // what holds for 2 lanes, as a slice in range, holds for 3
    const Run run(body, body, sizes, to, numbers, how, &found, goes_on);
    return found.apart != before;
  };
  finds_more(options);
  if (!options.outer.is_given()) return found;
  while (finds_more(along_outer(options)) && finds_more(options)) {}
  return found;
} catch (const GivenUp&) { return std::nullopt; }

Expandability expandability(const ProgramBody& body, const ExpandOptions& options) {
  return *expandability(body, options, {});
}

namespace {
std::string text_of(const Given& given) {
  if (given.what == Given::What::filling) return "lanes that fill a register\n";
  const std::string input = "input " + std::to_string(given.tensor);
  if (given.what == Given::What::address) return "address of " + input + "\n";
  return "size of " + input + " along axis " + std::to_string(given.axis) + "\n";
}
}  // namespace

std::string to_string(const LaneProgram& program) {
  const auto text = [](const Place& place) {
    return std::to_string(place.tensor) + "[" + std::to_string(place.base) +
           (place.per_lane_count ? " + " + std::to_string(place.per_lane_count) + " lanes" : "") +
           (place.stride ? " + " + std::to_string(place.stride) + " lane" : "") + "]";
  };
  std::vector<Node> nodes;
  for (const Output& output : program.outputs) nodes.push_back(output.node);
  std::string all, givens;
  std::vector<bool> is_read(program.inputs.size());
  for (const Node n : program.graph.order(nodes)) {
    const ScalarStep& s = program.graph[n];
    if (s.kind == StepKind::input) is_read[s.payload] = true;
    if (s.kind == StepKind::given)
      givens += "given" + std::to_string(s.payload) + " = " + text_of(program.givens[s.payload]);
  }
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    if (is_read[i])
      all += "x" + std::to_string(i) + ": " + short_name(program.inputs[i].dtype) + " = input " +
             text(program.inputs[i].place) + "\n";
  all += givens;
  all += to_string(program.graph, nodes) + "to";
  for (const Output& output : program.outputs) all += " " + text(output.place);
  return all + "\n";
}

}  // namespace ricci::compiled
