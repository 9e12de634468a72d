// A scan as an operation whose parameter is the program of one step. In a recorded program every transform of a scan is
// a scan: of the step with its tangents, of the step on all examples, of the step that keeps what the way back reads
// and, the way back, of the step's cotangents.
#include <algorithm>
#include <memory>
#include <optional>

#include "control/assembly.h"
#include "control/loop.h"
#include "control/recording.h"
#include "kernels/elementwise.h"
#include "ops/axes.h"
#include "program/pruning.h"
#include "program/repeated.h"
#include "program/stand_alone.h"
#include "ricci/control.h"

namespace ricci::runs {
namespace {

using function::Runs;

/// A scan put together from its step, with the tensors it scans.
class ScanAssembly : public Assembly {
 public:
  using Assembly::Assembly;
  void slice(Variable of_step, const Tensor& rows) {
    Assembly::slice(of_step);
    scanned_.push_back(rows);
  }

  struct Found {
    Tensors carry, rows;
  };
  Found apply(bool reverse, Size length) const;

 private:
  State scanned_;
};

/// Inputs: the carry, the scanned tensors, the streams that the step draws from, then what the step captures. Outputs:
/// the carry, then the stacked rows.
struct Scan {
  using kind = Custom;
  static constexpr const char* name = "scan";
  static constexpr bool transparent = true;
  Program step;
  std::int64_t carried, scanned, streams;
  bool reverse;
  std::optional<Size> length;  // in steps, where no tensor is scanned

  Roles roles(std::size_t count) const;
  std::optional<Pruned> pruned(const Flags& needed, std::size_t operands) const;
  RepeatedPrograms repeated() { return {{&step, captures_begin(), captures_begin()}}; }
  Types type(const Types& inputs) const;
  Turns turns(const Types& inputs) const {
    return {.body = &step,
            .state = carries(),
            .rows = static_cast<std::size_t>(scanned),
            .streams = static_cast<std::size_t>(streams),
            .read_by_body = captures_begin(),
            .most_turns = steps(inputs.begin() + carried),
            .is_backward = reverse};
  }
  bool draws() const { return ricci::draws(step); }
  Tensors call(std::span<const Tensor> inputs) const;
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const;
  BatchedOutputs batch(const Batch& batch) const;
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const;
  Tensors vjp(const Reverse& rule) const;

