// Reading and laying out elements for files.
#include "io/elements.h"

#include <bit>
#include <nlohmann/json.hpp>

#include "kernels/elementwise.h"
#include "ops/reading.h"

namespace ricci::io {

static_assert(std::endian::native == std::endian::little,
              "the elements of a file are little-endian, and are not turned");

void read_some(Source& source, void* to, std::uint64_t bytes, const std::string& what) {
  if (bytes > source.left) raise_escaped<ValueError>(what + " ends too early; save it again");
  source.read(to, bytes);
  source.left -= bytes;
}

std::uint64_t bytes_of(const Shape& shape, DType dtype) {
  std::uint64_t bytes = element_size(dtype);
  for (Size size : shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size.host()), &bytes)) return UINT64_MAX;
  return bytes;
}

void require_bytes(const Source& source, const Type& type, const std::string& what) {
  if (bytes_of(type.shape, type.dtype) > source.left)
    raise_escaped<ValueError>(what + " ends too early: " + to_string(type) +
                              " needs more bytes than follow; save it again");
}

ArrayRef read_array(Source& source, const Type& type, const std::string& what) {
  require_bytes(source, type, what);
  const std::uint64_t bytes = bytes_of(type.shape, type.dtype);
  ArrayRef array = make_array(type);
  read_some(source, array->data, bytes, what);
  if (type.dtype == DType::boolean)
    for (std::uint64_t i = 0; i < bytes; ++i)
      static_cast<unsigned char*>(array->data)[i] = static_cast<unsigned char*>(array->data)[i] != 0;
  return array;
}

Tensor to_tensor(ArrayRef array) { return make_tensor(std::move(array), current_level()); }

void require_utf8(const char* op, const std::string& name) {
  try {
    (void)nlohmann::json(name).dump();
  } catch (const nlohmann::json::exception&) {
    raise_escaped<ValueError>(std::string(op) + ": the name '" + name + "' is not UTF-8; give the tensor another one");
  }
}

ArrayRef row_major(const char* op, const Tensor& x) {
  ArrayRef array = concrete(op, x);
  if (is_contiguous(array->type.shape, array->strides)) return array;
  const ArrayRef copy = make_array({array->type.dtype, array->type.shape});
  kernels::copy(copy->strided(), array->strided());
  return copy;
}

}  // namespace ricci::io
