// Equation by equation, the programs of loops and branches among them.
#include "compile/export_steps.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "compile/lane_steps.h"
#include "compile/pieces.h"
#include "kernels/strided.h"
#include "program/stand_alone.h"
#include "ricci/interruption.h"
#include "ricci/ops.h"
#include "transforms/arguments.h"

namespace ricci::compiled {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Bytes of the workspace, given out for as long as they are needed.
class Workspace {
 public:
  /// From step `from` to step `to`, both included.
  std::int64_t take(std::int64_t bytes, std::size_t from, std::size_t to) {
    if (bytes == 0) return 0;
    std::erase_if(taken_, [&](const Part& part) { return part.last < from; });
    std::ranges::sort(taken_, {}, &Part::begin);
    std::int64_t begin = 0;
    for (const Part& part : taken_) {
      if (part.begin - begin >= bytes) break;
      begin = std::max(begin, (part.end + alignment - 1) / alignment * alignment);
    }
    taken_.push_back({begin, begin + bytes, to});
    bytes_ = std::max(bytes_, begin + bytes);
    return begin;
  }
  std::int64_t bytes() const { return bytes_; }
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

/// Requires: x is an array.
Strided elements_of(const Tensor& x) { return static_cast<const Array&>(*value_of(x)).strided(); }

/// What the programs of one plan share.
struct Whole {
  Planned& planned;
  runs::Place where;
  Workspace workspace = {};

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
  /// `during`: the step of the program around this one; none: there is none.
  Planner(Whole& whole, WithKernels kernels, std::optional<std::size_t> during)
      : whole_(whole), program_(std::move(kernels.program)), during_(during), placed_(body().types.size()) {
    const std::size_t given = body().inputs.size() - kernels.constants.size();
    for (std::size_t i = given; i < body().inputs.size(); ++i)
      put_constant(body().inputs[i], kernels.constants[i - given]);
    for (const Constant& c : body().constants) put_constant(c.variable, wrap(c.value));
    whole.planned.programs.push_back(program_);
    find_last_uses();
  }

  std::vector<Step> steps(const std::vector<Placed>& arguments, const std::vector<Location>& results) {
    for (std::size_t i = 0; i < arguments.size(); ++i) placed_[at(body().inputs[i])] = arguments[i];
    results_ = results;
    for (now_ = 0; now_ < body().equations.size(); ++now_) {
      allow_interruption();
      run(body().equations[now_]);
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      const Placed& from = *placed_[at(body().outputs[k])];
      const bool is_there = from.where.in == results[k].in && from.where.number == results[k].number &&
                            from.where.offset == results[k].offset;
      if (!is_there) copy(body().outputs[k], results[k]);
    }
    return std::move(steps_);
  }

 private:
  const ProgramBody& body() const { return program_.body(); }
  const Type& type(Variable v) const { return body().types[at(v)]; }
  void put(Variable v, const Location& l) { placed_[at(v)] = Placed{l, contiguous_strides(type(v).shape)}; }
  void put_constant(Variable v, const Tensor& x) {
    constants_[v] = x;
    put(v, whole_.constant(x));
  }
  [[noreturn]] void refuse(const std::string& why) const { whole_.refuse(why); }

  /// A view is read where the memory behind it is: that lives as long as its views.
  void find_last_uses() {
    last_use_.assign(body().types.size(), 0);
    for (const Variable v : body().outputs) last_use_[at(v)] = body().equations.size();
    for (std::size_t i = body().equations.size(); i-- > 0;) {
      const Equation& e = body().equations[i];
      std::size_t last = i;
      if (e.rules->is_view) last = std::max(last, last_use_[at(e.outputs[0])]);
      for (const Variable v : e.inputs) last_use_[at(v)] = std::max(last_use_[at(v)], last);
    }
  }
  /// In the workspace, from now to step `last`. Memory of a program in a loop is its own for the whole loop.
  Location room(std::int64_t bytes, std::size_t last) {
    const std::size_t from = during_.value_or(now_), to = during_.value_or(last);
    return {Location::In::workspace, 0, whole_.workspace.take(bytes, from, to)};
  }
  Location room_for(Variable v) { return room(bytes_of(type(v)), last_use_[at(v)]); }