 private:
  std::size_t carries() const { return static_cast<std::size_t>(carried); }
  std::size_t slices_end() const { return static_cast<std::size_t>(carried + scanned); }
  std::size_t captures_begin() const { return static_cast<std::size_t>(carried + scanned + streams); }
  std::size_t outputs() const { return step.body().outputs.size(); }
  std::size_t rows_end() const { return outputs() - static_cast<std::size_t>(streams); }
  Size steps(const Type* first_slices) const { return scanned > 0 ? first_slices->shape[0] : length.value_or(0); }
  Size steps(std::span<const Tensor> inputs) const {
    if (scanned == 0) return steps(static_cast<const Type*>(nullptr));
    const Type type = type_of(inputs[carries()]);
    return steps(&type);
  }
  struct Rest;
};

ScanAssembly::Found ScanAssembly::apply(bool reverse, Size length) const {
  Tensors operands;
  for (const State* more : {&first_carry(), &scanned_, &first_streams(), &captured()})
    operands.append(more->begin(), more->end());
  Scan scan{.step = program(),
            .carried = std::ssize(first_carry()),
            .scanned = std::ssize(scanned_),
            .streams = std::ssize(first_streams()),
            .reverse = reverse,
            .length = {}};
  if (scan.scanned == 0) scan.length = length;
  const Tensors all = ricci::apply(scan, operands);
  const auto rows = all.begin() + scan.carried;
  return {{all.begin(), rows}, {rows, all.end()}};
}

Roles Scan::roles(std::size_t count) const {
  const auto produced = static_cast<std::int64_t>(outputs());
  require_between(0, streams, produced);
  require_between(0, carried, produced - streams);
  require_between(0, scanned, static_cast<std::int64_t>(count) - carried - streams);
  return checked({{"carry", carries()},
                  {"xs", static_cast<std::size_t>(scanned)},
                  {"streams", static_cast<std::size_t>(streams)},
                  {"step", captures(step, captures_begin())}},
                 count);
}

[[maybe_unused]] const bool named = name_operands<Scan>(), prunable = can_be_pruned<Scan>(),
                            repeats = repeats_programs<Scan>(), has_turns = takes_turns<Scan>();

/// A part of the carry is left where its last value is needed, or where the step reads it for what is left: not the
/// number of steps that a loop counts and does not look at. A scan that draws is left as it is.
std::optional<Pruned> Scan::pruned(const Flags& needed, std::size_t operands) const {
  if (streams > 0) return std::nullopt;
  Flags results = needed;
  const Flags read = inputs_read_by_steps(step.body(), carries(), results);
  Flags left;
  for (std::size_t i = 0; i < operands; ++i) left.push_back(i < carries() ? results[i] : read[i]);
  const auto slices = left.begin() + carried, captures = slices + scanned;
  if (scanned > 0 && std::count(slices, captures, true) == 0) *slices = true;  // it tells how many steps there are
  const auto is_left = [](bool flag) { return flag; };
  if (std::ranges::all_of(left, is_left) && std::ranges::all_of(results, is_left)) return std::nullopt;
  const Scan scan{.step = with_some(step, left, results),
                  .carried = std::count(left.begin(), slices, true),
                  .scanned = std::count(slices, captures, true),
                  .streams = 0,
                  .reverse = reverse,
                  .length = length};
  return Pruned{own(scan), left, results};
}

Types Scan::type(const Types& inputs) const {
  roles(inputs.size());
  const Types outputs = output_types(step);
  for (std::size_t i = carries(); i < slices_end(); ++i) {
    require_rank_of_at_least(1, inputs[i]);
    require_shape(Shape{inputs[i].shape[0]}, Shape{inputs[carries()].shape[0]});
  }
  Types types(outputs.begin(), outputs.end() - streams);
  for (std::size_t i = carries(); i < types.size(); ++i) types[i].shape.insert(0, steps(inputs.begin() + carried));
  return types;
}

/// The slices along axis 0. Outside transforms each shows its part of the memory of all; elsewhere they are one
/// operation, so that the way back is one.
std::vector<Tensor> slices_of(const Tensor& xs) {
  const ValueRef value = read(xs, Scan::name);
  if (this_thread.innermost || value->kind != ValueKind::array) return unstack(xs);
  const auto& array = static_cast<const Array&>(*value);
  Type one = array.type;
  one.shape.erase(0);
  const Strides strides(array.strides.begin() + 1, array.strides.end());
  std::vector<Tensor> slices;
  for (std::int64_t i = 0; i < array.type.shape[0]; ++i)
    slices.push_back(
        make_tensor(make_alias(array, one, strides, advance(array.data, one.dtype, i * array.strides[0])), 0));
  return slices;
}

/// Rows that are given one by one, stacked. Outside transforms each is written to its place at once: its own memory
/// serves the next step, and nobody holds all rows twice.
class StackedRows {
 public:
  explicit StackedRows(std::int64_t count) : count_(count) {}
  void set(std::int64_t i, const Tensor& row) {
    const Value& value = *value_of(row);
    if (!stacked_ && rows_.empty() && !this_thread.innermost && value.kind == ValueKind::array && !value.type.weak) {
      Type type = value.type;
      type.shape.insert(0, count_);
      stacked_ = make_array(type);
    }
    if (!stacked_) {
      rows_.resize(static_cast<std::size_t>(count_));
      rows_[static_cast<std::size_t>(i)] = row;
      return;
    }
    const Strided from = static_cast<const Array&>(value).strided(), all = stacked_->strided();
    kernels::copy(
        {advance(all.data, all.dtype, i * all.strides[0]), all.dtype, all.rank - 1, all.shape + 1, all.strides + 1},
        from);
  }
  /// Requires: all are given.
  Tensor stacked() { return stacked_ ? make_tensor(std::move(stacked_), 0) : stack(rows_); }

