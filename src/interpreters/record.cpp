// One operation on recorded values: an equation more.
#include "interpreters/record.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "interpreters/batch.h"
#include "interpreters/dual.h"
#include "interpreters/node_memory.h"
#include "interpreters/places.h"
#include "interpreters/replay.h"
#include "kernels/elementwise.h"
#include "primitive/custom.h"
#include "primitive/writing.h"
#include "program/edit.h"
#include "program/structure.h"
#include "ricci/primitive/raise.h"
#include "tensor/stand_ins.h"

namespace ricci {

void Recorded::destroy() noexcept { destroy_node(this); }

RecordInterpreter::RecordInterpreter(const RecordInterpreter& other)
    : Interpreter(other), writing_(other.writing_), body(other.body), what_(other.what_), is_copy_(true) {}

RecordInterpreter::~RecordInterpreter() {
  this_thread.recordings_of_programs -= what_ != Records::tangents;
  if (!is_copy_) close();
}

std::unique_ptr<Interpreter> RecordInterpreter::copy() {
  if (what_ != Records::tangents)
    raise<NotImplementedError>("current_nest: " + transform_text(this) +
                               " writes a program down, in the order of one thread; start threads outside it");
  writing_->threads.share(entry);
  return std::unique_ptr<Interpreter>(new RecordInterpreter(*this));
}

Variable RecordInterpreter::new_variable(const Type& type) {
  body->types.push_back(type);
  return static_cast<Variable>(body->types.size() - 1);
}

ValueRef RecordInterpreter::add_input(const Type& type) {
  const Variable v = new_variable(type);
  body->inputs.push_back(v);
  return new_node<Recorded>(level, type, v);
}

const Strides* RecordInterpreter::strides_of_input(const Cell& cell) const {
  const auto found = std::ranges::find_if(strides_, [&](const auto& noted) { return noted.first.cell() == &cell; });
  return found == strides_.end() ? nullptr : &found->second;
}

Variable RecordInterpreter::variable_of(const ValueRef& value) {
  if (value->level == level) return static_cast<const Recorded&>(*value).variable;
  const auto lock = writing_->threads.lock();
  if (is_number(*value)) return variable_of_number(value);
  const auto found = writing_->captured.find(value.get());
  const ValueRef& inside = found == writing_->captured.end()
                               ? captured(value.get(), value, make_tensor(with_own_elements(value), 0))
                               : found->second.inside;
  return static_cast<const Recorded&>(*inside).variable;
}

const ValueRef& RecordInterpreter::captured(const void* key, const ValueRef& value, const Tensor& tensor) {
  Type type = value->type;
  for (Size& size : type.shape) size = here(size);
  const Variable v = new_variable(type);
  body->captures.push_back({v, tensor});
  return (writing_->captured[key] = {new_node<Recorded>(level, type, v), value}).inside;
}

ValueRef RecordInterpreter::capture(const Tensor& tensor, const ValueRef& value) {
  const ValueRef& own = own_value_of(tensor);
  const bool is_all_of_it = own.get() == value.get();
  const void* const key = is_all_of_it ? static_cast<const void*>(tensor.cell()) : value.get();
  const auto found = writing_->captured.find(key);
  if (found != writing_->captured.end()) return found->second.inside;
  const ValueRef inside = captured(key, value, is_all_of_it ? tensor : make_tensor(value, 0));
  writing_->captured.try_emplace(value.get(), Captured{inside, value});
  if (own->kind == ValueKind::recorded)
    writing_->outer_values.push_back({own, static_cast<const Recorded&>(*inside).variable});
  return inside;
}

namespace {

/// The elements in row-major order. One truth value is weak: a program prints it as `true`.
ArrayRef copy_of(const Strided& elements) {
  const Shape shape(elements.shape, elements.shape + elements.rank);
  ArrayRef copy =
      make_array({.dtype = elements.dtype, .shape = shape, .weak = shape.empty() && elements.dtype == DType::boolean});
  kernels::copy(copy->strided(), elements);
  return copy;
}

}  // namespace

bool are_same_bits(const Strided& a, const Strided& b) {
  if (a.dtype != b.dtype || !std::equal(a.shape, a.shape + a.rank, b.shape, b.shape + b.rank)) return false;
  const ArrayRef x = copy_of(a), y = copy_of(b);
  return std::memcmp(x->data, y->data, static_cast<std::size_t>(bytes_of(x->type))) == 0;
}

namespace {

/// What a program relies on where the recorded function looked at a value. It has no result: it throws where the value
/// has become another, bit by bit, so that a nan stays what it was. Laws compare results, so it has no samples:
/// `Program.ExpectsWhatTheHostHasSeenOfCapturedTensors` tests it.
struct ExpectEqual {
  using kind = Explicit;
  static constexpr const char* name = "expect_equal";
  static constexpr Effect effect = Effect::checks_values;
  static constexpr bool locally_constant = true;

