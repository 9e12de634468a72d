// The step with its tangents, and reverse mode of it in two halves. Knows nothing of where slices come from.
#include "control/step.h"

#include <utility>

#include "control/operands.h"
#include "ops/axes.h"
#include "ops/debug.h"

namespace ricci::runs {

using function::Runs;

namespace {

void add_streams(Assembly& to, const Step& step, const TensorOf& operand) {
  for (std::size_t i = step.slices_end(); i < step.captures_begin(); ++i)
    to.stream(to.in(i), to.out(step.rows_end() + i - step.slices_end()), operand(i));
}

}  // namespace

void add_streams_and_captures(Assembly& to, const Step& step, const TensorOf& operand) {
  add_streams(to, step, operand);
  for (std::size_t i = step.captures_begin(); i < step.inputs(); ++i) to.capture(to.in(i), operand(i));
}

PushedStep pushed(const Step& step, Flags active, const TensorOf& operand, const TensorOf& tangent) {
  const auto derived = until_stable(active, step.carried, step.outputs(), [&](const Flags& at_least) {
    return function::pushed(step.program, active, at_least, Runs::many);
  });
  const std::vector<std::size_t> in = places_of(active, step.inputs()),
                                 out = places_of(derived.outputs, step.outputs());
  Assembly all(derived.closure.program);
  for (std::size_t i = 0; i < step.carried; ++i) all.carry(all.in(i), all.out(i), operand(i));
  for (std::size_t i = 0; i < step.carried; ++i) {
    if (!active[i]) continue;
    const Tensor own = tangent(i);
    all.carry(all.in(in[i]), all.out(out[i]), own.defined() ? own : zeros_of(type_of(operand(i))));
  }
  for (std::size_t i = step.carried; i < step.slices_end(); ++i) {
    all.slice(all.in(i));
    if (active[i]) all.slice(all.in(in[i]));
  }
  add_streams(all, step, operand);
  for (std::size_t i = step.captures_begin(); i < step.inputs(); ++i) {
    all.capture(all.in(i), operand(i));
    if (active[i]) all.capture(all.in(in[i]), tangent(i));
  }
  for (std::size_t i = step.carried; i < step.rows_end(); ++i) all.row(all.out(i));
  for (std::size_t i = step.carried; i < step.rows_end(); ++i)
    if (derived.outputs[i]) all.row(all.out(out[i]));
  all.rest(derived.closure, in.back(), out.back());
  return {std::move(all), std::move(active), derived.outputs};
}

ForwardHalf forward_half(const Step& step, Flags active, const TensorOf& operand, bool prints) {
  Flags at_hand;
  for (std::size_t i = 0; i < step.inputs(); ++i) at_hand.push_back(!step.is_carried(i) && !step.draws(i));
  struct Halves {
    function::Split split;
    Flags outputs;
  };
  auto halves = until_stable(active, step.carried, step.outputs(), [&](const Flags&) {
    function::Split split(step.program, active, at_hand, Runs::many);
    Flags found = split.active_outputs();
    return Halves{std::move(split), std::move(found)};
  });
  const function::Closure& forward = halves.split.forward();
  Assembly all(prints ? forward.program : without_prints(forward.program));
  for (std::size_t i = 0; i < step.carried; ++i) all.carry(all.in(i), all.out(i), operand(i));
  for (std::size_t i = step.carried; i < step.slices_end(); ++i) all.slice(all.in(i));
  add_streams_and_captures(all, step, operand);
  for (std::size_t i = step.carried; i < step.rows_end(); ++i) all.row(all.out(i));
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < halves.split.kept(); ++i) kept.push_back(all.shared_row(all.out(step.outputs() + i)));
  all.rest(forward, step.inputs(), step.outputs() + halves.split.kept());
  return {std::move(halves.split), std::move(all), std::move(active), std::move(halves.outputs), std::move(kept)};
}

BackwardHalf backward_half(const Step& step, const function::Split& split, const Reverse& rule,
                           std::size_t first_output, const Flags& rows, const Flags& sums, const TensorOf& operand) {
  const std::size_t count = step.inputs();
  Flags has, summed;
  for (std::size_t i = 0; i < step.carried; ++i) has.push_back(rule.cotangents[first_output + i].defined());
  has.append(rows.begin(), rows.end());
  has.resize(step.outputs(), false);
  for (std::size_t i = 0; i < count; ++i)
    summed.push_back(step.is_slice(i) ? sums[i - step.carried] : i >= step.captures_begin());
  struct Stable {
    function::Backward backward;
    Flags outputs;  // of the way back: the carry's cotangents
  };
  const Stable stable = until_stable(has, step.carried, count, [&](const Flags& at_least) {
    function::Backward backward = split.backward(has, at_least, summed);
    Flags found = backward.given;
    for (std::size_t i = 0; i < step.carried; ++i) found[i] = found[i] || backward.taken[i];
    return Stable{std::move(backward), std::move(found)};
  });
  const function::Backward& found = stable.backward;
  BackwardHalf back{Assembly(found.closure.program), {}, {}, found.given};
  Assembly& all = back.assembly;
  const std::vector<std::size_t> cts = places_of(found.taken, found.reads.size()), out = places_of(found.given, 0);
  const auto read = [&](std::size_t input, BackwardSlice slice) {
    all.slice(all.in(input));
    back.slices.push_back(slice);
  };
  for (std::size_t i = 0; i < step.carried; ++i) {
    back.gradients[i] = has[i];
    if (!has[i]) continue;
    const Variable ct = found.taken[i] ? all.in(cts[i]) : all.unused(rule.output_types[first_output + i]);
    all.carry(ct, all.out(out[i]), rule.cotangent(static_cast<int>(first_output + i)));
  }
  for (std::size_t i = 0; i < found.reads.size(); ++i) {
    const auto [of_input, index] = found.reads[i];
    if (!of_input) read(i, {BackwardSlice::Of::kept, index});
    else if (step.is_slice(index)) read(i, {BackwardSlice::Of::slice, index - step.carried});
    else all.capture(all.in(i), operand(index));
  }
  for (std::size_t k = 0; k < step.rows(); ++k)
    if (found.taken[step.carried + k]) read(cts[step.carried + k], {BackwardSlice::Of::row, k});
  std::size_t sum = cts.back();
  for (std::size_t i = step.carried; i < count; ++i) {
    if (!found.given[i]) continue;
    if (step.is_slice(i)) {
      if (summed[i]) read(sum++, {BackwardSlice::Of::sum, i - step.carried});
      all.row(all.out(out[i]));
      back.rows.push_back(i - step.carried);
    } else {
      const Type type = type_of(operand(i));
      all.carry(all.in(sum++), all.out(out[i]), zeros_of({type.dtype, type.shape}));
    }
  }
  all.rest(found.closure, sum, 0);
  return back;
}

}  // namespace ricci::runs
