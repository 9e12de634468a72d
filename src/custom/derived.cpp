// Recording a program again under a transform, and cutting what reverse mode records in two.
#include "custom/derived.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "custom/closure.h"
#include "interpreters/record.h"
#include "primitive/derive.h"
#include "program/constants.h"
#include "program/edit.h"
#include "ricci/primitive/raise.h"

namespace ricci::function {
namespace {

constexpr const char* called = "a recorded program";

TensorFunction function_of(const Program& f) {
  return [&f](std::span<const Tensor> inputs) {
    const std::vector<Tensor> outputs = f(inputs);
    return Tensors(outputs.begin(), outputs.end());
  };
}

Types input_types(const Program& f) {
  Types types;
  for (const Variable v : f.body().inputs) types.push_back(type_of_variable(f, v));
  return types;
}

/// An input like this one, but no number.
Tensor tangent(const Recorder& recorder, const Type& type) { return recorder.input({type.dtype, type.shape}); }

}  // namespace

Derived pushed(const Program& f, const Flags& active, const Flags& at_least, Runs runs) {
  Recorder again(called, records_for(runs));
  const Tensors inputs = again.inputs(input_types(f));
  Tensors tangents;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    tangents.push_back(active[i] ? tangent(again, type_of(inputs[i])) : Tensor());
  const Pushed found = push_through(function_of(f), inputs, tangents);
  for (const Tensor& t : found.outputs) again.output(with_dtype(t));
  Derived derived;
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    const bool has = found.tangents[i].defined();
    derived.outputs.push_back(has || at_least[i]);
    if (derived.outputs[i]) again.output(has ? with_dtype(found.tangents[i]) : zeros_of(type_of(found.outputs[i])));
  }
  derived.closure = closed(again);
  return derived;
}

Derived mapped(const Program& f, const Flags& is_mapped, const Flags& at_least, const MappedExamples& examples,
               Runs runs, bool in_part) {
  Recorder again(called, records_for(runs));
  Types types = input_types(f);
  for (std::size_t i = 0; i < types.size(); ++i)
    if (is_mapped[i]) types[i].shape.insert(0, examples.size);
  const Tensors inputs = again.inputs(types);
  const BatchInterpreter* const run = examples.interpreter();
  Tensor takes_part = run ? run->takes_part : Tensor();
  if (in_part) {
    const Tensor given = again.input({DType::boolean, {examples.size}});
    takes_part = takes_part.defined() ? logical_and(takes_part, given) : given;
  }
  Derived derived;
  Tensors outputs;
  {
    const BatchLevel level(examples, takes_part);
    for (const Tensor& shown : f(level.show(inputs, is_mapped))) {
      const BatchLevel::Taken taken = level.take(shown);
      derived.outputs.push_back(taken.mapped || at_least[outputs.size()]);
      outputs.push_back(derived.outputs.back() ? level.take_rows(shown) : taken.value);
    }
  }
  for (const Tensor& t : outputs) again.output(with_dtype(t));
  derived.closure = closed(again);
  return derived;
}

Closure seen_inside_reverse(const Program& f, const Flags& watched) {
  Recorder again(called, records_for(Runs::once));
  again.interpreter().is_differentiated = true;
  const Tensors inputs = again.inputs(input_types(f));
  const TapedCall taped(function_of(f), inputs, differentiable_in(watched, inputs), called);
  for (const Tensor& t : taped.outputs) again.output(with_dtype(t));
  return closed(again);
}

/// A program under a tape, and the tape run backwards: one list of equations, which is cut later.
struct Recording {
  ProgramBody body;  // without outputs
  std::size_t forward_equations = 0, forward_variables = 0;
  std::vector<Variable> inputs, outputs;         // of the old program
  std::vector<Variable> streams, ended_streams;  // that its draws go on from, and to
  std::vector<Generator*> generators;
  std::vector<Variable> cotangents, sums;  // inputs as well
  std::vector<Variable> gradients;
  Flags active_outputs, taken, given;
};

