// The errors a user can meet. Each text says what was called, what was found, what to do, the transforms it happened
// under and, where the program has debug information, the user's file and line.
#pragma once

#include <stdexcept>
#include <string>

namespace ricci {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ValueError : Error {
  using Error::Error;
};  ///< a value, shape or option that cannot be used
struct IndexError : Error {
  using Error::Error;
};  ///< an index or axis outside its range
struct TypeError : Error {
  using Error::Error;
};  ///< an element type that cannot be used
struct TransformError : Error {
  using Error::Error;
};  ///< a rule of a transform broken
struct NotImplementedError : Error {
  using Error::Error;
};  ///< asked for something that is not there

}  // namespace ricci
