// Steps of a plan as statements of C. The lanes of a kernel are one loop.
#include "compile/c_function.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <functional>
#include <map>
#include <optional>

#include "compile/c_words.h"
#include "tensor/at.h"

namespace ricci::compiled {
namespace {

using Binds = CText::Binds;

/// Of a part of an element: complex numbers have two.
std::int64_t part_bytes(DType d) { return static_cast<std::int64_t>(element_size(d)) / (is_complex(d) ? 2 : 1); }
std::int64_t parts_of(DType d) { return is_complex(d) ? 2 : 1; }
DType part_type(DType d) {
  return d == DType::complex128 ? DType::float64 : d == DType::complex64 ? DType::float32 : d;
}

/// What cannot be written.
struct Refused {
  std::string why;
};

/// Places in an array: a number, and variables times numbers.
struct CIndex {
  std::int64_t number = 0;
  std::vector<std::pair<std::string, std::int64_t>> terms = {};

  CIndex plus(std::int64_t n) const {
    CIndex next = *this;
    next.number += n;
    return next;
  }
  CIndex plus(const std::string& variable, std::int64_t times) const {
    CIndex next = *this;
    if (times != 0) next.terms.emplace_back(variable, times);
    return next;
  }
  std::string text() const {
    std::string all;
    for (const auto& [variable, times] : terms) {
      if (!all.empty()) all += " + ";
      all += times == 1 ? variable : std::to_string(times) + " * " + variable;
    }
    if (all.empty()) return std::to_string(number);
    if (number != 0) all += (number > 0 ? " + " : " - ") + std::to_string(number > 0 ? number : -number);
    return all;
  }
};

/// Elements from a place of an array on.
struct CArray {
  std::string array;
  CIndex from;
  std::optional<std::size_t> constant = {};  // of the plan's, if it is one

  CArray moved(std::int64_t n) const { return {array, from.plus(n), constant}; }
  CArray moved(const std::string& variable, std::int64_t times) const {
    return {array, from.plus(variable, times), constant};
  }
  std::string operator[](std::int64_t n) const { return array + "[" + from.plus(n).text() + "]"; }
};

class Writer {
 public:
  Writer(const FunctionPlan& plan, const std::vector<Parameter>& parameters)
      : plan_(plan), parameters_(parameters), words_(plan.name) {}

  CFile file() {
    if (plan_.open) {
      std::int64_t most = 1;
      for (const auto* const rows : {&plan_.open->arguments, &plan_.open->results})
        for (const OpenExamples::Rows& of : *rows) most = std::max(most, of.bytes);
      line("if (s0 < 0 || s0 > INT64_MAX / " + std::to_string(most) + ") return 1;");
      loop("s", "s0", [&] { run(plan_.steps); });
    } else {
      run(plan_.steps);
    }
    line("return 0;");
    CFile made{.text = {}, .lacking = words_.lacking(), .error = {}};
    std::string constants;
    for (const auto& [name, text] : constants_)
      if (is_read(name)) constants += text;
    made.text = "#include <math.h>\n#include <stdint.h>\n\n#include \"" + plan_.name + ".h\"\n\n" + constants +
                (constants.empty() ? "" : "\n") + words_.functions() + (words_.functions().empty() ? "" : "\n") +
                head() + declarations() + lines_ + "}\n";
    return made;
  }

 private:
  // ── lines ──

  void line(const std::string& text) { lines_ += std::string(2 * at(depth_), ' ') + text + "\n"; }
  template <class F>
  void block(const std::string& head, const F& f) {
    line(head + " {");
    ++depth_, f(), --depth_;
    line("}");
  }
  template <class F>
  void loop(const std::string& i, const std::string& end, const F& f) {
    block("for (int64_t " + i + " = 0; " + i + " < " + end + "; ++" + i + ")", f);
  }
  /// f(i) for each i below n.
  template <class F>
  void loop(std::int64_t n, const F& f) {
    if (n == 0) return;
    static constexpr const char* names[] = {"i", "j", "k", "l", "m", "n"};
    const std::string i = loops_ < 6 ? names[loops_] : "i" + std::to_string(loops_);
    ++loops_;
    loop(i, std::to_string(n), [&] { f(i); });
    --loops_;
  }
  std::string fresh(const char* name) { return name + std::to_string(++named_[name]); }

