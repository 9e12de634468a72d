// Running, checking and printing programs.
#include "program/program.h"

#include <optional>
#include <ostream>

#include "primitive/interpreter.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

/// a … z, then a1 … z1, in order of first appearance.
std::string variable_name(std::size_t i) {
  const std::string letter(1, static_cast<char>('a' + i % 26));
  return i < 26 ? letter : letter + std::to_string(i / 26);
}

/// With the lines after the first, those of a program among the parameters, further in.
std::string indented(const std::string& parameters) {
  std::string text;
  for (const char c : parameters) {
    text += c;
    if (c == '\n') text += "    ";
  }
  return text;
}

class Printer {
 public:
  explicit Printer(const ProgramBody& body) : body_(body), names_(body.types.size()) {}

  std::string print() {
    std::optional<SymbolScope> scope;
    if (body_.symbols) scope.emplace(*body_.symbols);
    text_ = "program(";
    list(body_.inputs);
    if (!body_.captures.empty()) {
      std::vector<Variable> captured;
      for (const Capture& c : body_.captures) captured.push_back(c.variable);
      text_ += "; ";
      list(captured);
    }
    text_ += ") {\n";
    for (const Equation& e : body_.equations) equation(e);
    text_ += "  return";
    for (Variable v : body_.outputs) text_ += " " + name(v);
    return text_ + "\n}\n";
  }

 private:
  const std::string& name(Variable v) {
    std::string& n = names_[static_cast<std::size_t>(v)];
    if (n.empty()) n = variable_name(used_++);
    return n;
  }
  std::string declaration(Variable v) {
    const Type& type = body_.types[static_cast<std::size_t>(v)];
    return name(v) + ": " + (type.weak ? "weak " : "") + to_string(type);
  }
  void list(const std::vector<Variable>& variables) {
    for (std::size_t i = 0; i < variables.size(); ++i) text_ += (i ? ", " : "") + declaration(variables[i]);
  }
  void equation(const Equation& e) {
    text_ += "  ";
    for (std::size_t i = 0; i < e.outputs.size(); ++i) text_ += (i ? ", " : "") + declaration(e.outputs[i]);
    text_ += std::string(" = ") + e.rules->name;
    std::string parameters;
    e.rules->parameters.print(e.parameters.get(), parameters);
    if (!parameters.empty()) text_ += "[" + indented(parameters) + "]";
    for (Variable v : e.inputs) text_ += " " + name(v);
    text_ += "\n";
  }

  const ProgramBody& body_;
  std::vector<std::string> names_;
  std::size_t used_ = 0;
  std::string text_;
};

/// The sizes of one call's inputs, in the order of the symbols.
struct CallSizes final : SizeVisitor {
  const SymbolTable& table;
  std::vector<std::int64_t> sizes;

  CallSizes(const SymbolTable& table, std::span<const Tensor> inputs) : table(table) {
    for (const Tensor& t : inputs)
      for (Size s : type_of(t).shape) sizes.push_back(s);
  }
  void visit(Size& size) override { size = table.evaluate(size, sizes); }
  /// Throws where the recording relied on something that does not hold for these sizes.
  void check_guards() const {
    for (const Guard& g : table.guards()) {
      const std::int64_t left = table.evaluate(g.left, sizes), right = table.evaluate(g.right, sizes);
      if ((left == right) != g.equal)
        raise<ValueError>("program: recorded where " + table.print(g.left) + (g.equal ? " is " : " is not ") +
                          table.print(g.right) + ", called where they are " + std::to_string(left) + " and " +
                          std::to_string(right) + "; record it again for these sizes");
    }
  }
};

void check_inputs(const ProgramBody& body, std::span<const Tensor> inputs) {
  if (inputs.size() != body.inputs.size())
    raise<ValueError>("program: called with " + std::to_string(inputs.size()) + " inputs, it has " +
                      std::to_string(body.inputs.size()) + "; pass one tensor for each");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Type have = type_of(inputs[i]), want = body.types[static_cast<std::size_t>(body.inputs[i])];
    const bool fits =
        have.dtype == want.dtype && have.rank() == want.rank() && (body.symbols || have.shape == want.shape);
    if (!fits)
      raise<ValueError>("program: input " + std::to_string(i) + " is " + to_string(have) + ", recorded for " +
                        to_string(want) + "; pass one of that type, or record the function again for this one");
  }
}

[[noreturn]] void raise_number_of_results(const char* name, const Equation& e, std::size_t found) {
  raise<ValueError>(std::string(name) + ": " + e.rules->name + " gives " + std::to_string(found) +
                    " results, its equation names " + std::to_string(e.outputs.size()) + "; name each of them");
}

/// The types of an equation's results; parameters that do not fit the operands are said with the operation's name.
Types types_given(const Equation& e, const Types& in) try {
  return types_of(e.op(), in);
} catch (const IndexError& error) { throw IndexError(std::string("check: ") + e.rules->name + ": " + error.what()); }

}  // namespace

Program with_fixed_sizes(Program program) {
  FixSizes fix;
  program.visit_parameter_sizes(fix);
  return program;
}

Program::Program() : body_(new ProgramBody()) {}

std::size_t Program::equations() const { return body_->equations.size(); }
std::size_t Program::inputs() const { return body_->inputs.size(); }
std::vector<Tensor> Program::captured() const {
  std::vector<Tensor> captured;
  for (const Capture& capture : body_->captures) captured.push_back(wrap(capture.value));
  return captured;
}

