// One array in NumPy's .npy format, from and to a stream of bytes. Knows nothing of files or archives.
//
// Debian packages no library for the format alone (xtensor brings a tensor library of its own), so it is read here from
// its description: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string>

#include "io/elements.h"

namespace ricci::npy {

/// Throws ValueError where `what` (`load_npy: data.npy`) is damaged or has an element type that is not one of ours.
Tensor load(io::Source source, const std::string& what);
/// Calls `write` with the header, then with the elements.
void save(const Tensor& tensor, const char* op, const io::Sink& write);

}  // namespace ricci::npy
