// Equation by equation, the programs of loops and branches among them.
#include "compile/function_steps.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "compile/costs.h"
#include "compile/elements.h"
#include "compile/lane_steps.h"
#include "compile/lifetimes.h"
#include "compile/pieces.h"
#include "compile/switches.h"
#include "interpreters/places.h"
#include "interpreters/recorder.h"
#include "kernels/strided.h"
#include "program/element_sources.h"
#include "program/programs_run.h"
#include "program/structure.h"
#include "ricci/interruption.h"
#include "ricci/ops.h"
#include "transforms/arguments.h"

namespace ricci::compiled {
namespace {

/// Bytes of the workspace, given out for as long as they are needed.
class Workspace {
 public:
  /// From step `from` to step `to`, both included.
  std::int64_t take(std::int64_t bytes, std::size_t from, std::size_t to) {
    assert(from <= to);
    if (bytes == 0) return 0;
    std::erase_if(taken_, [&](const Part& part) { return part.last < from; });
    std::ranges::sort(taken_, {}, &Part::begin);
    std::int64_t begin = 0;
    for (const Part& part : taken_) {
      if (part.begin - begin >= bytes) break;
      begin = std::max(begin, aligned(part.end));
    }
    taken_.push_back({begin, begin + bytes, to});
    bytes_ = std::max(bytes_, begin + bytes);
    return begin;
  }
  std::int64_t bytes() const { return bytes_; }
  static std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
  static constexpr std::int64_t alignment = 64;

 private:
  struct Part {
    std::int64_t begin, end;
    std::size_t last;
  };
  std::vector<Part> taken_;
  std::int64_t bytes_ = 0;
};

/// A value: elements from a place on, by strides.
struct Placed {
  Location where;
  Strides strides;
  bool is_contiguous(const Shape& shape) const { return ricci::is_contiguous(shape, strides); }
};

Placed row_by_row(const Location& where, const Type& type) { return {where, contiguous_strides(type.shape)}; }

/// Requires: x is an array.
Strided elements_of(const Tensor& x) { return static_cast<const Array&>(*value_of(x)).strided(); }

/// Code holds the constants of functions that run in the library, for each size anew: so they are small.
Folded folded_here(const Program& program) {
  return folded(program, {}, {.most_elements = 4096, .folds_views = false});
}

/// What the programs of one plan share.
struct SharedByPlan {
  PlannedFunction& planned;
  runs::Place where;
  bool calls_library;
  const Target& target;
  Workspace workspace = {};
  OriginRef origin = nullptr;             // of the equation that is planned
  int loops = 0;                          // around it
  double operations_in_place = 0;         // of kernels whose code stands where it runs
  std::vector<WorkspacePart> rooms = {};  // that serve one step

  [[noreturn]] void refuse(const std::string& why) const {
    raise_own<NotImplementedError>("export_object: " + why, where);
  }
  Location constant(const Tensor& x) {
    const Tensor rows = x.contiguous();
    if (value_of(rows)->kind != ValueKind::array) refuse("a captured tensor belongs to a transform");
    const Strided elements = elements_of(rows);
    const auto bytes = at(kernels::element_count(elements)) * element_size(elements.dtype);
    planned.plan.constants.emplace_back(static_cast<const char*>(elements.data), bytes);
    return {Location::In::constant, planned.plan.constants.size() - 1};
  }
  Location table(const std::vector<std::int32_t>& numbers) {
    planned.plan.constants.emplace_back(reinterpret_cast<const char*>(numbers.data()),
                                        numbers.size() * sizeof numbers[0]);
    return {Location::In::constant, planned.plan.constants.size() - 1};
  }
};

/// The steps of one program.
class Planner {
 public:
  /// `during`: the step of the program around this one; none: there is none. `may_overwrite`: the arguments whose
  /// memory the steps may overwrite.
  Planner(SharedByPlan& whole, Folded kernels, std::optional<std::size_t> during, const Flags& may_overwrite)
      : whole_(whole),
        program_(std::move(kernels.program)),
        during_(during),
        placed_(body().types.size()),
        lifetimes_(lifetimes_of(body(), may_overwrite, whole.calls_library)) {
    const std::size_t given = body().inputs.size() - kernels.constants.size();
    for (std::size_t i = given; i < body().inputs.size(); ++i)
      put_constant(body().inputs[i], kernels.constants[i - given]);
    for (const Constant& c : body().constants) put_constant(c.variable, wrap(c.value));
    whole.planned.programs.push_back(program_);
  }

  /// Whether result number `k` may stand where argument number `k` stands: it lies there when the steps are done.
  bool replaces_argument(std::size_t k) const { return lifetimes_.replaced_by(k) == k; }

  std::vector<Step> steps(const std::vector<Placed>& arguments, const std::vector<Location>& results) {
    for (std::size_t i = 0; i < arguments.size(); ++i) placed_[at(body().inputs[i])] = arguments[i];
    results_ = results;
    for (now_ = 0; now_ < body().equations.size(); ++now_) {
      allow_interruption();
      run(body().equations[now_]);
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      const Placed& from = *placed_[at(body().outputs[k])];
      const bool is_there = from.where == results[k] && from.is_contiguous(type(body().outputs[k]).shape);
      if (!is_there) copy(body().outputs[k], results[k]);
    }
    return std::move(steps_);
  }

 private:
  const ProgramBody& body() const { return program_.body(); }
  const Type& type(Variable v) const { return body().types[at(v)]; }
  bool is_empty(Variable v) const { return type(v).shape.numel() == 0; }
  void put(Variable v, const Location& l) { placed_[at(v)] = row_by_row(l, type(v)); }
  void put_constant(Variable v, const Tensor& x) {
    constants_[v] = x;
    put(v, whole_.constant(x));
  }
  [[noreturn]] void refuse(const std::string& why) const { whole_.refuse(why); }
  [[noreturn]] void refuse_draws() const {
    refuse(
        "the function draws random numbers from a generator, which stands in the library; draw by a key that is an "
        "argument, as rc::normal(key, shape) does, or let the function take the numbers");
  }

