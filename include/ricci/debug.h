// Looking into functions while they run: lines that are printed and checks for NaN and infinities, as operations. They
// run where the function runs: in vmap, derivatives, loops, branches, recorded programs and compiled functions.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ricci/tensor.h"

namespace ricci::debug {

/// What stands in the place of one `{}`: a tensor, whose elements are printed when the operation runs; or a number or a
/// text, which is part of the format.
struct Field {
  Tensor tensor;
  std::string text;
  bool is_text = false;

  Field(const Tensor& x) : tensor(x) {}
  Field(std::string x) : text(std::move(x)), is_text(true) {}
  Field(const char* x) : Field(std::string(x)) {}
  Field(std::string_view x) : Field(std::string(x)) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Field(T x) : is_text(true) {
    if constexpr (std::is_same_v<T, bool>) text = x ? "true" : "false";
    else if constexpr (std::is_same_v<T, char>) text = x;
    else if constexpr (std::is_integral_v<T>) text = std::to_string(x);
    else text = text_of_number(static_cast<double>(x));
  }

 private:
  static std::string text_of_number(double x);
};

/// `print`, with its fields in a list.
void print_fields(std::string_view format, std::span<const Field> fields);

/// Prints one line: the format with a value in place of each `{}`; `{{` and `}}` are braces. Values are tensors of any
/// shape and dtype, printed as `<<` prints their elements; numbers, with 6 digits; and texts.
/// In vmap each example prints a line, in the order of the examples, and the line says which example it is:
/// `x = 3  (example 2)`, of nested vmaps `x = 3  (example [2,0])`. Where no value differs between examples, one line
/// stands for all. Derivatives print the values without tangents, once, where the function runs forward. Loops print at
/// each step; a branch prints for the examples that take it. Recorded programs and compiled functions print at each
/// call, in the order of the function. What rc::checkpoint computes again prints again. Lines go to std::cout, or where
/// set_sink says. ValueError at once if the format is wrong, or has not one `{}` for each value.
///   rc::debug::print("loss = {} at step {}", loss, 7);
template <class... Values>
void print(std::string_view format, const Values&... values) {
  const std::initializer_list<Field> fields{Field(values)...};
  print_fields(format, {fields.begin(), fields.size()});
}

/// A copy of x, in every transform and outside. ValueError `check_finite: NAME is nan at [1,2] in example 3` where an
/// element of x is NaN or infinite; and where, on the way back of a derivative, an element of x's cotangent is.
/// Integers and booleans are always finite.
///   rc::Tensor y = rc::debug::check_finite(sqrt(x), "y");
Tensor check_finite(const Tensor& x, std::string_view name);

/// Takes a line, without the newline at its end.
using Sink = std::function<void(const std::string& line)>;
/// From now on the lines of all threads go to `sink`; an empty one stands for std::cout. Gives the sink there was. A
/// sink is called on the thread that prints, on several at once if several print. What it throws goes to whoever called
/// the function that prints.
///   std::vector<std::string> lines;
///   rc::debug::set_sink([&](const std::string& line) { lines.push_back(line); });
Sink set_sink(Sink sink);

}  // namespace ricci::debug
