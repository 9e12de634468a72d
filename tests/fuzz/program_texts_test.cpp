// Texts of programs with tokens dropped, doubled, swapped and replaced: reading one gives a program that checks and
// runs, or throws an rc::Error.
#include <gtest/gtest.h>

#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "primitive/interpreter.h"
#include "program/program.h"
#include "ricci/interruption.h"
#include "world.h"

namespace {

using fuzz::Dice;
using fuzz::Tensor;
namespace rc = ricci;

constexpr int mutants_of_a_text = 60;

/// `program(a: f32[3]) { b: f32[] = sum[axes=(0)] a; return b }` of an operation at one of its samples.
std::string text_of(const rc::Rules& rules, const rc::ErasedSample& sample) {
  rc::ProgramBody body;
  rc::Equation equation{.rules = &rules, .parameters = sample.op, .inputs = {}, .outputs = {}};
  rc::Types in;
  for (const Tensor& x : sample.inputs) {
    equation.inputs.push_back(static_cast<rc::Variable>(body.types.size()));
    in.push_back(rc::type_of(x));
    body.types.push_back(rc::type_of(x));
  }
  body.inputs.assign(equation.inputs.begin(), equation.inputs.end());
  for (const rc::Type& type : rc::types_of(equation.op(), in)) {
    equation.outputs.push_back(static_cast<rc::Variable>(body.types.size()));
    body.types.push_back(type);
  }
  body.outputs.assign(equation.outputs.begin(), equation.outputs.end());
  body.equations.push_back(std::move(equation));
  return to_string(rc::Program(rc::Shared<const rc::ProgramBody>(new rc::ProgramBody(std::move(body)))));
}

std::vector<std::string> texts_of(const rc::Rules& rules) {
  std::vector<std::string> texts;
  if (!rules.samples) return texts;
  for (const rc::ErasedSample& sample : rules.samples()) texts.push_back(text_of(rules, sample));
  return texts;
}

/// Programs whose operations have programs as parameters.
std::vector<std::string> recorded_texts() {
  const auto square = [](Tensor x) { return x * x; };
  const auto branches = [&](Tensor x) { return rc::cond(x.sum() > 1, square, [](Tensor y) { return -y; }, x); };
  const auto switched = [&](Tensor x) {
    const auto sine = [](Tensor y) { return sin(y); };
    return rc::switch_case(rc::argmax(x), std::tuple{square, sine, square}, x);
  };
  const auto loop = [](Tensor x) {
    return rc::while_loop([](Tensor y) { return y.sum() < 9; }, [&](Tensor y) { return y + x + 1; }, x,
                          {.max_steps = 20});
  };
  const auto noisy = [](Tensor x) {
    return rc::fori_loop(0, 3, [](Tensor i, Tensor y) { return y * i + rc::rand_like(y); }, x);
  };
  const auto scanned = [](Tensor x) {
    return rc::scan([&](Tensor c, Tensor row) { return std::pair{c + row, c * row + x.sum()}; }, rc::zeros({}), x)
        .second;
  };
  const auto kept = [&](Tensor x) { return rc::checkpoint(square)(x); };
  const Tensor x = rc::tensor({0.5, 2.0, 1.0});
  std::vector<std::string> texts;
  for (const fuzz::Function& f : {fuzz::Function(branches), fuzz::Function(switched), fuzz::Function(loop),
                                  fuzz::Function(noisy), fuzz::Function(scanned), fuzz::Function(kept)})
    texts.push_back(to_string(rc::trace(f)(x)));
  return texts;
}

using Tokens = std::vector<std::string>;

/// Words and numbers; anything else is a token by itself.
Tokens tokens_of(const std::string& text) {
  Tokens tokens;
  for (char c : text) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    const bool joins = word && !tokens.empty() && (std::isalnum(static_cast<unsigned char>(tokens.back().back())) != 0);
    if (joins) tokens.back() += c;
    else tokens.emplace_back(1, c);
  }
  return tokens;
}

std::size_t some_place(Dice& dice, const Tokens& tokens) {
  return static_cast<std::size_t>(dice.below(static_cast<int>(tokens.size())));
}

