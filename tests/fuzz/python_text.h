// Random programs as Python text: a function for each piece, what it calls above it. Knows nothing of what the pieces
// do. The text of a piece is an expression of x, or lines of which the last returns; of an operation with `pick`, of a
// nesting with the inner functions f and g. A piece that Python cannot have is a comment that says why: `# no threads`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "world.h"

namespace fuzz {

class PythonText {
 public:
  /// Adds a function and gives its name.
  std::string operation(const std::string& python, int pick);
  std::string nesting(const std::string& python, const std::string& f, const std::string& g);
  std::string chain(const std::string& first, const std::string& second);

  const std::string& text() const { return text_; }
  /// Why there are pieces that Python cannot have; empty where it has all.
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  std::string piece(const std::string& python, const std::string& options);

  std::string text_;
  std::vector<std::string> reasons_;
  int functions_ = 0;
};

/// `tensor('float32', [2, 3], '0x1p+0 …')`: all bits of it.
std::string in_python(const Tensor& x);
/// `None`, or the number.
std::string in_python(const std::optional<std::int64_t>& number);
/// `'error'`
std::string in_python(rc::Randomness mode);
/// What programs in Python stand on: the world, pieces, tensors.
const char* world_in_python();

}  // namespace fuzz
