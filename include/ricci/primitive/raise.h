// Throwing an error that carries its context: the transforms it happened under and the user's file and line.
#pragma once

#include <string>

#include "ricci/error.h"
#include "ricci/tensor.h"

namespace ricci {

/// `text`, then the line of active transforms, then the first frame outside ricci and std where debug information
/// tells it.
std::string with_context(const std::string& text);
/// `text` and the line of active transforms alone: for a transform's own errors, which name their place themselves.
std::string with_nest(const std::string& text);

/// ` (train.cpp:41)`, or nothing where the file is unknown.
std::string at(const char* file, unsigned line);

template <class E>
[[noreturn]] void raise(const std::string& text) {
  throw E(with_context(text));
}

/// Throws ValueError `op: operand 1 is an undefined Tensor; give it a value first` if it is.
void require_defined(const char* op, const Tensor& x, int operand);

}  // namespace ricci