  Types type(const Type& now, const Type& recorded) const {
    if (now.dtype != recorded.dtype || !(now.shape == recorded.shape))
      throw TypeError(to_string(now) + " is never " + to_string(recorded));
    return {};
  }
  void eval(Outputs, Inputs in) const {
    if (are_same_bits(in[0], in[1])) return;
    const ArrayRef now = copy_of(in[0]), recorded = copy_of(in[1]);
    const bool is_one = recorded->type.shape.empty();
    raise<TransformError>(
        "program: the recorded function looked at " + (is_one ? number_text(*recorded) : to_string(recorded->type)) +
        ", computed from captured tensors; it has become " + (is_one ? number_text(*now) : "another") +
        "; record it again, or use where, cond or while_loop");
  }
  ExpectEqual lifted() const { return {}; }
};

/// Whether it gives the same each time it is computed from the same operands.
bool is_repeatable(const Equation& e) {
  const bool draws = e.rules->draws && e.rules->draws(e.parameters.get());
  return e.rules->effect != Effect::acts && !e.has_symbols && !draws;
}

}  // namespace

const ValueRef* RecordInterpreter::known(Variable variable) {
  std::vector<bool> needed(body->types.size());
  needed[static_cast<std::size_t>(variable)] = true;
  const auto is_needed = [&](Variable v) { return needed[static_cast<std::size_t>(v)]; };
  std::vector<const Equation*> behind_it;
  for (auto e = body->equations.rbegin(); e != body->equations.rend(); ++e) {
    if (std::ranges::none_of(e->outputs, is_needed)) continue;
    if (!is_repeatable(*e)) return nullptr;
    for (const Variable v : e->inputs) needed[static_cast<std::size_t>(v)] = true;
    behind_it.push_back(&*e);
  }
  if (std::ranges::any_of(body->inputs, is_needed)) return nullptr;
  const AtLevel outside(parent);
  auto& values = writing_->known;
  bool is_captured = false;
  for (const Constant& c : body->constants)
    if (is_needed(c.variable)) values.try_emplace(c.variable, c.value);
  for (const Capture& c : body->captures) {
    if (!is_needed(c.variable)) continue;
    is_captured = true;
    if (!values.contains(c.variable)) values[c.variable] = read(c.tensor, "trace");
  }
  for (auto e = behind_it.rbegin(); e != behind_it.rend(); ++e) {
    if (values.contains((*e)->outputs[0])) continue;
    Tensors operands;
    for (const Variable v : (*e)->inputs) operands.push_back(wrap(values.at(v)));
    const Tensors results = apply_all((*e)->op(), operands);
    for (std::size_t i = 0; i < results.size(); ++i) values[(*e)->outputs[i]] = read(results[i], (*e)->rules->name);
  }
  ValueRef& value = values.at(variable);
  if (this_thread.narrowed_levels != 0) value = in_running_lanes(std::move(value));
  if (is_captured && value->kind == ValueKind::array) expect(variable, static_cast<const Array&>(*value));
  return &value;
}

void RecordInterpreter::expect(Variable variable, const Array& elements) {
  if (what_ != Records::program || !writing_->expected.insert(variable).second) return;
  (void)&registered<ExpectEqual>;
  const ExpectEqual expect_equal;
  const Type& type = body->types[static_cast<std::size_t>(variable)];
  const std::array<ValueRef, 2> operands = {new_node<Recorded>(level, type, variable), copy_of(elements.strided())};
  write({&rules_of<ExpectEqual>, &expect_equal}, operands);
}

Variable RecordInterpreter::variable_of_number(const ValueRef& number) {
  const auto [at, is_new] = writing_->numbers.try_emplace(bits_of(*number), -1);
  if (is_new) {
    at->second = new_variable(number->type);
    body->constants.push_back({at->second, number});
  }
  return at->second;
}

namespace {

/// What `detach` and no_grad are in a program: a copy that no level differentiates. Its samples are integers, as it
/// breaks the laws of derivatives on purpose.
struct Undifferentiated {
  using kind = Explicit;
  static constexpr const char* name = "detach";
  static constexpr bool locally_constant = true;
  static constexpr unsigned moves_elements = all_inputs;

