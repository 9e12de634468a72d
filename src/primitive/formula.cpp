// Formulas that are written down, and their text.
#include "ricci/primitive/formula.h"

#include <charconv>
#include <string_view>

#include "primitive/wording.h"
#include "tensor/thread_context.h"

namespace ricci {
namespace scalar {

const char* name_of(Word word) {
  static constexpr const char* names[] = {
#define RICCI_WORD(name) #name,
      RICCI_WORDS(RICCI_WORD)
#undef RICCI_WORD
  };
  return names[static_cast<int>(word)];
}

int operands_of(Word word) {
  switch (word) {
#define RICCI_WORD(name) case Word::name:
    RICCI_WORDS_OF_ONE(RICCI_WORD)
    RICCI_WORDS_OF_ONE_REAL(RICCI_WORD)
    RICCI_WORDS_OF_ONE_INTEGER(RICCI_WORD)
    RICCI_TESTS_OF_ONE(RICCI_WORD)
    RICCI_WORDS_OF_ONE_MASK(RICCI_WORD)
    RICCI_STEPS_OF_ONE(RICCI_WORD)
    case Word::negative: return 1;
    case Word::fma: return 3;
    default: return 2;
  }
}

bool is_test(Word word) {
  switch (word) {
    RICCI_TESTS_OF_TWO(RICCI_WORD)
    RICCI_TESTS_OF_ONE(RICCI_WORD)
    RICCI_WORDS_OF_TWO_MASKS(RICCI_WORD)
    RICCI_WORDS_OF_ONE_MASK(RICCI_WORD)
    return true;
    default: return false;
#undef RICCI_WORD
  }
}

}  // namespace scalar

void Written::into(Formula& formula, void (*run)(const void*), const void* it) {
  const With<&ThreadContext::formula> here(&formula);
  run(it);
}

int Written::add(const Formula::Step& step) {
  std::vector<Formula::Step>& steps = this_thread.formula->steps;
  steps.push_back(step);
  return static_cast<int>(steps.size()) - 1;
}

namespace {

constexpr std::string_view letters_of_words = "abcdefghijklmnopqrstuvwyz";  // x is an input

std::string number_text(long double number) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

}  // namespace

std::string to_string(const Formula& formula) {
  std::string text;
  std::vector<std::string> names;
  std::size_t words = 0;
  for (const Formula::Step& step : formula.steps) {
    if (step.kind == Formula::Kind::input) names.push_back("x" + std::to_string(step.from[0]));
    else if (step.kind == Formula::Kind::number) names.push_back(number_text(step.number));
    else {
      names.push_back(ricci::name_of(words++, letters_of_words));
      text += names.back() + " = " + (step.kind == Formula::Kind::select ? "select" : scalar::name_of(step.word));
      for (const int operand : step.from)
        if (operand >= 0) text += " " + names[static_cast<std::size_t>(operand)];
      text += "\n";
    }
  }
  return text + "return " + names[static_cast<std::size_t>(formula.result)] + "\n";
}

}  // namespace ricci
