// Random programs printed as Python, with what C++ gives for them: python/tests/test_fuzz.py runs the text and compares
// all bits. RICCI_FUZZ_PYTHON names the file that it is written to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <utility>

#include "programs.h"

namespace {

using fuzz::Dice;
using fuzz::Function;
using fuzz::Program;
using fuzz::Tensor;
using fuzz::world;
namespace rc = ricci;

/// How a program is run; python/tests/test_fuzz.py has the same ways under the same names.
struct Way {
  const char* name;
  std::function<Tensor(const Function& f, const Tensor& x)> run;
};
const Way ways[] = {
    {"eager", [](const Function& f, const Tensor& x) { return f(x); }},
    {"compiled", [](const Function& f, const Tensor& x) { return rc::compile(f)(x); }},
    {"grad",
     [](const Function& f, const Tensor& x) { return rc::grad([&](const Tensor& a) { return f(a).sum(); })(x); }},
    {"vmap",
     [](const Function& f, const Tensor& x) {
       return rc::vmap(f, {.randomness = rc::Randomness::different})(rc::stack({x, x * 2}));
     }},
};

/// The bits of what f gives that way, or None for an error, and the error.
std::pair<std::string, std::string> outcome(const Way& way, const Program& program, const Tensor& argument,
                                            const std::vector<Tensor>& captured) {
  world().captured.clear();
  for (const Tensor& t : captured) world().captured.push_back(t.clone());
  world().escaped.clear();
  world().steps = 0;
  rc::manual_seed(1);
  std::string found = "None", error;
  try {
    found = fuzz::in_python(way.run(program.run, argument.clone()));
  } catch (const rc::Error& thrown) {
    error = thrown.what();
    error.erase(std::min(error.find('\n'), error.size()));
  } catch (const fuzz::Thrown&) { error = "thrown by the program"; }
  world().captured.clear();
  world().escaped.clear();
  return {found, error};
}

TEST(ProgramsInPython, ArePrintedWithWhatTheyGive) {
  const auto wanted = static_cast<int>(fuzz::setting("RICCI_FUZZ_PYTHON_PROGRAMS", 24));
  const auto from = fuzz::setting("RICCI_FUZZ_SEED", 1);
  std::ostringstream text;
  text << fuzz::start_in_python() << "\ncases, left_out = [], {}\n";
  int printed = 0, returned = 0;
  std::map<std::string, int> left_out;
  for (std::uint64_t seed = from; printed < wanted; ++seed) {
    Dice dice(seed);
    const Program program = fuzz::random_program(dice, Program::deepest);
    const Tensor argument = fuzz::random_tensor(dice);
    const std::vector<Tensor> captured = fuzz::random_captured(dice);
    fuzz::PythonText python;
    const std::string name = program.write(python);
    for (const std::string& reason : python.reasons()) ++left_out[reason];
    if (!python.reasons().empty()) continue;
    ++printed;
    text << "\n# " << program.text << "\n"
         << python.text() << "cases.append((" << seed << ", " << name << ", " << fuzz::in_python(argument) << ", [";
    for (const Tensor& t : captured) text << fuzz::in_python(t) << ", ";
    text << "], {\n";
    for (const Way& way : ways) {
      const auto [found, error] = outcome(way, program, argument, captured);
      returned += error.empty();
      text << "    '" << way.name << "': " << found << ",  # " << error << "\n";
    }
    text << "}))\n";
  }
  for (const auto& [reason, count] : left_out) text << "left_out['" << reason << "'] = " << count << "\n";
  EXPECT_GT(returned, wanted) << "too few programs come to their end";
  if (const char* const path = std::getenv("RICCI_FUZZ_PYTHON")) std::ofstream(path) << text.str();
}

}  // namespace
