// A scan as an operation whose parameter is the program of one step. In a recorded program every transform of a scan is
// a scan: of the step with its tangents, of the step on all examples, of the step that keeps what the way back reads
// and, the way back, of the step's cotangents.
#include <algorithm>
#include <memory>
#include <optional>

#include "control/loop.h"
#include "control/recording.h"
#include "control/step.h"
#include "kernels/elementwise.h"
#include "ops/axes.h"
#include "program/programs_run.h"
#include "program/pruning.h"
#include "ricci/control.h"

namespace ricci::runs {
namespace {

using function::Runs;

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
  Types type(const Types& inputs) const;
  ProgramsRun programs_run() const {
    return Turns{.body = &step,
                 .state = carries(),
                 .rows = static_cast<std::size_t>(scanned),
                 .streams = static_cast<std::size_t>(streams),
                 .read_by_body = by_role().captures_begin(),
                 .most_turns = scanned > 0 ? std::nullopt : std::optional(length.value_or(0)),
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
  Step by_role() const {
    return {step, carries(), static_cast<std::size_t>(scanned), static_cast<std::size_t>(streams)};
  }
  Size steps(const Type* first_slices) const { return scanned > 0 ? first_slices->shape[0] : length.value_or(0); }
  Size steps(std::span<const Tensor> inputs) const {
    if (scanned == 0) return steps(static_cast<const Type*>(nullptr));
    const Type type = type_of(inputs[carries()]);
    return steps(&type);
  }
  struct Rest;
};

struct Results {
  Tensors carry, rows;
};
/// A scan of this step over tensors in the order of its slices. `length`: where there are none.
Results apply_scan(const Assembly& step, const State& scanned, bool reverse, Size length) {
  Tensors operands;
  for (const State* more : {&step.first_carry(), &scanned, &step.first_streams(), &step.captured()})
    operands.append(more->begin(), more->end());
  Scan scan{.step = step.program(),
            .carried = std::ssize(step.first_carry()),
            .scanned = std::ssize(scanned),
            .streams = std::ssize(step.first_streams()),
            .reverse = reverse,
            .length = {}};
  if (scan.scanned == 0) scan.length = length;
  const Tensors all = ricci::apply(scan, operands);
  const auto rows = all.begin() + scan.carried;
  return {{all.begin(), rows}, {rows, all.end()}};
}

Roles Scan::roles(std::size_t count) const {
  const auto produced = static_cast<std::int64_t>(by_role().outputs());
  require_between(0, streams, produced);
  require_between(0, carried, produced - streams);
  require_between(0, scanned, static_cast<std::int64_t>(count) - carried - streams);
  return checked({{"carry", carries()},
                  {"xs", static_cast<std::size_t>(scanned)},
                  {"streams", static_cast<std::size_t>(streams)},
                  {"step", captures(step, by_role().captures_begin())}},
                 count);
}

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
  for (std::size_t i = carries(); i < by_role().slices_end(); ++i) {
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
  std::vector<StackedRows> rows(by_role().rows(), StackedRows(count));
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
  const Step own = by_role();
  const PushedStep both = pushed(
      own, defined_among(tangents), [&](std::size_t i) { return inputs[i]; },
      [&](std::size_t i) { return tangents[i]; });
  State scanned;
  for (std::size_t i = own.carried; i < own.slices_end(); ++i) {
    scanned.push_back(inputs[i]);
    if (both.active[i]) scanned.push_back(tangents[i]);
  }
  const Results found = apply_scan(both.assembly, scanned, reverse, steps(inputs));
  Pushed all;
  const auto split = [&](const Tensors& results, std::size_t first, std::size_t count) {
    auto tangent = results.begin() + static_cast<std::ptrdiff_t>(count);
    all.outputs.append(results.begin(), tangent);
    for (std::size_t i = first; i < first + count; ++i)
      all.tangents.push_back(both.outputs[i] ? *tangent++ : Tensor());
  };
  split(found.carry, 0, own.carried);
  split(found.rows, own.carried, own.rows());
  return all;
}

BatchedOutputs Scan::batch(const Batch& batch) const {
  const Step own = by_role();
  const MappedExamples examples(batch);
  Flags is_mapped = flags_of(batch.mapped, batch.inputs.size());
  const auto derived = until_stable(is_mapped, own.carried, own.outputs(), [&](const Flags& at_least) {
    return function::mapped(step, is_mapped, at_least, examples, Runs::many);
  });
  Assembly mapped(derived.closure.program);
  State scanned;
  for (std::size_t i = 0; i < own.carried; ++i)
    mapped.carry(mapped.in(i), mapped.out(i), is_mapped[i] ? batch.input(static_cast<int>(i)) : batch.inputs[i]);
  for (std::size_t i = own.carried; i < own.slices_end(); ++i) {
    mapped.slice(mapped.in(i));
    scanned.push_back(is_mapped[i] ? batch.inputs[i].movedim({0}, {1}) : batch.inputs[i]);
  }
  add_streams_and_captures(mapped, own, [&](std::size_t i) { return batch.inputs[i]; });
  for (std::size_t i = own.carried; i < own.rows_end(); ++i) mapped.row(mapped.out(i));
  mapped.rest(derived.closure, own.inputs(), own.outputs());
  const Results found = apply_scan(mapped, scanned, reverse, length.value_or(0));
  BatchedOutputs all{.outputs = found.carry, .mapped = 0};
  for (const Tensor& rows : found.rows) {
    const bool differs = derived.outputs[all.outputs.size()];
    all.outputs.push_back(differs ? rows.movedim({1}, {0}) : rows);
  }
  for (std::size_t i = 0; i < own.rows_end(); ++i) all.mapped.push_back(derived.outputs[i]);
  return all;
}

/// What the way back needs besides tensors.
struct Scan::Rest {
  function::Split split;
  std::vector<std::size_t> kept;
  Size steps;
};

/// Keeps the inputs, then the stacked rows.
Kept Scan::keep(std::span<const Tensor> inputs, const Mask& wanted) const {
  const Step own = by_role();
  const ForwardHalf forward = forward_half(
      own, flags_of(wanted, inputs.size()), [&](std::size_t i) { return inputs[i]; }, true);
  const auto slices = inputs.begin() + carried;
  const Results found = apply_scan(forward.assembly, {slices, slices + scanned}, reverse, steps(inputs));
  Kept kept{.outputs = found.carry, .residual = {{inputs.begin(), inputs.end()}, nullptr}};
  kept.outputs.append(found.rows.begin(), found.rows.begin() + static_cast<std::ptrdiff_t>(own.rows()));
  kept.residual.tensors.insert(kept.residual.tensors.end(), found.rows.begin(), found.rows.end());
  // After no steps the carry is the first one.
  for (std::size_t i = 0; i < own.rows_end(); ++i)
    kept.constant.push_back(!(forward.outputs[i] || (i < own.carried && forward.active[i])));
  kept.residual.rest = std::make_shared<Rest>(Rest{forward.split, forward.kept, steps(inputs)});
  return kept;
}

Tensors Scan::vjp(const Reverse& rule) const {
  const Step own = by_role();
  const auto& rest = *static_cast<const Rest*>(rule.residual->rest.get());
  const std::span<const Tensor> inputs = std::span(rule.residual->tensors).first(own.inputs()),
                                rows = std::span(rule.residual->tensors).subspan(own.inputs());
  Flags has_cotangent;
  for (std::size_t i = own.carried; i < own.rows_end(); ++i) has_cotangent.push_back(rule.cotangents[i].defined());
  const BackwardHalf back = backward_half(own, rest.split, rule, 0, has_cotangent, Flags(own.slices, false),
                                          [&](std::size_t i) { return inputs[i]; });
  State scanned;
  for (const auto [of, number] : back.slices) {
    if (of == BackwardSlice::Of::kept) scanned.push_back(rows[rest.kept[number]]);
    else if (of == BackwardSlice::Of::slice) scanned.push_back(inputs[own.carried + number]);
    else scanned.push_back(rule.cotangent(static_cast<int>(own.carried + number)));
  }
  const Results gradients = apply_scan(back.assembly, scanned, !reverse, rest.steps);
  Tensors all;
  auto carry = gradients.carry.begin(), row = gradients.rows.begin();
  for (std::size_t i = 0; i < own.inputs(); ++i)
    all.push_back(!back.gradients[i] ? Tensor() : own.is_slice(i) ? *row++ : *carry++);
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