 private:
  std::int64_t count_;
  ArrayRef stacked_;
  std::vector<Tensor> rows_;
};

Tensors Scan::call(std::span<const Tensor> inputs) const {
  const std::int64_t count = steps(inputs).host();
  const std::span<const Tensor> first = take(inputs, carries());
  std::vector<std::vector<Tensor>> slices;
  for (const Tensor& xs : take(inputs, static_cast<std::size_t>(scanned)))
    slices.push_back(count > 0 ? slices_of(xs) : std::vector<Tensor>());
  const std::span<const Tensor> places = take(inputs, static_cast<std::size_t>(streams));
  State carry(first.begin(), first.end()), drawing(places.begin(), places.end());
  std::vector<StackedRows> rows(rows_end() - carries(), StackedRows(count));
  for (std::int64_t k = 0; k < count; ++k) {
    const auto i = static_cast<std::size_t>(reverse ? count - 1 - k : k);
    State given = std::move(carry);
    for (const std::vector<Tensor>& of_one : slices) given.push_back(of_one[i]);
    given.insert(given.end(), drawing.begin(), drawing.end());
    const State found = run(step, given, inputs);
    const auto ys = found.begin() + carried, drawn = found.end() - streams;
    carry.assign(found.begin(), ys);
    drawing.assign(drawn, found.end());
    for (auto y = ys; y != drawn; ++y) rows[static_cast<std::size_t>(y - ys)].set(static_cast<std::int64_t>(i), *y);
  }
  Tensors outputs(carry.begin(), carry.end());
  const Types types = output_types(step);
  for (StackedRows& of_one : rows) {
    Type none = types[outputs.size()];
    none.shape.insert(0, 0);
    outputs.push_back(count > 0 ? of_one.stacked() : zeros_of(none));
  }
  return outputs;
}

Pushed Scan::jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
  Flags active = defined_among(tangents);
  const auto derived = until_stable(active, carries(), outputs(), [&](const Flags& at_least) {
    return function::pushed(step, active, at_least, Runs::many);
  });
  ScanAssembly pushed(derived.closure.program);
  const std::vector<std::size_t> in = places_of(active, step.inputs()), out = places_of(derived.outputs, outputs());
  for (std::size_t i = 0; i < carries(); ++i) pushed.carry(pushed.in(i), pushed.out(i), inputs[i]);
  for (std::size_t i = 0; i < carries(); ++i)
    if (active[i])
      pushed.carry(pushed.in(in[i]), pushed.out(out[i]),
                   tangents[i].defined() ? tangents[i] : zeros_of(type_of(inputs[i])));
  for (std::size_t i = carries(); i < inputs.size(); ++i) {
    if (i < slices_end()) pushed.slice(pushed.in(i), inputs[i]);
    else if (i < captures_begin()) pushed.stream(pushed.in(i), pushed.out(rows_end() + i - slices_end()), inputs[i]);
    else pushed.capture(pushed.in(i), inputs[i]);
    if (!active[i]) continue;
    if (i < slices_end()) pushed.slice(pushed.in(in[i]), tangents[i]);
    else pushed.capture(pushed.in(in[i]), tangents[i]);
  }
  for (std::size_t i = carries(); i < rows_end(); ++i) pushed.row(pushed.out(i));
  for (std::size_t i = carries(); i < rows_end(); ++i)
    if (derived.outputs[i]) pushed.row(pushed.out(out[i]));
  pushed.rest(derived.closure, in.back(), out.back());
  const ScanAssembly::Found found = pushed.apply(reverse, steps(inputs));

