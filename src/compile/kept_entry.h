// An image as the bytes of a file, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compile/code.h"

namespace ricci::compiled {

std::string entry_of(const Image& image);
/// Nothing where the bytes are none that entry_of gave.
std::optional<Image> image_in(std::string_view bytes);

}  // namespace ricci::compiled
