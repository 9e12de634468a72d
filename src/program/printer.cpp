// The text of a program.
#include "program/printer.h"

#include <optional>
#include <ostream>
#include <string_view>

#include "primitive/wording.h"
#include "program/constants.h"
#include "program/roles.h"

namespace ricci {
namespace {

constexpr std::string_view letters_of_variables = "abcdefghklmnopqrstuvwxyz", letters_of_vmaps = "ij";

/// With the lines after the first, those of a program among the parameters, further in.
std::string indented(const std::string& parameters) {
  std::string text;
  for (const char c : parameters) {
    text += c;
    if (c == '\n') text += "    ";
  }
  return text;
}

}  // namespace

std::string symbolic_text(const Type& type, std::span<const std::string> vmap_names) {
  std::string text = type.weak ? "weak " : "";
  text += std::string(short_name(type.dtype)) + "[";
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (i) text += ",";
    if (i < vmap_names.size()) text += vmap_names[i] + "=";
    text += symbol_text(type.shape[i]);
  }
  return text + "]";
}

namespace {

std::string text_of(const ProgramBody& body) {
  const SymbolScope scope(or_those_here(body.symbols));
  Printer words(body);
  std::string text = "program(" + words.inputs() + ")" + (body.symbols ? body.symbols->print_guards() : "") + " {\n";
  for (const Equation& e : body.equations) {
    text += "  ";
    for (std::size_t i = 0; i < e.outputs.size(); ++i) text += (i ? ", " : "") + words.declaration(e.outputs[i]);
    text += std::string(e.outputs.empty() ? "" : " = ") + e.rules->name + indented(Printer::parameters(e)) +
            words.operands(e) + "\n";
  }
  text += "  return";
  for (Variable v : body.outputs) text += " " + words.name(v);
  return text + "\n}\n";
}

}  // namespace

Printer::Printer(const ProgramBody& body) : body_(body), names_(body.types.size()) {
  for (const Constant& c : body.constants) names_[static_cast<std::size_t>(c.variable)] = number_text(*c.value);
}

const std::string& Printer::name(Variable v) {
  std::string& n = names_[static_cast<std::size_t>(v)];
  if (n.empty()) n = name_of(used_++, letters_of_variables);
  return n;
}

std::vector<std::string> Printer::vmaps_of(Variable v) {
  std::vector<std::string> names;
  for (const int vmap : body_.vmaps.of(v)) {
    std::string& n = vmaps_[vmap];
    if (n.empty()) n = name_of(vmaps_.size() - 1, letters_of_vmaps);
    names.push_back(n);
  }
  return names;
}

std::string Printer::type(Variable v) { return symbolic_text(body_.types[static_cast<std::size_t>(v)], vmaps_of(v)); }

std::string Printer::declaration(Variable v) {
  const std::string named = name(v) + ": ";
  return named + type(v);
}

std::string Printer::list(const std::vector<Variable>& variables) {
  std::string text;
  for (std::size_t i = 0; i < variables.size(); ++i) text += (i ? ", " : "") + declaration(variables[i]);
  return text;
}

std::string Printer::inputs() {
  std::string text = list(body_.inputs);
  if (body_.captures.empty()) return text;
  std::vector<Variable> captured;
  for (const Capture& c : body_.captures) captured.push_back(c.variable);
  return text + "; " + list(captured);
}

std::string Printer::parameters(const Equation& e) {
  std::string text;
  e.rules->parameters.print(e.parameters.get(), text);
  return text.empty() ? text : "[" + text + "]";
}

std::string Printer::operands(const Equation& e) {
  std::string text;
  const auto roles = e.rules->roles;
  if (!roles) {
    for (Variable v : e.inputs) text += " " + name(v);
    return text;
  }
  auto next = e.inputs.begin();
  for (const Role& role : roles(e.parameters.get(), e.inputs.size())) {
    if (role.count == 0) continue;
    text += " " + role.name;
    for (std::size_t i = 0; i < role.count; ++i) text += (i ? " " : "(") + name(*next++);
    text += ")";
  }
  return text;
}

std::string to_string(const Program& program) { return text_of(resolved(program).body()); }
std::ostream& operator<<(std::ostream& out, const Program& program) { return out << to_string(program); }

}  // namespace ricci