  Pushed all;
  const auto split = [&](const Tensors& both, std::size_t first, std::size_t count) {
    all.outputs.append(both.begin(), both.begin() + static_cast<std::ptrdiff_t>(count));
    auto tangent = both.begin() + static_cast<std::ptrdiff_t>(count);
    for (std::size_t i = first; i < first + count; ++i)
      all.tangents.push_back(derived.outputs[i] ? *tangent++ : Tensor());
  };
  split(found.carry, 0, carries());
  split(found.rows, carries(), rows_end() - carries());
  return all;
}

BatchedOutputs Scan::batch(const Batch& batch) const {
  const MappedExamples examples(batch);
  Flags is_mapped = flags_of(batch.mapped, batch.inputs.size());
  const auto derived = until_stable(is_mapped, carries(), outputs(), [&](const Flags& at_least) {
    return function::mapped(step, is_mapped, at_least, examples, Runs::many);
  });
  ScanAssembly mapped(derived.closure.program);
  for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
    const Tensor& x = batch.inputs[i];
    if (i < carries()) mapped.carry(mapped.in(i), mapped.out(i), is_mapped[i] ? batch.input(static_cast<int>(i)) : x);
    else if (i < slices_end()) mapped.slice(mapped.in(i), is_mapped[i] ? x.movedim({0}, {1}) : x);
    else if (i < captures_begin()) mapped.stream(mapped.in(i), mapped.out(rows_end() + i - slices_end()), x);
    else mapped.capture(mapped.in(i), x);
  }
  for (std::size_t i = carries(); i < rows_end(); ++i) mapped.row(mapped.out(i));
  mapped.rest(derived.closure, step.inputs(), outputs());
  const ScanAssembly::Found found = mapped.apply(reverse, length.value_or(0));
  BatchedOutputs all{.outputs = found.carry, .mapped = 0};
  for (const Tensor& rows : found.rows) {
    const bool differs = derived.outputs[all.outputs.size()];
    all.outputs.push_back(differs ? rows.movedim({1}, {0}) : rows);
  }
  for (std::size_t i = 0; i < rows_end(); ++i) all.mapped.push_back(derived.outputs[i]);
  return all;
}

/// What the way back needs besides tensors.
struct Scan::Rest {
  function::Split split;
  std::vector<std::size_t> kept;  // of each value that is kept, the number of its rows among the residual's tensors
  Size steps;
};

/// Keeps the inputs, then the stacked rows.
Kept Scan::keep(std::span<const Tensor> inputs, const Mask& wanted) const {
  Flags active = flags_of(wanted, inputs.size()), at_hand;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    at_hand.push_back(i >= carries() && (i < slices_end() || i >= captures_begin()));
  struct Halves {
    function::Split split;
    Flags outputs;
  };
  const auto halves = until_stable(active, carries(), outputs(), [&](const Flags&) {
    function::Split split(step, active, at_hand, Runs::many);
    Flags found = split.active_outputs();
    return Halves{std::move(split), std::move(found)};
  });
  const Closure& closure = halves.split.forward();
  ScanAssembly forward(closure.program);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i < carries()) forward.carry(forward.in(i), forward.out(i), inputs[i]);
    else if (i < slices_end()) forward.slice(forward.in(i), inputs[i]);
    else if (i < captures_begin()) forward.stream(forward.in(i), forward.out(rows_end() + i - slices_end()), inputs[i]);
    else forward.capture(forward.in(i), inputs[i]);
  }
  for (std::size_t i = carries(); i < rows_end(); ++i) forward.row(forward.out(i));
  auto rest = std::make_shared<Rest>(Rest{.split = halves.split, .kept = {}, .steps = steps(inputs)});
  for (std::size_t i = 0; i < halves.split.kept(); ++i)
    rest->kept.push_back(inputs.size() + forward.shared_row(forward.out(outputs() + i)));
  forward.rest(closure, step.inputs(), outputs() + halves.split.kept());
  const ScanAssembly::Found found = forward.apply(reverse, rest->steps);

  Kept kept{.outputs = found.carry, .residual = {{inputs.begin(), inputs.end()}, nullptr}};
  kept.outputs.append(found.rows.begin(), found.rows.begin() + static_cast<std::ptrdiff_t>(rows_end() - carries()));
  kept.residual.tensors.insert(kept.residual.tensors.end(), found.rows.begin(), found.rows.end());
  kept.residual.rest = std::move(rest);
  // After no steps the carry is the first one.
  for (std::size_t i = 0; i < rows_end(); ++i)
    kept.constant.push_back(!(halves.outputs[i] || (i < carries() && active[i])));
  return kept;
}

