// Reading a printed program back. What is wrong is thrown without a place; parse_program knows the line, and says it.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "primitive/escaped.h"
#include "primitive/interpreter.h"
#include "primitive/wording.h"
#include "program/constants.h"
#include "program/program.h"
#include "program/roles.h"
#include "program/text.h"
#include "ricci/error.h"

namespace ricci {
namespace {

/// The next of the text, as errors show it: within the line, whole characters only.
std::string next_of(std::string_view text) {
  const std::string_view next = start_of(text, std::min(text.find('\n'), std::size_t{30}));
  return next.empty() ? "the end of the line" : "'" + escaped(next) + "'";
}

}  // namespace

void raise_expected(const std::string& what, std::string_view text) {
  throw ValueError("expected " + what + " at " + next_of(text) + "; write a program as it is printed");
}

namespace parameters {

bool take(std::string_view& text, std::string_view token) {
  if (!text.starts_with(token)) return false;
  text.remove_prefix(token.size());
  return true;
}

void expect(std::string_view& text, std::string_view token) {
  if (!take(text, token)) raise_expected("'" + std::string(token == "\n" ? "the end of the line" : token) + "'", text);
}

void refuse_to_parse(std::string_view text) {
  throw ValueError("a function is more than its text and cannot be read back, at " + next_of(text) +
                   "; record the program again");
}

template <class T>
void parse_number(T& value, std::string_view& text) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) raise_expected("a number", text);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
}

void parse(std::int64_t& value, std::string_view& text) { parse_number(value, text); }
void parse(double& value, std::string_view& text) { parse_number(value, text); }
void parse(bool& value, std::string_view& text) {
  value = text.starts_with("true");
  expect(text, value ? "true" : "false");
}
void parse(std::string& value, std::string_view& text) {
  const std::size_t end = text.find_first_of(",]})");
  value = text.substr(0, end);
  text.remove_prefix(value.size());
}
void parse(DType& value, std::string_view& text) {
  for (int i = 0; i < dtype_count; ++i) {  // no name begins another
    value = static_cast<DType>(i);
    if (take(text, short_name(value))) return;
  }
  raise_expected("an element type", text);
}

namespace {

/// Reads what a TextWriter wrote.
class TextReader final : public ParameterVisitor {
 public:
  explicit TextReader(std::string_view& text) : ParameterVisitor(Mode::fills), text_(text) {}

  void truth(bool& value) override { parse(value, text_); }
  void integer(std::int64_t& value) override { parse(value, text_); }
  void real(double& value) override { parse(value, text_); }
  void dtype(DType& value) override { parse(value, text_); }
  void size(Size& value) override { parse(value, text_); }
  void text(std::string& value) override { parse(value, text_); }
  void program(Program& program) override { program.parse_parameter(text_); }
  void object(const ParameterObject& object) override { object.parse(object.value, text_); }

  void member(std::size_t number, std::string_view name) override {
    if (number > 0) expect(text_, ", ");
    expect(text_, name);
    expect(text_, "=");
  }
  void open(char bracket) override { expect(text_, {&bracket, 1}); }
  void element(std::size_t number) override {
    if (number > 0) expect(text_, ",");
  }
  void close(char bracket) override { expect(text_, {&bracket, 1}); }
  bool is_there(bool) override { return !take(text_, "none"); }
  bool has_ended() override { return text_.starts_with(')'); }

 private:
  std::string_view& text_;
};

}  // namespace

void parse_members(void* op, Walk walk, std::string_view& text) {
  TextReader reader(text);
  walk(op, reader);
}

}  // namespace parameters

OwnedParameters ParameterRules::parse(std::string_view& text) const {
  OwnedParameters parsed = make();
  parameters::parse_members(parsed.mutable_get(), walk_members, text);
  return parsed;
}

namespace {

using parameters::expect;
using parameters::take;

/// Counts among the parameters that do not fit are said with the operation's name.
Roles roles_of(const Equation& e) try {
  return e.rules->roles(e.parameters.get(), e.inputs.size());
} catch (const IndexError& error) { throw IndexError(std::string("parse: ") + e.rules->name + ": " + error.what()); }

class Parser {
 public:
  /// `table`: for the sizes of the inputs; null where the text is a part of one whose table is installed.
  Parser(std::string_view text, std::span<const Tensor> captured, SymbolTable* table)
      : whole_(text), text_(text), captured_(captured), table_(table) {
    for (const Tensor& t : captured) {
      captured_types_.push_back(type_of(t));
      for (Size& size : captured_types_.back().shape) size = size.host();
    }
    if (table) scope_.emplace(table);
  }

