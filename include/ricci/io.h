// Reading and writing NumPy's .npy and .npz files. bfloat16 has no name there: convert it first.
#pragma once

#include <map>
#include <string>

#include "ricci/tensor.h"

namespace ricci {

/// One array, row-major whatever the order in the file. ValueError if the file cannot be read, is damaged, or holds
/// elements that are not of our types (b1 u1 i1 i2 i4 i8 f2 f4 f8 c8 c16, of either byte order).
///   rc::Tensor x = rc::load_npy("x.npy");
Tensor load_npy(const std::string& path);
/// Replaces the file. ValueError if it cannot be written, TypeError for bfloat16, TransformError where the values differ
/// per example of a vmap.
void save_npy(const std::string& path, const Tensor& tensor);

/// The arrays of an archive by name, as of numpy.savez and numpy.savez_compressed. Errors as of load_npy.
///   rc::Tensor w = rc::load_npz("model.npz").at("weight");
std::map<std::string, Tensor> load_npz(const std::string& path);
/// Not compressed, as numpy.savez. Errors as of save_npy.
void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors);

}  // namespace ricci