  Type type(const Type& x) const { return x; }
  void eval(Outputs out, Inputs in) const { kernels::copy(out[0], in[0]); }
  Undifferentiated lifted() const { return {}; }
  Structure structure() const { return Copied{}; }
  static std::vector<Sample<Undifferentiated>> samples() { return {{{}, {tensor({{1, 2, 3}, {4, 5, 6}})}}}; }
};
}  // namespace

void RecordInterpreter::note_vmaps(Variable variable, const SmallVector<Level, 2>& levels) {
  if (what_ == Records::tangents) return;
  if (!(last_vmaps_.levels == levels)) {
    VmapsOfAxes::Row row;
    for (const Level level_of_vmap : levels) {
      const auto* vmap = static_cast<const BatchInterpreter*>(find_interpreter(level_of_vmap));
      const Level run = vmap ? vmap->run() : level_of_vmap;
      auto at = std::find(vmaps_.rbegin(), vmaps_.rend(), run);  // the last are met again and again
      if (at == vmaps_.rend()) {
        vmaps_.push_back(run);
        at = vmaps_.rbegin();
      }
      row.push_back(static_cast<int>(vmaps_.rend() - at) - 1);
    }
    last_vmaps_ = {levels, body->vmaps.number_of(row)};
  }
  body->vmaps.set(variable, last_vmaps_.row);
}

namespace {

/// `levels`: of the vmaps met on the way to `value`, outermost first.
void note_vmaps_within(const Value& value, SmallVector<Level, 2>& levels) {
  switch (value.kind) {
    case ValueKind::array: return;
    case ValueKind::batched:
      levels.insert(0, value.level);
      note_vmaps_within(*static_cast<const Batched&>(value).value, levels);
      return levels.erase(0);
    case ValueKind::dual:
      note_vmaps_within(*static_cast<const Dual&>(value).primal, levels);
      if (const ValueRef& tangent = static_cast<const Dual&>(value).tangent) note_vmaps_within(*tangent, levels);
      return;
    case ValueKind::taped: return note_vmaps_within(**inner_of(value), levels);
    case ValueKind::recorded:
      if (Interpreter* record = find_interpreter(value.level))
        static_cast<RecordInterpreter*>(record)->note_vmaps(static_cast<const Recorded&>(value).variable, levels);
  }
}

}  // namespace

void note_vmaps(const Value& batched) {
  SmallVector<Level, 2> levels;
  note_vmaps_within(batched, levels);
}

RecordInterpreter* innermost_recording(Interpreter* from) {
  return static_cast<RecordInterpreter*>(recorder_of_everything(from));  // only recordings see factories
}

std::uint64_t youngest_generator() {
  default_generator();
  return Generator(0).identity();
}

/// What draws from it is an operation of this recording, under those vmaps that the program will run under.
StreamPosition RecordInterpreter::in_here(const StreamPosition& outside) {
  const AtLevel at(parent);
  const ValueRef place = value_of(outside.place.defined() ? outside.place : place_of(outside));
  const std::uint64_t position = outside.place.defined() ? outside.position : 0;
  draws_.push_back({place, position});
  return {.seed = 0,
          .position = position,
          .place = make_tensor(new_node<Recorded>(level, place->type, variable_of(place)), level)};
}

bool RecordInterpreter::is_part() const { return what_ == Records::part && innermost_recording(parent); }

StreamPosition RecordInterpreter::next_position(Generator& generator) {
  // One that is made or seeded by the recorded function starts anew at each run.
  if (!knows(generator)) {
    const StreamPosition own{.seed = generator.seed(), .position = generator.next(), .place = {}};
    if (!is_part()) return in_here(own);
    const AtLevel outside(parent);
    return in_here(next_draw_from(generator, own));
  }
  if (is_part()) {
    const AtLevel outside(parent);
    return in_here(next_draw(generator));
  }
  return {.seed = 0, .position = 0, .place = take_place(generator, *this)};
}

StreamPosition RecordInterpreter::from_around(Generator& generator, StreamScope& streams, bool starts) {
  if (streams_) {
    StreamScope& innermost = *AroundDraws{.streams = &*streams_}.innermost();
    return starts ? innermost.start(generator) : innermost.next(generator);
  }
  if (!knows(generator) || !is_part()) return next_position(generator);
  const AtLevel outside(parent);
  return in_here(starts ? start_of_draws(generator, &streams) : next_draw(generator, &streams));
}

Tensor RecordInterpreter::begin_streams(Generator& generator, std::uint64_t number) {
  return ricci::begin_streams(generator, number, *this);
}

Tensor RecordInterpreter::add_equation(Op op) {
  const AtLevel at(this);
  const auto lock = writing_->threads.lock_if_open();
  return make_tensor(write(op, {})[0], level);
}

Tensor RecordInterpreter::start_of_steps(Generator& generator) {
  step_streams_.push_back({&generator, add_input(place_type)});
  return make_tensor(step_streams_.back().start, level);
}

ValueRef RecordInterpreter::undifferentiated(const ValueRef& recorded) {
  if (!is_differentiable(recorded->type.dtype)) return recorded;
  (void)&registered<Undifferentiated>;
  const Undifferentiated without;
  const Variable v = static_cast<const Recorded&>(*recorded).variable;
  const auto lock = writing_->threads.lock_if_open();
  auto& constants = writing_->constants;
  const auto found = constants.find(v);
  if (found != constants.end()) return found->second;
  const ValueRef constant = write({&rules_of<Undifferentiated>, &without}, {&recorded, 1})[0];
  constants[static_cast<const Recorded&>(*constant).variable] = constant;
  return constants[v] = constant;
}

Values RecordInterpreter::process(Op op, std::span<const ValueRef> inputs) {
  const auto lock = writing_->threads.lock_if_open();
  if (level > this_thread.no_grad_below) return write(op, inputs);
  Values constants;
  for (const ValueRef& v : inputs)
    constants.push_back(v->level == level ? undifferentiated(v) : without_derivatives(v, 0, this_thread.no_grad_below));
  Values results = write(op, {constants.data(), constants.size()});
  for (const ValueRef& v : results) writing_->constants[static_cast<const Recorded&>(*v).variable] = v;
  return results;
}

bool may_fail(const Rules& rules) {
  return rules.kind != Kind::elementwise && rules.kind != Kind::multilinear && !rules.is_view() &&
         !rules.accumulation();
}

namespace {

/// Of the vmaps inside a level that the user's call was made in, outermost first.
SmallVector<ExamplesOfCall, 2> examples_of_call(Level level) {
  SmallVector<ExamplesOfCall, 2> examples;
  const Interpreter* const call = this_thread.of_the_user ? this_thread.of_the_user : this_thread.innermost;
  for (const Interpreter* i = call; i && i->level > level; i = i->parent) {
    if (i->kind != ValueKind::batched) continue;
    const auto& batch = static_cast<const BatchInterpreter&>(*i);
    const ExampleNumbers numbers = batch.numbers();
    examples.insert(0, {batch.size, numbers.starts.size() == 1 ? numbers.starts[0] : 0});
  }
  return examples;
}

/// Sizes are those of the recording's own table. A program among the parameters may be one that runs at the sizes of a
/// call: those are written into it.
OwnedParameters parameters_to_write(Op op) {
  struct Here final : ParameterVisitor {
    Here() : ParameterVisitor(Mode::edits) {}
    void size(Size& size) override { size = here(size); }
  } edits;
  const bool is_custom = op.rules->kind == Kind::custom;
  OwnedParameters parameters = is_custom ? with_each_program(op, resolved) : OwnedParameters();
  const void* const from = is_custom ? parameters.get() : op.parameters;
  if (has_symbols({op.rules, from})) return {op.rules->parameters, from, edits};
  return is_custom ? parameters : OwnedParameters(op.rules->parameters, from);
}

}  // namespace

/// An input that was written to has another variable.
void RecordInterpreter::note_write(const Cell& root, const Type& target, const char* name) {
  const Value* const recorded = root.value ? part_at(*root.value, level) : nullptr;
  if (what_ == Records::tangents || !recorded) return;
  const Variable variable = static_cast<const Recorded&>(*recorded).variable;
  if (std::ranges::find(body->inputs, variable) == body->inputs.end() || first_writes_.contains(variable)) return;
  first_writes_.emplace(variable, FirstWrite{name, target, origins_.now(true, examples_of_call(level))});
}

Values RecordInterpreter::write(Op op, std::span<const ValueRef> inputs) {
  Types types;
  for (const ValueRef& v : inputs) types.push_back(v->type);
  if (op.rules->function_name) {
    const AtLevel inside(this);  // what is captured from this recording, and places of draws, are operands too
    const WrittenDown written = written_down(op, types);
    Values all(inputs.begin(), inputs.end());
    all.append(written.captured.begin(), written.captured.end());
    return write({written.rules, written.parameters.get()}, {all.data(), all.size()});
  }
  Equation equation{.rules = op.rules, .parameters = parameters_to_write(op), .inputs = {}, .outputs = {}};
  for (const ValueRef& v : inputs) equation.inputs.push_back(variable_of(v));
  Values results;
  for (const Type& type : types_of(equation.op(), types)) {
    bytes_of(type);  // what cannot be computed is refused where it is recorded
    const Variable v = new_variable(type);
    equation.outputs.push_back(v);
    results.push_back(new_node<Recorded>(level, type, v));
  }
  equation.has_symbols = has_symbols(equation.op());
  if (sees_everything()) equation.origin = origins_.now(may_fail(*op.rules), examples_of_call(level));
  body->equations.push_back(std::move(equation));
  return results;
}

}  // namespace ricci