  std::string head() const {
    std::string text = "int " + plan_.name + "(";
    const std::string indent(text.size(), ' ');
    if (plan_.open) text += "int64_t s0,";
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const Parameter& p = parameters_[i];
      if (i > 0 || plan_.open) text += "\n" + indent;
      text += std::string(p.access) + p.element + " *restrict " + p.name + ",";
    }
    text += (parameters_.empty() ? "" : "\n" + indent) + "void *restrict workspace) {\n";
    for (const Parameter& p : parameters_)
      if (!is_read(p.name)) text += "  (void)" + p.name + ";\n";
    return text;
  }
  /// Whether a line has the name.
  bool is_read(const std::string& name) const {
    const auto is_of_names = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    for (std::size_t at = lines_.find(name); at != std::string::npos; at = lines_.find(name, at + 1))
      if (!is_of_names(lines_[at + name.size()]) && !is_of_names(lines_[at - 1])) return true;
    return false;
  }
  std::string declarations() const {
    std::string text;
    for (const std::string& count : counted_) text += "  int64_t " + count + " = 0;\n";
    bool has_workspace = false;
    for (const auto& [part, name] : parts_) {
      if (!is_read(name)) continue;
      has_workspace = true;
      const auto& [offset, type] = part;
      const std::string from = offset == 0 ? "workspace" : "((char *)workspace + " + std::to_string(offset) + ")";
      text += "  " + type + " *const " + name + " = (" + type + " *)" + from + ";\n";
    }
    if (!has_workspace) text += "  (void)workspace;\n";
    return text;
  }

  // ── arrays ──

  CArray elements(const Location& l, DType d) {
    const std::string type = type_in_c(d);
    if (l.offset % part_bytes(d) != 0) throw Refused{"elements of " + to_string(d) + " lie between places in memory"};
    const CIndex from{l.offset / part_bytes(d)};
    switch (l.in) {
      case Location::In::argument: return parameter(l.number, type, from);
      case Location::In::result: return parameter(plan_.arguments + l.number, type, from);
      case Location::In::constant: return {constant(l.number, part_type(d)), from, l.number};
      case Location::In::state: return {states_.at(l.number).first, from};
      case Location::In::next_state: return {states_.at(l.number).second, from};
      case Location::In::records: return in_workspace(*plan_.records[l.number].offset + l.offset, d);
      default: return in_workspace(l.offset, d);
    }
  }
  CArray parameter(std::size_t i, const std::string& type, const CIndex& from) {
    const Parameter& p = parameters_[i];
    if (p.element != type) throw Refused{"an array is read as another type"};
    return {p.name, plan_.open && p.has_examples ? from.plus("s", p.count) : from};
  }
  /// Bytes that begin at a multiple of 64 have one pointer of each type.
  CArray in_workspace(std::int64_t offset, DType d) {
    const std::int64_t begin = offset / 64 * 64;
    std::string& name = parts_[{begin, type_in_c(d)}];
    if (name.empty()) name = fresh("t");
    return {name, {(offset - begin) / part_bytes(d)}};
  }
  std::string constant(std::size_t number, DType d) {
    std::string& name = known_constants_[{number, d}];
    if (!name.empty()) return name;
    name = plan_.name + "_" + fresh("constant");
    const std::size_t count = std::max<std::size_t>(plan_.constants[number].size() / element_size(d), 1);
    std::string& all = constants_.emplace_back(name, std::string()).second;
    all = "static const " + std::string(type_in_c(d)) + " " + name + "[" + std::to_string(count) + "] = {";
    std::string row;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text = number_of_constant(number, d, i).text + (i + 1 < count ? "," : "");
      if (row.size() + text.size() > 110) all += "\n   " + row, row.clear();
      row += " " + text;
    }
    const bool is_long = all.back() != '{' || row.size() > 80;
    all += is_long ? "\n   " + row + "};\n" : row.substr(1) + "};\n";
    return name;
  }
  CText number_of_constant(std::size_t number, DType d, std::size_t element) const {
    const std::string& bytes = plan_.constants[number];
    const std::size_t size = element_size(d);
    std::uint64_t bits = 0;
    if ((element + 1) * size <= bytes.size()) std::memcpy(&bits, bytes.data() + element * size, size);
    return CWords::number(d, bits);
  }
  std::string read(const CArray& x, DType d, std::int64_t n = 0) {
    return d == DType::boolean ? x[n] + " != 0" : x[n];
  }
  CText value(const CArray& x, DType d, std::int64_t n = 0) {
    if (x.constant && x.from.terms.empty()) return number_of_constant(*x.constant, d, at(x.from.number + n));
    return {read(x, d, n), d == DType::boolean ? Binds::comparison : Binds::primary};
  }
  void copy(const CArray& to, const CArray& from, DType d) {
    for (std::int64_t part = 0; part < parts_of(d); ++part) line(to[part] + " = " + from[part] + ";");
  }
  void copy_row(const CArray& to, const CArray& from, std::int64_t bytes, DType d) {
    const std::int64_t parts = bytes / part_bytes(d);
    if (parts == 1) return line(to[0] + " = " + from[0] + ";");
    loop(parts, [&](const std::string& i) { line(to.moved(i, 1)[0] + " = " + from.moved(i, 1)[0] + ";"); });
  }

