// How pieces become functions of Python, and what such functions stand on.
#include "python_text.h"

#include <complex>
#include <cstdio>
#include <limits>
#include <sstream>

namespace fuzz {

std::string PythonText::piece(const std::string& python, const std::string& options) {
  if (python.starts_with("# ")) reasons_.push_back(python.substr(2));
  const std::string name = "f" + std::to_string(++functions_);
  const bool has_lines = python.find("return ") != std::string::npos;
  std::istringstream lines(has_lines ? python : "return " + python);
  text_ += "@piece\ndef " + name + "(x" + options + "):\n";
  for (std::string line; std::getline(lines, line);) text_ += "    " + line + "\n";
  return name;
}

std::string PythonText::operation(const std::string& python, int pick) {
  return piece(python, ", pick=" + std::to_string(pick));
}
std::string PythonText::nesting(const std::string& python, const std::string& f, const std::string& g) {
  return piece(python, ", f=" + f + ", g=" + g);
}
std::string PythonText::chain(const std::string& first, const std::string& second) {
  const std::string name = "f" + std::to_string(++functions_);
  text_ += name + " = chain(" + first + ", " + second + ")\n";
  return name;
}

std::string in_python(const Tensor& x) {
  std::string elements, shape;
  const auto add = [&](double number) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%a ", number == number ? number : std::numeric_limits<double>::quiet_NaN());
    elements += number == number ? digits : "nan ";
  };
  for (const std::complex<double> element : x.to_vector<std::complex<double>>()) {
    add(element.real());
    if (x.is_complex()) add(element.imag());
  }
  for (const rc::Size size : x.shape()) shape += std::to_string(size.host()) + ", ";
  const std::string dtype = x.dtype() == rc::boolean ? "bool" : rc::to_string(x.dtype());
  return "tensor('" + dtype + "', [" + shape + "], '" + elements + "')";
}

std::string in_python(const std::optional<std::int64_t>& number) { return number ? std::to_string(*number) : "None"; }

std::string in_python(rc::Randomness mode) {
  switch (mode) {
    case rc::Randomness::error: return "'error'";
    case rc::Randomness::different: return "'different'";
    case rc::Randomness::same: return "'same'";
  }
  return "";
}

const char* world_in_python() {
  return R"(
import threading

import ricci as rc

class Thrown(Exception):
    """What a function of the program throws by itself."""

# What C++ catches with catch (...).
ANYTHING = (Exception, rc._core.Passing)

class World:
    def __init__(self):
        self.captured, self.escaped, self.steps = [], [], 0

    def step(self):
        self.steps += 1
        if self.steps >= most_steps:
            raise Thrown

world = World()

def piece(f):
    def run(x):
        world.step()
        return small(f(x), most_elements)
    return run

def chain(first, second):
    return lambda x: second(first(x))

def tensor(dtype, shape, elements):
    """A function that makes it."""
    values = [float.fromhex(text) for text in elements.split()]
    dtype = getattr(rc, dtype)
    if dtype.is_complex:
        values = [complex(*pair) for pair in zip(values[::2], values[1::2])]
    wide = rc.complex128 if dtype.is_complex else rc.float64
    return lambda: rc.tensor(values, dtype=wide).reshape(shape).to(dtype).clone()

def elements_of(x):
    """As `tensor` has them."""
    parts = [rc.real(x), rc.imag(x)] if x.dtype.is_complex else [x]
    parts = [part.to(rc.float64).flatten().tolist() for part in parts]
    return [number.hex() for numbers in zip(*parts) for number in numbers]
)";
}

}  // namespace fuzz