  ProgramBody parse() {
    std::vector<Declared> inputs, captures;
    expect(text_, "program(");
    for (std::vector<Declared>* part = &inputs; !take(text_, ")");) {
      if (take(text_, "; ")) part = &captures;
      else take(text_, ", ");
      if (take(text_, ")")) break;
      part->push_back(declared());
    }
    if (table_) name_sizes(inputs);
    if (table_ && take(text_, " where ")) guards();
    for (const Declared& input : inputs) body_.inputs.push_back(declare(input));
    for (const Declared& capture : captures) {
      const Variable v = declare(capture);
      body_.captures.push_back({v, next_capture(body_.types.back())});
    }
    expect(text_, " {");
    for (next_line(); !take(text_, "return"); next_line()) equation();
    while (take(text_, " ")) body_.outputs.push_back(operand());
    next_line();
    expect(text_, "}");
    return std::move(body_);
  }

  /// The line that is being read, from 1 on.
  std::int64_t line() const { return 1 + std::ranges::count(whole_.substr(0, whole_.size() - text_.size()), '\n'); }

  std::string_view rest() const { return text_; }
  bool has_named_sizes() const { return sizes_ > 0; }

 private:
  /// `a: weak f32[s0,4]`, its sizes not read yet: those of an input may be said in others further on.
  struct Declared {
    std::string name;
    bool weak;
    DType dtype;
    std::vector<std::string_view> sizes;
  };

  /// A program among parameters stands further in.
  void next_line() {
    expect(text_, "\n");
    while (take(text_, " ")) continue;
  }
  static std::string word_of(std::string_view& text) {
    std::size_t n = 0;
    while (n < text.size() && (std::isalnum(static_cast<unsigned char>(text[n])) || text[n] == '_')) ++n;
    if (n == 0) raise_expected("a name", text);
    const std::string found(text.substr(0, n));
    text.remove_prefix(n);
    return found;
  }
  std::string word() { return word_of(text_); }
  bool is_declaration() const {
    std::string_view rest = text_;
    word_of(rest);
    return rest.starts_with(":");
  }
  /// The next tensor that was given; it must be of the type that the program was recorded with.
  const Tensor& next_capture(const Type& type) const {
    const std::size_t i = body_.captures.size();
    if (i == captured_.size())
      throw ValueError("the program captures more tensors than the " + std::to_string(captured_.size()) +
                       " that were given; pass one for each name behind the semicolon");
    if (!(captured_types_[i] == type))
      throw ValueError("captured tensor " + std::to_string(i) + " is " + to_string(captured_types_[i]) +
                       ", the program says " + to_string(type) + "; pass one of that type");
    return captured_[i];
  }
  /// A variable, or a number.
  Variable operand() {
    std::string_view rest = text_;
    const bool is_known = std::isalpha(static_cast<unsigned char>(rest.empty() ? ' ' : rest[0])) != 0 &&
                          names_.contains(word_of(rest)) && !rest.starts_with("(");
    if (!is_known)
      if (std::optional<ValueRef> number = parse_number(text_)) return constant(std::move(*number));
    const std::string name = word();
    const auto at = names_.find(name);
    if (at == names_.end()) throw ValueError(name + " is used before it is defined; move its equation up");
    return at->second;
  }
  Variable constant(ValueRef number) {
    const auto [at, is_new] = constants_.try_emplace(bits_of(*number), static_cast<Variable>(body_.types.size()));
    if (is_new) {
      body_.types.push_back(number->type);
      body_.constants.push_back({at->second, std::move(number)});
    }
    return at->second;
  }
  Declared declared() {
    Declared d{.name = word(), .weak = false, .dtype = {}, .sizes = {}};
    expect(text_, ": ");
    d.weak = take(text_, "weak ");
    parameters::parse(d.dtype, text_);
    expect(text_, "[");
    while (!take(text_, "]")) {
      take(text_, ",");
      const std::string_view size = text_.substr(0, text_.find_first_of(",]\n"));
      if (size.empty()) raise_expected("a size", text_);
      d.sizes.push_back(size);
      text_.remove_prefix(size.size());
    }
    return d;
  }
  /// An axis that names the next size is where its number is found.
  void name_sizes(const std::vector<Declared>& inputs) {
    for (const Declared& input : inputs)
      for (std::string_view size : input.sizes) {
        take_vmap(size);
        if (size == "s" + std::to_string(sizes_)) table_->add_input(hint_of(sizes_++));
        else table_->skip_input();
      }
  }
  /// Any number that type rules find large enough and unlike another.
  static std::int64_t hint_of(std::int64_t name) { return 67 + 2 * name; }

  static Size extent(std::string_view& text) {
    const std::string_view before = text;
    Size size;
    parameters::parse(size, text);
    require_extent(size, before);
    return size;
  }