namespace {

/// Whether the way back begins with the sum of such an input's cotangents: a step that reads one element of a table
/// then adds to one element of the sum, not an array that is zero but for one element. The terms of a few elements are
/// added together first, so that those of one step do not wait for those of the step before.
bool begins_with_sum(const Type& type) {
  constexpr std::int64_t few_elements = 64;
  return type.shape.numel().hint() >= few_elements;
}

/// `at_least` says whose cotangents should be outputs, zeros if need be, `summed` which of them are added to a sum.
Recording record(const Program& f, const Flags& active, Runs runs, const Flags& cotangents, const Flags& at_least,
                 const Flags& summed) {
  Recording r;
  Recorder again(called, records_for(runs));
  again.interpreter().is_differentiated = true;  // by derivatives that may go through the halves later
  const auto variable = [&](const Tensor& x) { return again.variable(with_dtype(x)); };
  ProgramBody& body = again.body();
  const Tensors inputs = again.inputs(input_types(f));
  r.inputs = body.inputs;
  const TapedCall taped(function_of(f), inputs, active);
  for (const Tensor& t : taped.outputs) r.outputs.push_back(variable(t));
  r.forward_equations = body.equations.size();
  r.forward_variables = body.types.size();

  std::vector<Tensor> cts;
  for (std::size_t i = 0; i < taped.outputs.size(); ++i) {
    r.active_outputs.push_back(taped.output_slots[i] >= 0);
    r.taken.push_back(r.active_outputs[i] && cotangents[i]);
    cts.push_back(r.taken[i] ? tangent(again, type_of(taped.outputs[i])) : Tensor());
    if (r.taken[i]) r.cotangents.push_back(variable(cts[i]));
  }
  std::vector<int> slots = taped.output_slots;
  std::vector<Tensor> begun(inputs.size());
  for (std::size_t i = 0, next = 0; i < inputs.size(); ++i) {
    if (!active[i]) continue;
    const int slot = taped.wanted_slots[next++];
    if (!summed[i] || !begins_with_sum(type_of(inputs[i]))) continue;
    begun[i] = tangent(again, type_of(inputs[i]));
    slots.push_back(slot);
    cts.push_back(begun[i]);
  }
  const std::vector<Tensor> found = taped.record->pull_back(slots, cts, taped.wanted_slots, true);
  std::size_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensor gradient = active[i] ? found[next++] : Tensor();
    const bool holds_sum = begun[i].defined() && gradient.defined();
    if (holds_sum && !at_least[i] && variable(gradient) == variable(begun[i])) gradient = Tensor();
    if (!gradient.defined() && at_least[i]) gradient = zeros_of(type_of(inputs[i]));
    r.given.push_back(gradient.defined());
    if (!r.given[i]) continue;
    if (!(type_of(gradient) == type_of(inputs[i]))) gradient = fit(gradient, type_of(inputs[i]));
    if (summed[i]) {
      const Tensor sum = holds_sum ? begun[i] : tangent(again, type_of(inputs[i]));
      r.sums.push_back(variable(sum));
      if (!holds_sum) gradient = sum + gradient;
    }
    r.gradients.push_back(variable(gradient));
  }
  for (const RecordInterpreter::StepStream& stream : again.interpreter().step_streams())
    r.streams.push_back(variable(wrap(stream.start)));
  r.generators = end_streams(again);
  r.ended_streams = std::exchange(body.outputs, {});
  r.body = body;
  return r;
}

/// The constants and captures of a recording's first half, and the equations that compute the outputs.
ProgramBody first_half(const Recording& r) {
  ProgramBody half;
  half.equations.assign(r.body.equations.begin(),
                        r.body.equations.begin() + static_cast<std::ptrdiff_t>(r.forward_equations));
  const auto is_of_it = [&](const auto& known) {
    return static_cast<std::size_t>(known.variable) < r.forward_variables;
  };
  std::ranges::copy_if(r.body.constants, std::back_inserter(half.constants), is_of_it);
  std::ranges::copy_if(r.body.captures, std::back_inserter(half.captures), is_of_it);
  return half;
}