  static Lifetimes lifetimes_of(const ProgramBody& body, const Flags& may_overwrite, bool calls_library) {
    Flags of_inputs = may_overwrite;
    of_inputs.resize(body.inputs.size(), false);  // behind the arguments: constants
    return {body, of_inputs, [&](const Equation& e) { return made_in(e, calls_library); }};
  }
  /// Of an equation that runs programs. Each part of a loop's state begins as an operand. So does what all branches
  /// give in the memory of one operand.
  static MadeIn made_in(const Equation& e, bool calls_library) {
    MadeIn operands(e.outputs.size(), std::nullopt);
    const ProgramsRun run = programs_run(*e.rules, e.parameters.get());
    if (const auto* const turns = std::get_if<Turns>(&run))
      for (std::size_t i = 0; i < turns->state; ++i) operands[i] = i;
    if (const auto* const all = std::get_if<Branches>(&run); all && calls_library) {
      for (const Branch& one : *all) {
        const Folded inner = folded_here(*one.program);
        const Lifetimes own = lifetimes_of(inner.program.body(), Flags(one.operands.size(), true), calls_library);
        for (std::size_t k = 0; k < operands.size(); ++k) {
          const std::optional<std::size_t> input = own.replaced_by(k);
          const bool is_operand = input && *input < one.operands.size();
          const auto operand = is_operand ? std::optional(one.operands[*input]) : std::nullopt;
          if (&one == &all->front()) operands[k] = operand;
          else if (operands[k] != operand) operands[k].reset();
        }
      }
    }
    return operands;
  }
  /// The step, of the program around this one if there is one.
  std::size_t during() const { return during_.value_or(now_); }
  /// In the workspace, from now to step `last`. Memory of an inner program is kept for the whole step of the program
  /// around it: each turn uses it again.
  Location room(std::int64_t bytes, std::size_t last) {
    const Location taken{Location::In::workspace, 0, whole_.workspace.take(bytes, during(), during_.value_or(last))};
    if (bytes > 0 && (during_ || last == now_)) whole_.rooms.push_back({taken.offset, bytes});
    return taken;
  }
  Location room_for(Variable v) { return room(bytes_of(type(v)), lifetimes_.last_use(v)); }

  void run(const Equation& e) {
    const OriginRef around = std::exchange(whole_.origin, joined(e.origin, whole_.origin));
    plan(e);
    whole_.origin = around;
  }
  void plan(const Equation& e) {
    if (gives_nothing(body(), e) &&
        (whole_.calls_library || structure_as<AtPlaces>(e.op()) || !may_be_wrong(body(), e)))
      return give_nothing(e);
    if (e.rules->is_view() && view(e)) return;
    if (const std::optional<KernelCall> call = kernel_call(e, operand_types(body(), e))) {
      if (stands_in_place(e, *call)) return kernel(e, *call, true);
      if (whole_.calls_library && call->apart && call->has_too_few_lanes) return run_apart(e, *call->apart);
      if (whole_.calls_library && !is_worth_a_step(e, *call)) return call_library(e);
      return kernel(e, *call);
    }
    if (const auto turns = turns_of(e, operand_types(body(), e))) return turn(e, *turns);
    if (const auto passes = run_as<Passes>(e); passes && !passes->keeps_few_of_them) return run_passes(e, *passes);
    if (const auto branches = run_as<Branches>(e)) return branch(e, *branches);
    if (const Program* const apart = program_apart(e)) return run_apart(e, resolved(*apart));
    const auto places = structure_as<AtPlaces>(e.op());
    if (whole_.calls_library) {
      const auto is_small = [&](Variable v) { return type(v).shape.numel() <= few_elements; };
      const bool may_move = std::ranges::all_of(e.inputs, is_small) && std::ranges::all_of(e.outputs, is_small);
      if (may_move && moves(e)) return;
      if (places && names_few(e, *places)) return go_to_places(e, *places);
      return call_library(e);
    }
    if (moves(e)) return;
    if (places) return go_to_places(e, *places);
    if (const auto allowed = structure_as<Allowed>(e.op())) return check(e, *allowed);
    if (const auto copied = structure_as<Copied>(e.op()); copied && copied->fills_rows) return fill_rows(e);
    if (const auto blocks = structure_as<Blocks>(e.op()))
      if (draw(e, *blocks)) return;
    if (gives_constants(e)) return put_constants(e);
    if (runs_in_a_row(body(), e)) return run_in_a_row(e);
    if (takes_place_of_draw(*e.rules)) refuse_draws();
    if (e.rules->effect == Effect::acts)
      refuse(std::string(e.rules->name) +
             " acts outside the function each time it runs, and an exported function runs without the library; leave "
             "it out, or return the value and let the caller do it");
    if (const auto running = structure_as<Running>(e.op()); running && !is_complex(type(e.inputs[0]).dtype))
      return run_along(e, *running);
    if (const auto simpler = simpler_program(e)) return run_apart(e, *simpler);
    const DType dtype = type(e.outputs[0]).dtype;
    const bool has_product = is_floating(dtype) && !is_complex(dtype);
    if (const auto axes = structure_as<ProductAxes>(e.op()); axes && has_product) return multiply(e, *axes);
    refuse(std::string(e.rules->name) + " of " + to_string(type(e.inputs.empty() ? e.outputs[0] : e.inputs[0])) +
           " is computed by the library, and an exported function runs without it; export the parts before and behind "
           "it as functions of their own");
  }

  /// Of results without elements. The operands may have some, and be wrong: an index has no place in an empty table.
  void give_nothing(const Equation& e) {
    if (whole_.calls_library && may_be_wrong(body(), e)) return call_library(e);
    if (const auto places = structure_as<AtPlaces>(e.op())) check_places(e, *places);
    for (const Variable v : e.outputs) place_result(v);
  }
  /// False where the result shares no elements with its operand.
  bool view(const Equation& e) {
    const Placed& from = *placed_[at(e.inputs[0])];
    Type seen = type(e.inputs[0]);
    Strides strides = from.strides;
    const auto first = std::make_unique<std::byte[]>(1);  // an address to count from
    void* data = first.get();
    if (!e.rules->alias(e.parameters.get(), seen, strides, data)) {
      if (from.is_contiguous(type(e.inputs[0]).shape)) return false;
      put(e.inputs[0], copied(e.inputs[0]));
      return view(e);
    }
    Location where = from.where;
    where.offset += static_cast<std::byte*>(data) - first.get();
    placed_[at(e.outputs[0])] = Placed{where, strides};
    return true;
  }

  Location copied(Variable v) {
    const Location to = room_for(v);
    copy(v, to);
    return to;
  }
  void copy(Variable v, const Location& to) {
    if (type(v).shape.numel() != 0) steps_.push_back({copy_step(type(v), *placed_[at(v)], to)});
  }
  static CopyStep copy_step(const Type& type, const Placed& from, const Location& to) {
    CopyStep step{from.where, to, type.dtype, {}, {}};
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
      step.shape.push_back(type.shape[i].raw());
      step.strides.push_back(from.strides[i]);
    }
    return step;
  }
  /// Row by row.
  const Location& contiguous(Variable v) {
    if (!placed_[at(v)]->is_contiguous(type(v).shape)) put(v, copied(v));
    return placed_[at(v)]->where;
  }
  /// The place of a variable whose memory becomes a result of the program is that result's; another gets room in the
  /// workspace.
  Location place_result(Variable v) {
    const auto becomes = [&](Variable output) {
      const Lies& place = lifetimes_.lies(output);
      return place.in == v && place.is_whole(type(output)) && bytes_of(type(output)) == bytes_of(type(v));
    };
    const auto output = std::ranges::find_if(body().outputs, becomes);
    put(v, output != body().outputs.end() ? results_[at(output - body().outputs.begin())] : room_for(v));
    return placed_[at(v)]->where;
  }
  /// Whether nobody reads the operand any more as which the result begins, and its elements lie row by row.
  bool has_place_of_operand(Variable result) const {
    const std::optional<Variable> operand = lifetimes_.made_in(result);
    return operand && placed_[at(*operand)]->is_contiguous(type(*operand).shape);
  }
  /// Where a result stands that begins as an operand: in its memory, or in its own.
  Location place_as_operand(Variable result) {
    if (!has_place_of_operand(result)) return place_result(result);
    put(result, placed_[at(*lifetimes_.made_in(result))]->where);
    return placed_[at(result)]->where;
  }
  /// Makes the first operand the result, of which a part is replaced then.
  void begin_as_first_operand(const Equation& e) {
    if (lifetimes_.made_in(e.outputs[0])) placed_[at(e.outputs[0])] = placed_[at(e.inputs[0])];
    else copy(e.inputs[0], place_result(e.outputs[0]));
  }