  /// `s0!=1, s0*s1=6`
  void guards() {
    do guard();
    while (take(text_, ", "));
  }
  void guard() {
    constexpr std::string_view signs[] = {"=", "!=", "<", ">="};
    const Size left = extent(text_);
    const auto sign = std::ranges::find_if(signs, [this](std::string_view s) { return take(text_, s); });
    if (sign == std::end(signs)) raise_expected("one of = != < >=", text_);
    const Size right = extent(text_);
    table_->guard(left, static_cast<Guard::Relation>(sign - std::begin(signs)), right);
  }
  Variable declare(const Declared& d) {
    Type type{.dtype = d.dtype, .shape = {}, .weak = d.weak};
    VmapsOfAxes::Row vmaps;
    for (std::string_view rest : d.sizes) {
      const std::string_view whole = rest, vmap = take_vmap(rest);
      if (!vmap.empty() && vmaps.size() < type.shape.size()) raise_expected("the vmaps of the first axes alone", whole);
      if (!vmap.empty()) vmaps.push_back(vmaps_.try_emplace(std::string(vmap), std::ssize(vmaps_)).first->second);
      const Size size = extent(rest);
      if (!rest.empty()) raise_expected("the end of the size", rest);
      if (!size.is_symbol() && size.raw() < 0) raise_expected("a size of at least 0", whole);
      type.shape.push_back(size);
    }
    bytes_of(type);
    const auto v = static_cast<Variable>(body_.types.size());
    if (!names_.emplace(d.name, v).second) throw ValueError(d.name + " is defined twice; give each a name of its own");
    body_.types.push_back(type);
    if (!vmaps.empty()) body_.vmaps.set(v, body_.vmaps.number_of(vmaps));
    return v;
  }
  /// The name before the sign in `i=s0`; nothing of `s0`.
  static std::string_view take_vmap(std::string_view& size) {
    const std::string_view name = size.substr(0, size.find('='));
    if (name == size) return {};
    size.remove_prefix(name.size() + 1);
    return name;
  }
  /// `a: f32[], b: i64[] = max[axis=0] x`, `expect_equal x true`
  void equation() {
    Equation e{.rules = nullptr, .parameters = {}, .inputs = {}, .outputs = {}};
    if (is_declaration()) {
      do e.outputs.push_back(declare(declared()));
      while (take(text_, ", "));
      expect(text_, " = ");
    }
    const std::string name = word();
    for (const Rules* rules : registry())
      if (name == rules->name) e.rules = rules;
    if (!e.rules) throw ValueError("no operation is called " + name + "; use one that this program of yours contains");
    if (e.rules->parameters.size > 0) {
      expect(text_, "[");
      e.parameters = e.rules->parameters.parse(text_);
      expect(text_, "]");
    }
    e.has_symbols = has_symbols(e.op());
    if (e.rules->roles) operands_by_role(e);
    else
      while (take(text_, " ")) e.inputs.push_back(operand());
    body_.equations.push_back(std::move(e));
  }
  /// ` state(b c) body(a)`
  void operands_by_role(Equation& e) {
    const std::string_view before = text_;
    Roles found;
    while (take(text_, " ")) {
      const std::size_t first = e.inputs.size();
      const std::string name = word();
      expect(text_, "(");
      do e.inputs.push_back(operand());
      while (take(text_, " "));
      expect(text_, ")");
      found.push_back({name, e.inputs.size() - first});
    }
    auto next = found.begin();
    for (const Role& role : roles_of(e)) {
      if (role.count == 0) continue;
      if (next == found.end() || next->name != role.name || next->count != role.count)
        raise_expected(role.name + "(…) with " + std::to_string(role.count) + " operands", before);
      ++next;
    }
    if (next != found.end()) raise_expected("no " + next->name + "(…)", before);
  }

  const std::string_view whole_;
  std::string_view text_;  // what is still to be read
  std::span<const Tensor> captured_;
  Types captured_types_;
  SymbolTable* const table_;
  std::optional<SymbolScope> scope_;
  ProgramBody body_;
  std::map<std::string, Variable> names_;
  std::map<NumberBits, Variable> constants_;
  std::map<std::string, int> vmaps_;
  std::int64_t sizes_ = 0;  // that have names
};

Program parsed(std::string_view text, std::span<const Tensor> captured) {
  const auto table = std::make_shared<SymbolTable>();
  table->read_from_text();
  Parser parser(text, captured, table.get());
  try {
    ProgramBody body = parser.parse();
    if (parser.has_named_sizes()) body.symbols = table;
    return Program(Shared<const ProgramBody>(new ProgramBody(std::move(body))));
  } catch (const ValueError& error) {
    throw ValueError("parse: line " + std::to_string(parser.line()) + ": " + error.what());
  }
}

/// How many programs the reader stands inside, each the parameter of an operation of the one around it, and one more. A
/// text may say any number; to run so many, one inside the other, would need more stack than there is.
int one_further_in() {
  constexpr int most = 200;
  if (this_thread.programs_around == most)
    throw ValueError("more than " + std::to_string(most) +
                     " programs stand one inside the other; write a loop where the nest repeats itself");
  return this_thread.programs_around + 1;
}

}  // namespace

void Program::parse_parameter(std::string_view& text) {
  const With<&ThreadContext::programs_around> inside(one_further_in());
  Parser parser(text, {}, nullptr);
  body_ = Shared<const ProgramBody>(new ProgramBody(parser.parse()));
  check(*this);
  text = parser.rest();
}

Program parse_program(std::string_view text, std::span<const Tensor> captured) {
  Program program = parsed(text, captured);
  check(program);
  return program;
}

}  // namespace ricci