  void run(const Equation& e) {
    if (e.rules->is_view && view(e)) return;
    if (const std::optional<KernelCall> call = kernel_call(e, operand_types(body(), e))) return kernel(e, *call);
    if (const auto turns = Facts<TurnsOf>::of(*e.rules))
      if (const std::optional<Turns> loop = turns(e.parameters.get(), operand_types(body(), e))) return turn(e, *loop);
    if (const auto branches = Facts<BranchesOf>::of(*e.rules)) return branch(e, branches(e.parameters.get()));
    if (moves(e)) return;
    if (e.rules->effect == Effect::takes_place)
      refuse("the function draws random numbers; let it take them as an argument");
    const DType dtype = type(e.outputs[0]).dtype;
    const bool has_product = dtype == DType::float32 || dtype == DType::float64;
    if (const auto axes = Facts<ProductAxesOf>::of(*e.rules); axes && has_product)
      return multiply(e, axes(e.parameters.get()));
    refuse(std::string(e.rules->name) + " of " + to_string(type(e.inputs.empty() ? e.outputs[0] : e.inputs[0])) +
           " is computed by the library, and an exported function runs without it");
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
    CopyStep step{from.where, to, static_cast<std::int64_t>(element_size(type.dtype)), {}, {}};
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
  /// In the result of the program that it is, if it is one.
  Location place_result(Variable v) {
    const auto output = std::ranges::find(body().outputs, v);
    put(v, output != body().outputs.end() ? results_[at(output - body().outputs.begin())] : room_for(v));
    return placed_[at(v)]->where;
  }

  void kernel(const Equation& e, const KernelCall& call) {
    const auto is_empty = [&](Variable v) { return type(v).shape.numel() == 0; };
    if (std::ranges::any_of(e.inputs, is_empty) || std::ranges::any_of(e.outputs, is_empty))
      refuse("a tensor is empty");
    KernelStep step{.plan = &call.kernel->plan(), .width = call.kernel->width(), .in = {}, .out = {}};
    step.lanes = step.plan->program.has_lanes ? call.lanes : 1;
    step.positions = call.positions;
    const auto of_position = [&](Variable v, bool has_outer) {
      return has_outer ? bytes_of(type(v)) / type(v).shape[0].raw() : 0;
    };
    for (std::size_t k = 0; k < e.inputs.size(); ++k) {
      step.in.push_back(contiguous(e.inputs[k]));
      step.in_steps.push_back(of_position(e.inputs[k], call.has_outer[k]));
    }
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
      const Pieces pieces(std::max<std::int64_t>(step.lanes, step.width), step.width, totals);
      most_totals = std::max(most_totals, totals * at(pieces.count));
    }
    step.slots = room(8 * step.plan->slot_count, now_).offset;
    step.totals = room(8 * static_cast<std::int64_t>(most_totals), now_).offset;
    if (step.filled() > 0) {
      step.copies = filled_copies(step.plan->program, e.inputs.size(), step.width);
      step.copied = room(step.copies.bytes, now_).offset;
    }
    steps_.push_back({std::move(step)});
  }

  // ── elements that only move ──

