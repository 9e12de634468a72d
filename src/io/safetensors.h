// Named tensors in the safetensors format, from and to a stream of bytes. Knows nothing of files.
//
// Debian packages no library for the format, so it is read here from its description, with a JSON library for its
// header: https://huggingface.co/docs/safetensors
#pragma once

#include <map>
#include <string>

#include "io/elements.h"

namespace ricci::safetensors {

/// Throws ValueError where `what` (`load_safetensors: model.safetensors`) is damaged or holds a type that is not ours.
std::map<std::string, Tensor> load(io::Source source, const std::string& what);
void save(const std::map<std::string, Tensor>& tensors, const io::Sink& write);

}  // namespace ricci::safetensors