/// The parameters' text, without that of programs among them: a loop keeps the rows that its way back reads, and where
/// cotangents are missing, those are fewer.
std::string text_of_parameters(const Equation& e) {
  const OwnedParameters parameters = with_each_program(e.op(), [](const Program&) { return Program(); });
  std::string text;
  e.rules->parameters.print(parameters.get(), text);
  return text;
}

/// The same operation on the same variables: what a program among the parameters captures is among these.
bool are_same(const Equation& a, const Equation& b) {
  return a.rules == b.rules && a.inputs == b.inputs && a.outputs == b.outputs &&
         text_of_parameters(a) == text_of_parameters(b);
}
/// A tensor that the rule makes, rather than finds, is made anew each time.
bool are_same(const Capture& a, const Capture& b) {
  const Value &x = *value_of(a.tensor), &y = *value_of(b.tensor);
  const auto elements = [](const Value& value) { return static_cast<const Array&>(value).strided(); };
  const auto is_array = [](const Value& value) { return value.kind == ValueKind::array; };
  return a.variable == b.variable && (a.tensor.is_same(b.tensor) || &x == &y ||
                                      (is_array(x) && is_array(y) && are_same_bits(elements(x), elements(y))));
}
bool are_same(const Constant& a, const Constant& b) {
  return a.variable == b.variable && bits_of(*a.value) == bits_of(*b.value);
}
template <class Known>
bool are_all_same(const std::vector<Known>& a, const std::vector<Known>& b) {
  return std::ranges::equal(a, b, [](const Known& x, const Known& y) { return are_same(x, y); });
}

/// Some of the variables of a recording.
class Variables {
 public:
  explicit Variables(const ProgramBody& body) : has_(body.types.size()) {}
  void add(Variable v) { has_[static_cast<std::size_t>(v)] = true; }
  template <class List>
  void add_all(const List& list) {
    for (const Variable v : list) add(v);
  }
  bool has(Variable v) const { return has_[static_cast<std::size_t>(v)]; }
  template <class List>
  bool have_all(const List& list) const {
    return std::all_of(list.begin(), list.end(), [this](Variable v) { return has(v); });
  }

 private:
  std::vector<bool> has_;
};

}  // namespace

Flags outputs_reached(const Program& f, const Flags& inputs) {
  const ProgramBody& body = f.body();
  Variables reached(body);
  const auto add = [&](Variable v) {
    if (is_differentiable(body.types[static_cast<std::size_t>(v)].dtype)) reached.add(v);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]) add(body.inputs[i]);
  for (const Equation& e : body.equations)
    if (std::ranges::any_of(e.inputs, [&](Variable v) { return reached.has(v); }))
      std::ranges::for_each(e.outputs, add);
  Flags outputs;
  for (const Variable v : body.outputs) outputs.push_back(reached.has(v));
  return outputs;
}

namespace {

/// The equations of the second half that say where streams end. What else it does, such as a check of values, waits for
/// cotangents.
std::vector<Equation> ends_of_streams(const Recording& r) {
  Variables needed(r.body);
  needed.add_all(r.ended_streams);
  std::vector<Equation> ends;  // the last first
  for (std::size_t i = r.body.equations.size(); i-- > r.forward_equations;) {
    const Equation& e = r.body.equations[i];
    if (std::ranges::none_of(e.outputs, [&](Variable v) { return needed.has(v); })) continue;
    ends.push_back(e);
    needed.add_all(e.inputs);
  }
  std::ranges::reverse(ends);
  return ends;
}

/// Whether an element of this elementwise operation takes one instruction or so, as a sum does.
bool rounds_once(const Rules& rules) { return rules.bound && rules.bound->ulps <= 0.5; }

/// Whether it costs less to compute the equation again than to keep its result. A loop keeps its result for each step,
/// and an element takes longer to be written and read than to be added: there sums and products are computed again.
/// Integers are kept: most are places, which would have to be known to lie inside again. A number must be computed
/// again: what is kept gets a dtype.
bool is_cheap(const Equation& e, const std::vector<Type>& types, Runs runs) {
  if (e.rules->kind == Kind::custom || e.outputs.size() != 1) return false;
  const Type& type = types[static_cast<std::size_t>(e.outputs[0])];
  if (e.inputs.empty() || e.rules->is_view() || type.weak) return true;
  if (e.rules->kind != Kind::elementwise) return false;
  const bool is_kept_for_each_step = runs == Runs::many && is_differentiable(type.dtype);
  return e.rules->is_locally_constant() || (is_kept_for_each_step && rounds_once(*e.rules));
}

}  // namespace

