// Elements as they stand in files, row-major and little-endian, from and to a stream of bytes. Knows no format and no
// file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "primitive/escaped.h"
#include "ricci/tensor.h"
#include "tensor/value.h"

namespace ricci::io {

/// Where bytes come from: `read` fills exactly so many, or throws; `left` are those not read yet.
struct Source {
  std::uint64_t left;
  std::function<void(void* to, std::uint64_t bytes)> read;
};
using Sink = std::function<void(const void* from, std::uint64_t bytes)>;

/// Throws ValueError where fewer bytes are left in `what` (`load_npy: data.npy`).
void read_some(Source& source, void* to, std::uint64_t bytes, const std::string& what);

/// The bytes that the elements take; more than any file has where they cannot be counted.
std::uint64_t bytes_of(const Shape& shape, DType dtype);

/// Throws ValueError, naming the type, where fewer bytes are left than its elements take.
void require_bytes(const Source& source, const Type& type, const std::string& what);

/// Reads the elements of an array of this type. Booleans that are neither 0 nor 1 are 1. ValueError, before any memory
/// is asked for, where fewer are left.
ArrayRef read_array(Source& source, const Type& type, const std::string& what);
Tensor to_tensor(ArrayRef array);

/// Throws ValueError unless a tensor's name is UTF-8, as those in archives and JSON are.
void require_utf8(const char* op, const std::string& name);

/// The elements of x, row-major; errors as of `concrete` (ops/reading.h).
ArrayRef row_major(const char* op, const Tensor& x);

}  // namespace ricci::io
