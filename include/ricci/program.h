// Programs: a function written down as a list of equations over typed variables. Printed one equation a line; checked,
// parsed back, and run by the eager interpreter under whatever transforms are active.
#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ricci/owned.h"
#include "ricci/primitive/parameters.h"
#include "ricci/tensor.h"
#include "ricci/type.h"

namespace ricci {

struct ProgramBody;  // src/program/program.h
class CallSizes;     // src/program/sizes.h

/// `std::cout << p` prints
///   program(x: f32[64,3], w: f32[3,4]) {
///     a: f32[64,4] = matmul x w
///     return a
///   }
/// Captured tensors follow the inputs, behind a semicolon; each run reads them anew. A size of the inputs that may be
/// another when the program runs prints as a symbol, `f32[s0,3]`; what else is relied on stands behind the inputs,
/// `where s0!=1`. `f32[i=s0,3]`: the axis holds the examples of a vmap. A number of the function prints where it is
/// used: `mul a 2`. The operands of control flow stand in groups: `state(b c) condition(a)`.
class Program {
 public:
  Program();  ///< the empty one: no inputs, no outputs
  explicit Program(Shared<const ProgramBody> body) : body_(std::move(body)) {}

  const ProgramBody& body() const { return *body_; }
  std::size_t inputs() const;
  std::vector<Tensor> captured() const;  ///< the tensors behind the semicolon, in order
  std::size_t equations() const;
  /// The outputs for these inputs: each equation in turn, as ordinary operations. ValueError if they do not fit.
  std::vector<Tensor> operator()(std::span<const Tensor> inputs) const;
  std::vector<Tensor> operator()(std::initializer_list<Tensor> inputs) const {
    return (*this)(std::span(inputs.begin(), inputs.size()));
  }

  /// A program that gives the same, bit for bit, with fewer equations: it computes equal things once, and leaves out
  /// what no output needs, views of views and views that change nothing. Programs in it are simplified too.
  ///   std::cout << rc::trace(rc::jacrev(f))(x).simplified();
  Program simplified() const;

  // As the parameter of an operation: sizes inside it may be symbols of the program that holds the operation.
  void print_parameter(std::string& out) const;
  void parse_parameter(std::string_view& text);
  /// While the program around it runs: the same program, whose symbols are what they are in that call.
  Program in_call(std::shared_ptr<const CallSizes> sizes) const;
  const CallSizes* call_sizes() const { return sizes_.get(); }  ///< null: of no call
  const std::shared_ptr<const CallSizes>& shared_call_sizes() const { return sizes_; }
  bool operator==(const Program& other) const {
    return body_.operator->() == other.body_.operator->() && sizes_ == other.sizes_;
  }

 private:
  Shared<const ProgramBody> body_;
  std::shared_ptr<const CallSizes> sizes_;
};

std::string to_string(const Program& program);
std::ostream& operator<<(std::ostream& out, const Program& program);
/// What `to_string` printed, read back and checked; captured tensors are given in order. The program serves the sizes
/// that the printed one serves. Running it throws an Error at most. ValueError names the line that is wrong. An
/// operation whose parameter is a C++ function cannot be read back: ValueError. IndexError for a parameter that does
/// not fit the operands.
Program parse_program(std::string_view text, std::span<const Tensor> captured);
/// Throws ValueError unless every variable is defined once before its use with the type its operation gives.
void check(const Program& program);

}  // namespace ricci