/// What the equations behind the cut read of those before it, and what these can give without being kept.
struct Split::Read {
  Variables needed, available;

  const Runs runs;

  Read(const Recording& r, const Flags& at_hand, Runs runs) : needed(r.body), available(r.body), runs(runs) {
    needed.add_all(r.gradients);
    for (std::size_t i = r.body.equations.size(); i-- > r.forward_equations;)
      if (is_computed(r.body.equations[i], [&](Variable v) { return needed.has(v); }))
        needed.add_all(r.body.equations[i].inputs);
    for (std::size_t i = 0; i < r.inputs.size(); ++i)
      if (at_hand[i]) available.add(r.inputs[i]);
    for (const Constant& constant : r.body.constants) available.add(constant.variable);
    for (const Capture& capture : r.body.captures) available.add(capture.variable);
  }
  /// A cheap equation whose operands are available makes its result so.
  void pass(const Equation& e, const std::vector<Type>& types) {
    if (is_cheap(e, types, runs) && available.have_all(e.inputs)) available.add(e.outputs[0]);
  }
};

Split::Split(Program f, const Flags& active, const Flags& at_hand, Runs runs)
    : f_(std::move(f)), active_(active), at_hand_(at_hand), runs_(runs) {
  const auto [r, needed_besides] = record_for_all();
  Read read(r, at_hand_, runs_);
  read.needed.add_all(needed_besides);
  const auto keep = [&](Variable v) {
    if (!read.needed.has(v) || read.available.has(v)) return;
    kept_.push_back(v);
    read.available.add(v);
  };
  for (const Variable v : r.inputs) keep(v);
  for (const Variable v : r.streams) keep(v);
  for (std::size_t i = 0; i < r.forward_equations; ++i) {
    read.pass(r.body.equations[i], r.body.types);
    for (const Variable v : r.body.equations[i].outputs) keep(v);
  }
  active_outputs_ = r.active_outputs;
  first_half_ = first_half(r);
  ProgramBody body = r.body;
  body.equations = first_half_.equations;
  std::ranges::copy(ends_of_streams(r), std::back_inserter(body.equations));
  body.inputs = r.inputs;
  body.inputs.insert(body.inputs.end(), r.streams.begin(), r.streams.end());
  for (const auto& more : {r.outputs, kept_, r.ended_streams})
    body.outputs.insert(body.outputs.end(), more.begin(), more.end());
  forward_ = closed(body, r.generators);
}

/// A recording for the cotangents of all outputs. A rule may throw, and perhaps nobody gives its output a cotangent:
/// then a recording for none, and what those outputs need whose rules do not throw.
std::pair<Recording, std::vector<Variable>> Split::record_for_all() const {
  const std::size_t outputs = f_.body().outputs.size();
  const auto recorded = [&](const Flags& cotangents) {
    const Flags none(f_.inputs(), false);
    return record(f_, active_, runs_, cotangents, none, none);
  };
  try {
    return {recorded(Flags(outputs, true)), {}};
  } catch (const Error&) {
    std::vector<Variable> needed;
    for (std::size_t i = 0; i < outputs; ++i) {
      Flags one(outputs, false);
      one[i] = true;
      try {
        const Recording r = recorded(one);
        const Read read(r, at_hand_, runs_);
        for (Variable v = 0; static_cast<std::size_t>(v) < r.forward_variables; ++v)
          if (read.needed.has(v)) needed.push_back(v);
      } catch (const Error&) {  // thrown again where the output has a cotangent
      }
    }
    return {recorded(Flags(outputs, false)), std::move(needed)};
  }
}

/// Variables are paired with those of the first recording by number, so both must have computed the same until the cut.
bool Split::begins_as_before(const Recording& r) const {
  const ProgramBody now = first_half(r);
  return are_all_same(now.equations, first_half_.equations) && are_all_same(now.captures, first_half_.captures) &&
         are_all_same(now.constants, first_half_.constants);
}