  std::optional<Program> simpler_program(const Equation& e) const {
    const auto simpler = e.rules->simpler;
    const auto fits = [&](Variable v) { return !is_empty(v) && !is_complex(type(v).dtype); };
    if (!simpler || !std::ranges::all_of(e.inputs, fits)) return std::nullopt;
    Recorder recorder("export_object", Records::program, entry_of("export_object", whole_.where));
    for (const Tensor& y : simpler(e.parameters.get(), recorder.inputs(operand_types(body(), e)))) recorder.output(y);
    return recorder.end();
  }
  /// The program in place of the equation.
  void run_apart(const Equation& e, const Program& program) {
    std::vector<Placed> operands;
    std::vector<Location> results;
    for (const Variable v : e.inputs) operands.push_back(*placed_[at(v)]);
    for (const Variable v : e.outputs) results.push_back(place_result(v));
    for (Step& step : steps_of(program, operands, results)) steps_.push_back(std::move(step));
  }
  void call_library(const Equation& e) {
    const bool replaces = e.rules->overwrite && lifetimes_.made_in(e.outputs[0]);
    if (replaces && !structure_as<AtPlaces>(e.op())) contiguous(e.inputs[0]);
    CallStep step{number_of_call(e), {}, {}};
    whole_.planned.calls.back().replaces = replaces;
    for (const Variable v : e.inputs) step.in.push_back(placed_[at(v)]->where);
    if (replaces) placed_[at(e.outputs[0])] = placed_[at(e.inputs[0])];
    for (const Variable v : e.outputs) step.out.push_back(replaces ? step.in[0] : place_result(v));
    steps_.push_back({std::move(step)});
  }
  std::int64_t number_of_call(const Equation& e) {
    LibraryCall call{.equation = e, .in = operand_types(body(), e), .out = {}};
    for (const Variable v : e.inputs) call.in_strides.push_back(placed_[at(v)]->strides);
    for (const Variable v : e.outputs) call.out.push_back(type(v));
    whole_.planned.calls.push_back(std::move(call));
    return std::ssize(whole_.planned.calls) - 1;
  }
  /// With RICCI_COMPILE_WITHOUT=registers in the environment no kernel does, and so no loop is in registers.
  bool stands_in_place(const Equation& e, const KernelCall& call) const {
    return whole_.loops > 0 && call.positions == 1 && !is_listed("RICCI_COMPILE_WITHOUT", "registers") &&
           std::ranges::none_of(e.inputs, [&](Variable v) { return is_empty(v); }) &&
           may_stand_in_place(call.kernel->plan(), whole_.operations_in_place);
  }
  /// The library runs long kernels on several threads, kernels of few lanes equation by equation, and may end loops.
  bool is_worth_a_step(const Equation& e, const KernelCall& call) const {
    constexpr double long_nanoseconds = 20'000;
    if (call.kernel->has_turns()) return false;
    const auto positions = static_cast<double>(call.positions);
    return std::ranges::none_of(e.inputs, [&](Variable v) { return is_empty(v); }) &&
           call.kernel->nanoseconds(call.lanes) * positions < long_nanoseconds && !call.has_too_few_lanes &&
           call.kernel->code();
  }

  void kernel(const Equation& e, const KernelCall& call, bool stands_in_place = false) {
    const auto empty = std::ranges::find_if(e.inputs, [&](Variable v) { return is_empty(v); });
    if (empty != e.inputs.end() && call.lanes == 0) refuse("an operand is empty: " + to_string(type(*empty)));
    KernelStep step{.plan = &call.kernel->plan(), .lanes_together = call.kernel->lanes_together(), .in = {}, .out = {}};
    if (stands_in_place) {
      step.stands_in_place = true;
      whole_.operations_in_place += step.plan->operations(step.plan->stages[0].once);
    } else if (whole_.calls_library) {
      step.own_code = static_cast<std::int32_t>(whole_.planned.careful.size());
      whole_.planned.careful.emplace_back(*call.kernel);
    }
    step.lanes = call.lanes;
    step.positions = call.positions;
    const auto of_position = [&](Variable v, bool has_outer) {
      return has_outer ? bytes_of(type(v)) / type(v).shape[0].raw() : 0;
    };
    for (std::size_t k = 0; k < e.inputs.size(); ++k) {
      step.in.push_back(contiguous(e.inputs[k]));
      step.in_steps.push_back(of_position(e.inputs[k], call.has_outer[k]));
    }
    if (stands_in_place && whole_.calls_library && may_be_large(*step.plan)) step.careful_call = number_of_call(e);
    for (std::size_t k = 0; k < e.outputs.size(); ++k) {
      step.out.push_back(place_result(e.outputs[k]));
      step.out_steps.push_back(of_position(e.outputs[k], call.result_has_outer[k]));
    }
    for (const Given& given : step.plan->program.givens) {
      const bool is_size = given.what == Given::What::size;
      step.sizes.push_back(is_size ? type(e.inputs[at(given.tensor)]).shape[at(given.axis)].raw() : 0);
    }
    std::size_t most_totals = 0;
    for (const Stage& stage : step.plan->stages) {
      const std::size_t totals = stage.totals.size();
      const Pieces pieces(std::max<std::int64_t>(step.lanes, step.lanes_together), step.lanes_together, totals);
      most_totals = std::max(most_totals, totals * at(pieces.count));
    }
    step.slots = room(8 * step.plan->slot_count, now_).offset;
    step.totals = room(8 * static_cast<std::int64_t>(most_totals), now_).offset;
    if (step.filled() > 0) {
      step.copies = filled_copies(step.plan->program, e.inputs.size(), step.lanes_together);
      step.copied = room(step.copies.bytes, now_).offset;
    }
    steps_.push_back({std::move(step)});
  }

  /// Whether an argument of a sine or cosine may be larger than their formulas hold for.
  static bool may_be_large(const LanePlan& plan) {
    return std::ranges::any_of(plan.program.graph.steps(), &ScalarStep::is_circular);
  }

