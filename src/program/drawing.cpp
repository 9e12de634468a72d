// Programs as graphs for Graphviz, and as tables in HTML.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/markup.h"
#include "program/printer.h"
#include "ricci/pictures.h"
#include "tensor/utf8.h"

namespace ricci {
namespace {

std::vector<Program> programs_in(const Equation& e) {
  std::vector<Program> all;
  for_each_program(e.op(), [&](const Program& program) { all.push_back(program); });
  return all;
}
/// `sum[axes=(0,1)]`; of a loop or branch, whose programs are drawn, the name alone.
std::string operation_text(const Equation& e, bool has_programs) {
  return e.rules->name + (has_programs ? "" : Printer::parameters(e));
}

// ── graphs ──

/// As a string of the language, in UTF-8, whose lines begin at the left.
std::string quoted(std::string_view text) {
  std::string safe = "\"";
  for (const char c : in_utf8(text)) {
    if (c == '"' || c == '\\') safe += '\\';
    if (c == '\n') safe += "\\l";
    else safe += c;
  }
  return safe + "\"";
}

class Graph {
 public:
  std::string text =
      "digraph program {\n  node [shape=box, fontname=monospace, fontsize=10];\n"
      "  edge [fontname=monospace, fontsize=9];\n";

  void draw(const Program& program, const std::string& margin) {
    const ProgramBody& body = program.body();
    Printer words(body);
    std::map<Variable, std::string> made_by;
    const auto source = [&](Variable v, const char* look) { made_by[v] = node(margin, words.declaration(v), look); };
    for (const Variable v : body.inputs) source(v, "style=filled, fillcolor=\"#dbe9f6\"");
    for (const Capture& c : body.captures) source(c.variable, "style=filled, fillcolor=\"#efe3d0\"");
    const auto arrow = [&](Variable v, const std::string& to) {
      const auto from = made_by.find(v);
      if (from != made_by.end())
        text += margin + from->second + " -> " + to + " [label=" + quoted(words.name(v)) + "];\n";
    };
    for (const Equation& e : body.equations) {
      const std::vector<Program> inner = programs_in(e);
      std::string label = operation_text(e, !inner.empty());
      for (const Constant& c : body.constants)
        for (const Variable v : e.inputs)
          if (v == c.variable) label += " " + words.name(v);
      for (const Variable v : e.outputs) label += "\n" + words.declaration(v);
      const std::string made = node(margin, label + "\n", "");
      for (const Program& one : inner) frame(one, e.rules->name, made, margin);
      for (const Variable v : e.inputs) arrow(v, made);
      for (const Variable v : e.outputs) made_by[v] = made;
    }
    for (const Variable v : body.outputs) {
      const std::string made = node(margin, "return " + words.name(v), "style=filled, fillcolor=\"#dff0d8\"");
      arrow(v, made);
    }
  }

 private:
  std::string node(const std::string& margin, const std::string& label, const std::string& look) {
    std::string name = "n" + std::to_string(nodes_++);
    text += margin + name + " [label=" + quoted(label) + (look.empty() ? "" : ", " + look) + "];\n";
    return name;
  }
  void frame(const Program& program, const char* of, const std::string& node, const std::string& margin) {
    text += margin + "subgraph cluster_" + std::to_string(frames_++) + " {\n" + margin +
            "  label=" + quoted("in " + std::string(of)) + "; style=rounded; fontname=monospace; fontsize=9;\n";
    const int first = nodes_;
    draw(program, margin + "  ");
    text += margin + "}\n";
    if (nodes_ > first)
      text += margin + "n" + std::to_string(first) + " -> " + node + " [style=dotted, arrowhead=none];\n";
  }

  int nodes_ = 0, frames_ = 0;
};

// ── tables ──

std::string table(const Program& program) {
  constexpr std::string_view cell = "<td style=\"text-align:left;vertical-align:top\">";
  const ProgramBody& body = program.body();
  Printer words(body);
  const std::string inputs = words.inputs();
  std::string text =
      "<table class=\"ricci-program\" style=\"font-family:monospace\">\n<caption style=\"text-align:left\">program(" +
      in_markup(inputs) + ")" + in_markup(body.symbols ? body.symbols->print_guards() : "") + "</caption>\n";
  for (const Equation& e : body.equations) {
    std::string names, types;
    for (const Variable v : e.outputs) {
      names += (names.empty() ? "" : "<br>") + in_markup(words.name(v));
      types += (types.empty() ? "" : "<br>") + in_markup(words.type(v));
    }
    const std::string place = e.origin ? e.origin->site.place() : "";
    const std::vector<Program> inner = programs_in(e);
    text += "<tr" + (place.empty() ? "" : " title=\"" + in_markup(place) + "\"") + ">" + std::string(cell) + "<b>" +
            names + "</b></td>" + std::string(cell) + types + "</td>" + std::string(cell) +
            in_markup(operation_text(e, !inner.empty()) + words.operands(e));
    for (const Program& one : inner)
      text += "\n<details><summary>" + std::to_string(one.equations()) +
              (one.equations() == 1 ? " equation" : " equations") + "</summary>\n" + table(one) + "</details>";
    text += "</td></tr>\n";
  }
  text += "<tr>" + std::string(cell) + "return</td><td></td>" + std::string(cell);
  for (std::size_t i = 0; i < body.outputs.size(); ++i) text += (i ? " " : "") + in_markup(words.name(body.outputs[i]));
  return text + "</td></tr>\n</table>\n";
}

}  // namespace

std::string to_dot(const Program& program) {
  const Program shown = resolved(program);
  const SymbolScope scope(or_those_here(shown.body().symbols));
  Graph graph;
  graph.draw(shown, "  ");
  return graph.text + "}\n";
}

std::string to_html(const Program& program) {
  const Program shown = resolved(program);
  const SymbolScope scope(or_those_here(shown.body().symbols));
  return table(shown);
}

}  // namespace ricci
