// A function written down as a program: whoever does that begins a `Recorder`, calls the function with its inputs and
// gives it what the function returned.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "interpreters/layout.h"
#include "interpreters/record.h"

namespace ricci {

/// What a function's arguments are like that become inputs; nothing where one is undefined.
struct ArgumentTypes {
  explicit ArgumentTypes(std::span<Tensor* const> arguments);
  Types types;
  std::vector<Layout> layouts;
};

class Recorder {
 public:
  /// `name` is what errors call the function, `entry` how they name it among the transforms around what is recorded.
  /// Sizes of inputs may be symbols of `symbols`, where there is a table.
  Recorder(const char* name, Records what, const Entry& entry = {}, std::shared_ptr<SymbolTable> symbols = nullptr);

  Tensor input(const Type& type) const { return wrap(record_->add_input(type)); }
  Tensors inputs(const Types& types) const;
  /// Makes the defined arguments inputs of their types.
  void show(std::span<Tensor* const> arguments) const;
  /// The same of these types, which lie as the arguments did.
  void show(std::span<Tensor* const> arguments, const ArgumentTypes& like) const;
  Variable variable(const Tensor& x) const { return record_->variable_of(read(x, name_)); }
  void output(const Tensor& x) const { record_->body->outputs.push_back(variable(x)); }
  /// What is written so far.
  ProgramBody& body() const { return *record_->body; }
  RecordInterpreter& interpreter() const { return *record_; }

  /// Ends the recording. The program has the equations that an output or an effect needs.
  Program end();

 private:
  const char* name_;
  std::unique_ptr<RecordInterpreter> record_;
  std::unique_ptr<SymbolScope> scope_;  // null: no table
};

}  // namespace ricci
