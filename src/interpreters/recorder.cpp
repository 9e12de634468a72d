// Inputs and outputs of a recording.
#include "interpreters/recorder.h"

namespace ricci {

ArgumentTypes::ArgumentTypes(std::span<Tensor* const> arguments) {
  for (const Tensor* argument : arguments) {
    types.push_back(argument->defined() ? Type{type_of(*argument)} : Type{});
    layouts.push_back(argument->defined() ? layout_of(*argument) : Layout{});
  }
}

Recorder::Recorder(const char* name, Records what, const Entry& entry, std::shared_ptr<SymbolTable> symbols)
    : name_(name), record_(std::make_unique<RecordInterpreter>(what, entry)) {
  body().symbols = std::move(symbols);
  if (body().symbols) scope_ = std::make_unique<SymbolScope>(body().symbols.get());
}

Tensors Recorder::inputs(const Types& types) const {
  Tensors inputs;
  for (const Type& type : types) inputs.push_back(input(type));
  return inputs;
}

void Recorder::show(std::span<Tensor* const> arguments) const {
  for (Tensor* argument : arguments)
    if (argument->defined()) *argument = input(type_of(*argument));
}

void Recorder::show(std::span<Tensor* const> arguments, const ArgumentTypes& like) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i]->defined()) continue;
    *arguments[i] = input(like.types[i]);
    const Layout& layout = like.layouts[i];
    if (!layout.is_row_major()) record_->note_strides(*arguments[i], layout.strides);
  }
}

Program Recorder::end() {
  record_->close();
  if (body().symbols) body().symbols->forget_around();
  Program program(Shared<const ProgramBody>(new ProgramBody(without_dead_equations(body()))));
  scope_.reset();
  record_.reset();
  return program;
}

}  // namespace ricci