Tensors Scan::vjp(const Reverse& rule) const {
  const std::vector<Tensor>& tensors = rule.residual->tensors;
  const auto& rest = *static_cast<const Rest*>(rule.residual->rest.get());
  const std::size_t count = step.inputs();
  Flags has = defined_among(rule.cotangents), summed;
  has.resize(outputs(), false);
  for (std::size_t i = 0; i < count; ++i) summed.push_back(i >= captures_begin());
  struct Stable {
    function::Backward backward;
    Flags outputs;  // of the way back: the carry's cotangents
  };
  const auto stable = until_stable(has, carries(), count, [&](const Flags& at_least) {
    function::Backward backward = rest.split.backward(has, at_least, summed);
    Flags found = backward.given;
    for (std::size_t i = 0; i < carries(); ++i) found[i] |= backward.taken[i];
    return Stable{std::move(backward), std::move(found)};
  });
  const function::Backward& found = stable.backward;
  ScanAssembly backward(found.closure.program);
  const std::vector<std::size_t> cts = places_of(found.taken, found.reads.size()), out = places_of(found.given, 0);
  std::size_t sums = cts.back();
  for (std::size_t i = 0; i < carries(); ++i) {
    if (!has[i]) continue;
    const Type& type = rule.output_types[i];
    const Variable ct = found.taken[i] ? backward.in(cts[i]) : backward.unused(type);
    backward.carry(ct, backward.out(out[i]), rule.cotangent(static_cast<int>(i)));
  }
  for (std::size_t i = captures_begin(); i < count; ++i)
    if (found.given[i]) backward.carry(backward.in(sums++), backward.out(out[i]), zeros_of(rule.input_types[i]));
  for (std::size_t i = 0; i < found.reads.size(); ++i) {
    const auto [of_input, index] = found.reads[i];
    const Tensor& read = tensors[of_input ? index : rest.kept[index]];
    if (of_input && index >= captures_begin()) backward.capture(backward.in(i), read);
    else backward.slice(backward.in(i), read);
  }
  for (std::size_t i = carries(); i < rows_end(); ++i)
    if (found.taken[i]) backward.slice(backward.in(cts[i]), rule.cotangent(static_cast<int>(i)));
  for (std::size_t i = carries(); i < slices_end(); ++i)
    if (found.given[i]) backward.row(backward.out(out[i]));
  backward.rest(found.closure, sums, 0);
  const ScanAssembly::Found gradients = backward.apply(!reverse, rest.steps);

  Tensors all;
  auto carry = gradients.carry.begin(), row = gradients.rows.begin();
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_slice = i >= carries() && i < slices_end();
    const bool has_one = i < carries() ? has[i] : found.given[i];
    all.push_back(!has_one ? Tensor() : is_slice ? *row++ : *carry++);
  }
  return all;
}

}  // namespace

std::optional<Size> known_length(Size low, Size high, std::int64_t most) {
  const Size steps = high - low;
  if (steps > most) return std::nullopt;
  return steps < 0 ? Size(0) : steps;
}

void show_slice_types(const char* name, const tree::Walk& xs) {
  scanned_size(name, xs);
  for (Tensor* leaf : xs.leaves) {
    Type one = type_of(*leaf);
    one.shape.erase(0);
    *leaf = zeros_of(one);
  }
}

void run_recorded_scan(const Closure& step, const ScanSteps& steps, const tree::Walk& carry, const tree::Walk& xs,
                       const tree::Walk& ys) {
  Tensors inputs = function::defined_leaves(carry);
  const auto carried = static_cast<std::int64_t>(inputs.size());
  for (const Tensor* leaf : xs.leaves) inputs.push_back(*leaf);
  inputs.append(step.streams.begin(), step.streams.end());
  inputs.append(step.captured.begin(), step.captured.end());
  const Tensors outputs = apply(Scan{.step = step.program,
                                     .carried = carried,
                                     .scanned = static_cast<std::int64_t>(xs.leaves.size()),
                                     .streams = static_cast<std::int64_t>(step.streams.size()),
                                     .reverse = steps.reverse,
                                     .length = steps.length},
                                inputs);
  std::span<const Tensor> rest = outputs;
  function::write_leaves(rest, carry);
  function::write_leaves(rest, ys);
}

}  // namespace ricci::runs
