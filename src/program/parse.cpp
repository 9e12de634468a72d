// Reading a printed program back. What is wrong is thrown without a place; parse_program knows the line, and says it.
#include <algorithm>
#include <charconv>
#include <map>

#include "primitive/wording.h"
#include "program/program.h"
#include "ricci/error.h"

namespace ricci {
namespace {

/// The next of the text, as errors show it: within the line, whole characters only.
std::string next_of(std::string_view text) {
  const std::string_view next = start_of(text, std::min(text.find('\n'), std::size_t{30}));
  return next.empty() ? "the end of the line" : "'" + std::string(next) + "'";
}

[[noreturn]] void raise_expected(const std::string& what, std::string_view text) {
  throw ValueError("expected " + what + " at " + next_of(text) + "; write a program as it is printed");
}

}  // namespace

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

/// Numbers beyond it would overflow where sizes are added.
constexpr std::int64_t most_of_a_size = std::int64_t{1} << 47;

void parse(std::int64_t& value, std::string_view& text) { parse_number(value, text); }
void parse(double& value, std::string_view& text) { parse_number(value, text); }
void parse(bool& value, std::string_view& text) {
  value = text.starts_with("true");
  expect(text, value ? "true" : "false");
}
void parse(Size& value, std::string_view& text) {
  std::int64_t number = 0;
  const std::string_view before = text;
  parse_number(number, text);
  if (number < -most_of_a_size || number > most_of_a_size) raise_expected("a size that memory can hold", before);
  if (number < 0) raise_expected("a size of at least 0", before);
  value = number;
}
void parse(std::string& value, std::string_view& text) {
  const std::size_t end = text.find_first_of(",]})");
  value = text.substr(0, end);
  text.remove_prefix(value.size());
}
void parse(DType& value, std::string_view& text) {
  // Longest names first: bf16 before f16 is no prefix, but c128 and c64, i16 and i8 are told apart by their length.
  int best = -1;
  for (int i = 0; i < dtype_count; ++i) {
    const std::string_view name = short_name(static_cast<DType>(i));
    if (text.starts_with(name) &&
        (best < 0 || name.size() > std::string_view(short_name(static_cast<DType>(best))).size()))
      best = i;
  }
  if (best < 0) raise_expected("an element type", text);
  value = static_cast<DType>(best);
  expect(text, short_name(value));
}

}  // namespace parameters

namespace {

using parameters::expect;
using parameters::take;

class Parser {
 public:
  Parser(std::string_view text, std::span<const Tensor> captured) : whole_(text), text_(text), captured_(captured) {}

  ProgramBody parse() {
    expect(text_, "program(");
    while (!take(text_, ")")) {
      if (take(text_, "; ")) in_captures_ = true;
      else take(text_, ", ");
      if (take(text_, ")")) break;
      const Variable v = declaration();
      if (!in_captures_) {
        body_.inputs.push_back(v);
        continue;
      }
      body_.captures.push_back({v, next_capture(body_.types.back())});
    }
    expect(text_, " {");
    for (next_line(); !take(text_, "return"); next_line()) equation();
    while (take(text_, " ")) body_.outputs.push_back(known(word()));
    next_line();
    expect(text_, "}");
    return std::move(body_);
  }

  /// The line that is being read, from 1 on.
  std::int64_t line() const { return 1 + std::ranges::count(whole_.substr(0, whole_.size() - text_.size()), '\n'); }

  std::string_view rest() const { return text_; }

 private:
  /// A program among parameters stands further in.
  void next_line() {
    expect(text_, "\n");
    while (take(text_, " ")) continue;
  }
  std::string word() {
    std::size_t n = 0;
    while (n < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[n])) || text_[n] == '_')) ++n;
    if (n == 0) raise_expected("a name", text_);
    const std::string found(text_.substr(0, n));
    text_.remove_prefix(n);
    return found;
  }
  /// The value of the next tensor that was given; it must be what the program was recorded with.
  ValueRef next_capture(const Type& type) const {
    const std::size_t i = body_.captures.size();
    if (i == captured_.size())
      throw ValueError("the program captures more tensors than the " + std::to_string(captured_.size()) +
                       " that were given; pass one for each name behind the semicolon");
    if (!(type_of(captured_[i]) == type))
      throw ValueError("captured tensor " + std::to_string(i) + " is " + to_string(type_of(captured_[i])) +
                       ", the program says " + to_string(type) + "; pass one of that type");
    return value_of(captured_[i]);
  }
  Variable known(const std::string& name) const {
    const auto at = names_.find(name);
    if (at == names_.end()) throw ValueError(name + " is used before it is defined; move its equation up");
    return at->second;
  }
  /// `a: f32[64,4]`
  Variable declaration() {
    const std::string name = word();
    expect(text_, ": ");
    Type type;
    type.weak = take(text_, "weak ");
    parameters::parse(type.dtype, text_);
    expect(text_, "[");
    while (!take(text_, "]")) {
      take(text_, ",");
      Size size;
      parameters::parse(size, text_);
      type.shape.push_back(size);
    }
    bytes_of(type);
    const auto v = static_cast<Variable>(body_.types.size());
    if (!names_.emplace(name, v).second) throw ValueError(name + " is defined twice; give each a name of its own");
    body_.types.push_back(type);
    return v;
  }
  /// `a: f32[], b: i64[] = max[axis=0] x`
  void equation() {
    Equation e{.rules = nullptr, .parameters = {}, .inputs = {}, .outputs = {}};
    do e.outputs.push_back(declaration());
    while (take(text_, ", "));
    expect(text_, " = ");
    const std::string name = word();
    for (const Rules* rules : registry())
      if (name == rules->name) e.rules = rules;
    if (!e.rules) throw ValueError("no operation is called " + name + "; use one that this program of yours contains");
    if (e.rules->parameters.size > 0) {
      expect(text_, "[");
      e.parameters = e.rules->parameters.parse(text_);
      expect(text_, "]");
    }
    while (take(text_, " ")) e.inputs.push_back(known(word()));
    body_.equations.push_back(std::move(e));
  }

  const std::string_view whole_;
  std::string_view text_;  // what is still to be read
  std::span<const Tensor> captured_;
  bool in_captures_ = false;
  ProgramBody body_;
  std::map<std::string, Variable> names_;
};

Program parsed(std::string_view text, std::span<const Tensor> captured) {
  Parser parser(text, captured);
  try {
    return Program(Shared<const ProgramBody>(new ProgramBody(parser.parse())));
  } catch (const ValueError& error) {
    throw ValueError("parse: line " + std::to_string(parser.line()) + ": " + error.what());
  }
}

/// How many programs the reader stands inside, each the parameter of an operation of the one around it. A text may say
/// any number; to run so many, one inside the other, would need more stack than there is.
thread_local constinit int programs_around = 0;
constexpr int most_programs_around = 200;

class OneFurtherIn {
 public:
  OneFurtherIn() {
    if (programs_around == most_programs_around)
      throw ValueError("more than " + std::to_string(most_programs_around) +
                       " programs stand one inside the other; write a loop where the nest repeats itself");
    ++programs_around;
  }
  OneFurtherIn(const OneFurtherIn&) = delete;
  ~OneFurtherIn() { --programs_around; }
};

}  // namespace

void Program::parse_parameter(std::string_view& text) {
  const OneFurtherIn inside;
  Parser parser(text, {});
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