/// None if this recording's backward half reads a value that the first one did not keep: a rule may compute differently
/// where cotangents are missing.
std::optional<Backward> Split::cut(const Recording& r) const {
  Read read(r, at_hand_, runs_);
  for (const Variable v : kept_) {
    const bool is_same = static_cast<std::size_t>(v) < r.forward_variables ||
                         std::find(r.streams.begin(), r.streams.end(), v) != r.streams.end();
    if (!is_same) return std::nullopt;
    read.available.add(v);
  }
  for (std::size_t i = 0; i < r.forward_equations; ++i) read.pass(r.body.equations[i], r.body.types);
  Backward backward{.closure = {}, .reads = {}, .taken = r.taken, .given = r.given};
  ProgramBody body = r.body;
  body.inputs.clear();
  body.outputs = r.gradients;
  Variables given(r.body);  // as inputs
  const auto take = [&](Variable v, Reads from) {
    if (!read.needed.has(v) || given.has(v)) return;
    given.add(v);
    body.inputs.push_back(v);
    backward.reads.push_back(from);
  };
  // What is cheap is computed again, from what is read for it.
  const auto is_kept = [&](Variable v) { return std::find(kept_.begin(), kept_.end(), v) != kept_.end(); };
  std::vector<Equation> again;
  for (std::size_t i = r.forward_equations; i-- > 0;) {
    const Equation& e = r.body.equations[i];
    for (const Variable v : e.outputs)
      if (read.needed.has(v) && !read.available.has(v)) return std::nullopt;
    if (!is_cheap(e, r.body.types, runs_) || !read.needed.has(e.outputs[0]) || is_kept(e.outputs[0])) continue;
    read.needed.add_all(e.inputs);
    again.push_back(e);
  }
  for (const auto& inputs : {r.inputs, r.streams})
    for (const Variable v : inputs)
      if (read.needed.has(v) && !read.available.has(v)) return std::nullopt;
  for (std::size_t i = 0; i < r.inputs.size(); ++i)
    if (at_hand_[i]) take(r.inputs[i], {.of_input = true, .index = i});
  for (std::size_t i = 0; i < kept_.size(); ++i) take(kept_[i], {.of_input = false, .index = i});
  for (const auto& more : {r.cotangents, r.sums}) body.inputs.insert(body.inputs.end(), more.begin(), more.end());
  body.equations.assign(again.rbegin(), again.rend());
  body.equations.insert(body.equations.end(),
                        r.body.equations.begin() + static_cast<std::ptrdiff_t>(r.forward_equations),
                        r.body.equations.end());
  backward.closure = closed(body, {});
  return backward;
}

Closure pulled_back(const Program& f, const Flags& active, const Flags& cotangents) {
  const Recording r = record(f, active, Runs::once, cotangents, active, Flags(f.inputs(), false));
  ProgramBody body = r.body;
  body.inputs = r.inputs;
  auto cotangent = r.cotangents.begin();
  for (std::size_t i = 0; i < r.outputs.size(); ++i) {
    if (!cotangents[i]) continue;
    if (!r.taken[i]) body.types.push_back(type_of_variable(f, f.body().outputs[i]));  // nothing depends on it
    body.inputs.push_back(r.taken[i] ? *cotangent++ : static_cast<Variable>(body.types.size() - 1));
  }
  body.outputs = r.gradients;
  return closed(body, {});
}

Backward Split::backward(const Flags& cotangents, const Flags& at_least, const Flags& summed) const {
  for (const Flags& of : {cotangents, active_outputs_}) {
    const Recording r = record(f_, active_, runs_, of, at_least, summed);
    if (!begins_as_before(r))
      raise<TransformError>(
          "a function with a rule of its own computed or captured something else when it was written down again; make "
          "it depend on its arguments alone");
    if (std::optional<Backward> found = cut(r)) return *std::move(found);
  }
  raise<TransformError>(
      "a backward rule computed something else when it was written down again; make it depend on its arguments alone");
}

}  // namespace ricci::function