  // ── elements that only move ──

  /// False where the equation does more than move elements to places that are known.
  bool moves(const Equation& e) {
    const unsigned moved = e.rules->moves_elements ? e.rules->moves_elements(e.parameters.get()) : 0;
    if (moved == 0 || e.outputs.size() != 1) return false;
    const Type& result = type(e.outputs[0]);
    std::vector<Tensor> zeros;  // as operands
    bool converts = false;
    for (std::size_t k = 0; k < e.inputs.size(); ++k) {
      const Type& of = type(e.inputs[k]);
      if (std::max(of.shape.numel().raw(), result.shape.numel().raw()) > INT32_MAX) return false;
      const bool chooses = !((moved >> k) & 1U);
      if (chooses && !constants_.contains(e.inputs[k])) return false;
      zeros.push_back(chooses ? constants_.at(e.inputs[k]) : ops::zeros(of.shape, of.dtype));
      converts = converts || (!chooses && of.dtype != result.dtype);
    }
    std::vector<Strided> operands;
    for (const Tensor& x : zeros) operands.push_back(elements_of(x));
    const std::vector<ElementSource> sources = sources_of(e.op(), moved, operands, {result})[0];
    if (converts) {
      const bool is_in_place = result.rank() > 1 && e.inputs.size() == 1 && stays(sources);
      if (is_in_place) run_in_a_row(e);
      return is_in_place;
    }
    write_moves(e, sources, operands);
    return true;
  }
  static bool stays(const std::vector<ElementSource>& sources) {
    std::int64_t i = 0;
    return std::ranges::all_of(sources, [&](const ElementSource& s) { return s.operand == 0 && s.element == i++; });
  }
  /// `pairs`: of elements that are written and read.
  static bool stays_where_it_was(const std::vector<std::int32_t>& pairs) {
    for (std::size_t i = 0; i < pairs.size(); i += 2)
      if (pairs[i] != pairs[i + 1]) return false;
    return true;
  }
  /// `zeros`: operands for which the operation gives what it writes by itself.
  void write_moves(const Equation& e, const std::vector<ElementSource>& sources, const std::vector<Strided>& zeros) {
    std::vector<std::vector<std::int32_t>> tables(zeros.size() + 1);  // by operand; the last: of its own numbers
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const bool is_own = sources[i].operand < 0;
      std::vector<std::int32_t>& table = is_own ? tables.back() : tables[at(sources[i].operand)];
      table.push_back(static_cast<std::int32_t>(i));
      table.push_back(static_cast<std::int32_t>(is_own ? static_cast<std::int64_t>(i) : sources[i].element));
    }
    const bool replaces = has_place_of_operand(e.outputs[0]) && stays_where_it_was(tables[0]);
    if (replaces) tables[0].clear();
    std::vector<Location> from;
    for (std::size_t k = 0; k < zeros.size(); ++k)
      from.push_back(tables[k].empty() ? Location() : contiguous(e.inputs[k]));
    if (!tables.back().empty()) {
      const ArrayRef own = make_array(type(e.outputs[0]));
      const std::array<Strided, 1> out = {own->strided()};
      e.rules->eval(e.parameters.get(), out, zeros);
      from.push_back(whole_.constant(wrap(own)));
    }
    const Location to = replaces ? place_as_operand(e.outputs[0]) : place_result(e.outputs[0]);
    const DType dtype = type(e.outputs[0]).dtype;
    for (std::size_t k = 0; k < tables.size(); ++k) {
      const auto length = static_cast<std::int64_t>(tables[k].size());
      if (length > 0) steps_.push_back({MoveStep{from[k], to, whole_.table(tables[k]), dtype, length / 2}});
    }
  }

  /// Elements that are all the same one are one in the object.
  void put_constants(const Equation& e) {
    std::vector<ArrayRef> made;
    std::vector<Strided> out;
    for (const Variable v : e.outputs) out.push_back(made.emplace_back(make_array(type(v)))->strided());
    e.rules->eval(e.parameters.get(), out, {});
    for (std::size_t k = 0; k < made.size(); ++k) {
      const Variable v = e.outputs[k];
      const std::size_t bytes = element_size(type(v).dtype);
      const auto* const first = static_cast<const char*>(out[k].data);
      const std::size_t count = at(type(v).shape.numel().raw());
      const bool is_one = std::equal(first + bytes, first + count * bytes, first);  // each byte as `bytes` before it
      Strides strides = contiguous_strides(type(v).shape);
      if (is_one) std::ranges::fill(strides, 0);
      const Tensor whole = wrap(made[k]);
      placed_[at(v)] = Placed{whole_.constant(is_one ? whole.reshape({-1}).slice(0, 0, 1) : whole), strides};
    }
  }

  // ── elements at places ──

  static constexpr std::int64_t few_elements = 256;

  /// Sums of several terms are made in float64. A single float32 that is added to another gives the same in float32.
  bool has_totals(const Equation& e, const AtPlaces& places) const {
    const DType dtype = type(e.inputs[0]).dtype;
    const bool adds_one_each = dtype == DType::float32 && type(e.inputs[2]).shape.numel() == 1;
    return places.what == AtPlaces::What::adds && is_floating(dtype) && dtype != DType::float64 && !adds_one_each;
  }
  /// Whether code reads or writes the elements as fast as the library, and with the same bits.
  bool names_few(const Equation& e, const AtPlaces& places) const {
    const bool reads = places.what == AtPlaces::What::reads, adds = places.what == AtPlaces::What::adds;
    const DType dtype = type(e.inputs[0]).dtype;
    if (adds && (has_totals(e, places) || is_complex(dtype) || dtype == DType::boolean)) return false;
    return type(reads ? e.outputs[0] : e.inputs[1]).shape.numel() <= few_elements;
  }
  void go_to_places(const Equation& e, const AtPlaces& places) {
    const bool reads = places.what == AtPlaces::What::reads, adds = places.what == AtPlaces::What::adds;
    const Type& table = type(e.inputs[0]);
    if (adds && (is_complex(table.dtype) || table.dtype == DType::boolean))
      refuse("sums of " + to_string(table.dtype) + " at places that are computed");
    PlacesStep step{.what = places.what,
                    .wraps = places.wraps,
                    .dtype = table.dtype,
                    .table = {},
                    .values = {},
                    .shape = {},
                    .table_strides = {},
                    .value_strides = {},
                    .index_axes = 0,
                    .indices = {},
                    .elements = table.shape.numel().raw(),
                    .totals = {}};
    if (!reads) begin_as_first_operand(e);
    const Placed from = *placed_[at(reads ? e.inputs[0] : e.outputs[0])];
    if (reads) place_result(e.outputs[0]);
    const Variable of_values = reads ? e.outputs[0] : e.inputs[1];
    const Placed& values = *placed_[at(of_values)];
    step.table = from.where, step.values = values.where;
    const std::size_t first_index = reads ? 1 : 2;
    const Shape& of_index = type(e.inputs[first_index]).shape;
    step.index_axes = of_index.size();
    const auto walk = [&](std::int64_t size, std::int64_t in_table) {
      step.value_strides.push_back(values.strides[step.shape.size()]);
      step.shape.push_back(size), step.table_strides.push_back(in_table);
    };
    const std::size_t named = e.inputs.size() - first_index;
    for (std::size_t i = 0; i < of_index.size(); ++i) {
      const bool is_own = places.axis && static_cast<std::int64_t>(i) != *places.axis;
      walk(of_index[i].raw(), is_own ? from.strides[i] : 0);
    }
    for (std::size_t i = named; !places.axis && i < table.shape.size(); ++i)
      walk(table.shape[i].raw(), from.strides[i]);
    for (std::size_t k = 0; k < named; ++k) {
      const Placed& index = *placed_[at(e.inputs[first_index + k])];
      const std::size_t axis = places.axis ? at(*places.axis) : k;
      step.indices.push_back(
          {index.where, {index.strides.begin(), index.strides.end()}, table.shape[axis].raw(), from.strides[axis]});
    }
    if (has_totals(e, places)) step.totals = room(8 * step.elements, now_).offset;
    steps_.push_back({std::move(step)});
  }

