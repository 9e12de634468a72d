// The type of a value: element type and shape, all that rules may look at. Knows nothing of values.
#pragma once

#include <string>
#include <vector>

#include "ricci/dtype.h"
#include "ricci/shape.h"

namespace ricci {

struct Type {
  DType dtype = DType::float32;
  Shape shape;
  bool weak = false;  ///< came from a C++ number: does not raise the type of what it meets

  int rank() const { return shape.rank(); }
  friend bool operator==(const Type& a, const Type& b) { return a.dtype == b.dtype && a.shape == b.shape; }
};

using Types = SmallVector<Type, 3>;

std::string to_string(const Type& type);  ///< `f32[2,3]`

}  // namespace ricci