void Program::print_parameter(std::string& out) const {
  out += to_string(*this);
  out.pop_back();  // the end of the last line
}

void Program::visit_parameter_sizes(SizeVisitor& visitor) {
  auto body = std::make_unique<ProgramBody>(*body_);  // others may share the old one
  for (Type& type : body->types)
    for (Size& size : type.shape) visitor.visit(size);
  for (Equation& e : body->equations) {
    e.parameters = OwnedParameters(e.rules->parameters, e.parameters.get());
    e.rules->parameters.visit_sizes(e.parameters.mutable_get(), visitor);
  }
  body_ = Shared<const ProgramBody>(body.release());
}

std::vector<Tensor> Program::operator()(std::span<const Tensor> inputs) const {
  const ProgramBody& body = *body_;
  check_inputs(body, inputs);
  std::optional<CallSizes> sizes;
  if (body.symbols) {
    sizes.emplace(*body.symbols, inputs);
    sizes->check_guards();
  }
  std::vector<Tensor> variables(body.types.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    variables[static_cast<std::size_t>(body.inputs[i])] = without_switched_off(inputs[i], "program");
  for (const Capture& c : body.captures) variables[static_cast<std::size_t>(c.variable)] = wrap(c.value);
  for (const Equation& e : body.equations) {
    Tensors operands;
    for (Variable v : e.inputs) operands.push_back(variables[static_cast<std::size_t>(v)]);
    OwnedParameters parameters = e.parameters;
    if (e.has_symbols) {
      parameters = OwnedParameters(e.rules->parameters, e.parameters.get());
      e.rules->parameters.visit_sizes(parameters.mutable_get(), *sizes);
    }
    Tensors results = apply_all({e.rules, parameters.get()}, {operands.data(), operands.size()});
    if (results.size() != e.outputs.size()) raise_number_of_results("program", e, results.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      variables[static_cast<std::size_t>(e.outputs[i])] = std::move(results[i]);
  }
  std::vector<Tensor> outputs;
  for (Variable v : body.outputs) outputs.push_back(variables[static_cast<std::size_t>(v)]);
  return outputs;
}

Types output_types(const Program& program) {
  Types types;
  for (const Variable v : program.body().outputs) types.push_back(program.body().types[static_cast<std::size_t>(v)]);
  return types;
}

ProgramBody without_dead_equations(const ProgramBody& body) {
  std::vector<bool> needed(body.types.size());
  for (Variable v : body.outputs) needed[static_cast<std::size_t>(v)] = true;
  std::vector<Equation> kept;
  for (auto e = body.equations.rbegin(); e != body.equations.rend(); ++e) {
    bool wanted = false;
    for (Variable v : e->outputs) wanted = wanted || needed[static_cast<std::size_t>(v)];
    if (!wanted) continue;
    for (Variable v : e->inputs) needed[static_cast<std::size_t>(v)] = true;
    kept.push_back(*e);
  }
  ProgramBody live{.symbols = body.symbols,
                   .types = body.types,
                   .inputs = body.inputs,
                   .captures = {},
                   .equations = {kept.rbegin(), kept.rend()},
                   .outputs = body.outputs};
  for (const Capture& c : body.captures)
    if (needed[static_cast<std::size_t>(c.variable)]) live.captures.push_back(c);
  return live;
}

void check(const Program& program) {
  const ProgramBody& body = program.body();
  std::optional<SymbolScope> scope;
  if (body.symbols) scope.emplace(*body.symbols);
  std::vector<bool> defined(body.types.size());
  const auto define = [&](Variable v) {
    if (defined[static_cast<std::size_t>(v)])
      throw ValueError("check: a variable is defined twice; give each a name of its own, in\n" + to_string(program));
    defined[static_cast<std::size_t>(v)] = true;
  };
  for (Variable v : body.inputs) define(v);
  for (const Capture& c : body.captures) define(c.variable);
  for (const Equation& e : body.equations) {
    Types in;
    for (Variable v : e.inputs) {
      if (!defined[static_cast<std::size_t>(v)])
        throw ValueError(std::string("check: ") + e.rules->name +
                         " uses a variable before it is defined; move its equation up, in\n" + to_string(program));
      in.push_back(body.types[static_cast<std::size_t>(v)]);
    }
    const Types out = types_given(e, in);
    if (out.size() != e.outputs.size()) raise_number_of_results("check", e, out.size());
    for (std::size_t i = 0; i < e.outputs.size(); ++i) {
      define(e.outputs[i]);
      if (!(out[i] == body.types[static_cast<std::size_t>(e.outputs[i])]))
        throw ValueError(std::string("check: ") + e.rules->name + " gives " + to_string(out[i]) +
                         ", the program says " + to_string(body.types[static_cast<std::size_t>(e.outputs[i])]) +
                         "; write the type it gives, in\n" + to_string(program));
    }
  }
  for (Variable v : body.outputs)
    if (!defined[static_cast<std::size_t>(v)])
      throw ValueError("check: an output is never defined; return one that is, in\n" + to_string(program));
}

std::string to_string(const Program& program) { return Printer(program.body()).print(); }
std::ostream& operator<<(std::ostream& out, const Program& program) { return out << to_string(program); }

}  // namespace ricci
