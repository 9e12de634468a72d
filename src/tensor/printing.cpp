// Shapes and types as text, as errors show them; dtypes, as programs name them. Knows nothing of values.
#include <ostream>

#include "ricci/shape.h"
#include "ricci/type.h"
#include "tensor/symbols.h"

namespace ricci {

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i) text += ',';
    text += hint_text(shape[i]);
  }
  return text + "]";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

std::string to_string(DType dtype) {
  constexpr const char* names[dtype_count] = {"boolean", "uint8",    "int8",    "int16",   "int32",     "int64",
                                              "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
  return names[static_cast<int>(dtype)];
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << to_string(dtype); }

std::string to_string(const Type& type) { return short_name(type.dtype) + to_string(type.shape); }

}  // namespace ricci
