// Formulas that are written down, and their text.
#include "ricci/primitive/formula.h"

#include <charconv>
#include <string_view>

#include "primitive/wording.h"

namespace ricci {

thread_local Formula* Written::now = nullptr;

int Written::add(const Formula::Step& step) {
  now->steps.push_back(step);
  return static_cast<int>(now->steps.size()) - 1;
}

namespace {

const char* name_of(const Formula::Step& step) {
  if (step.kind == Formula::Kind::select) return "select";
  static constexpr const char* names[] = {
#define RICCI_WORD(name) #name,
      RICCI_WORDS(RICCI_WORD)
#undef RICCI_WORD
  };
  return names[static_cast<int>(step.word)];
}

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
      text += names.back() + " = " + name_of(step);
      for (const int operand : step.from)
        if (operand >= 0) text += " " + names[static_cast<std::size_t>(operand)];
      text += "\n";
    }
  }
  return text + "return " + names[static_cast<std::size_t>(formula.result)] + "\n";
}

}  // namespace ricci