  // ── steps ──

  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps) std::visit([&](const auto& s) { run(s); }, step.what);
  }
  void run(const CopyStep& s) { copy_axis(s, 0, elements(s.to, s.dtype), elements(s.from, s.dtype)); }
  void copy_axis(const CopyStep& s, std::size_t axis, const CArray& to, const CArray& from) {
    if (axis == s.shape.size()) return copy(to, from, s.dtype);
    if (s.shape[axis] == 1) return copy_axis(s, axis + 1, to, from);
    std::int64_t row = parts_of(s.dtype);
    for (std::size_t i = axis + 1; i < s.shape.size(); ++i) row *= s.shape[i];
    loop(s.shape[axis], [&](const std::string& i) {
      copy_axis(s, axis + 1, to.moved(i, row), from.moved(i, s.strides[axis] * parts_of(s.dtype)));
    });
  }
  void run(const MoveStep& s) {
    const CArray to = elements(s.to, s.dtype), from = elements(s.from, s.dtype);
    const CArray table = elements(s.table, DType::int32);
    loop(s.count, [&](const std::string& i) {
      const CArray pair = table.moved(i, 2);
      copy(to.moved(pair[0], parts_of(s.dtype)), from.moved(pair[1], parts_of(s.dtype)), s.dtype);
    });
  }

  struct AtPlace {
    CArray table, value;
    std::vector<CArray> indices;
  };
  void run(const PlacesStep& s) {
    const CArray table = elements(s.table, s.dtype);
    const auto converted = [&](const CArray& to, DType to_type, const CArray& from, DType from_type) {
      convert(to, to_type, from, from_type, s.elements);
    };
    const CArray totals = s.totals ? in_workspace(*s.totals, DType::float64) : table;
    if (s.totals) converted(totals, DType::float64, table, s.dtype);
    AtPlace first{totals, elements(s.values, s.dtype), {}};
    for (const PlacesStep::Index& index : s.indices) first.indices.push_back(elements(index.where, DType::int64));
    go_along(s, 0, first);
    if (s.totals) converted(table, s.dtype, totals, DType::float64);
  }
  void go_along(const PlacesStep& s, std::size_t axis, AtPlace place) {
    const std::int64_t parts = parts_of(s.dtype);
    if (axis == s.index_axes)
      for (std::size_t k = 0; k < s.indices.size(); ++k) {
        const PlacesStep::Index& index = s.indices[k];
        const std::string n = fresh("place"), size = std::to_string(index.size);
        const std::string number = place.indices[k][0];
        line("const int64_t " + n + " = " +
             (s.wraps ? number + " < 0 ? " + number + " + " + size + " : " + number : number) + ";");
        line("if (" + n + " < 0 || " + n + " >= " + size + ") return 1;");
        place.table = place.table.moved(n, index.step * parts);
      }
    if (axis == s.shape.size()) {
      if (s.what == AtPlaces::What::reads) return copy(place.value, place.table, s.dtype);
      if (s.what == AtPlaces::What::sets) return copy(place.table, place.value, s.dtype);
      const DType total = s.totals ? DType::float64 : s.dtype;
      const CText operands[] = {value(place.table, total),
                                words_.converted(value(place.value, s.dtype), s.dtype, total)};
      return line(place.table[0] + " = " + words_.word(Word::add, total, operands).text + ";");
    }
    loop(s.shape[axis], [&](const std::string& i) {
      AtPlace inner{place.table.moved(i, s.table_strides[axis] * parts),
                    place.value.moved(i, s.value_strides[axis] * parts), place.indices};
      for (std::size_t k = 0; k < s.indices.size() && axis < s.index_axes; ++k)
        inner.indices[k] = place.indices[k].moved(i, s.indices[k].strides[axis]);
      go_along(s, axis + 1, inner);
    });
  }

  void run(const CheckStep& s) {
    const CArray numbers = elements(s.numbers, s.dtype);
    loop(s.count, [&](const std::string& i) {
      const CText number = value(numbers.moved(i, 1), s.dtype);
      const DType as = s.allowed.reals ? DType::float64 : DType::int64;
      const std::string x = fresh("number");
      line("const " + std::string(type_in_c(as)) + " " + x + " = " + words_.converted(number, s.dtype, as).text + ";");
      std::string fails;
      const auto add = [&](const std::string& text) { fails += (fails.empty() ? "" : " || ") + text; };
      const auto real = [](double n) { return CWords::number(DType::float64, std::bit_cast<std::uint64_t>(n)).text; };
      const auto whole = [](std::int64_t n) {
        return CWords::number(DType::int64, static_cast<std::uint64_t>(n)).text;
      };
      if (s.allowed.reals) {
        add("!(" + x + " >= " + real(s.allowed.reals->low) + " && " + x + " <= " + real(s.allowed.reals->high) + ")");
      } else {
        if (s.allowed.least != INT64_MIN) add(x + " < " + whole(s.allowed.least));
        if (s.allowed.most != INT64_MAX) add(x + " > " + whole(s.allowed.most));
        if (!s.allowed.zero) add(x + " == 0");
      }
      if (!fails.empty()) line("if (" + fails + ") return 1;");
    });
  }

  /// Rows that take no part become the first row that does.
  void run(const FillStep& s) {
    const CArray flags = elements(s.takes_part, DType::boolean), from = elements(s.from, s.dtype),
                   to = elements(s.to, s.dtype);
    const std::int64_t parts = s.row_bytes / part_bytes(s.dtype);
    loop(s.groups, [&](const std::string& group) {
      const std::string first = fresh("first"), rows = std::to_string(s.rows);
      line("int64_t " + first + " = 0;");
      line("while (" + first + " < " + rows + " && !" + flags.moved(group, s.rows).moved(first, 1)[0] + ") ++" + first +
           ";");
      line("if (" + first + " == " + rows + ") " + first + " = 0;");
      loop(s.rows, [&](const std::string& i) {
        const std::string source = fresh("source");
        line("const int64_t " + source + " = " + flags.moved(group, s.rows).moved(i, 1)[0] + " ? " + i + " : " + first +
             ";");
        const auto row = [&](const CArray& x, const std::string& k) {
          return x.moved(group, s.rows * parts).moved(k, parts);
        };
        copy_row(row(to, i), row(from, source), s.row_bytes, s.dtype);
      });
    });
  }
  void run(const RunningStep& s) {
    const CArray from = elements(s.from, s.from_type), to = elements(s.to, s.to_type);
    loop(s.outer, [&](const std::string& outer) {
      loop(s.inner, [&](const std::string& inner) {
        const std::string total = fresh("total");
        const auto element = [&](const CArray& x, const std::string& i) {
          const CArray row = x.moved(outer, s.count * s.inner).moved(inner, 1);
          return s.is_backward ? row.moved((s.count - 1) * s.inner).moved(i, -s.inner) : row.moved(i, s.inner);
        };
        const auto read = [&](const std::string& i) {
          return words_.converted(value(element(from, i), s.from_type), s.from_type, s.total_type);
        };
        const auto put = [&](const std::string& i) {
          line(element(to, i)[0] + " = " + words_.converted({total}, s.total_type, s.to_type).text + ";");
        };
        const std::string type = CWords::type_of_value(s.total_type);
        line(type + " " + total + " = " + read("0").text + ";");
        put("0");
        if (s.count == 1) return;
        const std::string i = "step" + std::to_string(loops_);
        block("for (int64_t " + i + " = 1; " + i + " < " + std::to_string(s.count) + "; ++" + i + ")", [&] {
          const CText operands[] = {{total}, read(i)};
          line(total + " = " + words_.word(s.word, s.total_type, operands).text + ";");
          put(i);
        });
      });
    });
  }
  void run(const ConvertStep& s) {
    convert(elements(s.to, s.to_type), s.to_type, elements(s.from, s.from_type), s.from_type, s.count);
  }
  void convert(const CArray& to, DType to_type, const CArray& from, DType from_type, std::int64_t count) {
    loop(count, [&](const std::string& i) {
      const CText x = words_.converted(value(from.moved(i, 1), from_type), from_type, to_type);
      line(to.moved(i, 1)[0] + " = " + x.text + ";");
    });
  }
  void run(const ProductStep& s) {
    multiply(s, 0, elements(s.a.where, s.dtype), elements(s.b.where, s.dtype), elements(s.c, s.dtype), s.m * s.n);
  }
  void multiply(const ProductStep& s, std::size_t axis, const CArray& a, const CArray& b, const CArray& c,
                std::int64_t elements) {
    if (axis < s.batch.size()) {
      std::int64_t inner = elements;
      for (std::size_t i = axis + 1; i < s.batch.size(); ++i) inner *= s.batch[i];
      return loop(s.batch[axis], [&](const std::string& i) {
        multiply(s, axis + 1, a.moved(i, s.a.steps[axis]), b.moved(i, s.b.steps[axis]), c.moved(i, inner), elements);
      });
    }
    const auto element = [](const CArray& x, const ProductStep::Factor& of, const std::string& row,
                            const std::string& column) {
      return x.moved(row, of.is_transposed ? 1 : of.leading).moved(column, of.is_transposed ? of.leading : 1)[0];
    };
    loop(s.m, [&](const std::string& i) {
      loop(s.n, [&](const std::string& j) {
        const std::string sum = fresh("sum");
        line(std::string(type_in_c(s.dtype)) + " " + sum + " = 0;");
        loop(s.k, [&](const std::string& k) {
          line(sum + " += " + element(a, s.a, i, k) + " * " + element(b, s.b, k, j) + ";");
        });
        line(c.moved(i, s.n).moved(j, 1)[0] + " = " + sum + ";");
      });
    });
  }
  void run(const CallStep&) { throw Refused{"a step is computed by the library"}; }

  void run(const LoopStep& s) {
    for (const CopyStep& copy : s.begin) run(copy);
    turn(s);
    for (const CopyStep& copy : s.end) run(copy);
  }
  void turn(const LoopStep& s) {
    for (const AlternatingState& state : s.states) {
      const std::string now = fresh("state"), next = fresh("next"), type = type_in_c(state.dtype);
      const auto pointer = [&](const Location& l) {
        const CArray x = elements(l, state.dtype);
        return x.from.text() == "0" ? x.array : x.array + " + " + x.from.text();
      };
      line(type + " *" + now + " = " + pointer(state.first) + ", *" + next + " = " + pointer(state.second) + ";");
      states_[state.number] = {now, next};
    }
    const std::string i = fresh("turn"), most = std::to_string(s.most_turns);
    const std::string turns = s.counted_by ? counts_.at(*s.counted_by) : most;
    const bool is_counted = s.records || !s.states.empty();
    if (is_counted) line("int64_t " + i + " = 0;");
    const std::string begin = is_counted ? "" : "int64_t " + i + " = 0", goes_on = i + " < " + turns;
    block("for (" + begin + "; " + (s.condition.empty() ? goes_on : "") + "; ++" + i + ")", [&] {
      if (!s.condition.empty()) {
        run(s.condition);
        line("if (" + elements(s.truth, DType::boolean)[0] + " == 0) break;");
        line("if (" + i + " == " + turns + ") return 1;");
      }
      const auto row = [&](const RowCopy& copy) {
        const std::int64_t step = copy.step / part_bytes(copy.dtype);
        const CArray stack = elements(copy.stack, copy.dtype);
        if (!s.is_backward) return stack.moved(i, step);
        return stack.moved("(" + turns + " - 1 - " + i + ")", step);
      };
      for (const RowCopy& copy : s.reads) copy_row(elements(copy.row, copy.dtype), row(copy), copy.bytes, copy.dtype);
      run(s.body);
      for (const RowCopy& copy : s.writes) copy_row(row(copy), elements(copy.row, copy.dtype), copy.bytes, copy.dtype);
      for (const CopyStep& copy : s.next) run(copy);
      for (const AlternatingState& state : s.states) {
        const auto& [now, next] = states_.at(state.number);
        const std::string swapped = fresh("swapped");
        line(std::string(type_in_c(state.dtype)) + " *const " + swapped + " = " + now + ";");
        line(now + " = " + next + ";");
        line(next + " = " + swapped + ";");
      }
    });
    if (s.records) {
      std::string& count = counts_[*s.records];
      if (count.empty()) counted_.push_back(count = fresh("count"));
      line(count + " = " + i + ";");
    }
    for (const AlternatingState& state : s.states) {  // it ends at its first place
      const auto& [now, next] = states_.at(state.number);
      const CArray first = elements(state.first, state.dtype);
      block("if (" + i + " % 2 != 0)", [&] { copy_row(first, {now, {}}, state.bytes, state.dtype); });
    }
  }
  void run(const BranchStep& s) {
    const std::string question = fresh("question");
    line("const int64_t " + question + " = " +
         words_.converted(value(elements(s.question, s.dtype), s.dtype), s.dtype, DType::int64).text + ";");
    line("if (" + question + " < 0 || " + question + " >= " + std::to_string(s.branches.size()) + ") return 1;");
    for (std::size_t k = 0; k < s.branches.size(); ++k)
      block("if (" + question + " == " + std::to_string(k) + ")", [&] { run(s.branches[k]); });
  }

  // ── kernels ──

  void run(const KernelStep& s) {
    std::vector<CArray> in, out;
    for (std::size_t k = 0; k < s.in.size(); ++k) {
      const std::optional<DType> dtype = type_of_input(s, k);
      in.push_back(dtype ? elements(s.in[k], *dtype) : CArray());
    }
    for (std::size_t k = 0; k < s.out.size(); ++k) out.push_back(elements(s.out[k], s.plan->program.output_dtypes[k]));
    if (s.positions == 1) return run_kernel(s, in, out);
    loop(s.positions, [&](const std::string& i) {
      std::vector<CArray> in_here, out_here;
      for (std::size_t k = 0; k < in.size(); ++k) {
        const std::optional<DType> dtype = type_of_input(s, k);
        in_here.push_back(dtype ? in[k].moved(i, s.in_steps[k] / part_bytes(*dtype)) : CArray());
      }
      for (std::size_t k = 0; k < out.size(); ++k)
        out_here.push_back(out[k].moved(i, s.out_steps[k] / part_bytes(s.plan->program.output_dtypes[k])));
      run_kernel(s, in_here, out_here);
    });
  }
  /// None where no element is read.
  static std::optional<DType> type_of_input(const KernelStep& s, std::size_t tensor) {
    const LaneProgram& program = s.plan->program;
    for (const Input& input : program.inputs)
      if (at(input.place.tensor) == tensor) return input.dtype;
    for (const ScalarStep& step : program.graph.steps()) {
      if (step.kind != StepKind::load) continue;
      const ScalarStep& address = program.graph[step.from[0]];
      if (address.kind == StepKind::given && at(program.givens[address.payload].tensor) == tensor) return step.dtype;
    }
    return std::nullopt;
  }
  void run_kernel(const KernelStep& s, const std::vector<CArray>& in, const std::vector<CArray>& out) {
    const LanePlan& plan = *s.plan;
    const LaneProgram& program = plan.program;
    const ScalarGraph& graph = program.graph;
    if (program.turns) throw Refused{"a loop turns in lanes"};
    CNodes nodes{graph, words_};
    nodes.uses = uses_of(plan);
    nodes.named = named_["v"];
    std::string lane = "0";
    const auto element = [&](const std::vector<CArray>& tensors, const Place& place) {
      const CArray x = tensors[at(place.tensor)].moved(place.first(s.lanes));
      return lane == "0" ? x : x.moved(lane, place.stride);
    };
    const std::function<std::optional<CText>(Node)> leaf = [&](Node n) -> std::optional<CText> {
      const ScalarStep& step = graph[n];
      switch (step.kind) {
        case StepKind::number: return CWords::number(step.dtype, step.payload);
        case StepKind::lanes: return CText{std::to_string(s.lanes)};
        case StepKind::lane: return CText{lane};
        case StepKind::given:
          return CText{std::to_string(s.sizes[step.payload])};  // a size, or no lane that only fills
        case StepKind::input: {
          const Input& input = program.inputs[step.payload];
          return value(element(in, input.place), input.dtype);
        }
        case StepKind::load: {
          const ScalarStep& address = graph[step.from[0]];
          if (address.kind != StepKind::given) throw Refused{"the address of a table is computed"};
          const CArray table = in[at(program.givens[address.payload].tensor)].moved(step.offset());
          const CText place = nodes.value(step.from[1], leaf);
          return value(table.moved(CWords::inside(place, Binds::primary), 1), step.dtype);
        }
        default: return std::nullopt;
      }
    };
    const auto statement = [&](const std::string& text) { line(text); };
    const auto store = [&](const Output& output) {
      const CText x = nodes.value(output.node, leaf);
      if (at(output.place.tensor) == out.size())  // whether what must hold does
        return line("if (!" + CWords::inside(x, Binds::primary) + ") return 1;");
      line(element(out, output.place)[0] + " = " + x.text + ";");
    };
    for (const Stage& stage : plan.stages) {
      if (s.stands_in_place)  // a result may lie where an operand does
        for (const Node n : plan.program.graph.order(nodes_of(stage.once_outputs)))
          if (graph[n].kind == StepKind::input && !nodes.values.contains(n)) nodes.name(n, *leaf(n), statement);
      nodes.compute(stage.once, plan.program.has_lanes, leaf, statement);
      std::ranges::for_each(stage.once_outputs, store);
      if (!stage.has_lane()) continue;
      std::vector<std::string> totals;
      for (const Node n : stage.totals) {
        const std::string total = fresh("total");
        line(std::string(CWords::type_of_value(graph[n].dtype)) + " " + total + " = " +
             nodes.value(graph[n].from[1], leaf).text + ";");
        totals.push_back(total);
      }
      const std::map<Node, CText> of_all = nodes.values;
      const auto in_lane = [&] {
        nodes.compute(stage.lane, false, leaf, statement);
        std::ranges::for_each(stage.lane_outputs, store);
        for (std::size_t k = 0; k < totals.size(); ++k) {
          const ScalarStep& total = graph[stage.totals[k]];
          const CText operands[] = {{totals[k]}, nodes.value(total.from[0], leaf)};
          line(totals[k] + " = " + words_.word(total.word, total.dtype, operands).text + ";");
        }
      };
      if (s.lanes == 1) in_lane();
      else
        loop(s.lanes, [&](const std::string& i) {
          lane = i;
          in_lane();
        });
      lane = "0";
      nodes.values = of_all;
      for (std::size_t k = 0; k < totals.size(); ++k) nodes.values[stage.totals[k]] = {totals[k]};
    }
    named_["v"] = nodes.named;
  }
  static std::vector<Node> nodes_of(const std::vector<Output>& outputs) {
    std::vector<Node> nodes;
    for (const Output& output : outputs) nodes.push_back(output.node);
    return nodes;
  }
  static std::vector<int> uses_of(const LanePlan& plan) {
    const ScalarGraph& graph = plan.program.graph;
    std::vector<int> uses(graph.steps().size(), 0);
    const auto use = [&](Node n) {
      if (n != no_node) ++uses[at(n)];
    };
    for (const Node n : graph.order(nodes_of(plan.program.outputs)))
      for (const Node from : graph[n].from) use(from);
    for (const Output& output : plan.program.outputs) use(output.node);
    return uses;
  }

  const FunctionPlan& plan_;
  const std::vector<Parameter>& parameters_;
  CWords words_;
  std::string lines_;
  std::vector<std::pair<std::string, std::string>> constants_;  // names and texts; of those that no line reads, too
  int depth_ = 1;
  std::size_t loops_ = 0;
  std::map<std::string, int> named_;
  std::vector<std::string> counted_;  // names in counts_
  std::map<std::pair<std::int64_t, std::string>, std::string> parts_;  // of the workspace: by offset and type
  std::map<std::pair<std::size_t, DType>, std::string> known_constants_;
  std::map<std::size_t, std::pair<std::string, std::string>> states_;
  std::map<std::size_t, std::string> counts_;  // of records: how many were made
};

}  // namespace

CFile c_file_of(const FunctionPlan& plan, const std::vector<Parameter>& parameters) try {
  return Writer(plan, parameters).file();
} catch (const Refused& refused) { return {.text = {}, .lacking = {}, .error = refused.why}; }

}  // namespace ricci::compiled