  /// False where the equation does more than move elements to places that are known.
  bool moves(const Equation& e) {
    const void* const op = e.parameters.get();
    const unsigned moved = e.rules->moves_elements ? e.rules->moves_elements(op) : 0;
    const Type& result = type(e.outputs[0]);
    if (moved == 0 || e.outputs.size() != 1 || result.shape.numel().raw() > INT32_MAX) return false;
    std::vector<Tensor> numbers, zeros;                    // as operands: the numbers of elements, and nothing
    std::vector<std::int64_t> firsts;                      // by operand: the number of its first element
    constexpr std::int64_t first = std::int64_t{1} << 40;  // a number below is one that the operation itself writes
    std::int64_t next = first;
    for (std::size_t k = 0; k < e.inputs.size(); ++k) {
      const Type& of = type(e.inputs[k]);
      firsts.push_back(next);
      if (!((moved >> k) & 1U)) {
        if (!constants_.contains(e.inputs[k])) return false;
        numbers.push_back(constants_.at(e.inputs[k]));
        zeros.push_back(numbers.back());
        continue;
      }
      if (of.dtype != result.dtype) return false;
      const std::int64_t count = of.shape.numel().raw();
      numbers.push_back(ops::arange(next, next + count, 1, DType::int64).reshape(of.shape));
      zeros.push_back(ops::zeros(of.shape, of.dtype));
      next += count;
    }
    const Tensor places = evaluated(*e.rules, op, numbers, {DType::int64, result.shape});
    write_moves(e, firsts, places, evaluated(*e.rules, op, zeros, result));
    return true;
  }
  static Tensor evaluated(const Rules& rules, const void* op, const std::vector<Tensor>& operands, const Type& result) {
    std::vector<Strided> in;
    for (const Tensor& x : operands) in.push_back(elements_of(x));
    const ArrayRef made = make_array(result);
    const std::array<Strided, 1> out = {made->strided()};
    rules.eval(op, out, in);
    return wrap(made);
  }
  /// `places`: the number of each element of the result; `own`: what the operation writes by itself.
  void write_moves(const Equation& e, const std::vector<std::int64_t>& firsts, const Tensor& places,
                   const Tensor& own) {
    const auto* const numbers = static_cast<const std::int64_t*>(elements_of(places).data);
    const std::int64_t count = places.numel();
    std::vector<std::vector<std::int32_t>> tables(firsts.size() + 1);  // by operand; the last: of `own`
    for (std::int64_t i = 0; i < count; ++i) {
      const auto behind = std::ranges::upper_bound(firsts, numbers[i]);
      const std::size_t from = numbers[i] < firsts[0] ? firsts.size() : at(behind - firsts.begin()) - 1;
      const std::int64_t element = from == firsts.size() ? i : numbers[i] - firsts[from];
      tables[from].push_back(static_cast<std::int32_t>(i));
      tables[from].push_back(static_cast<std::int32_t>(element));
    }
    std::vector<Location> sources;
    for (std::size_t k = 0; k < firsts.size(); ++k)
      sources.push_back(tables[k].empty() ? Location() : contiguous(e.inputs[k]));
    sources.push_back(tables.back().empty() ? Location() : whole_.constant(own));
    const Location to = place_result(e.outputs[0]);
    const auto bytes = static_cast<std::int64_t>(element_size(type(e.outputs[0]).dtype));
    for (std::size_t k = 0; k < tables.size(); ++k) {
      const auto length = static_cast<std::int64_t>(tables[k].size());
      if (length > 0) steps_.push_back({MoveStep{sources[k], to, whole_.table(tables[k]), bytes, length / 2}});
    }
  }

  // ── products ──

  struct Axis {
    std::int64_t size, stride;
  };
  Axis axis(Variable v, int from_behind) const {
    const std::size_t i = type(v).shape.size() - at(from_behind);
    return {type(v).shape[i].raw(), placed_[at(v)]->strides[i]};
  }