  void check(const Equation& e, const Allowed& allowed) {
    check(e.inputs[0], allowed);
    if (!e.outputs.empty()) placed_[at(e.outputs[0])] = placed_[at(e.inputs[0])];
  }
  void check(Variable v, const Allowed& allowed) {
    steps_.push_back({CheckStep{contiguous(v), type(v).dtype, type(v).shape.numel().raw(), allowed}});
  }
  /// The indices, where there is nothing to read or write.
  void check_places(const Equation& e, const AtPlaces& places) {
    const std::size_t first_index = places.what == AtPlaces::What::reads ? 1 : 2;
    for (std::size_t i = first_index; i < e.inputs.size(); ++i) {
      const std::size_t axis = places.axis ? at(*places.axis) : i - first_index;
      const std::int64_t size = type(e.inputs[0]).shape[axis].raw();
      check(e.inputs[i], {.least = places.wraps ? -size : 0, .most = size - 1});
    }
  }

  // ── elements one after the other ──

  void run_along(const Equation& e, const Running& running) {
    const Type &from = type(e.inputs[0]), &to = type(e.outputs[0]);
    RunningStep step{.from = contiguous(e.inputs[0]),
                     .to = place_result(e.outputs[0]),
                     .from_type = from.dtype,
                     .total_type = running.computed_in(from.dtype),
                     .to_type = to.dtype,
                     .word = running.word,
                     .is_backward = running.is_backward,
                     .outer = 1,
                     .count = from.shape[at(running.axis)].raw(),
                     .inner = 1};
    for (std::int64_t i = 0; i < from.rank(); ++i)
      if (i != running.axis) (i < running.axis ? step.outer : step.inner) *= from.shape[at(i)].raw();
    steps_.push_back({step});
  }

  // ── draws ──

  /// Each lane makes one block of numbers, and the last block may be longer than what is left to fill: then its end is
  /// dropped. One source follows the other.
  bool draw(const Equation& e, const Blocks& blocks) {
    const Type &sources = type(e.inputs[0]), &drawn = type(e.outputs[0]);
    const std::int64_t count = sources.shape.numel().raw() / 2, of_one = drawn.shape.numel().raw() / count;
    const Type in_rows{drawn.dtype, {(of_one + blocks.elements - 1) / blocks.elements, blocks.elements}};
    if (count == 1 && drawn.shape == in_rows.shape) return false;
    ProgramBody one;
    one.types = {{sources.dtype, {2}}, in_rows};
    one.inputs = {Variable{0}}, one.outputs = {Variable{1}};
    one.equations.push_back({.rules = e.rules,
                             .parameters = blocks.of_shape(e.parameters.get(), in_rows.shape),
                             .inputs = {Variable{0}},
                             .outputs = {Variable{1}}});
    const Program program{Shared<const ProgramBody>(new ProgramBody(std::move(one)))};
    const Location source = room(16, now_), row = room(bytes_of(in_rows), now_);
    const std::int64_t bytes = bytes_of(drawn) / count;
    LoopStep loop{.most_turns = count, .is_backward = false};
    loop.reads.push_back({contiguous(e.inputs[0]), source, 16, sources.dtype, 16});
    loop.body = steps_of(program, {row_by_row(source, {sources.dtype, {2}})}, {row});
    loop.writes.push_back({place_result(e.outputs[0]), row, bytes, drawn.dtype, bytes});
    steps_.push_back({std::move(loop)});
    return true;
  }

  // ── rows that take part ──

  void fill_rows(const Equation& e) {
    const Shape& flags = type(e.inputs[0]).shape;
    const std::int64_t rows = flags[flags.size() - 1].raw(), groups = flags.numel().raw() / rows;
    const std::int64_t row_bytes = bytes_of(type(e.inputs[1])) / (groups * rows);
    const Location takes_part = contiguous(e.inputs[0]), from = contiguous(e.inputs[1]);
    steps_.push_back(
        {FillStep{takes_part, from, place_result(e.outputs[0]), type(e.inputs[1]).dtype, groups, rows, row_bytes}});
  }

  // ── elements in a row ──

  /// The equation on operands spread under the result's shape, as one axis.
  void run_in_a_row(const Equation& e) {
    const auto row = [&](Variable v) {
      const bool is_one = type(v).shape.numel() == 1;
      return Type{type(v).dtype, is_one ? Shape{} : Shape{type(e.outputs[0]).shape.numel()}, type(v).weak};
    };
    ProgramBody flat;
    Equation same = e;
    same.inputs = {}, same.outputs = {};
    std::vector<Placed> operands;
    for (const Variable v : e.inputs) {
      const bool is_one = type(v).shape.numel() == 1;
      const auto here = static_cast<Variable>(flat.types.size());
      flat.types.push_back(row(v));
      flat.inputs.push_back(here), same.inputs.push_back(here);
      const Location where = is_one ? placed_[at(v)]->where : spread(v, type(e.outputs[0]).shape);
      operands.push_back(row_by_row(where, flat.types.back()));
    }
    const auto result = static_cast<Variable>(flat.types.size());
    flat.types.push_back(row(e.outputs[0]));
    flat.outputs.push_back(result), same.outputs.push_back(result);
    flat.equations.push_back(std::move(same));
    const Program program{Shared<const ProgramBody>(new ProgramBody(std::move(flat)))};
    for (Step& step : steps_of(program, operands, {place_result(e.outputs[0])})) steps_.push_back(std::move(step));
  }
  /// Row by row under this shape.
  Location spread(Variable v, const Shape& shape) {
    if (type(v).shape == shape) return contiguous(v);
    const Shape& own = type(v).shape;
    Placed view = *placed_[at(v)];
    Strides strides;
    strides.resize(shape.size(), 0);
    const std::size_t missing = shape.size() - own.size();
    for (std::size_t i = 0; i < own.size(); ++i) strides[missing + i] = own[i].raw() == 1 ? 0 : view.strides[i];
    view.strides = strides;
    const Type wide{type(v).dtype, shape};
    const Location to = room(bytes_of(wide), now_);
    steps_.push_back({copy_step(wide, view, to)});
    return to;
  }