/// One change; numbers change most often, because they are what type rules believe.
void mutate(Dice& dice, Tokens& tokens, const Tokens& others) {
  static const std::vector<std::string> numbers = {
      "0", "1", "2", "3", "7", "-1", "-2", "9223372036854775807", "-9223372036854775808", "1000000000000", "0.5"};
  const std::size_t a = some_place(dice, tokens), b = some_place(dice, tokens);
  const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(a);
  switch (dice.below(8)) {
    case 0: tokens.erase(at); return;
    case 1: tokens.insert(at, tokens[a]); return;
    case 2: std::swap(tokens[a], tokens[b]); return;
    case 3: tokens[a] = others[some_place(dice, others)]; return;
    default:
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        std::string& token = tokens[(a + i) % tokens.size()];
        if (std::isdigit(static_cast<unsigned char>(token[0]))) return void(token = dice.one_of(numbers));
      }
  }
}

/// The variable's type, with some number for each size that the text leaves open.
rc::Type type_of(const rc::Program& program, rc::Variable v) {
  const rc::SymbolScope scope(rc::or_those_here(program.body().symbols));
  rc::Type type = program.body().types[static_cast<std::size_t>(v)];
  for (rc::Size& size : type.shape) size = size.hint();
  return type;
}

/// The bytes of all variables together; none is larger than a program's text may say, 2^47.
double bytes_of_all(const rc::Program& program) {
  double bytes = 0;
  for (std::size_t v = 0; v < program.body().types.size(); ++v)
    bytes += static_cast<double>(rc::bytes_of(type_of(program, static_cast<rc::Variable>(v))));
  return bytes;
}

/// Numbers in [0, 4), as the element type has them.
Tensor input_of(const rc::Type& type) {
  const Tensor x = rc::to(rc::rand(type.shape, rc::float64) * 4, type.dtype);
  return type.dtype == rc::DType::boolean ? x : rc::floor(rc::to(x, rc::float64)).to(type.dtype);
}

enum class Outcome : std::uint8_t { refused, read, run };

/// Ends a run after so many steps of loops: a text may ask for 10¹² of them.
class FewSteps {
 public:
  struct Ended {};
  FewSteps() {
    left_ = 20'000;
    rc::set_interruption([] {
      if (--left_ < 0) throw Ended();
    });
  }
  FewSteps(const FewSteps&) = delete;
  ~FewSteps() { rc::set_interruption(nullptr); }

 private:
  static inline int left_ = 0;
};

/// What becomes of the text; nothing but an rc::Error may say that it does not read or run. Programs that take more
/// than a megabyte, or many steps, are read only.
Outcome outcome_of(const std::string& text) {
  const Tensor captured[] = {rc::tensor(2.5)};
  Outcome outcome = Outcome::refused;
  try {
    const rc::Program program = rc::parse_program(text, captured);
    to_string(program);
    outcome = Outcome::read;
    if (bytes_of_all(program) > 1e6) return outcome;
    std::vector<Tensor> inputs;
    for (const rc::Variable v : program.body().inputs) inputs.push_back(input_of(type_of(program, v)));
    const FewSteps few;
    program(inputs);
    return Outcome::run;
  } catch (const FewSteps::Ended&) { return outcome; } catch (const rc::Error&) {
    return outcome;
  } catch (const std::exception& other) { ADD_FAILURE() << other.what() << " of\n" << text; }
  return outcome;
}

TEST(ProgramTexts, ThatAreMutatedRunOrThrowAnError) {
  Dice dice(1);
  Tokens others;
  std::vector<std::string> texts = recorded_texts();
  for (const rc::Rules* rules : rc::registry())
    for (const std::string& text : texts_of(*rules)) texts.push_back(text);
  for (const std::string& text : texts)
    for (const std::string& token : tokens_of(text)) others.push_back(token);
  int read = 0, run = 0;
  for (const std::string& text : texts) {
    for (int i = 0; i < mutants_of_a_text; ++i) {
      Tokens tokens = tokens_of(text);
      for (int changes = 1 + dice.below(3); changes > 0 && !tokens.empty(); --changes) mutate(dice, tokens, others);
      std::string mutant;
      for (const std::string& token : tokens) mutant += token;
      const Outcome outcome = outcome_of(mutant);
      read += outcome != Outcome::refused ? 1 : 0;
      run += outcome == Outcome::run ? 1 : 0;
    }
  }
  EXPECT_GT(read, 100) << "too few mutants read for their checks to mean much";
  EXPECT_GT(run, 100) << "too few mutants run for their checks to mean much";
}

}  // namespace