  void multiply(const Equation& e, const ProductAxes& axes) {
    const Variable a = e.inputs[0], b = e.inputs[1], y = e.outputs[0];
    const Type& result = type(y);
    const int matrix_axes = (axes.left == 2 || axes.is_outer ? 1 : 0) + (axes.right == 2 || axes.is_outer ? 1 : 0);
    ProductStep step{.dtype = result.dtype, .m = 1, .n = 1, .k = 1, .a = {}, .b = {}, .c = {}, .batch = {}};
    for (std::size_t i = 0; i < result.shape.size() - at(matrix_axes); ++i) step.batch.push_back(result.shape[i].raw());
    const Axis one{1, 0};
    const auto rows_of_a = [&] { return axes.left == 2 ? axis(a, 2) : axes.is_outer ? axis(a, 1) : one; };
    const auto inner_of_a = [&] { return axes.is_outer ? one : axis(a, 1); };
    const auto inner_of_b = [&] { return axes.is_outer ? one : axis(b, axes.right); };
    const auto columns_of_b = [&] { return axes.right == 2 || axes.is_outer ? axis(b, 1) : one; };
    if (!is_matrix(rows_of_a(), inner_of_a())) put(a, copied(a));
    if (!is_matrix(inner_of_b(), columns_of_b())) put(b, copied(b));
    step.m = rows_of_a().size, step.k = inner_of_a().size, step.n = columns_of_b().size;
    step.a = factor(a, axes.left, rows_of_a(), inner_of_a(), step.batch);
    step.b = factor(b, axes.right, inner_of_b(), columns_of_b(), step.batch);
    step.c = place_result(y);
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

  std::size_t during() const { return during_.value_or(now_); }
  std::vector<Step> steps_of(const Program& program, const std::vector<Placed>& arguments,
                             const std::vector<Location>& results) {
    return Planner(whole_, with_kernels(program, {}), during()).steps(arguments, results);
  }
  Placed row_by_row(const Location& where, const Type& type) { return {where, contiguous_strides(type.shape)}; }
  /// The operands from number `first` on that a program reads beside `own` inputs.
  void add_read(const Equation& e, std::size_t first, const Program& program, std::vector<Placed>& own) {
    for (std::size_t i = first; own.size() < program.inputs(); ++i) own.push_back(*placed_[at(e.inputs[i])]);
  }

  void turn(const Equation& e, const Turns& turns) {
    const ProgramBody& body = turns.body->body();
    const auto type_in = [&](Variable v) -> const Type& { return body.types[at(v)]; };
    LoopStep loop{.condition = {},
                  .count = turns.count.raw(),
                  .is_backward = turns.is_backward,
                  .reads = {},
                  .writes = {},
                  .body = {},
                  .next = {}};
    // The state stands where the results will: each turn makes the next state beside it.
    std::vector<Placed> state;
    std::vector<Location> made;
    for (std::size_t i = 0; i < turns.state; ++i) {
      const Location where = place_result(e.outputs[i]);
      state.push_back(row_by_row(where, type_in(body.inputs[i])));
      copy(e.inputs[i], where);
      made.push_back(room(bytes_of(type_in(body.outputs[i])), now_));
      loop.next.push_back(copy_step(type_in(body.outputs[i]), row_by_row(made[i], type_in(body.outputs[i])), where));
    }
    std::vector<Placed> read = state;
    for (std::size_t i = turns.state; i < turns.state + turns.rows; ++i) {
      const Type& row = type_in(body.inputs[i]);
      const Location where = room(bytes_of(row), now_);
      loop.reads.push_back({contiguous(e.inputs[i]), where, bytes_of(row)});
      read.push_back(row_by_row(where, row));
    }
    for (std::size_t i = turns.state; i < body.outputs.size(); ++i) {
      const Type& row = type_in(body.outputs[i]);
      made.push_back(room(bytes_of(row), now_));
      loop.writes.push_back({place_result(e.outputs[i]), made[i], bytes_of(row)});
    }
    add_read(e, turns.read_by_body, *turns.body, read);
    loop.body = steps_of(*turns.body, read, made);
    if (turns.condition) {
      add_read(e, turns.read_by_condition, *turns.condition, state);
      loop.truth = room(1, now_);
      loop.condition = steps_of(*turns.condition, state, {loop.truth});
    }
    steps_.push_back({std::move(loop)});
  }

  void branch(const Equation& e, const std::vector<Branch>& branches) {
    BranchStep step{contiguous(e.inputs[0]), type(e.inputs[0]).dtype, {}};
    std::vector<Location> results;
    for (const Variable v : e.outputs) results.push_back(place_result(v));
    for (const Branch& one : branches) {
      std::vector<Placed> operands;
      for (const std::size_t i : one.operands) operands.push_back(*placed_[at(e.inputs[i])]);
      step.branches.push_back(steps_of(*one.program, operands, results));
    }
    steps_.push_back({std::move(step)});
  }

  Whole& whole_;
  Program program_;
  std::optional<std::size_t> during_;
  std::vector<std::optional<Placed>> placed_;
  std::map<Variable, Tensor> constants_;
  std::vector<std::size_t> last_use_;
  std::vector<Location> results_;
  std::vector<Step> steps_;
  std::size_t now_ = 0;  // the equation that is planned
};

}  // namespace

Planned planned(const WithKernels& kernels, const std::string& name, const runs::Place& where) {
  const ProgramBody& body = kernels.program.body();
  Planned made{.plan = {.name = name,
                        .arguments = body.inputs.size() - kernels.constants.size(),
                        .results = body.outputs.size(),
                        .constants = {},
                        .steps = {}}};
  Whole whole{made, where};
  std::vector<Placed> arguments;
  std::vector<Location> results;
  for (std::size_t i = 0; i < made.plan.arguments; ++i)
    arguments.push_back({{Location::In::argument, i}, contiguous_strides(body.types[at(body.inputs[i])].shape)});
  for (std::size_t k = 0; k < made.plan.results; ++k) results.push_back({Location::In::result, k});
  made.plan.steps = Planner(whole, kernels, std::nullopt).steps(arguments, results);
  made.plan.workspace_bytes = whole.workspace.bytes();
  return made;
}

}  // namespace ricci::compiled
