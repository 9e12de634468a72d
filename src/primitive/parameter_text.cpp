// Parameters of operations as text. What is printed reads back as the same parameter, bit for bit.
#include <charconv>

#include "ricci/dtype.h"
#include "ricci/primitive/parameters.h"
#include "tensor/symbols.h"

namespace ricci::parameters {

void print(bool value, std::string& out) { out += value ? "true" : "false"; }

void print(std::int64_t value, std::string& out) { out += std::to_string(value); }

void print(double value, std::string& out) {
  char digits[32];  // the shortest that reads back exactly has at most 24
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void print(DType value, std::string& out) { out += short_name(value); }

void print(Size value, std::string& out) { out += symbol_text(value); }

}  // namespace ricci::parameters