  // ── products ──

  struct Axis {
    std::int64_t size, stride;
  };
  Axis axis(Variable v, int from_behind) const {
    const std::size_t i = type(v).shape.size() - at(from_behind);
    return {type(v).shape[i].raw(), placed_[at(v)]->strides[i]};
  }

  /// Halves are multiplied as float32, and rounded once.
  void multiply(const Equation& e, const ProductAxes& axes) {
    const DType dtype = type(e.outputs[0]).dtype;
    if (dtype == DType::float32 || dtype == DType::float64) return multiply(e, axes, dtype, place_result(e.outputs[0]));
    const auto converted = [&](const Location& from, const Location& to, DType from_type, DType to_type, Variable v) {
      steps_.push_back({ConvertStep{from, to, from_type, to_type, type(v).shape.numel().raw()}});
    };
    const std::array<std::optional<Placed>, 2> halves = {placed_[at(e.inputs[0])], placed_[at(e.inputs[1])]};
    const auto in_floats = [&](Variable v) { return room(4 * type(v).shape.numel().raw(), now_); };
    std::array<Placed, 2> wide;
    for (std::size_t k = 0; k < 2; ++k) {
      const Variable v = e.inputs[k];
      wide[k] = row_by_row(in_floats(v), type(v));
      converted(contiguous(v), wide[k].where, dtype, DType::float32, v);
    }
    for (std::size_t k = 0; k < 2; ++k) placed_[at(e.inputs[k])] = wide[k];
    const Location product = in_floats(e.outputs[0]);
    multiply(e, axes, DType::float32, product);
    for (std::size_t k = 0; k < 2; ++k) placed_[at(e.inputs[k])] = halves[k];
    converted(product, place_result(e.outputs[0]), DType::float32, dtype, e.outputs[0]);
  }
  void multiply(const Equation& e, const ProductAxes& axes, DType dtype, const Location& to) {
    const Variable a = e.inputs[0], b = e.inputs[1];
    const Type& result = type(e.outputs[0]);
    const int matrix_axes = (axes.left == 2 || axes.is_outer ? 1 : 0) + (axes.right == 2 || axes.is_outer ? 1 : 0);
    ProductStep step{.dtype = dtype, .m = 1, .n = 1, .k = 1, .a = {}, .b = {}, .c = {}, .batch = {}};
    for (std::size_t i = 0; i < result.shape.size() - at(matrix_axes); ++i) step.batch.push_back(result.shape[i].raw());
    const Axis one{1, 0};
    const auto rows_of_a = [&] { return axes.left == 2 ? axis(a, 2) : axes.is_outer ? axis(a, 1) : one; };
    const auto inner_of_a = [&] { return axes.is_outer ? one : axis(a, 1); };
    const auto inner_of_b = [&] { return axes.is_outer ? one : axis(b, axes.right); };
    const auto columns_of_b = [&] { return axes.right == 2 || axes.is_outer ? axis(b, 1) : one; };
    if (!is_matrix(rows_of_a(), inner_of_a())) put(a, copied(a));
    if (!is_matrix(inner_of_b(), columns_of_b())) put(b, copied(b));
    if (std::max({rows_of_a().size, inner_of_a().size, columns_of_b().size}) > INT32_MAX)
      refuse("a CBLAS does not take matrices as large as " + to_string(type(a)) + " and " + to_string(type(b)));
    step.m = rows_of_a().size, step.k = inner_of_a().size, step.n = columns_of_b().size;
    step.a = factor(a, axes.left, rows_of_a(), inner_of_a(), step.batch);
    step.b = factor(b, axes.right, inner_of_b(), columns_of_b(), step.batch);
    step.c = to;
    whole_.planned.plan.calls_blas = true;
    steps_.push_back({std::move(step)});
  }
  /// Rows side by side, or columns.
  static bool lies(const Axis& outer, const Axis& inner) {
    return (inner.stride == 1 || inner.size == 1) && (outer.stride >= inner.size || outer.size == 1);
  }
  static bool is_matrix(const Axis& rows, const Axis& columns) { return lies(rows, columns) || lies(columns, rows); }
  ProductStep::Factor factor(Variable v, int core, const Axis& rows, const Axis& columns,
                             const std::vector<std::int64_t>& batch) const {
    const bool is_transposed = !lies(rows, columns);
    const auto& [outer, inner] = is_transposed ? std::pair(columns, rows) : std::pair(rows, columns);
    const std::int64_t leading = std::max({outer.size == 1 ? 0 : outer.stride, inner.size, std::int64_t{1}});
    ProductStep::Factor factor{placed_[at(v)]->where, is_transposed, leading, {}};
    const std::size_t own = type(v).shape.size() - at(core);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const bool has_axis = i + own >= batch.size();
      const std::size_t k = i + own - batch.size();
      const bool repeats = !has_axis || type(v).shape[k].raw() == 1;
      factor.steps.push_back(repeats ? 0 : placed_[at(v)]->strides[k]);
    }
    return factor;
  }

  // ── loops and branches ──

  /// `may_overwrite`: none: no argument.
  Planner planner_of(const Program& program, const Flags& may_overwrite = {}) {
    Folded kernels = whole_.calls_library ? folded_here(program) : with_kernels(program, {}, whole_.target);
    return {whole_, std::move(kernels), during(), may_overwrite};
  }
  std::vector<Step> steps_of(const Program& program, const std::vector<Placed>& arguments,
                             const std::vector<Location>& results) {
    return planner_of(program).steps(arguments, results);
  }
  /// The operands from number `first` on that a program reads beside `own` inputs.
  void add_read(const Equation& e, std::size_t first, const Program& program, std::vector<Placed>& own) {
    for (std::size_t i = first; own.size() < program.inputs(); ++i) own.push_back(*placed_[at(e.inputs[i])]);
  }

  /// Of which a turn reads or writes the row that has its number.
  struct Stack {
    Location where;
    std::int64_t step;  // bytes from one row to the next
  };
  /// A loop whose body is `body`: the first operands of its state and of the places that it draws from, where the state
  /// stands before and after it, its stacks, and the first operand that the body reads besides.
  struct LoopParts {
    const Program& body;
    std::vector<Variable> state, streams;
    std::vector<Location> results;
    std::vector<Stack> reads, writes;
    std::size_t read_besides;
  };
  /// What a turn reads and makes, in the order of the body's inputs and outputs.
  struct OfTurn {
    std::vector<Placed> read;
    std::vector<Location> made;
  };

  /// A part of the state, which stands at `where` before and after the loop. Each turn makes the next one beside it, or
  /// in its place where the turn replaces elements of it.
  void add_state(LoopStep& loop, Variable first, const Location& where, const Type& in, const Type& out,
                 bool is_replaced, OfTurn& turn) {
    constexpr std::int64_t small_bytes = 64;
    const std::int64_t bytes = bytes_of(out);
    assert(in.dtype == out.dtype && type(first).dtype == in.dtype && bytes_of(type(first)) == bytes);
    if (placed_[at(first)]->where != where && bytes > 0)
      loop.begin.push_back(copy_step(type(first), *placed_[at(first)], where));
    if (is_replaced) {
      turn.read.push_back(row_by_row(where, in));
      turn.made.push_back(where);
      return;
    }
    const Location beside = room(bytes, now_);
    if (bytes > small_bytes) {
      const std::size_t number = whole_.planned.plan.states++;
      loop.states.push_back({number, where, beside, bytes, out.dtype});
      turn.read.push_back(row_by_row({Location::In::state, number}, in));
      turn.made.push_back({Location::In::next_state, number});
    } else {
      turn.read.push_back(row_by_row(where, in));
      turn.made.push_back(beside);
      loop.next.push_back(copy_step(out, row_by_row(beside, out), where));
    }
  }
  /// Fills in what the loop does at each turn. Gives where its state stands.
  std::vector<Placed> add_body(const Equation& e, const LoopParts& parts, LoopStep& loop) {
    const ProgramBody& body = parts.body.body();
    auto input = body.inputs.begin();
    auto output = body.outputs.begin();
    Planner planner =
        planner_of(parts.body, Flags(parts.state.size() + parts.reads.size() + parts.streams.size(), true));
    OfTurn turn;
    for (std::size_t i = 0; i < parts.state.size(); ++i)
      add_state(loop, parts.state[i], parts.results[i], body.types[at(*input++)], body.types[at(*output++)],
                planner.replaces_argument(i), turn);
    const std::vector<Placed> state = turn.read;
    for (const Stack& stack : parts.reads) {
      const Type& row = body.types[at(*input++)];
      const Location where = room(bytes_of(row), now_);
      loop.reads.push_back({stack.where, where, bytes_of(row), row.dtype, stack.step});
      turn.read.push_back(row_by_row(where, row));
    }
    for (const Stack& stack : parts.writes) {
      const Type& row = body.types[at(*output++)];
      turn.made.push_back(room(bytes_of(row), now_));
      loop.writes.push_back({stack.where, turn.made.back(), bytes_of(row), row.dtype, stack.step});
    }
    for (const Variable v : parts.streams) {
      const Type& place = body.types[at(*input++)];
      add_state(loop, v, room(bytes_of(place), now_), place, body.types[at(*output++)], false, turn);
    }
    add_read(e, parts.read_besides, parts.body, turn.read);
    ++whole_.loops;
    loop.body = planner.steps(turn.read, turn.made);
    --whole_.loops;
    return state;
  }
  /// `read`: the first operand that the condition reads besides the state.
  void add_condition(const Equation& e, const char* name, const Program& condition, std::vector<Placed> state,
                     std::size_t read, LoopStep& loop) {
    assert(output_types(condition)[0].dtype == DType::boolean);
    add_read(e, read, condition, state);
    loop.truth = room(1, now_);
    loop.limit = whole_.planned.plan.limits.size();
    whole_.planned.plan.limits.push_back(loop.most_turns);
    whole_.planned.limited.push_back({name, whole_.origin});
    ++whole_.loops;
    loop.condition = steps_of(condition, state, {loop.truth});
    --whole_.loops;
  }

  /// Where the state stands while the loop runs, and what is copied to `results` then. A large state stands there all
  /// the time.
  std::vector<Location> places_of_state(const Equation& e, std::size_t first, const std::vector<Location>& results,
                                        LoopStep& loop) {
    std::vector<Location> places;
    for (std::size_t k = 0; k < results.size(); ++k) {
      const Type& state = type(e.outputs[first + k]);
      const bool is_large = bytes_of(state) > most_bytes_in_registers;
      places.push_back(is_large ? results[k] : room(bytes_of(state), now_));
      if (!is_large && bytes_of(state) > 0)
        loop.end.push_back(copy_step(state, row_by_row(places[k], state), results[k]));
    }
    return places;
  }
  /// `first`: of the rooms that the loop took.
  void end_loop(LoopStep loop, std::size_t first) {
    loop.own.assign(whole_.rooms.begin() + static_cast<std::ptrdiff_t>(first), whole_.rooms.end());
    loop.is_in_registers = may_be_in_registers(loop);
    steps_.push_back({std::move(loop)});
  }
  /// Whether each turn is of kernels and copies of few elements.
  static bool may_be_in_registers(const LoopStep& loop) {
    std::int64_t own = 0;
    for (const WorkspacePart& part : loop.own) own += part.bytes;
    const auto is_small = [](const auto& x) { return x.bytes <= most_bytes_in_registers; };
    return own <= most_own_bytes_in_registers && std::ranges::all_of(loop.reads, is_small) &&
           std::ranges::all_of(loop.writes, is_small) && std::ranges::all_of(loop.states, is_small) &&
           may_be_in_registers(loop.condition) && may_be_in_registers(loop.body);
  }
  static bool may_be_in_registers(const std::vector<Step>& steps) {
    const auto is_small = [](const auto& s) {
      return std::accumulate(s.shape.begin(), s.shape.end(), std::int64_t{1}, std::multiplies<>()) <=
             most_elements_in_registers;
    };
    return std::ranges::all_of(steps, [&](const Step& step) {
      if (const auto* const kernel = std::get_if<KernelStep>(&step.what)) return kernel->stands_in_place;
      if (const auto* const copy = std::get_if<CopyStep>(&step.what)) return is_small(*copy);
      if (const auto* const move = std::get_if<MoveStep>(&step.what)) return move->count <= most_elements_in_registers;
      if (const auto* const loop = std::get_if<LoopStep>(&step.what)) return loop->is_in_registers;
      if (const auto* const places = std::get_if<PlacesStep>(&step.what)) return !places->totals && is_small(*places);
      const auto* const branch = std::get_if<BranchStep>(&step.what);
      const auto may_be = [](const std::vector<Step>& one) { return may_be_in_registers(one); };
      return branch && std::ranges::all_of(branch->branches, may_be);
    });
  }
  static std::vector<Variable> some(const Equation& e, std::size_t first, std::size_t count) {
    const auto from = e.inputs.begin() + static_cast<std::ptrdiff_t>(first);
    return {from, from + static_cast<std::ptrdiff_t>(count)};
  }

  void turn(const Equation& e, const Turns& turns) {
    if (turns.streams > 0 && !whole_.calls_library) refuse_draws();
    const ProgramBody& body = turns.body->body();
    const std::size_t rows_end = turns.state + turns.rows, streams_out = body.outputs.size() - turns.streams;
    LoopParts parts{*turns.body, some(e, 0, turns.state), some(e, rows_end, turns.streams), {}, {},
                    {},          turns.read_by_body};
    std::vector<Location> results;
    for (std::size_t i = 0; i < turns.state; ++i) results.push_back(place_as_operand(e.outputs[i]));
    for (std::size_t i = turns.state; i < rows_end; ++i)
      parts.reads.push_back({contiguous(e.inputs[i]), bytes_of(body.types[at(body.inputs[i])])});
    for (std::size_t i = turns.state; i < streams_out; ++i)
      parts.writes.push_back({place_result(e.outputs[i]), bytes_of(body.types[at(body.outputs[i])])});
    LoopStep loop{.most_turns = turns.most_turns->raw(), .is_backward = turns.is_backward};
    const std::size_t first_room = whole_.rooms.size();
    parts.results = places_of_state(e, 0, results, loop);
    const std::vector<Placed> state = add_body(e, parts, loop);
    if (turns.condition) add_condition(e, turns.name, *turns.condition, state, turns.read_by_condition, loop);
    end_loop(std::move(loop), first_room);
  }

  /// A function that stands alone has the memory of its workspace: for as many turns as there may be.
  void keep_in_workspace(const Passes& passes, TurnRecords& records) {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 30;
    if (std::ranges::any_of(passes.all, [](const Passes::Pass& pass) { return pass.streams > 0; })) refuse_draws();
    if (passes.most_turns > most_bytes / std::max<std::int64_t>(records.bytes, 1))
      refuse("the derivative of a while_loop keeps " + std::to_string(records.bytes) + " bytes of each of up to " +
             std::to_string(passes.most_turns) +
             " turns, more than a workspace of 1 GiB holds; say how many there may be: {.max_steps = 1000}");
    records.offset = room(records.bytes * passes.most_turns, now_).offset;
  }
  /// A record of each turn holds the rows of all passes, one behind the other.
  void run_passes(const Equation& e, const Passes& passes) {
    const std::size_t number = whole_.planned.plan.records.size();
    std::vector<Stack> rows;
    std::int64_t bytes = 0;
    for (const Passes::Pass& pass : passes.all) {
      const ProgramBody& body = pass.body->body();
      for (std::size_t i = pass.state; i < body.outputs.size() - pass.streams; ++i) {
        rows.push_back({{Location::In::records, number, bytes}, 0});
        bytes += Workspace::aligned(bytes_of(body.types[at(body.outputs[i])]));
      }
    }
    for (Stack& row : rows) row.step = bytes;
    whole_.planned.plan.records.push_back({bytes, {}});
    if (!whole_.calls_library) keep_in_workspace(passes, whole_.planned.plan.records.back());
    std::size_t operand = 0, result = 0, written = 0;
    for (std::size_t s = 0; s < passes.all.size(); ++s) {
      const Passes::Pass& pass = passes.all[s];
      const std::size_t asked = operand + pass.state + pass.streams;
      const std::size_t captured_by_condition = s == 0 ? passes.condition->inputs() - pass.state : 0;
      LoopParts parts{*pass.body, some(e, operand, pass.state), some(e, operand + pass.state, pass.streams), {}, {},
                      {},         asked + captured_by_condition};
      std::vector<Location> results;
      for (std::size_t i = 0; i < pass.state; ++i) results.push_back(place_result(e.outputs[result + i]));
      for (const std::int64_t read : pass.reads) parts.reads.push_back(rows[at(read)]);
      const std::size_t kept = pass.body->body().outputs.size() - pass.state - pass.streams;
      for (std::size_t i = 0; i < kept; ++i) parts.writes.push_back(rows[written++]);
      LoopStep loop{.most_turns = passes.most_turns, .is_backward = s % 2 == 1};
      (s == 0 ? loop.records : loop.counted_by) = number;
      const std::size_t first_room = whole_.rooms.size();
      parts.results = places_of_state(e, result, results, loop);
      result += pass.state;
      const std::vector<Placed> state = add_body(e, parts, loop);
      if (s == 0) add_condition(e, passes.name, *passes.condition, state, asked, loop);
      operand = parts.read_besides + pass.body->inputs() - pass.state - pass.reads.size() - pass.streams;
      end_loop(std::move(loop), first_room);
    }
  }

  void branch(const Equation& e, const std::vector<Branch>& branches) {
    BranchStep step{contiguous(e.inputs[0]), type(e.inputs[0]).dtype, {}};
    std::vector<Location> results;
    for (const Variable v : e.outputs) results.push_back(place_as_operand(v));
    const auto is_replaced = [&](const Placed& operand) {
      return std::ranges::find(results, operand.where) != results.end();
    };
    for (const Branch& one : branches) {
      std::vector<Placed> operands;
      Flags may_overwrite;
      for (const std::size_t i : one.operands) {
        operands.push_back(*placed_[at(e.inputs[i])]);
        may_overwrite.push_back(is_replaced(operands.back()));
      }
      step.branches.push_back(planner_of(*one.program, may_overwrite).steps(operands, results));
    }
    steps_.push_back({std::move(step)});
  }

  SharedByPlan& whole_;
  Program program_;
  std::optional<std::size_t> during_;
  std::vector<std::optional<Placed>> placed_;
  std::map<Variable, Tensor> constants_;
  Lifetimes lifetimes_;
  std::vector<Location> results_;
  std::vector<Step> steps_;
  std::size_t now_ = 0;  // the equation that is planned
};

