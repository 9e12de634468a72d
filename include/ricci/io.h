// Reading and writing files of tensors: NumPy's .npy and .npz, and .safetensors. A tree is saved by the names of its
// leaves (tree_names.h). NumPy's files have no name for bfloat16: convert it first.
#pragma once

#include <map>
#include <string>

#include "ricci/tensor.h"

namespace ricci {

/// One array, row-major whatever the order in the file. ValueError if the file cannot be read, is damaged, or holds
/// elements that are not of our types (b1 u1 i1 i2 i4 i8 f2 f4 f8 c8 c16, of either byte order).
///   rc::Tensor x = rc::load_npy("x.npy");
Tensor load_npy(const std::string& path);
/// Replaces the file. ValueError if it cannot be written, TypeError for bfloat16, TransformError where the values
/// differ per example of a vmap.
void save_npy(const std::string& path, const Tensor& tensor);

/// The arrays of an archive by name, as of numpy.savez and numpy.savez_compressed. Errors as of load_npy.
///   rc::Tensor w = rc::load_npz("model.npz").at("weight");
std::map<std::string, Tensor> load_npz(const std::string& path);
/// Not compressed, as numpy.savez. Errors as of save_npy.
void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors);

/// The tensors of a .safetensors file by name, as PyTorch's users exchange parameters; its metadata are not read.
/// ValueError if the file cannot be read, is damaged, or holds elements that are not of our types (BOOL U8 I8 I16 I32
/// I64 F16 BF16 F32 F64 C64).
///   Mlp trained = rc::load_leaves(mlp, rc::load_safetensors("mlp.safetensors"));
std::map<std::string, Tensor> load_safetensors(const std::string& path);
/// Replaces the file. ValueError if it cannot be written or a name is not UTF-8, TypeError for complex128,
/// TransformError where the values differ per example of a vmap.
///   rc::save_safetensors("mlp.safetensors", rc::named_leaves(mlp));
void save_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors);

}  // namespace ricci
