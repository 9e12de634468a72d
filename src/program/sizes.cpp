// Sizes of calls, and programs whose sizes are those of a call.
#include "program/sizes.h"

#include "program/program.h"

namespace ricci {

CallSizes::CallSizes(std::shared_ptr<const SymbolTable> table, std::vector<Size> inputs)
    : table_(std::move(table)), inputs_(std::move(inputs)), known_(table_->symbols()) {
  for (std::atomic<std::int64_t>& size : known_) size.store(unknown, std::memory_order_relaxed);
}

Size CallSizes::of(Size size) const {
  if (!size.is_symbol()) return size;
  std::atomic<std::int64_t>& known = known_[SymbolTable::number(size)];
  if (const std::int64_t raw = known.load(std::memory_order_relaxed); raw != unknown) return Size::from_raw(raw);
  const Size found = table_->evaluate(size, inputs_);
  known.store(found.raw(), std::memory_order_relaxed);
  return found;
}

std::shared_ptr<const CallSizes> CallSizes::edited(ParameterVisitor& edits) const {
  std::vector<Size> inputs = inputs_;
  for (Size& size : inputs) edits.size(size);
  return std::make_shared<const CallSizes>(table_, std::move(inputs));
}

void PutSizes::program(Program& program) {
  if (program.body().symbols) return;  // its own: it has none of the program around it
  program = program.in_call(sizes_);
}

Program Program::in_call(std::shared_ptr<const CallSizes> sizes) const {
  Program program = *this;
  program.sizes_ = std::move(sizes);
  return program;
}

namespace {

void show_sizes(const ProgramBody& body, ParameterVisitor& reads) {
  for (const Type& type : body.types)
    for (Size size : type.shape) reads.size(size);
  for (const Equation& e : body.equations) e.rules->parameters.walk(e.parameters.get(), reads);
}

ProgramBody with_edited_sizes(const ProgramBody& old, ParameterVisitor& edits) {
  ProgramBody body = old;
  for (Type& type : body.types)
    for (Size& size : type.shape) edits.size(size);
  const auto edited = [&](Size size) {
    edits.size(size);
    return size;
  };
  for (Equation& e : body.equations) {
    e.parameters = OwnedParameters(e.rules->parameters, e.parameters.get(), edits);
    e.origin = with_sizes(e.origin, edited);
  }
  return body;
}

/// As PutSizes, but programs become others.
struct Resolve final : ParameterVisitor {
  const CallSizes& sizes;
  explicit Resolve(const CallSizes& sizes) : ParameterVisitor(Mode::edits), sizes(sizes) {}
  void size(Size& size) override { size = sizes.of(size); }
};

}  // namespace

void ParameterVisitor::program(Program& program) {
  const ProgramBody& body = program.body();
  if (body.symbols) return;
  const CallSizes* const sizes = program.call_sizes();
  if (sizes && mode == Mode::reads) {
    for (Size size : sizes->inputs()) this->size(size);
  } else if (sizes) {
    program = program.in_call(sizes->edited(*this));
  } else if (mode == Mode::reads) {
    show_sizes(body, *this);
  } else {
    program = Program(Shared<const ProgramBody>(new ProgramBody(with_edited_sizes(body, *this))));
  }
}

Program resolved(const Program& program) {
  if (!program.call_sizes()) return program;
  Resolve resolve(*program.call_sizes());
  return Program(Shared<const ProgramBody>(new ProgramBody(with_edited_sizes(program.body(), resolve))));
}

Type type_of_variable(const Program& program, Variable v) {
  Type type = program.body().types[static_cast<std::size_t>(v)];
  if (const CallSizes* sizes = program.call_sizes())
    for (Size& size : type.shape) size = sizes->of(size);
  return type;
}

}  // namespace ricci