PlannedFunction made_plan(const Folded& kernels, const std::string& name, const runs::Place& where, bool calls_library,
                          const Target& target) {
  const ProgramBody& body = kernels.program.body();
  PlannedFunction made{.plan = {.name = name,
                                .arguments = body.inputs.size() - kernels.constants.size(),
                                .results = body.outputs.size(),
                                .constants = {},
                                .steps = {}}};
  SharedByPlan whole{made, where, calls_library, target};
  std::vector<Placed> arguments;
  std::vector<Location> results;
  for (std::size_t i = 0; i < made.plan.arguments; ++i) {
    made.arguments.push_back(body.types[at(body.inputs[i])]);
    arguments.push_back(row_by_row({Location::In::argument, i}, made.arguments.back()));
  }
  for (std::size_t k = 0; k < made.plan.results; ++k) {
    made.results.push_back(body.types[at(body.outputs[k])]);
    results.push_back({Location::In::result, k});
  }
  made.plan.steps = Planner(whole, kernels, std::nullopt, {}).steps(arguments, results);
  made.plan.workspace_bytes = whole.workspace.bytes();
  return made;
}

}  // namespace

PlannedFunction planned_alone(const Folded& kernels, const std::string& name, const Target& target,
                              const runs::Place& where) {
  return made_plan(kernels, name, where, false, target);
}
PlannedFunction planned_in_library(const Program& program) {
  return made_plan(folded_here(program), "plan", {}, true, this_machine());
}

}  // namespace ricci::compiled
