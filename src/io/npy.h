// One array in NumPy's .npy format, from and to a stream of bytes. Knows nothing of files or archives.
//
// Debian packages no library for the format alone (xtensor brings a tensor library of its own), so it is read here from
// its description: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ricci/tensor.h"

namespace ricci::npy {

/// Where bytes come from: `read` fills exactly so many, or throws; `left` are those not read yet.
struct Source {
  std::uint64_t left;
  std::function<void(void* to, std::uint64_t bytes)> read;
};

/// Throws ValueError where `what` (`load_npy: data.npy`) is damaged or has an element type that is not one of ours.
Tensor load(Source source, const std::string& what);
/// Calls `write` with the header, then with the elements.
void save(const Tensor& tensor, const char* op,
          const std::function<void(const void* from, std::uint64_t bytes)>& write);

}  // namespace ricci::npy
